"""The section on a published table: by which rule it was made, what comes out, which orders stand."""

from math import isnan

import pandas as pd

from metrics.report.model import Section
from metrics.report.sections.scores import SIGNED
from metrics.report.studies import ReportStudies
from metrics.report.tables import FOUR_DECIMALS, VERDICT, Column, Table, legend
from metrics.studies.audit.audit import Audit
from metrics.studies.audit.audited_order import (
    VERDICTS,
    AuditedOrder,
    audit_finding,
    widest_first,
    written_chances,
)
from metrics.studies.prose import signed
from metrics.support.wording import count_of, first_names

MOST_PAIRS = 20
"""Pairs in the table, those that swap first."""
_OFF = "does not come out"


def auditing(studies: ReportStudies) -> Section:
    """Write what becomes of the published table: a sentence to paste, its figures and its orders."""
    audit, order = studies.audit, studies.audited_order
    files = first_names(list(dict.fromkeys(map(str, audit.published.figures["file"]))))
    rows, columns = (len(names) for names in (audit.published.rerankers, audit.published.measures))
    size = f"{count_of(rows, 'row')}, {count_of(columns, 'measure')}"
    figures = audit.reproduction.figures()
    means = figures[figures["query_id"].isna()]
    tables = [*([_figures(audit, means)] if len(means) else []), *([_pairs(order)] if len(order.pairs) else [])]
    return Section(
        "audit",
        "Audit",
        f"The published table, {files} ({size}), made again from the runs, then with ties averaged.",
        sentences=(audit_finding(audit, order), *((note,) for note in _notes(audit))),
        tables=tuple(tables),
        charts=("published",) if len(order.places) > 1 else (),
    )


def _notes(audit: Audit) -> list[str]:
    """Return sentences on what of the table and of the runs is left out, and on what was read otherwise."""
    names = audit.names
    parts = {
        "Left out, as no name is matched": names.unmatched,
        "Not in the table": first_names(names.unpublished),
    }
    return [*audit.published.notes, *(f"{what}: {text}." for what, text in parts.items() if text)]


def _figures(audit: Audit, means: pd.DataFrame) -> Table:
    """Return the printed means, each marked where it is off by rounding or does not come out."""
    cells = means.assign(cell=[_marked(row) for row in means.to_dict("records")])
    wide = cells.pivot_table("cell", "reranker", "measure", aggfunc="first", sort=False)
    wide = wide.reindex(columns=list(dict.fromkeys(means["measure"]))).fillna("")
    columns: dict[str, Column] = {"Reranker": wide.index, **{str(name): wide[name] for name in wide}}
    best = audit.reproduction.conventions.iloc[0]
    n_off = best["does_not_come_out"]
    counts = (
        f"{best['to_the_digit']:,} to the digit, {best['by_rounding']:,} by rounding, "
        f"{n_off:,} {'does' if n_off == 1 else 'do'} not come out"
    )
    marks = "≈ is off by rounding; brackets: computed minus printed, where a figure does not come out."
    return Table.of("What comes out", columns, f"Rule: {audit.reproduction.best.label}. {counts}. {marks}")


def _marked(figure: dict[str, object]) -> str:
    """Return a figure as printed, with what is off."""
    if figure["verdict"] == _OFF:
        difference = float(str(figure["difference"]))
        off = " (no value)" if isnan(difference) else f" ({signed(difference)})"
    else:
        off = " ≈" if figure["verdict"] == "by rounding" else ""
    return f"{figure['text']}{off}"


def _pairs(order: AuditedOrder) -> Table:
    """Return what becomes of the printed orders, those that swap first."""
    rows, n_pairs = widest_first(order.pairs), len(order.pairs)
    is_part = n_pairs > MOST_PAIRS
    title = f"The first {MOST_PAIRS} of {n_pairs:,} orders" if is_part else f"Orders by {order.measure}"
    rows = rows.head(MOST_PAIRS)
    return Table.of(
        title,
        {
            "Published above": rows["a"],
            "Below": rows["b"],
            VERDICT: rows["verdict"],
            "Printed": (rows["a_published"], FOUR_DECIMALS),
            "Printed below": (rows["b_published"], FOUR_DECIMALS),
            "Tied diff.": (rows["tied_difference"], SIGNED),
            "p adj.": (rows["p_adjusted"], "p"),
            "Chance of the order": written_chances(rows),
        },
        legend(VERDICTS, rows["verdict"]),
    )
