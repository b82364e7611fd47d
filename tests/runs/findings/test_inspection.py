from math import inf, nextafter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from repository import REAL_RUNS, SAMPLE

from metrics import read_runs, read_table
from metrics.runs.inspection import inspect

UNTIED = [(0.912345, 1), (0.812345, 0)]
PROVOKING = {
    "no-overlap": ({"q": UNTIED}, {"Q": {"d1": 1}}),
    "documents-no-overlap": ({"q": [0.912345, 0.812345]}, {"q": {"D1": 1}}),
    "queries-missing": ({"q": UNTIED}, {"q": {"d1": 1}, "r": {"d1": 1}}),
    "queries-unjudged": ({"q": UNTIED, "r": [0.912345]}, {"q": {"d1": 1}}),
    "unjudged": ({"q": [*UNTIED, 0.712345]}, {"q": {"d1": 1, "d2": 0}}),
    "negative-grades": ({"q": [(0.912345, 1), (0.812345, -1)]}, None),
    "nothing-relevant": ({"q": [(0.912345, 0)]}, None),
    "none-found": ({"q": [(0.912345, 0)]}, {"q": {"d1": 0, "d2": 1}}),
    "order-leaks": ({f"q{at}": [(1, 1), (1, 0)] for at in range(17)}, None),
    "own-query": ({"d1": [(0.912345, 0), (0.812345, 1)]}, None),
    "one-document": ({"q": [(0.912345, 1)]}, None),
    "straddles": ({"q": [(1, 1), (1, 0)]}, None),
    "constant-run": ({"q": [1, 1]}, None),
    "constant-lists": ({"q": [1, 1], "r": [2, 1]}, None),
    "saturated": ({"q": [1, 1, 0.5, 0]}, None),
    "infinite": ({"q": [inf, 1]}, None),
    "few-decimals": ({"q": [0.5, 0.5, 0.2]}, None),
    "graded": ({"q": [2, 2, 1]}, None),
    "half-precision": ({"q": [2.0**-at for at in range(20)]}, None),
    "float32-ties": ({"q": [0.3, nextafter(0.3, 1)]}, None),
}


def codes(findings):
    return [one.code for one in findings]


@pytest.mark.parametrize("code", PROVOKING)
def test_every_finding_can_be_provoked(listing_of, judged_of, code):
    lists, grades = PROVOKING[code]
    if grades is None:
        assert code in codes(inspect([listing_of(lists)], None))
    else:
        assert code in codes(inspect([listing_of(lists, has_grades=True)], judged_of(grades)))


def test_ranks_against_scores_are_found(listing_of):
    assert "rank-disagrees" in codes(inspect([listing_of({"q": UNTIED}, ranks=[2, 1])], None))


def test_rerankers_are_compared_where_no_judgments_say_which_queries_count(listing_of, judged_of):
    listings = [listing_of({"q": UNTIED, "r": UNTIED}), listing_of({"q": UNTIED}, name="B", file="b.csv")]
    assert codes(inspect(listings, None)) == ["queries-differ"]
    judged = judged_of({"q": {"d1": 1, "d2": 0}, "r": {"d1": 1, "d2": 0}})
    assert codes(inspect(listings, judged)) == ["queries-missing"]


def test_a_clean_run_gives_no_finding(clean, judged_of):
    assert list(inspect([clean], None)) == []
    assert list(inspect([clean], judged_of({"q1": {"d1": 1, "d2": 0}, "q2": {"d1": 0, "d2": 2}}))) == []


def test_there_is_at_most_one_finding_of_a_code_for_each_reranker(listing_of):
    lists = {f"q{at}": [(1, 1), (1, 0), (nextafter(1, 0), 0), (inf, -1)] for at in range(30)}
    findings = list(inspect([listing_of(lists, name=name) for name in "AB"], None))
    assert len(findings) == 2 * len(set(codes(findings)))


def test_nothing_to_look_at_gives_no_finding(listing_of, judged_of):
    assert [*inspect([], None), *inspect([], judged_of({}))] == []
    assert [*inspect([listing_of({})], None), *inspect([listing_of({})], judged_of({}))] == []


SCORES = st.one_of(
    st.sampled_from([0.0, -0.0, 1.0, 0.5, inf, -inf, 1e308, -1e308, 5e-324, nextafter(1, 2)]),
    st.floats(allow_nan=False),
)
ROWS = st.lists(
    st.tuples(
        st.sampled_from("qQr"), st.sampled_from(["a", "A", "007", "7"]), SCORES, st.none() | st.integers(-1, 2)
    ),
    max_size=30,
)
GRADES = st.dictionaries(
    st.sampled_from(["q", "q7", "s"]),
    st.dictionaries(st.sampled_from(["a", "x7", "7.0"]), st.integers(-1, 2), min_size=1),
)


@given(ROWS, GRADES, st.booleans(), st.lists(st.none() | st.integers(0, 3), min_size=30, max_size=30))
def test_whatever_the_table_findings_are_whole_sentences(
    listing_of_rows, judged_of, rows, grades, has_grades, ranks
):
    ranks = ranks[: len(rows)] if any(rank is not None for rank in ranks[: len(rows)]) else None
    listing = listing_of_rows(rows, has_grades=has_grades, ranks=ranks)
    alone, apart = inspect([listing], None), inspect([listing_of_rows(rows), listing], judged_of(grades))
    for finding in [*alone, *apart]:
        assert finding.message.endswith(".")
        assert finding.count >= 1
        assert finding.line is None or 1 <= finding.line <= max(len(rows), sum(map(len, grades.values())))


@given(ROWS, st.randoms(use_true_random=False))
def test_how_many_are_concerned_does_not_depend_on_the_order_of_rows(listing_of_rows, rows, random):
    shuffled = random.sample(rows, len(rows))
    counts = [
        {one.code: one.count for one in inspect([listing_of_rows(some)], None) if one.code != "order-leaks"}
        for some in (rows, shuffled)
    ]
    assert counts[0] == counts[1]


REAL = {
    "rutcor03100.trec.gz": [
        ("order-leaks", 1, 293),
        ("unjudged", None, 74),
        ("none-found", 10001, 2),
        ("straddles", 1, 100),
    ],
    "ada2.trec": [("unjudged", None, 37)],
    "bm25.trec": [],
    "rankgpt35.trec": [("unjudged", None, 14)],
    "repllama.trec": [("few-decimals", None, 42_360), ("unjudged", None, 34), ("straddles", 2, 28)],
    "spladepp.trec": [("unjudged", None, 32)],
}


@pytest.mark.skipif(not REAL_RUNS.is_dir(), reason="the real runs are not beside the repository")
@pytest.mark.parametrize("name", REAL)
def test_findings_of_a_real_run_are_what_counting_by_hand_gives(name):
    [path] = REAL_RUNS.glob(f"*/{name}")
    [qrels] = path.parent.glob("qrels*")
    findings = read_runs([path], qrels).findings
    rows = findings[["code", "line", "count"]].astype(object)
    assert rows.where(rows.notna(), None).to_numpy().tolist() == [list(one) for one in REAL[name]]


def test_the_order_of_the_sample_data_does_not_know_what_is_relevant():
    findings = read_table(SAMPLE / "llm_rerankers.csv").findings
    assert set(findings["code"]) & {"order-leaks", "unjudged"} == set()
    assert not np.isin(findings["severity"], "error").any()
