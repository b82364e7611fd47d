"""Which tests and corrections there are, each with what it assumes and where it is from."""

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
        queries: which it looks at: those the two have in common, those all have in common, or each one's own.
        summary: what it asks, how its p comes about, and what that assumes.
        interval: whose interval comes with it: where not its own, the two can disagree.
        function: question → an answer a pair.
        simultaneous: whether its p hold for all pairs at once, so that nothing is left to correct.
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
        """Whether it compares on the same queries."""
        return self.queries != "own"

    @property
    def interval_scope(self) -> str:
        """Whose interval comes with it, and of how many comparisons it holds."""
        return self.interval if self.simultaneous else f"{self.interval}, each comparison by itself"

    @property
    def interval_sentence(self) -> str:
        """Whose interval comes with it, as a sentence."""
        return f"{self.interval[0].upper()}{self.interval[1:]}."


@dataclass(frozen=True)
class Correction:
    """What is done about making many comparisons; `method` is what statsmodels calls it, None for nothing."""

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
        summary="Is the mean difference larger than its spread over queries allows? Assumes normal "
        "differences, or many queries.",
        interval="interval of Student's t",
        source="Student, Biometrika 6(1), 1908; for rankings: Smucker, Allan & Carterette, CIKM 2007",
        function=t_test,
        aliases=("ttest", "t-test"),
    ),
    Test(
        name="wilcoxon",
        label="Wilcoxon signed-rank test",
        queries="two",
        summary="Do ranks of differences favour one side? Queries without a difference are left out. "
        "Exact over all flips of signs, for some 250 differences or fewer.",
        interval="interval of the randomisation test, which is of means where p is of ranks",
        source="Wilcoxon, Biometrics Bulletin 1(6), 1945",
        function=wilcoxon,
    ),
    Test(
        name="randomisation",
        label="randomisation test",
        queries="two",
        summary="How often do randomly flipped signs take the mean difference as far? "
        "Exact up to 13 differences, else seeded flips.",
        interval="interval of the shifts that flipped signs do not reject",
        source="Fisher, The Design of Experiments, 1935; for rankings: Smucker, Allan & Carterette, CIKM 2007",
        function=randomisation,
        aliases=("permutation", "randomization"),
    ),
    Test(
        name="bootstrap",
        label="bootstrap test",
        queries="two",
        summary="Where does the interval of the mean over resampled queries leave 0 out? "
        "Of few queries that differ, p is no smaller than that of their signs agreeing by chance.",
        interval="percentile interval, widened for few queries",
        source="Efron & Tibshirani, An Introduction to the Bootstrap, 1993; "
        "Hesterberg, The American Statistician 69(4), 2015; for rankings: Sakai, SIGIR 2006",
        function=bootstrap,
    ),
    Test(
        name="mann-whitney",
        label="Mann-Whitney U test",
        queries="own",
        summary="For runs on different queries: does a list of one score above a list of the other? "
        "Exact over all splits of the values, ties and all, for some 50 a side or fewer.",
        interval="interval of Welch's t, which is of means where p is of ranks",
        source="Mann & Whitney, Annals of Mathematical Statistics 18(1), 1947; Welch, Biometrika 34, 1947",
        function=mann_whitney,
        aliases=("mannwhitney", "mannwhitneyu", "u"),
    ),
    Test(
        name="tukey",
        label="Tukey HSD test",
        queries="all",
        summary="Which of all pairs differ, all at once, on the queries all have? Assumes normal values, "
        "or many queries; no correction comes on top.",
        interval="interval that holds for all pairs at once",
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
        summary="Keeps the chance of any false verdict at the level; never weaker than Bonferroni.",
        source="Holm, Scandinavian Journal of Statistics 6(2), 1979",
        method="holm",
    ),
    Correction(
        name="bonferroni",
        label="Bonferroni",
        summary="Each p times the number of comparisons.",
        source="Dunn, Journal of the American Statistical Association 56, 1961",
        method="bonferroni",
    ),
    Correction(
        name="benjamini-hochberg",
        label="Benjamini-Hochberg",
        summary="Keeps the expected share of false verdicts among the significant ones at the level.",
        source="Benjamini & Hochberg, Journal of the Royal Statistical Society B 57(1), 1995",
        method="fdr_bh",
        aliases=("bh", "fdr"),
    ),
    Correction(
        name="none",
        label="none",
        summary="Each p as it is: of 20 comparisons without a difference, one is significant by chance.",
        source="",
        method=None,
    ),
)
Entry = TypeVar("Entry", bound=Test | Correction)


def find_test(name: str) -> Test:
    """Return the test of a name or alias; raises UsageError where there is none."""
    return _find(name, TESTS, "test")


def find_correction(name: str) -> Correction:
    """Return the correction of a name or alias; raises UsageError where there is none."""
    return _find(name, CORRECTIONS, "correction")


def _find(name: str, entries: Sequence[Entry], kind: str) -> Entry:
    names: dict[str, Entry] = {}
    for entry in entries:
        names |= dict.fromkeys((entry.name, *entry.aliases), entry)
    key = name.strip().casefold()
    if key in names:
        return names[key]
    close = get_close_matches(key[:40], names, n=1)
    known_names = ", ".join(each.name for each in entries)
    hint = f"Did you mean {names[close[0]].name}?" if close else f"There are: {known_names}."
    raise UsageError(f"There is no {kind} {name[:40]!r}. {hint}")


def adjust_p(p: FloatArray, correction: Correction) -> FloatArray:
    """Return (n,) p-values adjusted for n comparisons."""
    if correction.method is None or not len(p):
        return p
    if correction.method == "holm":
        return holm(p)
    with needs("stats"):
        from statsmodels.stats.multitest import multipletests  # noqa: PLC0415 Holm's needs none of it
    return np.asarray(multipletests(p, method=correction.method)[1])


def is_significant(p: FloatArray | float, level: float) -> BoolArray:
    """Return (n,) whether adjusted p are below 1 - level; 0.05 is not below 0.05."""
    return np.asarray(p) < alpha(level)
