"""A list as one line of text, `score,grade,name; ...`, as links carry a list that a visitor made up.

A further score that splits ties follows the score: `score/further,grade,name`.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from metrics.runs import Runs
from metrics.simulation.notebook import NOTEBOOK_SCENARIOS

MAX_DOCUMENTS = 60
"""Documents of such a list at most."""
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
