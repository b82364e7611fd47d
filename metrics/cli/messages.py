"""Messages on stderr."""

from typing import TYPE_CHECKING

import typer

from metrics.support.escaping import clean_lines
from metrics.support.wording import count_of, describe_part

if TYPE_CHECKING:
    import pandas as pd

    from metrics.evaluation import Evaluation, ScoringOptions
    from metrics.runs import Runs
    from metrics.scale.dask import Dataset

_MAX_RERANKERS = 20
"""Rerankers with a message of their own about queries without rows or relevant documents."""


def say(text: str) -> None:
    """Write a message to stderr, without characters that control the terminal or reorder text."""
    typer.echo(clean_lines(text), err=True)


def traditional_order(runs: "Runs", choice: str | None) -> str:
    """Return the chosen tie order, else the usual one of the files, which is announced."""
    from metrics.ties import order_of_ties

    label = order_of_ties(choice or runs.tie_order).label
    if choice is not None or runs.tie_order == "input":
        return choice or runs.tie_order
    say(f"Tie order for TREC runs: {label}. For file order: --traditional input.")
    return runs.tie_order


def say_left_out(runs: "Runs | Dataset", evaluation: "Evaluation | None" = None) -> bool:
    """Report skipped rows and queries and the reasons; return whether the data has errors.

    With an evaluation, report queries counted as 0 too.
    """
    findings = runs.left_out
    findings = findings[findings["code"] != "queries-missing"]
    groups = findings.groupby(["severity", "message", "hint"], sort=False)
    for (severity, message, hint), files in groups["file"]:
        more_files = f" and {len(files) - 1:,} more" if len(files) > 1 else ""
        say(f"{severity} · {files.iloc[0]}{more_files} · {message} {hint}")
    if evaluation is not None:
        _say_policies(evaluation.policies, evaluation.options)
    return "error" in set(findings["severity"])


def _say_policies(policies: "pd.DataFrame", options: "ScoringOptions") -> None:
    """Report the queries of each reranker without rows or relevant documents, and how they were counted."""
    incomplete = policies[(policies["n_missing"] > 0) | (policies["n_empty"] > 0)]
    reasons = (
        ("n_missing", "have no rows", options.missing),
        ("n_empty", "have no relevant documents", options.empty),
    )
    for reranker, counts in incomplete[:_MAX_RERANKERS].iterrows():
        for name, reason, policy in reasons:
            if counts[name]:
                part = describe_part(int(counts[name]), int(counts["n_queries"]), "query", reason)
                say(f"{reranker}: {part}, {'counted as 0' if policy == 'zero' else 'left out'}.")
    if len(incomplete) > _MAX_RERANKERS:
        n_more = count_of(len(incomplete) - _MAX_RERANKERS, "more reranker")
        say(f"… and {n_more} with queries that have no rows or no relevant documents.")


def say_own_rules(evaluation: "Evaluation") -> None:
    """Name the measures that break ties by a rule of their own, and the measures to read them with."""
    from metrics.studies.prose import plain
    from metrics.studies.tie_rules import own_rule_note

    for name in evaluation.measures:
        if note := own_rule_note(name):
            say(plain(note).strip())
