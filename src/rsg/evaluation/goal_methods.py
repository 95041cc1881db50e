"""The methods that `rsg reproduce goal-only` compares, as data: what each is called, and its settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from rsg.evaluation.jobs import Plain
from rsg.planning import GoalSettings

BUDGET = 25_000  # expansions, the paper's limit
BLIND_BUDGET = 200_000


@dataclass(frozen=True)
class Method:
    """One way to plan for a goal.

    Attributes:
        label: what readers see.
        changes: to the default settings of planning.
        threshold: by which dependencies were discovered.
    """

    label: str
    changes: Mapping[str, Any] = field(default_factory=dict)
    threshold: str = "calibrated"

    def asked(self, starts: int, budget: int | None = None, drawn: str = "test") -> Plain:
        """What a job is asked for: all settings written out, and how many starts of each goal, drawn for what."""
        limit = {} if budget is None else {"budget": budget}
        settings = asdict(GoalSettings(**{"budget": BUDGET, **self.changes, **limit}))
        return {"starts": starts, "drawn": drawn, "threshold": self.threshold, "settings": settings}


OURS, PAPER, BLIND = "ours", "paper", "blind"

MAIN = {
    OURS: Method("ours"),
    PAPER: Method("the paper's algorithm, with our threshold and test of the goal", {"method": "paper"}),
    "printed": Method("the paper's algorithm, as printed", {"method": "paper", "trust": True}, "paper"),
    "uniform": Method("the paper's algorithm, without dependencies", {"method": "uniform"}),
    BLIND: Method("blind", {"method": "blind", "budget": BLIND_BUDGET}),
}

LADDER = {  # the first and the fourth row are those of MAIN
    PAPER: MAIN[PAPER],
    "longer": Method("the paper's algorithm, up to 8 steps instead of 6", {"method": "paper", "length_limit": 8}),
    "untested": Method("the paper's algorithm, without our test of the goal", {"method": "paper", "trust": True}),
    "priority": Method("one search over regions, ranked by the paper's priority", {"guide": "priority"}),
    "conditional": Method("… ranked by what always came before", {"guide": "conditional"}),
    OURS: Method("… ranked by prerequisites (**ours**)"),
    "trusting": Method("ours, but a goal is believed without its prerequisites", {"trust": True}),
    "helpful": Method("ours, but only helpful terms make regions", {"watch": "helpful"}),
    "spread-0": Method("ours, no expansion by cost alone (spread 0)", {"spread": 0}),
    "spread-2": Method("ours, each second expansion by cost alone (spread 2)", {"spread": 2}),
    "spread-4": Method("ours, each fourth expansion by cost alone (spread 4)", {"spread": 4}),
    "unranked": Method("ours, regions without a rank", {"guide": "none"}),
}

PER_CANDIDATE = (200, 500, 1000, 2000, 5000)
LIMITS = {f"limit-{n}": Method(f"{n:,}", {"method": "paper", "per_candidate": n}) for n in PER_CANDIDATE}
