"""What the page Audit asks: by which measure the table is ordered, and whose rule is compared."""

import pandas as pd
import streamlit as st

from dashboard import session
from dashboard.charts.labels import CARD_COLUMNS, short_names
from dashboard.session import View
from dashboard.session.controls import clicked_row, set_value
from metrics.evaluation import AS_READ
from metrics.studies.audit.audit import Audit
from metrics.studies.audit.names import NameMatches

BARS = "audit-rules"
"""Chart whose click chooses a rule."""
FIRST_RULES = 8
"""Rules whose bars are drawn unless all are asked for."""
MOST_RULES = 40
"""Rules whose bars are drawn at most; the list has all."""
_RULE, _ORDER = "rule", "by"
_FEW_MEASURES = 4
"""Measures that stand side by side."""


def say_unmatched(names: NameMatches) -> None:
    """Say that nothing of a table is here under any name, and what to do."""
    kind = "measure" if names.rerankers["matched"].ne("").any() else "reranker"
    st.warning(
        f"No {kind} of the table has a name that is known here. Say below which is which, or open the board "
        "that the table was made from.",
        icon=":material/link_off:",
    )


def say_scope(view: View) -> None:
    """Say that the audit is of the whole board where the sidebar shows a part of it or scores otherwise."""
    is_part = view.segments or len(view.rerankers) < len(view.board.runs.rerankers)
    if is_part or view.scoring != AS_READ:
        st.caption(
            "The audit is of every reranker and query of the board, scored by the rule of the table; what the "
            "sidebar filters and how it scores is for the other pages."
        )


def choose_measure(audit: Audit) -> str:
    """Draw and return by which published measure the table is ordered: those whose means are in it."""
    figures = audit.published.figures
    with_means = set(figures.loc[figures["query_id"].isna(), "measure"])
    matched = [name for name in audit.published.measures if audit.names.measure(name)]
    names = [name for name in matched if name in with_means] or matched
    labels = short_names(names, CARD_COLUMNS)
    choose = session.segmented if len(names) <= _FEW_MEASURES else session.select
    return choose("Order by", names, _ORDER, format_func=labels.__getitem__)


def tried_rules(audit: Audit) -> pd.DataFrame:
    """Return a rule for each way that the figures come out, first the best of every treatment, best first.

    Returns:
        rows of `conventions`, with n_alike: how many others give the same figures.
    """
    conventions = audit.reproduction.conventions
    n_alike = conventions["group"].map(conventions["group"].value_counts()) - 1
    rules = conventions.assign(n_alike=n_alike).drop_duplicates("group")
    treatments = rules["convention"].map(lambda convention: convention.treatment)
    is_first = ~treatments.duplicated()
    first = pd.concat([rules[is_first], rules[~is_first]]).head(FIRST_RULES).index
    return pd.concat([rules.loc[rules.index.isin(first)], rules.loc[~rules.index.isin(first)]])


def choose_rule(rules: pd.DataFrame) -> int:
    """Draw and return whose matrix is shown: the row of a rule, the best unless another is chosen."""
    labels = rules["label"].tolist()
    if (row := clicked_row(BARS)) is not None and row < len(labels):
        set_value(_RULE, labels[row])
    label = session.select("Compare with the rule of", labels, _RULE, width=280)
    return int(labels.index(label))
