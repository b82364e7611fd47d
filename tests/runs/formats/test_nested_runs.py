import json

import pytest

from metrics import ReadError, evaluate, read_runs
from metrics.runs.files import File
from metrics.runs.formats.registry import read


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


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ({"en": {"test": one("a")}, "de": {"test": one("a")}}, "query 'a' is in both en and de"),
        ({"en": {"test": one("a"), "dev": 3}}, "'en' → 'dev' holds 3"),
        ({"en": {"test": {**one("a"), "b": 0.5}}}, "'en' → 'test' → 'b' holds 0.5"),
        ({"mteb_model_meta": {"model_name": "llm"}, "default": {"test": {"a": [1, 2]}}}, r"holds \[1, 2\]"),
        ({"mteb_model_meta": {"model_name": "llm"}}, "there are no records"),
    ],
)
def test_what_is_no_list_where_one_should_stand_is_refused(value, problem):
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
