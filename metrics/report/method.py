"""The section that lets a reader make the report again: rules, measures, versions and hashes."""

import platform
from importlib.metadata import PackageNotFoundError, version

import pandas as pd

from metrics.evaluation import DRAWS
from metrics.measures import MeasureAt, parse
from metrics.report.model import Section, Table
from metrics.report.studies import ReportStudies
from metrics.studies.significance.test_registry import find_correction, find_test
from metrics.ties import treatment

_WITH = ("numpy", "pandas", "pyarrow", "scipy", "statsmodels")


def method(found: ReportStudies) -> Section:
    """How values were made, with what, from which files."""
    asked = found.asked
    test, correction = find_test(asked.test), find_correction(asked.correction)
    facts = (
        ("Tied value", "exact mean over every order the scores allow, list by list"),
        ("Traditional value", f"{asked.traditional}: {treatment(asked.traditional).summary}"),
        ("Test", f"{test.label}. {test.source}"),
        ("Correction", ". ".join(filter(None, (correction.label, correction.source)))),
        ("Versions", ", ".join(f"{name} {_version(name)}" for name in ("tiescope", *_WITH))),
        ("Python", platform.python_version()),
    )
    measures = [parse(name) for name in found.evaluation.measures]
    rows = pd.DataFrame([_row(one) for one in measures], columns=["Measure", "Tied", "What it is", "Source"])
    drawn = [str(one) for one in measures if one.measure.family.sampled]
    note = f"{', '.join(drawn)}: ± ties from {DRAWS} drawn orders, about 4% off." if drawn else ""
    tables = [Table("Measures", rows, note=note)]
    if asked.files:
        tables.append(Table("Files", pd.DataFrame(asked.files, columns=["File", "SHA-256"])))
    return Section(
        "method",
        "Method",
        "What it takes to make the same report again.",
        facts=facts,
        tables=tuple(tables),
    )


def _row(one: MeasureAt) -> tuple[str, str, str, str]:
    return str(one), one.tied, one.measure.summary, one.measure.source


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"
