"""Labels of names that are too long: whole where they fit, never two alike, what differs in sight."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.charts.figure import Figure
from dashboard.charts.labels import (
    NAME_COLUMNS,
    chart_names,
    hover_text,
    shared_parts,
    short_names,
    text_columns,
)
from dashboard.charts.marks import label_rows

LATIN = ["lynx", "rerank", "4b", "bf16", "v2.1", "r16", "é", "e\u0301"]
WORDS = st.sampled_from([*LATIN, "نموذج", "ترتيب", "模型", "重排序", "क्रमिक", "\U0001f469\u200d\U0001f52c"])
NAMES = st.lists(
    st.text(max_size=60) | st.lists(WORDS, min_size=1, max_size=16).map("-".join),
    unique=True,
    min_size=1,
    max_size=24,
)
ADAPTERS = [
    f"lynx-rerank-4b-lora-r{rank}-lr{rate}-s{seed}k-msmarco"
    for rank in (4, 8, 16, 32)
    for rate in ("1e4", "3e5")
    for seed in (1, 2, 4, 8)
]


def look(label):
    return unicodedata.normalize("NFC", label)


@given(NAMES, st.integers(8, 40))
def test_no_two_names_have_one_label_and_none_is_wider_than_its_room(names, longest):
    labels = short_names(names, longest)
    assert list(labels) == names
    assert len({look(label) for label in labels.values()}) == len(names)
    assert max(map(text_columns, labels.values())) <= longest


@given(NAMES, st.integers(8, 40))
def test_a_name_that_fits_is_whole_if_no_name_is_long_and_none_looks_the_same(names, longest):
    names = [name for name in names if text_columns(name) <= NAME_COLUMNS]
    looks = [look(" ".join(name.split())) for name in names]
    labels = short_names(names, longest)
    for name in names:
        is_plain = name.isprintable() and text_columns(name) <= longest and name.split()
        if is_plain and looks.count(look(" ".join(name.split()))) == 1:
            assert labels[name] == name


def test_a_mark_stays_on_its_letter():
    for longest in range(8, 30):
        labels = short_names(["e\u0301" * 60 + end for end in ("", "a", "bc")], longest).values()
        assert not any("…\u0301" in label or "…·" in label for label in labels)


def test_long_names_lose_the_words_that_all_share_and_these_are_said():
    labels = short_names(ADAPTERS)
    assert labels["lynx-rerank-4b-lora-r16-lr1e4-s2k-msmarco"] == "r16-lr1e4-s2k"
    assert shared_parts(ADAPTERS) == ["lynx-rerank-4b-lora-", "-msmarco"]
    assert shared_parts(["bm25", *ADAPTERS]) == ["lynx-rerank-4b-lora-", "-msmarco"]


def test_a_short_name_loses_the_shared_words_that_it_has():
    names = [
        f"run_Qwen2.5-{size}-Instruct_scifact_{way}" for size in ("1.5B", "3B") for way in ("pagc", "gccp")
    ]
    labels = short_names([*names, "run_scifact_bm25"])
    assert list(labels.values()) == ["1.5B pagc", "1.5B gccp", "3B pagc", "3B gccp", "bm25"]
    assert shared_parts(names) == ["run_Qwen2.5-", "-Instruct_scifact_"]


def test_words_of_a_few_long_names_stay_and_labels_are_cut_in_the_middle():
    names = [
        *(f"cross-encoder/ms-marco-MiniLM-L6-v2-{kind}" for kind in ("float32", "bfloat16")),
        *("bm25", "bge-reranker-v2-m3"),
    ]
    assert list(short_names(names).values()) == [
        "cross-encoder/ms…M-L6-v2-float32",
        "cross-encoder/ms…-L6-v2-bfloat16",
        *names[2:],
    ]
    assert shared_parts(names) == []


def test_a_name_of_shared_words_only_keeps_them():
    whole = "cross-encoder-of-ms-marco-MiniLM-L6"
    labels = short_names([whole, f"{whole}-int8"])
    assert list(labels.values()) == ["cross-encoder-of…marco-MiniLM-L6", "int8"]


def test_what_differs_stays_where_names_share_both_ends():
    names = [f"cross-encoder/MiniLM-L6__bs32__{precision}__maxlen512" for precision in ("fp16", "bf16")]
    assert [("fp16" in label, "bf16" in label) for label in short_names(names).values()] == [
        (True, False),
        (False, True),
    ]


def test_names_that_differ_in_their_middle_keep_their_start_and_end_as_far_as_there_is_room():
    names = [
        f"ms-marco-MiniLM-{layers}-v2-{kind}" for layers in ("L6", "L12") for kind in ("grade10-cot", "int8")
    ]
    labels = short_names([*names, "bm25", "qwen3-reranker", "llama-8b", "gpt"])
    assert [labels[name] for name in names[::2]] == [
        "ms-marco-MiniLM-L6-v2-grade10-cot"[:18] + "…2-grade10-cot",
        "ms-marco-MiniLM-L12…-grade10-cot",
    ]


@pytest.mark.parametrize("kind", ["あ", "ن", "x", "क्"])
def test_names_without_separators_differ_where_their_one_letter_does(kind):
    names = [kind * 40 + letter + kind * 40 for letter in "甲z9"]
    assert all(letter in label for letter, label in zip("甲z9", short_names(names).values(), strict=True))


def test_charts_write_a_name_that_is_markup_as_text_and_the_hover_has_all_of_it():
    name = "<b>" + "long " * 30 + "</b>"
    assert chart_names([name])[name].startswith("&lt;b&gt;")
    assert hover_text(name).replace("<br>", " ") == f"&lt;b&gt;{'long ' * 30}&lt;/b&gt;"


def test_a_name_that_runs_from_the_right_does_not_reorder_what_stands_beside_it():
    assert chart_names(["نموذج 1"])["نموذج 1"] == "\u2068نموذج 1\u2069"


def test_the_margin_beside_rows_grows_with_the_longest_name_as_it_is_read():
    margins = {}
    for name in ("bm25", "<<<<<<<<<<", "m" * 26):
        label_rows(figure := Figure(), [name])
        margins[name] = figure.layout.margin.l
    assert margins["bm25"] < margins["<<<<<<<<<<"] < margins["m" * 26] < 200


def test_a_number_with_an_exponent_is_not_cut_at_its_sign():
    names = [f"cross-encoder-of-2025-lr{rate}e-5__fp16__maxlen512" for rate in (1, 2, 3)]
    assert all(f"lr{rate}e-5" in label for rate, label in enumerate(short_names(names).values(), 1))
