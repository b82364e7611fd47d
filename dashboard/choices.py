"""What the visitor chose beside the page, and what a page is handed: one view of a board."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard import cache, controls
from dashboard.boards import DATA, choose_board, notify, owner
from dashboard.cache import grade_counts
from dashboard.charts.palette import Palette
from dashboard.controls import SECTION, get_value, prepare, record, segmented, select, set_value
from dashboard.escaping import escape_markdown
from dashboard.library.boards import Board, queries_text
from dashboard.library.records import Record
from dashboard.visitor import theme
from metrics import MEASURES, Evaluation, Runs, parse
from metrics.errors import UsageError
from metrics.evaluation import AS_READ, Policy, ScoringOptions
from metrics.measures import Measure, side_by_side
from metrics.studies.targets import usual_baseline
from metrics.support.wording import compared_as, count_of, part_of
from metrics.ties import Treatment, treatment
from metrics.ties.fronts import criteria_words, criterion, criterion_choices, criterion_text, criterion_words
from metrics.ties.lists import further_scores
from metrics.ties.precision import rounded

TIE_BREAKS = "tiebreak"
"""Name of the choice of further scores, in the link."""
CRITERIA = "criteria"
"""Name of the choice of what ranks together, in the link."""
UNJUDGED = "unjudged"
"""Name of the choice of what is done about documents that nobody judged, in the link."""
_BOTH_WAYS, _AT_RATE = "bounds", "rate"
_UNJUDGED_WORDS = {
    "nonrelevant": "not relevant",
    _BOTH_WAYS: "both ways",
    _AT_RATE: "judged rate",
    "leave_out": "left out",
}
_UNJUDGED_HELP = (
    "Documents that nobody judged are not relevant; or that, and bars show what else they may be (both ways), "
    "with what is expected if they are relevant as often as judged ones tell (judged rate); or they are left "
    "out of their lists."
)
_UNJUDGED_LABEL = "Unjudged documents"
_UNJUDGED_LOOK: dict[str, Any] = {"format_func": _UNJUDGED_WORDS.__getitem__, "help": _UNJUDGED_HELP}
RELEVANT_FROM = "relevant_from"
"""Name of the choice of the grade from which a document is relevant, in the link."""
UNJUDGED_SECTION = "Unjudged documents"
"""Section of a page that has the choice about unjudged documents; otherwise Settings have it."""
_RELEVANT_FROM_ENDS = 1.0, 1000.0
_MOST_GRADES = 20
"""Grades, the lowest, from which documents can be relevant by a click; a link may name any."""
_POLICIES = ("zero", "skip")
_NEAR = ("within:0.001", "within:0.01", "within:0.1")
_PRECISIONS = ("float64", "float32", "float16", "bfloat16", *(f"decimals:{n}" for n in range(7)), *_NEAR)


def choose_scoring(runs: Runs) -> ScoringOptions:
    """Draw the choice of how lists are scored: as the files say unless the visitor says otherwise."""
    precision = _choose_precision()
    columns = further_scores(runs)
    criteria = _choose_criteria(columns)
    tiebreak_by = _choose_tie_breaks(columns)
    missing = segmented("Judged queries without rows", _POLICIES, "missing")
    empty = segmented("Queries with nothing relevant", _POLICIES, "empty")
    if get_value(SECTION) != UNJUDGED_SECTION:
        choose_unjudged()
    unjudged = "leave_out" if get_value(UNJUDGED) == "leave_out" else AS_READ.unjudged
    policies = cast("Policy", missing), cast("Policy", empty)
    return ScoringOptions(precision, *policies, _relevant_from(), tiebreak_by, criteria, unjudged)


def choose_unjudged() -> str:
    """Draw the choice of what is done about unjudged documents; return its name."""
    return segmented(_UNJUDGED_LABEL, tuple(_UNJUDGED_WORDS), UNJUDGED, **_UNJUDGED_LOOK)


def choose_relevant_from(board: Board) -> None:
    """Draw the choice of the grade from which a document is relevant, where there are grades to choose from."""
    counts, level = grade_counts(board), float(_relevant_from())
    if max(counts, default=0) <= AS_READ.relevant_from and level == AS_READ.relevant_from:
        return
    grades = {min(float(math.ceil(grade)), _RELEVANT_FROM_ENDS[1]) for grade in counts if grade >= 1}
    levels = sorted({AS_READ.relevant_from, level, *sorted(grades)[:_MOST_GRADES]})

    def label(level: float) -> str:
        n_relevant = sum(n for grade, n in counts.items() if grade >= level)
        return f"Relevant from {level:g} · {count_of(n_relevant, 'judgment')}"

    st.session_state[RELEVANT_FROM] = level
    st.selectbox(
        "Relevant from",
        levels,
        key=RELEVANT_FROM,
        format_func=label,
        label_visibility="collapsed",
        width=270,
        **controls.KEPT,
    )


def _relevant_from() -> int:
    """Return the grade from which a document is relevant; a page draws its control later, or does not."""
    return controls.whole_number(RELEVANT_FROM, *_RELEVANT_FROM_ENDS, AS_READ.relevant_from)


def shows_both_ways() -> bool:
    """Return whether bounds over all judgments of unjudged documents are shown, which count as not relevant."""
    return get_value(UNJUDGED) in (_BOTH_WAYS, _AT_RATE)


def shows_expectation() -> bool:
    """Return whether beside these bounds stands what is expected at the rate of judged documents."""
    return get_value(UNJUDGED) == _AT_RATE


def _choose_precision() -> str:
    """Draw the choice of how scores are compared; any precision may be written, and what is none is told of."""
    written = get_value("precision")
    is_further = bool(written) and written not in _PRECISIONS
    try:
        rounded(np.empty(0), written or _PRECISIONS[0])
    except UsageError as error:
        is_further = False
        if controls.asked_text("precision") is None:
            notify(f"{error} Scores are compared as {_PRECISIONS[0]}.")
    return select(
        "Scores as",
        (*_PRECISIONS, written) if is_further else _PRECISIONS,
        "precision",
        accept_new_options=True,
        help="Rounds scores before they are compared; `within:0.01` ties what lies within 0.01 of the highest "
        "of its group, from the top down. Write another distance in its place.",
    )


def _choose_tie_breaks(columns: Sequence[str]) -> tuple[str, ...]:
    """Draw the choice of further scores that split ties, none at first; without any, nothing is drawn."""

    def read(texts: controls.Texts) -> list[str]:
        controls.refuse(TIE_BREAKS, [text for text in texts if text not in columns])
        return list(dict.fromkeys(text for text in texts if text in columns))

    prepare(TIE_BREAKS, read, lambda names: set(names) <= set(columns), [])
    return choose_in_order(
        "Ties split first by",
        columns,
        TIE_BREAKS,
        placeholder="Nothing",
        help="Further scores of your files, highest first: each splits what is level in those before it. "
        "What is level in all of them stays tied.",
    )


def _choose_criteria(columns: Sequence[str]) -> tuple[str, ...]:
    """Draw the choice of what ranks together, the score alone at first; without others, nothing is drawn."""
    criteria = choose_criteria(
        "Ranked by",
        columns,
        CRITERIA,
        placeholder="The score",
        help="Several criteria rank by fronts: the first front holds the documents that no other of their list "
        "beats, being level or better in every criterion and better in one; the next front those that only "
        "documents of the first beat, and so on. A front is a tie. Precision applies to each criterion.",
    )
    return () if criteria == ("score",) else criteria


def choose_criteria(
    label: str,
    columns: Sequence[str],
    key: str,
    default: Sequence[str] = (),
    *,
    most: int | None = None,
    **more_options: Any,  # noqa: ANN401 passed on
) -> tuple[str, ...]:
    """Draw a choice of criteria, each column in one direction at most; return them as chosen.

    Args:
        label: above the control.
        columns: further scores that every reranker has; without any, nothing is drawn.
        key: of the choice, and its name in the link.
        default: chosen first.
        most: how many may be chosen; None for any number.
        **more_options: passed on to the widget.
    """
    choices = criterion_choices(columns) if columns else []

    def read(texts: controls.Texts) -> list[str]:
        criteria: dict[str, str] = {}
        for text in texts:
            column, highest_best = criterion(text)
            choice = criterion_text(column, highest_best=highest_best)
            if choice not in choices or criteria.setdefault(column, choice) != choice:
                controls.refuse(key, [text])
        allowed = list(criteria.values())[:most]
        controls.refuse(key, list(criteria.values())[len(allowed) :])
        return allowed

    prepare(key, read, lambda texts: set(texts) <= set(choices), list(default))
    criteria = st.session_state.get(key, default)
    columns_ranking = {criterion(text)[0] for text in criteria}
    offered = [text for text in choices if text in criteria or criterion(text)[0] not in columns_ranking]
    limits = {"max_selections": most, "format_func": criterion_words}
    return choose_in_order(label, offered, key, default, **limits, **more_options)


def choose_in_order(
    label: str,
    options: Sequence[str],
    key: str,
    default: Sequence[str] = (),
    **more_options: Any,  # noqa: ANN401 passed on
) -> tuple[str, ...]:
    """Draw a choice of several, about to be shown as it was prepared; return it in the order it was made.

    Args:
        label: above the control.
        options: what can be chosen; without any, nothing is drawn.
        key: of the choice, and its name in the link.
        default: chosen first.
        **more_options: passed on to the widget.
    """
    names: list[str] = []
    if options:
        st.session_state.setdefault(key, list(default))
        names = st.multiselect(label, options, key=key, **controls.KEPT, **more_options)
    return tuple(record(key, names, list(default)))


def policy_phrases(counts: Mapping[str, int], scoring: ScoringOptions) -> list[str]:
    """Return what was done that is not usual, as phrases; counts are n_missing and n_empty."""
    outcomes = {"zero": "count as 0", "skip": "are left out"}
    level, precision = scoring.relevant_from, scoring.precision
    tie_breaks = escape_markdown(", ".join(scoring.tiebreak_by))
    criteria = escape_markdown(criteria_words(scoring.criteria)) if scoring.criteria else ""
    fronts = "fronts of " * (len(scoring.criteria) > 1)
    phrases = [
        f"{counts['n_missing']:,} without rows {outcomes[scoring.missing]}" if counts["n_missing"] else "",
        f"{counts['n_empty']:,} with nothing relevant {outcomes[scoring.empty]}" if counts["n_empty"] else "",
        f"relevant from grade {level:g}" if level != AS_READ.relevant_from else "",
        f"scores as {compared_as(precision)}" if precision != AS_READ.precision else "",
        f"ranked by {fronts}{criteria}" if criteria else "",
        f"ties split by {tie_breaks} first" if tie_breaks else "",
        "unjudged documents left out" if scoring.unjudged == "leave_out" else "",
    ]
    return [phrase for phrase in phrases if phrase]


def choose_test() -> tuple[str, str]:
    """Draw the choice of a test and of a correction for many comparisons; return their names."""
    from metrics.studies.test_registry import CORRECTIONS, TESTS  # noqa: PLC0415 scipy.stats

    tests = {test.label.removesuffix(" test").removeprefix("paired "): test.name for test in TESTS}
    corrections = {correction.label: correction.name for correction in CORRECTIONS}
    test = tests[segmented("Test", list(tests), "test")]
    return test, corrections[segmented("Correction", list(corrections), "correction")]


MEASURE_KEYS = ("measure", "first", "second")
"""Choices of a measure, by their names in the link: of most pages, and the two of Ties vs gap."""


def measure(label: str = "Measure", key: str = "measure", default: str = "", *, has_more: bool = True) -> str:
    """Draw the choice of a measure: one of the usual, or any other with its cut-off; return its name.

    Args:
        label: above the control.
        key: one of `MEASURE_KEYS`; a few measures of the first stand in a row, the usual of others in a list.
        default: chosen first; the first of the usual where empty.
        has_more: whether `more` follows, with nothing of the page's own.
    """
    is_row = key == MEASURE_KEYS[0]
    options = [*cache.MEASURES, *_other_measure(key)]
    if is_row:
        options = [
            name
            for name in options
            if name in (*cache.OFFERED, default, get_value(key)) or name not in cache.MEASURES
        ]
    with st.container(
        horizontal=True, vertical_alignment="center" if is_row else "bottom", gap="small", width="content"
    ):
        if is_row:
            measure_name = segmented(label, options, key, default, label_visibility="collapsed")
        else:
            measure_name = select(label, options, key, default, width=180)
        if has_more:
            more(key)
    return measure_name


def more(key: str = "measure", help: str = "Any other measure and cut-off.") -> DeltaGenerator:  # noqa: A002 Streamlit's name
    """Draw the menu of what few change beside a measure: any other; return it, for the page's own."""
    menu = st.popover("More", icon=":material/tune:", help=help)
    in_sight = {*(cache.OFFERED if key == MEASURE_KEYS[0] else cache.MEASURES), get_value(key)}
    with menu:
        if measures := [name for name in cache.MEASURES if name not in in_sight]:
            st.pills("Also scored", measures, key=f"_further_{key}", on_change=_choose_further, args=(key,))
        _choose_other(key)
    return menu


def _choose_further(key: str) -> None:
    """Take the measure clicked among those that are not in sight."""
    set_value(key, st.session_state.pop(f"_further_{key}"))


def _choose_other(key: str) -> None:
    name = "" if key == MEASURE_KEYS[0] else f"_{key}"
    measures = {measure.name: measure for measure in MEASURES if _is_offered(measure)}
    measure = measures[st.selectbox("Measure", list(measures), key=f"_other{name}")]
    st.caption(measure.summary)
    k = None
    if measure.cutoff != "none":
        default = None if measure.cutoff == "optional" else 10
        k = st.number_input(
            "Cut-off", 1, 100_000, default, key=f"_other{name}_{measure.cutoff}", placeholder="none"
        )
    chosen = str(parse(measure.name + ("" if k is None else f"@{k}")))
    st.button("Use", type="primary", key=f"_other{name}_use", on_click=set_value, args=(key, chosen))


def other_measures() -> list[str]:
    """Return the measures that the visitor or the link asked for where they are none of the usual.

    One that settles ties by its own rule comes with all that settle the same ties.
    """
    names = [name for key in MEASURE_KEYS for name in _other_measure(key)]
    beside = [str(rule) for name in names if parse(name).measure.answers for rule in side_by_side(parse(name))]
    return list(dict.fromkeys(name for name in [*names, *beside] if name not in cache.MEASURES))


def _other_measure(key: str) -> list[str]:
    """Return the measure of one choice where it is none of the usual."""
    requested = get_value(key)
    try:
        name = str(parse(requested)) if requested else None
    except UsageError as error:
        controls.forget(key)
        notify(f"The link asks for another measure than is shown. {error}")
        return []
    if name and controls.asked_text(key):
        controls.ask({key: name})
    return [] if name is None or name in cache.MEASURES or not _is_offered(parse(name).measure) else [name]


def _is_offered(measure: Measure) -> bool:
    """Return whether the board shown can be scored by a measure: gain of subtopics needs judgments of them."""
    return measure.family.kind != "subtopics" or st.session_state.get(_SUBTOPICS, False)


def scored_measures() -> tuple[str, ...]:
    """Return the measures that pages score: the usual and those asked for that have a best and worst order."""
    others = (name for name in other_measures() if not parse(name).measure.family.no_extremes)
    return (*cache.MEASURES, *others)


_VIEW = "_view"
_SUBTOPICS = "_has_subtopics"
_SHOWN = "_shown_data"
_MAX_RERANKERS = 200
"""Rerankers that pages show at most: they compare each with each."""
_TEXTS = ("measure", "order", "precision", "missing", "empty", UNJUDGED, "baseline")
_LISTS = ("rerankers", "segments", CRITERIA, TIE_BREAKS)
ORDER_HELP = "How ties fell before: " + " ".join(
    f"**{order.label}**. {order.summary} Used by {order.used_by}."
    for order in map(treatment, cache.TRADITIONAL)
).replace("_", r"\_")


@dataclass(frozen=True)
class Choices:
    """What the visitor chose beside the page, and the link says.

    Attributes:
        rerankers: those shown, in order.
        segments: the query groups shown, none where all are.
        traditional: the treatment taken as the traditional one.
        scoring: how lists are scored.
        baseline: what the others are compared with.
    """

    rerankers: list[str]
    segments: tuple[str, ...]
    traditional: str
    scoring: ScoringOptions
    baseline: str


@dataclass(frozen=True)
class View(cache.ShownBoard):
    """What a page shows: a board, the choices, and the values they make.

    Attributes:
        traditional: the treatment taken as the traditional one.
        baseline: what the others are compared with: as chosen on some page, else BM25, else the first.
        palette: colours of the theme.
        record: what the library says of the board, where it is kept.
    """

    traditional: str
    baseline: str
    palette: Palette
    record: Record | None

    @property
    def treatment(self) -> Treatment:
        """The treatment taken as the traditional one, with its words."""
        return treatment(self.traditional)

    def colour(self, reranker: str) -> str:
        """Return the colour of a reranker, the same on every page whatever else is chosen."""
        return self.palette.reranker(self.board.runs.rerankers.index(reranker))


def offered_rerankers(board: Board) -> list[str]:
    """Return the rerankers that pages can show: all, unless they are so many that no page could draw them."""
    return board.runs.rerankers[:_MAX_RERANKERS]


def choose_baseline(names: Sequence[str], **more_options: Any) -> str:  # noqa: ANN401 passed on
    """Draw whom the others are compared with, BM25 or the first unless another is chosen; return the name."""
    default = usual_baseline(names)
    controls.follow_defaults({"baseline": default})
    return controls.select_name("Baseline", names, "baseline", default, **more_options)


def choose_view() -> View | None:
    """Draw the board and the choices all pages share; return what they show, None without a board."""
    choice = choose_board()
    if choice is None:
        return None
    board, record = choice
    _turn_to(board, record)
    st.session_state[_SUBTOPICS] = board.runs.has_subtopics
    choices = _draw_choices(board)
    view = _score(board, record, choices)
    n_rerankers = len(board.runs.tables)
    _say_policies(view, part_of(len(view.rerankers), n_rerankers, "reranker"))
    if n_rerankers > _MAX_RERANKERS:
        st.caption(f"The first {_MAX_RERANKERS} rerankers are shown; on Data, leave some out to see others.")
    st.session_state[_VIEW] = view
    return view


def _draw_choices(board: Board) -> Choices:
    """Draw what all pages share: tie order, filter, and how lists are scored."""
    traditional = select_order(cache.TRADITIONAL, "order")
    with st.popover("Settings", icon=":material/tune:", width="stretch"):
        names = offered_rerankers(board)
        rerankers = controls.multiselect("Rerankers", names, "rerankers")
        offered_segments = sorted(set(cache.segments(board)))
        segments = (
            controls.multiselect("Query groups", offered_segments, "segments") if offered_segments else []
        )
        scoring = choose_scoring(board.runs)
    is_first = traditional == board.runs.tie_order
    st.caption(escape_markdown(_first_order_reason(board) if is_first else treatment(traditional).summary))
    baseline = controls.get_value("baseline") if controls.is_chosen("baseline") else ""
    return Choices(
        rerankers,
        () if segments == offered_segments else tuple(segments),
        traditional,
        scoring,
        baseline if baseline in rerankers else usual_baseline(rerankers),
    )


def _score(board: Board, record: Record | None, choices: Choices) -> View:
    """Return the values of what was chosen; where that leaves no list, those of all lists, and say so."""
    measures = scored_measures()
    values, scoring = _evaluate(board, choices.scoring, measures)
    segments, of_query = choices.segments, cache.segments(board)
    queries = set(of_query.index[of_query.isin(segments)]) if segments else None
    values = values.only(choices.rerankers, queries)
    scored = set(values.scores.index.unique("reranker"))
    rerankers = [name for name in choices.rerankers if name in scored]
    if not rerankers:
        st.warning("No list is left by these choices; all lists are shown.")
        scoring, segments, rerankers = AS_READ, (), choices.rerankers
        values = cache.evaluation(board, scoring, measures).only(rerankers)
    elif len(rerankers) < len(choices.rerankers):
        absent = ", ".join(name for name in choices.rerankers if name not in scored)
        st.caption(f"Without a list: {escape_markdown(absent)}.")
        values = values.only(rerankers)
    baseline = choices.baseline if choices.baseline in rerankers else usual_baseline(rerankers)
    return View(board, rerankers, scoring, values, segments, choices.traditional, baseline, theme(), record)


def _evaluate(
    board: Board, scoring: ScoringOptions, measures: tuple[str, ...]
) -> tuple[Evaluation, ScoringOptions]:
    """Return the values of a board, and how it was scored: by the score where lists are too long for fronts."""
    try:
        return cache.evaluation(board, scoring, measures), scoring
    except UsageError as error:
        if not scoring.criteria:
            raise
        st.warning(f"{error} Until then, documents are ranked by the score.")
        by_score = replace(scoring, criteria=())
        return cache.evaluation(board, by_score, measures), by_score


def select_order(orders: Sequence[str], key: str) -> str:
    """Draw the choice of the tie order, each by the tool that sorts so; return its name."""
    return controls.select(
        "Tie order", orders, key, format_func=lambda name: treatment(name).label, help=ORDER_HELP
    )


def _first_order_reason(board: Board) -> str:
    """Say in a line why a board starts with its order of ties."""
    order = treatment(board.runs.tie_order).order
    if board.runs.tie_order != "input":
        return f"{'TREC runs' if len(board.runs.tie_orders) > 1 else 'A TREC run'}: {order}."
    is_mixed = len(set(board.runs.tie_orders)) > 1
    return f"{'Not TREC runs alone' if is_mixed else 'No TREC run'}: {order}."


def _turn_to(board: Board, record: Record | None) -> None:
    """Show all of a board, with the settings it was saved with where nobody chose others."""
    before, now = st.session_state.get(_SHOWN), (record.id if record else board.label, board.key)
    st.session_state[_SHOWN] = now
    if before == now:
        return
    if before is not None:
        controls.reset("rerankers")
        controls.set_open_list(None, None)
    is_link_followed = before is None and set(controls.address_choices()) - {DATA}
    saved = _saved(board.first_view if record is None else record.view)
    controls.open_with(saved, are_defaults=not is_link_followed)


def _saved(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of a board that have the right type; controls see to it that they fit the data."""

    def has_right_type(key: str, value: object) -> bool:
        if key in _TEXTS:
            return isinstance(value, str)
        if key in _LISTS:
            return isinstance(value, list) and all(isinstance(name, str) for name in value)
        return key == RELEVANT_FROM and isinstance(value, int | float)

    saved = {key: value for key, value in settings.items() if has_right_type(key, value)}
    return saved | ({RELEVANT_FROM: float(saved[RELEVANT_FROM])} if RELEVANT_FROM in saved else {})


def board_settings() -> dict[str, Any]:
    """Return what a board is to be opened with: all that is chosen now."""
    now = view()
    settings: dict[str, Any] = {key: text for key in _TEXTS if (text := controls.get_value(key))}
    settings[RELEVANT_FROM] = float(now.scoring.relevant_from)
    if now.segments:
        settings["segments"] = list(now.segments)
    further = {CRITERIA: now.scoring.criteria, TIE_BREAKS: now.scoring.tiebreak_by}
    settings |= {key: list(texts) for key, texts in further.items() if texts}
    if now.rerankers != offered_rerankers(now.board):
        settings["rerankers"] = now.rerankers
    return settings


def _say_policies(view: View, subject: str) -> None:
    """Write what is counted and how, always in sight."""
    phrases = policy_phrases(view.evaluation.policies.max(), view.scoring)
    queries = len(view.evaluation.scores.index.unique("query_id"))
    privacy = "" if owner() else " Runs stay on this machine."
    st.caption(", ".join([subject, queries_text(queries), *phrases]) + f".{privacy}")


def view() -> View:
    """Return what the sidebar says is shown."""
    return cast("View", st.session_state[_VIEW])


def board_key() -> str:
    """Return the key of the board that is shown, empty before any was: what is drawn is forgotten with it."""
    return view().board.key if _VIEW in st.session_state else ""
