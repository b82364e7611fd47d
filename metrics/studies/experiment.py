"""One table of a retrieval experiment: every measure and the latency of each reranker, against a baseline."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from metrics.errors import UsageError
from metrics.evaluation import Evaluation
from metrics.measures import parse
from metrics.studies.gaps import in_order
from metrics.studies.prose import decimal
from metrics.studies.significance import compare
from metrics.studies.test_registry import find_correction, find_test
from metrics.studies.tradeoffs import DEPTH, LATENCY
from metrics.support.wording import describe_part

_TESTED = ["difference", "low", "high", "p", "p_adjusted", "stars", "note"]
_COLUMNS = ["reranker", "ties", "measure", "n", "value", "n_tested", *_TESTED[:-1], "direction", "note"]


def experiment_measures(k: int = DEPTH) -> tuple[str, ...]:
    """Return the measures of a retrieval experiment: Hits at four depths, RR, and what the top k hold."""
    return "Hits@1", "Hits@5", "Hits@10", "Hits@20", "RR", f"R@{k}", f"DR@{k}", f"Div@{k}"


def experiment_table(
    evaluation: Evaluation,
    baseline: str,
    measures: Sequence[str] | None = None,
    ties: Sequence[str] | None = None,
    **testing: Any,  # noqa: ANN401 as `compare` names and types them
) -> pd.DataFrame:
    """Test every measure, and the latency where there is one, of each reranker against a baseline.

    Args:
        evaluation: with the measures under the treatments; with `latency_s` as `with_latency` adds it.
        baseline: whom the others are compared with.
        measures: in this order; all of the evaluation where None. `latency_s` comes last, where there is one.
        ties: treatments, in this order; all of the evaluation where None.
        **testing: test, correction, level and seed, as for `compare`; corrected within each measure and
            treatment.

    Returns:
        one row a reranker, treatment and measure: reranker, ties, measure, n (lists with a value), value
        (their mean; seconds of `latency_s`), n_tested (queries compared), difference (reranker − baseline),
        low, high, p, p_adjusted, stars, direction (better, worse, equal: less latency is better), note.
        What is not tested, the baseline among it, has no figure and no text there.

    Raises:
        UsageError: as `compare`, or the treatment is std, of which neither more nor less is better.
    """
    names = [*(evaluation.measures if measures is None else measures)]
    names += [LATENCY] * (LATENCY in evaluation.measures and LATENCY not in names)
    treatments = dict.fromkeys(evaluation.ties if ties is None else ties)
    if "std" in treatments:
        raise UsageError("std is how far ties move a value: nothing is better or worse by it. Leave it out.")
    parts = {
        (ties, name): rows
        for name in names
        for ties, rows in _treatment_rows(evaluation, name, treatments, baseline, testing).items()
    }
    places = [(ties, name) for ties in treatments for name in names]
    table = pd.concat([parts[place] for place in places], keys=places, names=["ties", "measure"]).reset_index()
    table["n"], table["n_tested"] = table["n"].fillna(0).astype(np.int64), table["n_tested"].astype("Int64")
    sign = np.sign(table["difference"]) * np.where(table["measure"] == LATENCY, -1, 1)
    table["direction"] = sign.map({1: "better", -1: "worse", 0: "equal"})
    table = table.fillna(dict.fromkeys(("stars", "direction", "note"), ""))
    return in_order(table[_COLUMNS], evaluation.policies.index)


def _treatment_rows(
    evaluation: Evaluation, measure: str, treatments: Iterable[str], baseline: str, testing: dict[str, Any]
) -> dict[str, pd.DataFrame]:
    """Return the rows of one measure by treatment; treatments that give the same values are tested once."""
    parts: dict[str, pd.DataFrame] = {}
    for ties in treatments:
        values = evaluation.scores[measure, ties]
        twin = next((other for other in parts if evaluation.scores[measure, other].equals(values)), None)
        parts[ties] = (
            _measure_rows(evaluation, measure, ties, baseline, testing) if twin is None else parts[twin]
        )
    return parts


def _measure_rows(
    evaluation: Evaluation, measure: str, ties: str, baseline: str, testing: dict[str, Any]
) -> pd.DataFrame:
    """Return the means of one measure under one treatment and their tests, a row a reranker."""
    lists = evaluation.scores[measure, ties].groupby(level="reranker", sort=False)
    rows = pd.DataFrame({"n": lists.count(), "value": lists.mean()}).reindex(evaluation.policies.index)
    compared = _timed_only(evaluation, ties, baseline) if measure == LATENCY else evaluation
    tested = compare(compared, measure, ties, baseline, **testing).set_index("reranker")
    return rows.join(tested.rename(columns={"n": "n_tested"})[["n_tested", *_TESTED]]).rename_axis("reranker")


def _timed_only(evaluation: Evaluation, ties: str, baseline: str) -> Evaluation:
    """Return the lists that give a latency, of the rerankers that give any.

    Where the baseline gives none, it is left alone: nothing is compared.
    """
    scores = evaluation.scores[evaluation.scores[LATENCY, ties].notna()]
    policies = evaluation.policies
    timed = policies.index[policies.index.isin(scores.index.get_level_values("reranker"))]
    if baseline in policies.index and baseline not in timed:
        timed = pd.Index([baseline])
    return replace(evaluation, scores=scores, policies=policies.loc[timed])


def experiment_lines(table: pd.DataFrame) -> pd.DataFrame:
    """Return an `experiment_table` as people read it: a line a reranker and treatment, a column a measure.

    Returns:
        reranker, ties, and by its heading the text of each measure: the mean, and its stars, with a plus
        where the reranker is better than the baseline and a minus where it is worse.
    """
    texts = table.assign(text=[_cell(row) for row in table.to_dict("records")])
    wide = texts.pivot_table(
        index=["reranker", "ties"], columns="measure", values="text", aggfunc="first", sort=False
    )
    wide = wide.rename(columns={measure: heading(str(measure)) for measure in wide.columns})
    return wide.rename_axis(columns=None).reset_index()


def heading(measure: str) -> str:
    """Return what the column of a measure is called; R@k as papers do, for it stands beside DR@k."""
    if measure == LATENCY:
        return "Latency (s)"
    name = parse(measure)
    return f"Recall@{name.k}" if name.measure.name == "R" else name.traditional


def _cell(row: dict[Any, Any]) -> str:
    """Return a mean with its stars, and whether they are for better or for worse."""
    if np.isnan(row["value"]):
        return "–"
    value = f"{row['value']:.4g}" if row["measure"] == LATENCY else decimal(row["value"], 4)
    sign = {"better": "+", "worse": "−"}.get(row["direction"], "") if "*" in row["stars"] else ""
    return f"{value} {sign}{row['stars']}".rstrip()


def experiment_note(table: pd.DataFrame, baseline: str, test: str = "t", correction: str = "holm") -> str:
    """Say what the stars of a table mean, and what is not tested.

    Args:
        table: as `experiment_table` returns it.
        baseline: whom the others are compared with.
        test: name of the test.
        correction: name of the correction.
    """
    return " ".join((*_star_sentences(table, baseline, test, correction), *_latency_sentences(table, baseline)))


def _star_sentences(table: pd.DataFrame, baseline: str, test_name: str, correction_name: str) -> list[str]:
    if len(table["reranker"].unique()) == 1:
        return ["There is one reranker, and nothing to test it against."]
    test, correction = find_test(test_name), find_correction(correction_name)
    is_corrected = not test.simultaneous and correction.method is not None
    corrected = f"{correction.label} correction within each column" if is_corrected else "uncorrected"
    scope = "all pairs at once" if test.simultaneous else corrected
    sentences = [
        f"Against {baseline}: {test.label}, {scope}, each treatment of ties by itself.",
        f"*** p < 0.001, ** p < 0.01, * p < 0.05, ns not significant; + better than {baseline}, − worse.",
    ]
    if (table["n_tested"].dropna() < 2).all():  # noqa: PLR2004 a spread needs two
        sentences.append("A test needs two queries: nothing can be significant.")
    return sentences


def _latency_sentences(table: pd.DataFrame, baseline: str) -> list[str]:
    """Say how the latency is to be read, and whose is absent."""
    rows = table[(table["measure"] == LATENCY) & (table["ties"] == table["ties"].iloc[0])].set_index("reranker")
    if not len(rows):
        return ["No run gives a latency."]
    other = table[(table["measure"] != LATENCY) & (table["ties"] == table["ties"].iloc[0])]
    lists = other.groupby("reranker")["n"].max().reindex(rows.index)
    sentences = ["Latency: mean seconds a list, less is better; no order of ties changes it."]
    untimed = int((rows["n"] == 0).sum())
    if untimed:
        sentences.append(f"{describe_part(untimed, len(rows), 'reranker', 'give none')}.")
    if ((rows["n"] > 0) & (rows["n"] < lists)).any():
        sentences.append("Lists that give none are left out of it.")
    if len(rows) > 1 and rows.loc[baseline, "n"] == 0:
        sentences.append(f"{baseline} gives none: no latency is tested.")
    return sentences
