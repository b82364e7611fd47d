"""The choices of a session, and their place in the link.

The only folder that touches session state and query parameters. Every control is bound to the URL and
kept over page switches.
"""

from dashboard.state.changes import remake
from dashboard.state.controls import (
    clicked,
    count,
    edited,
    editing,
    follow_theme,
    one,
    pick,
    pills,
    slide,
    some,
    span,
    switch,
    tell,
    text,
    theme,
    told,
)
from dashboard.state.data import (
    address,
    deleted,
    go_to,
    is_given,
    is_private,
    is_stranger,
    leave,
    lost_data,
    owner,
    said,
    say,
    show,
    usual_access,
)
from dashboard.state.draft import amend, draft, is_new_draft
from dashboard.state.measures import measure
from dashboard.state.shelf import Outcome, outcome, remember, tick, ticked
from dashboard.state.view import View, choose_view, linked, open_list, open_query, opened_list, settings, view

__all__ = [
    "Outcome",
    "View",
    "address",
    "amend",
    "choose_view",
    "clicked",
    "count",
    "deleted",
    "draft",
    "edited",
    "editing",
    "follow_theme",
    "go_to",
    "is_given",
    "is_new_draft",
    "is_private",
    "is_stranger",
    "leave",
    "linked",
    "lost_data",
    "measure",
    "one",
    "open_list",
    "open_query",
    "opened_list",
    "outcome",
    "owner",
    "pick",
    "pills",
    "remake",
    "remember",
    "said",
    "say",
    "settings",
    "show",
    "slide",
    "some",
    "span",
    "switch",
    "tell",
    "text",
    "theme",
    "tick",
    "ticked",
    "told",
    "usual_access",
    "view",
]
