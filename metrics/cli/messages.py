"""What is said on stderr; of values: what was left out or counted as 0, and why."""

from typing import TYPE_CHECKING

import typer

from metrics.support.escaping import clean_lines
from metrics.support.wording import count_of, describe_part

_MAX_RERANKERS = 20
"""Rerankers whose queries without rows, or with nothing relevant, are counted one by one."""

MANY_RERANKERS = 2_000
"""Rerankers whose pairs take so long that a command says it before it starts."""

_UNITS = (("hour", 3600), ("minute", 60), ("second", 1))

if TYPE_CHECKING:
    import pandas as pd

    from metrics.evaluation import Evaluation, ScoringOptions
    from metrics.runs import Runs
    from metrics.scale.stream import PartitionedRuns


def say(text: str) -> None:
    """Write a message to stderr; no name in it steers the terminal or reorders what stands beside it."""
    typer.echo(clean_lines(text), err=True)


def duration(seconds: float) -> str:
    """Return a time as people say it."""
    unit, size = next((unit, size) for unit, size in _UNITS if seconds >= 1.5 * size or size == 1)
    return count_of(max(1, round(seconds / size)), unit)


def traditional_order(runs: "Runs", choice: str | None) -> str:
    """Return the order of ties that is chosen, else that of the files, and say which that is."""
    from metrics.ties import order_of_ties

    label = order_of_ties(choice or runs.tie_order).label
    if choice is not None or runs.tie_order == "input":
        return choice or runs.tie_order
    say(f"Traditional: {label}, as for TREC runs. --traditional input takes the order of the file.")
    return runs.tie_order


def say_left_out(runs: "Runs | PartitionedRuns", evaluation: "Evaluation") -> None:
    """Say what was left out or counted as 0, and why."""
    findings = runs.left_out
    findings = findings[findings["code"] != "queries-missing"]
    groups = findings.groupby(["severity", "message", "hint"], sort=False)
    for (severity, message, hint), files in groups["file"]:
        more_files = f" and {len(files) - 1:,} more" if len(files) > 1 else ""
        say(f"{severity} · {files.iloc[0]}{more_files} · {message} {hint}")
    say_policies(evaluation.policies, evaluation.options)


def say_policies(policies: "pd.DataFrame", options: "ScoringOptions") -> None:
    """Say how many queries of each reranker have no rows or nothing relevant, and what was done about them."""
    incomplete = policies[(policies["n_missing"] > 0) | (policies["n_empty"] > 0)]
    for reranker, counts in incomplete[:_MAX_RERANKERS].iterrows():
        _say_policies(str(reranker), counts, options)
    if len(incomplete) > _MAX_RERANKERS:
        say(f"… and {count_of(len(incomplete) - _MAX_RERANKERS, 'more reranker')} like these.")


def say_own_rules(evaluation: "Evaluation") -> None:
    """Say which measures settle ties by a rule of their own, and beside what they are to be read."""
    from metrics.measures import parse, side_by_side

    for reason in dict.fromkeys(parse(name).measure.family.no_extremes for name in evaluation.measures):
        if reason:
            say(reason)
    for name in evaluation.measures:
        answered, *rules = side_by_side(parse(name))
        if parse(name).measure.answers:
            others = " ".join(f"-m {rule}" for rule in (answered, *rules))
            say(
                f"{name} settles ties by its own rule, one value under every treatment; beside "
                f"{answered}, whose ties it settles: {others}."
            )


def _say_policies(reranker: str, counts: "pd.Series", options: "ScoringOptions") -> None:
    policies = {
        "n_missing": ("have no rows", options.missing),
        "n_empty": ("have nothing relevant", options.empty),
    }
    for name, (reason, policy) in policies.items():
        if counts[name]:
            outcome = "counted as 0" if policy == "zero" else "left out"
            part = describe_part(int(counts[name]), int(counts["n_queries"]), "query", reason)
            say(f"{reranker}: {part}, {outcome}.")
