"""The order of a published table by one measure, beside the tied order."""

import numpy as np
import pandas as pd
import pytest
from boards import COARSE, QRELS, STRICT, board
from published_tables import printed_table, small_board

from metrics import evaluate, read_runs
from metrics.studies.audit.audit import audit
from metrics.studies.audit.audited_order import (
    CAN_SWAP,
    STANDS,
    SWAPS,
    WITHIN_LUCK,
    audit_finding,
    audited_order,
    orders_by_measure,
    widest_first,
    written_chances,
)
from metrics.studies.audit.conventions import Convention
from metrics.studies.audit.published.reading import read_published
from metrics.studies.prose import plain


@pytest.fixture(scope="module")
def runs():
    return board(strict_trec=STRICT, coarse_trec=COARSE, qrels_txt=QRELS).runs


def audited(runs, text, measure="MRR"):
    result = audit(runs, read_published({"table.csv": text.encode()}))
    return result, audited_order(result, runs, measure)


def test_places_are_those_printed_and_the_interval_has_the_variance_of_queries_and_of_ties(runs):
    _, order = audited(runs, "reranker,MRR\ncoarse,0.9\nstrict,0.5\n")
    values = evaluate(runs, ["RR"], ["expected", "std"]).scores["RR"].loc["coarse"]
    n = len(values)
    variance = values["expected"].var(ddof=1) / n + np.square(values["std"]).sum() / n**2
    row = order.places.loc["coarse"]
    assert row["traditional_rank"] == 1
    assert row["traditional"] == 0.9
    assert row["tied"] == pytest.approx(values["expected"].mean())
    assert (row["query_high"] - row["query_low"]) / 2 == pytest.approx(1.959964 * np.sqrt(variance))
    assert order.n_queries == n


def test_a_table_that_prints_no_mean_has_no_order(runs):
    result, order = audited(runs, "reranker,query_id,MRR\nstrict,q1,1.0\ncoarse,q1,1.0\n")
    assert len(order.pairs) == len(order.places) == order.n_queries == 0
    assert plain(audit_finding(result, order)).endswith("By MRR, no order is printed.")


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
