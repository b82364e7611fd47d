"""A server, of TieScope or of a bare app, and a browser that visits it, with a stopwatch in the page itself."""

import os
import re
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

from fresh import environment
from servers import free_port

STOPWATCH = """
(() => {
    const all = (selector) => [...document.querySelectorAll(selector)];
    const plotted = (chart) => chart.querySelector(".main-svg .subplot");
    const content = ({ data, layout }) => JSON.stringify([
        layout.xaxis?.title, layout.yaxis?.title, ...data.map((one) => [one.x, one.y, one.z, one.text]),
    ]);
    // Milliseconds from the next press of the mouse to the first frame after which `there` holds.
    const measure = (what, there) => {
        let from;
        const press = () => { from = performance.now(); };
        document.addEventListener("pointerdown", press, { capture: true, once: true });
        window.measured = new Promise((done, fail) => {
            setTimeout(() => fail(new Error(`${what}: not seen in half a minute`)), 30_000);
            const look = () => {
                if (!from || !there()) return requestAnimationFrame(look);
                requestAnimationFrame(() => setTimeout(() => done(performance.now() - from)));
            };
            look();
        });
    };
    // A chart is plotted that shows what none showed before; Streamlit puts a new one in place of the old.
    window.untilRedrawn = (name) => {
        const seen = new Set(all(".js-plotly-plot"));
        const before = new Set([...seen].map(content));
        measure(`${name} redrawn`, () => all(".js-plotly-plot").some((plot) => {
            if (seen.has(plot) || !plotted(plot)) return false;
            seen.add(plot);
            return !before.has(content(plot));
        }));
    };
    // The page of that name is there, nothing runs, and every chart of it is plotted.
    window.untilShown = (name) => measure(`${name} shown`, () =>
        document.querySelector("h1")?.textContent === name
        && document.querySelector("[data-test-script-state=notRunning]")
        && !document.querySelector("[data-testid=stSkeleton], [data-stale=true]")
        && all("[data-testid=stPlotlyChart]").every(plotted));
})();
"""
PAINTED = ".js-plotly-plot .scatterlayer path.point"
BARE = """
import plotly.graph_objects as go
import streamlit as st


def one():
    draw("One")


def two():
    draw("Two")


def draw(name):
    st.title(name)
    option = st.radio("Option", ["a", "b", "c", "d", "e"], horizontal=True)
    step = "abcde".index(option) + len(name) + (name == "Two")
    y = [place * step % 7 for place in range(20)]
    st.plotly_chart(go.Figure(go.Scatter(x=list(range(20)), y=y, mode="markers")))


st.navigation([st.Page(one, title="One"), st.Page(two, title="Two")]).run()
"""
"""The least that Streamlit does: two pages, each with a choice and one chart."""


class Server:
    """`tiescope app`, or `streamlit run` of a script, as a process of its own."""

    def __init__(self, *files: str, port: int | None = None, script: Path | None = None) -> None:
        self.port = port or free_port()
        if script:
            code = "from streamlit.web.cli import main; main()"
            options = ["--server.port", str(self.port), "--server.address=127.0.0.1", "--server.headless=true"]
            arguments = ["run", str(script), *options, "--server.fileWatcherType=none"]
        else:
            code = "from dashboard.cli import main; main()"
            arguments = ["app", *files, "--port", str(self.port)]
        command = [sys.executable, "-c", code, *arguments]
        quiet_streams = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self.process = subprocess.Popen(command, env=environment(), **quiet_streams)
        self.address = f"http://127.0.0.1:{self.port}"

    def wait(self) -> None:
        """Until it answers."""
        while self.process.poll() is None:
            with socket.socket() as probe:
                if not probe.connect_ex(("127.0.0.1", self.port)):
                    return
            time.sleep(0.005)
        raise SystemExit("The server did not start.")

    def megabytes(self) -> float:
        """What it holds in memory now, as Linux counts it."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+)", status)[1]) / 1000 * 1.024

    def cpu_seconds(self) -> float:
        """Seconds of a core that it has used."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def serving(*files: str, port: int | None = None, script: Path | None = None):
    """A server that answers, until the end of the block."""
    server = Server(*files, port=port, script=script)
    try:
        server.wait()
        yield server
    finally:
        server.process.terminate()
        server.process.wait()


@contextmanager
def visiting(browser, address: str, path: str = "/"):
    """A page as a new visitor has it: nothing kept by the browser."""
    context = browser.new_context(viewport={"width": 1440, "height": 1000})
    context.add_init_script(STOPWATCH)
    page = context.new_page()
    page.goto(address + path)
    try:
        yield page
    finally:
        context.close()


def quiet(page) -> None:
    """Until nothing has changed in the page for half a second, so that one click is measured alone."""
    page.evaluate(
        """() => new Promise((done) => {
            let wait = setTimeout(done, 500);
            const restart = () => { clearTimeout(wait); wait = setTimeout(done, 500); };
            new MutationObserver(restart).observe(document.body, { childList: true, subtree: true });
        })"""
    )


def redrawn(page, control) -> float:
    """Seconds from the click on a control, which `control` finds, to the chart that shows what it asks for."""
    element = control()
    page.evaluate("name => untilRedrawn(name)", str(element))
    element.click()
    return page.evaluate("measured") / 1000


def switched(page, name: str) -> float:
    """Seconds from the click in the menu to the page of that name, with all its charts."""
    page.evaluate("name => untilShown(name)", name)
    page.get_by_test_id("stSidebarNav").get_by_role("link", name=name).click()
    return page.evaluate("measured") / 1000
