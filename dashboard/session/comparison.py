"""The test of significance: which, and what is done about many comparisons."""

from dashboard.session.controls import segmented
from metrics.studies.significance.test_registry import CORRECTIONS, TESTS

_TESTS = {test.label.removesuffix(" test").removeprefix("paired "): test.name for test in TESTS}
_CORRECTIONS = {correction.label: correction.name for correction in CORRECTIONS}


def choose_test() -> tuple[str, str]:
    """Draw the choice of a test and of a correction; return their names."""
    test = _TESTS[segmented("Test", list(_TESTS), "test")]
    return test, _CORRECTIONS[segmented("Correction", list(_CORRECTIONS), "correction")]
