"""Scores that are no numbers, as answers of LLMs that could not be read: refused, put last or left out."""

import io
import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrics import ReadError, Runs, UsageError, evaluate, read_runs
from metrics.runs import File, read

HEADER = "query_id,doc_id,score,relevance\n"
TABLE = HEADER + "q,a,0.9,0\nq,b,,1\nq,c,N/A,0\nq,d,0.1,0\nr,a,nan,1\nr,b,7,0\n"
"""Two lists: in the first the relevant document and another have no score, in the second the relevant one."""
RECORDS = [
    {"query_id": "q", "doc_id": "a", "score": 0.9, "relevance": 0},
    {"query_id": "q", "doc_id": "b", "score": None, "relevance": 1},
    {"query_id": "q", "doc_id": "c", "score": "N/A", "relevance": 0},
    {"query_id": "q", "doc_id": "d", "score": 0.1, "relevance": 0},
    {"query_id": "r", "doc_id": "a", "score": "the document is", "relevance": 1},
    {"query_id": "r", "doc_id": "b", "score": 7, "relevance": 0},
]


def parquet(_=None):
    stream = io.BytesIO()
    frame = pd.read_csv(io.StringIO(TABLE))
    frame.to_parquet(stream)
    return stream.getvalue()


FORMATS = {
    "csv": TABLE.encode(),
    "tsv": TABLE.replace(",", "\t").encode(),
    "parquet": parquet(),
    "json": json.dumps(RECORDS).encode(),
    "jsonl": "\n".join(map(json.dumps, RECORDS)).encode(),
}
IN_ANY_FORMAT = pytest.mark.parametrize("data", FORMATS.values(), ids=FORMATS)
RUN = b"q Q0 a 1 0.9 t\nq Q0 b 2 N/A t\nq Q0 c 3 nan t\nq Q0 d 4 0.1 t\nr Q0 a 1 ? t\nr Q0 b 2 7 t\n"
QRELS = b"q 0 b 1\nr 0 a 1\n"


def values(runs, measure="RR"):
    """Worst, mean and best of each list."""
    ev = evaluate(runs, measure, ["pessimistic", "expected", "optimistic"])
    return ev.scores.to_numpy().tolist()


@IN_ANY_FORMAT
def test_missing_scores_are_refused_unless_chosen_otherwise(data):
    with pytest.raises(ReadError, match=r"is not a number.*--missing-score last or drop"):
        read(File("t", data))


@IN_ANY_FORMAT
def test_documents_put_last_tie_with_each_other_behind_all_scored_ones(data):
    runs = Runs.from_sources([read(File("t", data), missing_score="last")])
    assert values(runs) == [[1 / 4, (1 / 3 + 1 / 4) / 2, 1 / 3], [1 / 2, 1 / 2, 1 / 2]]


@IN_ANY_FORMAT
def test_documents_dropped_are_not_in_the_list_and_those_relevant_are_counted(data):
    runs = Runs.from_sources([read(File("t", data), missing_score="drop")])
    assert runs.tables["t"]["doc_id"].to_pylist() == ["a", "d", "b"]
    (finding,) = [one for one in runs.noted if one.code == "scores-missing"]
    assert (finding.severity, finding.count) == ("warning", 3)
    assert "dropped: 3 of 6, such as document 'b' of query 'q'" in finding.message
    assert "Dropped documents with a grade above 0: 2." in finding.message


@pytest.mark.parametrize(("choice", "words"), [("last", "ranked last"), ("drop", "dropped")])
def test_a_trec_run_says_how_many_documents_have_no_score_and_the_first_line(choice, words):
    sources = [read(File("llm.trec", RUN), missing_score=choice), read(File("qrels.txt", QRELS))]
    runs = Runs.from_sources(sources)
    (finding,) = [one for one in runs.noted if one.code == "scores-missing"]
    assert (finding.file, finding.line, finding.count) == ("llm.trec", 2, 3)
    assert words in finding.message
    assert len(runs.tables["llm"]) == {"last": 6, "drop": 3}[choice]


def test_scores_by_query_and_document_may_lack_some():
    data = json.dumps({"q": {"a": 0.5, "b": None, "c": "N/A"}}).encode()
    run = read(File("run.json", data), missing_score="last")
    runs = Runs.from_sources([run, read(File("qrels.txt", b"q 0 b 1\n"))])
    assert values(runs) == [[1 / 3, (1 / 2 + 1 / 3) / 2, 1 / 2]]


def test_a_missing_rank_of_an_ms_marco_run_goes_last_too():
    lines = "".join(f"q\td{place}\t{place}\n" for place in range(1, 30)) + "q\tlate\t?\n"
    run = read(File("run.tsv", lines.encode()), missing_score="last")
    runs = Runs.from_sources([run, read(File("qrels.txt", b"q 0 late 1\n"))])
    assert values(runs) == [[1 / 30] * 3]


def test_a_reranker_that_lost_every_answer_stays_on_the_board():
    table = b"reranker,query_id,doc_id,score,relevance\nA,q,a,1,1\nB,q,a,,1\nB,q,b,N/A,0\n"
    runs = Runs.from_sources([read(File("t.csv", table), missing_score="drop")])
    assert runs.rerankers == ["A", "B"]
    assert [len(table) for table in runs.tables.values()] == [1, 0]
    (finding,) = [one for one in runs.noted if one.code == "scores-missing"]
    assert finding.message.startswith("B: Documents without a score, dropped: 2 of 2")


def test_of_a_document_listed_twice_the_row_with_a_score_is_the_highest():
    table = (HEADER + "q,a,,1\nq,a,-5,1\nq,b,0,0\n").encode()
    runs = Runs.from_sources([read(File("t.csv", table), missing_score="last")], "max")
    assert runs.tables["t"]["score"].to_pylist() == [-5, 0]


def test_nothing_can_go_behind_minus_infinity():
    table = (HEADER + "q,a,-inf,1\nr,a,,1\nr,b,-inf,0\n").encode()
    with pytest.raises(ReadError, match=r"t\.csv, line 4: a document has the score -inf") as caught:
        Runs.from_sources([read(File("t.csv", table), missing_score="last")])
    assert "--missing-score drop" in caught.value.hint
    assert len(Runs.from_sources([read(File("t.csv", table), missing_score="drop")]).tables["t"]) == 2


def test_judgments_beside_missing_scores_are_all_read(write):
    table = write("t.csv", TABLE)
    runs = read_runs({"BM25": write("run.trec", "q Q0 a 1 2 t\nq Q0 b 2 1 t\n")}, table, missing_score="drop")
    assert runs.qrels["relevance"].to_pylist() == [0, 1, 0, 0, 1, 0]
    assert "scores-missing" not in {one.code for one in runs.noted}


def test_a_data_frame_may_lack_scores():
    frame = pd.read_csv(io.StringIO(TABLE), keep_default_na=False)
    assert len(Runs.from_frame(frame, missing_score="drop").tables["table"]) == 3


def test_another_word_is_refused():
    with pytest.raises(UsageError, match="missing_score must be 'error', 'last' or 'drop', not 'first'"):
        read(File("t", TABLE.encode()), missing_score="first")


@given(
    st.lists(st.sampled_from([None, -1.0, 0.0, 0.5]), min_size=2, max_size=8), st.sampled_from(["RR", "nDCG@3"])
)
def test_last_is_what_a_score_below_all_others_gives(scores, measure):
    frame = pd.DataFrame({"query_id": "q", "doc_id": map(str, range(len(scores))), "score": scores})
    frame["score"] = frame["score"].astype(float)
    frame["relevance"] = np.arange(len(scores)) % 3 == 0
    lowest = Runs.from_frame(frame.fillna({"score": -2.0}))
    assert values(Runs.from_frame(frame, missing_score="last"), measure) == values(lowest, measure)


COSTS = "query_id,doc_id,score,cost,relevance\nq,a,1,{first},0\nq,b,1,2,1\nq,c,1,{third},0\n"
COST_RECORDS = [
    {"query_id": "q", "doc_id": name, "score": 1, "cost": cost, "relevance": int(name == "b")}
    for name, cost in (("a", None), ("b", 2), ("c", 3))
]
FRAME = pd.DataFrame({"query_id": "q", "doc_id": [*"abc"], "score": 1.0, "relevance": [0, 1, 0]})


def frame_as_parquet():
    stream = io.BytesIO()
    FRAME.assign(cost=[None, 2, 3]).to_parquet(stream)
    return stream.getvalue()


@pytest.mark.parametrize(
    "data",
    [COSTS.format(first="", third="3").encode(), json.dumps(COST_RECORDS).encode(), frame_as_parquet()],
    ids=["csv", "json", "parquet"],
)
def test_a_missing_further_score_ranks_last_in_either_direction(data):
    runs = Runs.from_sources([read(File("t", data))])
    for options, value in (
        ({"tiebreak_by": ["cost"]}, 1 / 2),
        ({"criteria": ["cost"]}, 1 / 2),
        ({"criteria": ["cost:asc"]}, 1),
    ):
        assert evaluate(runs, "RR", "expected", **options).means("RR")["expected"].to_list() == [value]
    (finding,) = [finding for finding in runs.noted if finding.code == "scores-missing"]
    assert "'cost' has no value in 1 of 3 rows" in finding.message


def test_a_further_column_with_a_word_is_not_read_and_a_finding_says_which():
    runs = Runs.from_sources([read(File("t.csv", COSTS.format(first="1", third="dear").encode()))])
    (finding,) = [finding for finding in runs.noted if "'cost' is not read" in finding.message]
    assert (finding.code, finding.line) == ("columns-unused", 4)
    assert "'dear' is not a number" in finding.message
    with pytest.raises(UsageError, match="shows why a column is not read"):
        evaluate(runs, "RR", "expected", criteria=["cost"])
