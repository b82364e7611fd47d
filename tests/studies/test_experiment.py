"""One table of a retrieval experiment: figures by enumeration and SciPy, and what stars and note say."""

import math
from statistics import mean

import pandas as pd
import pytest
from enumeration import Doc, JudgedList, treated_value
from scipy import stats

from metrics import Runs, UsageError, evaluate
from metrics.studies.experiment import (
    experiment_lines,
    experiment_measures,
    experiment_note,
    experiment_table,
)
from metrics.studies.pairs import compare, find_pairs
from metrics.studies.tradeoffs import LATENCY, latencies, with_latency

TIES = ("input", "expected")
QUERIES, DOCUMENTS = 8, 6
MEASURES = experiment_measures(3)


def score(reranker, query, document):
    return {"base": document * 7 + query, "coarse": (document + query) % 3, "best": -document}[reranker] % 5


def judged(reranker, query):
    """One list in file order: two documents of one target are relevant, and one of another."""
    docs = tuple(
        Doc(f"d{n}", score(reranker, query, n), int((n + query) % 3 == 0), target=f"t{(n + query) % 4}")
        for n in range(DOCUMENTS)
    )
    return JudgedList(docs, tuple((doc.grade, doc.target) for doc in docs))


def seconds(reranker, query):
    return {"base": 0.2, "coarse": 0.1, "best": 0.9}[reranker] * (1 + query % 2 / 10)


def runs_of(latency=seconds, names=("base", "coarse", "best"), queries=QUERIES):
    rows = [
        (name, f"q{query}", doc.id, doc.score, doc.grade, doc.target, latency(name, query))
        for name in names
        for query in range(queries)
        for doc in judged(name, query).docs
    ]
    columns = ["reranker", "query_id", "doc_id", "score", "relevance", "target_id", "latency"]
    return Runs.from_frame(pd.DataFrame(rows, columns=columns))


def table_of(runs, baseline="base", **testing):
    """Return the table by paired t-tests, with Holm's correction over the comparisons with the baseline."""
    testing = {"test": "t", "family": "baseline"} | testing
    evaluation = evaluate(runs, MEASURES, TIES)
    return experiment_table(with_latency(evaluation, latencies(runs)), baseline, **testing)


def row(table, reranker, measure, ties="expected"):
    rows = table[(table["reranker"] == reranker) & (table["measure"] == measure) & (table["ties"] == ties)]
    return rows.iloc[0]


def expected_p(measure, ties, other):
    """Holm over two paired t-tests of enumerated values."""
    by_reranker = {
        name: [float(treated_value(measure, judged(name, query), ties)) for query in range(QUERIES)]
        for name in ("base", "coarse", "best")
    }
    p = {name: stats.ttest_rel(by_reranker[name], by_reranker["base"]).pvalue for name in ("coarse", "best")}
    first, last = sorted(p, key=p.get)
    return {first: min(1, 2 * p[first]), last: max(min(1, 2 * p[first]), p[last])}[other], mean(
        by_reranker[other]
    )


@pytest.mark.parametrize("ties", TIES)
def test_every_mean_and_star_is_that_of_enumerated_values_and_of_scipy(ties):
    table = table_of(runs_of())
    tested = 0
    for measure in MEASURES:
        for other in ("coarse", "best"):
            p, value = expected_p(measure, ties, other)
            cell = row(table, other, measure, ties)
            assert cell["value"] == pytest.approx(value, abs=1e-12)
            if not math.isnan(p):  # where no query differs SciPy has no p
                tested += 1
                assert cell["p_adjusted"] == pytest.approx(p, abs=1e-9)
                stars = next(
                    (mark for bound, mark in ((1e-3, "***"), (0.01, "**"), (0.05, "*")) if p < bound), "ns"
                )
                assert cell["stars"] == stars
    assert tested >= 8


def test_latencies_are_mean_seconds_and_a_star_for_being_slower_says_worse():
    table = table_of(runs_of())
    slow, fast = (row(table, name, LATENCY) for name in ("best", "coarse"))
    assert slow["value"] == pytest.approx(mean(seconds("best", query) for query in range(QUERIES)))
    assert (slow["stars"], slow["direction"], slow["difference"] > 0) == ("***", "worse", True)
    assert (fast["stars"], fast["direction"], fast["difference"] < 0) == ("***", "better", True)
    lines = experiment_lines(table).set_index(["reranker", "ties"])["Latency (s)"]
    assert lines["best", "input"] == lines["best", "expected"] == "0.945 −***"
    assert lines["coarse", "expected"] == "0.105 +***"


def test_a_line_holds_every_measure_of_the_document_by_its_name():
    runs = runs_of()
    timed = with_latency(evaluate(runs, experiment_measures(), TIES), latencies(runs))
    lines = experiment_lines(experiment_table(timed, "base"))
    names = ["Hits@1", "Hits@5", "Hits@10", "Hits@20", "MRR", "Recall@20", "DR@20", "Div@20", "Latency (s)"]
    assert lines.columns.to_list() == ["reranker", "ties", *names]
    assert lines[["reranker", "ties"]].to_numpy().tolist() == [
        [name, ties] for name in ("base", "coarse", "best") for ties in TIES
    ]
    assert lines["MRR"][0] == f"{row(table_of(runs), 'base', 'RR', 'input')['value']:.4f}"


def untimed(*names):
    return lambda reranker, query: math.nan if reranker in names else seconds(reranker, query)


def test_lists_without_a_latency_are_left_out_of_its_mean_and_of_its_test():
    table = table_of(
        runs_of(lambda name, query: math.nan if query < 3 and name == "best" else seconds(name, query))
    )
    partial = row(table, "best", LATENCY)
    assert (partial["n"], partial["n_tested"], row(table, "best", "RR")["n"]) == (5, 5, 8)
    assert partial["value"] == pytest.approx(mean(seconds("best", query) for query in range(3, QUERIES)))


@pytest.mark.parametrize(
    ("runs", "sentences"),
    [
        (
            runs_of(untimed("base", "coarse", "best")),
            ["compared with base by paired t-test, corrected for 2 pairs by Holm", "No run has latencies."],
        ),
        (runs_of(names=("base",)), ["There is only one reranker, so there is nothing to test."]),
    ],
    ids=["no latency", "one reranker"],
)
def test_the_note_says_what_is_not_tested(runs, sentences):
    table = table_of(runs)
    note = experiment_note(table, "base", test="t", family="baseline")
    assert all(sentence in note for sentence in sentences)
    assert set(table["stars"]) <= {"", "ns", "*", "**", "***"}
    assert len(experiment_lines(table)) == 2 * table["reranker"].nunique()


def test_rows_are_those_of_the_table_of_pairs():
    runs = runs_of()
    pairs = compare(evaluate(runs, MEASURES, TIES), "RR", "expected")
    rows = find_pairs(pairs, ["coarse", "best"], ["base", "base"])
    table = experiment_table(evaluate(runs, MEASURES, TIES), "base")
    for expected in rows.to_dict("records"):
        cell = row(table, expected["reranker"], "RR")
        names = ["difference", "low", "high", "p", "p_adjusted", "stars", "note"]
        assert cell[names].to_list() == [expected[name] for name in names]


def test_the_spread_over_orderings_is_no_value_to_be_better_by():
    with pytest.raises(UsageError, match="std measures the effect of ties"):
        experiment_table(evaluate(runs_of(), ["RR"], ["expected", "std"]), "base")


def test_seconds_stand_under_every_treatment_and_no_order_moves_them():
    runs = runs_of(untimed("coarse"))
    evaluation = evaluate(runs, ["RR"], ["input", "std"])
    timed = with_latency(evaluation, latencies(runs))
    assert timed.measures == ("RR", LATENCY)
    assert timed.scores[LATENCY, "input"]["best"].to_list() == [
        seconds("best", query) for query in range(QUERIES)
    ]
    assert set(timed.scores[LATENCY, "std"].dropna()) == {0}
    assert timed.scores[LATENCY, "input"]["coarse"].isna().all()
    assert with_latency(evaluation, {}) is evaluation


def test_who_gives_no_latency_has_none_and_counts_for_no_correction():
    table = table_of(runs_of(untimed("best")))
    absent = row(table, "best", LATENCY)
    assert (absent["n"], absent["stars"], absent["direction"]) == (0, "", "")
    assert experiment_lines(table).set_index("reranker")["Latency (s)"]["best"].to_list() == ["–", "–"]
    alone = row(table, "coarse", LATENCY)
    assert alone["p"] == alone["p_adjusted"]
    assert "1 of 3 rerankers has no latencies." in experiment_note(table, "base")
