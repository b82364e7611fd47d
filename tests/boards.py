"""Small data sets, each extreme in one way, as files somebody could upload."""

from math import inf

from dashboard.library.boards import Board, BoardSpec, make_board
from metrics.runs import File

QRELS = "".join(f"q{q} 0 d{q} 1\n" for q in range(4))


def _run(score, documents=5, queries=4):
    rows = [
        f"q{query} Q0 d{document} {document} {score(query, document)} tag\n"
        for query in range(queries)
        for document in range(documents)
    ]
    return "".join(rows)


def board(**files: str) -> Board:
    spec = BoardSpec.of([File(name.replace("_", "."), text.encode()) for name, text in files.items()])
    return make_board(spec, [entry.read() for entry in spec.entries])


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
    "grades in files of different queries": lambda: board(
        first_csv="query_id,doc_id,score,relevance\nq1,a,1,1\nq1,b,1,0\nq2,c,1,2\n",
        second_csv="query_id,doc_id,score,relevance\nq3,a,1,1\nq2,c,2,2\nq2,d,2,0\n",
    ),
    "neighbours in float64": lambda: board(
        pair_trec=_run(lambda _, document: 0.30000000000000004 if document % 2 else 0.3),
        steps_trec=_run(lambda query, document: 1 + 2**-52 * (query + document)),
        qrels_txt=QRELS,
    ),
    "denormal scores": lambda: board(
        tiny_trec=_run(lambda _, document: 5e-324 * document),
        signed_trec=_run(lambda query, document: 1e-310 * (query - document)),
        qrels_txt=QRELS,
    ),
    "the largest and smallest scores": lambda: board(
        wide_trec=_run(lambda _, document: (-1) ** document * 1e308),
        endless_trec=_run(lambda query, document: (inf, -inf, 1.7e308, 0, query)[document]),
        qrels_txt=QRELS,
    ),
    "small steps between large scores": lambda: board(
        near_trec=_run(lambda query, document: 1e15 + (query + document) / 8),
        constant_trec=_run(lambda *_: 2**53),
        qrels_txt=QRELS,
    ),
    "grades up to ten thousand": lambda: board(
        coarse_trec=COARSE,
        strict_trec=STRICT,
        qrels_txt="".join(
            f"q{q} 0 d{d} {(0, 1, 10, 9999, 10_000)[(q + d) % 5]}\n" for q in range(4) for d in range(5)
        ),
    ),
    "one query": lambda: board(coarse_trec=_run(lambda _, d: d % 2, queries=1), qrels_txt="q0 0 d2 1\n"),
    "one document": lambda: board(a_trec="q0 Q0 d0 1 1 t\n", qrels_txt="q0 0 d0 1\n"),
    "no ties": lambda: board(strict_trec=STRICT, qrels_txt=QRELS),
    "all tied": lambda: board(flat_trec=_run(lambda *_: 1e15), qrels_txt=QRELS),
    "nothing relevant": lambda: board(coarse_trec=COARSE, qrels_txt=QRELS.replace(" 1\n", " 0\n")),
    "no query in common": lambda: board(coarse_trec=COARSE, qrels_txt="other 0 d1 1\n"),
    "a query without rows": lambda: board(coarse_trec=COARSE, qrels_txt=QRELS + "absent 0 d1 1\n"),
    "nine rerankers": lambda: board(**{f"r{n}_trec": COARSE for n in range(9)}, qrels_txt=QRELS),
    "hostile names": lambda: board(table_csv=HOSTILE),
    "long lists": lambda: board(long_trec=_run(lambda _, d: d // 300, documents=3000), qrels_txt=QRELS),
}
