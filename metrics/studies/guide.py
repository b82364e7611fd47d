"""Compute the Guide's worked example and its tables."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import factorial

import pandas as pd

from metrics.evaluation import evaluate
from metrics.measures import MEASURES, Measure, MeasureAt, parse, side_by_side, with_gains
from metrics.runs import Runs
from metrics.studies.leaderboard import tie_answers
from metrics.studies.one_list import ladder
from metrics.studies.permutations import PossibleValues, possible_values
from metrics.studies.prose import Prose, Strong
from metrics.studies.tool_rules import Rule, Tool
from metrics.ties import Ranking
from metrics.ties.treatments import treatments_by_name


@dataclass(frozen=True)
class WorkedExample:
    """One list with one tie, and its values.

    Attributes:
        tied: documents in the tie: n.
        relevant: relevant documents in the tie: r.
        k: cut-off of the hits.
        documents: the `ladder` of the list.
        possible: its possible values of RR, beside the hits.
        orderings: number of orders.
        best: largest reciprocal rank in any order.
        hits: TMHits@k.
        answers: name of the mean → its value: MRR in file order, MTRR, and the measures that settle the ties of
            RR by rules of their own: PRR is the smallest reciprocal rank, GRAG-RR one over the mean rank.
    """

    tied: int
    relevant: int
    k: int
    documents: pd.DataFrame
    possible: PossibleValues
    orderings: int
    best: float
    hits: float
    answers: Mapping[str, float]


def worked_example(
    tied: int = 5, relevant: int = 1, above: int = 0, k: int = 3, below: int = 0
) -> WorkedExample:
    """Score a list of one tie whose relevant documents (1 to `tied`) come last in the file."""
    steps = [*range(above, 0, -1), *[0] * tied, *range(-1, -below - 1, -1)]
    scores = [0.5 + step / (2 * len(steps)) for step in steps]
    grades = [0] * (above + tied - relevant) + [1] * relevant + [0] * below
    documents = [f"d{place}" for place in range(1, len(steps) + 1)]
    table = {"reranker": "example", "query_id": "q1", "doc_id": documents, "score": scores, "relevance": grades}
    runs = Runs.from_frame(pd.DataFrame(table))
    ranking = Ranking.of(runs, "example")
    measures = [*map(str, side_by_side(parse("RR"))), f"Hits@{k}"]
    evaluation = evaluate(runs, measures, ["expected", "optimistic", "input"])
    value = evaluation.scores.iloc[0]
    return WorkedExample(
        tied=tied,
        relevant=relevant,
        k=k,
        documents=ladder(ranking, "q1"),
        possible=possible_values(ranking, "q1", "RR", "input", f"Hits@{k}"),
        orderings=factorial(tied),
        best=float(value["RR", "optimistic"]),
        hits=float(value[f"Hits@{k}", "expected"]),
        answers={
            str(name): float(mean) for name, mean in tie_answers(evaluation, "RR", "input").iloc[0].items()
        },
    )


def worked_finding(example: WorkedExample, orderings: str) -> Prose:
    """State the effect of the tie in the example; `orderings` is the number of orders in words."""
    worst, tied, of_mean_rank = (example.answers[name] for name in ("PRR", "MTRR", "GRAG-RR"))
    if example.tied == 1:
        return (Strong("No documents tie: "), f"the list has one order, and RR is {tied:.4f}.")
    if example.relevant == example.tied:
        return (
            Strong("This tie does not matter: "),
            f"all its documents are relevant, so RR is {tied:.4f} in all {orderings} orders.",
        )
    return (
        f"{example.tied} documents share a score, {example.relevant} of them relevant: ",
        Strong(f"{orderings} orders"),
        f", all equally valid. RR ranges from {worst:.4f} to {example.best:.4f}. Its mean over all "
        "orders, the tied score, is ",
        Strong(f"{tied:.4f}"),
        f". One over the mean rank, as in the G-RAG paper, is {of_mean_rank:.4f}.",
    )


def family_measures(kind: str) -> list[Measure]:
    """Return the measures of one `Family.kind`."""
    return [measure for measure in MEASURES if measure.family.kind == kind]


def measure_table() -> pd.DataFrame:
    """Return a row for every measure.

    Returns:
        measure (with its cut-off or parameter), traditional and tied (names of its means, tied empty for
        measures with their own tie rule), summary, range, source.
    """
    cutoffs = {"none": "", "optional": "[@k]", "required": "@k"}
    rows = []
    for measure in MEASURES:
        mean, cutoff = MeasureAt(measure), cutoffs[measure.cutoff]
        rows.append(
            {
                "measure": measure.name + ("(p)" if measure.parameter is not None else "") + cutoff,
                "traditional": mean.traditional + cutoff,
                "tied": "" if measure.family.own_rule else mean.tied + cutoff,
                "summary": measure.summary,
                "range": "0 and up" if measure.largest is None else f"0 to {measure.largest:g}",
                "source": measure.source,
            }
        )
    table = pd.DataFrame(rows)
    return table.assign(measure=with_gains(table["measure"].tolist()))


def treatment_table() -> pd.DataFrame:
    """Return every treatment: treatment, label, summary, used_by."""
    rows = [(name, ties.label, ties.summary, ties.used_by) for name, ties in treatments_by_name().items()]
    return pd.DataFrame(rows, columns=["treatment", "label", "summary", "used_by"])


def tool_rules(tool: Tool) -> list[tuple[str, Rule]]:
    """Return the distinct rules of a tool, each after the names of its measures."""
    measures: dict[tuple[str, str, tuple[str, ...]], tuple[Rule, list[str]]] = {}
    for measure, rule in tool.rules.items():
        key = rule.treatment, rule.why, rule.cases_without_number
        measures.setdefault(key, (rule, []))[1].append(measure)
    return [(_merge_cutoffs(names), rule) for rule, names in measures.values()]


def _merge_cutoffs(names: Sequence[str]) -> str:
    """Join names of measures; RR and RR@k become RR[@k]."""
    with_both = [name for name in names if f"{name}@k" in names]
    single = [name for name in names if name.removesuffix("@k") not in with_both]
    return ", ".join([*(f"{name}[@k]" for name in with_both), *single])
