"""Permutations of numbered documents, the answers of listwise rerankers, with the documents shown."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from metrics.runs.columns import ColumnChoice
from metrics.runs.conversion import without_thought
from metrics.runs.files import FileProvenance
from metrics.runs.findings import Finding, make_finding
from metrics.runs.formats.format import Format, Head
from metrics.runs.formats.json_records import file_records, first_record, records_source
from metrics.runs.formats.shapes import DOCUMENT_ARRAYS, Record
from metrics.runs.source import Source
from metrics.support.wording import count_of, part_of, quote

_SEPARATOR = r"(?:\s*+[>=,]\s*+|\s++)"
_NUMBER, _IN_BRACKETS = r"[0-9]{1,9}", r"\[[0-9]{1,9}\]"
_CHAINS = tuple(
    re.compile(pattern)
    for pattern in (
        rf"{_IN_BRACKETS}(?:{_SEPARATOR}{_IN_BRACKETS})++(?P<ends>)",
        rf"{_IN_BRACKETS}(?P<ends>)",
        rf"(?<![\w.]){_NUMBER}(?:\s*+[>=,]\s*+{_NUMBER})++(?P<ends>(?![\w.]))?",
        rf"\A\s*+{_NUMBER}\s*+\Z(?P<ends>)",
    )
)
"""Patterns of an answer; the first that matches counts: several numbers in brackets, one in brackets, numbers
separated by > or commas, a single number. A match without `ends` runs into a word: it does not count, but is
passed over as a whole, so that the time to search stays linear."""
_LETTER = re.compile(r"\[([A-Z])\]")
_CHAIN_MARK = re.compile(rf"{_NUMBER}|=")


@dataclass(frozen=True)
class Permutation:
    """How a text ranks numbered documents.

    Attributes:
        places: (n,) rank of each document from 0, equal for tied ones; None if the text leaves it out.
        n_repeated: how often the text repeats a document.
        n_invented: numbers in the text without a document.
    """

    places: Sequence[int | None]
    n_repeated: int = 0
    n_invented: int = 0

    @property
    def n_dropped(self) -> int:
        """Number of documents that the text leaves out."""
        return sum(place is None for place in self.places)

    @property
    def is_unread(self) -> bool:
        """Whether the text ranks no document."""
        return self.n_dropped == len(self.places)


def parse_permutation(answer: object, n_documents: int) -> Permutation:
    """Return how an answer ranks documents numbered from 1.

    The longest chain counts, the last of equally long ones, and a number counts at its first occurrence. An =
    ties two documents. Letters in brackets count as numbers if no numbers are in brackets.
    """
    places: list[int | None] = [None] * n_documents
    n_repeated = n_invented = 0
    place, is_level = -1, False
    for mark in _marks(answer):
        if mark == "=":
            is_level = True
            continue
        number = int(mark) - 1
        if not 0 <= number < n_documents:
            n_invented += 1
        elif places[number] is not None:
            n_repeated += 1
        else:
            place += not is_level or place < 0
            places[number] = place
        is_level = False
    return Permutation(places, n_repeated, n_invented)


def has_permutation(answer: object) -> bool:
    """Return whether an answer orders several numbers, or has one in brackets."""
    if isinstance(answer, str):
        chain = _chain(answer)
        return bool(chain) and (">" in chain or "[" in chain)
    return isinstance(answer, list) and len(answer) > 1 and all(type(number) is int for number in answer)


def _marks(answer: object) -> list[str]:
    """Return the numbers of an answer and the = between them, in order."""
    if isinstance(answer, list):
        return [str(number) for number in answer if type(number) is int]
    return _CHAIN_MARK.findall(_chain(answer)) if isinstance(answer, str) else []


def _chain(text: str) -> str:
    """Return the part of a text that ranks, or an empty string."""
    text = without_thought(text)
    if not _CHAINS[1].search(text):
        text = _LETTER.sub(lambda letter: f"[{ord(letter[1]) - ord('A') + 1}]", text)
    for pattern in _CHAINS:
        chains = [match[0] for match in pattern.finditer(text) if match["ends"] is not None]
        if chains:
            return max(reversed(chains), key=lambda chain: len(_CHAIN_MARK.findall(chain)))
    return ""


_ANSWERS = ("response", "permutation", "answer", "ranking", "output", "completion", "responses")
_HISTORY = "invocations_history"
"""Field of RankLLM's prompts and answers."""
_MARK = re.compile(rf'"(?:{"|".join((*DOCUMENT_ARRAYS, *_ANSWERS, _HISTORY))})"\s*:'.encode())
_SCORE = "answer_score"
"""Field that is added to documents: n for the first of n documents, one less for each next; 0 if left out."""
_ADD_DOCUMENTS = (
    "Add the documents to the record, in the order of the prompt: "
    '{"query": {"qid": "q1"}, "candidates": [{"docid": "d7"}, {"docid": "d2"}], "response": "[2] > [1]"}.'
)
_DROPPED = "Documents left out: {n:,} of {documents}, in {answers}{query}. They are tied below the others."
_REPEATED = "Documents named again: {n:,}, in {answers}{query}. The first occurrence counts."
_INVENTED = "Numbers that belong to no document: {n:,}, in {answers}{query}."
_UNREAD = "Answers without a ranking: {answers}{query}. All documents of such a list are tied."


def is_listwise(head: Head) -> bool:
    """Return whether the first record holds documents and a permutation of them, or only answers."""
    if not head.is_json or not _MARK.search(head.file.head):
        return False
    record = first_record(head.file)
    _, documents = _documents_of(record)
    if not documents:
        return isinstance(record.get(_HISTORY), list)
    answer = _answer_field(record)
    have_scores = any(isinstance(document, dict) and "score" in document for document in documents)
    return bool(answer) and (has_permutation(record[answer]) or not have_scores)


def read_listwise(head: Head, choice: ColumnChoice) -> Source:
    """Read `{"qid": ..., "candidates": [{"docid": ...}, ...], "response": "[2] > [1]"}`, by lines or as array.

    Missing documents are tied below the named ones. RankGPT and RankLLM append them in the order shown, which
    is file order here.

    Raises:
        ReadError: other JSON, or records without documents; names the line.
    """
    records, origin = file_records(head)
    scored, permutations, queries = [], [], []
    for row, record in enumerate(records):
        field, documents = _documents_of(record)
        if not documents:
            names = ", ".join(record) or "nothing"
            problem = f"the record has an answer but no documents; it holds {names}"
            raise origin.error(row, problem, _ADD_DOCUMENTS)
        permutation = parse_permutation(record.get(_answer_field(record)), len(documents))
        permutations.append(permutation)
        queries.append(_query_of(record, documents))
        n = len(documents)
        entries = [
            {
                **(document if isinstance(document, dict) else {"docid": document}),
                _SCORE: 0.0 if place is None else float(n - place),
            }
            for document, place in zip(documents, permutation.places, strict=True)
        ]
        others = {name: value for name, value in record.items() if name not in _ANSWERS}
        scored.append({**others, field: entries})
    added = f"{_documents_of(records[0])[0]}.{_SCORE}"
    if "score" not in choice.columns and added not in choice.columns.values():
        choice = replace(choice, columns={**choice.columns, "score": added})
    source = records_source(scored, origin, "listwise", choice)
    return replace(source, noted=(*source.noted, *_findings(permutations, queries, origin)))


def _documents_of(record: Record) -> tuple[str, list[Any]]:
    """Return the name and the content of the field with the documents; empty if there is none."""
    fields = ((name, record.get(name)) for name in DOCUMENT_ARRAYS)
    return next(((name, value) for name, value in fields if isinstance(value, list) and value), ("", []))


def _answer_field(record: Record) -> str:
    return next((name for name in _ANSWERS if name in record), "")


def _query_of(record: Record, documents: Sequence[object]) -> str:
    """Return the ID of a record's query, or its text, or an empty string."""
    query = record.get("query", "")
    places = (record, query, documents[0])
    names = ("query_id", "qid", "queryid")
    ids = (place[name] for place in places if isinstance(place, Mapping) for name in names if name in place)
    return str(next(ids, query if isinstance(query, str) else ""))


def _findings(
    permutations: Sequence[Permutation], queries: Sequence[str], origin: FileProvenance
) -> Iterator[Finding]:
    n_documents = sum(len(answer.places) for answer in permutations if not answer.is_unread)
    dropped = [0 if answer.is_unread else answer.n_dropped for answer in permutations]
    for code, counts, sentence in (
        ("answers-dropped", dropped, _DROPPED),
        ("answers-repeated", [answer.n_repeated for answer in permutations], _REPEATED),
        ("answers-invented", [answer.n_invented for answer in permutations], _INVENTED),
        ("answers-unread", [int(answer.is_unread) for answer in permutations], _UNREAD),
    ):
        rows = [row for row, count in enumerate(counts) if count]
        if rows:
            message = sentence.format(
                n=sum(counts),
                answers=part_of(len(rows), len(counts), "answer"),
                documents=count_of(n_documents, "document"),
                query=f", query {quote(queries[rows[0]])} first" if queries[rows[0]] else "",
            )
            line = origin.line_of(rows[0])
            yield make_finding(code, origin.file, message, line=line, count=sum(counts))


FORMATS = (
    Format(
        "listwise",
        "Permutations such as [3] > [1] > [2], with the documents shown (RankGPT, RankLLM); documents that an "
        "answer leaves out are tied below the others.",
        '{"qid": "q1", "candidates": [{"docid": "d7"}, {"docid": "d2"}], "response": "[2] > [1]"}\n'
        '{"qid": "q2", "candidates": [{"docid": "d4"}, {"docid": "d9"}], "response": "[1]"}\n'
        '{"qid": "q3", "candidates": [{"docid": "d1"}, {"docid": "d4"}], "response": "Sorry, no."}',
        is_listwise,
        read_listwise,
    ),
)
