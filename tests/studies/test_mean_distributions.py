import numpy as np
import pandas as pd
import pytest
from drawing import frame
from enumeration import Doc
from scipy.stats import norm

from metrics import Runs, UsageError, evaluate
from metrics.runs import File, read
from metrics.studies.mean_distributions import (
    SPREADS,
    MeanDistribution,
    calibrated_chances,
    mean_distributions,
    rank_distribution,
    variance_split,
)
from metrics.studies.prose import plain
from metrics.studies.stability import expected_tau, mean_bounds, pairwise_order, stability_finding
from metrics.ties import Ranking

TIMES = 20_000
GRID_ERROR = 0.002
"""How far a grid may move a chance."""
LIMIT = 3
"""Standard errors."""


def board(queries, docs, levels, seed, rerankers="ABC"):
    """(reranker → (queries, docs) scores, (queries, docs) grades)"""
    draw = np.random.default_rng(seed)
    grades = np.where(draw.random((queries, docs)) < 0.2, draw.integers(1, 4, (queries, docs)), 0)
    scores = {
        name: np.floor(levels * np.clip(draw.random((queries, docs)) * 0.8 + 0.05 * grades, 0, 0.99))
        for name in rerankers
    }
    return scores, grades


def runs_of(scores, grades, targets=None):
    queries, docs = grades.shape
    parts = [
        pd.DataFrame(
            {
                "reranker": name,
                "query_id": np.repeat([f"q{n}" for n in range(queries)], docs),
                "doc_id": np.tile([f"d{n}" for n in range(docs)], queries),
                "score": table.ravel(),
                "relevance": grades.ravel(),
            }
        )
        for name, table in scores.items()
    ]
    lists = pd.concat(parts, ignore_index=True)
    if targets is not None:
        lists["target_id"] = np.tile(targets.ravel(), len(scores)).astype(str)
    return Runs.from_frame(lists)


def discounted(grades, k=10):
    return ((2.0 ** grades[:, :k] - 1) / np.log2(np.arange(2, min(k, grades.shape[1]) + 2))).sum(axis=1)


def rr(order):
    return np.where((order > 0).any(axis=1), 1 / ((order > 0).argmax(axis=1) + 1), 0.0)


def ap(order):
    hits = order > 0
    return (hits * np.cumsum(hits, axis=1) / np.arange(1, hits.shape[1] + 1)).sum(axis=1) / max(
        hits[0].sum(), 1
    )


def ndcg(order):
    return discounted(order) / max(discounted(-np.sort(-order[:1], axis=1))[0], 1e-9)


TEXTBOOK = {"RR": rr, "Hits@3": lambda order: (order[:, :3] > 0).any(axis=1) * 1.0, "nDCG@10": ndcg, "AP": ap}


def shuffled_means(scores, grades, measure, seed):
    """(TIMES,) means of one reranker, every tie shuffled each time."""
    draw, total = np.random.default_rng(seed), np.zeros(TIMES)
    for score, grade in zip(scores, grades, strict=True):
        order = np.argsort(-score + draw.random((TIMES, len(score))), axis=1)
        total += TEXTBOOK[measure](grade[order])
    return total / len(grades)


CASES = [
    ("RR", (2, 20, 2), "exact"),
    ("RR", (150, 10, 3), "grid"),
    ("RR", (8, 40, 2), "grid"),
    ("Hits@3", (3, 12, 3), "exact"),
    ("Hits@3", (150, 10, 3), "exact"),
    ("nDCG@10", (1, 8, 2), "exact"),
    ("nDCG@10", (6, 30, 2), "grid"),
    ("AP", (1, 8, 2), "exact"),
    ("AP", (40, 10, 3), "grid"),
    ("AP", (8, 30, 1), "sampled"),
]


@pytest.fixture(scope="module", params=CASES, ids=lambda case: f"{case[0]} {case[2]} {case[1][0]} queries")
def case(request):
    measure, (queries, docs, levels), method = request.param
    scores, grades = board(queries, docs, levels, seed=7)
    runs = runs_of(scores, grades)
    evaluation = evaluate(runs, [measure], SPREADS)
    lucks = mean_distributions(evaluation, measure, {name: Ranking.of(runs, name) for name in runs.rerankers})
    shuffled = {
        name: shuffled_means(table, grades, measure, at) for at, (name, table) in enumerate(scores.items())
    }
    return method, lucks, shuffled


def test_method_mean_and_spread_are_those_of_the_shuffle(case):
    method, lucks, shuffled = case
    bounds = mean_bounds(lucks)
    assert set(bounds["method"]) == {method}
    for name, means in shuffled.items():
        row = bounds.loc[name]
        assert abs(row["expected"] - means.mean()) <= LIMIT * row["std"] / TIMES**0.5 + 1e-12
        assert row["std"] == pytest.approx(means.std(), rel=0.05, abs=1e-12)
        assert row["worst"] - 1e-9 <= means.min() <= means.max() <= row["best"] + 1e-9
        assert (lucks[name].error > 0) == (method == "sampled")


def test_chances_of_pairs_are_those_of_the_shuffle(case):
    _, lucks, shuffled = case
    for row in pairwise_order(lucks).itertuples():
        first, other = shuffled[row.reranker], shuffled[row.other]
        higher, lower = (first > other + 1e-9).mean(), (first < other - 1e-9).mean()
        for chance, share in ((row.above, higher), (row.below, lower), (row.equal, 1 - higher - lower)):
            error = np.hypot(row.standard_error, np.sqrt(max(chance * (1 - chance), 1 / TIMES) / TIMES))
            assert abs(chance - share) <= LIMIT * error + GRID_ERROR * (row.method != "exact")
        assert row.above + row.equal + row.below == pytest.approx(1, abs=1e-12)
        assert row.reversible or lower == 0


def test_chances_of_places_are_those_of_the_shuffle(case):
    _, lucks, shuffled = case
    means = np.stack(list(shuffled.values()))
    place = 1 + (means[None] > means[:, None] + 1e-9).sum(axis=1)
    ranks = rank_distribution(lucks).chances
    assert ranks.sum(axis=1).to_list() == pytest.approx([1] * len(ranks), abs=1e-12)
    drawn_error = sum(luck.error**2 for luck in lucks.values())
    off_grid = GRID_ERROR * any(luck.method != "exact" for luck in lucks.values())
    for position, (_, row) in enumerate(ranks.iterrows()):
        for number, chance in row.items():
            error = np.sqrt(max(chance * (1 - chance), 1 / TIMES) / TIMES + drawn_error)
            assert abs(chance - (place[position] == number).mean()) <= LIMIT * error + off_grid


def test_tau_is_that_of_pairs_of_shuffled_leaderboards(case):
    _, lucks, shuffled = case
    means = np.stack(list(shuffled.values()))
    i, j = np.triu_indices(len(means), 1)
    signs = np.where(np.abs(means[i] - means[j]) > 1e-9, np.sign(means[i] - means[j]), 0)
    agreed = (signs[:, ::2] * signs[:, 1::2]).mean(axis=0)
    pairs = pairwise_order(lucks)
    drawn_error = (2 * (pairs["above"] - pairs["below"]).abs() * 2 * pairs["standard_error"]).mean()
    error = np.hypot(agreed.std() / len(agreed) ** 0.5, drawn_error)
    assert abs(expected_tau(pairs) - agreed.mean()) <= LIMIT * error + 2 * GRID_ERROR


def means_of(scores, grades, measure, seed=0, targets=None):
    runs = runs_of(scores, grades, targets)
    evaluation = evaluate(runs, [measure], SPREADS)
    rankings = {name: Ranking.of(runs, name) for name in runs.rerankers}
    return mean_distributions(evaluation, measure, rankings, seed=seed)


def test_the_same_seed_draws_the_same_whoever_else_is_there():
    scores, grades = board(6, 30, 2, seed=3)
    pair, alone = means_of(scores, grades, "AP"), means_of({"B": scores["B"]}, grades, "AP")
    assert pair["B"].means.tolist() == alone["B"].means.tolist()
    assert pair["B"].means.tolist() != means_of(scores, grades, "AP", seed=1)["B"].means.tolist()


def test_twins_are_drawn_on_their_own():
    scores, grades = board(6, 30, 2, seed=3, rerankers="A")
    row = pairwise_order(means_of(scores | {"B": scores["A"]}, grades, "AP")).iloc[0]
    assert 0 < row["standard_error"] < 0.02
    assert abs(row["above"] - row["below"]) <= LIMIT * 2 * row["standard_error"]
    assert "about" in plain(stability_finding(pd.DataFrame([row]), pd.DataFrame(), 0.0, "MAP"))


def test_targets_that_documents_share_are_drawn():
    scores, grades = board(4, 20, 2, seed=5)
    targets = np.random.default_rng(0).integers(0, 4, grades.shape)
    lucks = means_of(scores, grades, "DR@5", targets=targets)
    for luck in lucks.values():
        assert (luck.method, luck.error > 0) == ("sampled", True)
        assert luck.chances @ luck.means == pytest.approx(luck.mean, abs=1e-9)
        assert luck.worst - 1e-9 <= luck.means[0] <= luck.means[-1] <= luck.best + 1e-9


def test_bounds_that_cannot_overlap_leave_no_doubt_however_the_chance_is_known():
    scores, grades = board(150, 10, 3, seed=7, rerankers="AB")
    perfect, hopeless = grades.astype(float), np.where(grades > 0, -1.0, 0.0)
    lucks = means_of(scores | {"best": perfect, "last": hopeless}, grades, "nDCG@10")
    assert lucks["A"].method == "grid"
    assert lucks["best"].worst == pytest.approx(lucks["best"].mean)
    pairs = pairwise_order(lucks).set_index(["reranker", "other"])
    for better, worse in [("best", "A"), ("best", "B"), ("A", "last"), ("B", "last")]:
        assert pairs.loc[(better, worse), ["above", "equal", "below", "reversible"]].to_list() == [
            1,
            0,
            0,
            False,
        ]
    assert rank_distribution(lucks).chances.loc["best"].to_list() == [1, 0, 0, 0]
    assert rank_distribution(lucks).chances.loc["last"].to_list() == [0, 0, 0, 1]


def normal(mean, std):
    means = np.linspace(0, 1, 4001)
    return MeanDistribution("grid", mean, std, 0.0, 1.0, means, np.diff(norm.cdf(means, mean, std), prepend=0))


def test_ranks_of_two_rerankers_follow_the_probabilities_of_the_pair():
    lucks = {"A": normal(0.5, 0.1), "B": normal(0.45, 0.07)}
    row = pairwise_order(lucks).iloc[0]
    assert rank_distribution(lucks).chances.loc[row["reranker"]].to_list() == pytest.approx(
        [row["above"] + row["equal"], row["below"]], abs=1e-3
    )
    assert row["above"] == pytest.approx(norm.cdf(0.05 / np.hypot(0.1, 0.07)), abs=GRID_ERROR)


def board_of_means(draw, n, size):
    """Rerankers with means on steps that all share, or of their own, in ranges that are wide or narrow."""
    lucks = {}
    for number in range(n):
        width, decimals = 10.0 ** -draw.integers(0, 5), draw.choice([4, 12])
        means = np.unique(np.round(draw.choice([0, 0.25]) + draw.random(size) * width, decimals))
        chances = draw.dirichlet(np.ones(len(means)))
        mean = float(chances @ means)
        std = float(chances @ (means - mean) ** 2) ** 0.5
        lucks[f"r{number}"] = MeanDistribution("grid", mean, std, means[0], means[-1], means, chances)
    return lucks


@pytest.mark.parametrize("size", [20, 400])
def test_many_pairs_at_once_have_the_chances_of_each_pair_alone(size):
    lucks = board_of_means(np.random.default_rng(size), 60, size)
    for row in pairwise_order(lucks).itertuples():
        alone = pairwise_order({name: lucks[name] for name in (row.reranker, row.other)}).iloc[0]
        chances = [row.above, row.equal, row.below]
        assert chances == pytest.approx(alone[["above", "equal", "below"]].to_list(), abs=GRID_ERROR)
        assert row.reversible == alone["reversible"]


def test_draws_may_be_off_by_their_standard_error():
    scores, grades = board(3, 40, 1, seed=9, rerankers="A")
    luck = means_of(scores, grades, "AP")["A"]
    assert (luck.method, 1e-4 < luck.error < 0.02) == ("sampled", True)
    shuffled = shuffled_means(scores["A"], grades, "AP", 0)
    for mean in np.quantile(shuffled, [0.1, 0.5, 0.9]):
        error = np.hypot(luck.error, 0.5 / TIMES**0.5)
        assert abs(luck.below(np.array([mean]))[0] - (shuffled < mean).mean()) <= LIMIT * error


def test_four_hundred_lists_lie_as_multinomial_draws_do():
    grades, tied = np.tile([1, 0, 0, 0], (400, 1)), np.zeros((400, 4))
    ahead = tied.copy()
    ahead[:10, 0] = 1
    lucks = means_of({"A": tied, "B": ahead}, grades, "nDCG@3")
    assert [luck.method for luck in lucks.values()] == ["grid", "grid"]
    draw, values = np.random.default_rng(0), np.array([1, 1 / np.log2(3), 0.5, 0])
    first, other = (draw.multinomial(n, [0.25] * 4, 200_000) @ values for n in (400, 390))
    row = pairwise_order(lucks).iloc[0]
    assert (row["reranker"], row["standard_error"]) == ("B", 0)
    assert abs(row["above"] - (other + 10 > first).mean()) <= 0.005


def test_measures_that_are_one_agree_on_a_skewed_mean():
    """Where one document is relevant RR and AP are the same, and nDCG@10 sees ten of a thousand places."""
    draw = np.random.default_rng(1)
    grades = np.zeros((40, 1000))
    grades[np.arange(40), draw.integers(0, 1000, 40)] = 1
    scores = {}
    for name in "ABC":  # one tie of 500 to 1,000 with the relevant document in it, the others below
        order = (draw.random((40, 1000)) - grades).argsort(axis=1).argsort(axis=1)
        scores[name] = np.where(order < draw.integers(500, 1000, (40, 1)), 1.0, 0.0)
    rr, ap = (pairwise_order(means_of(scores, grades, measure)) for measure in ("RR", "AP"))
    both = rr.merge(ap, on=["reranker", "other"])
    assert len(both) == 3
    assert both["above_x"].to_list() == pytest.approx(both["above_y"].to_list(), abs=0.006)
    lucks = means_of(scores, grades, "nDCG@10")
    none = {name: np.prod(1 - 10 / table.sum(axis=1)) for name, table in scores.items()}
    for name, luck in lucks.items():
        assert abs(luck.not_above(np.zeros(1))[0] - none[name]) <= 0.005
    for row in pairwise_order(lucks).itertuples():
        assert row.equal >= none[row.reranker] * none[row.other] - 0.005


def test_gains_past_all_bounds_have_chances_all_the_same():
    grades = np.array([[400, 300, 0, 0, 1, 0]])
    row = pairwise_order(means_of({name: np.ones((1, 6)) for name in "AB"}, grades, "DCG@3")).iloc[0]
    assert row["above"] == pytest.approx(row["below"])
    assert 0 < row["equal"] < 1


@pytest.mark.parametrize("mean", [0.09, 0.11])
@pytest.mark.parametrize("value", [0.0, 0.1, 1.0])
def test_draws_that_miss_all_that_is_rare_are_equally_likely(value, mean):
    assert (calibrated_chances(np.full(3_000, value), mean) == 1 / 3_000).all()


TIES = ["expected", "optimistic", "pessimistic", "std"]


def random_list(docs, levels, draw):
    return [Doc(f"d{n}", int(draw.integers(levels)), int(draw.random() < 0.3)) for n in range(docs)]


def split(table, measure="RR", baseline="A"):
    return variance_split(evaluate(Runs.from_frame(frame(table)), [measure], TIES), measure, baseline)


def ranks_rr(scores, hits, order):
    ranked = hits[np.argsort(-scores + order, axis=1)]
    return np.where(ranked.any(axis=1), 1 / (ranked.argmax(axis=1) + 1), 0.0)


def test_the_split_is_that_of_drawing_queries_and_breaking_their_ties():
    draw, n, times = np.random.default_rng(4), 12, 40_000
    table = {name: {f"q{q}": random_list(6, 2, draw) for q in range(n)} for name in "AB"}
    row = split(table).loc["B"]
    values = {
        name: np.stack(
            [
                ranks_rr(
                    *(np.array([doc[at] for doc in docs]) for at in (1, 2)), draw.random((times, len(docs)))
                )
                for docs in queries.values()
            ]
        )
        for name, queries in table.items()
    }
    apart = values["B"] - values["A"]
    fixed = apart.mean(axis=0)
    assert row["difference"] == pytest.approx(fixed.mean(), abs=4 * fixed.std() / times**0.5)
    assert row["ties"] == pytest.approx(fixed.var(), rel=0.03)
    queries = draw.integers(n, size=(n, times))
    of_those_drawn = row["queries"] * (n - 1) / n
    assert of_those_drawn == pytest.approx(apart.mean(axis=1)[queries].mean(axis=0).var(), rel=0.03)
    broken = apart[queries, draw.integers(times, size=queries.shape)].mean(axis=0)
    assert of_those_drawn + row["ties"] == pytest.approx(broken.var(), rel=0.03)
    assert row["share_ties"] == pytest.approx(row["ties"] / (row["queries"] + row["ties"]))


def test_without_ties_all_of_it_is_queries():
    docs = {"q": [Doc("a", 2, 1), Doc("b", 1, 0)], "r": [Doc("a", 2, 0), Doc("b", 1, 1)]}
    row = split({"A": docs, "B": dict.fromkeys(docs, docs["q"])}).loc["B"]
    assert row.to_list() == [0.25, 0.0625, 0, 0]


def test_rerankers_that_never_differ_have_no_variance_to_share():
    docs = {"q": [Doc("a", 2, 1)], "r": [Doc("a", 2, 1)]}
    row = split({"A": docs, "B": docs}).loc["B"]
    assert row.to_list() == [0, 0, 0, 0]


def test_one_query_says_nothing_of_the_variance_between_queries():
    tied = {"q": [Doc("a", 1, 1), Doc("b", 1, 0)]}
    row = split({"A": tied, "B": tied}).loc["B"]
    assert row["ties"] == pytest.approx(2 / 16)
    assert np.isnan(row["queries"])
    assert np.isnan(row["share_ties"])


def test_only_queries_both_have_count():
    run = b"q1 Q0 a 1 2 t\nq2 Q0 a 1 2 t\n", b"q1 Q0 a 1 2 t\n"
    sources = [read(File(f"{name}.trec", text)) for name, text in zip("AB", run, strict=True)]
    runs = Runs.from_sources([*sources, read(File("qrels.txt", b"q1 0 a 1\nq2 0 a 1\n"))])
    parts = {
        policy: variance_split(evaluate(runs, ["RR"], TIES, missing=policy), "RR", "A").loc["B", "difference"]
        for policy in ("zero", "skip")
    }
    assert parts == {"zero": -0.5, "skip": 0}


def test_a_reranker_without_lists_has_no_difference():
    run = b"q1 Q0 a 1 2 t\n", b"q9 Q0 a 1 2 t\n"
    sources = [read(File(f"{name}.trec", text)) for name, text in zip("AB", run, strict=True)]
    runs = Runs.from_sources([*sources, read(File("qrels.txt", b"q1 0 a 1\n"))])
    evaluation = evaluate(runs, ["RR"], TIES, missing="skip")
    row = variance_split(evaluation, "RR", "A").loc["B"]
    assert row.index.to_list() == ["difference", "queries", "ties", "share_ties"]
    assert row.isna().all()


def test_a_baseline_that_is_not_there_is_named():
    with pytest.raises(UsageError, match="no reranker 'Z'"):
        split({"A": {"q": [Doc("a", 1, 1)]}}, baseline="Z")
