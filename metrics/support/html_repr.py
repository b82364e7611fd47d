"""Runs and evaluations in notebooks: a few sentences and a plain table.

No colors, scripts or external resources. All text is escaped.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from metrics.support.arrays import span_starts
from metrics.support.columns import coded
from metrics.support.escaping import clean, html
from metrics.support.wording import OUTCOMES, compared_as, count_of

RERANKERS = 20
"""Most rerankers shown."""
_NAME = 60


def evaluation(
    scores: pd.DataFrame,
    policies: pd.DataFrame,
    measures: Sequence[str],
    ties: Sequence[str],
    options: Mapping[str, Any],
) -> str:
    """Return the means of each reranker; `options` are the fields of `ScoringOptions`.

    `scores` has the index (reranker, query_id) and columns (measure, ties); `policies` has the index reranker
    and columns n_queries, n_missing, n_empty, n_scored.
    """
    means = scores.groupby(level="reranker", sort=False).mean().reindex(policies.index[:RERANKERS])
    table = means.rename_axis(columns=[None, None])
    table.insert(0, ("", "reranker"), _names(means.index))
    scored, no_rows, nothing = (int(policies[name].sum()) for name in ("n_scored", "n_missing", "n_empty"))
    lists = count_of(len(scores), "list") + (f" of {scored:,}" if len(scores) != scored else "")
    fronts = f", ranked by Pareto fronts of {', '.join(options['criteria'])}" if options["criteria"] else ""
    split = f", ties broken first by {', '.join(options['tiebreak_by'])}" if options["tiebreak_by"] else ""
    split += ", unjudged documents left out" if options["unjudged"] == "leave_out" else ""
    return _block(
        "Evaluation",
        f"{count_of(len(policies), 'reranker')}, {lists}, {count_of(len(measures), 'measure')}, "
        f"{count_of(len(ties), 'tie order')}. Means:",
        _html(table),
        "expected is the tied score, the mean over all orders of the tied documents."
        if "expected" in ties
        else "",
        _policy(no_rows, "no rows in a run", "missing", options["missing"]),
        _policy(nothing, "no relevant documents", "empty", options["empty"]),
        f"Relevant from grade {options['relevant_from']:g}; scores compared as "
        f"{compared_as(options['precision'])}{fronts}{split}.",
        _truncation_note(len(policies), ".summary(flat=True)"),
    )


def runs(tables: Mapping[str, pa.Table], judgments: tuple[str, int] | None, severities: Sequence[str]) -> str:
    """Return the lengths of lists, and the share of tied documents, of each reranker.

    `judgments` are file and number of the qrels; `severities` are those of the findings of reading.
    """
    n_rows = sum(map(len, tables.values()))
    rows = [_run(name, tables[name]) for name in list(tables)[:RERANKERS]]
    severity_counts = ", ".join(f"{severities.count(one):,} {one}" for one in dict.fromkeys(severities))
    return _block(
        "Runs",
        f"{count_of(len(tables), 'reranker')}, {count_of(n_rows, 'row')}. {_relevance(tables, judgments)}",
        _html(pd.DataFrame(rows, columns=["reranker", "queries", "documents", "tied"])),
        f"Found while reading: {severity_counts or 'nothing'}; for checks of the lists, see .findings.",
        _truncation_note(len(tables), ".rerankers"),
    )


def _run(name: str, table: pa.Table) -> list[str]:
    query, scores = coded(table["query_id"]).indices.to_numpy(), table["score"].to_numpy()
    order = np.lexsort((scores, query))
    sizes = np.diff(span_starts(query[order], scores[order]), append=len(order))
    tied = f"{sizes[sizes > 1].sum() / len(order):.1%}" if len(order) else ""
    return [*_names([name]), f"{len(np.unique(query)):,}", f"{len(table):,}", tied]


def _relevance(tables: Mapping[str, pa.Table], judgments: tuple[str, int] | None) -> str:
    if judgments:
        return f"Relevance: {count_of(judgments[1], 'judgment')} in {clean(judgments[0], _NAME)}."
    if all("relevance" in table.column_names for table in tables.values()):
        return "Relevance: a column of the runs."
    return "Relevance: not known."


def _policy(n: int, noun: str, option: str, policy: str) -> str:
    return f"{count_of(n, 'list')} with {noun}: {OUTCOMES[policy]} ({option}={policy})." if n else ""


def _truncation_note(n: int, full_table: str) -> str:
    note = f"The first {RERANKERS} of {n:,} rerankers are shown. All rerankers: {full_table}."
    return note if n > RERANKERS else ""


def _block(noun: str, first: str, table: str, *notes: str) -> str:
    below = "<br>".join(html(words) for words in notes if words)
    return f"<div><p><b>{noun}</b>: {html(first)}</p>{table}<p>{below}</p></div>"


def _names(names: Iterable[object]) -> list[str]:
    return [clean(str(name), _NAME) for name in names]


def _html(table: pd.DataFrame) -> str:
    with pd.option_context("display.max_colwidth", None):
        text = str(table.to_html(index=False, na_rep="–", float_format="{:.4f}".format))
    text = re.sub("<th(?=[ >])", '<th scope="col"', text)
    return re.sub(r"(<tr>\s*)<td>(.*?)</td>", r'\1<th scope="row">\2</th>', text)
