"""Over time: the versions of a reranker that are kept, scored as the board shown is."""

from collections import Counter
from collections.abc import Sequence
from hashlib import sha256

import pandas as pd
import streamlit as st

from dashboard import cache, session
from dashboard.charts.version_history import VersionAxis, version_history
from dashboard.escaping import error_markdown, escape_markdown
from dashboard.library.storage.records import Upload
from dashboard.session import View
from dashboard.session.controls import toggle
from dashboard.session.visitor import visitor_zone
from dashboard.views.data.library.uploads_table import uploads_on
from dashboard.views.data.library.versions import VersionScoring, judgments_key, score_versions
from dashboard.widgets.components import chart, heading, section_finding, table
from metrics import parse
from metrics.errors import TieScopeError
from metrics.runs import File
from metrics.studies.leaderboard.history import LEAST_SHARED, history, history_finding, version_of
from metrics.support.wording import count_of, first_names, part_of

MAX_RUNS = 60
"""Runs scored at most."""
_FEW, _UNASKED = 12, 300_000
"""Runs, and rows of them, that are scored without being asked to: about a third of a second."""
_LINES = 8
"""Rerankers drawn at most."""
_AXES: dict[str, VersionAxis] = {"Version": "version", "Date added": "added"}
_WIDE = 800
"""Pixels the measures take, so that on a phone what is beside them goes below."""
_CLOSE = 0.01
"""Share of the whole time below which two versions are drawn on each other."""
_NONE = (
    "A second version of a run with these queries, such as `bge-v2.trec` beside `bge.trec`, starts a line "
    "here. So does a column `time` or `timestamp` of numbers, list by list."
)


def over_time(view: View, uploads: Sequence[Upload]) -> str:
    """Show the scores of every version of a reranker, where the library has several with the queries shown.

    Returns the measure that was chosen, empty where none was offered.
    """
    heading(
        "Over time",
        "Kept runs with at least half of the judged queries of this board, scored by its judgments. Versions "
        "of a reranker are told by what ends their names: -v2, a date, .3 or (1).",
    )
    runs = _candidates(view, uploads)
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
    controls = st.container(horizontal=True, vertical_alignment="top", gap="medium")
    with controls, st.container(width=_WIDE):
        measure = session.measure()
    try:
        scores, wrong = _score(view, runs, measure)
    except TieScopeError as error:
        st.error(error_markdown(error), icon=":material/error:")
        return measure
    if wrong:
        st.caption(f"Not scored: {part_of(len(wrong), len(runs), 'run')}. {escape_markdown(str(wrong[0]))}")
    lines = history(scores[scores["measure"] == measure])
    if not len(lines):
        _say_none(view, uploads)
        return measure
    utc = pd.to_datetime(lines["added"]).dt.tz_localize("UTC")
    lines["added"] = utc.dt.tz_convert(visitor_zone()).dt.tz_localize(None)
    with controls:
        axis = _AXES[session.segmented("Across", list(_AXES), "across", _default_axis(lines))]
    _draw(view, lines, measure, axis)
    return measure


def _say_none(view: View, uploads: Sequence[Upload]) -> None:
    """Say what would start a line, and where else there may be one."""
    is_part = bool(uploads) and len(uploads_on(view, uploads)) == len(uploads)
    st.markdown(f"{_NONE} Only uploads of this board are looked at: see **All** above." if is_part else _NONE)


def _candidates(view: View, uploads: Sequence[Upload]) -> list[Upload]:
    """Return runs that may have enough of the queries, the newest first."""
    fewest = LEAST_SHARED * view.board.n_queries
    return [upload for upload in uploads if upload.kind == "run" and upload.profile.queries >= fewest]


def _may_have_versions(runs: Sequence[Upload]) -> bool:
    """Return whether there may be two versions of something; only a table of several is read for it."""
    if any("reranker" in upload.reading.mapping for upload in runs):
        return True
    names = Counter(version_of(File(upload.name, b"").stem)[0] for upload in runs)
    return max(names.values(), default=0) > 1


def _score(view: View, runs: Sequence[Upload], measure: str) -> tuple[pd.DataFrame, list[TieScopeError]]:
    """Return a row a reranker of each run and measure, as `history` takes it; and what cannot be scored."""
    board, queries = view.board, None
    if view.segments:
        queries = set(view.evaluation.scores.index.get_level_values("query_id"))
    scoring = VersionScoring(
        judgments_key(board),
        view.scoring,
        view.traditional,
        tuple(dict.fromkeys((*cache.MEASURES, measure))),  # so that another is there when it is asked for
        board.spec.repeated,
        sha256("\n".join(sorted(queries)).encode()).hexdigest() if queries is not None else "",
    )
    entries = cache.open_library().spec_of([upload.sha256 for upload in runs], session.owner()).entries
    results = score_versions(scoring, entries, board, queries)
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
    section_finding(history_finding(rows, parse(measure).traditional), rows["reranker"].unique())
    rerankers = rows["reranker"].value_counts(sort=True).index[:_LINES]
    drawn_rows = rows[rows["reranker"].isin(rerankers)]
    if len(rerankers) < rows["reranker"].nunique():
        st.caption(f"The {_LINES} rerankers with most versions are drawn; the table has all.")
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
            **{name: st.column_config.NumberColumn(label, format="%.4f") for name, label in values.items()},
            "boards": st.column_config.TextColumn("Used on", help="Boards that show it."),
            "n_shared": st.column_config.NumberColumn(
                "Queries", format="%d", help=f"Of {rows['n_judged'].iloc[0]} judged."
            ),
        },
    )


def _default_axis(rows: pd.DataFrame) -> str:
    """Return versions side by side where their dates lie on each other."""
    steps = rows.groupby("reranker")["added"].diff().abs().dropna()
    period = rows["added"].max() - rows["added"].min()
    return "Version" if (steps <= _CLOSE * period).any() else "Date added"


def _colours(view: View, names: Sequence[str]) -> dict[str, str]:
    """Colour of each reranker: that of the one shown whose version it is, else the next."""
    shown_now = session.offered_rerankers(view.board)
    colours = {version_of(name)[0]: view.colour(name) for name in reversed(shown_now)}
    colours |= {name: view.colour(name) for name in shown_now}
    free_numbers = iter(range(len(shown_now), len(shown_now) + len(names)))
    return {name: colours.get(name) or view.palette.reranker(next(free_numbers)) for name in names}
