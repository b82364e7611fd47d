"""Time that hostile files take as they double, through every reader that an upload can reach."""

import gc
import json
import time
from contextlib import suppress

import pytest

from metrics import audit
from metrics.errors import TieScopeError
from metrics.runs import File, read
from metrics.studies.audit.published import holds_results, read_published

MOST_GROWTH = 2.6
SMALLEST, LARGEST = 2**13, 2**20
"""Bytes of the files, unless reading takes longer than `SECONDS`."""
FEWEST_SECONDS, SECONDS = 0.05, 0.5
"""CPU time from which growth is compared, and after which a file is not doubled again."""
RATIOS = 3
ATOMS = [" ", "&", "|", "-", "{", "[", '"', "9", "\\a{"]
LINES = ["&\\\\\n", "|-\n", "9\n", ",9\n", "x  9\n"]
STARTS = {
    "text": "",
    "a table": "query_id,doc_id,score\nq,d,1\n",
    "figures": "run,MRR\nx,.5\ny,",
    "Markdown": "| run | MRR |\n|---|---|\n| x | .5",
    "LaTeX": "\\begin{tabular}{ll}\nrun & MRR \\\\\nx & ",
}
REPEATED = {
    **{f"{start}, {atom!r}": (first, atom) for start, first in STARTS.items() for atom in ATOMS + LINES},
    **{f"JSON, {atom!r}": ("[", atom) for atom in ["[", "[],", '{"":1},', "9,", '"']},
    **{f"JSON text, {atom!r}": ('[{"query_id":"', atom) for atom in ["{", "\\u00e9", " "]},
}
"""Name → start of a file, and what follows over and over."""


def columns(n_bytes):
    names = [f"MRR@{n}" for n in range(n_bytes // 16)]
    return f"run,{','.join(names)}\na{',.5' * len(names)}\n"


def keys(n_bytes, text="{%s}"):
    return text % ",".join(f'"k{n} MRR@{n}":.5' for n in range(n_bytes // 20))


GROWING = {
    "a line of LETOR": lambda n_bytes: (
        f"1 qid:1 {'1:0 ' * (n_bytes // 8)}#{' docid ' * (n_bytes // 16)}\n0 qid:1 1:0\n"
    ),
    "marks in an answer": lambda n_bytes: f"query_id,a,b,preferred\nq1,d1,d2,a{'!' * n_bytes}x\n",
    "numbers in an answer": lambda n_bytes: json.dumps(
        {
            "query": {"qid": "q"},
            "candidates": [{"docid": "a"}, {"docid": "b"}],
            "response": "1>" * (n_bytes // 2) + "1x",
        }
    ),
    "columns": columns,
    "measures": lambda n_bytes: (
        "run,measure,value\n" + "".join(f"a,{n}RR@{n},.5\n" for n in range(n_bytes // 16))
    ),
    "keys": keys,
    "keys of a record": lambda n_bytes: keys(n_bytes, "[{%s}]"),
    "keys of lists": lambda n_bytes: keys(n_bytes, '{"q":{%s}}'),
}


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    path = tmp_path_factory.mktemp("runs") / "a.trec"
    path.write_text("q Q0 a 1 1 t\nq Q0 b 2 .5 t\n")
    (path.parent / "qrels").write_text("q 0 a 1\n")
    return path


def upload(data, run):
    """Read a file as the app does: as a run, else as published results, which are audited."""
    with suppress(TieScopeError):
        read(File("file", data), strict=False)
    holds_results(File("file", data))
    with suppress(TieScopeError):
        audit(run, read_published({"file": data}), qrels=run.parent / "qrels")


def seconds(text, run):
    gc.collect()
    start = time.process_time()
    upload(text.encode(), run)
    return time.process_time() - start


def growth(text_of, run):
    """Return how many times more CPU time a file of twice the size takes at most; the least of three ratios."""
    size, most = SMALLEST, 0.0
    half = whole = 0.0
    while size <= LARGEST and whole < SECONDS:
        half, whole = whole, seconds(text_of(size), run)
        ratios = [whole / max(half, FEWEST_SECONDS)]
        while len(ratios) < RATIOS and min(ratios) >= MOST_GROWTH:
            half, whole = (seconds(text_of(n), run) for n in (size // 2, size))
            ratios.append(whole / max(half, FEWEST_SECONDS))
        most = max(most, min(ratios))
        size *= 2
    return most


@pytest.mark.slow
@pytest.mark.parametrize("name", [*REPEATED, *GROWING])
def test_the_time_to_read_a_hostile_file_grows_with_its_size(name, run):
    start, atom = REPEATED.get(name, ("", ""))
    text_of = GROWING.get(name, lambda n_bytes: start + atom * (n_bytes // len(atom)))
    gc.disable()
    try:
        assert growth(text_of, run) < MOST_GROWTH
    finally:
        gc.enable()
