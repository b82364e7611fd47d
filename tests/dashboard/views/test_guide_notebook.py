"""The Guide's map of the notebook leads to places that exist and hold the notebook's figures."""

import pytest
from opening import opened

from dashboard import cache
from metrics.studies.guide.notebook_map import NOTEBOOK


@pytest.mark.parametrize("one", NOTEBOOK, ids=lambda one: one.printed)
def test_a_place_of_the_notebook_exists_and_holds_its_figures(one):
    link = dict(one.link)
    if "data" in link:
        link["data"] = cache.SIMULATED_LABEL
    page = opened(one.page, **link)
    assert any(head.value.startswith(one.place) for head in page.subheader)
    cells = [cell for table in page.dataframe for cell in table.value.to_numpy().ravel()]
    numbers = [float(cell) for cell in cells if isinstance(cell, int | float)]
    said = {metric.value for metric in page.metric}
    for figure in (text.split()[-1].removesuffix("%") for text in one.figures):
        digits = len(figure.partition(".")[2])
        close = 0.500001 * 10**-digits
        assert figure in said or any(abs(number - float(figure)) <= close for number in numbers), figure


def test_the_guide_lists_every_table_and_figure_of_the_notebook_with_its_place():
    page = opened("guide", section="Notebook")
    said = " ".join(text.value for text in page.markdown).replace("\\", "")
    for one in NOTEBOOK:
        assert one.printed in said
    assert len(page.get("page_link")) >= len(NOTEBOOK)
