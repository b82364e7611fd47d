"""Share: a report to download, slides, and the command that makes the same report."""

import shlex
from collections.abc import Callable
from datetime import UTC, date, datetime
from functools import partial
from operator import attrgetter

import streamlit as st

from dashboard import choices, controls, pages, visitor
from dashboard.cache import board_turn, cached
from dashboard.charts.labels import CARD_COLUMNS, short_names
from dashboard.charts.report import draw_charts
from dashboard.charts.targets import MAX_COLUMNS, matrix_width, target_bullets, target_matrix
from dashboard.choices import Selection, View
from dashboard.escaping import escape_markdown
from dashboard.library.boards import Board
from dashboard.library.uploads import DROP_SELF, MISSING_SCORE
from dashboard.widgets import components as ui
from dashboard.widgets.audited_table import report_choices
from dashboard.widgets.columns import badge_column
from dashboard.widgets.leaderboard_parts import verdict_prose
from metrics.errors import UsageError
from metrics.report import MEASURES, PRESETS, SECTIONS, Report, ReportOptions, ReportStudies, report
from metrics.studies.leaderboard import leaderboard
from metrics.studies.targets import PRESETS as READY_TARGETS
from metrics.studies.targets import VERDICTS, Target, target_finding, target_summary, usual_baseline
from metrics.support.shown_columns import shown_columns


def show(selection: Selection) -> None:
    """Draw the page."""
    verdict = st.container()
    with choices.settings_row():
        measure = choices.measure()
        choices.choose_relevant_from(selection.board)
        view = selection.score(measure)
        options = choose_options(view, measure)
        st.page_link(
            pages.PRESENT.file, label=pages.PRESENT.title, icon=":material/slideshow:", width="content"
        )
    with verdict:
        prose = verdict_prose(view, measure, view.traditional)
        ui.finding(prose, view.rerankers, [view.conditions(measure)])
    preview_and_export(view, options)
    if options.targets:
        target_sections(view, board_report(view.board, repr(options), options).studies)


_PRESET_HELP = (
    "**Short**: a two-screen summary. **Full**: the summary and an appendix with every table. **Paper**: "
    "one LaTeX table of traditional and tied scores with bounds and stars."
)
_SECTION_LABELS = {"tradeoffs": "Trade-offs"}
"""Labels of sections other than their capitalised names."""


def section_label(name: str) -> str:
    """Return the label of a section of the report."""
    return _SECTION_LABELS.get(name, name.capitalize())


def choose_options(view: View, measure: str) -> ReportOptions:
    """Draw the controls and return the options of the report."""
    leader = str(leaderboard(view.evaluation, measure, view.traditional).index[0])
    with st.popover("Contents", icon=":material/tune:"):
        preset = controls.segmented(
            "What for", tuple(PRESETS), "preset", "short", format_func=str.capitalize, help=_PRESET_HELP
        )
        audited = report_choices(view.board)
        names = [name for name in SECTIONS if name != "paper" and (name != "audit" or audited)]
        sections = controls.pills("Sections", names, "sections", section_label) if preset == "full" else names
        title = controls.text_input("Title", "title", placeholder="Effect of ties", max_chars=200)
        reranker = leader
        if targets := _choose_targets():
            reranker = controls.select_name("Targets for", view.rerankers, "targets_for", leader)
    is_every_reranker = view.rerankers == view.board.runs.rerankers
    return ReportOptions(
        measures=(measure, *MEASURES),
        traditional=view.traditional,
        baseline="" if view.baseline == usual_baseline(view.rerankers) else view.baseline,
        targets_for="" if reranker == leader else reranker,
        targets=targets,
        title=title,
        rerankers=() if is_every_reranker else tuple(view.rerankers),
        segments=view.segments,
        preset=preset,
        sections=() if len(sections) == len(names) else tuple(sections),
        scoring=view.scoring,
        **{"files": tuple((file.name, file.sha256) for file in view.board.files)} | audited,
    )


def _choose_targets() -> tuple[str, ...]:
    """Draw the field for targets and return them."""
    text = controls.text_input(
        "Targets",
        "targets",
        placeholder=f"MTRR>=0.8, R@5>0.7, or {', '.join(READY_TARGETS)}",
        max_chars=500,
        help="Optional. Ready-made targets: "
        + "; ".join(f"{name}: {', '.join(targets)}" for name, targets in READY_TARGETS.items())
        + ".",
    )
    texts = [target.strip() for target in text.replace(";", ",").split(",") if target.strip()]
    try:
        return tuple(
            target if target in READY_TARGETS else str(Target.of(target)).replace(" ", "") for target in texts
        )
    except UsageError as error:
        st.error(escape_markdown(str(error)), icon=":material/error:")
        return ()


@cached(show_spinner="Writing the report …", max_entries=8)
def board_report(board: Board, options_key: str, _options: ReportOptions) -> Report:
    """Return the report of a board."""
    with board_turn(board):
        return report(board.runs, **vars(_options))


@cached(show_spinner="Drawing the report …", max_entries=4)
def html_file(board: Board, options_key: str, day: date, _options: ReportOptions) -> str:
    """Return the report of a day as an HTML file."""
    finished_report = board_report(board, options_key, _options)
    return finished_report.html(day, draw_charts(finished_report))


@ui.section("Preview and export")
def preview_and_export(view: View, options: ReportOptions) -> None:
    """Draw the downloads, the command, and the preview on request; the report is made when asked for."""
    today, key = datetime.now(UTC).date(), repr(options)
    html = partial(html_file, view.board, key, today, options)
    _export_buttons(partial(board_report, view.board, key, options), html, today)
    with st.expander("Command line"):
        st.code(command(view.board, options), language=None, wrap_lines=True)
        if view.board.spec.names is not None:
            st.caption("Rerankers were renamed or reordered here. The command uses the names of their files.")
    if controls.toggle("Preview", "preview"):
        with st.container(border=True):
            st.iframe(html(), height=760, alt="Preview of the report")


def _export_buttons(make_report: Callable[[], Report], html: Callable[[], str], today: date) -> None:
    def written(ending: str) -> bytes:
        return make_report().file(f".{ending}", today)

    files = (
        ("HTML", "html", "text/html", "One file that opens offline"),
        ("Markdown", "md", "text/markdown", "For a pull request"),
        ("Text", "txt", "text/plain", "Plain text, reranker by reranker"),
        ("LaTeX", "tex", "text/x-tex", "A document that compiles"),
        ("CSV", "csv", "text/csv", "All scores of every list"),
        ("Parquet", "parquet", "application/vnd.apache.parquet", "As CSV, typed"),
    )
    with st.container(horizontal=True, gap="small"):
        for name, ending, mime, use in files:
            write, kind = (html, "primary") if ending == "html" else (partial(written, ending), "secondary")
            file, key = f"tiescope-report.{ending}", f"report-{ending}"
            ui.download(name, write, file, mime, key, help=use, type=kind)
    with st.container(horizontal=True, vertical_alignment="center"):
        visitor.offer_link("share-link")


@ui.section("Targets")
def target_sections(view: View, studies: ReportStudies) -> None:
    """Draw the targets that one reranker meets, those of all, and the table of targets."""
    targets, reranker = studies.targets, studies.targets_for
    own_targets = targets[targets["reranker"] == reranker].reset_index(drop=True)
    ui.heading("Targets", "A reranker meets a target if its tied score satisfies the condition.")
    ui.section_finding(target_finding(own_targets, reranker), view.rerankers)
    summary, of_all = target_summary(own_targets), f" of {len(own_targets)}"
    card_name = short_names(view.rerankers, CARD_COLUMNS)[reranker]
    by_order, number = ", ".join(summary.by_sort[:4]) or "none", str(len(summary.by_sort))
    ui.cards(
        ui.Card("adjust", "Targets met, tied", f"{summary.tied}{of_all}", card_name, "blue"),
        ui.Card(
            "adjust", "Targets met, traditional", f"{summary.traditional}{of_all}", "same targets", "orange"
        ),
        ui.Card("verified", "Met in every order", str(summary.always), "even in the worst case"),
        ui.Card(
            "casino",
            "Met by tie order only",
            number,
            by_order,
            "orange" if summary.by_sort else "gray",
        ),
    )
    wide, narrow = st.columns([5, 3], gap="large")
    with wide:
        name = escape_markdown(short_names(view.rerankers)[reranker])
        ui.heading("Target by target", f"{name}. Vertical line: target; bar: worst to best order.")
        alt = f"Each target with the tied and the traditional value of {reranker}."
        ui.chart(target_bullets(own_targets, view.palette), "targets", alt)
    with narrow:
        has_all = len(view.rerankers) <= MAX_COLUMNS
        title = "All rerankers" if has_all else f"The best {MAX_COLUMNS} rerankers"
        ui.heading(title, "Verdict on each target, for each reranker.")
        figure, width = target_matrix(targets, view.palette, reranker), matrix_width(len(view.rerankers))
        ui.chart(figure, "passes", "Verdict on each target of each reranker.", wide=width)
    ui.table(
        targets.assign(
            passes=targets["passed"].map({True: "pass", False: "fail"}),
            verdict=[[verdict] for verdict in targets["verdict"]],
        ),
        "Targets in numbers",
        "targets",
        {
            **shown_columns("reranker", "target"),
            "verdict": badge_column("Verdict", VERDICTS, ("blue", "blue", "orange", "gray", "gray")),
            **shown_columns("tied", "missed_by"),
            **shown_columns("traditional", "worst", "best", "passes"),
        },
        download=targets,
    )


_DEFAULTS = ReportOptions()
_LINE = 60
"""Maximum letters of a command on one line."""
_OPTIONS = {
    "-m": "measures",
    "--traditional": "traditional",
    "--baseline": "baseline",
    "-r": "targets",
    "--targets-for": "targets_for",
    "--title": "title",
    "--reranker": "rerankers",
    "--segment": "segments",
    "--preset": "preset",
    "--section": "sections",
    "--precision": "scoring.precision",
    "--missing": "scoring.missing",
    "--empty": "scoring.empty",
    "--relevant-from": "scoring.relevant_from",
    "--tiebreak-by": "scoring.tiebreak_by",
    "--unjudged": "scoring.unjudged",
    "--criterion": "scoring.criteria",
}
"""Command-line option → field of `ReportOptions`."""


def _changed_options(options: ReportOptions) -> list[list[str]]:
    """Return the options that differ from their defaults, with values."""
    words = []
    for option, field in _OPTIONS.items():
        value = attrgetter(field)(options)
        if value != attrgetter(field)(_DEFAULTS):
            values = value if isinstance(value, tuple) else (value,)
            words += [[option, f"{item:g}" if isinstance(item, float) else str(item)] for item in values]
    return words


def command(board: Board, options: ReportOptions) -> str:
    """Return the command line that writes the report of a board."""
    files = list(zip(board.files, board.sources, strict=True))
    words = [["tiescope", "report", *(file.name for file, source in files if source.kind == "run")]]
    words += [["--qrels", file.name] for file, source in files if source.kind != "run"]
    words += _changed_options(options)
    if options.published is not None:
        words += [["--published", str(name)] for name in dict.fromkeys(options.published.figures["file"])]
        words += [["--names", f"{name}={ours}"] for name, ours in options.published_names]
    for name, choice in dict.fromkeys(pair for entry in board.spec.entries for pair in entry.columns):
        rules = {MISSING_SCORE: ["--missing-score", choice], DROP_SELF: ["--drop-self"]}
        words.append(rules.get(name, ["--column", f"{name}={choice}"]))
    if board.spec.repeated != "error":
        words.append(["--repeated", board.spec.repeated])
    words.append(["-o", "report.html"])
    lines = [shlex.join(part) for part in words]
    line = " ".join(lines)
    return line if len(line) <= _LINE else " \\\n  ".join(lines)
