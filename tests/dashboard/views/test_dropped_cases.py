"""Files as people have them, dropped into the app: each gives its right value, or a sentence to act on."""

import io
import json

import pandas as pd
import pyarrow as pa
import pytest
from opening import drop, go_to_data, opened, plain, said, texts
from pyarrow import parquet

from dashboard import cache
from dashboard.library.records import id_of
from metrics import evaluate

HITS = {
    "q1": [{"corpus_id": "d1", "score": 0.5}, {"corpus_id": "d2", "score": 0.5}],
    "q2": [{"corpus_id": "d3", "score": 0.1}, {"corpus_id": "d4", "score": 0.4}],
}
RUN = {query: {hit["corpus_id"]: hit["score"] for hit in hits} for query, hits in HITS.items()}
QRELS = "q1 0 d1 1\nq2 0 d3 1\n"
LETTERS = "7 0 b 1\n8 0 c 1\n"
SELF = {
    "arg-1": {"arg-1": 0.99, "arg-1b": 0.8, "arg-2": 0.7},
    "arg-2": {"arg-2": 0.98, "arg-9": 0.6, "arg-2b": 0.6},
}
RANK_EVAL = {
    "metric_score": 0.5,
    "details": {
        query: {
            "hits": [{"hit": {"_id": name, "_score": s}, "rating": rating} for name, s, rating in hits],
            "unrated_docs": [],
        }
        for query, hits in {
            "shoes": [("s9", 7.1, None), ("s1", 7.1, 1), ("s2", 3.0, 0)],
            "hats": [("h1", 2.0, 0), ("h2", 1.5, 1)],
        }.items()
    },
}
PYTERRIER = "qid,docid,docno,rank,score,query\n" + "".join(
    f"{query},{number},{number + 1},{rank},{20.0 - rank},text\n"
    for query, numbers in ((1, (8170, 9880, 5501)), (2, (8171, 9879, 5502)))
    for rank, number in enumerate(numbers)
)
TABLE = "query_id,doc_id,score,relevance\n"


def parquet_of(**columns):
    sink = io.BytesIO()
    parquet.write_table(pa.table(columns), sink)
    return sink.getvalue()


VALUES = {
    "relevance missing after a left join": (
        {"join_csv": f"{TABLE}q1,d1,3,\nq1,d2,2,1\nq1,d3,1,0\nq2,d4,3,1\nq2,d5,2,\n"},
        0.75,
    ),
    "a column named prediction": (
        {"p_csv": "qid,docid,label,prediction\nq1,d1,0,0.9\nq1,d2,1,0.8\nq2,d4,1,0.7\n"},
        0.75,
    ),
    "PyTerrier's docno": ({"p_csv": PYTERRIER, "qrels_txt": "1 0 8171 1\n2 0 9880 1\n"}, 0.75),
    "a ColBERT ranking": (
        {
            "c_tsv": "0\t451\t1\t23.5\n0\t452\t2\t23.5\n0\t453\t3\t20.1\n1\t460\t1\t11.0\n1\t461\t2\t10.5\n",
            "qrels_tsv": "0\t0\t452\t1\n1\t0\t461\t1\n",
        },
        0.625,
    ),
    "tabs and spaces in names": (
        {
            "t_txt": "q1\tQ0\tdoc one\t1\t3.0\tt\nq1\tQ0\tdoc two\t2\t2.0\tt\nq2\tQ0\tdoc three\t1\t1.0\tt\n",
            "qrels_txt": "q1\t0\tdoc two\t1\nq2\t0\tdoc three\t1\n",
        },
        0.75,
    ),
    "records in an indented object": (
        {
            "i_json": {"results": [{"query_id": q, **hit} for q, hits in HITS.items() for hit in hits]},
            "qrels_txt": QRELS,
        },
        0.625,
    ),
    "a response of _rank_eval": ({"r_json": RANK_EVAL}, 0.625),
    "hits by query": ({"h_json": HITS, "qrels_json": {"q1": {"d1": 1}, "q2": {"d3": 1}}}, 0.625),
    "lists of hits": ({"h_json": [*HITS.values()], "qrels_txt": "0 0 d1 1\n1 0 d3 1\n"}, 0.625),
    "objects with a score": (
        {
            "n_json": {q: {d: {"score": s} for d, s in docs.items()} for q, docs in RUN.items()},
            "qrels_txt": QRELS,
        },
        0.625,
    ),
    "run and judgments in one object": (
        {"d_json": {"qrels": {"q1": {"d1": 1}, "q2": {"d3": 1}}, "results": RUN}},
        0.625,
    ),
    "IDs without scores": (
        {
            "n_jsonl": '{"query_id":7,"doc_ids":["a","b"]}\n{"query_id":8,"doc_ids":["c"]}\n',
            "qrels_txt": LETTERS,
        },
        0.75,
    ),
    "retrieved and relevant IDs": (
        {
            "r_json": [
                {"user_input": "what?", "retrieved_ids": ["b", "a"], "expected_ids": ["a"]},
                {"user_input": "who?", "retrieved_ids": ["c"], "expected_ids": ["c"]},
            ]
        },
        0.75,
    ),
    "responses of Elasticsearch by query": (
        {
            "e_json": {
                q: {"took": 1, "hits": {"hits": [{"_id": h["corpus_id"], "_score": h["score"]} for h in hits]}}
                for q, hits in HITS.items()
            },
            "qrels_txt": QRELS,
        },
        0.625,
    ),
    "hits as JSON in cells": (
        {
            "c_csv": pd.DataFrame(
                {"query_id": [*HITS], "results": [json.dumps(hits) for hits in HITS.values()]}
            ).to_csv(index=False),
            "qrels_txt": QRELS,
        },
        0.625,
    ),
    "lists in Parquet": (
        {
            "l_parquet": parquet_of(
                query_id=["7", "8"],
                doc_ids=[["a", "b"], ["c"]],
                scores=[[0.5, 0.5], [0.25]],
                relevance=[[0, 1], [1]],
            )
        },
        0.875,
    ),
    "all documents of a query in a cell": (
        {"s_csv": "query_id,doc_ids\n7,a b\n8,c d\n", "qrels_txt": LETTERS},
        0.75,
    ),
    "a run under BEIR's header": (
        {
            "b_tsv": "query-id\tcorpus-id\tscore\nq1\td1\t0.93\nq1\td2\t0.81\nq2\td4\t0.75\n",
            "qrels_txt": "q1 0 d2 1\nq2 0 d4 1\n",
        },
        0.75,
    ),
    "LETOR lines with predictions": (
        {
            "test_letor": "0 qid:1 1:.5 # docid = a\n2 qid:1 1:.5 # docid = b\n1 qid:2 1:.1\n0 qid:2 1:.1\n",
            "trees_txt": "0.5\n0.5\n-1e-3\n0\n",
        },
        0.625,
    ),
    "grades as levels": ({"g_csv": f"{TABLE}q1,d1,2,L0\nq1,d2,1,L1\n"}, 0.5),
    "the query among its results": (
        {"s_json": SELF, "qrels_json": {"arg-1": {"arg-1b": 1}, "arg-2": {"arg-2b": 1}}},
        0.4583,
    ),
}
SENTENCES = {
    "a failed call is no score": (
        {"llm_csv": f"{TABLE}q1,d1,3,1\nq1,d2,Error code: 429 - rate limit exceeded,0\n"},
        "'Error code: 429 - rate limit exceeded' is not a number",
    ),
    "a header in a TREC file": (
        {"h_txt": "qid Q0 docno rank score tag\nq1 Q0 d1 1 3.0 t\n"},
        "line 1 is a header (qid, Q0, docno",
    ),
    "one search of Elasticsearch": (
        {"e_json": {"took": 3, "hits": {"hits": [{"_id": "d1", "_score": 1.5}]}}},
        "lacks the ID of its query",
    ),
    "predictions alone": ({"p_txt": "0.5\n0.4\n"}, "If they are predictions, give the one LETOR file"),
    "distances": (
        {"d_csv": "query_id,doc_id,distance\nq1,d1,0.1\n", "qrels_txt": QRELS},
        "Smaller values of distance rank first. Write their negatives into a column score.",
    ),
    "a decimal comma": (
        {"c_csv": "query_id;doc_id;score\nq1;d1;0,93\n"},
        "This is a decimal comma. Write 0.93",
    ),
    "another delimiter": ({"d_csv": "query_id~doc_id~score\nq1~d1~0.5\n"}, "'~' separates the columns"),
}


def dropped(files):
    """The page after a drop; what is no text or bytes is written as indented JSON."""
    texts_of = {
        name: given if isinstance(given, str | bytes) else json.dumps(given, indent=1)
        for name, given in files.items()
    }
    return drop(opened("data"), **texts_of)


def reciprocal_ranks(page):
    """The MTRR of each reranker of the board that a page shows, read from the library."""
    record = cache.open_library().find(id_of(page.selectbox(key="data").value))
    means = evaluate(cache.load_record(record).runs, "RR", "expected").means("RR")["expected"]
    return [round(mean, 4) for mean in means]


@pytest.mark.parametrize(("files", "value"), VALUES.values(), ids=VALUES)
def test_a_dropped_file_scores_as_by_hand(files, value):
    page = dropped(files)
    assert said(page) == ""
    assert reciprocal_ranks(page) == [value]


@pytest.mark.parametrize(("files", "sentence"), SENTENCES.values(), ids=SENTENCES)
def test_a_dropped_file_that_cannot_be_scored_is_told_in_a_sentence(files, sentence):
    assert sentence in said(dropped(files))


def test_queries_among_their_own_results_are_left_out_and_kept_by_a_button():
    page = go_to_data(dropped(VALUES["the query among its results"][0]))
    assert "2 of 2 lists hold the query itself as a document" in plain(texts(page))
    assert "--" not in plain(texts(page))
    page.button(key="fix-own-query").click().run()
    assert "Documents with the ID of their query, left out: 2 of 6" in plain(texts(page))
    assert reciprocal_ranks(page) == [0.875]
    cache.loaded_boards.clear()
    kept = opened("data", data=page.query_params["data"])  # read from the library, where the choice is kept
    kept.button(key="fix-own-query-dropped").click().run()
    assert reciprocal_ranks(kept) == [0.4583]
