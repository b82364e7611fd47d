"""Names that differ in nothing but a seed: rerankers, or columns of scores, that look like repeats of one."""

import re
from collections.abc import Sequence

from metrics.runs.reading.columns import normalised

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
