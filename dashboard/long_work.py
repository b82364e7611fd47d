"""Show the progress of long work, with a button to cancel it."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import copy_context
from typing import TYPE_CHECKING

import streamlit as st

from dashboard.escaping import escape_markdown
from dashboard.library.turns import WAITING
from metrics.support.progress import Step, listening

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

_CANCELLED = "_cancelled_work"


@contextmanager
def long_work(digest: str = "") -> Iterator[None]:
    """Show the progress of the work inside; Cancel, like every other click, ends the script.

    Streamlit replays the elements of a cached function, so steps are drawn in the context outside of it. Cached
    results have no steps and draw nothing. `digest` names the work: cancelled work does not restart.
    """
    context, place = copy_context(), st.empty()
    bars: list[DeltaGenerator] = []

    def draw(step: Step) -> None:
        if not bars:
            bars.append(context.run(_draw_bar, place, digest))
        share = step.completed / max(step.total, 1)
        context.run(bars[0].progress, share, f"{step.task} {escape_markdown(step.part)}")

    with listening(draw):
        yield
    place.empty()


def _draw_bar(place: "DeltaGenerator", digest: str) -> "DeltaGenerator":
    with place.container(horizontal=True, vertical_alignment="center", border=True):
        bar = st.empty()
        st.button(
            "Cancel",
            key=f"cancel-work-{digest}",  # a file dropped and a column changed are worked on in one run
            icon=":material/stop_circle:",
            on_click=_cancel,
            args=(digest,),
        )
    return bar


@contextmanager
def waiting_shown() -> Iterator[None]:
    """Show that the work inside waits for the work of other visitors."""
    context = copy_context()
    places: list[DeltaGenerator] = []

    def draw(step: Step) -> None:
        if step.task == WAITING:
            if not places:
                places.append(context.run(st.empty))
            context.run(places[0].info, f"{step.task} {step.part} …", icon=":material/hourglass_top:")

    with listening(draw):
        yield
    for place in places:
        place.empty()


def is_cancelled(digest: str, unchanged: str) -> bool:
    """Return whether this work was cancelled; if so, show that with a note, and offer to restart the work."""
    if st.session_state.get(_CANCELLED) != digest:
        return False
    with st.container(horizontal=True, vertical_alignment="center", border=True):
        st.markdown(f":material/stop_circle: Cancelled. {unchanged}", width="content")
        st.button("Read again", key="read-again", type="tertiary", on_click=_resume)
    return True


def _resume() -> None:
    st.session_state.pop(_CANCELLED, None)


def _cancel(digest: str) -> None:
    st.session_state[_CANCELLED] = digest
