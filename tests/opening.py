"""The app without a browser, opened on a page."""

from pathlib import Path

from streamlit.testing.v1 import AppTest

import dashboard

APP = Path(dashboard.__file__).parent / "app.py"


def opened(view, **query):
    test = AppTest.from_file(str(APP), default_timeout=60)
    for key, value in query.items():
        test.query_params[key] = value
    test.run()
    if view != "leaderboard":
        test.switch_page(f"views/{view}.py").run()
    assert not test.exception, test.exception
    return test
