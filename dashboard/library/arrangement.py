"""Rerankers as a board shows them: named, in order, repeats of one combined."""

from typing import TypeAlias

from metrics.runs import Runs

Names: TypeAlias = tuple[tuple[str, str], ...]
"""Of each reranker that is kept, its name in the files and the one shown; of one name shown are repeats."""


def repeats_of(names: Names) -> dict[str, list[str]]:
    """Return the names shown that several rerankers have → those of the files that are combined under it."""
    groups: dict[str, list[str]] = {}
    for first, label in names:
        groups.setdefault(label, []).append(first)
    return {label: firsts for label, firsts in groups.items() if len(firsts) > 1}


def arranged_runs(runs: Runs, names: Names) -> Runs:
    """Return the rerankers that are shown, in order, repeats combined.

    Raises:
        UsageError: a reranker that does not exist, or repeats that share no document.
    """
    repeats = repeats_of(names)
    combined: dict[str, list[str]] = {}
    shown_names: dict[str, str] = {}
    for first, label in names:
        members = repeats.get(label, [first])
        if first != members[0]:
            continue
        is_taken = label in runs.tables and label not in members
        name = first if is_taken or len(members) == 1 else label  # messages call it so
        shown_names[name] = label
        if len(members) > 1:
            combined[name] = members
    return runs.combined(combined).arranged(shown_names)
