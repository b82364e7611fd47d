import json

import pytest
from reading import columns, refusal

from metrics import ReadError
from metrics.runs import File, open_run, read

TABLE = """query,a,b,preferred
q1,d7,d2,d7
q1,d2,d7,d7
q1,d2,d4,B
q2,x,y,tie
q2,y,z,y
q2,z,x,z
q2,x,y,x
q3,a,b,
"""
CYCLE = "query,a,b,preferred\nq,a,b,a\nq,b,c,b\nq,c,a,c\n"


def noted(text):
    return {one.code: (one.line, one.count) for one in read(File("pairs.csv", text.encode())).noted}


def test_documents_are_scored_by_pairs_won_and_keep_file_order():
    rows = columns(TABLE.encode())
    assert rows["query_id"] == ["q1"] * 3 + ["q2"] * 3 + ["q3"] * 2
    assert rows["doc_id"] == ["d7", "d2", "d4", "x", "y", "z", "a", "b"]
    assert rows["score"] == [1, 0, 1, 1, 1, 1, 0, 0]


def test_findings_count_odd_preferences_by_kind():
    assert noted(TABLE) == {
        "preferences-unread": (9, 1),
        "preferences-inconsistent": (5, 1),
        "preferences-missing": (2, 2),
    }


def test_a_circle_of_three_ties_them_all():
    assert columns(CYCLE.encode())["score"] == [1, 1, 1]
    assert noted(CYCLE) == {}


def test_all_pairs_in_both_orders_that_agree_give_no_finding():
    rows = [f"q,{a},{b},{min(a, b)}" for a in "abc" for b in "abc" if a != b]
    assert noted("query,a,b,preferred\n" + "\n".join(rows)) == {}


@pytest.mark.parametrize(
    "preferred",
    [
        ("x", "y"),
        ("a", "b"),
        ("A", "B"),
        ("1", "2"),
        ("[A]", "[B]"),
        ("Passage A", "passage B."),
        ("left", "right"),
    ],
)
@pytest.mark.parametrize("mark", [",", "\t", ";"])
def test_the_preferred_one_is_named_by_id_or_by_side(preferred, mark):
    rows = [
        ["query_id", "doc_a", "doc_b", "winner"],
        ["q", "x", "y", preferred[0]],
        ["r", "x", "y", preferred[1]],
    ]
    assert columns("\n".join(map(mark.join, rows)).encode())["score"] == [1, 0, 0, 1]


def test_a_number_is_an_id_where_all_rows_name_one_and_else_a_side():
    header = "query,a,b,preferred\n"
    assert columns(f"{header}q,2,1,1\nq,1,3,3\n".encode())["score"] == [0, 1, 1]
    assert columns(f"{header}q,2,1,1\nq,1,3,2\n".encode())["score"] == [1, 0, 1]


@pytest.mark.parametrize("write", [json.dumps, lambda records: "\n".join(map(json.dumps, records))])
def test_json_with_several_rerankers_is_read_one_list_for_each(write):
    records = [
        {"model": model, "qid": 1, "docid_a": "x", "docid_b": "y", "preferred": preferred}
        for model, preferred in (("m", "x"), ("n", 2))
    ]
    rows = columns(write(records).encode())
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
    ],
)
def test_what_is_no_comparison_is_refused_with_its_line(rows, problem):
    assert problem in str(refusal(f"query,a,b,preferred\n{rows}\n".encode()))


def test_more_comparisons_than_the_limit_are_refused(monkeypatch):
    monkeypatch.setattr("metrics.runs.formats.preferences.MAX_COMPARISONS", 3)
    assert "more than 3 comparisons" in str(refusal(TABLE.encode()))


def test_a_file_of_preferences_cannot_be_read_with_dask():
    with pytest.raises(ReadError, match="preferences cannot be read with Dask"):
        open_run(File("pairs.csv", TABLE.encode()), {})
