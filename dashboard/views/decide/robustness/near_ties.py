"""The section of near ties: who ties, and what it does to the value, as scores within a distance tie."""

from dashboard.charts.deciding.near_tie_panels import near_tie_panels
from dashboard.session import View
from dashboard.views.decide.robustness.cached import shown_near_ties
from dashboard.widgets.components import chart, heading, section_finding
from dashboard.widgets.figures import kept_figure
from dashboard.widgets.page_body import section
from metrics import parse
from metrics.studies.robustness.near_tie_curves import near_tie_finding


@section("Near ties")
def near_tie_section(view: View, measure: str) -> None:
    """Draw tie ratios and the change of tied values as near scores tie."""
    tied = parse(measure).tied
    heading(
        "Near ties",
        "Scores within ε of the highest of their group tie, from the top down (within:ε in Scoring): how many "
        "documents tie, and what it does to the value.",
    )
    curves = shown_near_ties(view, measure)
    section_finding(near_tie_finding(curves, tied), view.rerankers)
    colours = {name: view.colour(name) for name in view.rerankers}
    figure = kept_figure(view.board.key, near_tie_panels, *curves, view.palette, colours, tied)
    alt = f"Tie ratio and change of {tied} of each reranker as scores that stand near each other tie."
    chart(figure, "near-ties", alt, wide=640)
