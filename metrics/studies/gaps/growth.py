"""How a simulated reranker's score moves as its ties grow."""

from collections.abc import Callable, Mapping, Sequence

import pandas as pd

from metrics.evaluation import evaluate
from metrics.measures import parse
from metrics.runs import Runs
from metrics.simulation import LlmReranker
from metrics.studies.gaps.precisions import precision_curve
from metrics.studies.prose import Prose, Strong, decimal
from metrics.studies.tools.tie_rules import own_rule_note
from metrics.support.wording import percent

Simulate = Callable[[Mapping[str, LlmReranker]], Runs]
"""What simulates rerankers by name; with common luck, or differences are noise."""
TIE_PROBABILITIES = tuple(at / 10 for at in range(11))
LEVELS = (2, 3, 5, 10, 20, 50)


def growth_curve(
    simulate: Simulate, levels: int, measure: str, tie_probabilities: Sequence[float] = TIE_PROBABILITIES
) -> pd.DataFrame:
    """Return the mean of one simulated reranker under rising tie probabilities.

    Args:
        simulate: simulates rerankers on the same queries.
        levels: score levels of the reranker.
        measure: name of a measure.
        tie_probabilities: tie probabilities, rising.

    Returns:
        tie_probability, tie_ratio, tied, worst, best, traditional (in input order), std, low and high, as
        `metrics.studies.gaps.precisions.precision_curve` has them.
    """
    runs = simulate({f"{chance}": LlmReranker(chance, levels) for chance in tie_probabilities})
    curve = precision_curve(runs, measure, precisions=["float64"])
    curve.insert(0, "tie_probability", list(tie_probabilities))
    return curve.drop(columns=["reranker", "precision", "label"])


def gap_by_settings(
    simulate: Simulate,
    measure: str,
    levels: Sequence[int] = LEVELS,
    tie_probabilities: Sequence[float] = TIE_PROBABILITIES,
) -> pd.DataFrame:
    """Return the mean absolute gap of a list: index tie probability, columns score levels.

    Args:
        simulate: simulates rerankers on the same queries.
        measure: name of a measure.
        levels: score levels.
        tie_probabilities: chances that a document hands its score to another.
    """
    settings = [(chance, many) for chance in tie_probabilities for many in levels]
    runs = simulate({f"{at}": LlmReranker(*one) for at, one in enumerate(settings)})
    values = evaluate(runs, measure, ["input", "expected"]).scores[str(parse(measure))]
    gap = (values["input"] - values["expected"]).abs().groupby(level="reranker", sort=False).mean()
    cells = gap.to_numpy().reshape(len(tie_probabilities), len(levels))
    return pd.DataFrame(
        cells, pd.Index(tie_probabilities, name="tie_probability"), pd.Index(levels, name="levels")
    )


def growth_finding(curve: pd.DataFrame, tie_probability: float, levels: int, measure: str) -> Prose:
    """Say how far the mean of the chosen settings depends on the order of ties.

    Args:
        curve: as `growth_curve` returns it.
        tie_probability: one of its tie probabilities.
        levels: score levels of the reranker.
        measure: how its mean is called, such as `MRR`.
    """
    row = curve[curve["tie_probability"] == tie_probability].iloc[0]
    if not row["tie_ratio"]:
        return (Strong("No document ties: "), f"{measure} is {decimal(row['tied'])} in every order.")
    scores = f"{levels} score level{'s' * (levels != 1)}" if levels else "any score allowed"
    start: Prose = (
        f"With {scores} and a tie probability of {tie_probability:g}, ",
        Strong(f"{percent(row['tie_ratio'])} of the documents tie"),
    )
    if own_rule := own_rule_note(measure)[:1]:
        return *start, f" and {measure} is {decimal(row['tied'])}. ", *own_rule
    return (
        *start,
        f". Tied {measure} is {decimal(row['tied'])}; 19 in 20 shuffles of the same file give "
        f"{decimal(row['low'])} to {decimal(row['high'])}, and the orders taken to their ends ",
        Strong(f"{decimal(row['worst'])} to {decimal(row['best'])}"),
        ".",
    )
