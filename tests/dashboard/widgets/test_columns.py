from dataclasses import replace

import pandas as pd

from dashboard.widgets.columns import (
    MOST_COLUMNS,
    columns_in_sight,
    elide_names,
    streamlit_columns,
    writers,
    written,
)
from metrics.support.shown_columns import shown_columns

LONG = [f"cross-encoder/ms-marco-MiniLM-L{layers}-v2-finetuned-on-the-help-desk-corpus" for layers in (6, 12)]


def test_shortened_names_in_a_table_stay_distinct_and_whole_in_a_column():
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


def test_six_columns_are_in_sight_and_a_rank_before_them():
    columns = shown_columns("reranker", "tied", "traditional", "gap", "worst", "best", "tie_ratio", "n")
    assert columns_in_sight(columns) == list(columns)[:MOST_COLUMNS] == list(columns)[:6]
    ranked = shown_columns("tied_rank") | columns
    assert columns_in_sight(ranked) == ["tied_rank", *columns_in_sight(columns)]
    assert columns_in_sight(shown_columns("reranker")) == ["reranker"]


def test_a_table_whose_numbers_are_written_holds_only_the_columns_shown():
    frame = pd.DataFrame({"p": [0.01], "unseen": [1.0], "reranker": ["bm25"]})
    columns = {**shown_columns("reranker"), "p": replace(shown_columns("reranker")["reranker"], kind="p")}
    assert list(written(frame, columns, writers(frame, columns)).data.columns) == ["reranker", "p"]


def test_a_tiny_difference_is_written_with_its_figures_and_none_without_a_sign():
    gaps = [0.0000312, 0.0, -0.01, 0.0021, float("nan")]
    frame = pd.DataFrame({"gap": gaps, "tied": [0.5, 0.4, 0.3, 0.0, 0.1]})
    columns = shown_columns("gap", "tied")
    by_hand = writers(frame, columns)
    assert list(by_hand) == ["gap"]
    assert [by_hand["gap"](gap) for gap in (5.8e-7, -5.8e-7, 5.8e-10)] == ["+5.8e−07", "−5.8e−07", "0"]
    assert [by_hand["gap"](gap) for gap in gaps[:4]] == ["+0.000031", "0", "−0.010", "+0.002"]
    assert streamlit_columns(columns, by_hand)["gap"]["type_config"]["format"] is None
    assert streamlit_columns(columns)["gap"]["type_config"]["format"] == "%+.3f"


def test_numbers_below_zero_have_a_true_minus_and_stay_numbers_to_sort_by():
    frame = pd.DataFrame({"gap": [0.02, -0.01], "tied": [-0.5, 0.25]})
    columns = shown_columns("gap", "tied")
    by_hand = writers(frame, columns)
    assert [by_hand["gap"](gap) for gap in frame["gap"]] == ["+0.020", "−0.010"]
    assert [by_hand["tied"](tied) for tied in frame["tied"]] == ["−0.500", "0.250"]
    assert written(frame, columns, by_hand).data.equals(frame)


def test_the_row_of_all_lists_takes_no_part_in_what_names_share():
    names = [f"a-long-name-that-all-of-them-share-lr{number}e-5__fp16__maxlen512" for number in range(1, 4)]
    columns = shown_columns("reranker")
    alone, _ = elide_names(pd.DataFrame({"reranker": names}), columns)
    below, _ = elide_names(pd.DataFrame({"reranker": ["All lists", *names]}), columns)
    assert list(below["reranker"]) == ["All lists", *alone["reranker"]]
    assert all(f"lr{number}e-5" in label for number, label in enumerate(alone["reranker"], 1))


def test_on_a_phone_the_reranker_column_stays_in_sight_after_its_rank():
    def pinned(*names, is_narrow):
        configurations = streamlit_columns(shown_columns(*names), is_narrow=is_narrow)
        return [name for name, column in configurations.items() if column.get("pinned")]

    assert pinned("tied_rank", "reranker", "gap", is_narrow=True) == ["tied_rank", "reranker"]
    assert not pinned("tied_rank", "reranker", "gap", is_narrow=False)
    assert not pinned("tied", "gap", "reranker", is_narrow=True)
