"""Choose what all pages share, such as tie order and rounding, and build the `View` that pages receive."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, cast

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard import cache, controls
from dashboard.boards import DATA, choose_board, notify, owner
from dashboard.cache import Testing, grade_counts
from dashboard.charts.palette import Palette
from dashboard.controls import choose, get_text, segmented, select, select_after, set_values
from dashboard.escaping import escape_markdown
from dashboard.library.boards import Board, queries_text
from dashboard.library.records import Record
from dashboard.visitor import theme
from metrics import MEASURES, Runs, parse
from metrics.errors import UsageError
from metrics.evaluation import AS_READ, EmptyPolicy, Policy, ScoringOptions, Unjudged
from metrics.measures import side_by_side, with_gains
from metrics.runs.named_judgments import FROM_2
from metrics.studies.pair_tests import TESTS
from metrics.studies.pairs import CORRECTIONS, LARGEST, Family
from metrics.studies.targets import usual_baseline
from metrics.support.wording import OUTCOMES, compared_as, count_of, part_of
from metrics.ties import Treatment, treatment
from metrics.ties.fronts import criteria_words, criterion, criterion_choices, criterion_text, criterion_words
from metrics.ties.options import rounded

TIE_BREAKS = "tiebreak"
"""Key of the further scores that break ties."""
CRITERIA = "criteria"
"""Key of the criteria that rank documents."""
UNJUDGED = "unjudged"
"""Key of the treatment of unjudged documents."""
_UNJUDGED_WORDS = {"nonrelevant": "not relevant", "leave_out": "left out"}
RELEVANT_FROM = "relevant_from"
"""Key of the smallest relevant grade."""
_RELEVANT_FROM_ENDS = 1.0, 1000.0
_MOST_GRADES = 20
"""Grades offered as the smallest relevant grade; a link may name any grade."""
_POLICIES = ("zero", "skip")
_NEAR = ("within:0.001", "within:0.01", "within:0.1")
_PRECISIONS = ("float64", "float32", "float16", "bfloat16", *(f"decimals:{n}" for n in range(7)), *_NEAR)


def choose_scoring(runs: Runs) -> ScoringOptions:
    """Draw the scoring settings and return them."""
    precision = _choose_precision()
    columns = runs.stacks.further_scores
    criteria = _choose_criteria(columns)
    tie_breaks = controls.choose_in_order(
        "Tie-break columns",
        columns,
        TIE_BREAKS,
        placeholder="Nothing",
        help="Other score columns of your files; the highest value comes first. Each column breaks the ties "
        "that earlier columns leave. Documents equal in all columns stay tied.",
    )
    missing = segmented("Judged queries without rows", _POLICIES, "missing")
    empty = segmented("Queries without relevant documents", ("zero", "one", "skip"), "empty")
    unjudged = segmented(
        "Unjudged documents", tuple(_UNJUDGED_WORDS), UNJUDGED, format_func=_UNJUDGED_WORDS.__getitem__
    )
    return ScoringOptions(
        precision,
        cast("Policy", missing),
        cast("EmptyPolicy", empty),
        _relevant_from(),
        tuple(tie_breaks),
        () if criteria == ("score",) else criteria,
        cast("Unjudged", unjudged),
    )


def choose_relevant_from(board: Board) -> None:
    """Draw the choice of the smallest relevant grade if the judgments have grades above 1."""
    counts, level = grade_counts(board), float(_relevant_from())
    if max(counts, default=0) <= AS_READ.relevant_from and level == AS_READ.relevant_from:
        return
    grades = {min(float(math.ceil(grade)), _RELEVANT_FROM_ENDS[1]) for grade in counts if grade >= 1}
    levels = sorted({AS_READ.relevant_from, level, *sorted(grades)[:_MOST_GRADES]})
    n_relevant = sum(n for grade, n in counts.items() if grade >= level)
    st.selectbox(
        "Relevant from",
        levels,
        format_func="Relevant from {:g}".format,
        label_visibility="collapsed",
        help=f"Smallest grade that counts as relevant: {count_of(n_relevant, 'judgment')}.",
        width=190,
        **controls.bound(RELEVANT_FROM, level),
    )
    if level == AS_READ.relevant_from and (name := FROM_2.get(tuple(counts.values()))):
        st.button(
            "Relevant from 2, as published",
            type="tertiary",
            key="as-published",
            help=f"These look like the judgments of {name}. Published MRR, MAP and P count grades from 2.",
            on_click=set_values,
            args=({RELEVANT_FROM: 2},),
        )


def _relevant_from() -> int:
    low, high = _RELEVANT_FROM_ENDS
    return choose(
        RELEVANT_FROM,
        int(AS_READ.relevant_from),
        lambda grade: low <= grade <= high,
        lambda texts: math.floor(float(texts[-1]) + 1 / 2),
    )


def _choose_precision() -> str:
    """Draw the choice of rounding, which accepts typed values, and report values that are invalid."""
    written = get_text("precision") or _PRECISIONS[0]
    options = tuple(dict.fromkeys((*_PRECISIONS, written)))
    try:
        rounded(np.empty(0), written)
    except UsageError as error:
        options = _PRECISIONS
        if not controls.is_linked("precision"):
            notify(f"{error} Scores are compared as {_PRECISIONS[0]}.")
    return select(
        "Scores as",
        options,
        "precision",
        accept_new_options=True,
        help="Rounds scores before they are compared. `within:0.01` groups scores from the top down: a "
        "score ties if it is within 0.01 of the highest score of its group. Type any other distance.",
    )


def _choose_criteria(columns: Sequence[str]) -> tuple[str, ...]:
    """Draw a choice of criteria with one direction per column, and return them in the order chosen.

    Boards without further scores have no such control.
    """
    choices = criterion_choices(columns) if columns else []

    def read(texts: controls.Texts) -> list[str]:
        criteria: dict[str, str] = {}
        for text in texts:
            column, highest_best = criterion(text)
            choice = criterion_text(column, highest_best=highest_best)
            if choice not in choices or criteria.setdefault(column, choice) != choice:
                controls.refuse(CRITERIA, [text])
        return list(criteria.values())

    criteria = choose(CRITERIA, list[str](), set(choices).issuperset, read)
    columns_ranking = {criterion(text)[0] for text in criteria}
    if choices:
        st.multiselect(
            "Ranked by",
            [text for text in choices if text in criteria or criterion(text)[0] not in columns_ranking],
            format_func=criterion_words,
            placeholder="The score",
            help="Several criteria rank documents by Pareto fronts. A document dominates another one if it is "
            "better in at least one criterion and worse in none. No document dominates those in the first "
            "front. Only documents of the first front dominate those in the second front, and so on. Documents "
            "in the same front are tied. Rounding applies to each criterion.",
            **controls.bound(CRITERIA, criteria),
        )
    return tuple(criteria)


def policy_phrases(
    counts: Mapping[str, int], scoring: ScoringOptions, fewest: Mapping[str, int] | None = None
) -> list[str]:
    """Return phrases for settings that differ from the defaults.

    `counts` has n_missing and n_empty: of all rerankers, or the largest of one, with the `fewest` of one.
    """
    missing, empty = (
        f"{'up to ' if fewest is not None and fewest[name] < counts[name] else ''}{counts[name]:,}"
        for name in ("n_missing", "n_empty")
    )
    tie_breaks = ", ".join(scoring.tiebreak_by)
    criteria = criteria_words(scoring.criteria) if scoring.criteria else ""
    phrases = {
        f"{missing} without rows {OUTCOMES[scoring.missing]}": counts["n_missing"],
        f"{empty} without relevant documents {OUTCOMES[scoring.empty]}": counts["n_empty"],
        f"relevant from grade {scoring.relevant_from:g}": scoring.relevant_from != AS_READ.relevant_from,
        f"scores as {compared_as(scoring.precision)}": scoring.precision != AS_READ.precision,
        f"ranked by {'fronts of ' * (len(scoring.criteria) > 1)}{criteria}": criteria,
        f"ties broken first by {tie_breaks}": tie_breaks,
        "unjudged documents left out": scoring.unjudged == "leave_out",
    }
    return [phrase for phrase, is_different in phrases.items() if is_different]


def choose_testing() -> Testing:
    """Draw the choices of a test, a correction and the pairs that it covers, and return them."""
    tests = {test.label.removesuffix(" test").removeprefix("paired "): test.name for test in TESTS}
    test = tests[segmented("Test", list(tests), "test")]
    labels = {label: name for name, label in CORRECTIONS.items() if test == Testing().test or name != LARGEST}
    correction = labels[segmented("Correction", list(labels), "correction")]
    families: dict[str, Family] = {"all pairs": "all", "against the baseline": "baseline"}
    family = families[segmented("Corrected for", list(families), "family")]
    return Testing(test, None if correction == LARGEST else correction, family)


_MEASURE = "measure"
"""Key of the measure of most pages."""


def measure(label: str = "Measure", key: str = _MEASURE, default: str = "", *, has_more: bool = True) -> str:
    """Draw the choice of a measure, in a row of buttons or a list, and return its name.

    The menu with all other measures follows if `has_more` is set.
    """
    is_row, asked_measure = key == _MEASURE, _asked_measure(key)
    in_sight = (*cache.OFFERED, default, asked_measure) if is_row else (*cache.MEASURES, asked_measure)
    options = [name for name in dict.fromkeys([*cache.MEASURES, *filter(None, in_sight)]) if name in in_sight]
    if is_row:
        measure_name = segmented(label, options, key, default, label_visibility="collapsed")
    else:
        measure_name = select_after(label, {name: name for name in options}, key, default, width=230)
    if has_more:
        more_menu(key)
    return measure_name


def settings_row() -> DeltaGenerator:
    """Return the place of a page's settings: one row, which a phone wraps."""
    return st.container(horizontal=True, vertical_alignment="center", gap="small")


def more_menu(key: str = _MEASURE) -> DeltaGenerator:
    """Draw the menu with all other measures and cut-offs, and return it for further controls."""
    menu = st.popover("More", icon=":material/tune:")
    in_sight = {*(cache.OFFERED if key == _MEASURE else cache.MEASURES), get_text(key)}
    with menu:
        if measures := [name for name in cache.MEASURES if name not in in_sight]:
            st.pills("Also scored", measures, key=f"_further_{key}", on_change=_choose_further, args=(key,))
        _choose_other(key)
    return menu


def _choose_further(key: str) -> None:
    set_values({key: st.session_state.pop(f"_further_{key}")})


def _choose_other(key: str) -> None:
    name = "" if key == _MEASURE else f"_{key}"
    measures = {measure.name: measure for measure in MEASURES}
    labels = dict(zip(measures, with_gains(list(measures)), strict=True))
    for each, measure in measures.items():
        labels[each] += f" · {measure.traditional}" * bool(measure.traditional)
    look: dict[str, Any] = {"format_func": labels.__getitem__, "placeholder": "Any measure"}
    chosen = st.selectbox("Measure", measures, None, key=f"_other{name}", **look)
    if chosen is None:
        return
    measure = measures[chosen]
    st.caption(measure.summary)
    k = None
    if measure.cutoff != "none":
        default = None if measure.cutoff == "optional" else 10
        k = st.number_input(
            "Cut-off", 1, 100_000, default, key=f"_other{name}_{measure.cutoff}", placeholder="none"
        )
    measure_name = str(parse(measure.name + ("" if k is None else f"@{k}")))
    st.button("Use", type="primary", key=f"_other{name}_use", on_click=set_values, args=({key: measure_name},))


def _asked_measure(key: str) -> str:
    """Return the chosen measure by its usual name, empty for none and with a message for an unknown one."""
    try:
        name = str(parse(get_text(key))) if get_text(key) else ""
    except UsageError as error:
        notify(f"This page cannot show the measure that the link asks for. {error}")
        name = ""
    set_values({key: name})
    return name


def shown_measure() -> str:
    """Return the measure that other pages show, for a page without this control."""
    _asked_measure(_MEASURE)
    return choose(_MEASURE, cache.MEASURES[0], bool)


_SHOWN_BOARD = "_shown_data"
_MAX_RERANKERS = 200
"""Rerankers shown at most: pages compare every pair."""
ORDER_HELP = "Order of tied documents for the traditional score. " + " ".join(
    f"**{order.label}**: {order.summary} Used by {order.used_by}."
    for order in map(treatment, cache.TRADITIONAL)
).replace("_", r"\_")


@dataclass(frozen=True)
class View(cache.ShownBoard):
    """A scored selection.

    Attributes:
        traditional: treatment of ties for the traditional score.
        baseline: the chosen baseline, or else BM25, or else the first reranker.
        palette: colours of the theme.
        record: record of the board in the library, None if it is not kept.
        phrases: settings that differ from the defaults, and how many queries they concern.
    """

    traditional: str
    baseline: str
    palette: Palette
    record: Record | None
    phrases: tuple[str, ...]

    @property
    def treatment(self) -> Treatment:
        """The treatment of ties for the traditional score."""
        return treatment(self.traditional)

    def conditions(self, measure: str) -> str:
        """Return what the figures of a measure hold for: tie order, queries and settings, to be copied."""
        queries = queries_text(self.evaluation.scores.index.get_level_values("query_id").nunique())
        groups = [f"query groups {', '.join(self.segments)}"] * bool(self.segments)
        order = f"tie order: {self.treatment.order}"
        return f"{'; '.join([measure, order, queries, *groups, *self.phrases])}."

    def colours(self, rerankers: Iterable[str]) -> dict[str, str]:
        """Return reranker → colour, the same on every page."""
        order = self.board.runs.rerankers
        return {name: self.palette.reranker(order.index(name)) for name in rerankers}


@dataclass(frozen=True)
class Selection:
    """What the sidebar selects of a board, and how a page scores it.

    Attributes:
        board: the data.
        record: record of the board in the library, None if it is not kept.
        rerankers: chosen rerankers, in order.
        segments: chosen query groups; all if empty.
        traditional: treatment of ties for the traditional score.
        scoring: how lists are scored.
        note: place in the sidebar for what is counted.
    """

    board: Board
    record: Record | None
    rerankers: list[str]
    segments: tuple[str, ...]
    traditional: str
    scoring: ScoringOptions
    note: DeltaGenerator

    def score(self, *measures: str) -> View:
        """Return the scores of the chosen lists in these measures and the usual ones, and count the lists.

        All lists are scored, with a warning, if no list remains. Documents are ranked by the score alone if
        lists are too long for Pareto fronts. A measure with its own rule for ties brings along the other rules
        for the same ties.
        """
        rules = [name for name in measures if parse(name).measure.answers]
        beside = [str(rule) for name in rules for rule in side_by_side(parse(name))]
        names = tuple(dict.fromkeys([*measures, *beside]))
        scoring, segments, rerankers = self.scoring, self.segments, self.rerankers
        evaluate = partial(cache.shown_evaluation, self.board, names, tuple(rerankers))
        warnings = []
        try:
            evaluation = evaluate(segments, scoring)
        except UsageError as error:
            if not scoring.criteria:
                raise
            warnings.append(f"{error} Documents are ranked by the score instead.")
            scoring = replace(scoring, criteria=())
            evaluation = evaluate(segments, scoring)
        if not len(evaluation.scores):
            warnings.append("No list matches these settings, so all lists are shown.")
            scoring, segments = AS_READ, ()
            evaluation = evaluate(segments, scoring)
        rerankers, absent = list(evaluation.policies.index), set(rerankers) - set(evaluation.policies.index)
        with self.note.container():
            for warning in warnings:
                st.warning(warning)
            if absent:
                without_list = ", ".join(name for name in self.rerankers if name in absent)
                st.caption(f"Rerankers without a list: {escape_markdown(without_list)}.")
            n_queries = len(evaluation.scores.index.unique("query_id"))
            phrases = policy_phrases(evaluation.policies.max(), scoring, evaluation.policies.min())
            _count(self.board, len(rerankers), n_queries, phrases)
        baseline = get_text(_BASELINE)
        baseline = baseline if baseline in rerankers else usual_baseline(rerankers)
        return View(
            self.board,
            rerankers,
            scoring,
            evaluation,
            segments,
            self.traditional,
            baseline,
            theme(),
            self.record,
            tuple(phrases),
        )


def offered_rerankers(board: Board) -> list[str]:
    """Return the rerankers that pages can show."""
    return board.runs.rerankers[:_MAX_RERANKERS]


_BASELINE = "baseline"


def choose_baseline(names: Sequence[str], default: str = "", **more_options: Any) -> None:
    """Draw the choice of the baseline, which `View` has; by default the usual one of these names."""
    controls.select_name("Baseline", names, _BASELINE, default or usual_baseline(names), **more_options)


def choose_selection() -> Selection | None:
    """Draw the sidebar and return what it selects, None without a board."""
    choice = choose_board()
    if choice is None:
        now = controls.choices()
        now.page_keys |= now.texts.keys()  # the address opens the same view once the board is here
        return None
    board, record = choice
    _turn_to(board, record)
    traditional = select_order(cache.TRADITIONAL, "order", board.runs.tie_order)
    with st.popover("Settings", icon=":material/tune:", width="stretch"):
        rerankers = controls.multiselect("Rerankers", offered_rerankers(board), "rerankers")
        groups = sorted(set(cache.segments(board)))
        segments = tuple(controls.multiselect("Query groups", groups, "segments")) if groups else ()
        scoring = choose_scoring(board.runs)
    is_first = traditional == board.runs.tie_order
    st.caption(escape_markdown(_first_order_reason(board) if is_first else treatment(traditional).summary))
    choose(_BASELINE, usual_baseline(rerankers), rerankers.__contains__)
    note = st.empty()
    with note.container():
        _count(board, len(rerankers), board.n_queries, [])
    if len(board.runs.tables) > _MAX_RERANKERS:
        st.caption(
            f"Pages show the first {_MAX_RERANKERS} rerankers. To see others, untick some on the Data page."
        )
    segments = segments if len(segments) < len(groups) else ()
    return Selection(board, record, rerankers, segments, traditional, scoring, note)


def _count(board: Board, n_rerankers: int, n_queries: int, phrases: Sequence[str]) -> None:
    """Draw how many rerankers and queries are shown, and the settings that differ from the defaults."""
    n_all = len(board.runs.tables)
    shown = count_of(n_all, "reranker") if n_rerankers == n_all else part_of(n_rerankers, n_all, "reranker")
    parts = [shown, queries_text(n_queries), *(phrases if board.runs.is_judged else ["no judgments"])]
    place = "" if owner() else " Runs stay on this machine."
    st.caption(f"{escape_markdown(', '.join(parts))}.{place}")


def select_order(orders: Sequence[str], key: str, default: str = "") -> str:
    """Draw the choice of the tie order and return its name."""
    return controls.select(
        "Tie order", orders, key, default, format_func=lambda name: treatment(name).label, help=ORDER_HELP
    )


def _first_order_reason(board: Board) -> str:
    order = treatment(board.runs.tie_order).order
    if board.runs.tie_order != "input":
        return f"Default for TREC runs: {order}."
    is_mixed = len(set(board.runs.tie_orders)) > 1
    return f"Default for {'mixed formats' if is_mixed else 'files other than TREC runs'}: {order}."


def _turn_to(board: Board, record: Record | None) -> None:
    """Open another board with all its rerankers and its saved settings."""
    before, now = st.session_state.get(_SHOWN_BOARD), (record.id if record else board.label, board.key)
    st.session_state[_SHOWN_BOARD] = now
    if before == now:
        return
    if before is not None:
        if not controls.is_linked("rerankers"):
            set_values({"rerankers": None})
        set_values({"list": None})
    is_link = before is None and bool(set(controls.address_choices()) - {DATA})
    controls.open_view(record.view if record else {}, is_link=is_link)


def board_settings() -> dict[str, controls.Texts]:
    """Return the current settings to save with a board."""
    not_saved = {DATA, controls.SECTION}
    return {key: texts for key, texts in controls.choices().texts.items() if key not in not_saved}
