"""Controls bound to the link: a value that the data does not offer (any more) falls back to the default."""

from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st

from dashboard.charts.palette import Palette, theme_palette

_THEME = "_theme"
_CLICK = "_click"


def theme() -> Palette:
    """Colours of the theme this visitor has chosen."""
    return theme_palette(st.context.theme.type)


@st.fragment(run_every=2)
def follow_theme() -> None:
    """Draw again when the visitor switches the theme, which by itself reruns nothing."""
    now = st.context.theme.type
    if st.session_state.setdefault(_THEME, now) != now:
        st.session_state[_THEME] = now
        st.rerun()


def segmented(label: str, options: Sequence[str], key: str, default: str | None = None, **more: Any) -> str:  # noqa: ANN401 passed on
    """A row of options, one of them chosen."""
    default = default or options[0]
    reset_unless_valid(key, lambda value: value in options, default)
    chosen = st.segmented_control(
        label,
        options,
        key=key,
        default=default,
        required=True,
        wrap=True,
        bind="query-params",
        persist_state="session",
        **more,
    )
    return chosen or default


def select(label: str, options: Sequence[str], key: str, default: str | None = None, **more: Any) -> str:  # noqa: ANN401 passed on
    """One of many options, from a list."""
    default = default or options[0]
    reset_unless_valid(key, lambda value: value in options, default)
    at = list(options).index(default)
    chosen = st.selectbox(label, options, at, key=key, bind="query-params", persist_state="session", **more)
    return chosen or default


def multiselect(label: str, options: Sequence[str], key: str) -> list[str]:
    """Any of the options, all by default; in their own order. None chosen means all."""
    reset_unless_valid(key, lambda value: set(value) <= set(options), list(options))
    chosen = st.multiselect(
        label,
        options,
        default=list(options),
        key=key,
        placeholder="All",
        bind="query-params",
        persist_state="session",
    )
    return [option for option in options if option in chosen] or list(options)


def pills(label: str, options: Sequence[str], key: str) -> list[str]:
    """As `some`, with every option in sight."""
    reset_unless_valid(key, lambda value: set(value) <= set(options), list(options))
    chosen = st.pills(
        label,
        options,
        selection_mode="multi",
        default=list(options),
        format_func=str.capitalize,
        key=key,
        wrap=True,
        bind="query-params",
        persist_state="session",
    )
    return [option for option in options if option in chosen] or list(options)


def number_input(label: str, least: int, most: int, default: int, key: str, **more: Any) -> int:  # noqa: ANN401 passed on
    """A whole number. Asked for as a float: a link that says `inf` would end a field of whole numbers."""
    reset_unless_valid(key, lambda value: value is not None and least <= value <= most, float(default))
    chosen = st.number_input(
        label,
        float(least),
        float(most),
        float(default),
        1.0,
        "%.0f",
        key=key,
        bind="query-params",
        persist_state="session",
        **more,
    )
    return round(chosen)


def slider(label: str, ends: tuple[float, float], default: float, step: float, key: str) -> float:
    """A number on a line."""
    reset_unless_valid(key, lambda value: ends[0] <= value <= ends[1], default)
    return float(
        st.slider(
            label,
            float(ends[0]),
            float(ends[1]),
            float(default),
            float(step),
            "%.0f" if step >= 1 else "%.2f",
            key=key,
            bind="query-params",
            persist_state="session",
        )
    )


def range_slider(label: str, ends: tuple[int, int], default: tuple[int, int], key: str) -> tuple[int, int]:
    """The fewest and the most of something: two whole numbers on a line."""
    reset_unless_valid(key, lambda value: all(ends[0] <= one <= ends[1] for one in value), default)
    chosen = st.slider(label, *ends, default, 1, key=key, bind="query-params", persist_state="session")
    return min(chosen), max(chosen)


def text_input(label: str, key: str, **more: Any) -> str:  # noqa: ANN401 passed on
    """A line of text."""
    return st.text_input(label, key=key, bind="query-params", persist_state="session", **more) or ""


def toggle(label: str, key: str, **more: Any) -> bool:  # noqa: ANN401 passed on
    """Something that is on or off; off unless said."""
    return bool(st.toggle(label, key=key, bind="query-params", persist_state="session", **more))


def get_value(key: str) -> str:
    """What the field of a text holds, or the link says, before the field is drawn."""
    return str(st.session_state.get(key, st.query_params.get(key, "")))


def set_value(key: str, value: object) -> None:
    """Set a control; before it is drawn, or as something else is clicked."""
    st.session_state[key] = value


def table_draft(key: str, now: str) -> tuple[str, str]:
    """Text a table to edit is drawn from, and the key of that table: both stay while the visitor edits.

    Args:
        key: of the text that the table is also told as.
        now: that text; another than `edited` last said begins a new table.
    """
    base, last, serial = st.session_state.get(f"_{key}", ("", None, 0))
    table = f"_{key}_{serial}"
    if now != last or table not in st.session_state:
        base, table = now, f"_{key}_{serial + 1}"
        st.session_state[f"_{key}"] = now, now, serial + 1
    return base, table


def set_table_text(key: str, now: str) -> None:
    """Say what the table to edit holds now."""
    base, _, serial = st.session_state[f"_{key}"]
    st.session_state[f"_{key}"] = base, now, serial


def clicked_row(chart: str) -> int | None:
    """Index of the row behind a point clicked just now; None where nothing new was clicked."""
    event = st.session_state.get(chart)
    points = event["selection"]["points"] if event else []
    data = points[0].get("customdata") if points else None
    now = int(data[0]) if data else None
    before = st.session_state.get(_CLICK)
    st.session_state[_CLICK] = now
    return now if now != before else None


def reset_unless_valid(key: str, fits: Callable[[Any], bool], default: object) -> None:
    """Set a choice that the data does not offer to the default; a choice not made yet is left to its widget."""
    if key in st.session_state and not fits(st.session_state[key]):
        st.session_state[key] = default
