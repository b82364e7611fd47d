"""Preferences between two documents, the answers of pairwise rerankers, scored by wins."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from metrics.errors import ReadError
from metrics.runs.columns import ColumnChoice, normalised, recognise, refuse_many_columns
from metrics.runs.files import FileProvenance
from metrics.runs.findings import Finding, make_finding
from metrics.runs.formats.delimited import head_row, header_table
from metrics.runs.formats.format import Format, Head
from metrics.runs.formats.json_records import file_records, first_record, value_arrays
from metrics.runs.source import Source, build_source
from metrics.support.arrays import BoolArray, FloatArray, IntArray
from metrics.support.columns import coded
from metrics.support.wording import part_of, quote


class Comparisons(NamedTuple):
    """Comparisons of documents within lists, by pair.

    Attributes:
        list_of: (n_pairs,) list of each pair.
        is_inconsistent: (n_pairs,) whether the comparisons of a pair disagree.
        n_missing: (n_lists,) number of pairs that were never compared.
        copeland: (n_documents,) pairs won, a tied pair counting half; the more frequent winner wins a pair.

    Source: Copeland, 1951; as PRP-Allpair: Qin et al., arXiv 2306.17563, equation 2.
    """

    list_of: IntArray
    is_inconsistent: BoolArray
    n_missing: IntArray
    copeland: FloatArray

    @classmethod
    def of(
        cls, list_of: IntArray, document: IntArray, opponent: IntArray, results: FloatArray
    ) -> "Comparisons":
        """Group comparisons, (n_rows,) each, by pair; `list_of` (n_documents,) is the list of each document."""
        n_documents = len(list_of)
        keys = np.minimum(document, opponent) * n_documents + np.maximum(document, opponent)
        wins = pd.Series(np.where(document > opponent, 1 - results, results)).groupby(keys)  # of the earlier
        shares = wins.mean()
        first, second = np.divmod(np.asarray(shares.index, np.int64), n_documents)
        outcome = (np.sign(2 * shares.to_numpy() - 1) + 1) / 2
        won = np.bincount(first, outcome, n_documents) + np.bincount(second, 1 - outcome, n_documents)
        copeland = np.asarray(won, np.float64)
        sizes = np.bincount(list_of)
        n_missing = sizes * (sizes - 1) // 2 - np.bincount(list_of[first], minlength=len(sizes))
        is_inconsistent = (wins.max() > wins.min()).to_numpy()
        return cls(list_of[first], is_inconsistent, n_missing, copeland)


def preference_findings(
    comparisons: Comparisons, queries: pa.Array, line_of: Callable[[int], int], file: str
) -> Iterator[Finding]:
    """Report missing and inconsistent comparisons; `queries` holds the query of each list's first document."""
    list_of, is_inconsistent, n_missing, _ = comparisons
    n_pairs, n_inconsistent, n_never = len(list_of), int(is_inconsistent.sum()), int(n_missing.sum())
    again = f"Pairs compared more than once with different results: {part_of(n_inconsistent, n_pairs, 'pair')}"
    never = f"Never compared: {part_of(n_never, n_never + n_pairs, 'pair')}"
    for code, lists, count, message in (
        ("inconsistent", np.unique(list_of[is_inconsistent]), n_inconsistent, again),
        ("missing", np.flatnonzero(n_missing), n_never, never),
    ):
        if len(lists):
            first = int(lists[0])
            in_lists = (
                f"in {part_of(len(lists), len(n_missing), 'list')}, query {quote(queries[first].as_py())}"
            )
            text, line = f"{message}, {in_lists} first.", line_of(first)
            yield make_finding(f"preferences-{code}", file, text, line=line, count=count)


MAX_COMPARISONS = 20_000_000
_STEMS = ("doc", "docid", "document", "documentid", "passage", "passageid", "pid", "item", "candidate")
_FIRST_COLUMNS = ("a", "left", *(f"{stem}{side}" for stem in _STEMS for side in "a1"))
_SECOND_COLUMNS = ("b", "right", *(f"{stem}{side}" for stem in _STEMS for side in "b2"))
_PREFERRED = ("preferred", "preference", "winner", "choice", "chosen", "verdict")
_LABELS = {
    **dict.fromkeys(("a", "1", "left", "first"), 1.0),
    **dict.fromkeys(("b", "2", "right", "second"), 0.0),
    **dict.fromkeys(("tie", "tied", "draw", "equal", "same", "both", "neither"), 0.5),
}
_BEFORE_LABEL = re.compile(r"[\W_]*+(?:passage|document|doc|option|candidate)?[\W_]*+")
_NO_WORD = re.compile(r"[\W_]*+")


def _columns_of(header: Sequence[str], column_choice: Mapping[str, str]) -> dict[str, str]:
    """Return query, perhaps reranker, first, second and preferred → the columns, by name or by choice.

    Empty if these are not comparisons.
    """
    names = {normalised(name): name for name in reversed(header)}
    sides = {
        side: next((names[name] for name in synonyms if name in names), "")
        for side, synonyms in (
            ("first", _FIRST_COLUMNS),
            ("second", _SECOND_COLUMNS),
            ("preferred", _PREFERRED),
        )
    }
    further = [name for name in dict.fromkeys(header) if name not in sides.values()]
    choice = {
        ours: name
        for ours, name in column_choice.items()
        if ours in ("query_id", "reranker") and (not name or name in further)
    }
    keys = {ours: name for ours, name in recognise(further, choice).items() if ours in ("query_id", "reranker")}
    return {**keys, **sides} if all(sides.values()) and "query_id" in keys else {}


def _label(word: str) -> str:
    """Return the label in an answer, without the words and marks around it; in time linear in its length."""
    label = _BEFORE_LABEL.sub("", word.casefold(), count=1)
    return _NO_WORD.sub("", label[::-1], count=1)[::-1]


def is_preferences(head: Head) -> bool:
    """Return whether the header, or the first record, names a query, two documents and the preferred one."""
    if not head.is_json:
        return len(head.header) > 1 and bool(_columns_of(head.header, {}))
    if not any(name.encode() in head.file.head for name in _PREFERRED):
        return False
    return bool(_columns_of(list(first_record(head.file)), {}))


def read_preferences(head: Head, choice: ColumnChoice) -> Source:
    """Read `query,a,b,preferred`, or JSON with these fields; a ReadError names a row without a comparison."""
    if head.is_json:
        records, origin = file_records(head)
        columns = _of_header(head, list(records[0]), choice)
        raw = value_arrays(records, columns.values(), origin)
        values = {ours: raw[name].cast(pa.string()) for ours, name in columns.items()}
    else:
        header = head_row(head)[0]
        refuse_many_columns(head.file.name, header)
        columns = _of_header(head, header, choice)
        table = header_table(head, {}, "preferences", texts=tuple(columns.values()))
        raw = table.values()
        values = {ours: raw[name] for ours, name in columns.items()}
        origin = table.provenance(len(values["first"]))
    return _source(values, columns, origin, choice)


def _of_header(head: Head, header: Sequence[str], choice: ColumnChoice) -> dict[str, str]:
    columns = _columns_of(header, choice.columns)
    if not columns or len(set(header)) < len(header):
        problem = f"the columns {', '.join(header)} are not a query, two documents and the preferred document"
        raise ReadError(head.file.name, problem, "Name the columns query, a, b, preferred, each once.", line=1)
    return columns


def _source(
    values: Mapping[str, pa.Array], columns: Mapping[str, str], origin: FileProvenance, choice: ColumnChoice
) -> Source:
    """Return one row per document of a list, scored by its comparisons.

    `values` are the values of query_id, perhaps reranker, first, second and preferred; `columns` their names.
    """
    _check(values, columns, origin)
    noted: list[Finding] = []
    results = _results(values, columns, origin, noted)
    keys = [ours for ours in ("reranker", "query_id") if ours in columns]
    groups = {ours: coded(values[ours]) for ours in keys}
    list_of_row = np.zeros(len(results), np.int64)
    for group in groups.values():
        list_of_row = list_of_row * max(len(group.dictionary), 1) + group.indices.to_numpy()
    first_row, document, comparisons = _compare(list_of_row, values, results)
    raw = {columns[ours]: group.take(pa.array(first_row)) for ours, group in groups.items()}
    raw["document"], raw["copeland"] = document, pa.array(comparisons.copeland)
    header = [*(columns[ours] for ours in keys), "document", "copeland"]
    usual = {"query_id": columns["query_id"], "doc_id": "document", "score": "copeland"}
    mapping = choice.mapping(origin.file, header, usual)
    rows = origin.take(first_row)
    of_lists = np.unique(list_of_row[first_row], return_index=True)[1]  # the first document of each list
    queries = raw[columns["query_id"]].cast(pa.string()).take(pa.array(of_lists))
    noted += preference_findings(comparisons, queries, rows.take(of_lists).line_of, origin.file)
    return build_source(raw, mapping, rows, "preferences", header, noted, choice.missing_score)


def _compare(
    list_of_row: IntArray, values: Mapping[str, pa.Array], results: FloatArray
) -> tuple[IntArray, pa.Array, Comparisons]:
    """Return the first row of each document of a list, the documents, and their comparisons."""
    sides = [values[ours].cast(pa.string()) for ours in ("first", "second")]
    documents = pa.chunked_array(sides).combine_chunks().dictionary_encode()
    codes = documents.indices.to_numpy().astype(np.int64).reshape(2, -1)
    keys = (list_of_row * len(documents.dictionary) + codes).T.ravel()  # the two of a row side by side
    item_of = pd.factorize(keys)[0]  # documents in order of appearance
    first = np.unique(item_of, return_index=True)[1]
    items, first_row = item_of.reshape(-1, 2), first // 2
    is_known = ~np.isnan(results)
    lists = np.unique(list_of_row[first_row], return_inverse=True)[1]
    comparisons = Comparisons.of(lists, items[is_known, 0], items[is_known, 1], results[is_known])
    return first_row, documents.dictionary.take(pa.array(codes.T.ravel()[first])), comparisons


def _check(values: Mapping[str, pa.Array], columns: Mapping[str, str], origin: FileProvenance) -> None:
    """Raise a ReadError for too many comparisons or none, an empty ID, or a document compared with itself."""
    n_rows = len(values["first"])
    if n_rows > MAX_COMPARISONS:
        raise ReadError(origin.file, f"more than {MAX_COMPARISONS:,} comparisons", "Split it by query.")
    if not n_rows:
        raise ReadError(origin.file, "there are no comparisons", "Export it again and check its size.", line=1)
    for ours, name in columns.items():
        if ours != "preferred":
            ids = values[ours].cast(pa.string())
            is_empty = pc.fill_null(pc.equal(ids, ""), fill_value=True)
            origin.refuse(is_empty, ids, partial("{0} is empty".format, name), "Give every row an ID.")
    first, second = (values[ours].cast(pa.string()) for ours in ("first", "second"))
    is_same, hint = pc.equal(first, second), "Leave the line out."
    origin.refuse(is_same, first, lambda value: f"{value!r} is compared with itself", hint)


def _results(
    values: Mapping[str, pa.Array], columns: Mapping[str, str], origin: FileProvenance, noted: list[Finding]
) -> FloatArray:
    """Return (n_rows,) 1 if the first document is preferred, 1/2 for a tie, 0 otherwise, NaN if unreadable.

    A row names the preferred document by its ID, or else by a label (a or b, 1 or 2, left or right). If all
    rows have labels and not all have IDs or ties, labels win: "1" may be an ID of other rows.

    Raises:
        ReadError: no row names the preferred document.
    """
    answers = pc.fill_null(values["preferred"].cast(pa.string()), "")
    text = pc.utf8_trim_whitespace(answers)
    is_left, is_right = (
        pc.equal(text, values[ours].cast(pa.string())).to_numpy(zero_copy_only=False)
        for ours in ("first", "second")
    )
    words = text.dictionary_encode()
    plain = map(_label, words.dictionary.to_pylist())
    labels = np.array([_LABELS.get(word, np.nan) for word in plain], float)[words.indices.to_numpy()]
    is_id = is_left | is_right
    by_labels = not np.isnan(labels).any() and not (is_id | (labels == 1 / 2)).all()
    results: FloatArray = np.where(is_id & (not by_labels), is_left.astype(float), labels)
    unread = np.flatnonzero(np.isnan(results))
    if len(unread):
        row = int(unread[0])
        if len(unread) == len(results):
            problem = f"{columns['preferred']} {answers[row].as_py()!r} names neither document and is not a tie"
            hint = "Write an ID, a or b, 1 or 2, or tie. No row has a valid preference."
            raise origin.error(row, problem, hint)
        query = quote(values["query_id"].cast(pa.string())[row].as_py())
        share = part_of(len(unread), len(results), "comparison")
        message = f"Comparisons without a readable answer: {share}, query {query} first."
        line = origin.line_of(row)
        noted.append(make_finding("preferences-unread", origin.file, message, line=line, count=len(unread)))
    return results


_SUMMARY = (
    "Preferences between two documents, one row or record each. The column preferred holds a document ID, a or "
    "b, 1 or 2, or tie. The score is Copeland's: pairs won plus half of the tied pairs."
)
FORMATS = (
    Format(
        "preferences",
        _SUMMARY,
        "query,a,b,preferred\nq1,d7,d2,d7\nq1,d2,d7,d7",
        is_preferences,
        read_preferences,
    ),
)
