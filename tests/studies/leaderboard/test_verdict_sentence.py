"""The verdict of a leaderboard: who leads, whether chance or the order of ties decides it, and by how much."""

import pytest
from boards import COARSE, EXTREMES, QRELS, STRICT, board
from scipy.stats import ttest_rel

from dashboard import cache
from metrics import evaluate
from metrics.studies.leaderboard.leaderboard import leaderboard
from metrics.studies.leaderboard.swapped_orders import swapped_orders
from metrics.studies.leaderboard.verdict_sentence import leaderboard_verdict, pair_p, swap_count
from metrics.studies.prose import plain


def verdict(runs, measure="RR", traditional="input"):
    evaluation = evaluate(runs, [measure], ["expected", traditional, "optimistic", "pessimistic"])
    rows, swaps = (
        leaderboard(evaluation, measure, traditional),
        swapped_orders(evaluation, measure, traditional),
    )
    return plain(leaderboard_verdict(rows, swaps, evaluation, measure, traditional))


def test_p_of_two_rerankers_is_that_of_the_paired_t_test():
    evaluation = evaluate(cache.sample_board().runs, ["RR"], ["expected"])
    names = ("BM25", "MiniLM grade 0-10")
    ours, theirs = (evaluation.scores.loc[name, ("RR", "expected")] for name in names)
    assert pair_p(evaluation, "RR", "expected", *names) == (pytest.approx(ttest_rel(ours, theirs).pvalue), 200)


def test_a_leader_by_file_order_alone_is_called_that():
    assert verdict(cache.sample_board().runs) == (
        "MiniLM grade 0-10 leads only because of how its ties were sorted. It is #1 by the file's order "
        "(MRR 0.773) and #7 when ties are averaged (0.688). 9 of 28 pairs change order; five of those "
        "differences are significant."
    )


def test_a_leader_passed_by_the_ties_of_others_is_not_said_to_lead_by_its_own():
    assert verdict(cache.sample_board().runs, traditional="docid_desc").startswith(
        "MiniLM float32 leads by trec_eval's order, MiniLM int8 when ties are averaged. Ties averaged, "
        "MiniLM int8 is 0.0019 MRR ahead of MiniLM float32 (p = 0.653, 200 queries)."
    )


def test_a_lead_of_two_that_queries_do_not_show_is_not_shown():
    text = verdict(EXTREMES["two rerankers with ties"]().runs)
    assert text == (
        "Not shown that strict beats coarse. Ties averaged, strict is 0.278 MRR ahead (p = 0.187, 4 queries). "
        "By the file's order, it would be 0.262 (p = 0.161)."
    )


def test_a_lead_of_two_that_queries_show_is_a_win_and_a_tie_order_that_reverses_it_is_said():
    def rows(name, scores):
        return "".join(
            f"{name},q{query},d{document},{score},{document == 1:d}\n"
            for query in range(12)
            for document, score in enumerate(scores)
        )

    header = "reranker,query_id,doc_id,score,relevance\n"
    relevant_second = rows("old", (2, 1, 0)) + rows("new", (1, 1, 0)).replace("q11,d0,1", "q11,d0,2")
    text = verdict(board(table_csv=header + relevant_second).runs)
    assert text.startswith("new beats old. Ties averaged, new is 0.229 MRR ahead (p <")
    assert text.endswith("(p > 0.999).")
    sorted_wrongly = rows("old", (1, 2, 0)).replace("q0,d1,2", "q0,d1,0") + rows("new", (1, 1, 0))
    reversed_text = verdict(board(table_csv=header + sorted_wrongly).runs, traditional="optimistic")
    assert "By the best order, new would be" in reversed_text


def test_without_a_tie_the_verdict_says_so_and_who_leads():
    runs = board(a_trec=STRICT, b_trec=STRICT.replace("0.9 tag", "0.1 tag"), qrels_txt=QRELS).runs
    assert verdict(runs).startswith("No documents tie, so no tie order matters. ")


def test_level_rerankers_are_level():
    runs = board(**{f"r{number}_trec": COARSE for number in range(3)}, qrels_txt=QRELS).runs
    assert verdict(runs) == "r0 and 2 more are level at the top: MRR 0.243. None of 3 pairs changes order."
    pair = board(a_trec=COARSE, b_trec=COARSE, qrels_txt=QRELS).runs
    assert verdict(pair) == "a and b are level. Both score 0.243 MRR."


def test_of_many_swaps_those_in_the_top_ten_and_the_significant_are_counted():
    evaluation = evaluate(cache.sample_board().runs, ["RR"], ["expected", "input"])
    swaps = swapped_orders(evaluation, "RR", "input")
    assert swap_count(swaps.assign(tied_place_b=11), 200) == (
        "9 of 19,900 pairs change order; none of them in the top 10, five of those differences are significant."
    )
