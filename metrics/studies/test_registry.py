"""Tests and corrections by name, each with its assumptions and its source."""

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Literal, TypeVar

import numpy as np

from metrics.errors import UsageError, needs
from metrics.studies.query_values import alpha, holm
from metrics.studies.significance_tests import (
    TestFunction,
    bootstrap,
    mann_whitney,
    randomisation,
    t_test,
    tukey,
    wilcoxon,
)
from metrics.support.arrays import BoolArray, FloatArray


@dataclass(frozen=True)
class Test:
    """A test of significance.

    Attributes:
        queries: queries compared: those that the two share, those that all share, or each one's own.
        summary: the question, how p is computed, and its assumptions.
        interval: the interval reported; if it belongs to another test, it can contradict p.
        function: Comparison → TestResults.
        simultaneous: whether the p values hold for all pairs together and need no correction.
    """

    __test__ = False  # not a test of pytest

    name: str
    label: str
    queries: Literal["two", "all", "own"]
    summary: str
    interval: str
    source: str
    function: TestFunction
    simultaneous: bool = False
    aliases: tuple[str, ...] = ()

    @property
    def paired(self) -> bool:
        """Whether it compares values on the same queries."""
        return self.queries != "own"

    @property
    def interval_scope(self) -> str:
        """The interval, and whether it holds for one comparison or for all."""
        return self.interval if self.simultaneous else f"{self.interval}, for each comparison separately"

    @property
    def interval_sentence(self) -> str:
        """The interval as a sentence."""
        return f"{self.interval[0].upper()}{self.interval[1:]}."


@dataclass(frozen=True)
class Correction:
    """A correction for multiple comparisons; `method` is its name in statsmodels, None for no correction."""

    name: str
    label: str
    summary: str
    source: str
    method: str | None
    aliases: tuple[str, ...] = ()


TESTS = (
    Test(
        name="t",
        label="paired t-test",
        queries="two",
        summary="Is the mean difference larger than chance explains, given its standard error? Assumes normal "
        "differences or many queries.",
        interval="interval of Student's t",
        source="Student, Biometrika 6(1), 1908; for rankings: Smucker, Allan & Carterette, CIKM 2007",
        function=t_test,
        aliases=("ttest", "t-test"),
    ),
    Test(
        name="wilcoxon",
        label="Wilcoxon signed-rank test",
        queries="two",
        summary="Do the ranks of the differences favour one side? Queries without a difference are left out. "
        "Exact for up to about 250 differences.",
        interval="randomisation-test confidence interval of the mean difference (p itself compares ranks)",
        source="Wilcoxon, Biometrics Bulletin 1(6), 1945",
        function=wilcoxon,
    ),
    Test(
        name="randomisation",
        label="randomisation test",
        queries="two",
        summary="How often do random sign flips give a mean difference at least as large as the observed one? "
        "Exact for up to 13 differences, otherwise drawn with a seed.",
        interval="interval of all mean differences that the randomisation test does not reject",
        source="Fisher, The Design of Experiments, 1935; for rankings: Smucker, Allan & Carterette, CIKM 2007",
        function=randomisation,
        aliases=("permutation", "randomization"),
    ),
    Test(
        name="bootstrap",
        label="bootstrap test",
        queries="two",
        summary="What is the highest confidence level at which the bootstrap interval of the mean difference "
        "excludes 0? If two rerankers differ on few queries, p is never below the chance that all these "
        "differences have the same sign.",
        interval="percentile interval, widened for few queries",
        source="Efron & Tibshirani, An Introduction to the Bootstrap, 1993; "
        "Hesterberg, The American Statistician 69(4), 2015; for rankings: Sakai, SIGIR 2006",
        function=bootstrap,
    ),
    Test(
        name="mann-whitney",
        label="Mann-Whitney U test",
        queries="own",
        summary="For runs on different queries: do lists of one reranker score higher than lists of the other? "
        "Exact for up to about 50 queries per reranker, even if values are equal.",
        interval="Welch's t confidence interval of the mean difference (p itself compares ranks)",
        source="Mann & Whitney, Annals of Mathematical Statistics 18(1), 1947; Welch, Biometrika 34, 1947",
        function=mann_whitney,
        aliases=("mannwhitney", "mannwhitneyu", "u"),
    ),
    Test(
        name="tukey",
        label="Tukey HSD test",
        queries="all",
        summary="Which pairs differ if all pairs are tested together, on the queries that all rerankers "
        "share? Assumes normal values or many queries. Needs no correction.",
        interval="interval that holds for all pairs together",
        source="Tukey, Biometrics 5(2), 1949; for rankings: Carterette, ACM TOIS 30(1), 2012",
        function=tukey,
        simultaneous=True,
        aliases=("tukey-hsd", "hsd"),
    ),
)

CORRECTIONS = (
    Correction(
        name="holm",
        label="Holm",
        summary="Limits the chance of even one false positive to 1 − level. Never weaker than Bonferroni.",
        source="Holm, Scandinavian Journal of Statistics 6(2), 1979",
        method="holm",
    ),
    Correction(
        name="bonferroni",
        label="Bonferroni",
        summary="Multiplies each p by the number of comparisons.",
        source="Dunn, Journal of the American Statistical Association 56, 1961",
        method="bonferroni",
    ),
    Correction(
        name="benjamini-hochberg",
        label="Benjamini-Hochberg",
        summary="Limits the expected share of false positives among significant results to 1 − level.",
        source="Benjamini & Hochberg, Journal of the Royal Statistical Society B 57(1), 1995",
        method="fdr_bh",
        aliases=("bh", "fdr"),
    ),
    Correction(
        name="none",
        label="none",
        summary="Leaves each p as it is: of 20 comparisons without a difference, about one is significant.",
        source="",
        method=None,
    ),
)
Entry = TypeVar("Entry", bound=Test | Correction)


def find_test(name: str) -> Test:
    """Return the test with a name or alias; raise UsageError if there is none."""
    return _find(name, TESTS, "test")


def find_correction(name: str) -> Correction:
    """Return the correction with a name or alias; raise UsageError if there is none."""
    return _find(name, CORRECTIONS, "correction")


def _find(name: str, entries: Sequence[Entry], kind: str) -> Entry:
    names = {alias: entry for entry in entries for alias in (entry.name, *entry.aliases)}
    key = name.strip().casefold()
    if key in names:
        return names[key]
    close = get_close_matches(key[:40], names, n=1)
    choices = ", ".join(entry.name for entry in entries)
    hint = f"Did you mean {names[close[0]].name}?" if close else f"Choose from: {choices}."
    raise UsageError(f"There is no {kind} {name[:40]!r}. {hint}")


def adjust_p(p: FloatArray, correction: Correction) -> FloatArray:
    """Return (n,) p values adjusted for n comparisons."""
    if correction.method is None or not len(p):
        return p
    if correction.method == "holm":
        return holm(p)
    with needs("stats"):
        from statsmodels.stats.multitest import multipletests  # noqa: PLC0415 Holm's needs none of it
    return np.asarray(multipletests(p, method=correction.method)[1])


def is_significant(p: FloatArray | float, level: float) -> BoolArray:
    """Return whether adjusted p values are strictly below 1 - level."""
    return np.asarray(p) < alpha(level)
