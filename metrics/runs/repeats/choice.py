"""What the user says are repeats: columns of a table, rerankers by name, or names that differ in a seed."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, get_args

from metrics.errors import UsageError
from metrics.runs.reading.columns import normalised
from metrics.runs.repeats.statistics import SpreadKind
from metrics.support.wording import first_names

_BARE = "seed|repeat|rep|replicate|trial"
"""Words that say repeat by themselves; a run or a prompt alone may be anything."""
_WORDS = f"{_BARE}|run|sample|draw|attempt|try|iteration|prompt"
_ENDS = r"[\s_.,;:/|+-]{0,3}"


def _pattern(words: str) -> re.Pattern[str]:
    core = rf"(?<![^\W\d_])(?:{words})[\s_.=:#-]{{0,3}}\d{{1,19}}(?![^\W_]|\.\d)"
    return re.compile(rf"{_ENDS}(?:\({core}\)|\[{core}\]|{core})", re.IGNORECASE)


_SEED, _ANY = _pattern("seed"), _pattern(_WORDS)
_NUMBERED_SCORE = re.compile(r"(.*scores?(?:seed|run|repeat|rep|trial|sample)?)\d{1,9}")
NO_STEM = "repeats"
"""What repeats are called whose names say nothing else."""


def repeat_groups(names: Sequence[str]) -> dict[str, list[str]]:
    """Return rerankers that look like repeats: what they share → two names or more that differ in a seed alone.

    A seed is a number after a word such as seed, run, repeat or prompt: colbert-seed1, x.seed=42, y_run3. Where
    a name has a seed, its other numbers tell rerankers apart; a number without such a word always does (bm25,
    MiniLM-6, gpt-4). What they share is the combined reranker's name, with the count of repeats behind it where
    that name is another reranker's.
    """
    groups: dict[str, list[str]] = {}
    for name in names:
        pattern = _SEED if _SEED.search(name) else _ANY
        if pattern.search(name):
            template = pattern.sub(lambda seed: re.sub(r"\d+", "\0", seed[0]).casefold(), name)
            groups.setdefault(template, []).append(name)
    combined: dict[str, list[str]] = {}
    every_name = set(names)
    for members in groups.values():
        stem = _stem(members[0])
        labels = [stem, f"{stem} ({len(members)} repeats)"] if stem else []
        free = (label for label in labels if label not in combined)
        label = next((label for label in free if label not in every_name or label in members), "")
        if len(members) > 1 and label:
            combined[label] = members
    return combined


def _stem(name: str) -> str:
    """Return a name without its seed; empty where nothing is left that says repeat."""
    pattern = _SEED if _SEED.search(name) else _ANY
    stem = re.sub(rf"^{_ENDS}|{_ENDS}$", "", pattern.sub("", name)).strip()
    is_bare = re.match(rf"\W*(?:{_BARE})", name, re.IGNORECASE)
    return stem or (NO_STEM if is_bare else "")


def numbered_scores(header: Sequence[str]) -> list[str]:
    """Return numbered columns of scores, score_1 and score_2, of the first family that has two; else none."""
    families: dict[str, list[str]] = {}
    for name in header:
        if match := _NUMBERED_SCORE.fullmatch(normalised(name)):
            families.setdefault(match[1], []).append(name)
    return next((columns for columns in families.values() if len(columns) > 1), [])


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
