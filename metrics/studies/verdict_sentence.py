"""The verdict of a leaderboard: who leads, and whether ties or chance decide that."""

from collections.abc import Sequence
from math import comb

import pandas as pd

from metrics.evaluation import EQUAL, Evaluation
from metrics.measures import MeasureAt, parse
from metrics.studies.draws import copies_text
from metrics.studies.leaderboard import leaderboard_finding
from metrics.studies.pair_findings import Verdicts, p_text
from metrics.studies.pairs import find_pairs, significant_signs
from metrics.studies.prose import NOTHING_SCORED, Prose, Strong, and_more, decimal
from metrics.studies.query_values import values_by_query
from metrics.studies.swapped_orders import SIGNIFICANT
from metrics.support.wording import begin_sentence, count_of, describe_part, small_number
from metrics.ties import treatment

_PAIR, _TOP = 2, 10
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
    elif len(rows) == _PAIR:
        verdict = _pair_verdict(rows, pairs, label, order, is_copy=bool(copies))
    else:
        verdict = (*_leader_verdict(rows, pairs, swaps, (label, name.traditional), order), copies_text(copies))
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


def _pair_verdict(rows: pd.DataFrame, pairs: Verdicts, label: str, order: str, *, is_copy: bool) -> Prose:
    better, other = map(str, rows.index)
    ahead, test, is_shown = _lead_of(pairs.tied, better, other)
    if not test:
        return (Strong(f"{better} and {other} cannot be compared."),)
    if ahead < 0:  # the higher mean, but over other queries
        better, other, ahead = other, better, -ahead
    claimed, claimed_test, _ = _lead_of(pairs.traditional, better, other)
    if ahead <= EQUAL:
        relation = "have the same ranking" if is_copy else "have the same score"
        score = f"Both score {decimal(rows['tied'].iloc[0])} {label}."
        verdict: Prose = (Strong(f"{better} and {other} {relation}. "), score)
    else:
        averaged = "With ties averaged, " if rows["tie_ratio"].any() else ""
        tested = f"is {'' if is_shown else 'not '}significantly better than"
        verdict = (
            Strong(f"{better} {'scores higher than' if is_shown is None else tested} {other}. "),
            f"{averaged}{better} is {decimal(ahead)} {label} ahead ({test}).",
        )
    if abs(claimed - ahead) <= max(EQUAL, _SAME_CLAIM * ahead):
        return verdict
    order = begin_sentence(order)
    if abs(claimed) <= EQUAL:
        return (*verdict, f" {order} would have given both rerankers the same score.")
    p_note = "" if is_shown is None else f" ({claimed_test})"
    if ahead > EQUAL and claimed > 0:
        return (*verdict, f" {order} would have given a lead of {decimal(claimed)}{p_note}.")
    first = better if claimed > 0 else other
    return (*verdict, f" {order} would have put {first} {decimal(abs(claimed))} ahead{p_note}.")


def _leader_verdict(
    rows: pd.DataFrame, pairs: Verdicts, swaps: pd.DataFrame, labels: tuple[str, str], order: str
) -> Prose:
    label, traditional = labels
    leader, is_first = str(rows.index[0]), rows["traditional_rank"] == 1
    if (is_first & (rows["tied_rank"] == 1)).any():
        return (*_lead(rows, pairs, label), " ", swap_count(swaps, len(rows)))
    former = rows[is_first].iloc[0]
    if former["gap"] > EQUAL and former["tied"] < rows["traditional"].drop(former.name).max():
        return (
            Strong(f"{former.name} leads only because of its tie order: "),
            f"#1 by {order} ({traditional} {decimal(former['traditional'])}), #{former['tied_rank']} "
            f"with ties averaged ({decimal(former['tied'])}). ",
            Strong(leader),
            f" is first ({decimal(rows['tied'].iloc[0])}){_rivals_clause(rows, pairs, 'and')}.",
        )
    return (
        Strong(f"By {order}, {former.name} leads; with ties averaged, {leader} leads. "),
        f"{leader} is {_size_of_lead(pairs, leader, str(former.name), label)}"
        f"{_rivals_clause(rows, pairs, 'and')}.",
    )


def _lead(rows: pd.DataFrame, pairs: Verdicts, label: str) -> Prose:
    leader, second = map(str, rows.index[:2])
    score = f"{label} {decimal(rows['tied'].iloc[0])}"
    if rows["tied"].iloc[0] - rows["tied"].iloc[1] <= EQUAL:
        n_level = int((rows["tied_rank"] == 1).sum())
        return Strong(f"{leader}{and_more(n_level - 1)} share the lead:"), f" {score}."
    has_ties = bool(rows["tie_ratio"].any())
    in_every = has_ties and rows["worst"].iloc[0] > rows["best"].iloc[1:].max() + EQUAL
    subject = "With ties averaged, it" if has_ties else "It"
    return (
        Strong(f"{leader} leads{' in every tie order' * bool(in_every)}"),
        f" ({score}){_rivals_clause(rows, pairs, 'but')}. ",
        f"{subject} is {_size_of_lead(pairs, leader, second, label)}.",
    )


def _rivals_clause(rows: pd.DataFrame, pairs: Verdicts, conjunction: str) -> str:
    """Say how many rerankers are not significantly worse than the leader; empty where no test is possible."""
    names = [str(name) for name in rows.index]
    against = find_pairs(pairs.tied, [names[0]] * (len(names) - 1), names[1:])
    if against["p"].isna().all():
        return ""
    rivals = against["baseline"][significant_signs(against) <= 0].to_list()
    if not rivals:
        return ", significantly better than all others"
    group, tied = [names[0], *rivals], pairs.tied
    inside = tied[tied["reranker"].isin(group) & tied["baseline"].isin(group)]
    if significant_signs(inside).any():
        n = small_number(len(rivals))
        return f", {conjunction} {n} {'other' if len(rivals) == 1 else 'others'} cannot be told from it"
    the = "the " if len(group) == len(names) else ""
    return f", {conjunction} {the}{small_number(len(group))} rerankers cannot be told apart"


def _size_of_lead(pairs: Verdicts, leader: str, other: str, label: str) -> str:
    difference, test, _ = _lead_of(pairs.tied, leader, other)
    if not test:
        return f"not comparable with {other}, because they share no query"
    ahead = "ahead of" if difference >= 0 else "behind"
    return f"{decimal(abs(difference))} {label} {ahead} {other} ({test})"


def _lead_of(rows: pd.DataFrame, leader: str, other: str) -> tuple[float, str, bool | None]:
    """Return the difference of two rerankers, its p in words, and whether the leader is significantly better.

    No words if they share no query; None where no test is possible.
    """
    pair_rows = find_pairs(rows, [leader], [other])
    row, queries = pair_rows.iloc[0], count_of(int(pair_rows["n"].iloc[0]), "query")
    if not row["n"]:
        return 0.0, "", None
    if pair_rows["p"].isna().all():
        return row["difference"], f"{queries}, too few for a test", None
    p, is_shown = p_text(row), bool(significant_signs(pair_rows)[0] > 0)
    return row["difference"], p if "differ" in p else f"{p}, {queries}", is_shown


def swap_count(swaps: pd.DataFrame, n_rerankers: int) -> str:
    """Say how many pairs swap, how many of them in the top ten, and how many significantly."""
    n_pairs, n_swaps = comb(n_rerankers, 2), len(swaps)
    if not n_swaps:
        return "No pair of rerankers changes order when ties are averaged."
    count = describe_part(n_swaps, n_pairs, "pair", "change order when ties are averaged")
    if not (swaps["p"] < 1).any():
        return f"{count}."
    n_significant = int((swaps["verdict"] == SIGNIFICANT).sum())
    n_in_top = int((swaps[["tied_place_a", "tied_place_b"]] <= _TOP).all(axis=1).sum())
    if n_swaps == 1:
        place = f"{'in' if n_in_top else 'outside'} the top {_TOP} and " * (n_rerankers > _TOP)
        return f"{count}; it is {place}{'' if n_significant else 'not '}significant."
    in_top = f"{small_number(n_in_top)} of them in the top {_TOP}, "
    top = in_top * (n_rerankers > _TOP)
    significant = "all" if n_significant == n_swaps else small_number(n_significant)
    return f"{count}; {top}{significant}{'' if top else ' of them'} significantly."
