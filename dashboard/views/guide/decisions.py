"""The section of the Guide on decisions: luck with queries, luck with ties, and targets."""

from collections.abc import Iterable

import streamlit as st

from dashboard.escaping import escape_markdown
from dashboard.widgets.components import heading
from metrics.studies.guide.guide import TIE_LUCK
from metrics.studies.significance.test_registry import CORRECTIONS, TESTS
from metrics.studies.targets.targets import PRESETS, VERDICTS


def decisions() -> None:
    """Tests, corrections, what breaking ties at random does, and targets."""
    heading("Luck with queries", "Tests ask whether other queries of the same kind would tell the same.")
    _grid((one.label, one.name, one.summary, one.source) for one in TESTS)
    heading(
        "Many comparisons",
        "The more are tested, the more differ by chance. The baseline itself is not counted.",
    )
    _grid((one.label, one.name, one.summary, one.source) for one in CORRECTIONS)
    heading("Luck with ties", "Break every tie at random, list by list: what could the leaderboard have said?")
    grid = st.grid(2, min_column_width=300)
    for name, meaning in TIE_LUCK.items():
        grid.container(border=True, height="stretch").markdown(f"**{escape_markdown(name)}**  \n{meaning}")
    heading(
        "Targets",
        "The Report page draws them, `tiescope gate` checks them; a bound may say `baseline-0.01`.",
    )
    grid = st.grid(2, min_column_width=300)
    for verdict, meaning in VERDICTS.items():
        grid.container(border=True, height="stretch").markdown(
            f"**{escape_markdown(verdict)}**  \n{escape_markdown(meaning)}"
        )
    for preset, targets in PRESETS.items():
        st.caption(f"Preset `{preset}`: {escape_markdown(', '.join(targets))}.")


def _grid(rows: Iterable[tuple[str, str, str, str]]) -> None:
    """Label, name, summary and source of each."""
    grid = st.grid(2, min_column_width=300)
    for label, name, summary, source in rows:
        cited = f"  \n:small[:gray[{escape_markdown(source)}]]" if source else ""
        grid.container(border=True, height="stretch").markdown(
            f"**{escape_markdown(label[0].upper() + label[1:])}** &nbsp; `{name}`  \n"
            f"{escape_markdown(summary)}{cited}"
        )
