"""What a result depends on is in the key that it is stored under."""

from dataclasses import replace
from itertools import combinations, permutations

import pytest
from boards import QRELS

from dashboard import cache
from dashboard.library.boards import BoardSpec, make_board
from dashboard.library.loaded import table_label
from metrics import evaluate
from metrics.errors import TieScopeError
from metrics.runs import File


def run(first, second):
    """A list of two documents in this order, which all files call `judge`."""
    return f"q1 Q0 {first} 1 0.9 judge\nq1 Q0 {second} 2 0.8 judge\n"


RIGHT, WRONG = run("d1", "d7"), run("d7", "d1")
FILES = (File("qrels.txt", QRELS.encode()), File("a.trec", RIGHT.encode()), File("b.trec", WRONG.encode()))


def judgments(grade):
    return File(f"j{grade}.csv", f"query_id,doc_id,relevance\nq1,d1,{grade}\n".encode())


TWICE = "query_id,doc_id,score,other,relevance\nq1,d1,3,1,1\nq1,d2,2,2,0\nq1,d1,1,3,1\n"
NO_SCORE = "query_id,doc_id,score,relevance\nq1,d1,,1\nq1,d2,2,0\n"


def table(name="run.csv", text=TWICE):
    return BoardSpec.of([File(name, text.encode())])


BASES = {
    "files in any order": [BoardSpec.of(files) for files in permutations(FILES)],
    "contradicting judgments in any order": [
        replace(BoardSpec.of(files), repeated=rule)
        for files in permutations([FILES[1], judgments(0), judgments(1)])
        for rule in ("error", "first", "max")
    ],
    "files of one name in any order": [
        BoardSpec.of(files)
        for files in permutations([FILES[0], *(File("run.trec", text.encode()) for text in (RIGHT, WRONG))])
    ],
    "repeated documents": [replace(table(), repeated=rule) for rule in ("error", "first", "max")],
    "columns": [
        replace(table(), repeated="first").with_columns(0, {"score": name}) for name in ("score", "other")
    ],
    "scores that are missing": [
        table(text=NO_SCORE).with_rule(0, "missing_score", rule) for rule in ("error", "last", "drop")
    ],
    "file names": [table(name, TWICE.replace("d1,1,3", "d3,1,3")) for name in ("a.csv", "b.csv", "a.txt")],
    "shown rerankers": [
        replace(BoardSpec.of(FILES), names=names)
        for names in (
            None,
            (("a", "a"), ("b", "b")),
            (("b", "b"), ("a", "a")),
            (("a", "b"), ("b", "a")),
            (("a", "a"),),
        )
    ],
    "titles": [replace(BoardSpec.of(FILES), title=title) for title in ("", "mine")],
}
"""Boards that differ in one thing."""


def fresh(spec):
    """A board that no cache knows, or the error that it has."""
    try:
        return make_board(spec, [entry.read() for entry in spec.entries])
    except TieScopeError as error:
        return error


def cached(spec):
    """A board as the app builds it."""
    return cache.build_board(spec, [cache.read_entry(entry) for entry in spec.entries])


def result(board):
    """All that a board shows: its rerankers, values and findings, or the text of its error."""
    if isinstance(board, TieScopeError):
        return str(board)
    scores = evaluate(board.runs, ["RR", "AP"], ["expected", "input"]).scores
    return board.runs.rerankers, scores.to_csv(), board.runs.findings.to_csv()


@pytest.mark.parametrize("difference", BASES)
def test_boards_that_differ_in_one_thing_have_different_keys_or_equal_results(difference):
    specs = BASES[difference]
    results = [(spec.key, result(fresh(spec))) for spec in specs]
    for (key, shown), (other_key, other_shown) in combinations(results, 2):
        assert key != other_key or shown == other_shown
    assert [result(cached(spec)) for spec in specs] == [shown for _, shown in results]


PUBLISHED = [("means.csv", "reranker,RR\na,0.5\n"), ("more.csv", "reranker,AP\na,0.5\n")]


@pytest.mark.parametrize(
    "changed",
    [
        PUBLISHED[::-1],
        PUBLISHED[:1],
        [PUBLISHED[0], ("other.csv", PUBLISHED[1][1])],
        [PUBLISHED[0], ("more.csv", PUBLISHED[1][1].replace("0.5", "0.6"))],
        [("means.tex", PUBLISHED[0][1]), PUBLISHED[1]],
    ],
)
def test_published_tables_that_differ_in_one_thing_have_different_keys(changed):
    first, other = (
        table_label([File(name, text.encode()) for name, text in texts]) for texts in (PUBLISHED, changed)
    )
    assert first != other
