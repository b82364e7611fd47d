"""The Guide's example of noise: one list with a tie, scored as noise of its scores grows."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from metrics.evaluation import evaluate
from metrics.runs import Runs
from metrics.studies.one_list.query import ladder
from metrics.ties import Ranking

_SCORES = (0.9, 0.8, 0.8, 0.8, 0.6)
_RELEVANCE = (0, 0, 0, 1, 0)


@dataclass(frozen=True)
class NoiseExample:
    """What the list scores.

    Attributes:
        documents: as `ladder` returns them.
        chances: rank of the relevant document, and its chance under the noise.
        traditional: RR as the file lists the tie.
        tied: its mean over every order of the tie: what noise leaves as it vanishes.
        noisy: its mean over every order that the noise makes possible.
        one_tie: its mean if all documents tied: what noise without end leaves.
    """

    documents: pd.DataFrame
    chances: pd.DataFrame
    traditional: float
    tied: float
    noisy: float
    one_tie: float


def noise_example(sigma: float) -> NoiseExample:
    """Score five documents, three of them tied, under noise of a standard deviation above 0."""
    n_docs = len(_SCORES)
    ids = [f"d{place}" for place in range(1, n_docs + 1)]
    frame = pd.DataFrame({"query_id": "q1", "doc_id": ids, "score": _SCORES, "relevance": _RELEVANCE})
    runs = Runs.from_frame(frame.assign(reranker="example"))
    hits = [f"Hits@{k}" for k in range(1, n_docs + 1)]
    noisy = evaluate(runs, ["RR", *hits], f"noise:{sigma!r}").scores.iloc[0].droplevel("ties")
    by_order = evaluate(runs, "RR", ["input", "expected"]).scores.iloc[0]["RR"]
    level = evaluate(runs, "RR", "expected", precision="within:1").scores.iloc[0, 0]
    chances = pd.DataFrame({"rank": np.arange(1, n_docs + 1), "chance": np.diff(noisy[hits], prepend=0.0)})
    return NoiseExample(
        documents=ladder(Ranking.of(runs, "example"), "q1"),
        chances=chances,
        traditional=float(by_order["input"]),
        tied=float(by_order["expected"]),
        noisy=float(noisy["RR"]),
        one_tie=float(level),
    )
