"""Pages that are made when the site is built: the Guide from its Markdown files, the commands from their help.

mkdocs calls the functions whose names begin with `on_`.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from streamlit.logger import set_log_level
from typer.main import get_command

from dashboard.cli.commands import tiescope
from dashboard.escaping import escape_markdown
from dashboard.views.guide import markdown

_ROOT = Path(__file__).parents[2]
_GUIDE = _ROOT / "dashboard/views/guide_text"
_APP = "http://127.0.0.1:8501"
_COLOURED = re.compile(r":(gray|small|orange|blue)\[((?:\\.|[^\[\]\\]|\[[^\]]*\])*)\]")
_SAME_TITLE = re.compile(r"(^# (.+)\n+)## \2\n+")
_APP_LINK = re.compile(r"\]\((/[^)\s]*)\)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are made."""
    set_log_level("ERROR")  # else Streamlit says that it draws no page
    for path in sorted(_GUIDE.glob("*.md")):
        files.append(File.generated(config, f"guide/{path.name}", content=guide_page(path.stem)))
    files.append(File.generated(config, "reference/commands.md", content=commands_page()))
    files.append(File.generated(config, "assets/logo.svg", content=_sign()))
    return files


def guide_page(name: str) -> str:
    """Return a file of the Guide for this site: what Streamlit colours is classed, links lead into the app."""
    text = _SAME_TITLE.sub(r"\1", markdown(name))
    while (coloured := _COLOURED.sub(r'<span class="\1">\2</span>', text)) != text:
        text = coloured
    return _APP_LINK.sub(rf"]({_APP}\1)", text)


def commands_page() -> str:
    """Return what --help says of every command, a table each."""
    parts = [
        "# Commands",
        "This page repeats `tiescope COMMAND --help`. `-o FILE` writes the whole file or keeps the old one; "
        "`-` reads standard input. All commands use the same "
        "[exit codes](../how-to/report.md#files-and-exit-codes-of-every-command).",
    ]
    group: Any = get_command(tiescope)  # Typer exports no class of its groups
    for name, command in group.commands.items():
        parts += [f"## tiescope {name}", _paragraphs(command.help or ""), _table(command.params)]
    return "\n\n".join(parts) + "\n"


def _paragraphs(text: str) -> str:
    return "\n\n".join(escape_markdown(" ".join(part.split())) for part in re.split(r"\n\s*\n", text))


def _table(parameters: Sequence[Any]) -> str:
    rows = [
        f"| {_written(parameter)} | {escape_markdown(' '.join((parameter.help or '').split()))} |"
        for parameter in parameters
        if parameter.name != "help"
    ]
    return "\n".join(["| Option | Meaning |", "| --- | --- |", *rows])


def _written(parameter: Any) -> str:  # noqa: ANN401 Typer has two kinds, and exports no class of both
    """Return how a parameter is written: an option by its names, an argument by its own."""
    if parameter.param_type_name == "option":
        return " ".join(f"`{name}`" for name in (*parameter.opts, *parameter.secondary_opts))
    return f"`{parameter.metavar or parameter.name.upper()}`"


def _sign() -> str:
    """Return the logo without its letters: two lines that become one."""
    logo = (_ROOT / "dashboard/assets/logo-light.svg").read_text(encoding="utf-8")
    (sign,) = re.findall(r"<g .*?</g>", logo, re.DOTALL)
    return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 30 32">{sign}</svg>'
