"""The first page is loaded before anybody asks for it."""

import ast
import json
import os
import subprocess
import sys
from pathlib import Path
from threading import Thread

import pytest
from asgi import answer
from starlette.responses import PlainTextResponse

import dashboard
from dashboard.server.first_page import await_loading
from dashboard.server.middleware import FirstPageRedirect
from dashboard.settings import OPEN

FOLDER = Path(dashboard.__file__).parent
LOADED = """
import json, sys, warnings
warnings.simplefilter("error")
import streamlit
from dashboard.server.first_page import await_loading, begin_loading
begin_loading()
await_loading()
json.dump(["plotly.io._json" in sys.modules, list(sys.modules)], sys.stdout)
"""


def imported(file):
    """Modules that a file imports as it is loaded, and perhaps names in them."""
    for statement in ast.parse(file.read_text(encoding="utf-8")).body:
        if isinstance(statement, ast.Import):
            yield from ((name.name,) for name in statement.names)
        elif isinstance(statement, ast.ImportFrom):
            yield from ((statement.module, f"{statement.module}.{name.name}") for name in statement.names)


def loaded(**variables):
    """Whether a chart was drawn, and all modules, once all is loaded."""
    command, environment = [sys.executable, "-c", LOADED], os.environ | variables
    process = subprocess.run(command, env=environment, capture_output=True, check=True, text=True)
    assert not process.stderr
    return json.loads(process.stdout)


def test_all_that_frame_and_first_page_import_is_loaded_and_a_chart_was_drawn():
    is_drawn, modules = loaded()
    assert is_drawn
    wanted = {
        name
        for page in ("app.py", "views/leaderboard.py")
        for names in imported(FOLDER / page)
        for name in names
    }
    of_ours = {name for name in wanted if (FOLDER.parent / name.replace(".", "/")).with_suffix(".py").exists()}
    assert of_ours > {"dashboard.widgets.leaderboard_parts", "dashboard.views.large"}
    assert of_ours <= set(modules)


def test_a_server_that_opens_other_files_draws_no_sample():
    is_drawn, modules = loaded(**{OPEN: json.dumps({"runs": ["own.trec"], "qrels": None})})
    assert not is_drawn
    assert "dashboard.widgets.leaderboard_parts" in modules


def test_a_page_without_a_server_waits_for_nothing():
    page = Thread(target=await_loading, daemon=True)
    page.start()
    page.join(timeout=60)
    assert not page.is_alive()


@pytest.mark.parametrize("query", ["", "?measure=nDCG%4010&board=caf%C3%A9%20~1&reranker=a&reranker=b"])
@pytest.mark.parametrize("folder", ["/", "/behind/a/proxy/"])
def test_the_own_address_of_the_first_page_leads_to_the_root_with_its_query(folder, query):
    app = FirstPageRedirect(PlainTextResponse("another page"), "/leaderboard")
    response = answer(app, "GET", f"{folder}leaderboard{query}")
    assert response.status_code == 307
    assert str(response.url.join(response.headers["Location"])) == f"http://tiescope{folder}{query}"
    for path in ("", "ties", "leaderboard/x", "media/leaderboard.csv"):
        assert answer(app, "GET", f"{folder}{path}{query}").text == "another page"
