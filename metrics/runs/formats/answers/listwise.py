"""Permutations of numbered documents, as listwise rerankers answer, beside the documents they were shown."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from metrics.errors import ReadError
from metrics.runs.findings import Finding, make_finding
from metrics.runs.formats.answers.permutations import Permutation, has_permutation, parse_permutation
from metrics.runs.formats.format import Format, Head
from metrics.runs.formats.json_records import DOCUMENT_ARRAYS, file_records, records_source
from metrics.runs.formats.json_text import first_record
from metrics.runs.formats.nested_records import Record
from metrics.runs.reading.columns import ColumnChoice
from metrics.runs.reading.provenance import FileProvenance
from metrics.runs.reading.source import Source
from metrics.support.cached import cached_property
from metrics.support.wording import count_of, part_of, quote

_ANSWERS = ("response", "permutation", "answer", "ranking", "output", "completion", "responses")
_HISTORY = "invocations_history"
"""RankLLM's record of what was asked and answered."""
_MARK = re.compile(rf'"(?:{"|".join((*DOCUMENT_ARRAYS, *_ANSWERS, _HISTORY))})"\s*:'.encode())
_SCORE = "answer_score"
"""Field of a document that is added: how many documents it is ranked above, and 1; 0 where it was left out."""
_DROPPED = "Left out: {n:,} of {documents}, in {answers}, and tied below those that are named"
_REPEATED = "Named again, where the first place counts: {n:,}, in {answers}"
_INVENTED = "Numbers that no document had: {n:,}, in {answers}"
_UNREAD = "Nothing is ranked in {answers}, so all documents of such a list are tied"


@dataclass(frozen=True)
class _Answer:
    """What a model answered about the documents of one record.

    Attributes:
        row: the record.
        query: what was asked, as far as it is known.
        permutation: the order it gave.
    """

    row: int
    query: str
    permutation: Permutation

    @cached_property
    def ranks_nothing(self) -> bool:
        """Whether it names none of the documents."""
        return self.permutation.n_dropped == len(self.permutation.places)

    @property
    def scores(self) -> list[float]:
        """Return (n_documents,) the score of each: n for the first place, one less for each place after it."""
        n = len(self.permutation.places)
        return [0.0 if place is None else float(n - place) for place in self.permutation.places]


def is_listwise(head: Head) -> bool:
    """Return whether the first record holds documents and a permutation of them, or answers alone."""
    if not head.is_json or not _MARK.search(head.file.head):
        return False
    record = first_record(head.file)
    _, documents = _documents_of(record)
    if not documents:
        return isinstance(record.get(_HISTORY), list)
    answer = _answer_field(record)
    return bool(answer) and (has_permutation(record[answer]) or not _have_scores(documents))


def read_listwise(head: Head, choice: ColumnChoice) -> Source:
    """Read `{"qid": ..., "candidates": [{"docid": ...}, ...], "response": "[2] > [1]"}`, by lines or as array.

    The documents named rank in that order; those that the answer leaves out are tied below them. RankGPT and
    RankLLM append these in the order they were shown in: here that is the traditional order, as in the file.

    Raises:
        ReadError: no such JSON, or records without documents; names the line.
    """
    records, origin = file_records(head.file)
    scored, answers = [], []
    for row, record in enumerate(records):
        field, documents = _documents_of(record)
        if not documents:
            raise _no_documents(record, origin, row)
        permutation = parse_permutation(record.get(_answer_field(record)), len(documents))
        answers.append(_Answer(row, _query_of(record, documents), permutation))
        rest = {name: value for name, value in record.items() if name not in _ANSWERS}
        scored.append({**rest, field: _with_scores(documents, answers[-1].scores)})
    added = f"{_documents_of(records[0])[0]}.{_SCORE}"
    if "score" not in choice.columns and added not in choice.columns.values():
        choice = replace(choice, columns={**choice.columns, "score": added})
    source = records_source(scored, origin, "listwise", choice)
    return replace(source, noted=(*source.noted, *_findings(answers, origin)))


def _documents_of(record: Record) -> tuple[str, list[Any]]:
    """Return the name of the field with the documents, and these; none where there is no such field."""
    fields = ((name, record.get(name)) for name in DOCUMENT_ARRAYS)
    return next(((name, value) for name, value in fields if isinstance(value, list) and value), ("", []))


def _answer_field(record: Record) -> str:
    """Return the name of the field with the answer, empty where there is none."""
    return next((name for name in _ANSWERS if name in record), "")


def _have_scores(documents: Sequence[object]) -> bool:
    return any(isinstance(document, dict) and "score" in document for document in documents)


def _with_scores(documents: Iterable[object], scores: Iterable[float]) -> list[dict[str, object]]:
    """Return the documents as objects that have their score; an id by itself becomes one."""
    return [
        {**(document if isinstance(document, dict) else {"docid": document}), _SCORE: score}
        for document, score in zip(documents, scores, strict=True)
    ]


def _query_of(record: Record, documents: Sequence[object]) -> str:
    """Return the id of a record's query for a message, else its text, else nothing."""
    query = record.get("query", "")
    places = (record, query, documents[0])
    names = ("query_id", "qid", "queryid")
    ids = (place[name] for place in places if isinstance(place, Mapping) for name in names if name in place)
    return str(next(ids, query if isinstance(query, str) else ""))


def _no_documents(record: Record, origin: FileProvenance, row: int) -> ReadError:
    """Return the error of a record whose answer numbers documents that it does not hold."""
    names = ", ".join(record) or "nothing"
    problem = f"an answer without the documents it numbers: the record holds {names}"
    hint = (
        "Write each answer beside them, in the order of the prompt: "
        '{"query": {"qid": "q1"}, "candidates": [{"docid": "d7"}, {"docid": "d2"}], "response": "[2] > [1]"}.'
    )
    return origin.error(row, problem, hint)


def _findings(answers: Sequence[_Answer], origin: FileProvenance) -> list[Finding]:
    """Return what the model did not answer as it was asked: counted, with the first line and query."""
    ranking = [answer for answer in answers if not answer.ranks_nothing]
    n_documents = sum(len(answer.permutation.places) for answer in ranking)
    findings = []
    for code, count_in, sentence in (
        ("answers-dropped", lambda answer: answer.permutation.n_dropped * (not answer.ranks_nothing), _DROPPED),
        ("answers-repeated", lambda answer: answer.permutation.n_repeated, _REPEATED),
        ("answers-invented", lambda answer: answer.permutation.n_invented, _INVENTED),
        ("answers-unread", lambda answer: int(answer.ranks_nothing), _UNREAD),
    ):
        counts = [count_in(answer) for answer in answers]
        if not any(counts):
            continue
        first = next(answer for answer, count in zip(answers, counts, strict=True) if count)
        share = part_of(sum(map(bool, counts)), len(answers), "answer")
        message = sentence.format(n=sum(counts), answers=share, documents=count_of(n_documents, "document"))
        query = f", query {quote(first.query)} first" if first.query else ""
        line = origin.line_of(first.row)
        findings.append(make_finding(code, origin.file, f"{message}{query}.", line=line, count=sum(counts)))
    return findings


FORMATS = (
    Format(
        "listwise",
        "Permutations such as [3] > [1] > [2], beside the documents shown (RankGPT, RankLLM); what an answer "
        "leaves out is tied below what it names.",
        '{"qid": "q1", "candidates": [{"docid": "d7"}, {"docid": "d2"}], "response": "[2] > [1]"}\n'
        '{"qid": "q2", "candidates": [{"docid": "d4"}, {"docid": "d9"}], "response": "[1]"}\n'
        '{"qid": "q3", "candidates": [{"docid": "d1"}, {"docid": "d4"}], "response": "Sorry, no."}',
        is_listwise,
        read_listwise,
    ),
)
