from streamlit.proto.Metric_pb2 import Metric
from streamlit.testing.v1 import AppTest

from dashboard.charts.labels import NAME_COLUMNS, sentence_names
from dashboard.widgets.components import elide_prose
from metrics.studies.prose import Strong, plain

LONG = [f"cross-encoder/ms-marco-MiniLM-L{layers}-v2-finetuned-on-the-help-desk-corpus" for layers in (6, 12)]


def test_shortened_names_in_sentences_stay_distinct_and_whole_in_tooltips():
    labels = sentence_names([*LONG, "bm25"])
    short, whole = elide_prose((Strong(LONG[0]), f" is above {LONG[1]} and ", Strong("bm25"), "."), labels)
    assert plain(short) == f"{labels[LONG[0]]} is above {labels[LONG[1]]} and bm25."
    assert ("L6" in labels[LONG[0]], "L12" in labels[LONG[1]]) == (True, True)
    assert max(map(len, labels.values())) <= NAME_COLUMNS
    whole_names = [line.partition(" is ")[2] for line in whole.replace("\\", "").split("  \n")]
    assert sorted(whole_names) == sorted(LONG)


def two_cards():
    from dashboard.widgets.components import Card, cards  # noqa: PLC0415 this body is run alone

    cards(Card("star", "Best", "0.5", "-*a* [b]", "blue"), Card("star", "Last", "0.1", "c", "orange"))


def test_a_card_has_its_note_as_it_is_written_in_its_colour_and_without_an_arrow():
    cards = AppTest.from_function(two_cards).run().metric
    assert [card.delta for card in cards] == [r"\-\*a\* \[b\]", "c"]
    assert [card.proto.color for card in cards] == [Metric.MetricColor.BLUE, Metric.MetricColor.ORANGE]
    assert {card.proto.direction for card in cards} == {Metric.MetricDirection.NONE}
