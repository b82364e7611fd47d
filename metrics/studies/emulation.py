"""What other software would report for the same files, tool by tool, and why that is not the tied value."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from metrics.evaluation import AS_READ, EQUAL, Evaluation, Policy, ScoringOptions, score_runs
from metrics.measures import MeasureAt, parse
from metrics.runs import Runs
from metrics.studies.prose import Prose, Strong, and_more, decimal
from metrics.studies.tool_rules import Rule, Tool, ToolInput, View, grades, only_queries
from metrics.studies.tools import TOOLS, find_tool
from metrics.support.arrays import FloatArray
from metrics.support.wording import count_of
from metrics.ties import treatment
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
    """Return what `emulate` does, its keywords given as one record."""
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


_EQUAL_VALUES, _EQUAL_SHARE = 5e-5, 0.005
"""Values that agree: to four decimals, and to half a percent of the largest."""
_SAME_GAIN = 1e-9
"""Difference of two nDCGs with one gain that rounding makes."""
_MOST_NAMES = 3
"""Rerankers without a number that are named."""


def tool_values(
    runs: Runs,
    measure: str,
    rerankers: Sequence[str],
    options: ScoringOptions = AS_READ,
    queries: Collection[str] | None = None,
) -> pd.DataFrame:
    """Return what each tool reports for a measure, by whatever name it has it.

    For nDCG that is also nDCG-linear, which most tools call nDCG; for RR also RR@k down to the end of the
    longest list, of tools that have no MRR without a cut-off.

    Args:
        runs: what was ranked.
        measure: name of a measure.
        rerankers: whose values, in this order.
        options: how lists are scored: what the tools are asked.
        queries: those asked about; None for all.

    Returns:
        as `emulate`; rerankers as given.
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
    is_known = (values["measure"] == measure) | ~values["tool"].isin(
        values["tool"][values["measure"] == measure]
    )
    return values[is_known].reset_index(drop=True)


def comparable_values(values: pd.DataFrame, measure: str) -> pd.DataFrame:
    """Keep the values that answer what the tied value of a measure answers, one of each tool and reranker.

    nDCG-linear answers what nDCG does where both gains give one value, as for relevant or not; RR@k down to the
    end of every list answers what RR does.
    """
    values = _of_measure(values, measure)
    has_answer = values["value"].notna() & (values["question"] == "")
    return values[has_answer].drop_duplicates(["tool", "reranker"]).sort_index()


def _of_measure(values: pd.DataFrame, measure: str) -> pd.DataFrame:
    """Return the rows of a measure, and after them those of another name of it, or gain that gives the same."""
    is_own = values["measure"] == measure
    own, others = values[is_own], values[~is_own]
    if measure == "RR":
        return values
    pairs = own.merge(others, on=["tool", "reranker"])[["value_x", "value_y"]].dropna().to_numpy()
    is_same = len(pairs) > 0 and np.allclose(pairs[:, 0], pairs[:, 1], rtol=0, atol=_SAME_GAIN)
    return pd.concat([own, others]) if is_same else own


def by_tool(values: pd.DataFrame) -> pd.DataFrame:
    """Arrange the values in a row a tool and spelling, with a column a reranker.

    Returns:
        tool, version, spelling, one column a reranker (NaN where there is no number; with a space after a
        name that is another column's), why.
    """
    keys = ["tool", "version", "spelling"]
    rows = values.drop_duplicates([*keys, "reranker"])
    rows = rows.assign(reranker=[name + " " * (name in {*keys, "why"}) for name in rows["reranker"]])
    wide = rows.pivot_table("value", keys, "reranker")
    order = pd.MultiIndex.from_frame(rows[keys].drop_duplicates())
    wide = wide.reindex(index=order, columns=rows["reranker"].unique())
    reasons = rows.groupby(keys, sort=False)[["reranker", "question", "refusal", "why"]].apply(_explanation)
    return wide.assign(why=reasons.reindex(wide.index)).rename_axis(columns=None).reset_index()


def by_reranker(values: pd.DataFrame) -> pd.DataFrame:
    """Arrange `tool_values` in a row a reranker, with a column for all tools that agree on every reranker.

    Returns:
        index reranker; a column named by the tools, with their spelling where a tool has several; NaN where
        there is no number.
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
    """Return where a row has no number, what it answers instead, and why it differs."""
    sentences = []
    has_number = rows["refusal"] == ""
    for verb, column, cases in (
        ("No number", "refusal", rows[~has_number]),
        ("Answers another question", "question", rows[has_number & (rows["question"] != "")]),
    ):
        for reason, names in cases.groupby(column, sort=False)["reranker"]:
            whom = f" for {', '.join(names[:_MOST_NAMES])}{and_more(len(names) - _MOST_NAMES)}"
            sentences.append(f"{verb}{whom if len(names) < len(rows) else ''}: {reason}.")
    return " ".join([*sentences, str(rows["why"].iloc[0])])


def tool_finding(values: pd.DataFrame, measure: str) -> Prose:
    """Say how far tools are apart on the reranker they disagree on most, and whether they name another leader.

    Args:
        values: as `tool_values` returns it.
        measure: our measure.
    """
    leaders = _leaders(values.dropna(subset="value"))
    all_values = _of_measure(values, measure).drop_duplicates(["tool", "reranker"])
    values = comparable_values(values, measure)
    if len(set(values["tool"])) <= 1:
        return (f"No two tools here compute {measure} as it is scored here, in a way that their code tells.",)
    ends = values.groupby("reranker", sort=False)["value"].agg(["min", "max"])
    width = ends["max"] - ends["min"]
    widest = str(width.idxmax())
    if (width <= np.maximum(EQUAL, np.minimum(_EQUAL_VALUES, _EQUAL_SHARE * ends["max"]))).all():
        return _agreement(values, all_values, measure)
    low, high = (
        values.loc[values[values["reranker"] == widest]["value"].agg(end)] for end in ("idxmin", "idxmax")
    )
    return (
        "The same file gives ",
        Strong(widest),
        f" {measure} ",
        Strong(decimal(low["value"], 4)),
        f" in {low['tool']} and ",
        Strong(decimal(high["value"], 4)),
        f" in {high['tool']}.{leaders}",
    )


def _agreement(values: pd.DataFrame, all_values: pd.DataFrame, measure: str) -> Prose:
    """Say that tools report the same, by which order of ties, and how many report nothing."""
    n_values = values.groupby("tool", sort=False)["reranker"].size()
    tools = n_values.index[n_values == n_values.max()]
    uses = values.loc[values["tool"].isin(tools), ["tool", "measure"]].drop_duplicates().to_numpy()
    rules = [find_tool(tool).rule(parse(name)) for tool, name in uses]
    orders = {treatment(rule.treatment).order for rule in rules if rule}
    is_moved = ((values["value"] - values["tied"]).abs() > EQUAL).any()
    order = f" All of them break ties by {orders.pop()}." if is_moved and len(orders) == 1 else ""
    n_silent = all_values["tool"].nunique() - len(tools)
    verb = "gives" if n_silent == 1 else "give"
    silent = f" {count_of(n_silent, 'other')} {verb} no number, or not for every reranker." * (n_silent > 0)
    subject = f"The {len(tools)} tools with a number say" if n_silent else "Every tool says"
    return Strong(f"{subject} the same "), f"of {measure} here.{order}{silent}"


def _leaders(values: pd.DataFrame) -> str:
    """Say whether all tools of the table, in each spelling of theirs, name one leader."""
    rerankers, columns = len(set(values["reranker"])), ["tool", "spelling"]
    complete = values.groupby(columns, sort=False).filter(lambda rows: len(rows) == rerankers)
    if rerankers <= 1 or len(set(complete["tool"])) <= 1:
        return ""
    leaders = complete.loc[complete.groupby(columns, sort=False)["value"].idxmax(), "reranker"].nunique()
    subject = "All" if len(complete) == len(values) else "All with a number for every reranker"
    return f" {subject} name the same leader." if leaders == 1 else f" They name {leaders} different leaders."
