"""The section on unjudged documents: what they leave open, what judging settles, what to judge next."""

from hashlib import sha256

import pandas as pd
import streamlit as st

from dashboard.boards import while_open
from dashboard.cache import ShownBoard, board_turn
from dashboard.charts.leaderboard import settling_curve
from dashboard.choices import View
from dashboard.controls import number_input, toggle
from dashboard.server.board_results import cached_by_key
from dashboard.widgets.components import chart, heading, section_finding, side_by_side, table
from dashboard.widgets.figures import kept_figure
from dashboard.widgets.first_rows import FIRST_ROWS
from dashboard.widgets.holes import choose_unjudged, with_holes
from dashboard.widgets.leaderboard_parts import charted_rerankers, leaderboard_charts
from dashboard.widgets.sections import section
from metrics.errors import UsageError
from metrics.evaluation.options import adds_queries
from metrics.measures import MeasureAt
from metrics.studies.holes import (
    QUERIES_MAY_JOIN,
    are_bounds_known,
    can_narrow,
    hole_finding,
    unjudged_share,
)
from metrics.studies.judging import (
    JudgingPlan,
    closing_text,
    form_for,
    plan_finding,
    plan_judging,
)
from metrics.support.shown_columns import shown_columns

_FIRST_DOCUMENTS, _MOST_DOCUMENTS = 50, 10_000
"""Documents to judge next at first, and at most."""
_BRING_BACK = (
    "Give every line its grade, 0 where it is not relevant; then drop the file on Data with “Add to "
    "what is loaded”: it joins the judgments."
)


@cached_by_key(show_spinner="Judging every document both ways …", max_entries=8)
def judging_plan(view: ShownBoard, measure: str) -> JudgingPlan:
    """Return in which order to judge what nobody judged, and what that settles.

    It is of the rerankers shown; how likely a document is to be relevant, judged ones of the whole board tell.

    Raises:
        UsageError: nothing says how likely unjudged documents are to be relevant.
    """
    with board_turn(view.board):
        return plan_judging(view.runs, measure, view.scoring, queries=view.queries, board=view.board.runs)


@section("Unjudged documents")
def unjudged_section(view: View, name: MeasureAt, rows: pd.DataFrame, unjudged: pd.DataFrame) -> None:
    """Draw what unjudged documents leave open, and which to judge next."""
    choose_unjudged(view, str(name))
    rows = with_holes(view, rows, name, unjudged)
    has_bounds = "highest" in rows
    prose = hole_finding(rows, unjudged, name) if has_bounds else (*unjudged_share(unjudged, name), ".")
    section_finding(prose, view.rerankers)
    drawable = charted_rerankers(rows, FIRST_ROWS)
    if has_bounds:
        leaderboard_charts(view.board.key, drawable, view.palette, name.traditional, view.treatment)
    columns = rows.columns.intersection(["tied", "unjudged", "lowest", "highest", "expectation"])
    table(
        rows.reset_index(),
        "",
        "unjudged",
        shown_columns("tied_rank", "reranker", *columns, tied=name.tied),
    )
    _judging(view, name)


@section("What judging settles")
def _judging(view: View, measure: MeasureAt) -> None:
    """Say, where that is asked for, what judging settles, and which documents to judge next."""
    is_left_out = view.scoring.unjudged == "leave_out"
    if is_left_out or not (are_bounds_known(measure) and can_narrow(measure)):
        return
    heading(
        "What judging settles",
        "Which documents to judge first, and how much each would narrow the bounds of all rerankers.",
    )
    if adds_queries(view.board.runs, view.scoring):
        st.caption(QUERIES_MAY_JOIN)
        return
    if not toggle("Say which to judge next", "judge_next"):
        return
    try:
        plan = judging_plan(view, str(measure))
    except UsageError as error:
        st.info(str(error), icon=":material/info:")
        return
    section_finding(plan_finding(plan), view.rerankers)
    if len(plan.documents):
        _settling(view, plan)


def _settling(view: View, plan: JudgingPlan) -> None:
    """Draw the curve, the choice of how many, their form, and their table."""
    wide, narrow = side_by_side(3, 2, "settling")
    with wide:
        chart(
            kept_figure(view.board.key, settling_curve, plan, view.palette),
            "settling",
            f"Mean width of the bars of {plan.measure} against documents judged, in this order and at random.",
        )
    with narrow:
        n_most = min(len(plan.documents), _MOST_DOCUMENTS)
        n = number_input("Documents to judge next", 1, n_most, min(_FIRST_DOCUMENTS, n_most), "n_judge")
        st.markdown(closing_text(plan, n))
        _form_button(plan.documents.head(n), plan.measure)
        st.caption(_BRING_BACK)
        st.caption(
            f"Documents below rank {plan.depth} everywhere count as not relevant here. Grades are simulated "
            "from judged documents at similar ranks of the same query."
        )
    _documents_table(plan, n)


def _form_button(documents: pd.DataFrame, measure: str) -> None:
    """Show the button that downloads the qrels to fill in; each choice of documents has a name of its own."""
    form, ending = form_for(documents)
    digest = sha256(form.encode()).hexdigest()[:6]
    st.download_button(
        "Qrels to fill in",
        data=while_open(lambda: form),
        file_name=f"tiescope-judged-{len(documents)}-{digest}.{ending}",
        mime="text/csv" if ending == "csv" else "text/plain",
        key="download-judge-form",
        icon=":material/edit_document:",
        on_click="ignore",
        help=f"For {measure}: a line a document, its grade missing.",
    )


def _documents_table(plan: JudgingPlan, n: int) -> None:
    """Draw the first documents, what each narrows, and what they close together."""
    rows = plan.documents.head(n)
    rows = rows.assign(
        number=range(1, n + 1),
        closed=100 * rows["closed"],
        having=[f"{count:,} of {plan.n_rerankers:,}" for count in rows["rerankers"]],
    )
    table(
        rows,
        "Judge next",
        "judge-next",
        {
            **shown_columns(("number", "judging_number"), "query_id", "doc_id"),
            "narrowing": st.column_config.ProgressColumn(
                "Narrows all bars, summed",
                format="%.4f",
                min_value=0,
                max_value=float(rows["narrowing"].max()) or 1.0,  # a bar needs a length where nothing narrows
                help="How much judging this document alone narrows the bounds of all rerankers: the sum, "
                "on average over grades; the chart shows their mean. Documents judged before it change that.",
            ),
            "closed": st.column_config.NumberColumn(
                "Closed so far",
                format="%.1f%%",
                help="Share of the uncertainty removed once this and all documents above are judged.",
            ),
            **shown_columns(("having", "having_rerankers"), "best_place", "best_reranker", k=plan.depth),
        },
        download=plan.documents,
        explanation=f"The first {n:,} of {len(plan.documents):,} unjudged documents in the top {plan.depth}.",
    )
