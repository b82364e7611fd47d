"""Charts of the site, each for light and for dark ground; the plotly that draws them lies beside the pages.

The gallery's code is run: a block of Python that binds `figure` is followed by its chart. A page of the
Guide has the charts of its live example below the headings that the app draws them under.
"""

import contextlib
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from plotly.offline import get_plotlyjs

from dashboard.charts.figure import Figure
from dashboard.charts.palette import DARK, LIGHT, Palette
from dashboard.charts.permutations import permutations_figure
from metrics.studies.guide import worked_example

_SAMPLE = Path(__file__).parents[2] / "sample_data/docsearch"
_GALLERY_WIDTH = 720
"""Pixels that a chart of many rerankers keeps on a phone."""
_BLOCK = re.compile(r"^```python\n(.*?)^```\n", re.MULTILINE | re.DOTALL)
_HEAD = re.compile(r"^## (.+)\n\n.+$", re.MULTILINE)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add plotly, once, from the package that is installed."""
    files.append(File.generated(config, "assets/plotly.min.js", content=get_plotlyjs()))
    return files


def on_page_markdown(markdown: str, page: Page, **_: object) -> str:
    """Return a page with the charts that its code or its headings ask for."""
    match page.file.src_uri:
        case "gallery.md":
            return _with_figures(markdown)
        case "guide/one_minute.md":
            return _below_headings(markdown, _worked_example())
    return markdown


def on_post_page(output: str, page: Page, **_: object) -> str:
    """Return a page with the scripts that draw charts, where it has any."""
    if 'class="chart"' not in output:
        return output
    folder = "../" * page.url.count("/") + "assets"
    scripts = "".join(f'<script src="{folder}/{name}"></script>' for name in ("plotly.min.js", "charts.js"))
    return output.replace("</body>", f"{scripts}</body>")


def _with_figures(markdown: str) -> str:
    """Run the blocks of a page in one namespace, those that bind `figure` once for each ground."""
    names: dict[str, Any] = {}

    def draw(code: str, palette: Palette) -> Figure:
        names["palette"] = palette
        exec(code, names)  # noqa: S102 our own
        return names["figure"]

    def run(match: re.Match[str]) -> str:
        if not re.search(r"^figure = ", match[1], re.MULTILINE):
            exec(match[1], names)  # noqa: S102 our own
            return match[0]
        return match[0] + _chart(lambda palette: draw(match[1], palette), _GALLERY_WIDTH)

    with contextlib.chdir(_SAMPLE):
        return _BLOCK.sub(run, markdown)


def _chart(draw: Callable[[Palette], Figure], min_width: int = 0) -> str:
    """Return a figure as HTML that `charts.js` draws, scrolled where there is less room than it needs."""
    figures = {"default": draw(LIGHT), "slate": draw(DARK)}
    data = "".join(
        f'<script type="application/json" data-scheme="{scheme}">{figure.to_json()}</script>'
        for scheme, figure in figures.items()
    )
    height = figures["default"].layout.height
    size = f"min-height: {height:.0f}px; min-width: {min_width}px"
    return f'\n<div class="chart"><div class="ground" style="{size}"></div>{data}</div>\n'


def _worked_example() -> Mapping[str, str]:
    example = worked_example(tied=5, relevant=1, above=0, k=3)
    values = "\n".join(f"| {name} | {value:.4f} |" for name, value in example.answers.items())
    said = "Five documents tie, including one relevant document. In the app, you can change this example."
    return {
        "An example to edit": f"\n{said}\n\n| Measure | Value |\n| --- | --- |\n{values}\n",
        "Every value, with its chance": _chart(
            lambda palette: permutations_figure(example.possible, example.documents, palette), _GALLERY_WIDTH
        ),
    }


def _below_headings(markdown: str, added: Mapping[str, str]) -> str:
    return _HEAD.sub(lambda match: f"{match[0]}\n{added.get(match[1], '')}", markdown)
