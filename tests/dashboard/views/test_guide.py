"""The Guide opens on whatever data there is, and a link opens the section and the example it names."""

import pytest
from opening import metrics, opened, plain, texts, title

from dashboard.views.guide import read_parts, table_rows
from metrics import FORMATS, MEASURES, TOOLS, TREATMENTS
from metrics.runs import COLUMNS, KINDS
from metrics.studies.guide import worked_example
from metrics.studies.leaderboard import VERDICTS


def guided(**query):
    """The page with the choices of a link."""
    page = opened("guide", **query)
    assert title(page) == "Guide"
    return page


def all_texts(page):
    """All the page's words, as Markdown."""
    cells = [cell for table in page.table for cell in (*table.value, *table.value.to_numpy().ravel())]
    labels = [folded.label for folded in page.expander]
    return texts(page, "markdown", "caption", "code", "latex", "header") + plain("\n".join([*cells, *labels]))


def table_cells(file):
    """The cells of all tables of one of the Guide's files."""
    blocks = [
        block for part in read_parts(file) for each in (part, *part.cards) for block in each.body.split("\n\n")
    ]
    return [cell for block in blocks if block.startswith("| ") for row in table_rows(block) for cell in row]


TOPICS = ["One minute", "Words", "Measures", "Deciding", "Files"]


def test_there_are_five_topics():
    assert guided().segmented_control(key="section").options == TOPICS


@pytest.mark.parametrize("section", TOPICS)
def test_every_section_opens_on_the_sample_data(section):
    page = guided(section=section)
    assert page.segmented_control(key="section").value == section
    assert page.header
    assert "`" not in texts(page, "caption")


def test_the_example_starts_with_five_tied_documents_of_which_one_is_relevant():
    page = guided()
    assert metrics(page) == {
        "MTRR": "0.4567",
        "Worst case": "0.2000",
        "Best case": "1.0000",
        "TMHits@3": "0.6000",
    }
    assert "120 orders" in all_texts(page)
    assert "0.3333" in all_texts(page)


def test_a_link_brings_its_example_along():
    page = guided(tied="4", relevant="2", above="1", cutoff="2", under="3")
    assert [page.number_input(key=key).value for key in ("tied", "relevant", "above", "cutoff", "under")] == [
        4,
        2,
        1,
        2,
        3,
    ]
    assert metrics(page)["TMHits@2"] == "0.5000"
    assert metrics(page)["MTRR"] == f"{worked_example(4, 2, 1, 2).answers['MTRR']:.4f}"


@pytest.mark.parametrize("value", ["0", "-1", "9999", "many", "", "nan", "inf", "1e999", "2.5"])
def test_numbers_of_a_link_that_cannot_be_fall_back(value):
    page = guided(tied=value, relevant=value, above=value, under=value, cutoff=value, section=value)
    assert "Ties in one minute" in [heading.value for heading in page.header]
    assert list(metrics(page)) == ["MTRR", "Worst case", "Best case", "TMHits@3"]


def test_a_smaller_tie_keeps_no_more_relevant_documents_than_it_has():
    page = guided(tied="6", relevant="5")
    page.number_input(key="tied").set_value(3).run()
    assert not page.exception
    assert page.number_input(key="relevant").value <= 3


def test_a_section_survives_a_page_switch():
    page = guided(section="Files")
    page.switch_page("views/leaderboard.py").run()
    page.switch_page("views/guide.py").run()
    assert page.segmented_control(key="section").value == "Files"


@pytest.mark.parametrize(
    ("section", "records"),
    [
        ("Words", VERDICTS.values()),
        ("Words", table_cells("words")),
        ("Measures", [card.title.split(" &")[0] for card in read_parts("formulas")[1:]]),
        ("Measures", [text for measure in MEASURES for text in (measure.summary, measure.source)]),
        ("Measures", [*table_cells("measures"), *table_cells("reading")]),
        ("Deciding", [text for tool in TOOLS for text in (tool.name, tool.version, tool.summary)]),
        ("Deciding", [rule.why for tool in TOOLS for rule in tool.rules.values()]),
        ("Deciding", [text for one in TREATMENTS for text in (one.name, one.summary, one.used_by)]),
        ("Files", [text for kind in KINDS for text in (kind.code, kind.summary, kind.hint)]),
        ("Files", [text for one in FORMATS for text in (one.name, one.summary)]),
        (
            "Files",
            [text for card in read_parts("files")[1].cards for text in (card.text, card.rest.strip("`\n"))],
        ),
        ("Files", [text for column in COLUMNS for text in (column.name, column.summary, *column.synonyms)]),
        ("Files", table_cells("files")),
    ],
)
def test_a_section_says_all_that_its_records_say(section, records):
    shown_text = all_texts(guided(section=section))
    assert not [record for record in records if plain(record) not in shown_text]
