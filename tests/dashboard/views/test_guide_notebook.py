"""The Guide's map of the notebook leads to places that exist and hold the notebook's figures."""

import pytest
from opening import opened, texts, title

from dashboard.views.guide.notebook import notebook_places

_, PLACES = notebook_places()


@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.card.title)
def test_a_place_of_the_notebook_exists_and_holds_its_figures(place):
    page = opened(place.page, **place.choices)
    assert title(page) == place.label.partition(",")[0]
    assert any(heading.value.startswith(place.heading) for heading in page.subheader)
    cells = [cell for table in page.dataframe for cell in table.value.to_numpy().ravel()]
    numbers = [float(cell) for cell in cells if isinstance(cell, int | float)]
    values = {metric.value for metric in page.metric}
    for figure in (text.split()[-1].removesuffix("%") for text in place.figures):
        digits = len(figure.partition(".")[2])
        rounding = 0.500001 * 10**-digits
        assert figure in values or any(abs(number - float(figure)) <= rounding for number in numbers), figure


def test_the_guide_lists_every_table_and_figure_of_the_notebook_with_its_place():
    page = opened("guide", section="Notebook")
    text = texts(page)
    for place in PLACES:
        assert place.card.title in text
        assert all(figure in text for figure in place.figures)
    assert len(page.get("page_link")) >= len(PLACES)
