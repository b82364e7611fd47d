"""Guide: what ties do to a score, and every formula, measure, tool, finding and format in plain words."""

from dashboard import state
from dashboard.components import page
from dashboard.guide import SECTIONS

page("Guide", "What ties do to a score, in five minutes: pick a section; the link opens the same one.")
section = state.one("Section", list(SECTIONS), "section", label_visibility="collapsed")
SECTIONS[section]()
