"""Plan which documents to judge next, and report how far new judgments narrowed the bounds."""

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from metrics.errors import UsageError
from metrics.evaluation import AS_READ, EQUAL, ScoringOptions
from metrics.evaluation.grade_model import RankedDocuments
from metrics.evaluation.holes import DEPTH, joint_bounds
from metrics.measures import MeasureAt, parse
from metrics.runs import Runs
from metrics.studies.holes import can_narrow
from metrics.studies.judged_copies import (
    JudgedCopies,
    bound_widths,
    judged_below,
    list_weights,
    narrowings,
)
from metrics.studies.prose import Prose, Strong, and_more, decimal
from metrics.support.arrays import BoolArray, FloatArray, IntArray, joined_ranges
from metrics.support.escaping import clean, csv_text
from metrics.support.wording import count_of, percent

_NO_QRELS = "The tables have a relevance column, so no document is unjudged. Give judgments in a separate file."
_MOST_DRAWS, _FEWEST_DRAWS = 5, 2
"""Number of simulated ways to judge."""
_MOST_POINTS, _FEWEST_POINTS = 100, 12
"""Number of points of the curve."""
_MOST_ROWS = 2**23
"""Rows of lists that are copied, about."""


def settling_curve(
    copies: JudgedCopies,
    query: IntArray,
    doc_ids: pa.Array,
    draw_grades: Callable[[int], FloatArray],
) -> pd.DataFrame:
    """Return the width of the bounds of the copied queries as more documents are judged.

    Grades are simulated by `draw_grades` (seed → grades). Each draw has its own random order of the same
    grades. `query` and `doc_ids` are in judging order.

    Returns:
        judged (from 0 to n), in_order, at_random: width summed over rerankers and queries, mean over draws.
    """
    n, n_queries = len(query), len(copies.rows_of_query)
    n_copies = n + n_queries  # an upper limit for any number of points
    most_copies = _MOST_ROWS / (2 * max(float(copies.rows_of_query.mean()), 1))
    n_draws = int(np.clip(most_copies / n_copies, _FEWEST_DRAWS, _MOST_DRAWS))
    n_points = _MOST_POINTS
    if n_draws * n_copies > most_copies:
        n_points = int(np.clip(most_copies / (n_draws * n_queries), _FEWEST_POINTS, _MOST_POINTS))
    shares = np.linspace(0, 1, n_points + 1) ** 2  # the first documents narrow most
    points = np.unique((n * shares).round().astype(np.int64))
    in_order, at_random = [], []
    for seed in range(n_draws):
        grades = draw_grades(seed * 2**8)
        shuffled = np.random.default_rng(seed).permutation(n)
        in_order.append(_widths_along(copies, points, query, doc_ids, grades))
        at_random.append(
            _widths_along(copies, points, query[shuffled], doc_ids.take(pa.array(shuffled)), grades[shuffled])
        )
    means = {"in_order": np.mean(in_order, axis=0), "at_random": np.mean(at_random, axis=0)}
    return pd.DataFrame({"judged": points, **means})


def _widths_along(
    copies: JudgedCopies, points: IntArray, query: IntArray, doc_ids: pa.Array, grades: FloatArray
) -> FloatArray:
    """Return (n_points,) total width, copying each query once for each number of its own judgments."""
    n_queries = len(copies.rows_of_query)
    point = np.searchsorted(points, np.arange(1, len(query) + 1))
    counts = np.bincount(point * n_queries + query, minlength=len(points) * n_queries)
    numbers = np.arange(n_queries) * (len(query) + 1) + np.cumsum(
        counts.reshape(len(points), n_queries), axis=0
    )
    distinct, place = np.unique(numbers, return_inverse=True)
    copied, n_judged = np.divmod(distinct, len(query) + 1)
    by_query = np.argsort(query, kind="stable")
    first = np.searchsorted(query[by_query], copied)
    owner = np.repeat(np.arange(len(copied)), n_judged)
    judged = by_query[joined_ranges(first, n_judged)]
    widths = copies.widths(copied, owner, doc_ids.take(pa.array(judged)), grades[judged])
    return np.asarray(widths[place.reshape(numbers.shape)].sum(axis=1))


def open_documents(
    runs: Runs,
    options: ScoringOptions,
    documents: RankedDocuments,
    depth: int,
    queries: Collection[str] | None = None,
) -> pd.DataFrame:
    """Return the unjudged documents that a reranker has within a depth, likely important ones first.

    Returns:
        hash, query_id, doc_id, rerankers (number that have it within the depth), best_place, best_reranker (the
        first with that rank); by falling sum of 1/log2(place + 1) over those rerankers.
    """
    parts = []
    for name in runs.rerankers:
        ranking = options.ranking(runs, name)
        place = (ranking.above + 1)[ranking.groups]
        rows = np.flatnonzero(~ranking.judged & (place <= depth))
        hashes = ranking.pairs.hashes[ranking.rows[rows]]
        parts.append(pd.DataFrame({"hash": hashes, "best_place": place[rows], "best_reranker": name}))
    ranked = pd.concat(parts, ignore_index=True).sort_values("best_place", kind="stable")
    ranked["weight"] = 1 / np.log2(ranked["best_place"] + 1)
    table = ranked.groupby("hash", sort=False).agg(
        rerankers=("best_place", "size"),
        best_place=("best_place", "first"),
        best_reranker=("best_reranker", "first"),
        weight=("weight", "sum"),
    )
    rows = pa.array(np.searchsorted(documents.hashes, table.index.to_numpy()))
    ids = {name: getattr(documents, f"{name}s").take(rows).to_pandas() for name in ("query_id", "doc_id")}
    table = table.reset_index().assign(**ids)
    if queries is not None:
        table = table[table["query_id"].isin(set(queries))]
    return table.sort_values("weight", ascending=False, kind="stable", ignore_index=True)


COLUMNS = ("query_id", "doc_id", "rerankers", "best_place", "best_reranker", "narrowing", "closed")


@dataclass(frozen=True, eq=False)
class JudgingPlan:
    """Documents to judge next, and how far judging them narrows the bounds.

    Attributes:
        measure: name of the measure.
        depth: documents that every reranker has below this rank count as not relevant.
        n_rerankers: number of rerankers.
        documents: a row for each document, the largest narrowing first, with `COLUMNS`: query_id, doc_id,
            rerankers (number that have it within the depth), best_place (highest possible rank), best_reranker
            (the first with that rank), narrowing (of the bounds of all means, summed over rerankers, from
            judging it alone; NaN if there are too many documents), closed (share of the uncertainty removed
            once this and all documents above are judged).
        curve: judged (number of documents), in_order and at_random: mean width of the bounds, as returned by
            `settling_curve`.
    """

    measure: str
    depth: int
    n_rerankers: int
    documents: pd.DataFrame
    curve: pd.DataFrame

    @property
    def width(self) -> float:
        """Mean width of the bounds before further judgments."""
        return float(self.curve["in_order"].iloc[0])

    @property
    def floor(self) -> float:
        """Mean width that ties alone leave, or the smallest width on the way there."""
        return float(self.curve[["in_order", "at_random"]].to_numpy().min())

    def share_closed(self, n_judged: int | IntArray, order: str = "in_order") -> FloatArray:
        """Return the share of the uncertainty removed by so many judgments, `in_order` or `at_random`."""
        # loose bounds may widen again: the narrowest so far counts
        widths = np.interp(n_judged, self.curve["judged"], np.minimum.accumulate(self.curve[order]))
        open_width = self.width - self.floor
        return np.asarray((self.width - widths) / open_width if open_width > EQUAL else np.zeros_like(widths))

    def halving(self, order: str = "in_order") -> int:
        """Return the number of judgments that halve the uncertainty; 0 if unjudged documents leave none."""
        if self.width - self.floor <= EQUAL:
            return 0
        shares = self.share_closed(self.curve["judged"].to_numpy(), order)
        return int(np.ceil(np.interp(0.5, shares, self.curve["judged"]) - EQUAL))


def plan_judging(
    runs: Runs,
    measure: str,
    options: ScoringOptions = AS_READ,
    *,
    depth: int | None = None,
    rate: float | None = None,
    queries: Collection[str] | None = None,
    board: Runs | None = None,
) -> JudgingPlan:
    """Return the unjudged documents in the order that narrows the bounds fastest, and the expected narrowing.

    Each document is considered alone: it has the highest grade of any judgment at its rate, else grade 0, and
    the joint bounds of its query are computed for both. If gains add up and scores do not tie, both grades
    narrow the bounds alike and narrowings add up. If a judgment moves the ideal or the first relevant rank
    they do not; `curve` accounts for that. TREC DL 2019, five runs, relevant from grade 2, 30 and 50% of the
    judgments hidden at random: `halving` gives 109 and 169 of 405 and 621 documents for nDCG@10, 14 and 27 for
    RR@10, 103 and 159 for P@10. With the hidden judgments the numbers are 111 and 184, 14 and 26, 103 and 159;
    at random about 243 and 373, 203 and 297, 203 and 308.

    `depth` (default: the cut-off, else 10) limits the candidates; documents that every reranker has below it
    count as not relevant. `rate` is the chance of relevance (default: estimated from judged documents). `board`
    has the runs whose judged documents determine that rate.

    Raises:
        UsageError: a depth below 1, a rate outside 0 to 1, unjudged documents left out, no separate judgments,
            a measure that judgments do not narrow (Judged@k), or an error of `joint_bounds`.
    """
    depth = _checked_depth(runs, measure, options, depth)
    documents = RankedDocuments.of(runs, options)
    table = open_documents(runs, options, documents, depth, queries)
    all_runs, runs = runs, judged_below(runs, documents, depth)
    weights = list_weights(runs, options, queries)
    widths = bound_widths(runs, measure, options, weights)
    if queries is not None:
        widths = widths[widths.index.isin(set(queries))]
    curve = pd.DataFrame({"judged": [0], "in_order": 0.0, "at_random": 0.0})
    if len(table):
        names = pd.Index(table["query_id"].unique())
        copies = JudgedCopies(runs, measure, options, names, depth, weights)
        rated = documents if board is None or board is all_runs else RankedDocuments.of(board, options)
        position = np.searchsorted(rated.hashes[~rated.is_judged], table["hash"].to_numpy())
        rates, query = rated.unjudged_rates(rate, depth)[position], names.get_indexer(table["query_id"])
        narrowing = narrowings(copies, query, _doc_ids(table), rates, widths.reindex(names).to_numpy())
        order = np.argsort(-narrowing, kind="stable")  # NaN last
        table = table.assign(narrowing=narrowing).iloc[order].reset_index(drop=True)
        draw, position = rated.grade_draws(rate, depth), position[order]
        curve = settling_curve(copies, query[order], _doc_ids(table), lambda seed: draw(seed)[position])
        widths = widths.drop(names)
    orders = ["in_order", "at_random"]
    curve[orders] = (curve[orders] + float(widths.sum())) / max(int((weights > 0).sum()), 1)
    plan = JudgingPlan(measure, depth, len(runs.rerankers), table, curve)
    table["closed"] = plan.share_closed(np.arange(1, len(table) + 1))
    return replace(plan, documents=table.reindex(columns=list(COLUMNS)))


def _doc_ids(table: pd.DataFrame) -> pa.Array:
    return pa.array(table["doc_id"], pa.string())


def _checked_depth(runs: Runs, measure: str, options: ScoringOptions, depth: int | None) -> int:
    if depth is not None and depth < 1:
        raise UsageError("depth: give 1 or more.")
    if options.unjudged == "leave_out":
        raise UsageError(
            "Unjudged documents are left out, so there are none to judge. Keep them to plan judgments."
        )
    if runs.qrels is None:
        raise UsageError(_NO_QRELS)
    if not can_narrow(parse(measure)):
        raise UsageError(
            f"{measure} ignores grades, so judgments do not narrow its bounds. Choose another measure."
        )
    return depth if depth is not None else plan_depth(parse(measure))


def plan_depth(measure: MeasureAt) -> int:
    """Return the default depth of a plan: the cut-off of the measure, or 10."""
    return measure.k or DEPTH


def plan_finding(plan: JudgingPlan) -> Prose:
    """State how many judgments halve the simulated uncertainty, in order and at random."""
    n_documents, name = len(plan.documents), parse(plan.measure).traditional
    half, at_random = plan.halving(), plan.halving("at_random")
    if not n_documents:
        return ("No judged query has an unjudged document in the top ", Strong(str(plan.depth)), ".")
    if plan.width <= EQUAL:
        return (Strong(f"{name} is certain"), ": neither ties nor unjudged documents change it.")
    if not half:
        return (Strong(f"No judgment narrows {name}"), ": the remaining uncertainty comes from ties.")
    widths = (
        f" The bounds are {decimal(plan.width)} wide on average: {decimal(plan.floor)} from ties and "
        f"{decimal(plan.width - plan.floor)} from unjudged documents."
    )
    if n_documents == 1:
        return (Strong("One document is unjudged"), f" in the top {plan.depth}.{widths}")
    return (
        Strong(f"{count_of(half, 'judgment')} in this order"),
        f" {'halve' if half > 1 else 'halves'} the uncertainty of {name} that "
        f"{n_documents:,} unjudged documents cause. A random order needs {count_of(at_random, 'judgment')}. "
        f"Both numbers come from simulated grades.{widths}",
    )


def closing_text(plan: JudgingPlan, n_judged: int) -> str:
    """State the share of the uncertainty that the first documents remove."""
    if not plan.halving():
        return "Unjudged documents cause no uncertainty, so judging them cannot reduce it."
    share = percent(float(plan.share_closed(n_judged)))
    first = f"first {n_judged:,} documents" if n_judged > 1 else "first document"
    return f"Judging the {first} removes {share} of the uncertainty that unjudged documents cause."


OPEN_GRADE = "?"
"""Placeholder for a grade in TREC qrels; a file that still has one is refused, with their number."""
_ODD = ("#", "[", "{")
"""Starts of lines that are not judgments."""


def trec_form(documents: pd.DataFrame) -> str:
    """Return TREC qrels to fill in, `query 0 document ?`; UsageError if an id is not one word."""
    for kind, name in (("query", "query_id"), ("document", "doc_id")):
        if wrong := next((text for text in documents[name] if not _is_word(text)), None):
            raise UsageError(
                f"A TREC qrels file cannot contain the {kind} ID {clean(wrong)!r}: it has a space or an "
                "invisible character, or begins with #, [ or {. Write a CSV file."
            )
    pairs = zip(documents["query_id"], documents["doc_id"], strict=True)
    return "".join(f"{query} 0 {document} {OPEN_GRADE}\n" for query, document in pairs)


def csv_form(documents: pd.DataFrame) -> str:
    """Return a CSV file to fill in: query_id, doc_id and an empty relevance."""
    return csv_text(documents[["query_id", "doc_id"]].assign(relevance=""))


def form_for(documents: pd.DataFrame) -> tuple[str, str]:
    """Return a form and its file extension: TREC qrels if all ids are words, else CSV."""
    try:
        return trec_form(documents), "txt"
    except UsageError:
        return csv_form(documents), "csv"


def _is_word(text: str) -> bool:
    return text.split() == [text] and not text.startswith(_ODD) and not {"\0", "\ufeff"} & set(text)


def relevance_chances(runs: Runs, options: ScoringOptions, depth: int) -> "pd.Series[float]":
    """Return the chance of each unjudged document within a depth to be relevant, from judged documents.

    Returns:
        index: hash of query and document.

    Raises:
        UsageError: no ranked document is judged.
    """
    documents = RankedDocuments.of(runs, options)
    is_open, rates = ~documents.is_judged, documents.unjudged_rates(None, depth)
    is_near = documents.places[is_open] <= depth
    return pd.Series(rates[is_near], documents.hashes[is_open][is_near])


def first_to_judge(
    runs: Runs, measure: str, options: ScoringOptions, query: str, chances: "pd.Series[float]"
) -> str | None:
    """Return the document of a query whose judgment narrows the bounds most; None if all are judged."""
    weights = list_weights(runs, options)
    tables = {
        name: table.filter(pc.equal(table["query_id"].cast(pa.string()), query))
        for name, table in runs.tables.items()
    }
    runs, depth = Runs(tables, runs.qrels), plan_depth(parse(measure))
    documents = RankedDocuments.of(runs, options)
    table = open_documents(runs, options, documents, depth, {query})
    if table.empty:
        return None
    runs, queries = judged_below(runs, documents, depth), pd.Index([query])
    narrowing = narrowings(
        JudgedCopies(runs, measure, options, queries, depth, weights),
        np.zeros(len(table), np.int64),
        _doc_ids(table),
        chances.reindex(table["hash"]).to_numpy(),
        bound_widths(runs, measure, options, weights).reindex(queries).to_numpy(),
    )
    return str(table["doc_id"].iloc[int(np.argmax(narrowing))])


_MOST_NAMED = 5
"""Orders that are named one by one."""


@dataclass(frozen=True, eq=False)
class JudgmentsValue:
    """Effect of new judgments.

    Attributes:
        n_judged: new judgments of queries that had judgments before.
        n_relevant: number of them that are relevant.
        n_queries_added: queries judged for the first time, which are not compared.
        top_grade: the highest grade if it exceeds every earlier one, else None.
        bars: index reranker; lowest_before, highest_before, lowest, highest: bounds of its mean.
        settled: above, below: pairs whose bounds no longer overlap, the widest distance first.
        n_settled_before: pairs whose bounds did not overlap before.
    """

    n_judged: int
    n_relevant: int
    n_queries_added: int
    top_grade: float | None
    bars: pd.DataFrame
    settled: pd.DataFrame
    n_settled_before: int

    @property
    def width_before(self) -> float:
        """Mean width of the bounds before."""
        return float((self.bars["highest_before"] - self.bars["lowest_before"]).mean())

    @property
    def width(self) -> float:
        """Mean width of the bounds now."""
        return float((self.bars["highest"] - self.bars["lowest"]).mean())


def judgments_value(
    before: Runs, after: Runs, measure: str, options: ScoringOptions = AS_READ, depth: int | None = None
) -> JudgmentsValue:
    """Return how far new judgments of the same lists narrowed the joint bounds of the means.

    The means are over queries that had judgments before, without the lists that `missing` leaves out.

    Raises:
        UsageError: no separate judgments, or an error of `joint_bounds`.
    """
    if before.qrels is None or after.qrels is None:
        raise UsageError(_NO_QRELS)
    measure, queries = str(parse(measure)), before.judged_pairs.queries.to_pylist()
    weights = list_weights(before, options)
    scored = weights.index[weights > 0]
    columns: dict[str, pd.Series[float]] = {}
    for runs, suffix in ((before, "_before"), (after, "")):
        if depth is not None:
            runs = judged_below(runs, RankedDocuments.of(runs, options), depth)  # noqa: PLW2901
        bounds = joint_bounds(runs, measure, options)[measure]
        bounds = bounds[bounds.index.isin(queries, level="query_id")]
        sums = bounds.groupby(level="reranker").sum().reindex(scored)  # lists left out have a value of 0
        columns |= {f"{bound}{suffix}": sums[bound] * weights[scored] for bound in ("lowest", "highest")}
    bars = pd.DataFrame(columns)
    was_apart = _apart(bars["lowest_before"], bars["highest_before"])
    is_apart = _apart(bars["lowest"], bars["highest"]) & ~was_apart
    above, below = np.nonzero(is_apart)
    names = bars.index.to_numpy()
    settled = pd.DataFrame({"above": names[above], "below": names[below]})
    space = bars["lowest"].to_numpy()[above] - bars["highest"].to_numpy()[below]
    new_grades, n_queries_added = _new_grades(before, after)
    top_before, top = (pc.max(qrels["relevance"]).as_py() or 0 for qrels in (before.qrels, after.qrels))
    return JudgmentsValue(
        len(new_grades),
        int((new_grades >= options.relevant_from).sum()),
        n_queries_added,
        top if top > max(top_before, options.relevant_from) else None,
        bars,
        settled.iloc[np.argsort(-space, kind="stable")].reset_index(drop=True),
        int(was_apart.sum()),
    )


def _apart(lowest: "pd.Series[float]", highest: "pd.Series[float]") -> BoolArray:
    """Return (n, n) whether the bounds of the row lie above those of the column."""
    return np.asarray(lowest.to_numpy()[:, None] > highest.to_numpy()[None, :] + EQUAL)


def _new_grades(before: Runs, after: Runs) -> tuple[FloatArray, int]:
    """Return the grades of new judgments of judged queries, and the number of new queries."""
    pairs, earlier = after.judged_pairs, before.judged_pairs
    was_judged = np.isin(pairs.queries.to_pylist(), earlier.queries.to_pylist())
    is_new = ~np.isin(pairs.hashes, earlier.hashes) & was_judged[pairs.query]
    assert after.qrels is not None  # noqa: S101 checked by judgments_value
    return after.qrels["relevance"].to_numpy()[is_new], int((~was_judged).sum())


def value_finding(value: JudgmentsValue, plan: JudgingPlan) -> Prose:
    """State the effect of new judgments; `plan` covers the documents that are still unjudged."""
    name, n_pairs = parse(plan.measure).traditional, len(value.bars) * (len(value.bars) - 1) // 2
    judged = f"{count_of(value.n_judged, 'new judgment')}, {value.n_relevant:,} relevant: "
    head: Prose = (judged, *_width_change(value, plan, name))
    if value.n_queries_added:
        head = (*head, f" {count_of(value.n_queries_added, 'new query')} cannot be compared.")
    if not n_pairs:
        return head
    before, pairs_text = value.n_settled_before, count_of(n_pairs, "pair")
    if not len(value.settled):
        return (*head, f" The bounds of {before:,} of {pairs_text} do not overlap, as before.")
    rows = value.settled.head(_MOST_NAMED)
    pairs = "; ".join(f"{row.above} above {row.below}" for row in rows.itertuples())
    total = before + len(value.settled)
    return (
        *head,
        f" The bounds of {total:,} of {pairs_text} do not overlap ({before:,} before). No longer overlapping: ",
        Strong(pairs),
        f"{and_more(len(value.settled) - len(rows))}.",
    )


def _width_change(value: JudgmentsValue, plan: JudgingPlan, name: str) -> Prose:
    narrowed = value.width_before - value.width
    if abs(narrowed) <= EQUAL:
        return (Strong(f"the bounds of {name} are as wide as before"), f", {decimal(value.width)} on average.")
    verb = "narrowed" if narrowed > 0 else "widened"
    change = Strong(f"the bounds of {name} {verb} from {decimal(value.width_before)} to {decimal(value.width)}")
    if value.top_grade is not None:
        above = f" on average. Grade {value.top_grade:g} is higher than all earlier grades"
        return (change, f"{above}, and unjudged documents may now have this grade as well.")
    open_before = value.width_before - plan.floor
    if narrowed < 0 or value.n_queries_added or open_before <= EQUAL:
        return (change, " on average.")
    return (
        change,
        f" on average. This removes {percent(narrowed / open_before)} of the uncertainty that unjudged "
        f"documents caused.",
    )
