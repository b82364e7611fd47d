from dataclasses import replace

import pandas as pd

from dashboard.widgets.columns import elide_names, written
from metrics.support.shown_columns import shown_columns

LONG = [f"cross-encoder/ms-marco-MiniLM-L{layers}-v2-finetuned-on-the-help-desk-corpus" for layers in (6, 12)]


def test_long_names_in_a_table_keep_what_tells_them_apart_and_stand_whole_in_the_last_column():
    frame = pd.DataFrame(
        {"reranker": [*LONG, "bm25"], "beaten_by": [LONG[1], "", LONG[0]], "tied": [0.3, 0.2, 0.1]}
    )
    shown, columns = elide_names(frame, shown_columns("reranker", "tied", "beaten_by"))
    assert shown["name"].to_list() == frame["reranker"].to_list()
    assert list(columns) == ["reranker", "tied", "beaten_by", "name"]
    short = shown["reranker"].to_list()
    assert "6" in short[0]
    assert "12" in short[1]
    assert max(map(len, short)) <= 28
    assert shown["beaten_by"].to_list() == [short[1], "", short[0]]


def test_a_table_of_short_names_is_left_as_it_is():
    frame, columns = pd.DataFrame({"reranker": ["bm25"], "tied": [0.1]}), shown_columns("reranker", "tied")
    assert elide_names(frame, columns) == (frame, columns)


def test_a_table_whose_numbers_are_written_holds_only_the_columns_shown():
    frame = pd.DataFrame({"p": [0.01], "unseen": [1.0], "reranker": ["bm25"]})
    columns = {**shown_columns("reranker"), "p": replace(shown_columns("reranker")["reranker"], kind="p")}
    assert list(written(frame, columns).data.columns) == ["reranker", "p"]
