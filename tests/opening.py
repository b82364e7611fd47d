"""The app without a browser, opened on a page by a link."""

from functools import cache
from pathlib import Path

from streamlit.components.v2 import manifest_scanner
from streamlit.testing.v1 import AppTest

import dashboard

APP = Path(dashboard.__file__).parent / "app.py"

# Streamlit looks through every installed package anew for each app that is opened.
manifest_scanner.scan_component_manifests = cache(manifest_scanner.scan_component_manifests)


def opened(view, **query):
    test = AppTest.from_file(str(APP), default_timeout=60)
    for key, value in query.items():
        test.query_params[key] = value
    if view != "leaderboard":
        test.switch_page(f"views/{view}/{view}.py")
    test.run()
    assert not test.exception, test.exception
    return test


def title(page):
    """What the page is called."""
    (head,) = page.title
    return head.value


def metrics(page):
    """The figures on the cards of a page, by their labels without icons."""
    return {card.label.partition(": ")[2]: card.value for card in page.metric}


def table(page, key):
    """The rows of the table with this key, which is the name of its download."""
    (rows,) = (frame.value for frame in page.dataframe if frame.proto.id.endswith(f"-table-{key}"))
    return rows
