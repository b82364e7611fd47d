"""The app without a browser, opened on a page by a link, and what a page shows, found by its label or key."""

import json
import re
import sys
import tempfile
from functools import cache
from pathlib import Path

from streamlit import config
from streamlit.components.v2 import manifest_scanner
from streamlit.testing.v1 import AppTest, local_script_runner

import dashboard
from dashboard import pages
from dashboard.widgets import components

APP = Path(dashboard.__file__).parent / "app.py"
FILES = {Path(page.file).stem: page.file for page in pages.PAGES} | {"large": pages.LARGE.file}
"""Name of each page → its file."""
PAGES = {Path(page.file).stem: page.title for page in pages.PAGES} | {"large": pages.LARGE.title}
"""Name of each page → its title."""
DATA_PAGES = {name: title for name, title in PAGES.items() if name != "large"}
"""Those that show the data chosen in the sidebar; the other shows a stored evaluation, where one is open."""
PRESENTATION = "present"
"""The page that has one sentence and one chart at a time, and no cards."""
FINDING_PAGES = [name for name in DATA_PAGES if name != PRESENTATION]
"""Those that say in a sentence what they found."""

# Streamlit looks through every installed package anew for each app that is opened, and compiles its pages.
manifest_scanner.scan_component_manifests = cache(manifest_scanner.scan_component_manifests)
local_script_runner.ScriptCache = cache(local_script_runner.ScriptCache)
config.set_option("browser.gatherUsageStats", False)  # as `dashboard/.streamlit/config.toml` has it
_refuse_to_wait = local_script_runner.require_widgets_deltas


def _wait(runner, timeout):
    """Wait for the run of a page; Streamlit looks through all that the run has sent each millisecond."""
    runner._script_thread.join(timeout)  # noqa: SLF001 it has no other name
    if runner._script_thread.is_alive():  # noqa: SLF001
        _refuse_to_wait(runner, 0)


local_script_runner.require_widgets_deltas = _wait


def _raise(_, error):
    """Have a section that fails end the page, as an exception that tests look for."""
    raise error


show_failure = components.show_failure
components.show_failure = _raise


def opened(view, **query):
    test = AppTest.from_file(str(APP), default_timeout=300)
    test.session_state["_browser"] = ""  # what `LoadedBoards.add` takes for granted
    for key, value in query.items():
        test.query_params[key] = value
    if view != "leaderboard":
        test.switch_page(FILES[view])
    test.run()
    assert not test.exception, test.exception
    return test


def go_to_data(page):
    """Turn to the page Data, unless it is open; what can be scored is shown on the Leaderboard."""
    return page if title(page) == PAGES["data"] else page.switch_page(FILES["data"]).run()


def drop(page, **files):
    """Drop files, named with a dot for the underscore, and let the page read them."""
    uploads = [
        (name.replace("_", "."), text if isinstance(text, bytes) else text.encode(), "text/plain")
        for name, text in files.items()
    ]
    go_to_data(page).file_uploader(key="upload").set_value(uploads).run()
    assert not page.exception, page.exception
    return page


def only(elements):
    """The one element there is of its kind."""
    (element,) = elements
    return element


def title(page):
    """What the page is called."""
    return only(page.title).value


def metrics(page):
    """The figures on the cards of a page, by their labels without icons."""
    return {card.label.partition(": ")[2]: card.value for card in page.metric}


def has_four_cards(page):
    """Whether there are four cards, each with a label of its own."""
    return len(metrics(page)) == len(page.metric) == 4


def finding(page):
    """The sentence that a page says first, with names in full, as its button copies it."""
    return copied(page).partition("\n")[0]


def copied(page, key="finding"):
    """What the button of a finding copies before the link."""
    (data,) = (one.proto.json for one in page.get("bidi_component") if one.proto.id.endswith(f"copy-{key}"))
    return json.loads(data)["text"]


def table(page, heading):
    """The rows of the first table below a heading that begins so, or in the section called so."""
    elements = iter(page.main)
    next(node for node in elements if is_heading(node, heading))
    return next(node for node in elements if node.type == "dataframe").value


def is_heading(node, text):
    """Whether an element is a heading that begins so, or the control of sections that shows this one."""
    if node.type == "header":
        return plain(node.value).startswith(text)
    return getattr(node, "key", None) == "section" and node.value == text


def texts(page, *kinds):
    """All that a page says in elements of these kinds; where none is named, paragraphs, captions and cards."""
    elements = [element for kind in kinds or ("markdown", "caption") for element in page.get(kind)]
    notes = [] if kinds else [card.delta for card in page.metric]
    return plain("\n".join([*(str(element.value) for element in elements), *notes]))


def leaks(page):
    """What a page says that is for the log of the server: stacks, and paths of its files."""
    said = "\n".join(str(getattr(node, "value", "")) for node in (*page.main, *page.sidebar))
    secrets = ("Traceback", *map(str, (APP.parent, APP.parents[1], Path(sys.prefix), tempfile.gettempdir())))
    return [secret for secret in secrets if secret in said]


ABSURD = re.compile(r"\bnan\b|[-−]0\.0+\b|−inf\b|\d{20}")
"""Words and numbers that no sentence has."""


def assert_sound(page):
    """Hold what a page says against what no page says; errors are those of the data alone."""
    assert [error.value for error in page.error if "No query of the run is judged" not in error.value] == []
    assert not leaks(page)
    assert not ABSURD.findall(texts(page, "markdown", "caption", "header", "metric"))


def plain(markdown):
    """Markdown without what keeps a user's text from being Markdown."""
    return markdown.replace("\\", "").replace("\u2060", "")


def charts(page):
    """The figures of a page by key."""
    return {
        chart.proto.id.partition("-")[2].partition("-")[2].removeprefix("chart-"): json.loads(chart.proto.spec)
        for chart in page.get("plotly_chart")
    }


def said(page):
    """What a page says in errors and warnings."""
    return plain(" ".join(alert.value for alert in [*page.error, *page.warning]))
