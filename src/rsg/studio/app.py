"""The service: what can be asked at which address, and how answers are given."""

import asyncio
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from importlib.resources import files
from typing import Annotated, Any

from fastapi import FastAPI, Path, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse, Response
from starlette.exceptions import HTTPException

from rsg.core.version import __version__
from rsg.studio import asked
from rsg.studio.answered import ANY, Cut, Error, Planned, Seen, Waiting
from rsg.studio.guard import Guard, Rules
from rsg.studio.pool import Busy, Job, Pool

LOOK = 0.25  # seconds between two looks whether who asked is still there
TYPES = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
STATIC = "rsg.studio", "static"
WRONG: dict[int | str, dict[str, Any]] = {
    401: {"model": Error, "description": "the token is missing"},
    403: {"model": Error, "description": "another host, or another page, asks"},
    404: {"model": Error, "description": "there is no such thing"},
    413: {"model": Error, "description": "too large"},
    422: {"model": Error, "description": "it makes no sense: a sentence, and where in a text"},
    429: {"model": Error, "description": "too much is waiting already; Retry-After says when to try again"},
    503: {"model": Error, "description": "the process that did this was lost"},
}
LATER: dict[int | str, dict[str, Any]] = {202: {"model": Waiting, "description": "it takes longer: a job"}}


def service(pool: Pool, rules: Rules, page: str) -> Guard:
    """The application; page: what is shown at `/`."""

    @asynccontextmanager
    async def living(app: FastAPI) -> AsyncIterator[None]:
        del app
        opening = asyncio.create_task(pool.open())
        yield
        opening.cancel()
        pool.close()

    app = FastAPI(
        title="rsg studio", version=__version__, lifespan=living, docs_url=None, redoc_url=None, responses=WRONG
    )
    _errors(app)
    _pages(app, page)
    _answers(app, pool)
    _recordings(app, pool)
    _jobs(app, pool)
    return Guard(app, rules)


def _errors(app: FastAPI) -> None:
    @app.exception_handler(RequestValidationError)
    async def wrong(request: Request, error: RequestValidationError) -> Response:
        del request
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"] if part != "body")
        return failed(422, {"type": "Request", "message": f"{where or 'the request'}: {first['msg']}"})

    @app.exception_handler(HTTPException)
    async def unknown(request: Request, error: HTTPException) -> Response:
        del request
        status = 422 if error.status_code == 400 else error.status_code  # a body that nobody can read
        return failed(status, {"type": "Request", "message": str(error.detail)}, error.headers)

    @app.exception_handler(Busy)
    async def busy(request: Request, error: Busy) -> Response:
        del request
        return failed(429, {"type": "Busy", "message": str(error)}, {"retry-after": "1"})


def failed(status: int, error: Mapping[str, Any], headers: Mapping[str, str] | None = None) -> JSONResponse:
    """What went wrong."""
    return JSONResponse({"error": dict(error)}, status, dict(headers or {}))


def _pages(app: FastAPI, page: str) -> None:
    @app.get("/", response_class=HTMLResponse, summary="The page")
    async def home() -> HTMLResponse:
        return HTMLResponse(page)

    kept = {one.name: one for one in files(STATIC[0]).joinpath(STATIC[1]).iterdir() if one.is_file()}
    kept["style.css"] = files("rsg.evaluation").joinpath("templates", "style.css")  # the report page has it, too

    @app.get("/static/{name}", summary="A part of the page")
    async def static(name: str) -> Response:
        kind = TYPES.get(name[name.rfind(".") :])
        if name not in kept or kind is None:  # by name alone: no path leads anywhere else
            raise HTTPException(404, "there is no such file")
        return Response(kept[name].read_bytes(), media_type=kind)


def _answers(app: FastAPI, pool: Pool) -> None:
    """What is asked about worlds and runs."""
    quick = asked.SECONDS["quick"]

    def simple(address: str, kind: str, model: Any, about: str) -> None:
        async def answer(request: Request, body: Any) -> Response:
            job = pool.submit(kind, body.model_dump(), quick)
            return await answered(request, pool, job, getattr(body, "wait", quick))

        answer.__annotations__["body"] = model
        waits = LATER if issubclass(model, asked.Waits) else {}
        app.post(
            address, summary=about, operation_id=kind, responses={200: {"model": ANSWERED.get(kind, ANY)}, **waits}
        )(answer)

    @app.get("/about", summary="What there is", operation_id="about")
    async def about(request: Request) -> Response:
        return await answered(request, pool, pool.submit("about", {}, quick), quick)

    simple("/start", "start", asked.Start, "A start where a task can be done")
    simple("/edit", "edit", asked.Edit, "A start with something put where somebody points at")
    simple("/walk", "walk", asked.Where, "Where moves lead")
    simple("/pictures", "pictures", asked.Frames, "Pictures of what was gone through")
    simple("/read", "read", asked.Read, "A text as a task; without a run, its terms may be new")
    simple("/plan", "plan", asked.PlanFor, "What to do")
    simple("/recognise", "recognise", asked.Recognise, "What somebody did, or seems to be doing")
    simple("/segment", "segment", asked.Segment, "Where each subgoal ended, and how sure that is")
    simple("/responses", "responses", asked.Responses, "How sure classifiers are with the agent at each place")
    simple("/dependencies", "dependencies", asked.OfRun, "Which subgoals help which")

    @app.get("/runs/{name}", summary="What a run learned", operation_id="run")
    async def run(request: Request, name: Annotated[str, Path(pattern=asked.NAME)]) -> Response:
        return await answered(request, pool, pool.submit("run", {"run": name}, quick), quick)

    @app.post(
        "/train",
        summary="A new run from what was shown",
        operation_id="train",
        responses={200: {"model": ANY}, **LATER},
    )
    async def train(request: Request, body: asked.Train) -> Response:
        job = pool.submit("train", body.model_dump(), asked.SECONDS["train"], long=True)
        return await answered(request, pool, job, body.wait)


ANSWERED = {"plan": Planned, "recognise": Seen, "segment": Cut}


def _recordings(app: FastAPI, pool: Pool) -> None:
    quick = asked.SECONDS["quick"]
    number = Annotated[int, Path(ge=0, le=10**12)]

    @app.get("/demos", summary="A part of the list of recordings", operation_id="demos")
    async def demos(
        request: Request,
        offset: Annotated[int, Query(ge=0, le=10**12)] = 0,
        limit: Annotated[int, Query(ge=1, le=500)] = 50,
        filter: Annotated[str, Query(max_length=200)] = "",  # noqa: A002, the word in the address
    ) -> Response:
        given = {"offset": offset, "limit": limit, "filter": filter}
        return await answered(request, pool, pool.submit("list", given, quick), quick)

    @app.get("/terms", summary="How many recordings name each term", operation_id="terms")
    async def terms(request: Request) -> Response:
        return await answered(request, pool, pool.submit("named", {}, quick), quick)

    @app.get("/demos/{episode}", summary="A recording", operation_id="demo")
    async def demo(request: Request, episode: number) -> Response:
        return await answered(request, pool, pool.submit("demo", {"episode": episode}, quick), quick)

    @app.post("/demos", summary="Keep a demonstration", operation_id="keep")
    async def keep(request: Request, body: asked.Keep) -> Response:
        return await answered(request, pool, pool.submit("keep", body.model_dump(), quick), quick, must=True)

    @app.put("/demos/{episode}", summary="Correct a recording", operation_id="correct")
    async def correct(request: Request, episode: number, body: asked.Correct) -> Response:
        given = {**body.model_dump(), "episode": episode}
        return await answered(request, pool, pool.submit("correct", given, quick), quick, must=True)


def _jobs(app: FastAPI, pool: Pool) -> None:
    named = Annotated[str, Path(max_length=64)]

    def known(name: str) -> Job:
        if job := pool.job(name):
            return job
        raise HTTPException(404, "this job is not known any more: it ended long ago, or the studio was started anew")

    @app.get("/jobs/{name}", summary="How far a job is", operation_id="job", responses={200: {"model": Waiting}})
    async def job(request: Request, name: named, wait: Annotated[float, Query(ge=0, le=60)] = 0) -> Response:
        found = known(name)
        await ended(request, found, wait)
        return JSONResponse(told(found))

    @app.delete("/jobs/{name}", summary="Cancel a job", operation_id="cancel", responses={200: {"model": Waiting}})
    async def cancel(request: Request, name: named) -> Response:
        found = known(name)
        pool.cancel(found)
        await ended(request, found, 2.0)
        return JSONResponse(told(found))

    @app.get("/health", summary="Whether it works", operation_id="health")
    async def health() -> dict[str, Any]:
        told = {"workers": pool.ready, "waiting": pool.waiting, "running": pool.running, "lost": pool.lost}
        return {"ok": pool.ready > 0, **told}


def told(job: Job) -> dict[str, Any]:
    """A job as plain values."""
    more = {"error": job.error} if job.error else {} if job.answer is None else {"result": job.answer}
    return {"job": job.name, "kind": job.kind, "state": job.state, "progress": job.progress, **more}


async def ended(request: Request, job: Job, wait: float) -> bool:
    """Wait for a job, so many seconds at most; gives whether who asked is still there."""
    until = time.monotonic() + wait
    while not job.ended and (left := until - time.monotonic()) > 0:
        try:
            await asyncio.wait_for(job.finished.wait(), min(LOOK, left))
        except TimeoutError:
            if await request.is_disconnected():
                return False
    return True


async def answered(request: Request, pool: Pool, job: Job, wait: float, must: bool = False) -> Response:
    """What came of a job, or the job if that takes longer.

    It is cancelled if nobody waits for it any more, unless it `must` be done.
    """
    there = await ended(request, job, wait)
    if not there and not must:
        pool.cancel(job)
    if job.state == "done" or job.answer is not None:
        return JSONResponse(job.answer)
    if job.state == "failed":
        status = 503 if job.error and job.error["type"] == "Lost" else 500 if job.faulty else 422
        return failed(status, job.error or {})
    if job.state == "cancelled" and job.answer is None:
        return failed(
            422, {"type": "Cancelled", "message": f"it took longer than {job.seconds:.0f} s and was cancelled"}
        )
    return JSONResponse(told(job), 202)
