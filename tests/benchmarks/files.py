"""Files to measure on: TREC runs with many ties, and their judgments."""

from pathlib import Path

import numpy as np

DOCUMENTS = 8_841_823
"""Documents of the collection that ids are drawn from: as many as MS MARCO has passages."""


def write(folder: Path, n_queries: int, depth: int, *, levels: int = 21, relevant: int = 3, seed: int = 0):
    """A run of `n_queries` lists of `depth` documents with `levels` distinct scores, and judgments.

    About `relevant` documents a query are relevant, most of them listed; grades 1 to 3.
    """
    draw = np.random.default_rng(seed)
    run, qrels = folder / f"run-{n_queries}x{depth}.trec", folder / f"qrels-{n_queries}x{depth}.txt"
    if run.exists() and qrels.exists():
        return run, qrels
    with run.open("w") as ranked, qrels.open("w") as judged:
        for query in range(n_queries):
            documents = draw.choice(DOCUMENTS, depth, replace=False)
            scores = np.sort(draw.integers(0, levels, depth))[::-1] / (levels - 1)
            ranked.writelines(
                f"{query} Q0 {document} {rank} {score!r} bench\n"
                for rank, (document, score) in enumerate(zip(documents, scores.tolist(), strict=True), 1)
            )
            judged_ids = draw.choice(documents, max(1, draw.poisson(relevant)), replace=False)
            judged.writelines(f"{query} 0 {document} {draw.integers(1, 4)}\n" for document in judged_ids)
            judged.write(f"{query} 0 {DOCUMENTS + query} 1\n")
    return run, qrels
