"""Long work on the page: how far it is, and a way to cancel it."""

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
    """Show how far the work inside is; Cancel, as every other click, ends the script where it is then.

    Streamlit remembers what a cached function draws and draws it again from the cache: each step is drawn in
    the context outside of it, where nothing is remembered. Work that has no step, as its result is kept, draws
    nothing. What is worked on does not begin anew by itself once it was cancelled, by its digest.
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
    """Draw the button that cancels work, and return where its progress is drawn."""
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
    """Say on the page that work inside waits for that of other visitors; drawn as in `long_work`."""
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


def is_cancelled(digest: str) -> bool:
    """Return whether the work on this was cancelled."""
    return st.session_state.get(_CANCELLED) == digest


def offer_to_resume(unchanged: str) -> None:
    """Say that work was cancelled and what that left as it was, and offer to begin it again."""
    with st.container(horizontal=True, vertical_alignment="center", border=True):
        st.markdown(f":material/stop_circle: Cancelled. {unchanged}", width="content")
        st.button("Read again", key="read-again", type="tertiary", on_click=_resume)


def _resume() -> None:
    st.session_state.pop(_CANCELLED, None)


def _cancel(digest: str) -> None:
    st.session_state[_CANCELLED] = digest
