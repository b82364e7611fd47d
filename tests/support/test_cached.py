from threading import Event, Thread

from metrics.support.cached import cached_property


class Board:
    """What takes as long as it is told to."""

    def __init__(self, may_end):
        self.may_end, self.begun, self.n_computed = may_end, Event(), 0

    @cached_property
    def value(self):
        self.begun.set()
        assert self.may_end.wait(60)
        self.n_computed += 1
        return self.n_computed


def test_nobody_waits_for_what_is_computed_of_something_else():
    may_end, is_free = Event(), Event()
    is_free.set()
    large, small = Board(may_end), Board(is_free)
    worker = Thread(target=lambda: large.value)
    worker.start()
    assert large.begun.wait(60)
    other = Thread(target=lambda: small.value)
    other.start()
    other.join(60)
    has_ended = not other.is_alive()
    may_end.set()
    worker.join(60), other.join(60)
    assert has_ended


def test_a_value_is_computed_once():
    is_free = Event()
    is_free.set()
    board = Board(is_free)
    assert (board.value, board.value) == (1, 1)
