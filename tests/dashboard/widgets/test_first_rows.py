import pandas as pd

from dashboard.widgets.first_rows import ShownRows, search_rows


def test_the_rows_shown_are_a_part_of_all_in_their_order():
    rows = pd.DataFrame({"tied": range(45)}, index=[f"r{number}" for number in range(45)])
    shown = ShownRows(n_rows=45, start=40, stop=45, key="places")
    assert shown.n_shown == 5
    assert list(shown.of(rows).index) == ["r40", "r41", "r42", "r43", "r44"]


def test_a_search_finds_part_of_a_name_in_any_case():
    rows = pd.DataFrame({"tied": [0.3, 0.2, 0.1]}, index=["BM25", "rankgpt", "bm25-plus"])
    assert list(search_rows(rows, "Bm25").index) == ["BM25", "bm25-plus"]
    assert list(search_rows(rows, "").index) == list(rows.index)
