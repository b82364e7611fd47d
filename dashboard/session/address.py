"""The address of the page: every choice that is not the default, whatever page is shown.

A control asks here what the address wants of it before it is drawn, and says here what it was set to. What
the address wants of a control that no page has drawn yet stays in it.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, cast
from urllib.parse import urlencode

import streamlit as st

_CHOSEN = "_address"
_PENDING = "_address_pending"
_EXPLICIT = "_address_explicit"
_REFUSED = "_address_refused"
_LINKED = "_address_of_links"
_PAGE = "_address_page"
_LAST = "_address_last"
_OPEN = "_open_list"
_SECTION = "section"
"""The key of the control of sections: several pages have one, each with sections of its own."""
_SECTIONS = "_address_sections"
_RENAMED = {"part": _SECTION, "below": _SECTION}
"""Keys of the address that version 0.2 wrote, and what they are now."""

Texts = list[str]
"""A choice as the address says it: several texts where several things are chosen."""


def address_choices() -> dict[str, Texts]:
    """Return the choices that the address of the page has now."""
    return {key: st.query_params.get_all(key) for key in st.query_params}


def read_address(page: str) -> None:
    """Take what the address asks for, as a session begins or a link leads to another page with choices.

    The menu opens a page at an address without choices: those of the session are put back into it.
    """
    asked = {_RENAMED.get(key, key): texts for key, texts in address_choices().items()}
    if _PAGE not in st.session_state:
        _pending().update(asked)
    elif st.session_state[_PAGE] != page:
        before = _part(_LINKED)
        _pending().update({key: texts for key, texts in asked.items() if before.get(key) != texts})
        _change_section(st.session_state[_PAGE], page)
    st.session_state[_PAGE] = page
    _write()


def request(choices: Mapping[str, object]) -> None:
    """Have controls set as they are drawn next, as if the address said so: key → value."""
    _pending().update({key: _texts(value) for key, value in choices.items()})


def insist(keys: Iterable[str]) -> None:
    """Have these controls, and no others, stand in the address though they are at their default."""
    st.session_state[_EXPLICIT] = frozenset(keys)


def requested(key: str) -> str | None:
    """Return what the address asks of a control that is not drawn yet; the last where it asks for several."""
    return next(reversed(_pending().get(key, [])), None)


def forget(key: str) -> None:
    """Ask nothing of a control any more."""
    _pending().pop(key, None)


def fulfil(key: str, read: Callable[[Texts], Any], is_valid: Callable[[Any], bool]) -> None:
    """Set a control, about to be drawn, to what the address asks for; where it cannot be, note that.

    Args:
        key: of the choice.
        read: texts of the address → value of the control; a ValueError where they are none.
        is_valid: whether the data offers that value.
    """
    texts = _pending().pop(key, None)
    if texts is None:
        return
    try:
        value = read(texts)
    except (ValueError, OverflowError):
        value = None
    if value is not None and is_valid(value):
        st.session_state[key] = value
    else:
        refuse(key, texts)


def refuse(key: str, texts: Sequence[str]) -> None:
    """Note that the address asks for what is not offered."""
    _part(_REFUSED).update({f"{key}={text}": None for text in texts})


def refused() -> list[str]:
    """Return, once, what was asked for and is not offered."""
    return list(st.session_state.pop(_REFUSED, {}))


def record(key: str, value: object, default: object) -> None:
    """Note what a control is set to: its place in the address, none where it is at its default.

    Args:
        key: of the choice.
        value: what it is set to.
        default: what it is when nobody chose.
    """
    _part(_LAST)[key] = value
    if value == default and key not in st.session_state.get(_EXPLICIT, ()):
        _part(_CHOSEN).pop(key, None)
    else:
        _part(_CHOSEN)[key] = _texts(value)
    _write()


def is_chosen(key: str) -> bool:
    """Return whether the address, or the visitor as late as just now, set a control about to be drawn."""
    value = st.session_state.get(key)
    is_changed = value is not None and value != _part(_LAST).get(key, value)
    return is_changed or key in _pending() or key in _part(_CHOSEN)


def link_parameters(choices: Mapping[str, str]) -> dict[str, Texts]:
    """Return the query parameters of a link with these choices, and all others as they are."""
    of_any_page = {key: texts for key, texts in _choices().items() if key != _SECTION}
    st.session_state[_LINKED] = of_any_page
    return of_any_page | {key: [text] for key, text in choices.items()}


def page_link() -> str:
    """Return the address of what is shown."""
    return f"{str(st.context.url).partition('?')[0]}?{urlencode(_choices(), doseq=True)}".removesuffix("?")


def list_link_parameters(reranker: str, query_id: str, **choices: str) -> dict[str, list[str]]:
    """Return the query parameters of a link to one list, with more choices of its page."""
    return link_parameters({"reranker": reranker, "query": query_id} | choices)


def set_open_list(reranker: str | None, query: str | None) -> None:
    """Keep the list that is opened below a chart; None closes it."""
    st.session_state[_OPEN] = (reranker, query)


def get_open_list() -> tuple[str | None, str | None]:
    """Return reranker and query of the list opened below a chart."""
    return cast("tuple[str | None, str | None]", st.session_state.get(_OPEN, (None, None)))


def _change_section(page_before: str, page: str) -> None:
    """Keep the section that a page showed, and choose the one that the page to be drawn showed last."""
    sections = _part(_SECTIONS)
    if _SECTION in st.session_state:
        sections[page_before] = st.session_state.pop(_SECTION)
    if page in sections:
        st.session_state[_SECTION] = sections[page]
    _part(_CHOSEN).pop(_SECTION, None)


def _write() -> None:
    """Write all choices into the address, where it says others."""
    choices = _choices()
    if choices != address_choices():
        st.query_params.from_dict(choices)


def _choices() -> dict[str, Texts]:
    return dict(sorted({**_part(_CHOSEN), **_pending()}.items()))


def _pending() -> dict[str, Texts]:
    return _part(_PENDING)


def _part(name: str) -> dict[str, Any]:
    return cast("dict[str, Any]", st.session_state.setdefault(name, {}))


def _texts(value: object) -> Texts:
    """Return a value as the address says it."""
    if isinstance(value, Iterable) and not isinstance(value, str):
        return [text for item in value for text in _texts(item)]
    if isinstance(value, bool):
        return [str(value).lower()]
    return [f"{value:.12g}" if isinstance(value, float) else str(value)]
