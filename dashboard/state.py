"""The choices of a session, and their place in the link.

The only file that touches session state and query parameters. Every control is bound to the URL and
kept over page switches; a value that the data does not offer (any more) falls back to the default.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

import streamlit as st

from dashboard import cache
from dashboard.cache import AS_READ, Scoring
from dashboard.charts.palette import Palette, palette
from dashboard.components import shown
from dashboard.library import Board, Recipe, queries_text
from metrics import MEASURES, Evaluation, parse
from metrics.errors import TieScopeError, UsageError
from metrics.runs import Source
from metrics.ties import Ranking, treatment

_DATA = "data"
_NEXT = "_next_data"
_KNOWN = "_known_data"
_LOST = "_lost_data"
_VIEW = "_view"
_THEME = "_theme"
_GIVEN = "_given_files"
_DRAFT = "_draft"
_TRIED = "_tried_draft"
_CLICK = "_click"
_OPEN = "_open_list"
_SHOWN = "_shown_data"
_WANTED = "_wanted_measure"

_PRECISIONS = ("float64", "float32", "float16", "bfloat16", *(f"decimals:{n}" for n in range(7)))
_ORDER_HELP = "How ties fell before: " + " ".join(
    f"**{name}**: {treatment(name).summary} ({treatment(name).used_by})." for name in cache.TRADITIONAL
).replace("_", r"\_")


def theme() -> Palette:
    """Colours of the theme this visitor has chosen."""
    return palette(st.context.theme.type)


@st.fragment(run_every=2)
def follow_theme() -> None:
    """Draw again when the visitor switches the theme, which by itself reruns nothing."""
    now = st.context.theme.type
    if st.session_state.setdefault(_THEME, now) != now:
        st.session_state[_THEME] = now
        st.rerun()


def one(label: str, options: Sequence[str], key: str, default: str | None = None, **more: Any) -> str:  # noqa: ANN401 passed on
    """A row of options, one of them chosen."""
    default = default or options[0]
    _fit(key, lambda value: value in options, default)
    chosen = st.segmented_control(
        label,
        options,
        key=key,
        default=default,
        required=True,
        wrap=True,
        bind="query-params",
        persist_state="session",
        **more,
    )
    return chosen or default


def pick(label: str, options: Sequence[str], key: str, default: str | None = None, **more: Any) -> str:  # noqa: ANN401 passed on
    """One of many options, from a list."""
    default = default or options[0]
    _fit(key, lambda value: value in options, default)
    at = list(options).index(default)
    chosen = st.selectbox(label, options, at, key=key, bind="query-params", persist_state="session", **more)
    return chosen or default


def some(label: str, options: Sequence[str], key: str) -> list[str]:
    """Any of the options, all by default; in their own order. None chosen means all."""
    _fit(key, lambda value: set(value) <= set(options), list(options))
    chosen = st.multiselect(
        label,
        options,
        default=list(options),
        key=key,
        placeholder="All",
        bind="query-params",
        persist_state="session",
    )
    return [option for option in options if option in chosen] or list(options)


def pills(label: str, options: Sequence[str], key: str) -> list[str]:
    """As `some`, with every option in sight."""
    _fit(key, lambda value: set(value) <= set(options), list(options))
    chosen = st.pills(
        label,
        options,
        selection_mode="multi",
        default=list(options),
        format_func=str.capitalize,
        key=key,
        wrap=True,
        bind="query-params",
        persist_state="session",
    )
    return [option for option in options if option in chosen] or list(options)


def measure(label: str = "Measure") -> str:
    """A measure: one of the usual, or any other with its cut-off."""
    other = _other_measure()
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        chosen = one(label, [*cache.MEASURES, *([other] if other else [])], "measure")
        with st.popover("More", icon=":material/tune:", help="Any other measure and cut-off."):
            _choose_other()
    return chosen


def _choose_other() -> None:
    names = {item.name: item for item in MEASURES}
    name = st.selectbox("Measure", list(names), key="_other", format_func=lambda one: one)
    item = names[name]
    st.caption(item.summary)
    k = None
    if item.cutoff != "none":
        free = item.cutoff == "optional"
        k = st.number_input("Cut-off", 1, 100_000, None if free else 10, key="_other_k", placeholder="none")
    if st.button("Use", type="primary", key="_other_use"):
        st.session_state[_WANTED] = str(parse(item.name + ("" if k is None else f"@{k}")))
        st.rerun()


def _other_measure() -> str | None:
    """The measure asked for that is none of the usual, by the visitor or the link."""
    if wanted := st.session_state.pop(_WANTED, None):
        st.session_state["measure"] = wanted
    asked = st.session_state.get("measure") or st.query_params.get("measure")
    try:
        name = str(parse(str(asked))) if asked else None
    except UsageError:
        return None
    return None if name in cache.MEASURES else name


def count(label: str, least: int, most: int, default: int, key: str, **more: Any) -> int:  # noqa: ANN401 passed on
    """A whole number. Asked for as a float: a link that says `inf` would end a field of whole numbers."""
    _fit(key, lambda value: value is not None and least <= value <= most, float(default))
    chosen = st.number_input(
        label,
        float(least),
        float(most),
        float(default),
        1.0,
        "%.0f",
        key=key,
        bind="query-params",
        persist_state="session",
        **more,
    )
    return round(chosen)


def slide(label: str, ends: tuple[float, float], default: float, step: float, key: str) -> float:
    """A number on a line."""
    _fit(key, lambda value: ends[0] <= value <= ends[1], default)
    return float(
        st.slider(
            label,
            float(ends[0]),
            float(ends[1]),
            float(default),
            float(step),
            "%.0f" if step >= 1 else "%.2f",
            key=key,
            bind="query-params",
            persist_state="session",
        )
    )


def span(label: str, ends: tuple[int, int], default: tuple[int, int], key: str) -> tuple[int, int]:
    """The fewest and the most of something: two whole numbers on a line."""
    _fit(key, lambda value: all(ends[0] <= one <= ends[1] for one in value), default)
    chosen = st.slider(label, *ends, default, 1, key=key, bind="query-params", persist_state="session")
    return min(chosen), max(chosen)


def told(key: str) -> str:
    """What the field of a text holds, or the link says, before the field is drawn."""
    return str(st.session_state.get(key, st.query_params.get(key, "")))


def tell(key: str, value: object) -> None:
    """Set a control; before it is drawn, or as something else is clicked."""
    st.session_state[key] = value


def text(label: str, key: str, **more: Any) -> str:  # noqa: ANN401 passed on
    """A line of text."""
    return st.text_input(label, key=key, bind="query-params", persist_state="session", **more) or ""


def editing(key: str, now: str) -> tuple[str, str]:
    """Text a table to edit is drawn from, and the key of that table: both stay while the visitor edits.

    Args:
        key: of the text that the table is also told as.
        now: that text; another than `edited` last said begins a new table.
    """
    base, last, serial = st.session_state.get(f"_{key}", ("", None, 0))
    table = f"_{key}_{serial}"
    if now != last or table not in st.session_state:
        base, table = now, f"_{key}_{serial + 1}"
        st.session_state[f"_{key}"] = now, now, serial + 1
    return base, table


def edited(key: str, now: str) -> None:
    """Say what the table to edit holds now."""
    base, _, serial = st.session_state[f"_{key}"]
    st.session_state[f"_{key}"] = base, now, serial


@dataclass(frozen=True)
class View:
    """What every page shows: the data, which of it, how it is scored, and what counts as traditional.

    Attributes:
        board: the data.
        rerankers: those chosen that have a list, in the order of the data.
        traditional: the treatment taken as the traditional one.
        scoring: how lists are scored.
        evaluation: their values.
        palette: colours of the theme.
        segments: those chosen, none where all are.
    """

    board: Board
    rerankers: list[str]
    traditional: str
    scoring: Scoring
    evaluation: Evaluation
    palette: Palette
    segments: tuple[str, ...] = ()

    @property
    def shown(self) -> cache.Shown:
        """What tells this view from another, whatever page it is seen on."""
        return cache.Shown(self.board.label, self.scoring, tuple(self.rerankers), self.segments)

    def colour(self, reranker: str) -> str:
        """Colour of a reranker, the same on every page whatever else is chosen."""
        return self.palette.reranker(self.board.runs.rerankers.index(reranker))

    def ranking(self, reranker: str) -> Ranking:
        """The lists of a reranker, cut into tie groups as they are scored."""
        return cache.ranking(self.board.label, reranker, self.board, self.scoring)

    @property
    def baseline(self) -> str:
        """What the others are compared with: as chosen on the Runs page, else the first."""
        chosen = st.session_state.get("baseline")
        return chosen if chosen in self.rerankers else self.rerankers[0]


def choose_view() -> None:
    """Draw the choices all pages share, and keep them for the page."""
    board = _board()
    names = board.runs.rerankers
    if st.session_state.get(_SHOWN, board.label) != board.label:
        st.session_state["rerankers"] = list(names)
        open_list(None, None)
    st.session_state[_SHOWN] = board.label
    known = cache.segments(board.label, board)
    with st.popover("Filter", icon=":material/filter_list:", width="stretch"):
        chosen = some("Rerankers", names, "rerankers")
        kinds = sorted(set(known))
        within = some("Segments", kinds, "segments") if kinds else []
    traditional = pick("Traditional order", cache.TRADITIONAL, "order", help=_ORDER_HELP)
    scoring = _choose_scoring()
    other = _other_measure()
    measures = (*cache.MEASURES, *([other] if other else []))
    whole = cache.evaluation(board.label, board, scoring, measures)
    queries = set(known.index[known.isin(within)]) if len(within) < len(kinds) else None
    values = whole.only(chosen, queries)
    scored = set(values.scores.index.get_level_values("reranker"))
    kept = [name for name in chosen if name in scored]
    if not kept:
        st.warning("No list is left by these choices; all lists are shown.")
        scoring, queries = AS_READ, None
        values, kept = cache.evaluation(board.label, board, scoring, measures).only(chosen), chosen
    elif len(kept) < len(chosen):
        st.caption(f"Without a list: {shown(', '.join(name for name in chosen if name not in scored))}.")
    values = values.only(kept)
    _say_policies(values, scoring, f"{len(kept)} of {len(names)} rerankers")
    part = () if queries is None else tuple(within)
    st.session_state[_VIEW] = View(board, kept, traditional, scoring, values, theme(), part)


def _choose_scoring() -> Scoring:
    """How lists are scored; what the files say unless the visitor says otherwise."""
    with st.popover("Scoring", icon=":material/tune:", width="stretch"):
        precision = pick("Scores as", _PRECISIONS, "precision", help="Rounds scores before they are compared.")
        level = count("Relevant from grade", 1, 1000, 1, "relevant_from")
        missing = one("Judged queries without rows", ("zero", "skip"), "missing")
        empty = one("Queries with nothing relevant", ("zero", "skip"), "empty")
    return Scoring(
        precision, "skip" if missing == "skip" else "zero", "skip" if empty == "skip" else "zero", level
    )


def _say_policies(values: Evaluation, scoring: Scoring, who: str) -> None:
    """What is counted and how, always in sight."""
    counts = values.policies.max()
    done = {"zero": "count as 0", "skip": "are left out"}
    told = [
        f"{counts['n_missing']} without rows {done[scoring.missing]}" if counts["n_missing"] else "",
        f"{counts['n_empty']} with nothing relevant {done[scoring.empty]}" if counts["n_empty"] else "",
        f"relevant from grade {scoring.relevant_from}" if scoring.relevant_from > 1 else "",
        f"scores as {scoring.precision}" if scoring.precision != AS_READ.precision else "",
    ]
    queries = values.scores.index.get_level_values("query_id").nunique()
    st.caption(", ".join([who, queries_text(queries), *filter(None, told)]) + ". Runs stay on this machine.")


def view() -> View:
    """What the sidebar says is shown."""
    return cast("View", st.session_state[_VIEW])


def _board() -> Board:
    """The data shown, chosen in the sidebar or by the link."""
    if wanted := st.session_state.pop(_NEXT, None):
        st.session_state[_DATA] = wanted
    boards = _boards()
    asked = st.query_params.get(_DATA)
    if asked is not None and asked not in boards:
        st.session_state[_LOST] = asked
    return boards[pick("Dataset", list(boards), _DATA)]


def lost_data() -> str | None:
    """Data that the link asked for and this server does not have (any more); told once."""
    return cast("str | None", st.session_state.pop(_LOST, None))


def show(board: Board) -> None:
    """Keep a board, show it from now on, and draw again."""
    if board.label not in cache.samples():
        cache.library().add(board)
    st.session_state[_NEXT] = board.label
    known = st.session_state.setdefault(_KNOWN, [])
    if board.label not in known:
        known.append(board.label)
    st.rerun()


def open_query(reranker: str, query_id: str) -> dict[str, str]:
    """Query parameters of a link to one list."""
    return linked({"reranker": reranker, "query": query_id})


def linked(choices: dict[str, str]) -> dict[str, str]:
    """Query parameters of a link with these choices, and all others as they are."""
    return {key: st.query_params[key] for key in st.query_params if key not in choices} | choices


def draft(base: Recipe | None) -> Recipe:
    """What was dropped, with what the visitor amended since, file by file; None clears it."""
    if base is None:
        for key in (_GIVEN, _TRIED, _DRAFT):
            st.session_state.pop(key, None)
        return Recipe(())
    if st.session_state.get(_GIVEN) != base.digest:
        before = st.session_state.get(_DRAFT)
        st.session_state[_GIVEN], st.session_state[_DRAFT] = base.digest, base.amended_as(before)
    return cast("Recipe", st.session_state[_DRAFT])


def amend(recipe: Recipe) -> None:
    """Change what was dropped and is not shown yet, and draw again."""
    st.session_state[_DRAFT] = recipe
    st.rerun()


def is_new_draft(digest: str) -> bool:
    """Whether this draft was not shown before."""
    before = st.session_state.get(_TRIED)
    st.session_state[_TRIED] = digest
    return digest != before


def remake(recipe: Recipe) -> None:
    """Show what another recipe makes of the files loaded; where it makes nothing, say why."""
    sources = [cache.source(entry.digest, entry) for entry in recipe.entries]
    wrong = next((one for one in sources if isinstance(one, TieScopeError)), None)
    made = wrong or cache.joined(recipe.digest, recipe, [one for one in sources if isinstance(one, Source)])
    if isinstance(made, Board):
        show(made)
    else:
        st.error(shown(f"{made} Nothing was changed."), icon=":material/error:")


def clicked(chart: str) -> int | None:
    """Index of the row behind a point clicked just now; None where nothing new was clicked."""
    event = st.session_state.get(chart)
    points = event["selection"]["points"] if event else []
    data = points[0].get("customdata") if points else None
    now = int(data[0]) if data else None
    before = st.session_state.get(_CLICK)
    st.session_state[_CLICK] = now
    return now if now != before else None


def open_list(reranker: str | None, query: str | None) -> None:
    """Keep the list that is opened below a chart; None closes it."""
    st.session_state[_OPEN] = (reranker, query)


def opened_list() -> tuple[str | None, str | None]:
    """Reranker and query of the list opened below a chart."""
    return cast("tuple[str | None, str | None]", st.session_state.get(_OPEN, (None, None)))


def _boards() -> dict[str, Board]:
    """Boards this session may choose from, by label: its own, the one it links to, and the samples."""
    home = cache.home()
    found = {home.label: home} | cache.samples()
    labels = [*st.session_state.get(_KNOWN, []), st.query_params.get(_DATA), st.session_state.get(_DATA)]
    for label in labels:
        if label and (kept := cache.library().get(label)):
            found[label] = kept
    return found


def _fit(key: str, fits: Callable[[Any], bool], default: object) -> None:
    """Set a choice that the data does not offer to the default; a choice not made yet is left to its widget."""
    if key in st.session_state and not fits(st.session_state[key]):
        st.session_state[key] = default
