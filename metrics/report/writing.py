"""A report as Markdown, HTML, LaTeX and text; every text is escaped unless it is mark-up of ours."""

import re
from collections.abc import Callable
from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from metrics.report import typesetting
from metrics.studies.prose import Prose, Strong
from metrics.support import escaping

Escape = Callable[[str], str]

_ENDS = str.maketrans({mark: f"\\u{ord(mark):04x}" for mark in "<>&\u2028\u2029"})


def markdown(**context: object) -> str:
    """Return GitHub-flavoured Markdown of what the template `report.md` names."""
    return _tidy(_templates(escaping.markdown, "**{}**").get_template("report.md").render(context))


def html(script: str, **context: object) -> str:
    """Return one HTML file, with its style, its charts and their script inside.

    Args:
        script: what draws the charts, trusted as it stands; empty for none.
        context: what else the template `report.html` names.
    """
    template = _templates(escaping.html, "<strong>{}</strong>").get_template("report.html")
    return template.render(context, script=Markup(script))  # noqa: S704 plotly's own


def latex(**context: object) -> str:
    """Return a LaTeX document of what the template `report.tex` names; within another document, its body."""
    return _tidy(_templates(typesetting.wrapped, r"\textbf{{{}}}").get_template("report.tex").render(context))


def text(**context: object) -> str:
    """Return plain text of what the template `report.txt` names."""
    return _tidy(_templates(escaping.clean, "{}").get_template("report.txt").render(context))


def review(**context: object) -> str:
    """Return GitHub-flavoured Markdown of what the template `review.md` names: a comment found again."""
    return _tidy(_templates(escaping.markdown, "**{}**").get_template("review.md").render(context))


def svg(**context: object) -> str:
    """Return the badge of what the template `badge.svg` names."""
    return _templates(escaping.html, "{}").get_template("badge.svg").render(context)


def fragment(**context: object) -> str:
    """Return a part of an HTML page, of what the template `embed.html` names."""
    return _templates(escaping.html, "<strong>{}</strong>").get_template("embed.html").render(context)


@cache
def _templates(escape: Escape, strong: str) -> Environment:
    """Templates whose every value is escaped, and in which strong words are written so."""

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
    """JSON that ends no script element, whatever its texts say."""
    return Markup(json.translate(_ENDS))  # noqa: S704 nothing of HTML is left in it


def _tidy(text: str) -> str:
    """No spaces at the end of a line, no more than one empty line in a row, one newline at the end."""
    lines = (line.rstrip() for line in text.splitlines())
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip() + "\n"
