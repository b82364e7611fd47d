"""The documentation as it is built: without a warning, its links lead somewhere, and it asks no other host."""

import functools
import http.server
import json
import re
import subprocess
import sys
import threading
from html.parser import HTMLParser
from urllib.parse import unquote, urlsplit

import pytest
from playwright.sync_api import expect
from repository import ROOT
from typer.main import get_command

import metrics
from dashboard.cli.commands import tiescope

for package in ("mkdocs", "material", "mkdocstrings", "latex2mathml"):
    pytest.importorskip(package, reason=f"{package}, which builds the documentation, is not installed")

LOADING = {"src", "srcset", "poster", "data", "action"}
"""Attributes from which a browser loads at once; `href` too, but on links that are clicked."""
GUIDE = ROOT / "dashboard/views/guide_text"


class Addresses(HTMLParser):
    """The ids of a page, where its links lead, and what is loaded with it."""

    def __init__(self, text):
        super().__init__()
        self.ids, self.links, self.loaded = set(), set(), set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            if name in {"id", "name"}:
                self.ids.add(value)
            elif name == "href" and tag == "a":
                self.links.add(value or "")
            elif (name == "href" and tag != "base") or name in LOADING:
                self.loaded.add(value or "")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The site, built as `make docs` does; a warning ends it."""
    folder = tmp_path_factory.mktemp("built") / "site"
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    built = subprocess.run(command, cwd=ROOT, check=False, text=True, capture_output=True)
    assert built.returncode == 0, built.stderr[-3000:]
    return folder


@pytest.fixture(scope="module")
def pages(site):
    """Path of each page → what it holds."""
    paths = {path: path.read_text(encoding="utf-8") for path in site.rglob("*.html") if path.name != "404.html"}
    return {path: (text, Addresses(text)) for path, text in paths.items()}


def test_every_link_within_the_site_leads_to_a_page_and_a_place_on_it(site, pages):
    lost = []
    for path, (_, addresses) in pages.items():
        for address in addresses.links | addresses.loaded:
            parts = urlsplit(address)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            if (
                not target.is_relative_to(site)
                or not target.exists()
                or (parts.fragment and target in pages and unquote(parts.fragment) not in pages[target][1].ids)
            ):
                lost.append((path.name, address))
    assert lost == []


def test_no_page_script_or_style_loads_anything_from_another_host(site, pages):
    assert [
        (path.name, one) for path, (_, page) in pages.items() for one in page.loaded if urlsplit(one).netloc
    ] == []
    styles = "\n".join(path.read_text(encoding="utf-8") for path in site.rglob("*.css"))
    assert re.findall(r"(?:url\(|@import)\s*[\"']?(?:https?:)?//[^)\"']+", styles) == []


def test_the_guide_of_the_app_is_on_the_site_with_all_its_headings(site):
    for path in GUIDE.glob("*.md"):
        page = (site / f"guide/{path.stem}.html").read_text(encoding="utf-8")
        titles = re.findall(r"^#{2,3} ([\w][\w ,]+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
        assert [title for title in titles if title not in page] == [], path.name
        assert not re.search(r":(gray|small|orange|blue)\[|\{\{|\$\$", page), path.name


def test_every_formula_is_drawn(pages):
    formulas = next(text for path, (text, _) in pages.items() if path.name == "formulas.html")
    assert formulas.count("<math") > 100
    raw = re.compile(r"arithmatex|<m\w+>(\\|&(amp;)?<)|<mn>\d+pt<")
    assert [path.name for path, (text, _) in pages.items() if raw.search(text)] == []


def test_the_reference_has_every_public_name_with_what_it_does(site):
    page = (site / "reference/python.html").read_text(encoding="utf-8")
    assert [name for name in metrics.__all__ if f'id="metrics.{name}"' not in page] == []
    assert "<blockquote>" not in page  # an example outside of its section


def test_the_commands_are_those_of_the_command_line_with_every_option(site):
    page = (site / "reference/commands.html").read_text(encoding="utf-8")
    commands = get_command(tiescope).commands
    options = {option for command in commands.values() for each in command.params for option in each.opts}
    assert [name for name in commands if f"tiescope {name}" not in page] == []
    assert [
        option for option in options if option.startswith("--") and f"<code>{option}</code>" not in page
    ] == []


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        """Say nothing."""


@pytest.fixture(scope="module")
def served(site):
    """Address of the site."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=site))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_the_site_is_read_searched_and_turned_dark_without_an_error_or_another_host(served, browser):
    problems = []
    with browser.new_context() as context:
        page = context.new_page()
        page.on("console", lambda message: message.type == "error" and problems.append(message.text))
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on(
            "request", lambda sent: sent.url.startswith((served, "data:", "blob:")) or problems.append(sent.url)
        )
        page.goto(f"{served}/gallery.html")
        charts = page.locator(".chart .js-plotly-plot")
        expect(charts).to_have_count(page.locator(".chart").count())
        ink = "() => getComputedStyle(document.querySelector('.chart .xtick text')).fill"
        light = page.evaluate(ink)
        page.get_by_title("Dark").click()
        page.wait_for_function(f"light => ({ink})() !== light", arg=light)
        page.keyboard.press("/")
        page.get_by_role("textbox", name="Search").press_sequentially("bpref")
        expect(page.locator(".md-search-result__item").first).to_contain_text("bpref", ignore_case=True)
        page.locator(".md-search-result__link").first.click()
        page.wait_for_url(re.compile(r"(guide|reference)/"))
        expect(page.locator("body")).to_have_attribute("data-md-color-scheme", "slate")
        page.set_viewport_size({"width": 390, "height": 844})
        for path in ("guide/formulas", "tutorials/pull_request", "reference/commands"):
            page.goto(f"{served}/{path}.html")
            assert page.evaluate("document.documentElement.scrollWidth") == 390, path
    assert problems == []


def test_the_search_index_holds_every_page(site, pages):
    index = json.loads((site / "search/search_index.json").read_text(encoding="utf-8"))
    found = {entry["location"].partition("#")[0] for entry in index["docs"]}
    assert {path.relative_to(site).as_posix() for path in pages} <= found | {"index.html"}
