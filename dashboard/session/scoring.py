"""How lists are scored and rerankers compared: the choices, and the words for them."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np
import streamlit as st

from dashboard import controls
from dashboard.boards import notify
from dashboard.cache import grade_counts
from dashboard.controls import SECTION, get_value, prepare, record, segmented, select
from dashboard.escaping import escape_markdown
from dashboard.library.boards import Board
from metrics import Runs
from metrics.errors import UsageError
from metrics.evaluation import AS_READ, Policy, ScoringOptions
from metrics.support.wording import compared_as
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
_MOST_GRADES = 10
"""Grades whose counts are told."""
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
    counts = grade_counts(board)
    if max(counts, default=0) > AS_READ.relevant_from or _relevant_from() != AS_READ.relevant_from:
        grades = ", ".join(f"{n:,} of grade {grade:g}" for grade, n in list(counts.items())[:_MOST_GRADES])
        st.number_input(
            "Relevant from",
            *_RELEVANT_FROM_ENDS,
            step=1.0,
            format="%.0f",
            key=RELEVANT_FROM,
            width=130,
            help=f"Judgments: {grades}.",
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
    from metrics.studies.significance.test_registry import CORRECTIONS, TESTS  # noqa: PLC0415 scipy.stats

    tests = {test.label.removesuffix(" test").removeprefix("paired "): test.name for test in TESTS}
    corrections = {correction.label: correction.name for correction in CORRECTIONS}
    test = tests[segmented("Test", list(tests), "test")]
    return test, corrections[segmented("Correction", list(corrections), "correction")]
