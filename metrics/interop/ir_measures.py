"""Tied, worst and best values as measures of ir_measures, for its functions, its command line and PyTerrier.

import ir_measures
from metrics.interop.ir_measures import MTRR, tied
ir_measures.calc_aggregate([ir_measures.RR, MTRR, tied(ir_measures.nDCG @ 10)], qrels, run)

The import also registers them by name: ir_measures.parse_measure("tied_nDCG@10"). ir_measures' own command
knows them as python -m metrics.interop.ir_measures QRELS RUN MEASURE...
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from metrics.errors import UsageError, needs
from metrics.evaluation import evaluate
from metrics.measures import MEASURES
from metrics.runs import Runs
from metrics.runs.columns import ColumnChoice
from metrics.runs.formats.frames import of_frame
from metrics.support.columns import with_column


class JudgmentView(NamedTuple):
    """How a measure reads judgments; measures with the same view are scored together.

    Attributes:
        rel: smallest grade that counts as relevant.
        judged_only: true to remove unjudged documents from the lists.
        gains: old and new grade, of grades that change.
    """

    rel: int
    judged_only: bool
    gains: tuple[tuple[int, int], ...]

    def of_runs(self, runs: Runs, judgments: pa.Table) -> Runs:
        """Return the runs with these judgments, changed grades, and without removed documents."""
        if self.gains:
            grades = judgments["relevance"].to_numpy()
            changed = grades.copy()
            for grade, gain in self.gains:
                changed[grades == grade] = gain
            judgments = with_column(judgments, "relevance", pa.array(changed))
        runs = runs.judged_by(judgments)
        return _judged(runs) if self.judged_only else runs


def _judged(runs: Runs) -> Runs:
    """Return the judged rows; a negative grade is not a judgment, as in trec_eval."""
    tables = {}
    for name in runs.tables:
        stack = runs.matched_stacks.reranker(name)
        tables[name] = stack.table.filter(pa.array(np.asarray(stack.grades) >= 0))
    return replace(runs, tables=tables)


# ruff: noqa: N816 # measures are named as ir_measures names its own


with needs("ir-measures"):
    import ir_measures
    from ir_measures import AP, ERR, RR, Bpref, Metric, P, R, Success, measures, nDCG, providers
    from ir_measures.__main__ import main_cli
    from ir_measures.providers.base import NOT_PROVIDED
    from ir_measures.util import QrelsConverter, RunConverter

_TREATMENTS = {"tied": "expected", "worst": "pessimistic", "best": "optimistic"}
_ORDERS = {
    "expected": "Averaged over all tie orders.",
    "pessimistic": "In the worst tie order.",
    "optimistic": "In the best tie order.",
}
_CITED = """
    .. cite:: mcsherry-najork-tied-scores
        :citation: McSherry and Najork. Computing Information Retrieval Performance Measures Efficiently
            in the Presence of Tied Scores. ECIR 2008.
        :link: https://doi.org/10.1007/978-3-540-78646-7_38
"""
_PAST = 10**9
"""One more than the largest cut-off."""


class TieMeasure(measures.Measure):
    """A measure of ir_measures with a way to score ties.

    Attributes:
        ours: its name in `metrics.MEASURES`.
        treatment: its treatment in `metrics.TREATMENTS`.
    """

    ours: str
    treatment: str

    def __reduce__(self) -> tuple[Callable[..., measures.Measure], tuple[object, ...]]:
        return _find_measure, (self.NAME, self.params)

    @property
    def our_name(self) -> str:
        """The name for `metrics.evaluate`, such as `nDCG-linear@10`."""
        name = "nDCG" if self.params.get("dcg") == "exp-log2" else self.ours
        cutoff = self.params.get("cutoff")
        return f"{name}@{cutoff:d}" if isinstance(cutoff, int) else name


def _find_measure(name: str, params: dict[str, Any]) -> measures.Measure:
    measure: measures.Measure = measures.registry[name](**params)
    return measure


@dataclass(frozen=True)
class _Accepts:
    """The values of a parameter that the provider accepts.

    Attributes:
        text: describes them.
        test: returns true for an accepted value.
    """

    text: str
    test: Callable[[Any], bool]

    def validate(self, value: object) -> bool:
        """Tell whether a value is accepted."""
        return value is NOT_PROVIDED or self.test(value)

    def __repr__(self) -> str:
        return self.text


_COUNT = _Accepts("1 or more", lambda value: 1 <= value < _PAST)
_TRUTH = _Accepts("True or False", lambda _: True)
_GAINS = _Accepts("whole numbers", lambda value: all(isinstance(n, int) for n in (*value, *value.values())))
_NONE = _Accepts("left out", lambda _: False)
_LOG = _Accepts("'log2'", lambda value: value == "log2")
_EXPONENTIAL = _Accepts("'exp-log2'", lambda value: value == "exp-log2")

_CUT = {"cutoff": _COUNT}
_BINARY = {"rel": _COUNT}
_JUDGED = {"judged_only": _TRUTH}
_SUPPORTED: list[measures.Measure] = []
"""Measures that the provider computes, with the values of their parameters."""


def _declare(
    name: str,
    ours: str,
    treatment: str,
    params: dict[str, measures.ParamInfo],
    accepted: Iterable[dict[str, _Accepts]],
    own_rule: str = "",
) -> measures.Measure:
    """Declare a measure under one treatment, or with its own rule for ties, as ir_measures does."""
    record = next(one for one in MEASURES if one.name == ours)
    summary = f"{record.summary} {own_rule or _ORDERS[treatment]}"
    inside = {
        "__name__": name,
        "__doc__": f"\n    {summary}\n\n    Source: {record.source}\n\n{'' if own_rule else _CITED}",
        "NAME": name,
        "PRETTY_NAME": name.replace("_", " "),
        "SHORT_DESC": summary,
        "SUPPORTED_PARAMS": params,
        "ours": ours,
        "treatment": treatment,
    }
    measure: measures.Measure = type(f"_{name}", (TieMeasure,), inside)()
    measures.registry.setdefault(name, measure)
    _SUPPORTED.extend(measure(**values) for values in accepted)
    return measure


def _declare_three(
    plain: measures.Measure, ours: str, *accepted: dict[str, _Accepts], tied_name: str = ""
) -> tuple[measures.Measure, ...]:
    """Declare the tied, worst and best version of a measure of ir_measures, under each of its names.

    Args:
        plain: the measure.
        ours: its name in `metrics.MEASURES`.
        *accepted: sets of parameters that the provider accepts, with their values.
        tied_name: name of the tied version; `tied_NAME` if empty.
    """
    declared = []
    aliases = [name for name, one in measures.registry.items() if one is plain]
    for prefix, treatment in _TREATMENTS.items():
        name = tied_name if tied_name and prefix == "tied" else f"{prefix}_{plain.NAME}"
        measure = _declare(name, ours, treatment, plain.SUPPORTED_PARAMS, accepted)
        for alias in aliases:
            measures.registry.setdefault(f"{prefix}_{alias}", measure)
        declared.append(measure)
    return tuple(declared)


_ALL = _CUT | _BINARY | _JUDGED
MTRR, worst_RR, best_RR = _declare_three(RR, "RR", _ALL, tied_name="MTRR")
TMHits, worst_Success, best_Success = _declare_three(Success, "Hits", _ALL, tied_name="TMHits")
tied_AP, worst_AP, best_AP = _declare_three(AP, "AP", _ALL)
tied_Bpref, worst_Bpref, best_Bpref = _declare_three(Bpref, "bpref", _BINARY)
tied_ERR, worst_ERR, best_ERR = _declare_three(ERR, "ERR", _CUT)
tied_P, worst_P, best_P = _declare_three(P, "P", _ALL)
tied_R, worst_R, best_R = _declare_three(R, "R", _ALL)
_GAINED = ({"dcg": _LOG, "gains": _GAINS}, {"dcg": _EXPONENTIAL, "gains": _NONE})
tied_nDCG, worst_nDCG, best_nDCG = _declare_three(
    nDCG, "nDCG-linear", *(_CUT | gained | _JUDGED for gained in _GAINED)
)
_OWN = _BINARY | _JUDGED
_OWN_PARAMS = {name: RR.SUPPORTED_PARAMS[name] for name in _OWN}
TsRR = _declare("TsRR", "TsRR", "expected", _OWN_PARAMS, [_OWN], "TsRR settles ties by its own rule.")


def tied(measure: measures.Measure | str) -> measures.Measure:
    """Return the mean of a measure over all tie orders; for `RR @ 10`, this is `MTRR @ 10`.

    Args:
        measure: AP, Bpref, ERR, nDCG, P, R, RR or Success, with its parameters; or its name, such as `nDCG@10`.

    Raises:
        UsageError: another measure.
    """
    return _with_prefix("tied", measure)


def worst(measure: measures.Measure | str) -> measures.Measure:
    """Return a measure in the worst tie order; arguments and errors as for `tied`."""
    return _with_prefix("worst", measure)


def best(measure: measures.Measure | str) -> measures.Measure:
    """Return a measure in the best tie order; arguments and errors as for `tied`."""
    return _with_prefix("best", measure)


def _with_prefix(prefix: str, measure: measures.Measure | str) -> measures.Measure:
    try:
        plain = ir_measures.parse_measure(measure) if isinstance(measure, str) else measure
    except (NameError, ValueError) as error:
        raise UsageError(f"ir_measures does not know the measure {measure!r}: {error}.") from error
    name = f"{prefix}_{plain.NAME}"
    if name not in measures.registry:
        raise UsageError(f"There is no {prefix} {plain}. Choose AP, Bpref, ERR, nDCG, P, R, RR or Success.")
    if unknown := plain.params.keys() - plain.SUPPORTED_PARAMS.keys():
        raise UsageError(f"{plain.NAME} has no parameter {min(unknown)!r}.")
    return _find_measure(name, plain.params)


def _view(measure: measures.Measure) -> JudgmentView:
    params = {name: value for name, value in measure.params.items() if value is not NOT_PROVIDED}
    gains = tuple(sorted(params.get("gains", {}).items()))
    return JudgmentView(params.get("rel", 1), bool(params.get("judged_only", False)), gains)


class TieEvaluator(providers.Evaluator):
    """Scores runs with the same qrels.

    Args:
        requested: measures to compute, all supported.
        qrels: any qrels that ir_measures takes.

    Raises:
        ReadError: a document is judged twice for a query, an ID is empty, or a grade is not a number.
    """

    def __init__(self, requested: Iterable[Any], qrels: object) -> None:
        frame = QrelsConverter(qrels).as_pd_dataframe()  # type: ignore[no-untyped-call]
        columns = ["query_id", "doc_id", "relevance"]
        source = of_frame(frame[columns], ColumnChoice({}, value="relevance"))
        self.judgments = Runs.from_sources([source], judged=False).qrels
        self.queries = list(frame["query_id"].unique())
        self.views: dict[JudgmentView, list[Any]] = {}
        for measure in dict.fromkeys(requested):
            self.views.setdefault(_view(measure), []).append(measure)
        grouped = [measure for group in self.views.values() for measure in group]
        super().__init__(grouped, set(qrels if isinstance(qrels, dict) else self.queries))

    def _iter_calc(self, run: object) -> Iterator[Metric]:
        """Yield the values of one run; a query without rows gets 0.

        Raises:
            ReadError: a list holds a document twice, an ID is empty, or a score is not a number.
        """
        frame = RunConverter(run).as_pd_dataframe()  # type: ignore[no-untyped-call]
        runs = Runs.from_sources([of_frame(frame[["query_id", "doc_id", "score"]])], judged=False)
        for view, group in self.views.items():
            names, ties = [measure.our_name for measure in group], [measure.treatment for measure in group]
            scores = evaluate(view.of_runs(runs, self.judgments), names, ties, relevant_from=view.rel).scores
            for measure in group:
                values = scores[measure.our_name, measure.treatment].tolist()
                for query, value in zip(self.queries, values, strict=True):
                    yield Metric(query, measure, value)


class TieScopeProvider(providers.Provider):
    """Exact expected, best and worst values of measures on lists with ties.

    nDCG takes gains only with dcg='log2'. rel is 1 or more.
    """

    NAME = "tiescope"
    SUPPORTED_MEASURES = _SUPPORTED

    def _evaluator(self, requested: Iterable[Any], qrels: object) -> TieEvaluator:
        listed_measures = list(requested)
        for measure in listed_measures:
            if not self.supports(measure):
                raise UsageError(f"tiescope does not compute {measure}.")
        return TieEvaluator(listed_measures, qrels)


def _register() -> None:
    """Add this provider to ir_measures, once even if this file is imported twice."""
    provider = TieScopeProvider()  # type: ignore[no-untyped-call]
    providers.registry[provider.NAME] = provider
    other_providers = [one for one in ir_measures.DefaultPipeline.providers if one.NAME != provider.NAME]
    ir_measures.DefaultPipeline.providers = [*other_providers, provider]


_register()

if __name__ == "__main__":
    main_cli()  # type: ignore[no-untyped-call]
