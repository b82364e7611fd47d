"""Compare rerankers with a baseline by every measure and by latency in one table."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from metrics.errors import UsageError
from metrics.evaluation import Evaluation
from metrics.measures import parse
from metrics.studies.gaps import in_order
from metrics.studies.pair_findings import method_texts
from metrics.studies.pairs import compare
from metrics.studies.prose import decimal
from metrics.studies.tradeoffs import DEPTH, LATENCY
from metrics.support.wording import describe_part

_TESTED = ["difference", "low", "high", "p", "p_adjusted", "stars", "note"]
_COLUMNS = ["reranker", "ties", "measure", "n", "value", "n_tested", *_TESTED[:-1], "direction", "note"]


def experiment_measures(k: int = DEPTH) -> tuple[str, ...]:
    """Return the measures of a retrieval experiment: Hits at four depths, RR, and contents of the top k."""
    return "Hits@1", "Hits@5", "Hits@10", "Hits@20", "RR", f"R@{k}", f"DR@{k}", f"Div@{k}"


def experiment_table(
    evaluation: Evaluation,
    baseline: str,
    measures: Sequence[str] | None = None,
    ties: Sequence[str] | None = None,
    **testing: Any,
) -> pd.DataFrame:
    """Test every measure, and latency if there is any, of each reranker against a baseline.

    `measures` and `ties` default to all of the evaluation; latency (`latency_s`, added by `with_latency`) comes
    last. `testing` holds test, correction, family and seed of `compare`; corrections apply within each
    measure and treatment.

    Returns:
        one row a reranker, treatment and measure: reranker, ties, measure, n (lists with a value), value
        (their mean; seconds for `latency_s`), n_tested (queries compared), difference (reranker − baseline),
        low, high, p, p_adjusted, stars, direction (better, worse, equal: less latency is better), note.
        Rows without a test, such as the baseline's, have no figures and no text there.

    Raises:
        UsageError: an error of `compare`, or the treatment std.
    """
    names = [*(evaluation.measures if measures is None else measures)]
    names += [LATENCY] * (LATENCY in evaluation.measures and LATENCY not in names)
    treatments = dict.fromkeys(evaluation.ties if ties is None else ties)
    if "std" in treatments:
        raise UsageError("std measures the effect of ties, not the quality of a reranker. Leave out std.")
    parts: dict[tuple[str, str], pd.DataFrame] = {}
    for treatment, name in product(treatments, names):
        scores = evaluation.scores[name]
        equal = (other for other, done in parts if done == name and scores[other].equals(scores[treatment]))
        twin = next(equal, None)  # tested once: resampling takes long
        parts[treatment, name] = (
            parts[twin, name] if twin else _measure_rows(evaluation, name, treatment, baseline, testing)
        )
    table = pd.concat(parts, names=["ties", "measure"]).reset_index()
    table["n"], table["n_tested"] = table["n"].fillna(0).astype(np.int64), table["n_tested"].astype("Int64")
    sign = np.sign(table["difference"]) * np.where(table["measure"] == LATENCY, -1, 1)
    table["direction"] = sign.map({1: "better", -1: "worse", 0: "equal"})
    table = table.fillna(dict.fromkeys(("stars", "direction", "note"), ""))
    return in_order(table[_COLUMNS], evaluation.policies.index)


def _measure_rows(
    evaluation: Evaluation, measure: str, ties: str, baseline: str, testing: dict[str, Any]
) -> pd.DataFrame:
    lists = evaluation.scores[measure, ties].groupby(level="reranker", sort=False)
    rows = pd.DataFrame({"n": lists.count(), "value": lists.mean()}).reindex(evaluation.policies.index)
    compared = _timed_only(evaluation, ties, baseline) if measure == LATENCY else evaluation
    tested = compare(compared, measure, ties, baseline, **testing).set_index("reranker")
    tested["stars"] = tested["stars"].replace("–", "")
    return rows.join(tested.rename(columns={"n": "n_tested"})[["n_tested", *_TESTED]]).rename_axis("reranker")


def _timed_only(evaluation: Evaluation, ties: str, baseline: str) -> Evaluation:
    """Return the lists and rerankers with a latency; the baseline alone if it has none."""
    scores = evaluation.scores[evaluation.scores[LATENCY, ties].notna()]
    policies = evaluation.policies
    timed = policies.index[policies.index.isin(scores.index.get_level_values("reranker"))]
    if baseline in policies.index and baseline not in timed:
        timed = pd.Index([baseline])
    return replace(evaluation, scores=scores, policies=policies.loc[timed])


def experiment_lines(table: pd.DataFrame) -> pd.DataFrame:
    """Return an `experiment_table` for people: a line a reranker and treatment, a column a measure.

    Returns:
        reranker, ties, and for each measure the mean and its stars, with a plus if the reranker is better than
        the baseline and a minus if it is worse.
    """
    texts = table.assign(text=[_cell(row) for row in table.to_dict("records")])
    wide = texts.pivot_table(
        index=["reranker", "ties"], columns="measure", values="text", aggfunc="first", sort=False
    )
    wide = wide.rename(columns={measure: heading(str(measure)) for measure in wide.columns})
    return wide.rename_axis(columns=None).reset_index()


def heading(measure: str) -> str:
    """Return the column heading of a measure; R@k is called Recall@k as in papers, beside DR@k."""
    if measure == LATENCY:
        return "Latency (s)"
    name = parse(measure)
    return f"Recall@{name.k}" if name.measure.name == "R" else name.traditional


def _cell(row: dict[Any, Any]) -> str:
    if np.isnan(row["value"]):
        return "–"
    value = f"{row['value']:.4g}" if row["measure"] == LATENCY else decimal(row["value"], 4)
    sign = {"better": "+", "worse": "−"}.get(row["direction"], "") if "*" in row["stars"] else ""
    return f"{value} {sign}{row['stars']}".rstrip()


def experiment_note(
    table: pd.DataFrame,
    baseline: str,
    n_rerankers: int | None = None,
    **testing: Any,
) -> str:
    """Explain the stars of a table, and state which latencies are not tested.

    `n_rerankers` counts the rerankers whose pairs are corrected for, by default those of the table.
    """
    n_shown = table["reranker"].nunique()
    if n_shown == 1:
        sentences = ["There is only one reranker, so there is nothing to test."]
    else:
        method, _ = method_texts(n_rerankers or n_shown, **testing)
        sentences = [
            f"Each reranker is compared with {baseline} by {method}, for each measure and treatment of ties.",
            f"*** p < 0.001, ** p < 0.01, * p < 0.05, ns not significant; + better than {baseline}, − worse.",
        ]
    is_latency, is_first = table["measure"] == LATENCY, table["ties"] == table["ties"].iloc[0]
    rows = table[is_latency & is_first].set_index("reranker")
    if not len(rows):
        return " ".join([*sentences, "No run has latencies."])
    sentences.append("Latency is the mean over the lists that have one. Lower latency is better.")
    if untimed := int((rows["n"] == 0).sum()):
        sentences.append(f"{describe_part(untimed, len(rows), 'reranker', 'have no latencies')}.")
    if len(rows) > 1 and rows.loc[baseline, "n"] == 0:
        sentences.append(f"{baseline} has no latencies, so latency is not tested.")
    return " ".join(sentences)
