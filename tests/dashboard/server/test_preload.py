"""Scripts that the browser is told of before it asks for them."""

import re

from asgi import answer
from starlette.applications import Starlette
from starlette.responses import HTMLResponse, PlainTextResponse
from starlette.routing import Route

from dashboard.server.preload import PreloadedScripts


def test_a_page_names_the_scripts_of_charts_and_tables_where_the_front_end_has_them(tmp_path):
    for name in ("PlotlyChart.a1.js", "DataFrame.b2.js", "DataFrameOther.c3.js"):
        (tmp_path / name).touch()
    routes = [
        Route("/runs", lambda _: HTMLResponse("a page")),
        Route("/static/js/a.js", lambda _: PlainTextResponse("")),
    ]
    app = PreloadedScripts(Starlette(routes=routes), tmp_path)
    links = answer(app, "GET", "/runs").headers["Link"]
    assert re.findall("<(.*?)>; rel=modulepreload", links) == [
        "./static/js/PlotlyChart.a1.js",
        "./static/js/DataFrame.b2.js",
    ]
    assert "Link" not in answer(app, "GET", "/static/js/a.js").headers


def test_the_front_end_that_is_installed_has_both_scripts():
    app = PreloadedScripts(Starlette(routes=[Route("/", lambda _: HTMLResponse("a page"))]))
    assert answer(app, "GET", "/").headers["Link"].count("rel=modulepreload") == 2
