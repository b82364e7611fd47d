"""From runs, measures and treatments to values: `evaluate`."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain

import numpy as np
import pandas as pd
import pyarrow as pa

from metrics.errors import UsageError
from metrics.evaluation.evaluation import (
    AS_READ,
    Evaluation,
    Policy,
    ScoringOptions,
    list_index,
    refuse_unbounded,
)
from metrics.measures import MeasureAt, RefinedGroups, parse
from metrics.measures.holes import Holes
from metrics.runs import Nested, Runs, Table, Tables
from metrics.runs.formats.frames import is_frame
from metrics.runs.from_paths import as_runs
from metrics.runs.stacks import OpenDocuments
from metrics.support.arrays import IntArray
from metrics.support.progress import begin_step
from metrics.support.wording import first_names
from metrics.ties import Ranking, Treatment, treatment
from metrics.ties.judgments import Unjudged
from metrics.ties.permutations import describe
from metrics.ties.ranking import PART

DEFAULT_MEASURES = ("RR", "Hits@1", "Hits@3", "Hits@10", "AP", "nDCG@10")
DEFAULT_TIES = ("input", "expected", "optimistic", "pessimistic")


def evaluate(
    runs: Runs | Tables | Nested | Mapping[str, Nested],
    measures: Sequence[str] | str | None = None,
    ties: Sequence[str] | str | None = None,
    *,
    qrels: Table | Nested | None = None,
    precision: str = "float64",
    missing: Policy = "zero",
    empty: Policy = "zero",
    relevant_from: float = 1,
    tiebreak_by: Sequence[str] = (),
    criteria: Sequence[str] = (),
    unjudged: Unjudged | None = None,
) -> Evaluation:
    """Score every list under every treatment of its ties; `score` returns only the means.

    Args:
        runs: what was ranked: as `read_runs` gives it, or a data frame with a row a document: query_id,
            doc_id, score, relevance, and reranker where there are several; or else what `read_runs` reads.
        measures: names such as `RR`, `Hits@3`, `nDCG@10` (`metrics.MEASURES`); None: RR, Hits@1, Hits@3,
            Hits@10, AP, nDCG@10.
        ties: names of treatments (`metrics.TREATMENTS`), or `random:SEED`; None: input, expected,
            optimistic, pessimistic. `lowest` and `highest` are the ends over all orders and all grades that
            unjudged documents may have, as `metrics.evaluation.holes.joint_bounds` gives them.
        qrels: judgments of runs that hold none: a data frame, a dictionary or a path.
        precision: how scores are compared: as read (float64), rounded (float32, float16, bfloat16,
            decimals:N), or tied within E of the highest of their group (within:E).
        missing: queries of the qrels that a run lacks count 0, or are left out.
        empty: queries with nothing relevant count 0, or are left out.
        relevant_from: smallest grade that counts as relevant, above 0.
        tiebreak_by: further score columns that split ties first, highest first.
        criteria: score columns that rank together instead of the score, such as `("score", "cost:asc")`: each
            list stands by non-dominated fronts, and a front is a tie.
        unjudged: documents that nobody judged are not relevant (`nonrelevant`, unless said otherwise), or left
            out of their lists (`leave_out`).

    Returns:
        The value of each list by each measure under each treatment, with means, deviations and findings.

    Raises:
        ReadError: the data frame cannot be read; names column and row.
        UsageError: a name or policy that does not exist, or judgments for runs that have theirs.
    """
    names = names_or_defaults(measures, ties)
    runs = as_runs(runs, qrels)
    options = ScoringOptions(
        precision,
        missing,
        empty,
        relevant_from,
        tuple(tiebreak_by),
        tuple(criteria),
        unjudged or AS_READ.unjudged,
    )
    return score_runs(runs, *names, options)


def score(
    frame: Runs | Tables | Nested | Mapping[str, Nested],
    measures: Sequence[str] | str | None = None,
    ties: Sequence[str] | str | None = None,
    *,
    qrels: Table | Nested | None = None,
) -> pd.DataFrame:
    """Return only the means, one row per measure; `evaluate` also keeps the value of every list.

    Args:
        frame: a row a document: query_id, doc_id, score, relevance, and reranker where there are several; or
            what else `read_runs` reads.
        measures: names as of `evaluate`.
        ties: names of treatments.
        qrels: judgments of a frame that holds none.

    Returns:
        reranker, measure, n (lists) and the mean under each treatment, `expected` (the tied value) first.
    """
    return evaluate(frame, measures, ties, qrels=qrels).summary(flat=True)


def names_or_defaults(
    measures: Sequence[str] | str | None, ties: Sequence[str] | str | None
) -> tuple[Sequence[str] | str, Sequence[str] | str]:
    """Return measures and treatments as named, else the usual; UsageError where a table stands for names."""
    for argument in (measures, ties):
        if isinstance(argument, Mapping) or is_frame(argument):
            raise UsageError(
                f"measures and ties are names, and this is a {type(argument).__name__}. Runs come first, "
                'judgments by name: metrics.evaluate(run, ["RR"], qrels=qrels).'
            )
    measures = DEFAULT_MEASURES if measures is None else measures
    return measures, default_ties(measures) if ties is None else ties


def default_ties(measures: Sequence[str] | str) -> Sequence[str]:
    """Return the usual treatments that are computed for all of the measures."""
    families = [parse(str(name)).measure.family for name in _each(measures)]
    return [name for name in DEFAULT_TIES if all(family.computes(treatment(name)) for family in families)]


def score_runs(
    runs: Runs, measures: Sequence[str] | str, ties: Sequence[str] | str, options: ScoringOptions
) -> Evaluation:
    """Score every list as `evaluate` does, its keywords given as one record.

    Args:
        runs: what was ranked.
        measures: names of measures.
        ties: names of treatments.
        options: how lists are scored.

    Returns:
        The evaluation, as of `evaluate`.

    Raises:
        UsageError: a name that does not exist.
    """
    parsed = tuple(dict.fromkeys(parse(str(name)) for name in _each(measures)))
    treatments = tuple(dict.fromkeys(treatment(str(name)) for name in _each(ties)))
    if not parsed or not treatments:
        raise UsageError("Name at least one measure and one treatment.")
    _refuse_noisy_keys(treatments, options)
    open_documents = _open_documents(runs, treatments, options)
    stacks = runs.matched_stacks
    n_judged = None if runs.qrels is None else len(runs.judged_pairs.queries)
    return _score(
        list(stacks.places),
        stacks.n_lists if n_judged is None else np.full(len(stacks.places), n_judged),
        _rankings(runs, n_judged or 0, options),
        parsed,
        treatments,
        options,
        open_documents,
    )


def _rankings(runs: Runs, n_judged: int, options: ScoringOptions) -> Iterator[Ranking]:
    """Yield all lists, reranker by reranker and a few at a time; whoever listens is told of each few."""
    n_scored = 0
    for stack in runs.matched_stacks.batches(PART, n_judged):
        for part in options.rankings(runs, stack):
            begin_step("Scoring", n_scored, len(runs.tables), first_names(stack.names, 1))
            yield part
            del part  # before the next is made
        n_scored += len(stack.names)


def _refuse_noisy_keys(treatments: Sequence[Treatment], options: ScoringOptions) -> None:
    """Raise a UsageError where further columns are to rank, too: noise leaves them no tie to split."""
    columns = ", ".join([*options.criteria, *options.tiebreak_by])
    for ties in treatments:
        if ties.noise is not None and columns:
            raise UsageError(
                f"{ties.name} is noise of the score, and noisy scores are never level: {columns} would have no "
                "say. Leave out criteria and tiebreak_by, or the noise."
            )


def _open_documents(
    runs: Runs, treatments: Sequence[Treatment], options: ScoringOptions
) -> OpenDocuments | None:
    """Return what nobody judged, where a treatment asks for bounds over judgments."""
    if not any(ties.bound for ties in treatments):
        return None
    refuse_unbounded(runs, options)
    return runs.open_documents


def _each(names: Sequence[str] | str) -> Sequence[str]:
    return [names] if isinstance(names, str) else names


def _score(
    rerankers: Sequence[str],
    n_lists: IntArray,
    rankings: Iterable[Ranking],
    measures: Sequence[MeasureAt],
    treatments: Sequence[Treatment],
    options: ScoringOptions,
    open_documents: OpenDocuments | None,
) -> Evaluation:
    """Score the lists of all rerankers, a few lists at a time."""
    cutoffs = sorted({measure.k for measure in measures if measure.k is not None})
    query_ids, descriptions, missing = [], [], []
    table, first = np.empty((len(measures) * len(treatments), int(n_lists.sum()))), 0
    for ranking in rankings:
        query_ids.append(ranking.query_ids)
        numbers = np.arange(first, first + ranking.n_lists)
        groups = RefinedGroups(ranking, open_documents and Holes.of(ranking, open_documents, numbers))
        values = chain.from_iterable(groups.values(measure, treatments) for measure in measures)
        for row, row_values in zip(table[:, first : first + ranking.n_lists], values, strict=True):
            row[:] = row_values
        first += ranking.n_lists
        descriptions.append(describe(ranking, cutoffs))
        missing.append(ranking.is_missing)
        del ranking, groups  # before the next part is made
    lists = {key: np.concatenate([part[key] for part in descriptions]) for key in descriptions[0]}
    is_missing, is_empty = np.concatenate(missing), lists["n_relevant"] == 0
    is_scored = ~((is_missing & (options.missing == "skip")) | (is_empty & (options.empty == "skip")))
    owner = np.repeat(np.arange(len(rerankers)), n_lists)
    queries = pa.chunked_array(query_ids)
    index = list_index(rerankers, owner[is_scored], queries.filter(pa.array(is_scored)))
    columns = pd.MultiIndex.from_product(
        [map(str, measures), [ties.name for ties in treatments]], names=["measure", "ties"]
    )
    counts = {
        "n_queries": n_lists,
        "n_missing": np.bincount(owner[is_missing], minlength=len(rerankers)),
        "n_empty": np.bincount(owner[is_empty], minlength=len(rerankers)),
        "n_scored": np.bincount(owner[is_scored], minlength=len(rerankers)),
    }
    return Evaluation(
        scores=pd.DataFrame(
            table.T if is_scored.all() else table.T[is_scored], index=index, columns=columns, copy=False
        ),
        lists=pd.DataFrame({key: column[is_scored] for key, column in lists.items()}, index=index),
        policies=pd.DataFrame(counts, index=pd.Index(rerankers, name="reranker")),
        measures=tuple(map(str, measures)),
        ties=tuple(ties.name for ties in treatments),
        options=options,
        skipped=list_index(rerankers, owner[~is_scored], queries.filter(pa.array(~is_scored))),
    )
