"""Noise: how far the true score of a document may be from its score, and the cost of computing with it."""

import math
import re
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from metrics.errors import UsageError
from metrics.support.arrays import FloatArray, IntArray
from metrics.support.cached import cached_property

REACH = 6.0
"""Standard deviations a normal score reaches; beyond lies a chance of 2e-9."""
_TOUCH = 1e-10
"""Share of a cell by which rounding may make neighbours overlap."""
_EXACT = 1e-6
"""Standard deviation of an exact score, over the smallest one above 0 in its list."""
SMALLEST, LARGEST = 1e-290, 1e290
"""Standard deviations that keep all sums and quotients within the range of floats."""
_FORMATS: dict[str, tuple[int, int]] = {
    "float64": (53, -1074),
    "float32": (24, -149),
    "float16": (11, -24),
    "bfloat16": (8, -133),
}
"""Bits of the significand of each number format, and the power of two of its smallest number."""


@dataclass(frozen=True)
class Noise:
    """How true scores are distributed: S = s + sigma * Z, Z normal; or uniform in a cell around s.

    Attributes:
        sigma: standard deviation of every score; None: each row has its own, or a cell.
        number_format: format whose cells hold the scores, `decimals:N` among them; empty: normal noise.
    """

    sigma: float | None = None
    number_format: str = ""

    @property
    def by_row(self) -> bool:
        """True if each row has its own standard deviation."""
        return self.sigma is None and not self.number_format

    @property
    def summary(self) -> str:
        """The noise in words."""
        if self.number_format:
            return f"true scores distributed uniformly within half a rounding step of {self.number_format}"
        size = "each row's score_std" if self.by_row else f"{self.sigma:g}"
        return f"normal noise with standard deviation {size}"

    def spreads(self, scores: FloatArray, sigmas: FloatArray | None, starts: IntArray) -> "Spreads":
        """Return where the true scores of documents lie.

        A standard deviation of 0 becomes a millionth of the smallest one above 0 in its list. Infinite scores
        with the same sign are a tie.

        Shapes: `scores` (n_docs,), `sigmas` (n_docs,), `starts` (n_segments + 1,).
        """
        is_finite = np.isfinite(scores)
        if self.number_format:
            low, high = cells(scores, self.number_format)
            width = np.subtract(high, low, out=np.ones(len(scores)), where=is_finite)
            return Spreads.of(scores, width, low, high, starts, is_normal=False)
        if self.sigma is not None or sigmas is None:
            scale = np.full(len(scores), self.sigma or 0.0)
        else:
            scale = _scales(sigmas, is_finite, starts)
        scale = np.where(is_finite, scale, 1.0)
        low, high = scores - REACH * scale, scores + REACH * scale
        return Spreads.of(scores, scale, low, high, starts, is_normal=True)


def parse_noise(name: str) -> Noise | None:
    """Return the noise of `noise`, `noise:0.05`, `noise:bfloat16`; None for other treatments."""
    kind, colon, setting = name.partition(":")
    if kind != "noise":
        return None
    if not colon:
        return Noise()
    if setting in _FORMATS or re.fullmatch(r"decimals:(\d|1[0-7])", setting):
        return Noise(number_format=setting)
    if re.fullmatch(r"(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?", setting) and math.isfinite(
        sigma := float(setting)
    ):
        if not _is_computable(np.array(sigma)).all():
            raise UsageError(
                f"{name}: give a standard deviation of 0, or between {SMALLEST:g} and {LARGEST:g}."
            )
        return Noise(sigma=sigma)
    formats = ", ".join([*_FORMATS, "decimals:N"])
    raise UsageError(
        f"{name}: give a standard deviation of 0 or more after the colon, as in noise:0.05, or a number "
        f"format: {formats}. Without a colon, noise reads the standard deviations from the column score_std."
    )


def _is_computable(sigmas: FloatArray) -> npt.NDArray[np.bool_]:
    return np.asarray((sigmas == 0) | ((sigmas >= SMALLEST) & (sigmas <= LARGEST)))


def _scales(sigmas: FloatArray, is_finite: npt.NDArray[np.bool_], starts: IntArray) -> FloatArray:
    is_bad = is_finite & ~_is_computable(sigmas)
    if is_bad.any():
        raise UsageError(
            f"score_std {sigmas[is_bad][0]:g}: give a standard deviation between {SMALLEST:g} and "
            f"{LARGEST:g}, or 0 where the score is exact."
        )
    smallest = np.full(len(starts) - 1, np.inf)
    segment = np.repeat(np.arange(len(smallest)), np.diff(starts))
    np.minimum.at(smallest, segment, np.where(is_finite & (sigmas > 0), sigmas, np.inf))
    smallest = np.where(np.isfinite(smallest), _EXACT * smallest, 0.0)
    return np.where(sigmas == 0, smallest[segment], sigmas)


def cells(scores: FloatArray, number_format: str) -> tuple[FloatArray, FloatArray]:
    """Return the ends of each score's cell: half a step of the format to either side.

    For a number of the format, these are all scores that round to it: below a power of two the step is half as
    wide. A score between two such numbers gets the step of its magnitude, and 0 the smallest step.

    Shapes: `scores` (n,).
    """
    if number_format.startswith("decimals:"):
        below = above = np.full(len(scores), 0.1 ** int(number_format.partition(":")[2]))
    else:
        bits, smallest = _FORMATS[number_format]
        size, exponent = np.frexp(np.where(np.isfinite(scores), scores, 0.0))
        exponent = np.where(size == 0, smallest, exponent)
        step = np.ldexp(1.0, np.maximum(exponent - bits, smallest))
        inward = np.where(np.abs(size) == 0.5, np.ldexp(1.0, np.maximum(exponent - bits - 1, smallest)), step)  # noqa: PLR2004 a power of two
        below, above = np.where(size > 0, inward, step), np.where(size < 0, inward, step)
    largest = np.where(np.isfinite(scores), np.finfo(np.float64).max, np.inf)
    with np.errstate(over="ignore"):  # half a step above the largest number
        return np.maximum(scores - 0.5 * below, -largest), np.minimum(scores + 0.5 * above, largest)


@dataclass(frozen=True, eq=False)
class Spreads:
    """Where the true scores of documents lie, list by list, by falling score within.

    Attributes:
        scores: (n_docs,) as given.
        scale: (n_docs,) standard deviation of a normal score, width of a uniform one.
        low: (n_docs,) lower end of the true score.
        high: (n_docs,) upper end of the true score.
        lowest: (n_docs,) lowest `low` of the list down to each document.
        highest: (n_docs,) highest `high` of the list from each document on.
        starts: (n_clusters,) first document of each cluster; documents of two clusters have a certain order.
        is_normal: true for normal true scores; otherwise each is uniform between its ends.
    """

    scores: FloatArray
    scale: FloatArray
    low: FloatArray
    high: FloatArray
    lowest: FloatArray
    highest: FloatArray
    starts: IntArray
    is_normal: bool

    @classmethod
    def of(
        cls,
        scores: FloatArray,
        scale: FloatArray,
        low: FloatArray,
        high: FloatArray,
        starts: IntArray,
        *,
        is_normal: bool,
    ) -> "Spreads":
        """Cut lists where no document above overlaps one below; equal scores stay together."""
        segment = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        lowest = _running_minimum(low, segment)
        highest = -_running_minimum(-high[::-1], len(starts) - segment[::-1])[::-1]
        is_first = np.ones(len(scores), dtype=bool)
        overlap = 0.0 if is_normal else _TOUCH * np.minimum(scale[1:], scale[:-1])
        is_first[1:] = (segment[1:] != segment[:-1]) | (
            (scores[1:] < scores[:-1]) & (highest[1:] <= lowest[:-1] + overlap)
        )
        return cls(scores, scale, low, high, lowest, highest, np.flatnonzero(is_first), is_normal)

    def are_ties(self, starts: IntArray, sizes: IntArray) -> npt.NDArray[np.bool_]:
        """Return (n,) whether all documents of each stretch have one score and one scale: a tie."""
        return np.asarray(self.level[starts + sizes - 1] == self.level[starts])

    @cached_property
    def level_starts(self) -> IntArray:
        """(n_levels,) first document of each stretch of one score and one scale in one list."""
        is_new = np.ones(len(self.scores), dtype=bool)
        is_new[1:] = (self.scores[1:] != self.scores[:-1]) | (self.scale[1:] != self.scale[:-1])
        is_new[self.starts] = True
        return np.flatnonzero(is_new)

    @cached_property
    def level(self) -> IntArray:
        """(n_docs,) the stretch of `level_starts` that each document is in."""
        return np.repeat(
            np.arange(len(self.level_starts)), np.diff(np.append(self.level_starts, len(self.scores)))
        )


def _running_minimum(values: FloatArray, segment: IntArray) -> FloatArray:
    """Return (n,) the smallest value of the segment down to each index."""
    if not ((values[1:] > values[:-1]) & (segment[1:] == segment[:-1])).any():
        return values
    order = np.argsort(values)
    place = np.empty(len(values), dtype=np.int64)
    place[order] = np.arange(len(values))
    base = segment * len(values) + len(values) - 1
    return np.asarray(values[order[base - np.maximum.accumulate(base - place)]])


MAX_STRETCHES = 2**23
"""Stretches of scores of one list: of further ones, the ends alone would fill the memory."""
MAX_STEPS = 2**33
"""Rows of tables that the documents of one list are taken into, over all nodes: about ten seconds."""
_SECONDS = 10 / MAX_STEPS
"""Seconds that one row takes, about."""
MAX_RATIO = 1e12
"""Widest span of scores that noise may reorder, over their smallest standard deviation."""
_GROWTH = 1 / 3
"""Documents of a list grow at least with this power of the steps."""


def refuse_long(sizes: IntArray, steps: FloatArray, budget: float = MAX_STEPS) -> None:
    """Raise a UsageError where computing a list costs more steps than the budget.

    Shapes: `sizes` (n,), `steps` (n,).
    """
    if not len(steps) or steps.max() <= budget:
        return
    worst = int(np.argmax(steps))
    size = int(sizes[worst])
    limit = int(size * (budget / float(steps[worst])) ** _GROWTH)
    cost = "need too much memory"
    if budget != MAX_STRETCHES:
        cost = f"take about {_SECONDS * float(steps[worst]):,.0f} seconds"
    raise UsageError(
        f"Noise may reorder {size:,} documents of one list, which would {cost} to compute exactly. "
        f"The limit is about {limit:,}. Shorten the lists, or choose less noise or a measure with a cut-off, "
        "as in nDCG@10."
    )


def refuse_wide(span: FloatArray, smallest: FloatArray) -> None:
    """Raise a UsageError where spans of scores are too wide for the digits of a float."""
    is_wide = span > MAX_RATIO * smallest
    if is_wide.any():
        example = int(np.argmax(is_wide))
        raise UsageError(
            f"score_std: the scores of a list span {span[example]:.3g}, more than {MAX_RATIO:g} times the "
            f"list's smallest standard deviation ({smallest[example]:.3g}). A standard deviation of 0 counts "
            "as a millionth of the smallest one above 0. Raise the smallest standard deviation, or give one "
            "for all scores, as in noise:0.05."
        )
