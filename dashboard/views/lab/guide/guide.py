"""Guide: what ties do to a score, and every formula, measure, tool, finding and format in plain words."""

from dashboard import session
from dashboard.views.lab.guide.sections import SECTIONS
from dashboard.widgets.components import page_head
from dashboard.widgets.page_body import page_body


@page_body
def guide() -> None:
    """Draw the section that is chosen."""
    page_head("Guide", "What ties do to a score, in five minutes: pick a section; the link opens the same one.")
    section = session.segmented("Section", list(SECTIONS), "section", label_visibility="collapsed")
    SECTIONS[section]()


guide()
