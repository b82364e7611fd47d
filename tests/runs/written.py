"""Small tables, and each of them in every format as another tool would write it."""

import gzip
import io
import json
import math
from collections.abc import Callable
from dataclasses import dataclass

import pyarrow as pa
from hypothesis import strategies as st
from pyarrow import parquet

from metrics.runs.columns import COLUMNS, recognise

BOM = b"\xef\xbb\xbf"
ENDS = {"LF": "\n", "CRLF": "\r\n"}
PACKED = {
    "plain": lambda data: data,
    "gzip": lambda data: gzip.compress(data, mtime=0),
    "zstd": lambda data: pa.compress(data, codec="zstd", asbytes=True),
}
SAMPLE = {
    "query_id": ["q1", "q1", "q1", "q2"],
    "doc_id": ["d2", "d1", "d3", "d1"],
    "score": [0.9, 0.9, 2.0, -1.5],
    "relevance": [0.0, 1.0, 2.0, 0.0],
}
"""Four rows of two lists that every format can hold some columns of."""

_NUMBER_LIKE = ["007", "7", "7.0", "-0", "1e5", "0x1F", "NaN", "nan", "null", "None", "true", "inf", "1_000"]
_MARKED = ["a,b", "a;b", "a|b", "'", "a'b", "=1+1", "@x", "-", "\\", "\\n", 'd"1"', '"d', "[x]", "{x}", "#1"]
_SPACED = [" ", " d 1 ", "a\tb", "two\nlines", "two\r\nlines", "\r", "\n", '" "', "a \n b"]
_FOREIGN = ["é", "e\u0301", "文書7", "𝒹₁", "\u2028", "a\u0085b", "\u00a0", "x\ufeff", "\x1c", "\x7f"]
_SPACES = "\0\ufeff \t\n\r\v\f"


def _texts(without):
    """Ids as people and programs write them, without some characters."""
    awkward = [text for text in (*_NUMBER_LIKE, *_MARKED, *_SPACED, *_FOREIGN) if not set(text) & set(without)]
    anything = st.text(
        st.characters(exclude_categories=["Cs"], exclude_characters=without), min_size=1, max_size=6
    )
    return st.integers(0, 20).map(str) | st.sampled_from(awkward) | anything


IDS = _texts("\0")
"""Ids of a table in text: anything but NUL, by which a binary file is told."""
ANY_IDS = _texts("")
"""Ids where the format escapes or counts its letters."""


def _words(delimiter=""):
    """Ids of lines without quotes; a first line that holds the name of a column is taken for a header."""
    return _texts(_SPACES + delimiter).filter(lambda word: not recognise([word]))


def _first_words(delimiter=""):
    """Ids that begin such a line; `test_round_trip` has those that begin like another format."""
    return _words(delimiter).filter(lambda word: word[0] not in "[{")


SCORES = (
    st.sampled_from([0.0, -0.0, 0.5, 0.5, 1.0, -1.5, 0.1, 1 / 3, 5e-324, 1e-310, 1e22, math.inf, -math.inf])
    | st.floats(allow_nan=False)
    | st.floats(-1, 1, width=32)
)
GRADES = st.integers(-2, 4).map(float) | st.floats(allow_nan=False, allow_infinity=False)
WHOLE_GRADES = st.integers(-2, 4).map(float)
_SECONDS = st.floats(0, 1e6) | st.just(math.nan)
_RANKS = st.integers(0, 10**6).map(float)
_EXTRAS = ["second", "score 2", "logit(b)", "p@x"]


@st.composite
def tables(draw, ids):
    """A long table: {column: values}, columns in any order; some are left out where they may be."""
    kinds = {
        "query_id": ids,
        "doc_id": ids,
        "score": SCORES,
        "relevance": GRADES,
        "reranker": ids,
        "target_id": ids,
        "rank": _RANKS,
        "latency": _SECONDS,
        "segment": ids | st.just(""),
        "query_text": ids | st.just(""),
        "doc_text": ids | st.just(""),
    } | dict.fromkeys(_EXTRAS, SCORES)
    needed = ["query_id", "doc_id", draw(st.sampled_from(["score", "relevance"]))]
    free = [name for name in kinds if name not in needed]
    used = needed + draw(st.lists(st.sampled_from(free), unique=True, max_size=5))
    n_rows = draw(st.integers(1, 6))
    return {name: draw(_column(kinds[name], n_rows)) for name in draw(st.permutations(used))}


def _column(values, n_rows):
    few = st.lists(values, min_size=1, max_size=3).flatmap(st.sampled_from)
    return st.lists(values | few, min_size=n_rows, max_size=n_rows)


def _of(**kinds):
    """Tables of these columns and no others."""
    return st.integers(1, 6).flatmap(
        lambda n_rows: st.fixed_dictionaries({name: _column(kind, n_rows) for name, kind in kinds.items()})
    )


def rows_of_distinct_documents(table):
    """The table with each document once in a list: the first of each."""
    pairs = list(zip(table["query_id"], table["doc_id"], strict=True))
    first = [row for row, pair in enumerate(pairs) if pair not in pairs[:row]]
    return {name: [values[row] for row in first] for name, values in table.items()}


def _by_query(table):
    """The same rows, those of one query together."""
    queries = list(dict.fromkeys(table["query_id"]))
    order = sorted(range(len(table["query_id"])), key=lambda row: queries.index(table["query_id"][row]))
    return {name: [values[row] for row in order] for name, values in table.items()}


def _lines(rows, end):
    return "".join(row + end for row in rows).encode()


def _ranks(table):
    """Ranks within each list, from 1, in the order of the rows."""
    queries = table["query_id"]
    return [queries[: row + 1].count(query) for row, query in enumerate(queries)]


def trec_run(table, end="\n", mark=" "):
    """`q1 Q0 d2 1 0.9 tag`."""
    rows = zip(table["query_id"], table["doc_id"], table["score"], strict=True)
    return _lines((mark.join([q, "Q0", d, str(n), repr(s), "tag"]) for n, (q, d, s) in enumerate(rows)), end)


def trec_qrels(table, end="\n", mark=" "):
    """`q1 0 d1 1`."""
    rows = zip(table["query_id"], table["doc_id"], table["relevance"], strict=True)
    return _lines((mark.join([q, "0", d, f"{g!r}".removesuffix(".0")]) for q, d, g in rows), end)


def letor(table, end="\n"):
    """`1 qid:q1 1:0.5 # docid = d1`."""
    rows = zip(table["query_id"], table["doc_id"], table["relevance"], strict=True)
    return _lines((f"{g!r} qid:{q} 1:0.5 2:-1e3 # docid = {d}" for q, d, g in rows), end)


def ms_marco(table, end="\n"):
    """`q1 d2 1`: the rank in place of a score."""
    rows = zip(table["query_id"], table["doc_id"], _ranks(table), strict=True)
    return _lines((f"{query}\t{document}\t{rank}" for query, document, rank in rows), end)


def delimited(table, end="\n", mark=","):
    """A header, and fields in quotes where they need them."""

    def field(value):
        text = "" if _missing(value) else value if isinstance(value, str) else repr(value)
        return '"' + text.replace('"', '""') + '"' if set(text) & {mark, '"', "\n", "\r"} else text

    rows = [list(table), *zip(*table.values(), strict=True)]
    return _lines((mark.join(map(field, row)) for row in rows), end)


def beir(table, end="\n"):
    """Judgments that call their grades scores."""
    names = {"query_id": "query-id", "doc_id": "corpus-id", "relevance": "score"}
    return delimited({new: table[old] for old, new in names.items()}, end, "\t")


def _records(table):
    rows = zip(*table.values(), strict=True)
    return [
        {name: None if _missing(value) else value for name, value in zip(table, row, strict=True)}
        for row in rows
    ]


def _missing(value):
    return isinstance(value, float) and math.isnan(value)


def json_array(table, end="\n", **options):
    """`[{"query_id": "q1", ...}, ...]`."""
    return json.dumps(_records(table), **options).replace("\n", end).encode()


def json_lines(table, end="\n", **options):
    """`{"query_id": "q1", ...}`, one a line."""
    return _lines((json.dumps(record, **options) for record in _records(table)), end)


def nested(table, end="\n", value="score", above=(), **options):
    """`{"q1": {"d2": 0.9}}`, perhaps inside of others; grades as whole numbers."""
    lists = {query: {} for query in table["query_id"]}
    for query, document, number in zip(table["query_id"], table["doc_id"], table[value], strict=True):
        lists[query][document] = number if value == "score" else int(number)
    for name in reversed(above):
        lists = {name: lists}
    return json.dumps(lists, **options).replace("\n", end).encode()


def as_parquet(table, end="\n", *, text=None, store_schema=True, compression="snappy", group=None):  # noqa: ARG001
    """A Parquet file: with its Arrow types, as pandas and polars write, or without."""
    kind = text or pa.string()
    columns = {
        name: pa.array(values, kind if isinstance(values[0], str) else pa.float64(), from_pandas=True)
        for name, values in table.items()
    }
    stream = io.BytesIO()
    parquet.write_table(pa.table(columns), stream, group, compression=compression, store_schema=store_schema)
    return stream.getvalue()


_AS_IS = st.just({})


@dataclass(frozen=True)
class Writer:
    """Writes a table as a file of one format.

    Attributes:
        name: for people.
        format: what it is recognised as.
        holds: our columns that it can hold; None where it can hold all.
        tables: tables to write.
        write: (table, line end, options) → bytes.
        options: how else it may be written.
        text: whether it is text, which may begin with a byte order mark.
    """

    name: str
    format: str
    holds: tuple[str, ...] | None
    tables: st.SearchStrategy
    write: Callable[..., bytes]
    options: st.SearchStrategy = _AS_IS
    text: bool = True

    def sample(self, end="\n"):
        """The sample, written."""
        return self.write(SAMPLE, end)

    def expected(self, table):
        """What is read of a table: our columns in our order, then others in the file's."""
        ours = [column.name for column in COLUMNS if column.name in table]
        names = [*ours, *(name for name in table if name not in ours)]
        columns = {name: table[name] for name in self.holds or names}
        if "score" not in columns and "rank" in columns:
            columns = {
                "score" if name == "rank" else name: [-rank for rank in values] if name == "rank" else values
                for name, values in columns.items()
            }
        return columns | (
            {"score": [-float(rank) for rank in _ranks(table)]} if self.format == "ranked" else {}
        )


_RUN, _QRELS = ("query_id", "doc_id", "score"), ("query_id", "doc_id", "relevance")
WORDS = _words()
_JUDGED = _of(query_id=_first_words(), doc_id=WORDS, relevance=GRADES)


def unquoted_runs(delimiter=""):
    """Runs for lines without quotes: no id holds a space, nor what else cuts the lines."""
    return _of(query_id=_first_words(delimiter), doc_id=_words(delimiter), score=SCORES)


_SEPARATED = st.fixed_dictionaries({"mark": st.sampled_from(" \t")})
_DUMPED_LINE = st.fixed_dictionaries({"ensure_ascii": st.booleans()})
_DUMPED = st.fixed_dictionaries({"ensure_ascii": st.booleans(), "indent": st.sampled_from([None, 2])})
_STORED = st.fixed_dictionaries(
    {
        "text": st.sampled_from(
            [None, pa.large_string(), pa.string_view(), pa.dictionary(pa.int32(), pa.string())]
        ),
        "store_schema": st.booleans(),
        "compression": st.sampled_from(["none", "snappy", "gzip", "zstd", "brotli"]),
        "group": st.sampled_from([None, 1, 2]),
    }
)


def _marked(mark):
    return lambda table, end="\n": delimited(table, end, mark)


WRITERS = (
    Writer("TREC run", "trec-run", _RUN, unquoted_runs(), trec_run, _SEPARATED),
    Writer(
        "TREC qrels",
        "trec-qrels",
        _QRELS,
        _JUDGED,
        trec_qrels,
        _SEPARATED,
    ),
    Writer("LETOR", "letor", _QRELS, _of(query_id=WORDS, doc_id=WORDS, relevance=GRADES), letor),
    Writer("MS MARCO run", "ranked", _RUN[:2], _of(query_id=_first_words(), doc_id=WORDS), ms_marco),
    Writer("CSV", "table", None, tables(IDS), _marked(",")),
    Writer("TSV", "table", None, tables(IDS), _marked("\t")),
    Writer("semicolon table", "table", None, tables(IDS), _marked(";")),
    Writer("BEIR qrels", "beir-qrels", _QRELS, _of(query_id=IDS, doc_id=IDS, relevance=WHOLE_GRADES), beir),
    Writer("JSON records", "json", None, tables(ANY_IDS), json_array, _DUMPED),
    Writer("JSONL", "jsonl", None, tables(ANY_IDS), json_lines, _DUMPED_LINE),
    Writer(
        "nested JSON of scores",
        "nested-json",
        _RUN,
        _of(query_id=ANY_IDS, doc_id=ANY_IDS, score=SCORES).map(rows_of_distinct_documents).map(_by_query),
        nested,
        _DUMPED,
    ),
    Writer(
        "nested JSON of grades",
        "nested-json",
        _QRELS,
        _of(query_id=ANY_IDS, doc_id=ANY_IDS, relevance=WHOLE_GRADES)
        .map(rows_of_distinct_documents)
        .map(_by_query),
        lambda table, end="\n", **options: nested(table, end, "relevance", **options),
        _DUMPED,
    ),
    Writer(
        "MTEB predictions",
        "mteb-predictions",
        _RUN,
        _of(query_id=ANY_IDS, doc_id=ANY_IDS, score=SCORES).map(rows_of_distinct_documents).map(_by_query),
        lambda table, end="\n", **options: nested(table, end, above=("default", "test"), **options),
        _DUMPED,
    ),
    Writer("Parquet", "parquet", None, tables(ANY_IDS), as_parquet, _STORED, text=False),
)
"""Every format, once or in each of its shapes."""


@st.composite
def written(draw, writer):
    """A table, and a file of it: packed or not, with either line end, with and without a byte order mark."""
    table, end = draw(writer.tables), draw(st.sampled_from(list(ENDS.values())))
    data = writer.write(table, end, **draw(writer.options))
    mark = BOM if writer.text and draw(st.booleans()) else b""
    return table, PACKED[draw(st.sampled_from(list(PACKED)))](mark + data)
