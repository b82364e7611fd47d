"""Read files that differ in nothing but the lengths of tags and ids: python tests/benchmarks/alike.py.

Each is read plain, with CRLF and as gzip, in processes of its own that have everything imported and have read
nothing. Prints, for each kind, CPU time per byte of text of the quickest and the slowest file, medians, and
their ratio; where it is above 1.3 a length costs what it should not, and the names of the files say which.
"""

import argparse
import gzip
import multiprocessing
import statistics
import tempfile
import time
from itertools import product
from pathlib import Path

import numpy as np

from metrics.runs import File, read

TAGS, PADDINGS = range(1, 11), range(5)
"""Letters of a tag, and zeros before the number of a document: fifty files."""
KINDS = {
    "plain": lambda text: text,
    "CRLF": lambda text: text.replace(b"\n", b"\r\n"),
    "gzip": lambda text: gzip.compress(text, 1),
}
GOAL = 1.3
DEPTH = 100


def text_of(tag, padding, n_rows):
    """A run of lists of a hundred documents, in lines of 45 to 60 bytes: what a line costs hides no fault."""
    draw = np.random.default_rng(0)
    documents, scores = draw.integers(10**6, 10**7, n_rows), draw.integers(0, 100, n_rows)
    name, zeros = "t" * tag, "0" * padding
    return "".join(
        f"{1000 + row // DEPTH} Q0 clueweb12-0000wb-{zeros}{document} {row % DEPTH + 1} 0.{score:02} {name}\n"
        for row, (document, score) in enumerate(zip(documents.tolist(), scores.tolist(), strict=True))
    ).encode()


def read_once(path, channel):
    """Tell how much CPU time this process takes to read a file."""
    begin = time.process_time()
    read(File.open(path))
    channel.send(time.process_time() - begin)


def seconds(context, path):
    """CPU seconds of a process that reads a file as the first thing it does."""
    received, sent = context.Pipe(duplex=False)
    process = context.Process(target=read_once, args=(path, sent))
    process.start()
    process.join()
    return received.recv()


def written(folder, n_rows):
    """Kind, name, path and bytes of text of each file."""
    for tag, padding in product(TAGS, PADDINGS):
        text = text_of(tag, padding, n_rows)
        for kind, packed in KINDS.items():
            path = folder / f"{kind}-{tag}-{padding}.trec"
            path.write_bytes(packed(text))
            yield kind, f"tag {tag}, zeros {padding}", path, len(text)


def spread(n_rows, repeats):
    """Kind → file → median nanoseconds of CPU a byte of text."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["metrics", __name__])
    with tempfile.TemporaryDirectory() as folder:
        files = list(written(Path(folder), n_rows))
        rounds = [[seconds(context, path) for _, _, path, _ in files] for _ in range(repeats)]
    by_kind = {kind: {} for kind in KINDS}
    for (kind, name, _, size), taken in zip(files, zip(*rounds, strict=True), strict=True):
        by_kind[kind][name] = statistics.median(taken) / size * 1e9
    return by_kind


def rows(n_rows=50_000, repeats=9):
    """Kind, nanoseconds a byte of the slowest and the quickest file, and which they are."""
    for kind, files in spread(n_rows, repeats).items():
        slowest, quickest = max(files, key=files.get), min(files, key=files.get)
        yield kind, files[slowest], files[quickest], f"{slowest} · {quickest}"


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rows", type=int, default=50_000)
    options.add_argument("--repeats", type=int, default=9)
    arguments = options.parse_args()
    print(f"{'kind':8}{'slowest':>10}{'quickest':>10}{'ratio':>8}{'goal':>6}   ns of CPU a byte")
    for kind, slowest, quickest, names in rows(arguments.rows, arguments.repeats):
        print(
            f"{kind:8}{slowest:10.2f}{quickest:10.2f}{slowest / quickest:8.2f}{GOAL:6.1f}   {names}", flush=True
        )


if __name__ == "__main__":
    main()
