"""What the paper reports of every method, and how methods are called in tables."""

from typing import NamedTuple

RSG, ORACLE, PICTURES = "rsg", "oracle", "bc-fsm-image"
LABELS = {
    RSG: "RSG",
    "irl": "IRL",
    "gail": "GAIL",
    "bc": "BC",
    "bc-fsm": "BC-FSM",
    PICTURES: "BC-FSM, pictures",
    "lstm": "LSTM",
    ORACLE: "oracle (the truth)",
}
PAPER: dict[str, dict[str, tuple[float, float]]] = {  # success in percent, compositional and novel
    "crafting": {
        RSG: (99.6, 97.8),
        "irl": (36.5, 1.8),
        "gail": (19.2, 1.0),
        "bc": (11.2, 0.8),
        "bc-fsm": (5.2, 0.3),
        PICTURES: (38.2, 31.5),
    },
    "playroom": {RSG: (82.0, 78.2), "irl": (28.3, 9.6), "bc": (15.8, 4.8), "bc-fsm": (38.2, 31.5)},
}
EPOCH = 30  # batches, the paper's
PAPER_TIMES: dict[str, dict[str, tuple[int, float, float | None]]] = {  # epochs, minutes of each, seconds of a plan
    "crafting": {
        RSG: (60, 17.0, 4.6962),
        "irl": (60, 34.8, 0.7269),
        "bc": (150, 0.3, 0.1615),
        "bc-fsm": (150, 0.5, 0.5423),
        "lstm": (200, 0.4, None),
    },
    "playroom": {
        RSG: (60, 32.4, 0.4313),
        "irl": (60, 7.1, 23.0187),
        "bc": (150, 0.4, 0.1688),
        "bc-fsm": (150, 0.5, 0.1875),
        "lstm": (200, 0.2, None),
    },
}
SOURCE = "Learning Rational Subgoals from Demonstrations and Instructions (AAAI 2023)"


class Printed(NamedTuple):
    """What the paper prints of a method in a world; rates are fractions, times are seconds; None: it says nothing.

    Success: its table of planning with instructions. Times: the appendix's table of computation times; the hardware
    is not stated.
    """

    compositional: float | None
    novel: float | None
    training: float | None
    plan: float | None

    @staticmethod
    def of(world: str, method: str = RSG) -> "Printed":
        """The figures of a method in a world."""
        rates = tuple(rate / 100 for rate in PAPER[world].get(method, ())) or (None, None)
        epochs, minutes, plan = PAPER_TIMES[world].get(method, (0, 0.0, None))
        return Printed(rates[0], rates[1], 60 * epochs * minutes or None, plan)
