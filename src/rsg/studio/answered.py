"""What is answered, for the documentation of the API."""

from typing import Any, Literal

from pydantic import BaseModel, Field

ANY = dict[str, Any]


class Fault(BaseModel):
    """What is wrong, in a sentence; of a text also where, counted in characters from 0, and what may be meant."""

    type: str
    message: str
    position: int | None = None
    suggestion: str | None = None


class Error(BaseModel):
    """Why there is no answer."""

    error: Fault


class Waiting(BaseModel):
    """A job: how far it is, and what came of it."""

    job: str
    kind: str
    state: Literal["waiting", "running", "done", "failed", "cancelled"]
    progress: dict[str, Any]
    result: Any = None
    error: Fault | None = None


class Part(BaseModel):
    """Moves from `start` to `end`, which is not among them, that serve a subgoal."""

    term: str
    start: int
    end: int


class Segment(Part):
    """The same of a recording, and how likely it is that the subgoal ended just there."""

    confidence: float


class Ranked(BaseModel):
    """A description, and how likely it is among all."""

    task: str
    probability: float


class Planned(BaseModel):
    """A plan, or why there is none (`reason`), with what was reached and what was tried in vain (`missed`)."""

    found: bool
    task: str
    reason: str
    actions: list[Any] = Field(description="names of moves, or vectors in a continuous world")
    parts: list[Part]
    nodes: list[int] = Field(description="the node of the machine that each move serves")
    cost: float | None
    expansions: int
    seconds: float
    ended: str
    reached: list[str]
    missed: list[str]
    likely: bool = Field(description="whether it counts on what terms are only likely to mean")
    right: bool | None = Field(description="whether it does what was asked, replayed and judged; null: nobody knows")
    machine: dict[str, Any] = Field(description="a drawing: nodes and edges with their places in pixels")


class Seen(BaseModel):
    """What somebody did, the likeliest first; the parts of that, and what is served at the end."""

    ranked: list[Ranked]
    segments: list[Part]
    now: str | None


class Cut(BaseModel):
    """Where each subgoal ended; what is nearly as likely; and how sure each classifier is in each state."""

    task: str
    steps: int
    segments: list[Segment]
    second: dict[str, Any] | None
    curves: dict[str, list[float]]
