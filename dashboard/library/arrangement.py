"""Rerankers as a board shows them: named, in order, repeats of one combined."""

from typing import TypeAlias

from metrics.runs import Runs

Names: TypeAlias = tuple[tuple[str, str], ...]
"""Of each reranker that is kept, its name in the files and the one shown; of one name shown are repeats."""


def repeats_of(names: Names) -> dict[str, list[str]]:
    """Return the names shown that several rerankers have → those of the files that are combined under it."""
    groups: dict[str, list[str]] = {}
    for first, shown in names:
        groups.setdefault(shown, []).append(first)
    return {shown: firsts for shown, firsts in groups.items() if len(firsts) > 1}


def arranged_runs(runs: Runs, names: Names) -> Runs:
    """Return the rerankers that are shown, in order, repeats combined.

    Raises:
        UsageError: a reranker that does not exist, or repeats that share no document.
    """
    firsts, repeats = dict(names), repeats_of(names)
    runs = runs.arranged({first: first for first in firsts})
    combined: dict[str, list[str]] = {}
    shown_names: dict[str, str] = {}
    for first, shown in firsts.items():
        members = repeats.get(shown, [first])
        if first != members[0]:
            continue
        is_taken = shown in firsts and shown not in members
        name = first if is_taken or len(members) == 1 else shown  # messages call it so
        shown_names[name] = shown
        if len(members) > 1:
            combined[name] = members
    return runs.combined(combined).arranged(shown_names)
