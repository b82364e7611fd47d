"""The section of the Guide on results too large to upload."""

import pandas as pd
import streamlit as st

from dashboard.library.scored import MAX_SCORED, USUAL
from dashboard.widgets.components import heading

_COMMANDS = """tiescope evaluate llm.trec --qrels qrels.txt --stream --save results.parquet
tiescope app results.parquet
tiescope app --allow-paths /data/runs"""
_SHOWN = {
    "At once": "Leaderboard, cards and table: their means are in the footer of the file.",
    "In about a second": "Ties against gaps, for ten million lists: each is read once, only counts are kept.",
    "Not there": "Documents. To look into a list, open its run on the Runs page.",
}
_PATHS = {
    "Off unless told": "Without `--allow-paths` nobody opens a file by naming it, in a field or in a link.",
    "What is below": "A folder, links followed to where files really are; or the beginning of an address: "
    "`s3://bucket/runs/`. Give it several times for several.",
    "Who may": "Whoever may enter: with `--allow` those on the list, with `--insecure` everybody.",
    "Runs": f"Scored a part at a time, kept while there is room: `{MAX_SCORED}`, {USUAL:,} if not set.",
}


def large() -> None:
    """How a large evaluation is made and opened, and what the server opens by path."""
    heading("Larger than an upload", "Score on disk once, keep a row a list, open what was kept.")
    st.code(_COMMANDS, language="sh", wrap_lines=True)
    _table(_SHOWN, "When")
    heading("Paths on the server", "What visitors may open by naming it.")
    _table(_PATHS, "Rule")


def _table(rows: dict[str, str], label: str) -> None:
    told = pd.DataFrame([(f"**{name}**", text) for name, text in rows.items()], columns=[label, "What"])
    st.table(told, hide_index=True, border="horizontal")
