"""Stability under ties, held against every ordering of every list of small leaderboards."""

from collections import Counter
from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from drawing import frame, lists, tables
from enumeration import Doc, every_value, judged_list
from hypothesis import example, given, settings
from hypothesis import strategies as st

from metrics import Runs, UsageError, evaluate
from metrics.evaluation import ScoringOptions
from metrics.runs import File, read
from metrics.studies.mean_distributions import SPREADS, MeanDistribution, mean_distributions, rank_distribution
from metrics.studies.prose import plain
from metrics.studies.stability import (
    OrderStability,
    expected_tau,
    mean_bounds,
    pairwise_order,
    same_runs,
    stability_finding,
)
from metrics.ties import Ranking

TIES = ["expected", "optimistic", "pessimistic", "std"]
MEASURES = [
    "RR",
    "RR@2",
    "Hits@1",
    "Hits@3",
    "nDCG@3",
    "AP",
    "P@2",
    "R@2",
    "F1@3",
    "Rprec",
    "RBP(0.8)",
    "DR@2",
    "Div@3",
    "DCG@2",
]
SHORT = lists(ids=st.sampled_from("abcde"), scores=st.sampled_from([0.0, 1.0]))
BOARDS = st.dictionaries(
    st.sampled_from("AB"), st.dictionaries(st.sampled_from("qr"), SHORT, min_size=1), min_size=1
)


def evaluate_means(table, measure, **options):
    runs = Runs.from_frame(frame(table))
    evaluation = evaluate(runs, [measure], SPREADS, **options)
    return evaluation, mean_distributions(
        evaluation, measure, {name: Ranking.of(runs, name) for name in runs.rerankers}
    )


def means(queries, measure):
    """Chance of each mean, over all orderings of all lists."""
    each = [every_value(measure, judged_list(docs)) for docs in queries.values()]
    counts = Counter(round(float(sum(values)) / len(each), 10) for values in product(*each))
    return {mean: Fraction(times, counts.total()) for mean, times in counts.items()}


def sign(first, other):
    return (first > other) - (first < other)


def orders(first, other):
    """Chance that one is below (-1), level with (0) and above (1) the other."""
    chances = Counter()
    for (a, p), (b, q) in product(first.items(), other.items()):
        chances[sign(a, b)] += p * q
    return chances


TWO_GAINS_ONE_STEP = {
    "A": {
        "q": [Doc("a", 1.0, 1), Doc("b", 1.0, 0), Doc("c", 1.0, 0)],
        "r": [Doc("a", 0.0, 1), Doc("b", 0.0, 0), Doc("c", 1.0, 0), Doc("d", 0.0, 2)],
    }
}
"""Both lists can score 1 / log2(3): where values are rounded before they are added, equal sums fall apart."""


def ranked(relevant, size=5, *, tied=True):
    return [Doc(str(n), 0 if tied else -n, int(n == relevant)) for n in range(1, size + 1)]


@pytest.mark.parametrize("measure", MEASURES)
@settings(max_examples=15)  # for each of fourteen measures; where `std` is drawn, a table is slow
@given(table=BOARDS)
@example(table=TWO_GAINS_ONE_STEP)
def test_mean_spread_and_pairs_are_those_of_all_orderings(measure, table):
    exact_means = {name: means(queries, measure) for name, queries in table.items()}
    _, lucks = evaluate_means(table, measure)
    bounds = mean_bounds(lucks)
    assert set(bounds["method"]) == {"exact"}
    for name, chances in exact_means.items():
        mean = sum(p * Fraction(value) for value, p in chances.items())
        row = bounds.loc[name]
        assert row["expected"] == pytest.approx(float(mean), abs=1e-10)
        std = float(sum(p * (Fraction(value) - mean) ** 2 for value, p in chances.items())) ** 0.5
        assert row["std"] == pytest.approx(std, abs=1e-9)
        assert (row["worst"], row["best"]) == pytest.approx((min(chances), max(chances)), abs=1e-10)
        luck = lucks[name]
        assert luck.means == pytest.approx(sorted(chances), abs=1e-10)
        assert luck.chances == pytest.approx([float(chances[mean]) for mean in sorted(chances)], abs=1e-12)
    for row in pairwise_order(lucks).itertuples():
        chances = orders(exact_means[row.reranker], exact_means[row.other])
        expected = [float(chances[at]) for at in (1, 0, -1)]
        assert [row.above, row.equal, row.below] == pytest.approx(expected, abs=1e-12)
        assert row.reversible == (chances[-1] > 0)
        assert (row.method, row.standard_error) == ("exact", 0)


@given(tables(ids=st.sampled_from("abcde"), scores=st.sampled_from([0.0, 1.0])), st.sampled_from(["RR", "P@2"]))
def test_places_and_tau_are_those_of_all_leaderboards(table, measure):
    exact_means = {name: means(queries, measure) for name, queries in table.items()}
    _, lucks = evaluate_means(table, measure)
    chances_of_ranks, ends = rank_distribution(lucks).chances, mean_bounds(lucks)
    chance = pd.DataFrame(0.0, index=chances_of_ranks.index, columns=chances_of_ranks.columns)
    for board in product(*(chances.items() for chances in exact_means.values())):
        values = [mean for mean, _ in board]
        share = float(np.prod([float(p) for _, p in board]))
        for name, mean in zip(exact_means, values, strict=True):
            chance.loc[name, 1 + sum(other > mean for other in values)] += share
    assert chances_of_ranks.to_numpy() == pytest.approx(chance.to_numpy(), abs=1e-12)
    for name, row in chance.iterrows():
        possible = row[row > 0].index
        assert (ends.loc[name, "best_place"], ends.loc[name, "worst_place"]) == (possible[0], possible[-1])
    pairs = [orders(exact_means[a], exact_means[b]) for a, b in combinations(exact_means, 2)]
    agree = [
        float(sum(p[s] * p[t] * s * t for s, t in product((-1, 0, 1), repeat=2))) for p in pairs if p[0] < 1
    ]
    assert expected_tau(pairwise_order(lucks)) == pytest.approx(np.mean(agree) if agree else 1.0, abs=1e-12)


@given(tables(untied=True))
def test_without_ties_everything_is_certain(table):
    evaluation = evaluate(Runs.from_frame(frame(table)), ["nDCG@3"], TIES)
    lucks = mean_distributions(evaluation, "nDCG@3", {})
    ends, pairs, ranks = mean_bounds(lucks), pairwise_order(lucks), rank_distribution(lucks).chances
    assert (ends["std"] == 0).all()
    assert (ends[["best_place", "worst_place"]].to_numpy() == ends[["place"]].to_numpy()).all()
    assert set(pairs[["above", "equal", "below"]].to_numpy().ravel()) <= {0.0, 1.0}
    assert not pairs["reversible"].any()
    assert [ranks.loc[name, place] for name, place in ends["place"].items()] == [1.0] * len(ends)
    assert expected_tau(pairs) == 1.0
    assert (
        "ties do not change any nDCG@3." in plain(stability_finding(pairs, ends, 1.0, "nDCG@3"))
        or len(table) == 1
    )


@pytest.mark.parametrize("measure", ["RR", "nDCG@10", "AP", "TsRR", "taRR", "GRAG-RR"])
def test_one_reranker_has_one_place_and_no_pair(measure):
    _, lucks = evaluate_means({"A": {"q": ranked(2)}}, measure)
    assert rank_distribution(lucks).chances.to_dict("index") == {"A": {1: 1.0}}
    pairs = pairwise_order(lucks)
    assert pairs.empty
    assert pairs.columns.to_list() == [
        "reranker",
        "other",
        "above",
        "equal",
        "below",
        "method",
        "reversible",
        "standard_error",
    ]
    assert expected_tau(pairs) == 1.0
    assert "one reranker" in plain(stability_finding(pairs, mean_bounds(lucks), 1.0, measure))


@pytest.mark.parametrize("measure", ["TsRR", "taRR", "GRAG-RR", "GRAG-Hits@2"])
def test_a_measure_with_a_tie_rule_of_its_own_does_not_move(measure):
    _, lucks = evaluate_means({"A": {"q": ranked(2)}, "B": {"q": ranked(2)}}, measure)
    assert pairwise_order(lucks)["equal"].to_list() == [1.0]
    assert mean_bounds(lucks)["std"].to_list() == [0.0, 0.0]


def test_equal_rerankers_are_above_each_other_equally_often():
    table = {name: {f"q{n}": ranked(n % 5 + 1) for n in range(6)} for name in "AB"}
    row = pairwise_order(evaluate_means(table, "RR")[1]).iloc[0]
    assert row["above"] == pytest.approx(row["below"], abs=1e-14)
    assert row[["reranker", "other", "reversible"]].to_list() == ["A", "B", True]


def test_level_rerankers_without_ties_share_the_place_and_lose_no_order():
    table = {"A": {"q": ranked(2, tied=False)}, "B": {"q": ranked(2, tied=False)}, "C": {"q": ranked(1)}}
    _, lucks = evaluate_means(table, "RR")
    assert mean_bounds(lucks)["best_place"].to_dict() == {"A": 1, "B": 1, "C": 1}
    assert mean_bounds(lucks)["worst_place"].to_dict() == {"A": 2, "B": 2, "C": 3}
    assert rank_distribution(lucks).chances.loc["A"].to_list() == pytest.approx([0.8, 0.2, 0])
    pairs = pairwise_order(lucks).set_index(["reranker", "other"])
    assert pairs.loc[("A", "B"), "equal"] == 1.0
    assert expected_tau(pairwise_order(lucks)) == pytest.approx((0.6 - 0.2) ** 2)


def test_nothing_relevant_leaves_all_level_at_zero():
    _, lucks = evaluate_means({name: {"q": ranked(9)} for name in "AB"}, "RR")
    assert mean_bounds(lucks)["expected"].to_list() == [0, 0]
    assert pairwise_order(lucks)["equal"].to_list() == [1.0]
    assert expected_tau(pairwise_order(lucks)) == 1.0


def test_no_list_that_counts_leaves_no_luck():
    evaluation, lucks = evaluate_means({"A": {"q": ranked(9)}}, "RR", empty="skip")
    assert lucks == {}
    assert rank_distribution(lucks).chances.shape == (0, 0)
    assert pairwise_order(lucks).empty
    assert (
        plain(stability_finding(pairwise_order(lucks), mean_bounds(lucks), 1.0, "RR")) == "No list is scored."
    )
    assert not len(evaluation.scores)


@pytest.mark.parametrize(("missing", "worst", "best"), [("zero", 0.125, 0.25), ("skip", 0.5, 1.0)])
def test_missing_queries_are_lists_of_zero_or_left_out(missing, worst, best):
    run = b"q Q0 a 1 1 t\nq Q0 b 2 1 t\n"
    qrels = b"".join(f"{query} 0 a 1\n".encode() for query in ("p", "q", "r", "s"))
    runs = Runs.from_sources([read(File("run.trec", run)), read(File("qrels.txt", qrels))])
    evaluation = evaluate(runs, ["RR"], TIES, missing=missing)
    luck = mean_distributions(evaluation, "RR", {"run": Ranking.of(runs, "run")})["run"]
    assert luck.means.tolist() == [worst, best]
    assert luck.chances == pytest.approx([0.5, 0.5])


def test_judged_documents_before_the_cut_off_are_hypergeometric():
    run = b"".join(f"q Q0 {document} 1 1 t\n".encode() for document in "abcd")
    runs = Runs.from_sources([read(File("run.trec", run)), read(File("qrels.txt", b"q 0 a 0\nq 0 b 1\n"))])
    evaluation = evaluate(runs, ["Judged@2"], TIES)
    luck = mean_distributions(evaluation, "Judged@2", {"run": Ranking.of(runs, "run")})["run"]
    assert luck.means.tolist() == [0, 0.5, 1]
    assert luck.chances == pytest.approx([1 / 6, 4 / 6, 1 / 6])


@given(tables(), st.sampled_from(MEASURES))
def test_chances_are_chances_whatever_the_lists(table, measure):
    _, lucks = evaluate_means(table, measure)
    pairs, ranks, ends = pairwise_order(lucks), rank_distribution(lucks).chances, mean_bounds(lucks)
    assert pairs[["above", "equal", "below"]].sum(axis=1).to_list() == pytest.approx([1] * len(pairs))
    assert ranks.sum(axis=1).to_list() == pytest.approx([1] * len(ranks))
    assert ((ranks >= 0) & (ranks <= 1 + 1e-12)).all(axis=None)
    assert 0 <= expected_tau(pairs) <= 1 + 1e-12
    for name, row in ranks.iterrows():
        assert row[row > 0].index.min() >= ends.loc[name, "best_place"]
        assert row[row > 0].index.max() <= ends.loc[name, "worst_place"]
    for row in pairs.itertuples():
        assert row.reversible or row.below == 0
    assert plain(stability_finding(pairs, ends, expected_tau(pairs), measure))


def test_chosen_queries_are_found_in_the_whole_ranking():
    table = {"A": {"p": ranked(1), "q": ranked(2, 2), "r": ranked(3)}}
    evaluation, _ = evaluate_means(table, "RR")
    runs = Runs.from_frame(frame(table))
    luck = mean_distributions(evaluation.only(["A"], ["q"]), "RR", {"A": Ranking.of(runs, "A")})["A"]
    assert luck.means.tolist() == [0.5, 1.0]


def test_what_was_not_evaluated_is_asked_for():
    runs = Runs.from_frame(frame({"A": {"q": ranked(1)}}))
    rankings = {"A": Ranking.of(runs, "A")}
    with pytest.raises(UsageError, match="Evaluate RR under"):
        mean_distributions(evaluate(runs, ["RR"], ["expected"]), "RR", rankings)
    with pytest.raises(UsageError, match="Evaluate AP under"):
        mean_distributions(evaluate(runs, ["RR"], TIES), "AP", rankings)
    with pytest.raises(UsageError, match="The ranking of A is missing"):
        mean_distributions(evaluate(runs, ["RR"], TIES), "RR", {})


def test_a_ranking_cut_otherwise_is_refused():
    close = [Doc("a", 0.26, 0), Doc("b", 0.2, 1)]
    runs = Runs.from_frame(frame({"A": {"q": close}}))
    evaluation = evaluate(runs, ["RR"], TIES, precision="decimals:0")
    with pytest.raises(UsageError, match="The ranking of A differs from the evaluation"):
        mean_distributions(evaluation, "RR", {"A": Ranking.of(runs, "A")})


def test_the_finding_says_what_the_pairs_hold():
    table = {"A": {"q": ranked(1, 4)}, "B": {"q": ranked(2, tied=False)}, "C": {"q": ranked(4, tied=False)}}
    _, lucks = evaluate_means(table, "RR")
    pairs = pairwise_order(lucks)
    row = pairs.set_index(["reranker", "other"]).loc[("A", "B")]
    assert row[["above", "equal", "below"]].to_list() == pytest.approx([0.25, 0.25, 0.5])
    text = plain(stability_finding(pairs, mean_bounds(lucks), expected_tau(pairs), "MRR"))
    assert text.startswith("B has a higher MRR than A in 50% of all")
    assert "the same MRR in 25%" in text
    assert "can reverse 1 of 3 pairs" in text
    assert text.endswith(f"Kendall tau of {expected_tau(pairs):.3f}.")
    nearly = plain(stability_finding(pairs, mean_bounds(lucks), 0.9999, "MRR"))
    assert nearly.endswith("Kendall tau of over 0.999.")


def test_the_finding_says_plainly_that_no_order_can_be_reversed():
    table = {"A": {"q": ranked(1, 2)}, "B": {"q": ranked(4, tied=False)}}
    _, lucks = evaluate_means(table, "RR")
    text = plain(stability_finding(pairwise_order(lucks), mean_bounds(lucks), 1.0, "MRR"))
    assert text == "No tie order reverses any pair: ties do not change any MRR by more than 0.5000."


def test_runs_of_one_ranking_are_named_and_only_their_ties_broken_apart_separate_them():
    rows = [(f"q{query}", name, 1.0, float(name == "a")) for query in range(4) for name in "abc"]
    table = pd.DataFrame(rows, columns=["query_id", "doc_id", "score", "relevance"])
    boards = {"model": table, "copy": table, "other": table.assign(score=[3.0, 2.0, 2.0] * 4)}
    same = "model and copy have the same ranking."
    for names, start in (
        (["model", "copy"], f"{same} Only independent tie breaking separates them."),
        (["model", "copy", "other"], "No tie order reverses any pair with different rankings: "),
    ):
        runs = Runs({name: pa.Table.from_pandas(boards[name]) for name in names})
        evaluation = evaluate(runs, "RR", SPREADS)
        rankings = {name: ScoringOptions().ranking(runs, name) for name in names}
        study = OrderStability.of(evaluation, "RR", rankings)
        copies = same_runs(runs, evaluation, "RR")
        text = plain(stability_finding(study.pairs, study.bounds, study.tau, "MRR", copies))
        assert text.startswith(start)
        assert text.count(same) == 1
    strict = table.assign(score=[3.0, 2.0, 1.0] * 4)
    runs = Runs({name: pa.Table.from_pandas(strict) for name in ("model", "copy")})
    rankings = {name: ScoringOptions().ranking(runs, name) for name in runs.tables}
    study = OrderStability.of(evaluate(runs, "RR", SPREADS), "RR", rankings)
    text = plain(stability_finding(study.pairs, study.bounds, study.tau, "MRR", [["model", "copy"]]))
    assert text == f"{same} No tie order separates them."


def test_chances_stay_within_0_and_1_where_their_sum_is_rounded_up():
    sevenths = np.full(7, 1 / 7) + 1e-16
    low, high = (
        MeanDistribution("sampled", mean, 0.1, worst, best, np.linspace(mean, best - 0.1, 7), sevenths)
        for mean, worst, best in ((0.3, 0.0, 0.9), (0.85, 0.8, 1.0))
    )
    assert sevenths.sum() > 1
    pairs = pairwise_order({"low": low, "high": high})
    ranks = rank_distribution({"low": low, "high": high}).chances
    assert pairs[["above", "equal", "below"]].to_numpy().max() <= 1
    assert ranks.to_numpy().max() <= 1
