"""What may be asked of the service, and within which limits; the documentation of its API is made of this."""

from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

MOST = {"budget": 1_000_000, "actions": 2000, "text": 4000, "pictures": 200, "states": 100_000}
SECONDS = {"quick": 60.0, "train": 3600.0}  # of work, after which a job is cancelled
NAME = r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$"
BYTES = 8_000_000  # of a request


def _no_null(text: str) -> str:
    if "\0" in text:
        raise ValueError("text must not contain a null character")
    return text


Text = Annotated[str, Field(max_length=MOST["text"]), AfterValidator(_no_null)]
Name = Annotated[str, Field(pattern=NAME, description="of a run")]
Number = Annotated[float, Field(allow_inf_nan=False, ge=-1e12, le=1e12)]
Move = Annotated[str, Field(max_length=100)] | Annotated[list[Number], Field(max_length=100)]
Setting = Annotated[str, Field(max_length=100_000), AfterValidator(_no_null)]
Wait = Annotated[float, Field(ge=0, le=60, description="seconds; if it takes longer, a job is answered (202)")]


class Asked(BaseModel):
    """What every body of a request is: nothing in it may be unknown."""

    model_config = ConfigDict(extra="forbid", strict=False)


class Where(Asked):
    """A first state and what was done since; or the number of a recording, whose states these are."""

    setting: Setting = Field("", description="what it takes to make the world")
    start: list[Number] = Field(default=[], max_length=MOST["states"], description="the first state")
    actions: list[Move] = Field(default=[], max_length=MOST["actions"], description="names of moves, or vectors")
    episode: int | None = Field(None, ge=0, le=10**12)


class Waits(Asked):
    """What may take a while."""

    wait: Wait = 30.0


class Start(Asked):
    """Where a task can be done."""

    task: Text | None = None
    goal: bool = Field(False, description="only the end is named, so whatever leads there must be possible")
    place: Annotated[str, Field(pattern=NAME)] | None = None
    seed: int = Field(0, ge=0, lt=2**31)


class Edit(Where):
    """Something that is put where somebody points at in the picture, (0, 0) left above to (1, 1)."""

    thing: Annotated[str, Field(max_length=100)]
    x: float = Field(ge=0, le=1)
    y: float = Field(ge=0, le=1)


class Frames(Where):
    """Pictures of what was gone through."""

    first: int = Field(0, ge=0, le=10**9)
    count: int = Field(50, ge=1, le=MOST["pictures"])
    pixels: int | None = Field(None, ge=4, le=1000)


class Read(Asked):
    """A text that may be a task."""

    run: Name | None = None
    text: Text


class PlanFor(Where, Waits):
    """What to do: an instruction, or only its end."""

    run: Name | None = None
    task: Text | None = None
    goal: Text | None = None
    budget: int | None = Field(None, ge=1, le=MOST["budget"])


class Recognise(Where, Waits):
    """What somebody did, or, with `prefix`, seems to be doing."""

    run: Name | None = None
    prefix: bool = False
    candidates: Annotated[list[Text], Field(max_length=200, min_length=1)] | None = None


class Segment(Where, Waits):
    """Where each subgoal ended; of a recording by default of the task that it describes."""

    run: Name | None = None
    task: Text | None = None


class Responses(Where, Waits):
    """How sure classifiers are with the agent at each place."""

    run: Name | None = None
    terms: Annotated[list[Text], Field(max_length=50, min_length=1)]


class Keep(Where):
    """A demonstration to be kept."""

    task: Text


class Correct(Asked):
    """What a recording should say: another description, other ends; neither: as it was recorded."""

    task: Text | None = None
    ends: Annotated[list[tuple[Text, Annotated[int, Field(ge=1, le=10**9)]]], Field(max_length=1000)] | None = None


class Train(Waits):
    """A new run, from all demonstrations of the store."""

    name: Name
    with_run: Name | None = Field(None, description="the demonstrations of this run, too")
    network: bool = Field(False, description="fit networks, even where terms can be read as formulas over facts")
    expert: int = Field(0, ge=0, le=10, description="so many of each training task by the domain's own expert, too")


class OfRun(Waits):
    """Something that is asked of a run."""

    run: Name | None = None


Answer = dict[str, Any]
