"""Draw controls whose choices the address names, so that a link shows the same.

`Choices` holds the texts of all choices of a session. A click writes the text of its control, and a control
shows its text. Streamlit's own binding (`bind="query-params"`) cannot replace this, as tried in Chromium with
version 1.67: `st.switch_page` raises once a bound parameter is known, a select box accepts only its label, and
a page link with `query_params` does not set a bound control.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from operator import itemgetter
from typing import Any, TypeVar, cast

import streamlit as st

from dashboard.charts.labels import short_names

SECTION = "section"
"""Key of the control of sections, which each page fills with its own sections."""
_CHOICES = "_choices"

Texts = list[str]
"""A choice as texts of the address."""
Choice = TypeVar("Choice")


@dataclass
class Choices:
    """The choices of a session."""

    texts: dict[str, Texts] = field(default_factory=dict)  # by key of the control, if not the default
    page_keys: set[str] = field(default_factory=set)  # keys that this run has read; the address names these
    linked: set[str] = field(default_factory=set)  # keys set by the address that no control has read yet
    refused: list[str] = field(default_factory=list)  # values of the address that no control offers
    saved: dict[str, Texts] = field(default_factory=dict)  # texts saved with the board
    page: str | None = None  # address of the page
    sections: dict[str | None, Texts] = field(default_factory=dict)  # page → texts of its section
    written: dict[str, Texts] | None = None  # the address as last written; the browser may not show it yet


def choices() -> Choices:
    """Return the choices of this session."""
    return cast("Choices", st.session_state.setdefault(_CHOICES, Choices()))


def read_address(page: str) -> None:
    """Begin a run: read the address at the start of a session and after each page switch.

    The menu opens pages without a query, which means the choices of the session: the address names them at
    once, so that it opens the same if the page is left before it is drawn.
    """
    now = choices()
    now.page_keys.clear()
    if now.page == page:
        return
    now.sections[now.page] = now.texts.pop(SECTION, [])
    if section := now.sections.get(page):
        now.texts[SECTION] = section
    now.page = page
    address = address_choices()
    new = {key: texts for key, texts in address.items() if now.texts.get(key) != texts}
    now.texts |= new
    now.linked = now.linked - {SECTION} | set(new)
    if not address:
        st.query_params.from_dict(now.texts)


def write_address() -> None:
    """Write the choices of the sidebar and of this page into the address."""
    now = choices()
    address = {key: now.texts[key] for key in sorted(now.page_keys & now.texts.keys())}
    before, now.written = now.written, address
    if not (address if before is None else before) == address == address_choices():
        st.query_params.from_dict(address)


def address_choices() -> dict[str, Texts]:
    """Return the choices in the browser's address."""
    return {key: st.query_params.get_all(key) for key in st.query_params}


def link_parameters(other_choices: Mapping[str, str]) -> dict[str, Texts]:
    """Return the query parameters of a link with these choices and all current ones."""
    current = {key: texts for key, texts in choices().texts.items() if key != SECTION}
    return current | {key: [text] for key, text in other_choices.items()}


def open_view(saved: Mapping[str, object], *, is_link: bool) -> None:
    """Choose what is saved with a board where the visitor has chosen nothing, and leave the last board's view.

    A link with choices of its own opens the board without its saved view. The address names all choices that
    are saved, even a default, because a link to the board alone would open the saved ones.
    """
    now = choices()
    for key, texts in now.saved.items():
        if now.texts.get(key) == texts and key not in now.linked:
            del now.texts[key]
    now.saved = {key: _texts(value) for key, value in saved.items()}
    if not is_link:
        now.texts = now.saved | now.texts


def refuse(key: str, texts: Iterable[str]) -> None:
    """Note values of the address that a control does not offer."""
    now = choices()
    if key in now.linked:
        now.refused += [f"{key}={text}" for text in texts]


def refused() -> list[str]:
    """Return and clear the values of the address that are not offered."""
    now = choices()
    texts, now.refused = now.refused, []
    return list(dict.fromkeys(texts))


def is_linked(key: str) -> bool:
    """Return whether the address sets a control that has not been drawn since."""
    return key in choices().linked


def get_text(key: str) -> str:
    """Return the last text of a choice, empty for the default."""
    return (choices().texts.get(key) or [""])[-1]


def set_values(values: Mapping[str, object]) -> None:
    """Set controls before they are drawn, or in a callback: key → value; an empty value sets the default."""
    for key, value in values.items():
        choices().texts.pop(key, None)
        if value not in (None, "", []):
            choices().texts[key] = _texts(value)


def recall(key: str) -> Any:  # noqa: ANN401 of any kind
    """Return a value of the session that the address does not name, such as that of a widget; None without."""
    return st.session_state.get(key)


def remember(key: str, value: object) -> None:
    """Set a value of the session that the address does not name, that of a widget before it is drawn."""
    st.session_state[key] = value


def choose(
    key: str, default: Choice, is_valid: Callable[[Any], bool], read: Callable[[Texts], Any] = itemgetter(-1)
) -> Choice:
    """Return what a control is set to, its default if it is not set or set to something invalid.

    `read` makes a value of texts, and raises ValueError or OverflowError for invalid ones.
    """
    now = choices()
    now.page_keys.add(key)
    texts = now.texts.pop(key, [])
    try:
        value = read(texts) if texts else default
        is_known = is_valid(value)
    except (ValueError, OverflowError):
        is_known = False
    if not is_known:
        refuse(key, texts)
        value = default
    now.linked.discard(key)
    if value != default or key in now.saved:
        now.texts[key] = _texts(value)
    return value


def bound(key: str, value: object, clears: Sequence[str] = (), *, is_sent: bool = False) -> dict[str, Any]:
    """Return the options of a control that shows a value; a click on it writes its text.

    A click returns the controls `clears` to their defaults. `is_sent` sends the value in each run: a browser
    that skips the first run would show none, or the lowest number, and a list keeps the label from before.
    """
    state = st.session_state
    if is_sent or key not in state or state[key] != value:
        state[key] = value
    return {"key": key, "on_change": _take, "args": (key, *clears)}


def _take(key: str, *clears: str) -> None:
    choices().texts[key] = _texts(st.session_state[key])
    set_values(dict.fromkeys(clears))


def segmented(label: str, options: Sequence[str], key: str, default: str = "", **more_options: Any) -> str:
    """Draw a row of options, the first or `default` chosen at first, and return the chosen one."""
    choice = choose(key, default or options[0], options.__contains__)
    look = bound(key, choice, is_sent=True) | more_options
    st.segmented_control(label, options, required=True, wrap=True, **look)
    return choice


def choose_section(sections: Sequence[str]) -> str:
    """Draw the sections of a page and return the chosen one."""
    return segmented("Section", sections, SECTION, label_visibility="collapsed")


def select(label: str, options: Sequence[str], key: str, default: str = "", **more_options: Any) -> str:
    """Draw a list of options, the first or `default` chosen at first, and return the chosen one."""
    choice = choose(key, default or options[0], options.__contains__)
    st.selectbox(label, options, **bound(key, choice, is_sent=True), **more_options)
    return choice


def select_after(label: str, texts: Mapping[str, str], key: str, default: str = "", **more_options: Any) -> str:
    """Draw a list of option → text and return the chosen option, searchable by any letters shown.

    Each text is written after the label, which takes no line of its own.
    """
    written = {option: f"{label} {text}" for option, text in texts.items()}
    look: dict[str, Any] = {
        "label_visibility": "collapsed",
        "filter_mode": "contains",
        "format_func": written.__getitem__,
    }
    return select(label, list(texts), key, default, **look | more_options)


def select_name(label: str, names: Sequence[str], key: str, default: str = "", **more_options: Any) -> str:
    """Draw a list of names, shortened, and return the chosen one."""
    return select_after(f"{label}:", short_names(names), key, default, **more_options)


def multiselect(label: str, options: Sequence[str], key: str) -> list[str]:
    """Draw a multiple choice and return the chosen options in their own order; none chosen means all."""
    return _choose_several(partial(st.multiselect, label, placeholder="All"), options, key)


def choose_in_order(label: str, options: Sequence[str], key: str, **more_options: Any) -> list[str]:
    """Draw a multiple choice, empty at first, and return the chosen options in the order chosen."""

    def read(texts: Texts) -> list[str]:
        refuse(key, [text for text in texts if text not in options])
        return [text for text in dict.fromkeys(texts) if text in options]

    choice = choose(key, list[str](), set(options).issuperset, read)
    if options:
        st.multiselect(label, options, **bound(key, choice), **more_options)
    return choice


def pills(label: str, options: Sequence[str], key: str, format_func: Callable[[str], str]) -> list[str]:
    """Draw and return a choice as `multiselect` does, with every option in sight."""
    draw = partial(st.pills, label, selection_mode="multi", format_func=format_func, wrap=True)
    return _choose_several(draw, options, key)


def number_input(label: str, low: int, high: int, default: int, key: str, **more_options: Any) -> int:
    """Draw a field for a whole number from `low` to `high` and return the number."""
    number = choose(key, default, range(low, high + 1).__contains__, lambda texts: int(texts[-1]))
    st.number_input(label, low, high, **bound(key, number, is_sent=True), **more_options)
    return number


def text_input(label: str, key: str, **more_options: Any) -> str:
    """Draw a line of text and return its content."""
    longest = more_options.get("max_chars") or math.inf
    text = choose(key, "", lambda text: len(text) <= longest)
    st.text_input(label, **bound(key, text), **more_options)
    return text


def toggle(label: str, key: str, **more_options: Any) -> bool:
    """Draw a switch, off at first, and return whether it is on."""
    is_on = choose(key, "false", ("true", "false").__contains__, lambda texts: texts[-1].lower()) == "true"
    st.toggle(label, **bound(key, is_on), **more_options)
    return is_on


def _choose_several(draw: Callable[..., object], options: Sequence[str], key: str) -> list[str]:
    all_options = list(options)

    def read(texts: Texts) -> list[str]:
        refuse(key, [text for text in texts if text not in all_options])
        return [option for option in all_options if option in texts] or all_options

    choice = choose(key, all_options, bool, read)
    field_value = st.session_state.get(key)  # an empty field means all and stays empty
    is_current = field_value is not None and set(field_value or all_options) == set(choice)
    draw(all_options, **bound(key, field_value if is_current else choice))
    return choice


def _texts(value: object) -> Texts:
    if isinstance(value, Iterable) and not isinstance(value, str):
        return [text for item in value for text in _texts(item)]
    if isinstance(value, bool):
        return [str(value).lower()]
    return [f"{value:.12g}" if isinstance(value, float) else str(value)]
