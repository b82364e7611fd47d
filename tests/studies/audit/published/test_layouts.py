"""Tables as consoles print them, and what writers put beside names and figures."""

import pandas as pd
import pytest

from metrics import ReadError
from metrics.studies.audit.published.grids import parse_number
from metrics.studies.audit.published.reading import read_published


def figures(name, text):
    table = read_published({name: text.encode()}).figures
    return table[["reranker", "measure", "text"]].to_numpy().tolist()


MEANS = pd.DataFrame(
    {"nDCG@10": [0.4973, 0.71, None], "MRR": [0.7024, 0.8812, 0.5]},
    index=pd.Index(["bm25", "mono T5 (3B), k=9", "ada"], name="reranker"),
)
EXPECTED = [
    *[["bm25", "nDCG@10", "0.4973"], ["bm25", "MRR", "0.7024"]],
    *[["mono T5 (3B), k=9", "nDCG@10", "0.7100"], ["mono T5 (3B), k=9", "MRR", "0.8812"]],
    ["ada", "MRR", "0.5000"],
]
RANX = """
#    Model              nDCG@10    MRR
---  -----------------  ---------  --------
a    bm25               0.4973     0.7024
b    mono T5 (3B), k=9  0.7100ᵃ    0.8812ᵃᶜ
c    ada                           0.5000
"""


@pytest.mark.parametrize(
    "text",
    [
        f"Means of 3 rerankers:\n\n{MEANS}\n",
        MEANS.to_string().replace("NaN", "   "),
        RANX,
    ],
    ids=["a data frame", "with a gap", "a report of ranx"],
)
def test_columns_aligned_by_spaces_are_those_of_a_table(text):
    assert figures("t.txt", text) == EXPECTED


@pytest.mark.parametrize("letter", "ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖ𐞥ʳˢᵗᵘᵛʷˣʸᶻ")
def test_every_raised_letter_of_significance_leaves_the_number(letter):
    assert parse_number(f"0.8812{letter}").value == 0.8812


def test_a_text_of_columns_of_nothing_is_no_table():
    with pytest.raises(ReadError, match="there is no figure in this table"):
        figures("t.txt", "one  two\nthree  four\n" + "x" * 3_000 + "  y\n")


@pytest.mark.parametrize("note", ["", "\n[^1]: as its authors tuned it\n"])
def test_footnotes_are_no_part_of_names_in_markdown(note):
    text = f"| Model | MRR[^a] |\n|---|---|\n| bm25 [^1] | 0.702[^1] |\n{note}"
    assert figures("t.md", text) == [["bm25", "MRR", "0.702"]]


def test_percents_are_said_of_every_measure_they_stand_under():
    text = "model,DL19 nDCG@10,DL19 MAP,MRR\na,49.7,29.0,70.2\nb,50.1,30.0,81.0\n"
    assert read_published({"t.csv": text.encode()}).notes == (
        "Percents, divided by 100: DL19 nDCG@10, DL19 MAP, MRR.",
    )


def test_a_binary_file_is_refused_with_what_a_table_may_be():
    with pytest.raises(ReadError, match="Give trec_eval's output, a CSV, Markdown or LaTeX table, or JSON"):
        read_published({"t.csv": b"a\x00b"})
