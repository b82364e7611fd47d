"""Moved to dashboard.controls."""

from dashboard.controls import *  # noqa: F403
from dashboard.controls import KEPT, SECTION, Texts  # noqa: F401
from dashboard.controls import ask as request  # noqa: F401
from dashboard.controls import asked_text as requested  # noqa: F401


def list_link_parameters(reranker, query_id, **choices):
    return link_parameters({"reranker": reranker, "query": query_id} | choices)  # noqa: F405


def fulfil(key, read, is_valid):
    import streamlit as st

    from dashboard.controls import _asked, _read

    if (texts := _asked().pop(key, None)) is not None:
        value = _read(texts, read)
        if value is not None and is_valid(value):
            st.session_state[key] = value
        else:
            refuse(key, texts)  # noqa: F405


_OPEN = "_open_list"


def set_open_list(reranker, query):
    import streamlit as st

    st.session_state[_OPEN] = (reranker, query)


def get_open_list():
    import streamlit as st

    return st.session_state.get(_OPEN, (None, None))
