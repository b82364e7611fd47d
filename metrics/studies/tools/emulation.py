"""What other software would report for the same files, and why that is not the tied value."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from metrics.evaluation import Evaluation, Policy, ScoringOptions, score_runs
from metrics.measures import MeasureAt, parse
from metrics.runs import Runs
from metrics.studies.tools.refusals import ToolInput
from metrics.studies.tools.rules import Rule, Tool
from metrics.studies.tools.tools import TOOLS
from metrics.studies.tools.views import View, grades, only_queries
from metrics.support.arrays import FloatArray
from metrics.ties.precision import runs_at_precision

_EQUAL = 1e-12
"""Values of one list that differ by less are one value."""
_COLUMNS = ("tool", "version", "measure", "spelling", "reranker", "value", "tied", "question", "refusal", "why")


def emulate(
    runs: Runs,
    measures: Sequence[str],
    tools: Iterable[Tool] | None = None,
    *,
    precision: str = "float64",
    missing: Policy = "zero",
    empty: Policy = "zero",
    relevant_from: float = 1,
    tiebreak_by: Sequence[str] = (),
    queries: Collection[str] | None = None,
) -> pd.DataFrame:
    """Return what each tool would report for each measure it has, beside the tied value.

    A tool is used as its options allow: with the smallest relevant grade given (`trec_eval -l`), on files
    that hold scores rounded as given. Queries that a run lacks and those with nothing relevant are
    treated by its own rule.

    Args:
        runs: what was ranked.
        measures: names such as `RR`, `nDCG-linear@10`.
        tools: which to ask (`metrics.TOOLS`); None for all.
        precision: how scores are rounded before they are written for the tool; near ties get one score.
        missing: what the tied value does about queries of the qrels that a run lacks.
        empty: what the tied value does about queries with nothing relevant.
        relevant_from: smallest grade that counts as relevant, above 0.
        tiebreak_by: further score columns that split ties of the tied value; no tool reads them.
        queries: those asked about; None for all.

    Returns:
        tool, version, measure, spelling (in the tool), reranker, value (its mean, unrounded; NaN where it
        gives none that is certain), tied (our expected mean), question (that the tool answers instead of
        ours; else empty), refusal (why there is no value; else empty), why (they differ).
    """
    options = ScoringOptions(precision, missing, empty, relevant_from, tuple(tiebreak_by))
    return emulate_runs(runs, measures, options, TOOLS if tools is None else tools, queries)


def emulate_runs(
    runs: Runs,
    measures: Sequence[str],
    options: ScoringOptions,
    tools: Iterable[Tool] = TOOLS,
    queries: Collection[str] | None = None,
) -> pd.DataFrame:
    """Return what `emulate` does, its keywords given as one record.

    Args:
        runs: what was ranked.
        measures: names of measures.
        options: how lists are scored.
        tools: which to ask.
        queries: those asked about; None for all.
    """
    runs = runs if queries is None else only_queries(runs, queries)
    measure_list = list(dict.fromkeys(map(parse, measures)))
    ours = score_runs(runs, [str(measure) for measure in measure_list], ["expected"], options)
    uses = [
        (tool, measure, rule)
        for tool in tools
        for measure in measure_list
        if (rule := tool.rule(measure, options.relevant_from))
    ]
    boards = _score_by_policy(runs_at_precision(runs, options.precision), [rule for *_, rule in uses], options)
    judged = grades(runs)
    tied = {name: ours.means(name)["expected"] for name in ours.measures}
    rows = []
    our_lists = {name: ours.only([name]).lists.index for name in runs.rerankers}
    for tool, measure, rule in uses:
        question = _question(measure, rule, options, judged)
        board = boards[rule.policy(options.relevant_from)]
        for reranker in runs.rerankers:
            result = board.value(rule, reranker, int(ours.policies.loc[reranker, "n_missing"]))
            questions = [question, _other_queries(result.lists, our_lists[reranker])]
            rows.append(
                {
                    "tool": tool.name,
                    "version": tool.version,
                    "measure": str(measure),
                    "spelling": rule.spelling,
                    "reranker": reranker,
                    "value": result.value,
                    "tied": tied[str(measure)][reranker],
                    "question": "" if result.refusal else ", ".join(filter(None, questions)),
                    "refusal": result.refusal,
                    "why": rule.why,
                }
            )
    return pd.DataFrame(rows, columns=list(_COLUMNS))


def _question(measure: MeasureAt, rule: Rule, options: ScoringOptions, judged: FloatArray) -> str:
    """Return what a tool answers instead of what was asked; empty where it answers that."""
    level = options.relevant_from
    if options.unjudged == "leave_out":
        return "lists with their unjudged documents"
    if options.criteria:
        return "a ranking by the score alone"
    if options.tiebreak_by:
        return "ties by the score alone"
    if measure.measure.family.by_relevance:
        is_same = bool(rule.level) or np.array_equal(judged >= 1, judged >= level)
        return "" if is_same else "relevant from grade 1"
    gaining = judged[judged > 0]
    is_same = not rule.is_binary or (len(gaining) <= 1 and bool((gaining >= level).all()))
    return "" if is_same else "relevant or not, without grades"


def _other_queries(theirs: pd.MultiIndex, ours: pd.MultiIndex) -> str:
    """Return that a tool averages over other lists than we do; empty where it does not, or scores none."""
    if not len(theirs) or (len(theirs) == len(ours) and theirs.isin(ours).all()):
        return ""
    return f"a mean over other queries ({len(theirs):,} instead of {len(ours):,})"


class _ToolValue(NamedTuple):
    """What a tool makes of one reranker.

    Attributes:
        value: its mean; NaN where it gives none that is certain.
        refusal: why there is none.
        lists: those it averages over.
    """

    value: float
    refusal: str
    lists: pd.MultiIndex


class _ToolBoard(NamedTuple):
    """What tools of one policy see, and how it scores.

    Attributes:
        runs: as they see them.
        evaluations: of their lists, by reranker.
    """

    runs: Runs
    evaluations: Mapping[str, Evaluation]

    def value(self, rule: Rule, reranker: str, n_missing: int) -> _ToolValue:
        """Return the mean a rule gives, or why there is none, with `n_missing` judged queries without a row."""
        part = self.evaluations[reranker]
        n_emptied = int(part.policies["n_missing"].iloc[0]) - n_missing
        is_counted = rule.counts(part.lists)
        lists = part.lists[is_counted]
        tool_input = ToolInput(self.runs, reranker, lists, n_missing, n_emptied)
        for refusal in rule.refusals:
            if refusal.applies(tool_input):
                return _ToolValue(np.nan, refusal.reason, lists.index)
        values = part.scores.loc[is_counted, rule.computed]
        if not len(values):
            return _ToolValue(np.nan, "it scores no list", lists.index)
        if rule.stable is not None:
            long = (lists["n_docs"] > rule.stable).to_numpy()
            spread = (values["optimistic"] - values["pessimistic"]).to_numpy()[long]
            if (spread > _EQUAL).any():
                return _ToolValue(np.nan, rule.cases_without_number[-1], lists.index)
        return _ToolValue(float(values[rule.treatment].mean()), "", lists.index)


def _score_by_policy(
    runs: Runs, rules: Sequence[Rule], options: ScoringOptions
) -> dict[tuple[View, ScoringOptions], _ToolBoard]:
    """Return the scores of rules by policy: one evaluation serves all rules of one policy."""
    level = options.relevant_from
    viewed = {view: view(runs, level) for view in dict.fromkeys(rule.view for rule in rules)}
    boards = {}
    for policy in dict.fromkeys(rule.policy(level) for rule in rules):
        alike = [rule for rule in rules if rule.policy(level) == policy]
        names = [rule.computed for rule in alike]
        treatments = [name for rule in alike for name in rule.treatments]
        view, scoring = policy
        evaluation = score_runs(viewed[view], names, treatments, scoring)
        evaluations = {reranker: evaluation.only([reranker]) for reranker in viewed[view].rerankers}
        boards[policy] = _ToolBoard(viewed[view], evaluations)
    return boards
