"""Controls with a place in the address: a value that the data does not offer falls back to the default."""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

import streamlit as st

from dashboard.charts.labels import TABLE_COLUMNS, short_names
from dashboard.session import address

KEPT: dict[str, Any] = {"persist_state": "session"}
"""What every control has: its value over page switches."""
_CLICK, _LABELS = "_click", "_labels"
Choice = TypeVar("Choice")


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
    prepare(key, _last, lambda option: option in options, default)
    choice = st.segmented_control(
        label, options, key=key, default=default, required=True, wrap=True, **KEPT, **more_options
    )
    return _recorded(key, choice or default, default)


def select(
    label: str,
    options: Sequence[str],
    key: str,
    default: str = "",
    *,
    is_explicit: bool = False,
    **more_options: Any,  # noqa: ANN401 passed on
) -> str:
    """Draw a list of many options; return the chosen one.

    Args:
        label: above the list.
        options: at least one.
        key: of the session's state and of the link.
        default: the first option where empty.
        is_explicit: whether the link says the choice also where it is the default.
        **more_options: passed on to Streamlit.
    """
    default = default or options[0]
    prepare(key, _last, lambda option: option in options, default)
    index = list(options).index(default)
    _renew_label(key, more_options.get("format_func", str))
    choice = st.selectbox(label, options, index, key=key, **KEPT, **more_options) or default
    address.record(key, choice, None if is_explicit else default)
    return choice


def _renew_label(key: str, label_of: Callable[[str], str]) -> None:
    """Have the browser show a choice by its label of now: it keeps that of when it was chosen."""
    choice = st.session_state.get(key)
    if choice is None:
        return
    labels = st.session_state.setdefault(_LABELS, {})
    if labels.get(key) != (choice, label_of(choice)):
        st.session_state[key] = choice
    labels[key] = choice, label_of(choice)


def select_name(label: str, names: Sequence[str], key: str, default: str = "", **more_options: Any) -> str:  # noqa: ANN401 passed on
    """Draw a list of names, long ones without what they share, found by any of their letters that are shown.

    Args:
        label: above the list.
        names: at least one.
        key: of the session's state and of the link.
        default: the first name where empty.
        **more_options: passed on to Streamlit.
    """
    labels = short_names(names, TABLE_COLUMNS)
    return select(
        label, names, key, default, format_func=labels.__getitem__, filter_mode="contains", **more_options
    )


def multiselect(label: str, options: Sequence[str], key: str) -> list[str]:
    """Draw a choice of any options, all by default; return them in their own order. None chosen means all.

    Args:
        label: above the list.
        options: at least one.
        key: of the session's state and of the link.
    """
    draw = partial(st.multiselect, label, placeholder="All")
    return _choose_several(draw, options, key)


def pills(
    label: str, options: Sequence[str], key: str, format_func: Callable[[str], str] = str.capitalize
) -> list[str]:
    """Draw and return as `multiselect`, with every option in sight.

    Args:
        label: above the row.
        options: at least one.
        key: of the session's state and of the link.
        format_func: what an option is called.
    """
    draw = partial(st.pills, label, selection_mode="multi", format_func=format_func, wrap=True)
    return _choose_several(draw, options, key)


def number_input(label: str, low: int, high: int, default: int, key: str, **more_options: Any) -> int:  # noqa: ANN401 passed on
    """Draw a field of a whole number; return it.

    Args:
        label: above the control.
        low: the smallest number.
        high: the largest.
        default: the number first shown.
        key: of the choice, and its name in the link.
        **more_options: passed on to the widget.
    """
    prepare(key, _number, lambda number: number is not None and low <= number <= high, float(default))
    number = st.number_input(
        label, float(low), float(high), float(default), 1.0, "%.0f", key=key, **KEPT, **more_options
    )
    return _recorded(key, math.floor(number + 1 / 2), default)


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
    prepare(key, _number, lambda number: low <= number <= high, float(default))
    places = "%.0f" if step >= 1 else "%.2f"
    number = float(st.slider(label, low, high, float(default), float(step), places, key=key, **KEPT))
    return _recorded(key, number, float(default))


def range_slider(label: str, ends: tuple[int, int], default: tuple[int, int], key: str) -> tuple[int, int]:
    """Draw a line with the fewest and the most of something on it; return both, as whole numbers.

    Args:
        label: above the control.
        ends: the smallest and the largest number.
        default: the two numbers first shown.
        key: of the choice, and its name in the link.
    """
    prepare(key, _pair, lambda pair: all(ends[0] <= number <= ends[1] for number in pair), default)
    pair = st.slider(label, *ends, default, 1, key=key, **KEPT)
    return _recorded(key, (min(pair), max(pair)), default)


def select_slider(label: str, options: Sequence[str], key: str, default: str, **more_options: Any) -> str:  # noqa: ANN401 passed on
    """Draw options on a line; return the chosen one.

    Args:
        label: above the control.
        options: what can be chosen, in order.
        key: of the choice, and its name in the link.
        default: chosen first.
        **more_options: passed on to the widget.
    """
    prepare(key, _last, lambda option: option in options, default)
    choice = st.select_slider(label, options, value=default, key=key, **KEPT, **more_options)
    return _recorded(key, choice, default)


def text_input(label: str, key: str, **more_options: Any) -> str:  # noqa: ANN401 passed on
    """Draw a line of text; return what it holds."""
    longest = more_options.get("max_chars") or math.inf
    prepare(key, _last, lambda text: text is not None and len(text) <= longest, "")
    return _recorded(key, st.text_input(label, key=key, **KEPT, **more_options) or "", "")


def toggle(label: str, key: str, **more_options: Any) -> bool:  # noqa: ANN401 passed on
    """Draw a switch that is off at first; return whether it is on."""
    prepare(key, _switch, lambda value: isinstance(value, bool), default=False)
    return _recorded(key, bool(st.toggle(label, key=key, **KEPT, **more_options)), default=False)


def stored_choice(key: str, default: str, is_valid: Callable[[str], bool]) -> str:
    """Return a choice that buttons make, by `set_value`, and that has its place in the address.

    Args:
        key: of the choice, and its name in the link.
        default: what it is when nobody chose.
        is_valid: whether the data offers it.
    """
    prepare(key, _last, is_valid, default)
    return _recorded(key, str(st.session_state.get(key, default)), default)


def get_value(key: str) -> str:
    """Return what a control holds, or the address asks of it, before it is drawn."""
    return str(address.requested(key) or st.session_state.get(key, ""))


def set_value(key: str, value: object) -> None:
    """Set a control; before it is drawn, or as something else is clicked."""
    address.forget(key)
    st.session_state[key] = value


def follow_defaults(defaults: Mapping[str, object]) -> None:
    """Set controls of one choice, about to be drawn, to defaults that may have moved: key → its default now.

    They stay where any of them was chosen.
    """
    if not any(map(address.is_chosen, defaults)):
        for key, default in defaults.items():
            set_value(key, default)


def clicked_row(chart: str) -> int | None:
    """Return the index of the row behind a point clicked just now; None where nothing new was clicked."""
    event = st.session_state.get(chart)
    points = event["selection"]["points"] if event else []
    data = points[0].get("customdata") if points else None
    now = int(data[0]) if data else None
    before = st.session_state.get(_CLICK)
    st.session_state[_CLICK] = now
    return now if now != before else None


def prepare(
    key: str,
    read: Callable[[address.Texts], Any],
    is_valid: Callable[[Any], bool],
    default: object,
) -> None:
    """Set a control that is about to be drawn to what the address asks for; to the default where that is lost.

    Args:
        key: of the choice.
        read: texts of the address → value of the control.
        is_valid: whether the data offers a value.
        default: what it is set to where not.
    """
    address.fulfil(key, read, is_valid)
    if key in st.session_state and not is_valid(st.session_state[key]):
        st.session_state[key] = default


def _choose_several(draw: Callable[..., list[str]], options: Sequence[str], key: str) -> list[str]:
    """Draw a choice of any options, set to all that there are of those the address asks for."""
    all_options = list(options)

    def read(texts: address.Texts) -> list[str]:
        names = {option.capitalize(): option for option in all_options} | {name: name for name in all_options}
        address.refuse(key, [text for text in texts if text not in names])
        return list(dict.fromkeys(names[text] for text in texts if text in names)) or all_options

    prepare(key, read, lambda choices: set(choices) <= set(all_options), all_options)
    choices = draw(all_options, default=all_options, key=key, **KEPT)
    return _recorded(key, [option for option in all_options if option in choices] or all_options, all_options)


def _recorded(key: str, value: Choice, default: object) -> Choice:
    address.record(key, value, default)
    return value


def _last(texts: address.Texts) -> str:
    return texts[-1]


def _number(texts: address.Texts) -> float:
    return float(texts[-1])


def _pair(texts: address.Texts) -> tuple[int, int]:
    low, high = sorted(round(float(text)) for text in texts)
    return low, high


def _switch(texts: address.Texts) -> bool | None:
    return {"true": True, "false": False}.get(texts[-1].lower())
