"""Make what is stored here; README.md says how. Runs with version 0.1 and no other."""

import gzip
import json
import os
import random
import sys
from contextlib import suppress
from pathlib import Path
from urllib.parse import parse_qs, urlencode

from metrics.stored import Stored
from opening import opened
from shown import shown

from dashboard.library import Recipe, make_board
from dashboard.library.exchange import export
from dashboard.library.store import Library
from metrics import cli, evaluate
from metrics.runs import File

FOLDER = Path(__file__).parent
QUERIES, DOCUMENTS = 8, 12
chance = random.Random(1)  # noqa: S311 data, no secret


def run(levels):
    """A TREC run whose scores have so many levels; the last query has no list."""
    return "".join(
        f"q{query} Q0 d{document} {document} {chance.randrange(levels) / levels} tag\n"
        for query in range(QUERIES - 1)
        for document in range(DOCUMENTS)
    )


def qrels():
    """Grades from 0 to 3."""
    return "".join(
        f"q{query} 0 d{document} {max(0, chance.randrange(8) - 4)}\n"
        for query in range(QUERIES)
        for document in range(DOCUMENTS)
    )


def table():
    """Two rerankers in one CSV with two scores; a document stands twice in the first list."""
    rows = [
        f"{model},q{query},d{document},{chance.randrange(4) / 4},{chance.randrange(9) / 8},"
        f"{chance.randrange(2)},{'short' if query < 4 else 'long'}"
        for model in ("first model", "second: model")
        for query in range(QUERIES)
        for document in range(DOCUMENTS)
    ]
    twice = "first model,q0,d0,0.75,0.875,1,short"
    header = "model,qid,docid,score,second,rel,query_type"
    return "\n".join((header, twice, *rows, ""))


def ranked():
    """Queries, documents and ranks: no scores."""
    return "".join(
        f"q{query}\td{(document * 5) % 12}\t{document + 1}\n" for query in range(8) for document in range(12)
    )


def nested():
    """A run as JSON: query → document → score."""
    lists = {
        f"q{query}": {f"d{document}": chance.randrange(6) / 5 for document in range(12)} for query in range(8)
    }
    return json.dumps(lists)


FILES = {
    "bm25.trec": run(40).encode(),
    "llm.trec.gz": gzip.compress(run(4).encode(), mtime=0),
    "dense.trec": run(200).encode(),
    "judgments.txt": qrels().encode(),
    "judged.csv": table().encode(),
    "ranks.tsv": ranked().encode(),
    "nested.json": nested().encode(),
}


def board(recipe):
    return make_board(recipe, [entry.read() for entry in recipe.entries])


def recipe(*names):
    return Recipe.of([File(name, FILES[name]) for name in names])


def fill(library):
    """Keep boards of every kind; returns their labels by what they are."""
    arranged = recipe("bm25.trec", "llm.trec.gz", "dense.trec", "judgments.txt").arranged(
        {"llm": "LLM *judge*", "bm25": "BM25"}
    )
    view = {
        "measure": "nDCG@5",
        "order": "docid_desc",
        "relevant_from": 2.0,
        "missing": "skip",
        "precision": "decimals:1",
        "baseline": "BM25",
    }
    named_record = library.keep(board(arranged), name="Tuned, by hand", view=view)
    columns = Recipe(recipe("judged.csv").entries, "max").reading(
        0, {"score": "second", "segment": "query_type"}
    )
    chosen_record = library.keep(board(columns))
    shared = library.keep(
        board(recipe("bm25.trec", "dense.trec", "judgments.txt")),
        "ann@example.org",
        name="Ann's",
        access="link",
    )
    formats = library.keep(board(recipe("ranks.tsv", "nested.json", "judgments.txt")), name="Other formats")
    deleted = library.keep(board(recipe("dense.trec", "judgments.txt")), name="Gone")
    library.delete(deleted.id)
    uploads = {upload.name: upload.sha256 for upload in library.uploads()}
    library.pin(uploads["llm.trec.gz"])
    library.describe(uploads["bm25.trec"], "the usual baseline")
    library.choose_eviction(evict=True)
    with (FOLDER / "board.tiescope").open("wb") as into:
        export(named_record, into)
    return {
        "named": named_record,
        "chosen": chosen_record,
        "shared": shared,
        "formats": formats,
        "deleted": deleted,
    }


def contents(library, records):
    """What the library says of its boards and uploads, and what the boards' rerankers score."""
    boards = {}
    for kind, record in records.items():
        if kind == "deleted":
            continue
        kept_board = board(library.find(record.id, record.owner).recipe)
        scores = evaluate(kept_board.runs, ["RR", "nDCG@5", "AP"], ["input", "expected", "optimistic"]).scores
        boards[kind] = {
            "id": record.id,
            "label": record.label,
            "name": record.name,
            "is_named": record.named,
            "owner": record.owner,
            "access": record.access,
            "version": record.version,
            "view": dict(record.view),
            "repeated": record.recipe.repeated,
            "names": record.recipe.names,
            "files": [
                {
                    "name": entry.file.name,
                    "sha256": entry.file.sha256,
                    "size": entry.file.size,
                    "columns": entry.columns,
                }
                for entry in record.recipe.entries
            ],
            "rows": [source.table.to_pydict() for source in kept_board.sources][:1],
            "findings": kept_board.runs.findings["code"].tolist(),
            "scores": {" ".join(column): values.tolist() for column, values in scores.items()},
        }
    uploads = [
        {
            "name": upload.name,
            "sha256": upload.sha256,
            "note": upload.note,
            "is_pinned": upload.pinned,
            "kind": upload.kind,
            "rows": upload.rows,
            "queries": upload.profile.queries,
            "depth": upload.profile.depth,
            "tied": upload.profile.tied,
            "boards": [name for _, name in upload.boards],
        }
        for upload in sorted(library.uploads(), key=lambda upload: upload.name)
    ]
    deleted = [listed.name for listed in library.boards(deleted=True)]
    return {"boards": boards, "uploads": uploads, "deleted": deleted, "evicts": library.evicts()}


def links(records):
    """Links as the app writes them."""
    named_label, chosen_label, shared_label = (records[kind].label for kind in ("named", "chosen", "shared"))
    docs = "Sample: docstring search"
    pages = [
        ("leaderboard", {"data": named_label}),
        ("leaderboard", {"data": shared_label, "measure": "Hits@3", "order": "random:0"}),
        ("leaderboard", {"data": records["formats"].label, "measure": "nDCG@7"}),
        ("leaderboard", {"data": "Sample: simulated rerankers", "measure": "nDCG@10", "order": "pessimistic"}),
        ("runs", {"data": named_label, "find": "trec", "severity": "info", "baseline": "LLM *judge*"}),
        ("runs", {"data": chosen_label, "segments": ["short"]}),
        ("ties", {"data": chosen_label, "first": "AP", "second": "P@10", "lists": "with ties"}),
        ("rerankers", {"data": shared_label, "rerankers": ["dense"], "measure": "R@10", "sort": "tie ratio"}),
        ("rerankers", {"data": docs, "baseline": "TF-IDF", "sort": "gap", "measure": "Hits@1"}),
        (
            "query",
            {
                "data": shared_label,
                "reranker": "dense",
                "query": "q3",
                "measure": "nDCG@3",
                "every": "Relevance patterns",
            },
        ),
        (
            "query",
            {
                "data": named_label,
                "reranker": "LLM *judge*",
                "query": "q2",
                "relevant_from": "1",
                "precision": "float16",
            },
        ),
        (
            "significance",
            {
                "data": shared_label,
                "baseline": "dense",
                "correction": "Bonferroni",
                "test": "Wilcoxon signed-rank",
                "missing": "skip",
            },
        ),
        ("tradeoffs", {"data": docs, "measure": "Hits@5"}),
        ("simulator", {"made": "Notebook: 200 lists", "madeseed": "7", "listk": "2", "held": "1 decimal"}),
        ("simulator", {"data": shared_label, "performance": "0.5", "madequeries": "50", "madeties": "0.6"}),
        (
            "report",
            {
                "data": shared_label,
                "title": "A title",
                "targets_for": "dense",
                "sections": ["Scores", "Targets"],
            },
        ),
        ("guide", {"section": "Measures"}),
        ("large", {"results": "evaluation.parquet", "results_measure": "AP", "results_order": "docid_desc"}),
        ("leaderboard", {"data": named_label, "empty": "skip", "missing": "zero", "relevant_from": "3"}),
    ]
    return [f"{page}?{urlencode(query, doseq=True)}" for page, query in pages]


def page_contents(link):
    page, _, query = link.partition("?")
    stored = [str(FOLDER / "evaluation.parquet")] if page == "large" else []
    os.environ["TIESCOPE_OPEN"] = json.dumps({"runs": [], "qrels": None, "stored": stored})
    return shown(opened(page, **parse_qs(query)))


def main():
    library = Library(FOLDER / "library")
    records = fill(library)
    stored = contents(library, records)
    library.close()
    runs = []
    for name in ("bm25.trec", "dense.trec"):
        runs.append(FOLDER / name)
        runs[-1].write_bytes(FILES[name])
    judgments = FOLDER / "judgments.txt"
    judgments.write_bytes(FILES["judgments.txt"])
    sys.argv = ["tiescope", "evaluate", *map(str, runs), "--qrels", str(judgments), "-m", "RR", "-m", "AP"]
    sys.argv += ["-m", "nDCG@10", "--save", str(FOLDER / "evaluation.parquet")]
    for ties in ("expected", "input", "docid_desc", "optimistic", "pessimistic"):
        sys.argv += ["--ties", ties]
    with suppress(SystemExit):
        cli.main()
    for path in (*runs, judgments):
        path.unlink()
    os.environ["TIESCOPE_HOME"] = str(FOLDER / "library")
    os.environ["TIESCOPE_INSECURE"] = "1"  # the visitor is the owner without a name
    pages = {link: page_contents(link) for link in links(records)}
    evaluated = Stored.open(FOLDER / "evaluation.parquet").summary()
    means = {" ".join(column): values.to_dict() for column, values in evaluated.items()}
    text = json.dumps(
        {"evaluation": means, "library": stored, "links": pages}, separators=(",", ":"), default=str
    )
    (FOLDER / "expected.json").write_text(text + "\n", encoding="utf-8")


main()
