"""A report as Markdown, HTML, LaTeX and text; every text is escaped unless it is mark-up of ours."""

import re
from collections.abc import Callable
from functools import cache
from pathlib import PurePath

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from metrics.report import typesetting
from metrics.studies.prose import Prose, Strong
from metrics.support import escaping

Escape = Callable[[str], str]
_KINDS: dict[str, tuple[Escape, str]] = {
    ".md": (escaping.markdown, "**{}**"),
    ".html": (escaping.html, "<strong>{}</strong>"),
    ".svg": (escaping.html, "{}"),
    ".tex": (typesetting.wrapped, r"\textbf{{{}}}"),
    ".txt": (escaping.clean, "{}"),
}
"""Ending of a template → how its texts are escaped, and how strong words are written."""
_ENDS = str.maketrans({mark: f"\\u{ord(mark):04x}" for mark in "<>&\u2028\u2029"})


def render(template: str, **context: object) -> str:
    """Return what a template makes of a context, every text escaped for the kind of file that it ends in."""
    ending = PurePath(template).suffix
    text = _templates(*_KINDS[ending]).get_template(template).render(context)
    return text if ending in (".html", ".svg") else _tidy(text)


@cache
def _templates(escape: Escape, strong: str) -> Environment:
    """Return Jinja's templates whose every value is escaped, and in which strong words are written so."""

    def escaped(value: object) -> Markup:
        return value if isinstance(value, Markup) else Markup(escape(str(value)))  # noqa: S704 escaped

    def emphasised(text: str) -> Markup:
        inner = text.strip()
        before, after = text[: len(text) - len(text.lstrip())], text[len(text.rstrip()) :]
        return Markup(before + strong.format(escape(inner)) + after) if inner else Markup(text)  # noqa: S704 likewise

    def prose_markup(prose: Prose) -> Markup:
        parts = (emphasised(part.text) if isinstance(part, Strong) else escaped(part) for part in prose)
        return Markup("").join(parts)

    templates = Environment(
        loader=PackageLoader("metrics.report", "templates"),
        autoescape=True,
        finalize=escaped,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    templates.filters |= {
        "prose": prose_markup,
        "emphasised": emphasised,
        "inside_script": _inside_script,
        "blocks": typesetting.blocks,
        "braced": lambda text: Markup("{") + escaped(text) + Markup("}"),
        "comment": lambda text: Markup(escaping.latex(text)),  # noqa: S704 a line that LaTeX does not read
    }
    return templates


def _inside_script(json: str) -> Markup:
    """Return JSON that ends no script element, whatever its texts say."""
    return Markup(json.translate(_ENDS))  # noqa: S704 nothing of HTML is left in it


def _tidy(text: str) -> str:
    """Leave no spaces at the end of a line, no more than one empty line in a row, one newline at the end."""
    lines = (line.rstrip() for line in text.splitlines())
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip() + "\n"
