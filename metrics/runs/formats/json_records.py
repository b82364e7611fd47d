"""JSON: records in an array or one per line, and scores or rankings by query."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa

from metrics.errors import ReadError
from metrics.runs.columns import BY_NAME, ColumnChoice, recognise, refuse_many_columns
from metrics.runs.files import MAX_LINE, File, FileProvenance, lines_of
from metrics.runs.findings import Finding, make_finding
from metrics.runs.formats.answers import (
    grade_columns,
    has_probabilities,
    is_listwise,
    preference_columns,
    preferences_source,
    probabilities_source,
    rank_by_answers,
    without_tokens,
)
from metrics.runs.formats.shapes import (
    LISTS,
    MODEL,
    RECORD,
    Record,
    Shape,
    excerpt,
    holds_objects,
    list_of_ids,
    refuse_unscored,
    relevant_ids,
    run_and_judgments,
    shape_of,
    singular,
)
from metrics.runs.source import Source, build_source
from metrics.runs.worded_grades import answer_column
from metrics.support.arrays import BoolArray
from metrics.support.cached import cached_property
from metrics.support.wording import describe_part

MAX_JSON = 2**28
"""Largest JSON document, in bytes, unless it has one record per line: it is parsed at once."""
MAX_DEPTH = 64
_COSTS = {b"{": 260, b"[": 100, b",": 75}
"""Mark → bytes of memory that the object, array or further value takes in which it begins."""
_ROW_BYTES, _NAME_BYTES, _TEXT_BYTES = 80, 200, 2
"""Bytes of memory of a value in an array, which becomes a row, of a distinct name, and of a byte of text."""
_NAMES = 2**22
"""Most distinct names that are told apart."""
_MAX_RATIO, _FREE_BYTES = 15, 600_000_000
"""Most bytes of memory for each byte of a file, and bytes of memory that every file may take."""
_NO_BRACKET = bytes({*range(256)} - {*b'[{]}"'})
_STEPS = np.zeros(256, np.int8)
_STEPS[[*b"[{"]], _STEPS[[*b"]}"]] = 1, -1
_HALF = re.compile(rb"\\u[dD][89a-fA-F]")


def parse_file(file: File) -> Any:  # noqa: ANN401 whatever JSON holds
    """Parse the file as one JSON value that is not empty; a ReadError if it is too large or too deep."""
    if refuse_much_memory(file) > MAX_JSON:
        problem = f"JSON of more than {MAX_JSON // 2**20} MB without one record per line"
        raise ReadError(file.name, problem, "Write one record per line (JSONL), or Parquet.")
    value = parse(file, b"".join(file.blocks()))
    if not value:
        raise no_records(file.name)
    return value


def refuse_much_memory(file: File) -> int:
    """Return the unpacked size; a ReadError if the parsed file may take too much memory.

    The memory is estimated from the number of objects, arrays, values and distinct names.
    """
    size, counts, names = 0, Counter[bytes](), np.zeros(_NAMES, bool)
    for block in file.blocks():
        size += len(block)
        counts.update({mark: block.count(mark) for mark in (*_COSTS, b":")})
        _mark_names(block, names)
        n_values = sum(counts[mark] for mark in _COSTS)
        memory = sum(cost * counts[mark] for mark, cost in _COSTS.items()) + _TEXT_BYTES * size
        memory += _ROW_BYTES * max(0, counts[b","] - counts[b":"] - counts[b"{"])
        memory += _NAME_BYTES * int(np.count_nonzero(names))
        if n_values > MAX_VALUES:
            raise ReadError(file.name, f"JSON of more than {MAX_VALUES:,} values", "Write CSV or Parquet.")
        if memory > _FREE_BYTES and memory > _MAX_RATIO * file.unpacked_size:
            problem = f"JSON that may take more than {_MAX_RATIO} times its size in memory"
            raise ReadError(file.name, problem, "Write CSV or Parquet.")
    return size


def _mark_names(block: bytes, names: BoolArray) -> None:
    """Mark the names in a block, told apart by a hash of their last seven bytes."""
    letters = np.frombuffer(block, np.uint8)
    colons = np.flatnonzero(letters[8:] == ord(":"))
    if len(colons):
        tails = np.lib.stride_tricks.sliding_window_view(letters, 8)[colons][:, ::-1]
        is_name = np.logical_and.accumulate(tails[:, 1:] != ord('"'), axis=1)
        numbers = np.pad(tails[:, 1:] * is_name, ((0, 0), (0, 1))).view(np.uint64).ravel()
        names[(numbers * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(42)] = True


def parse(file: File, data: bytes, line: int | None = None) -> Any:  # noqa: ANN401 whatever JSON holds
    """Parse one JSON value of a file.

    Raises:
        ReadError: not valid JSON, or JSON that cannot be stored; names the line.
    """
    if data.count(b"[") + data.count(b"{") > MAX_DEPTH and _depth(data) > MAX_DEPTH:
        problem = f"more than {MAX_DEPTH} levels of nesting"
        raise ReadError(file.name, problem, "Write records or lists.", line=line)
    try:
        text = data.decode()  # json.loads would accept encoded halves of surrogate pairs
        value = json.loads(text, object_pairs_hook=_object)
        if _HALF.search(data):
            json.dumps(value, ensure_ascii=False).encode()
    except ValueError as error:
        problem, hint, error_line = _explain(error, data)
        raise ReadError(file.name, problem, hint, line=line or error_line) from error
    return value


def _explain(error: ValueError, data: bytes) -> tuple[str, str, int | None]:
    """Return what is wrong with JSON, what to do, and the line if known."""
    match error:
        case UnicodeEncodeError():
            return "half a surrogate pair (such as \\ud800)", "Correct it.", None
        case json.JSONDecodeError():
            return f"not valid JSON: {error.msg.lower()}", "Export it again.", error.lineno
        case UnicodeDecodeError():
            return "the text is not UTF-8", "Save it as UTF-8.", data.count(b"\n", 0, error.start) + 1
        case _RepeatedNameError():
            return f"{error.args[0]!r} appears twice in one object", "Keep one of them.", None
    return "a number has too many digits", "Shorten it.", None


class _RepeatedNameError(ValueError):
    """An object has a name twice."""


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    by_name = dict(pairs)
    if len(by_name) < len(pairs):
        counts = Counter(name for name, _ in pairs)
        raise _RepeatedNameError(next(name for name, count in counts.items() if count > 1))
    return by_name


def _depth(data: bytes) -> int:
    """Return the deepest nesting of brackets outside of strings."""
    plain = data.replace(rb"\\", b"").replace(rb"\"", b"").translate(None, _NO_BRACKET)
    letters = np.frombuffer(plain, np.uint8)
    is_outside = np.cumsum(letters == ord('"'), dtype=np.uint8) % 2 == 0
    return int(np.cumsum(_STEPS[letters] * is_outside, dtype=np.int32).max(initial=0))


def no_records(file: str) -> ReadError:
    """Return the error of a file without records."""
    return ReadError(file, "there are no records", "Export it again and check its size.", line=1)


MAX_VALUES = 50_000_000
"""Most values of a JSON file, before parsing and again when rows repeat the values of a record."""


@dataclass(frozen=True)
class FlatRecords:
    """Rows made of records.

    Attributes:
        rows: column → value, for each row.
        origin: the file, and the line of each row.
        usual: our column → the default field of an opened array.
        noted: findings.
    """

    rows: Sequence[Record]
    origin: FileProvenance
    usual: Mapping[str, str]
    noted: tuple[Finding, ...] = ()

    @cached_property
    def header(self) -> list[str]:
        """All column names, in order of appearance."""
        return list(dict.fromkeys(chain.from_iterable(self.rows)))


def flatten(
    records: Sequence[Record],
    origin: FileProvenance,
    choice: ColumnChoice,
    usual: Sequence[tuple[str, str]] = (),
) -> FlatRecords:
    """Turn records into rows; records that already have all columns stay unchanged.

    `{"q": {"id": 7}}` has the column `q.id`. Each hit of `{"q": 7, "hits": [{"d": 1}, {"d": 2}]}` is a row with
    `q` and `hits.d`. Only arrays that hold a needed column are opened. `usual` is as in `Shape`.

    Raises:
        ReadError: several arrays may hold the documents.
    """
    flat = _open_parallel_lists(FlatRecords(records, origin, {}), choice)
    if _is_complete(flat, choice):
        return flat
    flat = replace(flat, rows=[dict(leaf_fields(record)) for record in flat.rows])
    known = recognise(flat.header)
    names = {ours: name for ours, name in reversed(usual) if name in flat.header and ours not in known}
    flat = replace(flat, usual=names)
    while not _is_complete(flat, choice) and (array := _array_to_open(flat, choice)):
        flat = _open_array(flat, array, usual)
    return flat


def _open_parallel_lists(flat: FlatRecords, choice: ColumnChoice) -> FlatRecords:
    """Give each document of `{doc_ids: [...], scores: [...], relevance: [...]}` a row of its own.

    Without scores and grades, documents rank in the order given.

    Raises:
        ReadError: the lists of a record differ in length.
    """
    first, chosen = (flat.rows[0] if flat.rows else {}), choice.columns.values()
    ids = choice.columns.get("doc_id", "")
    ids = ids if isinstance(first.get(ids), list) else list_of_ids(first)
    if not ids or holds_objects(first[ids]):
        return flat
    rows, owners = list[Record](), list[int]()
    for number, record in enumerate(flat.rows):
        lists = {name: value for name, value in record.items() if isinstance(value, list)}
        n = len(lists.get(ids, ()))
        plain = {name: name if name in chosen else singular(name) for name in lists} | {ids: "doc_id"}
        unequal = [name for name in lists if len(lists[name]) != n and recognise([plain[name]])]
        if ids not in lists or unequal:
            problem = f"{', '.join([*unequal, ids])} are not lists of equal length"
            raise flat.origin.error(number, problem, "Give every document a score and a grade.")
        parallel = {plain[name]: value for name, value in lists.items() if len(value) == n}
        if ids in chosen:
            parallel[ids] = parallel.pop("doc_id")
        shared = {name: value for name, value in record.items() if name not in lists}
        if not {"score", "relevance", "rank"} & recognise([*parallel, *shared]).keys():
            parallel["rank"] = [*range(1, n + 1)]
        rows += [
            shared | dict(zip(parallel, entry, strict=True)) for entry in zip(*parallel.values(), strict=True)
        ]
        owners += [number] * n
        if len(rows) > MAX_RECORDS:
            raise ReadError(flat.origin.file, f"more than {MAX_RECORDS:,} rows", "Write Parquet.")
    return replace(flat, rows=rows, origin=flat.origin.take(owners))


def _is_complete(flat: FlatRecords, choice: ColumnChoice) -> bool:
    """Return whether the rows have the chosen columns and those of a run or judgments."""
    header = flat.header
    if any("." in theirs and theirs not in header for theirs in choice.columns.values()):
        return False
    mapping = recognise(header, replace(choice, strict=False).among(header, flat.usual))
    objects = [name for name, value in (flat.rows[0] if flat.rows else {}).items() if isinstance(value, dict)]
    has_score = "score" in mapping and mapping["score"] not in objects
    has_maps = bool(grade_columns(f"{name}.0" for name in objects))
    if mapping.get("doc_id") in objects or (has_maps and not has_score):
        return False
    return {"query_id", "doc_id"} <= mapping.keys() and bool({"score", "relevance"} & mapping.keys())


def leaf_fields(record: Record, prefix: str = "") -> Iterator[tuple[str, object]]:
    """Yield the fields of a record and of its nested objects, by dotted names."""
    for name, value in record.items():
        if isinstance(value, dict):
            yield from leaf_fields(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value


def _array_to_open(flat: FlatRecords, choice: ColumnChoice) -> str | None:
    """Select the array of objects with the needed columns; a ReadError if several are possible."""
    arrays: dict[str, set[str]] = {}
    for row in flat.rows:
        for name, value in row.items():
            if isinstance(value, list) and value and all(isinstance(entry, dict) for entry in value):
                arrays.setdefault(name, set()).update(chain.from_iterable(value))
    unread = [theirs for theirs in choice.columns.values() if theirs not in flat.header]
    chosen = [name for theirs in unread for name in arrays if theirs.startswith(f"{name}.")]
    with_ids = [name for name, fields in arrays.items() if "doc_id" in recognise(list(fields))]
    candidates = chosen[:1] or with_ids or [*arrays]
    if len(candidates) > 1:
        problem = f"several arrays may hold the documents: {', '.join(candidates)}"
        hint = f"Choose a column by its dotted name: doc_id={candidates[0]}.NAME."
        raise ReadError(flat.origin.file, problem, hint)
    return candidates[0] if candidates else None


def _open_array(flat: FlatRecords, array: str, usual: Sequence[tuple[str, str]]) -> FlatRecords:
    """Give each object of an array a row of its own; rows without objects are dropped."""
    rows, owners, n_empty, n_values = list[Record](), list[int](), 0, 0
    for number, row in enumerate(flat.rows):
        entries = row.get(array)
        outer = {name: value for name, value in row.items() if name != array}
        inner = entries if isinstance(entries, list) else []
        if not all(isinstance(entry, dict) for entry in inner):
            problem = f"{array} holds values that are not objects"
            raise flat.origin.error(number, problem, "Write one object per document.")
        n_values += len(outer) * len(inner)
        if n_values > MAX_VALUES:
            problem = (
                f"copying each record's other fields to every document in {array} would create more than "
                f"{MAX_VALUES:,} values"
            )
            raise flat.origin.error(number, problem, "Leave out fields that you do not need, or write Parquet.")
        rows += [outer | dict(leaf_fields(entry, f"{array}.")) for entry in inner]
        owners += [number] * len(inner)
        n_empty += not inner
        inner.clear()  # or the objects would take memory twice
    fields = dict.fromkeys(name for row in rows for name in row if name.startswith(f"{array}."))
    leaves = {name.removeprefix(f"{array}."): name for name in fields}
    inside = {ours: leaves[leaf] for ours, leaf in reversed(usual) if leaf in leaves}
    inside |= {ours: leaves[leaf] for ours, leaf in recognise(list(leaves)).items()}
    noted = flat.noted
    if n_empty:
        message = f"{describe_part(n_empty, len(flat.rows), 'record', f'have nothing in {array}')}."
        noted = (*noted, make_finding("records-empty", flat.origin.file, message, count=n_empty))
    return FlatRecords(rows, flat.origin.take(owners), {**flat.usual, **inside}, noted)


def cell_documents(cell: object) -> object:
    """Return the list of documents that a cell of a table holds, also as JSON; other cells unchanged.

    {document: score} and [[document, score], ...] become records.
    """
    if isinstance(cell, str) and cell.lstrip().startswith(("[", "{")):
        with suppress(ValueError, RecursionError):
            cell = json.loads(cell if '"' in cell else cell.replace("'", '"'), object_pairs_hook=_object)
    if isinstance(cell, np.ndarray | tuple | list):  # a copy: lists are emptied as they are opened
        cell = cell.tolist() if isinstance(cell, np.ndarray) else [*cell]
    if isinstance(cell, dict) and "doc_id" in recognise([*cell]):
        return [cell]
    pairs = [*cell.items()] if isinstance(cell, dict) else cell
    if isinstance(pairs, list) and all(isinstance(pair, list | tuple) and len(pair) == 2 for pair in pairs):  # noqa: PLR2004
        return [{"doc_id": document, "score": score} for document, score in pairs]
    return cell


MAX_RECORDS = 10_000_000
"""Most records of a file; a record takes far more memory than its text."""
_MANY_LINES = re.compile(rb"\s*\{[^\n]*\}\s*\n\s*[^\s,\]}]")
"""An object that ends with its line, before something else than the rest of a larger object or array."""


def _has_a_record_a_line(file: File) -> bool:
    """Return whether a file is JSON lines, by its first line and the start of the next."""
    text = bytearray()
    for block in file.blocks():
        text += block
        if b"\n" in block.strip() or len(text) > MAX_LINE:
            break
    return bool(_MANY_LINES.match(text))


def _line_records(file: File) -> tuple[Sequence[Record], FileProvenance]:
    """Read one record per line; a ReadError names a line that is not a record."""
    refuse_much_memory(file)
    records, lines, names = [], [], dict[str, str]()
    for line, text in enumerate(lines_of(file), 1):
        if not text.strip():
            continue
        record = parse(file, text, line)
        if not isinstance(record, dict):
            problem = f"{excerpt(record)} is not a record"
            raise ReadError(file.name, problem, "Write {column: value} on each line.", line=line)
        records.append({names.setdefault(name, name): value for name, value in record.items()})
        lines.append(line)
        if len(records) > MAX_RECORDS:
            raise ReadError(file.name, f"more than {MAX_RECORDS:,} records", "Write Parquet.", line=line)
    return records, FileProvenance(file.name, lambda row: lines[row])


def records_source(
    records: Sequence[Record],
    origin: FileProvenance,
    format_name: str,
    choice: ColumnChoice,
    usual: Sequence[tuple[str, str]] = (),
) -> Source:
    """Turn records into a source; `usual` as in `Shape`.

    Raises:
        ReadError: the columns of a run or of judgments are missing, or a value cannot be read.
    """
    refuse_many_columns(origin.file, set().union(*records))
    first, noted = records[0] if records else {}, list[Finding]()
    if is_listwise(first):
        format_name = "listwise"
        records, choice, noted = rank_by_answers(records, origin, choice)
    elif truth := relevant_ids(first):
        return _with_relevant_ids(records, origin, format_name, choice, truth)
    elif columns := preference_columns([*first], choice.columns):
        return preferences_source(value_arrays(records, columns.values(), origin), columns, origin, choice)
    flat = flatten(records, origin, choice, usual)
    if records and not _is_complete(flat, choice):
        refuse_unscored(origin.file, first)
    rows, origin, header = flat.rows, flat.origin, without_tokens(flat.header)
    if not header:
        raise no_records(origin.file)
    if len(rows) > MAX_RECORDS:
        raise ReadError(origin.file, f"more than {MAX_RECORDS:,} rows", "Write Parquet.")
    if has_probabilities(header):
        return _with_probabilities(flat, header, choice)
    answers = answer_column(header, [rows[0].get(name) for name in header])
    mapping = choice.mapping(origin.file, header, {**answers, **flat.usual})
    raw = value_arrays(rows, [*mapping.values(), *_number_columns(rows, header, mapping)], origin)
    noted = [*flat.noted, *noted]
    source = build_source(raw, mapping, origin, format_name, header, noted, choice.missing_score)
    return source.note_unused()


def _number_columns(rows: Sequence[Record], header: Sequence[str], mapping: Mapping[str, str]) -> list[str]:
    """Return the further columns of numbers, which all rows have."""
    return [
        name
        for name in header
        if name not in mapping.values()
        and name not in BY_NAME
        and all(name in row for row in rows)
        and {type(row[name]) for row in rows} - {type(None)} in ({int}, {float}, {int, float})
    ]


def _with_probabilities(flat: FlatRecords, header: Sequence[str], choice: ColumnChoice) -> Source:
    """Read records with probabilities of grades; a ReadError if these are too many."""
    rows, origin = flat.rows, flat.origin
    refuse_many_columns(origin.file, header)
    grades = grade_columns(header)
    plain = [name for name in header if name not in grades]
    if len(grades) * len(rows) > MAX_VALUES:
        problem = (
            f"{len(grades):,} grades for {len(rows):,} documents make more than {MAX_VALUES:,} probabilities"
        )
        raise ReadError(origin.file, problem, "Split the file by query.", line=1)
    mapping = recognise(plain, replace(choice, strict=False).among(plain, flat.usual))
    names = [*mapping.values(), *grades, *_number_columns(rows, plain, mapping)]
    columns = value_arrays(rows, names, origin)
    return probabilities_source(columns, header, flat.usual, origin, choice, flat.noted)


def _with_relevant_ids(
    records: Sequence[Record], origin: FileProvenance, format_name: str, choice: ColumnChoice, truth: str
) -> Source:
    """Read `{query, retrieved_ids, expected_ids}`, as LlamaIndex and RAGAS have it: a ranking and judgments."""
    runs = [{name: value for name, value in record.items() if name != truth} for record in records]
    source = records_source(runs, origin, format_name, choice)
    query = source.mapping["query_id"]
    judged, owners = list[Record](), list[int]()
    for row, record in enumerate(records):
        ids = record.get(truth) or []
        if not isinstance(ids, list):
            raise origin.error(row, f"{truth} holds {excerpt(ids)}", "Write a list of IDs.")
        judged += [{"query_id": record.get(query), "doc_id": name, "relevance": 1} for name in ids]
        owners += [row] * len(ids)
    rows = origin.take(owners)
    judgments = records_source(judged, rows, format_name, ColumnChoice({})) if judged else None
    finding = make_finding("columns-told", origin.file, f"{truth} lists the relevant documents of each query.")
    return replace(source, judgments=judgments, noted=(*source.noted, finding))


def value_arrays(rows: Sequence[Record], names: Iterable[str], origin: FileProvenance) -> dict[str, pa.Array]:
    """Return some columns of rows; errors as in `value_array`."""
    return {name: value_array([row.get(name) for row in rows], name, origin) for name in names}


def value_array(values: list[object], name: str, origin: FileProvenance) -> pa.Array:
    """Return truth values and numbers unchanged, everything else as text.

    Raises:
        ReadError: a value is an array or object, or text that is not Unicode.
    """
    types = set(map(type, values)) - {type(None)}
    if types & {dict, list, bytes}:
        row = next(row for row, value in enumerate(values) if isinstance(value, dict | list | bytes))
        hint = "Give text or a number"
        if isinstance(value := values[row], dict) and value:
            hint += f", or choose a field inside it: {', '.join(f'{name}.{field}' for field in value)}"
        raise origin.error(row, f"{name} holds {excerpt(value)}", f"{hint}.")
    if types <= {bool}:
        return pa.array(values, pa.bool_())
    with suppress(OverflowError, pa.ArrowInvalid):
        if types <= {int}:
            return pa.array(values, pa.int64())
        if types <= {int, float}:  # whole numbers that no float64 holds stay text
            return pa.array(values, pa.float64())
    try:
        texts = (json.dumps(value) if isinstance(value, int | float) else value for value in values)
        texts = (value if isinstance(value, str | None) else str(value) for value in texts)  # dates, decimals
        return pa.array(texts, pa.string())
    except UnicodeEncodeError as error:
        raise ReadError(origin.file, f"{name} holds text that is not Unicode", "Correct it.") from error


_IS_JSON = re.compile(
    rb'\s*(?:\{\s*(?:\}|"(?:[^"\\]|\\.)*"\s*:)'
    rb'|\[\s*(?:[\[{\]]|(?:-?\d|"|true|false|null)[^\s,]*\s*[,\]]))'
)
_NUMBERED = "The lists do not name their queries, so the queries are numbered from 0."


def is_json(file: File) -> bool:
    """Return whether a file begins as JSON does, and not with an ID in brackets."""
    return bool(_IS_JSON.match(file.head))


def read_json(file: File, choice: ColumnChoice) -> Source:
    """Read JSON of any shape; `{"results": lists, "qrels": lists}` are a run with judgments.

    Raises:
        ReadError: other JSON, a value that cannot be read, or a query in two groups.
    """
    if _has_a_record_a_line(file):
        return records_source(*_line_records(file), "jsonl", choice)
    document = parse_file(file)
    if (names := run_and_judgments(document)) is None:
        return _document_source(file, document, choice)
    sources = []
    for name, value in zip(names, ("score", "relevance"), strict=False):
        part = document[name]
        if not isinstance(part, dict) or not part:
            problem = f"{name} holds {excerpt(part)}"
            raise ReadError(file.name, problem, "Write {query: [document, document]}.")
        sources.append(_document_source(file, part, replace(choice, columns={}), value))
    run, *judgments = sources
    if not judgments:
        return run
    return replace(run, judgments=judgments[0], noted=(*run.noted, *judgments[0].noted))


def _document_source(file: File, document: Any, choice: ColumnChoice, value: str = "") -> Source:  # noqa: ANN401 whatever JSON holds
    """Read a document as its shape says; `value` is what plain values are, if that is known."""
    shape = shape_of(document)
    if shape.leaf == "value":
        return _values_source(file, document, choice, shape, value)
    records = shape.records(file.name, document)
    origin = FileProvenance(file.name, lambda row: row + 1, "record")
    format_name = "jsonl" if shape is RECORD and b"\n" not in file.head.strip() else shape.format
    source = records_source(records, origin, format_name, choice, shape.usual)
    is_numbered = shape.path == ("[]", "[]") and source.mapping["query_id"] == "query_id"
    noted = [make_finding("columns-told", file.name, _NUMBERED)] if is_numbered else []
    return replace(source, noted=(*source.noted, *noted))


def _values_source(file: File, document: Any, choice: ColumnChoice, shape: Shape, value: str) -> Source:  # noqa: ANN401 as above
    """Read `{query: {document: number}}`, perhaps in subsets and splits, or `{query: [document, ...]}`.

    Numbers are grades if all are whole; lists are rankings without scores, best first, or relevant documents.
    Several subsets, splits or tasks become query groups, named by their differences.
    """
    model = document.pop(MODEL, None)
    lists = list(shape.lists(file.name, document))
    if not lists:
        raise no_records(file.name)
    queries = [keys[-1] for keys, values in lists for _ in values]
    documents = [document for _, values in lists for document in values]
    if shape.format == LISTS:
        ours = "relevance" if value == "relevance" else "rank"
        places = [range(1, len(values) + 1) for _, values in lists]
        numbers = [place if ours == "rank" else 1 for of_list in places for place in of_list]
    else:
        numbers = [number for _, values in lists for number in values.values()]
        ours = value or ("relevance" if all(isinstance(number, int) for number in numbers) else "score")
    fields: dict[str, list[Any]] = {"query": queries, "document": documents, "value": numbers}
    usual = {"query_id": "query", "doc_id": "document", ours: "value"}
    segments = _segments(file, [keys for keys, _ in lists])
    if len(set(segments)) > 1:
        usual["segment"] = "segment"
        fields["segment"] = [segment for segment, (_, part) in zip(segments, lists, strict=True) for _ in part]
    name = model.get("model_name") if isinstance(model, dict) else None
    if ours == "score" and isinstance(name, str) and name.strip():
        usual["reranker"], fields["model"] = "model", [name] * len(numbers)
    origin = FileProvenance(file.name, lambda row: row + 1, "entry")
    mapping = choice.mapping(file.name, tuple(fields), usual)
    raw = {field: value_array(values, field, origin) for field, values in fields.items()}
    return build_source(raw, mapping, origin, shape.format, [*fields], missing_score=choice.missing_score)


def _segments(file: File, paths: Sequence[Sequence[str]]) -> list[str]:
    """Join the names above each query that differ between lists.

    Raises:
        ReadError: two groups share a query ID, so that judgments could not tell them apart.
    """
    levels = [level for level in range(len(paths[0]) - 1) if len({path[level] for path in paths}) > 1]
    segments = ["/".join(path[level] for level in levels) for path in paths]
    owners: dict[str, str] = {}
    for path, segment in zip(paths, segments, strict=True):
        if (other := owners.setdefault(path[-1], segment)) != segment:
            problem = f"query {path[-1]!r} is in both {other} and {segment}"
            hint = "Give each subset or split its own file or its own query IDs."
            raise ReadError(file.name, problem, hint)
    return segments
