"""Tables as conventions and tools print them."""

import numpy as np
import pandas as pd

from metrics import evaluate

MEASURES = ("RR", "RR@10", "AP", "nDCG@10", "P@5", "R@10")


def printed_table(runs, convention, measures=MEASURES, form="{:.4f}"):
    """Return a CSV of means as a script prints them that works by the convention."""
    evaluation = evaluate(
        runs,
        [convention.measure(name) for name in measures],
        [convention.treatment],
        precision=convention.precision,
        missing=convention.missing,
        empty=convention.empty,
        relevant_from=convention.relevant_from,
        unjudged=convention.unjudged,
    )
    means = evaluation.scores.groupby(level="reranker", sort=False).mean()
    lines = [
        ",".join((name, *map(form.format, row)))
        for name, row in zip(means.index, means.to_numpy(), strict=True)
    ]
    return "\n".join([",".join(("reranker", *measures)), *lines])


def small_board():
    """Return three rerankers on which every field of a convention changes some figure."""
    random = np.random.default_rng(5)
    rows, judged = [], []
    for query in range(40):
        documents = [f"d{number:02}" for number in random.permutation(30)]
        for number, document in enumerate(sorted(documents)[:24]):
            grade = int(random.choice([0, 0, 1, 2, 3]))
            judged.append((f"q{query}", document, min(grade, number % 4) if query else 0))
        for reranker in "abc":
            if reranker == "b" and query == 3:
                continue
            for place, document in enumerate(documents):
                base = random.integers(0, 5) / 4 + 100 * (place % 2 == 0)
                noise = random.choice([0, 1e-9, 2e-7, 3e-5, 4e-4, 2e-3, 0.03])
                rows.append((reranker, f"q{query}", document, base + noise))
    frame = pd.DataFrame(rows, columns=["reranker", "query_id", "doc_id", "score"])
    qrels = pd.DataFrame(judged, columns=["query_id", "doc_id", "relevance"])
    return frame, qrels
