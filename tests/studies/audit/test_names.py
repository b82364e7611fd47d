"""Published names, matched to those of the runs where they say it, and left alone where they do not."""

import pandas as pd
import pytest

import metrics
from metrics import UsageError
from metrics.studies.audit.audit import audit
from metrics.studies.audit.names import match_names, our_measure
from metrics.studies.audit.published import read_published


def runs_of(*names, n_documents=1):
    rows = [(name, "q", f"d{number}", -number, 1) for name in names for number in range(n_documents)]
    columns = ["reranker", "query_id", "doc_id", "score", "relevance"]
    return metrics.read_runs(pd.DataFrame(rows, columns=columns))


def matches(published, rerankers, by_hand=None, measure="AP"):
    rows = "\n".join(f'"{name}",0.{number + 1}' for number, name in enumerate(published))
    table = read_published({"t.csv": f"run,{measure}\n{rows}\n".encode()})
    return match_names(table, runs_of(*rerankers), by_hand)


@pytest.mark.parametrize(
    ("published", "reranker", "how"),
    [
        ("BM25 (k1=0.9)+RM3", "BM25 (k1=0.9)+RM3", "same"),
        ("bm25", "BM25", "alike"),
        ("runs/input.p_bm25(rm3)+bert.gz", "p_bm25(rm3)+bert", "alike"),
        ("monot5-3b.eval", "input.MonoT5_3B.trec", "alike"),
        ("castorini/monot5", "monot5", "alike"),
        ("bm25+bert-mp.run.eval", "bm25+bert-mp", "alike"),
        ("bm25+bert-mp.eval.gz", "bm25+bert-mp.run.txt", "alike"),
        ("intfloat__e5-base", "e5-base", "alike"),
        ("summary.idst_bert_p1", "idst_bert_p1", "alike"),
        ("\N{FULLWIDTH LATIN CAPITAL LETTER A}-1", "a1", "alike"),
        ("bm25", "bm256", ""),
        ("bm25", "bm25+rm3", ""),
        ("***", "+++", ""),
    ],
)
def test_a_reranker_is_matched_where_its_name_says_it(published, reranker, how):
    table = matches([published], [reranker, "another"]).rerankers
    assert table[["matched", "how"]].to_numpy().tolist() == [[reranker if how else "", how]]


@pytest.mark.parametrize("published", ["bm25+", "bm25*", "bm25'"])
def test_a_sign_that_may_be_part_of_a_name_is_said_and_not_matched(published):
    assert matches([published], ["bm25"]).rerankers.iloc[0].tolist() == [published, "", "", ("bm25",)]


def test_two_names_by_hand_for_one_reranker_are_refused():
    with pytest.raises(UsageError, match="'a' and 'b' are both matched to 'x' by hand"):
        matches(["a", "b"], ["x"], {"a": "x", "b": "x"})


@pytest.mark.parametrize("name", ["output.bm25+rm3.txt", "run_2", "Run 2"])
def test_what_tools_put_before_the_name_of_a_run_is_no_part_of_it(name):
    ours = "bm25+rm3" if "bm25" in name else "run 2"
    assert matches([name], [ours, "bm25", "run 3"]).rerankers["matched"].tolist() == [ours]


def test_between_two_names_alike_none_is_chosen_and_both_are_said():
    table = matches(["bm 25", "x"], ["bm-25", "bm_25", "x"]).rerankers
    assert table.iloc[0].tolist() == ["bm 25", "", "", ("bm-25", "bm_25")]
    assert table["matched"].tolist()[1] == "x"


def test_two_published_names_alike_one_reranker_are_not_matched():
    table = matches(["bm-25", "bm_25"], ["bm25"]).rerankers
    assert table["how"].tolist() == ["", ""]
    assert table["candidates"].tolist() == [("bm25",), ("bm25",)]


def test_names_by_hand_come_first_and_what_has_no_figure_is_known():
    result = matches(["Ours", "BM25"], ["x", "bm25", "y"], {"Ours": "x", "AP": "RR"})
    assert result.rerankers[["matched", "how"]].to_numpy().tolist() == [["x", "by hand"], ["bm25", "alike"]]
    assert result.measures[["matched", "how"]].to_numpy().tolist() == [["RR", "by hand"]]
    assert result.unpublished == ("y",)
    assert matches(["Ours"], ["ours"], {"Ours": ""}).rerankers["how"].tolist() == [""]
    assert (result.reranker("Ours"), result.reranker("nobody"), result.measure("AP")) == ("x", "", "RR")


@pytest.mark.parametrize(
    ("by_hand", "problem"),
    [
        ({"nobody": "x"}, "'nobody' is not in the published table. Names in it: 'Ours', 'AP'."),
        ({"Ours": "z"}, "'z' is not a reranker of the runs. Rerankers: 'x'."),
        ({"AP": "quality"}, "There is no measure 'quality'."),
    ],
)
def test_a_name_by_hand_that_is_on_neither_side_is_refused(by_hand, problem):
    with pytest.raises(UsageError) as error:
        matches(["Ours"], ["x"], by_hand)
    assert problem in str(error.value)


@pytest.mark.parametrize(
    ("ours", "published"),
    {
        "AP": ["map", "MAP", "AP", "AP(rel=2)", "Mean Average Precision"],
        "AP@10": ["map_cut_10", "map_cut.10", "MAP@10", "map_at_10", "AP(rel=2)@10"],
        "AP-cap@10": ["AP-cap@10", "MAP-cap@10"],
        "RR": ["recip_rank", "MRR", "RR(rel=2)"],
        "RR@10": ["mrr@10", "MRR@10", "mrr_at_10", "RR(rel=2)@10", "recip_rank_cut_10", "MRR @ 10"],
        "nDCG@10": [
            "ndcg_cut_10",
            "ndcg_cut.10",
            "NDCG@10",
            "ndcg_at_10",
            "nDCG@10 (%)",
            "nDCG@10↑",
            "nDCG 10",
        ],
        "nDCG": ["ndcg", "nDCG"],
        "nDCG-linear@10": ["nDCG-linear@10", "nDCG-lin@10"],
        "P@5": ["P_5", "P5", "P@5", "precision_at_5", "prec@5"],
        "R@1000": ["recall_1000", "recall.1000", "R@1000", "Recall@1000", "R@1k", "Recall@1K"],
        "R-cap@10": ["R_cap@10"],
        "set_P": ["set_P"],
        "Rprec": ["Rprec", "R-prec", "R-Precision"],
        "Hits@1": ["success_1", "Success@1", "hit_rate_at_1", "HitRate@1", "Accuracy@1"],
        "F1@10": ["F1@10"],
        "bpref": ["bpref"],
        "": [
            "num_q",
            "runid",
            "F1",
            "bm25",
            "main_score",
            "gm_map",
            "",
        ],
    }.items(),
)
def test_spellings_of_measures_are_ours(ours, published):
    assert [our_measure(name) for name in published] == [ours] * len(published)


def test_a_measure_among_other_words_is_taken_where_no_other_column_could_be_meant():
    one = read_published({"t.csv": b"run,DL19 nDCG@10,MAP\nx,.1,.2\n"})
    assert match_names(one, runs_of("x")).measures["matched"].tolist() == ["nDCG@10", "AP"]
    two = read_published({"t.csv": b"run,DL19 nDCG@10,DL20 nDCG@10\nx,.1,.2\n"})
    rows = match_names(two, runs_of("x")).measures
    assert rows["matched"].tolist() == ["", ""]
    assert rows["candidates"].tolist() == [("nDCG@10",), ("nDCG@10",)]


def test_columns_of_one_name_are_told_apart_and_none_is_chosen():
    table = read_published({"t.csv": b"run,AP,AP\nx,.1,.2\n"})
    assert table.measures == ["AP (column 2)", "AP (column 3)"]
    assert match_names(table, runs_of("x")).measures["how"].tolist() == ["", ""]


@pytest.mark.parametrize("name", ["Δ nDCG@10", "nDCG@10 std", "nDCG@10 CI", "nDCG@10 rank", "p nDCG@10"])
def test_what_is_computed_from_a_measure_is_not_taken_for_it(name):
    table = read_published({"t.csv": f"run,{name},MAP\nx,.1,.2\n".encode()})
    assert match_names(table, runs_of("x")).measures["matched"].tolist() == ["", "AP"]


@pytest.mark.parametrize("name", ["nDCG@10 (95% CI)", "nDCG@10 ± std", "nDCG@10 [std]", "DL19 nDCG@10 +/- sd"])
def test_what_stands_beside_the_values_of_a_measure_does_not_hide_it(name):
    table = read_published({"t.csv": f"run,{name}\nx,.1\n".encode()})
    assert match_names(table, runs_of("x")).measures["matched"].tolist() == ["nDCG@10"]


@pytest.mark.parametrize(
    ("name", "ours"),
    [
        ("Mean Reciprocal Rank (MRR)", "RR"),
        ("DL19 Reciprocal Rank (RR)", "RR"),
        ("Normalized Discounted Cumulative Gain (nDCG@10)", "nDCG@10"),
        ("Discounted cumulative gain DCG@5", "DCG@5"),
        ("Rank-biased precision (RBP(0.8))", "RBP(0.8)"),
        ("MRR / P @ 10", "RR"),
    ],
)
def test_words_of_a_measures_own_name_do_not_hide_it_in_a_heading_or_a_row(name, ours):
    for text in (f'run,"{name}",Hits@1\nx,1,1\n', f'measure,x\n"{name}",1\nHits@1,1\n'):
        table = read_published({"t.csv": text.encode()})
        assert match_names(table, runs_of("x")).measures["matched"].tolist() == [ours, "Hits@1"]


def test_where_no_figure_is_known_only_what_is_not_matched_is_named():
    with pytest.raises(UsageError) as error:
        audit(runs_of("x"), {"t.csv": b"run,DL19 MAP,DL20 MAP\nx,.1,.2\n"})
    assert "both a known measure and a reranker from the runs" in str(error.value)
    assert "Not matched: measures 'DL19 MAP' (alike: AP), 'DL20 MAP' (alike: AP)." in str(error.value)
    assert str(error.value).endswith("Match names by hand: --names PUBLISHED=NAME.")


def test_the_likest_name_is_taken_before_others_that_are_alike():
    table = matches(["BM25+", "bm25"], ["bm25", "bm25+"]).rerankers
    assert table["matched"].tolist() == ["bm25+", "bm25"]
