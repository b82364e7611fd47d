"""The pages of the app, in the order of the menu."""

from collections.abc import Callable
from typing import NamedTuple

from dashboard.choices import View
from dashboard.views.audit import audit
from dashboard.views.compare import compare
from dashboard.views.data import data
from dashboard.views.guide import guide
from dashboard.views.leaderboard import leaderboard
from dashboard.views.present import present
from dashboard.views.query import query
from dashboard.views.rerankers import rerankers
from dashboard.views.share import share
from dashboard.views.simulator import simulator
from dashboard.views.ties import ties


class Page(NamedTuple):
    """A page of the app.

    Attributes:
        file: its place in this folder; the name of the file is its place in the address.
        title: what the menu and its heading call it.
        icon: of Material Symbols; empty where the menu does not have it.
        section: of the menu.
        show: draws it.
    """

    file: str
    title: str
    icon: str
    section: str
    show: Callable[[View], None]


PAGES = (
    Page("views/leaderboard/leaderboard.py", "Leaderboard", "leaderboard", "", leaderboard.show),
    Page("views/data/data.py", "Data", "upload_file", "Data", data.show),
    Page("views/ties/ties.py", "Ties vs gap", "scatter_plot", "Explore", ties.show),
    Page("views/rerankers/rerankers.py", "Rerankers", "compare_arrows", "Explore", rerankers.show),
    Page("views/query/query.py", "Queries", "account_tree", "Explore", query.show),
    Page("views/compare/compare.py", "Compare", "rule", "Decide", compare.show),
    Page("views/audit/audit.py", "Audit", "fact_check", "Decide", audit.show),
    Page("views/simulator/simulator.py", "Simulator", "science", "Learn", simulator.show),
    Page("views/guide/guide.py", "Guide", "menu_book", "Learn", guide.show),
    Page("views/share/share.py", "Share", "share", "Learn", share.show),
    Page("views/present/present.py", "Present", "", "Learn", present.show),
)
LARGE = "views/large/large.py"
"""The page of stored evaluations, in the menu where one is open or may be opened."""
MOVED = {
    "runs": ("Data", "Files"),
    "library": ("Data", "Library"),
    "report": ("Share", ""),
    "significance": ("Compare", "Against the baseline"),
    "robustness": ("Compare", "Noise"),
    "tradeoffs": ("Compare", "Trade-offs"),
}
"""Addresses of version 0.2 → the title of the page, and the section, where what they showed is now."""
