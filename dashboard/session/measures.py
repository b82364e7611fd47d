"""The measure shown: one of the usual, or any other."""

import streamlit as st

from dashboard import cache
from dashboard.session.controls import segmented
from metrics import MEASURES, parse
from metrics.errors import UsageError

_WANTED = "_wanted_measure"


def measure(label: str = "Measure") -> str:
    """A measure: one of the usual, or any other with its cut-off."""
    other = other_measure()
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        chosen = segmented(label, [*cache.MEASURES, *([other] if other else [])], "measure")
        with st.popover("More", icon=":material/tune:", help="Any other measure and cut-off."):
            _choose_other()
    return chosen


def _choose_other() -> None:
    names = {item.name: item for item in MEASURES}
    name = st.selectbox("Measure", list(names), key="_other", format_func=lambda one: one)
    item = names[name]
    st.caption(item.summary)
    k = None
    if item.cutoff != "none":
        free = item.cutoff == "optional"
        k = st.number_input("Cut-off", 1, 100_000, None if free else 10, key="_other_k", placeholder="none")
    if st.button("Use", type="primary", key="_other_use"):
        st.session_state[_WANTED] = str(parse(item.name + ("" if k is None else f"@{k}")))
        st.rerun()


def other_measure() -> str | None:
    """The measure asked for that is none of the usual, by the visitor or the link."""
    if wanted := st.session_state.pop(_WANTED, None):
        st.session_state["measure"] = wanted
    asked = st.session_state.get("measure") or st.query_params.get("measure")
    try:
        name = str(parse(str(asked))) if asked else None
    except UsageError:
        return None
    return None if name in cache.MEASURES else name
