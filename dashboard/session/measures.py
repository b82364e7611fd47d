"""The measures shown: each one of the usual, or any other."""

import streamlit as st

from dashboard import cache, controls
from dashboard.boards import notify
from dashboard.controls import get_value, segmented, select, set_value
from metrics import MEASURES, parse
from metrics.errors import UsageError
from metrics.measures import side_by_side

MEASURE_KEYS = ("measure", "first", "second")
"""Choices of a measure, by their names in the link: of most pages, and the two of Ties vs gap."""


def measure(label: str = "Measure", key: str = "measure", default: str = "") -> str:
    """Draw the choice of a measure: one of the usual, or any other with its cut-off; return its name.

    Args:
        label: above the control.
        key: one of `MEASURE_KEYS`; a few measures of the first stand in a row, the usual of others in a list.
        default: chosen first; the first of the usual where empty.
    """
    is_row = key == MEASURE_KEYS[0]
    options = [*cache.MEASURES, *_other_measure(key)]
    if is_row:
        options = [
            name
            for name in options
            if name in (*cache.OFFERED, default, get_value(key)) or name not in cache.MEASURES
        ]
    with st.container(
        horizontal=True, vertical_alignment="center" if is_row else "bottom", gap="small", width="content"
    ):
        if is_row:
            measure_name = segmented(label, options, key, default, label_visibility="collapsed")
        else:
            measure_name = select(label, options, key, default, width=180)
        with st.popover("More", icon=":material/tune:", help="Any other measure and cut-off."):
            if measures := [name for name in cache.MEASURES if name not in options]:
                st.pills("Also scored", measures, key=f"_further_{key}", on_change=_choose_further, args=(key,))
            _choose_other(key)
    return measure_name


def _choose_further(key: str) -> None:
    """Take the measure clicked among those that are not in sight."""
    set_value(key, st.session_state.pop(f"_further_{key}"))


def _choose_other(key: str) -> None:
    name = "" if key == MEASURE_KEYS[0] else f"_{key}"
    measures = {measure.name: measure for measure in MEASURES}
    measure = measures[st.selectbox("Measure", list(measures), key=f"_other{name}")]
    st.caption(measure.summary)
    k = None
    if measure.cutoff != "none":
        default = None if measure.cutoff == "optional" else 10
        k = st.number_input(
            "Cut-off", 1, 100_000, default, key=f"_other{name}_{measure.cutoff}", placeholder="none"
        )
    chosen = str(parse(measure.name + ("" if k is None else f"@{k}")))
    st.button("Use", type="primary", key=f"_other{name}_use", on_click=set_value, args=(key, chosen))


def other_measures() -> list[str]:
    """Return the measures that the visitor or the link asked for where they are none of the usual.

    One that settles ties by its own rule comes with all that settle the same ties.
    """
    names = [name for key in MEASURE_KEYS for name in _other_measure(key)]
    beside = [str(rule) for name in names if parse(name).measure.answers for rule in side_by_side(parse(name))]
    return list(dict.fromkeys(name for name in [*names, *beside] if name not in cache.MEASURES))


def _other_measure(key: str) -> list[str]:
    """Return the measure of one choice where it is none of the usual."""
    requested = get_value(key)
    try:
        name = str(parse(requested)) if requested else None
    except UsageError as error:
        controls.forget(key)
        notify(f"The link asks for another measure than is shown. {error}")
        return []
    if name and controls.asked_text(key):
        controls.ask({key: name})
    return [] if name is None or name in cache.MEASURES else [name]
