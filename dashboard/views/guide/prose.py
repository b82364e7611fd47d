"""The Guide's Markdown files, their figures filled in, cut into the parts a page lays out. No streamlit."""

import re
from functools import cache
from pathlib import Path
from typing import Literal, NamedTuple

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from dashboard.escaping import escape_markdown
from dashboard.views.guide.figures import FIGURES

BlockKind = Literal["text", "note", "list", "table", "code", "formula"]
_MARKS: tuple[tuple[str, BlockKind], ...] = (
    ("```", "code"),
    ("$$", "formula"),
    ("| ", "table"),
    ("- ", "list"),
    ("> ", "note"),
)
_BLOCK = re.compile(r"^```.*?^```$|^(?:[^\n]+\n?)+", re.MULTILINE | re.DOTALL)
_CELLS = re.compile(r"(?<!\\)\|")


class Marked(str):
    """Text that is Markdown already."""

    __slots__ = ()


class Block(NamedTuple):
    """A paragraph, list, table, code sample or formula.

    Attributes:
        kind: what it is.
        text: its Markdown; of code, of a formula and of a note without the marks around it.
        language: of code, where the file names one.
    """

    kind: BlockKind
    text: str
    language: str | None = None

    @property
    def items(self) -> list[str]:
        """The items of a list, each without its dash and indentation."""
        return [
            item.strip().replace("\n  ", "\n") for item in re.split(r"^- ", self.text, flags=re.MULTILINE)[1:]
        ]

    @property
    def rows(self) -> list[list[str]]:
        """The cells of a table, its heading first."""
        lines = [[cell.strip() for cell in _CELLS.split(line)[1:-1]] for line in self.text.splitlines()]
        return [lines[0], *lines[2:]]


class ProsePart(NamedTuple):
    """A heading and what is below it.

    Attributes:
        title: the heading.
        blocks: what is below, up to the next heading.
        cards: the parts one level down.
    """

    title: str
    blocks: list[Block]
    cards: list["ProsePart"]

    @property
    def text(self) -> str:
        """Its first paragraph."""
        return next((block.text for block in self.blocks if block.kind == "text"), "")

    @property
    def rest(self) -> list[Block]:
        """What is below its first paragraph."""
        return self.blocks[1:] if self.blocks and self.blocks[0].kind == "text" else self.blocks


def read_parts(name: str) -> list[ProsePart]:
    """Return the parts under the second-level headings of `text/NAME.md`."""
    return _split(markdown(name), level=2)


def markdown(name: str) -> str:
    """Return `text/NAME.md` with its figures filled in."""
    figures = FIGURES.get(name, dict)()
    return _environment().get_template(f"{name}.md").render(figures)


def _split(text: str, level: int) -> list[ProsePart]:
    parts = []
    for section in re.split(rf"^{'#' * level} ", text, flags=re.MULTILINE)[1:]:
        title, _, below = section.partition("\n")
        own = re.split(rf"^#{{{level + 1}}} ", below, maxsplit=1, flags=re.MULTILINE)[0]
        blocks = [_block(block.strip("\n")) for block in _BLOCK.findall(own)]
        parts.append(ProsePart(title, blocks, _split(below, level + 1)))
    return parts


def _block(text: str) -> Block:
    kind: BlockKind = next((kind for mark, kind in _MARKS if text.startswith(mark)), "text")
    match kind:
        case "code":
            first, *lines, _ = text.splitlines()
            return Block(kind, "\n".join(lines), first.removeprefix("```") or None)
        case "formula":
            return Block(kind, text.strip("$\n"))
        case "note":
            return Block(kind, text.removeprefix("> "))
    return Block(kind, text)


@cache
def _environment() -> Environment:
    """Return Jinja's templates in which every figure is escaped, unless a filter has made Markdown of it."""
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "text", encoding="utf-8"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,  # noqa: S701 what comes out is Markdown, which `finalize` escapes
        finalize=lambda value: value if isinstance(value, Marked) else escape_markdown(str(value)),
    )
    environment.filters |= {
        "marked": Marked,
        "sentence": lambda text: text[0].upper() + text[1:],
        "code": lambda text: Marked(f"`{text}`"),
        "measures": lambda measures: Marked(", ".join(f"`{measure.name}`" for measure in measures)),
        "term": lambda measure: Marked(
            f"- `{measure.name}`: {measure.term or escape_markdown(measure.summary)}"
        ),
        "note": lambda text: Marked(f":gray[{escape_markdown(text)}]"),
        "source": lambda text: Marked(f":small[:gray[{escape_markdown(text)}]]"),
        "traditional": lambda text: Marked(f":orange[{escape_markdown(text)}]"),
        "tied": lambda text: Marked(f":blue[{escape_markdown(text)}]"),
    }
    return environment
