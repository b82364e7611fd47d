"""The order of a published table by one measure, beside the tied order."""

from itertools import chain

import numpy as np
import pandas as pd
import pytest
from boards import COARSE, QRELS, STRICT, board
from published_tables import printed_table, small_board
from scipy import stats

from metrics import Runs, evaluate, read_runs
from metrics.studies.audit.audit import audit
from metrics.studies.audit.audited_order import (
    CAN_SWAP,
    STANDS,
    SWAPS,
    VERDICTS,
    WITHIN_LUCK,
    audit_finding,
    audited_order,
    orders_by_measure,
    pair_verdicts,
    standing_finding,
    widest_first,
    written_chances,
)
from metrics.studies.audit.conventions import Convention
from metrics.studies.audit.published import read_published
from metrics.studies.draws import draws
from metrics.studies.pairs import compare, find_pairs
from metrics.studies.prose import plain


@pytest.fixture(scope="module")
def runs():
    return board(strict_trec=STRICT, coarse_trec=COARSE, qrels_txt=QRELS).runs


def audited(runs, text, measure="MRR"):
    result = audit(runs, read_published({"table.csv": text.encode()}))
    return result, audited_order(result, runs, measure)


def test_ranks_are_those_printed_and_intervals_are_students_over_queries(runs):
    _, order = audited(runs, "reranker,MRR\ncoarse,0.9\nstrict,0.5\n")
    values = evaluate(runs, ["RR"], ["expected"]).scores["RR", "expected"].loc["coarse"]
    interval = stats.t.interval(0.95, len(values) - 1, values.mean(), stats.sem(values))
    row = order.places.loc["coarse"]
    assert row["traditional_rank"] == 1
    assert row["traditional"] == 0.9
    assert row["tied"] == pytest.approx(values.mean())
    assert row[["query_low", "query_high"]].to_list() == pytest.approx(list(interval))
    assert row["n"] == len(values)


def test_a_table_that_prints_no_mean_has_no_order(runs):
    result, order = audited(runs, "reranker,query_id,MRR\nstrict,q1,1.0\ncoarse,q1,1.0\n")
    assert len(order.pairs) == len(order.places) == 0
    assert plain(audit_finding(result, order)).endswith("By MRR, the table ranks no reranker above another.")


def test_pairs_that_swap_come_first_the_widest_first_and_then_the_closest():
    pairs = pd.DataFrame(
        {
            "tied_difference": [0.3, -0.1, 0.1, -0.2, 0.05],
            "verdict": ["stands", "swaps", "within luck", "swaps", "ties can swap"],
            "p_above": [1.0, 0.2, 0.9999, 0.0, 1.0],
        }
    )
    assert list(widest_first(pairs).index) == [3, 1, 4, 2, 0]
    assert written_chances(pairs) == ["every order", "20%", "every order", "under 1%", "over 99%"]


def test_the_orders_of_every_measure_are_counted_as_those_of_one():
    frame, qrels = small_board()
    runs = read_runs(frame, qrels)
    result = audit(runs, read_published({"t.csv": printed_table(runs, Convention("pessimistic")).encode()}))
    table = orders_by_measure(result)
    assert list(table.index) == result.measures
    for measure, counts in table.iterrows():
        verdicts = audited_order(result, runs, measure).pairs["verdict"].value_counts()
        assert counts["n_orders"] == verdicts.sum()
        assert counts["hold"] == verdicts.reindex([WITHIN_LUCK, STANDS]).sum()
        assert counts["can_swap"] == verdicts.get(CAN_SWAP, 0)
        assert counts["swap"] == verdicts.get(SWAPS, 0)
    assert table[["hold", "can_swap"]].sum().gt(0).all()


@pytest.mark.parametrize(
    ("header", "first"),
    [
        ("P_5,recip_rank,ndcg_cut_10", "recip_rank"),
        ("map,ndcg_cut_5,ndcg_cut_10", "ndcg_cut_10"),
        ("map,MRR@5", "MRR@5"),
        ("num_q,map,P_5", "map"),
    ],
)
def test_the_first_order_is_by_rr_or_ndcg_and_one_is_found_by_our_name(runs, header, first):
    text = f"run,{header}\nstrict{',.5' * len(header.split(','))}\ncoarse{',.4' * len(header.split(','))}\n"
    result = audit(runs, read_published({"t.csv": text.encode()}))
    assert result.first_measure == first
    assert result.published_measure(result.names.measure(first)) == first
    assert result.published_measure("nothing") == ""


def lists(name, relevant_at, n=20, *, tied=()):
    """One list of three documents a query, the relevant one at some place, or tied with all others."""
    rows = []
    for query in range(n):
        for place in range(3):
            score = 1.0 if query in tied else 3.0 - place
            rows.append((name, f"q{query}", f"d{place}", score, int(place == relevant_at(query))))
    return rows


def studied(*rerankers):
    frame = pd.DataFrame(chain(*rerankers), columns=["reranker", "query_id", "doc_id", "score", "relevance"])
    runs = Runs.from_frame(frame)
    return draws(runs, "RR")


BOARD = studied(
    lists("first", lambda _: 0),
    lists("mixed", lambda query: query % 2),
    lists("alike", lambda query: (query + 1) % 2 if query else 0),
    lists("tied", lambda _: 0, tied=range(20)),
    lists("last", lambda _: 2),
)
"""MRR 1, .75, .775, .6111 (1/3 to 1) and 1/3."""
COMPARED = compare(BOARD.evaluation, "RR")


def verdicts(**published):
    return pair_verdicts(pd.Series(published), BOARD, COMPARED)


def test_each_printed_order_has_the_verdict_of_its_ties_and_queries():
    rows = verdicts(tied=0.9, first=0.95, alike=0.775, mixed=0.75, last=0.3)
    found = {(row.a, row.b): row.verdict for row in rows.itertuples()}
    assert found == {
        ("first", "tied"): STANDS,
        ("first", "alike"): STANDS,
        ("first", "mixed"): STANDS,
        ("first", "last"): STANDS,
        ("tied", "alike"): SWAPS,
        ("tied", "mixed"): SWAPS,
        ("tied", "last"): STANDS,
        ("alike", "mixed"): WITHIN_LUCK,
        ("alike", "last"): STANDS,
        ("mixed", "last"): STANDS,
    }
    assert set(found.values()) <= set(VERDICTS)
    swapped = verdicts(mixed=0.8, tied=0.7)
    assert swapped["verdict"].tolist() == [CAN_SWAP]
    assert 0.5 < swapped["p_above"].iloc[0] < 1


def test_p_are_those_of_the_table_of_pairs():
    rows = verdicts(first=0.9, alike=0.8, mixed=0.8)
    found = find_pairs(COMPARED, rows["a"], rows["b"])
    assert rows[["p", "p_adjusted"]].equals(found[["p", "p_adjusted"]])
    assert len(rows) == 2


def test_figures_printed_alike_have_no_order():
    rows = verdicts(first=0.9, alike=0.8, mixed=0.8)
    assert list(zip(rows["a"], rows["b"], strict=True)) == [("first", "alike"), ("first", "mixed")]
    assert not len(verdicts(alike=0.8, mixed=0.8))
    assert not len(verdicts(alike=0.8))


PRINTED = "pairs with different published means"
FIRM = "in every tie order"
AVERAGED = "with ties averaged"
OPEN = "in some tie orders, but not with ties averaged"


@pytest.mark.parametrize(
    ("stand", "swap", "significant", "can", "sentence"),
    [
        (
            63,
            3,
            0,
            0,
            f"Of 66 {PRINTED}, 63 keep their order {FIRM}; three swap {AVERAGED}, none of them significant.",
        ),
        (1, 0, 0, 0, f"The only pair with different published means is ranked the same way {FIRM}."),
        (0, 1, 1, 0, f"The only pair with different published means swaps {AVERAGED}, which is significant."),
        (0, 0, 0, 1, f"The only pair with different published means swaps {OPEN}."),
        (6, 0, 0, 0, f"Of six {PRINTED}, all keep their order {FIRM}."),
        (
            0,
            12,
            12,
            0,
            f"Of 12 {PRINTED}, none keep their order {FIRM}; 12 swap {AVERAGED}, all of them significant.",
        ),
        (
            1,
            1,
            0,
            0,
            f"Of two {PRINTED}, one keeps its order {FIRM}; one swaps {AVERAGED}, which is not significant.",
        ),
        (2, 0, 0, 1, f"Of three {PRINTED}, two keep their order {FIRM}; one swaps {OPEN}."),
        (0, 0, 0, 0, "The table ranks no reranker above another."),
    ],
)
def test_the_sentence_counts_what_stands_and_what_swaps(stand, swap, significant, can, sentence):
    names = [WITHIN_LUCK] * (stand // 2) + [STANDS] * (stand - stand // 2) + [SWAPS] * swap + [CAN_SWAP] * can
    is_significant = np.array([name == STANDS for name in names])
    is_significant[stand : stand + significant] = True
    rows = pd.DataFrame({"verdict": names, "is_significant": is_significant})
    assert plain(standing_finding(rows)) == sentence
