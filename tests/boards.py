"""Small data sets, each extreme in one way, as files somebody could upload."""

from dashboard.library.boards import Board, BoardSpec, make_board
from metrics.runs import File, read

QRELS = "".join(f"q{q} 0 d{q} 1\n" for q in range(4))


def _run(score, documents=5, queries=4):
    rows = [
        f"q{query} Q0 d{document} {document} {score(query, document)} tag\n"
        for query in range(queries)
        for document in range(documents)
    ]
    return "".join(rows)


def board(**files: str) -> Board:
    uploads = [File(name.replace("_", "."), text.encode()) for name, text in files.items()]
    return make_board(BoardSpec.of(uploads), [read(file) for file in uploads])


STRICT = _run(lambda _, document: 1 - document / 10)
TIED = _run(lambda *_: 0.5)
COARSE = _run(lambda query, document: (query + document) % 2)

HOSTILE = "model,qid,docid,score,rel\n" + "".join(
    f'"<b>*x*</b>$1$ [a](b) :red[{model}]\u202e %{{x}}","=q<i>{query}",'
    f'"<img src=x onerror=alert({document})>",{document % 2},{document == 1}\n'
    for model in "ab"
    for query in range(2)
    for document in range(4)
)

EXTREMES = {
    "two rerankers with ties": lambda: board(strict_trec=STRICT, coarse_trec=COARSE, qrels_txt=QRELS),
    "one reranker": lambda: board(coarse_trec=COARSE, qrels_txt=QRELS),
    "one query": lambda: board(coarse_trec=_run(lambda _, d: d % 2, queries=1), qrels_txt="q0 0 d2 1\n"),
    "one document": lambda: board(a_trec="q0 Q0 d0 1 1 t\n", qrels_txt="q0 0 d0 1\n"),
    "no ties": lambda: board(strict_trec=STRICT, qrels_txt=QRELS),
    "all tied": lambda: board(flat_trec=TIED, qrels_txt=QRELS),
    "nothing relevant": lambda: board(coarse_trec=COARSE, qrels_txt=QRELS.replace(" 1\n", " 0\n")),
    "no query in common": lambda: board(coarse_trec=COARSE, qrels_txt="other 0 d1 1\n"),
    "a query without rows": lambda: board(coarse_trec=COARSE, qrels_txt=QRELS + "absent 0 d1 1\n"),
    "nine rerankers": lambda: board(**{f"r{n}_trec": COARSE for n in range(9)}, qrels_txt=QRELS),
    "hostile names": lambda: board(table_csv=HOSTILE),
    "long lists": lambda: board(long_trec=_run(lambda _, d: d // 300, documents=3000), qrels_txt=QRELS),
}
