"""What a notebook shows of runs and evaluations."""

import re

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from metrics import Runs, evaluate
from metrics.simulation import notebook_llm_rerankers

HOSTILE = '<script>alert(1)</script>"><img src=x onerror=alert(2)>\u202e&amp;\n'
MANY = [f"r{number}" for number in range(200)]


def rows_of(rerankers, queries=2, documents=3):
    rows = [
        (name, f"q{query}", f"d{document}", document // 2, document == 1)
        for name in rerankers
        for query in range(queries)
        for document in range(documents)
    ]
    return pd.DataFrame(rows, columns=["reranker", "query_id", "doc_id", "score", "relevance"])


def cells(html):
    """The texts of each row of the table."""
    rows = re.findall(r"<tr[^>]*>(.*?)</tr>", html, re.DOTALL)
    return [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row) for row in rows]


@pytest.fixture(scope="module")
def runs():
    return notebook_llm_rerankers(30)


@pytest.fixture(scope="module")
def evaluation(runs):
    return evaluate(runs, ["RR", "Hits@5"], ["input", "expected", "std"])


def test_an_evaluation_shows_the_means_of_its_summary_to_four_decimals(evaluation):
    html = evaluation._repr_html_()
    measures, treatments, *rows = cells(html)
    assert html.count('<th scope="col"') == len(measures) + len(treatments)
    assert html.count('<th scope="row"') == len(rows)
    assert measures == ["", "RR", "Hits@5"]
    assert treatments == ["reranker", *["input", "expected", "std"] * 2]
    means = evaluation.summary().xs("mean", axis=1, level=2)
    assert rows == [[name, *map("{:.4f}".format, row)] for name, *row in means.itertuples()]


def test_an_evaluation_says_of_how_much_it_is_and_by_which_policies(evaluation):
    html = evaluation._repr_html_()
    assert "4 rerankers, 120 lists, 2 measures, 3 tie orders." in html
    assert "Relevant from grade 1; scores compared as float64." in html
    assert "missing=" not in html
    assert "40 lists of 120" not in html
    few = evaluation.only(list(evaluation.policies.index), {"q001", "q002"})
    assert "8 lists of 120" in few._repr_html_()


@pytest.mark.parametrize(("policy", "outcome"), [("zero", "counted as 0"), ("skip", "left out")])
def test_an_evaluation_counts_the_lists_that_its_policies_decide_on(policy, outcome):
    qrels = pa.table({"query_id": ["q0", "q1", "q9"], "doc_id": ["d1"] * 3, "relevance": [1.0, 0.0, 1.0]})
    html = evaluate(Runs.from_frame(rows_of("a")).judged_by(qrels), missing=policy, empty=policy)._repr_html_()
    assert f"1 list with no rows in a run: {outcome} (missing={policy})." in html
    assert f"1 list with no relevant documents: {outcome} (empty={policy})." in html


def test_an_evaluation_without_lists_shows_no_means():
    nothing = rows_of("a").assign(relevance=0)
    html = evaluate(Runs.from_frame(nothing), ["RR"], ["input"], empty="skip")._repr_html_()
    assert cells(html)[-1] == ["a", "–"]


def test_runs_show_their_lists_and_the_share_of_tied_documents():
    table = rows_of("ab")
    table.loc[table["reranker"] == "b", "score"] = np.arange(6)
    shown_cells = cells(Runs.from_frame(table)._repr_html_())
    assert shown_cells[1:] == [["a", "2", "6", "66.7%"], ["b", "2", "6", "0.0%"]]


def test_tied_documents_are_those_of_the_evaluation_however_the_rows_are_ordered(runs):
    all_rows = pd.concat([table.to_pandas().assign(reranker=name) for name, table in runs.tables.items()])
    mixed = Runs.from_frame(all_rows.sample(frac=1, random_state=0))
    lists = evaluate(runs, ["RR"], ["expected"]).lists.groupby("reranker").sum()
    tied = {row[0]: row[3] for row in cells(mixed._repr_html_())[1:]}
    assert tied == {name: f"{one.tied_docs / one.n_docs:.1%}" for name, one in lists.iterrows()}


def test_runs_say_where_relevance_comes_from():
    runs = Runs.from_frame(rows_of("a"))
    qrels = pa.table({"query_id": ["q0"], "doc_id": ["d1"], "relevance": [1.0]})
    assert "Relevance: a column of the runs." in runs._repr_html_()
    assert "Relevance: 1 judgment in memory." in runs.judged_by(qrels)._repr_html_()
    assert "Relevance: not known." in Runs({"a": runs.tables["a"].drop(["relevance"])})._repr_html_()


@pytest.mark.parametrize("show", [lambda runs: runs, lambda runs: evaluate(runs, ["RR"])])
def test_no_name_is_taken_for_html(show):
    table = rows_of(["x"]).assign(reranker=HOSTILE)
    html = show(Runs.from_frame(table))._repr_html_()
    allowed_tags = {"div", "p", "b", "br", "table", "thead", "tbody", "tr", "th", "td"}
    assert set(re.findall(r"<\s*/?\s*(\w+)", html)) == allowed_tags - ({"br"} if "<br>" not in html else set())
    assert "\u202e" not in html
    assert "&lt;script&gt;" in html
    assert not re.search(r"<[^>]*onerror", html)


@pytest.mark.parametrize("show", [lambda runs: runs, lambda runs: evaluate(runs, ["RR"], ["input"])])
def test_of_many_rerankers_twenty_are_shown_and_the_rest_is_said(show):
    html = show(Runs.from_frame(rows_of(MANY, 1, 2)))._repr_html_()
    assert [row[0] for row in cells(html)[-20:]] == MANY[:20]
    assert "The first 20 of 200 rerankers are shown" in html
    assert len(html) < 10_000


def test_a_long_name_is_shortened():
    html = Runs.from_frame(rows_of(["x"]).assign(reranker="n" * 5000))._repr_html_()
    assert len(html) < 2000


def test_nothing_is_coloured_fetched_or_run(runs, evaluation):
    for html in (runs._repr_html_(), evaluation._repr_html_()):
        assert not re.search(r"color|background|script|https?:|src=|href=|url\(", html)


def test_in_a_terminal_both_are_one_line(runs, evaluation):
    rows = sum(map(len, runs.tables.values()))
    assert repr(runs) == f"Runs(rerankers=4, rows={rows}, judgments=None)"
    assert repr(evaluation) == (
        "Evaluation(rerankers=4, lists=120, measures=('RR', 'Hits@5'), ties=('input', 'expected', 'std'))"
    )


def test_what_was_found_while_reading_is_counted():
    table = rows_of("a", queries=1)
    assert "Found while reading: nothing" in Runs.from_frame(table)._repr_html_()
    assert "Found while reading: 1 info" in Runs.from_frame(table.assign(query_id=1.0))._repr_html_()
