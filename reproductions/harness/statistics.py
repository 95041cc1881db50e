"""The mean over seeds, and how sure it is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Mean:
    """The mean of some values, one per seed.

    Attributes:
        count: how many values.
        mean: their mean.
        low, high: the 95 % interval of the mean (Student's t); None for a single value.
        least, most: the extremes.
    """

    count: int
    mean: float
    low: float | None
    high: float | None
    least: float
    most: float


def mean_of(values: Sequence[float], confidence: float = 0.95) -> Mean:
    """The mean with its interval.

    >>> mean_of([1.0, 2.0, 3.0]).mean
    2.0
    """
    if not values:
        raise ValueError("the mean of nothing")
    count = len(values)
    mean = math.fsum(values) / count
    if count == 1:
        return Mean(1, mean, None, None, mean, mean)
    spread = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (count - 1) / count)
    half = t_quantile((1 + confidence) / 2, count - 1) * spread
    return Mean(count, mean, mean - half, mean + half, min(values), max(values))


def t_quantile(probability: float, freedom: int) -> float:
    """The quantile of Student's t distribution, by bisection.

    >>> round(t_quantile(0.975, 4), 3)
    2.776
    """
    if not 0 < probability < 1 or freedom < 1:
        raise ValueError("the probability lies between 0 and 1, and there is at least one degree of freedom")
    low, high = -1e6, 1e6
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if t_cdf(middle, freedom) < probability else (low, middle)
    return (low + high) / 2


def t_cdf(t: float, freedom: int) -> float:
    """The distribution function of Student's t for whole degrees of freedom (Abramowitz and Stegun, 26.7.3 and 4)."""
    angle = math.atan2(t, math.sqrt(freedom))
    cosine, odd = math.cos(angle), freedom % 2
    term, total = (cosine if odd else 1.0), 0.0
    for k in range(odd, freedom - 1, 2):
        total += term
        term *= cosine * cosine * (k + 1) / (k + 2)
    within = math.sin(angle) * total
    if odd:
        within = (angle + within) * 2 / math.pi
    return 0.5 + within / 2
