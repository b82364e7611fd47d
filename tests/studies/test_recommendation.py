import pytest
from boards import QRELS, STRICT, TIED, board

from metrics import evaluate, parse
from metrics.studies.leaderboard import leaderboard
from metrics.studies.pair_findings import verdicts
from metrics.studies.prose import plain
from metrics.studies.recommendation import recommendation
from metrics.studies.targets import check_targets, target_finding, target_summary, targets_of

TIES = ["input", "expected", "pessimistic", "optimistic"]


def advice(measure="RR", **files):
    runs = board(**files).runs
    values = evaluate(runs, [measure], TIES)
    rows = leaderboard(values, measure, "input")
    outcome = verdicts(values, measure, "input", runs.rerankers[0])
    return plain(recommendation(rows, outcome, parse(measure), runs.findings))


def test_without_ties_the_traditional_value_may_be_reported():
    sentence = advice(strict_trec=STRICT, qrels_txt=QRELS)
    assert sentence.startswith("No documents tie: traditional and tied scores are equal")
    assert sentence.endswith("You can report the traditional score.")


def test_if_ties_move_a_mean_the_tied_score_is_recommended():
    sentence = advice(strict_trec=STRICT, flat_trec=TIED, qrels_txt=QRELS)
    assert sentence.startswith("Report MTRR, the mean over all orders, with its worst and best case.")
    assert sentence.endswith("Tie order alone can put flat anywhere from 0.200 to 1.000.")
    assert sentence.count("its tied score") == 1


def test_a_gap_is_told_with_its_size_and_side():
    # ranks 5, 5, 3 and 4 of five: a mean of 0.2458, where H(5)/5 = 0.4567
    low = QRELS.replace("0 d0 1", "0 d4 1").replace("0 d1 1", "0 d4 1")
    sentence = advice(flat_trec=TIED, qrels_txt=low)
    assert "flat has a traditional MRR that is 0.211 too low, 46% below its tied score." in sentence


def test_where_nothing_relevant_is_listed_nothing_is_recommended():
    rows = "query_id,doc_id,score,relevance\nq,a,1,0\nq,b,1,0\n"
    assert advice(a_csv=rows) == "There is nothing to recommend: no tie order lifts any MRR above 0."


def test_a_measure_with_its_own_rule_needs_no_other():
    assert advice("taRR", flat_trec=TIED, qrels_txt=QRELS).startswith(
        "Report taRR together with MTRR, and name its tie rule. taRR settles ties by its own rule"
    )


def test_a_file_of_ranks_is_said_to_hide_its_ties():
    ranks = "".join(f"q{query}\td{document}\t{document + 1}\n" for query in range(4) for document in range(5))
    sentence = advice(msmarco_tsv=ranks, qrels_txt=QRELS)
    assert sentence.endswith("msmarco.tsv contains ranks instead of scores, which hides any ties.")


@pytest.fixture
def checked_targets():
    """Targets of a reranker that ties all five documents and lists the relevant one first."""
    runs = board(flat_trec=TIED, qrels_txt="".join(f"q{q} 0 d0 1\n" for q in range(4))).runs
    values = evaluate(runs, ["RR", "Hits@5"], TIES)
    targets = targets_of(["Hits@5>=1", "RR>=0.4", "RR>=0.9", "RR<=0.1"])
    return check_targets(values, targets, "input")


def test_targets_are_counted_by_what_meets_them(checked_targets):
    assert target_summary(checked_targets) == (4, 2, 3, 1, ("RR",))


def test_targets_that_only_the_sort_meets_are_named(checked_targets):
    assert plain(target_finding(checked_targets, "flat")) == (
        "flat meets 2 of 4 targets with ties averaged, 1 of them in every tie order, and 3 by traditional "
        "scores. Only traditional scores meet the target for RR."
    )
    assert plain(target_finding(checked_targets[:0], "flat")) == "No target is set for flat."
