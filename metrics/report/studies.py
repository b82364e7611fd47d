"""The studies behind a report, each made when it is first looked at."""

from dataclasses import dataclass
from functools import cached_property

import pandas as pd

from metrics.errors import UsageError
from metrics.evaluation import Evaluation, score_runs
from metrics.measures import MeasureAt, parse
from metrics.report.options import ReportOptions
from metrics.runs import Runs
from metrics.studies.gaps.gap import gaps
from metrics.studies.leaderboard.leaderboard import leaderboard, mean_std
from metrics.studies.leaderboard.rerankers import reranker_summary
from metrics.studies.leaderboard.segments import query_segments
from metrics.studies.significance.significance import Verdicts, verdicts
from metrics.studies.targets.targets import Target, reached, targets_of
from metrics.studies.tie_breaking.order_stability import OrderStability
from metrics.studies.tools.tool_comparison import tool_values

MOST = 30
"""Rerankers whose places are worked out, the best by tied mean."""


@dataclass(frozen=True, eq=False)
class ReportStudies:
    """The studies behind a report.

    Attributes:
        runs: what was ranked.
        asked: what is to be told.
    """

    runs: Runs
    asked: ReportOptions

    @cached_property
    def evaluation(self) -> Evaluation:
        """Measures and targets under expected, optimistic, pessimistic, std and the traditional treatment.

        Raises:
            UsageError: a reranker or segment that is not there, or no list is scored.
        """
        asked = self.asked
        whole = score_runs(
            self.runs,
            [*asked.measures, *(str(one.measure) for one in self._targets)],
            [asked.traditional, "expected", "pessimistic", "optimistic", "std"],
            asked.scoring,
        )
        values = whole.only(asked.rerankers or self.runs.rerankers, self._queries)
        scored = set(values.scores.index.get_level_values("reranker"))
        if not scored:
            raise UsageError("No list is scored: every query was left out.")
        return values.only([name for name in values.policies.index if name in scored])

    @property
    def _queries(self) -> set[str] | None:
        """Queries of the segments asked for; None for all."""
        if not self.asked.segments:
            return None
        known = query_segments(self.runs)
        unknown = [name for name in self.asked.segments if name not in set(known)]
        if unknown:
            there = ", ".join(sorted(set(known))) or "none"
            raise UsageError(f"There is no segment {unknown[0]!r}. Segments: {there}.")
        return set(known.index[known.isin(self.asked.segments)])

    @property
    def _targets(self) -> list[Target]:
        return targets_of(self.asked.targets) if self.asked.targets else []

    @property
    def rerankers(self) -> list[str]:
        """Those with a list, in order."""
        return [str(name) for name in self.evaluation.policies.index]

    @property
    def measure(self) -> str:
        """The measure that is tested and drawn."""
        return self.asked.measures[0]

    @property
    def name(self) -> MeasureAt:
        """The same, with its names."""
        return parse(self.measure)

    @property
    def baseline(self) -> str:
        """Whom the others are compared with.

        Raises:
            UsageError: the one asked for is not among them.
        """
        return self._one_of(self.asked.baseline) or self.rerankers[0]

    @property
    def targets_for(self) -> str:
        """Whose targets are drawn.

        Raises:
            UsageError: the one asked for is not among them.
        """
        return self._one_of(self.asked.targets_for) or str(self.board.index[0])

    def _one_of(self, name: str) -> str:
        if name and name not in self.rerankers:
            raise UsageError(f"There is no reranker {name!r}. Rerankers: {', '.join(self.rerankers)}.")
        return name

    @cached_property
    def board(self) -> pd.DataFrame:
        """The leaderboard, with the standard deviation of each mean by ties (`std`)."""
        board = leaderboard(self.evaluation, self.measure, self.asked.traditional)
        return board.assign(std=mean_std(self.evaluation, self.measure).reindex(board.index))

    @cached_property
    def lists(self) -> pd.DataFrame:
        """The lists and their gaps, by the first measure."""
        return gaps(self.evaluation, {"first": self.measure}, self.asked.traditional)

    @cached_property
    def summary(self) -> pd.DataFrame:
        """The notebook's summary, by the first measure and the second, best tied first."""
        other = self.asked.measures[min(1, len(self.asked.measures) - 1)]
        found = reranker_summary(self.evaluation, self.measure, other, self.asked.traditional)
        return found.loc[self.board.index]

    @cached_property
    def verdicts(self) -> Verdicts:
        """Differences from the baseline, by tied and by traditional values."""
        asked = self.asked
        how = asked.traditional, self.baseline, asked.test, asked.correction
        return verdicts(self.evaluation, self.measure, *how)

    @cached_property
    def chances(self) -> OrderStability:
        """Where the best rerankers can finish when every tie is broken at random."""
        values = self.evaluation.only(list(self.board.index[:MOST]))
        names = map(str, values.policies.index)
        rankings = {name: self.asked.scoring.ranking(self.runs, name) for name in names}
        return OrderStability.of(values, self.measure, rankings)

    @cached_property
    def tools(self) -> pd.DataFrame:
        """What other tools would report for the first measure."""
        return tool_values(self.runs, self.measure, self.rerankers)

    @cached_property
    def targets(self) -> pd.DataFrame:
        """Whether each reranker reaches each target, best first; `by_sort`: by its traditional value."""
        asked = self.asked
        tied, before = (
            reached(self.evaluation, self._targets, asked.traditional, self.baseline, by)
            for by in ("expected", asked.traditional)
        )
        place = {name: at for at, name in enumerate(self.board.index)}
        return tied.assign(by_sort=before["passed"]).sort_values(
            "reranker", key=lambda names: names.map(place), kind="stable", ignore_index=True
        )

    @cached_property
    def findings(self) -> pd.DataFrame:
        """What is odd about the runs."""
        return self.runs.findings
