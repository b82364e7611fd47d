import pandas as pd
import pytest
from drawing import frame as drawn
from drawing import tables
from enumeration import Doc
from hypothesis import given

from metrics import Runs, UsageError, evaluate, parse
from metrics.evaluation import score_runs
from metrics.studies.tools import tools as studied
from metrics.studies.tools.tools import TOOLS, emulate, find_tool

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


def test_scikit_learn_gives_the_tied_ndcg_where_every_judged_document_is_listed():
    row = emulate(runs({"q": FIVE}), ["nDCG-linear@10"], [find_tool("scikit-learn")]).iloc[0]
    assert row["value"] == pytest.approx(row["tied"])


def test_scikit_learn_knows_no_document_that_is_not_listed():
    unlisted = runs({"q": FIVE}, {"q": {"b": 1, "elsewhere": 1}})
    reported = value("scikit-learn", "nDCG-linear@10", unlisted)
    assert reported == pytest.approx(value("scikit-learn", "nDCG-linear@10", runs({"q": FIVE})))


def test_scores_alike_to_32_bits_tie_in_pytrec_eval_and_not_in_trec_eval():
    close = runs({"q": [Doc("a", 1.00000001, 1), Doc("b", 1.0, 0)]})
    assert value("trec_eval", "RR", close) == 1
    assert value("pytrec_eval", "RR", close) == pytest.approx(1 / 2)


def test_a_query_the_run_lacks_is_left_out_by_trec_eval_and_counts_zero_in_ir_measures():
    lacking = runs({"q": [Doc("a", 1, 1)]}, {"q": {"a": 1}, "gone": {"a": 1}})
    assert value("trec_eval", "RR", lacking) == 1
    assert value("ir_measures", "RR", lacking) == pytest.approx(1 / 2)


def test_a_query_with_nothing_relevant_counts_except_in_sentence_transformers_retrieval():
    hopeless = runs({"q": [Doc("a", 1, 1)], "hopeless": [Doc("a", 1, 0)]})
    assert value("ir_measures", "RR@3", hopeless) == pytest.approx(1 / 2)
    assert value("sentence-transformers retrieval", "RR@3", hopeless) == 1


def test_sentence_transformers_knows_relevant_or_not_only():
    graded = runs({"q": [Doc("a", 3, 1), Doc("b", 2, 3), Doc("c", 1, 0)]})
    for name in ("sentence-transformers retrieval", "sentence-transformers reranking"):
        assert value(name, "nDCG@3", graded) == pytest.approx(1)
    assert value("trec_eval", "nDCG-linear@3", graded) < 1


def test_beir_drops_a_document_named_as_its_query():
    itself = runs({"q": [Doc("q", 2, 0), Doc("a", 1, 1)]}, {"q": {"a": 1}})
    assert value("BEIR", "RR@10", itself) == 1
    assert value("MTEB", "RR@10", itself) == pytest.approx(1 / 2)


def test_pykeen_is_left_out_where_a_query_has_two_relevant_documents():
    two = runs({"q": [Doc("a", 1, 1), Doc("b", 1, 1)]})
    assert emulate(two, ["RR"], [find_tool("PyKEEN realistic")]).empty
    assert emulate(two, ["AP"], [find_tool("scikit-learn")]).empty


def test_a_measure_a_tool_does_not_have_gives_no_row():
    assert emulate(runs({"q": FIVE}), ["RR"], [find_tool("scikit-learn")]).empty
    assert find_tool("trec_eval").rule(parse("RR@10")) is None


def test_rows_are_each_tool_by_measure_by_reranker_in_the_order_asked():
    two_rerankers = Runs.from_frame(drawn({"B": {"q": FIVE}, "A": {"q": FIVE}}))
    values = emulate(two_rerankers, ["P@3", "RR"], [find_tool("ranx"), find_tool("trec_eval")])
    assert list(values) == ["tool", "measure", "spelling", "reranker", "value", "tied", "why"]
    assert values[["tool", "spelling", "reranker"]].to_numpy().tolist() == [
        [name, spelling, reranker]
        for name, spelling in [
            ("ranx", "precision@3"), ("ranx", "mrr"), ("trec_eval", "P_3"), ("trec_eval", "recip_rank"),
        ]
        for reranker in ("B", "A")
    ]  # fmt: skip


def test_one_evaluation_serves_all_rules_that_share_what_is_seen_precision_and_policies(monkeypatch):
    calls = []

    def count_calls(*arguments):
        calls.append(arguments)
        return score_runs(*arguments)

    monkeypatch.setattr(studied, "score_runs", count_calls)
    emulate(runs({"q": FIVE}), MEASURES)
    policies = {rule.policy for one in TOOLS for rule in one.rules.values()}
    assert len(calls) == 1 + len(policies)


@given(tables())
def test_values_of_tools_that_hold_scores_as_read_lie_between_the_worst_and_the_best_order(table):
    given_runs = Runs.from_frame(drawn(table))
    measures = ["RR", "RR@5", "nDCG-linear@3", "P@3", "R@3", "Hits@3"]
    evaluation = (
        evaluate(given_runs, measures, ["optimistic", "pessimistic"]).summary().xs("mean", axis=1, level=2)
    )
    as_read = ("trec_eval", "ranx")
    for row in emulate(given_runs, measures, map(find_tool, as_read)).itertuples():
        low, high = (evaluation.loc[row.reranker, (row.measure, t)] for t in ("pessimistic", "optimistic"))
        assert low - 1e-12 <= row.value <= high + 1e-12


@given(tables())
def test_the_tied_column_is_the_expected_mean_of_the_evaluation(table):
    given_runs = Runs.from_frame(drawn(table))
    expected = evaluate(given_runs, MEASURES, ["expected"]).summary()
    for row in emulate(given_runs, MEASURES).itertuples():
        assert row.tied == pytest.approx(expected.loc[row.reranker, (row.measure, "expected", "mean")])


def test_a_reranker_without_one_judged_query_has_no_value():
    stray = runs({"other": FIVE}, {"q": {"b": 1}})
    values = emulate(stray, MEASURES).set_index(["tool", "measure"])["value"]
    assert pd.isna(values["trec_eval", "RR"])
    assert pd.isna(values["scikit-learn", "nDCG-linear@3"])
    assert values["ir_measures", "RR"] == 0


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_every_rule_names_a_measure_a_spelling_and_one_sentence_of_why(tool):
    for ours, rule in tool.rules.items():
        tool_rule = tool.rule(parse(ours.replace("@k", "@7")))
        assert "{" not in tool_rule.spelling
        assert ("7" in tool_rule.spelling) == ("@k" in ours)
        assert rule.why.endswith(".")
        assert ". " not in rule.why


def test_a_tool_is_found_by_name_whatever_its_case():
    assert find_tool("MTEB") is find_tool(" mteb ")


def test_an_unknown_tool_is_refused_with_the_names_there_are():
    with pytest.raises(UsageError, match=r"There is no tool 'treceval'\. Tools: trec_eval, pytrec_eval,"):
        find_tool("treceval")


def test_names_of_tools_differ():
    assert len({one.name for one in TOOLS}) == len(TOOLS) == 10
