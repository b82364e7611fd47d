from itertools import permutations

import numpy as np
import pytest
from comparing import VALUES, scored, tied_values
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from metrics import UsageError
from metrics.studies.resampling import flipped_sums
from metrics.studies.significance import compare
from metrics.studies.tiers import DRAWS, better, rank_intervals, tiers_condition

SIMULATED, LEVEL = 2_000, 0.95


def board(values):
    return scored(expected={f"r{column}": row for column, row in enumerate(np.asarray(values).T)})


def spread_values(seed, queries=40, rerankers=9, step=0.12):
    """Rerankers of falling quality: some pairs can be told apart, some cannot."""
    random = np.random.default_rng(seed)
    noise = random.normal(size=(queries, rerankers)) * random.uniform(0.1, 0.6, rerankers)
    return random.random((queries, 1)) + noise - step * np.arange(rerankers)


def likelihood_ratio(differences, reach):
    """Signed root, by the formula; a normal quantile where no difference is below 0."""
    bet = min(differences.sum() / (differences**2).sum(), 1 / reach)
    ratio = sum(np.log1p(bet * difference) for difference in differences if difference > -reach)
    if bet == 1 / reach and differences.min() == -reach:
        return 0.0
    if differences.min() < 0:
        return np.sqrt(2 * max(ratio, 0))
    deviation = np.sqrt(sum((bet * difference / (1 + bet * difference)) ** 2 for difference in differences))
    return stats.norm.isf(np.exp(-ratio) / max(1, deviation * np.sqrt(2 * np.pi)))


def distinguished_pairs(values):
    """By loops: step by step, the pairs beyond the largest statistic of those left, and what follows."""
    k = values.shape[1]
    drawn = flipped_sums(values, DRAWS, 0)
    size = {(a, b): np.sqrt(((values[:, a] - values[:, b]) ** 2).sum()) for a, b in permutations(range(k), 2)}
    reach = max(np.abs(values[:, a] - values[:, b]).max() for a, b in size)
    left, apart = set(size), set()
    while True:
        columns = [(drawn[:, a] - drawn[:, b]) / size[a, b] for a, b in left if size[a, b]]
        largest = np.sort(np.max(columns, axis=0))[::-1]
        beyond = {
            (a, b)
            for a, b in left
            if size[a, b]
            and (values[:, a] - values[:, b]).sum() / size[a, b] > largest[98] + 1e-9
            and likelihood_ratio(values[:, a] - values[:, b], reach) > largest[98] + 1e-9
        }
        if not beyond:
            break
        left -= beyond
        apart |= beyond
    for c, a, b in permutations(range(k), 3):
        if (a, c) in apart and (c, b) in apart:
            apart.add((a, b))
    return apart


@pytest.mark.parametrize("seed", range(3))
def test_pairs_told_apart_are_those_that_loops_tell_apart(seed):
    values = spread_values(seed)
    apart = distinguished_pairs(values)
    assert 5 < len(apart) < 36
    assert apart == set(zip(*map(np.ndarray.tolist, np.nonzero(better(values))), strict=True))


def test_values_past_the_end_of_float32_are_told_apart_as_smaller_ones_are():
    values = spread_values(0)
    assert better(values * 2.0**490).tolist() == better(values).tolist()


@given(
    st.integers(1, 5).flatmap(
        lambda k: st.lists(st.lists(VALUES, min_size=k, max_size=k), min_size=6, max_size=9)
    )
)
def test_a_tier_has_nobody_told_apart_and_intervals_hold_the_place(table):
    values = np.repeat(table, 2, axis=0)
    is_better, rows = better(values), rank_intervals(board(values), "RR").set_index("reranker")
    assert (rows["lowest"] <= rows["place"]).all()
    assert (rows["place"] <= rows["highest"]).all()
    assert rows["place"].is_monotonic_increasing
    assert sorted(rows["tier"].unique()) == [*range(1, rows["tier"].max() + 1)]
    assert rows["tier"].is_monotonic_increasing
    names = [int(name[1:]) for name in rows.index]
    assert (rows["lowest"] == 1 + is_better.sum(axis=0)[names]).all()
    for _, tier in rows.groupby("tier"):
        members = [int(name[1:]) for name in tier.index]
        assert not is_better[np.ix_(members, members)].any()
        before = rows[rows["tier"] == tier["tier"].iloc[0] - 1]
        first = rows.index[rows["place"] == tier["place"].iloc[0]]
        above = [int(name[1:]) for name in before.index]
        assert not above or is_better[np.ix_(above, [int(name[1:]) for name in first])].any()


def test_who_stands_level_is_in_one_tier_whoever_comes_first():
    steady, wild = np.tile([0.5, 0.52], 60), np.tile([0.01, 1.01], 60)
    leader = np.tile([0.6, 0.62], 60)
    for names in permutations({"leader": leader, "steady": steady, "wild": wild}.items()):
        rows = rank_intervals(scored(expected=dict(names)), "RR").set_index("reranker")
        assert rows["tier"].to_dict() == {"leader": 1, "steady": 2, "wild": 2}
        assert rows.loc["wild", ["lowest", "highest"]].tolist() == [1, 3]
        assert rows.loc["steady", ["lowest", "highest"]].tolist() == [2, 3]


def test_two_rerankers_are_told_apart_where_the_randomisation_test_tells_them_apart():
    for seed in range(20):
        values = spread_values(seed, queries=12, rerankers=2, step=0.3)
        p = compare(board(values), "RR", "expected", test="randomisation")["p"].iloc[0]
        if abs(p - 0.05) > 0.02:
            assert better(values).any() == (p < 0.05)


def test_five_queries_tell_nothing_apart_and_six_that_agree_do():
    assert not better(np.column_stack([np.ones(5), np.zeros(5)])).any()
    assert better(np.column_stack([np.ones(6), np.zeros(6)])).tolist() == [[False, True], [False, False]]


def test_copies_share_a_tier_whatever_the_order_or_shift_of_queries():
    values = spread_values(4)
    values[:, 3] = values[:, 2]
    is_better = better(values)
    assert (is_better[2] == is_better[3]).all()
    assert (is_better[:, 2] == is_better[:, 3]).all()
    order = np.random.default_rng(0).permutation(9)
    assert (better(values[:, order]) == is_better[np.ix_(order, order)]).all()
    assert (better(values + np.arange(40)[:, None]) == is_better).all()


def test_who_lacks_a_tenth_of_the_queries_is_compared_by_the_mean_it_has():
    values = spread_values(1, queries=200)
    complete = better(values)
    values[::10, 8] = np.nan
    partly = better(values)
    assert complete[0, 8]
    assert partly[0, 8]
    assert (partly[:8, :8] == complete[:8, :8]).all()
    values[:, 8] = np.nan
    assert rank_intervals(board(values), "RR")["reranker"].tolist() == [f"r{row}" for row in range(8)]


def test_no_reranker_and_no_measure():
    empty = board(np.full((3, 2), np.nan))
    assert rank_intervals(empty, "RR").columns.tolist() == ["reranker", "place", "lowest", "highest", "tier"]
    assert not len(rank_intervals(empty, "RR"))
    with pytest.raises(UsageError, match="AP was not evaluated"):
        rank_intervals(empty, "AP")


@pytest.mark.slow
@pytest.mark.parametrize(("queries", "rerankers"), [(6, 2), (7, 14), (13, 60), (20, 5), (50, 14), (200, 14)])
def test_one_in_twenty_boards_of_equal_rerankers_has_a_pair_told_apart(queries, rerankers):
    n_wrong = sum(better(tied_values(seed, queries, rerankers), seed=seed).any() for seed in range(SIMULATED))
    assert n_wrong <= stats.binom.ppf(0.9995, SIMULATED, 1 - LEVEL)


@pytest.mark.slow
@pytest.mark.parametrize("queries", [20, 200])
def test_true_ranks_are_within_all_intervals_on_nineteen_boards_of_twenty(queries):
    groups = np.arange(14) // 3
    n_wrong = 0
    for seed in range(SIMULATED):
        random = np.random.default_rng(seed)
        ease = random.normal(size=(queries, 1))
        noise = random.normal(size=(queries, 14)) * np.linspace(0.2, 1, 14)
        rows = rank_intervals(board(np.round(ease + noise - 0.2 * groups, 1)), "RR", seed=seed)
        group = groups[[int(name[1:]) for name in rows["reranker"]]]
        above, below = (np.array([side(groups, one).sum() for one in group]) for side in (np.less, np.greater))
        n_wrong += not ((rows["lowest"] <= 1 + above) & (rows["highest"] >= 14 - below)).all()
    assert n_wrong <= stats.binom.ppf(0.9995, SIMULATED, 1 - LEVEL)


def rare(seed, chance, queries):
    """One steady reranker, and two that score 1 with a small chance and else 0: all of equal true mean."""
    random = np.random.default_rng(seed)
    return np.column_stack([np.full(queries, chance), random.random((queries, 2)) < chance])


def skewed(seed, shape, queries):
    """Three rerankers of true mean 0.1 whose values are skewed unlike, as those of AP are."""
    random = np.random.default_rng(seed)
    return np.column_stack(
        [np.full(queries, 0.1), random.beta(shape, 9 * shape, queries), random.beta(2, 18, queries)]
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("board_of", "shape", "queries"),
    [(rare, *sizes) for sizes in [(0.05, 30), (0.1, 30), (0.05, 100), (0.03, 200), (0.02, 200), (0.01, 200)]]
    + [(skewed, *sizes) for sizes in [(0.1, 30), (0.2, 30), (0.5, 30), (0.1, 100), (0.2, 200)]],
)
def test_skewed_values_of_equal_rerankers_are_told_apart_on_few_boards(board_of, shape, queries):
    n_wrong = sum(better(board_of(seed, shape, queries), 1.0).any() for seed in range(1_000))
    assert n_wrong <= stats.binom.ppf(0.9995, 1_000, 0.07)


def test_a_steady_lead_that_a_few_unseen_queries_would_undo_is_not_told():
    values = np.column_stack([np.full(30, 0.05), np.zeros(30)])
    assert rank_intervals(board(values), "RR")["highest"].tolist() == [2, 2]
    values = np.column_stack([np.full(300, 0.05), np.zeros(300)])
    assert rank_intervals(board(values), "RR")["highest"].tolist() == [1, 2]


def test_a_measure_without_a_bound_says_what_its_rank_intervals_assume():
    assert tiers_condition("nDCG@10") == ""
    assert "larger than the largest observed one" in tiers_condition("DCG@10")
