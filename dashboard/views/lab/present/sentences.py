"""The sentence above a slide's chart, and the line below it."""

import re
from collections.abc import Sequence

from dashboard.charts.labels import CHART_COLUMNS, sentence_names
from dashboard.choices import View
from dashboard.escaping import escape_markdown
from dashboard.library.boards import queries_text
from dashboard.library.storage.records import SEPARATOR
from dashboard.views.lab.present.slides import Slide
from dashboard.widgets.components import elide_prose
from metrics import parse
from metrics.studies.prose import Prose, Strong, headline


def title(prose: Prose, names: Sequence[str]) -> str:
    """Return Markdown of the first sentence, its point in orange, long ones of these names elided.

    No line ends within a p value.
    """
    sentence, _ = elide_prose(headline(prose), sentence_names(names, CHART_COLUMNS))
    point = next((part for part in sentence if isinstance(part, Strong)), None)
    plain = (part.text if isinstance(part, Strong) else part for part in sentence)
    texts = (escape_markdown(re.sub(r"\bp ([<=>]) ", "p\u00a0\\1\u00a0", text)) for text in plain)
    return "".join(
        f":orange[{text.strip()}]" + " " * text.endswith(" ") if part is point else text
        for part, text in zip(sentence, texts, strict=True)
    )


def provenance(view: View, measure: str, slide: Slide) -> str:
    """Return what a slide rests on: measure, queries, board, and its own note.

    Args:
        view: what is shown of which board.
        measure: whose name stands first.
        slide: whose note stands last.
    """
    label = view.board.label
    board = view.record.name if view.record else label.rpartition(SEPARATOR)[0] or label
    queries = queries_text(view.evaluation.scores.index.get_level_values("query_id").nunique())
    subject = board if queries in board else f"{queries} of {board}"
    return " ".join(filter(None, [f"{parse(measure).traditional}, {subject}.", slide.note.strip()]))
