"""Formulas as MathML, made when the site is built: browsers draw them, no script and no font is loaded."""

import html
import re
from typing import Literal

from latex2mathml.converter import convert

_FORMULA = re.compile(r'<(div|span) class="arithmatex">\\[(\[](.*?)\\[)\]]</\1>', re.DOTALL)
_KNOWN = ((re.compile(r"\{aligned\}"), "{split}"), (re.compile(r"\\\\\[\d+pt\]"), r"\\\\"))
"""What KaTeX draws and the converter does not know, and the same as it knows it."""


def on_page_content(content: str, **_: object) -> str:
    """Return a page with its formulas drawn."""
    return _FORMULA.sub(_mathml, content)


def _mathml(match: re.Match[str]) -> str:
    display: Literal["block", "inline"] = "block" if match[1] == "div" else "inline"
    latex = html.unescape(match[2]).strip()
    for written, known in _KNOWN:
        latex = written.sub(known, latex)
    drawn = convert(latex, display=display)
    return f'<div class="formula">{drawn}</div>' if match[1] == "div" else drawn
