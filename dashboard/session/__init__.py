"""The choices of a session, and their place in the link.

The only folder that touches session state and query parameters. Every control is bound to the URL and
kept over page switches. Here is what several pages use; the rest is taken from its module.
"""

from dashboard.session.address import list_link_parameters
from dashboard.session.boards import owner, show_board, switch_to_board
from dashboard.session.changes import rebuild_board
from dashboard.session.controls import get_value, segmented, select, select_name, set_value, text_input
from dashboard.session.measures import measure
from dashboard.session.results import Results
from dashboard.session.upload_selection import Outcome
from dashboard.session.view import View, choose_baseline, offered_rerankers, view
from dashboard.session.visitor import is_narrow, theme

__all__ = [
    "Outcome",
    "Results",
    "View",
    "choose_baseline",
    "get_value",
    "is_narrow",
    "list_link_parameters",
    "measure",
    "offered_rerankers",
    "owner",
    "rebuild_board",
    "segmented",
    "select",
    "select_name",
    "set_value",
    "show_board",
    "switch_to_board",
    "text_input",
    "theme",
    "view",
]
