"""The choices of a session, and their place in the link.

The only folder that touches session state and query parameters. Every control is bound to the URL and
kept over page switches. Here is what several pages use; the rest is taken from its module.
"""

from dashboard.boards import owner, show_board, switch_to_board
from dashboard.changes import rebuild_board
from dashboard.choices import View, choose_baseline, measure, offered_rerankers, view
from dashboard.controls import (
    get_value,
    list_link_parameters,
    segmented,
    select,
    select_name,
    set_value,
    text_input,
)
from dashboard.results import Results
from dashboard.upload_selection import Outcome
from dashboard.visitor import is_narrow, theme

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
