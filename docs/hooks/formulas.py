"""Formulas as MathML, made when the site is built: browsers draw them, no script and no font is loaded."""

import html
import re
from typing import Literal

from latex2mathml.converter import convert

_FORMULA = re.compile(r'<(div|span) class="arithmatex">\\[(\[](.*?)\\[)\]]</\1>', re.DOTALL)


def on_page_content(content: str, **_: object) -> str:
    """Return a page with its formulas drawn."""
    return _FORMULA.sub(_mathml, content)


def _mathml(match: re.Match[str]) -> str:
    display: Literal["block", "inline"] = "block" if match[1] == "div" else "inline"
    drawn = convert(html.unescape(match[2]).strip(), display=display)
    return f'<div class="formula">{drawn}</div>' if match[1] == "div" else drawn
