"""Present: one sentence and one chart a slide, for a room."""

from pathlib import Path

import streamlit as st

from dashboard import cache, controls, visitor
from dashboard.choices import View
from dashboard.escaping import escape_markdown
from dashboard.views.present.slides import FACTOR, list_slides, provenance, title
from dashboard.widgets.browser import watch_width
from dashboard.widgets.components import chart
from metrics import parse
from metrics.measures import question

_ASSETS = Path(__file__).parents[2] / "assets"


def chosen_measure(view: View) -> str:
    """Return the measure chosen on other pages; where it settles ties by its own rule, that whose they are."""
    name = controls.get_value("measure")
    return str(question(parse(name if name in view.evaluation.measures else cache.MEASURES[0])))


def turn(label: str, shortcut: str, number: int, last: int) -> None:
    """Draw a button that shows another slide."""
    st.button(
        label,
        shortcut=shortcut,
        disabled=not 1 <= number <= last,
        on_click=controls.set_value,
        args=("slide", str(number)),
        key=f"turn-{shortcut.lower()}",
        type="tertiary",
    )


def show(view: View) -> None:
    """Draw one slide."""
    st.html(_ASSETS / "present.css")
    st.html(
        f"<style>:root {{ --ground: {visitor.theme().ground}; }}"
        f"h2 .stMarkdownColoredText {{ color: {visitor.theme().traditional} !important; }}</style>"
    )
    st.title("Present", anchor=False)
    watch_width()
    measure = chosen_measure(view)
    slides = list_slides(view, measure)
    sentence, figure, foot = (st.container(key=f"slide-{part}") for part in ("sentence", "chart", "foot"))
    with foot, st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        note = st.container()
        numbers = [str(number) for number in range(1, len(slides) + 1)]
        number = int(
            controls.segmented("Slide", numbers, "slide", label_visibility="collapsed", width="content")
        )
        turn("Back", "Left", number - 1, len(slides))
        turn("Next", "Right", number + 1, len(slides))
        if st.button("Leave", shortcut="Esc", key="leave", type="tertiary"):
            st.switch_page("views/share/share.py")
    slide = slides[number - 1]()
    sentence.header(title(slide.finding, view.rerankers), anchor=False)
    note.caption(escape_markdown(provenance(view, measure, slide)))
    is_narrow = visitor.is_narrow()
    shown_figure = slide.figure if is_narrow else slide.large_figure
    if shown_figure is not None:
        with figure:
            wide = slide.wide if is_narrow else round(FACTOR * slide.wide)
            chart(shown_figure, f"slide-{number}", slide.alt, wide=wide)
