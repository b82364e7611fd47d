"""The verdict of a leaderboard: who leads, and whether ties or chance decide that."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from metrics.evaluation import EQUAL, Evaluation
from metrics.measures import MeasureAt, parse
from metrics.studies.draws import copies_text
from metrics.studies.leaderboard import leaderboard_finding
from metrics.studies.pair_findings import Verdicts
from metrics.studies.pairs import find_pairs, significant_signs
from metrics.studies.prose import NOTHING_SCORED, Prose, Strong, and_more, chance, decimal, plain
from metrics.studies.query_values import values_by_query
from metrics.studies.swapped_orders import swap_count
from metrics.support.wording import count_of, describe_part, small_number
from metrics.ties import treatment

_PAIR = 2
_SAME_CLAIM = 0.01
"""Smallest relative difference from a lead that is reported for tie order."""


def leaderboard_verdict(
    table: pd.DataFrame,
    swaps: pd.DataFrame,
    pairs: Verdicts,
    evaluation: Evaluation,
    measure: str,
    copies: Sequence[Sequence[str]] = (),
) -> Prose:
    """Say who leads a leaderboard, and whether tie order or chance decides that.

    `pairs` are the verdicts on all pairs, `swaps` those of them that swap.
    """
    traditional = pairs.treatment
    name, rows = parse(measure), table[table["tied"].notna()]
    if not len(rows):
        return NOTHING_SCORED
    if name.measure.answers:
        return leaderboard_finding(table, name.traditional, traditional)
    if rows["best"].max() <= EQUAL:
        return _all_zero(evaluation, name.traditional)
    label = name.tied if rows["tie_ratio"].any() else name.traditional
    order = treatment(traditional).order
    if len(rows) == 1:
        verdict = _single_verdict(rows.iloc[0], name, order)
    else:
        names = (label, name.traditional, name.compared[1] if name.measure.geometric else label)
        verdict = (*_ranking_verdict(rows, pairs, swaps, names, order), copies_text(copies))
    return (*query_sets(evaluation, measure), *_tie_note(rows, evaluation.lists), *verdict)


def _all_zero(evaluation: Evaluation, label: str) -> Prose:
    if (evaluation.policies["n_empty"] == evaluation.policies["n_queries"]).all():
        return (
            Strong(f"Every {label} is 0: no query has a relevant document. "),
            "Check the judgments and the smallest relevant grade.",
        )
    if (evaluation.policies["n_missing"] == evaluation.policies["n_queries"]).all():
        remedy = "Check that runs and judgments use the same query IDs."
        return Strong(f"Every {label} is 0: no run has a list for a judged query. "), remedy
    return Strong(f"Every {label} is 0. "), "No tie order gives any reranker a higher score."


def query_sets(evaluation: Evaluation, measure: str) -> Prose:
    """Say that rerankers have different queries, and how to compare them; empty if they do not."""
    tied = values_by_query(evaluation, measure, "expected").dropna(axis=1, how="all")
    is_shared = tied.notna().all(axis=1)
    if is_shared.all():
        return ()
    remedy = (
        "Count missing queries as 0 to rank the rerankers on equal terms. "
        if evaluation.options.missing == "skip"
        else "Give judgments in a separate file to count missing queries as 0. "
    )
    number = "Both" if len(tied.columns) == _PAIR else "All"
    shared = f"{number} rerankers share {is_shared.sum():,} of {count_of(len(tied), 'query')}. "
    own = "Pairwise comparisons use only the queries that both rerankers have. "
    return Strong("The rerankers are scored on different queries. "), shared, remedy, own


def _tie_note(rows: pd.DataFrame, lists: pd.DataFrame) -> Prose:
    if not rows["tie_ratio"].any():
        return (Strong("No documents tie, so tie order does not matter. "),)
    lists = lists[lists["n_docs"] > 0]
    if len(lists) and (lists["max_tie_size"] == lists["n_docs"]).all():
        return (Strong("All documents of every list tie, so these scores do not rank the documents. "),)
    return ()


def _single_verdict(row: "pd.Series[float]", name: MeasureAt, order: str) -> Prose:
    tied, alone = decimal(row["tied"]), "There is no other reranker to compare it with."
    if row["best"] - row["worst"] <= EQUAL:
        tie_note = " Tie order does not change the score." if row["tie_ratio"] else ""
        return Strong(
            f"{row.name} scores {tied} {name.tied if row['tie_ratio'] else name.traditional}."
        ), f"{tie_note} {alone}"
    low, high = decimal(row["worst"]), decimal(row["best"])
    return (
        Strong(f"Tie order alone can put {row.name} anywhere from {low} to {high} {name.traditional}. "),
        f"With ties averaged, it scores {tied}; by {order}, {decimal(row['traditional'])}. {alone}",
    )


def _ranking_verdict(
    rows: pd.DataFrame, pairs: Verdicts, swaps: pd.DataFrame, names: tuple[str, str, str], order: str
) -> Prose:
    """Say who leads, whose lead is of tie order alone, and who cannot be told from the leader.

    `names` are those of the measure when ties are averaged, when they are broken, and of differences.
    """
    label, traditional, compared = names
    leader, second = map(str, rows.index[:2])
    score, is_first = f"{label} {decimal(rows['tied'].iloc[0])}", rows["traditional_rank"] == 1
    n_level = int((rows["tied_rank"] == 1).sum())
    leaders = f"{leader} and {second}" if n_level == _PAIR else f"{leader}{and_more(n_level - 1)}"
    if (is_first & (rows["tied_rank"] == 1)).any():
        claim = _claimed_lead(pairs, leader, second, order)
        swaps_text = f" {plain(swap_count(swaps, len(rows)))}" * (len(rows) > _PAIR)
        if n_level > 1:
            return Strong(f"{leaders} share the lead:"), f" {score}{claim}.{swaps_text}"
        has_ties = bool(rows["tie_ratio"].any())
        in_every = has_ties and rows["worst"].iloc[0] > rows["best"].iloc[1:].max() + EQUAL
        subject = "With ties averaged, it" if has_ties else "It"
        return (
            Strong(f"{leader} leads{' in every tie order' * bool(in_every)}"),
            f" ({score}){_rivals_clause(rows, pairs, 'but')}. ",
            f"{subject} is {_size_of_lead(pairs, leader, second, compared)}{claim}.{swaps_text}",
        )
    former, rivals = rows[is_first].iloc[0], _rivals_clause(rows, pairs, "and")
    if former["gap"] > EQUAL and former["tied"] < rows["traditional"].drop(former.name).max():
        return (
            Strong(f"{former.name} leads only because of its tie order: "),
            f"#1 by {order} ({traditional} {decimal(former['traditional'])}), #{former['tied_rank']} "
            f"with ties averaged ({decimal(former['tied'])}). ",
            Strong(leaders),
            f" {'is' if n_level == 1 else 'are'} first ({decimal(rows['tied'].iloc[0])}){rivals}.",
        )
    return (
        Strong(f"By {order}, {former.name} leads; with ties averaged, {leaders} lead{'s' * (n_level == 1)}. "),
        f"{leader} is {_size_of_lead(pairs, leader, str(former.name), compared)}{rivals}.",
    )


def _rivals_clause(rows: pd.DataFrame, pairs: Verdicts, conjunction: str) -> str:
    """Say how many rerankers are not significantly worse than the leader; empty where no test is possible."""
    names = [str(name) for name in rows.index]
    against = find_pairs(pairs.tied, [names[0]] * (len(names) - 1), names[1:])
    if against["p"].isna().all():
        return ""
    rivals = against["baseline"][significant_signs(against) <= 0].to_list()
    if not rivals:
        return f", significantly better than {'all others' if len(names) > _PAIR else names[1]}"
    group = [names[0], *rivals]
    if significant_signs(pairs.among(group).tied).any() or (len(rivals) == 1 and len(names) > _PAIR):
        others = rivals[0] if len(rivals) == 1 else f"{small_number(len(rivals))} others"
        return f", {conjunction} {others} cannot be told from it"
    the = "the " if len(group) == len(names) else ""
    return f", {conjunction} {the}{small_number(len(group))} rerankers cannot be told apart"


def _size_of_lead(pairs: Verdicts, leader: str, other: str, label: str) -> str:
    row = find_pairs(pairs.tied, [leader], [other]).iloc[0]
    if not row["n"]:
        return f"not comparable with {other}, because they share no query"
    test = f"{count_of(int(row['n']), 'query')}, too few for a test"
    if not np.isnan(row["p"]):
        differ = describe_part(int(row["n_differ"]), int(row["n"]), "query", "differ")
        test = f"{chance(row['p_adjusted'])}; {differ}"
    ahead = "ahead of" if row["difference"] >= 0 else "behind"
    return f"{decimal(abs(row['difference']))} {label} {ahead} {other} ({test})"


def _claimed_lead(pairs: Verdicts, leader: str, other: str, order: str) -> str:
    """Say which of the two is ahead by the tie order, and how far, if that is another distance."""
    tied, claimed = (find_pairs(table, [leader], [other]).iloc[0] for table in (pairs.tied, pairs.traditional))
    ahead, before = tied["difference"], claimed["difference"]
    if np.isnan(ahead) or abs(before - ahead) <= max(EQUAL, _SAME_CLAIM * abs(ahead)):
        return ""
    if abs(before) <= EQUAL:
        return f"; by {order}, both score the same"
    p = f" ({chance(claimed['p_adjusted'])})" * (not np.isnan(claimed["p"]))
    return f"; by {order}, {leader if before > 0 else other} is {decimal(abs(before))} ahead{p}"
