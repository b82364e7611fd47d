import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrics.runs.formats.delimited import CodedTextBuilder, NumberBuilder, TextBuilder

TEXTS = st.lists(st.lists(st.sampled_from(["", "a", "bb", "ñandú", "x" * 40])), max_size=6)


def pieces(parts, kind):
    """Parts as slices of one array, as a parser may give them."""
    column = pa.array([value for part in parts for value in part], kind)
    ends = np.cumsum([0, *map(len, parts)])
    return [column.slice(start, len(part)) for start, part in zip(ends, parts, strict=False)]


@pytest.mark.parametrize("column", [lambda: TextBuilder(1), lambda: TextBuilder(3.5), CodedTextBuilder])
@given(parts=TEXTS)
def test_texts_come_back_in_the_order_they_were_added(column, parts):
    builder = column()
    for piece in pieces(parts, pa.string()):
        builder.add(piece)
    assert builder.finish().to_pylist() == [text for part in parts for text in part]


@pytest.mark.parametrize("times", [0.5, 1, 3.5])
@given(parts=st.lists(st.lists(st.floats(allow_nan=False)), max_size=6))
def test_numbers_come_back_bit_for_bit(times, parts):
    builder = NumberBuilder(times)
    for piece in pieces(parts, pa.float64()):
        builder.add(piece)
    expected = np.array([number for part in parts for number in part])
    assert builder.finish().to_numpy().tobytes() == expected.tobytes()


def test_like_texts_are_kept_once():
    builder = CodedTextBuilder()
    for _ in range(3):
        builder.add(pa.array(["q1", "q1", "q2"]))
    assert builder.finish().dictionary.to_pylist() == ["q1", "q2"]
