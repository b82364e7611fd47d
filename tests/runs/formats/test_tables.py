import gzip

import pytest
from reading import TABLE, columns, refusal

from metrics import UsageError, read_table
from metrics.runs import File, read

READ = {
    "query_id": ["q1", "q1", "q2", "q1"],
    "doc_id": ["d2", "d1", "d1", "d3"],
    "score": [0.9, 0.9, -1.5, 2.0],
    "relevance": [0.0, 1.0, 0.0, 2.0],
}
HEADER = b"query_id,doc_id,score,relevance\n"


@pytest.mark.parametrize("mark", [",", "\t", ";", "|"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\n\n", "\r\n\r\n"])
@pytest.mark.parametrize("start", ["", "\ufeff", "\n", "\ufeff\r\n\r\n"])
def test_a_table_is_read_with_any_delimiter_line_end_and_start(mark, end, start):
    text = start + TABLE.decode().replace(",", mark).replace("\n", end)
    assert columns(text.encode()) == READ


@pytest.mark.parametrize("start", [b"  \n", b" \t\r\n\n"])
def test_a_table_may_start_with_lines_of_spaces(start):
    assert columns(start + TABLE) == READ


def test_a_table_without_a_last_line_end_is_whole():
    assert columns(TABLE.removesuffix(b"\n")) == READ


@pytest.mark.parametrize(
    "header",
    [
        "qid,docid,sim,rel",
        "topic;docno;logit;grade",
        "Query ID\tDocument\tScore\tLabel",
        "QUERY-ID,Doc.Id,SCORE,Is_Relevant",
        "test_triple,passage,TracInScore,In_path",
    ],
)
def test_other_names_of_the_columns_are_recognised(header):
    mark = next(mark for mark in ",;\t" if mark in header)
    rows = TABLE.decode().split("\n", 1)[1].replace(",", mark)
    assert columns(f"{header}\n{rows}".encode()) == READ


def test_further_columns_of_numbers_are_kept_under_their_own_names():
    data = b"query_id,doc_id,score,second,page,note\nq,a,1,.5,1,x\nq,b,2,7,vi,y\n"
    source = read(File("t.csv", data))
    assert source.table["second"].to_pylist() == [0.5, 7]
    assert source.unused == ("page", "note")


def test_an_exact_name_wins_over_a_synonym():
    assert columns(b"doc,query_id,doc_id,sim,score\nx,q,d,one,2\n") == {
        "query_id": ["q"],
        "doc_id": ["d"],
        "score": [2],
    }


def test_columns_may_stand_in_any_order_and_others_beside_them():
    source = read(File("t.csv", b"note,relevance,score,doc_id,query_id\nhello,1,2,d,q\n"))
    assert source.table.to_pydict() == {"query_id": ["q"], "doc_id": ["d"], "score": [2], "relevance": [1]}
    assert source.unused == ("note",)


def test_quoted_fields_keep_delimiters_quotes_and_line_ends():
    data = HEADER + b'"q,1","d ""x""",1,1\n"q,1","two\nlines",2,0\n"q,1","CR\r\nLF",3,0\n'
    assert columns(data)["doc_id"] == ['d "x"', "two\nlines", "CR\r\nLF"]


@pytest.mark.parametrize("n_before", range(62, 66))
@pytest.mark.parametrize("packed", [bytes, gzip.compress], ids=["plain", "gzip"])
def test_quoted_fields_keep_a_line_end_where_two_blocks_meet(monkeypatch, n_before, packed):
    for name in ("BLOCK", "_WHOLE_BLOCK"):
        monkeypatch.setattr(f"metrics.runs.formats.delimited.{name}", 64)
    start = HEADER + b'q,"'
    data = start + b"x" * (n_before - len(start)) + b'\r\nLF",2,0\r\nq,last,3,0\r\n'
    assert [text[-5:] for text in columns(packed(data))["doc_id"]] == ["x\r\nLF", "last"]


def test_a_quote_that_never_closes_is_refused_rather_than_the_rest_swallowed():
    data = b'query_id,doc_id,score,title\nq,a,3,fine\nq,b,2,"open\nq,c,1,fine\n'
    assert refusal(data).line == 3


def test_unclosed_quotes_are_refused():
    data = b'query_id,doc_id,score,title\nq,a,3,"one\nq,b,2,fine\nq,c,1,"two\nq,d,0,fine\n'
    assert refusal(data).line == 2


def test_a_delimiter_inside_a_quoted_column_name_is_not_the_delimiter():
    assert columns(b'topic;docno;sim;"grade, 0, 1, 2, or 3"\n1;2;3;4\n')["score"] == [3]


def test_a_text_of_five_million_characters_beside_the_columns_is_read_past():
    data = b"query_id,doc_id,score,doc_text\nq,a,1," + b"x" * 5_000_000 + b"\nq,b,2,short\n"
    assert columns(data)["doc_id"] == ["a", "b"]


def test_a_column_name_over_two_lines_is_one_name():
    assert columns(b'query_id,doc_id,score,"two\nlines"\nq,a,1,x\n')["doc_id"] == ["a"]


@pytest.mark.parametrize(
    ("text", "grade"),
    [
        ("true", 1),
        ("False", 0),
        (" YES ", 1),
        ("no", 0),
        ("t", 1),
        ("F", 0),
        ("2", 2),
        ("0.5", 0.5),
        ("-1", -1),
    ],
)
def test_a_grade_is_a_number_or_true_and_false(text, grade):
    assert columns(HEADER + f"q,a,1,{text}\nq,b,1,1\n".encode())["relevance"] == [grade, 1]


def test_true_false_and_numbers_may_stand_in_one_column():
    assert columns(HEADER + b"q,a,1,true\nq,b,1,3\nq,c,1,no\n")["relevance"] == [1, 3, 0]


def test_ids_that_look_like_numbers_stay_text():
    table = columns(HEADER + b"007,010,1,1\n7,1e5,1,1\nNaN,null,1,1\n")
    assert table["query_id"] == ["007", "7", "NaN"]
    assert table["doc_id"] == ["010", "1e5", "null"]


@pytest.mark.parametrize("text", ["0.1", "1e-310", "0.30000000000000004", "123456789.123456789", "-0.0", "inf"])
def test_a_score_is_read_to_its_last_bit(text):
    assert columns(HEADER + f"q,a,{text},1\n".encode())["score"] == [float(text)]


def test_a_header_alone_is_a_table_without_rows():
    assert columns(HEADER) == columns(HEADER.strip()) == {name: [] for name in READ}


def test_chosen_columns_win_over_recognised_ones(write):
    path = write("t.csv", "query_id,doc_id,score,second,relevance\nq,a,1,5,0\nq,b,2,4,1\n")
    runs = read_table(path, columns={"score": "second"})
    assert runs.tables["t"]["score"].to_pylist() == [5, 4]


def test_columns_no_synonym_covers_can_be_chosen(write):
    path = write("t.csv", "frage,treffer,punkte,note\nq,a,1,0\n")
    choice = {"query_id": "frage", "doc_id": "treffer", "score": "punkte", "relevance": "note"}
    assert read_table(path, columns=choice).tables["t"].to_pydict() == {
        "query_id": ["q"],
        "doc_id": ["a"],
        "score": [1],
        "relevance": [0],
    }


@pytest.mark.parametrize("choice", [{"score": "nowhere"}, {"nothing": "score"}])
def test_a_chosen_column_that_does_not_exist_is_refused_by_name(write, choice):
    with pytest.raises(UsageError, match=r"nowhere|nothing"):
        read_table(write("t.csv", TABLE), columns=choice)
