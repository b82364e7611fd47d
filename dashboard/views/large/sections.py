"""Parts of the page of large results: how one is opened, ties against gaps, and the lists farthest off."""

import pandas as pd
import streamlit as st

from dashboard import session
from dashboard.access import server_files
from dashboard.charts.gaps.survey import gap_map, gap_rows
from dashboard.escaping import escape_markdown
from dashboard.widgets.components import chart, heading, number, section_finding, share, table
from metrics.errors import TieScopeError
from metrics.studies.gaps.stored_summary import StoredSummary, stored_summary_finding

_ALL = "all rerankers"
_HOW = (
    "tiescope evaluate llm.trec --qrels qrels.txt --stream --save results.parquet\ntiescope app results.parquet"
)
_WHY = (
    "What is too large to upload is scored on disk once and kept, a row a list; this page shows what was kept."
)


def nothing_open() -> None:
    """How an evaluation gets here."""
    with st.container(border=True, key="nothing-open"):
        st.markdown(f":material/hard_drive: **Nothing is open.** {_WHY}")
        st.code(_HOW, language="sh", wrap_lines=True)
    if server_files.allowed_paths():
        with st.container(border=True):
            st.subheader("Open from the server", anchor=False)
            _ask()


def open_another() -> None:
    """A way to other files of the server, where it is allowed."""
    if server_files.allowed_paths():
        with st.popover("Open", icon=":material/folder_open:", help="A file on the server, by its path."):
            _ask()


def _ask() -> None:
    """Ask for a path; show what is there, scored first where it is a run."""
    st.caption(
        "A stored evaluation is shown at once; runs are scored a part at a time and kept for a while. "
        f"Files may lie below {escape_markdown(str(server_files.allowed_paths()))}."
    )
    with st.form("open-path", border=False):
        path = st.text_input("Path on the server", placeholder="results.parquet, runs/*.trec", key="path")
        qrels = st.text_input(
            "Judgments", placeholder="qrels.txt; runs with relevance need none", key="judged-by"
        )
        asked = st.form_submit_button("Open", type="primary", icon=":material/folder_open:")
    if asked:
        _open(path, qrels)


def _open(path: str, qrels: str) -> None:
    place = st.empty()
    progress = place.status("Opening …")
    try:
        made = server_files.score_path(path, qrels, lambda told: progress.update(label=told))
    except TieScopeError as error:
        place.empty()
        st.error(escape_markdown(str(error)), icon=":material/error:")
        st.caption("Nothing was opened; what was shown before still is.")
        return
    for told in made.said:
        session.notify(told)
    session.open_results(made.label)


def ties_against_gaps(
    board: pd.DataFrame, found: StoredSummary, now: session.Results, measure: str, lists: pd.DataFrame
) -> None:
    """Whether ties predict the gap: of all lists, or of one reranker's; and of each that `board` has."""
    heading(
        "Ties against gaps",
        "The stronger a cell, the more lists, on a logarithmic scale; the grey strip is the share without a "
        "gap. Line: mean with its 95% band.",
    )
    section_finding(stored_summary_finding(found, measure, lists["query_id"].iloc[0] if len(lists) else ""))
    names = now.stored.rerankers
    whose = session.select("Lists of", [_ALL, *names], "results_lists", width=280)
    at = names.index(whose) if whose in names else None
    chart(
        gap_map(found.ratios.cells(at), found.sizes.cells(at), now.palette, measure),
        "gap-map",
        f"Tie ratio and largest tie against the gap in {measure}, and the distribution of gaps.",
        wide=820,
    )
    heading(
        "Ties and gaps, reranker by reranker",
        "Right: lists with a gap, orange where the traditional value is too high, grey where it is too low.",
    )
    if not len(board):
        return
    edges, counts = found.ratios.signed_gaps()
    ordered = [counts[names.index(str(name))] for name in board.index]
    chart(
        gap_rows(board, edges, ordered, now.palette, measure),
        "gap-rows",
        f"Mean tie ratio and distribution of gaps in {measure} of each reranker.",
        wide=820,
    )


def farthest_lists(lists: pd.DataFrame, measure: str) -> None:
    """The lists that are farthest off."""
    table(
        lists.assign(tie_ratio=lists["tie_ratio"] * 100),
        "Lists with the largest gap",
        "largest-gaps",
        {
            "query_id": st.column_config.TextColumn("Query"),
            "reranker": st.column_config.TextColumn("Reranker"),
            "tie_ratio": share("Tie ratio"),
            "max_tie_size": number("Largest tie", "%d"),
            "traditional": number(measure),
            "tied": number(f"Tied {measure}"),
            "gap": number("Gap", "%+.4f", "Traditional minus tied."),
        },
        download=lists.drop(columns="row"),
    )
    st.caption(
        f"The {len(lists):,} farthest off. A stored evaluation holds values and no documents: to look into a "
        "list, open its run on the Runs page."
    )
