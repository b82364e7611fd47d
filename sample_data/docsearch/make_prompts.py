"""Write `prompts.parquet`: one model asked the same in five wordings.

make samples                      makes it, with what that needs in an environment of its own
"""

from pathlib import Path

import numpy as np
import pyarrow as pa
from corpus import functions, queries
from make_docsearch import CANDIDATES, Scorer, Scores, first_stage, mini_lm, ranked, tf_idf
from numpy.typing import NDArray
from pyarrow import parquet
from threadpoolctl import threadpool_limits

TARGET = Path(__file__).parent / "prompts.parquet"
QUERIES = 100
"""Queries of the larger set that are asked, the first."""
COLUMNS = ("reranker", "query_id", "doc_id", "score", "relevance")
PROMPTS = (
    "{}",
    "query: {}",
    "Which function does this? {}",
    "Find the documentation of a Python function: {}",
    "Represent this sentence for searching relevant passages: {}",
)
"""How the query is put to the model; the documents stay as they are."""


def prompted(similar: Scorer, prompt: str) -> Scorer:
    """Return the scorer that puts its query into a prompt."""
    return lambda query, places: similar(prompt.format(query), places)


def made() -> pa.Table:
    """Return every list of every reranker, one reranker after the other."""
    corpus = functions()
    asked, search = queries(corpus)[:QUERIES], first_stage(corpus)
    lists = [np.argsort(-search(query.text), stable=True)[:CANDIDATES] for query in asked]
    similar = mini_lm(corpus, np.unique(np.concatenate(lists)).tolist())

    def counted(query: str, places: NDArray[np.intp]) -> Scores:
        return search(query)[places]

    rerankers: dict[str, Scorer] = {"BM25": counted, "TF-IDF": tf_idf(corpus)}
    rerankers |= {f"MiniLM prompt {n}": prompted(similar, prompt) for n, prompt in enumerate(PROMPTS, 1)}
    tables = [
        ranked(name, score, query, places, corpus).select(COLUMNS)
        for name, score in rerankers.items()
        for query, places in zip(asked, lists, strict=True)
    ]
    table = pa.concat_tables(tables)
    return table.set_column(COLUMNS.index("score"), "score", table["score"].cast(pa.float32()))


def main() -> None:
    """Make the table and write it."""
    with threadpool_limits(1):
        parquet.write_table(made(), TARGET, compression="zstd")


if __name__ == "__main__":
    main()
