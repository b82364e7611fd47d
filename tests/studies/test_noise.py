"""Curves of a measure as noise grows: limits, trades of places, losses and draws."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from metrics import Runs, evaluate, read_runs
from metrics.evaluation import ScoringOptions
from metrics.studies.noise import (
    NO_OWN_NOISE,
    NearTieCurves,
    drawn_means,
    even_point,
    format_noise,
    in_spreads,
    lead_ends,
    near_distances,
    near_tie_curves,
    near_tie_finding,
    noise_curves,
    noise_levels,
    noise_losing,
    order_chances,
    own_noise,
    own_noise_sentence,
    robustness_finding,
    spread,
    trades,
    written_noise,
)
from metrics.studies.prose import Strong, plain


def table(seed, steps):
    random = np.random.default_rng(seed)
    score = np.round(random.random(600) * steps) / steps
    relevance = (random.random(600) < 0.1 + 0.5 * score) * 1.0
    queries, ids = np.repeat([f"q{n}" for n in range(30)], 20), [str(place) for place in range(600)]
    return pa.table(
        {
            "query_id": queries,
            "doc_id": ids,
            "score": score,
            "relevance": relevance,
        }
    )


@pytest.fixture(scope="module")
def runs():
    return Runs({"coarse": table(1, 3), "fine": table(2, 500)})


@pytest.fixture(scope="module")
def curves(runs):
    return noise_curves(runs, "nDCG@5", noise_levels(1200))


def test_curves_start_at_the_tied_value_and_vanishing_noise_keeps_it(curves, runs):
    tied = evaluate(runs, "nDCG@5", "expected").means("nDCG@5")["expected"]
    assert curves.loc[0].to_numpy() == pytest.approx(tied.to_numpy(), abs=1e-15)
    assert curves["coarse"].iloc[1] == pytest.approx(tied["coarse"], abs=1e-9)
    assert curves.index[1] == pytest.approx(0.001)
    assert curves.index[-1] == 1
    assert (curves.loc[1] < curves.loc[0]).all()


def test_noise_is_in_standard_deviations_of_a_rerankers_own_scores(curves, runs):
    stretched = runs.rescored({name: 40 * part["score"].to_numpy() - 7 for name, part in runs.tables.items()})
    again = noise_curves(stretched, "nDCG@5", noise_levels(1200))
    assert again.to_numpy() == pytest.approx(curves.to_numpy(), abs=1e-9)


@pytest.mark.parametrize("scale", [2.0**-560, 2.0**660])
def test_tiny_and_huge_scores_have_the_curves_of_others(curves, runs, scale):
    scaled = runs.rescored({name: scale * part["score"].to_numpy() for name, part in runs.tables.items()})
    assert noise_curves(scaled, "nDCG@5", noise_levels(1200)).to_numpy() == pytest.approx(curves.to_numpy())


@pytest.mark.parametrize("precision", ["float64", "decimals:1", "within:0.3"])
def test_curves_lie_within_four_standard_errors_of_draws(runs, precision):
    levels, options = [0.1, 1.0], ScoringOptions(precision)
    curves = noise_curves(runs, "nDCG@5", np.array(levels), options)
    drawn = drawn_means(runs, "nDCG@5", levels, 30, options)
    errors = drawn.std(axis=1, ddof=1) / np.sqrt(30)
    assert (np.abs(drawn.mean(axis=1) - curves.iloc[1:].to_numpy()) <= 4 * errors).all()


def test_scores_that_do_not_vary_have_no_spread_and_a_level_curve():
    level = Runs({"A": table(1, 3).set_column(2, "score", pa.array(np.ones(600)))})
    assert spread(level.tables["A"]["score"].to_numpy()) == 0
    values = noise_curves(level, "RR", noise_levels(600))["A"]
    assert (values == values.iloc[0]).all()
    endless = Runs({"A": table(1, 3).set_column(2, "score", pa.array(np.full(600, -np.inf)))})
    values = noise_curves(endless, "RR", noise_levels(600))["A"]
    assert (values == values.iloc[0]).all()


def drawn_curves(**columns):
    return pd.DataFrame(columns, index=pd.Index([0.0, 0.01, 0.1, 1.0], name="noise"))


def test_places_are_traded_where_lines_cross_between_levels():
    crossing = trades(drawn_curves(A=[1, 0.9, 0.7, 0.0], B=[0.8, 0.8, 0.8, 0.8]))
    assert crossing[["before", "after"]].to_numpy().tolist() == [["A", "B"]]
    assert crossing["noise"].item() == pytest.approx(np.sqrt(0.001))
    assert crossing["value"].item() == pytest.approx(0.8)


def test_lines_that_only_touch_trade_no_places():
    assert trades(drawn_curves(A=[1, 0.8, 0.9, 1.0], B=[0.5, 0.801, 0.5, 0.0])).empty
    assert trades(drawn_curves(A=[1.0] * 4, B=[1.0] * 4)).empty


def test_places_are_traded_through_a_level_at_which_lines_meet():
    crossing = trades(drawn_curves(A=[1, 0.8, 0.6, 0.5], B=[0.5, 0.8, 0.8, 0.8]))
    assert crossing["noise"].tolist() == pytest.approx([0.01])


def test_the_lead_ends_where_the_first_is_overtaken():
    assert lead_ends(drawn_curves(A=[1, 0.9, 0.7, 0.0], B=[0.8, 0.8, 0.8, 0.8])) == (
        pytest.approx(np.sqrt(0.001)),
        "B",
    )
    assert lead_ends(drawn_curves(A=[1.0, 1, 1, 1], B=[0.0, 0, 0, 0])) is None


def test_a_loss_is_met_between_levels_or_never():
    losing = noise_losing(drawn_curves(A=[1, 1, 0.98, 0.5], B=[0.5] * 4, C=[1, 0.96, 0.9, 0.9]), 0.01)
    assert losing["A"] == pytest.approx(10**-1.5)
    assert np.isnan(losing["B"])
    assert losing["C"] == pytest.approx(0.0025)


def test_an_order_holds_in_the_share_of_draws_that_keep_every_pair():
    drawn = np.array([[[3.0, 2.0, 1.0], [2.0, 3.0, 1.0]], [[3.0, 2.0, 1.0], [1.0, 2.0, 3.0]]])
    chances = order_chances(drawn, np.array([0.9, 0.8, 0.7]))
    assert chances["whole"].tolist() == [0.5, 0.5]
    assert chances["pairs"].tolist() == pytest.approx([5 / 6, 1 / 2])
    for level in (np.ones(3), np.array([0.5, 0.5 + 2e-16, 0.5 - 2e-16])):
        assert order_chances(drawn, level).to_numpy().tolist() == [[1, 1], [1, 1]]


def test_formats_that_scores_show_leave_the_noise_of_their_cells():
    scores = np.random.default_rng(3).random(600)
    columns = table(1, 3)
    halves = {"full": scores, "half": scores.astype(np.float16), "grades": np.round(4 * scores)}
    arrays = {name: pa.array(values.astype(float)) for name, values in halves.items()}
    formats = format_noise(Runs({name: columns.set_column(2, "score", arrays[name]) for name in arrays}))
    assert formats["number_format"].to_dict() == {"half": "float16", "grades": "decimals:0"}
    deviation = np.round(4 * scores).std()
    assert formats.loc["grades", "noise"] == pytest.approx(1 / np.sqrt(12) / deviation, rel=1e-9)
    assert 0 < formats.loc["half", "noise"] < 0.001


def crowd(seed, steps, scale=1.0):
    random = np.random.default_rng(seed)
    score = np.round(random.random(400) * steps) / steps
    return pa.table(
        {
            "query_id": np.repeat([f"q{n}" for n in range(20)], 20),
            "doc_id": [str(place) for place in range(400)],
            "score": scale * score,
            "relevance": (random.random(400) < 0.05 + 0.5 * score) * 1.0,
        }
    )


@pytest.fixture(scope="module")
def crowded():
    return Runs({"coarse": crowd(1, 4), "fine": crowd(2, 500)})


@pytest.fixture(scope="module")
def near(crowded):
    return near_tie_curves(crowded, "nDCG@5", near_distances(800))


def test_curves_start_as_read_and_end_with_few_ties_of_nearly_all(crowded, near):
    as_read = evaluate(crowded, "nDCG@5", "expected")
    assert near.means.loc[0].to_dict() == pytest.approx(as_read.means("nDCG@5")["expected"].to_dict())
    ratios = as_read.lists["tie_ratio"].groupby(level="reranker").mean()
    assert near.tie_ratios.loc[0].to_dict() == pytest.approx(ratios.to_dict())
    assert near.means.index[[1, -1]].to_list() == pytest.approx([1e-4, 1])
    assert [table.columns.name for table in near] == ["reranker", "reranker"]
    assert (near.tie_ratios.loc[1] > 0.9).all()
    assert (near.means.loc[1] < near.means.loc[0]).all()


def test_a_distance_is_told_in_standard_deviations_of_a_rerankers_own_scores(crowded, near):
    distance = near.means.index[13]
    within = float(distance * spread(crowded.tables["fine"]["score"].to_numpy()))
    alone = evaluate(crowded, "nDCG@5", "expected", precision=f"within:{within!r}")
    assert near.means.loc[distance, "fine"] == pytest.approx(alone.means("nDCG@5").loc["fine", "expected"])


def test_coarse_scores_tie_no_more_until_the_distance_passes_their_step(crowded, near):
    step = 0.25 / spread(crowded.tables["coarse"]["score"].to_numpy())
    below = near.tie_ratios["coarse"][near.tie_ratios.index < step]
    assert (below == below.iloc[0]).all()
    assert near.means["coarse"][1.0] < near.means["coarse"][0.0]


def test_some_queries_alone_count_and_other_options_hold(crowded):
    options = ScoringOptions("decimals:1", relevant_from=1)
    curves = near_tie_curves(crowded, "RR", near_distances(10**6)[:1], options, {"q1", "q2"})
    expected = (
        evaluate(crowded, "RR", "expected", precision="decimals:1")
        .only(crowded.rerankers, {"q1", "q2"})
        .means("RR")
    )
    assert curves.means.loc[0].to_dict() == pytest.approx(expected["expected"].to_dict())


def test_the_finding_names_who_loses_first_and_how_much_ties_by_then(near, monkeypatch):
    text = plain(near_tie_finding(near, "tied nDCG@5"))
    assert text.startswith("fine is the first to lose 0.010 tied nDCG@5 if scores within ")
    monkeypatch.setattr("metrics.studies.noise._LOSS", 5.0)
    assert "Near ties have little effect on the scores." in plain(near_tie_finding(near, "tied nDCG@5"))


def test_scores_that_do_not_vary_have_level_curves():
    level = Runs({"A": crowd(1, 4, scale=0.0)})
    curves = near_tie_curves(level, "RR", near_distances(10)[:3])
    assert len(set(curves.means["A"])) == 1
    assert (curves.tie_ratios["A"] == 1).all()


def test_a_reranker_alone_is_not_the_first_to_lose(near):
    alone = NearTieCurves(*(table[["fine"]] for table in near))
    assert plain(near_tie_finding(alone, "MTRR")).startswith("fine loses 0.010 MTRR if scores within ")


def test_one_standard_deviation_is_written_in_the_singular(near, monkeypatch):
    monkeypatch.setattr("metrics.studies.noise._LOSS", 5.0)
    text = plain(near_tie_finding(NearTieCurves(*(table.loc[:1.0] for table in near)), "RR"))
    assert text.endswith("scores within 1 standard deviation of each other count as tied.")


def graded_runs(seed, grades=None):
    """Four rerankers, 12 queries of 8 documents; whole scores from 0 to `grades`, else real ones."""
    random = np.random.default_rng(seed)
    relevance = (random.random(96) < 0.3) * 1.0

    def scores():
        noisy = relevance + random.normal(0, 1, 96)
        return noisy if grades is None else np.clip(np.round(grades / 2 + 2 * noisy), 0, grades)

    ids = {"query_id": np.repeat([f"q{n}" for n in range(12)], 8), "doc_id": [str(n) for n in range(96)]}
    return Runs({name: pa.table({**ids, "score": scores(), "relevance": relevance}) for name in "ABCD"})


def losing_at(scaled, distance, loss=0.01):
    """Names that have lost so much where scores within a distance tie."""
    before, after = (
        evaluate(scaled, "RR", "expected", precision=precision).means("RR")["expected"]
        for precision in ("float64", f"within:{float(distance)!r}")
    )
    return before.index[before - after > loss - 1e-9].to_list()


def figure_below(distance):
    """The number of three figures before one."""
    return distance - 10.0 ** (np.floor(np.log10(distance)) - 2)


def named(prose):
    """Names and distance of a finding."""
    names, distance = (part.text for part in prose if isinstance(part, Strong))
    return names.split(", "), float(distance)


@pytest.mark.parametrize("grades", [10, 4, None])
@pytest.mark.parametrize("seed", range(4))
def test_the_distance_named_is_the_first_at_which_the_reranker_named_has_lost(seed, grades):
    runs, scaled = graded_runs(seed, grades), in_spreads(graded_runs(seed, grades))
    names, distance = named(near_tie_finding(near_tie_curves(runs, "RR", near_distances(400)), "MTRR"))
    assert losing_at(scaled, distance) == names
    lists = np.concatenate([table["score"].to_numpy().reshape(12, 8) for table in scaled.tables.values()])
    differences = np.unique(np.round(lists[:, :, None] - lists[:, None, :], 12))
    for below in differences[(differences > 0) & (differences < figure_below(distance))]:
        assert losing_at(scaled, below * (1 + 1e-9)) == []
    assert losing_at(scaled, figure_below(distance)) == []


def test_two_who_lose_at_one_distance_are_both_named():
    one_list = pa.table(
        {
            "query_id": ["q"] * 5,
            "doc_id": list("abcde"),
            "score": [5.0, 4, 4, 1, 1],
            "relevance": [1.0, 0, 0, 0, 0],
        }
    )
    curves = near_tie_curves(Runs({"A": one_list, "B": one_list}), "RR", near_distances(10))
    text = plain(near_tie_finding(curves, "MTRR"))
    assert text.startswith("A, B are the first to lose 0.010 MTRR if scores within 0.598 standard")
    assert text.endswith(" of each other count as tied.")


@pytest.mark.parametrize(("seed", "n_rows"), [(0, 300), (1, 300), (0, 1000), (1, 1000), (2, 1000)])
def test_on_a_large_board_the_value_falls_by_so_much_at_the_distance_named(seed, n_rows, monkeypatch):
    runs = graded_runs(seed)
    monkeypatch.setattr("metrics.studies.noise._ROWS", n_rows)
    names, distance = named(near_tie_finding(near_tie_curves(runs, "RR", near_distances(400)), "MTRR"))
    assert losing_at(in_spreads(runs), distance) == names
    assert not {*names} & {*losing_at(in_spreads(runs), figure_below(distance))}


ROWS = [("q", "a", 3.0, 1), ("q", "b", 2.0, 0), ("q", "c", 1.0, 0)]


def repeated_runs(**deviations):
    frames = {
        name: pd.DataFrame(ROWS, columns=["query_id", "doc_id", "score", "relevance"]) for name in deviations
    }
    for name, deviation in deviations.items():
        if deviation is not None:
            frames[name]["score_std"] = deviation
    return read_runs(frames)


def said(sentence):
    return "".join(map(str, sentence))


def test_rerankers_with_a_spread_are_scored_under_it():
    board = repeated_runs(exact=None, noisy=2.0)
    own = own_noise(board, "RR")
    assert list(own.index) == ["noisy"]
    alone = board.arranged({"noisy": "noisy"})
    assert own.loc["noisy", "value"] == evaluate(alone, "RR", "noise").scores.iloc[0, 0]
    sizes = own.loc["noisy", ["low", "noise", "high"]].tolist()
    assert sizes == pytest.approx([2 / np.std([3, 2, 1])] * 3)
    tied = pd.Series({"exact": 1.0, "noisy": 1.0})
    assert said(own_noise_sentence(own, tied, "MRR")).endswith(" has 0.749 MRR instead of 1.000.")


def test_a_spread_that_cannot_be_computed_leaves_its_reranker_out():
    own = own_noise(repeated_runs(fine=1e-3, tiny=1e-300), "RR")
    assert own["value"].isna().tolist() == [False, True]
    assert "keeps its 1.000 MRR" in said(own_noise_sentence(own, pd.Series({"fine": 1.0, "tiny": 1.0}), "MRR"))


def test_without_a_spread_nothing_is_said():
    assert own_noise(repeated_runs(exact=None), "RR").equals(NO_OWN_NOISE)
    assert own_noise_sentence(NO_OWN_NOISE, pd.Series({"exact": 1.0}), "MRR") == ()


def sketch(**columns):
    return pd.DataFrame(columns, index=pd.Index([0.0, 0.01, 0.1, 1.0], name="noise"))


@pytest.mark.parametrize(
    ("table", "even", "facts"),
    [
        (
            sketch(A=[0.9, 0.9, 0.8, 0.1], B=[0.8, 0.8, 0.7, 0.0]),
            None,
            (
                "A has the highest MTRR at every noise level up to σ = 1.",
                "The order of both rerankers holds in at least half of the draws up to σ = 1",
            ),
        ),
        (
            sketch(A=[0.9, 0.9, 0.8, 0.1], B=[0.7, 0.7, 0.7, 0.7]),
            0.05,
            (
                "A has the highest MTRR up to a noise level of σ = 0.14, then B.",
                "order of both rerankers holds in half",
                "at σ = 0.05.",
            ),
        ),
        (
            sketch(A=[0.9, 0.9, 0.8, 0.1], B=[0.7, 0.7, 0.7, 0.7]),
            0.01,
            (
                "A has the highest MTRR up to a noise level of σ = 0.14, then B.",
                "Even at σ = 0.01, the order of both",
                "holds in fewer than half of the draws",
            ),
        ),
        (
            sketch(A=[0.9, 0.9, 0.8, 0.1], B=[0.8, 0.8, 0.7, 0.0], C=[0.7] * 4),
            0.05,
            (
                "A has the highest MTRR up to a noise level of σ = 0.14, then C.",
                "order of all 3 rerankers holds in half",
                "at σ = 0.05.",
            ),
        ),
        (
            sketch(A=[0.501, 0.5, 0.4, 0.1], B=[0.5, 0.502, 0.5, 0.3]),  # never clear of each other before
            None,
            ("A has the highest MTRR up to", "noise level of σ = 0.0033, then B."),
        ),
        (sketch(A=[0.5] * 4, B=[0.5] * 4), None, ("2 rerankers share the lead without noise",)),
        (
            sketch(A=[0.00002, 0.00002, 0.00001, 0.000004]),
            None,
            ("A scores 0.000020 MTRR without noise", "0.0000040 with noise of one standard deviation"),
        ),
        (sketch(A=[np.nan] * 4), None, ("No list is scored",)),
    ],
)
def test_the_sentence_says_what_the_curves_show(table, even, facts):
    sentence = plain(robustness_finding(table, "MTRR", even))
    assert [fact for fact in facts if fact not in sentence] == []


def test_a_chance_is_even_between_two_levels_or_nowhere():
    levels = np.array([0.01, 0.1, 1.0])
    assert even_point(levels, np.array([1.0, 0.75, 0.25])) == pytest.approx(np.sqrt(0.1))
    assert even_point(levels, np.array([0.4, 0.0, 0.0])) == pytest.approx(0.01)
    assert even_point(levels, np.array([1.0, 0.9, 0.5])) is None


def test_a_noise_is_written_with_two_figures():
    assert [written_noise(noise) for noise in (1.0, 0.01912, 0.0001, 0.35)] == ["1", "0.019", "0.0001", "0.35"]
