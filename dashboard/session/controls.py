"""Controls bound to the link: a value that the data does not offer (any more) falls back to the default."""

from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st

from dashboard.charts.palette import Palette, theme_palette

BOUND: dict[str, Any] = {"bind": "query-params", "persist_state": "session"}
"""What every control has: its place in the link, and its value over page switches."""
_THEME = "_theme"
_CLICK = "_click"


def theme() -> Palette:
    """Return the colours of the theme this visitor has chosen."""
    return theme_palette(st.context.theme.type)


@st.fragment(run_every=2)
def follow_theme() -> None:
    """Draw again when the visitor switches the theme, which by itself reruns nothing."""
    now = st.context.theme.type
    if st.session_state.setdefault(_THEME, now) != now:
        st.session_state[_THEME] = now
        st.rerun()


def segmented(label: str, options: Sequence[str], key: str, default: str = "", **more_options: Any) -> str:  # noqa: ANN401 passed on
    """Draw a row of options; return the chosen one.

    Args:
        label: above the control.
        options: what can be chosen.
        key: of the choice, and its name in the link.
        default: chosen first; the first option where omitted.
        **more_options: passed on to the widget.
    """
    default = default or options[0]
    reset_unless_valid(key, lambda option: option in options, default)
    choice = st.segmented_control(
        label, options, key=key, default=default, required=True, wrap=True, **BOUND, **more_options
    )
    return choice or default


def select(label: str, options: Sequence[str], key: str, default: str = "", **more_options: Any) -> str:  # noqa: ANN401 passed on
    """Draw a list of many options; return the chosen one..

    Args:
        label: above the list.
        options: at least one.
        key: of the session's state and of the link.
        default: the first option where empty.
        **more_options: passed on to Streamlit.
    """
    default = default or options[0]
    reset_unless_valid(key, lambda option: option in options, default)
    index = list(options).index(default)
    return st.selectbox(label, options, index, key=key, **BOUND, **more_options) or default


def multiselect(label: str, options: Sequence[str], key: str) -> list[str]:
    """Draw a choice of any options, all by default; return them in their own order. None chosen means all.

    Args:
        label: above the list.
        options: at least one.
        key: of the session's state and of the link.
    """
    all_options = list(options)
    reset_unless_valid(key, lambda choices: set(choices) <= set(all_options), all_options)
    choices = st.multiselect(label, all_options, default=all_options, key=key, placeholder="All", **BOUND)
    return [option for option in all_options if option in choices] or all_options


def pills(label: str, options: Sequence[str], key: str) -> list[str]:
    """Draw and return as `multiselect`, with every option in sight.

    Args:
        label: above the row.
        options: at least one.
        key: of the session's state and of the link.
    """
    all_options = list(options)
    reset_unless_valid(key, lambda choices: set(choices) <= set(all_options), all_options)
    choices = st.pills(
        label,
        all_options,
        selection_mode="multi",
        default=all_options,
        format_func=str.capitalize,
        key=key,
        wrap=True,
        **BOUND,
    )
    return [option for option in all_options if option in choices] or all_options


def number_input(label: str, low: int, high: int, default: int, key: str, **more_options: Any) -> int:  # noqa: ANN401 passed on
    """Draw a field of a whole number; return it.

    The widget asks for a float: a link that says `inf` would end a field of whole numbers.

    Args:
        label: above the control.
        low: the smallest number.
        high: the largest.
        default: the number first shown.
        key: of the choice, and its name in the link.
        **more_options: passed on to the widget.
    """
    reset_unless_valid(key, lambda number: number is not None and low <= number <= high, float(default))
    return round(
        st.number_input(
            label, float(low), float(high), float(default), 1.0, "%.0f", key=key, **BOUND, **more_options
        )
    )


def slider(label: str, ends: tuple[float, float], default: float, step: float, key: str) -> float:
    """Draw a line with a number on it; return that.

    Args:
        label: above the control.
        ends: the smallest and the largest number.
        default: the number first shown.
        step: between two numbers.
        key: of the choice, and its name in the link.
    """
    low, high = map(float, ends)
    reset_unless_valid(key, lambda number: low <= number <= high, default)
    places = "%.0f" if step >= 1 else "%.2f"
    return float(st.slider(label, low, high, float(default), float(step), places, key=key, **BOUND))


def range_slider(label: str, ends: tuple[int, int], default: tuple[int, int], key: str) -> tuple[int, int]:
    """Draw a line with the fewest and the most of something on it; return both, as whole numbers.

    Args:
        label: above the control.
        ends: the smallest and the largest number.
        default: the two numbers first shown.
        key: of the choice, and its name in the link.
    """
    reset_unless_valid(key, lambda pair: all(ends[0] <= number <= ends[1] for number in pair), default)
    pair = st.slider(label, *ends, default, 1, key=key, **BOUND)
    return min(pair), max(pair)


def text_input(label: str, key: str, **more_options: Any) -> str:  # noqa: ANN401 passed on
    """Draw a line of text; return what it holds."""
    return st.text_input(label, key=key, **BOUND, **more_options) or ""


def toggle(label: str, key: str, **more_options: Any) -> bool:  # noqa: ANN401 passed on
    """Draw a switch that is off at first; return whether it is on."""
    return bool(st.toggle(label, key=key, **BOUND, **more_options))


def get_value(key: str) -> str:
    """Return what the field of a text holds, or the link says, before the field is drawn."""
    return str(st.session_state.get(key, st.query_params.get(key, "")))


def set_value(key: str, value: object) -> None:
    """Set a control; before it is drawn, or as something else is clicked."""
    st.session_state[key] = value


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


def clicked_row(chart: str) -> int | None:
    """Return the index of the row behind a point clicked just now; None where nothing new was clicked."""
    event = st.session_state.get(chart)
    points = event["selection"]["points"] if event else []
    data = points[0].get("customdata") if points else None
    now = int(data[0]) if data else None
    before = st.session_state.get(_CLICK)
    st.session_state[_CLICK] = now
    return now if now != before else None


def reset_unless_valid(key: str, is_valid: Callable[[Any], bool], default: object) -> None:
    """Set a choice that the data does not offer to the default; a choice not made yet is left to its widget.

    Args:
        key: of the choice.
        is_valid: whether the data offers it.
        default: what it is set to where not.
    """
    if key in st.session_state and not is_valid(st.session_state[key]):
        st.session_state[key] = default
