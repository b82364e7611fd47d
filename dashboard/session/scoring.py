"""How lists are scored and rerankers compared: the choices, and the words for them."""

from collections.abc import Mapping, Sequence
from typing import cast

import numpy as np
import streamlit as st

from dashboard.escaping import escape_markdown
from dashboard.session import address
from dashboard.session.boards import notify
from dashboard.session.controls import KEPT, get_value, number_input, prepare, segmented, select
from metrics import Runs
from metrics.errors import UsageError
from metrics.evaluation import AS_READ, Policy, ScoringOptions
from metrics.support.wording import compared_as
from metrics.ties.lists import further_scores
from metrics.ties.precision import rounded

TIE_BREAKS = "tiebreak"
"""Name of the choice of further scores, in the link."""
_POLICIES = ("zero", "skip")
_NEAR = ("within:0.001", "within:0.01", "within:0.1")
_PRECISIONS = ("float64", "float32", "float16", "bfloat16", *(f"decimals:{n}" for n in range(7)), *_NEAR)


def choose_scoring(runs: Runs) -> ScoringOptions:
    """Draw the choice of how lists are scored: as the files say unless the visitor says otherwise."""
    with st.popover("Scoring", icon=":material/tune:", width="stretch"):
        precision = _choose_precision()
        tiebreak_by = _choose_tie_breaks(further_scores(runs))
        relevant_from = number_input("Relevant from grade", 1, 1000, 1, "relevant_from")
        missing = segmented("Judged queries without rows", _POLICIES, "missing")
        empty = segmented("Queries with nothing relevant", _POLICIES, "empty")
    policies = cast("Policy", missing), cast("Policy", empty)
    return ScoringOptions(precision, *policies, relevant_from, tiebreak_by)


def _choose_precision() -> str:
    """Draw the choice of how scores are compared; any precision may be written, and what is none is told of."""
    written = get_value("precision")
    is_further = bool(written) and written not in _PRECISIONS
    try:
        rounded(np.empty(0), written or _PRECISIONS[0])
    except UsageError as error:
        is_further = False
        if address.requested("precision") is None:
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
    """Draw the choice of further scores that split ties, in the order they are chosen; none at first.

    Args:
        columns: further scores that every reranker has; without any, nothing is drawn.
    """

    def read(texts: address.Texts) -> list[str]:
        address.refuse(TIE_BREAKS, [text for text in texts if text not in columns])
        return list(dict.fromkeys(text for text in texts if text in columns))

    prepare(TIE_BREAKS, read, lambda names: set(names) <= set(columns), [])
    names: list[str] = []
    if columns:
        names = st.multiselect(
            "Ties split first by",
            columns,
            key=TIE_BREAKS,
            placeholder="Nothing",
            help="Further scores of your files, highest first: each splits what is level in those before it. "
            "What is level in all of them stays tied.",
            **KEPT,
        )
    address.record(TIE_BREAKS, names, [])
    return tuple(names)


def policy_phrases(counts: Mapping[str, int], scoring: ScoringOptions) -> list[str]:
    """Return what was done that is not usual, as phrases; counts are n_missing and n_empty."""
    outcomes = {"zero": "count as 0", "skip": "are left out"}
    level, precision = scoring.relevant_from, scoring.precision
    tie_breaks = escape_markdown(", ".join(scoring.tiebreak_by))
    phrases = [
        f"{counts['n_missing']:,} without rows {outcomes[scoring.missing]}" if counts["n_missing"] else "",
        f"{counts['n_empty']:,} with nothing relevant {outcomes[scoring.empty]}" if counts["n_empty"] else "",
        f"relevant from grade {level:g}" if level != AS_READ.relevant_from else "",
        f"scores as {compared_as(precision)}" if precision != AS_READ.precision else "",
        f"ranked by fronts of {escape_markdown(', '.join(scoring.criteria))}" if scoring.criteria else "",
        f"ties split by {tie_breaks} first" if tie_breaks else "",
    ]
    return [phrase for phrase in phrases if phrase]


def choose_test() -> tuple[str, str]:
    """Draw the choice of a test and of a correction for many comparisons; return their names."""
    from metrics.studies.significance.test_registry import CORRECTIONS, TESTS  # noqa: PLC0415 scipy.stats

    tests = {test.label.removesuffix(" test").removeprefix("paired "): test.name for test in TESTS}
    corrections = {correction.label: correction.name for correction in CORRECTIONS}
    test = tests[segmented("Test", list(tests), "test")]
    return test, corrections[segmented("Correction", list(corrections), "correction")]
