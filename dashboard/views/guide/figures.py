"""What the Guide's Markdown files take from the code: one function a file."""

from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st

from dashboard.access.settings import UPLOAD_LIMITS
from dashboard.library import scored
from dashboard.library.boards import MOST_FILES
from dashboard.library.storage.base import USUAL
from dashboard.library.storage.intake import MAX_LIBRARY, MAX_UPLOAD
from dashboard.library.storage.schema import RETENTION
from metrics import FORMATS, TOOLS
from metrics.runs import COLUMNS, KINDS
from metrics.runs.formats.json_records import MAX_DEPTH, MAX_JSON, MAX_VALUES
from metrics.runs.reading.columns import MAX_COLUMNS
from metrics.runs.reading.files import FREE_BYTES, MAX_BYTES, MAX_GROWTH, MAX_LINE
from metrics.studies.guide.reading_examples import SCENARIOS, random_order_value, scenario_values
from metrics.studies.guide.reference import family_measures, measure_table, tool_rules, treatment_table
from metrics.studies.leaderboard.readings import LIMITS
from metrics.studies.leaderboard.verdicts import VERDICTS
from metrics.studies.prose import plain, signed

Figures = Mapping[str, Any]
_COMMON_FORMATS = ("trec-run", "trec-qrels", "table", "parquet", "json", "jsonl")
"""Formats that come first."""
_FEW_PAIRS = 6
"""Pairs of the sample that the Guide shows."""
_FAMILIES = (
    *("first_hit", "additive", "average_precision", "interpolated_precision", "cascade"),
    *("bpref", "inferred_ap", "targets", "own_rules"),
)


def words() -> Figures:
    """Return the verdicts of the leaderboard."""
    return {"verdicts": VERDICTS}


def formulas() -> Figures:
    """Return the measures of each family, and where each is from."""
    families = {name: family_measures(name) for name in _FAMILIES}
    return {
        "families": families,
        "sources": {
            name: "; ".join(f"{measure.name}: {measure.source}" for measure in measures)
            for name, measures in families.items()
        },
    }


def measures() -> Figures:
    """Return all measures."""
    return {"measures": list(measure_table().itertuples())}


def reading() -> Figures:
    """Return usual targets by measure, what MRR and MAP do not see, and values that are read."""
    from metrics.studies.targets import targets  # noqa: PLC0415 statistics take half a second to import

    usual: dict[str, list[str]] = {}
    for text in targets.PRESETS["retrieval"]:
        usual.setdefault(targets.Target.of(text).measure.measure.name, []).append(text.replace(">", " > "))
    return {
        "targets": usual,
        "limits": LIMITS,
        "random_ndcg": f"{random_order_value('nDCG@5'):.4f}",
        "scenarios": [
            (name, ", ".join(map(str, SCENARIOS[name])), f"{row.RR:.4f}", f"{row.AP:.4f}")
            for name, row in scenario_values().iterrows()
        ],
    }


def deciding() -> Figures:
    """Return the tests, the corrections, and the verdicts and presets of targets."""
    from metrics.studies.significance import test_registry  # noqa: PLC0415 statistics take half a second to import
    from metrics.studies.targets import targets  # noqa: PLC0415 likewise

    return {
        "tests": test_registry.TESTS,
        "corrections": test_registry.CORRECTIONS,
        "presets": targets.PRESETS,
        "verdicts": targets.VERDICTS,
        "audit": _audit(),
    }


def tools() -> Figures:
    """Return the tools with their rules, and all treatments."""
    return {
        "tools": [(tool, tool_rules(tool)) for tool in TOOLS],
        "treatments": list(treatment_table().itertuples()),
    }


def _audit() -> Figures:
    """Return what becomes of the table beside the sample, and what verdicts on orders mean."""
    from dashboard import cache  # noqa: PLC0415 statistics take half a second to import
    from dashboard.widgets import audited_table  # noqa: PLC0415 likewise
    from metrics.studies.audit import audited_order  # noqa: PLC0415 likewise

    board = cache.sample_board()
    result, order = audited_table.sample_audit(board)
    rows = audited_order.widest_first(order.pairs).head(_FEW_PAIRS)
    first = str(order.places["traditional"].idxmax())
    return {
        "sentence": plain(audited_order.audit_finding(result, order)),
        "pairs": [
            {
                "a": row.a,
                "b": row.b,
                "verdict": row.verdict,
                "difference": signed(row.tied_difference, 4),
                "chance": chance,
            }
            for row, chance in zip(rows.itertuples(), audited_order.written_chances(rows), strict=True)
        ],
        "first": first,
        "first_place": int(order.places["tied_rank"][first]),
        "n": len(order.places),
        "verdicts": audited_order.VERDICTS,
    }


def findings() -> Figures:
    """Return the kinds of findings."""
    return {"kinds": KINDS}


def files() -> Figures:
    """Return the formats, the columns and the limits of files."""
    by_name = {file_format.name: file_format for file_format in FORMATS}
    return {
        "formats": [by_name[name] for name in dict.fromkeys((*_COMMON_FORMATS, *by_name))],
        "columns": COLUMNS,
        "limits": {
            "upload": st.get_option("server.maxUploadSize"),
            "files": MOST_FILES,
            "unpacked": f"{MAX_BYTES / 2**30:.3g}",
            "free": f"{FREE_BYTES / 2**20:g}",
            "growth": f"{MAX_GROWTH}",
            "json_values": f"{MAX_VALUES:,}",
            "json": MAX_JSON // 2**20,
            "line": MAX_LINE // 2**20,
            "columns": f"{MAX_COLUMNS:,}",
            "depth": MAX_DEPTH,
        },
    }


def library() -> Figures:
    """Return how long and how much is kept."""
    max_visitor, max_visitors = UPLOAD_LIMITS.values()
    return {
        "days": RETENTION.days,
        "max_upload": f"{USUAL[MAX_UPLOAD]:,}",
        "max_library": f"{USUAL[MAX_LIBRARY]:,}",
        "max_visitor": f"{max_visitor:,}",
        "max_visitors": f"{max_visitors:,}",
    }


def large_results() -> Figures:
    """Return how much of what was scored is kept."""
    return {"max_scored": f"{scored.USUAL:,}"}


FIGURES: Mapping[str, Callable[[], Figures]] = {
    "words": words,
    "formulas": formulas,
    "measures": measures,
    "reading": reading,
    "deciding": deciding,
    "tools": tools,
    "findings": findings,
    "files": files,
    "library": library,
    "large_results": large_results,
}
"""File of the Guide, without ending → what it takes."""
