"""Simulator: what ties do to lists nobody ranked, and what fewer digits would do to your own."""

from dashboard import session
from dashboard.views.lab.simulator.many_lists import many_lists
from dashboard.views.lab.simulator.number_formats import number_formats
from dashboard.views.lab.simulator.small_list import small_list
from dashboard.widgets.components import page_head
from dashboard.widgets.page_body import page_body


@page_body
def simulator() -> None:
    """Draw what ties do to one list, to many, and to the board's own in fewer digits."""
    page_head(
        "Simulator", "Change a list, a reranker or a number format, and see what its ties do to the score."
    )
    small_list()
    many_lists()
    number_formats(session.view())


simulator()
