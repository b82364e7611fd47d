"""How a simulated reranker's score moves as its ties grow."""

from collections.abc import Callable, Mapping, Sequence

import pandas as pd

from metrics.evaluation import evaluate
from metrics.measures import parse
from metrics.runs import Runs
from metrics.simulation import LlmReranker
from metrics.studies.gaps.precisions import precision_curve
from metrics.studies.prose import Prose, Strong, percent

Make = Callable[[Mapping[str, LlmReranker]], Runs]
"""What simulates rerankers by name; with common luck, or differences are noise."""
CHANCES = tuple(at / 10 for at in range(11))
LEVELS = (2, 3, 5, 10, 20, 50)


def growth_curve(make: Make, levels: int, measure: str, chances: Sequence[float] = CHANCES) -> pd.DataFrame:
    """One reranker under rising tie probabilities.

    Args:
        make: simulates rerankers on the same queries.
        levels: score levels of the reranker.
        measure: name of a measure with a closed spread, such as `RR`.
        chances: tie probabilities, rising.

    Returns:
        tie_probability, tie_ratio, tied, worst, best, traditional (in input order), std, low and high, as
        `metrics.studies.gaps.precisions.precision_curve` has them.
    """
    runs = make({f"{chance}": LlmReranker(chance, levels) for chance in chances})
    curve = precision_curve(runs, measure, precisions=["float64"])
    curve.insert(0, "tie_probability", list(chances))
    return curve.drop(columns=["reranker", "precision", "label"])


def gap_by_settings(
    make: Make, measure: str, levels: Sequence[int] = LEVELS, chances: Sequence[float] = CHANCES
) -> pd.DataFrame:
    """Mean absolute gap of a list: index tie probability, columns score levels.

    Args:
        make: simulates rerankers on the same queries.
        measure: name of a measure.
        levels: score levels.
        chances: tie probabilities.
    """
    settings = [(chance, many) for chance in chances for many in levels]
    runs = make({f"{at}": LlmReranker(*one) for at, one in enumerate(settings)})
    values = evaluate(runs, measure, ["input", "expected"]).scores[str(parse(measure))]
    gap = (values["input"] - values["expected"]).abs().groupby(level="reranker", sort=False).mean()
    cells = gap.to_numpy().reshape(len(chances), len(levels))
    return pd.DataFrame(cells, pd.Index(chances, name="tie_probability"), pd.Index(levels, name="levels"))


def growth_finding(curve: pd.DataFrame, chosen: float, levels: int, measure: str) -> Prose:
    """What the chosen settings leave to luck.

    Args:
        curve: as `growth_curve` returns it.
        chosen: one of its tie probabilities.
        levels: score levels of the reranker.
        measure: how its mean is called, such as `MRR`.
    """
    one = curve[curve["tie_probability"] == chosen].iloc[0]
    if not one["tie_ratio"]:
        return (Strong("No document ties: "), f"{measure} is {one['tied']:.3f} in every order.")
    scores = f"{levels} score level{'s' * (levels != 1)}" if levels else "any score allowed"
    return (
        f"With {scores} and a tie probability of {chosen:g}, ",
        Strong(f"{percent(one['tie_ratio'])} of the documents tie"),
        f". Tied {measure} is {one['tied']:.3f}; shuffling the same file gives {one['low']:.3f} to "
        f"{one['high']:.3f} 19 times in 20, and the orders taken to their ends ",
        Strong(f"{one['worst']:.3f} to {one['best']:.3f}"),
        ".",
    )
