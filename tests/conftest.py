import gc
import os
import shutil
import signal
import sys
import tempfile

import pytest
from chromium import find
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings
from playwright.sync_api import sync_playwright
from rich.text import Text
from xdist.scheduler import LoadScopeScheduling

from dashboard import cli, settings

MAIN = sys.modules["__main__"]
os.environ["TIESCOPE_HOME"] = tempfile.mkdtemp(prefix="tiescope-home-")  # never what a user keeps
os.environ["DASK_TEMPORARY_DIRECTORY"] = os.environ["TIESCOPE_HOME"]  # not the one of all processes
os.environ.pop("TIESCOPE_DATABASE_URL", None)
os.environ.pop("TIESCOPE_AUDIT_LOG", None)
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # the processes of a test would each compile all there is
sys.dont_write_bytecode = False
patient = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}  # a busy machine is no failure
hypothesis_settings.register_profile("suite", derandomize=True, max_examples=15, **patient)
hypothesis_settings.register_profile("thorough", max_examples=400, **patient)
hypothesis_settings.load_profile("suite")


def pytest_collection_modifyitems(config, items):
    """Skip what takes minutes unless its marker is asked for."""
    for marker in {"slow", "fuzz"} - set(config.option.markexpr.split()):
        for item in items:
            if item.get_closest_marker(marker):
                item.add_marker(pytest.mark.skip(reason=f"takes minutes: pytest -m {marker}"))


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Look for no garbage in what is collected: not meanwhile, nor where Streamlit does, after each page.

    And look seldom: a page makes many thousands of objects, of which few are garbage that only a look finds.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(20_000)
        gc.enable()


class BrowserTestsTogether(LoadScopeScheduling):
    """A file stays with one worker, and so do all browser tests, which share a server and a browser."""

    def _split_scope(self, nodeid):
        file = nodeid.partition("::")[0]
        return "browser" if file.startswith("tests/browser/") else file


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    return BrowserTestsTogether(config, log)


def pytest_unconfigure():
    shutil.rmtree(os.environ["TIESCOPE_HOME"], ignore_errors=True)


@pytest.fixture(autouse=True)
def _main_module():
    """Put `__main__` back: what runs a page takes its place, and new processes would run that."""
    sys.modules["__main__"] = MAIN
    yield
    sys.modules["__main__"] = MAIN


@pytest.fixture(scope="session")
def browser():
    """The one browser of a process, which can have but one: Playwright runs its loop until it ends."""
    with sync_playwright() as playwright:
        # Pages of one profile share a process, and with it the scripts it has compiled. What makes scripts fast
        # that run for minutes is a fifth of the work where each page is open for seconds.
        args = ["--no-sandbox", "--process-per-site", "--js-flags=--no-maglev --no-turbofan"]
        yield playwright.chromium.launch(executable_path=find(), args=args)


@pytest.fixture
def write(tmp_path):
    def save(name, content):
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return save


@pytest.fixture
def call(monkeypatch, capsys):
    """Run the command: exit code, standard output, standard error."""

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["tiescope", *map(str, arguments)])
        with pytest.raises(SystemExit) as stop:
            cli.main()
        captured = capsys.readouterr()
        return stop.value.code or 0, captured.out, Text.from_ansi(captured.err).plain

    return run


@pytest.fixture
def default_signals():
    """Handle signals as in a terminal; nohup and background jobs of a shell ignore some."""
    defaults = {
        signal.SIGINT: signal.default_int_handler,
        signal.SIGTERM: signal.SIG_DFL,
        signal.SIGHUP: signal.SIG_DFL,
    }
    before = {number: signal.signal(number, handler) for number, handler in defaults.items()}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.fixture
def streamlit_calls(monkeypatch, tmp_path):
    """What the app command hands to Streamlit, which is not started; no secrets but those of the test."""
    calls = []
    monkeypatch.setattr(
        "dashboard.streamlit_internals.run_app",
        lambda script, options: calls.append(["run", str(script), *options]),
    )
    for name in (
        settings.OPEN,
        settings.ALLOW,
        settings.INSECURE,
        settings.EMBED,
        settings.ALLOW_HOST,
        "STREAMLIT_SECRETS_FILES",
    ):
        monkeypatch.setenv(name, "")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    return calls
