"""Time that hostile files take as they double, through every reader that an upload can reach."""

import gc
import time
from contextlib import suppress

import pytest

from metrics import audit
from metrics.errors import TieScopeError
from metrics.runs import File, read
from metrics.studies.audit.published import holds_results, read_published

MOST_GROWTH = 2.6
SMALLEST, LARGEST = 2**16, 2**19
"""Bytes of the files: those that are read to their end within `SECONDS`."""
FEWEST_SECONDS, SECONDS = 0.1, 4.0
"""CPU time from which growth is compared, and after which a file is not doubled again."""
ATOMS = [
    *(
        " ",
        "&",
        "|",
        "-",
        "{",
        "}",
        "[",
        '"',
        "'",
        "9",
        "a",
        "\\",
        "\t",
        ",",
        ";",
        ":",
        "*",
        "_",
        "`",
        "<",
        "(",
    ),
    *("9,", "a ", "9 ", "|-", ":-|", "&\\\\", "{}", "[],", "{},", '"a":1,', '{"a":', "[1,", "![", "](", "**a"),
    *(
        "\\\\",
        "\\a{",
        "\\textbf{",
        "\\multicolumn{2}{",
        "<sup>",
        "<!--",
        "+-",
        "±",
        "x  ",
        "(a",
        "%",
        "~",
        "^{a}",
    ),
]
STARTS = {
    "text": "",
    "a run": "q Q0 d 1 1 t\n",
    "a table": "query_id,doc_id,score\nq,d,1\n",
    "figures": "run,MRR\nx,.5\ny,",
    "Markdown": "| run | MRR |\n|---|---|\n| x | .5",
    "LaTeX": "\\begin{tabular}{ll}\nrun & MRR \\\\\nx & ",
    "an array": "[",
    "an object": '{"a":',
    "a string": '[{"query_id":"q","doc_id":"',
}
REPEATED = {
    f"{start}, {atom!r}{' in lines' * in_lines}": (first, atom + "\n" * in_lines)
    for start, first in STARTS.items()
    for atom in ATOMS
    for in_lines in (False, True)
}
"""Name → start of a file, and what follows over and over."""


def columns(n_bytes):
    names = [f"MRR@{n}" for n in range(n_bytes // 16)]
    return f"run,{','.join(names)}\na{',.5' * len(names)}\n"


def rows_of_measures(n_bytes):
    return "run,measure,value\n" + "".join(f"a,x{n} MRR@{n},.5\n" for n in range(n_bytes // 24))


def keys(n_bytes, text="{%s}"):
    return text % ",".join(f'"k{n} MRR@{n}":.5' for n in range(n_bytes // 20))


GROWING = {
    "columns": columns,
    "measures": rows_of_measures,
    "keys": keys,
    "keys of a record": lambda n_bytes: keys(n_bytes, "[{%s}]"),
    "keys of lists": lambda n_bytes: keys(n_bytes, '{"q":{%s}}'),
}
RUN = "q Q0 a 1 1 t\nq Q0 b 2 .5 t\n"


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    path = tmp_path_factory.mktemp("runs") / "a.trec"
    path.write_text(RUN)
    (path.parent / "qrels").write_text("q 0 a 1\n")
    return path


def upload(text, run):
    """Read a file as the app does: as a run, else as published results, which are audited."""
    file = File("file", text.encode())
    with suppress(TieScopeError):
        read(file, strict=False)
    holds_results(file)
    with suppress(TieScopeError):
        audit(run, read_published({"file": file.data}), qrels=run.parent / "qrels")


def growth(text_of, run):
    """Return how many times more CPU time a file of twice the size takes, at the largest size."""
    size, seconds = SMALLEST, [0.0]
    while size <= LARGEST and seconds[-1] < SECONDS:
        text = text_of(size)
        gc.collect()
        start = time.process_time()
        upload(text, run)
        seconds.append(time.process_time() - start)
        size *= 2
    return seconds[-1] / max(seconds[-2], FEWEST_SECONDS)


@pytest.mark.slow
@pytest.mark.parametrize("name", [*REPEATED, *GROWING])
def test_the_time_to_read_a_hostile_file_grows_with_its_size(name, run):
    start, atom = REPEATED.get(name, ("", ""))
    repeat = lambda n_bytes: start + atom * (n_bytes // len(atom))  # noqa: E731 one of two functions
    assert growth(GROWING.get(name, repeat), run) < MOST_GROWTH
