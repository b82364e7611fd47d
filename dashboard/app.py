"""Run the app: page configuration, menu, sidebar and page. `streamlit run dashboard/app.py`."""

from pathlib import Path

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from dashboard.server.first_page import await_loading

await_loading()

from dashboard import boards, controls, visitor
from dashboard.access import sign_in
from dashboard.charts.palette import DARK
from dashboard.choices import choose_selection
from dashboard.escaping import escape_markdown
from dashboard.long_work import waiting_shown
from dashboard.pages import DATA, LARGE, PAGES
from dashboard.views.data.files import undo
from dashboard.views.large import choose_results, command_results
from dashboard.widgets.components import THIS_PAGE, section
from metrics.ties import treatment

FOLDER = Path(__file__).parent


def menu() -> dict[str, list[StreamlitPage]]:
    """Return the pages by section of the menu."""
    has_results = bool(command_results())
    is_results_only = has_results and boards.opened_board() is None
    pages: dict[str, list[StreamlitPage]] = {}
    for page in (*PAGES, LARGE):
        is_shown = has_results if page is LARGE else bool(page.icon)
        is_first = page is (LARGE if is_results_only else PAGES[0])
        pages.setdefault(page.section, []).append(
            st.Page(
                page.file,
                title=page.title,
                icon=f":material/{page.icon}:" if page.icon else None,
                url_path="" if is_first and page is LARGE else None,
                default=is_first,
                visibility="visible" if is_shown else "hidden",
            )
        )
    if is_results_only:
        pages["Data"].append(st.Page(LARGE.file, url_path="large", title=LARGE.title, visibility="hidden"))
    return pages


def without_board() -> None:
    """Say why the board cannot be opened, and offer the home board."""
    if reason := boards.unknown_board():
        st.warning(reason)
    home = boards.home_board().label
    if st.button(f"Show {escape_markdown(home)}", icon=":material/dataset:", type="primary"):
        boards.switch_to_board(home)


def without_judgments() -> None:
    """Say that a page needs judgments, and offer to add them."""
    st.markdown("Nothing says which documents are relevant, so nothing can be scored yet.")
    if st.button("Add judgments", icon=":material/upload_file:", type="primary"):
        controls.remember("add", value=True)
        st.switch_page(DATA.file)


st.set_page_config(page_title="TieScope", page_icon="🎯", layout="wide")
colours = visitor.theme()
st.logo(FOLDER / "assets" / f"logo-{'dark' if colours is DARK else 'light'}.svg", size="large")
visitor.mend_looks(colours)
sign_in.admit()
page = st.navigation(menu(), expanded=True)
shown_page = {entry.title: entry for entry in (*PAGES, LARGE)}[page.title]
controls.read_address(page.url_path)
selection = results = None
with waiting_shown(), st.sidebar, section("The sidebar"):
    if shown_page is LARGE:
        results = choose_results()
    else:
        selection = choose_selection()
    visitor.offer_link("link", width="stretch")
    sign_in.show_account()
messages = st.container()
undo()
visitor.equip_browser()
st.title(shown_page.title, anchor=False)
with waiting_shown(), section(THIS_PAGE):
    if shown_page is LARGE:
        shown_page.draw(results)
    elif selection is None:
        without_board()
    elif shown_page.needs_judgments and not selection.board.runs.is_judged:
        without_judgments()
    else:
        shown_page.draw(selection)
with messages:
    for message in boards.notices():
        st.warning(escape_markdown(message), icon=":material/inventory_2:")
    if texts := controls.refused():
        unknown = escape_markdown(", ".join(texts))
        order = ""
        if selection and any(text.startswith("order=") for text in texts):
            order = f" The tie order is {escape_markdown(treatment(selection.traditional).label)}."
        st.warning(f"This page cannot apply these settings of the link: {unknown}.{order}")
controls.write_address()
