"""The measure shown: one of the usual, or any other."""

import streamlit as st

from dashboard import cache
from dashboard.session.controls import segmented
from metrics import MEASURES, parse
from metrics.errors import UsageError

_NEXT = "_wanted_measure"


def measure(label: str = "Measure") -> str:
    """Draw the choice of a measure: one of the usual, or any other with its cut-off; return its name."""
    other = other_measure()
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        measure_name = segmented(label, [*cache.MEASURES, *([other] if other else [])], "measure")
        with st.popover("More", icon=":material/tune:", help="Any other measure and cut-off."):
            _choose_other()
    return measure_name


def _choose_other() -> None:
    measures = {measure.name: measure for measure in MEASURES}
    measure = measures[st.selectbox("Measure", list(measures), key="_other")]
    st.caption(measure.summary)
    k = None
    if measure.cutoff != "none":
        is_optional = measure.cutoff == "optional"
        k = st.number_input(
            "Cut-off", 1, 100_000, None if is_optional else 10, key="_other_k", placeholder="none"
        )
    if st.button("Use", type="primary", key="_other_use"):
        st.session_state[_NEXT] = str(parse(measure.name + ("" if k is None else f"@{k}")))
        st.rerun()


def other_measure() -> str | None:
    """Return the measure that the visitor or the link asked for where it is none of the usual."""
    if next_measure := st.session_state.pop(_NEXT, None):
        st.session_state["measure"] = next_measure
    requested = st.session_state.get("measure") or st.query_params.get("measure")
    try:
        name = str(parse(str(requested))) if requested else None
    except UsageError:
        return None
    return None if name in cache.MEASURES else name
