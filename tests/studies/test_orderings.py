"""One list: counts, patterns, distributions and draws, held against every ordering in exact fractions."""

import math
from collections import Counter
from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from drawing import frame, lists
from enumeration import Doc, every_value, judged_list
from hypothesis import given
from hypothesis import strategies as st

from metrics import Runs, evaluate
from metrics.evaluation import ScoringOptions
from metrics.runs import File, read
from metrics.studies.one_list import (
    complexity_report,
    first_rank_chances,
    ladder,
    sampled_mean,
    text_column,
    tie_groups,
)
from metrics.studies.orderings import (
    list_values,
    running_mean,
    sample_distinct_places,
    sample_values,
)
from metrics.ties import Ranking
from metrics.ties.permutations import count_orderings

BY_GRADES = ["RR", "RR@2", "Hits@2", "AP", "P@2", "R@2", "nDCG@3", "nDCG-linear@2", "RBP(0.8)", "Rprec"]
TIES = ["input", "expected", "optimistic", "pessimistic", "docid_desc"]


def ranking_of(table, reranker="A"):
    return Ranking.of(Runs.from_frame(frame(table)), reranker)


def ranking(docs):
    return ranking_of({"A": {"other": [Doc("x", 1, 1), Doc("y", 1, 0)], "q": docs, "last": [Doc("z", 1, 1)]}})


def test_one_relevant_document_in_a_tie_of_many_has_as_many_patterns_as_places():
    single_list = flat(100_000, 1)
    counts = count_orderings(single_list, "q")
    assert (counts.orderings, counts.patterns) == (None, 100_000)
    assert counts.log10_orderings == pytest.approx(math.lgamma(100_001) / math.log(10))
    assert complexity_report(single_list, "q")[0].startswith("about 10^456573 orderings")
    assert complexity_report(single_list, "q")[1] == "100,000 relevance patterns."


def flat(documents, relevant, groups=1, **columns):
    """One list of `groups` even ties; its first documents of each are relevant."""
    size = documents // groups
    positions = np.arange(documents)
    table = {
        "query_id": "q",
        "doc_id": positions.astype(str),
        "score": -(positions // size),
        "relevance": positions % size < relevant,
    }
    return Ranking.of(Runs.from_frame(pd.DataFrame(table | {"reranker": "A"} | columns)), "A")


@given(lists())
def test_the_values_of_a_list_are_those_of_the_evaluation(docs):
    runs = Runs.from_frame(frame({"A": {"other": [Doc("x", 1, 1)], "q": docs}}))
    measures = [*BY_GRADES, "DR@2", "Div@2", "Judged@2", "TsRR", "taRR", "GRAG-RR", "GRAG-Hits@2"]
    values = list_values(Ranking.of(runs, "A", query_id="q"), "q", measures, TIES)
    scores = evaluate(runs, measures, [*TIES, "std"]).scores.loc[("A", "q")]
    for measure in measures:
        assert values.loc[measure].to_list() == pytest.approx(scores[measure].to_list())


@given(
    st.dictionaries(st.sampled_from(["q1", "q2", "7", "absent"]), lists(), min_size=1), st.sampled_from([1, 2])
)
def test_one_list_alone_is_that_list_among_all(queries, relevant_from):
    runs = Runs.from_frame(frame({"A": queries}))
    options = ScoringOptions("decimals:1", relevant_from=relevant_from)
    whole_ranking = Ranking.of(runs, "A", options)
    for query in queries:
        alone = Ranking.of(runs, "A", options, query)
        assert alone.query_ids.to_pylist() == [query]
        pd.testing.assert_frame_equal(ladder(alone, query), ladder(whole_ranking, query))
        pd.testing.assert_frame_equal(
            first_rank_chances(alone, query), first_rank_chances(whole_ranking, query)
        )


def test_one_list_of_a_query_that_nobody_judged_or_ranked_is_empty():
    run = read(File("run.trec", b"q1 Q0 a 1 1 t\n"))
    runs = Runs.from_sources([run, read(File("qrels.txt", b"q1 0 a 1\nq2 0 a 1\n"))])
    assert Ranking.of(runs, "run", query_id="q3").judgments.n_lists == 0
    assert (
        Ranking.of(runs, "run", query_id="q2").judgments.n_lists,
        len(ladder(Ranking.of(runs, "run", query_id="q2"), "q2")),
    ) == (1, 0)


@given(lists(), st.integers(0, 5))
def test_every_value_drawn_is_one_that_an_ordering_has_and_the_seed_decides_which(docs, seed):
    single_list = ranking(docs)
    for measure in ("RR", "nDCG@3", "AP"):
        values = sample_values(single_list, "q", measure, 40, seed)
        exact = {round(float(value), 9) for value in every_value(measure, judged_list(docs))}
        assert set(values.round(9).tolist()) <= exact
        assert (values == sample_values(single_list, "q", measure, 40, seed)).all()


WIDE = [Doc(f"d{at}", -(at // 6), at % 4 == 1 and 1 + at % 3) for at in range(18)]


@pytest.mark.parametrize("measure", ["RR", "Hits@3", "P@5", "nDCG@10", "AP", "DR@4"])
@pytest.mark.parametrize("seed", range(5))
def test_the_mean_of_draws_is_within_four_of_its_standard_errors_of_the_exact_value(measure, seed):
    single_list = ranking(WIDE)
    estimate, error = sampled_mean(single_list, "q", measure, 4000, seed)
    exact = list_values(single_list, "q", [measure], ["expected"]).loc[measure]
    assert abs(estimate - exact["expected"]) <= 4 * error
    assert error == exact["std"] / math.sqrt(4000)


@pytest.mark.parametrize("measure", ["RR", "nDCG", "AP", "Hits@50"])
def test_draws_from_a_large_tie_find_the_exact_value_within_their_standard_error(measure):
    single_list = flat(20_000, 40, groups=2)
    estimate, error = sampled_mean(single_list, "q", measure, 3000, seed=7)
    exact = list_values(single_list, "q", [measure], ["expected"]).loc[measure]
    assert abs(estimate - exact["expected"]) <= 4 * error


@pytest.mark.parametrize(("size", "n_placed"), [(5, 2), (5, 5), (4, 1), (24, 3), (40, 2), (60, 2)])
def test_places_are_drawn_distinct_and_each_choice_as_often_as_chance_has_it(size, n_placed):
    places = sample_distinct_places(size, n_placed, 60_000, np.random.default_rng(0))
    assert (np.diff(np.sort(places, axis=1), axis=1) > 0).all()
    times = Counter(map(tuple, places.tolist()))
    choices = math.perm(size, n_placed)
    assert set(times) <= set(permutations(range(size), n_placed))
    squares = sum((count - 60_000 / choices) ** 2 for count in times.values())
    squares += (choices - len(times)) * (60_000 / choices) ** 2
    spread = squares / (60_000 / choices) - (choices - 1)
    assert abs(spread) <= 5 * math.sqrt(2 * choices)


@given(st.lists(st.floats(0, 1), min_size=2, max_size=60))
def test_the_running_mean_is_the_mean_of_the_first_draws_with_its_standard_error(values):
    means = running_mean(np.array(values), 0.3)
    assert means["draws"].iloc[-1] == len(values)
    for row in means.itertuples():
        assert row.mean == pytest.approx(np.mean(values[: row.draws]), abs=1e-12)
        assert row.standard_error == 0.3 / math.sqrt(row.draws)


RARE = [Doc(f"d{at}", 1, int(at < 2)) for at in range(2_000)]
"""Two relevant of 2,000 tied documents: two draws often score alike."""


def test_draws_that_agree_have_the_standard_error_of_all_orderings():
    tied, untied = ranking(RARE), ranking([Doc("a", 2, 1), Doc("b", 1, 1)])
    for measure, least in (("Hits@3", 0.03), ("AP", 0.002), ("DR@3", 0.01)):
        exact = list_values(tied, "q", [measure], []).loc[measure, "std"]
        assert sampled_mean(tied, "q", measure, 2)[1] == pytest.approx(exact / math.sqrt(2))
        assert exact / math.sqrt(2) > least
        assert sampled_mean(untied, "q", measure, 2)[1] == 0


@given(lists())
def test_the_tie_groups_of_a_list_cover_its_places_and_hold_its_relevant_documents(docs):
    rows = ladder(ranking(docs), "q")
    groups = tie_groups(rows)
    assert groups["documents"].sum() == len(docs)
    assert groups["relevant"].sum() == sum(doc.grade >= 1 for doc in docs)
    assert groups["score"].to_list() == sorted({doc.score for doc in docs}, reverse=True)
    assert (groups["last"] - groups["first"] + 1 == groups["documents"]).all()


def test_texts_are_those_of_the_rows_asked_for_and_empty_where_there_is_none():
    table = pd.DataFrame({"query_id": ["q"] * 3, "doc_id": list("abc"), "score": [1, 3, 2], "relevance": 0})
    runs = Runs.from_frame(table.assign(doc_text=["one", None, "<b>three</b>"]))
    single_list = Ranking.of(runs, runs.rerankers[0], query_id="q")
    rows = single_list.rows[single_list.documents_of("q")]
    assert text_column(runs, runs.rerankers[0], rows, "doc_text") == ["", "<b>three</b>", "one"]
    assert text_column(runs, runs.rerankers[0], rows[:0], "doc_text") == []
    assert text_column(runs, runs.rerankers[0], rows, "query_text") is None
