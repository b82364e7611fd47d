"""Results are cached under the keys of what they are of."""

from dataclasses import replace

from boards import COARSE, QRELS, STRICT, board
from opening import opened

from dashboard import cache
from dashboard.cache import ShownBoard, cached
from metrics.evaluation import AS_READ

FIRST, OTHER = board(strict_trec=STRICT, qrels_txt=QRELS), board(coarse_trec=COARSE, qrels_txt=QRELS)


def shown(of_board):
    return ShownBoard(
        of_board, of_board.runs.rerankers, AS_READ, cache.evaluation(of_board, AS_READ, cache.MEASURES), ()
    )


def test_results_are_told_apart_by_function_key_and_arguments_in_sight():
    made = []

    @cached(max_entries=4)
    def joined(view, text, _hidden):
        made.append(f"{view.board.label[:3]} {text} {_hidden}")
        return made[-1]

    @cached(max_entries=4)
    def length(view, text, _hidden):
        return len(view.rerankers) + len(text)

    first, same, other = shown(FIRST), shown(replace(FIRST, label="named")), shown(OTHER)
    assert joined(first, "x", "hidden") == joined(same, "x", "another") == "str x hidden"
    assert [joined(other, "x", ""), joined(first, "y", "")] == ["coa x ", "str y "]
    assert length(first, "x", "") == 2
    assert len(made) == 3


def test_a_page_finds_what_another_page_scored(monkeypatch):
    scored, score_runs = [], cache.score_runs
    monkeypatch.setattr(cache, "score_runs", lambda *given: scored.append(given) or score_runs(*given))
    label = cache.loaded_boards().add(board(scored_once_trec=COARSE, qrels_txt=QRELS)).label
    for page in ("leaderboard", "rerankers", "query"):
        opened(page, data=label)
    assert [measures for _, measures, *_ in scored].count(cache.MEASURES) == 1
