"""The address of a page, opened in another browser, shows every number that the page shows."""

import random

import pytest
from walks import Walker, differences

MOST_STEPS = 4
LARGE = {"width": 3000, "height": 5000}
"""A window in which all columns of all tables are in sight, and so drawn."""
WALKS = [(2, 4), *(pytest.param(seed, 10, marks=pytest.mark.slow) for seed in (0, 1, *range(3, 31)))]
"""Seed and sequences of each walk: one short walk always, 300 sequences when slow tests are asked for."""


START = "/?data=Sample%3A+simulated+rerankers"


@pytest.mark.parametrize(("seed", "sequences"), WALKS)
def test_another_browser_shows_what_the_address_says_whatever_was_clicked_before(
    server, browser, seed, sequences
):
    chance = random.Random(seed)  # noqa: S311 nothing is kept secret
    with browser.new_context(reduced_motion="reduce", viewport=LARGE) as own:
        walker = Walker(own.new_page(), chance)
        walker.visit(server + START)
        for number in range(sequences):
            for _ in range(chance.randint(1, MOST_STEPS)):
                walker.step()
            address = walker.page.url
            with browser.new_context(reduced_motion="reduce", viewport=LARGE) as other:
                visitor = Walker(other.new_page(), chance)
                visitor.visit(address)
                assert differences(walker.page, visitor.page) == [], f"sequence {number}: {address}"
                assert visitor.page.url == address
