"""Small tables with latencies, segments and targets, each extreme in one way, as somebody could upload them."""

from boards import board

HOSTILE = "<b>*x*</b>$1$ [a](b) :red[x]\u202e %{x}"


def relevant(query, document):
    return int(document % 5 == query % 5)


def rows(names, latency=None, segment=None, target=None, score=None, queries=4, grade=relevant):
    """A table: `latency(reranker, query)`, `segment(query)`, `target(document)`, each a column where given."""
    score = score or (lambda name, query, document: (document * (name + 2) + query) % 7)
    extra_columns = [
        one for one, made in (("latency", latency), ("segment", segment), ("target_id", target)) if made
    ]
    lines = [",".join(["reranker", "query_id", "doc_id", "score", "relevance", *extra_columns])]
    for index, name in enumerate(names):
        for query in range(queries):
            for document in range(30):
                cells = [f'"{name}"', f"q{query}", f"d{document}", score(index, query, document)]
                cells.append(grade(query, document))
                cells += [f'"{latency(index, query)}"'] if latency else []
                cells += [f'"{segment(query)}"'] if segment else []
                cells += [f'"{target(document)}"'] if target else []
                lines.append(",".join(map(str, cells)))
    return "\n".join(lines) + "\n"


def table(*args, **kwargs):
    """The same as a board."""
    return lambda: board(table_csv=rows(*args, **kwargs))


def rising(index, query):
    return 0.01 * 10**index * (1 + query / 10)


def kind(query):
    return "short" if query % 2 else "long"


def paper(document):
    return f"t{document // 7}"


THREE = ("fast", "middle", "slow")
TIMED = {
    "latency, segments and targets": table(THREE, rising, kind, paper),
    "latency alone": table(THREE, rising),
    "one reranker": table(["only"], rising, kind, paper),
    "equal latencies": table(THREE, lambda *_: 0.2),
    "zero latency": table(THREE, lambda index, _: 0 if index == 0 else 0.2 * index),
    "nothing but zero": table(THREE, lambda *_: 0),
    "far apart": table(THREE, lambda index, _: (1e-8, 1, 1e9)[index]),
    "some not timed": table(THREE, lambda index, query: "" if index == 1 else rising(index, query)),
    "some lists not timed": table(THREE, lambda index, query: "" if query else rising(index, query)),
    "twelve alike": table([f"r{at}" for at in range(12)], lambda *_: 0.1, score=lambda *_: 1),
    "twelve apart": table(
        [f"reranker number {index}" for index in range(12)], lambda at, _: 0.01 * 1.2**at, kind
    ),
    "one far below": table(
        (*THREE, "bad"),
        rising,
        score=lambda index, query, document: int((index < 3) == relevant(query, document)),
    ),
    "hostile names": table([HOSTILE, f"{HOSTILE}2"], rising, lambda _: HOSTILE, lambda _: HOSTILE),
    "nothing relevant": table(THREE, rising, kind, paper, grade=lambda *_: 0),
    "many segments": table(THREE, rising, lambda query: f"kind {query}", queries=14),
}
"""Boards with a latency."""

UNTIMED = {
    "columns without a value": table(THREE, lambda *_: "", lambda _: " "),
    "negative and infinite latencies": table(THREE, lambda index, _: ("-1", "inf", "nan")[index]),
    "targets alone": table(THREE, target=paper),
    "segments alone": table(THREE, segment=kind),
}
"""Boards without."""
