"""JSON records that hold objects and arrays: columns by dotted names, a row for each document of an array."""

import json

import pandas as pd
import pytest

from metrics import ReadError, Runs, check, evaluate, read_runs
from metrics.runs import File, read

HITS = [
    {"query_id": "q1", "hits": [{"doc_id": "a", "score": 2}, {"doc_id": "b", "score": 1}]},
    {"query_id": "q2", "hits": [{"doc_id": "a", "score": 5}]},
]
SCORES = [
    {"query_id": "q", "doc_id": "a", "scores": {"llm": 1, "bm25": 7}, "relevance": 0},
    {"query_id": "q", "doc_id": "b", "scores": {"llm": 2, "bm25": 3}, "relevance": 1},
]


def lines(records):
    return "\n".join(map(json.dumps, records)).encode()


def array(records):
    return json.dumps(records).encode()


TWO_ARRAYS = [{"query_id": "q", "old": [{"doc_id": "a", "score": 1}], "new": [{"doc_id": "b", "score": 2}]}]
SHAPES = pytest.mark.parametrize("shape", [lines, array])


@SHAPES
def test_an_array_of_documents_within_a_query_is_a_row_a_document(shape):
    source = read(File("run.json", shape(HITS)))
    rows = {"query_id": ["q1", "q1", "q2"], "doc_id": ["a", "b", "a"], "score": [2, 1, 5]}
    assert source.table.to_pydict() == rows
    assert source.mapping == {"query_id": "query_id", "doc_id": "hits.doc_id", "score": "hits.score"}


@SHAPES
def test_a_score_is_chosen_by_its_dotted_name(shape):
    path = File("run.json", shape(SCORES))
    table = read(path, {"score": "scores.llm"}).table
    assert (table["score"].to_pylist(), table["scores.bm25"].to_pylist()) == ([1, 2], [7, 3])


def test_scores_inside_an_array_are_chosen_by_the_names_of_both():
    records = [{"qid": 7, "results": [{"id": "x", "scores": {"llm": 3}}, {"id": "y", "scores": {"llm": 4}}]}]
    source = read(File("f", lines(records)), {"doc_id": "results.id", "score": "results.scores.llm"})
    assert source.table.to_pydict() == {"query_id": ["7", "7"], "doc_id": ["x", "y"], "score": [3, 4]}


def test_arrays_inside_arrays_are_opened_one_after_the_other():
    both = [
        {"model": "A", "hits": [{"doc_id": "a", "score": 1}]},
        {"model": "B", "hits": [{"doc_id": "a", "score": 2}, {"doc_id": "b", "score": 2}]},
    ]
    table = read(File("f", array([{"query": {"id": "q"}, "systems": both}]))).table
    assert table["reranker"].to_pylist() == ["A", "B", "B"]
    assert table["query_id"].to_pylist() == ["q"] * 3


def test_an_array_that_nothing_is_read_from_is_left_alone():
    records = [{"query_id": "q", "doc_id": "a", "score": 1, "citations": [{"id": 1}, {"id": 2}]}]
    source = read(File("f", lines(records)))
    assert len(source.table) == 1
    assert source.unused == ("citations",)


def test_one_of_two_arrays_of_documents_can_be_chosen():
    assert read(File("f", lines(TWO_ARRAYS)), {"doc_id": "new.doc_id"}).table["doc_id"].to_pylist() == ["b"]


def test_records_without_a_document_are_counted():
    source = read(File("f", lines([*HITS, {"query_id": "q3", "hits": []}, {"query_id": "q4"}])))
    (finding,) = [one for one in source.noted if one.code == "records-empty"]
    assert (finding.message, finding.count) == ("2 of 4 records have nothing in hits.", 2)


def test_the_command_and_the_library_take_dotted_names(call, write):
    path = write("llm.jsonl", lines(SCORES))
    runs = read_runs(path, columns={"score": "scores.bm25"})
    assert evaluate(runs, "RR", "expected").scores.iloc[0, 0] == 0.5
    code, out, _ = call("evaluate", path, "--column", "score=scores.llm", "-m", "RR", "--ties", "expected")
    assert code == 0
    assert "1.0000" in out


RESULT = {"query_id": "q1", "doc_ids": ["a", "b", "c"], "scores": [2.0, 2.0, 1.0], "relevance": [0, 1, 0]}
"""A list as the notebook's `RankingResult` holds it."""


@SHAPES
@pytest.mark.parametrize("order", [iter, reversed])
def test_records_of_parallel_lists_are_a_row_a_document(shape, order):
    records = [dict(order([*(RESULT | {"query_id": name}).items()])) for name in ("q1", "q2")]
    source = read(File("t", shape(records)))
    assert source.table.num_rows == 6
    assert evaluate(Runs.from_sources([source]), "RR", "expected").means("RR")["expected"].to_list() == [0.75]


@pytest.mark.parametrize("form", [list, pd.DataFrame, lambda rows: {"A": pd.DataFrame(rows)}])
def test_parallel_lists_are_read_from_python_too(form):
    results = form([RESULT, RESULT | {"query_id": "q2"}])
    assert evaluate(results, "RR", "expected").means("RR")["expected"].to_list() == [0.75]
    with pytest.raises(ReadError, match="not lists of equal length"):
        evaluate(form([RESULT | {"scores": [1.0]}]), "RR")


RANKED, RELEVANT = {"q1": ["a", "b"], "q2": ["c", "d"]}, {"q1": ["b"], "q2": ["c", "e"]}


def test_documents_by_query_are_ranks_as_a_run_and_relevant_as_judgments(tmp_path):
    paths = [tmp_path / "results.json", tmp_path / "ground_truth.json"]
    for path, value in zip(paths, (RANKED, RELEVANT), strict=True):
        path.write_text(json.dumps(value))
    for run, qrels in ((RANKED, RELEVANT), ({"A": RANKED}, RELEVANT), paths):
        evaluation = evaluate(run, ["RR", "R@2"], ["expected", "pessimistic"], qrels=qrels)
        assert evaluation.means("RR")["expected"].to_list() == [0.75]
        assert evaluation.means("RR")["pessimistic"].to_list() == [0.75]
        assert evaluation.means("R@2")["expected"].to_list() == [0.75]


@pytest.mark.parametrize("qrels", [RELEVANT, {"q1": {"b": 1, "a": 0}, "q2": {"c": 1, "e": 1}}])
@pytest.mark.parametrize("run", [RANKED, {"q1": {"a": 2, "b": 1}, "q2": {"c": 2, "d": 1}}])
@pytest.mark.parametrize("names", [("ground_truth", "results"), ("qrels", "run")])
def test_one_file_with_results_and_ground_truth_is_a_run_with_judgments(run, qrels, names, write):
    path = write("both.json", json.dumps(dict(zip(names, (qrels, run), strict=True))))
    evaluation = evaluate(path, ["RR", "R@2"])
    assert evaluation.means("RR")["expected"].to_list() == [0.75]
    assert evaluation.means("R@2")["expected"].to_list() == [0.75]
    others = write("qrels.json", json.dumps({"q1": {"a": 1}, "q2": {"d": 1}}))
    assert "relevance-unused" in set(check([path, others])["code"])
    for judgments in (others, path):
        assert evaluate(path, "RR", qrels=judgments).means("RR")["expected"].to_list() == [0.75]


def test_findings_of_ground_truth_beside_results_are_told():
    both = {"results": {"q1": {"a": 2, "b": 1}}, "ground_truth": {"q1": {"a": 600}}}
    findings = Runs.from_sources([read(File("both.json", json.dumps(both).encode()))]).findings
    assert any("such as 600" in message for message in findings["message"])


@pytest.mark.parametrize(
    "data",
    [
        b"query_id,doc_id,rank,relevance\nq,a,1,0\nq,b,2,1\n",
        b'[{"query_id": "q", "doc_id": "a", "rank": 1, "relevance": 0},'
        b' {"query_id": "q", "doc_id": "b", "rank": 2, "relevance": 1}]',
    ],
)
def test_a_table_with_ranks_and_no_scores_has_no_ties_and_says_so_once(data):
    runs = Runs.from_sources([read(File("t", data))])
    assert evaluate(runs, "RR", "expected").means("RR")["expected"].to_list() == [0.5]
    assert [finding.code for finding in runs.noted] == ["ranks-as-scores"]
    frame = pd.DataFrame({"query_id": "q", "doc_id": ["a", "b"], "rank": [1, 2], "relevance": [0, 1]})
    assert evaluate(frame, "RR", "expected").means("RR")["expected"].to_list() == [0.5]


def segments(value):
    source = read(File("run.json", json.dumps(value).encode()))
    assert source.format == "mteb-predictions"
    if "segment" not in source.table.column_names:
        return None
    return dict(zip(source.table["query_id"].to_pylist(), source.table["segment"].to_pylist(), strict=True))


def one(query):
    return {query: {"d1": 0.5, "d2": 0.25}}


def test_segments_are_named_by_what_differs_between_them_and_one_alone_has_none():
    assert segments({"default": {"test": one("a")}}) is None
    assert segments({"en": {"test": one("a")}, "de": {"test": one("b")}}) == {"a": "en", "b": "de"}
    assert segments({"default": {"dev": one("a"), "test": one("b")}}) == {"a": "dev", "b": "test"}
    assert segments({"NFCorpus": one("a"), "SciFact": one("b")}) == {"a": "NFCorpus", "b": "SciFact"}
    tasks = {"NFCorpus": {"default": {"test": one("a")}}, "SciFact": {"default": {"test": one("b")}}}
    assert segments(tasks) == {"a": "NFCorpus", "b": "SciFact"}
    assert segments({"de": {"test": one("b")}, "en": {"test": {}}}) is None


OTHER = {"query_id": "q3", "hits": [{"doc_id": "a", "score": 1}, {"doc_id": "b", "score": "x"}]}
REFUSED = [
    (
        [{"query_id": "q", "hits": [{"doc_id": "a", "by": {"llm": 1}}]}],
        r"no score column among .*, hits\.by\.llm",
    ),
    ([{"query_id": "q", "doc_id": "a", "score": {"llm": 1}}], r"choose a field inside it: score\.llm"),
    (TWO_ARRAYS, "several arrays may hold the documents: old, new"),
    ([*HITS, OTHER], r"run\.json, record 3: score 'x' is not a number"),
    ([*HITS, OTHER | {"hits": [*OTHER["hits"], "b"]}], "record 3: hits holds values that are not objects"),
    *(({"results": RANKED, "ground_truth": value}, "ground_truth holds") for value in ([], {}, 3)),
    ({"q1": ["a"], "q2": {"b": 1}}, r"'q2' holds \{"),
    ({"en": {"test": one("a")}, "de": {"test": one("a")}}, "query 'a' is in both en and de"),
    ({"en": {"test": one("a"), "dev": 3}}, "'en' → 'dev' holds 3"),
    ({"en": {"test": {**one("a"), "b": 0.5}}}, "'en' → 'test' → 'b' holds 0.5"),
    ({"mteb_model_meta": {"model_name": "llm"}, "default": {"test": {"a": [1, 2]}}}, r"holds \[1, 2\]"),
    ({"mteb_model_meta": {"model_name": "llm"}}, "there are no records"),
]


@pytest.mark.parametrize(("value", "problem"), REFUSED)
def test_a_refusal_names_the_part_that_has_another_shape(value, problem):
    with pytest.raises(ReadError, match=problem):
        read(File("run.json", json.dumps(value).encode()))


def test_a_run_saved_by_mteb_has_its_models_name_and_pytrec_evals_order(tmp_path):
    run = {
        "mteb_model_meta": {"model_name": "org/m", "revision": None},
        "default": {"test": one("q1") | one("q2")},
    }
    (tmp_path / "T_predictions.json").write_text(json.dumps(run))
    (tmp_path / "qrels.json").write_text(json.dumps({"default": {"test": {"q1": {"d2": 1}, "q2": {"d1": 1}}}}))
    runs = read_runs([tmp_path / "T_predictions.json"], qrels=tmp_path / "qrels.json")
    assert runs.rerankers == ["org/m"]
    source = read(File.open(tmp_path / "T_predictions.json"))
    assert source.tie_order == runs.tie_order == "docid_desc"
    assert evaluate(runs, ["RR"], ["expected"]).means("RR")["expected"].tolist() == [0.75]
    named = read_runs({"mine": tmp_path / "T_predictions.json"}, qrels=tmp_path / "qrels.json")
    assert named.rerankers == ["mine"]
