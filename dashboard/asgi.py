"""The app behind its security middleware, as `tiescope app` serves it."""

import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import streamlit as st
from starlette.middleware import Middleware

from dashboard.server.connections import forget_ended_sessions
from dashboard.server.first_page import begin_loading
from dashboard.server.hosts import HostGuard
from dashboard.server.middleware import FirstPageRedirect, MessageGuard, SecurityHeaders
from dashboard.server.sign_ins import SignInGuard
from dashboard.server.uploads import UploadGuard
from dashboard.settings import ALLOW_HOST, EMBED, OPEN


@asynccontextmanager
async def lifespan(app: st.App) -> AsyncIterator[dict[str, Any]]:
    """Preload the first page, and release the memory of ended sessions while the server runs."""
    begin_loading()
    async with forget_ended_sessions(app) as state:
        yield state


opened = json.loads(os.environ.get(OPEN) or "{}")
is_results_only = opened.get("stored") and not opened.get("runs")  # the page of results then comes first
first_page = [] if is_results_only else [Middleware(FirstPageRedirect, path="/leaderboard")]
app = st.App(
    Path(__file__).with_name("app.py"),
    middleware=[
        Middleware(SecurityHeaders, embedders=os.environ.get(EMBED, "").split()),
        Middleware(HostGuard, declared=os.environ.get(ALLOW_HOST, "").split()),
        *first_page,
        Middleware(SignInGuard),
        Middleware(UploadGuard),
        Middleware(MessageGuard),
    ],
    lifespan=lifespan,
)
