import ast
import re
from types import SimpleNamespace

import pytest
from opening import opened
from repository import ROOT
from streamlit.runtime.caching.cache_resource_api import clear_session_cache

from dashboard import cache
from dashboard.server import board_results
from dashboard.server.board_results import BoardResults


@pytest.fixture
def visits(monkeypatch):
    """Results of boards of their own, a clock, sessions that use boards and end, and what was forgotten."""
    results, now, forgotten = BoardResults(), [0.0], []
    sessions = []
    monkeypatch.setattr(board_results, "_await_end", str)
    monkeypatch.setattr(board_results, "time", SimpleNamespace(monotonic=lambda: now[0]))
    monkeypatch.setattr(board_results, "session_id", lambda: sessions[-1])

    def use(session, board, n_bytes=0):
        sessions.append(session)
        results.weigh(board, n_bytes)
        results.note(board, forgotten.append, board)

    def forgotten_after(*ended, seconds=0):
        for session in ended:
            results.end(session)
        now[0] += seconds
        results.release()
        return sorted(forgotten, key=str)

    return SimpleNamespace(results=results, forgotten=forgotten, use=use, forgotten_after=forgotten_after)


def test_a_board_that_another_session_uses_is_not_forgotten(visits):
    visits.use("first", "shared")
    visits.use("first", "own")
    visits.use("second", "shared")
    visits.forgotten_after("first")
    assert visits.forgotten_after(seconds=10_000) == ["own"]
    visits.forgotten_after("second")
    assert visits.forgotten_after(seconds=10_000) == ["own", "shared"]


def test_a_board_waits_ten_minutes_for_a_visitor_who_comes_back(visits):
    visits.use("first", "board")
    assert visits.forgotten_after("first", seconds=599) == []
    visits.use("again", "board")
    assert visits.forgotten_after(seconds=10_000) == []
    visits.forgotten_after("again")
    assert visits.forgotten_after(seconds=601) == ["board"]


def test_boards_that_were_left_stay_up_to_a_number_of_bytes_and_the_last_one_in_any_case(visits):
    visits.use("first", "small", 1_000)
    visits.use("second", "second small", 1_000)
    assert visits.forgotten_after("first", "second") == []
    visits.use("third", "huge", 10**9)
    assert visits.forgotten_after("third") == ["second small", "small"]


def test_of_a_board_that_stays_open_the_last_calls_are_noted_as_many_as_have_results(visits):
    visits.use("first", "other")
    for number in [*range(50), 48]:
        visits.results.note("board", visits.forgotten.append, number, max_entries=3)
    visits.results.note("board", visits.forgotten.extend, (7,), max_entries=3)
    visits.forgotten_after("first")
    assert visits.forgotten_after(seconds=10_000) == [47, 48, 49, 7, "other"]


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


def test_what_functions_of_a_view_return_is_told_apart_by_function_view_and_arguments_in_sight():
    made = []

    @board_results.cached_by_key(show_spinner=False, max_entries=4)
    def joined(view, text, _hidden):
        made.append(f"{view.name} {text} {_hidden}")
        return made[-1]

    @board_results.cached_by_key(show_spinner=False, max_entries=4)
    def length(view, text, _hidden):
        return len(view.name + text)

    first, same, other = (
        SimpleNamespace(key=key, name=name) for key, name in (("a", "1"), ("a", "2"), ("b", "3"))
    )
    assert joined(first, "x", "hidden") == joined(same, "x", "another") == "1 x hidden"
    assert [joined(other, "x", ""), joined(first, "y", "")] == ["3 x ", "1 y "]
    assert length(first, "x", "") == len("1x")
    assert len(made) == 3


def test_twenty_visits_of_large_boards_leave_one(visits):
    for number in range(20):
        visits.use(f"session {number}", f"board {number:02}", 24_000_000)
        forgotten = visits.forgotten_after(f"session {number}")
    assert forgotten == [f"board {number:02}" for number in range(19)]


def test_what_pages_kept_of_a_board_is_made_anew_some_time_after_the_last_of_them(monkeypatch):
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
    monkeypatch.setattr(board_results, "_SECONDS", -1)
    board_results.board_results.release()
    assert n_scored_by_another_page() == 1
