"""Draws held against the tie orders they name, all orders of small boards, exact moments and simulation."""

from collections import Counter
from itertools import combinations, permutations, product

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from drawing import frame, tables
from enumeration import Doc, every_value, judged_list
from hypothesis import given, settings
from hypothesis import strategies as st

from metrics import Runs, UsageError, draws, evaluate
from metrics.evaluation import ScoringOptions
from metrics.runs import File, read
from metrics.studies import draws as study
from metrics.studies.draws import read_noise, same_runs, stability_finding
from metrics.studies.prose import plain

MEASURES = [
    "RR",
    "RR@2",
    "Hits@3",
    "nDCG@3",
    "AP",
    "P@2",
    "R@2",
    "Rprec",
    "RBP(0.8)",
    "DR@2",
    "Judged@2",
    "TsRR",
]


def runs_of(table):
    return Runs.from_frame(frame(table))


def ranked(relevant, size=5, *, tied=True):
    return [Doc(str(n), 0 if tied else -n, int(n == relevant)) for n in range(1, size + 1)]


def shared_ties():
    """A and B equal on 19 queries, all of whose documents tie; A better on one that has no tie."""
    queries = {f"q{number}": ranked(1 + number % 5) for number in range(19)}
    return runs_of(
        {
            "A": queries | {"last": ranked(1, tied=False)},
            "B": queries | {"last": [Doc(str(n), n, int(n == 1)) for n in range(1, 6)]},
        }
    )


def within_four_errors(estimate, exact, error):
    assert (np.abs(np.asarray(estimate) - exact) <= 4 * np.asarray(error) + 1e-12).all()


@pytest.mark.parametrize("measure", MEASURES)
@settings(max_examples=10)
@given(table=tables(), seed=st.integers(0, 10**6))
def test_a_draw_is_the_tie_order_random_seed_of_all_rerankers(measure, table, seed):
    runs = runs_of(table)
    drawn = draws(runs, measure, n=5, seed=seed).means
    orders = [f"random:{number}" for number in drawn.index]
    assert orders[0] == f"random:{seed}"
    expected = evaluate(runs, [measure], orders).means(measure).T
    assert drawn.to_numpy() == pytest.approx(expected[drawn.columns].to_numpy(), abs=1e-12)


def test_the_key_of_a_tie_is_of_query_and_document_common_to_all_rerankers():
    drawn = draws(shared_ties(), "RR", n=50).means
    assert drawn["A"].nunique() > 10
    differences = drawn["A"] - drawn["B"]
    assert differences.to_list() == pytest.approx([(1 - 1 / 5) / 20] * 50)


@pytest.mark.parametrize("judged", ["inside", "apart"])
def test_equal_on_19_queries_and_better_on_a_tied_one_is_above_or_level_and_never_below(judged):
    queries = {f"q{number}": ranked(1 + number % 5) for number in range(19)}
    table = {"A": queries | {"z": ranked(1, tied=False)}, "B": queries | {"z": ranked(1)}}
    runs = runs_of(table)
    if judged == "apart":
        qrels = frame(table).query("reranker == 'A'")[["query_id", "doc_id", "relevance"]]
        runs = Runs(dict(runs.tables), pa.Table.from_pandas(qrels))
    row = draws(runs, "RR").pairs.iloc[0]
    chances = row[["above", "equal", "below"]].to_numpy(float)
    within_four_errors(chances, [0.8, 0.2, 0], row["standard_error"])
    assert (row["below"], row["reversible"]) == (0, True)
    seeds = evaluate(runs, ["RR"], [f"random:{seed}" for seed in range(200)]).means("RR")
    counted = (seeds.loc["A"] > seeds.loc["B"] + 1e-12).mean()
    assert draws(runs, "RR", n=200).pairs["above"].iloc[0] == counted


def strict_value(measure, docs):
    """The value of documents in this order."""
    strict = [doc._replace(score=-place) for place, doc in enumerate(docs)]
    (value,) = every_value(measure, judged_list(strict))
    return float(value)


def shared_orders(table, measure):
    """Chance of the means of all rerankers, over all orders of the documents of each query, common to all."""
    names, chances = list(table), Counter({(0.0,) * len(table): 1.0})
    for query in sorted({query for queries in table.values() for query in queries}):
        ids = sorted({doc.id for name in names for doc in table[name][query]})
        values = Counter()
        for order in permutations(ids):
            place = {document: number for number, document in enumerate(order)}
            lists = [sorted(table[name][query], key=lambda doc: (-doc.score, place[doc.id])) for name in names]
            values[tuple(strict_value(measure, docs) for docs in lists)] += 1
        total = values.total()
        sums = Counter()
        for (before, chance), (added, times) in product(chances.items(), values.items()):
            key = tuple(round(a + b, 10) for a, b in zip(before, added, strict=True))
            sums[key] += chance * times / total
        chances = sums
    n_queries = len(next(iter(table.values())))
    return {tuple(value / n_queries for value in values): chance for values, chance in chances.items()}


SHARED = {
    "A": {"p": ranked(2, 4), "q": [Doc("1", 1, 0), Doc("2", 0, 1), Doc("3", 0, 2), Doc("4", 0, 0)]},
    "B": {"p": ranked(2, 4), "q": [Doc("1", 0, 0), Doc("2", 0, 1), Doc("3", 0, 2), Doc("4", 1, 0)]},
    "C": {
        "p": ranked(2, 4, tied=False),
        "q": [Doc(str(n), n, int(n == 2) + 2 * (n == 3)) for n in range(1, 5)],
    },
}


@pytest.mark.parametrize("measure", ["RR", "nDCG@3", "AP", "P@2"])
def test_chances_ranks_tau_and_moments_are_those_of_all_orders_that_rerankers_share(measure):
    exact, drawn = shared_orders(SHARED, measure), draws(runs_of(SHARED), measure, n=4000, seed=3)
    boards, names = [(np.array(means), chance) for means, chance in exact.items()], list(SHARED)
    for row in drawn.pairs.itertuples():
        a, b = names.index(row.reranker), names.index(row.other)
        for share, sign in ((row.above, 1), (row.equal, 0), (row.below, -1)):
            chance = sum(p for means, p in boards if np.sign(round(means[a] - means[b], 9)) == sign)
            within_four_errors(share, chance, max(row.standard_error, 1e-3))
    for place, name in product((1, 2, 3), names):
        own = names.index(name)
        chance = sum(p for means, p in boards if 1 + (means > means[own] + 1e-9).sum() == place)
        within_four_errors(
            drawn.places.loc[name, place], chance, max(drawn.place_errors.loc[name, place], 1e-3)
        )
    signs = [
        sum(p * np.sign(round(means[a] - means[b], 9)) for means, p in boards) ** 2
        for a, b in combinations(range(3), 2)
    ]
    within_four_errors(drawn.tau.value, np.mean(signs), drawn.tau.standard_error)
    summary, bounds = drawn.summary, drawn.bounds
    within_four_errors(summary["mean"], bounds["expected"], summary["mean_error"])
    within_four_errors(summary["std"], bounds["std"], summary["std_error"])


@pytest.mark.parametrize("measure", ["RR", "nDCG@10", "AP", "R@10", "DR@3"])
def test_mean_and_standard_deviation_are_the_exact_ones_within_four_standard_errors(measure):
    rng = np.random.default_rng(4)
    table = {
        name: {
            f"q{query}": [Doc(str(n), float(rng.integers(3)), int(rng.integers(4) == 0)) for n in range(20)]
            for query in range(10)
        }
        for name in "AB"
    }
    drawn = draws(runs_of(table), measure)
    summary, bounds = drawn.summary, drawn.bounds
    within_four_errors(summary["mean"], bounds["expected"], summary["mean_error"])
    within_four_errors(summary["std"], bounds["std"], summary["std_error"])
    assert (summary[["mean_error", "std", "std_error"]] > 0).all(axis=None)
    exact = evaluate(runs_of(table), [measure], ["std"]).scores[measure, "std"]
    assert bounds.loc["A", "std"] == pytest.approx(np.sqrt((exact.loc["A"] ** 2).sum()) / 10)


def test_tau_is_that_of_all_pairs_of_draws():
    drawn = draws(runs_of(SHARED), "RR", n=30)
    means = drawn.means.to_numpy()
    signs = np.array([np.sign(np.round(means[:, a] - means[:, b], 9)) for a, b in combinations(range(3), 2)])
    taus = [(signs[:, i] * signs[:, j]).mean() for i, j in combinations(range(30), 2)]
    assert drawn.tau.value == pytest.approx(np.mean(taus))


@given(tables(), st.sampled_from(MEASURES))
@settings(max_examples=30)
def test_chances_are_chances_and_no_draw_leaves_the_bounds(table, measure):
    drawn = draws(runs_of(table), measure, n=20)
    pairs, bounds = drawn.pairs, drawn.bounds
    assert pairs[["above", "equal", "below"]].sum(axis=1).to_list() == pytest.approx([1] * len(pairs))
    assert drawn.places.sum(axis=1).to_list() == pytest.approx([1] * len(bounds))
    assert (drawn.means >= bounds["worst"] - 1e-9).all(axis=None)
    assert (drawn.means <= bounds["best"] + 1e-9).all(axis=None)
    for name, row in drawn.places.iterrows():
        assert bounds.loc[name, "best_place"] <= row[row > 0].index.min()
        assert bounds.loc[name, "worst_place"] >= row[row > 0].index.max()
    for row in pairs.itertuples():
        assert row.reversible or row.below == 0
    assert plain(stability_finding(drawn, measure))


@given(tables(untied=True))
@settings(max_examples=20)
def test_without_ties_every_draw_is_the_tied_score(table):
    drawn = draws(runs_of(table), "nDCG@3", n=7)
    assert (drawn.means == drawn.means.iloc[0]).all(axis=None)
    assert set(drawn.pairs[["above", "equal", "below"]].to_numpy().ravel()) <= {0.0, 1.0}
    assert not drawn.pairs["reversible"].any()
    assert [drawn.places.loc[name, place] for name, place in drawn.bounds["place"].items()] == [1.0] * len(
        table
    )
    assert drawn.tau == (1.0, 0.0)


def test_only_lists_that_can_move_are_drawn_again(monkeypatch):
    table = {
        "A": {"p": ranked(1), "q": ranked(2, tied=False)},
        "B": {"p": ranked(2, tied=False), "q": ranked(9)},
    }
    copied, copies = [], study.Ranking.copies
    monkeypatch.setattr(
        study.Ranking, "copies", lambda own, lists, n: copied.append(len(lists)) or copies(own, lists, n)
    )
    draws(runs_of(table), "RR")
    assert copied == [1]


@pytest.mark.parametrize("noise", [0, 0.5])
def test_how_many_draws_share_a_block_changes_none_of_them(monkeypatch, noise):
    table = {"A": {"p": ranked(1), "q": ranked(3, 9)}, "B": {"p": ranked(2), "q": ranked(9, 9)}}
    whole = draws(runs_of(table), "nDCG@10", n=11, noise=noise).means
    monkeypatch.setattr(study, "_DOCUMENTS", 40)
    assert draws(runs_of(table), "nDCG@10", n=11, noise=noise).means.to_numpy() == pytest.approx(
        whole.to_numpy()
    )


def test_draws_of_the_next_seed_are_the_next_draws():
    runs = shared_ties()
    pd.testing.assert_frame_equal(
        draws(runs, "RR", n=9, seed=1).means.iloc[:8], draws(runs, "RR", n=9).means.iloc[1:]
    )


def test_missing_queries_count_zero_or_are_left_out_and_queries_can_be_chosen():
    run = b"q Q0 a 1 1 t\nq Q0 b 2 1 t\n"
    qrels = b"".join(f"{query} 0 a 1\n".encode() for query in ("p", "q", "r", "s"))
    runs = Runs.from_sources([read(File("run.trec", run)), read(File("qrels.txt", qrels))])
    assert set(draws(runs, "RR", n=30).means["run"]) == {0.125, 0.25}
    assert set(draws(runs, "RR", ScoringOptions(missing="skip"), n=30).means["run"]) == {0.5, 1.0}
    assert set(draws(runs, "RR", n=30, queries=["q", "r"]).means["run"]) == {0.25, 0.5}


def test_no_list_that_counts_leaves_no_reranker():
    drawn = draws(runs_of({"A": {"q": ranked(9)}}), "RR", ScoringOptions(empty="skip"), n=3)
    assert drawn.means.shape == (3, 0)
    assert drawn.pairs.empty
    assert drawn.places.shape == (0, 0)
    assert plain(stability_finding(drawn, "RR")) == "No list is scored."


def test_one_reranker_has_one_rank_and_no_pair():
    drawn = draws(runs_of({"A": {"q": ranked(2)}}), "RR", n=10)
    assert drawn.places.to_dict("index") == {"A": {1: 1.0}}
    columns = ["reranker", "other", "above", "equal", "below", "standard_error", "reversible"]
    assert drawn.pairs.columns.to_list() == columns
    assert drawn.pairs.empty
    assert drawn.tau.value == 1
    assert "one reranker" in plain(stability_finding(drawn, "MRR"))


@pytest.mark.parametrize("measure", ["TsRR", "taRR", "GRAG-RR", "GRAG-Hits@2"])
def test_a_measure_with_a_tie_rule_of_its_own_does_not_move(measure):
    drawn = draws(runs_of({"A": {"q": ranked(2)}, "B": {"q": ranked(2)}}), measure, n=10)
    assert drawn.pairs["equal"].to_list() == [1.0]
    assert drawn.summary["std"].to_list() == [0.0, 0.0]


def test_level_rerankers_share_the_better_rank():
    table = {"A": {"q": ranked(2, tied=False)}, "B": {"q": ranked(2, tied=False)}, "C": {"q": ranked(1)}}
    drawn = draws(runs_of(table), "RR")
    assert drawn.bounds["best_place"].to_dict() == {"A": 1, "B": 1, "C": 1}
    assert drawn.bounds["worst_place"].to_dict() == {"A": 2, "B": 2, "C": 3}
    within_four_errors(drawn.places.loc["A"], [0.8, 0.2, 0], drawn.place_errors.loc["A"])
    assert drawn.pairs.set_index(["reranker", "other"]).loc[("A", "B"), "equal"] == 1.0


def test_the_standard_error_is_that_of_a_share_of_draws():
    drawn = draws(runs_of({"A": {"q": ranked(1)}, "B": {"q": ranked(1, tied=False)}}), "RR", n=400)
    row = drawn.pairs.iloc[0]
    assert 0 < row["equal"] < 0.4
    assert row["standard_error"] == pytest.approx(np.sqrt(row["equal"] * (1 - row["equal"]) / 400))


# Noise


def noisy_list(scores, relevant, **columns):
    table = pd.DataFrame({"doc_id": list("abcdefgh")[: len(scores)], "score": scores})
    return table.assign(
        query_id="q", relevance=np.isin(np.arange(len(scores)), relevant).astype(float), **columns
    )


def test_noise_reorders_as_often_as_the_difference_of_two_normal_scores_does():
    runs = Runs.from_frame(noisy_list([1.0, 0.0], [0]))
    drawn = draws(runs, "Hits@1", n=4000, noise=0.5).summary.iloc[0]
    within_four_errors(
        drawn["mean"], 0.9213504, drawn["mean_error"]
    )  # normal distribution at 1 / sqrt(2 * 0.25)


@pytest.mark.parametrize(("precision", "sigma"), [("float64", 0.3), ("decimals:0", 0.5), ("within:0.2", 0.3)])
def test_noise_is_added_before_scores_are_rounded(precision, sigma):
    scores = np.array([1.2, 0.9, 0.6, 0.1])
    options = ScoringOptions(precision=precision)
    drawn = draws(Runs.from_frame(noisy_list(scores, [1])), "RR", options, n=4000, noise=sigma)
    rng = np.random.default_rng(1)
    noisy_scores, queries = scores + sigma * rng.standard_normal((4000, 4)), np.arange(4000).astype(str)
    table = noisy_list(scores, [1])
    lists = table.loc[np.tile(table.index, 4000)].assign(score=noisy_scores.ravel(), query_id=queries.repeat(4))
    simulated = evaluate(lists, ["RR"], ["expected"], precision=precision).scores["RR", "expected"]
    error = np.hypot(drawn.summary["mean_error"].iloc[0], simulated.sem())
    within_four_errors(drawn.summary["mean"].iloc[0], simulated.mean(), error)
    assert drawn.noise == sigma


def test_endless_noise_is_one_tie_of_all_and_hardly_any_noise_breaks_ties_at_random():
    runs = runs_of({"A": {"q": [Doc("a", 3, 1), Doc("b", 2, 0), Doc("c", 1, 0), Doc("d", 0, 0)]}})
    endless = draws(runs, "RR", n=4000, noise=1e9).summary.iloc[0]
    within_four_errors(endless["mean"], (1 + 1 / 2 + 1 / 3 + 1 / 4) / 4, endless["mean_error"])
    small = draws(shared_ties(), "RR", n=4000, noise=1e-9)
    within_four_errors(small.summary["mean"], small.bounds["expected"], small.summary["mean_error"])


def test_noise_is_independent_between_rerankers_lists_and_documents():
    lists = {f"q{number}": ranked(1, 2) for number in range(2)}
    drawn = draws(runs_of({"A": lists, "B": lists}), "RR", n=4000, noise=1.0)
    assert abs(np.corrcoef(drawn.means.T)[0, 1]) < 4 / 4000**0.5
    within_four_errors(drawn.means["A"].eq(0.75).mean(), 0.5, 0.5 / 4000**0.5)


def test_score_std_gives_each_row_its_own_noise():
    table = noisy_list([3.0, 2.0, 1.0], [1], score_std=[0.0, 0.0, 5.0])
    drawn = draws(Runs.from_frame(table), "RR", n=4000, noise="score_std")
    assert set(drawn.means.iloc[:, 0].round(9)) == {0.5, 0.333333333}
    share = drawn.means.iloc[:, 0].lt(0.4).mean()
    within_four_errors(
        share, 0.4207403, 0.5 / 4000**0.5
    )  # chance of a normal score above 2, mean 1 and sigma 5


def test_exact_scores_under_score_std_keep_their_ties():
    runs = Runs.from_frame(noisy_list([1.0, 1.0, 1.0], [0], score_std=[0.0, 0.0, 0.0]))
    noisy, plainly = draws(runs, "RR", n=20, noise="score_std"), draws(runs, "RR", n=20)
    assert noisy.means.to_numpy() == pytest.approx(plainly.means.to_numpy())


def test_infinite_scores_stay_above_and_tied_under_noise():
    runs = Runs.from_frame(noisy_list([np.inf, np.inf, 0.0], [0]))
    assert set(draws(runs, "RR", n=50, noise=9).means.iloc[:, 0]) == {0.5, 1.0}


def test_further_columns_split_what_noise_leaves_tied():
    table = noisy_list([1.0, 1.0], [1], score_std=[0.0, 0.0], price=[1.0, 2.0])
    drawn = draws(Runs.from_frame(table), "RR", ScoringOptions(tiebreak_by=("price",)), n=9, noise="score_std")
    assert set(drawn.means.iloc[:, 0]) == {1.0}


def test_what_cannot_be_drawn_is_said():
    runs = Runs.from_frame(noisy_list([1.0, 0.0], [0], cost=[1.0, 2.0]))
    with pytest.raises(UsageError, match="at least 1"):
        draws(runs, "RR", n=0)
    with pytest.raises(UsageError, match="standard deviation of 0 or more"):
        draws(runs, "RR", noise=-1)
    with pytest.raises(UsageError, match="no column score_std"):
        draws(runs, "RR", noise="score_std")
    with pytest.raises(UsageError, match="cost rank instead"):
        draws(runs, "RR", ScoringOptions(criteria=("cost",)), noise=1)
    with pytest.raises(UsageError, match="or score_std"):
        read_noise("loud")
    assert (read_noise("0.5"), read_noise("score_std")) == (0.5, "score_std")


# The finding


def test_the_finding_says_what_the_pairs_hold():
    table = {"A": {"q": ranked(1, 4)}, "B": {"q": ranked(2, tied=False)}, "C": {"q": ranked(4, tied=False)}}
    drawn = draws(runs_of(table), "RR")
    row = drawn.pairs.set_index(["reranker", "other"]).loc[("A", "B")]
    within_four_errors(row[["above", "equal", "below"]].to_list(), [0.25, 0.25, 0.5], row["standard_error"])
    text = plain(stability_finding(drawn, "MRR"))
    assert text.startswith(
        f"B has a higher MRR than A in {row['below']:.0%} of 1,000 random tie orders and the same"
    )
    assert f"the same MRR in {row['equal']:.0%} (standard error {row['standard_error']:.1%})" in text
    assert "Tie order can reverse 1 of 3 pairs" in text
    assert text.endswith(f"Kendall tau of {drawn.tau.value:.3f}.")
    noisy = plain(stability_finding(draws(runs_of(table), "RR", noise=0.5), "MRR"))
    assert "1,000 random tie orders with noise" in noisy
    assert "Tie order alone can reverse 1 of 3 pairs" in noisy


def test_of_a_single_pair_nothing_is_counted_or_compared_with_other_pairs():
    table = {"A": {"q": ranked(1, 4)}, "B": {"q": ranked(2, tied=False)}}
    text = plain(stability_finding(draws(runs_of(table), "RR"), "MRR"))
    assert text.startswith("B has a higher MRR than A in")
    assert "%). Two leaderboards with ties broken at random have" in text
    assert "pair" not in text


def test_the_finding_says_plainly_that_no_order_can_be_reversed():
    table = {"A": {"q": ranked(1, 2)}, "B": {"q": ranked(4, tied=False)}}
    text = plain(stability_finding(draws(runs_of(table), "RR", n=9), "MRR"))
    assert text == "No tie order reverses any pair: ties do not change any MRR by more than 0.5000."


def test_runs_of_one_ranking_are_named_and_share_all_ties():
    rows = [(f"q{query}", name, 1.0, float(name == "a")) for query in range(4) for name in "abc"]
    table = pd.DataFrame(rows, columns=["query_id", "doc_id", "score", "relevance"])
    boards = {"model": table, "copy": table, "other": table.assign(score=[3.0, 2.0, 2.0] * 4)}
    same = "model and copy have the same ranking."
    for names, start in (
        (["model", "copy"], f"{same} Random tie-breaking does not separate them"),
        (["model", "copy", "other"], "No tie order reverses any pair with different rankings: "),
    ):
        runs = Runs({name: pa.Table.from_pandas(boards[name]) for name in names})
        drawn = draws(runs, "RR", n=40)
        text = plain(stability_finding(drawn, "MRR", same_runs(runs, drawn.evaluation, "RR")))
        assert text.startswith(start)
        assert text.count(same) == 1
        assert drawn.chances(["model"], ["copy"])["equal"].to_list() == [1.0]
