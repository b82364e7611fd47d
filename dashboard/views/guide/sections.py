"""The sections of the Guide. What they say is in `metrics`; here it is only laid out."""

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Literal

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard import session
from dashboard.charts.one_list.ladder import tie_ladder
from dashboard.charts.one_list.query import first_hit_bars
from dashboard.escaping import escape_markdown
from dashboard.library import MOST_FILES
from dashboard.views.guide.large_results import large
from dashboard.views.guide.library import library
from dashboard.views.guide.notebook import notebook
from dashboard.widgets.components import Card, Colour, cards, chart, finding, heading
from dashboard.widgets.list_panel import orderings_text
from metrics import FORMATS
from metrics.runs import COLUMNS, KINDS
from metrics.studies.guide import guide
from metrics.studies.guide.worked_example import WorkedExample, filled, worked_example, worked_finding
from metrics.studies.leaderboard.leaderboard import VERDICTS, Verdict

MOST_TIED = 30
MOST_ABOVE = 20
_IDEA = (
    ("join_inner", "Scores tie", "Rerankers, LLMs above all, give many documents the same score."),
    ("casino", "Nothing orders a tie", "Row order or document ids decide, and every tool has its own rule."),
    (
        "straighten",
        "So a score is a range",
        "It runs from the worst order to the best. :blue[Tied] is the mean of all orders, "
        ":orange[traditional] the one your sort gave.",
    ),
)
_VERDICTS: dict[Verdict, Literal["green", "yellow", "orange", "blue"]] = {
    "stable": "green",
    "tie-sensitive": "yellow",
    "tie-inflated": "orange",
    "tie-deflated": "blue",
}
_SEVERITIES: dict[str, tuple[str, Colour, str]] = {
    "error": ("error", "red", "No score can be trusted before it is settled."),
    "warning": ("warning", "orange", "Scored all the same; read what it does to the scores."),
    "info": ("info", "blue", "For the record."),
}


def one_minute() -> None:
    """The idea, and an example that computes as it is changed."""
    heading("Ties in one minute", "Why a score is a range, and what the tied value is.")
    grid = st.grid(3, min_column_width=240)
    for icon, title, text in _IDEA:
        grid.container(border=True, height="stretch").markdown(f":material/{icon}: **{title}**  \n{text}")
    heading("An example to change", "One list with one tie. Every figure below is computed for it.")
    example = _example()
    orders = orderings_text(math.log10(example.orderings), example.orderings)
    finding(worked_finding(example, orders))
    mean = f"mean of {orders} orders" if example.orderings > 1 else "the only order"
    cards(
        Card("circle", "MTRR", f"{example.expected:.4f}", mean, "blue"),
        Card("arrow_downward", "Worst order", f"{example.worst:.4f}", "relevant documents last"),
        Card("arrow_upward", "Best order", f"{example.best:.4f}", "relevant documents first"),
        Card("target", f"TMHits@{example.k}", f"{example.hits:.4f}", f"a hit in the top {example.k}", "blue"),
    )
    _drawn(example)
    _filled(example)


def _example() -> WorkedExample:
    grid = st.grid(4, min_column_width=150)
    tied = _count(grid.cell(), "Documents in the tie", "tied", 5, (1, MOST_TIED))
    relevant = _count(grid.cell(), "Of them relevant", "relevant", 1, (1, tied))
    above = _count(grid.cell(), "Documents above the tie", "above", 0, (0, MOST_ABOVE))
    k = _count(grid.cell(), "Cut-off k", "cutoff", 3, (1, MOST_TIED + MOST_ABOVE))
    return worked_example(tied, relevant, above, k)


def _count(place: DeltaGenerator, label: str, key: str, usual: int, ends: tuple[int, int]) -> int:
    """A whole number bound to the link; one out of bounds falls back to the usual one.

    Asked for as a float, because as an integer Streamlit 1.67 fails on `inf` in a link.
    """
    low, high = map(float, ends)
    value = place.number_input(
        label, low, high, float(usual), 1.0, "%.0f", key=key, bind="query-params", persist_state="session"
    )
    return math.floor(value + 0.5)


def _drawn(example: WorkedExample) -> None:
    colours = session.theme()
    left, right = st.columns(2, gap="large")
    with left:
        heading("The list", "One box, one document; the bracket, one score; filled: relevant.")
        chart(tie_ladder(example.documents, colours, example.k), "guide-ladder", "The list of the example.")
    with right:
        heading("Its first relevant document", "Exact chance of each rank over all orders.")
        bars = first_hit_bars(example.chances, colours, None)
        chart(bars, "guide-first-hit", "Chance of each rank of the first relevant document.")


def _filled(example: WorkedExample) -> None:
    heading(
        "The formulas, filled in", "n documents tie, r of them are relevant, b stand above, m fit within k."
    )
    grid = st.grid(2, min_column_width=300)
    for one in filled(example):
        with grid.container(border=True, height="stretch"):
            st.markdown(f"**{one.name}**  \n:gray[{escape_markdown(one.meaning)}]")
            st.latex(one.latex)


def words() -> None:
    """Verdicts of the leaderboard, what words mean, and what counts."""
    heading("Verdicts", "What the Leaderboard says of a reranker's mean over its lists.")
    grid = st.grid(2, min_column_width=300)
    for name, meaning in VERDICTS.items():
        with grid.container(border=True, height="stretch", gap="xxsmall"):
            st.badge(name, color=_VERDICTS[name])
            st.markdown(escape_markdown(meaning))
    heading("Words", "As the pages use them.")
    _table(
        ((f"**{word}**", escape_markdown(meaning)) for word, meaning in guide.WORDS.items()), "Word", "Meaning"
    )
    heading("What counts", "Nothing is left out without a finding that says how many and why.")
    _table(
        ((f"**{case}**", escape_markdown(rule)) for case, rule in guide.COUNTED.items()), "Case", "What is done"
    )


def formulas() -> None:
    """One formula a family."""
    heading(
        "Formulas", "The exact mean over every order of one list; on ties of one it is the traditional value."
    )
    _symbols(guide.SYMBOLS)
    for one in guide.FORMULAS:
        with st.container(border=True):
            names = ", ".join(_code(measure.name) for measure in one.measures)
            st.markdown(f"**{one.title}** &nbsp; {names}  \n{one.idea}")
            if one.latex:
                st.latex(one.latex)
            _symbols(one.symbols)
            grid = st.grid(2, min_column_width=280)
            for name, own in one.each.items():
                grid.markdown(f"{_code(name)} &nbsp; {own}")
            source = [one.source] if one.source else [f"{m.name}: {m.source}" for m in one.measures]
            st.caption(f"Source: {escape_markdown('; '.join(source))}.")


def _symbols(symbols: Mapping[str, str]) -> None:
    grid = st.grid(2, min_column_width=280, gap=("xxsmall", "small"))
    for symbol, meaning in symbols.items():
        grid.markdown(f"${symbol}$ &nbsp; :gray[{meaning}]")


def measures() -> None:
    """Which measure when, and all there are."""
    heading("Which measure when", "Start from how the ranking is used.")
    _table(
        (
            (escape_markdown(one.purpose), ", ".join(map(_code, one.measures)), escape_markdown(one.why))
            for one in guide.ADVICE
        ),
        "When",
        "Look at",
        "Why",
    )
    heading(
        "Every measure",
        "Beside it, what its mean is called: :orange[traditional], :blue[tied]; below, its range and source.",
    )
    grid = st.grid(3, min_column_width=280)
    for one in guide.measure_table().itertuples():
        named = f":orange[{escape_markdown(one.traditional)}] &nbsp; :blue[{escape_markdown(one.tied)}]"
        grid.container(border=True, height="stretch").markdown(
            f"{_code(one.measure)} &nbsp; {named if one.tied else 'own rule for ties'}  \n"
            f"{escape_markdown(one.summary)}  \n:small[:gray[{one.range} · {escape_markdown(one.source)}]]"
        )


def tools() -> None:
    """What other software does with ties."""
    heading(
        "What tools do",
        "Every tool sorts by score and must then order what ties, each in its own way: one file, many values. "
        "The tied value takes no order; it is the mean over all of them.",
    )
    grid = st.grid(2, min_column_width=300)
    rows = guide.tool_table()
    for (name, version, summary), rules in rows.groupby(["tool", "version", "summary"], sort=False):
        with grid.container(border=True, height="stretch"):
            st.markdown(
                f"**{escape_markdown(name)}** &nbsp; :small[:gray[{escape_markdown(version)}]]  \n"
                f"{escape_markdown(summary)}"
            )
            for rule in rules.itertuples():
                st.markdown(
                    f"{_code(rule.treatment)} &nbsp; {escape_markdown(rule.measures)}  \n"
                    f":gray[{escape_markdown(rule.why)}]"
                )
    heading("Treatments", "What can be done about ties before a measure is taken.")
    _table(
        (
            (_code(one.treatment), escape_markdown(one.summary), escape_markdown(one.used_by))
            for one in guide.treatment_table().itertuples()
        ),
        "Treatment",
        "Order inside a tie",
        "Used by",
    )


def findings() -> None:
    """Every kind of finding."""
    heading("Findings", "What the Runs page may say of your files; in grey, what to do about it.")
    for severity, (icon, colour, meaning) in _SEVERITIES.items():
        with st.container(border=True):
            with st.container(horizontal=True, vertical_alignment="center"):
                st.badge(severity, icon=f":material/{icon}:", color=colour)
                st.caption(meaning)
            grid = st.grid(2, min_column_width=280)
            for one in (kind for kind in KINDS if kind.severity == severity):
                grid.markdown(
                    f"{_code(one.code)}  \n{escape_markdown(one.summary)}  \n:gray[{escape_markdown(one.hint)}]"
                )


def files() -> None:
    """Every format, the columns and the limits."""
    heading("Files", "A format is recognised from its content, never from the name; plain, .gz or .zst.")
    grid = st.grid(2, min_column_width=300)
    for one in sorted(FORMATS, key=lambda one: list(guide.EXAMPLES).index(one.name)):
        with grid.container(border=True, height="stretch"):
            st.markdown(f"{_code(one.name)}  \n{escape_markdown(one.summary)}")
            st.code(guide.EXAMPLES[one.name], language=None, wrap_lines=True)
    heading("Columns", "Ours, and what others call them; case, spaces and marks do not matter.")
    _table(
        (
            (_code(one.name), escape_markdown(one.summary), escape_markdown(", ".join(one.synonyms)))
            for one in COLUMNS
        ),
        "Column",
        "What it holds",
        "Also read",
    )
    heading("Limits", "What is larger is refused by name; nothing is cut.")
    browser = {
        "A file given in the browser": f"{st.get_option('server.maxUploadSize')} MB",
        "Files given at once": str(MOST_FILES),
    }
    _table(
        ((what, escape_markdown(limit)) for what, limit in (browser | guide.limits()).items()),
        "What",
        "At most",
    )


def deciding() -> None:
    """What decides whether one reranker is better than another."""
    from dashboard.views.guide.decisions import decisions  # noqa: PLC0415 statistics take half a second to import

    decisions()


def _code(text: str) -> str:
    return f"`{text}`"


def _table(rows: Iterable[tuple[str, ...]], *labels: str) -> None:
    st.table(pd.DataFrame(rows, columns=list(labels)), hide_index=True, border="horizontal")


SECTIONS: dict[str, Callable[[], None]] = {
    "One minute": one_minute,
    "Words": words,
    "Formulas": formulas,
    "Measures": measures,
    "Deciding": deciding,
    "Tools": tools,
    "Findings": findings,
    "Files": files,
    "Library": library,
    "Large results": large,
    "Notebook": notebook,
}
"""Section → what draws it."""
