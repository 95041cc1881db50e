"""Numbers as people read them."""

import math


def quantity(number: int, one: str, many: str | None = None) -> str:
    """A number with its noun.

    >>> quantity(1, "node"), quantity(5122, "node"), quantity(2**200, "path")
    ('1 node', '5,122 nodes', 'about 10^60 paths')
    """
    shown = f"{number:,}" if number < 10**15 else f"about 10^{math.floor(math.log10(number))}"
    return f"{shown} {one if number == 1 else many or one + 's'}"
