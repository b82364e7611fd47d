"""Snippets for a README or a page: a badge, a leaderboard."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from metrics.measures import parse
from metrics.report.writing import render
from metrics.studies.leaderboard import leaderboard_finding
from metrics.studies.prose import decimal
from metrics.support.wording import count_of
from metrics.ties import treatment

_BLUE, _ORANGE, _GREY = "#0062a0", "#a84800", "#5c6670"
_COLOURS = {"stable": _BLUE, "tie-deflated": _ORANGE, "tie-inflated": _ORANGE, "tie-sensitive": _ORANGE}
_LETTER, _PADDING = 6.6, 14
"""Pixels of a letter on a badge, and of the padding of a text."""
_MOST_ROWS = 20
_WIDTH = 200
_MARKS = ("worst", "best", "traditional", "tied")


def badge(leaderboard: pd.DataFrame, reranker: str, measure: str, traditional: str) -> str:
    """Return an SVG with the tied score of one reranker, and its verdict if ties matter."""
    row, name = leaderboard.loc[reranker], parse(measure)
    is_scored = pd.notna(row["tied"])
    value = decimal(row["tied"]) if is_scored else "not scored"
    is_quiet = row["verdict"] in ("stable", "own rule") or not is_scored
    message = value if is_quiet else f"{value} · {row['verdict']}"
    label_width, message_width = (round(_LETTER * len(text)) + _PADDING for text in (name.tied, message))
    summary = f"{reranker} has no list, so {name.tied} is not scored"
    if is_scored:
        order = f"; {treatment(traditional).order} gives {decimal(row['traditional'])}"
        orders = "" if name.measure.answers else order
        summary = f"{reranker}: {name.tied} {value}{orders}; {row['why'] or row['verdict']}"
    return render(
        "badge.svg",
        width=label_width + message_width,
        label_width=label_width,
        label=name.tied,
        message=message,
        colour=_COLOURS.get(row["verdict"], _GREY),
        summary=summary,
    )


def embed(leaderboard: pd.DataFrame, measure: str, traditional: str, link: str = "") -> str:
    """Return the leaderboard as an HTML fragment without scripts or external requests."""
    name, board = parse(measure), leaderboard[leaderboard["tied"].notna()]
    low, high = (float(board["worst"].min()), float(board["best"].max())) if len(board) else (0.0, 1.0)
    rows = [_embedded_row(str(reranker), row, low, high) for reranker, row in board[:_MOST_ROWS].iterrows()]
    note = f"Dot: {name.tied}, which has its own rule for ties."
    if not name.measure.answers:
        order = treatment(traditional).order
        note = f"Dot: {name.tied}, mean over all tie orders. Stroke: {order}. Band: worst to best."
    if len(board) > _MOST_ROWS:
        note = f"The first {_MOST_ROWS} of {count_of(len(board), 'reranker')}. {note}"
    return render(
        "embed.html",
        title=f"{name.tied} of {count_of(len(board), 'reranker')}",
        finding=leaderboard_finding(leaderboard, name.traditional, traditional),
        low=decimal(low),
        high=decimal(high),
        tied=name.tied,
        traditional="" if name.measure.answers else treatment(traditional).heading,
        rows=rows,
        note=note,
        link=link,
    )


def _embedded_row(reranker: str, row: "pd.Series[Any]", low: float, high: float) -> Mapping[str, object]:
    places = {mark: (row[mark] - low) / (high - low) if high > low else 0.5 for mark in _MARKS}
    x = {mark: f"{place * _WIDTH:.1f}" for mark, place in places.items()}
    values = {mark: decimal(row[mark]) for mark in _MARKS}
    return {"reranker": reranker, **values, "verdict": row["verdict"], "x": x}
