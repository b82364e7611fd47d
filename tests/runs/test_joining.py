"""Several files become one set of runs."""

from itertools import product

import pandas as pd
import pyarrow as pa
import pytest
from reading import QRELS, RUN, TABLE

from metrics import ReadError, Runs, UsageError, evaluate, read_runs, read_table
from metrics.errors import RepeatError
from metrics.runs import File, read
from metrics.runs.joining import concat_judgments
from metrics.runs.stacks import RunStack

SEVERAL = "reranker,query_id,doc_id,score\nLLM,q1,d1,1\nBM25,q1,d1,2\nLLM,q1,d2,3\n"


def test_runs_are_named_by_the_user_or_their_file_and_keep_their_order(write):
    qrels, paths = write("qrels.txt", QRELS), [write("b.trec.txt", RUN), write("a.run", RUN)]
    assert read_runs(paths, qrels).rerankers == ["b", "a"]
    assert read_runs({"LLM": paths[0], "BM25": str(paths[1])}, qrels).rerankers == ["LLM", "BM25"]
    single = write("llm.csv", TABLE)
    assert read_runs(single).rerankers == read_runs(str(single)).rerankers == ["llm"]
    assert read_runs(paths, qrels).tables["a"]["score"].to_pylist() == [0.9, 0.9, -1.5, 2.0]


@pytest.mark.parametrize("repeated", ["first", "max"])
def test_a_target_that_either_file_of_judgments_knows_is_kept(repeated):
    known = pd.DataFrame(
        [("q", "a", 1.0, "t"), ("q", "b", 1.0, None)], columns=["query_id", "doc_id", "relevance", "target_id"]
    )
    form = pd.DataFrame([("q", "a", 2.0), ("q", "b", 1.0)], columns=["query_id", "doc_id", "relevance"])
    for tables in ((known, form), (form, known)):
        files = [RunStack.single("", pa.Table.from_pandas(table), None) for table in tables]
        judged = concat_judgments(files, repeated, []).table.to_pylist()
        assert {row["doc_id"]: row["target_id"] for row in judged} == {"a": "t", "b": None}


def test_rerankers_are_named_by_their_column(write):
    runs = read_runs([write("both.csv", SEVERAL)], write("qrels.txt", QRELS))
    assert runs.rerankers == ["LLM", "BM25"]
    assert runs.tables["LLM"]["doc_id"].to_pylist() == ["d1", "d2"]


def test_a_given_name_wins_over_the_column_of_a_single_reranker(write):
    path = write("one.csv", "reranker,query_id,doc_id,score,relevance\nold,q,d,1,1\n")
    assert read_runs({"new": path}).rerankers == ["new"]


def test_a_table_read_alone_holds_its_rerankers_and_judgments(write):
    text = SEVERAL.replace("score\n", "score,relevance\n").replace(",1\n", ",1,1\n").replace(",3\n", ",3,0\n")
    runs = read_table(write("judged.csv", text.replace(",2\n", ",2,1\n")))
    assert runs.rerankers == ["LLM", "BM25"]
    assert runs.qrels is None
    assert runs.tables["LLM"]["relevance"].to_pylist() == [1, 0]


OWN = "reranker,query_id,doc_id,score\n{},q1,d1,1\n"


@pytest.mark.parametrize(
    ("files", "names"),
    [
        ({"old.csv": OWN.format("LLM"), "new.csv": OWN.format("LLM")}, ["old", "new"]),
        ({"run.trec": RUN, "other/run.csv": OWN.format("run")}, ["run.trec", "run.csv"]),
        ({"a/x.run": RUN, "b/x.run": RUN}, ["a/x", "b/x"]),
        ({"1/a/x.run": RUN, "2/a/x.run": RUN, "y.run": RUN}, ["1/a/x", "2/a/x", "y"]),
        ({"one.csv": SEVERAL, "two.csv": OWN.format("LLM")}, ["LLM (one)", "BM25", "LLM (two)"]),
        (
            {"old.csv": OWN.format("LLM"), "new.csv": OWN.format("LLM"), "old.run": RUN},
            ["old.csv", "new.csv", "old"],
        ),
    ],
)
def test_runs_of_one_name_are_told_apart_by_their_files_in_one_line(write, tmp_path, files, names):
    for name in files:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
    runs = read_runs([write(name, text) for name, text in files.items()], write("qrels.txt", QRELS))
    assert runs.rerankers == names
    (finding,) = [finding for finding in runs.noted if finding.code == "runs-renamed"]
    assert "named by file: " in finding.message
    assert finding.severity == "info"


def test_a_name_that_the_user_gave_stays_and_the_same_file_twice_is_two_runs(write):
    path = write("x.run", RUN)
    pairs = [("y", path), (None, write("y.run", RUN))]
    assert read_runs(pairs, write("qrels.txt", QRELS)).rerankers == ["y", "y.run"]
    assert read_runs([path, path], write("qrels.txt", QRELS)).rerankers == ["x (1)", "x (2)"]


def test_two_runs_that_are_given_one_name_are_refused(write):
    pairs = [("A", write("x.run", RUN)), ("A", write("y.run", RUN))]
    with pytest.raises(UsageError, match="two runs named 'A'"):
        read_runs(pairs, write("qrels.txt", QRELS))
    frames = [pd.DataFrame({"query_id": ["q1"], "doc_id": ["d1"], "score": [1.0]})] * 2
    with pytest.raises(UsageError, match="two runs named 'table'"):
        read_runs(frames, write("qrels.txt", QRELS))


def test_relevance_nowhere_is_refused_with_what_to_give(write):
    with pytest.raises(UsageError, match=r"'llm'.*--qrels"):
        read_runs([write("llm.trec", RUN)])


def test_one_run_without_relevance_among_others_is_refused(write):
    with pytest.raises(UsageError, match="'plain'"):
        read_runs([write("judged.csv", TABLE), write("plain.trec", RUN)])


def test_judgments_given_apart_win_over_those_inside(write):
    runs = read_runs([write("judged.csv", TABLE)], write("qrels.txt", "q1 0 d2 1\n"))
    scores = evaluate(runs, ["RR"], ["optimistic"]).scores
    assert scores.index.to_list() == [("judged", "q1")]
    assert scores.iloc[0, 0] == pytest.approx(1 / 2)


def test_judgments_may_be_a_table_with_scores_beside_them(write):
    apart = evaluate(read_runs([write("r.trec", RUN)], write("judged.csv", TABLE))).scores
    inside = evaluate(read_runs({"r": write("judged.csv", TABLE)})).scores
    assert apart.equals(inside)


def test_judgments_of_beir_call_their_grades_scores(write):
    qrels = write("test.tsv", "query-id\tcorpus-id\tscore\nq1\td1\t1\nq1\td3\t2\nq2\td1\t0\n")
    plain = evaluate(read_runs([write("r.trec", RUN)], write("qrels.txt", QRELS)))
    assert evaluate(read_runs([write("r.trec", RUN)], qrels)).scores.equals(plain.scores)


HEADERS = {
    "MTEB": ("query-id", "corpus-id", "gain"),
    "UMBRELA": ("qid", "docid", "rating"),
    "TREC": ("TOPIC", "DOCUMENT#", "RELEVANCY"),
    "TREC-COVID": ("topic-id", "cord-id", "judgement"),
    "WANDS": ("query_id", "product_id", "label"),
    "DBpedia": ("query", "entity_id", "relevance_level"),
    "BEIR": ("query-id", "corpus-id", "score"),
}


FILE_FORMS = ("csv", "tsv", "jsonl", "json", "parquet")


@pytest.mark.parametrize("form", [*FILE_FORMS, "frame"])
@pytest.mark.parametrize("source", HEADERS)
def test_judgments_are_read_by_the_headers_people_have(write, tmp_path, source, form):
    query, document, grade = HEADERS[source]
    frame = pd.DataFrame({query: ["q1", "q1"], "iteration": [0, 0], document: ["d1", "d3"], grade: [0.5, 2.0]})
    frame = frame.drop(columns="iteration") if source == "BEIR" else frame
    judged = read_runs([write("r.trec", RUN)], written(frame, form, tmp_path)).qrels
    assert judged["relevance"].to_pylist() == [0.5, 2.0]


@pytest.mark.parametrize(
    ("grade", "form"),
    [*product(["relevance", "gain", "score"], FILE_FORMS), ("relevance", "frame"), ("gain", "frame")],
)
def test_judgments_alone_among_runs_are_read_as_judgments(write, tmp_path, form, grade):
    frame = pd.DataFrame({"query-id": ["q1"], "corpus-id": ["d1"], grade: [1.0]})
    run, judgments = write("r.trec", RUN), written(frame, form, tmp_path)
    for files in ([run, judgments], [judgments, run]):
        runs = read_runs(files)
        assert (runs.rerankers, runs.qrels["relevance"].to_pylist()) == (["r"], [1.0])


def test_a_run_with_a_beir_header_is_a_run_if_judgments_are_given(tmp_path):
    frame = pd.DataFrame({"query-id": ["q1"], "corpus-id": ["d1"], "score": [0.5]})
    paths = [written(frame, form, tmp_path) for form in ("parquet", "tsv")]
    runs = read_runs(dict(zip("ab", paths, strict=True)), {"q1": {"d1": 1}})
    assert runs.rerankers == ["a", "b"]
    assert read_runs(paths[0], {"q1": {"d1": 1}}).rerankers == ["r"]


def test_a_table_without_scores_that_is_named_as_a_run_is_refused(write):
    with pytest.raises(ReadError, match=r"qrels\.txt, line 1: no score column"):
        read_runs({"a": write("a.trec", RUN), "b": write("qrels.txt", QRELS)})


def test_judgments_without_grades_are_told_that_relevance_is_missing(write):
    with pytest.raises(ReadError, match="no relevance column among qid, docno, usefulness"):
        read_runs([write("r.trec", RUN)], write("q.csv", "qid,docno,usefulness\nq1,d1,1\n"))


def written(frame, form, folder):
    """Return the path of the frame written in a format, or the frame itself."""
    path = folder / f"r.{form}"
    writers = {
        "csv": lambda: frame.to_csv(path, index=False),
        "tsv": lambda: frame.to_csv(path, index=False, sep="\t"),
        "json": lambda: frame.to_json(path, orient="records"),
        "jsonl": lambda: frame.to_json(path, orient="records", lines=True),
        "parquet": lambda: frame.to_parquet(path, index=False),
    }
    if form == "frame":
        return frame
    writers[form]()
    return path


def test_judgments_in_place_of_a_run_are_refused(write):
    with pytest.raises(ReadError, match=r"qrels\.txt, line 1: no score column"):
        read_runs([write("qrels.txt", QRELS)], write("more.txt", QRELS))


def test_a_run_in_place_of_judgments_is_refused(write):
    with pytest.raises(ReadError, match=r"b\.trec, line 1: this is a run"):
        read_runs([write("a.trec", RUN)], write("b.trec", RUN))


def test_no_run_at_all_is_refused(write):
    with pytest.raises(UsageError, match="No run is given"):
        read_runs([])
    reason = "has query_id, iteration, doc_id, relevance and no score column, so it is read as judgments."
    with pytest.raises(UsageError, match=rf"^qrels\.txt {reason} Give a run: a file with a score for each"):
        read_runs([], write("qrels.txt", QRELS))


def test_a_missing_file_of_judgments_is_refused_by_its_path(write, tmp_path):
    with pytest.raises(ReadError, match=r"nowhere\.txt"):
        read_runs([write("a.trec", RUN)], tmp_path / "nowhere.txt")


def test_judgments_spread_over_files_are_taken_together():
    files = [RUN, b"q1 0 d1 1\n", b"q2 0 d1 1\n"]
    runs = Runs.from_sources([read(File("run", data)) for data in files])
    assert evaluate(runs, ["RR"]).policies["n_queries"].to_list() == [2]


def joined(*judgments, repeated="error"):
    names = ["a.trec", *(f"{number}.txt" for number in range(1, len(judgments) + 1))]
    sources = [read(File(name, data)) for name, data in zip(names, [RUN, *judgments], strict=True)]
    return Runs.from_sources(sources, repeated)


def test_what_two_files_judge_alike_is_judged_once():
    runs = joined(b"q1 0 d1 1\nq1 0 d3 0\n", b"q1 0 d2 1\nq1 0 d1 1\n")
    assert runs.qrels.to_pandas()["doc_id"].to_list() == ["d1", "d3", "d2"]
    (finding,) = runs.noted
    assert (finding.code, finding.file, finding.count) == ("judged-twice", "1.txt, 2.txt", 1)


def test_several_files_of_judgments_are_given_as_one(write):
    files = [
        write("1.txt", b"q1 0 d1 1\n"),
        pd.DataFrame({"query_id": ["q2"], "doc_id": ["d1"], "relevance": [1]}),
    ]
    assert len(read_runs([write("a.trec", RUN)], files).qrels) == 2


def test_grades_that_contradict_each_other_are_refused_or_one_is_chosen_and_said():
    files = b"q1 0 d1 1\nq1 0 d2 0\n", b"q1 0 d3 0\nq1 0 d2 2\n"
    with pytest.raises(RepeatError, match=r"2\.txt, line 2: document 'd2' has grade 2 .* 0 in 1\.txt, line 2"):
        joined(*files)
    for repeated, grade in (("first", 0), ("max", 2)):
        runs = joined(*files, repeated=repeated)
        grades = runs.qrels.to_pandas().set_index("doc_id")["relevance"]
        assert grades.to_dict() == {"d1": 1, "d2": grade, "d3": 0}
        (finding,) = [found for found in runs.noted if found.code == "grades-contradict"]
        assert (finding.severity, finding.count, finding.line) == ("warning", 1, 2)
        assert "2 here and 0 in 1.txt, line 2" in finding.message


def test_rows_that_wait_for_their_grade_are_unjudged_and_counted():
    for form in (b"q1 0 d1 1\nq1 0 d2 ?\nq1 0 d3 ?\n", b"query_id,doc_id,relevance\nq1,d1,1\nq1,d2,\nq1,d3,\n"):
        runs = joined(form)
        (finding,) = [finding for finding in runs.noted if finding.code == "grades-missing"]
        assert (finding.count, runs.qrels["doc_id"].to_pylist()) == (2, ["d1"])
