"""Which unjudged documents to judge next: those whose judgments narrow the joint bounds of the means most."""

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import pyarrow as pa

from metrics.errors import UsageError
from metrics.evaluation import AS_READ, EQUAL, ScoringOptions
from metrics.evaluation.holes import RankedDocuments
from metrics.evaluation.holes.expectation import DEPTH
from metrics.evaluation.holes.rates import Rate
from metrics.measures import MeasureAt, parse
from metrics.runs import Runs
from metrics.studies.leaderboard.holes import can_narrow
from metrics.studies.leaderboard.judging.candidates import open_documents
from metrics.studies.leaderboard.judging.copies import (
    JudgedCopies,
    bound_widths,
    judged_below,
    list_weights,
    narrowings,
)
from metrics.studies.leaderboard.judging.curve import settling_curve
from metrics.support.arrays import FloatArray, IntArray

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
