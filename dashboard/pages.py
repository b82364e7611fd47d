"""List the pages in the order of the menu; each is imported when it is opened."""

from collections.abc import Callable
from typing import NamedTuple

from dashboard.choices import View

Show = Callable[[View], None]
"""Draws a page."""


class Page(NamedTuple):
    """A page of the app.

    Attributes:
        file: path in this folder; the file's name is the page's address.
        title: title in the menu and on the page.
        icon: name of a Material symbol; empty to hide the page in the menu.
        section: section of the menu.
        load: imports the page.
    """

    file: str
    title: str
    icon: str
    section: str
    load: Callable[[], Show]


def _leaderboard() -> Show:
    from dashboard.views.leaderboard import show

    return show


def _data() -> Show:
    from dashboard.views.data.data import show

    return show


def _ties() -> Show:
    from dashboard.views.ties import show

    return show


def _rerankers() -> Show:
    from dashboard.views.rerankers import show

    return show


def _query() -> Show:
    from dashboard.views.query import show

    return show


def _compare() -> Show:
    from dashboard.views.compare.compare import show

    return show


def _audit() -> Show:
    from dashboard.views.audit import show

    return show


def _simulator() -> Show:
    from dashboard.views.simulator.simulator import show

    return show


def _guide() -> Show:
    from dashboard.views.guide.guide import show

    return show


def _share() -> Show:
    from dashboard.views.share import show

    return show


def _present() -> Show:
    from dashboard.views.present import show

    return show


PAGES = (
    Page("views/leaderboard.py", "Leaderboard", "leaderboard", "", _leaderboard),
    Page("views/data/data.py", "Data", "upload_file", "Data", _data),
    Page("views/ties.py", "Ties vs gap", "scatter_plot", "Explore", _ties),
    Page("views/rerankers.py", "Rerankers", "compare_arrows", "Explore", _rerankers),
    Page("views/query.py", "Queries", "account_tree", "Explore", _query),
    Page("views/compare/compare.py", "Compare", "rule", "Decide", _compare),
    Page("views/audit.py", "Audit", "fact_check", "Decide", _audit),
    Page("views/simulator/simulator.py", "Simulator", "science", "Learn", _simulator),
    Page("views/guide/guide.py", "Guide", "menu_book", "Learn", _guide),
    Page("views/share.py", "Share", "share", "Learn", _share),
    Page("views/present.py", "Present", "", "Learn", _present),
)
LARGE = "views/large.py"
"""The page of stored evaluations, in the menu if one is or can be opened."""
MOVED = {
    "runs": ("Data", ""),
    "library": ("Data", "Library"),
    "report": ("Share", ""),
    "significance": ("Compare", ""),
    "robustness": ("Compare", "Noise"),
    "tradeoffs": ("Compare", "Trade-offs"),
}
"""Addresses of version 0.2 → title and section of the current page; an empty section is the first."""
