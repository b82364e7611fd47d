"""The section of Ties vs gap on what is lost where probabilities of grades are cut down to one grade."""

from dashboard import session
from dashboard.views.explore.ties.cached import likeliest_grades
from dashboard.widgets.components import section_finding, table
from dashboard.widgets.page_body import section
from metrics.studies.gaps.argmax import argmax_finding, graded_rerankers
from metrics.support.shown_columns import shown_columns


@section("A model that argmax evaluates")
def argmax_section(view: session.View, measure: str) -> None:
    """Draw what grading throws away, where a reranker that is shown has probabilities of grades."""
    if not set(graded_rerankers(view.board.runs)) & set(view.rerankers):
        return
    losses = likeliest_grades(view, measure)
    table(
        losses,
        "What the likeliest grade throws away",
        "likeliest-grades",
        shown_columns(
            *("reranker", "gain", "argmax_tie_ratio", "expected_tie_ratio", "argmax", "expected"),
            measure=measure,
        ),
        explanation="Files with probabilities of grades, ranked by the likeliest and by the expected grade.",
    )
    section_finding(argmax_finding(losses, measure))
