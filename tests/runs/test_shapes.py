"""Files as people have them: each shape is read as meant, from a file, from Python and by the command."""

import json
from datetime import date
from decimal import Decimal

import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

from metrics import ReadError, UsageError, evaluate, read_runs
from metrics.runs import File, check, read

QRELS = "q1 0 d2 1\nq2 0 d3 1\n"
HITS = {
    "q1": [{"corpus_id": "d1", "score": 0.5}, {"corpus_id": "d2", "score": 0.5}],
    "q2": [{"corpus_id": "d3", "score": 0.1}, {"corpus_id": "d4", "score": 0.4}],
}
RUN = {"q1": {"d1": 0.5, "d2": 0.5}, "q2": {"d3": 0.1, "d4": 0.4}}
SHAPES = {
    "hits by query": HITS,
    "indented records in a field": {
        "results": [{"query_id": query, **hit} for query, hits in HITS.items() for hit in hits]
    },
    "Elasticsearch's hits by query": {
        query: [{"_id": hit["corpus_id"], "_score": hit["score"]} for hit in hits]
        for query, hits in HITS.items()
    },
    "objects with a score": {
        query: {document: {"score": score} for document, score in docs.items()} for query, docs in RUN.items()
    },
    "responses of Elasticsearch by query": {
        query: {
            "took": 3,
            "hits": {
                "max_score": 0.5,
                "hits": [{"_id": hit["corpus_id"], "_score": hit["score"]} for hit in hits],
            },
        }
        for query, hits in HITS.items()
    },
    "points in a field of each query": {
        query: {"points": [{"id": hit["corpus_id"], "score": hit["score"]} for hit in hits]}
        for query, hits in HITS.items()
    },
    "pairs of document and score": {query: [[*pair] for pair in docs.items()] for query, docs in RUN.items()},
    "documents as objects": {
        query: [{"relevance_score": hit["score"], "document": {"id": hit["corpus_id"]}} for hit in hits]
        for query, hits in HITS.items()
    },
    "Pyserini's retrieval of a reader": {
        query: {
            "question": "what?",
            "contexts": [{"docid": hit["corpus_id"], "score": hit["score"]} for hit in hits],
        }
        for query, hits in HITS.items()
    },
}


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("value", SHAPES.values(), ids=SHAPES)
def test_a_run_scores_the_same_in_every_shape(value, indent, tmp_path):
    (tmp_path / "qrels.txt").write_text(QRELS)
    (tmp_path / "run.json").write_text(json.dumps(value, indent=indent))
    runs = read_runs(tmp_path / "run.json", tmp_path / "qrels.txt")
    assert evaluate(runs, "RR", "expected").means("RR")["expected"].to_list() == [(0.75 + 0.5) / 2]


def test_a_run_beside_plain_values_is_read(tmp_path):
    (tmp_path / "run.json").write_text(json.dumps({"model": "m", "depth": 2, "results": RUN}))
    source = read(File.open(tmp_path / "run.json"))
    assert source.table["score"].to_pylist() == [0.5, 0.5, 0.1, 0.4]
    assert set(source.table["query_id"].to_pylist()) == {"q1", "q2"}
    runs = read_runs({"model": "m", "depth": 2, "results": RUN}, {"q1": {"d2": 1}, "q2": {"d3": 1}})
    assert evaluate(runs, "RR", "expected").means("RR")["expected"].to_list() == [(0.75 + 0.5) / 2]


def test_distances_are_no_scores_unless_chosen(write):
    path = write("run.csv", "query_id,doc_id,cosine_distance\nq1,d1,0.1\nq1,d2,0.9\n")
    advice = r"no score column among .* Smaller values of cosine_distance rank first\. Write their negatives"
    with pytest.raises(ReadError, match=advice):
        read_runs(path, {"q1": {"d1": 1}})
    runs = read_runs(path, {"q1": {"d1": 1}}, columns={"score": "cosine_distance"})
    assert evaluate(runs, "RR", "expected").means("RR")["expected"].to_list() == [0.5]


def test_lists_of_hits_without_queries_are_numbered_from_0(tmp_path):
    (tmp_path / "run.json").write_text(json.dumps([*HITS.values()]))
    source = read(File.open(tmp_path / "run.json"))
    assert source.table["query_id"].to_pylist() == ["0", "0", "1", "1"]
    (told,) = source.noted
    assert told.message == "The lists do not name their queries, so the queries are numbered from 0."


def test_a_name_above_all_queries_is_no_subset_of_mteb_in_the_advice():
    value = {"root": {"q1": {"d1": 0.5}, "note": "x"}}
    advice = r"'root' → 'note' holds \"x\"\. Write {query: {document: score}}, or "
    with pytest.raises(ReadError, match=advice):
        read(File("run.json", json.dumps(value).encode()))


def test_lists_of_ids_without_scores_rank_in_the_order_given(tmp_path):
    (tmp_path / "qrels.txt").write_text("7 0 b 1\n8 0 c 1\n")
    (tmp_path / "run.jsonl").write_text('{"query_id":7,"doc_ids":["a","b"]}\n{"query_id":8,"doc_ids":["c"]}\n')
    runs = read_runs(tmp_path / "run.jsonl", tmp_path / "qrels.txt")
    assert evaluate(runs, "RR", "expected").means("RR")["expected"].to_list() == [0.75]
    assert "ranks-as-scores" in {finding.code for finding in runs.noted}


@pytest.mark.parametrize(
    ("query", "retrieved", "relevant"),
    [
        ("query_id", "retrieved_ids", "expected_ids"),
        ("user_input", "retrieved_context_ids", "reference_context_ids"),
        ("query", "ranking", "relevant_docs"),
        ("question", "retrieved", "ground_truth"),
    ],
)
def test_records_of_retrieved_and_relevant_ids_are_a_run_and_its_judgments(query, retrieved, relevant, write):
    records = [
        {query: "what?", retrieved: ["b", "a"], relevant: ["a", "z"]},
        {query: "who?", retrieved: ["c", "d"], relevant: ["c"]},
    ]
    for given in (write("run.jsonl", "\n".join(map(json.dumps, records))), pd.DataFrame(records)):
        evaluation = evaluate(given, ["RR", "R@2"], "expected")
        assert evaluation.means("RR")["expected"].to_list() == [0.75]
        assert evaluation.means("R@2")["expected"].to_list() == [0.75]  # z is relevant and not retrieved


LISTS = {"query_id": ["1", "2"], "doc_ids": [["a", "b"], ["c"]], "scores": [[0.5, 0.5], [0.25]]}


@pytest.mark.parametrize("hits", [False, True])
def test_lists_in_parquet_and_frames_are_read_as_in_json(hits, tmp_path):
    table = pa.table(LISTS | {"relevance": [[0, 1], [1]]})
    if hits:
        rows = [[{"docid": "a", "score": 0.5, "relevance": 0}, {"docid": "b", "score": 0.5, "relevance": 1}]]
        rows.append([{"docid": "c", "score": 0.25, "relevance": 1}])
        table = pa.table({"query_id": ["1", "2"], "hits": rows})
    parquet.write_table(table, tmp_path / "lists.parquet")
    for given in (tmp_path / "lists.parquet", table, table.to_pandas()):
        assert evaluate(given, "RR", "expected").means("RR")["expected"].to_list() == [0.875]


def test_decimals_and_dates_in_lists_of_parquet_are_read_and_bytes_are_refused(tmp_path):
    scores = pa.array([[Decimal("0.5"), Decimal("0.25")], [Decimal("0.125")]])
    dates = pa.array([[date(2026, 1, day) for day in (1, 2)], [date(2026, 1, 3)]])
    table = pa.table(LISTS | {"scores": scores, "doc_ids": dates})
    parquet.write_table(table, tmp_path / "lists.parquet")
    source = read(File.open(tmp_path / "lists.parquet"))
    assert source.table["score"].to_pylist() == [0.5, 0.25, 0.125]
    assert source.table["doc_id"].to_pylist() == ["2026-01-01", "2026-01-02", "2026-01-03"]
    parquet.write_table(pa.table(LISTS | {"doc_ids": [[b"a", b"b"], [b"c"]]}), tmp_path / "lists.parquet")
    with pytest.raises(ReadError, match="row 1: doc_id holds \"b'a'\""):
        read(File.open(tmp_path / "lists.parquet"))


def test_parquet_with_more_values_in_lists_than_allowed_is_refused(tmp_path, monkeypatch):
    parquet.write_table(pa.table(LISTS), tmp_path / "lists.parquet")
    monkeypatch.setattr("metrics.runs.formats.parquet.MAX_NESTED_VALUES", 11)
    with pytest.raises(ReadError, match="lists of more than 11 values"):
        read(File.open(tmp_path / "lists.parquet"))
    monkeypatch.setattr("metrics.runs.formats.parquet.MAX_NESTED_VALUES", 12)
    assert len(read(File.open(tmp_path / "lists.parquet")).table) == 3


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        ({"took": 3, "hits": {"hits": [{"_id": "d1", "_score": 1.5}]}}, "one search of Elasticsearch"),
        ({"responses": [{"took": 3, "hits": {"hits": [{"_id": "d1", "_score": 1.5}]}}]}, "a multi-search"),
        ({"task_name": "T", "scores": {"test": [{"main_score": 0.5}]}}, "MTEB's results of a task"),
        ({"metric_score": 0.5, "details": {"q": {"metric_score": 0.5, "hits": []}}}, "without hits"),
        ({"_id": "d1", "title": "", "text": "a"}, "BEIR's corpus or queries"),
    ],
)
def test_a_known_shape_that_cannot_be_scored_is_named(value, sentence):
    for indent in (None, 1):
        with pytest.raises(ReadError, match=sentence):
            read(File("file.json", json.dumps(value, indent=indent).encode()))


def test_a_document_longer_than_the_head_of_a_file_keeps_its_shape():
    many = {f"q{n}": [{"corpus_id": f"d{n}", "score": 0.5, "text": "x" * 99}] for n in range(2_000)}
    for indent in (None, 1):
        source = read(File("run.json", json.dumps(many, indent=indent).encode()))
        assert (source.format, len(source.table)) == ("json-hits", 2_000)


@pytest.mark.parametrize("value", [value for name, value in SHAPES.items() if "indented" not in name])
def test_a_run_in_memory_scores_as_its_file(value):
    qrels = {"q1": {"d2": 1}, "q2": {"d3": 1}}
    for given, names in ((value, 1), ({"A": value, "B": value}, 2)):
        runs = read_runs(given, qrels)
        assert evaluate(runs, "RR", "expected").means("RR")["expected"].to_list() == [(0.75 + 0.5) / 2] * names
    both = {"results": RUN, "qrels": qrels}
    assert evaluate(both, "RR", "expected").means("RR")["expected"].to_list() == [(0.75 + 0.5) / 2]


RANK_EVAL = {
    "metric_score": 0.5,
    "details": {
        "shoes": {
            "unrated_docs": [{"_index": "shop", "_id": "s9"}],
            "hits": [
                {"hit": {"_index": "shop", "_id": "s9", "_score": 7.1}, "rating": None},
                {"hit": {"_index": "shop", "_id": "s1", "_score": 7.1}, "rating": 1},
                {"hit": {"_index": "shop", "_id": "s2", "_score": 3.0}, "rating": 0},
            ],
        },
        "hats": {
            "unrated_docs": [],
            "hits": [
                {"hit": {"_index": "shop", "_id": "h1", "_score": 2.0}, "rating": 0},
                {"hit": {"_index": "shop", "_id": "h2", "_score": 1.5}, "rating": 1},
            ],
        },
    },
    "failures": {},
}


def test_a_response_of_rank_eval_holds_scores_and_ratings(tmp_path):
    (tmp_path / "response.json").write_text(json.dumps(RANK_EVAL))
    for given in (tmp_path / "response.json", RANK_EVAL):
        runs = read_runs(given)
        assert evaluate(runs, "RR", "expected").means("RR")["expected"].to_list() == [0.625]


def test_a_part_of_another_shape_is_named():
    mixed = HITS | {"q3": [{"corpus_id": "d1", "score": 1}, 7]}
    with pytest.raises(ReadError, match=r"record 6: 7 is not a record \('q3' → '1'\)"):
        read(File("run.json", json.dumps(mixed).encode()))


def test_a_frame_of_hits_is_a_row_a_document():
    frame = pd.DataFrame({"query_id": [*HITS], "hits": [*HITS.values()]})
    runs = read_runs(frame, {"q1": {"d2": 1}, "q2": {"d3": 1}})
    assert evaluate(runs, "RR", "expected").means("RR")["expected"].to_list() == [(0.75 + 0.5) / 2]


@pytest.mark.parametrize(
    "as_cell", [list, json.dumps, repr, lambda hits: {h["corpus_id"]: h["score"] for h in hits}]
)
@pytest.mark.parametrize("is_file", [True, False])
def test_a_cell_of_a_table_holds_hits_as_lists_json_or_a_dictionary(as_cell, is_file, tmp_path):
    frame = pd.DataFrame({"query_id": [*HITS], "results": [as_cell(hits) for hits in HITS.values()]})
    if is_file:
        frame.to_csv(tmp_path / "run.csv", index=False)
    for _ in range(2):  # reading leaves the frame as it is
        runs = read_runs(tmp_path / "run.csv" if is_file else frame, {"q1": {"d2": 1}, "q2": {"d3": 1}})
        assert evaluate(runs, "RR", "expected").means("RR")["expected"].to_list() == [(0.75 + 0.5) / 2]


def test_a_cell_that_holds_neither_ids_nor_json_is_refused():
    text = "query_id,results\nq1,\"[('d1', 0.5), ('d2', 0.5)]\"\n"
    with pytest.raises(
        ReadError, match=r"line 2: results holds \"\[\('d1', 0.5\), \('d2', 0.5\)\]\", which is not"
    ):
        read(File("run.csv", text.encode()))


def test_a_colbert_ranking_is_a_run_and_judgments_of_four_fields_stay_judgments(tmp_path):
    (tmp_path / "colbert.tsv").write_text(
        "0\t451\t1\t23.5\n0\t452\t2\t23.5\n1\t460\t1\t11.0\n1\t461\t2\t10.5\n"
    )
    (tmp_path / "qrels.tsv").write_text("0\t0\t452\t1\n1\t0\t461\t1\n")
    runs = read_runs(tmp_path / "colbert.tsv", tmp_path / "qrels.tsv")
    assert evaluate(runs, "RR", "expected").means("RR")["expected"].to_list() == [0.625]
    for qrels in ("q 0 1 1\nq 0 2 0\n", "q Q0 1 1\nq Q0 2 0\n", "1 0 1 1\n2 0 1 1\n"):
        assert read(File("f", qrels.encode())).format == "trec-qrels"


def test_trec_lines_in_tabs_may_have_spaces_in_their_names(tmp_path):
    (tmp_path / "run.txt").write_text("q1\tQ0\tdoc one\t1\t3.0\tt\nq1\tQ0\tdoc two\t2\t2.0\tt\n")
    (tmp_path / "qrels.txt").write_text("q1\t0\tdoc two\t1\nq1\t0\tdoc six\t0\n")
    runs = read_runs(tmp_path / "run.txt", tmp_path / "qrels.txt")
    assert evaluate(runs, "RR", "expected").means("RR")["expected"].to_list() == [0.5]
    (tmp_path / "run.txt").write_text("q1\tQ0\tdoc one\t1\t3.0\tt\nq1\tQ0\tdoc two\t2\t2.0\n")
    with pytest.raises(ReadError, match=r"run\.txt, line 2: 5 fields where 6 are expected"):
        read(File.open(tmp_path / "run.txt"))


def test_lines_in_tabs_keep_their_numbers_below_comments_and_lose_blanks_around_fields():
    text = "# a comment\nq1\tQ0\tdoc one \t1\t3.0\tt\r\n\nq1\t Q0\t doc two\t2\thigh\tt\r\n"
    with pytest.raises(ReadError, match=r"line 4: score 'high' is not a number"):
        read(File("run.txt", text.encode()))
    source = read(File("run.txt", text.replace("high", "2").encode()))
    assert source.table["doc_id"].to_pylist() == ["doc one", "doc two"]
    assert source.origin.tag == "t"


def test_scores_under_the_header_of_beir_are_a_run_for_check_and_evaluate(tmp_path):
    (tmp_path / "run.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td1\t0.93\nq1\td2\t0.81\nq2\td4\t0.75\n")
    (tmp_path / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td2\t1\nq2\td4\t1\n")
    paths = [tmp_path / "run.tsv", tmp_path / "qrels.tsv"]
    assert set(check(paths)["severity"]) == {"info"}
    assert evaluate(paths, "RR", "expected").means("RR")["expected"].to_list() == [0.75]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("qid Q0 docno rank score tag\nq1 Q0 d1 1 3.0 t\n", r"line 1 is a header \(qid, Q0, docno"),
        ("query_id~doc_id~score\nq1~d1~0.5\n", "'~' separates the columns"),
        ("q1,d1,1,0.9\nq1,d2,2,0.8\n", "not a header: q1, d1, 1, 0.9"),
        ("query_id;doc_id;score\nq1;d1;0,93\n", r"This is a decimal comma\. Write 0\.93"),
        ('{"q1": {"d1": ["a"]}, "q2": {"d2": 1}}', "q1"),
    ],
)
def test_a_sentence_names_what_a_line_is(text, sentence):
    with pytest.raises(ReadError, match=sentence):
        read(File("file", text.encode()))


SELF = {
    "arg-1": {"arg-1": 0.99, "arg-1b": 0.8, "arg-2": 0.7},
    "arg-2": {"arg-2": 0.98, "arg-9": 0.6, "arg-2b": 0.6},
}
SELF_QRELS = {"arg-1": {"arg-1b": 1}, "arg-2": {"arg-2b": 1}}


def test_a_query_among_its_own_results_is_told_and_left_out_on_demand(call, write):
    runs = read_runs(SELF, SELF_QRELS)
    (told,) = [row for row in runs.findings.itertuples() if row.code == "own-query"]
    assert "2 of 2 lists hold the query itself as a document, 'arg-1' first" in told.message
    assert evaluate(runs, "RR", "expected").means("RR")["expected"].to_list() == [
        pytest.approx(0.4583, abs=1e-4)
    ]
    without = read_runs(SELF, SELF_QRELS, drop_self=True)
    assert evaluate(without, "RR", "expected").means("RR")["expected"].to_list() == [0.875]
    assert "own-query" not in set(without.findings["code"])
    (dropped,) = [row for row in without.findings.itertuples() if row.code == "own-query-dropped"]
    assert dropped.message.startswith("Documents with the ID of their query, left out: 2 of ")
    paths = write("self.json", json.dumps(SELF)), "--qrels", write("qrels.json", json.dumps(SELF_QRELS))
    options = "-m", "RR", "--ties", "expected", "--format", "csv"
    assert ",0.875" in call("evaluate", *paths, *options, "--drop-self")[1]
    _, out, err = call("evaluate", *paths, *options)
    assert ",0.458" in out
    assert "the query itself" in err


def test_columns_may_be_chosen_for_one_file(call, write):
    one = write("one.csv", "query_id,url,doc_id,score\nq,a,x,2\nq,b,y,1\n")
    two = write("two.csv", "query_id,doc_id,score\nq,b,2\nq,a,1\n")
    qrels = write("qrels.txt", "q 0 a 1\n")
    runs = read_runs([one, two], qrels, columns={"one.csv": {"doc_id": "url"}})
    assert evaluate(runs, "RR", "expected").means("RR")["expected"].to_list() == [1, 0.5]
    frames = {"A": pd.read_csv(one), "B": pd.read_csv(two)}
    runs = read_runs(frames, qrels, columns={"A": {"doc_id": "url"}})
    assert evaluate(runs, "RR", "expected").means("RR")["expected"].to_list() == [1, 0.5]
    options = "--qrels", qrels, "-m", "RR", "--ties", "expected", "--format", "csv"
    _, out, _ = call("evaluate", one, two, *options, "--column", "one.csv:doc_id=url")
    assert [line.split(",")[-1] for line in out.split()[1:]] == ["1.0", "0.5"]
    with pytest.raises(UsageError, match="No file has the chosen columns: url"):
        read_runs([one, two], qrels, columns={"other.csv": {"doc_id": "url"}})


LETOR = (
    "0 qid:1 1:0.5 2:0.3 # docid = a\n2 qid:1 1:0.5 # docid = b\n\n"
    "1 qid:2 1:.1 #docid = c\n0 qid:2 1:.1 # docid = d inc = 1\n"
)


def test_predictions_score_the_lines_of_a_letor_file(call, write):
    letor, trees = write("test.txt", LETOR), write("trees.txt", "0.5\n0.5\n-1e-3\n0\n")
    for runs in (read_runs([letor, trees]), read_runs({"trees": trees}, letor)):
        assert evaluate(runs, "RR", "expected").means("RR")["expected"].to_dict() == {"trees": 0.625}
    both = read_runs([letor, trees, write("net.txt", "0\n1\n1\n0\n")])
    assert evaluate(both, "RR", "expected").means("RR")["expected"].to_dict() == {"trees": 0.625, "net": 1}
    options = "-m", "RR", "--ties", "expected", "--format", "csv"
    assert "trees,RR,expected,0.625" in call("evaluate", letor, trees, *options)[1]
    assert "trees,RR,expected,0.625" in call("evaluate", trees, "--qrels", letor, *options)[1]
    assert "error" not in set(check([letor, trees])["severity"])


def test_lines_of_letor_without_documents_are_named_by_their_numbers(write):
    source = read(File("test.txt", b"1 qid:1 1:0.5\n0 qid:1 1:0.3\n"))
    assert source.table["doc_id"].to_pylist() == ["line-1", "line-2"]
    files = [write("test.txt", "1 qid:1 1:0.5\n0 qid:1 1:0.3\n"), write("trees.txt", "1\n0\n")]
    assert "own-query" not in set(check(files)["code"])  # query 1 is not the document of line 1
    assert "named by their lines" in source.noted[0].message
    with pytest.raises(ReadError, match=r"test\.txt, line 2: '0 q:7 1:0.3' has no qid:"):
        read(File("test.txt", b"1 qid:7 1:0.5\n0 q:7 1:0.3\n1 qid:8 1:0.5\n"))


def test_predictions_and_letor_lines_that_do_not_belong_together_are_refused(write):
    letor, short = write("test.txt", LETOR), write("short.txt", "1\n2\n3\n")
    with pytest.raises(ReadError, match=r"short\.txt: 3 numbers, one per line.* test\.txt has 4 lines"):
        read_runs([letor, short])
    with pytest.raises(ReadError, match="If they are predictions, give the one LETOR file"):
        read_runs(short, letor)
    with pytest.raises(ReadError, match="Give the predictions of a model with it"):
        read_runs([letor])
    assert "If they are predictions" in check([short])["hint"].iloc[0]


def test_grades_may_be_levels():
    text = b"query_id,doc_id,score,relevance\nq,a,2,L0\nq,b,1,l2\n"
    assert read(File("f.csv", text)).table["relevance"].to_pylist() == [0, 2]


@pytest.mark.parametrize(
    "text",
    [
        "query_id,doc_ids\n1,a b\n2,c d\n",
        "id,predictions\n1,a b\n2,c d\n",
        "query_id,documents\n1,\"['a', 'b']\"\n2,\"['c', 'd']\"\n",
    ],
)
def test_one_row_a_query_with_all_documents_in_one_cell_is_a_ranking(text, write):
    runs = read_runs(write("submission.csv", text), {"1": {"b": 1}, "2": {"c": 1}})
    assert evaluate(runs, "RR", "expected").means("RR")["expected"].to_list() == [0.75]


def test_keys_of_a_dictionary_of_records_may_be_numbers():
    run, qrels = {1: {2: {"score": 1.0}, 3: {"score": 2.0}}}, {1: {2: 1}}
    assert evaluate(run, "RR", "expected", qrels=qrels).means("RR")["expected"].tolist() == [0.5]
