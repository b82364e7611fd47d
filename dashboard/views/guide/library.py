"""The section of the Guide on the library: what is kept, what a link opens, and who sees it."""

import pandas as pd
import streamlit as st

from dashboard.escaping import escape_markdown
from dashboard.library.place import HOME
from dashboard.library.storage.intake import MAX_LIBRARY, MAX_UPLOAD
from dashboard.library.storage.schema import FORGOTTEN
from dashboard.library.store import URL, USUAL
from dashboard.widgets.components import heading

_WORDS = {
    "Upload": "A file as it came: its table is kept once, however often and by whatever name it is given.",
    "Board": "Runs and judgments that belong together, with a name, a baseline, policies and what is chosen.",
    "Link": "It names the board and every control: a refresh, a restart or a colleague sees the same.",
    "This session only": "Nothing of it is written to disk; its link opens it while the server has room.",
}
_WAYS = {
    "Name, duplicate, delete": f"Runs, Board. What was deleted can be restored for {FORGOTTEN.days} days.",
    "Save view": "The board opens as it is shown now; what a link says goes before that.",
    "Compare with an earlier run": "Runs, Library: choose it, then *Add to this board*.",
    "Send": "*Export* gives one `.tiescope` file; drop it here or on another server.",
    "From a pipeline": "`tiescope push llm.trec --board Nightly`; `tiescope boards`; "
    "`tiescope pull Nightly -o runs`.",
    "Who sees it": "Without sign-in, whoever reaches the server; with it, you, whoever has the link, or these "
    "may change it too.",
}


def library() -> None:
    """What stays, where, and whose it is."""
    heading("What is kept", "An upload stays until it is deleted; a board says which belong together.")
    _grid(_WORDS)
    heading("What can be done with it", "On the Runs page and on the command line.")
    _grid(_WAYS)
    heading("Where it is", "Set in the environment of the server, and of the commands that share its library.")
    rows = {
        HOME: "Folder of the uploads (Parquet) and of the database (SQLite); else the user's data folder.",
        URL: "Another database: postgresql://USER:PASSWORD@HOST/DATABASE. Uploads stay in the folder.",
        MAX_UPLOAD: f"Largest upload that is kept, in MB; {USUAL[MAX_UPLOAD]:,} if not set.",
        MAX_LIBRARY: f"All uploads together, as kept, in MB; {USUAL[MAX_LIBRARY]:,} if not set.",
    }
    told = pd.DataFrame(
        [(f"`{name}`", escape_markdown(text)) for name, text in rows.items()], columns=["Variable", "What"]
    )
    st.table(told, hide_index=True, border="horizontal")


def _grid(texts: dict[str, str]) -> None:
    grid = st.grid(2, min_column_width=300)
    for title, text in texts.items():
        grid.container(border=True, height="stretch").markdown(f"**{title}**  \n{text}")
