"""Data → Library → Over time: scores of kept versions, and running means over lists."""

from collections import Counter
from collections.abc import Sequence
from hashlib import sha256
from typing import NamedTuple

import pandas as pd
import pyarrow as pa
import streamlit as st

from dashboard import boards, cache, choices
from dashboard.cache import ShownBoard
from dashboard.charts.data import VersionAxis, running_means_chart, version_history
from dashboard.choices import View
from dashboard.controls import number_input, segmented, select_name, toggle
from dashboard.escaping import error_markdown, escape_markdown
from dashboard.library.boards import Board, Entry
from dashboard.library.command_line import watch_command
from dashboard.library.records import Upload
from dashboard.server.board_results import cached_by_key
from dashboard.views.data.library import uploads_on
from dashboard.visitor import visitor_zone
from dashboard.widgets.components import chart, heading, section, section_finding, table
from metrics import Runs, parse
from metrics.errors import LibraryError, ReadError, TieScopeError, UsageError
from metrics.evaluation import ScoringOptions
from metrics.report import ReportOptions
from metrics.runs import File, Repeated
from metrics.studies import history as version_study
from metrics.support.wording import count_of, first_names, part_of


class VersionScoring(NamedTuple):
    """The settings that score kept runs, with hashes of judgments and queries (empty for all)."""

    judged: str
    scoring: ScoringOptions
    traditional: str
    measures: tuple[str, ...]
    repeated: Repeated
    segments: str = ""


def judgments_key(board: Board) -> str:
    """Return a key of the judgments of a board."""
    if board.runs.qrels is None:
        return board.key
    pairs = zip(board.spec.entries, board.sources, strict=True)
    digests = sorted(entry.key for entry, source in pairs if source.kind == "qrels")
    return sha256("\n".join([*digests, board.spec.repeated]).encode()).hexdigest()


@st.cache_resource(show_spinner=False, max_entries=4)
def judged(key: str, _board: Board) -> pa.Table:
    """Return the judgments of a board."""
    return version_study.pooled_judgments(_board.runs)


@st.cache_resource(show_spinner=False, max_entries=2_000)
def means(
    key: str, scoring: VersionScoring, _entry: Entry, _judged: pa.Table, _queries: set[str] | None
) -> pd.DataFrame | TieScopeError:
    """Return the means of the rerankers in a kept file, or the error it raises."""
    try:
        runs = Runs.from_sources([_entry.read()], scoring.repeated, judged=False)
        return version_study.version_means(
            runs, _judged, scoring.measures, scoring.traditional, _queries, scoring.scoring
        )
    except (ReadError, UsageError) as error:
        return error


def _means(
    scoring: VersionScoring, entry: Entry, against: pa.Table, queries: set[str] | None
) -> pd.DataFrame | TieScopeError:
    try:
        return means(entry.key, scoring, entry, against, queries)
    except LibraryError as error:  # not cached: the next try may find the upload mended
        return error


MAX_RUNS = 60
"""Runs scored at most."""
_FEW, _UNASKED = 12, 300_000
"""Runs and rows scored without asking, in about a third of a second."""
_LINES = 8
"""Rerankers drawn at most."""
_AXES: dict[str, VersionAxis] = {"Version": "version", "Date added": "added"}
_WIDE = 800
"""Pixels of the measures, so that the next control moves below them on a phone."""
_NONE = (
    "To see a chart here, upload a second version of a run with these queries, such as `bge-v2.trec` after "
    "`bge.trec`. Or upload a run with a numeric column `time` or `timestamp` to see its lists over time."
)


def over_time(view: View, uploads: Sequence[Upload]) -> str:
    """Draw the scores of every version of a reranker, and return the measure chosen, if any."""
    heading(
        "Over time",
        "Kept runs that cover at least half of this board's judged queries, scored with its judgments. "
        "Versions are grouped by the suffix of their names: -v2, a date, .3 or (1).",
    )
    fewest = version_study.LEAST_SHARED * view.board.n_queries
    runs = [upload for upload in uploads if upload.kind == "run" and upload.profile.queries >= fewest]
    if not _may_have_versions(runs):
        _say_none(view, uploads)
        return ""
    if len(runs) > MAX_RUNS:
        st.caption(f"The {MAX_RUNS} newest of {len(runs)} runs are scored.")
        runs = runs[:MAX_RUNS]
    rows = sum(upload.rows for upload in runs)
    question = f"Score {count_of(len(runs), 'kept run')}, {count_of(rows, 'row')}"
    if (len(runs) > _FEW or rows > _UNASKED) and not toggle(question, "history"):
        return ""
    row = st.container(horizontal=True, vertical_alignment="top", gap="medium")
    with row, st.container(width=_WIDE):
        measure = choices.measure()
    try:
        scores, wrong = _score(view, runs, measure)
    except TieScopeError as error:
        st.error(error_markdown(error), icon=":material/error:")
        return measure
    if wrong:
        st.caption(f"Not scored: {part_of(len(wrong), len(runs), 'run')}. {escape_markdown(str(wrong[0]))}")
    lines = version_study.history(scores[scores["measure"] == measure])
    if not len(lines):
        _say_none(view, uploads)
        return measure
    utc = pd.to_datetime(lines["added"]).dt.tz_localize("UTC")
    lines["added"] = utc.dt.tz_convert(visitor_zone()).dt.tz_localize(None)
    with row:
        axis = _AXES[segmented("Across", list(_AXES), "across")]
    _draw(view, lines, measure, axis)
    return measure


def _say_none(view: View, uploads: Sequence[Upload]) -> None:
    is_part = bool(uploads) and len(uploads_on(view, uploads)) == len(uploads)
    st.markdown(f"{_NONE} Choose **All** above to search beyond this board's uploads." if is_part else _NONE)


def _may_have_versions(runs: Sequence[Upload]) -> bool:
    """Return whether two runs may be versions of one reranker."""
    if any("reranker" in upload.reading.mapping for upload in runs):
        return True
    names = Counter(version_study.version_of(File(upload.name, b"").stem)[0] for upload in runs)
    return max(names.values(), default=0) > 1


def _score(view: View, runs: Sequence[Upload], measure: str) -> tuple[pd.DataFrame, list[TieScopeError]]:
    """Return scores by reranker, run and measure, and the errors of runs that cannot be scored."""
    board, queries = view.board, view.queries
    scoring = VersionScoring(
        judgments_key(board),
        view.scoring,
        view.traditional,
        tuple(dict.fromkeys((*cache.MEASURES, measure))),  # so that another is there when it is asked for
        board.spec.repeated,
        sha256("\n".join(sorted(queries)).encode()).hexdigest() if queries is not None else "",
    )
    entries = cache.open_library().spec_of([upload.sha256 for upload in runs], boards.owner()).entries
    with st.spinner(f"Scoring {count_of(len(entries), 'kept run')} …"):
        against = judged(scoring.judged, board)
        results = [_means(scoring, entry, against, queries) for entry in entries]
    parts = [
        part.assign(
            added=upload.added, hash=upload.sha256, boards=first_names([name for _, name in upload.boards])
        )
        for upload, part in zip(runs, results, strict=True)
        if isinstance(part, pd.DataFrame) and len(part)
    ]
    wrong = [error for error in results if isinstance(error, TieScopeError)]
    nothing = pd.DataFrame(columns=["reranker", "measure", "tied", "added"])
    scores = pd.concat(parts, ignore_index=True) if parts else nothing
    return scores.rename(columns={"reranker": "name"}), wrong


def _draw(view: View, rows: pd.DataFrame, measure: str, axis: VersionAxis) -> None:
    section_finding(version_study.history_finding(rows, parse(measure).traditional), rows["reranker"].unique())
    rerankers = rows["reranker"].value_counts(sort=True).index[:_LINES]
    drawn_rows = rows[rows["reranker"].isin(rerankers)]
    if len(rerankers) < rows["reranker"].nunique():
        st.caption(f"The chart shows the {_LINES} rerankers with the most versions; the table has all.")
    figure = version_history(
        drawn_rows, view.palette, parse(measure).traditional, _colours(view, list(rerankers)), axis
    )
    subject = count_of(len(rerankers), "reranker")
    alt = f"{measure} of each version of {subject}, tied, traditional, worst and best."
    chart(figure, "history", alt, wide=620)
    name = parse(measure)
    values = {"tied": name.tied, "worst": "Worst", "best": "Best", "traditional": name.traditional}
    table(
        rows,
        "Versions",
        "history",
        {
            "reranker": st.column_config.TextColumn("Reranker"),
            "version": st.column_config.NumberColumn("#", format="%d", help="Oldest first."),
            "name": st.column_config.TextColumn("Name"),
            "added": st.column_config.DatetimeColumn("Added", format="D MMM YYYY, HH:mm"),
            **{name: st.column_config.NumberColumn(label, format="%.3f") for name, label in values.items()},
            "boards": st.column_config.TextColumn("Used on", help="Boards that use the file."),
            "n_shared": st.column_config.NumberColumn(
                "Queries", format="%d", help=f"Of {rows['n_judged'].iloc[0]} judged."
            ),
        },
    )


def _colours(view: View, names: Sequence[str]) -> dict[str, str]:
    shown_now = choices.offered_rerankers(view.board)
    colours = {version_study.version_of(name)[0]: view.colour(name) for name in reversed(shown_now)}
    colours |= {name: view.colour(name) for name in shown_now}
    free_numbers = iter(range(len(shown_now), len(shown_now) + len(names)))
    return {name: colours.get(name) or view.palette.reranker(next(free_numbers)) for name in names}


_LATEST, _SHARE = 50, 5
"""Lists in the running mean at first, and one over their largest share of all lists."""
_FEWEST = 4
"""Lists drawn at least."""


@section("List by list")
def list_by_list(view: View, measure: str) -> None:
    """Draw running means over lists that have an order, by `measure` or, if empty, by one chosen here."""
    versions = version_study.arriving(view.board.runs, view.rerankers)
    if not versions:
        return
    heading(
        "List by list",
        "Lists of this board in order of a numeric column time or timestamp. Without such a column, lists are "
        "ordered by version, then by file order. Judged queries without rows are left out.",
    )
    with st.container(horizontal=True, vertical_alignment="top", gap="medium"):
        if not measure:
            with st.container(width=_WIDE):
                measure = choices.measure()
        name = select_name("Lists of", list(versions), "arriving", width=280)
        lists = _arrivals(view, name, measure, view.traditional)
        if len(lists) < _FEWEST:
            st.caption(f"The chart needs at least {_FEWEST} scored lists.")
            return
        usual_window = max(2, min(_LATEST, len(lists) // _SHARE))
        window = number_input("Latest lists", 2, len(lists) // 2, usual_window, "latest", width=140)
    change = version_study.change_of(lists, measure)
    section_finding(version_study.arrivals_finding(name, lists, change, parse(measure).traditional), [name])
    order = "in order of time" if lists["time"].notna().all() else "version by version"
    figure = running_means_chart(
        version_study.running_means(lists, window),
        view.palette,
        parse(measure).traditional,
        window,
        change.n_before if change else None,
        order,
    )
    alt = f"Tied and traditional mean {measure}, over the last {window:,} lists and over all lists so far."
    chart(figure, "arrivals", alt, wide=620)
    options = ReportOptions(measures=(measure,), traditional=view.traditional, scoring=view.scoring)
    st.caption(f"Running means on the command line: `{watch_command(options, window)}`")


@cached_by_key(show_spinner=False, max_entries=24)
def _arrivals(view: ShownBoard, name: str, measure: str, traditional: str) -> pd.DataFrame:
    names = version_study.arriving(view.board.runs, view.rerankers)[name]
    return version_study.arrivals(view.evaluation, view.board.runs, names, measure, traditional)
