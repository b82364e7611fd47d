"""Answers of language models in place of scores: permutations, preferences, probabilities of grades."""

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reading import columns, refusal

from metrics import ReadError, draws, evaluate, read_runs
from metrics.runs import File, open_run, read
from metrics.runs.formats import json_records
from metrics.runs.formats.answers import parse_permutation

IN_JSON = pytest.mark.parametrize(
    "write", [json.dumps, lambda records: "\n".join(map(json.dumps, records))], ids=["json", "jsonl"]
)


def noted(text):
    return {one.code: (one.line, one.count) for one in read(File("file", text.encode())).noted}


ORDERS = st.integers(2, 30).flatmap(lambda n: st.permutations(range(1, n + 1)))


@given(
    ORDERS,
    st.sampled_from([" > ", ">", " , ", "\n>\n", " "]),
    st.sampled_from(
        ["", "[rankstart] ", "Sure! ", "<think>[2] > [1] > [9]</think>", "Passage [1] is best: no, "]
    ),
    st.sampled_from(["", " [rankend]", ".", "\n\nI hope this helps."]),
)
def test_a_permutation_reads_back_whatever_stands_around_it(order, link, before, after):
    answers = [before + link.join(f"[{number}]" for number in order) + after]
    answers += [order, str(list(order)), " > ".join(map(str, order))]
    for answer in answers:
        assert parse_permutation(answer, len(order)) == ([order.index(n + 1) for n in range(len(order))], 0, 0)


@pytest.mark.parametrize(
    ("answer", "ranked", "counts"),
    [
        ("[2] > [1] > [2] > [7] > [0]", [1, 0, None], (1, 2)),
        ("[2] = [3] > [1]", [1, 0, 0], (0, 0)),
        ("[C] > [A]", [1, None, 0], (0, 0)),
        ("I cannot rank these 3 passages.", [None] * 3, (0, 0)),
        (None, [None] * 3, (0, 0)),
        ([3, "1", 3], [None, None, 0], (1, 0)),
        ("[1] > [2], then [3] > [2] > [1]", [2, 1, 0], (0, 0)),
    ],
)
def test_what_answers_drop_repeat_and_invent_is_counted(answer, ranked, counts):
    assert parse_permutation(answer, 3) == (ranked, *counts)


DOCUMENTS = ["d1", "d2", "d3", "d4"]


def record(query, answer, documents=DOCUMENTS, array="candidates", field="response", **extra):
    candidates = [{"docid": document, "score": 9.5 - n, **extra} for n, document in enumerate(documents)]
    return {"query": {"text": f"what is {query}", "qid": query}, array: candidates, field: answer}


@pytest.mark.parametrize(("array", "field"), [("candidates", "response"), ("hits", "permutation")])
@IN_JSON
def test_documents_are_ranked_as_the_answer_names_them_and_the_rest_is_tied_below(array, field, write):
    long = record(
        "q1", "[3] > [1]", array=array, field=field, doc="x" * 20_000
    )  # longer than the head of a file
    rows = columns(write([long, record("q2", "[1]", array=array, field=field, relevance=1)]).encode())
    assert rows["query_id"] == ["q1"] * 4 + ["q2"] * 4
    assert rows["doc_id"] == DOCUMENTS * 2
    assert rows["score"] == [3, 0, 4, 0, 4, 0, 0, 0]
    assert rows[f"{array}.score"] == [9.5, 8.5, 7.5, 6.5] * 2


def test_the_traditional_value_is_what_rankgpt_reports_and_the_tied_one_is_not(write):
    """RankGPT appends what an answer leaves out in the order it was shown in."""
    judgments = pd.DataFrame({"query_id": ["q1"], "doc_id": ["d2"], "relevance": [1]})
    runs = read_runs(write("llm.jsonl", json.dumps(record("q1", "[3] > [1]"))), judgments)
    scores = evaluate(runs, ["RR"], ["input", "expected"]).scores
    assert scores.to_numpy().ravel().tolist() == pytest.approx([1 / 3, (1 / 3 + 1 / 4) / 2])


def test_documents_may_be_ids_and_the_score_of_the_retrieval_can_be_chosen():
    plain = columns(json.dumps({"qid": 7, "hits": ["a", 2], "permutation": [2, 1]}).encode())
    assert plain == {"query_id": ["7", "7"], "doc_id": ["a", "2"], "score": [1, 2]}
    rows = columns(json.dumps(record("q1", "[3] > [1]")).encode(), mapping={"score": "candidates.score"})
    assert rows["score"] == [9.5, 8.5, 7.5, 6.5]


def test_findings_count_answers_that_are_no_permutation_with_their_lines():
    answers = ["[4] > [2] > [3] > [1]", "[2] > [1] > [2]", "[9] > [3] > [3] > [3] > [0]", "I am sorry."]
    text = "\n".join(json.dumps(record(f"q{n}", answer)) for n, answer in enumerate(answers))
    findings = {one.code: one for one in read(File("run.jsonl", text.encode())).noted}
    assert (findings["answers-incomplete"].line, findings["answers-unread"].line) == (2, 4)
    message = findings["answers-incomplete"].message
    assert "2 of 4 answers" in message
    assert all(f"{count}." in message for count in ("below the others: 5", "counts: 3", "document: 2"))
    assert not [code for code in noted(text.split("\n")[0]) if code.startswith("answers-")]


def test_an_answer_without_the_documents_it_numbers_is_refused_with_what_to_write():
    history = [{"query": {"qid": "q1"}, "invocations_history": [{"response": "[2] > [1]"}]}]
    error = refusal(json.dumps(history).encode())
    assert "has an answer but no documents" in str(error)
    assert '"response": "[2] > [1]"' in error.hint


@pytest.mark.parametrize("field", ["answer", "note"])
def test_records_of_rankllm_and_questions_with_an_answer_keep_their_scores(field):
    source = read(File("run", json.dumps(record("q1", "Paris", field=field)).encode()))
    assert (source.format, source.table["score"][0].as_py()) == ("jsonl", 9.5)


def test_ten_thousand_documents_and_a_long_answer_take_no_square_of_work():
    order = np.random.default_rng(1).permutation(10_000) + 1
    answer = " > ".join(f"[{number}]" for number in order) + " >" * 10_000 + " " * 10_000 + "[" * 10_000
    scores = columns(json.dumps(record("q1", answer, [f"d{n}" for n in range(10_000)])).encode())["score"]
    assert np.array_equal(np.argsort(-np.array(scores)), order - 1)


PAIRS = """query,a,b,preferred
q1,d7,d2,d7
q1,d2,d7,d7
q1,d2,d4,B
q2,x,y,tie
q2,y,z,y
q2,z,x,z
q2,x,y,x
q3,a,b,
"""


def test_documents_are_scored_by_pairs_won_and_findings_count_odd_pairs():
    rows = columns(PAIRS.encode())
    assert rows["query_id"] == ["q1"] * 3 + ["q2"] * 3 + ["q3"] * 2
    assert rows["doc_id"] == ["d7", "d2", "d4", "x", "y", "z", "a", "b"]
    assert rows["score"] == [1, 0, 1, 1, 1, 1, 0, 0]
    findings = {"preferences-unread": (9, 1), "preferences-inconsistent": (5, 1), "preferences-missing": (2, 2)}
    assert noted(PAIRS) == findings


@given(
    st.lists(
        st.tuples(
            *[st.sampled_from("qr"), *[st.integers(0, 5)] * 2, st.sampled_from(["a", "b", "tie"])]
        ).filter(lambda row: row[1] != row[2]),
        min_size=1,
        max_size=40,
    )
)
def test_copeland_scores_and_findings_are_as_counted_by_hand(rows):
    met, scores = {}, {}
    for query, first, second, preferred in rows:
        pair = (query, min(first, second), max(first, second))
        won = 0 if preferred == "tie" else 1 if preferred == "ab"[first > second] else -1
        met.setdefault(pair, []).append(won)
        scores |= {(query, first): 0, (query, second): 0}
    for (query, *pair), results in met.items():
        for side, document in zip((1, -1), pair, strict=True):
            scores[query, document] += (np.sign(side * sum(results)) + 1) / 2
    text = "query,a,b,preferred\n" + "".join(f"{q},d{a},d{b},{won}\n" for q, a, b, won in rows)
    table, counts = columns(text.encode()), {code: count for code, (_, count) in noted(text).items()}
    read_back = zip(table["query_id"], table["doc_id"], table["score"], strict=True)
    assert {(query, int(name[1:])): score for query, name, score in read_back} == scores
    sizes = [sum(of == query for of, _ in scores) for query in "qr"]
    assert counts.get("preferences-missing", 0) == sum(n * (n - 1) // 2 for n in sizes) - len(met)
    assert counts.get("preferences-inconsistent", 0) == sum(len(set(results)) > 1 for results in met.values())


@pytest.mark.parametrize(
    "preferred", [("x", "y"), ("A", "b"), ("1", "2"), ("[[A]]", "[[B]]"), ("Passage A", "passage B.")]
)
@pytest.mark.parametrize("mark", [",", "\t"])
def test_the_preferred_one_is_named_by_id_or_by_side(preferred, mark):
    rows = [["query_id", "doc_a", "doc_b", "winner"], *(["qr"[n], "x", "y", preferred[n]] for n in (0, 1))]
    assert columns("\n".join(map(mark.join, rows)).encode())["score"] == [1, 0, 0, 1]


def test_a_number_is_an_id_where_all_rows_name_one_and_else_a_side():
    header = "query,a,b,preferred\n"
    assert columns(f"{header}q,2,1,1\nq,1,3,3\n".encode())["score"] == [0, 1, 1]
    assert columns(f"{header}q,2,1,1\nq,1,3,2\n".encode())["score"] == [1, 0, 1]


@IN_JSON
def test_json_with_several_rerankers_is_read_one_list_for_each(write):
    fields = {"qid": 1, "docid_a": "x", "docid_b": "y"}
    rows = columns(
        write([{"model": "m", **fields, "preferred": "x"}, {"model": "n", **fields, "preferred": 2}]).encode()
    )
    assert rows["reranker"] == ["m", "m", "n", "n"]
    assert rows["score"] == [1, 0, 0, 1]


@pytest.mark.parametrize(
    ("rows", "problem"),
    [
        ("q,d,d,d", "line 2: 'd' is compared with itself"),
        ("q,a,b,a\nq,,b,b", "line 3: a is empty"),
        (",a,b,b", "line 2: query is empty"),
        ("q,a,b,perhaps", "line 2: preferred 'perhaps' names neither document and is not a tie"),
        ("q,a,b", "line 2: 3 fields where 4 are expected"),
        ("", "there are no comparisons"),
        ("q,a,b,a\n" * 4, "more than 3 comparisons"),
    ],
)
def test_what_is_no_comparison_is_refused_with_its_line(rows, problem, monkeypatch):
    monkeypatch.setattr("metrics.runs.formats.answers.MAX_COMPARISONS", 3)
    assert problem in str(refusal(f"query,a,b,preferred\n{rows}\n".encode()))


GRADED = """query_id,doc_id,p_0,p_1,p_2,bm25,relevance
q1,d7,0.1,0.3,0.6,3,1
q1,d2,0,0.25,0.75,2,0
q1,d4,0.2,,0.4,1,0
"""


def test_the_expected_grade_is_the_score_beside_its_sd_and_the_most_likely_grade():
    rows = columns(GRADED.encode())
    assert rows["score"] == [1.5, 1.75, pytest.approx(4 / 3, abs=1e-12)]
    assert rows["score_std"] == pytest.approx([0.45**0.5, 0.1875**0.5, (8 / 9) ** 0.5])
    assert rows["argmax_grade"] == [2, 2, 2]
    assert rows["bm25"] == [3, 2, 1]
    assert "p_0" not in rows
    assert noted(GRADED)["grades-scaled"][1] == 1
    assert columns(GRADED.encode(), mapping={"score": "argmax_grade"})["score"] == [2, 2, 2]


@IN_JSON
@pytest.mark.parametrize("name", ["probabilities", "probs", "p", "prob"])
def test_a_map_of_each_document_is_read_from_json(write, name):
    records = [
        {"qid": 1, "docid": "a", "relevance": 1, name: {"0": 0.2, "3": 0.8}},
        {"qid": 1, "docid": "b", "relevance": 0, name: {"1": 0.2, "3": 0.8}},
    ]
    rows = columns(write(records).encode())
    assert (rows["score"], rows["argmax_grade"], rows["relevance"]) == ([2.4, 2.6], [3, 3], [1, 0])
    in_array = {"qid": 1, "candidates": [{"docid": "a", name: {"0": 0.5, "2": 0.5}}]}
    assert columns(write([in_array]).encode())["score"] == [1]


def test_logarithms_of_the_likeliest_tokens_are_taken_for_what_they_are():
    logs = {"0": float(np.log(0.25)), "1": float(np.log(0.5)), "the": -8.0}
    record = {"qid": 1, "docid": "a", "logprobs": logs}
    assert columns(json.dumps([record]).encode())["score"] == [pytest.approx(2 / 3)]


@pytest.mark.parametrize(
    ("table", "problem"),
    [
        ("query_id,doc_id,p_0,p_1\nq,a,0,1\nq,b,x,1\n", "line 3: p_0 'x' is not a probability"),
        ("query_id,doc_id,p_0,p_1\nq,a,0,0\n", "line 2: score None is not a number (column 'expected_grade')"),
        ("query_id,doc_id,p_0,p_1\nq,a,-1,2\n", "line 2: score None is not a number (column 'expected_grade')"),
        ("query_id,doc_id,p_0,p_1,p_1\nq,a,0,0,0\n", "two columns are named 'p_1'"),
    ],
)
def test_what_is_no_distribution_is_refused_with_its_line(table, problem):
    assert problem in str(refusal(table.encode()))


def test_documents_without_a_distribution_go_the_way_of_missing_scores(write):
    path = write("llm.csv", "query_id,doc_id,p_0,p_1,relevance\nq,a,0,0,1\nq,b,0.5,0.5,0\n")
    runs = read_runs(path, missing_score="last")
    assert runs.tables["llm"]["score"].to_pylist() == [float("-inf"), 0.5]


def test_many_grades_are_refused_and_many_words_among_the_likeliest_tokens_are_no_columns(monkeypatch):
    def maps(keys):
        return json.dumps(
            [{"qid": 1, "docid": f"d{row}", "probs": dict.fromkeys(keys(row), 0.5)} for row in range(600)]
        ).encode()

    assert columns(maps(lambda row: ("0", "1", f"word {row}", f"other {row}")))["score"] == [0.5] * 600
    assert "columns, more than 1,000" in str(refusal(maps(lambda row: (str(2 * row), str(2 * row + 1)))))
    limited = maps(lambda _: "01")
    monkeypatch.setattr(json_records, "MAX_VALUES", 1199)
    monkeypatch.setattr(json_records, "refuse_much_memory", len)
    monkeypatch.setattr(json_records, "parse_file", lambda file: json.loads(file.data))
    assert "2 grades for 600 documents make more than 1,199 probabilities" in str(refusal(limited))


def test_a_table_with_a_score_of_its_own_keeps_it():
    rows = columns(b"query_id,doc_id,score,p_0,p_1\nq1,d7,1,0,1\n")
    assert rows == {"query_id": ["q1"], "doc_id": ["d7"], "score": [1], "p_0": [0], "p_1": [1]}


def test_the_sd_of_a_grade_is_what_noise_reads(write):
    drawn = draws(read_runs(write("llm.csv", GRADED)), "RR", n=200, noise="score_std")
    assert drawn.bounds["expected"].to_list() == [0.5]
    assert set(drawn.means.iloc[:, 0]) > {0.5, 1.0}


@pytest.mark.parametrize(
    ("text", "name"),
    [(PAIRS, "preferences"), (GRADED, "grade-probabilities"), ('[{"qid": 1}]', "json")],
)
def test_answers_and_json_cannot_be_read_with_dask(text, name):
    with pytest.raises(ReadError, match=f"{name} cannot be read with Dask"):
        open_run(File("file", text.encode()), {})
