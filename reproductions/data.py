"""`rsg reproduce data`: what is learned from few, noisy, wrongly or sparsely described demonstrations.

Rules beside networks and BC-FSM in Crafting World, and in Playroom networks beside BC-FSM, whose jobs are those of the
baselines with fewer demonstrations.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from reproductions import baselines
from reproductions.harness import measures
from reproductions.harness.figures import Picture, curves
from reproductions.harness.jobs import Job, Place, Plain
from reproductions.harness.measures import MUCH, SOURCE, TRUTH, Given, Kept, counted
from reproductions.harness.reproduce import Experiment, Section
from reproductions.harness.results import Rates, Results, line, plain, stem
from reproductions.harness.tables import NONE, Rate, mean_of, number, page, rates_table, table
from reproductions.harness.trials import SPLITS, Size, settings_of, suited
from rsg.baselines import METHODS, preset, train_baseline
from rsg.domains.crafting import VOCABULARY
from rsg.evaluation.policies import evaluate_policy
from rsg.evaluation.statistics import hundredths
from rsg.subgoals import RsgSettings
from rsg.training.settings import restored

NAME = "data"
RULES, NETWORKS, CLONING = "rules", "networks", "bc-fsm"
LABELS = {RULES: "rules", NETWORKS: "networks", CLONING: "BC-FSM"}
ENCODERS = {RULES: "facts", NETWORKS: "sets"}
PLAYROOM = {NETWORKS: "rsg", CLONING: CLONING}  # what the baselines call it

NUMBERS = (1, 2, 5, 20, 400)
NOISY = (Given(5, noise=0.2), Given(5, noise=0.4))
WRONG = tuple(Given(per_task, wrong=share) for share in (0.1, 0.3) for per_task in (1, 5))
FULL = Size(
    400,
    {
        **baselines.FULL.counts,
        **{"given": (*map(Given, NUMBERS), *NOISY, *WRONG, Given(1, several=True)), "deep": (1, 400)},
        **{"cloned": (1, 5, 20), "fewer": (5, 20, 100), "seeds": {NETWORKS: 2, CLONING: 1, "playroom": 1}},
        "first": 210,  # the seed of the first one's demonstrations and training: none was looked at during development
        **{"instructions": 40, "maps": 100, "starts": 4, "crowded": 10, "walks": 10_000},
    },
    6.0,
    seeds=10,
)
QUICK = Size(
    baselines.QUICK.demonstrations,
    {
        **baselines.QUICK.counts,
        **{"given": (Given(1), Given(5), Given(1, wrong=0.1), Given(1, several=True)), "deep": (1,)},
        **{"cloned": (1,), "fewer": (5,), "seeds": {}},
        "first": 100,
        **{"instructions": 3, "maps": 2, "starts": 1, "crowded": 1, "walks": 200},
    },
    0.5,
    baselines.QUICK.changes,
)
MEASURED = ("instructions", "maps", "starts", "crowded", "walks")


def jobs(size: Size) -> Iterator[Job]:
    """For each seed: rules, networks and BC-FSM with all that is given; fewer seeds of what takes long."""
    few = size["seeds"]
    given = [asdict(one) for one in size["given"]]
    counts = {name: size[name] for name in MEASURED}
    for place in range(size.seeds):
        seed = size["first"] + place
        for method, encoder in ENCODERS.items():
            if place < few.get(method, size.seeds):
                settings = settings_of(seed, **suited(encoder), **size.changes)
                asked = {"settings": settings, "given": given, "deep": list(size["deep"]), "counts": counts}
                yield Job(NAME, f"{method}-seed{place}", subgoals_job, asked, size.minutes)
        if place < few.get(CLONING, size.seeds):
            settings = asdict(preset(CLONING, SOURCE, **{"seed": seed, **size.changes}))
            asked = {"settings": settings, "given": [asdict(Given(n)) for n in size["cloned"]], "counts": counts}
            yield Job(NAME, f"{CLONING}-seed{place}", cloning_job, asked, size.minutes)
    yield from _in_playroom(replace(size, seeds=min(size.seeds, few.get("playroom", size.seeds))))


def _in_playroom(size: Size) -> Iterator[Job]:
    """The jobs of the baselines with all demonstrations, and with fewer, where it only plans or acts."""
    wanted = {f"playroom-{method}" for method in PLAYROOM.values()}
    with_all = [job for job in baselines.jobs(size) if stem(job.name) in wanted]
    yield from with_all
    for few in size["fewer"]:
        for job in with_all:
            name = f"{stem(job.name)}-{few}-seed{job.parameters['settings']['seed']}"
            parameters = {**job.parameters, "per_task": few, "recognised": 0, "examples": False}
            yield replace(job, experiment=NAME, name=name, parameters=parameters)


def subgoals_job(parameters: Plain, place: Place) -> Plain:
    """Learn subgoals from all that is given, one after the other, and measure them."""
    del place
    settings, counts = restored(RsgSettings, parameters["settings"]), parameters["counts"]
    seed, found = settings.seed, Plain()
    for given in (Given(**one) for one in parameters["given"]):
        demos = given.demonstrations(seed)
        subgoals, seconds = measures.learned(demos, settings)
        goals, terms = measures.known(subgoals), subgoals.terms
        found[str(given)] = {
            "demonstrations": len(demos),
            "seconds": seconds,
            "instructions": measures.instructions(goals, terms, seed, counts["instructions"]),
            "terms": measures.terms_right(goals, terms, seed, counts["walks"]),
        }
        if given in map(Given, parameters["deep"]):
            found[str(given)] |= {
                "single": measures.single_terms(goals, terms, seed, counts["maps"]),
                "learned": _far(goals, terms, demos, seed, counts),
                "truth": _far(TRUTH, VOCABULARY, demos, seed, counts),
            }
    return {"found": found}


def _far(goals: Any, terms: Sequence[str], demos: Any, seed: int, counts: Mapping[str, int]) -> Plain:
    """Away from what was demonstrated: goals only, and maps with all places; how often right, of how many."""
    reached = measures.goals_only(goals, measures.links(goals, terms, demos), seed, counts["starts"])
    every = sum(reached[outcome] for outcome in ("right", "wrong", "none"))
    return {
        "goals": [reached["right"], every],
        "wrong": reached["wrong"],
        "below": reached["terms"],
        "crowded": measures.crowded(goals, terms, seed, counts["crowded"]),
    }


def cloning_job(parameters: Plain, place: Place) -> Plain:
    """Train BC-FSM on all that is given, one after the other, and let it act."""
    del place
    settings, found = restored(METHODS[CLONING].kind, parameters["settings"]), Plain()
    for given in (Given(**one) for one in parameters["given"]):
        demos = given.demonstrations(settings.seed)
        trained = train_baseline(CLONING, demos, measures.world_of, settings=settings)
        starts = {split: Kept(split, parameters["counts"]["instructions"], settings.seed) for split in SPLITS}
        found[str(given)] = {
            "demonstrations": len(demos),
            "seconds": trained.progress.seconds,
            "instructions": {
                split: counted(evaluate_policy(SOURCE, some, trained.method), VOCABULARY)
                for split, some in starts.items()
            },
        }
    return {"found": found}


# The section.

Found = Mapping[str, Sequence[Plain]]
"""What was measured by what was given, a seed to each."""


def section(size: Size, results: Results) -> Section:
    """Success and terms by what was given; what is far from demonstrations; Playroom."""
    found = {method: some for method in LABELS if (some := _gathered(size, results, method))}
    rooms = {
        method: {
            **{few: results.rates(f"playroom-{name}-{few}") for few in size["fewer"]},
            size.demonstrations: results.rates(f"{baselines.NAME}/playroom-{name}"),
        }
        for method, name in PLAYROOM.items()
    }
    text = page(
        NAME,
        counts=size.counts,
        steps=measures.STEPS,
        budget=f"{MUCH:,}",
        success={LABELS[method]: _success_table(some) for method, some in found.items()},
        far=_far_table(found),
        playroom={
            split: rates_table(
                "demonstrations of each task",
                [*map(str, size["fewer"]), str(size.demonstrations)],
                {LABELS[method]: {few: row[split] for few, row in some.items()} for method, some in rooms.items()},
            )
            for split in SPLITS
        },
    )
    success: dict[str, dict[str, dict[str, Rates]]] = {
        "crafting": {method: {given: _success(rows) for given, rows in some.items()} for method, some in found.items()},
        "playroom": {method: {str(Given(few)): row for few, row in some.items()} for method, some in rooms.items()},
    }
    figures = {method: {given: _figures(rows) for given, rows in some.items()} for method, some in found.items()}
    summary = {"success": plain(success), "measured": plain(figures)}
    return Section("Few, noisy and wrong demonstrations", text, summary, _drawn(size, success))


def _gathered(size: Size, results: Results, method: str) -> Found:
    """What was measured of a method in Crafting World."""
    every = [one["found"] for one in results.of(method)]
    found = {given: [one[given] for one in every if given in one] for given in map(str, size["given"])}
    return {given: rows for given, rows in found.items() if rows}


def _rate(counts: Sequence[Sequence[int]]) -> Rate:
    """A rate over seeds from how often it was right, of how many."""
    return Rate(tuple(done for done, _ in counts), tuple(of for _, of in counts))


def _success(rows: Sequence[Plain]) -> Rates:
    return {split: _rate([row["instructions"][split] for row in rows]) for split in SPLITS}


def _worst(rate: Rate) -> str:
    """A rate in percent, with that of the worst seed."""
    mean = rate.over_seeds
    return hundredths(mean.mean) if mean.count == 1 else f"{hundredths(mean.mean)} (worst {hundredths(mean.least)})"


def _figures(rows: Sequence[Plain]) -> Plain:
    """What else was measured with one that was given, over seeds; `far` and `single` only where it was."""
    found: Plain = {"demonstrations": rows[0]["demonstrations"], "seconds": [row["seconds"] for row in rows]}
    if terms := [row["terms"] for row in rows if "terms" in row]:
        found["terms_right"] = [one["right"] for one in terms]
        found["terms_open"] = [one["open"] for one in terms]
        found["terms_known"] = [one["of"] for one in terms]
        found["seeds_wrong"] = dict(Counter(name for one in terms for name in one["wrong"]))
    if singles := [row["single"] for row in rows if "single" in row]:
        found["single"] = {key: sum(one[key] for one in singles) for key in ("right", "wrong", "none", "missed")}
        found["single"]["truth"] = sum(one["truth"]["right"] for one in singles)
        found["far"] = {
            what: {who: _rate([row[who][what] for row in rows]) for who in ("learned", "truth")}
            for what in ("goals", "crowded")
        }
    return found


def _success_table(found: Found) -> str:
    """Of each that was given: success, how many terms are right, processor time."""
    lines = []
    for given, rows in found.items():
        told = _figures(rows)
        terms = zip(*(told.get(f"terms_{key}", ()) for key in ("right", "open", "known")), strict=True)
        seeds = Counter(f"{right}{f' and {some} open' if some else ''} of {known}" for right, some, known in terms)
        lines.append(
            [
                given,
                str(told["demonstrations"]),
                *(_worst(rate) for rate in _success(rows).values() if rate),
                ", ".join(f"{text}: {count}" for text, count in sorted(seeds.items(), reverse=True)) or NONE,
                number(mean_of(told["seconds"]), 1, "s"),
            ]
        )
    return table(["given", "demonstrations", *SPLITS, "terms right: seeds", "training, processor time"], lines)


def _far_table(found: Mapping[str, Found]) -> str:
    """What is far from demonstrations, beside the truth; nothing if nothing of it was measured."""
    told = {
        f"{LABELS[method]}, {given}": _figures(rows) for method, some in found.items() for given, rows in some.items()
    }
    lines = []
    for label, one in told.items():
        if "single" in one:
            single, far = one["single"], one["far"]
            plans = sum(single[key] for key in ("right", "wrong", "none"))
            counts = [f"{single['wrong']:,} of {plans:,}", f"{single['missed']:,} of {single['truth']:,}"]
            lines.append([label, *counts, *(_worst(rate) for both in far.values() for rate in both.values())])
    head = ["subgoals", "single terms: wrong plans", "the truth's plans missed", "goals only", "with the truth"]
    return table([*head, "crowded maps", "with the truth"], lines) if lines else ""


def _drawn(size: Size, success: Mapping[str, Mapping[str, Mapping[str, Rates]]]) -> dict[str, Picture]:
    """Success against the number of demonstrations, a panel to each world and split."""
    numbers = sorted({*NUMBERS, *size["fewer"], size.demonstrations})
    lines = {
        f"{baselines.WORLDS[world]}, {split}": {
            LABELS[method]: [line({n: some[str(Given(n))] for n in numbers if str(Given(n)) in some}, split)]
            for method, some in found.items()
        }
        for world, found in success.items()
        for split in SPLITS
    }
    axes = ("demonstrations of each task", "success in %", "x", (0.0, 104.0))
    return {"success": curves("Success against demonstrations of each task", lines, *axes)}


EXPERIMENT = Experiment(NAME, FULL, QUICK, jobs, section)
