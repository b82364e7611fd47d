"""The verdict of a leaderboard in words: who leads, and whether ties or chance decide that."""

from math import comb

import numpy as np
import pandas as pd

from metrics.evaluation import EQUAL, Evaluation
from metrics.measures import parse
from metrics.studies.leaderboard.leaderboard import leaderboard_finding
from metrics.studies.leaderboard.swapped_orders import SIGNIFICANT
from metrics.studies.prose import Prose, Strong, and_more, chance, decimal
from metrics.studies.significance.all_pairs import paired_p
from metrics.studies.significance.query_values import alpha, values_by_query
from metrics.support.wording import count_of, describe_part, small_number
from metrics.ties import treatment

_LEVEL = alpha(0.95)
_TOP = 10


def leaderboard_verdict(
    table: pd.DataFrame, swaps: pd.DataFrame, evaluation: Evaluation, measure: str, traditional: str
) -> Prose:
    """Say who leads a leaderboard, and whether the order of ties or chance decides that.

    Args:
        table: as `leaderboard` returns it.
        swaps: as `swapped_orders` returns them.
        evaluation: behind both.
        measure: name of the measure.
        traditional: the treatment taken as the traditional one.
    """
    name, rows = parse(measure), table[table["tied"].notna()]
    is_plain = len(rows) < 2 or name.measure.answers or rows["best"].max() <= EQUAL  # noqa: PLR2004 a pair
    if is_plain:
        return leaderboard_finding(table, name.traditional, traditional)
    has_ties = bool(rows["tie_ratio"].any())
    prefix: Prose = () if has_ties else (Strong("No documents tie, so no tie order matters. "),)
    if len(rows) == 2:  # noqa: PLR2004 a pair
        return (*prefix, *_pair_verdict(rows, evaluation, measure, traditional))
    if not has_ties:
        return (*prefix, *_lead(rows, evaluation, measure))
    return (*_leader_verdict(rows, evaluation, measure, traditional), " ", swap_count(swaps, len(rows)))


def _pair_verdict(rows: pd.DataFrame, evaluation: Evaluation, measure: str, traditional: str) -> Prose:
    """Say whether the better of two rerankers is shown to be better, and what the tie order claims."""
    better, other = map(str, rows.index[:2])
    label, order = parse(measure).traditional, treatment(traditional).order
    ahead = float(rows["tied"].iloc[0] - rows["tied"].iloc[1])
    claimed = float(rows["traditional"].iloc[0] - rows["traditional"].iloc[1])
    p, n_queries = pair_p(evaluation, measure, "expected", better, other)
    if ahead <= EQUAL:
        verdict: Prose = (
            Strong(f"{better} and {other} are level. "),
            f"Both score {decimal(rows['tied'].iloc[0])} {label}.",
        )
    else:
        is_shown = p < _LEVEL
        claim = f"{better} beats {other}. " if is_shown else f"Not shown that {better} beats {other}. "
        averaged = "Ties averaged, " if rows["tie_ratio"].any() else ""
        verdict = (
            Strong(claim),
            f"{averaged}{better} is {decimal(ahead)} {label} ahead "
            f"({chance(p)}, {count_of(n_queries, 'query')}).",
        )
    if abs(claimed - ahead) <= max(EQUAL, 0.01 * abs(ahead)):
        return verdict
    p_claimed, _ = pair_p(evaluation, measure, traditional, better, other)
    claim = (
        f"{other} would be {decimal(-claimed)} ahead" if claimed < -EQUAL else f"it would be {decimal(claimed)}"
    )
    return (*verdict, f" By {order}, {claim} ({chance(p_claimed)}).")


def _leader_verdict(rows: pd.DataFrame, evaluation: Evaluation, measure: str, traditional: str) -> Prose:
    """Say whether the traditional and the tied leader are the same, and what decides it where not."""
    label, order = parse(measure).traditional, treatment(traditional).order
    is_first = rows["traditional_rank"] == 1
    if (is_first & (rows["tied_rank"] == 1)).any():
        return _lead(rows, evaluation, measure)
    former = rows[is_first].iloc[0]
    if former["gap"] > EQUAL and former["tied"] < rows["traditional"].drop(former.name).max():
        return (
            Strong(f"{former.name} leads only because of how its ties were sorted. "),
            f"It is #1 by {order} ({label} {decimal(former['traditional'])}) and #{former['tied_rank']} "
            f"when ties are averaged ({decimal(former['tied'])}).",
        )
    leader, ahead = str(rows.index[0]), float(rows["tied"].iloc[0] - former["tied"])
    p, n_queries = pair_p(evaluation, measure, "expected", leader, str(former.name))
    return (
        Strong(f"{former.name} leads by {order}, {leader} when ties are averaged. "),
        f"Ties averaged, {leader} is {decimal(ahead)} {label} ahead of {former.name} "
        f"({chance(p)}, {count_of(n_queries, 'query')}).",
    )


def _lead(rows: pd.DataFrame, evaluation: Evaluation, measure: str) -> Prose:
    """Say who leads, by how much, and whether queries show it."""
    leader, second = map(str, rows.index[:2])
    label, ahead = parse(measure).traditional, float(rows["tied"].iloc[0] - rows["tied"].iloc[1])
    if ahead <= EQUAL:
        n_level = int((rows["tied_rank"] == 1).sum())
        return (
            Strong(f"{leader}{and_more(n_level - 1)} are level at the top"),
            f": {label} {decimal(rows['tied'].iloc[0])}.",
        )
    p, n_queries = pair_p(evaluation, measure, "expected", leader, second)
    has_ties = rows["tie_ratio"].any()
    whatever = has_ties and rows["worst"].iloc[0] > rows["best"].iloc[1:].max() + EQUAL
    shown = "" if p < _LEVEL else ", which is not significant"
    return (
        Strong(f"{leader} leads{', whatever the order of the ties' if whatever else ''}. "),
        f"Its tied {label} of {decimal(rows['tied'].iloc[0])} is {decimal(ahead)} above {second}{shown} "
        f"({chance(p)}, {count_of(n_queries, 'query')}).",
    )


def swap_count(swaps: pd.DataFrame, n_rerankers: int) -> str:
    """Say how many pairs of rerankers change order, how many in the top ten, and how many significantly."""
    n_pairs = comb(n_rerankers, 2)
    if not len(swaps):
        return f"None of {count_of(n_pairs, 'pair')} changes order."
    n_significant = int((swaps["verdict"] == SIGNIFICANT).sum())
    parts = []
    if n_rerankers > _TOP:
        in_top = (swaps[["tied_place_a", "tied_place_b"]] <= _TOP).all(axis=1)
        parts.append(f"{small_number(int(in_top.sum()))} of them in the top {_TOP}")
    verb = "is" if n_significant <= 1 else "are"
    parts.append(f"{small_number(n_significant)} of those differences {verb} significant")
    return f"{describe_part(len(swaps), n_pairs, 'pair', 'change order')}; {', '.join(parts)}."


def pair_p(evaluation: Evaluation, measure: str, ties: str, a: str, b: str) -> tuple[float, int]:
    """Return p of the paired t-test of two rerankers, and the number of queries both have."""
    values = values_by_query(evaluation, measure, ties)[[a, b]].to_numpy()
    return float(paired_p(values)[1][0, 1]), int(np.isfinite(values).all(axis=1).sum())
