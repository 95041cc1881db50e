import pytest
from benchmarks.fuzz_parser import SEEDS, example, fuzz

from rsg.language import parse

pytestmark = pytest.mark.no_cover  # many times what other tests run: watched, it takes twice as long


def test_ten_thousand_random_texts():
    figures = fuzz(10_000, seed=1)
    assert figures["trees"] > 500
    assert figures["errors"] > 5000
    assert figures["slowest_s"] < 5
    assert all(parse(text) for text in SEEDS)


def test_the_largest_texts_are_among_the_examples():
    class Huge:
        """Always takes the last kind of example, each choice in turn."""

        def __init__(self, turn):
            self.turn = turn

        def random(self):
            return 1.0

        def choice(self, options):
            return options[self.turn]

    for turn in range(10):
        text = example(Huge(turn))
        assert len(text) >= 10_000
        try:
            parse(text)
        except Exception as error:
            assert type(error).__name__ == "ParseError"  # noqa: PT017


@pytest.mark.slow
def test_two_hundred_thousand_random_texts():
    assert fuzz(200_000, seed=2)["slowest_s"] < 5
