"""The frame: page config, navigation, shared sidebar. `streamlit run dashboard/app.py`."""

from pathlib import Path

import streamlit as st

from dashboard.server.first_page import await_loading

await_loading()

from dashboard import session
from dashboard.access import server_files, sign_in
from dashboard.charts.palette import DARK
from dashboard.escaping import escape_markdown
from dashboard.session.address import address_choices, read_address, refused
from dashboard.session.boards import notices, set_has_message, unknown_label
from dashboard.session.long_work import waiting_shown
from dashboard.session.results import choose_results
from dashboard.session.view import choose_view
from dashboard.views.data.board_panel import undo
from dashboard.widgets.browser import equip_browser, mend_looks, offer_link
from dashboard.widgets.page_body import THIS_PAGE, refusal, section

FOLDER = Path(__file__).parent
# Addresses of version 0.2, and the page and section where what they showed is now.
MOVED = {
    "runs": ("views/data/data.py", "Files"),
    "library": ("views/data/data.py", "Library"),
    "report": ("views/lab/share/share.py", ""),
    "significance": ("views/decide/compare/compare.py", "Against the baseline"),
    "robustness": ("views/decide/compare/compare.py", "Noise"),
    "tradeoffs": ("views/decide/compare/compare.py", "Trade-offs"),
}


def without_board(title: str) -> None:
    """Show a page whose board is not here: what it is, and a way to the board that the app opens on."""
    st.title(title, anchor=False)
    if label := unknown_label():
        st.warning(f"This link shows {escape_markdown(label)}, which is not kept here, or not shared with you.")
    home = server_files.home_board().label
    if st.button(f"Show {escape_markdown(home)}", icon=":material/dataset:", type="primary"):
        session.switch_to_board(home)


st.set_page_config(page_title="TieScope", page_icon="🎯", layout="wide")
colours = session.theme()
st.logo(FOLDER / "assets" / f"logo-{'dark' if colours is DARK else 'light'}.svg", size="large")
mend_looks(colours)
sign_in.admit()
is_results_only = bool(server_files.command_results()) and server_files.opened_board() is None
leaderboard_page = st.Page(
    "views/leaderboard/leaderboard.py",
    title="Leaderboard",
    icon=":material/leaderboard:",
    default=not is_results_only,
)
results_page = st.Page(
    "views/data/large/large.py",
    title="Large results",
    icon=":material/hard_drive:",
    url_path="" if is_results_only else "large",
    default=is_results_only,
    visibility="visible" if server_files.command_results() or server_files.allowed_paths() else "hidden",
)
results_by_address = (
    [st.Page("views/data/large/large.py", url_path="large", title=results_page.title, visibility="hidden")]
    if is_results_only
    else []
)
page = st.navigation(
    {
        "": [leaderboard_page],
        "Data": [
            st.Page("views/data/data.py", title="Data", icon=":material/upload_file:"),
            results_page,
            *results_by_address,
        ],
        "Explore": [
            st.Page("views/explore/ties/ties.py", title="Ties vs gap", icon=":material/scatter_plot:"),
            st.Page(
                "views/explore/rerankers/rerankers.py", title="Rerankers", icon=":material/compare_arrows:"
            ),
            st.Page("views/explore/query/query.py", title="Queries", icon=":material/account_tree:"),
        ],
        "Decide": [
            st.Page("views/decide/compare/compare.py", title="Compare", icon=":material/rule:"),
            st.Page("views/decide/audit/audit.py", title="Audit", icon=":material/fact_check:"),
        ],
        "Learn": [
            st.Page("views/lab/simulator/simulator.py", title="Simulator", icon=":material/science:"),
            st.Page("views/lab/guide/guide.py", title="Guide", icon=":material/menu_book:"),
            st.Page("views/lab/share/share.py", title="Share", icon=":material/share:"),
            st.Page("views/lab/present/present.py", title="Present", visibility="hidden"),
            *(st.Page("views/moved.py", url_path=path, title=path, visibility="hidden") for path in MOVED),
        ],
    },
    expanded=True,
)
if page.url_path in MOVED:
    new_page, moved_to = MOVED[page.url_path]
    st.switch_page(new_page, query_params=address_choices() | ({"section": moved_to} if moved_to else {}))
read_address(page.url_path)
with waiting_shown(), st.sidebar, section("The sidebar"):
    is_here = True
    if page.title == results_page.title:
        choose_results()
    else:
        is_here = choose_view()
    offer_link()
    sign_in.show_account()
messages = notices()
for message in messages:
    st.warning(escape_markdown(message), icon=":material/inventory_2:")
refusals = st.empty()
if texts := refused():
    refusals.warning(refusal(texts))
set_has_message(has_message=bool(messages or texts))
undo()
equip_browser()
if is_here:
    with waiting_shown(), section(THIS_PAGE):
        page.run()
else:
    without_board(page.title)
if on_page := refused():
    refusals.warning(refusal([*texts, *on_page]))
    set_has_message(has_message=True)
