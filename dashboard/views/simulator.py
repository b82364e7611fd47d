"""Simulator: what ties do to lists nobody ranked, and what fewer digits would do to your own."""

from dashboard import state
from dashboard.components import page
from dashboard.formats import number_formats
from dashboard.simulated import many_lists
from dashboard.simulator import small_list

view = state.view()
page("Simulator", "Change a list, a reranker or a number format, and see what its ties do to the score.")
small_list()
many_lists()
number_formats(view)
