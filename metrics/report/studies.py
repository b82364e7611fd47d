"""Options of a report and the studies behind it, each computed on first access."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

import pandas as pd

from metrics.errors import UsageError
from metrics.evaluation import Evaluation, ScoringOptions, score_runs
from metrics.measures import MeasureAt, parse, question, side_by_side
from metrics.runs import Runs
from metrics.studies.audit.audit import Audit, audit
from metrics.studies.audit.audited_order import AuditedOrder, audited_order
from metrics.studies.audit.published_table import PublishedTable
from metrics.studies.draws import Draws, draws, same_runs
from metrics.studies.emulation import tool_values
from metrics.studies.experiment import experiment_measures, experiment_table
from metrics.studies.gaps import gap_summary, gaps, in_order
from metrics.studies.leaderboard import leaderboard, mean_intervals, mean_std, query_segments, tie_answers
from metrics.studies.pair_findings import Verdicts, verdicts
from metrics.studies.pairs import rank_intervals, with_rank_intervals
from metrics.studies.swapped_orders import order_chances, swapped_orders
from metrics.studies.targets import PRESETS as READY_TARGETS
from metrics.studies.targets import Target, check_targets, targets_of, usual_baseline
from metrics.studies.tradeoffs import latencies, with_latency
from metrics.support.cached import cached_property
from metrics.ties import Treatment, order_of_ties, treatment

EVALUATOR_MEASURES = ("RR", "Hits@1", "Hits@3", "Hits@5", "Hits@10")
"""Measures that the evaluator of the notebook prints."""
MEASURES = (*EVALUATOR_MEASURES, "nDCG@10")
"""Default measures: those of the notebook, and the usual one for grades."""
PRESETS: Mapping[str, tuple[str, ...]] = {
    "short": ("summary", "swaps", "audit", "targets", "brief"),
    "full": (),
    "paper": ("paper", "brief"),
}
"""Preset → its sections; empty for all but the table for a paper."""
_SCORING = tuple(option.name for option in fields(ScoringOptions))


@dataclass(frozen=True)
class ReportOptions:
    """Options of a report.

    Attributes:
        measures: names; the first is tested, drawn and recommended.
        traditional: treatment that breaks ties for traditional scores.
        baseline: reranker to compare the others with; if empty, BM25 or the first.
        targets: targets such as `MTRR>=0.8`, or names of presets.
        targets_for: reranker whose targets are drawn; if empty, the leader by tied score.
        test: name of a significance test.
        correction: name of a correction; if empty, that of the test.
        title: heading; if empty, it names the number of rerankers.
        rerankers: rerankers to report, in order; all if empty.
        segments: query groups to report; all if empty.
        preset: short (a summary), full (with appendix) or paper (one table).
        sections: names of sections; those of the preset if empty.
        files: name and SHA-256 of each input file.
        scoring: options of scoring.
        published: published table to audit.
        published_names: (published, ours) for names in it that do not match.
    """

    measures: tuple[str, ...] = MEASURES
    traditional: str = "input"
    baseline: str = ""
    targets: tuple[str, ...] = ()
    targets_for: str = ""
    test: str = "flips"
    correction: str = ""
    title: str = ""
    rerankers: tuple[str, ...] = ()
    segments: tuple[str, ...] = ()
    preset: str = "short"
    sections: tuple[str, ...] = ()
    files: tuple[tuple[str, str], ...] = ()
    scoring: ScoringOptions = field(default_factory=ScoringOptions)
    published: PublishedTable | None = field(default=None, repr=False)
    published_names: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, **choices: Any) -> "ReportOptions":
        """Return the options, with those of scoring given as separate keywords."""
        scoring = {name: choices.pop(name) for name in _SCORING if name in choices}
        return cls(**choices | ({"scoring": ScoringOptions(**scoring)} if scoring else {}))

    def __post_init__(self) -> None:
        """Convert lists to tuples and names to those of the registries; raise UsageError for unknown names."""
        for name, value in vars(self).copy().items():
            if isinstance(value, list):
                object.__setattr__(self, name, tuple(value))
        if not self.measures:
            raise UsageError("Name at least one measure.")
        if self.preset not in PRESETS:
            raise UsageError(f"{self.preset!r} is not a preset. Presets: {', '.join(PRESETS)}.")
        targets = [target for name in self.targets for target in READY_TARGETS.get(name, (name,))]
        object.__setattr__(self, "targets", tuple(dict.fromkeys(targets)))
        names = tuple(dict.fromkeys(str(parse(name)) for name in self.measures))
        object.__setattr__(self, "measures", names)
        object.__setattr__(self, "traditional", order_of_ties(self.traditional).name)


MAX_RERANKERS = 30
"""Rerankers in the sections about stability and other tools, the best by tied score."""
MAX_SWAPS = 10
"""Pairs that swap in a report, the widest."""
_BOUNDS = ("pessimistic", "optimistic")


@dataclass(frozen=True, eq=False)
class ReportStudies:
    """The studies behind a report, each computed on first access."""

    runs: Runs
    options: ReportOptions

    @cached_property
    def evaluation(self) -> Evaluation:
        """Scores under expected, optimistic, pessimistic, std and the traditional treatment."""
        targets = (str(target.measure) for target in self._targets)
        values = self._score([*self.options.measures, str(self.question), *targets], *_BOUNDS, "std")
        scored = set(values.scores.index.get_level_values("reranker"))
        if not scored:
            raise UsageError("No list is scored: every query was left out.")
        return values.only([name for name in values.policies.index if name in scored])

    def _score_board(self, measures: Iterable[str], *further_ties: str) -> Evaluation:
        """Return the scores of all rerankers of the runs, over which pairs are corrected."""
        ties = [self.options.traditional, "expected", *further_ties]
        evaluation = score_runs(self.runs, list(measures), ties, self.options.scoring)
        return evaluation.only(self.runs.rerankers, self._queries)

    def _score(self, measures: Iterable[str], *further_ties: str) -> Evaluation:
        evaluation = self._score_board(measures, *further_ties)
        return evaluation.only(self.options.rerankers) if self.options.rerankers else evaluation

    def _score_again(self, measures: Iterable[str], *further_ties: str) -> Evaluation:
        """Return further scores of the rerankers with a list."""
        return self._score(measures, *further_ties).only(self.rerankers)

    @property
    def _queries(self) -> set[str] | None:
        if not self.options.segments:
            return None
        segments = query_segments(self.runs)
        unknown = [name for name in self.options.segments if name not in set(segments)]
        if unknown:
            names = ", ".join(sorted(set(segments))) or "none"
            raise UsageError(f"There is no query group {unknown[0]!r}. Query groups: {names}.")
        return set(segments.index[segments.isin(self.options.segments)])

    @property
    def _targets(self) -> list[Target]:
        return targets_of(self.options.targets) if self.options.targets else []

    @property
    def rerankers(self) -> list[str]:
        """Rerankers with a list, in order."""
        return [str(name) for name in self.evaluation.policies.index]

    @property
    def n_queries(self) -> int:
        """Number of queries with a list."""
        return int(self.evaluation.scores.index.get_level_values("query_id").nunique())

    @cached_property
    def findings(self) -> pd.DataFrame:
        """Findings on the runs, with the smallest relevant grade of the scores."""
        return self.runs.findings_from(self.options.scoring.relevant_from)

    @cached_property
    def copies(self) -> list[list[str]]:
        """Groups of rerankers with the same ranking."""
        return same_runs(self.runs, self.evaluation, self.measure)

    @property
    def measure(self) -> str:
        """The first measure, which is tested and drawn."""
        return self.options.measures[0]

    @property
    def measure_at(self) -> MeasureAt:
        """The parsed first measure."""
        return parse(self.measure)

    @property
    def order(self) -> Treatment:
        """The traditional treatment."""
        return treatment(self.options.traditional)

    @property
    def has_own_rule(self) -> bool:
        """Whether the first measure has a rule of its own for ties, and so one value."""
        return bool(self.measure_at.measure.answers)

    @property
    def question(self) -> MeasureAt:
        """The first measure, or the measure whose ties it settles by a rule of its own."""
        return question(self.measure_at)

    @property
    def baseline(self) -> str:
        """The reranker to compare the others with."""
        return self.options.baseline or usual_baseline(self.rerankers)

    @property
    def targets_for(self) -> str:
        """The reranker whose targets are drawn."""
        return self.options.targets_for or str(self.leaderboard.index[0])

    def check_names(self) -> None:
        """Raise UsageError if the baseline or `targets_for` has no list."""
        for name in filter(None, (self.options.baseline, self.options.targets_for)):
            if name not in self.rerankers:
                raise UsageError(f"There is no reranker {name!r}. Rerankers: {', '.join(self.rerankers)}.")

    @cached_property
    def leaderboard(self) -> pd.DataFrame:
        """The leaderboard with intervals of means and of ranks, and the SD of each mean over ties (`std`)."""
        table = leaderboard(self.evaluation, self.measure, self.options.traditional)
        ranks = rank_intervals(self.evaluation, self.measure, pairs=self.pairs.tied)
        table = with_rank_intervals(table, ranks).join(mean_intervals(self.evaluation, self.measure))
        return table.assign(std=mean_std(self.evaluation, self.measure).reindex(table.index))

    @cached_property
    def tie_answers(self) -> pd.DataFrame | None:
        """The first measure and those that settle its ties by rules of their own; None without any."""
        measures = [str(measure) for measure in side_by_side(self.measure_at)]
        if len(measures) == 1:
            return None
        return tie_answers(self._score_again(measures), self.measure, self.options.traditional)

    @cached_property
    def lists(self) -> pd.DataFrame:
        """The lists and their gaps by `question`."""
        return gaps(self.evaluation, {"first": str(self.question)}, self.options.traditional)

    @cached_property
    def summary(self) -> pd.DataFrame:
        """The gaps of each reranker, best tied score first."""
        return gap_summary(self.lists).loc[self.leaderboard.index]

    @cached_property
    def pairs(self) -> Verdicts:
        """All pairs of the reported rerankers, corrected for all pairs of the runs."""
        return self._verdicts()

    def _verdicts(self, baseline: str | None = None, **testing: Any) -> Verdicts:
        evaluation = self._score_board([self.measure]) if self.options.rerankers else self.evaluation
        traditional = self.options.traditional
        return verdicts(evaluation, self.measure, traditional, baseline, **testing).among(self.rerankers)

    @property
    def testing(self) -> dict[str, Any]:
        """The chosen test and correction, as `compare` takes them."""
        return {"test": self.options.test, "correction": self.options.correction or None}

    @cached_property
    def verdicts(self) -> Verdicts:
        """Differences from the baseline by tied and by traditional scores, by the chosen test."""
        if (self.options.test, self.options.correction) == (ReportOptions.test, ReportOptions.correction):
            return self.pairs.against(self.baseline)
        return self._verdicts(self.baseline, **self.testing)

    @cached_property
    def swaps(self) -> pd.DataFrame:
        """Pairs whose traditional order differs from their tied order, the widest first."""
        return swapped_orders(self.evaluation, self.measure, self.options.traditional, pairs=self.pairs.tied)

    @cached_property
    def widest_swaps(self) -> pd.DataFrame:
        """The widest pairs that swap, with the chance of the traditional order."""
        rows = self.swaps.head(MAX_SWAPS)
        return order_chances(rows, self.runs, self.measure, self.options.scoring, self._queries)

    @cached_property
    def experiment_evaluation(self) -> Evaluation:
        """Scores and seconds of a retrieval experiment, tied and traditional, of all rerankers of the runs."""
        return with_latency(self._score_board(experiment_measures()), latencies(self.runs))

    @cached_property
    def experiment(self) -> pd.DataFrame:
        """The measures of a retrieval experiment against the baseline, best reranker first."""
        names, values = list(self.leaderboard.index), self.experiment_evaluation
        values = values.only([*names, *values.policies.index.difference(names)])
        ties = ["expected", self.options.traditional]
        rows = experiment_table(values, self.baseline, experiment_measures(), ties, **self.testing)
        return rows[rows["reranker"].isin(names)]

    @cached_property
    def further_values(self) -> pd.DataFrame:
        """Values of a retrieval experiment and of the preset targets."""
        measures = (str(target.measure) for target in targets_of((), READY_TARGETS))
        scores = self._score_again(measures, *_BOUNDS, "std").scores
        return scores.join(self.experiment_evaluation.scores.drop(columns=scores.columns, errors="ignore"))

    @cached_property
    def evaluator_lists(self) -> pd.DataFrame:
        """The lists and their gaps by the measures of the notebook and of the options."""
        names = {name: name for name in (*EVALUATOR_MEASURES, *self.options.measures)}
        return gaps(self._score_again(names, *_BOUNDS), names, self.options.traditional)

    @cached_property
    def draws(self) -> Draws:
        """Means and ranks of the best rerankers when all ties are broken at random."""
        best = self.runs.arranged({str(name): str(name) for name in self.leaderboard.index[:MAX_RERANKERS]})
        return draws(best, self.measure, self.options.scoring, queries=self._queries)

    @cached_property
    def tools(self) -> pd.DataFrame:
        """Values of other tools for the best rerankers, by the first measure."""
        best = set(self.leaderboard.index[:MAX_RERANKERS])
        names = [name for name in self.rerankers if name in best]
        return tool_values(self.runs, self.measure, names, self.options.scoring, self._queries)

    @cached_property
    def targets(self) -> pd.DataFrame:
        """Whether each reranker meets each target, best first."""
        rows = check_targets(self.evaluation, self._targets, self.options.traditional, self.baseline)
        return in_order(rows, self.leaderboard.index)

    @cached_property
    def audit(self) -> Audit:
        """The audit of the published table."""
        if self.options.published is None:
            raise UsageError("Give a published table to audit.")
        return audit(self.runs, self.options.published, names=dict(self.options.published_names))

    @cached_property
    def audited_order(self) -> AuditedOrder:
        """The audit of the order by the first measure, else by RR, nDCG or the first one with an order."""
        measures = {name: self.audit.names.measure(name) for name in self.audit.published.measures}
        first = [name for name, measure in measures.items() if measure == self.measure]
        matched = [name for name, measure in measures.items() if measure]
        names = [*first, *filter(None, [self.audit.first_measure]), *matched]
        return audited_order(self.audit, self.runs, names[0])
