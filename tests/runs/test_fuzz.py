"""Whatever the bytes: runs, or an error of ours.

pytest -m fuzz tests/runs/test_fuzz.py    20,000 cases in all; not part of a plain run
"""

import io
import json
import re
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow import parquet
from reading import QRELS, RUN
from runs.written import ANY_IDS, PACKED, SCORES, WRITERS, written

from metrics import ReadError, TieScopeError, evaluate
from metrics.runs import File, Runs, as_judgments, as_run, read
from metrics.runs.columns import COLUMNS

CASES = 20_000
FILES = Path(__file__).parent / "files"
SURROGATES = re.compile("[\ud800-\udfff]")
MARKS = [
    *(b"", b"\n", b"\r", b"\r\n", b" ", b"\t", b",", b";", b"|", b'"', b"#", b"\\", b"\x00", b"\xff", b"\x0b"),
    *(b"\x1c", b"\xef\xbb\xbf", b"[", b"]", b"{", b"}", b":", b"PAR1", b"\x1f\x8b", b"\x28\xb5\x2f\xfd"),
]
WORDS = [
    *(b"nan", b"inf", b"-1", b"0.5", b"1.0", b"true", b"null", b"1e400", b"1e300", b"9" * 20, b"9" * 5000),
    *(b"query_id", b"doc_id", b"score", b"q1", b"d1", b'"\\ud800"', b"\xe2\x80\xa8", b"\n" * 25),
    *(b"[" * 70, b'{"a":' * 70),
]
NAMES = [name for column in COLUMNS for name in (column.name, *column.synonyms)]
ODD_NAMES = ["", "note", "query-id", "corpus-id", "\ud800", "a\nb", "0"]
CODECS = ["utf-8-sig", "utf-16", "utf-16-le", "utf-32", "latin-1", "cp1252", "utf-7", "cp037"]
PIECES = st.sampled_from(MARKS + WORDS) | st.binary(max_size=3)


def use(*files, columns=None, repeated="error"):
    """Read the files, join them and score them as far as they go; what is raised is ours and can be shown."""
    names = [f"file {number}" for number in range(len(files))]
    strict = len(files) == 1
    check(
        names, lambda: score([read(file, columns, strict=strict) for file in map(File, names, files)], repeated)
    )


def use_as(run, qrels, columns=None, repeated="error"):
    """The same, each file as what the user says it is."""

    def act():
        source = as_run(read(File("run", run), columns, strict=False))
        score([source, as_judgments(read(File("qrels", qrels), columns, strict=False))], repeated)

    check(["run", "qrels"], act)


def score(sources, repeated):
    runs = Runs.from_sources(sources, repeated)
    assert set(runs.findings["severity"]) <= {"error", "warning", "info"}
    "".join(runs.findings["message"]).encode()
    for table in runs.tables.values():
        table.to_pydict()
    evaluate(runs, ["RR", "Hits@3"])


def check(names, act):
    """A refusal can be shown; where a file is at fault, it begins with its name."""
    refused = None
    try:
        act()
    except TieScopeError as error:
        refused = error
    if refused:  # outside of `except`: no traceback shows what cannot be shown
        assert not SURROGATES.search(str(refused))
    if isinstance(refused, ReadError):
        assert refused.file in names
        assert str(refused).startswith(refused.file)


def edited(draw, data):
    start, length = draw(st.integers(0, len(data))), draw(st.integers(0, 12))
    return data[:start] + draw(PIECES) + data[start + length :]


def edited_near_the_end(draw, data):
    start = max(0, len(data) - draw(st.integers(0, 400)))
    return data[:start] + draw(PIECES) + data[start + draw(st.integers(0, 4)) :]


def with_other_bytes(draw, data):
    """As long as before, so that what counts bytes still counts right."""
    for _ in range(draw(st.integers(1, 4))):
        last = max(0, len(data) - 1)
        position = draw(st.integers(0, last) | st.integers(max(0, last - 1500), last))
        data = data[:position] + draw(st.binary(min_size=1, max_size=1)) + data[position + 1 :]
    return data


def cut_short(draw, data):
    return data[: draw(st.integers(0, len(data)))]


def with_other_lines(draw, data):
    lines = data.split(b"\n")
    return b"\n".join(draw(st.lists(st.sampled_from(lines), max_size=len(lines) + 2)))


def with_other_fields(draw, data):
    """In every line or in one: fields swapped, dropped or doubled."""
    lines, mark = data.split(b"\n"), draw(st.sampled_from([b" ", b"\t", b",", b";", b":"]))
    width = max(line.count(mark) for line in lines) + 1
    order = draw(st.lists(st.integers(0, width - 1), max_size=width + 1))
    edited_line = draw(st.sampled_from([None, *range(len(lines))]))
    for number, line in enumerate(lines):
        fields = line.split(mark)
        if edited_line in (None, number):
            lines[number] = mark.join(fields[one] for one in order if one < len(fields))
    return b"\n".join(lines)


def with_other_names(draw, data):
    old, new = draw(st.sampled_from(NAMES)), draw(st.sampled_from(NAMES + ODD_NAMES))
    return data.replace(old.encode(), new.encode(errors="surrogatepass"))


def with_another_value(draw, data):
    values = [found.span() for found in re.finditer(rb"-?\d+(\.\d+)?(e-?\d+)?|true|false|null", data)]
    if not values:
        return data
    start, end = draw(st.sampled_from(values))
    return data[:start] + draw(st.sampled_from(WORDS)) + data[end:]


def in_another_encoding(draw, data):
    return data.decode(errors="replace").encode(draw(st.sampled_from(CODECS)), errors="replace")


def with_another_file_behind(draw, data):
    return data + draw(st.sampled_from(WRITERS)).sample()


def packed(draw, data):
    return PACKED[draw(st.sampled_from(list(PACKED)))](data)


SPOILS = [
    *(edited, edited_near_the_end, with_other_bytes, cut_short, with_other_lines, with_other_fields),
    *(with_other_names, with_another_value, in_another_encoding, with_another_file_behind, packed),
]


ANSWERS = [
    "rankllm-answers.jsonl",
    "rankgpt-answers.json",
    "preferences.csv",
    "answers.tsv",
    "grade-probabilities.jsonl",
]
"""Files of formats whose rows are made of what a file holds, so that no table is written in them."""


def spoiled(writer):
    """A file of one format, spoiled once or more."""
    return spoiled_data(st.just(writer.sample()) | written(writer).map(lambda pair: pair[1]))


@st.composite
def spoiled_data(draw, files):
    """Bytes, spoiled once or more."""
    data = draw(files)
    for spoil in draw(st.lists(st.sampled_from(SPOILS), min_size=1, max_size=4)):
        data = spoil(draw, data)
    return data


JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 3)
    | st.sampled_from([2**53 + 1, 2**63, 10**400, 1e300, float("inf"), float("nan"), "\ud800", "1", "true", ""])
    | SCORES
    | ANY_IDS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(NAMES + ODD_NAMES) | ANY_IDS, inner, max_size=5)
    ),
    max_leaves=20,
)
IN_CELLS = st.sampled_from(
    ["q1", "d1", "", None, True, 1, 1.0, 0.5, 1e300, 2**63, float("inf"), "\ud800", "1", [1]]
)
KINDS = st.sampled_from(
    [
        *(ANY_IDS, SCORES, IN_CELLS, st.booleans(), st.integers(-2, 2), st.integers(), st.just("\ud800")),
        *(st.none() | st.just(1.0), st.just(1e300), st.sampled_from([1, "1", 1.0, None, True])),
    ]
)
FIELDS = ["query_id", "doc_id", "score", "relevance", "rank", "latency", "reranker", "note", "\ud800"]


@st.composite
def records(draw):
    """Records whose columns hold a kind of value each; now and then one is none."""
    usual = draw(st.booleans())
    names = ["query_id", "doc_id", "score"] * usual + draw(st.lists(st.sampled_from(FIELDS), max_size=4))
    kinds = {name: draw(KINDS) for name in names}
    rows = [{name: draw(kind) for name, kind in kinds.items()} for _ in range(draw(st.integers(1, 4)))]
    return rows if draw(st.integers(0, 5)) else [*rows, draw(JSON_VALUES)]


LISTS = st.dictionaries(
    ANY_IDS,
    KINDS.flatmap(lambda kind: st.dictionaries(ANY_IDS, kind, max_size=3)) | JSON_VALUES,
    max_size=3,
)
ARROW = [
    pa.array(["q1", "d1"]),
    pa.array(["1.5", "true"], pa.large_string()),
    pa.array(["", None], pa.string_view()),
    pa.array(["q1", "q1"]).dictionary_encode(),
    pa.array([None, "d1"]).dictionary_encode(),
    pa.array([1, 2]),
    pa.array([1, 2**64 - 1], pa.uint64()),
    pa.array([1.0, 2.0]),
    pa.array([0.5, float("nan")]),
    pa.array([1e300, float("inf")]),
    pa.array([1, 2], pa.float16()),
    pa.array([True, None]),
    pa.array([None, None]),
    pa.array([1, 2], pa.decimal128(20, 2)),
    pa.array([1, 2], pa.timestamp("ms")),
    pa.array([1, 2], pa.duration("s")),
    pa.array([1, 2], pa.date32()),
    pa.array([b"q1", b"\xff"]),
    pa.array([b"q1", b"d1"], pa.binary(2)),
    pa.array([[1], [2]]),
    pa.array([{"a": 1}, None]),
    pa.array([[("a", 1)], []], pa.map_(pa.string(), pa.int8())),
]
ENCODABLE = [name for name in NAMES + ODD_NAMES if name.isprintable()]


def stored(columns):
    """A Parquet file of these columns, which may share names."""
    names, arrays = zip(*columns, strict=True)
    stream = io.BytesIO()
    parquet.write_table(pa.table(list(arrays), names=list(names)), stream)
    return stream.getvalue()


USUAL = ["query_id", "doc_id", "score", "relevance"]
OF_FORMATS = ["rank", "tag", "iteration", "query", "document", "value", "query-id", "corpus-id"]
SPOILED = (
    {writer.name: spoiled(writer) for writer in WRITERS}
    | {name: spoiled_data(st.just((FILES / name).read_bytes())) for name in ANSWERS}
    | {
        "random bytes": st.binary(max_size=200),
        "random pieces": st.lists(PIECES, max_size=30).map(b"".join),
        "JSON of any shape": (JSON_VALUES | records() | LISTS).map(lambda value: json.dumps(value).encode()),
        "JSON lines of any shape": records().map(lambda lines: "\n".join(map(json.dumps, lines)).encode()),
        "Parquet of any types": st.lists(
            st.tuples(st.sampled_from(USUAL) | st.sampled_from(ENCODABLE), st.sampled_from(ARROW)),
            min_size=1,
            max_size=6,
        ).map(stored),
        "Parquet of usual columns": st.tuples(*[st.sampled_from(ARROW)] * len(USUAL)).map(
            lambda arrays: stored(list(zip(USUAL, arrays, strict=True)))
        ),
    }
)
CHOICES = st.none() | st.dictionaries(
    st.sampled_from([*USUAL * 3, *(column.name for column in COLUMNS), "nothing"]),
    st.sampled_from([*[*USUAL, *OF_FORMATS, ""] * 5, *NAMES, *ODD_NAMES]),
    min_size=1,
    max_size=2,
)
REPEATED = st.sampled_from(["error", "first", "max"])


def use_everyhow(data, choice, repeated):
    """As whatever it is, as a run, as judgments, and as both."""
    use(data, columns=choice, repeated=repeated)
    use(RUN, data, columns=choice, repeated=repeated)
    use_as(data, QRELS, choice, repeated)
    use_as(RUN, data, choice, repeated)
    use_as(data, data, choice, repeated)


@settings(max_examples=100, suppress_health_check=[HealthCheck.too_slow])
@given(st.one_of(*SPOILED.values()), CHOICES, REPEATED)
def test_spoiled_files_of_every_format_give_runs_or_an_error_of_ours(data, choice, repeated):
    use_everyhow(data, choice, repeated)


@pytest.mark.fuzz
@pytest.mark.parametrize("kind", SPOILED)
@settings(max_examples=-(-CASES // len(SPOILED)), suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_twenty_thousand_spoiled_files_give_runs_or_an_error_of_ours(kind, data):
    use_everyhow(data.draw(SPOILED[kind]), data.draw(CHOICES), data.draw(REPEATED))
