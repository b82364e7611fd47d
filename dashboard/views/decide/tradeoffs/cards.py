"""The cards of the Trade-offs page: best, fastest, and who repeats what others found."""

import pandas as pd

from dashboard.widgets.components import Card
from dashboard.widgets.leaders import leader_name
from metrics import parse
from metrics.evaluation import EQUAL
from metrics.studies.prose import decimal
from metrics.studies.tradeoffs.tradeoffs import duration
from metrics.support.wording import percent


def speed_cards(rows: pd.DataFrame, measure: str, budget: float | None) -> list[Card]:
    """Return the best within the budget, the fastest, and how many nothing beats.

    Args:
        rows: as `tradeoffs` returns them.
        measure: by which the best is.
        budget: seconds a list may take, None for any.
    """
    timed = rows[rows["standing"] != "not timed"]
    affordable = timed if budget is None else timed[timed["seconds"] <= budget]
    label = f"Best {parse(measure).tied}" if budget is None else f"Best within {duration(budget)}"
    if len(affordable):
        best = affordable["tied"].max()
        first = Card("trophy", label, decimal(best, 4), leader_name(affordable["tied"]), "blue")
    else:
        first = Card("trophy", label, "–", "none is that fast")
    return [
        first,
        Card("bolt", "Fastest", duration(timed["seconds"].min()), leader_name(-timed["seconds"])),
        Card(
            "show_chart",
            "On the front",
            f"{timed['tied_front'].sum()} of {len(timed)}",
            f"traditional: {timed['traditional_front'].sum()}",
            "orange" if (timed["tied_front"] != timed["traditional_front"]).any() else "gray",
            help="Rerankers that no other one beats: none is as fast and as good.",
        ),
    ]


def depth_cards(rows: pd.DataFrame, coverage: pd.DataFrame, measure: str, k: int) -> list[Card]:
    """Return what stands in for the cards on speed where nothing is timed.

    Args:
        rows: as `tradeoffs` returns them.
        coverage: as `coverage` returns it.
        measure: by which the best is.
        k: places that are looked at.
    """
    tied, recall, targets = rows["tied"], coverage["recall"], coverage["targets"]
    return [
        Card("trophy", f"Best {parse(measure).tied}", decimal(tied.max(), 4), leader_name(tied), "blue"),
        Card("travel_explore", f"Best Recall@{k}", decimal(recall.max(), 4), leader_name(recall)),
        Card("category", f"Largest Div@{k}", f"{targets.max():.2f}", leader_name(targets)),
    ]


def last_card(coverage: pd.DataFrame, k: int, *, has_targets: bool) -> Card:
    """Return who repeats targets most; without targets, whose recall ties can move most.

    Args:
        coverage: as `coverage` returns it.
        k: places that are looked at.
        has_targets: whether documents say what they satisfy.
    """
    if has_targets:
        values, label = coverage["repeated"], "Most repetition"
        value = percent(values.max())
        explanation = f"Share of the relevant documents in the first {k} whose target another one satisfies."
    else:
        values, label = coverage["recall_best"] - coverage["recall_worst"], "Recall ties move"
        value, explanation = decimal(values.max(), 4), f"Recall@{k} from the worst order of ties to the best."
    is_any = values.max() > EQUAL
    return Card(
        "content_copy" if has_targets else "join_inner",
        label,
        value,
        leader_name(values, above=EQUAL),
        "orange" if is_any else "gray",
        explanation,
    )
