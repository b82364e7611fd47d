"""Curves of ties and of a measure as scores that stand near each other come to tie."""

import numpy as np
import pyarrow as pa
import pytest

from metrics import Runs, evaluate
from metrics.evaluation import ScoringOptions
from metrics.studies.prose import Strong, plain
from metrics.studies.robustness.near_tie_curves import (
    NearTieCurves,
    near_distances,
    near_tie_curves,
    near_tie_finding,
)
from metrics.studies.robustness.noise_curves import in_spreads, score_spreads


def table(seed, steps, scale=1.0):
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
def runs():
    return Runs({"coarse": table(1, 4), "fine": table(2, 500)})


@pytest.fixture(scope="module")
def curves(runs):
    return near_tie_curves(runs, "nDCG@5", near_distances(800))


def test_curves_start_as_read_and_end_with_few_ties_of_nearly_all(runs, curves):
    as_read = evaluate(runs, "nDCG@5", "expected")
    assert curves.means.loc[0].to_dict() == pytest.approx(as_read.means("nDCG@5")["expected"].to_dict())
    ratios = as_read.lists["tie_ratio"].groupby(level="reranker").mean()
    assert curves.tie_ratios.loc[0].to_dict() == pytest.approx(ratios.to_dict())
    assert curves.means.index[[1, -1]].to_list() == pytest.approx([1e-4, 1])
    assert (curves.tie_ratios.loc[1] > 0.9).all()
    assert (curves.means.loc[1] < curves.means.loc[0]).all()


def test_a_distance_is_told_in_standard_deviations_of_a_rerankers_own_scores(runs, curves):
    distance = curves.means.index[13]
    spread = float(score_spreads(runs)["fine"])
    alone = evaluate(runs, "nDCG@5", "expected", precision=f"within:{float(distance * spread)!r}")
    assert curves.means.loc[distance, "fine"] == pytest.approx(alone.means("nDCG@5").loc["fine", "expected"])


def test_coarse_scores_tie_no_more_until_the_distance_passes_their_step(runs, curves):
    step = 0.25 / float(score_spreads(runs)["coarse"])
    below = curves.tie_ratios["coarse"][curves.tie_ratios.index < step]
    assert (below == below.iloc[0]).all()
    assert curves.means["coarse"][1.0] < curves.means["coarse"][0.0]


def test_some_queries_alone_count_and_other_options_hold(runs):
    options = ScoringOptions("decimals:1", relevant_from=1)
    curves = near_tie_curves(runs, "RR", near_distances(10**6)[:1], options, {"q1", "q2"})
    expected = (
        evaluate(runs, "RR", "expected", precision="decimals:1").only(runs.rerankers, {"q1", "q2"}).means("RR")
    )
    assert curves.means.loc[0].to_dict() == pytest.approx(expected["expected"].to_dict())


def test_the_finding_names_who_loses_first_and_how_much_ties_by_then(curves):
    text = plain(near_tie_finding(curves, "tied nDCG@5"))
    assert text.startswith("fine is the first to lose 0.010 tied nDCG@5 as near scores tie: within ")
    assert "Near ties cost little here." in plain(near_tie_finding(curves, "tied nDCG@5", loss=5.0))


def test_scores_that_do_not_vary_have_level_curves():
    level = Runs({"A": table(1, 4, scale=0.0)})
    curves = near_tie_curves(level, "RR", near_distances(10)[:3])
    assert curves.means["A"].nunique() == 1
    assert (curves.tie_ratios["A"] == 1).all()


def test_a_reranker_alone_is_not_the_first_to_lose(curves):
    alone = NearTieCurves(*(table[["fine"]] for table in curves))
    assert plain(near_tie_finding(alone, "MTRR")).startswith(
        "fine loses 0.010 MTRR as near scores tie: within "
    )


def test_one_standard_deviation_is_written_in_the_singular(curves):
    text = plain(near_tie_finding(NearTieCurves(*(table.loc[:1.0] for table in curves)), "RR", loss=5.0))
    assert text.endswith("scores within 1 standard deviation tie.")


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
    table = pa.table(
        {
            "query_id": ["q"] * 5,
            "doc_id": list("abcde"),
            "score": [5.0, 4, 4, 1, 1],
            "relevance": [1.0, 0, 0, 0, 0],
        }
    )
    curves = near_tie_curves(Runs({"A": table, "B": table}), "RR", near_distances(10))
    text = plain(near_tie_finding(curves, "MTRR"))
    assert text.startswith("A, B are the first to lose 0.010 MTRR as near scores tie: within 0.598 standard")
    assert text.endswith(" of their scores.")


@pytest.mark.parametrize(("seed", "n_rows"), [(0, 300), (1, 300), (0, 1000), (1, 1000), (2, 1000)])
def test_on_a_large_board_the_value_falls_by_so_much_at_the_distance_named(seed, n_rows, monkeypatch):
    runs = graded_runs(seed)
    monkeypatch.setattr("metrics.studies.robustness.near_tie_curves._ROWS", n_rows)
    names, distance = named(near_tie_finding(near_tie_curves(runs, "RR", near_distances(400)), "MTRR"))
    assert losing_at(in_spreads(runs), distance) == names
    assert not {*names} & {*losing_at(in_spreads(runs), figure_below(distance))}
