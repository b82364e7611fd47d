"""Examine one list: ranks each document can take, the value of every ordering, and values rank by rank."""

from collections.abc import Sequence
from itertools import islice
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from metrics.evaluation import EQUAL, Evaluation
from metrics.measures import parse, question
from metrics.measures.additive import exponential
from metrics.measures.first_hit import first_relevant_rank
from metrics.runs import Runs
from metrics.studies.gaps import difference
from metrics.studies.orderings import (
    counted_documents,
    first_relevant_ranks,
    list_values,
    sample_values,
    strict_orders,
)
from metrics.studies.prose import Prose, Strong, decimal, own_rule_note, signed
from metrics.support.arrays import IntArray, span_starts
from metrics.support.wording import begin_sentence, count_of, percent
from metrics.ties import Ranking, TieGroups, refine, treatment
from metrics.ties.permutations import Orderings, count_orderings


def ladder(ranking: Ranking, query_id: str) -> pd.DataFrame:
    """Return the documents of one list by falling score, ties in input order.

    Returns:
        place (from 1), doc_id, score or (for ranking by criteria) front, grade (0 if unjudged), judged,
        relevant, group (from 0), first and last (ranks that its tie group covers). If further scores split
        ties, also these scores, further_1, further_2 ..., and level_1, level_2 ...: the first rank of the
        documents with the same score or front, of those that also share the first further score, and so on.
    """
    documents = ranking.documents_of(query_id)
    groups, scores = ranking.groups[documents], ranking.scores[documents]
    first = ranking.above[groups] + 1
    place = np.arange(1, len(groups) + 1)
    columns = {
        "place": place,
        "doc_id": ranking.ids(documents).to_pylist(),
        **({"front": -scores} if ranking.is_by_fronts else {"score": scores}),
        "grade": ranking.grades[documents],
        "judged": ranking.judged[documents],
        "relevant": ranking.relevant[documents],
        "group": groups - groups[:1],
        "first": first,
        "last": first + ranking.sizes[groups] - 1,
    }
    is_first = np.zeros(len(place), dtype=bool)
    for number, key in enumerate((ranking.scores, *ranking.further[:-1]), 1):
        if ranking.further:
            is_first[span_starts(key[documents])] = True
            columns[f"level_{number}"] = np.maximum.accumulate(np.where(is_first, place, 0))
            columns[f"further_{number}"] = ranking.further[number - 1][documents]
    return pd.DataFrame(columns)


def rank_column(rows: pd.DataFrame) -> str:
    """Return the column that ranks a ladder: `front` or `score`."""
    return "front" if "front" in rows else "score"


def tie_groups(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the tie groups of a `ladder`, including groups of one document.

    Returns:
        group (from 0), score or front, first and last (ranks it covers), documents, relevant.
    """
    groups, ranked_by = rows.groupby("group", as_index=False), rank_column(rows)
    return groups.agg(
        **{ranked_by: (ranked_by, "first")},
        first=("first", "first"),
        last=("last", "first"),
        documents=("place", "size"),
        relevant=("relevant", "sum"),
    )


def text_column(runs: Runs, reranker: str, rows: IntArray, column: str) -> list[str] | None:
    """Return the texts of a column in (n,) rows of a reranker's table, "" for missing ones; None without it."""
    table = runs.tables[reranker]
    if column not in table.column_names:
        return None
    low = int(rows.min(initial=len(table)))
    part = table[column].slice(low, int(rows.max(initial=low)) - low + 1)
    return [text or "" for text in part.take(pa.array(rows - low)).to_pylist()]


def first_rank_chances(ranking: Ranking, query_id: str) -> pd.DataFrame:
    """Return the exact distribution of the rank of the first relevant document over all orderings.

    Returns:
        rank, chance; no rows without relevant documents in the list.
    """
    groups = refine(ranking, treatment("expected"))
    leading = groups.leading[groups.lists[groups.leading] == ranking.query_ids.index(query_id).as_py()]
    if not len(leading):
        return pd.DataFrame({"rank": np.array([], dtype=np.int64), "chance": np.array([], dtype=float)})
    depth = int((groups.size - groups.relevant)[leading[0]]) + 1
    chance = first_relevant_rank(groups.size[leading], groups.relevant[leading], depth)[0]
    return pd.DataFrame({"rank": groups.above[leading] + np.arange(1, depth + 1), "chance": chance})


def list_orderings(ranking: Ranking, query_id: str, limit: int) -> IntArray:
    """Return the orderings of one list, at most `limit`, the input order first.

    Returns:
        (n, n_docs) positions in the `ladder`, top first.
    """
    documents = ranking.documents_of(query_id)
    orders = np.array(list(islice(Orderings.of(ranking, query_id), limit)), dtype=np.int64)
    positions: IntArray = np.argsort(documents)
    lowest = documents.min() if len(documents) else 0
    return np.asarray(positions[orders.reshape(len(orders), -1) - lowest])


def groups_of_orderings(ranking: Ranking, query_id: str, orders: IntArray, measure: str) -> TieGroups:
    """Return orders of `list_orderings` as separate lists of the documents that a measure counts."""
    documents = ranking.documents_of(query_id)
    lists, places = np.nonzero(counted_documents(ranking, measure)[documents][orders])
    documents = documents[orders[lists, places]]
    targets = None if ranking.targets is None else ranking.targets[documents]
    return strict_orders(ranking, query_id, len(orders), lists, places, ranking.grades[documents], targets)


def every_ordering(ranking: Ranking, query_id: str, measures: Sequence[str], limit: int) -> pd.DataFrame:
    """Return the orderings of one list, at most `limit`, with their values; the first is the input order.

    Returns:
        ordering (from 1), documents (ids, top first, joined by a space), first_relevant (rank, NA without a
        relevant document), and a column for each measure.
    """
    orders, ids = (
        list_orderings(ranking, query_id, limit),
        ranking.ids(ranking.documents_of(query_id)).to_pylist(),
    )
    groups = {name: groups_of_orderings(ranking, query_id, orders, name) for name in ("RR", *measures)}
    return pd.DataFrame(
        {
            "ordering": np.arange(1, len(orders) + 1),
            "documents": [" ".join(map(ids.__getitem__, row)) for row in orders.tolist()],
            "first_relevant": first_relevant_ranks(groups["RR"]),
        }
        | {name: parse(name).values(groups[name]) for name in measures}
    )


def complexity_report(ranking: Ranking, query_id: str) -> list[str]:
    """Write the notebook's complexity report on one list, in lines."""
    counts = count_orderings(ranking, query_id)
    n_orderings = f"{counts.orderings:,}" if counts.orderings else f"about 10^{counts.log10_orderings:.0f}"
    ties = f"ties of sizes {list(counts.tie_sizes)}" if counts.tie_sizes else "a list without ties"
    lines = [f"{count_of(n_orderings, 'ordering')} from {ties}."]
    if counts.patterns is not None:
        lines.append(f"{count_of(counts.patterns, 'relevance pattern')}.")
    if counts.tractable:
        return [*lines, "Few enough to enumerate."]
    advice = (
        f"Too many to enumerate; {counts.draws:,} draws are recommended. The tied score is exact "
        "and needs no draws."
    )
    return [*lines, advice]


def sampled_mean(
    ranking: Ranking, query_id: str, measure: str, draws: int, seed: int = 0
) -> tuple[float, float]:
    """Return the mean of a measure over random orderings, and its standard error; equal seeds draw alike."""
    std = float(list_values(ranking, query_id, [measure], []).loc[measure, "std"])
    return float(sample_values(ranking, query_id, measure, draws, seed).mean()), std / draws**0.5


def gap_of_list(value: pd.Series, measure: str, traditional: str, orderings: str) -> Prose:
    """State the gap of one list."""
    gap = value[traditional] - value["expected"]
    return (
        f"{measure} of this list is ",
        Strong(f"{decimal(abs(gap))} {'too high' if gap > 0 else 'too low'}"),
        f": the traditional score is {decimal(value[traditional])}, the mean over {orderings} orders is "
        f"{decimal(value['expected'])}.",
    )


def query_finding(
    rows: pd.DataFrame,
    chances: pd.DataFrame,
    value: pd.Series,
    measure: str,
    traditional: str,
    orderings: str,
    order: str = "",
) -> Prose:
    """State the effect of ties on one list.

    `rows` is its ladder, `chances` its `first_rank_chances`, `value` the measure by treatment, `orderings` the
    number of orderings in words, and `order` the traditional order in words (default: the treatment's).
    """
    best = value["optimistic"]
    if not len(chances):
        return (
            "The list has no relevant document",
            f", so {measure} is 0 in every order." if best == 0 else ".",
        )
    width = value["optimistic"] - value["pessimistic"]
    tied = int((rows["last"] > rows["first"]).sum())
    if not tied:
        return (Strong("No documents tie: "), f"the list has one order, and {measure} is {decimal(best)}.")
    if note := own_rule_note(measure):
        own = f"Its value for this list is {decimal(value['expected'])}. The values of "
        return *note[:1], f"{own}{question(parse(measure))} over all {orderings} orders of this list are shown."
    if width <= EQUAL:
        return (
            Strong(f"{orderings[0].upper()}{orderings[1:]} orders, one value: "),
            f"{tied:,} of {len(rows):,} documents tie, but {measure} is {decimal(value['expected'])} in "
            "every order.",
        )
    low, high = int(chances["rank"].min()), int(chances["rank"].max())
    near = {0: f"has rank {low:,} in every order", 1: f"can have rank {low:,} or {high:,}"}
    span = near.get(high - low, f"can have any rank from {low:,} to {high:,}")
    order = order or treatment(traditional).order
    return (
        Strong(
            f"{begin_sentence(order)} gives this list {measure} {decimal(value[traditional])}. The mean "
            f"over {orderings} orders is {decimal(value['expected'])}."
        ),
        f" The first relevant document {span}. {measure} is {decimal(value['pessimistic'])} in the "
        f"worst case and {decimal(best)} in the best case.",
    )


_DIGITS = 9
"""Decimals to which equal gaps agree."""


def lists_by_gap(evaluation: Evaluation, measure: str, traditional: str) -> pd.DataFrame:
    """Sort all lists by the size of their gap, then by their tied documents.

    A measure with its own tie rule stands for the measure whose ties it settles.

    Returns:
        reranker, query_id, n_docs, tied_docs, tie_ratio, log10_orderings, gap (traditional − tied).
    """
    values = evaluation.scores[str(question(parse(measure)))]
    lists = evaluation.lists[["n_docs", "tied_docs", "tie_ratio", "log10_orderings"]].reset_index()
    lists["gap"] = difference(values[traditional], values["expected"]).to_numpy()
    size = np.nan_to_num(lists["gap"].abs().round(_DIGITS).to_numpy())
    return lists.iloc[np.lexsort((-lists["tied_docs"].to_numpy(), -size))].reset_index(drop=True)


MAX_LISTED = 120
"""Orders of a list that are drawn one by one at most: those of five tied documents."""


def first_moved_list(evaluation: Evaluation, measure: str, traditional: str) -> "pd.Series[Any] | None":
    """Return the first list of the reranker whose mean the tie order moves most; None if it moves none."""
    lists = lists_by_gap(evaluation, measure, traditional)
    gaps = lists.groupby("reranker", sort=False)["gap"].mean().abs()
    return first_list(lists[lists["reranker"] == gaps.idxmax()]) if gaps.max() > EQUAL else None


def first_list(lists: pd.DataFrame) -> "pd.Series[Any]":
    """Return the row of `lists_by_gap` to show at first: the largest gap whose orders can all be drawn.

    If no such list has a gap, it is the first row.
    """
    is_drawable = lists["log10_orderings"] < np.log10(MAX_LISTED + 0.5)
    drawable = lists[is_drawable & (lists["gap"].abs() > EQUAL)]
    return (drawable if len(drawable) else lists).iloc[0]


def list_label(name: str, gap: float, tie_ratio: float) -> str:
    """Return the label of a list in a picker, with its gap and tie ratio."""
    if not tie_ratio:
        return f"{name} · no ties"
    return f"{name} · {f'gap {signed(gap)}' if gap else 'no gap'} · tie ratio {percent(tie_ratio)}"


def value_steps(ranking: Ranking, query_id: str, ties: str, k: int) -> pd.DataFrame:
    """Return the contribution of each rank to AP and to nDCG@k of one list.

    In a tie of n documents, r of them relevant, below b documents, c of them relevant, a relevant document
    has rank i with chance r/n. Its mean precision is (c + 1 + (r − 1)(i − b − 1)/(n − 1)) / i. AP is the sum of
    chance · precision / R. nDCG@k is the sum of mean gain · discount over the ideal, with gain 2^grade − 1 and
    discount 1/log2(i + 1). A strict order has ties of one document.

    Returns:
        rank (rising; only ranks that a document graded above 0 can take), chance, precision (NaN without a
        relevant document), ap_term, gain, discount, ndcg_term (0 past the cut-off).
    """
    groups, place = refine(ranking, treatment(ties)), ranking.query_ids.index(query_id).as_py()
    own = np.flatnonzero(groups.lists == place)
    b, n, r, c = (part[own] for part in (groups.above, groups.size, groups.relevant, groups.relevant_above))
    owner = np.repeat(np.arange(len(own)), n)
    offset = np.arange(len(owner)) - (np.cumsum(n) - n)[owner]
    rank = b[owner] + offset + 1
    chance = (r / n)[owner]
    precision = (c[owner] + 1 + (r - 1)[owner] * offset / np.maximum(n - 1, 1)[owner]) / rank
    gain = (groups.sum(exponential(groups.grades))[own] / n)[owner]
    discount = 1 / np.log2(rank + 1)
    queries, ideal_place, grades = groups.judgments.best_first
    is_ideal = (queries == place) & (ideal_place < k)
    ideal = float((exponential(grades[is_ideal]) / np.log2(ideal_place[is_ideal] + 2.0)).sum())
    return pd.DataFrame(
        {
            "rank": rank,
            "chance": chance,
            "precision": np.where(chance > 0, precision, np.nan),
            "ap_term": chance * precision / max(int(groups.n_relevant[place]), 1),
            "gain": gain,
            "discount": discount,
            "ndcg_term": np.where((rank <= k) & (ideal > 0), gain * discount / (ideal or 1.0), 0.0),
        }
    )
