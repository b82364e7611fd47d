"""Answers of language models in place of scores: permutations, preferences, and probabilities of grades."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from metrics.errors import ReadError
from metrics.runs.columns import ColumnChoice, normalised, recognise
from metrics.runs.files import FileProvenance
from metrics.runs.findings import Finding, make_finding
from metrics.runs.formats.shapes import DOCUMENT_ARRAYS, Record
from metrics.runs.source import Source, build_source, optional_numbers
from metrics.runs.worded_grades import without_thought
from metrics.support.arrays import FloatArray
from metrics.support.columns import coded, combine_chunks
from metrics.support.wording import part_of

_SEPARATOR = r"(?:\s*+[>=,]\s*+|\s++)"
_NUMBER, _IN_BRACKETS = r"[0-9]{1,9}", r"\[[0-9]{1,9}\]"
_CHAINS = (
    re.compile(rf"{_IN_BRACKETS}(?:{_SEPARATOR}{_IN_BRACKETS})*+(?P<ends>)"),
    re.compile(rf"(?<![\w.]){_NUMBER}(?:\s*+[>=,]\s*+{_NUMBER})++(?P<ends>(?![\w.]))?"),
)
"""Patterns of an answer; the first that matches counts: numbers in brackets, numbers between > or commas.

A match without `ends` runs into a word: it does not count, but is passed over as a whole, so that the time to
search stays linear."""
_LETTER = re.compile(r"\[([A-Z])\]")
_CHAIN_MARK = re.compile(rf"{_NUMBER}|=")
_ANSWERS = ("response", "permutation", "answer", "ranking", "output", "completion", "responses")
_HISTORY = "invocations_history"
"""Field of RankLLM's prompts and answers."""
_SCORE = "answer_score"
"""Field that is added to documents: n for the first of n documents, one less for each next; 0 if left out."""
_ADD_DOCUMENTS = (
    "Add the documents to the record, in the order of the prompt: "
    '{"query": {"qid": "q1"}, "candidates": [{"docid": "d7"}, {"docid": "d2"}], "response": "[2] > [1]"}.'
)


def parse_permutation(answer: object, n_documents: int) -> tuple[list[int | None], int, int]:
    """Return how an answer ranks documents numbered from 1.

    The longest chain counts, the last of equally long ones, and a number counts at its first occurrence. An =
    ties two documents. Letters in brackets count as numbers if no numbers are in brackets.

    Returns:
        The rank of each document from 0, equal for tied ones, None if it is left out; how many documents are
        repeated; how many numbers belong to no document.
    """
    places: list[int | None] = [None] * n_documents
    n_repeated = n_invented = 0
    place, is_level = -1, False
    for mark in _chain(answer):
        number = -1 if mark == "=" else int(mark) - 1
        if mark != "=" and not 0 <= number < n_documents:
            n_invented += 1
        elif mark != "=" and places[number] is not None:
            n_repeated += 1
        elif mark != "=":
            place += not is_level or place < 0
            places[number] = place
        is_level = mark == "="
    return places, n_repeated, n_invented


def _chain(answer: object) -> list[str]:
    """Return the numbers of the part of an answer that ranks, and the = between them, in order."""
    if isinstance(answer, list):
        return [str(number) for number in answer if type(number) is int]
    text = without_thought(answer) if isinstance(answer, str) else ""
    if not _CHAINS[0].search(text):
        text = _LETTER.sub(lambda letter: f"[{ord(letter[1]) - ord('A') + 1}]", text)
    for pattern in _CHAINS:
        chains = [
            _CHAIN_MARK.findall(match[0]) for match in pattern.finditer(text) if match["ends"] is not None
        ]
        if chains:
            return max(reversed(chains), key=len)
    return []


def is_listwise(record: Record) -> bool:
    """Return whether a record holds documents and a permutation of them, or only answers."""
    answer = record.get(_answer_field(record))
    documents = _documents_of(record)[1]
    if not documents:
        return isinstance(record.get(_HISTORY), list)
    have_scores = any(isinstance(document, dict) and "score" in document for document in documents)
    return answer is not None and (bool(_chain(answer)) or not have_scores)


def _answer_field(record: Record) -> str:
    return next((name for name in _ANSWERS if name in record), "")


def _documents_of(record: Record) -> tuple[str, list[Any]]:
    """Return the name and the content of the field with the documents; empty if there is none."""
    fields = ((name, record.get(name)) for name in DOCUMENT_ARRAYS)
    return next(((name, value) for name, value in fields if isinstance(value, list) and value), ("", []))


def rank_by_answers(
    records: Sequence[Record], origin: FileProvenance, choice: ColumnChoice
) -> tuple[list[Record], ColumnChoice, list[Finding]]:
    """Score the documents of `{"qid": ..., "candidates": [...], "response": "[2] > [1]"}`; choose this score.

    Missing documents are tied below the named ones. RankGPT and RankLLM append them in the order shown, which
    is file order here.

    Raises:
        ReadError: records without documents; names the line.
    """
    scored, odd, unread = list[Record](), list[int](), list[int]()
    counts, added = np.zeros(3, int), ""
    for row, record in enumerate(records):
        field, documents = _documents_of(record)
        if not documents:
            names = ", ".join(record) or "nothing"
            problem = f"the record has an answer but no documents; it holds {names}"
            raise origin.error(row, problem, _ADD_DOCUMENTS)
        added = added or f"{field}.{_SCORE}"
        n = len(documents)
        places, n_repeated, n_invented = parse_permutation(record.get(_answer_field(record)), n)
        n_dropped = places.count(None)
        if n_dropped == n:
            unread.append(row)
        elif n_dropped or n_repeated or n_invented:
            odd.append(row)
            counts += n_dropped, n_repeated, n_invented
        entries = [
            {
                **(document if isinstance(document, dict) else {"docid": document}),
                _SCORE: 0.0 if place is None else float(n - place),
            }
            for document, place in zip(documents, places, strict=True)
        ]
        further = {name: value for name, value in record.items() if name not in _ANSWERS}
        scored.append({**further, field: entries})
    if "score" not in choice.columns and added not in choice.columns.values():
        choice = replace(choice, columns={**choice.columns, "score": added})
    n_dropped, n_repeated, n_invented = counts.tolist()
    of_odd = (
        f"Answers that do not name every document once: {part_of(len(odd), len(records), 'answer')}. Documents "
        f"left out, and tied below the others: {n_dropped:,}. Documents named again, of which the first "
        f"occurrence counts: {n_repeated:,}. Numbers without a document: {n_invented:,}."
    )
    of_unread = (
        f"Answers without a ranking: {part_of(len(unread), len(records), 'answer')}. All documents of such a "
        "list are tied."
    )
    texts = {"answers-incomplete": (odd, of_odd), "answers-unread": (unread, of_unread)}
    noted = [
        make_finding(code, origin.file, text, line=origin.line_of(rows[0]), count=len(rows))
        for code, (rows, text) in texts.items()
        if rows
    ]
    return scored, choice, noted


MAX_COMPARISONS = 20_000_000
_DOCUMENT = "(?:doc|document|passage|item|candidate)(?:id)?|pid"
_SIDES = {
    "first": re.compile(rf"(?:{_DOCUMENT})[a1]|a|left"),
    "second": re.compile(rf"(?:{_DOCUMENT})[b2]|b|right"),
    "preferred": re.compile("preferred|preference|winner|choice|chosen|verdict"),
}
"""Part of a comparison → its normalised column names."""
_LABEL = re.compile(r"[\W_]*+(?:passage|document)?[\W_]*+(a|b|1|2|tied?|draw|equal)[\W_]*+")
_RESULTS = {"a": 1.0, "1": 1.0, "b": 0.0, "2": 0.0}
"""Label of the preferred side → how the first document fared; other labels are ties."""


def preference_columns(header: Sequence[str], choice: Mapping[str, str]) -> dict[str, str]:
    """Return query_id, perhaps reranker, first, second and preferred → the columns; empty for other headers."""
    sides = {
        side: next((name for name in header if pattern.fullmatch(normalised(name))), "")
        for side, pattern in _SIDES.items()
    }
    further = [name for name in dict.fromkeys(header) if name not in sides.values()]
    selected = {
        ours: name
        for ours, name in choice.items()
        if ours in ("query_id", "reranker") and (not name or name in further)
    }
    keys = {
        ours: name for ours, name in recognise(further, selected).items() if ours in ("reranker", "query_id")
    }
    is_complete = all(sides.values()) and "query_id" in keys and len(set(header)) == len(header)
    return {**keys, **sides} if is_complete else {}


def preferences_source(
    values: Mapping[str, pa.Array], columns: Mapping[str, str], origin: FileProvenance, choice: ColumnChoice
) -> Source:
    """Score the documents of each list by pairs won, a tied pair counting half; the majority wins a pair.

    `values` are those of `columns`, as from `preference_columns`.

    Source: Copeland, 1951; as PRP-Allpair: Qin et al., arXiv 2306.17563, equation 2.

    Raises:
        ReadError: too many comparisons, an empty ID, a document compared with itself, or no readable answer.
    """
    values = {ours: combine_chunks(values[name]).cast(pa.string()) for ours, name in columns.items()}
    n_rows = len(values["first"])
    if n_rows > MAX_COMPARISONS:
        raise ReadError(origin.file, f"more than {MAX_COMPARISONS:,} comparisons", "Split it by query.")
    if not n_rows:
        raise ReadError(origin.file, "there are no comparisons", "Export it again and check its size.", line=1)
    for ours in [name for name in values if name != "preferred"]:
        is_empty = pc.fill_null(pc.equal(values[ours], ""), fill_value=True)
        problem_of = partial("{0} is empty".format, columns[ours])
        origin.refuse(is_empty, values[ours], problem_of, "Give every row an ID.")
    is_same = pc.equal(values["first"], values["second"])
    hint = "Leave the line out."
    origin.refuse(is_same, values["first"], lambda value: f"{value!r} is compared with itself", hint)
    results = _results(values, columns["preferred"], origin)

    keys = {ours: coded(values[ours]) for ours in ("reranker", "query_id") if ours in columns}
    lists = pd.DataFrame({ours: key.indices for ours, key in keys.items()}).groupby([*keys]).ngroup().to_numpy()
    documents = pa.chunked_array([values["first"], values["second"]]).combine_chunks().dictionary_encode()
    codes = documents.indices.to_numpy().reshape(2, -1) + lists * len(documents.dictionary)
    items, of_item = pd.factorize(codes.T.ravel())  # the documents of all lists, in order of appearance
    first_rows = np.unique(items, return_index=True)[1] // 2
    list_of = lists[first_rows]
    low, high = np.sort(items.reshape(-1, 2), axis=1).T
    won_by_low = np.where(low == items[::2], results, 1 - results)
    pairs = pd.DataFrame({"low": low, "high": high, "won": won_by_low}).groupby(["low", "high"])["won"]
    pairs = pairs.agg(["mean", "min", "max"]).dropna().reset_index()
    outcome = (np.sign(2 * pairs["mean"] - 1) + 1) / 2
    n = len(of_item)
    copeland = np.bincount(pairs["low"], outcome, n) + np.bincount(pairs["high"], 1 - outcome, n)

    sizes, n_compared = np.bincount(list_of), np.bincount(list_of[pairs["low"]], minlength=list_of.max() + 1)
    n_missing = sizes * (sizes - 1) // 2 - n_compared
    is_split = pairs["max"] > pairs["min"]
    unread, n_split, n_never = np.flatnonzero(np.isnan(results)), int(is_split.sum()), int(n_missing.sum())
    of_unread = f"Comparisons without a readable answer: {part_of(len(unread), n_rows, 'comparison')}."
    of_split = f"Pairs compared more than once with different results: {part_of(n_split, len(pairs), 'pair')}."
    of_never = f"Pairs that were never compared: {part_of(n_never, n_never + len(pairs), 'pair')}."
    noted = [
        make_finding(code, origin.file, text, line=origin.line_of(int(rows.min())), count=count)
        for code, text, rows, count in (
            ("preferences-unread", of_unread, unread, len(unread)),
            ("preferences-inconsistent", of_split, first_rows[pairs["low"][is_split]], n_split),
            ("preferences-missing", of_never, first_rows[n_missing[list_of] > 0], n_never),
        )
        if count
    ]
    raw = {columns[ours]: key.take(pa.array(first_rows)) for ours, key in keys.items()}
    raw["document"] = documents.dictionary.take(pa.array(of_item % len(documents.dictionary)))
    raw["copeland"] = pa.array(copeland)
    usual = {"query_id": columns["query_id"], "doc_id": "document", "score": "copeland"}
    mapping = choice.mapping(origin.file, [*raw], usual)
    rows = origin.take(first_rows)
    return build_source(raw, mapping, rows, "preferences", [*raw], noted, choice.missing_score)


def _results(values: Mapping[str, pa.Array], name: str, origin: FileProvenance) -> FloatArray:
    """Return (n_rows,) 1 if the first document is preferred, 1/2 for a tie, 0 otherwise, NaN if unreadable.

    A row names the preferred document by its ID, or else by a label (a or b, 1 or 2, tie). If all rows have
    labels and not all have IDs or ties, labels win: "1" may be an ID of other rows.

    Raises:
        ReadError: no row names the preferred document.
    """
    answers = pc.utf8_trim_whitespace(pc.fill_null(values["preferred"], ""))
    is_first, is_second = (np.asarray(pc.equal(answers, values[side])) for side in ("first", "second"))
    words = answers.dictionary_encode()
    matches = [_LABEL.fullmatch(word.casefold()) for word in words.dictionary.to_pylist()]
    results = np.array([_RESULTS.get(match[1], 1 / 2) if match else np.nan for match in matches])
    labels = results[words.indices.to_numpy()]
    is_id = is_first | is_second
    by_labels = not np.isnan(labels).any() and not (is_id | (labels == 1 / 2)).all()
    labels = labels if by_labels else np.where(is_id, is_first, labels)
    if np.isnan(labels).all():
        problem = f"{name} {answers[0].as_py()!r} names neither document and is not a tie"
        raise origin.error(0, problem, "Write an ID, a or b, 1 or 2, or tie. No row has a valid preference.")
    return labels


EXPECTED, STD, ARGMAX = "expected_grade", "score_std", "argmax_grade"
"""Columns computed from a distribution."""
_TOLERANCE = 0.01
"""Difference from 1 from which a sum of probabilities is reported."""
_NAMES = r"(?:.*\.)?(?:grade_?)?(?P<log>log_?)?(?:probability|probabilities|probs?|p)"
_GRADE = re.compile(rf"{_NAMES}[_. (\[]?(?P<grade>-?[0-9]{{1,4}}(?:\.[0-9]{{1,4}})?)[)\]]?", re.IGNORECASE)
_OF_MAP = re.compile(rf"{_NAMES}\..+", re.IGNORECASE)
"""A field of a map of probabilities, perhaps of a token that is a word."""


def grade_columns(names: Iterable[str]) -> list[str]:
    """Return the columns that are probabilities of grades."""
    return [name for name in names if _GRADE.fullmatch(name)]


def has_probabilities(names: Sequence[str]) -> bool:
    """Return whether columns without a score are probabilities of several grades."""
    return len(grade_columns(names)) > 1 and "score" not in recognise(names)


def without_tokens(names: Iterable[str]) -> list[str]:
    """Return the columns without the probabilities of tokens that are not grades."""
    return [name for name in names if _GRADE.fullmatch(name) or not _OF_MAP.fullmatch(name)]


def probabilities_source(
    columns: Mapping[str, pa.Array],
    header: Sequence[str],
    usual: Mapping[str, str],
    origin: FileProvenance,
    choice: ColumnChoice,
    noted: Iterable[Finding] = (),
) -> Source:
    """Score documents by their expected grade, sum(p * g) / sum(p), beside its SD and the most likely grade.

    `columns` are probabilities of grades, or their logarithms, missing ones 0, and others of the `header`. The
    mean is rounded to twelve decimals, so that the order of summation makes no difference. Among equally
    likely grades, the lowest counts. Without a distribution, there is no score.

    Raises:
        ReadError: a value is not a probability, or grades and documents are too many.
    """
    matches = {name: match for name in header if (match := _GRADE.fullmatch(name))}
    grades = np.array(sorted({float(match["grade"]) for match in matches.values()}))
    weights = np.zeros((len(next(iter(columns.values()))), len(grades)))
    hint = "Write a number, or leave the value empty."
    for name, match in matches.items():
        numbers = optional_numbers(combine_chunks(columns[name]), name, origin, "not a probability", hint)
        p = pc.fill_null(numbers, -np.inf if match["log"] else 0).to_numpy(zero_copy_only=False)
        place = np.searchsorted(grades, float(match["grade"]))
        weights[:, place] += np.exp(np.minimum(p, 1)) if match["log"] else p
    sums = weights.sum(axis=1)
    is_valid = (weights >= 0).all(axis=1) & (sums > 0) & np.isfinite(sums)
    p = np.where(is_valid[:, None], weights, np.nan) / np.where(is_valid, sums, 1)[:, None]
    mean = np.round((p * grades).sum(axis=1), 12)
    sd = np.nan_to_num(np.sqrt((p * (grades - mean[:, None]) ** 2).sum(axis=1)))
    argmax = np.where(is_valid, grades[weights.argmax(axis=1)], np.nan)
    scores = {EXPECTED: mean, STD: sd, ARGMAX: argmax}

    names = [*(name for name in header if name not in matches), *scores]
    mapping = choice.mapping(origin.file, names, {**usual, "score": EXPECTED, "score_std": STD})
    raw = {name: column for name, column in columns.items() if name not in matches}
    raw |= {name: pa.array(values, from_pandas=True) for name, values in scores.items()}
    findings = [*noted, *_grade_findings(sums[is_valid], origin.file)]
    missing_score = choice.missing_score
    source = build_source(raw, mapping, origin, "grade-probabilities", names, findings, missing_score)
    return source.note_unused()


def _grade_findings(sums: FloatArray, file: str) -> Iterator[Finding]:
    """Report that scores are expected grades, and probabilities that do not sum to 1."""
    message = f"The score is the expected grade. The column {ARGMAX} holds the most likely grade."
    yield make_finding("grades-expected", file, message, count=len(sums))
    if n_scaled := int((np.abs(sums - 1) > _TOLERANCE).sum()):
        share = part_of(n_scaled, len(sums), "document")
        message = f"Probabilities that do not sum to 1 and are rescaled: {share}."
        yield make_finding("grades-scaled", file, message, count=n_scaled)
