"""Results of jobs as sections look at them: by variant and split, over seeds."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from reproductions.harness.figures import Line
from reproductions.harness.jobs import Plain
from reproductions.harness.printed import EPOCH, PAPER
from reproductions.harness.tables import Mean, Rate, mean_of, number
from reproductions.harness.trials import SPLITS
from rsg.evaluation.report import RSG

UNSEEN = "novel, not trained on"
Rates = Mapping[str, Rate | None]
"""Success by split."""
PAPERS = {world: dict(zip(SPLITS, told[RSG], strict=True)) for world, told in PAPER.items()}
"""The paper's success with RSG, in percent, by world and split."""


def stem(job: str) -> str:
    """The variant of a job: its name without the seed.

    >>> stem("crafting-irl-seed2"), stem("image/rsg-seed0")
    ('crafting-irl', 'image/rsg')
    """
    return job.rpartition("-seed")[0]


def seed_of(job: str) -> int:
    """The seed in the name of a job."""
    return int(job.rpartition("-seed")[2])


class Results(dict[str, Plain]):
    """The results of the finished jobs by name, in the order of the jobs.

    A job is called `variant-seedN`; one that belongs to another experiment has its name and a slash in front.
    """

    def of(self, variant: str) -> list[Plain]:
        """The results of a variant, a seed to each."""
        return [one for job, one in self.items() if stem(job) == variant]

    def by_seed(self, key: str) -> dict[int, Plain]:
        """The results that say something of that kind, by seed; one job of each has it."""
        return {seed_of(job): one for job, one in self.items() if key in one}

    def evaluations(self, variant: str, name: str) -> list[Plain]:
        """The evaluations of that name, which is often a split, a seed to each."""
        every = [one.get("evaluations", {}).get(name) for one in self.of(variant)]
        return [one for one in every if one is not None]

    def rate(self, variant: str, name: str, check: str = "success", without: Collection[str] = ()) -> Rate | None:
        """The success rate over seeds, without some tasks; None if there is none."""
        return rate(self.evaluations(variant, name), check, without)

    def rates(
        self, variant: str, check: str = "success", more: str = "", trained: Collection[str] = ()
    ) -> dict[str, Rate | None]:
        """The success rate in both splits; `more` is what their names have besides.

        If some tasks are named that were trained on, then also that in the novel tasks without them.
        """
        found = {split: self.rate(variant, split + more, check) for split in SPLITS}
        return {**found, UNSEEN: self.rate(variant, f"novel{more}", check, trained)} if trained else found

    def plans(self, variant: str, name: str, key: str = "plan_ms_median") -> list[float]:
        """A figure of the plans of an evaluation, a seed to each."""
        return [one[key] for one in self.evaluations(variant, name)]

    def training(self, variant: str, key: str) -> list[float]:
        """A figure of training, a seed to each that it is known of."""
        every = [one["training"][key] for one in self.of(variant) if "training" in one]
        return [one for one in every if one is not None]

    def costs(self, variant: str, digits: int = 0) -> dict[str, str]:
        """What training cost, over seeds, in words."""
        known = {key: mean_or_none(self.training(variant, key)) for key in ("cpu_seconds", "seconds", "steps")}
        return {
            "training, processor time": number(known["cpu_seconds"], digits, "s"),
            "training, wall time with reading the data": number(known["seconds"], digits, "s"),
            "training, gradient steps": number(known["steps"], 0),
        }

    def epochs(self, variant: str) -> list[float]:
        """Processor seconds of an epoch, as the paper counts it, a seed to each; formulas take no steps."""
        seconds, steps = self.training(variant, "cpu_seconds"), self.training(variant, "steps")
        return [EPOCH * one / count for one, count in zip(seconds, steps, strict=True) if count]


def rate(evaluations: Sequence[Plain], check: str = "success", without: Collection[str] = ()) -> Rate | None:
    """The success rate over seeds: of each seed's evaluation the tasks that are not to be left out; None if none is."""
    rows = [[row for row in one["tasks"] if row["task"] not in without] for one in evaluations]
    rows = [some for some in rows if some]
    if not rows:
        return None
    successes = (sum(round(row[check] * row["episodes"]) for row in some) for some in rows)
    return Rate(tuple(successes), tuple(sum(row["episodes"] for row in some) for some in rows))


def share(rows: Sequence[Plain], done: str, of: str = "trajectories") -> Rate | None:
    """A rate over seeds from rows that count, a seed to each."""
    return Rate(tuple(row[done] for row in rows), tuple(row[of] for row in rows)) if rows else None


def mean_or_none(values: Sequence[float]) -> Mean | None:
    """The mean over seeds; None if nothing was measured."""
    return mean_of(values) if values else None


def line(rates: Mapping[Any, Rates], split: str) -> Line:
    """Success in percent by a number, where it is known."""
    return [(float(number), 100 * one.over_seeds.mean) for number, row in rates.items() if (one := row[split])]


def plain(value: Any) -> Any:
    """Rates by variant, split and the like as JSON; what was not measured is left out."""
    if isinstance(value, Rate):
        return value.plain()
    if isinstance(value, Mapping):
        return {str(key): plain(one) for key, one in value.items() if one is not None}
    return value
