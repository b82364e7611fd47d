"""Which column of a file is read as which of ours, and which row where a document is there twice."""

import io
import math

import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet
from reading import QRELS, RUN, TABLE, columns, refusal

from metrics import ReadError, Runs, UsageError, evaluate, read_runs, read_table
from metrics.runs import File, read
from metrics.runs.columns import COLUMNS, recognise

NEEDED = ["query_id", "doc_id", "score", "relevance"]
SYNONYMS = [(column.name, synonym) for column in COLUMNS for synonym in column.synonyms]
BY_NAME = pytest.mark.parametrize("name", [column.name for column in COLUMNS])
SPACERS = st.text(" ._-()[]", max_size=2)


@st.composite
def spelled(draw, name):
    """The name in small and capital letters, with spaces and marks between."""
    letters = [draw(st.sampled_from([one.lower(), one.upper()])) + draw(SPACERS) for one in name]
    return draw(SPACERS) + "".join(letters)


def names_but(name):
    return [needed for needed in NEEDED if needed != name]


@pytest.mark.parametrize(("name", "synonym"), SYNONYMS)
@given(data=st.data())
def test_every_synonym_is_recognised_however_it_is_spelled(name, synonym, data):
    header = data.draw(st.permutations([*names_but(name), data.draw(spelled(synonym))]))
    mapping = recognise(header)
    assert {mapping[one] for one in names_but(name)} == set(names_but(name))
    assert mapping[name] in set(header) - set(names_but(name))
    assert len(mapping) == len(set(mapping.values())) == len(header)


@BY_NAME
@given(data=st.data())
def test_every_name_of_ours_is_recognised_however_it_is_spelled(name, data):
    header = data.draw(st.permutations([*names_but(name), data.draw(spelled(name))]))
    assert recognise(header)[name] in set(header) - set(names_but(name))


@pytest.mark.parametrize(("name", "synonym"), SYNONYMS)
def test_a_name_of_ours_wins_over_each_synonym(name, synonym):
    if synonym != name.replace("_", ""):
        assert recognise([synonym, *names_but(name), name])[name] == name


@BY_NAME
@given(order=st.permutations(["name", "synonym", "other"]))
def test_a_chosen_column_wins_over_the_name_and_the_synonym(name, order):
    synonym = next(column.synonyms[0] for column in COLUMNS if column.name == name)
    called = {"name": name, "synonym": synonym, "other": "other"}
    header = [*names_but(name), *(called[one] for one in order)]
    assert recognise(header, {name: "other"})[name] == "other"


@BY_NAME
def test_a_column_chosen_as_nothing_is_not_read(name):
    assert name not in recognise([name, *names_but(name)], {name: ""})


def test_a_column_is_read_once():
    mapping = recognise(["query", "document", "sim", "score"])
    assert mapping == {"query_id": "query", "doc_id": "document", "score": "score"}


def test_one_column_cannot_be_chosen_twice():
    with pytest.raises(UsageError, match="One column of the table"):
        recognise(NEEDED, {"score": "relevance", "rank": "relevance"})


@st.composite
def beside(draw, name, text):
    """A name that only an id has, and one that it shares with its text."""
    called = {column.name: {column.name, *column.synonyms} for column in COLUMNS}
    return tuple(
        draw(st.sampled_from(sorted(names)))
        for names in (called[name] - called[text], called[name] & called[text])
    )


@pytest.mark.parametrize(("name", "text"), [("query_id", "query_text"), ("doc_id", "doc_text")])
@given(data=st.data())
def test_a_query_or_a_document_beside_its_id_is_its_text_wherever_it_stands(name, text, data):
    own, shared = data.draw(beside(name, text))
    mapping = recognise(data.draw(st.permutations([own, shared, *names_but(name)])))
    assert (mapping[name], mapping.get(text)) == (own, shared)


def test_the_tag_of_a_trec_run_can_be_chosen_as_the_reranker():
    source = read(File("runs.trec", b"q Q0 a 1 3 bm25\nq Q0 a 1 2 llm\nq Q0 b 2 1 bm25\n"), {"reranker": "tag"})
    runs = Runs.from_sources([source], judged=False)
    assert {name: table["doc_id"].to_pylist() for name, table in runs.tables.items()} == {
        "bm25": ["a", "b"],
        "llm": ["a"],
    }


def test_the_rank_of_a_trec_run_can_be_chosen_as_its_score():
    assert columns(RUN, mapping={"score": "rank"})["score"] == [1, 2, 1, 3]


def stored(table):
    stream = io.BytesIO()
    parquet.write_table(pa.table(table), stream)
    return stream.getvalue()


@pytest.mark.parametrize(
    "data",
    [
        b"query_id,doc_id,score,latency\nq,a,1,0.5\nq,b,2,\nq,c,3, \n",
        b'[{"query_id": "q", "doc_id": "a", "score": 1, "latency": 0.5},'
        b' {"query_id": "q", "doc_id": "b", "score": 2, "latency": null},'
        b' {"query_id": "q", "doc_id": "c", "score": 3}]',
        stored(
            {"query_id": ["q"] * 3, "doc_id": ["a", "b", "c"], "score": [1, 2, 3], "latency": [0.5, None, None]}
        ),
        stored(
            {"query_id": ["q"] * 3, "doc_id": ["a", "b", "c"], "score": [1, 2, 3], "latency": ["0.5", "", None]}
        ),
    ],
    ids=["CSV", "JSON", "Parquet", "Parquet of texts"],
)
def test_a_latency_may_be_missing(data):
    first, *others_latency = columns(data)["latency"]
    assert first == 0.5
    assert all(map(math.isnan, others_latency))


def test_a_latency_of_words_is_refused_with_its_line():
    error = refusal(b"query_id,doc_id,score,latency\nq,a,1,0.5\nq,b,2,fast\n")
    assert error.line == 3
    assert "latency 'fast'" in str(error)


@pytest.mark.parametrize("ranks", [["first", "second"], ["1", ""], ["", ""], ["1", "2nd"]])
def test_a_rank_of_words_is_left_out_with_a_finding(ranks):
    table = "query_id,doc_id,score,relevance,rank\nq,a,1,1,{}\nq,b,2,0,{}\n".format(*ranks).encode()
    source = read(File("t.csv", table))
    assert "rank" not in source.table.column_names
    assert source.unused == ("rank",)
    finding = Runs.from_sources([source]).findings.set_index("code").loc["columns-unused"]
    assert "rank" in finding["message"]


def test_a_trec_run_with_ranks_of_words_is_read_all_the_same():
    runs = Runs.from_sources([read(File("r", b"q Q0 a first 2 t\nq Q0 b second 1 t\n"))], judged=False)
    assert runs.tables["r"]["doc_id"].to_pylist() == ["a", "b"]
    assert "error" not in set(runs.findings["severity"])


SECOND = "query_id,doc_id,score,second\nq1,d1,1,5\nq1,d3,2,4\nq2,d1,3,3\n"


def test_chosen_columns_are_read_in_every_file_that_has_them(write):
    files = [write("a.csv", SECOND), write("b.trec", RUN)]
    runs = read_runs(files, write("qrels.txt", QRELS), columns={"score": "second"})
    assert runs.tables["a"]["score"].to_pylist() == [5, 4, 3]
    assert runs.tables["b"]["score"].to_pylist() == [0.9, 0.9, -1.5, 2.0]


@pytest.mark.parametrize("delimiter", ",;|\t")
def test_a_first_line_with_the_chosen_names_is_a_header(delimiter):
    rows = ["sujet pièce points reste", "q1 d1 0.5 1", "q1 d2 0.5 0"]
    file = File("jugés", "\n".join(rows).replace(" ", delimiter).encode())
    source = read(file, {"query_id": "sujet", "doc_id": "pièce", "score": "points"})
    assert source.format == "table"
    assert source.table.select(["doc_id", "score"]).to_pydict() == {"doc_id": ["d1", "d2"], "score": [0.5, 0.5]}


@pytest.mark.parametrize("score", ["rank", "bm25"])
@pytest.mark.parametrize("first", ["q1\tQ0\td1\t1\t0.5\t{}", "q1 Q0 a,{},b 1 0.5 t"])
def test_a_first_row_that_holds_a_chosen_name_is_still_one_of_a_run(first, score):
    space = "\t" if "\t" in first else " "
    others = (space.join(["q1", "Q0", f"d{place}", str(place), "0.4", "t"]) for place in (2, 3))
    source = read(
        File("run.trec", "\n".join([first.format(score), *others]).encode()), {"score": score}, strict=False
    )
    assert (source.format, len(source.table)) == ("trec-run", 3)


def test_a_file_that_is_none_is_told_the_lines_of_every_format_without_a_header():
    with pytest.raises(ReadError) as refused:
        read(File("five.txt", b"a b c d e\na b c d f\n"))
    assert "TREC run, 6 fields (query Q0 document rank score tag)" in str(refused.value)
    assert "TREC judgments, 4 fields (query 0 document grade)" in str(refused.value)
    assert "MS MARCO run, 3 fields (query document rank)" in str(refused.value)
    assert "a header with query_id, doc_id and score" in str(refused.value)


def test_chosen_columns_are_read_in_the_judgments_alone_where_only_they_have_them(write):
    qrels = write("qrels.csv", "query_id,doc_id,old,new\nq1,d1,0,1\nq2,d1,0,0\n")
    runs = read_runs([write("b.trec", RUN)], qrels, columns={"relevance": "new"})
    assert runs.qrels["relevance"].to_pylist() == [1, 0]


@pytest.mark.parametrize("name", ["score", "relevance", "segment"])
def test_a_chosen_column_that_no_file_has_is_refused_by_name(write, name):
    files = [write("a.csv", SECOND), write("b.trec", RUN)]
    with pytest.raises(UsageError, match="nowhere"):
        read_runs(files, write("qrels.txt", QRELS), columns={name: "nowhere"})


def test_a_chosen_column_of_a_name_that_is_not_ours_is_refused(write):
    with pytest.raises(UsageError, match="nothing"):
        read_runs([write("a.csv", SECOND)], write("qrels.txt", QRELS), columns={"nothing": "second"})


FORMAT_COLUMNS = {
    "trec-run": (RUN, ["query_id", "doc_id", "score"]),
    "trec-qrels": (QRELS, ["query_id", "doc_id", "relevance"]),
    "ranked": (b"q\td\t1\nq\te\t2\n", ["query_id", "doc_id", "rank"]),
    "beir-qrels": (b"query-id\tcorpus-id\tscore\nq\td\t1\n", ["query-id", "corpus-id", "score"]),
    "nested-json": (b'{"q": {"d": 0.5}}', ["query", "document", "value"]),
    "mteb-predictions": (b'{"en": {"test": {"q": {"d": 0.5}}}}', ["query", "document", "value"]),
    "table": (b"query_id,doc_id,score\nq,d,1\n", ["query_id", "doc_id", "score"]),
    "jsonl": (b'{"query_id": "q", "doc_id": "d", "score": 1}', ["query_id", "doc_id", "score"]),
    "parquet": (stored({"query_id": ["q"], "doc_id": ["d"], "score": [1]}), ["query_id", "doc_id", "score"]),
    "json": (b'[{"query_id": "q", "doc_id": "d", "score": 1}]', ["query_id", "doc_id", "score"]),
}


@pytest.mark.parametrize("name", FORMAT_COLUMNS)
@given(ours=st.sampled_from(["query_id", "doc_id"]), column=st.sampled_from([None, 0, 1, 2]))
def test_a_choice_that_leaves_a_format_without_its_ids_is_refused(name, ours, column):
    data, header = FORMAT_COLUMNS[name]
    theirs = "" if column is None else header[column]
    if theirs == header[NEEDED.index(ours)]:
        assert read(File("f", data), {ours: theirs}).format == name
        return
    with pytest.raises((ReadError, UsageError)):
        Runs.from_sources([read(File("f", data), {ours: theirs})], judged=False).findings  # noqa: B018


@pytest.mark.parametrize("name", FORMAT_COLUMNS)
def test_a_choice_that_leaves_neither_scores_nor_grades_is_refused(name):
    data, _ = FORMAT_COLUMNS[name]
    nothing = {"score": "", "relevance": ""}
    with pytest.raises((ReadError, UsageError)):
        Runs.from_sources([read(File("f", data), nothing)], judged=False).findings  # noqa: B018


ROWS = st.lists(
    st.tuples(st.sampled_from("qr"), st.sampled_from("ab"), st.sampled_from([-1.0, 0.0, 0.5, 2.0, math.inf])),
    min_size=1,
    max_size=12,
)
FORMS = {
    "run": ("score", lambda rows: "".join(f"{q} Q0 {d} 1 {s!r} t\n" for q, d, s in rows)),
    "table": (
        "score",
        lambda rows: "query_id,doc_id,score\n" + "".join(f"{q},{d},{s!r}\n" for q, d, s in rows),
    ),
    "qrels": ("relevance", lambda rows: "".join(f"{q} 0 {d} {min(s, 9)!r}\n" for q, d, s in rows)),
}


def rows_kept(rows, repeated):
    """One row of each pair, in order: the first, or the first of the highest value."""
    choice = {}
    for row in rows:
        pair = row[:2]
        if pair not in choice or (repeated == "max" and row[2] > choice[pair][2]):
            choice[pair] = row
    return [row for row in dict.fromkeys(rows) if row in choice.values()]


def joined(form, rows, repeated):
    source = read(File("file", form[1](rows).encode()))
    run = b"other,q,a,1\n"
    other_sources = (
        [] if form[0] == "score" else [read(File("other.csv", b"reranker,query_id,doc_id,score\n" + run))]
    )
    return Runs.from_sources([*other_sources, source], repeated, judged=False)


def table_of(runs, form):
    return runs.qrels if form[0] == "relevance" else runs.tables["file"]


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("repeated", ["first", "max"])
@given(rows=ROWS)
def test_of_a_document_twice_the_row_asked_for_is_kept_and_the_others_counted(form, repeated, rows):
    runs = joined(form, rows, repeated)
    names = ("query_id", "doc_id", form[0])
    rows_read = list(zip(*(table_of(runs, form)[name].to_pylist() for name in names), strict=True))
    expected = rows_kept(rows, repeated)
    assert rows_read == [(q, d, min(s, 9) if form[0] == "relevance" else s) for q, d, s in expected]
    noted = [one for one in runs.noted if one.code == "rows-dropped"]
    pairs = [row[:2] for row in rows]
    dropped = len(pairs) - len(set(pairs))
    assert [(one.file, one.count) for one in noted] == [("file", dropped)] * bool(dropped)
    if noted:
        twice = min(at for at, pair in enumerate(pairs) if pairs.count(pair) > 1)
        again = pairs.index(pairs[twice], twice + 1)
        assert noted[0].line == again + 1 + form[1]([]).count("\n")
        assert f"{dropped:,}" in noted[0].message


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@given(rows=ROWS)
def test_a_document_twice_in_a_list_is_an_error_unless_asked_for(form, rows):
    pairs = [row[:2] for row in rows]
    if len(set(pairs)) == len(pairs):
        assert len(table_of(joined(form, rows, "error"), form)) == len(rows)
        return
    with pytest.raises(ReadError, match="twice") as caught:
        joined(form, rows, "error")
    assert caught.value.file == "file"
    assert f"{len(pairs) - len(set(pairs))} repeated" in str(caught.value)


def test_tables_and_frames_keep_the_row_that_was_asked_for_with_its_grade(write):
    path = write("t.csv", "query_id,doc_id,score,relevance\nq,a,1,1\nq,a,3,0\n")
    frame = pd.DataFrame({"query_id": ["q"] * 2, "doc_id": ["a"] * 2, "score": [1, 3], "relevance": [1, 0]})
    for runs in (read_table(path, repeated="max"), Runs.from_frame(frame, repeated="max")):
        (table,) = runs.tables.values()
        assert (table["score"].to_pylist(), table["relevance"].to_pylist()) == ([3], [0])


def test_a_finding_after_dropped_rows_points_at_the_line_it_is_about():
    run = b"q Q0 a 1 3 t\nq Q0 a 2 2 t\nr Q0 a 1 1 t\n"
    runs = Runs.from_sources([read(File("r", run)), read(File("j", b"q 0 a 1\n"))], "first")
    finding = runs.findings.set_index("code").loc["queries-unjudged"]
    assert finding["line"] == 3


def test_what_else_might_be_done_about_repeats_is_refused():
    with pytest.raises(UsageError, match="last"):
        Runs.from_sources([read(File("t", TABLE))], "last")


SEVERAL = "reranker,query_id,doc_id,score,relevance\n" + "".join(
    f"{name},q,{document},{score},{document == 'b':d}\n"
    for name, scores in {"A": (1, 2), "B": (2, 1), "C": (1, 1)}.items()
    for document, score in zip("ab", scores, strict=True)
)
NAMES = st.dictionaries(st.sampled_from("ABC"), st.text(min_size=1).filter(str.strip), min_size=1).filter(
    lambda names: len(set(names.values())) == len(names)
)


@given(names=NAMES, order=st.randoms(use_true_random=False))
def test_rerankers_are_arranged_as_named_with_their_own_rows_and_scores(names, order):
    runs = Runs.from_sources([read(File("t.csv", SEVERAL.encode()))])
    choice = list(names.items())
    order.shuffle(choice)
    arranged = runs.arranged(dict(choice))
    assert arranged.rerankers == [new for _, new in choice]
    before, after = (evaluate(one, ["RR"]).scores for one in (runs, arranged))
    for old, new in choice:
        assert arranged.tables[new].equals(runs.tables[old])
        assert after.loc[new].equals(before.loc[old])
    assert set(arranged.findings["severity"]) <= {"error", "warning", "info"}
    assert runs.rerankers == ["A", "B", "C"]


def test_arranged_rerankers_keep_judgments_and_where_their_rows_came_from():
    runs = Runs.from_sources([read(File("r.trec", RUN)), read(File("j", b"q1 0 d1 1\n"))])
    arranged = runs.arranged({"r": "new"})
    assert arranged.qrels is runs.qrels
    finding = arranged.findings.set_index("code").loc["queries-unjudged"]
    assert (finding["file"], finding["line"]) == ("r.trec", 3)


@pytest.mark.parametrize("names", [{}, {"D": "x"}, {"A": "x", "B": "x"}, {"A": ""}, {"A": " "}])
def test_rerankers_that_do_not_exist_or_share_a_name_cannot_be_arranged(names):
    with pytest.raises(UsageError):
        Runs.from_sources([read(File("t.csv", SEVERAL.encode()))]).arranged(names)
