"""What unjudged documents leave open, where there are any."""

import pandas as pd

from metrics.evaluation import EQUAL, score_runs
from metrics.evaluation.holes import is_exact, joint_bounds, judged_name, unjudged_counts, unjudged_shares
from metrics.evaluation.options import adds_queries
from metrics.report.studies import ReportStudies
from metrics.report.tables import FOUR_DECIMALS, Table
from metrics.studies.leaderboard.holes import (
    QUERIES_MAY_JOIN,
    are_bounds_known,
    hole_finding,
    mean_bounds,
    within_words,
)
from metrics.studies.prose import Prose


def holes(studies: ReportStudies) -> tuple[tuple[Prose, ...], tuple[Table, ...]]:
    """Return a sentence and a table of what ties and unjudged documents together allow.

    Both are empty where all documents within the cut-off are judged, or unjudged ones are left out; where a
    judgment may add a query to the means, the sentence says that.
    """
    runs, measure, scoring = studies.runs, studies.measure_at, studies.options.scoring
    if runs.qrels is None or not are_bounds_known(measure) or scoring.unjudged == "leave_out":
        return (), ()
    lists = studies.evaluation.scores.index
    counts = unjudged_counts(score_runs(runs, judged_name(measure), "expected", scoring), measure).loc[lists]
    if counts["unjudged"].sum() <= EQUAL:
        return (), ()
    if adds_queries(runs, scoring):
        return ((QUERIES_MAY_JOIN,),), ()
    means = mean_bounds(joint_bounds(runs, studies.measure, scoring).loc[lists, studies.measure])
    leaderboard = studies.leaderboard.assign(unjudged=unjudged_shares(counts)).join(means)
    return (hole_finding(leaderboard, counts, measure),), (_bounds_table(studies, leaderboard),)


def _bounds_table(studies: ReportStudies, leaderboard: pd.DataFrame) -> Table:
    """Return between what each mean lies, and how much nobody judged."""
    ends = ("lowest", "worst", "tied", "best", "highest")
    columns = {
        "Reranker": leaderboard.index,
        "Unjudged": (leaderboard["unjudged"], ".1%"),
        **{name.capitalize(): (leaderboard[name], FOUR_DECIMALS) for name in ends},
    }
    place = within_words(studies.measure_at)
    note = (
        f"Unjudged: of the documents in the {place}. Worst, tied, best: over orders of the ties, unjudged "
        "documents not relevant. Lowest, highest: over these and all judgments of unjudged documents"
    ) + ("." if is_exact(studies.runs, studies.measure_at) else "; proven, and not always reached.")
    return Table.of(f"{studies.measure_at.traditional} where judgments have holes", columns, note)
