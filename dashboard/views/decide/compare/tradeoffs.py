"""The section Trade-offs of Compare: what a better ranking costs in time, and whether it finds other things."""

from dataclasses import replace

from dashboard import cache
from dashboard.choices import View
from dashboard.views.decide.compare import cached
from dashboard.views.decide.compare import tradeoff_charts as sections
from dashboard.views.decide.compare.tradeoff_tables import experiment_table, figure_table, segment_gap_table
from dashboard.views.decide.compare.weights import weight_section
from dashboard.widgets.components import section_finding
from dashboard.widgets.first_rows import shown_rows, table_and_chart_places
from metrics import parse
from metrics.studies.tradeoffs.coverage import with_targets
from metrics.studies.tradeoffs.tradeoffs import tradeoff_finding


def tradeoff_section(view: View, measure: str, baseline: str, test: str, correction: str) -> None:
    """Draw quality beside time, depth and different targets, and every measure against the baseline.

    Args:
        view: what is shown.
        measure: of the quality.
        baseline: with which every measure is compared.
        test: name of the test.
        correction: name of the correction.
    """
    is_timed = bool(len(cached.list_speeds(view)))
    _, k, latency, budget = choices = sections.choose(measure, is_timed=is_timed)
    row_range = shown_rows(len(view.rerankers))
    n_drawn = row_range.n_shown
    rows = cached.ranked_tradeoffs(view, measure, view.traditional, latency)
    ordered = replace(view, rerankers=list(rows.index))
    covered = cached.depth_coverage(view, k, view.traditional)
    section_finding(tradeoff_finding(rows, covered, parse(measure).traditional, budget, k), view.rerankers)
    names_with_targets = [name for name in with_targets(view.board.runs) if name in view.rerankers]
    has_segments, has_targets = bool(len(cache.segments(view.board))), bool(names_with_targets)
    wide, narrow = sections.chart_places("speed", has_left=is_timed, has_right=has_targets)
    if is_timed:
        with wide:
            sections.latency_section(view, rows, choices, n_drawn)
    if has_targets:
        with narrow:
            sections.diversity_section(view, covered.loc[rows.index[:n_drawn]], k, is_alone=not is_timed)
    gaps = cached.segment_gaps(ordered, measure, view.traditional) if has_segments else None
    table_place, chart_place = table_and_chart_places(len(rows))
    with chart_place:
        sections.segments_and_recall(ordered, gaps, covered.loc[names_with_targets], choices, n_drawn)
        row_range.buttons()
    with table_place:
        experiment = cached.tested_experiment(ordered, k, view.traditional, baseline, test, correction)
        experiment_table(experiment, view.traditional, baseline, has_targets=has_targets)
        figure_table(rows.join(covered).reset_index(), measure, k, is_timed=is_timed, has_targets=has_targets)
        if gaps is not None:
            segment_gap_table(gaps, measure)
    weight_section(view, measure)
    sections.hidden_charts(view, {"latency": is_timed, "segment": has_segments, "target_id": has_targets})
