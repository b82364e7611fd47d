"""Which documents to judge next, what that settles, and what judgments that came back have settled."""

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
from metrics.studies.prose import Prose, Strong, decimal
from metrics.support.arrays import BoolArray, FloatArray, IntArray, joined_ranges
from metrics.support.escaping import clean, csv_text
from metrics.support.wording import count_of, percent

_MOST_DRAWS, _FEWEST_DRAWS = 5, 2
"""Ways to judge that are drawn."""
_MOST_POINTS, _FEWEST_POINTS = 100, 12
"""Numbers of documents judged at which bounds are computed."""
_MOST_ROWS = 2**23
"""Rows of lists that are copied, about."""


def settling_curve(
    copies: JudgedCopies,
    query: IntArray,
    doc_ids: pa.Array,
    draw_grades: Callable[[int], FloatArray],
) -> pd.DataFrame:
    """Return how wide the bounds of the copied queries are after so many documents are judged.

    Nobody knows the answers, so they are drawn as `draw_grades` does; the random order is another one for each
    draw, of the same answers.

    Args:
        copies: the lists.
        query: (n,) number of the query of each document, in the order in which they are judged.
        doc_ids: (n,) the documents.
        draw_grades: seed → (n,) grades of the documents.

    Returns:
        judged (from 0 to n), in_order, at_random: width summed over rerankers and queries, mean over draws.
    """
    n, n_queries = len(query), len(copies.rows_of_query)
    n_copies = n + n_queries  # at the most, however many points there are
    most_copies = _MOST_ROWS / (2 * max(float(copies.rows_of_query.mean()), 1))
    n_draws = int(np.clip(most_copies / n_copies, _FEWEST_DRAWS, _MOST_DRAWS))
    n_points = _MOST_POINTS
    if n_draws * n_copies > most_copies:
        n_points = int(np.clip(most_copies / (n_draws * n_queries), _FEWEST_POINTS, _MOST_POINTS))
    shares = np.linspace(0, 1, n_points + 1) ** 2  # the first documents settle most
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
    """Return (n_points,) width of all bounds after so many documents are judged.

    A query's bounds depend on how many of its own documents are judged by then: one copy for each such number.
    """
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
    """Return the unjudged documents that some reranker has within a depth, those likely to weigh most first.

    Returns:
        hash, query_id, doc_id, rerankers (how many have it within the depth), best_place, best_reranker (the
        first that gives it); by falling sum of 1/log2(place + 1) over those rerankers.
    """
    parts = []
    for name in runs.rerankers:
        ranking = options.ranking(runs, name)
        place = (ranking.above + 1)[ranking.groups]
        rows = np.flatnonzero(~ranking.judged & (place <= depth))
        parts.append(
            pd.DataFrame({"hash": ranking.pairs.hashes[ranking.rows[rows]], "best_place": place[rows]}).assign(
                best_reranker=name
            )
        )
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
    """Which documents to judge next, and what judging them settles.

    Attributes:
        measure: name of the measure.
        depth: documents that every reranker has below this place count as not relevant.
        n_rerankers: rerankers whose bounds are narrowed.
        documents: a row for each document, the one that narrows most first, with `COLUMNS`: query_id, doc_id,
            rerankers (how many have it within the depth), best_place (the highest that scores allow),
            best_reranker (the first that gives it), narrowing (of the bounds of all means, summed over
            rerankers, were it judged alone; NaN where there are too many documents to look at each) and closed
            (the share of what holes leave open that is closed once it is judged after all rows above).
        curve: judged (so many documents), in_order and at_random: mean width of the bounds, as of
            `settling_curve`.
    """

    measure: str
    depth: int
    n_rerankers: int
    documents: pd.DataFrame
    curve: pd.DataFrame

    @property
    def width(self) -> float:
        """Mean width of the bounds before anything is judged."""
        return float(self.curve["in_order"].iloc[0])

    @property
    def floor(self) -> float:
        """Mean width that ties alone leave once all is judged, or the narrowest on the way there."""
        return float(self.curve[["in_order", "at_random"]].to_numpy().min())

    def share_closed(self, n_judged: int | IntArray, order: str = "in_order") -> FloatArray:
        """Return the share of what holes leave open that is closed once so many documents are judged.

        Args:
            n_judged: how many, one number or several.
            order: `in_order` of the documents, or `at_random`.
        """
        # where a measure is bounded beyond what is reached, widths may rise again: the narrowest so far counts
        widths = np.interp(n_judged, self.curve["judged"], np.minimum.accumulate(self.curve[order]))
        open_width = self.width - self.floor
        return np.asarray((self.width - widths) / open_width if open_width > EQUAL else np.zeros_like(widths))

    def halving(self, order: str = "in_order") -> int:
        """Return how many documents halve what holes leave open, in an order; 0 where they leave nothing."""
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
    """Return in which order to judge what nobody judged, and what that settles.

    Each document is taken alone: it is relevant, with the highest grade of any judgment, at a rate, else of
    grade 0; either way the joint bounds of the lists of its query are computed anew. Where gains add up and
    scores do not tie, either answer narrows them alike, and narrowings add up; where a judgment moves the ideal
    or the first relevant rank they do not, which `curve` accounts for. TREC DL 2019, five runs, relevant from
    grade 2, 30 and 50 % of the judgments hidden at random: `halving` says 109 and 169 of 405 and 621 documents
    for nDCG@10, 14 and 27 for RR@10, 103 and 159 for P@10; with the hidden judgments it takes 111 and 184, 14
    and 26, 103 and 159, at random about 243 and 373, 203 and 297, 203 and 308.

    Args:
        runs: what was ranked.
        measure: name of a measure.
        options: how lists are scored.
        depth: places within which documents are candidates; what every reranker has below counts as not
            relevant. None: the measure's cut-off, else 10.
        rate: chance that an unjudged document is relevant; None: estimated from judged documents.
        queries: those that count; None for all.
        board: these runs and further ones, whose judged documents tell the rate, too; None: these alone.

    Raises:
        UsageError: fewer than one place, unjudged documents left out, no judgments apart, or a measure that no
            judgment narrows (Judged@k); a rate outside 0 to 1, or none and no ranked document is judged; else
            as of `joint_bounds`.
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
        queue = _Queue.of(copies, table, rated, rate, depth)
        queue = queue.by_narrowing(copies, widths.reindex(names).to_numpy())
        curve = settling_curve(copies, queue.query, queue.doc_ids, queue.draw_grades)
        widths = widths.drop(names)
        table = queue.table
    orders = ["in_order", "at_random"]
    curve[orders] = (curve[orders] + float(widths.sum())) / max(int((weights > 0).sum()), 1)
    plan = JudgingPlan(measure, depth, len(runs.rerankers), table, curve)
    table["closed"] = plan.share_closed(np.arange(1, len(table) + 1))
    return replace(plan, documents=table.reindex(columns=list(COLUMNS)))


def _checked_depth(runs: Runs, measure: str, options: ScoringOptions, depth: int | None) -> int:
    """Return the last place that counts: that of the measure where none is given; as of `plan_judging`."""
    if depth is not None and depth < 1:
        raise UsageError("depth: give 1 or more.")
    if options.unjudged == "leave_out":
        raise UsageError("Documents that nobody judged are left out: none is to be judged next.")
    if runs.qrels is None:
        raise UsageError("Relevance stands inside the tables, so nothing is unjudged. Give judgments apart.")
    if not can_narrow(parse(measure)):
        raise UsageError(f"{measure} counts what is judged, whatever the grade: no judgment narrows it.")
    return depth if depth is not None else plan_depth(parse(measure))


def plan_depth(measure: MeasureAt) -> int:
    """Return the last place that counts where nobody says another: the cut-off of the measure, or 10."""
    return measure.k or DEPTH


@dataclass(frozen=True, eq=False)
class _Queue:
    """Documents in the order in which they are judged.

    Attributes:
        table: a row for each, as of `open_documents`.
        query: (n,) number of the query of each among those copied.
        position: (n,) number of each among all unjudged documents.
        rates: (n_unjudged,) chance of each of these to be relevant.
        draw: seed → (n_unjudged,) their grades.
    """

    table: pd.DataFrame
    query: IntArray
    position: IntArray
    rates: FloatArray
    draw: Callable[[int], FloatArray]

    @classmethod
    def of(
        cls,
        copies: JudgedCopies,
        table: pd.DataFrame,
        documents: RankedDocuments,
        rate: float | None,
        depth: int,
    ) -> "_Queue":
        """Take the documents as they come; `documents` are those of the whole board."""
        unjudged = documents.hashes[~documents.is_judged]
        position = np.searchsorted(unjudged, table["hash"].to_numpy())
        query, rates = copies.queries.get_indexer(table["query_id"]), documents.unjudged_rates(rate, depth)
        return cls(table, query, position, rates, documents.grade_draws(rate, depth))

    @property
    def doc_ids(self) -> pa.Array:
        """(n,) the documents."""
        return pa.array(self.table["doc_id"], pa.string())

    def draw_grades(self, seed: int) -> FloatArray:
        """Draw (n,) grades at the rates."""
        return self.draw(seed)[self.position]

    def by_narrowing(self, copies: JudgedCopies, widths: FloatArray) -> "_Queue":
        """Return the queue, the document first that narrows the bounds of its query most; `table` says how far.

        Where there are too many to look at each, the later ones follow as they came, with NaN.
        """
        rates = self.rates[self.position]
        narrowing = narrowings(copies, self.query, self.doc_ids, rates, widths)
        order = np.argsort(-narrowing, kind="stable")  # NaN last
        table = self.table.assign(narrowing=narrowing).iloc[order].reset_index(drop=True)
        return replace(self, table=table, query=self.query[order], position=self.position[order])


def plan_finding(plan: JudgingPlan) -> Prose:
    """Say how many documents halve what unjudged documents leave open, in order and at random."""
    n_documents, name = len(plan.documents), parse(plan.measure).traditional
    half, at_random = plan.halving(), plan.halving("at_random")
    if not n_documents:
        return ("Every document in the top ", Strong(str(plan.depth)), " is judged.")
    if plan.width <= EQUAL:
        return (Strong(f"Nothing is open of {name}"), ": neither ties nor unjudged documents move it.")
    if not half:
        return (Strong(f"No judgment narrows {name}"), ": ties leave it as open as it is.")
    widths = f" Bars are {decimal(plan.width)} wide on average; ties alone leave {decimal(plan.floor)}."
    if n_documents == 1:
        return (Strong("One document is left to judge"), f" in the top {plan.depth}.{widths}")
    as_many = ", as many as in random order"
    compared = as_many if at_random == half else f", {at_random:,} in random order"
    return (
        Strong(f"{count_of(half, 'judgment')} in this order"),
        f" {'halve' if half > 1 else 'halves'} what {n_documents:,} unjudged documents leave open of {name}"
        f"{compared}.{widths}",
    )


def closing_text(plan: JudgingPlan, n_judged: int) -> str:
    """Say which share of what holes leave open the first documents close."""
    if not plan.halving():
        return "No judgment closes anything: unjudged documents leave nothing open."
    share = percent(float(plan.share_closed(n_judged)))
    verb = "close" if n_judged > 1 else "closes"
    return f"The first {count_of(n_judged, 'document')} {verb} {share} of what unjudged documents leave open."


OPEN_GRADE = "?"
"""What stands for a grade in TREC qrels: a file with one left in it is refused, and says how many are."""
_ODD = ("#", "[", "{")
"""How a line begins that is no judgment."""


def trec_form(documents: pd.DataFrame) -> str:
    """Return TREC qrels to be filled in, `query 0 document ?`; UsageError where an id is not one word."""
    for kind, name in (("query", "query_id"), ("document", "doc_id")):
        if wrong := next((text for text in documents[name] if not _is_word(text)), None):
            raise UsageError(
                f"There is a {kind} called {clean(wrong)!r}: TREC qrels cannot say that. Write a CSV file."
            )
    pairs = zip(documents["query_id"], documents["doc_id"], strict=True)
    return "".join(f"{query} 0 {document} {OPEN_GRADE}\n" for query, document in pairs)


def csv_form(documents: pd.DataFrame) -> str:
    """Return a CSV file to be filled in: query_id, doc_id and an empty relevance."""
    return csv_text(documents[["query_id", "doc_id"]].assign(relevance=""))


def form_for(documents: pd.DataFrame) -> tuple[str, str]:
    """Return a form and the ending of its file: TREC qrels where all ids are words, else CSV."""
    try:
        return trec_form(documents), "txt"
    except UsageError:
        return csv_form(documents), "csv"


def _is_word(text: str) -> bool:
    return text.split() == [text] and not text.startswith(_ODD) and not {"\0", "\ufeff"} & set(text)


def relevance_chances(runs: Runs, options: ScoringOptions, depth: int) -> "pd.Series[float]":
    """Return the chance of each unjudged document within a depth to be relevant, as judged ones tell.

    Args:
        runs: what was ranked.
        options: how lists are scored.
        depth: the last place that counts: `plan_depth` of the measure.

    Returns:
        index: hash of query and document.

    Raises:
        UsageError: nobody judged a document that is ranked.
    """
    documents = RankedDocuments.of(runs, options)
    is_open, rates = ~documents.is_judged, documents.unjudged_rates(None, depth)
    is_near = documents.places[is_open] <= depth
    return pd.Series(rates[is_near], documents.hashes[is_open][is_near])


def first_to_judge(
    runs: Runs, measure: str, options: ScoringOptions, query: str, chances: "pd.Series[float]"
) -> str | None:
    """Return the document of a query whose judgment narrows the bounds of all rerankers most, None without any.

    Args:
        runs: what was ranked, with judgments apart.
        measure: name of the measure.
        options: how lists are scored.
        query: id of the query.
        chances: as `relevance_chances` returns them.
    """
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
        pa.array(table["doc_id"], pa.string()),
        chances.reindex(table["hash"]).to_numpy(),
        bound_widths(runs, measure, options, weights).reindex(queries).to_numpy(),
    )
    return str(table["doc_id"].iloc[int(np.argmax(narrowing))])


_MOST_NAMED = 5
"""Orders that are named one by one."""


@dataclass(frozen=True, eq=False)
class JudgmentsValue:
    """What judgments changed.

    Attributes:
        n_judged: documents judged since of queries with judgments before, n_relevant of them relevant.
        n_relevant: as said.
        n_queries_added: queries first judged since, which are not compared.
        top_grade: the highest grade, where it is above every earlier one; else None.
        bars: index reranker; lowest_before, highest_before, lowest, highest: bounds of its mean.
        settled: above, below: orders that no bars leave open any more, and did before; widest first.
        n_settled_before: orders settled before.
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
        """Mean width of the bars before."""
        return float((self.bars["highest_before"] - self.bars["lowest_before"]).mean())

    @property
    def width(self) -> float:
        """Mean width of the bars now."""
        return float((self.bars["highest"] - self.bars["lowest"]).mean())


def judgments_value(
    before: Runs, after: Runs, measure: str, options: ScoringOptions = AS_READ, depth: int | None = None
) -> JudgmentsValue:
    """Return how far the joint bounds of the means narrowed with more judgments of the same lists.

    Compared are means over the queries that had judgments before, without the lists that `missing` leaves out.

    Raises:
        UsageError: no judgments apart, or as of `joint_bounds`.
    """
    if before.qrels is None or after.qrels is None:
        raise UsageError("Relevance stands inside the tables, so nothing is unjudged. Give judgments apart.")
    measure, queries = str(parse(measure)), before.judged_pairs.queries.to_pylist()
    weights = list_weights(before, options)
    scored = weights.index[weights > 0]
    columns: dict[str, pd.Series[float]] = {}
    for runs, suffix in ((before, "_before"), (after, "")):
        if depth is not None:
            runs = judged_below(runs, RankedDocuments.of(runs, options), depth)  # noqa: PLW2901
        bounds = joint_bounds(runs, measure, options)[measure]
        bounds = bounds[bounds.index.isin(queries, level="query_id")]
        sums = bounds.groupby(level="reranker").sum().reindex(scored)  # a list left out has a value of 0
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
    """Return (n, n) whether the bar of the row lies wholly above that of the column."""
    return np.asarray(lowest.to_numpy()[:, None] > highest.to_numpy()[None, :] + EQUAL)


def _new_grades(before: Runs, after: Runs) -> tuple[FloatArray, int]:
    """Return the grades of pairs that were not judged before, of queries that were, and how many were not."""
    pairs, earlier = after.judged_pairs, before.judged_pairs
    was_judged = np.isin(pairs.queries.to_pylist(), earlier.queries.to_pylist())
    is_new = ~np.isin(pairs.hashes, earlier.hashes) & was_judged[pairs.query]
    assert after.qrels is not None  # noqa: S101 judgments_value says so
    return after.qrels["relevance"].to_numpy()[is_new], int((~was_judged).sum())


def value_finding(value: JudgmentsValue, plan: JudgingPlan) -> Prose:
    """Say what judgments that came back are worth, at the depth of the plan of what is left after them."""
    name, n_pairs = parse(plan.measure).traditional, len(value.bars) * (len(value.bars) - 1) // 2
    judged = f"{count_of(value.n_judged, 'document')} judged since, {value.n_relevant:,} relevant: "
    head: Prose = (judged, *_width_change(value, plan, name))
    if value.n_queries_added:
        head = (*head, f" {count_of(value.n_queries_added, 'query')} first judged since: not compared.")
    if not n_pairs:
        return head
    if not len(value.settled):
        before = value.n_settled_before
        return (
            *head,
            f" No order more is settled: bars are apart in {before:,} of {count_of(n_pairs, 'pair')}.",
        )
    rows = value.settled.head(_MOST_NAMED)
    pairs = "; ".join(f"{row.above} above {row.below}" for row in rows.itertuples())
    and_more = f" and {len(value.settled) - len(rows):,} more" if len(value.settled) > len(rows) else ""
    total = value.n_settled_before + len(value.settled)
    return (
        *head,
        f" Bars are apart in {total:,} of {count_of(n_pairs, 'pair')}, {value.n_settled_before:,} before: ",
        Strong(pairs),
        f"{and_more}.",
    )


def _width_change(value: JudgmentsValue, plan: JudgingPlan, name: str) -> Prose:
    """Say how far bars narrowed or widened, and why where grades rose."""
    narrowed = value.width_before - value.width
    if abs(narrowed) <= EQUAL:
        return (Strong(f"bars of {name} are as wide as before"), f", {decimal(value.width)} on average.")
    verb = "narrowed" if narrowed > 0 else "widened"
    change = Strong(f"bars of {name} {verb} from {decimal(value.width_before)} to {decimal(value.width)}")
    if value.top_grade is not None:
        above = f" on average; grade {value.top_grade:g} is above every earlier one"
        return (change, f"{above}, and what is still unjudged may have it, too.")
    open_before = value.width_before - plan.floor
    if narrowed < 0 or value.n_queries_added or open_before <= EQUAL:
        return (change, " on average.")
    return (change, f" on average, {percent(narrowed / open_before)} of what unjudged documents left open.")
