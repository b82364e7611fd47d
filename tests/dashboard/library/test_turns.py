"""Dear work takes turns: who waits hears so and can leave; what is small never waits."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cache
from threading import Event, Semaphore

import pytest

from dashboard.library import turns
from dashboard.library.turns import max_at_once, turn
from metrics import TieScopeError
from metrics.support.progress import listening


@pytest.fixture(autouse=True)
def only_turn(monkeypatch):
    """One turn for all work of the test, asked for again and again."""
    monkeypatch.setattr(turns, "_free_turns", cache(lambda: Semaphore(1)))
    monkeypatch.setattr(turns, "_SECONDS", 0.001)


def test_small_work_runs_while_all_turns_are_taken():
    with turn(), turn(is_dear=False):
        pass


def test_work_within_work_that_has_a_turn_needs_no_other():
    with turn(), turn():
        pass
    with turn():
        pass


def test_dear_work_waits_for_a_turn_and_says_so():
    steps, is_waiting = [], Event()

    def note(step):
        steps.append(f"{step.task} {step.part}")
        is_waiting.set()

    def work():
        with listening(note), turn():
            return len(steps)

    with ThreadPoolExecutor() as pool:
        with turn():
            waiting = pool.submit(work)
            assert is_waiting.wait(60)
            assert not waiting.done()
        assert waiting.result(60) == len(steps)
    assert set(steps) == {"Waiting for other visitors' work"}


def test_who_leaves_while_waiting_leaves_the_turn_to_others():
    def leave(_step):
        raise KeyboardInterrupt

    def work():
        with listening(leave), turn():
            pytest.fail("there was no turn to have")

    with ThreadPoolExecutor() as pool:
        with turn(), pytest.raises(KeyboardInterrupt):
            pool.submit(work).result(60)
        assert pool.submit(do_in_turn).result(60)


def do_in_turn():
    with turn():
        return True


def test_a_turn_is_given_back_whatever_ends_the_work():
    for _ in range(3):
        with suppress(KeyboardInterrupt), turn():
            raise KeyboardInterrupt


@pytest.mark.parametrize("number", ["0", "-1", "two", "1.5", "\u0663"])
def test_a_number_of_turns_that_is_none_is_refused_by_the_name_of_its_setting(number, monkeypatch):
    monkeypatch.setenv("TIESCOPE_MAX_AT_ONCE", number)
    with pytest.raises(TieScopeError, match="TIESCOPE_MAX_AT_ONCE"):
        max_at_once()


@pytest.mark.parametrize(("number", "expected"), [("", 7), ("3", 3)])
def test_a_core_is_left_for_pages_unless_the_environment_says_otherwise(number, expected, monkeypatch):
    monkeypatch.setenv("TIESCOPE_MAX_AT_ONCE", number)
    monkeypatch.setattr("os.cpu_count", lambda: 8)
    assert max_at_once() == expected
