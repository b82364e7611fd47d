"""The text of the G-RAG notebook's evaluator: its own lines and figures, from orderings that are enumerated."""

import re
from datetime import date
from statistics import mean

import numpy as np
import pytest
from boards import board
from enumeration import Doc, JudgedList, judged_list, tie_groups, treated_value

from metrics.report import report
from metrics.simulation import notebook_grag

DAY = date(2026, 1, 30)
NOTEBOOK = ("RR", "Hits@1", "Hits@3", "Hits@5", "Hits@10")
OURS = re.compile(r"   (→|Largest tie)")
"""Lines that the notebook does not print."""


def notebook_lines(name, lists, traditional="input"):
    """What `generate_evaluation_report` prints, by its own formulas over every ordering."""
    values = {
        (measure, ties): [float(treated_value(measure, each, ties)) for each in lists]
        for measure in NOTEBOOK
        for ties in (traditional, "expected")
    }
    ties = [[len(group) for group in tie_groups(each.docs) if len(group) > 1] for each in lists]
    with_ties = sum(map(bool, ties)) / len(lists) * 100
    gaps = [abs(a - b) for a, b in zip(values["RR", traditional], values["RR", "expected"], strict=True)]

    def line(label, *key):
        return f"   {label}: {np.mean(values[key]):.4f} (±{np.std(values[key]):.4f})"

    return [
        f"🎯 G-RAG Evaluation Report: {name}",
        "=" * 60,
        "📊 Dataset Summary:",
        f"   Number of queries: {len(lists)}",
        f"   Queries with ties: {with_ties:.1f}%",
        f"   Avg tie groups per query: {mean(map(len, ties)):.1f}",
        f"   Max tie size observed: {mean(max(sizes, default=0) for sizes in ties):.1f}",
        "📈 Traditional Metrics:",
        line("MRR", "RR", traditional),
        *(line(hits, hits, traditional) for hits in NOTEBOOK[1:]),
        "🔄 Tied Metrics (Fair Evaluation):",
        line("MTRR", "RR", "expected"),
        *(line(f"TM{hits}", hits, "expected") for hits in NOTEBOOK[1:]),
        "🔍 Metric Stability Analysis:",
        f"   Mean |MRR - MTRR|: {np.mean(gaps):.4f}",
        f"   Max |MRR - MTRR|: {np.max(gaps):.4f}",
        "✅ Recommendation: "
        + ("Use tied metrics for fair comparison" if with_ties > 10 else "Traditional metrics sufficient"),
    ]


def lists_of(runs):
    """Every list of one reranker as it stands in its table."""
    (table,) = runs.tables.values()
    frame = table.to_pandas()
    return [
        judged_list([Doc(*row) for row in rows[["doc_id", "score", "relevance"]].itertuples(index=False)])
        for _, rows in frame.groupby("query_id", sort=False)
    ]


def text_of(runs, **options):
    return report(runs, sections=("data",), **options).text(DAY)


def printed(text):
    """The lines of the notebook in a text: none of ours, nothing of the last paragraph."""
    body = re.split("\n(?:Tied values are exact|±: )", text)[0].splitlines()
    return [line for line in body if line and not OURS.match(line)]


def test_the_notebooks_own_data_gives_the_notebooks_own_report_line_by_line():
    runs = notebook_grag()
    text = text_of(runs, measures=NOTEBOOK)
    assert printed(text) == notebook_lines("G-RAG", lists_of(runs))
    largest = max(len(group) for each in lists_of(runs) for group in tie_groups(each.docs))
    assert f"   Largest tie of any query: {largest}\n" in text


def small_board(queries, grades, **further):
    """One run `llm` of {query: [(document, score)]}, judged by {query: {document: grade}}."""
    rows = [
        f"{query} Q0 {doc} {rank} {score} t\n"
        for query, docs in queries.items()
        for rank, (doc, score) in enumerate(docs)
    ]
    judged = [f"{query} 0 {doc} {grade}\n" for query, each in grades.items() for doc, grade in each.items()]
    return board(llm_trec="".join(rows), qrels_txt="".join(judged), **further).runs


def judged_lists(queries, grades, relevant_from):
    """The same as lists to enumerate; a query without rows is an empty list."""
    return [
        JudgedList(
            tuple(Doc(doc, score, each.get(doc, 0)) for doc, score in queries.get(query, ())),
            tuple((grade, doc) for doc, grade in each.items()),
            relevant_from,
        )
        for query, each in grades.items()
    ]


TIED = {
    "q0": [("a", 1), ("b", 1), ("c", 1), ("d", 0)],
    "q1": [("b", 2), ("a", 2), ("c", 1), ("d", 1)],
    "q2": [("a", 3), ("b", 2), ("c", 1)],
    "q3": [("c", 1), ("b", 1), ("a", 1), ("d", 1), ("e", 1)],
}
GRADES = {
    "q0": {"b": 2, "d": 1},
    "q1": {"a": 1, "c": 2},
    "q2": {"c": 1},
    "q3": {"e": 2, "a": 1},
    "q4": {"a": 2},
}


@pytest.mark.parametrize(
    ("options", "sentences"),
    [
        ({}, ["Traditional: file order", "Judged queries without rows: up to 1 per reranker, counted as 0"]),
        ({"traditional": "docid_desc"}, ["Traditional: trec_eval: id, descending"]),
        (
            {"relevant_from": 2},
            [
                "Relevant: grade 2 and above",
                "Queries without relevant documents: up to 1 per reranker, counted as 0",
            ],
        ),
        ({"missing": "skip"}, ["Judged queries without rows: up to 1 per reranker, left out"]),
        (
            {"relevant_from": 2, "empty": "skip"},
            ["Queries without relevant documents: up to 1 per reranker, left out"],
        ),
    ],
    ids=lambda value: " ".join(map(str, value.values())) if isinstance(value, dict) else "",
)
def test_every_number_is_that_of_all_orderings_and_what_is_not_usual_is_said(options, sentences):
    threshold = options.get("relevant_from", 1)
    lists = [
        each
        for each in judged_lists(TIED, GRADES, threshold)
        if (each.docs or options.get("missing") != "skip")
        and (any(grade >= threshold for grade, _ in each.judgments) or options.get("empty") != "skip")
    ]
    text = text_of(small_board(TIED, GRADES), measures=NOTEBOOK, **options)
    assert printed(text) == notebook_lines("llm", lists, options.get("traditional", "input"))
    assert all(sentence in text for sentence in sentences)


def test_queries_that_count_as_one_are_not_called_left_out():
    text = text_of(small_board(TIED, GRADES), measures=NOTEBOOK, relevant_from=2, empty="one")
    assert "Queries without relevant documents: up to 1 per reranker, counted as 1" in text


def one_hit(queries):
    """Grades where the document `a` is the relevant one of each query."""
    return {query: {"a": 1} for query in queries}


STRICT = [("a", 2), ("b", 1)]
LUCKY, UNLUCKY = [("a", 1), ("b", 1)], [("b", 1), ("a", 1)]
BELOW = [("a", 2), ("b", 1), ("c", 1)]


@pytest.mark.parametrize(
    ("queries", "recommended", "effect"),
    [
        ({"q0": STRICT}, "Traditional metrics sufficient", "Ties on 0 of 1 query move no value of MRR."),
        ({"q0": LUCKY}, "Use tied", "Ties move MRR on 1 of 1 query; its mean is 0.2500 too high."),
        (
            {"q0": UNLUCKY} | {f"s{n}": STRICT for n in range(19)},
            "Traditional metrics sufficient",
            "Ties move MRR on 1 of 20 queries; its mean is 0.0125 too low.",
        ),
        (
            {"q0": BELOW, "q1": STRICT},
            "Use tied metrics for fair comparison",
            "Ties on 1 of 2 queries move no value of MRR.",
        ),
        (
            {"q0": LUCKY, "q1": UNLUCKY},
            "Use tied",
            "Ties move MRR on 2 of 2 queries; its mean does not change: the gaps",
        ),
    ],
    ids=["no ties", "one query", "few ties that cost", "ties that cost nothing", "gaps that cancel"],
)
def test_beside_the_notebooks_recommendation_stands_what_the_ties_did(queries, recommended, effect):
    text = text_of(small_board(queries, one_hit(queries)))
    assert f"✅ Recommendation: {recommended}" in text
    assert f"   → {effect}" in text


def test_a_value_that_four_decimals_hide_keeps_two_figures():
    deep = [(f"d{n}", -n) for n in range(30_000)] + [("a", -30_000)]
    text = text_of(small_board({"q": deep}, one_hit(["q"])))
    assert "   MRR: 0.000033 (±0.0000)" in text
    assert "   Hits@1: 0.0000 (±0.0000)" in text


def test_measures_with_a_rule_of_their_own_stand_apart_and_others_in_both_blocks():
    text = text_of(small_board(TIED, GRADES), measures=("TsRR", "AP"))
    own = text.partition("Measures with a rule of their own for ties:\n")[2]
    assert own.startswith("   TsRR: ")
    assert text.count("TsRR") == 1
    assert re.search(r"\n   MAP: 0\.\d{4} .*\n(.*\n)*   tied MAP: 0\.\d{4} ", text)


def test_each_reranker_has_its_own_report_and_its_name_is_text():
    names = {"llm": "\u0645\u0631\u062a\u0628\n=\x1b[31m", "other": "two"}
    rows = "".join(f"q0 Q0 {doc} 1 {score} t\n" for doc, score in LUCKY)
    runs = board(llm_trec=rows, other_trec=rows, qrels_txt="q0 0 a 1\n").runs.arranged(names)
    text = text_of(runs)
    assert text.count("🎯 G-RAG Evaluation Report: ") == 2
    assert "🎯 G-RAG Evaluation Report: \u0645\u0631\u062a\u0628=[31m\n====" in text
    conclusion = text[text.rindex("Stability Analysis") : text.index("Tied values are exact")]
    assert "llm" not in conclusion
    assert "two" in conclusion.splitlines()[-2]
    assert text.endswith("2 rerankers on 1 query. Made on 2026-01-30 by TieScope.\n")
