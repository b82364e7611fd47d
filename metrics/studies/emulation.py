"""Emulate other software: what each tool reports for the same files, and why that is not the tied value."""

from collections.abc import Collection, Iterable, Sequence
from functools import reduce
from typing import Unpack

import numpy as np
import pandas as pd

from metrics.evaluation import AS_READ, EQUAL, Evaluation, ScoringKeywords, ScoringOptions, score_runs
from metrics.measures import MeasureAt, parse
from metrics.runs import Runs
from metrics.studies.prose import Prose, Strong, decimal
from metrics.studies.tool_rules import Rule, Tool, ToolInput, View, binarise, grades, only_queries
from metrics.studies.tools import TOOLS
from metrics.support.arrays import FloatArray
from metrics.support.wording import describe_part, first_names
from metrics.ties.options import runs_at_precision

_COLUMNS = ("tool", "version", "measure", "spelling", "reranker", "value", "tied", "question", "refusal", "why")


def emulate(
    runs: Runs,
    measures: Sequence[str],
    tools: Iterable[Tool] | None = None,
    *,
    queries: Collection[str] | None = None,
    **options: Unpack[ScoringKeywords],
) -> pd.DataFrame:
    """Return what each tool would report for each measure it has, next to the tied value.

    A tool runs with the smallest relevant grade given, if it has such an option (`trec_eval -l`), on files
    whose scores are rounded as given. Its own rule decides about missing queries and queries without
    relevant documents.

    Args:
        runs: the rankings.
        measures: names such as `RR`, `nDCG-linear@10`.
        tools: tools to emulate (`metrics.TOOLS`); None for all.
        queries: queries to average over; None for all.
        options: how the tied value is scored, as for `evaluate`. Tools get scores of this `precision`, and
            `relevant_from`; the other options do not change their values.

    Returns:
        tool, version, measure, spelling (in the tool), reranker, value (its unrounded mean; NaN if it
        gives no certain number), tied (our tied mean), question (what the tool measures instead, or empty),
        refusal (why there is no value, or empty), why (the values differ).
    """
    return emulate_runs(runs, measures, ScoringOptions(**options), TOOLS if tools is None else tools, queries)


def emulate_runs(
    runs: Runs,
    measures: Sequence[str],
    options: ScoringOptions,
    tools: Iterable[Tool] = TOOLS,
    queries: Collection[str] | None = None,
) -> pd.DataFrame:
    """Emulate tools like `emulate`, with the options in one record."""
    runs = runs if queries is None else only_queries(runs, queries)
    level = options.relevant_from
    measure_list = list(dict.fromkeys(map(parse, measures)))
    ours = score_runs(runs, [str(measure) for measure in measure_list], ["expected"], options)
    uses = [
        (tool, measure, rule)
        for tool in tools
        for measure in measure_list
        if (rule := tool.rule(measure, level))
    ]
    rounded_runs = runs_at_precision(runs, options.precision)
    viewed, boards = _score_by_policy(rounded_runs, [rule for *_, rule in uses], level)
    judged = grades(runs)
    tied = {name: ours.means(name)["expected"] for name in ours.measures}
    our_lists = {name: ours.only([name]).lists.index for name in runs.rerankers}
    rows = []
    for tool, measure, rule in uses:
        question = _question(measure, rule, options, judged)
        evaluations = boards[rule.policy(level)]
        for reranker in runs.rerankers:
            n_missing = int(ours.policies.loc[reranker, "n_missing"])
            value, refusal, lists = _tool_value(
                rule, viewed[rule.view], reranker, evaluations[reranker], n_missing
            )
            questions = [question, _other_queries(lists, our_lists[reranker])]
            question_text = "" if refusal else ", ".join(filter(None, questions))
            figures = reranker, value, tied[str(measure)][reranker]
            names = tool.name, tool.version, str(measure), rule.spelling
            rows.append((*names, *figures, question_text, refusal, rule.why))
    return pd.DataFrame(rows, columns=list(_COLUMNS))


def _score_by_policy(
    runs: Runs, rules: Sequence[Rule], level: float
) -> tuple[dict[View, Runs], dict[tuple[View, ScoringOptions], dict[str, Evaluation]]]:
    """Return view → the runs as tools see them, and policy → the evaluation of each reranker."""
    by_policy: dict[tuple[View, ScoringOptions], list[Rule]] = {}
    for rule in rules:
        by_policy.setdefault(rule.policy(level), []).append(rule)
    viewed = {view: reduce(lambda changed, step: step(changed, level), view, runs) for view, _ in by_policy}
    boards = {}
    for (view, options), alike in by_policy.items():
        treatments = [name for rule in alike for name in rule.treatments]
        evaluation = score_runs(viewed[view], [rule.computed for rule in alike], treatments, options)
        boards[view, options] = {name: evaluation.only([name]) for name in runs.rerankers}
    return viewed, boards


def _tool_value(
    rule: Rule, tool_runs: Runs, reranker: str, evaluation: Evaluation, n_missing: int
) -> tuple[float, str, pd.MultiIndex]:
    """Return the mean that a rule gives, or NaN and the reason, and the lists it averages over."""
    n_emptied = int(evaluation.policies["n_missing"].iloc[0]) - n_missing
    is_counted = rule.counts(evaluation.lists)
    lists, values = evaluation.lists[is_counted], evaluation.scores.loc[is_counted, rule.computed]
    tool_input = ToolInput(tool_runs, reranker, lists, n_missing, n_emptied)
    reasons = [refusal.reason for refusal in rule.refusals if refusal.applies(tool_input)]
    if not len(values):
        reasons.append("the tool scores no list")
    elif rule.stable is not None and not reasons:
        width = (values["optimistic"] - values["pessimistic"])[lists["n_docs"] > rule.stable]
        reasons = [rule.cases_without_number[-1]] if (width > EQUAL).any() else []
    value = np.nan if reasons else float(values[rule.treatment].mean())
    return value, next(iter(reasons), ""), lists.index


def _question(measure: MeasureAt, rule: Rule, options: ScoringOptions, judged: FloatArray) -> str:
    """Describe what a tool measures instead of what was asked; empty if it measures that."""
    level = options.relevant_from
    if options.unjudged == "leave_out":
        return "lists that keep their unjudged documents"
    if options.criteria:
        return "a ranking by the score alone, without further criteria"
    if options.tiebreak_by:
        return "ties of the score alone, without the columns of tiebreak_by"
    if measure.measure.family.by_relevance:
        is_same = bool(rule.level) or np.array_equal(judged >= 1, judged >= level)
        return "" if is_same else "relevant from grade 1"
    gaining = judged[judged > 0]
    is_same = binarise not in rule.view or (len(gaining) <= 1 and bool((gaining >= level).all()))
    return "" if is_same else "binary relevance, without grades"


def _other_queries(theirs: pd.MultiIndex, ours: pd.MultiIndex) -> str:
    if not len(theirs) or (len(theirs) == len(ours) and theirs.isin(ours).all()):
        return ""
    return f"a mean over different queries ({len(theirs):,} instead of {len(ours):,})"


_EQUAL_VALUES, _EQUAL_SHARE = 5e-5, 0.005
"""Values agree to four decimals and to half a percent of the largest."""
_SAME_GAIN = 1e-9
"""Largest difference of two nDCGs with one gain, from rounding."""
_MOST_NAMES = 3
"""Most rerankers named in a sentence about missing numbers."""


def tool_values(
    runs: Runs,
    measure: str,
    rerankers: Sequence[str],
    options: ScoringOptions = AS_READ,
    queries: Collection[str] | None = None,
) -> pd.DataFrame:
    """Return a table like that of `emulate` for one measure under every name it has in the tools.

    nDCG includes nDCG-linear, which most tools call nDCG. RR includes RR@k to the end of the longest list,
    for tools that have no MRR without a cut-off.
    """
    runs, names = runs.arranged({name: name for name in rerankers}), [measure]
    if parse(measure).measure.name == "nDCG":
        names.append(measure.replace("nDCG", "nDCG-linear"))
    elif measure == "RR":
        depth = max(np.bincount(runs.pairs(name).query, minlength=1).max() for name in rerankers)
        names.append(f"RR@{max(depth, 1)}")
    values = emulate_runs(runs, names, options, queries=queries)
    if measure != "RR":
        return values
    is_rr = values["measure"] == measure
    return values[is_rr | ~values["tool"].isin(values["tool"][is_rr])].reset_index(drop=True)


def comparable_values(values: pd.DataFrame, measure: str) -> pd.DataFrame:
    """Keep one value per tool and reranker that measures the same as the tied value.

    nDCG-linear is the same as nDCG if both gains give equal values, as for binary relevance. RR@k to the end
    of every list is the same as RR.
    """
    values = reported_values(values, measure)
    return values[values["question"] == ""]


def reported_values(values: pd.DataFrame, measure: str) -> pd.DataFrame:
    """Keep one value per tool and reranker, also where `question` says that it measures something else."""
    values = _of_measure(values, measure).dropna(subset="value")
    comparable_first = values.loc[(values["question"] != "").sort_values(kind="stable").index]
    return comparable_first.drop_duplicates(["tool", "reranker"]).sort_index()


def question_text(values: pd.DataFrame) -> str:
    """Say which tools measure something else, and what; empty if none does."""
    other = values[values["question"] != ""].groupby("question", sort=False)["tool"].unique()
    return " ".join(f"Grey, {first_names(list(tools))}: {question}." for question, tools in other.items())


def _of_measure(values: pd.DataFrame, measure: str) -> pd.DataFrame:
    if measure == "RR":
        return values
    own, others = values[values["measure"] == measure], values[values["measure"] != measure]
    pairs = own.merge(others, on=["tool", "reranker"])[["value_x", "value_y"]].dropna().to_numpy()
    is_same = len(pairs) > 0 and np.allclose(pairs[:, 0], pairs[:, 1], rtol=0, atol=_SAME_GAIN)
    return pd.concat([own, others]) if is_same else own


def by_tool(values: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each tool and spelling: tool, version, spelling, why (its value differs)."""
    groups = values.groupby(["tool", "version", "spelling"], sort=False)
    return groups[["reranker", "question", "refusal", "why"]].apply(_explanation).rename("why").reset_index()


def by_reranker(values: pd.DataFrame) -> pd.DataFrame:
    """Pivot `tool_values` to one row per reranker and one column per group of tools that agree on all of them.

    A column is the tuple of its tools, with the spelling of tools that have several. NaN means no number.
    """
    wide = values.pivot_table("value", "reranker", ["tool", "spelling"], sort=False)
    wide = wide.reindex(values["reranker"].unique())
    tools = wide.columns.get_level_values("tool")
    agreeing: dict[tuple[float, ...], list[tuple[str, str]]] = {}
    for column in wide:
        agreeing.setdefault(tuple(wide[column].round(12).fillna(-1)), []).append(column)
    names = {
        columns[0]: tuple(
            f"{tool} · {spelling}" if (tools == tool).sum() > 1 else tool for tool, spelling in columns
        )
        for columns in agreeing.values()
    }
    groups = wide[list(names)]
    groups.columns = pd.Index(list(names.values()), tupleize_cols=False)
    return groups


def _explanation(rows: pd.DataFrame) -> str:
    sentences = []
    has_number = rows["refusal"] == ""
    for verb, column, cases in (
        ("No number", "refusal", rows[~has_number]),
        ("Measures something else", "question", rows[has_number & (rows["question"] != "")]),
    ):
        for reason, names in cases.groupby(column, sort=False)["reranker"]:
            whom = f" for {first_names(list(names), _MOST_NAMES)}"
            sentences.append(f"{verb}{whom if len(names) < len(rows) else ''}: {reason}.")
    return " ".join([*sentences, str(rows["why"].iloc[0])])


def tool_finding(values: pd.DataFrame, measure: str) -> Prose:
    """Say how much tools disagree on one reranker at most, and whether they name the same leader."""
    comparable = comparable_values(values, measure)
    mean = parse(measure).traditional
    if len(set(comparable["tool"])) <= 1:
        return (f"Fewer than two tools compute {mean} exactly as defined here.",)
    ends = comparable.groupby("reranker", sort=False)["value"].agg(["min", "max"])
    width = ends["max"] - ends["min"]
    if (width <= np.maximum(EQUAL, np.minimum(_EQUAL_VALUES, _EQUAL_SHARE * ends["max"]))).all():
        n_values, n_tools = comparable["tool"].value_counts(), _of_measure(values, measure)["tool"].nunique()
        n_complete = int((n_values == n_values.max()).sum())
        if n_complete == n_tools:
            return Strong("All tools agree"), f" on {mean}."
        agreeing = describe_part(n_complete, n_tools, "tool", "agree")
        return Strong(agreeing), f" on {mean}. The others give no number for some rerankers."
    widest = str(width.idxmax())
    own = comparable[comparable["reranker"] == widest]
    low, high = (own.loc[own["value"].agg(end)] for end in ("idxmin", "idxmax"))
    return (
        *("From the same file, ", Strong(widest), f" has {mean} "),
        *(Strong(decimal(low["value"], 4)), f" in {low['tool']} and "),
        *(Strong(decimal(high["value"], 4)), f" in {high['tool']}.{_leaders(values.dropna(subset='value'))}"),
    )


def _leaders(values: pd.DataFrame) -> str:
    n_rerankers, columns = values["reranker"].nunique(), ["tool", "spelling"]
    complete = values.groupby(columns, sort=False).filter(lambda rows: len(rows) == n_rerankers)
    if n_rerankers <= 1 or len(set(complete["tool"])) <= 1:
        return ""
    n_leaders = complete.loc[complete.groupby(columns, sort=False)["value"].idxmax(), "reranker"].nunique()
    if n_leaders == 1:
        return " The tools with a number for every reranker rank the same reranker first."
    return f" The tools disagree: {n_leaders} rerankers rank first in some tool."
