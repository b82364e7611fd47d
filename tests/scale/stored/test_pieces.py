"""A stored evaluation read a few lists at a time, and what its footer knows of all of them."""

import numpy as np
import pandas as pd
import pytest

from metrics import ReadError, Runs, evaluate, read_runs
from metrics.runs import File
from metrics.scale import stored as reading
from metrics.scale import stored as writing
from metrics.scale.stored import Stored, is_stored, save_parts

TIES = ["input", "expected", "optimistic", "pessimistic"]
ROWS = pd.DataFrame(
    [
        (name, f"q{query}", f"d{one}", one % levels, int(one == query))
        for name, levels in (("coarse", 2), ("fine", 9))
        for query in range(7)
        for one in range(5)
    ],
    columns=["reranker", "query_id", "doc_id", "score", "relevance"],
)
EVALUATION = evaluate(Runs.from_frame(ROWS), ["RR", "Hits@3"], TIES, empty="skip")


def parts():
    for _, rows in ROWS.groupby("query_id"):
        yield evaluate(Runs.from_frame(rows), ["RR", "Hits@3"], TIES, empty="skip")


@pytest.fixture
def stored(tmp_path, monkeypatch):
    monkeypatch.setattr(writing, "GROUP", 4)
    monkeypatch.setattr(reading, "GROUP", 3)
    return Stored.write(tmp_path / "kept.parquet", parts())


def test_means_and_tie_ratios_come_from_the_footer_and_are_those_of_the_lists(stored):
    stored.path.write_bytes(b"")
    for measure in EVALUATION.measures:
        pd.testing.assert_frame_equal(
            stored.means(measure), EVALUATION.means(measure), check_names=False, atol=1e-15
        )
    assert np.allclose(
        stored.tie_ratios, EVALUATION.lists["tie_ratio"].groupby(level="reranker", sort=False).mean()
    )


def test_pieces_hold_every_list_that_has_values_once_with_its_reranker_and_place(stored):
    pieces = list(stored.pieces(["tie_ratio", "RR/input"]))
    assert len(pieces) > 2
    rows = np.concatenate([one.rows for one in pieces])
    names = np.array(stored.rerankers)[np.concatenate([one.owner for one in pieces])]
    ids = stored.at(rows, ["query_id", "reranker"])
    assert ids["reranker"].tolist() == names.tolist()
    values = pd.Series(np.concatenate([one.columns["RR/input"] for one in pieces]), [names, ids["query_id"]])
    assert values.sort_index().to_dict() == EVALUATION.scores["RR", "input"].sort_index().to_dict()


def test_lists_are_found_by_their_places_in_the_order_asked(stored):
    query_ids = stored.at(np.arange(14), ["query_id"])["query_id"]
    places = np.array([13, 0, 7, 7, 2])
    assert stored.at(places, ["query_id"])["query_id"].tolist() == query_ids[places].tolist()
    assert len(stored.at(np.array([], int), ["query_id"])) == 0


def test_a_last_part_that_fills_a_group_is_written_once(tmp_path, monkeypatch):
    monkeypatch.setattr(writing, "GROUP", 1)
    assert len(list(save_parts(parts(), tmp_path / "kept.parquet"))) == 7
    assert Stored.open(tmp_path / "kept.parquet").n_lists == len(EVALUATION.scores)


def test_an_evaluation_without_a_list_is_kept(write, tmp_path):
    evaluation = evaluate(read_runs([write("header.csv", "query_id,doc_id,score,relevance\n")]), ["RR"])
    kept = Stored.write(tmp_path / "kept.parquet", [evaluation])
    assert (kept.n_lists, kept.rerankers, len(kept.load().scores)) == (0, ["header"], 0)


def test_a_file_that_is_gone_is_said_to_be(stored):
    stored.path.unlink()
    with pytest.raises(ReadError, match="gone or damaged"):
        next(stored.pieces(["tie_ratio"]))


def test_a_stored_evaluation_is_told_from_other_files(stored, write, tmp_path):
    ROWS.to_parquet(tmp_path / "rows.parquet")
    assert is_stored(File.open(stored.path))
    assert is_stored(File("any.name", stored.path.read_bytes()))
    for other in (
        write("run.trec", "q0 Q0 d0 1 1 t\n"),
        write("bare.parquet", b"PAR1"),
        tmp_path / "rows.parquet",
    ):
        assert not is_stored(File.open(other))
