"""Draw controls that keep their value over page switches and have a key in the address.

The address names every choice that is not the default of its control, on every page, so that a link shows the
same. Streamlit's own binding (`bind="query-params"`) cannot do that in version 1.67: a link inside the
app does not set a control that the browser already has, and a select box writes its label, not its value.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar, cast
from urllib.parse import urlencode

import streamlit as st

from dashboard.charts.labels import TABLE_COLUMNS, short_names

_ADDRESS = "_address"
"""Session key of: key of a control → its texts in the address."""
_REQUESTED = "_requested"
"""Session key of: key of a control → texts to set it to when it is next drawn, None for its default."""
_DEFAULTS = "_defaults"
"""Session key of: key of a control → its default when it was last drawn."""
_OPENED_WITH = "_opened_with"
"""Session key of: settings saved with the board, which become the defaults of their controls."""
_NAMED_DEFAULTS = "_named"
"""Session key of: keys that the address names even if they have their default."""
_REFUSED = "_refused"
_PAGE, _SECTIONS, _LABELS, _CLICK, _OPEN = "_page", "_sections", "_labels", "_click", "_open_list"
SECTION = "section"
"""Key of the control of sections, which each page fills with its own sections."""
_WRITTEN = "_written"
"""Session key of: the address as last written, which the browser may not show yet."""
PERSISTENT: dict[str, Any] = {"persist_state": "session"}
"""Options of every control: its value survives page switches."""

Texts = list[str]
"""A choice as texts of the address."""
Choice = TypeVar("Choice")


def read_address(page: str) -> None:
    """Read the address at the start of a session and after each page switch.

    The menu opens pages without a query; `write_address` then restores the choices of the session.
    """
    state = st.session_state
    if state.get(_PAGE) == page:
        return
    _change_section(state.get(_PAGE), page)
    state[_PAGE] = page
    for key, texts in address_choices().items():
        if _address().get(key) != texts:
            _address()[key] = _requested()[key] = texts


def write_address() -> None:
    """Write the choices into the address."""
    address = dict(sorted(_address().items()))
    before = st.session_state.get(_WRITTEN, address)
    st.session_state[_WRITTEN] = address
    if not before == address == address_choices():
        st.query_params.from_dict(address)


def address_choices() -> dict[str, Texts]:
    """Return the choices in the browser's address."""
    return {key: st.query_params.get_all(key) for key in st.query_params}


def page_link() -> str:
    """Return the link to the current page and choices."""
    address = urlencode(sorted(_address().items()), doseq=True)
    return f"{str(st.context.url).partition('?')[0]}?{address}".removesuffix("?")


def link_parameters(choices: Mapping[str, str]) -> dict[str, Texts]:
    """Return the query parameters of a link with these choices and all current ones."""
    current_choices = {key: texts for key, texts in _address().items() if key != SECTION}
    return current_choices | {key: [text] for key, text in choices.items()}


def refuse(key: str, texts: Sequence[str]) -> None:
    """Note a value of the address that is not offered."""
    st.session_state.setdefault(_REFUSED, {}).update({f"{key}={text}": None for text in texts})


def refused() -> list[str]:
    """Return and clear the values of the address that are not offered."""
    return list(st.session_state.pop(_REFUSED, {}))


def request(choices: Mapping[str, object]) -> None:
    """Set controls when they are next drawn, as the address does: key → value."""
    for key, value in choices.items():
        _address()[key] = _requested()[key] = _texts(value)


def asked_text(key: str) -> str | None:
    """Return the last value that the address asks of a control not drawn yet."""
    return next(reversed(_requested().get(key) or []), None)


def forget(key: str) -> None:
    """Ignore the address for a control."""
    _requested().pop(key, None)


def reset(key: str) -> None:
    """Return a control to its default when it is next drawn, unless the address sets it."""
    if key not in _requested():
        _requested()[key] = None


def open_with(settings: Mapping[str, object], *, are_defaults: bool) -> None:
    """Name the settings saved with a board in the address, and make them defaults.

    A link that names its own choices leaves the defaults unchanged: `are_defaults` is false then.
    """
    before, now = st.session_state.get(_OPENED_WITH, {}), settings if are_defaults else {}
    st.session_state[_OPENED_WITH], st.session_state[_NAMED_DEFAULTS] = now, frozenset(settings)
    for key in {*before, *now}:
        if before.get(key) != now.get(key) and not is_chosen(key):
            _requested()[key] = None


def is_chosen(key: str) -> bool:
    """Return whether the visitor or the address changed a control from its default."""
    state = st.session_state
    is_changed = key in state and state[key] != state.get(_DEFAULTS, {}).get(key, state[key])
    return is_changed or _requested().get(key) is not None


def follow_defaults(defaults: Mapping[str, object]) -> None:
    """Move the defaults of controls that belong together, unless the visitor chose one: key → default."""
    if not any(map(is_chosen, defaults)):
        st.session_state.update(defaults)


def get_value(key: str) -> str:
    """Return the value of a control, drawn or not."""
    return str(
        asked_text(key) or st.session_state.get(key, "") or st.session_state.get(_OPENED_WITH, {}).get(key, "")
    )


def set_value(key: str, value: object) -> None:
    """Set a control before it is drawn, or in a callback."""
    forget(key)
    st.session_state[key] = value


def set_values(values: Mapping[str, object]) -> None:
    """Set several controls: key → value."""
    for key, value in values.items():
        set_value(key, value)


def prepare(key: str, read: Callable[[Texts], Any], is_valid: Callable[[Any], bool], default: Choice) -> Choice:
    """Set a control about to be drawn to the address, its value before or its default; return the default.

    `read` makes a value of the texts in the address, and raises ValueError for invalid ones.
    """
    state = st.session_state
    saved = state.get(_OPENED_WITH, {}).get(key)
    default = saved if saved is not None and is_valid(saved) else default
    if key in _requested():
        texts = _requested().pop(key)
        value = default if texts is None else _read(texts, read)
        if value is not None and is_valid(value):
            state[key] = value
        else:
            refuse(key, texts or [])
    if key not in state or not is_valid(state[key]):
        state[key] = default
    state.setdefault(_DEFAULTS, {})[key] = default
    return default


def record(key: str, value: Choice, default: object) -> Choice:
    """Write a choice into the address unless it is a default that needs no mention, and return it."""
    if value == default and key not in st.session_state.get(_NAMED_DEFAULTS, ()):
        _address().pop(key, None)
    else:
        _address()[key] = _texts(value)
    return value


def segmented(label: str, options: Sequence[str], key: str, default: str = "", **more_options: Any) -> str:  # noqa: ANN401 passed on
    """Draw a row of options, the first or `default` chosen at first, and return the chosen one."""
    default = prepare(key, _last, options.__contains__, default or options[0])
    choice = st.segmented_control(
        label, options, key=key, required=True, wrap=True, **PERSISTENT, **more_options
    )
    return record(key, choice or default, default)


def choose_section(sections: Sequence[str]) -> str:
    """Draw the sections of a page and return the chosen one."""
    return segmented("Section", sections, SECTION, label_visibility="collapsed")


def select(
    label: str,
    options: Sequence[str],
    key: str,
    default: str = "",
    *,
    is_explicit: bool = False,
    **more_options: Any,  # noqa: ANN401 passed on
) -> str:
    """Draw a list of options, the first or `default` chosen at first, and return the chosen one.

    If `is_explicit`, the address names even the default.
    """
    default = prepare(key, _last, options.__contains__, default or options[0])
    _renew_label(key, more_options.get("format_func", str))
    choice = st.selectbox(label, options, key=key, **PERSISTENT, **more_options) or default
    return record(key, choice, None if is_explicit else default)


def select_name(label: str, names: Sequence[str], key: str, default: str = "", **more_options: Any) -> str:  # noqa: ANN401 passed on
    """Draw a list of names, shortened and searchable by any letters shown, and return the chosen one."""
    labels = short_names(names, TABLE_COLUMNS)
    return select(
        label, names, key, default, format_func=labels.__getitem__, filter_mode="contains", **more_options
    )


def multiselect(label: str, options: Sequence[str], key: str) -> list[str]:
    """Draw a multiple choice and return the chosen options in their own order; none chosen means all."""
    return _choose_several(partial(st.multiselect, label, placeholder="All"), options, key)


def pills(
    label: str, options: Sequence[str], key: str, format_func: Callable[[str], str] = str.capitalize
) -> list[str]:
    """Draw and return a choice as `multiselect` does, with every option in sight."""
    draw = partial(st.pills, label, selection_mode="multi", format_func=format_func, wrap=True)
    return _choose_several(draw, options, key)


def number_input(label: str, low: int, high: int, default: int, key: str, **more_options: Any) -> int:  # noqa: ANN401 passed on
    """Draw a field for a whole number from `low` to `high` and return the number."""
    whole_number(key, low, high, default)
    st.number_input(
        label, float(low), float(high), step=1.0, format="%.0f", key=key, **PERSISTENT, **more_options
    )
    return whole_number(key, low, high, default)


def whole_number(key: str, low: float, high: float, default: float) -> int:
    """Return the whole number of a field, drawn or not."""
    default = prepare(key, _number, lambda number: number is not None and low <= number <= high, float(default))
    return record(key, _rounded(st.session_state[key]), _rounded(default))


def slider(label: str, ends: tuple[float, float], default: float, step: float, key: str) -> float:
    """Draw a slider for a number and return the number."""
    low, high = map(float, ends)
    default = prepare(key, _number, lambda number: low <= number <= high, float(default))
    places = "%.0f" if step >= 1 else "%.2f"
    number = st.slider(label, low, high, default, float(step), places, key=key, **PERSISTENT)
    return record(key, float(number), default)


def range_slider(label: str, ends: tuple[int, int], default: tuple[int, int], key: str) -> tuple[int, int]:
    """Draw a slider for a range of whole numbers and return its ends."""
    default = prepare(key, _pair, lambda pair: all(ends[0] <= number <= ends[1] for number in pair), default)
    low, high = st.slider(label, *ends, default, 1, key=key, **PERSISTENT)
    return record(key, (low, high), tuple(default))


def select_slider(label: str, options: Sequence[str], key: str, default: str, **more_options: Any) -> str:  # noqa: ANN401 passed on
    """Draw a slider over options in order and return the chosen one."""
    default = prepare(key, _last, options.__contains__, default)
    choice = st.select_slider(label, options, value=default, key=key, **PERSISTENT, **more_options)
    return record(key, choice, default)


def text_input(label: str, key: str, **more_options: Any) -> str:  # noqa: ANN401 passed on
    """Draw a line of text and return its content."""
    longest = more_options.get("max_chars") or math.inf
    default = prepare(key, _last, lambda text: text is not None and len(text) <= longest, "")
    return record(key, st.text_input(label, key=key, **PERSISTENT, **more_options) or "", default)


def toggle(label: str, key: str, **more_options: Any) -> bool:  # noqa: ANN401 passed on
    """Draw a switch, off at first, and return whether it is on."""
    default = prepare(key, _switch, lambda value: isinstance(value, bool), default=False)
    return record(key, bool(st.toggle(label, key=key, **PERSISTENT, **more_options)), default)


def stored_choice(key: str, default: str, is_valid: Callable[[str], bool]) -> str:
    """Return a choice that buttons make by `set_value` and that the address names."""
    default = prepare(key, _last, is_valid, default)
    return record(key, str(st.session_state[key]), default)


def clicked_row(chart: str) -> int | None:
    """Return the row index behind the point just clicked, None without a new click."""
    data = (clicked_point(chart) or {}).get("customdata")
    return int(data[0]) if data else None


def clicked_point(chart: str) -> dict[str, Any] | None:
    """Return the point just clicked, None without a new click."""
    event = st.session_state.get(chart)
    points = event["selection"]["points"] if event else []
    now = points[0] if points else None
    before = st.session_state.get(f"{_CLICK}-{chart}")
    st.session_state[f"{_CLICK}-{chart}"] = now
    return now if now != before else None


def set_open_list(reranker: str | None, query: str | None) -> None:
    """Set the list opened below a chart; None closes it."""
    st.session_state[_OPEN] = (reranker, query)


def get_open_list() -> tuple[str | None, str | None]:
    """Return reranker and query of the list opened below a chart."""
    return cast("tuple[str | None, str | None]", st.session_state.get(_OPEN, (None, None)))


def _choose_several(draw: Callable[..., list[str]], options: Sequence[str], key: str) -> list[str]:
    all_options = list(options)
    names = {option.capitalize(): option for option in all_options} | {name: name for name in all_options}

    def read(texts: Texts) -> list[str]:
        refuse(key, [text for text in texts if text not in names])
        return list(dict.fromkeys(names[text] for text in texts if text in names)) or all_options

    default = prepare(key, read, lambda choices: set(choices) <= set(all_options), all_options)
    choices = draw(all_options, key=key, **PERSISTENT)
    return record(key, [option for option in all_options if option in choices] or all_options, default)


def _renew_label(key: str, label_of: Callable[[str], str]) -> None:
    """Send the browser the current label of a choice: it keeps the label from when the choice was made."""
    choice = st.session_state[key]
    labels = st.session_state.setdefault(_LABELS, {})
    if labels.get(key) != (choice, label_of(choice)):
        st.session_state[key] = choice
    labels[key] = choice, label_of(choice)


def _change_section(page_before: str | None, page: str) -> None:
    state = st.session_state
    sections = state.setdefault(_SECTIONS, {})
    if SECTION in state:
        sections[page_before] = state.pop(SECTION)
    if page in sections:
        state[SECTION] = sections[page]
    _address().pop(SECTION, None)
    _requested().pop(SECTION, None)


def _address() -> dict[str, Texts]:
    return cast("dict[str, Texts]", st.session_state.setdefault(_ADDRESS, {}))


def _requested() -> dict[str, Texts | None]:
    return cast("dict[str, Texts | None]", st.session_state.setdefault(_REQUESTED, {}))


def _read(texts: Texts, read: Callable[[Texts], Any]) -> Any:  # noqa: ANN401 of any control
    try:
        return read(texts)
    except (ValueError, OverflowError):
        return None


def _last(texts: Texts) -> str:
    return texts[-1]


def _number(texts: Texts) -> float:
    return float(texts[-1])


def _rounded(number: float) -> int:
    return math.floor(number + 1 / 2)


def _pair(texts: Texts) -> tuple[int, int]:
    low, high = sorted(round(float(text)) for text in texts)
    return low, high


def _switch(texts: Texts) -> bool | None:
    return {"true": True, "false": False}.get(texts[-1].lower())


def _texts(value: object) -> Texts:
    if isinstance(value, Iterable) and not isinstance(value, str):
        return [text for item in value for text in _texts(item)]
    if isinstance(value, bool):
        return [str(value).lower()]
    return [f"{value:.12g}" if isinstance(value, float) else str(value)]
