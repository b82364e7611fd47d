"""The address of a page, opened in another browser, shows every number that the page shows."""

import random

import pytest
from pages import settle, upload
from walks import Walker, differences

MOST_STEPS = 4
LARGE = {"width": 3000, "height": 5000}
"""A window in which all columns of all tables are in sight, and so drawn."""
STARTS = ("/", "/?data=Sample%3A+simulated+rerankers", "/data")
"""Where a walk begins: each sample, and the page where many rerankers are dropped."""
SEQUENCES = 10


def _slow(seed):
    half = "odd" if seed % 2 else "even"
    return pytest.param(seed, SEQUENCES, MOST_STEPS, marks=pytest.mark.slow, id=f"seed{seed:02}-{half}")


WALKS = [pytest.param(1, 12, 1, id="dozen"), *map(_slow, range(30))]
"""Seed, sequences and most steps of each: a dozen sequences always, 300 when slow tests are asked for.

Two processes share those: `-m slow -k even` and `-m slow -k odd`.
"""


@pytest.fixture
def many_rerankers(tmp_path):
    """A small table of more rerankers than a chart shows at first, with latencies, segments and ties."""
    chance = random.Random(0)  # noqa: S311 nothing is kept secret
    rows = ["reranker,query_id,doc_id,score,relevance,latency,segment"]
    for reranker in range(21):
        for query in range(4):
            for document in range(6):
                score, latency = chance.randint(0, 4 + reranker), 0.1 * (reranker + 1)
                grade = (query + document) % 5 // 3
                place = f"reranker-number-{reranker}-fp16,q{query},d{document}"
                rows.append(f"{place},{score},{grade},{latency:.1f},{'short' if query % 2 else 'long'}")
    path = tmp_path / "many.csv"
    path.write_text("\n".join(rows))
    return path


def begin(walker, server, start, table):
    """Open the app where a walk begins; on Data, drop a table, which is what the walk then shows.

    Its address is opened anew: a file in the field for uploads is a draft, which no link has a place for.
    """
    walker.visit(server + start)
    if start == "/data":
        upload(walker.page, [table])
        walker.page.wait_for_url("**/?data=*")
        settle(walker.page)
        walker.visit(walker.page.url)


def open_elsewhere(walker, visitor):
    """Open the address of a page in another browser; again where a late click has changed it meanwhile."""
    address = None
    while address != walker.page.url:
        address = walker.page.url
        visitor.visit(address)
        walker.rest()
    return address


@pytest.mark.parametrize(("seed", "sequences", "most_steps"), WALKS)
def test_another_browser_shows_what_the_address_says_whatever_was_operated_before(
    server, elsewhere, profile, many_rerankers, seed, sequences, most_steps
):
    chance = random.Random(seed)  # noqa: S311 nothing is kept secret
    with (
        elsewhere.new_page() as other,
        profile.new_page() as page,
    ):
        for window in (page, other):
            window.set_viewport_size(LARGE)
        walker, visitor = Walker(page, chance), Walker(other, chance)
        begin(walker, server, STARTS[seed % len(STARTS)], many_rerankers)
        for number in range(sequences):
            for _ in range(chance.randint(1, most_steps)):
                walker.step()
            address = open_elsewhere(walker, visitor)
            assert differences(walker.page, visitor.page) == [], f"sequence {number}: {address}"
            assert visitor.page.url == address
