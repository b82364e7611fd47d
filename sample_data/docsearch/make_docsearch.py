"""Write `docsearch.parquet`, the data the app opens on: real rerankers asked for functions by their summaries.

make samples                      makes it, with what that needs in an environment of its own
python make_docsearch.py --check  says whether the file is what would be made here, but for latencies
"""

import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from timeit import repeat

import numpy as np
import pyarrow as pa
from corpus import Function, Query, functions, queries
from minilm import loaded
from numpy.typing import NDArray
from pyarrow import parquet
from rank_bm25 import BM25Okapi
from rich.console import Console
from rich.progress import track
from sklearn.feature_extraction.text import TfidfVectorizer
from threadpoolctl import threadpool_limits

from metrics.ties.options import rounded

TARGET = Path(__file__).parent / "docsearch.parquet"
CANDIDATES = 50
"""Documents of the first stage, which is BM25, that every reranker is given."""
RUNS = 3
"""How often a list is scored; the shortest time counts."""
SEGMENTS = {"sklearn": "scikit-learn"}
"""Packages that are imported under another name than their own."""
INT8 = 127
GRADES = 10

Scores = NDArray[np.float64]
Scorer = Callable[[str, NDArray[np.intp]], Scores]
"""(query, places of its candidates in the corpus) → a score each."""

STORED: dict[str, Callable[[Scores], Scores]] = {
    "float32": lambda similarities: similarities,
    "float16": lambda similarities: rounded(similarities, "float16"),
    "bfloat16": lambda similarities: rounded(similarities, "bfloat16"),
    "int8": lambda similarities: np.round(similarities * INT8),
    "two decimals": lambda similarities: rounded(similarities, "decimals:2"),
    "grade 0-10": lambda similarities: np.round(similarities.clip(0, 1) * GRADES),
}
"""How a similarity of float32 is stored, and thereby how many documents come out level."""


def words(text: str) -> list[str]:
    """Letters and digits in a row, in lower case."""
    return re.findall(r"[a-z0-9]+", text.lower())


def first_stage(corpus: Sequence[Function]) -> Callable[[str], Scores]:
    """BM25 over the whole corpus."""
    index = BM25Okapi([words(one.text) for one in corpus])
    return lambda query: index.get_scores(words(query))


def tf_idf(corpus: Sequence[Function]) -> Scorer:
    """Cosine of word counts, damped and weighed by rarity."""
    vectorizer = TfidfVectorizer(analyzer=words, sublinear_tf=True)
    index = vectorizer.fit_transform(one.text for one in corpus)

    def score(query: str, places: NDArray[np.intp]) -> Scores:
        return (index[places] @ vectorizer.transform([query]).T).toarray()[:, 0]

    return score


def mini_lm(corpus: Sequence[Function], needed: Sequence[int]) -> Scorer:
    """Cosine of the model's vectors; those of the documents are made beforehand, as an index holds them."""
    model = loaded()
    index = np.zeros((len(corpus), len(model.vector(""))), dtype=np.float32)
    for place in track(needed, "Documents to vectors", console=Console(stderr=True)):
        index[place] = model.vector(corpus[place].text)

    def score(query: str, places: NDArray[np.intp]) -> Scores:
        return (index[places] @ model.vector(query)).astype(np.float64)

    return score


def ranked(
    name: str,
    score: Scorer,
    query: Query,
    places: NDArray[np.intp],
    bm25: Scores,
    corpus: Sequence[Function],
) -> pa.Table:
    """One list, best first; what is level stays as the first stage had it, as a stable sort leaves it."""
    latency = min(repeat(lambda: score(query.text, places), number=1, repeat=RUNS))
    scores = score(query.text, places)
    order = np.argsort(-scores, stable=True)
    documents = [corpus[place] for place in places[order]]
    return pa.table(
        {
            "reranker": [name] * len(documents),
            "query_id": [query.query_id] * len(documents),
            "doc_id": [one.name for one in documents],
            "score": scores[order],
            "bm25": bm25[places[order]],
            "relevance": pa.array([query.grades.get(one.name, 0) for one in documents], pa.int8()),
            "target_id": [one.target for one in documents],
            "segment": [SEGMENTS.get(query.package, query.package)] * len(documents),
            "latency": [float(f"{latency:.3g}")] * len(documents),
        }
    )


def rerankers(
    corpus: Sequence[Function], search: Callable[[str], Scores], needed: Sequence[int]
) -> dict[str, Scorer]:
    """Each reranker by its name: two that count words, and one model stored in six ways."""
    similar = mini_lm(corpus, needed)

    def stored(as_stored: Callable[[Scores], Scores]) -> Scorer:
        return lambda query, places: as_stored(similar(query, places))

    counting = {"BM25": lambda query, places: search(query)[places], "TF-IDF": tf_idf(corpus)}
    return counting | {f"MiniLM {name}": stored(as_stored) for name, as_stored in STORED.items()}


def made() -> pa.Table:
    """Every list of every reranker, asked in turn, so that a busy moment slows none alone."""
    corpus = functions()
    asked, search = queries(corpus), first_stage(corpus)
    first_scores = [search(query.text) for query in asked]
    lists = [np.argsort(-scores, stable=True)[:CANDIDATES] for scores in first_scores]
    answering = rerankers(corpus, search, np.unique(np.concatenate(lists)).tolist())
    tables = [
        [ranked(name, score, query, places, bm25, corpus) for name, score in answering.items()]
        for query, places, bm25 in zip(asked, lists, first_scores, strict=True)
    ]
    return pa.concat_tables(table for of_one in zip(*tables, strict=True) for table in of_one)


def main() -> None:
    """Make the table; write it, or only say whether it is what was written."""
    with threadpool_limits(1):
        table = made()
    if "--check" in sys.argv:
        same = table.drop("latency").equals(parquet.read_table(TARGET).drop("latency"))
        raise SystemExit(0 if same else f"{TARGET.name} is not what this script makes here.")
    parquet.write_table(table, TARGET, compression="zstd")


if __name__ == "__main__":
    main()
