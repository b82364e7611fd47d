"""The address of a page, opened in another session, shows all that the page shows."""

import random

import pandas as pd
import pytest
from boards import board
from opening import DATA_PAGES, FILES, PAGES, opened, title
from relevance_measures import with_cutoffs
from streamlit.testing.v1.element_tree import Element

from dashboard import cache
from dashboard.settings import INSECURE

VIEWS = {name: view for view, name in PAGES.items()}
MEASURES = with_cutoffs(["", "@7"], ["@7"])
STEPS = 10
DRAFTS = (
    *("add", "only-here", "evict"),  # switches on what is done with files dropped next
    *("paste", "named-", "column-", "apply-", "_other"),  # choices that another button takes over
    *("delete", "library-"),  # for which a way back is offered to who did it, and to nobody else
)
"""How keys of controls begin that no link has a place for."""
SEEDS = [*range(6), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(6, 56))]


def _choose_one(control, chance):
    return chance.choice(control.options)


def _choose_some(control, chance):
    return chance.sample(control.options, chance.randint(1, len(control.options)))


def _choose_end(control, chance):
    ends = control.min, control.max
    return ends if isinstance(control.value, tuple) else chance.choice(ends)


NEW_VALUES = {
    "button": lambda *_: True,
    "toggle": lambda control, _: not control.value,
    "checkbox": lambda control, _: not control.value,
    "button_group": lambda *of: (_choose_some if isinstance(of[0].value, list) else _choose_one)(*of),
    "selectbox": _choose_one,
    "multiselect": _choose_some,
    "number_input": _choose_end,
    "slider": _choose_end,
    "text_input": lambda _, chance: chance.choice(("", "reranker", "MRR >= 0.4")),
}
"""Kind of a control → what it is set to by chance: a control takes part from the day it is drawn."""


@pytest.fixture(scope="module")
def many_rerankers():
    """The label of a small board of more rerankers than a chart shows at first, with latencies and segments."""
    chance = random.Random(0)  # noqa: S311 nothing is kept secret
    rows = ["reranker,query_id,doc_id,score,relevance,latency,segment"]
    for number in range(21):
        for query in range(4):
            segment = "short" if query % 2 else "long"
            for document in range(6):
                score, grade = chance.randint(0, 4 + number), (query + document) % 5 // 3
                name = f"reranker-number-{number}-fp16"
                rows.append(f"{name},q{query},d{document},{score},{grade},{0.1 * (number + 1):.1f},{segment}")
    return cache.loaded_boards().add(board(many_csv="\n".join(rows))).label


def step(page, chance):
    """Go to a page of the menu, or operate a control of any kind, then any of that kind."""
    if chance.random() < 1 / 5:
        page.query_params = {}  # the browser opens a page of the menu at its bare address
        page.switch_page(FILES[chance.choice(list(DATA_PAGES))])
    else:
        place = page.sidebar if chance.random() < 1 / 4 else page.main
        controls = [node for node in place if node.type in NEW_VALUES and is_operated(node)]
        if controls:
            kind = chance.choice(sorted({control.type for control in controls}))
            control = chance.choice([control for control in controls if control.type == kind])
            control.set_value(NEW_VALUES[kind](control, chance))
    page.run()
    assert not page.exception, page.exception


def is_operated(control):
    return not control.disabled and not str(control.key).startswith(DRAFTS)


def shown(page):
    """All elements of a page: kind, and what is in it."""
    return [(node.type, content(node)) for node in page.main if isinstance(node, Element)]


def content(element):
    match element.type:
        case "plotly_chart":
            return element.proto.spec
        case "button" | "download_button":
            return element.label
        case "button_group":
            return sorted(element.formatted_values or element.options)  # each in its place; none means all
        case "multiselect":
            return element.value or element.options
    value = element.value
    return value.to_csv() if isinstance(value, pd.DataFrame) else value


@pytest.mark.parametrize("seed", SEEDS)
def test_another_session_shows_what_the_address_says_whatever_was_operated_before(
    many_rerankers, seed, monkeypatch
):
    monkeypatch.setenv(INSECURE, "1")  # one person's sessions: what one of them keeps, the other may change
    chance = random.Random(seed)  # noqa: S311 nothing is kept secret
    data = (cache.SAMPLE_LABEL, cache.SIMULATED_LABEL, many_rerankers)[seed % 3]
    page = opened("leaderboard", data=data, measure=chance.choice(MEASURES))
    for _ in range(STEPS):
        step(page, chance)
        view, address = VIEWS[title(page)], dict(page.query_params)
        other = opened(view, **address)
        differences = [pair for pair in zip(shown(page), shown(other), strict=False) if pair[0] != pair[1]]
        assert differences[:1] == [], (view, address)
        assert len(shown(page)) == len(shown(other)), (view, address)
        assert other.query_params == address
