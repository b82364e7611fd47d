import numpy as np
import pandas as pd
import pytest

from metrics.support.escaping import csv_text
from metrics.support.plain_csv import plain_csv

NUMBERS = [0.0, -0.0, 1.0, -7.0, 0.1, 1 / 3, 1e-4, 9.999e-5, 1e-5, 5e-324, 1e15, 1.5e15, 1e16, 1e22, 123456.5]


def mixed_table():
    random = np.random.default_rng(0)
    numbers = np.concatenate([NUMBERS, [np.inf, -np.inf, np.nan], 10.0 ** random.uniform(-30, 30, 10_000)])
    counts = np.arange(len(numbers)) - 5
    names = pd.array([f"é {number % 7}" for number in counts], dtype="str")
    return pd.DataFrame({"name": names, "value": numbers, "n": counts, "changed": counts % 2 == 0})


def test_a_long_table_is_written_as_pandas_writes_it():
    table = mixed_table()
    assert plain_csv(table) == table.to_csv(index=False, header=False)
    assert csv_text(table) == table.to_csv(index=False)


@pytest.mark.parametrize("text", ["a,b", 'a"b', "a\nb", "a\rb", None])
def test_a_cell_that_needs_quotes_or_is_missing_is_left_to_pandas(text):
    table = pd.DataFrame({"name": pd.array(["plain", text], dtype="str"), "n": [1, 2]})
    assert plain_csv(table) is None
