"""What the page asks the report to tell."""

import streamlit as st

from dashboard import controls
from dashboard.choices import View
from dashboard.controls import follow_defaults, pills
from dashboard.escaping import escape_markdown
from dashboard.widgets.audited_table import report_choices
from metrics.errors import UsageError
from metrics.report import MEASURES, PRESETS, SECTIONS, ReportOptions
from metrics.studies.leaderboard import leaderboard
from metrics.studies.targets import PRESETS as READY_TARGETS
from metrics.studies.targets import Target, usual_baseline

_PRESET_HELP = (
    "**Short**: the summary, two screens. **Full**: the summary, and every table behind it as an appendix. "
    "**Paper**: one table, traditional and tied with bounds and stars, made for LaTeX."
)
_SECTION_LABELS = {"readings": "MRR beside MAP", "tradeoffs": "Trade-offs"}
"""Sections whose titles are not their names with a capital."""


def section_label(name: str) -> str:
    """Return what a section of the report is called on its chip."""
    return _SECTION_LABELS.get(name, name.capitalize())


def choose_options(view: View, measure: str) -> ReportOptions:
    """Draw the controls of the page, and return what they say; the measure is the report's first."""
    leader = str(leaderboard(view.evaluation, measure, view.traditional).index[0])
    if controls.asked_text("sections") and controls.asked_text("preset") is None:
        controls.ask({"preset": "full"})  # a link of an earlier version, where the full one was the usual
    with st.popover("Contents", icon=":material/tune:"):
        preset = controls.segmented(
            "What for", tuple(PRESETS), "preset", "short", format_func=str.capitalize, help=_PRESET_HELP
        )
        audited = report_choices(view.board)
        names = [name for name in SECTIONS if name != "paper" and (name != "audit" or audited)]
        sections = pills("Sections", names, "sections", section_label) if preset == "full" else names
        title = controls.text_input("Title", "title", placeholder="What ties do", max_chars=200)
        targets = _choose_targets()
        reranker = _choose_reranker(view, leader) if targets else leader
        if not targets:
            controls.record("targets_for", leader, leader)  # a link that says it asks for the ready ones
    is_every_reranker = view.rerankers == view.board.runs.rerankers
    return ReportOptions(
        measures=(measure, *MEASURES),
        traditional=view.traditional,
        baseline="" if view.baseline == usual_baseline(view.rerankers) else view.baseline,
        targets_for="" if reranker == leader else reranker,
        targets=targets,
        title=title,
        rerankers=() if is_every_reranker else tuple(view.rerankers),
        segments=view.segments,
        preset=preset,
        sections=() if len(sections) == len(names) else tuple(sections),
        scoring=view.scoring,
        **{"files": tuple((file.name, file.sha256) for file in view.board.files)} | audited,
    )


def _choose_reranker(view: View, leader: str) -> str:
    """Draw whose targets are drawn: the leader's by the measure shown unless another is chosen."""
    follow_defaults({"targets_for": leader})
    return controls.select_name("Targets for", view.rerankers, "targets_for", leader)


def _choose_targets() -> tuple[str, ...]:
    """Ask for targets, written out or by the name of ready ones; none where one means none.

    A link that says whose targets are drawn but not which is of an earlier version, where the ready ones were.
    """
    if controls.asked_text("targets_for") and not controls.get_value("targets"):
        controls.ask({"targets": "retrieval"})
    text = controls.text_input(
        "Targets",
        "targets",
        placeholder=f"MTRR>=0.8, R@5>0.7, or {', '.join(READY_TARGETS)}",
        max_chars=500,
        help="None unless you set some. Ready ones: "
        + "; ".join(f"{name}: {', '.join(targets)}" for name, targets in READY_TARGETS.items())
        + ".",
    )
    texts = [target.strip() for target in text.replace(";", ",").split(",") if target.strip()]
    try:
        return tuple(
            target if target in READY_TARGETS else str(Target.of(target)).replace(" ", "") for target in texts
        )
    except UsageError as error:
        st.error(escape_markdown(str(error)), icon=":material/error:")
        return ()
