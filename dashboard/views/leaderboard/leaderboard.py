"""Leaderboard: who leads, and does that stand when ties are averaged?"""

from datetime import UTC, date, datetime

import streamlit as st

from dashboard import boards, choices, controls, visitor
from dashboard.access import server_files
from dashboard.cache import PROMPTS_LABEL, SAMPLE_LABEL, SIMULATED_LABEL
from dashboard.choices import View, choose_relevant_from
from dashboard.escaping import escape_markdown
from dashboard.views.leaderboard.pairs import swaps_section
from dashboard.views.leaderboard.scores import ranked_rerankers, scores_section, verdict
from dashboard.views.leaderboard.tools import tools_section
from dashboard.views.leaderboard.unjudged import unjudged_section
from dashboard.visitor import visitor_zone
from dashboard.widgets.browser import watch_width
from dashboard.widgets.first_rows import find_reranker, shown_rows
from dashboard.widgets.holes import count_unjudged
from dashboard.widgets.leaderboard_parts import charted_rerankers
from dashboard.widgets.sections import section
from metrics import parse
from metrics.support.wording import count_of

SCORES, PAIRS, TOOLS, UNJUDGED = "Scores", "Pairs that swap", "Other tools", "Unjudged documents"
_FINDABLE = 12  # rerankers from which on one is looked for by name
_SAMPLES = {
    SAMPLE_LABEL: "one model stored in six precisions; ties stay in BM25's order, as a stable sort leaves them",
    SIMULATED_LABEL: "four simulated rerankers that tie more and more",
    PROMPTS_LABEL: "one model asked with five prompts; the prompt moves its score, tie order does not",
}


def show(view: View) -> None:
    """Draw the verdict, the scores, and on request what is behind them."""
    st.title("Leaderboard", anchor=False)
    if not visitor.is_narrow():
        data_line(view)
    verdict_place = st.container(gap="small")
    with st.container(horizontal=True, vertical_alignment="top", gap="small"):
        measure = choices.measure()
        choose_relevant_from(view.board)
        part = find_reranker() if len(view.rerankers) >= _FINDABLE else ""
    unjudged = count_unjudged(view, measure)
    sections = [SCORES, PAIRS, TOOLS] + [UNJUDGED] * (unjudged is not None)
    chosen = controls.segmented("Section", sections, "section", label_visibility="collapsed")
    name, rows = parse(measure), ranked_rerankers(view, measure, view.traditional)
    with verdict_place:
        verdict(view, measure)
    if chosen == PAIRS:
        swaps_section(view, measure)
    elif chosen == TOOLS:
        drawable = charted_rerankers(rows)
        places = shown_rows(len(drawable), "places", has_pages=True)
        tools_section(view, drawable, measure, places.of(drawable).index)
        places.buttons()
    elif chosen == UNJUDGED and unjudged is not None:
        unjudged_section(view, name, rows, unjudged)
    else:
        scores_section(view, name, rows, unjudged, part)
    if visitor.is_narrow():  # a phone has no room for it above the chart
        data_line(view)
    watch_width()


@section("The line on the data")
def data_line(view: View) -> None:
    """Draw what data is shown, and the button that leads to one's own."""
    sample = _SAMPLES.get(view.board.label)
    with st.container(key="data-line", horizontal=True, vertical_alignment="center", gap="small"):
        text = f"Sample data: {sample}." if sample else _own_data_text(view)
        st.markdown(f":material/{'info' if sample else 'history'}: {escape_markdown(text)}", width="content")
        if st.button("Drop your own" if sample else "Add more", icon=":material/upload:", key="drop-data"):
            st.switch_page("views/data/data.py")


def _own_data_text(view: View) -> str:
    """Return whose data it is, how much, and since when."""
    runs, record = count_of(len(view.board.runs.rerankers), "run"), view.record
    if record is not None:
        owner = "Your data" if record.owner == boards.owner() else "Shared with you"
        today = datetime.now(visitor_zone()).date()
        added = record.created.replace(tzinfo=UTC).astimezone(visitor_zone()).date()
        return f"{owner}: {runs}, added {day_text(added, today)}."
    if view.board.label == server_files.home_board().label:
        return f"Opened with the app: {runs}."
    return f"In memory only: {runs}."


def day_text(day: date, today: date) -> str:
    """Return a day as people say it: today, yesterday, 3 days ago, on 4 May 2026."""
    days = (today - day).days
    if days <= 1:
        return "yesterday" if days == 1 else "today"
    return f"{days} days ago" if days < 7 else f"on {day.day} {day:%B %Y}"  # noqa: PLR2004 a week
