"""Findings by kind: what, where, what to do, and a way to do it where there is one."""

from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st

from dashboard import session
from dashboard.escaping import escape_markdown
from dashboard.library.boards import Board, BoardSpec
from dashboard.widgets.components import Colour, download_csv, heading
from dashboard.widgets.page_body import section
from metrics.runs.findings.finding import FindingGroup, FindingLine, group_findings
from metrics.support.wording import count_of, first_names

_BADGES: dict[str, tuple[Colour, str]] = {
    "error": ("red", "settle it before you trust a score"),
    "warning": ("orange", "scored, with what is said here"),
    "info": ("blue", "for the record"),
}
_FIRST = 3
"""Messages of one kind in sight; the others are below them."""
_MAX_LINES = 300
"""Messages of one kind that are shown; the CSV has them all."""
_MAX_NAMES = 6


@section("Findings")
def finding_cards(board: Board, findings: pd.DataFrame) -> None:
    """Draw the findings of a board by kind, the gravest first; information is folded."""
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="bottom"):
        heading("Findings", "Nothing is dropped or changed without a line here.")
        if len(findings):
            download_csv(findings, "findings")
    if not len(findings):
        st.markdown(":material/check: Every row was read, every query is judged, nothing stands out.")
        return
    groups = group_findings(findings, board.runs.rerankers)
    present = {group.severity for group in groups}
    options = ["All", *(name for name in _BADGES if name in present)]
    severity_shown = session.segmented("Show", options, "severity") if len(options) > 2 else "All"  # noqa: PLR2004 one is no choice
    for severity in _BADGES:
        same = [group for group in groups if group.severity == severity]
        if same and severity_shown in ("All", severity):
            with _frame(severity, same, is_folded=severity == "info" and severity_shown == "All"):
                for group in same:
                    _group(board, group)


def _frame(severity: str, groups: Sequence[FindingGroup], *, is_folded: bool) -> Any:  # noqa: ANN401 a container
    """Return what holds the findings of one severity: a box, for information one that can be folded."""
    colour, note = _BADGES[severity]
    if severity == "info":
        titles = [group.kind.title for group in groups]
        text = f"{note.capitalize()}: {first_names(titles, _MAX_NAMES)}"
        return st.expander(text, icon=":material/info:", expanded=not is_folded)
    frame = st.container(border=True)
    with frame, st.container(horizontal=True, vertical_alignment="center"):
        count = sum(len(line.names) for group in groups for line in group.lines)
        st.badge(count_of(count, severity), icon=f":material/{severity}:", color=colour)
        st.caption(note)
    return frame


def _group(board: Board, group: FindingGroup) -> None:
    """Draw what findings of one kind say, each run's message below it."""
    first = group.lines[0]
    text, fix = st.columns([9, 2], vertical_alignment="top") if _has_fix(group) else (st.container(), None)
    title = f"**{escape_markdown(group.subject)}**: {escape_markdown(group.title)}"
    place = _place(first) if len(group.lines) == 1 else ""
    text.markdown(f"{title}{place}  \n:gray[{escape_markdown(group.hint)}]")
    if fix is not None:
        with fix:
            _fix(board, group)
    if len(group.lines) > 1:
        text.markdown("\n".join(map(_item, group.lines[:_FIRST])))
    if len(group.lines) > _FIRST:
        with text.expander(_rest(group)):
            st.markdown("\n".join(map(_item, group.lines[_FIRST:_MAX_LINES])))
            if len(group.lines) > _MAX_LINES:
                st.caption(f"The CSV has the other {len(group.lines) - _MAX_LINES:,}.")


def _rest(group: FindingGroup) -> str:
    """Return whom the messages below the first are about: so many runs more, or so many messages."""
    first, rest = (
        {name for line in lines for name in line.names}
        for lines in (group.lines[:_FIRST], group.lines[_FIRST:])
    )
    if others := len(rest - first):
        return f"{count_of(others, group.kind.subject)} more"
    return f"{len(group.lines) - _FIRST:,} more"


def _item(line: FindingLine) -> str:
    names = escape_markdown(first_names(line.names, _MAX_NAMES))
    place = f" :gray[{escape_markdown(line.place)}]" if line.place else ""
    return f"- {names}: {escape_markdown(line.message)}{place}"


def _place(line: FindingLine) -> str:
    """Return whose message it is where it is that of several, else where it is; a new line of Markdown."""
    place = first_names(line.names, _MAX_NAMES) if len(line.names) > 1 else line.place
    return f"  \n:gray[{escape_markdown(place)}]" if place else ""


def _has_fix(group: FindingGroup) -> bool:
    return group.code in ("rows-dropped", "scores-missing")


def _fix(board: Board, group: FindingGroup) -> None:
    """Draw a button that keeps other rows of those repeated, or does the other thing about missing scores."""
    if group.code == "scores-missing":
        _fix_missing_scores(board)
        return
    if board.spec.repeated == "first":
        if st.button("Keep highest", key="fix-repeated"):
            session.rebuild_board(BoardSpec(board.spec.entries, "max"))
    elif st.button("Keep first", key="fix-repeated"):
        session.rebuild_board(BoardSpec(board.spec.entries, "first"))


def _fix_missing_scores(board: Board) -> None:
    """Draw a button that drops the documents put last, or puts last those dropped."""
    rules = {position: source.missing_score for position, source in enumerate(board.sources)}
    rules = {position: rule for position, rule in rules.items() if rule != "error"}
    is_last = "last" in rules.values()
    if st.button("Drop them" if is_last else "Put them last", key="fix-missing"):
        spec = board.spec
        for position in rules:
            spec = spec.with_missing_score(position, "drop" if is_last else "last")
        session.rebuild_board(spec)
