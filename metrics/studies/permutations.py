"""The values that a measure takes over the orders of one list, each with its chance and an example order."""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd

from metrics.measures import parse
from metrics.studies.one_list import first_rank_chances, groups_of_orderings, list_orderings
from metrics.studies.orderings import (
    CELLS,
    counted_documents,
    list_values,
    orders_of_grades,
    orders_of_list,
    orders_of_places,
    sample_places,
    strict_orders,
)
from metrics.studies.prose import Prose, Strong, decimal
from metrics.support.arrays import FloatArray, IntArray, span_starts
from metrics.support.wording import percent, with_signs
from metrics.ties import Ranking, TieGroups, ordered_documents
from metrics.ties.permutations import count_orderings

MAX_ROWS = 12
"""Rows of possible values at most."""
MAX_RANKS = 16
"""Ranks of an example order at most."""
_RANKS_AROUND = 4
"""Ranks of the first tie that matters that an example order shows at least."""
_MOST_ORDERS = 5040
"""Single orders that are scored at most: those of seven tied documents."""
_DRAWS, _LEAST_DRAWS, _SEED = 1000, 20, 1
"""Most and fewest orders drawn where there are too many to list."""
_MAX_PLACED = 1_000_000
"""Documents placed in all drawn orders together at most."""
_DECIMALS = 12
"""Decimals to which equal values agree."""


@dataclass(frozen=True, eq=False)
class PossibleValues:
    """The values of a measure over all orders of one list.

    Attributes:
        measure, beside: the measure, and a second one to compare it with.
        traditional: the treatment that gives the traditional order.
        scores: index the two measures, columns the traditional treatment and `expected`.
        start: the rank at which example orders start.
        draws: number of random orders that the chances come from; 0 if they are exact.
        rows: a row for each value or range of values, greatest first:
            name: what the row holds, such as `rank 3`, `ranks 12–1,000` or `0.413–0.435`.
            first_rank, last_rank: ranks of the first relevant document; NA where the row stands for a value.
            low, value, high: smallest value, mean and largest value.
            beside: mean of the second measure.
            chance, standard_error: share of the orders, and its standard error, 0 if exact.
            is_traditional: whether the traditional order is one of them.
            order: the documents of one of these orders from rank `start` on, at most `MAX_RANKS`, as positions
            in the list's `ladder`; the traditional order if it is one of them.
    """

    measure: str
    beside: str
    traditional: str
    scores: pd.DataFrame
    start: int
    draws: int
    rows: pd.DataFrame


@dataclass(frozen=True, eq=False)
class _Orders:
    """Orders that stand for all orders of a list.

    Attributes:
        groups: each as a strict list of contributing documents.
        chances: (n,) chance of each.
        place: writes the contributing documents of an order, by its index, into (n_docs,) ranks.
        draws: number of them if they are random, else 0.
    """

    groups: TieGroups
    chances: FloatArray
    place: Callable[[int, IntArray], None]
    draws: int = 0


def possible_values(
    ranking: Ranking, query_id: str, measure: str, traditional: str, beside: str = "Hits@3"
) -> PossibleValues:
    """Return the values of a measure over all orders of one list, at most `MAX_ROWS` rows.

    A measure of the first relevant rank has a row for each rank of the first relevant document, exact at any
    size; the last row merges the ranks that are left. Any other measure has a row for each value or, for more
    than `MAX_ROWS` values, for each of as many ranges of equal width. They come from all orders of grades down
    to the cut-off if these can be listed (all single orders, if grades do not determine the measure), else from
    draws.

    `ranking` has documents for the query, and `measure` has no tie rule of its own.
    """
    family = parse(measure).measure.family
    documents = ranking.documents_of(query_id)
    own_order = ordered_documents(ranking, query_id, traditional, targets=family.targets)
    chances = first_rank_chances(ranking, query_id)
    if family.by_first_rank:
        orders = _orders_by_first_rank(ranking, query_id, chances, own_order)
    else:
        orders = _orders_by_value(ranking, query_id, measure, own_order)
    scores = list_values(ranking, query_id, [measure, beside], [traditional, "expected"])
    # the traditional order comes last, with no chance of its own
    value, other = (
        np.append(parse(name).values(orders.groups), scores.loc[name, traditional])
        for name in (measure, beside)
    )
    chance, ranks = np.append(orders.chances, 0.0), None
    if family.by_first_rank and len(chances):
        own_rank = int(np.argmax(ranking.relevant[own_order])) + 1
        ranks = np.append(chances["rank"].to_numpy(), own_rank)
    records, examples = [], []
    for row in _rows_of(value, ranks):
        chance_of_row = chance[row].sum()
        weights = chance[row] if chance_of_row else np.ones(len(row))
        mean = float(np.average(value[row], weights=weights))
        is_own = bool(row[-1] == len(chance) - 1)
        example = np.full(len(documents), -1)
        if not is_own:
            nearest = np.abs(value[row] - mean).argmin() if ranks is None else 0
            orders.place(int(row[nearest]), example)
        examples.append(_filled(example, own_order))
        records.append(
            {
                "first_rank": pd.NA if ranks is None else ranks[row].min(),
                "last_rank": pd.NA if ranks is None else ranks[row].max(),
                "low": value[row].min(),
                "value": mean,
                "high": value[row].max(),
                "beside": np.average(other[row], weights=weights),
                "chance": chance_of_row,
                "standard_error": (chance_of_row * max(0, 1 - chance_of_row) / (orders.draws or np.inf)) ** 0.5,
                "is_traditional": is_own,
            }
        )
    grades = np.where(counted_documents(ranking, measure), ranking.grades, -1)[np.array(examples)]
    matters = (grades != grades[0]).any(axis=0) if len(grades) > 1 else grades[0] > 0
    first = int(matters.argmax())
    start = 0 if first + _RANKS_AROUND <= MAX_RANKS else max(0, min(first - 1, len(documents) - MAX_RANKS))
    position = np.argsort(documents)
    order = [tuple(position[row - documents.min()][start : start + MAX_RANKS].tolist()) for row in examples]
    rows = pd.DataFrame(records).astype({"first_rank": "Int64", "last_rank": "Int64"}).assign(order=order)
    n_digits = value_digits(rows)
    rows.insert(0, "name", [_row_name(row, n_digits) for row in rows.itertuples()])
    return PossibleValues(measure, beside, traditional, scores, start + 1, orders.draws, rows)


def _rows_of(values: FloatArray, ranks: IntArray | None) -> list[IntArray]:
    """Return the orders of each row: those of one first relevant rank, or of a value or range of values."""
    if ranks is not None:
        numbers = np.minimum(ranks - ranks.min(), MAX_ROWS - 1)
    else:
        distinct, numbers = np.unique(-np.round(values, _DECIMALS), return_inverse=True)
        if len(distinct) > MAX_ROWS:
            share = (values.max() - values) / np.ptp(values)
            numbers = np.minimum((share * MAX_ROWS).astype(np.int64), MAX_ROWS - 1)
    return [np.flatnonzero(numbers == number) for number in np.unique(numbers)]


def value_digits(rows: pd.DataFrame) -> int:
    """Return the decimals that tell the values of rows apart, three to five."""
    return next((digits for digits in (3, 4) if rows["value"].round(digits).is_unique), 5)


def _row_name(row: Any, n_digits: int) -> str:  # noqa: ANN401 a named tuple
    if row.first_rank is not pd.NA:
        last = "" if row.last_rank == row.first_rank else f"–{row.last_rank:,}"
        return f"rank{'s' * bool(last)} {row.first_rank:,}{last}"
    low, high = decimal(row.low, n_digits), decimal(row.high, n_digits)
    return low if low == high else f"{low}–{high}"


def _filled(order: IntArray, own_order: IntArray) -> IntArray:
    """Return an order whose open ranks have the documents left, tie by tie in the traditional order."""
    order[order < 0] = own_order[~np.isin(own_order, order)]
    return order


def _orders_by_first_rank(
    ranking: Ranking, query_id: str, chances: pd.DataFrame, own_order: IntArray
) -> _Orders:
    """Return an order for each rank of the first relevant document, the others of its tie right below it."""
    first = chances["rank"].to_numpy() - 1
    hits = own_order[ranking.relevant[own_order]]
    hits = hits[ranking.groups[hits] == ranking.groups[hits[:1]]] if len(hits) else hits
    hit = np.full(len(first), ranking.judgments.relevant_from)
    groups = strict_orders(
        ranking, query_id, max(len(first), 1), np.arange(len(first)), first, hit, judged=False
    )

    def place(index: int, order: IntArray) -> None:
        order[first[index] : first[index] + len(hits)] = hits

    return _Orders(groups, chances["chance"].to_numpy() if len(first) else np.ones(1), place)


def _orders_by_value(ranking: Ranking, query_id: str, measure: str, own_order: IntArray) -> _Orders:
    """Return all orders of grades down to the cut-off, all single orders, or random orders of one list."""
    measure_at, contributes = parse(measure), counted_documents(ranking, measure)
    if measure_at.measure.family.by_grades:
        depth = min(measure_at.k or len(own_order), len(own_order))
        top = own_order[ranking.above[ranking.groups[own_order]] < depth]
        gains, groups = np.maximum(ranking.grades[top], 0), ranking.groups[top]
        patterns_of_list = orders_of_list(gains, span_starts(groups), depth, CELLS // max(1, depth))
        if patterns_of_list is not None:
            patterns, chances = patterns_of_list
            alike: dict[tuple[int, float], list[int]] = defaultdict(list)
            for document, group, gain in zip(top, groups, gains, strict=True):
                alike[group, gain].append(document)

            def place_gains(index: int, order: IntArray) -> None:
                waiting = {kind: iter(documents) for kind, documents in alike.items()}
                for rank, gain in enumerate(patterns[index]):
                    order[rank] = next(waiting[groups[rank], gain])

            return _Orders(orders_of_grades(ranking, query_id, patterns), chances, place_gains)
    elif (count_orderings(ranking, query_id).orderings or np.inf) <= min(_MOST_ORDERS, CELLS // len(own_order)):
        orders, documents = list_orderings(ranking, query_id, _MOST_ORDERS), ranking.documents_of(query_id)
        groups_of_orders = groups_of_orderings(ranking, query_id, orders, measure)

        def place_all(index: int, order: IntArray) -> None:
            order[:] = documents[orders[index]]

        return _Orders(groups_of_orders, np.full(len(orders), 1 / len(orders)), place_all)
    placed = np.sort(own_order[contributes[own_order]])
    n = min(_DRAWS, max(_LEAST_DRAWS, _MAX_PLACED // max(1, len(placed))))
    places = sample_places(ranking, placed, n, np.random.default_rng(_SEED))

    def place_draw(index: int, order: IntArray) -> None:
        order[places[index]] = placed

    return _Orders(orders_of_places(ranking, query_id, placed, places), np.full(n, 1 / n), place_draw, n)


_MAX_TERMS = 5
"""Terms of a sum that are written out."""
_SMALLEST_WHOLE = 0.00995
"""Smallest chance in whole percent."""
_VULGAR = dict(enumerate("½⅓¼⅕⅙⅐⅛⅑⅒", 2))


def sum_of_values(possible: PossibleValues) -> Prose:
    """Write the tied value as the sum of each value times its chance: 60% × 1 + 40% × ½ = 0.800."""
    tied = decimal(possible.scores.loc[possible.measure, "expected"])
    if possible.draws:
        worst = decimal(100 * possible.rows["standard_error"].max(), 1)
        return (
            f"Chances from {possible.draws:,} random orders, each with a standard error of at most {worst} "
            "percentage points. The tied score ",
            Strong(tied),
            " is exact.",
        )
    terms = [
        f"{_exact_chance(row.chance)} × {_written(row.value)}"
        for row in possible.rows.itertuples()
        if row.chance > 0
    ]
    if len(terms) > _MAX_TERMS:
        terms = [*terms[: _MAX_TERMS - 2], "…", terms[-1]]
    return (" + ".join(terms) + " = ", Strong(tied))


def chance_text(chance: float) -> str:
    """Write the share of orders as a whole percent, below 1% with a decimal."""
    if chance >= _SMALLEST_WHOLE:
        return with_signs(percent(round(chance, _DECIMALS)))
    return f"{chance:.1%}" if chance >= _SMALLEST_WHOLE / 10 else "<0.1%"


def _exact_chance(chance: float) -> str:
    """Write a chance that a reader can sum: 60%, 1/13, or with one decimal more than `chance_text`."""
    near = Fraction(chance).limit_denominator(100)
    if abs(near - chance) > 10**-_DECIMALS:
        return f"{chance:.1%}" if chance >= _SMALLEST_WHOLE else chance_text(chance)
    return str(near) if 100 % near.denominator else chance_text(chance)


def _written(value: float) -> str:
    """Write a value in a sum: 1, 0, ½, 1/12, or with three decimals."""
    near = Fraction(value).limit_denominator(100_000)
    if abs(near - value) > 10**-_DECIMALS or near.numerator not in (0, 1):
        return decimal(value)
    if near.denominator == 1:
        return str(near.numerator)
    return _VULGAR.get(near.denominator, f"1/{near.denominator:,}")
