"""Stored evaluations: read a few lists at a time, and refused if they are damaged."""

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

from metrics import ReadError, Runs, evaluate, read_runs
from metrics.runs import File
from metrics.scale.stored import KEY, Stored, is_stored, save_parts
from metrics.studies.stored_summary import stored_summary

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
    monkeypatch.setattr("metrics.scale.stored.GROUP", 3)
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
    monkeypatch.setattr("metrics.scale.stored.GROUP", 1)
    assert len(list(save_parts(parts(), tmp_path / "kept.parquet"))) == 7
    assert Stored.open(tmp_path / "kept.parquet").n_lists == len(EVALUATION.scores)


def test_an_evaluation_without_a_list_is_kept(write, tmp_path):
    evaluation = evaluate(read_runs([write("header.csv", "query_id,doc_id,score,relevance\n")]), ["RR"])
    kept = Stored.write(tmp_path / "kept.parquet", [evaluation])
    assert (kept.n_lists, kept.rerankers, len(kept.load().scores)) == (0, ["header"], 0)


def test_a_file_that_is_gone_is_said_to_be(stored):
    stored.path.unlink()
    with pytest.raises(ReadError, match="removed or damaged"):
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


TABLE = {
    "reranker": ["A", "A", "A", "B", "B"],
    "query_id": ["q", "q", "r", "q", "q"],
    "doc_id": ["a", "b", "a", "a", "b"],
    "score": [1.0, 1.0, 1.0, 1.0, 0.5],
    "relevance": [1, 0, 1, 0, 1],
}


@pytest.fixture
def evaluation():
    frame = pa.table(TABLE).to_pandas()
    return evaluate(Runs.from_frame(frame), ["RR", "nDCG@3"])


def changed(path, about=lambda footer: footer, columns=lambda table: table):
    """The stored file, with something else in its footer or its columns."""
    table, footer = parquet.read_table(path), json.loads(parquet.read_metadata(path).metadata[KEY])
    about(footer)
    table = columns(table)
    parquet.write_table(table.replace_schema_metadata({KEY: json.dumps(footer)}), path)
    return path


def put(*keys, value):
    def change(footer):
        for key in keys[:-1]:
            footer = footer[key]
        footer[keys[-1]] = value

    return change


FOOTERS = {
    "a newer format": put("version", value=2),
    "no measures": put("measures", value=[]),
    "no such treatment": put("ties", value=["x"]),
    "no such policy": put("missing", value=["zero"]),
    "more lists than queries": put("policies", "A", "n_scored", value=10**30),
    "more rows than there are": put("policies", "A", "n_queries", value=7),
    "rerankers of no totals": put("policies", value={}),
    "a total of nothing": put("totals", "A", "RR/input", value=None),
    "no sum of squares": lambda footer: footer["totals"]["A"].pop("RR/squares"),
    "no criteria": lambda footer: footer.pop("criteria"),
}


@pytest.mark.parametrize("footer", FOOTERS)
def test_a_footer_that_cannot_be_true_is_refused(evaluation, tmp_path, footer):
    path = Stored.write(tmp_path / "scores.parquet", [evaluation]).path
    with pytest.raises(ReadError, match=r"^scores\.parquet: "):
        Stored.open(changed(path, FOOTERS[footer]))


@pytest.mark.parametrize("name", ["n_docs", "tie_ratio", "max_tie_size", "RR/input", "reranker", "query_id"])
def test_a_column_of_another_kind_or_none_is_refused(evaluation, tmp_path, name):
    path = Stored.write(tmp_path / "scores.parquet", [evaluation]).path
    stored_bytes = path.read_bytes()
    with pytest.raises(ReadError, match=name):
        Stored.open(changed(path, columns=lambda table: table.drop_columns(name)))
    path.write_bytes(stored_bytes)
    with pytest.raises(ReadError, match=name):
        Stored.open(changed(path, columns=lambda table: with_column(table, name, [True] * len(table))))


def with_column(table, name, values):
    return table.set_column(table.column_names.index(name), name, pa.array(values))


WRONG = {
    "a value of none": ("RR/input", [np.nan, 0.0, 0.0]),
    "an endless value": ("RR/expected", [np.inf, 0.0, 0.0]),
    "a tie ratio below none": ("tie_ratio", [-1.0, 0.0, 0.0]),
    "a tie below none": ("max_tie_size", [-1, 0, 0]),
    "an unknown reranker": ("reranker", ["A", "A", "x"]),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_lists_that_cannot_be_true_are_refused_when_they_are_gone_over(evaluation, tmp_path, wrong):
    path = Stored.write(tmp_path / "scores.parquet", [evaluation]).path
    stored = Stored.open(changed(path, columns=lambda table: with_column(table, *WRONG[wrong])))
    with pytest.raises(ReadError, match=r"^scores\.parquet: "):
        stored_summary(stored, "RR", "input")


def test_two_who_write_one_file_at_once_leave_the_whole_file_of_the_last(evaluation, tmp_path):
    path = tmp_path / "scores.parquet"
    first_writer, second_writer = (save_parts([evaluation], path) for _ in range(2))
    next(first_writer)
    next(second_writer)
    assert not list(first_writer)
    assert not list(second_writer)
    assert Stored.open(path).load().scores.equals(evaluation.scores)
    assert [file.name for file in tmp_path.iterdir()] == ["scores.parquet"]
