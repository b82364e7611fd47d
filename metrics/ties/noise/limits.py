"""How much an integral may cost: what would not end within seconds is refused before it is begun."""

import numpy as np

from metrics.errors import UsageError
from metrics.support.arrays import FloatArray, IntArray

MAX_STRETCHES = 2**23
"""Stretches of scores of one list: of further ones, the ends alone would fill the memory."""
MAX_STEPS = 2**33
"""Rows of tables that the documents of one list are taken into, over all nodes: about ten seconds."""
_SECONDS = 10 / MAX_STEPS
"""Seconds that one row takes, about."""
MAX_RATIO = 1e12
"""Span of scores whose order is open together, over their smallest standard deviation: digits of a float."""
_GROWTH = 1 / 3
"""Documents of a list grow at least with this power of the steps."""


def refuse_long(sizes: IntArray, steps: FloatArray, budget: float = MAX_STEPS) -> None:
    """Refuse a list whose open order costs too much.

    Args:
        sizes: (n,) documents of each list whose order is open together.
        steps: (n,) what each costs.
        budget: what it may cost.

    Raises:
        UsageError: one costs more.
    """
    if not len(steps) or steps.max() <= budget:
        return
    worst = int(np.argmax(steps))
    size = int(sizes[worst])
    limit = int(size * (budget / float(steps[worst])) ** _GROWTH)
    cost = "ask for more memory than there may be"
    if budget != MAX_STRETCHES:
        cost = f"take {_SECONDS * float(steps[worst]):,.0f} seconds or so"
    raise UsageError(
        f"Noise leaves the order of {size:,} documents of one list open together, which would {cost} "
        f"to compute exactly: here at most about {limit:,} can be. Cut the lists, take less noise, or a "
        "measure with a cut-off, as in nDCG@10."
    )


def refuse_wide(span: FloatArray, smallest: FloatArray) -> None:
    """Raise a UsageError where spans of scores are too wide for a float's digits beside their deviations."""
    is_wide = span > MAX_RATIO * smallest
    if is_wide.any():
        example = int(np.argmax(is_wide))
        raise UsageError(
            f"score_std: the smallest of a list is {smallest[example]:.3g} (a millionth of the smallest above "
            f"0 where one is 0), and its scores may lie {span[example]:.3g} apart: more than {MAX_RATIO:g} "
            "times that cannot be computed. Raise the smallest, or give one for all scores, as in noise:0.05."
        )
