import json

import numpy as np
import pandas as pd
import pytest
from reading import columns, refusal

from metrics import ReadError, evaluate, read_runs
from metrics.runs import File, check, open_run, read

DOCUMENTS = ["d1", "d2", "d3", "d4"]


def record(query, answer, documents=DOCUMENTS, array="candidates", field="response", **extra):
    candidates = [{"docid": document, "score": 9.5 - n, **extra} for n, document in enumerate(documents)]
    return {"query": {"text": f"what is {query}", "qid": query}, array: candidates, field: answer}


def lines(*records):
    return "\n".join(map(json.dumps, records)).encode()


def noted(data):
    return {finding.code: finding for finding in read(File("run.jsonl", data)).noted}


@pytest.mark.parametrize("array", ["candidates", "hits", "documents", "passages"])
@pytest.mark.parametrize("field", ["response", "permutation", "answer", "ranking"])
@pytest.mark.parametrize("write", [lines, lambda *records: json.dumps(records, indent=2).encode()])
def test_documents_are_ranked_as_the_answer_names_them_and_the_rest_is_tied_below(array, field, write):
    file = write(
        record("q1", "[3] > [1]", array=array, field=field), record("q2", "[1]", array=array, field=field)
    )
    source = read(File("run.json", file))
    assert source.format == "listwise"
    rows = source.table.to_pydict()
    assert rows["query_id"] == ["q1"] * 4 + ["q2"] * 4
    assert rows["doc_id"] == DOCUMENTS * 2
    assert rows["score"] == [3, 0, 4, 0, 4, 0, 0, 0]
    assert rows[f"{array}.score"] == [9.5, 8.5, 7.5, 6.5] * 2


def test_the_traditional_value_is_what_rankgpt_reports_and_the_tied_one_is_not(tmp_path):
    """RankGPT appends what an answer leaves out in the order it was shown in."""
    (tmp_path / "llm.jsonl").write_bytes(lines(record("q1", "[3] > [1]")))
    judgments = pd.DataFrame({"query_id": ["q1"], "doc_id": ["d2"], "relevance": [1]})
    runs = read_runs(tmp_path / "llm.jsonl", judgments)
    scores = evaluate(runs, ["RR"], ["input", "expected"]).scores
    assert scores.to_numpy().ravel().tolist() == pytest.approx([1 / 3, (1 / 3 + 1 / 4) / 2])


def test_a_single_record_and_one_whose_documents_are_ids_are_read():
    assert columns(lines(record("q1", "[2] > [1]", ["a", "b"])))["score"] == [1, 2]
    plain = columns(lines({"qid": 7, "hits": ["a", 2], "permutation": [2, 1]}))
    assert plain == {"query_id": ["7", "7"], "doc_id": ["a", "2"], "score": [1, 2]}


def test_grades_beside_the_documents_are_read():
    assert columns(lines(record("q1", "[2] > [1]", relevance=1)))["relevance"] == [1] * 4


def test_a_first_record_longer_than_the_first_64_kb_is_recognised():
    long = record("q1", "[2] > [1]", ["a", "b"], doc="x" * 200_000)
    assert columns(lines(long, record("q2", "[1] > [2]", ["a", "b"])))["score"] == [1, 2, 2, 1]


def test_findings_count_what_answers_drop_repeat_and_invent_with_line_and_query():
    file = lines(
        record("q1", "[1] > [2] > [3] > [4]"),
        record("q2", "[2] > [1] > [2]"),
        record("q3", "[9] > [3] > [3] > [3] > [0]"),
        record("q4", "I am sorry."),
    )
    findings = noted(file)
    assert {code: (one.line, one.count) for code, one in findings.items() if code.startswith("answers")} == {
        "answers-dropped": (2, 5),
        "answers-repeated": (2, 3),
        "answers-invented": (3, 2),
        "answers-unread": (4, 1),
    }
    assert "5 of 12 documents, in 2 of 4 answers" in findings["answers-dropped"].message
    assert all(" first." in one.message for code, one in findings.items() if code.startswith("answers"))
    assert "'q4'" in findings["answers-unread"].message


def test_whole_permutations_give_no_finding_of_answers():
    found = noted(lines(record("q1", "[4] > [2] > [3] > [1]")))
    assert not [code for code in found if code.startswith(("answers-", "preferences-"))]


def test_check_tells_what_answers_leave_out(tmp_path):
    (tmp_path / "run.jsonl").write_bytes(lines(record("q1", "[2]")))
    assert "answers-dropped" in set(check(tmp_path / "run.jsonl")["code"])


def test_the_score_of_the_retrieval_can_be_chosen_instead():
    file = lines(record("q1", "[3] > [1]"))
    assert columns(file, mapping={"score": "candidates.score"})["score"] == [9.5, 8.5, 7.5, 6.5]


def test_an_answer_without_the_documents_it_numbers_is_refused_with_what_to_write():
    history = [{"query": {"qid": "q1"}, "invocations_history": [{"response": "[2] > [1]"}]}]
    error = refusal(json.dumps(history).encode())
    assert "has an answer but no documents" in str(error)
    assert '"response": "[2] > [1]"' in error.hint


def test_records_of_rankllm_and_questions_with_an_answer_stay_what_they_were():
    without = {name: value for name, value in record("q1", "").items() if name != "response"}
    assert read(File("run", lines(without, without | {"query": {"qid": "q2"}}))).format == "jsonl"
    assert read(File("run", lines(without))).format == "jsonl"
    question = record("q1", "Paris", field="answer")
    assert columns(lines(question, question | {"query": {"qid": "q2"}}))["score"][:4] == [9.5, 8.5, 7.5, 6.5]


def test_a_file_of_permutations_cannot_be_read_with_dask():
    with pytest.raises(ReadError, match="listwise cannot be read with Dask"):
        open_run(File("run.jsonl", lines(record("q1", "[2] > [1]"))), {})


def test_ten_thousand_documents_and_a_long_answer_take_no_square_of_work():
    order = np.random.default_rng(1).permutation(10_000) + 1
    answer = " > ".join(f"[{number}]" for number in order) + " >" * 10_000 + " " * 10_000 + "[" * 10_000
    scores = columns(lines(record("q1", answer, [f"d{n}" for n in range(10_000)])))["score"]
    assert np.array_equal(np.argsort(-np.array(scores)), order - 1)
