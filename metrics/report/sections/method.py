"""The section that lets a reader make the report again: rules, measures, versions and hashes."""

import platform
from importlib.metadata import PackageNotFoundError, version

import pandas as pd

from metrics.measures import parse
from metrics.report.model import Section
from metrics.report.studies import ReportStudies
from metrics.report.tables import Table
from metrics.studies.significance.test_registry import find_correction, find_test
from metrics.studies.tradeoffs.experiment import experiment_measures
from metrics.ties import treatment

_WITH = ("numpy", "pandas", "pyarrow", "scipy", "statsmodels")


def method(studies: ReportStudies) -> Section:
    """Write how values were made, with what, from which files."""
    options, order = studies.options, treatment(studies.options.traditional)
    test, correction = find_test(options.test), find_correction(options.correction)
    facts = (
        ("Tied value", "exact mean over every order the ties allow, list by list"),
        ("Traditional value", f"{order.label} ({order.name}). {order.summary}"),
        ("Test", f"{test.label}. {test.source}"),
        ("Correction", ". ".join(filter(None, (correction.label, correction.source)))),
        ("Versions", ", ".join(f"{name} {_version(name)}" for name in ("tiescope", *_WITH))),
        ("Python", platform.python_version()),
    )
    measures = [parse(name) for name in dict.fromkeys((*studies.evaluation.measures, *experiment_measures()))]
    columns = {
        "Measure": [str(name) for name in measures],
        "Tied": [name.tied for name in measures],
        "What it is": [name.measure.summary for name in measures],
        "Source": [name.measure.source for name in measures],
    }
    tables = [Table.of("Measures", columns)]
    if options.files:
        tables.append(Table("Files", pd.DataFrame(options.files, columns=["File", "SHA-256"])))
    return Section(
        "method",
        "Method",
        "What it takes to make the same report again.",
        facts=facts,
        tables=tuple(tables),
    )


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"
