import math

import pandas as pd
import pytest
from drawing import frame as drawn
from drawing import tables
from enumeration import Doc
from hypothesis import given, settings

from dashboard import cache
from metrics import Runs, evaluate, parse
from metrics.evaluation import ScoringOptions
from metrics.studies.emulation import (
    by_reranker,
    by_tool,
    comparable_values,
    emulate,
    question_text,
    reported_values,
    tool_finding,
    tool_values,
)
from metrics.studies.prose import plain
from metrics.studies.tools import TOOLS

MEASURES = [
    "RR", "RR@5", "AP", "Rprec", "nDCG", "nDCG@3", "nDCG-linear", "nDCG-linear@3", "P@3", "R@3", "Hits@3",
]  # fmt: skip


def runs(lists, qrels=None):
    """Runs of one reranker, with relevance inside or with qrels {query: {document: grade}}."""
    runs = Runs.from_frame(drawn({"A": lists}))
    if qrels is None:
        return runs
    judged = Runs.from_frame(
        drawn({"A": {query: [Doc(d, 0, grade) for d, grade in docs.items()] for query, docs in qrels.items()}})
    )
    table = judged.tables["A"].select(["query_id", "doc_id", "relevance"])
    return Runs({"A": runs.tables["A"].drop_columns(["relevance"])}, table)


def find_tool(name):
    return next(tool for tool in TOOLS if tool.name == name)


def value(name, measure, given_runs):
    rows = emulate(given_runs, [measure], [find_tool(name)])
    return rows["value"].item()


FIVE = [Doc(name, 1, int(name == "b")) for name in "cabde"]


@pytest.mark.parametrize(
    ("name", "measure", "expected"),
    [
        ("trec_eval", "RR", 1 / 4),
        ("pytrec_eval", "RR", 1 / 4),
        ("ir_measures", "RR", 1 / 4),
        ("ir_measures", "RR@10", 1 / 2),
        ("ranx", "RR", 1 / 3),
        ("BEIR", "RR@10", 1 / 3),
        ("MTEB", "RR@10", 1 / 4),
        ("sentence-transformers retrieval", "RR@10", 1 / 2),
        ("scikit-learn", "AP", 1 / 5),
        ("PyKEEN realistic", "RR", 1 / 3),
    ],
)
def test_one_list_of_five_tied_documents_has_a_value_for_each_convention(name, measure, expected):
    assert value(name, measure, runs({"q": FIVE})) == pytest.approx(expected)


UNLISTED = runs({"q": FIVE}, {"q": {"b": 1, "elsewhere": 1}})
CLOSE = runs({"q": [Doc("a", 1.00000001, 1), Doc("b", 1.0, 0)]})
LACKING = runs({"q": [Doc("a", 1, 1)]}, {"q": {"a": 1}, "gone": {"a": 1}})
ONE_SIDED = runs(
    {"q": [Doc("a", 1, 1), Doc("b", 0, 0)], "none": [Doc("a", 1, 0), Doc("b", 0, 0)], "all": [Doc("a", 1, 0)]}
)
HOPELESS = runs({"q": [Doc("a", 1, 1)], "hopeless": [Doc("a", 1, 0)]})
ITSELF = runs({"q": [Doc("q", 2, 0), Doc("a", 1, 1)]}, {"q": {"a": 1}})


@pytest.mark.parametrize(
    ("name", "measure", "given_runs", "expected"),
    [
        ("scikit-learn", "nDCG-linear@10", UNLISTED, sum(1 / math.log2(k) for k in range(2, 7)) / 5),
        ("trec_eval", "RR", CLOSE, 1),
        ("pytrec_eval", "RR", CLOSE, 1 / 2),
        ("trec_eval", "RR", LACKING, 1),
        ("ir_measures", "RR", LACKING, 1 / 2),
        ("sentence-transformers CrossEncoder reranking", "AP", ONE_SIDED, 1 / 3),
        ("sentence-transformers bi-encoder reranking", "AP", ONE_SIDED, 1),
        ("ir_measures", "RR@3", HOPELESS, 1 / 2),
        ("sentence-transformers retrieval", "RR@3", HOPELESS, 1),
        ("BEIR", "RR@10", ITSELF, 1),
        ("MTEB", "RR@10", ITSELF, 1 / 2),
    ],
    ids=[
        *("only listed documents", "64 bits", "32 bits", "missing out", "missing 0"),
        *("one-sided 0", "one-sided out", "nothing relevant 0", "nothing relevant out"),
        *("without the query's document", "with it"),
    ],
)
def test_a_tool_has_its_own_precision_documents_and_queries(name, measure, given_runs, expected):
    assert value(name, measure, given_runs) == pytest.approx(expected)


def test_trec_eval_9_skips_10_stops_and_c_counts_missing_queries_as_0():
    rows = emulate(LACKING, ["RR"], map(find_tool, ["trec_eval", "trec_eval 10", "trec_eval -c"]))
    assert rows["version"].tolist() == ["9.0.8", "10.0-rc3", "9.0.8 and 10.0-rc3"]
    assert rows["value"].tolist() == pytest.approx([1, float("nan"), 1 / 2], nan_ok=True)
    assert rows["refusal"].tolist() == ["", "the run lacks a judged query: the tool stops with an error", ""]
    other_queries = "a mean over different queries (1 instead of 2)"
    assert rows["question"].tolist() == [other_queries, "", ""]
    skipped = emulate(LACKING, ["RR"], map(find_tool, ["trec_eval", "trec_eval -c"]), missing="skip")
    assert skipped["question"].tolist() == ["", "a mean over different queries (2 instead of 1)"]


TWO_GRADES = [Doc("a", 1, 1), Doc("b", 1, 2), Doc("c", 1, 0)]
"""Relevant from 2 is `b` alone, the second of three by document id either way."""


@pytest.mark.parametrize(
    ("name", "measure", "spelling", "expected"),
    [
        ("trec_eval", "RR", "recip_rank -l2", 1 / 2),
        ("trec_eval", "nDCG-linear@3", "ndcg_cut_3", None),
        ("pytrec_eval", "AP", "map, relevance_level=2", 1 / 2),
        ("ir_measures", "RR@3", "RR(rel=2)@3", 1 / 2),
        ("ranx", "P@3", "precision@3-l2", 1 / 3),
        ("scikit-learn", "AP", "average_precision_score", 1 / 3),
        ("sentence-transformers retrieval", "R@1", "recall@1", 0),
        ("sentence-transformers bi-encoder reranking", "AP", "map", 1 / 3),
        ("PyKEEN realistic", "RR", "inverse_harmonic_mean_rank", 1 / 2),
    ],
)
def test_a_tool_is_asked_with_the_smallest_relevant_grade_of_its_user(name, measure, spelling, expected):
    row = emulate(runs({"q": TWO_GRADES}), [measure], [find_tool(name)], relevant_from=2).iloc[0]
    assert (row["spelling"], row["question"]) == (spelling, "")
    assert expected is None or row["value"] == pytest.approx(expected)


@pytest.mark.parametrize("name", ["BEIR", "MTEB"])
def test_a_tool_without_a_threshold_answers_another_question(name):
    def question(measure, docs):
        return emulate(runs({"q": docs}), [measure], [find_tool(name)], relevant_from=2)["question"].item()

    assert question("P@3", TWO_GRADES) == question("RR@3", TWO_GRADES) == "relevant from grade 1"
    assert question("nDCG-linear@3", TWO_GRADES) == ""
    assert question("P@3", TWO_GRADES[1:]) == ""


def test_tools_read_scores_in_the_precision_asked_for_and_no_second_score():
    near = runs({"q": [Doc("a", 1.001, 1), Doc("b", 1.0, 0)]})
    assert emulate(near, ["RR"], [find_tool("trec_eval")])["value"].item() == 1
    rounded = emulate(near, ["RR"], [find_tool("trec_eval")], precision="decimals:2")
    assert rounded[["value", "tied"]].iloc[0].tolist() == [1 / 2, 3 / 4]
    second = pd.DataFrame(
        {"query_id": "q", "doc_id": ["a", "b"], "score": 1.0, "fine": [2.0, 1.0], "relevance": [1, 0]}
    )
    rows = emulate(Runs.from_frame(second), ["RR"], tiebreak_by=["fine"])
    assert set(rows.loc[rows["refusal"] == "", "question"]) == {
        "ties of the score alone, without the columns of tiebreak_by"
    }
    assert set(rows["tied"]) == {1}


def test_tools_are_asked_of_some_queries_alone():
    two = runs({"q": [Doc("a", 1, 1)], "r": [Doc("a", 2, 0), Doc("b", 1, 1)]})
    rows = emulate(two, ["RR"], queries={"r"})
    assert set(rows["value"].dropna()) == {1 / 2}
    assert set(rows["tied"]) == {1 / 2}


@pytest.mark.parametrize(("n", "is_certain"), [(15, True), (16, False)])
def test_ranx_keeps_the_order_of_up_to_15_tied_documents(n, is_certain):
    tied = [Doc(str(place), 1, int(place == 3)) for place in range(n)]
    assert pd.notna(value("ranx", "RR", runs({"q": tied}))) == is_certain
    assert value("ranx", "Hits@20", runs({"q": tied})) == 1


CROSS_ENCODER = "sentence-transformers CrossEncoder reranking"


@pytest.mark.parametrize(
    ("name", "measure", "docs", "reason"),
    [
        ("scikit-learn", "nDCG-linear", [Doc("a", 1, 1)], "a list has one document"),
        ("scikit-learn", "nDCG-linear", [Doc("a", 1, 1), Doc("b", 0, -1)], "has a grade below 0"),
        ("pytrec_eval", "RR", [Doc("a", 1, 0.5), Doc("b", 0, 1)], "is not a whole number"),
        (CROSS_ENCODER, "RR@3", [Doc("a", 1, 1), Doc("b", 1, 0)], "sort is not stable"),
        (
            "sentence-transformers bi-encoder reranking",
            "AP",
            [Doc("a", 1, 1), Doc("b", 1, 1)],
            "scores no list",
        ),
        (CROSS_ENCODER, "nDCG@3", [Doc("a", 1e39, 1), Doc("b", 1, 0)], "is infinite when rounded to 32 bits"),
        ("torchmetrics", "P@3", [Doc("a", 1, 1), Doc("b", 0, 0)], "is not above 0"),
        ("BEIR", "P@3", [Doc("q", 1, 1)], "whose ID equals the query ID"),
        ("PyKEEN realistic", "RR", [Doc("a", 1, 1), Doc("b", 1, 1)], "exactly one relevant document"),
        ("scikit-learn", "AP", [Doc("a", 1, 1), Doc("b", 1, 1)], "two or more relevant documents"),
    ],
)
def test_where_a_tool_has_no_number_the_reason_is_said(name, measure, docs, reason):
    row = emulate(runs({"q": docs}, {"q": {d.id: d.grade for d in docs}}), [measure], [find_tool(name)]).iloc[0]
    assert pd.isna(row["value"])
    assert reason in row["refusal"]


def test_sentence_transformers_knows_relevant_or_not_only():
    graded = runs({"q": [Doc("a", 3, 1), Doc("b", 2, 3), Doc("c", 1, 0)]})
    for name in ("retrieval", "CrossEncoder reranking", "bi-encoder reranking"):
        row = emulate(graded, ["nDCG@3"], [find_tool(f"sentence-transformers {name}")]).iloc[0]
        assert row["value"] == pytest.approx(1)
        assert row["question"] == "binary relevance, without grades"
    assert value("trec_eval", "nDCG-linear@3", graded) < 1


def test_a_measure_a_tool_does_not_have_gives_no_row():
    assert emulate(runs({"q": FIVE}), ["RR"], [find_tool("scikit-learn")]).empty
    assert find_tool("trec_eval").rule(parse("RR@10")) is None


BETWEEN = {"RR", "RR@5", "nDCG-linear@3", "P@3", "R@3", "Hits@3"}
"""Measures that tools take of all lists, as the evaluation does."""


@settings(max_examples=30)
@given(tables())
def test_tool_values_of_raw_scores_lie_between_worst_and_best(table):
    given_runs = Runs.from_frame(drawn(table))
    treatments = ["expected", "pessimistic", "optimistic"]
    means = evaluate(given_runs, MEASURES, treatments).summary()
    as_read = ("trec_eval", "trec_eval -c", "ranx")
    for row in emulate(given_runs, MEASURES, map(find_tool, as_read)).itertuples():
        tied, low, high = (means.loc[row.reranker, (row.measure, ties, "mean")] for ties in treatments)
        assert row.tied == pytest.approx(tied)
        if row.measure in BETWEEN and row.refusal == "":
            assert low - 1e-12 <= row.value <= high + 1e-12


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_every_rule_names_a_measure_a_spelling_and_one_sentence_of_why(tool):
    for ours, rule in tool.rules.items():
        tool_rule = tool.rule(parse(ours.replace("@k", "@7")))
        assert "{" not in tool_rule.spelling
        assert ("7" in tool_rule.spelling) == ("@k" in ours)
        assert tool.version
        assert rule.why.endswith(".")
        assert ". " not in rule.why


TIED = [Doc(name, 1, int(name == "b")) for name in "cabde"]
STRICT = [Doc(name, 5 - at, int(name == "b")) for at, name in enumerate("cabde")]


def boards(**lists):
    return Runs.from_frame(drawn({name: {"q": one} for name, one in lists.items()}))


def test_tools_with_a_cut_off_mrr_get_the_longest_list_as_cutoff():
    values = tool_values(boards(A=TIED, B=STRICT), "RR", ["A", "B"])
    cut = values[values["measure"] != "RR"]
    assert set(cut["measure"]) == {"RR@5"}
    assert {"BEIR", "MTEB"} <= set(cut["tool"])
    assert not set(cut["tool"]) & set(values.loc[values["measure"] == "RR", "tool"])
    whole = comparable_values(values, "RR").set_index(["tool", "reranker"])["value"]
    assert (whole["BEIR", "A"], whole["MTEB", "A"]) == (1 / 3, 1 / 4)  # as listed; by document ID, descending


def test_ndcg_is_asked_with_both_gains_of_the_rerankers_chosen():
    values = tool_values(boards(A=TIED, B=STRICT), "nDCG@10", ["A"])
    assert set(values["measure"]) == {"nDCG@10", "nDCG-linear@10"}
    assert set(values["reranker"]) == {"A"}


def test_the_finding_names_the_reranker_and_tools_that_are_farthest_apart():
    values = tool_values(boards(A=STRICT, B=TIED), "RR", ["A", "B"])
    sentence = plain(tool_finding(values, "RR"))
    assert sentence.startswith("From the same file, B has MRR 0.2500 in trec_eval and 0.5000 in")


def test_the_finding_says_whether_tools_name_the_same_leader():
    third, fourth = ([Doc(d, 5 - at, int(at == place)) for at, d in enumerate("abcde")] for place in (2, 3))
    last = [Doc(d, 5 - at, int(d == "e")) for at, d in enumerate("abcde")]

    def finding_of(lists):
        drawn_runs = Runs.from_frame(
            drawn({"A": {"q": TIED, "r": TIED}, "B": dict(zip("qr", lists, strict=True))})
        )
        return plain(tool_finding(tool_values(drawn_runs, "RR", ["A", "B"]), "RR"))

    assert finding_of([last, last]).endswith("for every reranker rank the same reranker first.")
    assert finding_of([third, fourth]).endswith("The tools disagree: 2 rerankers rank first in some tool.")


def test_values_for_another_question_are_marked_and_do_not_enter_the_finding():
    graded = [Doc("a", 2, 1), Doc("b", 1, 2), Doc("c", 0, 0)]
    values = tool_values(boards(A=graded), "P@1", ["A"], ScoringOptions(relevant_from=2))
    assert set(values["value"].dropna()) == {0, 1}
    comparable = comparable_values(values, "P@1")
    assert set(comparable["value"]) == {0}
    assert not {"BEIR", "MTEB"} & set(comparable["tool"])
    assert "agree on P@1" in plain(tool_finding(values, "P@1"))
    row = by_tool(values).set_index("tool").loc["BEIR"]
    assert row["why"].startswith("Measures something else: relevant from grade 1. ")


def test_a_tool_without_a_number_keeps_its_row_and_says_for_whom_and_why():
    tied = [Doc(str(place), 1, int(place == 3)) for place in range(16)]
    table = by_tool(tool_values(boards(A=tied, B=STRICT), "RR", ["A", "B"]))
    assert table.columns.to_list() == ["tool", "version", "spelling", "why"]
    row = table.set_index("tool").loc["ranx"]
    assert row["why"].startswith("No number for A: tie order changes the value of a list of more than 15")
    alone = by_tool(tool_values(boards(A=tied), "RR", ["A"])).set_index("tool").loc["ranx"]
    assert alone["why"].startswith("No number: ")


@pytest.mark.parametrize("measure", ["RR", "Hits@1", "AP"])
def test_the_finding_says_when_every_tool_agrees(measure):
    values = tool_values(boards(A=STRICT), measure, ["A"])
    assert plain(tool_finding(values, measure)).startswith(f"All tools agree on {parse(measure).traditional}.")


def test_a_measure_no_tool_has_is_said_to_have_none():
    values = tool_values(boards(A=TIED), "TsRR", ["A"])
    assert not len(values)
    assert "Fewer than two tools" in plain(tool_finding(values, "TsRR"))


def test_tools_that_agree_on_every_reranker_share_a_column():
    values = tool_values(boards(A=TIED, B=STRICT), "RR", ["B", "A"])
    table = by_reranker(values)
    assert table.index.to_list() == ["B", "A"]
    assert sum(map(len, table.columns)) == values.dropna(subset="value")["tool"].nunique()
    for tools in table.columns:
        for tool in tools:
            expected = values[values["tool"] == tool].set_index("reranker")["value"]
            assert table[tools].to_dict() == pytest.approx(expected.to_dict(), nan_ok=True)
    assert not table.T.duplicated().any()


def test_grades_keep_tools_of_another_gain_apart():
    graded = [Doc(d, 5 - at, 2 * (at == 1) + (at == 2)) for at, d in enumerate("abcde")]
    compared = comparable_values(tool_values(boards(A=graded), "nDCG@10", ["A"]), "nDCG@10")
    assert set(compared["measure"]) == {"nDCG@10"}
    assert "trec_eval" not in set(compared["tool"])


def test_the_reranking_evaluator_takes_the_ties_of_one_list_by_three_rules():
    """The figures of docs/how-to/training.md; its MRR puts positives first, and promises no order."""
    lists = {
        "q1": [Doc("a", 0.9, 1), Doc("b", 0.9), Doc("c", 0.9)],
        "q2": [Doc("d", 0.8), Doc("e", 0.7, 1), Doc("f", 0.7)],
    }
    measures = ["AP", "nDCG-linear@10"]
    tool = find_tool("sentence-transformers bi-encoder reranking")
    emulated = emulate(runs(lists), measures, [tool]).set_index("spelling")["value"]
    scores = evaluate(runs(lists), [*measures, "RR@10"], ["expected", "pessimistic", "optimistic"])
    assert emulated["map"] == pytest.approx(scores.means("AP")["pessimistic"].item()) == pytest.approx(1 / 3)
    assert emulated["ndcg@10"] == pytest.approx(scores.means("nDCG-linear@10")["expected"].item())
    assert emulated["ndcg@10"] == pytest.approx(0.6379, abs=5e-5)
    assert scores.means("RR@10")["optimistic"].item() == 0.75


def test_values_that_measure_something_else_are_reported_with_what_they_measure():
    values = tool_values(cache.sample_board().runs, "RR", ["MiniLM int8"])
    reported = reported_values(values, "RR").set_index("tool")
    assert reported.loc["sentence-transformers retrieval", "value"] == pytest.approx(0.7863, abs=1e-4)
    assert "sentence-transformers retrieval" not in set(comparable_values(values, "RR")["tool"])
    assert question_text(reported.reset_index()) == (
        "Grey, sentence-transformers retrieval: a mean over different queries (188 instead of 200)."
    )
