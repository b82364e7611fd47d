"""Repeats of one reranker: offered where names differ in a seed alone, combined and separated by a button."""

from collections.abc import Callable, Mapping, Sequence

import streamlit as st

from dashboard import session
from dashboard.escaping import escape_markdown
from dashboard.library.boards import Board, BoardSpec
from dashboard.widgets.page_body import section
from metrics.runs.repeats.choice import repeat_groups
from metrics.support.wording import count_of, first_names

_MOST_NAMES = 4


@section("Repeats")
def offer_repeats(board: Board) -> None:
    """Offer to combine rerankers that look like repeats of one, and to separate those that are combined."""
    if combined := board.spec.repeats:
        _row(_combined_text(combined), "Separate", "separate-repeats", board.spec.separated)
    if groups := repeat_groups(board.runs.rerankers):
        name_of = {member: name for name, members in groups.items() for member in members}
        names = {name: name_of.get(name, name) for name in board.runs.rerankers}
        _row(_offer_text(groups), "Combine", "combine-repeats", lambda: board.spec.arranged(names))


def _row(text: str, label: str, key: str, spec: Callable[[], BoardSpec]) -> None:
    """Draw a sentence of Markdown and the button that rebuilds the board."""
    with st.container(horizontal=True, vertical_alignment="center", border=True):
        st.markdown(f":material/stacks: {text}", width="stretch")
        if st.button(label, key=key):
            session.rebuild_board(spec())


def _offer_text(groups: Mapping[str, Sequence[str]]) -> str:
    """Return what rerankers look like repeats of, and what combining them does."""
    count = count_of(sum(map(len, groups.values())), "reranker")
    return (
        f"{count} look like repeats of {_bold(groups)}. Combined, a score is their mean, and Compare, Noise "
        "shows what its scatter does."
    )


def _combined_text(combined: Mapping[str, Sequence[str]]) -> str:
    """Return which rerankers are made of repeats."""
    if len(combined) > 1:
        return f"{_bold(combined)} are means of {count_of(sum(map(len, combined.values())), 'repeat')}."
    (members,) = combined.values()
    names = escape_markdown(first_names(members))
    return f"{_bold(combined)} is the mean of {count_of(len(members), 'repeat')}: {names}."


def _bold(names: Mapping[str, object]) -> str:
    """Return names for a sentence, a few of many."""
    return f"**{escape_markdown(first_names(list(names), _MOST_NAMES))}**"
