import ast
import re
from types import SimpleNamespace

import pytest
from opening import opened
from repository import ROOT
from streamlit.runtime.caching.cache_resource_api import clear_session_cache

from dashboard import cache
from dashboard.server import board_results
from dashboard.server.board_results import BoardResults, cached_by_key


@pytest.fixture
def visits(monkeypatch):
    """Results of boards of their own, sessions that use boards and end, and what was forgotten."""
    results, forgotten, boards_of = BoardResults(), [], {}
    current = []
    monkeypatch.setattr(board_results, "session_id", lambda: current[-1])
    monkeypatch.setattr(board_results, "_session_boards", lambda: boards_of.setdefault(current[-1], set()))

    def use(session, board):
        current.append(session)
        results.note(board, forgotten.append, board)

    def forgotten_after(*ended):
        for session in ended:
            results.leave(boards_of.pop(session))
        results.release()
        return sorted(forgotten, key=str)

    return SimpleNamespace(results=results, forgotten=forgotten, use=use, forgotten_after=forgotten_after)


def test_a_board_that_another_session_uses_is_not_forgotten(visits):
    visits.use("first", "shared")
    visits.use("first", "own")
    visits.use("second", "shared")
    assert visits.forgotten_after() == []
    visits.use("third", "other")
    visits.forgotten_after("first")
    assert visits.forgotten_after("third") == ["own"]
    visits.use("fourth", "one more")
    visits.forgotten_after("second")
    assert visits.forgotten_after("fourth") == ["other", "own", "shared"]


def test_the_board_that_was_closed_last_waits_for_a_visitor_who_returns(visits):
    visits.use("first", "board")
    assert visits.forgotten_after("first") == []
    visits.use("again", "board")
    visits.use("second", "other")
    assert visits.forgotten_after("second") == []
    assert visits.forgotten_after("again") == ["other"]


def test_as_many_calls_are_noted_as_the_cache_has_results(visits):
    visits.use("first", "other")
    for number in [*range(50), 48]:
        visits.results.note("board", visits.forgotten.append, number, max_entries=4)
    visits.results.note("board", visits.forgotten.extend, (7,), max_entries=3)
    visits.forgotten_after("first")
    visits.use("second", "next")
    assert visits.forgotten_after("second") == [46, 47, 48, 49, 7]


def test_twenty_visits_of_large_boards_leave_one(visits):
    for number in range(20):
        visits.use(f"session {number}", f"board {number:02}")
        forgotten = visits.forgotten_after(f"session {number}")
    assert forgotten == [f"board {number:02}" for number in range(19)]


def test_whatever_is_kept_of_a_view_is_forgotten_with_its_board():
    kept_on = [
        f"{path.name}: {function.name}"
        for path in sorted((ROOT / "dashboard").rglob("*.py"))
        for function in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(function, ast.FunctionDef)
        and any("st.cache_" in ast.unparse(decorator) for decorator in function.decorator_list)
        and re.search(r"ViewKey|ShownBoard|\bView\b", ast.unparse(function.args))
    ]
    assert kept_on == []


def test_results_are_told_apart_by_function_key_and_arguments_in_sight():
    made = []

    @cached_by_key(max_entries=4)
    def joined(view, text, _hidden):
        made.append(f"{view.name} {text} {_hidden}")
        return made[-1]

    @cached_by_key(max_entries=4)
    def length(view, text, _hidden):
        return len(view.name + text)

    @cached_by_key(max_entries=4)
    def audited(key, _board):
        return f"{key} {_board}"

    first, same, other = (
        SimpleNamespace(key=key, name=name) for key, name in (("a", "1"), ("a", "2"), ("b", "3"))
    )
    assert joined(first, "x", "hidden") == joined(same, "x", "another") == "1 x hidden"
    assert [joined(other, "x", ""), joined(first, "y", "")] == ["3 x ", "1 y "]
    assert length(first, "x", "") == len("1x")
    assert len(made) == 3
    assert [audited(("a", 1), "new"), audited(("a", 1), "other"), audited(("a", 2), "new")] == [
        "('a', 1) new",
        "('a', 1) new",
        "('a', 2) new",
    ]


def test_what_pages_kept_of_a_board_is_made_anew_once_another_was_closed(monkeypatch):
    scored, score_runs = [], cache.score_runs
    monkeypatch.setattr(cache, "score_runs", lambda *given: scored.append(given) or score_runs(*given))

    def n_scored_by_another_page():
        before = len(scored)
        opened("leaderboard")
        return len(scored) - before

    n_scored_by_another_page()
    board_results.board_results.release()
    assert n_scored_by_another_page() == 0
    clear_session_cache("test session id")
    board_results.board_results.release()
    assert n_scored_by_another_page() == 0
    clear_session_cache("test session id")
    board_results.board_results.leave({"another board"})
    board_results.board_results.release()
    assert n_scored_by_another_page() == 1
