"""Time the app on a stored evaluation of 10,000,000 lists: python tests/benchmarks/large_results.py.

Draws the evaluation part by part into `--folder` (1.7 GB; found again there), opens it in the app and prints a
table of medians and their targets: from the command and from the address to the painted leaderboard; from the
click on a measure to its first chart and to all charts, where nobody looked at it before and where somebody
did; and what the server holds in memory.
"""

import argparse
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
from playwright.sync_api import sync_playwright
from visitor import PAINTED, quiet, serving, visiting

from metrics.evaluation import Evaluation
from metrics.scale.stored import save_parts

sys.path.insert(0, str(Path(__file__).parents[1] / "browser"))
from chromium import find

RERANKERS, PARTS, DOCUMENTS = 20, 20, 100
STEPS = {"RR": 0, "RR@10": 10, "Hits@1": 1, "Hits@3": 3, "Hits@5": 5, "Hits@10": 10}
SMOOTH = ("AP", "nDCG@10", "P@10", "R@10")
LAST = """title => [...document.querySelectorAll(".js-plotly-plot")].some((plot) =>
    plot.querySelector(".main-svg .subplot") && JSON.stringify(plot.layout).includes(`"${title}"`))"""
"""Whether the last chart is plotted that has an axis of that title."""
TIES = ("input", "docid_desc", "expected", "optimistic", "pessimistic")


def evaluation_parts(n_lists):
    """Parts of an evaluation: lists of a hundred documents, two in three with ties, no two values alike."""
    draw, n_queries = np.random.default_rng(0), n_lists // RERANKERS // PARTS
    names = pd.Index([f"reranker-{at:02}" for at in range(RERANKERS)], name="reranker")
    counts = {"n_queries": n_queries, "n_missing": 0, "n_empty": 0, "n_scored": n_queries}
    policies = pd.DataFrame(counts, names)
    for part in range(PARTS):
        queries = [f"q{part * n_queries + at:07}" for at in range(n_queries)]
        index = pd.MultiIndex.from_product([names, queries], names=["reranker", "query_id"])
        lists = tied_lists(draw, len(index)).set_axis(index)
        scores = pd.concat(
            values(draw, lists["max_tie_size"].to_numpy() - 1), axis=1, names=["measure", "ties"]
        )
        yield Evaluation(scores.set_axis(index), lists, policies, tuple(STEPS) + SMOOTH, TIES)


def tied_lists(draw, n):
    width = draw.integers(0, 12, n) * (draw.random(n) < 2 / 3)
    tied = np.minimum(DOCUMENTS, (width + (width > 0)) * draw.integers(1, 9, n))
    return pd.DataFrame(
        {
            "n_docs": DOCUMENTS,
            "n_relevant": draw.integers(1, 5, n),
            "n_tie_groups": np.minimum(width, 8),
            "max_tie_size": width + 1,
            "tied_docs": tied,
            "tie_ratio": tied / DOCUMENTS,
            "log10_orderings": 1.3 * width,
            "straddles_10": width > 4,
        }
    )


def values(draw, width):
    """Of each measure: under five treatments, given how many places the first relevant document may move."""
    first = draw.integers(1, 30, len(width))
    inside = [first + (width * draw.random(len(width))).astype(int) for _ in TIES[:2]]
    ranks = [*inside, first + width / 2, first, first + width]
    tables = {}
    for name, k in STEPS.items():
        value = [(rank <= (k or rank)) / (rank if name.startswith("RR") else 1) for rank in ranks]
        tables[name] = pd.DataFrame(dict(zip(TIES, value, strict=True)))
    for name in SMOOTH:
        best, loss = draw.random(len(width)), 0.3 * draw.random(len(width)) * (width > 0)
        shares = [draw.random(len(width)), draw.random(len(width)), 0.5, 0.0, 1.0]
        tables[name] = pd.DataFrame(
            {ties: best * (1 - loss * one) for ties, one in zip(TIES, shares, strict=True)}
        )
    return tables


def clicked(page, name):
    """Seconds from the click on a measure to its first chart, and to all of its charts."""
    quiet(page)
    page.evaluate("name => untilRedrawn(name)", name)
    begin = time.perf_counter()
    page.get_by_role("radio", name=name, exact=True).click()
    first = page.evaluate("measured") / 1000
    page.wait_for_function(LAST, arg=f"{name} gap of single lists", polling="raf", timeout=60_000)
    return first, time.perf_counter() - begin


def measured(browser, file, repeats):
    """Rows of the table: what, figures, target."""
    openings, new, again, megabytes = [], [], [], []
    for _ in range(repeats):
        begin = time.perf_counter()
        with serving(str(file)) as server:
            started = time.perf_counter()
            with visiting(browser, server.address) as page:
                page.locator(PAINTED).first.wait_for(timeout=120_000)
                openings.append((time.perf_counter() - begin, time.perf_counter() - started))
                page.wait_for_function(LAST, arg="RR gap of single lists", timeout=60_000)
                new += [clicked(page, name) for name in (*SMOOTH, *STEPS) if name != "RR"]
                again += [clicked(page, name) for name in (*SMOOTH, *STEPS)]
                megabytes.append(server.megabytes())
    yield "command to leaderboard, s", [whole for whole, _ in openings], 5
    yield "  from the address in a new browser, s", [part for _, part in openings], 5
    for label, clicks in (("a new measure", new), ("a measure seen before", again)):
        yield f"click on {label} to chart, s", [first for first, _ in clicks], 1
        yield "  to all of its charts, s", [whole for _, whole in clicks], None
    yield "server with it, every measure seen, MB", megabytes, None


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--lists", type=int, default=10_000_000)
    options.add_argument("--repeats", type=int, default=3)
    options.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()))
    arguments = options.parse_args()
    file = arguments.folder / f"lists-{arguments.lists}.parquet"
    if not file.exists():
        begin = time.perf_counter()
        n_lists = sum(len(part.scores) for part in save_parts(evaluation_parts(arguments.lists), file))
        print(f"{n_lists:,} lists kept in {time.perf_counter() - begin:.1f} s")
    print(f"{file.stat().st_size / 10**6:,.0f} MB; load of the machine before: {os.getloadavg()[0]:.1f}")
    print(f"{'what':44}{'median':>9}{'worst':>9}{'target':>9}")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        os.environ["TIESCOPE_HOME"] = f"{folder}/home"  # never what a user keeps
        browser = playwright.chromium.launch(executable_path=find(), args=["--no-sandbox"])
        for label, figures, target in measured(browser, file, arguments.repeats):
            target_text = f"{target:9.2f}" if target else ""
            print(f"{label:44}{statistics.median(figures):9.3f}{max(figures):9.3f}{target_text}", flush=True)
        browser.close()


if __name__ == "__main__":
    main()
