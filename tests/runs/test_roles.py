"""Which columns of files are scores and which are relevance."""

import json

import pandas as pd
import pytest

from metrics import UsageError, check, evaluate, read_runs, read_table
from metrics.errors import ReadError
from metrics.runs import Runs
from metrics.runs.roles import RolesError

# Two queries; the model ties d1 and d2 of the first, of which d2 is relevant: RR 3/4 and 1
ROWS = [("q1", "d1", 7, 0), ("q1", "d2", 7, 1), ("q2", "d3", 9, 1), ("q2", "d4", 2, 0)]
OTHER = [("q1", "d1", 3, 0), ("q1", "d2", 8, 1), ("q2", "d3", 1, 1), ("q2", "d4", 5, 0)]


def write(path, header, rows, mark=","):
    path.write_text("\n".join(mark.join(map(str, row)) for row in [header, *rows]) + "\n")
    return path


def rr(runs):
    return evaluate(runs, "RR", "expected").means("RR")["expected"].to_list()


def told(runs):
    return [finding.message for finding in runs.noted if finding.code == "columns-told"]


@pytest.mark.parametrize(
    "score", ["grade", "Rating", "llm_score", "judge_score", "prediction", "logits", "prob"]
)
@pytest.mark.parametrize("truth", ["relevance", "Relevant", "label", "qrel", "judgment", "gold"])
def test_a_column_of_grades_beside_relevance_is_the_score(tmp_path, score, truth):
    header = ("query", "passage", score, truth)
    files = [write(tmp_path / "old.csv", header, ROWS), write(tmp_path / "new.csv", header, OTHER)]
    assert rr(read_runs(files)) == [0.875, 0.75]
    assert rr(read_table(files[0])) == rr(Runs.from_frame(pd.read_csv(files[0]))) == [0.875]
    assert (check(files)["severity"] != "error").all()


def test_the_columns_that_are_told_apart_are_said_with_a_row(tmp_path):
    table = write(tmp_path / "old.csv", ("query", "passage", "grade", "relevant"), ROWS)
    message = (
        "grade is read as the score and relevant as the relevance: document 'd1' of query 'q1' has score 7"
    )
    assert told(read_table(table)) == [f"{message}, relevance 0."]


@pytest.mark.parametrize("mark", [",", ";", "\t"])
def test_grades_are_scores_where_labels_are_another_file(tmp_path, mark):
    header = ("query", "passage", "grade")
    files = [
        write(tmp_path / "old.txt", header, [row[:3] for row in ROWS], mark),
        write(tmp_path / "new.txt", header, [row[:3] for row in OTHER], mark),
    ]
    labels = write(
        tmp_path / "labels.txt", ("query", "passage", "relevant"), [(*r[:2], r[3]) for r in ROWS], mark
    )
    for runs in (read_runs(files, labels), read_runs([*files, labels]), read_runs([labels, *files])):
        assert (runs.rerankers, rr(runs)) == (["old", "new"], [0.875, 0.75])
    assert rr(read_runs([pd.read_csv(file, sep=mark) for file in files[:1]], labels)) == [0.875]
    codes = set(check([*files, labels])["code"])
    assert not codes & {"unreadable", "no-relevance", "grades-contradict"}


def test_json_lines_of_grades_in_words_are_scores_beside_labels(tmp_path):
    records = [{"qid": query, "docid": name, "rating": f"Score: {grade}/10"} for query, name, grade, _ in ROWS]
    (tmp_path / "llm.jsonl").write_text("\n".join(map(json.dumps, records)))
    labels = write(tmp_path / "labels.tsv", ("qid", "docid", "gold"), [(*r[:2], r[3] * 3) for r in ROWS], "\t")
    assert rr(read_runs([tmp_path / "llm.jsonl", labels])) == [0.875]
    records[0]["rating"] = "Error code: 429"
    (tmp_path / "llm.jsonl").write_text("\n".join(map(json.dumps, records)))
    with pytest.raises(ReadError, match=r"line 1: score 'Error code: 429' is not a number"):
        read_runs([tmp_path / "llm.jsonl", labels])
    assert rr(read_runs([tmp_path / "llm.jsonl", labels], missing_score="last")) == [1.0]


def test_grades_without_any_relevance_are_runs_that_lack_it(tmp_path):
    header = ("query", "passage", "grade")
    files = [write(tmp_path / f"{name}.csv", header, [row[:3] for row in ROWS]) for name in "ab"]
    with pytest.raises(UsageError, match="Nothing says which documents of 'a' are relevant"):
        read_runs(files)
    with pytest.raises(UsageError, match="Nothing says which documents of 'a' are relevant"):
        read_runs(files[0])
    assert set(check(files).query("code == 'no-relevance'")["file"]) == {"a.csv", "b.csv"}


def test_grades_alone_beside_scores_stay_judgments(tmp_path):
    run = write(tmp_path / "run.csv", ("qid", "docid", "score"), [row[:3] for row in ROWS])
    grades = write(tmp_path / "grades.csv", ("qid", "docid", "grade"), [(*row[:2], row[3]) for row in ROWS])
    assert rr(read_runs([run, grades])) == rr(read_runs(run, grades)) == [0.875]


def test_files_that_disagree_on_their_grades_are_scores_and_those_that_agree_are_judgments(tmp_path):
    header = ("query", "passage", "relevance")
    files = [
        write(tmp_path / "a.csv", header, [row[:3] for row in ROWS]),
        write(tmp_path / "b.csv", header, [row[:3] for row in OTHER]),
        write(tmp_path / "people.csv", ("query", "passage", "label"), [(*row[:2], row[3]) for row in ROWS]),
    ]
    assert rr(read_runs(files)) == [0.875, 0.75]


def test_of_columns_without_a_name_of_ours_the_shared_one_is_the_relevance(tmp_path):
    header = ("query", "passage", "ada", "grace")
    graded = [(*row[:3], row[3] * 2 + 1) for row in ROWS]
    other = [(*row[:3], row[3] * 2 + 1) for row in OTHER]
    files = [write(tmp_path / "a.csv", header, graded), write(tmp_path / "b.csv", header, other)]
    runs = read_runs(files)
    assert runs.tables["a"]["score"].to_pylist() == [7, 7, 9, 2]
    assert runs.tables["b"]["relevance"].to_pylist() == [1, 3, 3, 1]
    assert len(told(runs)) == 2


def test_of_columns_of_one_file_the_one_of_zeros_and_ones_is_the_relevance(tmp_path):
    table = write(tmp_path / "t.csv", ("query", "passage", "ada", "grace"), ROWS)
    assert rr(read_runs(table)) == rr(read_table(table)) == [0.875]


def test_of_two_columns_of_grades_the_one_of_zeros_and_ones_is_the_relevance(tmp_path):
    table = write(tmp_path / "t.csv", ("query", "passage", "grade", "rating"), ROWS)
    assert rr(read_runs(table)) == rr(read_table(table)) == [0.875]
    assert "grade is read as the score and rating as the relevance" in told(read_runs(table))[0]
    swapped = write(tmp_path / "s.csv", ("query", "passage", "rating", "grade"), ROWS)
    assert rr(read_runs(swapped)) == [0.875]


def test_which_of_two_columns_of_grades_is_the_relevance_is_asked_or_chosen(tmp_path):
    table = write(
        tmp_path / "t.csv", ("query", "passage", "grade", "rating"), [(*r[:3], r[3] + 1) for r in ROWS]
    )
    for read in (read_runs, check):
        with pytest.raises(RolesError, match="which of rating, grade is the score"):
            read([table])
    assert rr(read_runs(table, columns={"relevance": "rating"})) == [
        1.0
    ]  # a 2 and a 1 of each query are relevant


def test_columns_that_may_be_either_are_asked_for_with_the_options_of_each_reading(tmp_path):
    rows = [(*row[:3], row[3] + 1) for row in ROWS]
    table = write(tmp_path / "t.csv", ("query", "passage", "ada l", "grace"), rows)
    with pytest.raises(RolesError) as caught:
        read_table(table)
    assert [reading.columns for reading in caught.value.readings] == [
        {"score": "ada l", "relevance": "grace"},
        {"score": "grace", "relevance": "ada l"},
    ]
    assert "--column 'score=ada l' --column relevance=grace (document d1 of query q1: score 7" in str(
        caught.value
    )
    assert rr(read_runs(table, columns={"score": "ada l", "relevance": "grace"})) == [1.0]


def test_names_that_the_values_contradict_are_asked_for(tmp_path):
    header = ("query", "passage", "grade", "relevant")
    swapped = [[(query, name, truth, score) for query, name, score, truth in rows] for rows in (ROWS, OTHER)]
    files = [write(tmp_path / f"{name}.csv", header, rows) for name, rows in zip("ab", swapped, strict=True)]
    with pytest.raises(RolesError, match="which of grade, relevant is the score"):
        read_runs(files)


def test_an_error_on_a_missing_column_lists_all_columns(tmp_path):
    table = write(tmp_path / "t.csv", ("query", "passage", "label", "why"), [("q", "d", 1, "x")])
    with pytest.raises(ReadError, match="no score column among query, passage, label, why") as caught:
        read_runs(table, write(tmp_path / "labels.csv", ("query", "passage", "label"), [("q", "d", 1)]))
    assert "--column score=label" in str(caught.value)


def test_labels_that_are_scores_may_be_chosen_beside_judgments_of_the_same_name(tmp_path):
    files = [
        write(tmp_path / f"{name}.csv", ("query", "passage", "label"), rows)
        for name, rows in (("llm", [row[:3] for row in ROWS]), ("people", [(*row[:2], row[3]) for row in ROWS]))
    ]
    assert rr(read_runs(files[0], files[1], columns={"score": "label"})) == [0.875]


@pytest.mark.parametrize("empty", ["", "NaN", "null", "?"])
def test_an_empty_relevance_is_unjudged_and_counted(tmp_path, empty):
    rows = [
        ("q1", "d1", 3, empty),
        ("q1", "d2", 2, 1),
        ("q1", "d3", 1, 0),
        ("q2", "d4", 3, 1),
        ("q2", "d5", 2, empty),
    ]
    table = write(tmp_path / "t.csv", ("query_id", "doc_id", "score", "relevance"), rows)
    for runs in (read_runs(table), read_table(table), Runs.from_frame(pd.read_csv(table, na_values=["?"]))):
        assert rr(runs) == [0.75]
        (finding,) = [finding for finding in runs.noted if finding.code == "grades-missing"]
        assert (finding.count, finding.line) in {(2, 2), (2, 1)}
        assert len(runs.qrels) == 3


def test_an_empty_relevance_of_one_file_does_not_take_that_of_another(tmp_path):
    header = ("query_id", "doc_id", "score", "relevance")
    files = [
        write(tmp_path / "a.csv", header, [("q", "d1", 2, ""), ("q", "d2", 1, 1)]),
        write(tmp_path / "b.csv", header, [("q", "d2", 2, 1), ("q", "d3", 1, 0)]),
    ]
    assert rr(read_runs(files)) == [0.5, 1]


def test_rerankers_of_one_table_may_repeat_grades_and_lack_some(tmp_path):
    rows = [("m", "q", "d1", 2, ""), ("m", "q", "d2", 1, 1), ("n", "q", "d2", 2, 1), ("n", "q", "d1", 1, 0)]
    table = write(tmp_path / "t.csv", ("model", "query", "doc_id", "score", "relevance"), rows)
    assert rr(read_table(table)) == [0.5, 1]


def test_the_docno_of_pyterrier_is_the_document(tmp_path):
    table = write(tmp_path / "t.csv", ("qid", "docid", "docno", "score", "label"), [(1, 8, 9, 2.5, 1)])
    for runs in (read_table(table), Runs.from_frame(pd.read_csv(table))):
        assert runs.tables[runs.rerankers[0]]["doc_id"].to_pylist() == ["9"]
        assert told(runs) == [
            "docno identifies the documents. docid, the number of a document in the index, is not read."
        ]


def test_of_two_columns_named_as_relevance_the_one_that_files_share_is_it(tmp_path):
    header = ("query", "passage", "relevance", "label")
    files = [write(tmp_path / f"{name}.csv", header, rows) for name, rows in (("a", ROWS), ("b", OTHER))]
    runs = read_runs(files)
    assert rr(runs) == [0.875, 0.75]
    assert all("relevance is read as the score and label as the relevance" in message for message in told(runs))


def test_grades_beside_an_empty_relevance_are_scores(tmp_path):
    header = ("query", "passage", "grade", "relevant")
    files = [
        write(tmp_path / f"{name}.csv", header, [rows[0], (*rows[1][:3], ""), *rows[2:]])
        for name, rows in (("a", ROWS), ("b", OTHER))
    ]
    assert read_runs(files).qrels["doc_id"].to_pylist() == ["d1", "d3", "d4"]


def test_the_only_column_of_numbers_is_the_score_beside_judgments(tmp_path):
    table = write(tmp_path / "t.csv", ("query", "passage", "ada", "why"), [(*row[:3], "x") for row in ROWS])
    labels = write(tmp_path / "labels.csv", ("query", "passage", "label"), [(*r[:2], r[3]) for r in ROWS])
    for runs in (read_runs(table, labels), read_runs([table, labels])):
        assert rr(runs) == [0.875]
        assert told(runs) == ["ada is read as the score: document 'd1' of query 'q1' has score 7."]
