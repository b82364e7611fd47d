"""List by list: running means of a reranker of this board whose lists came one after the other."""

import pandas as pd
import streamlit as st

from dashboard import session
from dashboard.cache import ShownBoard
from dashboard.charts.running_means import running_means_chart
from dashboard.library.command_line import watch_command
from dashboard.server.board_results import cached_by_key
from dashboard.session import View
from dashboard.session.controls import number_input, select_name
from dashboard.widgets.components import chart, heading, section_finding
from dashboard.widgets.page_body import section
from metrics import parse
from metrics.report import ReportOptions
from metrics.studies.leaderboard.arrivals import (
    arrivals,
    arrivals_finding,
    arriving,
    change_of,
    running_means,
)

_LATEST, _SHARE = 50, 5
"""Lists of the window that is shown first, and the share of all that it is at most, one fifth."""
_FEWEST = 4
"""Lists that are drawn, at least."""
_WIDE = 800
"""Pixels the measures take, so that on a phone what is beside them goes below."""


@section("List by list")
def list_by_list(view: View, measure: str) -> None:
    """Show running means of a reranker shown whose lists came in an order; nothing where there is none.

    The measure is the one chosen above; empty where none was offered there.
    """
    versions = arriving(view.board.runs, view.rerankers)
    if not versions:
        return
    heading(
        "List by list",
        "Lists of this board in the order in which they came: by a column time or timestamp, in numbers; else "
        "version by version, each as its file has them. Judged queries without rows are left out.",
    )
    with st.container(horizontal=True, vertical_alignment="top", gap="medium"):
        if not measure:
            with st.container(width=_WIDE):
                measure = session.measure()
        name = select_name("Lists of", list(versions), "arriving", width=280)
        lists = _arrivals(view, name, measure, view.traditional)
        if len(lists) < _FEWEST:
            st.caption(f"Fewer than {_FEWEST} lists count.")
            return
        usual_window = max(2, min(_LATEST, len(lists) // _SHARE))
        window = number_input("Latest lists", 2, len(lists) // 2, usual_window, "latest", width=140)
    change = change_of(lists, measure)
    section_finding(arrivals_finding(name, lists, change, parse(measure).traditional), [name])
    order = "in order of time" if lists["time"].notna().all() else "version by version"
    figure = running_means_chart(
        running_means(lists, window),
        view.palette,
        parse(measure).traditional,
        window,
        change.n_before if change else None,
        order,
    )
    alt = f"Means of {measure} of the last {window:,} lists and of all so far, tied and traditional."
    chart(figure, "arrivals", alt, wide=620)
    options = ReportOptions(measures=(measure,), traditional=view.traditional, scoring=view.scoring)
    st.caption(f"Such means as lists come, on the command line: `{watch_command(options, window)}`")


@cached_by_key(show_spinner=False, max_entries=24)
def _arrivals(view: ShownBoard, name: str, measure: str, traditional: str) -> pd.DataFrame:
    """Return the lists of a reranker in the order in which they came, by its name without version."""
    names = arriving(view.board.runs, view.rerankers)[name]
    return arrivals(view.evaluation, view.board.runs, names, measure, traditional)
