"""What a table to edit is drawn from, and what it holds: edits outlive the rerun they cause."""

import streamlit as st


def table_draft(key: str, now: str) -> tuple[str, str]:
    """Return the text a table to edit is drawn from, and the key of that table: both stay while it is edited.

    Args:
        key: of the text that the table also stands for.
        now: that text; another than `set_table_text` was last given begins a new table.
    """
    base, last, serial = st.session_state.get(f"_{key}", ("", None, 0))
    table = f"_{key}_{serial}"
    if now != last or table not in st.session_state:
        base, table = now, f"_{key}_{serial + 1}"
        st.session_state[f"_{key}"] = now, now, serial + 1
    return base, table


def set_table_text(key: str, now: str) -> None:
    """Keep what the table to edit holds now."""
    base, _, serial = st.session_state[f"_{key}"]
    st.session_state[f"_{key}"] = base, now, serial
