"""What judging settles, in sentences."""

from metrics.evaluation import EQUAL
from metrics.measures import parse
from metrics.studies.leaderboard.judging.plan import JudgingPlan
from metrics.studies.prose import Prose, Strong, decimal
from metrics.support.wording import count_of, percent


def plan_finding(plan: JudgingPlan) -> Prose:
    """Say how many documents halve what unjudged documents leave open, in order and at random."""
    n_documents, name = len(plan.documents), parse(plan.measure).traditional
    half, at_random = plan.halving(), plan.halving("at_random")
    if not n_documents:
        return ("Every document in the top ", Strong(str(plan.depth)), " is judged.")
    if plan.width <= EQUAL:
        return (Strong(f"Nothing is open of {name}"), ": neither ties nor unjudged documents move it.")
    if not half:
        return (Strong(f"No judgment narrows {name}"), ": ties leave it as open as it is.")
    widths = f" Bars are {decimal(plan.width)} wide on average; ties alone leave {decimal(plan.floor)}."
    if n_documents == 1:
        return (Strong("One document is left to judge"), f" in the top {plan.depth}.{widths}")
    as_many = ", as many as in random order"
    compared = as_many if at_random == half else f", {at_random:,} in random order"
    return (
        Strong(f"{count_of(half, 'judgment')} in this order"),
        f" {'halve' if half > 1 else 'halves'} what {n_documents:,} unjudged documents leave open of {name}"
        f"{compared}.{widths}",
    )


def closing_text(plan: JudgingPlan, n_judged: int) -> str:
    """Say which share of what holes leave open the first documents close."""
    if not plan.halving():
        return "No judgment closes anything: unjudged documents leave nothing open."
    share = percent(float(plan.share_closed(n_judged)))
    verb = "close" if n_judged > 1 else "closes"
    return f"The first {count_of(n_judged, 'document')} {verb} {share} of what unjudged documents leave open."
