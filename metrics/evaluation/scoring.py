"""Score runs: tie groups → treatment → measure → mean."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from metrics.errors import UsageError
from metrics.evaluation.evaluation import Evaluation, ScoredLists
from metrics.measures import RefinedGroups, parse
from metrics.runs import Nested, Runs, Table, Tables
from metrics.runs.from_paths import as_runs
from metrics.runs.joining import no_relevance_error
from metrics.support.progress import begin_step
from metrics.ties import Ranking, treatment
from metrics.ties.options import AS_READ, EmptyPolicy, Policy, ScoringOptions, Unjudged

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
    empty: EmptyPolicy = "zero",
    relevant_from: float = 1,
    tiebreak_by: Sequence[str] = (),
    criteria: Sequence[str] = (),
    unjudged: Unjudged | None = None,
) -> Evaluation:
    """Score every list under every treatment of its ties; `score` returns only the means.

    Args:
        runs: the runs, as `read_runs` returns them or in any form it reads, such as a data frame with one row
            per document: query_id, doc_id, score, relevance, and reranker if there are several; or arrays
            (n_lists, n_docs) of scores by the names of their rerankers.
        measures: names such as `RR`, `Hits@3`, `nDCG@10` (`metrics.MEASURES`), or measures of ir_measures;
            None: RR, Hits@1, Hits@3, Hits@10, AP, nDCG@10.
        ties: names of treatments (`metrics.TREATMENTS`), or `random:SEED`; None: input, expected,
            optimistic, pessimistic.
        qrels: judgments for runs without relevance: a data frame, a dictionary, an array or a path.
        precision: how scores are compared: as read (float64), rounded (float32, float16, bfloat16,
            decimals:N), or tied within E of the highest of their group (within:E).
        missing: whether judged queries that a run lacks count 0 (`zero`) or are left out (`skip`).
        empty: whether queries without relevant documents count 0 (`zero`), count 1 in measures of relevance up
            to 1 (`one`, as in LightGBM and XGBoost), or are left out (`skip`).
        relevant_from: smallest relevant grade, above 0.
        tiebreak_by: further score columns that split ties first, highest first.
        criteria: score columns that rank together instead of the score, such as `("score", "cost:asc")`. Each
            list is ranked by non-dominated fronts, and the documents of a front are tied.
        unjudged: whether unjudged documents count as not relevant (`nonrelevant`, the default) or are left out
            of their lists (`leave_out`).

    Returns:
        The value of each list by each measure under each treatment, with means and standard deviations.

    Raises:
        ReadError: the runs cannot be read; the message names column and row.
        UsageError: a name or policy does not exist, or `qrels` is given for runs that hold judgments.
    """
    names = names_or_defaults(measures, ties)
    runs = as_runs(runs, qrels)
    if not runs.is_judged and runs.rerankers:
        raise no_relevance_error(runs.rerankers[0])
    further = tiebreak_by, criteria, unjudged or AS_READ.unjudged
    return score_runs(runs, *names, ScoringOptions(precision, missing, empty, relevant_from, *further))


def score(
    frame: Runs | Tables | Nested | Mapping[str, Nested],
    measures: Sequence[str] | str | None = None,
    ties: Sequence[str] | str | None = None,
    *,
    qrels: Table | Nested | None = None,
) -> pd.DataFrame:
    """Return only the means, one row per reranker and measure; `evaluate` also keeps the value of every list.

    Args:
        frame: the runs, as in `evaluate`.
        measures: names, as in `evaluate`.
        ties: names of treatments.
        qrels: judgments for a frame without relevance.

    Returns:
        reranker, measure, n (lists) and the mean under each treatment, `expected` (the tied value) first.
    """
    return evaluate(frame, measures, ties, qrels=qrels).summary(flat=True)


def names_or_defaults(
    measures: Any,  # noqa: ANN401 names, or a measure of ir_measures
    ties: Sequence[str] | str | None,
) -> tuple[Sequence[str] | str, Sequence[str] | str]:
    """Return measures and treatments, the defaults for None; UsageError where a table is given for names."""
    for argument in (measures, ties):
        if isinstance(argument, Mapping) or hasattr(argument, "__arrow_c_stream__"):
            raise UsageError(
                f"measures and ties must be names, but one of them is a {type(argument).__name__}. Pass the "
                'runs first and the judgments as qrels: metrics.evaluate(run, ["RR"], qrels=qrels).'
            )
    if measures is None:
        measures = DEFAULT_MEASURES
    elif not isinstance(measures, Iterable):
        measures = [measures]
    return measures, DEFAULT_TIES if ties is None else ties


def score_runs(
    runs: Runs, measures: Sequence[str] | str, ties: Sequence[str] | str, options: ScoringOptions
) -> Evaluation:
    """Score every list as `evaluate` does, with its keywords in one record.

    Raises:
        UsageError: a name that does not exist.
    """
    measures, ties = ([value] if isinstance(value, str) else value for value in (measures, ties))
    parsed = list(dict.fromkeys(map(parse, measures)))
    treatments = list(dict.fromkeys(treatment(str(name)) for name in ties))
    if not parsed or not treatments:
        raise UsageError("Name at least one measure and one treatment.")
    cutoffs = sorted({measure.k for measure in parsed if measure.k is not None})
    stacks = runs.matched_stacks
    rerankers = list(stacks.places)
    if runs.qrels is None:
        queries, n_lists = [stack.pairs.queries for stack in stacks.stacks], stacks.n_lists
    else:
        queries = [runs.judged_pairs.queries] * len(rerankers)
        n_lists = np.full(len(rerankers), len(runs.judged_pairs.queries))
    owner = np.repeat(np.arange(len(rerankers)), n_lists)
    table = np.empty((len(parsed) * len(treatments), len(owner)))
    descriptions, missing, first = [], [], 0
    for ranking in Ranking.parts(runs, options):
        n_part = ranking.judgments.n_lists
        if n_part:
            begin_step("Scoring", int(owner[first]), len(rerankers), rerankers[owner[first]])
        groups = RefinedGroups(ranking)
        values = chain.from_iterable(groups.values(measure, treatments) for measure in parsed)
        for row, row_values in enumerate(values):
            table[row, first : first + n_part] = row_values
        first += n_part
        descriptions.append(ranking.describe(cutoffs))
        missing.append(ranking.is_missing)
        del ranking, groups  # before the next part is made
    columns_of_lists = {key: np.concatenate([part[key] for part in descriptions]) for key in descriptions[0]}
    is_missing, is_empty = np.concatenate(missing), columns_of_lists["n_relevant"] == 0
    if options.empty == "one":
        best = [0.0 if ties.spread else 1.0 for _ in parsed for ties in treatments]
        has_best = np.repeat([measure.measure.is_share_of_best for measure in parsed], len(treatments))
        table[np.ix_(has_best, is_empty)] = np.array(best)[has_best, None]
    is_scored = ~((is_missing & (options.missing == "skip")) | (is_empty & (options.empty == "skip")))
    kinds = {
        "n_queries": np.ones_like(is_scored),
        "n_missing": is_missing,
        "n_empty": is_empty,
        "n_scored": is_scored,
    }
    names, ties = tuple(map(str, parsed)), tuple(ties.name for ties in treatments)
    query_ids = pa.chunked_array(queries, pa.string())
    scored = ScoredLists(rerankers, owner, query_ids, names, ties, table, columns_of_lists, kinds)
    return Evaluation.of(scored, options)
