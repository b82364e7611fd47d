"""What judgments that came back are worth, and that no query, list or grade is lost on the way to it."""

import pandas as pd
import pytest

from metrics import UsageError, parse, read_runs
from metrics.evaluation import ScoringOptions, score_runs
from metrics.evaluation.holes import joint_bounds
from metrics.studies.leaderboard.judging import JudgingPlan, closing_text, plan_finding, plan_judging
from metrics.studies.leaderboard.judging.one_query import relevance_chances
from metrics.studies.leaderboard.judging.plan import plan_depth
from metrics.studies.leaderboard.judging.returned import judgments_value, value_finding
from metrics.studies.prose import plain


def board(rows, qrels):
    """A run of (query, document, score), or several of them by name, and judgments."""
    by_name = rows if isinstance(rows, dict) else {"A": rows}
    run = pd.DataFrame(
        [(name, *row) for name, part in by_name.items() for row in part],
        columns=["reranker", "query_id", "doc_id", "score"],
    )
    judgments = pd.DataFrame(qrels, columns=["query_id", "doc_id", "relevance"])
    return read_runs(run.astype({"score": float}), judgments.astype({"relevance": float}))


def test_a_query_whose_only_judgments_are_outside_the_lists_counts_in_the_plan():
    runs = board(
        [("q1", "a", 2), ("q1", "b", 1), ("q2", "c", 2), ("q2", "d", 1)], [("q1", "z", 0), ("q2", "c", 1)]
    )
    assert plan_judging(runs, "Hits@1", rate=0.5).width == 0.5


def test_bpref_is_planned_with_all_that_was_judged_not_relevant():
    run = [("q1", "a", 3), ("q1", "b", 2), ("q1", "c", 1)]
    plan = plan_judging(
        board(run, [("q1", "z", 0), ("q1", "y", 0), ("q1", "b", 1), ("q1", "x", 1)]), "bpref", rate=0.5
    )
    assert plan.width == 0.5
    narrowing = plan.documents.set_index("doc_id")["narrowing"]
    assert narrowing[["a", "c"]].to_list() == pytest.approx([0.3611, 0.1389], abs=1e-4)


UNEVEN = {"A": [("q1", "a", 2), ("q1", "b", 1), ("q2", "c", 1)], "B": [("q1", "b", 2), ("q1", "a", 1)]}


@pytest.mark.parametrize("missing", ["zero", "skip"])
def test_widths_are_those_of_the_means_that_the_leaderboard_has(missing):
    options, first = ScoringOptions(missing=missing), [("q1", "a", 1), ("q2", "d", 1)]
    before, after = board(UNEVEN, first), board(UNEVEN, [*first, ("q1", "b", 0)])
    widths = []
    for runs in (before, after):
        bars = score_runs(runs, "P@1", ["lowest", "highest"], options).means("P@1")
        widths.append(float((bars["highest"] - bars["lowest"]).mean()))
        assert plan_judging(runs, "P@1", options, rate=0.5).width == pytest.approx(widths[-1])
    value = judgments_value(before, after, "P@1", options)
    assert [value.width_before, value.width] == pytest.approx(widths)
    plan = plan_judging(before, "P@1", options, rate=0, draws=1)
    row = plan.documents.set_index("doc_id").loc["b"]
    assert row["narrowing"] == pytest.approx(2 * (widths[0] - widths[1]))


def test_a_grade_above_every_earlier_one_widens_bars_and_that_is_said():
    run = [("q", name, 9 - place) for place, name in enumerate("abcdef")]
    before, after = board(run, [("q", "a", 1)]), board(run, [("q", "a", 1), ("q", "b", 3)])
    value = judgments_value(before, after, "DCG@5")
    said = plain(value_finding(value, plan_judging(after, "DCG@5", rate=0.5)))
    assert "bars of DCG@5 widened from" in said
    assert "grade 3 is above every earlier one" in said
    assert "-" not in said


def test_queries_first_judged_since_are_named_and_not_compared():
    run = [("q1", "a", 2), ("q1", "b", 1), ("q2", "a", 2), ("q2", "b", 1)]
    before, after = board(run, [("q1", "a", 1)]), board(run, [("q1", "a", 1), ("q2", "a", 1), ("q2", "b", 0)])
    value = judgments_value(before, after, "P@2")
    assert (value.n_judged, value.n_queries_added, value.width_before) == (0, 1, value.width)
    assert "1 query first judged since: not compared." in plain(
        value_finding(value, plan_judging(after, "P@2", rate=0.5))
    )


@pytest.mark.parametrize("name", ["RBP", "ndcg@10", "MRR"])
def test_a_measure_is_known_by_any_of_its_names(name):
    run = [("q", "a", 2), ("q", "b", 1)]
    before, after = board(run, [("q", "a", 1)]), board(run, [("q", "a", 1), ("q", "b", 0)])
    assert judgments_value(before, after, name).n_judged == 1


def test_plans_are_refused_where_a_judgment_may_add_a_query():
    runs = board([("q1", "a", 1), ("q2", "b", 1)], [("q1", "a", 1), ("q2", "c", 0)])
    for study in (plan_judging, joint_bounds):
        with pytest.raises(UsageError, match="empty='zero'"):
            study(runs, "RR", ScoringOptions(empty="skip"))


def test_where_nothing_is_open_nothing_is_said_of_ties_nor_of_a_share():
    plan = plan_judging(board([("q", "a", 2), ("q", "b", 1)], [("q", "a", 1)]), "RR@10", rate=0.5)
    assert (plan.width, plan.documents["narrowing"].to_list()) == (0, [0])
    assert (
        plain(plan_finding(plan)) == "Nothing is open of MRR@10: neither ties nor unjudged documents move it."
    )
    assert "%" not in closing_text(plan, 1)


def test_what_counts_judgments_is_not_narrowed_by_them_and_that_is_said():
    runs = board([("q", "a", 2), ("q", "b", 1)], [("q", "a", 1)])
    with pytest.raises(UsageError, match="no judgment narrows it"):
        plan_judging(runs, "Judged@5", rate=0.5)


def curved(in_order, at_random):
    """A plan of five documents and these widths."""
    curve = pd.DataFrame({"judged": range(6), "in_order": in_order, "at_random": at_random})
    return JudgingPlan("infAP", 10, 1, pd.DataFrame({"doc_id": list("abcde")}), curve)


def test_widths_that_rise_again_count_as_the_narrowest_so_far():
    plan = curved([1.0, 0.4, 0.2, 0.6, 0.5, 0.3], [1.0, 0.9, 0.8, 0.6, 0.5, 0.3])
    assert plan.floor == 0.2
    assert plan.share_closed(range(6)).tolist() == pytest.approx([0, 0.75, 1, 1, 1, 1])
    assert plan.halving() == 1


def test_a_random_order_that_is_faster_is_said_to_be():
    plan = curved([1.0, 0.9, 0.8, 0.5, 0.2, 0], [1.0, 0.4, 0.2, 0.1, 0.1, 0])
    assert "3 judgments in this order halve" in plain(plan_finding(plan))
    assert ", 1 in random order" in plain(plan_finding(plan))


def test_rates_are_told_by_the_whole_board_and_bars_are_of_the_rerankers_that_count():
    rows = {"A": [("q", "a", 3), ("q", "b", 2), ("q", "c", 1)], "B": [("q", name, 9) for name in "cdefg"]}
    whole = board(rows, [("q", name, int(name != "c")) for name in "cdef"])
    shown = whole.arranged({"A": "A"})
    plan = plan_judging(shown, "RR", board=whole)
    bounds = joint_bounds(shown, "RR")["RR"]
    assert plan.width == pytest.approx(float((bounds["highest"] - bounds["lowest"]).iloc[0]))
    of_a, at_zero, at_one, alone = (
        each.documents.set_index("doc_id").loc["a", "narrowing"]
        for each in (plan, *(plan_judging(shown, "RR", rate=rate) for rate in (0, 1, None)))
    )
    chances = relevance_chances(whole, ScoringOptions(), plan_depth(parse("RR")))
    ways = [(1 - chance) * at_zero + chance * at_one for chance in chances]
    assert min(abs(of_a - way) for way in ways) < 1e-9
    assert abs(of_a - alone) > 1e-6
