"""List the pages in the order of the menu; each is imported when it is opened."""

from collections.abc import Callable
from typing import NamedTuple

from dashboard.choices import Selection

Show = Callable[[Selection], None]
"""Draws a page."""


class Page(NamedTuple):
    """A page of the app.

    Attributes:
        file: path in this folder; the file's name is the page's address.
        title: title in the menu and on the page.
        icon: name of a Material symbol; empty to hide the page in the menu.
        section: section of the menu.
        needs_judgments: whether it shows nothing of a board without judgments.
    """

    file: str
    title: str
    icon: str
    section: str
    needs_judgments: bool = True

    def load(self) -> Show:  # noqa: C901 a case is one import
        """Import the page and return the function that draws it."""
        match self.title:
            case "Leaderboard":
                from dashboard.views.leaderboard import show
            case "Data":
                from dashboard.views.data.data import show
            case "Ties vs gap":
                from dashboard.views.ties import show
            case "Rerankers":
                from dashboard.views.rerankers import show
            case "Queries":
                from dashboard.views.query import show
            case "Compare":
                from dashboard.views.compare.compare import show
            case "Audit":
                from dashboard.views.audit import show
            case "Simulator":
                from dashboard.views.simulator.simulator import show
            case "Guide":
                from dashboard.views.guide.guide import show
            case "Share":
                from dashboard.views.share import show
            case "Present":
                from dashboard.views.present import show
        return show


PAGES = (
    Page("views/leaderboard.py", "Leaderboard", "leaderboard", ""),
    Page("views/data/data.py", "Data", "upload_file", "Data", needs_judgments=False),
    Page("views/ties.py", "Ties vs gap", "scatter_plot", "Explore"),
    Page("views/rerankers.py", "Rerankers", "compare_arrows", "Explore", needs_judgments=False),
    Page("views/query.py", "Queries", "account_tree", "Explore"),
    Page("views/compare/compare.py", "Compare", "rule", "Decide"),
    Page("views/audit.py", "Audit", "fact_check", "Decide"),
    Page("views/simulator/simulator.py", "Simulator", "science", "Learn", needs_judgments=False),
    Page("views/guide/guide.py", "Guide", "menu_book", "Learn", needs_judgments=False),
    Page("views/share.py", "Share", "share", "Learn"),
    Page("views/present.py", "Present", "", "Learn"),
)
LARGE = "views/large.py"
"""The page of stored evaluations, in the menu if the command opened one."""
