"""Which documents to judge next, what that settles, and what judgments that came back have settled."""

from metrics.studies.leaderboard.judging.forms import csv_form, form_for, trec_form
from metrics.studies.leaderboard.judging.plan import COLUMNS, JudgingPlan, plan_judging
from metrics.studies.leaderboard.judging.prose import closing_text, plan_finding

__all__ = [
    "COLUMNS",
    "JudgingPlan",
    "closing_text",
    "csv_form",
    "form_for",
    "plan_finding",
    "plan_judging",
    "trec_form",
]
