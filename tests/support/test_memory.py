from threading import Barrier, Thread

import pyarrow as pa
import pytest

from metrics.support.memory import one_allocator


@pytest.fixture
def own():
    """Whether pyarrow takes memory where a program told it to."""
    before, proxy = pa.default_memory_pool(), pa.proxy_memory_pool(pa.default_memory_pool())
    pa.set_memory_pool(proxy)

    def used():
        already = proxy.bytes_allocated()
        buffer = pa.allocate_buffer(1000)
        return proxy.bytes_allocated() - already >= buffer.size

    yield used
    pa.set_memory_pool(before)


def test_the_allocator_a_program_chose_is_its_own_again_after_the_last_has_left(own):
    both_inside, one_left = Barrier(2), Barrier(2)

    def short():
        with one_allocator:
            both_inside.wait(10)
        one_left.wait(10)

    assert own()
    other = Thread(target=short)
    other.start()
    with one_allocator:
        both_inside.wait(10)
        one_left.wait(10)
        assert not own()
    other.join(10)
    assert own()


def test_the_allocator_is_the_programs_again_after_an_error(own):
    with pytest.raises(ZeroDivisionError), one_allocator:
        _ = 1 / 0
    assert own()
