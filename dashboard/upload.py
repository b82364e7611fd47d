"""Parts of the Runs page: files in, what was recognised, and what was found."""

import pandas as pd
import pyarrow.compute as pc
import streamlit as st

from dashboard import cache, state
from dashboard.charts.palette import Palette
from dashboard.charts.shape import shape
from dashboard.components import Colour, chart, heading, shown
from dashboard.library import Board, digest_of, queries_text
from metrics import FORMATS
from metrics.runs import File, Source
from metrics.studies.prose import Prose, Strong, percent

PREVIEWED = 6
KEPT = "Nothing was added; what was loaded before is still shown."
_SUMMARY = {one.name: one.summary for one in FORMATS}
_BADGES: dict[str, tuple[str, Colour]] = {
    "error": ("error", "red"),
    "warning": ("warning", "orange"),
    "info": ("info", "blue"),
}


def drop() -> None:
    """The upload field. A set of files that go together is shown at once; any error leaves all as it was."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        given = st.file_uploader(
            "Drop runs and judgments: TREC runs with qrels, or one long table (CSV, TSV) with relevance inside",
            accept_multiple_files=True,
            key="upload",
        )
        if st.button("Sample data", icon=":material/dataset:"):
            state.show(cache.sample())
    files = [File(one.name, one.getvalue()) for one in given]
    if not files:
        state.is_new_upload(None)
        return
    read = [(file, cache.source(file.name, file.sha256, file)) for file in files]
    wrong = [found for _, found in read if isinstance(found, str)]
    sources = [found for _, found in read if isinstance(found, Source)]
    for message in wrong:
        st.error(shown(message), icon=":material/error:")
    if wrong:
        st.caption(KEPT)
        return
    board = cache.joined(digest_of(files), files, sources)
    if isinstance(board, str):
        waiting = not _complete(sources)
        more = " Upload runs and judgments together." if waiting else ""
        (st.warning if waiting else st.error)(
            shown(board + more), icon=":material/pending:" if waiting else ":material/error:"
        )
        st.caption(KEPT)
    elif state.is_new_upload(digest_of(files)):
        state.show(board)


def _complete(sources: list[Source]) -> bool:
    """Whether there are runs, and something that says what is relevant for each."""
    runs = [source for source in sources if source.kind == "run"]
    return bool(runs) and (
        len(runs) < len(sources) or all("relevance" in one.table.column_names for one in runs)
    )


def board_finding(board: Board) -> Prose:
    """What is loaded, in a sentence; all of it, whatever is chosen in the sidebar."""
    runs, judged = len(board.runs.tables), board.runs.qrels is not None
    ties = cache.evaluation(board.label, board).lists["tie_ratio"]
    what = f"{runs} run{'s' * (runs != 1)}" + (" and judgments" if judged else "")
    return (
        Strong(board.label),
        f": {what} for ",
        Strong(queries_text(board.n_queries)),
        f", shown on every page. {percent(float((ties > 0).mean()))} of the lists have a tie; "
        f"{percent(float(ties.mean()))} of the documents of a list share their score, on average.",
    )


def file_cards(board: Board, colours: Palette) -> None:
    """A card a file: what it was read as and the shape of its scores or grades."""
    st.subheader("Files", anchor=False)
    grid = st.grid(3, min_column_width=250)
    for at, (file, source) in enumerate(zip(board.files, board.sources, strict=True)):
        scores = source.kind == "run"
        values = source.table["score" if scores else "relevance"]
        distinct = pc.count_distinct(values).as_py()
        queries = len(pc.unique(source.table["query_id"]))
        with grid.container(border=True, height="stretch"):
            with st.container(horizontal=True, horizontal_alignment="distribute"):
                st.markdown(f"**{shown(file.name)}**")
                st.badge("ready", icon=":material/check:", color="blue")
            st.caption(
                f"{shown(_SUMMARY[source.format])}  \n{len(source.table):,} rows · {queries_text(queries)} · "
                f"{file.size / 1000:,.0f} kB"
            )
            chart(shape(values, colours, scores=scores), f"shape-{at}", f"Histogram of {file.name}.")
            st.caption(f"{distinct:,} distinct {'scores' if scores else 'grades'}")


def preview(board: Board) -> None:
    """The first rows of a file, each column headed by ours and the file's name for it."""
    heading("Columns", "What each column was read as, and the first rows in the order of the file.")
    names = [f"{at}. {file.name}" for at, file in enumerate(board.files, 1)]
    name = state.pick("File", names, "file", width=320) if len(names) > 1 else names[0]
    source = board.sources[names.index(name)]
    head = source.table.slice(0, PREVIEWED).to_pandas()
    head.insert(0, "Line", [source.origin.line_of(row) for row in range(len(head))])
    columns = {
        ours: st.column_config.Column(ours if ours == theirs else f"{ours} ← {theirs}")
        for ours, theirs in source.mapping.items()
    }
    st.dataframe(head, hide_index=True, column_config=columns, key="preview")
    if source.unused:
        st.caption(f"Not read: {shown(', '.join(source.unused))}")


def findings(found: pd.DataFrame) -> None:
    """Findings, one container a severity."""
    heading("Findings", "Nothing is dropped or changed without a line here.")
    if not len(found):
        st.markdown(":material/check: Every row was read, every query is judged.")
    for severity, group in found.groupby("severity", sort=False):
        icon, colour = _BADGES[str(severity)]
        with st.container(border=True):
            st.badge(f"{len(group)} {severity}", icon=f":material/{icon}:", color=colour)
            for one in group.itertuples():
                where = shown(str(one.file)) + ("" if pd.isna(one.line) else f", line {one.line}")
                st.markdown(f"{shown(one.message)}  \n:gray[{shown(one.hint)} · {where}]")
