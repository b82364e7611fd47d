"""Leaderboard: the leader, and whether the lead holds when ties are averaged."""

from dataclasses import replace
from datetime import UTC
from functools import partial
from hashlib import sha256
from typing import Any

import pandas as pd
import streamlit as st

from dashboard import boards, cache, choices, controls, pages, visitor
from dashboard.charts.labels import clipped, sentence_names, short_names
from dashboard.charts.leaderboard import tool_strip
from dashboard.choices import Selection, View, choose_relevant_from
from dashboard.escaping import escape_markdown
from dashboard.widgets import components as ui
from dashboard.widgets.columns import Columns, badge_column
from dashboard.widgets.first_rows import find_reranker, search_rows, shown_rows
from dashboard.widgets.leaderboard_parts import (
    TABLE,
    charted_rerankers,
    leaderboard_charts,
    leaderboard_table,
    measures_html,
    shared_text,
    swapped_orders,
    verdict_prose,
)
from dashboard.widgets.one_list import orderings_text
from metrics import parse
from metrics.evaluation import AS_READ, EQUAL
from metrics.measures import MeasureAt
from metrics.runs.findings import group_findings
from metrics.studies import swapped_orders as study
from metrics.studies import unjudged as unjudged_study
from metrics.studies.emulation import by_reranker, question_text, reported_values, tool_finding, tool_values
from metrics.studies.leaderboard import leaderboard, mean_intervals, mean_std
from metrics.studies.measure_table import LETTERED, as_latex, as_markdown, caption, cells, measure_column
from metrics.studies.one_list import first_moved_list
from metrics.studies.pairs import rank_intervals, with_rank_intervals
from metrics.studies.prose import signed
from metrics.support.shown_columns import shown_columns
from metrics.support.wording import OUTCOMES, count_of, describe_part, first_names, query_before

SCORES, MEASURES, PAIRS = "Scores", "All measures", "Pairs that swap"
TOOLS, UNJUDGED = "Other tools", "Unjudged documents"
_FINDABLE = 12  # rerankers from which on one is looked for by name
_FILE_COLUMNS = 60  # columns of the name of a file
_PAIR = 2  # files that are all named; of more only the first, so that the line has room for the buttons
_SAMPLES = {
    cache.SAMPLE_LABEL: "one model stored in six number formats; a stable sort leaves ties in BM25's order",
    cache.SIMULATED_LABEL: "four simulated rerankers with increasingly many ties",
    cache.PROMPTS_LABEL: "one model with five prompts; the score depends on the prompt, not on the tie order",
}


def show(selection: Selection) -> None:
    """Draw the page."""
    above = st.container()
    verdict_place = st.container(gap="small")
    with choices.settings_row():
        measure = choices.measure()
        choose_relevant_from(selection.board)
        part = find_reranker() if len(selection.rerankers) >= _FINDABLE else ""
    view = selection.score(measure)
    unjudged = unjudged_counts(view, measure)
    sections = [SCORES, MEASURES, PAIRS, TOOLS] + [UNJUDGED] * (unjudged is not None)
    section = controls.choose_section(sections)
    name, rows = parse(measure), view.study(leaderboard, measure, view.traditional)
    with verdict_place:
        verdict(view, measure)
    if section == MEASURES:
        measures_section(view, measure, rows, part)
    elif section == PAIRS:
        swaps_section(view, measure)
    elif section == TOOLS:
        drawable = charted_rerankers(rows)
        places = shown_rows(len(drawable), "places")
        tools_section(view, drawable, measure, places.of(drawable).index)
        places.buttons()
    elif section == UNJUDGED and unjudged is not None:
        unjudged_section(view, name, unjudged)
    else:
        scores_section(view, name, unjudged, part)
    with above:
        data_line(selection)


@ui.section("Summary of the data")
def data_line(view: Selection) -> None:
    """Draw what was read of the data shown, and buttons to check it and to upload data."""
    board = view.board
    sample, n_runs = _SAMPLES.get(board.label), count_of(len(board.runs.rerankers), "run")
    names = [clipped(file.name, _FILE_COLUMNS) for file in board.files]
    files = first_names(names, 1 if len(names) > _PAIR else _PAIR)
    if sample:
        text = f"Sample data: {sample}."
    elif view.record is not None:
        owner = "Your data" if view.record.owner == boards.owner() else "Shared with you"
        added = view.record.created.replace(tzinfo=UTC).astimezone(visitor.visitor_zone())
        text = f"{owner}: {n_runs}, added on {added.day} {added:%B %Y} from {files}."
    else:
        is_home = board.label == boards.home_board().label
        text = f"{'Opened with the app' if is_home else 'In memory only'}: {n_runs} from {files}."
    with st.container(key="data-line", horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(f":material/{'info' if sample else 'history'}: {escape_markdown(text)}", width="content")
        findings = None if sample else cache.findings(board, view.scoring.relevant_from)
        if findings is not None:
            n_grave = int(findings["severity"].isin(["error", "warning"]).sum())
            label = f"Check {count_of(n_grave, 'finding')}" if n_grave else "Check the files"
            if st.button(label, icon=":material/fact_check:", key="check-data"):
                st.switch_page(pages.DATA.file)
        if st.button("Drop your own" if sample else "Add more", icon=":material/upload:", key="drop-data"):
            controls.remember("add", value=not sample)
            st.switch_page(pages.DATA.file)
    if findings is not None:
        errors = findings[findings["severity"] == "error"]
        for group in group_findings(errors, board.runs.rerankers):
            st.error(ui.group_text(group), icon=":material/error:")
        ui.columns_line(findings)


_MANY_EMPTY = 0.2
"""Share of queries without relevant documents from which the page offers to leave them out."""


@ui.section("The verdict")
def verdict(view: View, measure: str) -> None:
    """Draw the verdict, and how queries without relevant documents count if they are many."""
    prose = verdict_prose(view, measure, view.traditional)
    ui.finding(prose, view.rerankers, [view.conditions(measure)])
    n_empty, n_queries = view.evaluation.policies[["n_empty", "n_queries"]].max()
    if n_empty > _MANY_EMPTY * n_queries:
        is_left_out = view.scoring.empty == "skip"
        offer, choice = ("Count them as 0", "zero") if is_left_out else ("Leave them out", "skip")
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            text = describe_part(n_empty, n_queries, "query", "have no relevant document")
            st.markdown(f":material/info: {text}, {OUTCOMES[view.scoring.empty]}.", width="content")
            st.button(offer, on_click=controls.set_values, args=({"empty": choice},), key="skip-empty")


@cache.cached(max_entries=24)
def with_intervals(view: cache.ShownBoard, measure: str, traditional: str) -> pd.DataFrame:
    """Return the leaderboard with the intervals of ranks and means."""
    rows = view.study(leaderboard, measure, traditional)
    if len(rows) > 1:
        pairs = cache.pair_verdicts(view, measure, traditional).tied
        rows = with_rank_intervals(rows, rank_intervals(view.evaluation, measure, pairs=pairs))
    return rows.join(mean_intervals(view.evaluation, measure))


@ui.section("The scores")
def scores_section(view: View, name: MeasureAt, unjudged: pd.DataFrame | None, part: str) -> None:
    """Draw ranks, scores with their bounds, and the ranked table."""
    rows = with_intervals(view, str(name), view.traditional)
    drawable = charted_rerankers(rows)
    matches = search_rows(drawable, part)
    places = shown_rows(len(matches), "places")
    drawn_rows = places.of(matches).index
    if not name.measure.answers:
        leaderboard_charts(drawable, view.palette, name, drawn_rows)
    with st.container(horizontal=True, vertical_alignment="center"):
        link_to_list(view, name)
        places.buttons()
    if unjudged is not None:
        with st.container(horizontal=True, vertical_alignment="center", gap="small", key="to-judge"):
            share = unjudged_study.share_finding(unjudged, unjudged_study.depth_of(name))
            ui.section_finding(share, view.rerankers, ":material/info: ")
            open_section = partial(controls.set_values, {controls.SECTION: UNJUDGED})
            st.button(UNJUDGED, icon=":material/edit_document:", on_click=open_section, key="open-unjudged")
    missing = rows.index.difference(drawable.index, sort=False)
    table_rows = drawn_rows.append(missing)

    def download() -> pd.DataFrame:
        if name.measure.answers:
            return rows.reset_index()
        std = mean_std(view.score(str(name), "std"), str(name))
        return rows.assign(std=std.reindex(rows.index)).reset_index()

    leaderboard_table(rows, name, view.treatment, "leaderboard", drawn_rerankers=table_rows, download=download)


def link_to_list(view: View, name: MeasureAt) -> None:
    """Draw a link to a list of the reranker whose mean the tie order moves most, if it moves any."""
    row = view.study(first_moved_list, str(name), view.traditional)
    if row is None:
        return
    reranker, query = str(row["reranker"]), str(row["query_id"])
    orders = orderings_text(row["log10_orderings"])
    place = f"{query_before(query)}{query} of {short_names(view.rerankers)[reranker]}"
    st.page_link(
        pages.QUERIES.file,
        label=escape_markdown(f"Why: {place}, gap {signed(row['gap'])}, {orders} orders"),
        icon=":material/arrow_forward:",
        query_params=controls.link_parameters(
            {"reranker": reranker, "query": query, controls.SECTION: "Permutations"}
        ),
    )


@cache.cached(max_entries=24)
def measure_columns(
    view: cache.ShownBoard, measures: tuple[str, ...], traditional: str
) -> dict[str, pd.DataFrame]:
    """Return the column of each measure in the table of all measures."""
    return {
        name: measure_column(view.evaluation, name, cache.pair_verdicts(view, name, traditional).tied)
        for name in measures
    }


@ui.section(MEASURES)
def measures_section(view: View, measure: str, rows: pd.DataFrame, part: str) -> None:
    """Draw the means of all measures with letters of significance, and the table for papers."""
    names, labels = tuple(dict.fromkeys([*cache.OFFERED, measure])), short_names(map(str, rows.index))
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        other_names = [name for name in cache.MEASURES if name not in names]
        names += tuple(_choose_some("Add measures", "added", other_names))
        columns = measure_columns(view, names, view.traditional)
        keys = {parse(name).tied: columns[name]["tied"] for name in names}
        keys |= {"tie ratio": rows["tie_ratio"], "gap": rows["gap"].abs()}
        key = controls.select_after(
            "Sort by", dict(zip(keys, keys, strict=True)), "sorted_by", parse(measure).tied, width=185
        )
        pinned = _choose_some("Pin rows", "pinned", list(labels), format_func=labels.__getitem__)
        downloads = st.container(horizontal=True, width="content")
    ordered = rows.loc[keys[key].sort_values(ascending=False, kind="stable").index]
    matches = search_rows(ordered.drop(pinned), part)
    places = shown_rows(len(matches), "measure_rows", first=LETTERED)
    table_rows = pd.concat([ordered.loc[pinned], places.of(matches)])
    texts = cells(columns, table_rows, labels, measure)
    st.html(measures_html(*texts, list(table_rows.index), len(pinned), view.palette))
    places.buttons()
    note = caption(len(rows), cache.pair_verdicts(view, measure, view.traditional).method)
    st.caption(" ".join(filter(None, (escape_markdown(note), shared_text(rows)))))
    with downloads:
        with st.popover("Copy table", icon=":material/content_copy:", type="tertiary"):
            whole_cells = cells(columns, table_rows, {name: name for name in labels}, measure)
            for language, write in (("Markdown", as_markdown), ("LaTeX", as_latex)):
                st.caption(language)
                st.code(write(*whole_cells, note), language=None, height=160)
        parts = [column.add_prefix(f"{name}_") for name, column in columns.items()]
        export = pd.concat([*parts, rows[["tie_ratio", "gap"]]], axis=1).loc[ordered.index]
        ui.download_csv(export.reset_index(), "measures")


def _choose_some(label: str, key: str, names: list[str], **options: Any) -> list[str]:
    """Draw a choice of any number of names, none at first, and return the chosen ones."""
    options |= {"placeholder": label, "label_visibility": "collapsed", "width": 210}
    return controls.choose_in_order(label, names, key, **options)


_WIDEST = 5
"""Swaps shown at first."""
_VERDICTS = {
    "swaps, significant": "Tie order puts A first. With ties averaged, B is significantly ahead.",
    "swaps": "Tie order puts A first. With ties averaged, B is ahead, but not significantly.",
}


@cache.cached(show_spinner="Breaking ties at random …", max_entries=24)
def swap_chances(view: cache.ShownBoard, measure: str, traditional: str, n_rows: int) -> pd.DataFrame:
    """Return the first pairs that swap, with the chance of each order under random tie-breaking."""
    rows = swapped_orders(view, measure, traditional).head(n_rows)
    with cache.board_turn(view.board):
        return study.order_chances(rows, view.board.runs, measure, view.scoring, view.queries)


@ui.section("Pairs that swap")
def swaps_section(view: View, measure: str) -> None:
    """Draw the pairs that swap; nothing for a measure with its own rule for ties."""
    name, n_rerankers = parse(measure), len(view.rerankers)
    if name.measure.answers:
        return
    swaps = swapped_orders(view, measure, view.traditional)
    prose = study.swaps_finding(swaps, n_rerankers, name.traditional)
    if not len(swaps):
        ui.heading(PAIRS, ui.prose_markdown(prose))
        return
    place = st.container(gap="xsmall")
    row_range = shown_rows(len(swaps), "swaps", _WIDEST, len(swaps))
    row_range.buttons()
    rows = swap_chances(view, measure, view.traditional, row_range.n_shown)
    sentence, whole_names = ui.elide_prose(prose, sentence_names(view.rerankers))
    extract = f" The {len(rows)} widest of {len(swaps):,}." if len(rows) < len(swaps) else ""
    order = view.treatment.order
    columns = {
        **shown_columns(("a", "first_by_sort"), ("b", "first_when_tied"), order=order),
        "verdict": badge_column("Verdict", _VERDICTS, ("orange", "gray")),
        **shown_columns(
            *(("p_adjusted", "pair_p"), ("tied_difference", "tied_pair_difference")),
            *(("difference", "pair_difference"), "above"),
            order=order,
        ),
    }
    names = short_names(view.rerankers)
    cells = {column: rows[column].map(names) for column in ("a", "b")}
    with place:
        ui.table_head(PAIRS, "swaps", lambda: swap_chances(view, measure, view.traditional, len(swaps)))
        st.caption(f"{ui.prose_markdown(sentence)}{extract}", help=whole_names or None)
        ui.table_rows(rows.assign(**cells, verdict=rows["verdict"].map(lambda name: [name])), "swaps", columns)
        st.caption(f"p: {cache.pair_verdicts(view, measure, view.traditional).method}.")


_HEAD_COLUMNS = 32
"""Characters of a tool's name in a column header."""


@cache.cached(show_spinner="Computing the values of other tools …", max_entries=16)
def tool_table(view: cache.ShownBoard, measure: str, rerankers: tuple[str, ...]) -> pd.DataFrame:
    """Return the value that each tool reports for a measure."""
    owners = cache.segments(view.board)
    queries = set(owners.index[owners.isin(view.segments)]) if view.segments else None
    with cache.board_turn(view.board):
        return tool_values(view.board.runs, measure, rerankers, view.scoring, queries)


@ui.section(TOOLS)
def tools_section(view: View, leaderboard: pd.DataFrame, measure: str, drawn_rerankers: pd.Index) -> None:
    """Draw the value of every tool between the worst and best case, and as a table."""
    names = tuple(map(str, drawn_rerankers))
    if not names:
        return
    values = tool_table(view, measure, names)
    if not len(values):
        st.caption(f"None of the tools that TieScope reproduces computes {escape_markdown(measure)}.")
        return
    ui.section_finding(tool_finding(values, measure), view.rerankers)
    reported = reported_values(values, measure)
    reported = reported[reported["reranker"].isin(drawn_rerankers)]
    if len(reported):
        title, rows = parse(measure).traditional, leaderboard.loc[drawn_rerankers]
        alt = f"{title} of each reranker by tool, drawn on the reranker's range from worst to best case."
        ui.chart(cache.drawn(tool_strip, rows, reported, view.palette, title), "tools", alt)
        if note := question_text(reported):
            st.caption(escape_markdown(note))
    st.caption(
        "The same files, scored with each tool's tie order, number format and rule for missing queries. "
        f"Relevant from grade {view.scoring.relevant_from:g}."
    )
    if len(names) < len(view.rerankers):
        st.caption("The finding above covers only the rerankers shown. The CSV has all rerankers.")

    def download() -> pd.DataFrame:
        return _value_columns(tool_table(view, measure, tuple(view.rerankers)))[0].reset_index()

    rows, columns = _value_columns(values)
    ui.table(
        rows.loc[drawn_rerankers.intersection(rows.index, sort=False)].rename_axis("reranker").reset_index(),
        "Reranker by reranker",
        "tools-by-reranker",
        {**shown_columns("reranker"), **columns},
        download,
        "Tools that agree on every reranker share a column. Hover over a column header to see the names of its "
        "tools. A dash means that a tool gives no certain number.",
        TABLE,
    )


def _value_columns(values: pd.DataFrame) -> tuple[pd.DataFrame, Columns]:
    """Return one row per reranker and one column per set of tools that agree, with the column settings."""
    rows = by_reranker(values)
    columns = {
        ", ".join(tools): st.column_config.NumberColumn(
            clipped(tools[0].partition(" · ")[0], _HEAD_COLUMNS) + f" +{len(tools) - 1}" * (len(tools) > 1),
            format="%.4f",
            help="  \n".join(tools),
        )
        for tools in rows.columns
    }
    return rows.set_axis(list(columns), axis=1), columns


_FIRST_DOCUMENTS, _MOST_DOCUMENTS = 50, 10_000
"""Unjudged documents shown: at first, and at most."""
_BRING_BACK = (
    "Give every line a grade, 0 for not relevant. To extend the judgments, turn on “Add to this board” on Data "
    "and drop the file there."
)


@cache.cached(max_entries=24)
def unjudged_counts(view: cache.ShownBoard, measure: str) -> pd.DataFrame | None:
    """Return the documents in the top k of each reranker and the unjudged ones; None without unjudged ones."""
    if view.board.runs.qrels is None:
        return None
    k = unjudged_study.depth_of(parse(measure))
    scoring = replace(view.scoring, unjudged=AS_READ.unjudged)
    counts = unjudged_study.unjudged_counts(replace(view, scoring=scoring).score(f"Judged@{k}", "expected"), k)
    return counts if counts["unjudged"].sum() > EQUAL else None


@cache.cached(show_spinner="Scoring three scenarios …", max_entries=24)
def scenarios(view: cache.ShownBoard, measure: str) -> pd.DataFrame:
    """Return the tied means of the shown rerankers in three scenarios of their unjudged documents."""
    with cache.board_turn(view.board):
        return unjudged_study.scenarios(view.runs, measure, view.scoring, view.queries)


@cache.cached(show_spinner="Collecting unjudged documents …", max_entries=8)
def unjudged_documents(view: cache.ShownBoard, k: int) -> pd.DataFrame:
    """Return the unjudged documents in the top k of the shown rerankers."""
    with cache.board_turn(view.board):
        return unjudged_study.unjudged_documents(view.runs, view.scoring, k, view.queries)


@ui.section(UNJUDGED)
def unjudged_section(view: View, name: MeasureAt, counts: pd.DataFrame) -> None:
    """Draw the scores under three scenarios, and the unjudged documents with a qrels file to fill in."""
    k, table = unjudged_study.depth_of(name), scenarios(view, str(name))
    share = unjudged_study.share_finding(counts, k)
    ui.section_finding((*unjudged_study.scenario_finding(table, name), " ", *share), view.rerankers)
    ui.table(
        table.reset_index(),
        f"Three scenarios of {name.tied}",
        "scenarios",
        shown_columns("reranker", "judged", *unjudged_study.SCENARIOS, k=k),
        explanation="Unjudged documents are not relevant, are left out of the lists, or all have the highest "
        "grade. Scenarios are not bounds.",
    )
    documents = unjudged_documents(view, k)
    ui.table_head(f"Unjudged documents in the top {k:,}", "unjudged-documents", documents)
    st.caption(
        f"Documents that most rerankers rank in the top {k:,} come first, then those with the best rank."
    )
    n_most = min(len(documents), _MOST_DOCUMENTS)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        label = f"Documents to judge, of {len(documents):,}"
        n = controls.number_input(label, 1, n_most, min(_FIRST_DOCUMENTS, n_most), "n_judge", width=220)
        _form_button(documents.head(n))
    st.caption(_BRING_BACK)
    columns = shown_columns("query_id", "doc_id", "rerankers", "best_rank", "best_reranker", k=k)
    ui.table_rows(documents.head(n), "unjudged-documents", columns)


def _form_button(documents: pd.DataFrame) -> None:
    """Draw the download of the qrels to fill in; each choice of documents has its own file name."""
    form, ending = unjudged_study.qrels_form(documents)
    data = form.encode()
    digest = sha256(data).hexdigest()[:6]
    file = f"tiescope-unjudged-{len(documents)}-{digest}.{ending}"
    mime, text = "text/csv" if ending == "csv" else "text/plain", "One line per document, with an empty grade."
    look = {"icon": ":material/edit_document:", "help": text}
    ui.download("Download qrels to fill in", lambda: data, file, mime, "download-qrels-form", **look)
