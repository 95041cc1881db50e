"""What a run learned: in sentences, over places, and which subgoals help which."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from rsg.core.words import quantity
from rsg.studio.desk import Desk
from rsg.training import Run

Asked = Mapping[str, Any]


def about_run(desk: Desk, asked: Asked, tell: Any) -> dict[str, Any]:
    """A run: what each of its terms means, how it was trained, and how that went."""
    del tell
    folder, learned = desk.run(asked["run"]), desk.subgoals(asked["run"])
    run = Run(folder)
    setting = run.about.get("source", {}).get("setting", "")
    notes = run.load("last").notes
    told = learned.tell(desk.domain.world(setting))
    curve = [[row["step"], row.get("loss"), row.get("held_out")] for row in notes.get("history", [])]
    return {
        "name": asked["run"] or folder.name,
        "terms": list(learned.terms),
        "readings": [
            {
                key: value
                for key, value in one.plain().items()
                if key in ("term", "means", "sure", "seen", "open", "settle")
            }
            for one in told
        ],
        "settings": run.about["settings"],
        "curve": curve,
        "steps": notes["step"],
        "seconds": notes.get("seconds"),
    }


def responses(desk: Desk, asked: Asked, tell: Any) -> dict[str, Any]:
    """How sure classifiers are with the agent at each place, all else as it is: at its best orientation."""
    del tell
    learned, walk = desk.subgoals(asked["run"]), desk.walk(asked)
    there = desk.domain.positions(walk.world, walk.states[-1])
    numbers = learned.classifiers.numbers(asked["terms"])
    odds = learned.classifiers.evaluate(walk.world, there.states, numbers)[..., 0]
    with np.errstate(over="ignore"):
        sure = np.where(there.free[:, None], 1 / (1 + np.exp(-odds)), np.nan)
    best = np.fmax.reduce(sure.reshape(there.rows, there.columns, -1, len(numbers)), axis=2)
    plain = np.round(best, 3).astype(object)
    plain[np.isnan(best)] = None  # nobody can be there
    values = {term: plain[..., k].tolist() for k, term in enumerate(asked["terms"])}
    return {"rows": there.rows, "columns": there.columns, "box": list(there.box), "values": values}


def dependencies(desk: Desk, asked: Asked, tell: Any) -> dict[str, Any]:
    """Which subgoals help which, and in how many demonstrations that was seen."""
    del tell
    found = desk.subgoals(asked["run"]).dependencies
    needs = [
        {
            "term": term,
            "achieved": int(found.achieved[k]),
            "needs": [[found.terms[one] for one in some] for some in found.prerequisites[k] if some],
        }
        for k, term in enumerate(found.terms)
    ]
    evidence = [{**link, "words": _words(link)} for link in found.links()]
    return {"terms": list(found.terms), "gains": found.matrix.round(4).tolist(), "needs": needs, "evidence": evidence}


def _words(link: Mapping[str, Any]) -> str:
    both = f"{quantity(link['together'], 'demonstration')} that show both"
    return f"{link['first']} came before {link['then']} in {link['before']:,} of {both}"
