import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from drawing import frame, tables
from enumeration import Doc
from hypothesis import given
from hypothesis import strategies as st

from metrics import Evaluation, Runs, evaluate
from metrics.scale import stored as reading
from metrics.scale import stored as writing
from metrics.scale.stored import Stored
from metrics.studies.gaps import QueryMoments, gap_finding, gaps
from metrics.studies.leaderboard import leaderboard
from metrics.studies.prose import plain
from metrics.studies.stored_summary import (
    FARTHEST,
    LEVELS,
    GapHistogram,
    stored_summary,
    stored_summary_finding,
)

MEASURES = ["RR", "nDCG@3", "DCG"]
TIES = ["expected", "optimistic", "pessimistic", "input"]


@pytest.fixture(autouse=True)
def _few_rows_at_once(monkeypatch):
    monkeypatch.setattr(reading, "GROUP", 3)
    monkeypatch.setattr(writing, "GROUP", 3)


def in_parts(table, empty="zero"):
    """An evaluation query by query, so that rerankers take turns in the file."""
    rows = frame(table)
    return [
        evaluate(Runs.from_frame(rows[rows["query_id"] == query]), MEASURES, TIES, empty=empty)
        for query in rows["query_id"].unique()
    ]


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    return tmp_path_factory.mktemp("survey") / "kept.parquet"


def simulated(n_lists=300, seed=0):
    """Rerankers with gaps of all sizes, and ties from none to forty documents."""
    draw = np.random.default_rng(seed)
    for start in range(0, n_lists, 50):
        rows = [
            (name, f"q{start + query:03}", f"d{one}", float(draw.integers(0, levels)), int(draw.random() < 0.1))
            for query in range(50)
            for name, levels in (("fine", 10**6), ("coarse", 6), ("tied", 1))
            for one in range(draw.integers(1, 40))
        ]
        columns = ["reranker", "query_id", "doc_id", "score", "relevance"]
        yield evaluate(Runs.from_frame(pd.DataFrame(rows, columns=columns)), MEASURES, TIES, empty="skip")


def compare(parts, file, measure):
    """Hold the survey of a stored evaluation against the same in memory."""
    stored, merged = Stored.write(file, parts), Evaluation.merge(*parts)
    summary, table = stored_summary(stored, measure, "input"), gaps(merged, {"first": measure}, "input")
    exact = {"check_exact": False, "rtol": 0, "atol": 1e-12}
    board = leaderboard(merged, measure, "input")
    pd.testing.assert_frame_equal(leaderboard(stored, measure, "input").loc[board.index], board, **exact)
    size = table["first_gap"].abs()
    groups = size.groupby(table["reranker"], sort=False)
    names = groups.mean().index
    assert summary.gaps["n_lists"].sum() == len(table) == stored.n_lists
    assert np.allclose(summary.gaps.loc[names, "gap_mean"], groups.mean(), rtol=0, atol=1e-12)
    assert np.allclose(summary.gaps.loc[names, "gap_max"], groups.max(), rtol=0, atol=0)
    assert np.allclose(
        summary.gaps.loc[names, "lists_with_gap"], (size > 0).groupby(table["reranker"]).mean()[names]
    )
    tied = table["tie_ratio"] > 0
    assert (summary.n_tied, summary.n_level) == (tied.sum(), (tied & (size == 0)).sum())
    moments = QueryMoments()
    if len(table):
        moments.add_lists(
            pa.array(table["query_id"], pa.string()), table["tie_ratio"].to_numpy(), size.to_numpy()
        )
    expected = moments.with_interval()
    assert summary.correlation == (expected if expected is None else pytest.approx(expected, rel=0, abs=1e-12))
    assert summary.farthest["gap"].abs().tolist() == size[size > 0].nlargest(FARTHEST).tolist()
    for grid, column in ((summary.ratios, "tie_ratio"), (summary.sizes, "max_tie_size")):
        for position, name in enumerate(stored.rerankers):
            own = table[table["reranker"] == name]
            assert (grid.counts[position] == cell_counts(grid, own[column], own["first_gap"])).all()
    return stored, summary, table


def cell_counts(grid, x, gap):
    """Lists of one reranker in the cells of a grid, one by one."""
    places = grid.counts.shape[1]
    counts = np.zeros(grid.counts.shape[1:], int)
    for value, signed_gap in zip(x, gap, strict=True):
        place = min(int(value / grid.width + 1e-9), places - 1)
        level = min(int(abs(signed_gap) * LEVELS / grid.reach) + 1, LEVELS) if signed_gap else 0
        counts[place, LEVELS + level * int(np.sign(signed_gap))] += 1
    return counts


@given(table=tables(), empty=st.sampled_from(["zero", "skip"]), measure=st.sampled_from(MEASURES))
def test_a_survey_counts_and_averages_what_is_there_in_memory(file, table, empty, measure):
    compare(in_parts(table, empty), file, measure)


def test_a_survey_of_hundreds_of_lists_is_that_in_memory_and_names_the_farthest(file):
    stored, summary, table = compare(list(simulated()), file, "RR")
    lists = stored.at(summary.farthest["row"].to_numpy(), ["query_id", "reranker"])
    assert lists["reranker"].tolist() == summary.farthest["reranker"].tolist()
    gap_of_list = table.set_index(["reranker", "query_id"])["first_gap"]
    assert (
        gap_of_list[list(zip(lists["reranker"], lists["query_id"], strict=True))].tolist()
        == summary.farthest["gap"].tolist()
    )
    first = lists["query_id"][0]
    sentence = plain(stored_summary_finding(summary, "RR", first))
    assert sentence.split("Farthest")[0] == plain(gap_finding(table, "RR")).split("Farthest")[0]
    assert f"query {first}: the traditional score of {lists['reranker'][0]}" in sentence


def test_lists_without_a_tie_have_no_gap_and_say_so(file):
    summary = stored_summary(
        Stored.write(file, in_parts({"A": {"q": [Doc("a", 2, 1), Doc("b", 1, 0)]}})), "RR", "input"
    )
    assert (
        plain(stored_summary_finding(summary, "RR", "")) == "No documents tie. Tie order cannot change a score."
    )
    assert summary.ratios.cells().n_lists.tolist() == [1, *[0] * 19]


def test_cells_are_the_same_whether_the_largest_gap_comes_first_or_last():
    draw = np.random.default_rng(1)
    owner, x, gap = draw.integers(0, 3, 500), draw.integers(1, 90, 500), draw.normal(size=500) ** 5
    grids = []
    for order in (np.argsort(np.abs(gap)), np.argsort(-np.abs(gap)), np.arange(500)):
        grid = GapHistogram(3, 24, 1.0)
        for part in np.array_split(order, 7):
            grid.add(owner[part], x[part], np.arange(len(part)), gap[part])
        grids.append(grid)
    assert grids[0].width == 4
    assert grids[0].reach >= np.abs(gap).max() > grids[0].reach / 2
    for grid in grids[1:]:
        assert (grid.counts == grids[0].counts).all()
        assert np.allclose(grid.sums, grids[0].sums)
    assert np.isclose(grids[0].cells().sums.sum(), np.abs(gap).sum())


def test_shapes_leave_out_lists_without_a_gap_and_end_at_the_largest():
    grid = GapHistogram(2, 20, 0.05)
    grid.add(np.array([0, 0, 1, 1]), np.array([0.5, 0.5, 1.0, 0.0]), np.array([1, 2]), np.array([0.3, -0.25]))
    edges, counts = grid.signed_gaps()
    assert counts.sum(axis=1).tolist() == [1, 1]
    assert edges[0] == -edges[-1]
    assert edges[-2] <= 0.3 <= edges[-1]
    assert grid.cells(1).none.sum() == 1
    assert grid.cells(0).high.sum() == 1
