import numpy as np
import pandas as pd
import pytest
from drawing import frame
from enumeration import Doc
from hypothesis import given
from hypothesis import strategies as st

from metrics import Runs, evaluate
from metrics.simulation import notebook_llm_rerankers
from metrics.studies.gaps.gap import gap_finding, gaps, reranker_finding
from metrics.studies.prose import Strong, plain
from metrics.support.wording import percent

STRICT = [Doc("a", 2, 1), Doc("b", 1, 0)]
LUCKY = [Doc("a", 1, 1), Doc("b", 1, 0), Doc("c", 0, 0), Doc("d", -1, 0)]
HARMLESS = [Doc("a", 2, 1), Doc("b", 1, 0), Doc("c", 1, 0), Doc("d", 1, 0)]


def lists_of(runs, **policies):
    return gaps(evaluate(runs, ["RR"], **policies), {"first": "RR"}, "input")


def finding(table, **policies):
    return plain(reranker_finding(lists_of(Runs.from_frame(frame(table)), **policies), "RR"))


def drawn_lists(sizes, ratios):
    """Lists of rerankers with these absolute gaps and tie ratios, query by query."""
    parts = [
        pd.DataFrame(
            {
                "reranker": name,
                "query_id": [f"q{number}" for number in range(len(gap))],
                "tie_ratio": ratios[name],
                "first_gap": gap,
            }
        )
        for name, gap in sizes.items()
    ]
    return pd.concat(parts, ignore_index=True)


def test_the_finding_says_plainly_that_nothing_ties():
    assert finding({"A": {"q": STRICT}}).startswith("No reranker ties a document.")


def test_the_finding_of_nothing_scored_says_so():
    assert finding({"A": {"q": [Doc("a", 1, 0)]}}, empty="skip").startswith("No list is scored")


def test_the_finding_tells_who_ties_most_from_whose_lists_are_farther_off():
    queries = ["q", "r", "s"]
    text = finding({"harmless": dict.fromkeys(queries, HARMLESS), "lucky": dict.fromkeys(queries, LUCKY)})
    assert text.startswith("harmless ties most: 75% of a list on average.")
    assert "The lists of lucky are farther off: a mean |RR gap| of 0.250 against 0.000 of it." in text


@given(st.integers(0, 2**32 - 1))
def test_nobody_is_said_to_be_farther_off_within_the_standard_error_of_the_difference(seed):
    draw = np.random.default_rng(seed)
    sizes = {name: draw.random(12) * draw.choice([0.4, 0.5, 1]) for name in "AB"}
    text = plain(reranker_finding(drawn_lists(sizes, {"A": 0.9, "B": 0.5}), "RR"))
    difference = sizes["A"] - sizes["B"]
    error = difference.std(ddof=1) / np.sqrt(len(difference))
    is_clear = abs(difference.mean()) > error
    assert ("farthest off" in text or "farther off" in text) == is_clear
    assert ("cannot be told from" in text) == (not is_clear)
    assert ("The lists of B are farther off" in text) == (is_clear and difference.mean() < 0)


def test_the_finding_says_who_else_ties_as_much_to_the_percent():
    def text_of(*ratios):
        names = list("ABCD")[: len(ratios)]
        lists = drawn_lists({name: np.zeros(3) for name in names}, dict(zip(names, ratios, strict=True)))
        return plain(reranker_finding(lists, "RR"))

    end = "90% of a list on average. The order taken changes no value: every RR gap is 0. "
    assert text_of(0.9, 0.2) == f"A ties most: {end}"
    assert text_of(0.9, 0.899, 0.2) == f"A and 1 more tie most: {end}"
    assert text_of(0.9, 0.899, 0.2, 0.9) == f"A and 2 more tie most: {end}"
    assert text_of(0.9, 0.9) == f"All rerankers tie {end}"
    assert text_of(0.9) == f"A ties {end}"


def test_the_prediction_is_that_of_the_finding_on_lists():
    lists = lists_of(notebook_llm_rerankers(100))
    text, of_lists = plain(reranker_finding(lists, "RR")), plain(gap_finding(lists, "RR"))
    assert "The tie ratio predicts the gap moderately (r = 0.39)" in text
    assert text[text.index("The tie ratio") :].strip() in of_lists
    assert text.startswith("Local LLM (Very High Ties) ties most: 97% of a list on average.")
    assert (
        "Its lists are also farthest off: a mean |RR gap| of 0.167 against 0.129 of Claude (High Ties)." in text
    )


@pytest.mark.parametrize(
    ("share", "text"), [(0, "0%"), (0.001, "under 1%"), (0.00499, "under 1%"), (0.756, "76%"), (1, "100%")]
)
def test_a_share_is_a_whole_percent(share, text):
    assert percent(share) == text


@given(st.floats(min_value=0, max_value=1, exclude_min=True) | st.just(1 / 200))
def test_a_share_above_zero_never_reads_as_zero(share):
    assert percent(share) != "0%"


def test_prose_reads_as_one_text():
    assert plain((Strong("A"), " and ", Strong("B"))) == "A and B"
