"""Which unjudged documents to judge next: those whose judgments narrow the joint bounds of the means most."""

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import pyarrow as pa

from metrics.errors import UsageError
from metrics.evaluation import AS_READ, EQUAL, ScoringOptions
from metrics.evaluation.grade_model import RankedDocuments, Rate
from metrics.evaluation.holes import DEPTH
from metrics.measures import MeasureAt, parse
from metrics.runs import Runs
from metrics.studies.leaderboard.holes import can_narrow
from metrics.studies.leaderboard.judging.copies import (
    JudgedCopies,
    bound_widths,
    judged_below,
    list_weights,
    narrowings,
)
from metrics.studies.leaderboard.judging.curve import settling_curve
from metrics.studies.prose import Prose, Strong, decimal
from metrics.support.arrays import FloatArray, IntArray
from metrics.support.escaping import clean, csv_text
from metrics.support.wording import count_of, percent


def open_documents(
    runs: Runs,
    options: ScoringOptions,
    documents: RankedDocuments,
    depth: int,
    queries: Collection[str] | None = None,
) -> pd.DataFrame:
    """Return the unjudged documents that some reranker has within a depth, those likely to weigh most first.

    Args:
        runs: what was ranked.
        options: how lists are scored.
        documents: those of all rerankers.
        depth: places that count, as the scores allow them at best.
        queries: those that count; None for all.

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
    rate: Rate = None,
    queries: Collection[str] | None = None,
    draws: int | None = None,
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
        rate: as of `expectations_at_rate`.
        queries: those that count; None for all.
        draws: ways to judge that `curve` is the mean over; None: as many as the data bears.
        board: these runs and further ones, whose judged documents tell the rate, too; None: these alone.

    Raises:
        UsageError: fewer than one place, unjudged documents left out, no judgments apart, or a measure that no
            judgment narrows (Judged@k); else as of
            `joint_bounds` and `expectations_at_rate`.
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
        curve = settling_curve(copies, queue.query, queue.doc_ids, queue.draw_grades, draws)
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
        cls, copies: JudgedCopies, table: pd.DataFrame, documents: RankedDocuments, rate: Rate, depth: int
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
