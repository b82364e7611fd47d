"""Audit: compare published results with the runs behind them."""

from collections.abc import Sequence
from functools import partial

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard import cache, choices, controls
from dashboard.charts.audit import convention_bars, matrix_width, reproduction_matrix
from dashboard.charts.labels import CARD_COLUMNS, clipped, short_names
from dashboard.choices import UNJUDGED, Selection, View
from dashboard.escaping import error_markdown, escape_markdown
from dashboard.library.boards import Board
from dashboard.library.loaded import table_label
from dashboard.long_work import is_cancelled, long_work
from dashboard.widgets import audited_table
from dashboard.widgets import components as ui
from dashboard.widgets.columns import MOST_WRITTEN, badge_column
from dashboard.widgets.first_rows import shown_rows
from dashboard.widgets.leaderboard_parts import leaderboard_charts
from metrics import MEASURES, parse
from metrics.errors import TieScopeError
from metrics.runs import File
from metrics.studies.audit import audited_order
from metrics.studies.audit.audit import Audit, convention_finding
from metrics.studies.audit.conventions import Convention
from metrics.studies.audit.names import NameMatches
from metrics.studies.audit.published_table import PublishedTable
from metrics.studies.pair_findings import method_texts
from metrics.studies.rank_similarity import agreement_sentence
from metrics.support.shown_columns import shown_columns
from metrics.support.wording import count_of, first_names

ORDERS, FIGURES, NAMES = "Orders", "Figures", "Names"
_ROUNDED = 5e-5
"""Differences below this come from the rounding of published numbers."""


def board_settings(convention: Convention) -> dict[str, str | float]:
    """Return the settings that score a board by a convention: key of a control → value.

    A board has one tie order, so a convention that averages ties leaves it unchanged.
    """
    settings: dict[str, str | float] = {
        "precision": convention.precision,
        "relevant_from": max(1.0, float(convention.relevant_from)),
        "missing": convention.missing,
        "empty": convention.empty,
        UNJUDGED: convention.unjudged,
    }
    return settings | ({"order": convention.treatment} if convention.treatment in cache.TRADITIONAL else {})


def rule_button(view: View, convention: Convention) -> None:
    """Draw the button that scores the board by a convention, disabled if it already does."""
    is_used = view.scoring == convention.options and convention.treatment in ("expected", view.traditional)
    st.button(
        "The board uses the table's rule" if is_used else "Use the table's rule on the board",
        icon=f":material/{'check' if is_used else 'tune'}:",
        key="use-rule",
        disabled=is_used,
        help=f"Sets tie order, rounding and the smallest relevant grade on every page: {convention.label}.",
        on_click=controls.set_values,
        args=(board_settings(convention),),
    )


def show_audit(view: View, name: str, published: PublishedTable, settings: DeltaGenerator) -> None:
    """Draw the audit of a published table, and show its progress."""
    key = audited_table.audit_key(view.board, name, published)
    names = audited_table.matches(key, view.board, published)
    if line := matching_line(names, published):
        st.caption(line)
    if not audited_table.has_matches(names):
        kind = "measure" if names.rerankers["matched"].ne("").any() else "reranker"
        st.warning(
            f"No {kind} of the table matches this board. Match the names below, or open the board that the "
            "table was made from.",
            icon=":material/link_off:",
        )
        name_controls(view.board, names)
        return
    work = f"audit-{name}"
    if is_cancelled(work, "The table was not audited."):
        return
    with long_work(work):
        audit = audited_table.board_audit(key, view.board, published)
    measures = audit.measures or [name for name in audit.published.measures if audit.names.measure(name)]
    labels = short_names(measures, CARD_COLUMNS)
    with settings:
        measure = controls.select_after("Order by", labels, "by", audit.first_measure, width=190)
        rule_button(view, audit.reproduction.best)
    order_work = f"{work}-{measure}"
    if is_cancelled(order_work, "The order was not audited."):
        return
    with long_work(order_work):
        order = audited_table.board_order(key, measure, view.board, audit)
    ui.finding(audited_order.audit_finding(audit, order), view.board.runs.rerankers)
    published_level, board_level = audit.reproduction.best.relevant_from, view.scoring.relevant_from
    if max(1.0, published_level) != board_level:
        st.caption(
            f"Documents are relevant from grade {published_level:g} in the table, but from "
            f"{board_level:g} on this board. Other pages may therefore show a different leader."
        )
    if view.segments or len(view.rerankers) < len(view.board.runs.rerankers):
        st.caption("The sidebar's filter does not apply: the audit covers every reranker and query.")
    section = controls.choose_section([ORDERS, FIGURES, NAMES])
    if section == ORDERS:
        orders_section(view, audit, order, audited_table.board_orders(key, view.board, audit))
    elif section == FIGURES:
        figures_section(view, key, audit)
    else:
        name_controls(view.board, names)


def show(selection: Selection) -> None:
    """Draw the page."""
    settings = choices.settings_row()
    with settings:
        opened_table = open_table(selection)
    results = st.empty()  # clears another table's results while this one is audited
    if opened_table:
        with results.container():
            show_audit(selection.score(), *opened_table, settings)


_FORMS = (
    "CSV, Markdown, LaTeX, BEIR or MTEB JSON, or trec_eval output, one file per run (.eval). The table is kept "
    "with the board, so a link shows the same audit."
)
_PASTE = "reranker,MRR,nDCG@10\nBM25,0.7270,0.6315"


def open_table(view: Selection) -> tuple[str, PublishedTable] | None:
    """Draw the upload field and return the table to audit with its name in the link, None without one.

    A file that cannot be read leaves the table before in place.
    """
    has_sample = view.board.label == cache.SAMPLE_LABEL
    table = audited_table.choose_table(
        view.board, audited_table.SAMPLE_TABLE if has_sample else audited_table.NO_TABLE, has_sample=has_sample
    )
    if table == audited_table.NO_TABLE:
        _offer_field(view.board)
        lost = audited_table.missing_table()
        begin = (
            f"This link audits {escape_markdown(lost)}, which this board does not have. Drop the file here "
            "again"
            if lost
            else "Drop a file of published results for these runs here: a table or trec_eval output"
        )
        st.info(f"{begin}. Or audit an example table with mistakes.", icon=":material/fact_check:")
        st.button(
            "Audit an example table with mistakes",
            icon=":material/table_view:",
            type="primary",
            key="example-table",
            on_click=partial(audited_table.take_table, audited_table.FILE_ORDER),
        )
        return None
    files = audited_table.published_files(view.board, table)
    published = audited_table.read_table(audited_table.AuditKey(view.board.key, table), files)
    if isinstance(published, TieScopeError):
        _offer_field(view.board)
        st.error(escape_markdown(str(published)), icon=":material/error:")
        return None
    _table_card(view.board, table, files, published)
    return table, published


def _table_card(board: Board, table: str, files: Sequence[File], published: PublishedTable) -> None:
    names = {audited_table.SAMPLE_TABLE: files[0].name, audited_table.FILE_ORDER: "Example with mistakes"}
    and_more = f" and {len(files) - 1} more" if len(files) > 1 else ""
    name = names.get(table) or clipped(files[0].name, CARD_COLUMNS) + and_more
    with st.container(border=True, horizontal=True, vertical_alignment="center", width=400):
        size = f"{count_of(len(published.rerankers), 'row')}, {count_of(len(published.measures), 'measure')}"
        st.markdown(f":material/table_view: **{escape_markdown(name)}**  \n:small[{size}]", width="content")
        st.space("stretch")
        with st.popover("Replace", icon=":material/upload:", type="tertiary"):
            _offer_field(board)
            if table != audited_table.FILE_ORDER:
                st.button(
                    "Example table with mistakes",
                    icon=":material/table_view:",
                    key="example-table",
                    help="This board's table with ties in file order and four decimals.",
                    on_click=partial(audited_table.take_table, audited_table.FILE_ORDER),
                )
            if table != audited_table.SAMPLE_TABLE and board.label == cache.SAMPLE_LABEL:
                st.button(
                    "The sample's table",
                    key="sample",
                    on_click=partial(audited_table.take_table, audited_table.SAMPLE_TABLE),
                )


def _offer_field(board: Board) -> None:
    """Draw the upload field, and audit a table that can be read."""
    uploaded = st.file_uploader(
        "Published table", accept_multiple_files=True, key="published", help=_FORMS, max_upload_size=20
    )
    text = st.text_area("Or paste it", key="published-text", height=100, placeholder=_PASTE)
    files = [File(file.name, file.getvalue()) for file in uploaded]
    if text.strip() and not files:
        files = [File("pasted.txt", text.encode("utf-8", "replace"))]
    if not audited_table.is_new(files):
        return
    label = table_label(files)
    published = audited_table.read_table(audited_table.AuditKey(board.key, label), tuple(files))
    if isinstance(published, TieScopeError):
        st.error(escape_markdown(str(published)), icon=":material/error:")
        st.caption("Nothing was replaced.")
        return
    try:
        audited_table.take_files(board, files)
    except TieScopeError as error:
        st.error(error_markdown(error), icon=":material/error:")
    else:
        st.rerun()


_COLOURS = ("orange", "yellow", "gray", "blue")
"""Colours of the verdicts, in their order."""
_FIRST_PAIRS = 10
"""Pairs shown at first."""
_EXPLANATION = (
    "Every pair of rerankers in the published order: first the pairs that swap, then the closest pairs. Within "
    "luck: ties cannot reverse the order, but another sample of queries could. Stands: ties cannot reverse the "
    "order, and the difference is significant. p of the tied scores: {}."
)


@ui.section("The published orders")
def orders_section(
    view: View, audit: Audit, order: audited_order.AuditedOrder, by_measure: pd.DataFrame
) -> None:
    """Draw the verdicts on the published orders: by rank and pair for one measure, then by measure."""
    _places(view, audit, order)
    _pairs(view, order.pairs, method_texts(len(order.places))[0])
    if len(by_measure):
        ui.table(
            by_measure.reset_index(),
            "Published pairwise orders by measure",
            "audit-measures",
            shown_columns(("measure", "published_measure"), "n_orders", "hold", "can_swap", "swap"),
        )


def _places(view: View, audit: Audit, order: audited_order.AuditedOrder) -> None:
    places = order.places
    if not len(places):
        return
    row_range = shown_rows(len(places), "places")
    name = parse(audit.measure(order.measure))
    shown = places.assign(gap=places["gap"].where(places["gap"].abs() > _ROUNDED, 0))
    leaderboard_charts(shown, view.palette, name, row_range.of(places).index, order="published")
    row_range.buttons()
    if words := agreement_sentence(places["tied"], places["traditional"]):
        st.caption(words)


def _pairs(view: View, pairs: pd.DataFrame, method: str) -> None:
    if not len(pairs):
        return
    counts, names = pairs["verdict"].value_counts(), list(audited_order.VERDICTS)
    head = st.container()
    verdicts = controls.pills("Verdicts", names, "verdicts", lambda name: f"{name} · {counts.get(name, 0):,}")
    rows = audited_order.widest_first(pairs[pairs["verdict"].isin(verdicts)])
    row_range = shown_rows(len(rows), "pairs", _FIRST_PAIRS, limit=MOST_WRITTEN)
    labels = short_names(view.board.runs.rerankers)
    page_rows = row_range.of(rows)
    cells = page_rows.assign(
        a=page_rows["a"].map(labels),
        b=page_rows["b"].map(labels),
        p_above=audited_order.written_chances(page_rows),
        verdict=[[verdict] for verdict in page_rows["verdict"]],
    )
    columns = {
        **shown_columns(("a", "published_above"), ("b", "published_below")),
        "verdict": badge_column("Verdict", audited_order.VERDICTS, _COLOURS),
        **shown_columns(("tied_difference", "tied_pair_difference"), ("p_adjusted", "pair_p"), "p_above"),
    }
    with head:
        ui.table_head("Pair by pair", "audit-pairs", rows)
        st.caption(_EXPLANATION.format(method))
    ui.table_rows(cells, "audit-pairs", columns)
    row_range.buttons()


_RULE = "rule"
FIRST_RULES = 8
"""Rules drawn at first."""
_MOST_BESIDE = 7
"""Measures of a matrix that leaves room for the chart of rules."""
_EVERY_RULE = (
    "Rules are tried until one reproduces all figures, the usual ones first. This option tries all rules and "
    "lists the choices that the figures leave open."
)
MOST_RULES = 40
"""Rules drawn at most; the list has all."""


@ui.section("The figures of the table")
def figures_section(view: View, key: audited_table.AuditKey, audit: Audit) -> None:
    """Draw the figures that one rule reproduces, and how many figures each rule reproduces."""
    charts = st.container()
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        choice = st.container(width="content")
        every_rule = controls.toggle("Every rule", "every-rule", help=_EVERY_RULE)
    if every_rule:
        if is_cancelled(f"every-rule-{key.table}", "Not every rule was tried."):
            return
        with long_work(f"every-rule-{key.table}"):
            audit = audited_table.board_audit(key, view.board, audit.published, every_rule=True)
        with charts:
            ui.section_finding(convention_finding(audit.reproduction), view.board.runs.rerankers)
    rules, n_figures = _tried_rules(audit), audit.reproduction.n_figures
    with choice:
        labels = rules["label"].tolist()
        row = labels.index(controls.select("Compare with the rule", labels, _RULE, width=400))
    figures = audited_table.rule_figures(key, rules["convention"].iloc[row], view.board, audit)
    rule, is_best = rules.iloc[row], row == 0
    rerankers = list(dict.fromkeys(figures["reranker"]))
    n_measures = figures["measure"].nunique()
    is_wide = n_measures > _MOST_BESIDE
    with charts:
        left, right = (st.container(), st.container()) if is_wide else ui.side_by_side(3, 2, "audit")
    with left:
        beside = "" if is_best else " Orange: computed minus published."
        n_alike = int(rule["n_alike"])
        alike = f", or {count_of(n_alike, 'other')} with the same figures" if n_alike else ""
        ui.heading("Figures that are reproduced")
        row_range = shown_rows(len(rerankers), "figures")
        figure = cache.drawn(
            reproduction_matrix,
            figures,
            view.palette,
            rerankers[: row_range.n_shown],
            has_differences=not is_best or bool(rule["does_not_come_out"]),
        )
        alt = "Each published figure by measure: reproduced to the digit, by rounding, or not reproduced."
        ui.chart(figure, "figures", alt, wide=matrix_width(n_measures, has_differences=not is_best))
        st.caption(f"Rule: {escape_markdown(rule['label'])}{alike}. Rows in published order.{beside}")
        row_range.buttons()
    with right:
        ui.heading("Rules tried")
        bars = shown_rows(len(rules), "rules", FIRST_RULES, MOST_RULES)
        bar_rows = rules.head(max(bars.n_shown, row + 1)).drop(columns="convention")
        figure = cache.drawn(convention_bars, bar_rows, view.palette, row)
        ui.chart(
            figure,
            "audit-rules",
            "Number of figures that each rule reproduces.",
            on_click=lambda point: controls.set_values({_RULE: labels[int(point["customdata"][0])]}),
        )
        st.caption(f"Reproduced figures by rule, of {n_figures:,}. Click a bar to see its figures.")
        bars.buttons()


def _tried_rules(audit: Audit) -> pd.DataFrame:
    """Return one rule for each set of figures, the best of every treatment first."""
    conventions = audit.reproduction.conventions
    n_alike = conventions["group"].map(conventions["group"].value_counts()) - 1
    rules = conventions.assign(n_alike=n_alike).drop_duplicates("group")
    is_repeated = rules["convention"].map(lambda convention: convention.treatment).duplicated()
    is_first = rules.index.isin(is_repeated.sort_values(kind="stable").index[:FIRST_RULES])
    return pd.concat([rules[is_first], rules[~is_first]])


_MOST_SELECTS = 20
"""Names that can be matched by hand at once."""
_NONE = "none of these"


def name_controls(board: Board, names: NameMatches) -> None:
    """Draw a control for each published name that differs from the board's."""
    matched = names.measures.loc[names.measures["matched"].ne(""), "matched"]
    without_cutoff = [measure.name for measure in MEASURES if measure.cutoff != "required"]
    options = {
        "rerankers": list(board.runs.rerankers),
        "measures": list(dict.fromkeys([*cache.MEASURES, *matched, *without_cutoff])),
    }
    for kind, matches in (("rerankers", names.rerankers), ("measures", names.measures)):
        other = matches[matches["how"] != "same"]
        if not len(other):
            st.caption(f"All {kind} have the same names in the table and on this board.")
            continue
        st.markdown(f"**{kind.capitalize()}**")
        _selects(kind, other.head(_MOST_SELECTS), options[kind])
        if len(other) > _MOST_SELECTS:
            st.caption(
                f"{len(other):,} {kind} have another name on this board. The first {_MOST_SELECTS} are shown."
            )


def _selects(kind: str, rows: pd.DataFrame, options: list[str]) -> None:
    grid = st.grid(3, min_column_width=250)
    labels = short_names(rows["published"].astype(str))
    ours = short_names(options) | {"": _NONE}
    for row in rows.itertuples():
        key = f"match-{kind}-{row.published}-{row.matched}"  # a new key shows the new match
        choices = ["", *options, *([row.matched] if row.matched not in ("", *options) else [])]
        grid.cell().selectbox(
            escape_markdown(labels[str(row.published)]),
            choices,
            choices.index(row.matched),
            key=key,
            format_func=lambda name: ours.get(name, name),
            on_change=partial(audited_table.match_by_hand, str(row.published), key),
        )


def matching_line(names: NameMatches, published: PublishedTable) -> str:
    """Return Markdown on names that differ, names left out, and the notes of the table."""
    rerankers, parts = names.rerankers, []
    theirs = short_names(rerankers["published"].astype(str), CARD_COLUMNS)
    ours = short_names(rerankers["matched"].astype(str), CARD_COLUMNS)
    for how, words in (("alike", "Matched by similar names"), ("by hand", "Matched by hand")):
        pairs = [
            f"**{escape_markdown(theirs[row.published])}** is {escape_markdown(ours[row.matched])}"
            for row in rerankers[rerankers["how"].eq(how) & rerankers["matched"].ne("")].itertuples()
            if not row.published.casefold().startswith(f"{row.matched}.".casefold())  # the name of its file
        ]
        if pairs:
            parts.append(f"{words}: {first_names(pairs)}.")
    for noun, matches in (("reranker", rerankers), ("measure", names.measures)):
        unmatched = matches.loc[matches["matched"].eq(""), "published"].astype(str)
        if len(unmatched):
            few = escape_markdown(first_names([clipped(name, CARD_COLUMNS) for name in unmatched]))
            parts.append(f"Not matched and left out: {count_of(len(unmatched), noun)} ({few}).")
    if names.unpublished:
        parts.append(f"Not in the table: {count_of(len(names.unpublished), 'reranker')} of the board.")
    return " ".join([*parts, *map(escape_markdown, published.notes)])
