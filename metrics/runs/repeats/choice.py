"""What the user says are repeats: columns of a table, rerankers by name, or names that differ in a seed."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, get_args

from metrics.errors import UsageError
from metrics.runs.repeats.names import repeat_groups
from metrics.runs.repeats.statistics import SpreadKind
from metrics.support.wording import first_names

SEEDS = "seeds"
Repeats: TypeAlias = Sequence[str] | Mapping[str, Sequence[str]] | Literal["seeds"]
"""Columns of scores; name → rerankers that are its repeats; or rerankers whose names differ in a seed alone."""


@dataclass(frozen=True)
class RepeatChoice:
    """What is combined as repeats of one reranker.

    Attributes:
        columns: of scores, in every table that has them.
        rerankers: name of a combined reranker → its repeats.
        by_seed: whether rerankers are repeats whose names differ in a seed alone.
        spread: what `score_std` is: `order`, `run` or `mean`.
    """

    columns: tuple[str, ...] = ()
    rerankers: Mapping[str, Sequence[str]] = field(default_factory=dict)
    by_seed: bool = False
    spread: SpreadKind = "order"

    @classmethod
    def of(cls, repeats: Repeats = (), spread: SpreadKind = "order") -> "RepeatChoice":
        """Return the choice that `repeats`, as `read_runs` takes it, means; UsageError where none."""
        if spread not in get_args(SpreadKind):
            raise UsageError(f"repeats_std={spread!r}: it is 'order', 'run' or 'mean'.")
        if isinstance(repeats, str):
            if repeats != SEEDS:
                raise UsageError(f"repeats={repeats!r}: give columns, {{name: rerankers}}, or 'seeds'.")
            return cls(by_seed=True, spread=spread)
        if isinstance(repeats, Mapping):
            groups = {
                name: [members] if isinstance(members, str) else members for name, members in repeats.items()
            }
            return cls(rerankers=groups, spread=spread)
        columns = tuple(repeats)
        if len(columns) == 1 or len(set(columns)) < len(columns):
            raise UsageError(f"repeats={list(columns)}: name two columns of scores at least, each once.")
        return cls(columns, spread=spread)

    def groups(self, rerankers: Sequence[str]) -> Mapping[str, Sequence[str]]:
        """Return name → its repeats; a UsageError where none are to be found by seed."""
        groups = repeat_groups(rerankers) if self.by_seed else self.rerankers
        if self.by_seed and not groups:
            raise UsageError(
                f"Repeats: no names differ in a seed alone among {first_names(rerankers, 20)}. Name them: "
                "NAME=A,B,C on the command line, {NAME: [A, B, C]} in Python."
            )
        return groups


NO_REPEATS = RepeatChoice()


def parse_repeats(texts: Iterable[str]) -> Repeats:
    """Return what repeats are on the command line: `seeds`, `NAME=A,B,C`, or columns `A,B,C`; or UsageError."""
    arguments = list(texts)
    if arguments == [SEEDS]:
        return SEEDS
    pairs = [text.partition("=") for text in arguments if "=" in text]
    if len(pairs) == len(arguments):
        groups = {name: _split(members) for name, _, members in pairs}
        if len(groups) < len(arguments):
            raise UsageError("--repeats: two groups have one name. Give each a name of its own.")
        return groups
    if len(arguments) > 1:
        raise UsageError("--repeats: give seeds, or NAME=A,B,C (repeatable), or one list of columns A,B,C.")
    return _split(arguments[0]) or [arguments[0]]


def _split(text: str) -> list[str]:
    return [name for name in (part.strip() for part in text.split(",")) if name]
