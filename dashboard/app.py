"""The frame: page config, navigation, shared sidebar. `streamlit run dashboard/app.py`."""

from pathlib import Path

import streamlit as st

from dashboard import cache, results, sign_in, state
from dashboard.board_panel import undo
from dashboard.browser import equip_browser, write_on_primary
from dashboard.charts.palette import DARK
from dashboard.components import shown

HERE = Path(__file__).parent

st.set_page_config(page_title="TieScope", page_icon="🎯", layout="wide")
colours = state.theme()
st.logo(HERE / "assets" / f"logo-{'dark' if colours is DARK else 'light'}.svg", size="large")
write_on_primary(colours)
sign_in.admit()
alone = bool(results.given()) and cache.opened() is None
board = st.Page("views/leaderboard.py", title="Leaderboard", icon=":material/leaderboard:", default=not alone)
large = st.Page("views/large.py", title="Large results", icon=":material/hard_drive:", default=alone)
views = st.navigation(
    {
        "": [board],
        "Data": [st.Page("views/runs.py", title="Runs", icon=":material/upload_file:"), large],
        "Explore": [
            st.Page("views/ties.py", title="Ties vs gap", icon=":material/scatter_plot:"),
            st.Page("views/rerankers.py", title="Rerankers", icon=":material/compare_arrows:"),
            st.Page("views/query.py", title="Query explorer", icon=":material/account_tree:"),
        ],
        "Decide": [
            st.Page("views/significance.py", title="Significance", icon=":material/rule:"),
            st.Page("views/tradeoffs.py", title="Trade-offs", icon=":material/balance:"),
        ],
        "Lab": [
            st.Page("views/simulator.py", title="Simulator", icon=":material/science:"),
            st.Page("views/report.py", title="Report", icon=":material/description:"),
            st.Page("views/guide.py", title="Guide", icon=":material/menu_book:"),
        ],
    }
)
with st.sidebar:
    if views.title == large.title:
        state.choose_results()
    else:
        state.choose_view()
    sign_in.who()
for message in state.said():
    st.warning(shown(message), icon=":material/inventory_2:")
if lost := state.lost_data():
    st.warning(f"This link shows {shown(lost)}, which is not kept here, or not shared with you.")
undo()
state.follow_theme()
equip_browser()
views.run()
