import pandas as pd
import pytest
from drawing import frame
from enumeration import Doc
from hypothesis import given
from hypothesis import strategies as st

from metrics import Runs, evaluate
from metrics.studies.gaps.gap import gaps
from metrics.studies.gaps.gap_summary import gap_summary
from metrics.studies.leaderboard.rerankers import reranker_finding
from metrics.studies.prose import Strong, plain
from metrics.support.wording import percent


def summary_of(table, **policies):
    evaluation = evaluate(Runs.from_frame(frame(table)), ["RR"], **policies)
    return gap_summary(gaps(evaluation, {"first": "RR"}, "input"))


def finding(table, **policies):
    return plain(reranker_finding(summary_of(table, **policies), "MRR"))


STRICT = [Doc("a", 2, 1), Doc("b", 1, 0)]
LUCKY = [Doc("a", 1, 1), Doc("b", 1, 0), Doc("c", 0, 0), Doc("d", -1, 0)]
HARMLESS = [Doc("a", 2, 1), Doc("b", 1, 0), Doc("c", 1, 0), Doc("d", 1, 0)]


def test_the_finding_says_plainly_that_nothing_ties():
    assert finding({"A": {"q": STRICT}}).startswith("No reranker ties a document.")


def test_the_finding_of_nothing_scored_says_so():
    assert finding({"A": {"q": [Doc("a", 1, 0)]}}, empty="skip").startswith("No list is scored")


def test_the_finding_tells_who_ties_most_from_who_is_farthest_off():
    text = finding({"harmless": {"q": HARMLESS}, "lucky": {"q": LUCKY}})
    assert text.startswith("harmless ties most, 75% of a list on average, at 0.000 MRR.")
    assert "lucky is farther off, +0.250, with 50%" in text


def test_the_finding_says_who_else_ties_as_much_to_the_percent_and_leaves_out_a_single_list_that_is_right():
    def text_of(*ratios):
        rows = {"tie_ratio": ratios, "first_gap": 0.0, "first_gap_mean": 0.0}
        return plain(reranker_finding(pd.DataFrame(rows, index=list("ABCD")[: len(ratios)]), "MRR"))

    end = "90% of a list on average, at 0.000 MRR."
    assert text_of(0.9, 0.2) == f"A ties most, {end}"
    assert text_of(0.9, 0.899, 0.2) == f"A ties most, as another does, {end}"
    assert text_of(0.9, 0.899, 0.2, 0.9) == f"A ties most, as 2 others do, {end}"
    assert text_of(0.9, 0.9) == f"A ties, as every reranker does, {end}"


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
