"""The figures that a LeRobot dataset keeps of each feature, for normalising: of each episode, and of all."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from rsg.core.arrays import Array, Floats

_QUANTILES = {"q01": 0.01, "q10": 0.1, "q50": 0.5, "q90": 0.9, "q99": 0.99}
KEPT = ("min", "max", "mean", "std", "count", *_QUANTILES)

Figures = dict[str, Array]
"""Of one feature: each of `KEPT`, `[W]`; `count` is `[1]`."""


def of_episode(columns: Mapping[str, Array]) -> dict[str, Figures]:
    """The figures of columns `[T, W]`."""
    sizes = [values.shape[1] for values in columns.values()]
    whole = np.concatenate([values.astype(np.float64) for values in columns.values()], axis=1)
    with np.errstate(all="ignore"):  # infinities
        quantiles = np.quantile(whole, list(_QUANTILES.values()), axis=0)
        rows = [whole.min(axis=0), whole.max(axis=0), whole.mean(axis=0), whole.std(axis=0)]
    names = ("min", "max", "mean", "std", *_QUANTILES)
    split = np.split(np.array([*rows, *quantiles]), np.cumsum(sizes)[:-1], axis=1)
    count = np.array([len(whole)])
    return {
        name: {**dict(zip(names, values, strict=True)), "count": count}
        for name, values in zip(columns, split, strict=True)
    }


class Stats:
    """The figures of all episodes, joined as LeRobot joins them: quantiles are means, weighted by the frames."""

    def __init__(self, names: list[str]) -> None:
        self._all: dict[str, dict[str, Floats]] = {name: {} for name in names}
        self._count = 0

    def add(self, episode: Mapping[str, Figures]) -> None:
        """One more episode."""
        count = int(next(iter(episode.values()))["count"][0])
        share = count / (self._count + count)
        with np.errstate(all="ignore"):
            for name, one in episode.items():
                kept = self._all[name] or {kind: np.asarray(one[kind], np.float64) for kind in KEPT}
                apart = one["mean"] - kept["mean"]
                square = (1 - share) * kept["std"] ** 2 + share * one["std"] ** 2 + share * (1 - share) * apart**2
                means = {kind: kept[kind] + share * (one[kind] - kept[kind]) for kind in ("mean", *_QUANTILES)}
                ends = {"min": np.minimum(kept["min"], one["min"]), "max": np.maximum(kept["max"], one["max"])}
                self._all[name] = {**ends, **means, "std": np.sqrt(square)}
        self._count += count

    def plain(self) -> dict[str, dict[str, list[Any]]]:
        """The figures as `meta/stats.json` has them."""
        each = {name: {kind: values.tolist() for kind, values in one.items()} for name, one in self._all.items()}
        return {name: {**one, "count": [self._count]} for name, one in each.items()}
