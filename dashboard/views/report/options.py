"""What the page asks the report to tell."""

import streamlit as st

from dashboard import session
from dashboard.escaping import escape_markdown
from dashboard.session.controls import pills
from metrics.errors import UsageError
from metrics.report import MEASURES, SECTIONS, ReportOptions
from metrics.studies.targets.targets import targets_of

_DEFAULTS = ReportOptions()


def choose_options(view: session.View, measure: str, leader: str) -> ReportOptions:
    """Draw the controls of the page, and return what they say.

    Args:
        view: what the sidebar says is shown.
        measure: the report's first.
        leader: the reranker whose targets are drawn unless another is chosen.
    """
    with st.container(horizontal=True, vertical_alignment="top", gap="medium"):
        title = session.text_input("Title", "title", placeholder="What ties do", max_chars=200, width=240)
        reranker = session.select("Targets for", view.rerankers, "targets_for", leader, width=240)
        targets = _choose_targets()
    sections = pills("Sections", list(SECTIONS), "sections")
    is_every_reranker = view.rerankers == view.board.runs.rerankers
    return ReportOptions(
        measures=(measure, *MEASURES),
        traditional=view.traditional,
        baseline="" if view.baseline == view.rerankers[0] else view.baseline,
        targets_for="" if reranker == leader else reranker,
        targets=targets,
        title=title,
        rerankers=() if is_every_reranker else tuple(view.rerankers),
        segments=view.segments,
        sections=() if len(sections) == len(SECTIONS) else tuple(sections),
        files=tuple((file.name, file.sha256) for file in view.board.files),
        scoring=view.scoring,
    )


def _choose_targets() -> tuple[str, ...]:
    """Ask for targets; the usual ones where none are given, or one that means none."""
    placeholder = "MTRR>=0.8, R@5>0.7; empty: the usual"
    text = session.text_input("Targets", "targets", placeholder=placeholder, max_chars=500, width=320)
    if not text.strip():
        return _DEFAULTS.targets
    try:
        return tuple(str(target).replace(" ", "") for target in targets_of(text.replace(";", ",").split(",")))
    except UsageError as error:
        st.error(escape_markdown(str(error)), icon=":material/error:")
        return _DEFAULTS.targets
