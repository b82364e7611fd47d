"""The verdict of a leaderboard: who leads, whether chance or the order of ties decides it, and by how much."""

from dataclasses import replace

import numpy as np
from boards import COARSE, EXTREMES, QRELS, STRICT, board

from dashboard import cache
from metrics import evaluate
from metrics.studies.draws import same_runs
from metrics.studies.leaderboard import leaderboard
from metrics.studies.pair_findings import p_text as written_test
from metrics.studies.pair_findings import verdicts
from metrics.studies.pairs import compare, find_pairs
from metrics.studies.prose import decimal, plain
from metrics.studies.swapped_orders import swap_count, swapped_orders
from metrics.studies.verdict_sentence import leaderboard_verdict, query_sets

HEADER = "reranker,query_id,doc_id,score,relevance\n"


def verdict(runs, measure="RR", traditional="input", **options):
    evaluation = evaluate(runs, [measure], ["expected", traditional, "optimistic", "pessimistic"], **options)
    rows, pairs = leaderboard(evaluation, measure, traditional), verdicts(evaluation, measure, traditional)
    swaps = swapped_orders(evaluation, measure, traditional, pairs=pairs.tied)
    copies = same_runs(runs, evaluation, measure)
    return plain(leaderboard_verdict(rows, swaps, pairs, evaluation, measure, copies))


def rows(name, scores, queries=range(12), relevant=1):
    return "".join(
        f"{name},q{query},d{document},{score},{document == relevant:d}\n"
        for query in queries
        for document, score in enumerate(scores)
    )


def test_difference_and_p_are_those_of_the_table_of_pairs():
    evaluation = evaluate(cache.sample_board(cache.PROMPTS_LABEL).runs, ["RR"], ["expected"])
    row = find_pairs(compare(evaluation, "RR"), ["MiniLM prompt 1"], ["MiniLM prompt 2"]).iloc[0]
    text = verdict(cache.sample_board(cache.PROMPTS_LABEL).runs)
    assert f"{decimal(row['difference'])} MTRR ahead of MiniLM prompt 2 ({written_test(row)})" in text


def test_geometric_means_are_ranked_and_their_arithmetic_means_are_compared():
    runs = cache.sample_board(cache.PROMPTS_LABEL).runs
    text = verdict(runs, "gm_map")
    row = find_pairs(
        compare(evaluate(runs, ["AP"], ["expected"]), "AP"), ["MiniLM prompt 1"], ["MiniLM prompt 2"]
    ).iloc[0]
    assert (
        f"{decimal(row['difference'])} tied MAP ahead of MiniLM prompt 2 "
        f"({written_test(row)}; {row['n_differ']} of 100 queries differ)" in text
    )


def test_a_leader_by_file_order_alone_is_called_that_and_the_tied_leader_and_its_rivals_are_named():
    assert verdict(cache.sample_board().runs) == (
        "MiniLM grade 0-10 leads only because of its tie order: #1 by file order (MRR 0.773), #7 with ties "
        "averaged (0.688). MiniLM int8 is first (0.741), and seven rerankers cannot be told apart."
    )


def test_a_leader_passed_by_the_ties_of_others_is_not_said_to_lead_by_its_own():
    text = verdict(cache.sample_board().runs, traditional="docid_desc")
    assert text.startswith("By trec_eval's order, MiniLM float32 leads; with ties averaged, MiniLM int8 leads.")
    assert "MiniLM int8 is 0.0019 MTRR ahead of MiniLM float32" in text
    assert text.endswith("(p > 0.999; 20 of 200 queries differ), and seven rerankers cannot be told apart.")


def test_the_prompts_open_with_who_leads_and_that_chance_may_decide_it():
    text = verdict(cache.sample_board(cache.PROMPTS_LABEL).runs)
    assert text.startswith(
        "MiniLM prompt 1 leads in every tie order (MTRR 0.745), but five rerankers cannot be told apart."
    )
    assert "0.0020 MTRR ahead of MiniLM prompt 2" in text
    assert "(p > 0.999; 16 of 100 queries differ)" in text
    assert "No pair of rerankers changes order" in text


def test_rivals_are_those_that_the_leader_does_not_beat_and_mutually_alike_only_if_no_pair_differs():
    runs = cache.sample_board().runs
    evaluation = evaluate(runs, ["RR"], ["expected", "input", "optimistic", "pessimistic"])
    rows, pairs = leaderboard(evaluation, "RR", "input"), verdicts(evaluation, "RR", "input")
    swaps = swapped_orders(evaluation, "RR", "input", pairs=pairs.tied)

    def sentence(name, other=None):
        names = pairs.tied[["baseline", "reranker"]]
        is_shown = names.isin([name]).any(axis=1) & names.isin([other or name]).any(axis=1)
        tied = pairs.tied.assign(p_adjusted=np.where(is_shown, 0.01, 1.0))
        return plain(leaderboard_verdict(rows, swaps, replace(pairs, tied=tied), evaluation, "RR"))

    assert sentence("nobody").endswith("and the eight rerankers cannot be told apart.")
    assert sentence("BM25", "TF-IDF").endswith("and seven others cannot be told from it.")
    assert sentence("BM25").endswith("and seven rerankers cannot be told apart.")
    beaten = pairs.tied[["baseline", "reranker"]].isin(["MiniLM int8"]).any(axis=1)
    beaten &= ~pairs.tied[["baseline", "reranker"]].isin(["BM25"]).any(axis=1)
    tied = pairs.tied.assign(p_adjusted=np.where(beaten, 0.01, 1.0))
    text = plain(leaderboard_verdict(rows, swaps, replace(pairs, tied=tied), evaluation, "RR"))
    assert text.endswith("is first (0.741), and BM25 cannot be told from it.")
    assert sentence("MiniLM int8").endswith("is first (0.741), significantly better than all others.")


def test_a_lead_of_two_that_queries_do_not_show_is_not_shown():
    text = verdict(EXTREMES["two rerankers with ties"]().runs)
    assert text == (
        "strict leads in every tie order (MTRR 0.521), but the two rerankers cannot be told apart. With ties "
        "averaged, it is 0.278 MTRR ahead of coarse (p = 0.125; 4 of 4 queries differ); by file order, strict "
        "is 0.263 ahead (p = 0.125)."
    )


def test_a_significant_lead_is_a_win_and_a_reversing_tie_order_is_named():
    relevant_second = rows("old", (2, 1, 0)) + rows("new", (1, 1, 0)).replace("q11,d0,1", "q11,d0,2")
    text = verdict(board(table_csv=HEADER + relevant_second).runs)
    assert text.startswith(
        "new leads (MTRR 0.729), significantly better than old. With ties averaged, it is "
        "0.229 MTRR ahead of old (p ="
    )
    assert text.endswith("; by file order, both score the same.")
    sorted_wrongly = rows("old", (1, 2, 0)).replace("q0,d1,2", "q0,d1,0") + rows("new", (1, 1, 0))
    reversed_text = verdict(board(table_csv=HEADER + sorted_wrongly).runs, traditional="optimistic")
    assert reversed_text.startswith("new leads only because of its tie order: #1 by the best order (MRR 1.000)")
    assert reversed_text.endswith("old is first (0.951), significantly better than new.")


def test_rerankers_that_share_the_first_tied_rank_are_first_together():
    level = rows("even", (1, 1, 0, 0)) + rows("level", (2, 2, 0, 0))
    few, many = (rows("lucky", (0, *[1] * n)) + level for n in (3, 5))
    start = "By file order, lucky leads; with ties averaged, even and level lead. "
    assert verdict(board(table_csv=HEADER + few).runs).startswith(start)
    far = verdict(board(table_csv=HEADER + many).runs)
    assert far.startswith(
        "lucky leads only because of its tie order: #1 by file order (MRR 1.000), #3 with ties "
    )
    assert "even and level are first (0.750)" in far


def test_without_a_tie_the_verdict_says_so_what_still_matters_and_who_leads():
    runs = board(a_trec=STRICT, b_trec=STRICT.replace("0.9 tag", "0.1 tag"), qrels_txt=QRELS).runs
    still = "No documents tie, so tie order does not matter. "
    assert verdict(runs).startswith(
        f"{still}a leads (MRR 0.521), but the two rerankers cannot be told apart. It is 0.012 "
    )
    three = board(a_trec=STRICT, b_trec=STRICT, c_trec=STRICT.replace("0.9 ", "0.1 "), qrels_txt=QRELS)
    assert "Ties averaged" not in verdict(three.runs)
    assert verdict(board(a_trec=STRICT, qrels_txt=QRELS).runs).startswith(f"{still}a scores 0.521 MRR.")


def test_one_reranker_is_told_how_far_its_ties_alone_can_move_it():
    text = verdict(board(a_trec=COARSE, qrels_txt=QRELS).runs)
    assert text.startswith("Tie order alone can put a anywhere from 0.200 to 0.292 MRR")
    assert "With ties averaged, it scores 0.243" in text
    assert "by file order, 0.258" in text
    assert text.endswith("There is no other reranker to compare it with.")


def test_lists_that_are_one_tie_each_rank_nothing():
    text = verdict(EXTREMES["all tied"]().runs)
    assert text.startswith("All documents of every list tie, so these scores do not rank the documents. ")
    assert not verdict(board(a_trec=COARSE, qrels_txt=QRELS).runs).startswith("Every list")


def test_where_nothing_is_relevant_the_verdict_says_what_to_check():
    assert verdict(EXTREMES["nothing relevant"]().runs) == (
        "Every MRR is 0: no query has a relevant document. Check the judgments and the smallest relevant grade."
    )
    without_grade_2 = verdict(EXTREMES["two rerankers with ties"]().runs, relevant_from=2)
    assert without_grade_2.startswith("Every MRR is 0: no query has a relevant document.")
    assert "the same query IDs" in verdict(EXTREMES["no query in common"]().runs)


def test_runs_of_the_same_ranking_are_called_that_and_level_runs_of_others_are_not():
    runs = board(**{f"r{number}_trec": COARSE for number in range(3)}, qrels_txt=QRELS).runs
    text = verdict(runs)
    assert text.startswith("r0 and 2 more share the lead: MTRR 0.243.")
    assert "No pair of rerankers changes order" in text
    assert text.endswith("r0, r1 and 1 more have the same ranking.")
    pair = board(a_trec=COARSE, b_trec=COARSE, qrels_txt=QRELS).runs
    assert verdict(pair) == "a and b share the lead: MTRR 0.243. a and b have the same ranking."
    longer = COARSE + "q0 Q0 last 5 -1 tag\n"
    level = board(a_trec=COARSE, b_trec=longer, qrels_txt=QRELS).runs
    assert verdict(level) == "a and b share the lead: MTRR 0.243."
    turned = board(a_trec=COARSE, b_trec="".join(reversed(COARSE.splitlines(keepends=True))), qrels_txt=QRELS)
    assert "the same ranking" in verdict(turned.runs)


def test_a_lead_that_two_share_says_who_leads_by_the_tie_order_and_counts_the_swaps():
    orders = {"a": ("d0 1", "d1 1"), "b": ("d1 1", "d0 1"), "c": ("d0 2", "d1 1")}
    table = "".join(
        f"{name},q{query},{document},{score},{int(document == 'd1')}\n"
        for name, lines in orders.items()
        for query in range(6)
        for document, score in map(str.split, lines)
    )
    text = verdict(board(table_csv=HEADER + table).runs)
    assert text.startswith("a and b share the lead: MTRR 0.750; by file order, b is 0.500 ahead (p = 0.0")
    assert ". No pair of rerankers changes order when ties are averaged. " in text


def test_tie_groups_and_their_order_decide_whether_rankings_are_the_same_not_scores():
    doubled = COARSE.replace(" 1 tag", " 7 tag")
    assert "have the same ranking" in verdict(board(a_trec=COARSE, b_trec=doubled, qrels_txt=QRELS).runs)
    rounded = COARSE.replace(" 1 tag", " 1.04 tag").replace("d1 1 1.04", "d1 1 1.01")
    runs = board(a_trec=COARSE, b_trec=rounded, qrels_txt=QRELS).runs
    assert "have the same ranking" in verdict(runs, precision="decimals:1")
    assert "have the same ranking" not in verdict(runs)


def test_one_common_query_gives_no_p_and_no_verdict_on_significance():
    one_query = rows("old", (1, 2, 0), range(1)) + rows("new", (1, 1, 0), range(1))
    text = verdict(board(table_csv=HEADER + one_query).runs)
    assert text == (
        "old leads (MTRR 1.000). With ties averaged, it is 0.250 MTRR ahead of new (1 query, too few for a "
        "test); by file order, old is 0.500 ahead."
    )
    three = one_query + rows("third", (1, 1, 1), range(1))
    three_text = verdict(board(table_csv=HEADER + three).runs, traditional="optimistic")
    assert three_text.startswith("old leads")
    assert "signific" not in text + three_text


def test_rerankers_without_a_common_query_are_not_said_to_score_the_same():
    apart = rows("old", (1, 2, 0), range(6)) + rows("new", (1, 1, 0), range(6, 12))
    assert verdict(board(table_csv=HEADER + apart).runs).endswith(
        "not comparable with new, because they share no query."
    )
    three = verdict(board(table_csv=HEADER + apart + rows("third", (1, 1, 1), range(6, 12))).runs)
    assert "not comparable with new, because they share no query." in three


def test_ranks_over_other_queries_are_said_to_compare_them_and_how_to_mend_that():
    text = rows("old", (1, 2, 0), range(6)) + rows("new", (1, 1, 0), range(2, 12))
    runs = board(table_csv=HEADER + text).runs
    sentence = verdict(runs, missing="skip")
    assert sentence.startswith(
        "The rerankers are scored on different queries. Both rerankers share 4 of 12 queries. Count "
    )
    assert "but the two rerankers cannot be told apart" in sentence
    assert "4 queries" in sentence


def test_of_many_swaps_those_in_the_top_ten_and_the_significant_are_counted():
    evaluation = evaluate(cache.sample_board().runs, ["RR"], ["expected", "input"])
    swaps = swapped_orders(evaluation, "RR", "input")
    assert plain(swap_count(swaps.assign(tied_place_b=11), 200)) == (
        "9 of 19,900 pairs change order when ties are averaged, five of them significant; none in the top 10."
    )
    assert plain(swap_count(swaps.head(0), 200)) == "No pair of rerankers changes order when ties are averaged."
    significant = swaps[swaps["verdict"] != "swaps"].head(1)
    assert (
        plain(swap_count(significant, 12))
        == "1 of 66 pairs changes order when ties are averaged, which is significant; one in the top 10."
    )


def test_means_over_other_queries_of_a_judged_table_say_how_to_compare():
    text = (
        rows("a", (1, 2, 0), range(6)) + rows("b", (1, 1, 0), range(2, 8)) + rows("c", (2, 1, 0), range(1, 7))
    )
    evaluation = evaluate(board(table_csv=HEADER + text).runs, ["RR"], ["expected", "input"])
    sentences = plain(query_sets(evaluation, "RR"))
    assert sentences.startswith("The rerankers are scored on different queries.")
    assert "All rerankers share 4 of 8 queries." in sentences
    assert "Give judgments in a separate file to count missing queries as 0." in sentences
    assert sentences.endswith("only the queries that both rerankers have. ")
    even = evaluate(board(table_csv=HEADER + rows("a", (1, 2, 0), range(6))).runs, ["RR"], ["expected"])
    assert query_sets(even, "RR") == ()
