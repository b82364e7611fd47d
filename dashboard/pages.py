"""List the pages in the order of the menu; each is imported when it is opened."""

from importlib import import_module
from typing import NamedTuple


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

    def draw(self, content: object) -> None:
        """Import the page and draw what it shows."""
        module = import_module("dashboard." + self.file.removesuffix(".py").replace("/", "."))
        module.show(content)


LEADERBOARD = Page("views/leaderboard.py", "Leaderboard", "leaderboard", "")
DATA = Page("views/data/data.py", "Data", "upload_file", "Data", needs_judgments=False)
TIES = Page("views/ties.py", "Ties vs gap", "scatter_plot", "Explore")
RERANKERS = Page("views/rerankers.py", "Rerankers", "compare_arrows", "Explore", needs_judgments=False)
QUERIES = Page("views/query.py", "Queries", "account_tree", "Explore")
COMPARE = Page("views/compare.py", "Compare", "rule", "Decide")
AUDIT = Page("views/audit.py", "Audit", "fact_check", "Decide")
SIMULATOR = Page("views/simulator/simulator.py", "Simulator", "science", "Learn", needs_judgments=False)
GUIDE = Page("views/guide.py", "Guide", "menu_book", "Learn", needs_judgments=False)
SHARE = Page("views/share.py", "Share", "share", "Learn")
PRESENT = Page("views/present.py", "Present", "", "Learn")
PAGES = LEADERBOARD, DATA, TIES, RERANKERS, QUERIES, COMPARE, AUDIT, SIMULATOR, GUIDE, SHARE, PRESENT
LARGE = Page("views/large.py", "Large results", "hard_drive", "Data", needs_judgments=False)
"""The page of stored evaluations, in the menu if the command opened one."""
