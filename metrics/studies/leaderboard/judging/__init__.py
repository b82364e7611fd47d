"""Which documents to judge next, what that settles, and what judgments that came back have settled."""

from metrics.studies.leaderboard.judging.plan import COLUMNS, JudgingPlan, plan_judging

__all__ = ["COLUMNS", "JudgingPlan", "plan_judging"]
