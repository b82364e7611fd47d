"""What a visitor made up as one line of text, as links and commands carry it: a list, or simulated rerankers.

A list is `score,grade,name; ...`, with a further score that splits ties after the score
(`score/further,grade,name`).
Rerankers are `ties,levels,performance,name; ...`.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from metrics.errors import UsageError
from metrics.runs import Runs
from metrics.simulation.drawing import PERFORMANCE, LlmReranker
from metrics.simulation.notebook import NOTEBOOK_SCENARIOS
from metrics.support.wording import count_of

MAX_DOCUMENTS = 60
"""Documents of such a list at most."""
MAX_RERANKERS = 10
"""Rerankers of such a line at most."""
MAX_LEVELS = 50
"""Score levels of a reranker of such a line at most."""
_BETWEEN, _FURTHER = ";", "/"


class Document(NamedTuple):
    """A document of a list; `further` is the score that splits its ties."""

    name: str
    score: float
    grade: float
    further: float = 0.0


def scenario_documents(name: str) -> list[Document]:
    """Return one of the notebook's scenarios."""
    scores, hit = NOTEBOOK_SCENARIOS[name]
    return [Document(f"doc{at}", score, float(at == hit)) for at, score in enumerate(scores, 1)]


def format_list(documents: Sequence[Document]) -> str:
    """Return the line of a list."""
    return f"{_BETWEEN} ".join(
        f"{score:g}{f'{_FURTHER}{further:g}' if further else ''},{grade:g},{name.replace(_BETWEEN, ' ')}"
        for name, score, grade, further in documents
    )


def parse_list(line: str) -> list[Document] | None:
    """Return the list of a line; None if a part is not a number or there are too many documents.

    Grade, name and further score may be omitted: 0, doc1, doc2 and so on, and 0.
    """
    parts = [part.strip() for part in line.split(_BETWEEN) if part.strip()]
    if not parts or len(parts) > MAX_DOCUMENTS:
        return None
    try:
        documents = [_document(part, at) for at, part in enumerate(parts, 1)]
    except ValueError:
        return None
    return documents if np.isfinite([numbers for _, *numbers in documents]).all() else None


def _document(part: str, place: int) -> Document:
    scores, grade, name = [*part.split(",", 2), "", ""][:3]
    score, _, further = scores.partition(_FURTHER)
    return Document(name.strip() or f"doc{place}", float(score), float(grade or 0), float(further or 0))


def runs_from_list(documents: Sequence[Document]) -> Runs:
    """Return a list as runs: query `list`, documents by number because names may repeat."""
    rows = [
        ("list", "list", str(at), float(score), float(grade), float(further))
        for at, (_, score, grade, further) in enumerate(documents, 1)
    ]
    columns = ["reranker", "query_id", "doc_id", "score", "relevance", "further"]
    return Runs.from_frame(pd.DataFrame(rows, columns=columns))


class NamedReranker(NamedTuple):
    """A reranker to simulate.

    Attributes:
        ties: chance that a document copies its score to another.
        levels: number of score levels, 0 for any score.
        performance: chance that the simulation raises the score of a relevant document; None for the default.
        name: of the reranker.
    """

    ties: float
    levels: int
    performance: float | None
    name: str


def default_name(ties: float, levels: int) -> str:
    """Return the name of an unnamed reranker: its settings."""
    return f"LLM ({ties:g} ties, {count_of(levels, 'level') if levels else 'any score'})"


def parse_reranker(text: str) -> NamedReranker:
    """Return the reranker of `TIES,LEVELS[,PERFORMANCE[,NAME]]`; an empty performance is the default."""
    ties, levels, performance, name = [*text.split(",", 3), "", "", ""][:4]
    try:
        chance, count = float(ties), int(levels)
        own = float(performance) if performance.strip() else None
    except ValueError:
        raise UsageError(
            f"{text!r} does not describe a reranker. Give TIES,LEVELS[,PERFORMANCE[,NAME]], such as "
            f"0.3,10,{PERFORMANCE:g},Mine."
        ) from None
    LlmReranker(chance, count, own)  # checks the numbers
    return NamedReranker(chance, count, own, name.strip() or default_name(chance, count))


def parse_rerankers(line: str) -> list[NamedReranker] | None:
    """Return the rerankers of a line; None if a part is invalid or there are too many."""
    parts = [part for part in line.split(_BETWEEN) if part.strip()]
    try:
        rerankers = [parse_reranker(part) for part in parts]
    except UsageError:
        return None
    is_small = len(rerankers) <= MAX_RERANKERS and all(each.levels <= MAX_LEVELS for each in rerankers)
    return rerankers if rerankers and is_small else None


def format_rerankers(rerankers: Sequence[NamedReranker]) -> str:
    """Return the line of rerankers."""
    return f"{_BETWEEN} ".join(
        f"{each.ties:g},{each.levels},{'' if each.performance is None else f'{each.performance:g}'},"
        f"{each.name.replace(_BETWEEN, ' ')}"
        for each in rerankers
    )


def reranker_table(rerankers: Sequence[NamedReranker]) -> dict[str, LlmReranker]:
    """Return name → settings; a repeated name gets a number."""
    table: dict[str, LlmReranker] = {}
    for each in rerankers:
        name, number = each.name, 2
        while name in table:
            name, number = f"{each.name} ({number})", number + 1
        table[name] = LlmReranker(each.ties, each.levels, each.performance)
    return table
