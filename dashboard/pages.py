"""List the pages in the order of the menu; each is imported when it is opened."""

from collections.abc import Callable
from importlib import import_module
from typing import NamedTuple, cast

from dashboard.choices import View


class Page(NamedTuple):
    """A page of the app.

    Attributes:
        file: path in this folder; the file's name is the page's address.
        title: title in the menu and on the page.
        icon: name of a Material symbol; empty to hide the page in the menu.
        section: section of the menu.
    """

    file: str
    title: str
    icon: str
    section: str

    def load(self) -> Callable[[View], None]:
        """Import the page and return the function that draws it."""
        module = import_module(f"dashboard.{self.file.removesuffix('.py').replace('/', '.')}")
        return cast("Callable[[View], None]", module.show)


PAGES = (
    Page("views/leaderboard.py", "Leaderboard", "leaderboard", ""),
    Page("views/data/data.py", "Data", "upload_file", "Data"),
    Page("views/ties.py", "Ties vs gap", "scatter_plot", "Explore"),
    Page("views/rerankers.py", "Rerankers", "compare_arrows", "Explore"),
    Page("views/query.py", "Queries", "account_tree", "Explore"),
    Page("views/compare/compare.py", "Compare", "rule", "Decide"),
    Page("views/audit.py", "Audit", "fact_check", "Decide"),
    Page("views/simulator/simulator.py", "Simulator", "science", "Learn"),
    Page("views/guide/guide.py", "Guide", "menu_book", "Learn"),
    Page("views/share.py", "Share", "share", "Learn"),
    Page("views/present.py", "Present", "", "Learn"),
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
