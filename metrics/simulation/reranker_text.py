"""Simulated rerankers as one line of text, `ties,levels,performance,name; ...`, for links and commands."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from metrics.errors import UsageError
from metrics.simulation.model import PERFORMANCE, LlmReranker
from metrics.support.wording import count_of

MAX_RERANKERS = 10
"""Rerankers of such a line at most."""
MAX_LEVELS = 50
"""Score levels of a reranker of such a line at most."""
_BETWEEN = ";"


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


def named_rerankers(rerankers: Mapping[str, LlmReranker]) -> list[NamedReranker]:
    """Return rerankers by name as a list for `format_rerankers`."""
    return [
        NamedReranker(each.tie_probability, each.levels, each.performance, name)
        for name, each in rerankers.items()
    ]
