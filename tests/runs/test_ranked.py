"""MS MARCO runs: query, document and rank, and no score."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reading import QRELS, columns, refusal
from runs.written import ms_marco

from metrics import ReadError, evaluate, read_runs
from metrics.runs import File, read

RANKED = b"q1\td2\t1\nq1\td1\t2\nq1\td3\t3\nq2\td1\t1\n"
SIZES = st.lists(st.integers(1, 5), min_size=1, max_size=5)


def ranked(sizes):
    """Query and document of lists of these sizes."""
    pairs = [(f"q{n}", f"d{n}-{m}") for n, size in enumerate(sizes) for m in range(size)]
    return {"query_id": [query for query, _ in pairs], "doc_id": [document for _, document in pairs]}


@given(sizes=SIZES, first=st.sampled_from([0, 1]))
def test_the_score_is_minus_the_rank_and_a_finding_counts_every_row(sizes, first):
    table = ranked(sizes)
    lines = ms_marco(table).decode().splitlines()
    rows = [line.rsplit("\t", 1) for line in lines]
    data = "".join(f"{pair}\t{int(rank) - 1 + first}\n" for pair, rank in rows).encode()
    source = read(File("run.tsv", data))
    assert source.format == "ranked"
    assert source.table.to_pydict() == table | {"score": [-(float(rank) - 1 + first) for _, rank in rows]}
    noted = [(one.code, one.file, one.count) for one in source.noted]
    assert noted == [("ranks-as-scores", "run.tsv", sum(sizes))]


@pytest.mark.parametrize("mark", [" ", "\t", "  ", " \t"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\n\n", " \n"])
@pytest.mark.parametrize("start", ["", "\n\n", "\ufeff", "# a comment of mine\n", "#comment\n"])
def test_ranks_are_read_however_they_are_written(mark, end, start):
    data = (start + RANKED.decode().replace("\t", mark).replace("\n", end)).encode()
    assert columns(data) == columns(RANKED)


def test_lines_that_begin_with_a_hash_and_are_no_rows_are_counted():
    noted = read(File("run.tsv", b"# written by hand\n" + RANKED + b"#end\n")).noted
    assert {one.code: one.count for one in noted} == {"comments": 2, "ranks-as-scores": 4}


def test_no_ties_show_and_the_reciprocal_rank_is_that_of_the_file(write):
    runs = read_runs([write("run.dev.tsv", RANKED)], write("qrels.txt", QRELS))
    scores = evaluate(runs, ["RR"], ["optimistic", "pessimistic"]).scores
    assert scores.loc[("run.dev", "q1")].tolist() == [1 / 2, 1 / 2]


@pytest.mark.parametrize("ranks", ["12", "1231", "01", "123456789"])
@pytest.mark.parametrize("then", ["7", "100000", "1.5", "1e3", "-2"])
def test_only_the_first_list_has_to_count_from_the_top(ranks, then):
    rows = [f"q{ranks[:at].count(ranks[0])} d{at} {rank}" for at, rank in enumerate(ranks, 1)]
    rows.append(f"last d {then}")
    assert columns("\n".join(rows).encode())["score"] == [*(-float(rank) for rank in ranks), -float(then)]


@pytest.mark.parametrize(
    "rows",
    [
        ["q d 2", "q e 3"],
        ["q d 1", "q e 1"],
        ["q d 1", "q e 3"],
        ["q d 2", "q e 1"],
        ["q d -1", "q e 0"],
        ["q d 0.5", "q e 0.4"],
        ["q d one", "q e two"],
        ["the quick fox", "runs for it"],
        ["q d 1", "q e"],
        ["q d 1", "q e 2 x", "q f 3"],
    ],
    ids=" / ".join,
)
def test_three_fields_that_do_not_count_up_are_no_run(rows):
    error = refusal("\n".join([*rows, rows[-1]]).encode(), "run.tsv")
    assert str(error).startswith("run.tsv, line ")


@pytest.mark.parametrize("row", ["q2 d2 high", "q2 d2 nan", "q2 d2", "q2 d2 2 x"])
def test_a_faulty_line_further_down_is_named(row):
    rows = [f"q1 d{n} {n}" for n in range(1, 40)]
    error = refusal("\n".join([*rows, row, "q3 d 1"]).encode(), "run.tsv")
    assert (error.file, error.line) == ("run.tsv", 40)


def test_ranks_can_be_chosen_as_grades():
    source = read(File("qrels.tsv", RANKED), {"relevance": "rank"})
    assert (source.kind, source.table["relevance"].to_pylist()) == ("qrels", [1, 2, 3, 1])


def test_ranks_are_no_judgments(write):
    with pytest.raises(ReadError, match=r"qrels\.tsv.* not judgments"):
        read_runs([write("run.tsv", RANKED)], write("qrels.tsv", RANKED))
