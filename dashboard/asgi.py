"""The app behind its guards, as a server runs it: `streamlit run dashboard/asgi.py`."""

import os
from pathlib import Path

import streamlit as st
from starlette.middleware import Middleware

from dashboard.access.settings import EMBED
from dashboard.server.compression import CompressedFiles
from dashboard.server.headers import SecurityHeaders
from dashboard.server.messages import MessageGuard
from dashboard.server.sessions import forget_ended_sessions
from dashboard.server.uploads import UploadGuard

app = st.App(
    Path(__file__).with_name("app.py"),
    middleware=[
        Middleware(SecurityHeaders, embedders=os.environ.get(EMBED, "").split()),
        Middleware(UploadGuard),
        Middleware(CompressedFiles),
        Middleware(MessageGuard),
    ],
    lifespan=forget_ended_sessions,
)
