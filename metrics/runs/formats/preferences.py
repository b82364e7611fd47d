"""Preferences between two documents at a time, as pairwise rerankers answer, scored by who wins."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from metrics.errors import ReadError, needs
from metrics.runs.columns import ColumnChoice, normalised, recognise, refuse_many_columns
from metrics.runs.files import FileProvenance
from metrics.runs.findings import Finding, make_finding
from metrics.runs.formats.delimited import DelimitedTable, head_row
from metrics.runs.formats.format import Format, Head
from metrics.runs.formats.json_records import file_records, first_record, value_array
from metrics.runs.source import Source, build_source
from metrics.support.arrays import BoolArray, FloatArray, IntArray, coded
from metrics.support.cached import cached_property
from metrics.support.wording import part_of, quote

_LEVEL = 1e-6
"""Abilities closer than this are level: the optimiser ends far nearer to the maximum."""
_GRADIENT = 1e-10


@dataclass(frozen=True, eq=False)
class Comparisons:
    """Comparisons of documents within lists, those of one pair together.

    Attributes:
        list_of: (n_documents,) list of each document.
        first: (n_pairs,) a document.
        second: (n_pairs,) the other one, a later one than `first`.
        n: (n_pairs,) how often the two were compared.
        wins: (n_pairs,) how often `first` won, a tie being half a win.
        is_inconsistent: (n_pairs,) whether the comparisons of the two differ.
    """

    list_of: IntArray
    first: IntArray
    second: IntArray
    n: IntArray
    wins: FloatArray
    is_inconsistent: BoolArray

    @classmethod
    def of(
        cls, list_of: IntArray, document: IntArray, opponent: IntArray, results: FloatArray
    ) -> "Comparisons":
        """Put the comparisons of each pair together.

        Shapes: `list_of` (n_documents,), `document` (n_rows,), `opponent` (n_rows,), `results` (n_rows,).
        """
        is_swapped = document > opponent
        results = np.where(is_swapped, 1 - results, results)
        keys = np.minimum(document, opponent) * len(list_of) + np.maximum(document, opponent)
        pairs, pair_of, n = np.unique(keys, return_inverse=True, return_counts=True)
        wins = _sums(pair_of, results, len(pairs))
        squares = _sums(pair_of, results**2, len(pairs))
        is_inconsistent = squares * n != wins**2  # no spread: results are halves, so exact
        return cls(list_of, pairs // len(list_of), pairs % len(list_of), n, wins, is_inconsistent)

    @cached_property
    def n_lists(self) -> int:
        """How many lists there are."""
        return int(self.list_of.max(initial=-1)) + 1

    @cached_property
    def n_missing(self) -> IntArray:
        """(n_lists,) pairs of documents that were never compared."""
        n_documents = np.bincount(self.list_of, minlength=self.n_lists)
        compared = np.bincount(self.list_of[self.first], minlength=self.n_lists)
        return n_documents * (n_documents - 1) // 2 - compared

    @cached_property
    def outcome(self) -> FloatArray:
        """(n_pairs,) 1 where `first` won more often, 0 where it lost, else 1/2."""
        return (np.sign(2 * self.wins - self.n) + 1) / 2

    @cached_property
    def copeland(self) -> FloatArray:
        """(n_documents,) pairs won, and half of those that are level; won is what was won more often.

        Source: Copeland, 1951; as PRP-Allpair: Qin et al., arXiv 2306.17563, equation 2.
        """
        n = len(self.list_of)
        return _sums(self.first, self.outcome, n) + _sums(self.second, 1 - self.outcome, n)

    @cached_property
    def components(self) -> IntArray:
        """(n_documents,) part of its list that comparisons connect each document with."""
        return self._connected("weak", np.ones(len(self.n), bool))

    @cached_property
    def is_in_cycle(self) -> BoolArray:
        """(n_documents,) whether each won, directly or over others, against one that won so against it."""
        parts = self._connected("strong", self.outcome != 1 / 2)
        return np.bincount(parts, minlength=1)[parts] > 1

    def _connected(self, connection: str, is_edge: BoolArray) -> IntArray:
        with needs("stats"):
            from scipy.sparse import coo_array  # noqa: PLC0415 other formats need not pay for it
            from scipy.sparse.csgraph import connected_components  # noqa: PLC0415 as above

        n = len(self.list_of)
        is_lost = self.outcome == 0
        winner = np.where(is_lost, self.second, self.first)[is_edge]
        loser = np.where(is_lost, self.first, self.second)[is_edge]
        graph = coo_array((np.ones(len(winner), np.int8), (winner, loser)), shape=(n, n))
        parts: IntArray = connected_components(graph.tocsr(), connection=connection)[1].astype(np.int64)
        return parts

    def bradley_terry(self) -> FloatArray:
        """Return (n_documents,) the log ability of each: log P(i beats j) / P(j beats i) is their difference.

        The maximum of the likelihood, a tie being half a win of each, and each document having one tie with a
        document of ability 0: so the maximum exists and is one, whatever was compared, and documents that
        nothing connects can be compared. Abilities that differ by less than 1e-6 are level.

        Source: Bradley and Terry, Biometrika 1952; Hunter, Annals of Statistics 2004.
        """
        with needs("stats"):
            from scipy.optimize import minimize  # noqa: PLC0415 as above

        start = np.zeros(len(self.list_of))
        options = {"gtol": _GRADIENT * max(1, int(self.n.sum())) ** 0.5, "maxiter": 1000}
        fit = minimize(
            self._loss, start, method="trust-ncg", jac=self.gradient, hessp=self._curvature, options=options
        )
        return self._levelled(np.asarray(fit.x))

    def _loss(self, ability: FloatArray) -> float:
        """Return minus the logarithm of the likelihood."""
        lead = ability[self.first] - ability[self.second]
        losses = self.wins * np.logaddexp(0, -lead) + (self.n - self.wins) * np.logaddexp(0, lead)
        return float(losses.sum() + (np.logaddexp(0, ability) + np.logaddexp(0, -ability)).sum() / 2)

    def gradient(self, ability: FloatArray) -> FloatArray:
        """Return (n_documents,) the slope of minus the logarithm of the likelihood; 0 at its maximum."""
        surplus = self.n * _chance(ability[self.first] - ability[self.second]) - self.wins
        return self._spread(surplus) + _chance(ability) - 1 / 2

    def _curvature(self, ability: FloatArray, direction: FloatArray) -> FloatArray:
        """Return the second derivative times a direction."""
        chance, own = _chance(ability[self.first] - ability[self.second]), _chance(ability)
        lead = direction[self.first] - direction[self.second]
        return self._spread(self.n * chance * (1 - chance) * lead) + own * (1 - own) * direction

    def _spread(self, of_pairs: FloatArray) -> FloatArray:
        """Return (n_documents,) the sums over pairs, added for the first and taken from the second."""
        n = len(self.list_of)
        return _sums(self.first, of_pairs, n) - _sums(self.second, of_pairs, n)

    def _levelled(self, ability: FloatArray) -> FloatArray:
        """Return abilities with those of a list that differ by next to nothing made equal."""
        order = np.lexsort((ability, self.list_of))
        ordered, lists = ability[order], self.list_of[order]
        is_first = np.ones(len(order), bool)
        is_first[1:] = (lists[1:] != lists[:-1]) | (np.diff(ordered) > _LEVEL)
        levelled = np.empty_like(ability)
        levelled[order] = ordered[is_first][np.cumsum(is_first) - 1]
        return levelled


def _chance(lead: FloatArray) -> FloatArray:
    """Return the chance to win with a lead in ability."""
    with needs("stats"):
        from scipy.special import expit  # noqa: PLC0415 as above

    chances: FloatArray = expit(lead)
    return chances


def _sums(places: IntArray, values: FloatArray, n: int) -> FloatArray:
    """Return (n,) the sum of the values at each place."""
    return np.asarray(np.bincount(places, values, n), np.float64)


def preference_findings(
    comparisons: Comparisons, queries: pa.Array, line_of: Callable[[int], int], file: str
) -> list[Finding]:
    """Return what is missing from comparisons, and where they contradict each other: counted.

    Shapes: `queries` (n_documents,).
    """

    def finding(code: str, message: str, lists: IntArray, count: int) -> Finding:
        document = int(np.argmax(comparisons.list_of == lists[0]))
        text = f"{message}, query {quote(queries[document].as_py())} first."
        return make_finding(code, file, text, line=line_of(document), count=count)

    findings, n_lists = [], comparisons.n_lists
    inconsistent = int(comparisons.is_inconsistent.sum())
    if inconsistent:
        lists = np.unique(comparisons.list_of[comparisons.first[comparisons.is_inconsistent]])
        pairs = part_of(inconsistent, len(comparisons.n), "pair")
        message = f"Compared again with another answer: {pairs}, in {part_of(len(lists), n_lists, 'list')}"
        findings.append(finding("preferences-inconsistent", message, lists, inconsistent))
    missing = int(comparisons.n_missing.sum())
    if missing:
        lists = np.flatnonzero(comparisons.n_missing)
        pairs = part_of(missing, missing + len(comparisons.n), "pair")
        message = f"Never compared: {pairs}, in {part_of(len(lists), n_lists, 'list')}"
        findings.append(finding("preferences-missing", message, lists, missing))
    parts = np.unique(np.stack([comparisons.list_of, comparisons.components]), axis=1)[0]
    apart = np.flatnonzero(np.bincount(parts, minlength=n_lists) > 1)
    if len(apart):
        share = part_of(len(apart), n_lists, "list")
        message = f"Documents that no chain of comparisons connects, in {share}"
        findings.append(finding("preferences-apart", message, apart, len(apart)))
    in_cycles = int(comparisons.is_in_cycle.sum())
    if in_cycles:
        lists = np.unique(comparisons.list_of[comparisons.is_in_cycle])
        documents = part_of(in_cycles, len(comparisons.list_of), "document")
        message = f"In a circle of preferences: {documents}, in {part_of(len(lists), n_lists, 'list')}"
        findings.append(finding("preferences-cycles", message, lists, len(lists)))
    return findings


MAX_COMPARISONS = 20_000_000
"""Most comparisons of a file."""
MAX_PAIRS = 1_000_000
"""Most pairs of which Bradley-Terry scores are sought: it takes seconds."""
_STEMS = ("doc", "docid", "document", "documentid", "passage", "passageid", "pid", "item", "candidate")
_FIRST_COLUMNS = ("a", "left", *(f"{stem}{side}" for stem in _STEMS for side in "a1"))
_SECOND_COLUMNS = ("b", "right", *(f"{stem}{side}" for stem in _STEMS for side in "b2"))
_PREFERRED = ("preferred", "preference", "winner", "choice", "chosen", "verdict")
_LABELS = {
    **dict.fromkeys(("a", "1", "left", "first"), 1.0),
    **dict.fromkeys(("b", "2", "right", "second"), 0.0),
    **dict.fromkeys(("tie", "tied", "draw", "equal", "same", "both", "neither"), 0.5),
}
_AROUND_LABEL = re.compile(r"\A[\W_]*(?:passage|document|doc|option|candidate)?[\W_]*+|[\W_]+\Z")
_SCORES = ("copeland", "bradley_terry")


@dataclass(frozen=True)
class _Columns:
    """Which columns of a file hold its comparisons.

    Attributes:
        query: what was asked.
        shown_first: the document that was shown first.
        shown_second: the other one.
        preferred: which of them the model prefers.
        reranker: who answered; None where no column says so.
    """

    query: str
    shown_first: str
    shown_second: str
    preferred: str
    reranker: str | None

    @classmethod
    def of(cls, header: Sequence[str], column_choice: Mapping[str, str]) -> "_Columns | None":
        """Return the columns by their names, or as the user chose; None where these are no comparisons."""
        names = {normalised(name): name for name in reversed(header)}
        sides = [
            next((names[name] for name in synonyms if name in names), None)
            for synonyms in (_FIRST_COLUMNS, _SECOND_COLUMNS, _PREFERRED)
        ]
        shown_first, shown_second, preferred = sides
        if shown_first is None or shown_second is None or preferred is None:
            return None
        further_columns = [name for name in dict.fromkeys(header) if name not in sides]
        chosen_ids = {ours: name for ours, name in column_choice.items() if ours in ("query_id", "reranker")}
        mapping = recognise(
            further_columns,
            {ours: name for ours, name in chosen_ids.items() if not name or name in further_columns},
        )
        if "query_id" not in mapping:
            return None
        return cls(mapping["query_id"], shown_first, shown_second, preferred, mapping.get("reranker"))


def is_preferences(head: Head) -> bool:
    """Return whether the header, or the first record, names a query, two documents and which is preferred."""
    if not head.is_json:
        return len(head.header) > 1 and _Columns.of(head.header, {}) is not None
    if not any(name.encode() in head.file.head for name in _PREFERRED):
        return False
    return _Columns.of(list(first_record(head.file)), {}) is not None


def read_preferences(head: Head, choice: ColumnChoice) -> Source:
    """Read `query,a,b,preferred`, or JSON with these fields; a ReadError names a row that is no comparison."""
    return _read_json(head, choice) if head.is_json else _read_table(head, choice)


def _read_table(head: Head, choice: ColumnChoice) -> Source:
    header, line, _ = head_row(head)
    refuse_many_columns(head.file.name, header)
    columns = _of_header(head, header, choice)
    texts = {"target_id": columns.shown_first, "segment": columns.shown_second, "query_text": columns.preferred}
    keys = {"query_id": columns.query} | ({"reranker": columns.reranker} if columns.reranker else {})
    table = DelimitedTable(
        file=head.file,
        header=header,
        mapping={**keys, **texts},  # each to a column of ours that is read as text, the ids as codes
        format="preferences",
        layout=head.layout,
        n_skipped=None if line is None else line - 1,
    )
    values = table.values()
    return _source(values, columns, table.provenance(len(values[columns.shown_first])), choice)


def _read_json(head: Head, choice: ColumnChoice) -> Source:
    records, origin = file_records(head.file)
    columns = _of_header(head, list(records[0]), choice)
    names = [name for name in vars(columns).values() if name is not None]
    raw = {name: value_array([record.get(name) for record in records], name, origin) for name in names}
    return _source({name: column.cast(pa.string()) for name, column in raw.items()}, columns, origin, choice)


def _of_header(head: Head, header: Sequence[str], choice: ColumnChoice) -> _Columns:
    columns = _Columns.of(header, choice.columns)
    if columns is None or len(set(header)) < len(header):
        problem = f"no query, two documents and which is preferred among {', '.join(header)}"
        raise ReadError(head.file.name, problem, "Name the columns query, a, b, preferred, each once.", line=1)
    return columns


def _source(
    values: Mapping[str, pa.Array], columns: _Columns, origin: FileProvenance, choice: ColumnChoice
) -> Source:
    """Return a row for each document of a list, scored by its comparisons."""
    _check(values, columns, origin)
    results, noted = _results(values, columns, origin)
    keys = [name for name in (columns.reranker, columns.query) if name is not None]
    groups = [coded(values[name]) for name in keys]
    list_of_row = np.zeros(len(results), np.int64)
    for group in groups:
        list_of_row = list_of_row * max(len(group.dictionary), 1) + group.indices.to_numpy()
    first_row, document, comparisons = _compare(list_of_row, values, columns, results)
    raw = {name: group.take(pa.array(first_row)) for name, group in zip(keys, groups, strict=True)}
    raw["document"], raw["copeland"] = document, pa.array(comparisons.copeland)
    if "bradley_terry" in choice.columns.values():  # dear, so only where it is wanted
        if len(comparisons.n) > MAX_PAIRS:
            problem = f"more than {MAX_PAIRS:,} pairs, for which bradley_terry would take minutes"
            raise ReadError(origin.file, problem, "Choose copeland as the score, or split the file by query.")
        raw["bradley_terry"] = pa.array(comparisons.bradley_terry())
    header = [*keys, "document", *_SCORES]
    usual = {"query_id": columns.query, "doc_id": "document", "score": "copeland"}
    mapping = choice.mapping(origin.file, header, usual)
    queries = groups[-1].take(pa.array(first_row)).cast(pa.string())
    findings = preference_findings(
        comparisons, queries, lambda item: origin.line_of(int(first_row[item])), origin.file
    )
    rows = replace(origin, line_of=lambda row: origin.line_of(int(first_row[row])))
    return build_source(raw, mapping, rows, "preferences", header, (*noted, *findings), choice.missing_score)


def _compare(
    list_of_row: IntArray, values: Mapping[str, pa.Array], columns: _Columns, results: FloatArray
) -> tuple[IntArray, pa.Array, Comparisons]:
    """Return the row that each document of a list first stands in, the documents, and their comparisons."""
    sides = [values[name].cast(pa.string()) for name in (columns.shown_first, columns.shown_second)]
    documents = pa.chunked_array(sides).combine_chunks().dictionary_encode()
    codes = documents.indices.to_numpy().astype(np.int64).reshape(2, -1)
    keys = (list_of_row * len(documents.dictionary) + codes).T.ravel()  # left and right of a row side by side
    item_of = pd.factorize(keys)[0]  # documents in the order in which the file first names them
    first = np.unique(item_of, return_index=True)[1]
    items, first_row = item_of.reshape(-1, 2), first // 2
    is_known = ~np.isnan(results)
    lists = np.unique(list_of_row[first_row], return_inverse=True)[1]
    comparisons = Comparisons.of(lists, items[is_known, 0], items[is_known, 1], results[is_known])
    return first_row, documents.dictionary.take(pa.array(codes.T.ravel()[first])), comparisons


def _check(values: Mapping[str, pa.Array], columns: _Columns, origin: FileProvenance) -> None:
    """Raise a ReadError where comparisons are too many, or of nothing, or of a document with itself."""
    shown_first, shown_second = values[columns.shown_first], values[columns.shown_second]
    if len(shown_first) > MAX_COMPARISONS:
        raise ReadError(origin.file, f"more than {MAX_COMPARISONS:,} comparisons", "Split it by query.")
    if not len(shown_first):
        raise ReadError(origin.file, "there is no comparison", "Export it again and check its size.", line=1)
    for name in (columns.query, columns.reranker, columns.shown_first, columns.shown_second):
        if name is not None:
            _refuse_empty(values[name].cast(pa.string()), name, origin)
    shown_first, shown_second = shown_first.cast(pa.string()), shown_second.cast(pa.string())
    hint = "Leave the line out."
    origin.refuse(
        pc.equal(shown_first, shown_second),
        shown_first,
        lambda value: f"{value!r} is compared with itself",
        hint,
    )


def _refuse_empty(ids: pa.Array, name: str, origin: FileProvenance) -> None:
    """Raise a ReadError at the first row of a column, by its name, that has no id."""
    is_empty = pc.fill_null(pc.equal(ids, ""), fill_value=True)
    origin.refuse(is_empty, ids, lambda _: f"{name} is empty", "Give every row an id.")


def _results(
    values: Mapping[str, pa.Array], columns: _Columns, origin: FileProvenance
) -> tuple[FloatArray, list[Finding]]:
    """Return (n_rows,) 1 where the left document is preferred, 1/2 for a tie, 0; NaN where it cannot be read.

    The preferred one is named by its id; or as a or b, 1 or 2, left or right, in any row where that is no id,
    and in all rows where not every row names an id and every row can be read so.

    Raises:
        ReadError: no row says which is preferred.
    """
    preferred_texts = pc.fill_null(values[columns.preferred].cast(pa.string()), "")
    text = pc.utf8_trim_whitespace(preferred_texts)
    is_left, is_right = (
        pc.equal(text, values[name].cast(pa.string())).to_numpy(zero_copy_only=False)
        for name in (columns.shown_first, columns.shown_second)
    )
    words = text.dictionary_encode()
    by_word = np.array([_label(word) for word in words.dictionary.to_pylist()], float)
    labels = by_word[words.indices.to_numpy()]
    is_id = is_left | is_right
    by_labels = not np.isnan(labels).any() and not (is_id | (labels == 1 / 2)).all()
    results = np.where(is_id & (not by_labels), is_left.astype(float), labels)
    unread = np.flatnonzero(np.isnan(results))
    if not len(unread):
        return results, []
    row = int(unread[0])
    if len(unread) == len(results):
        problem = (
            f"{columns.preferred} {preferred_texts[row].as_py()!r} is neither of the two documents, nor a tie"
        )
        raise origin.error(row, problem, "Give an id, a or b, 1 or 2, or tie; no row of the file does.")
    query, share = (
        values[columns.query].cast(pa.string())[row],
        part_of(len(unread), len(results), "comparison"),
    )
    message = f"Left out for want of an answer: {share}, query {quote(query.as_py())} first."
    line, count = origin.line_of(row), len(unread)
    return results, [make_finding("preferences-unread", origin.file, message, line=line, count=count)]


def _label(word: str) -> float:
    return _LABELS.get(_AROUND_LABEL.sub("", word.casefold()), np.nan)


_SUMMARY = (
    "Preferences between two documents, a row or JSON record each; preferred is an id, a or b, 1 or 2, or tie. "
    "The score is Copeland's (pairs won, and half of those level); choose bradley_terry for the other."
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
