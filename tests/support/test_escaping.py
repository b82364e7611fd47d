import csv
import io

import pandas as pd
import pytest

from metrics.support.escaping import spreadsheet_csv


def cells(frame):
    """The lines of its CSV, as a spreadsheet reads them."""
    return list(csv.reader(io.StringIO(spreadsheet_csv(frame).decode(), newline="")))


FORMULAS = ["=1+1", "+1", "-x", "@SUM(A1)", "\uff1d1+1", "\uff0b1", "\uff0d1", "\uff20x", " =1"]
FORMULAS += ["\t=1", "\n=1", "\r=1", "\ttext", "\ntext"]


@pytest.mark.parametrize("text", FORMULAS)
def test_a_formula_is_a_text_to_a_spreadsheet_in_a_cell_and_in_a_heading(text):
    assert cells(pd.DataFrame({text: [text]})) == [["'" + text], ["'" + text]]


def test_numbers_plain_texts_and_missing_values_stay_as_they_are():
    frame = pd.DataFrame({"id": ["a=1", "plain", None], "mixed": ["x", None, 2.5], "value": [-1.0, 0.5, None]})
    for table in (frame, frame.astype(object)):
        assert cells(table)[1:] == [["a=1", "x", "-1.0"], ["plain", "", "0.5"], ["", "2.5", ""]]
