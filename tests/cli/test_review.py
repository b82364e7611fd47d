"""What stands in a pull request: review."""

import pytest
from boards import COARSE, QRELS, STRICT


@pytest.fixture
def files(write):
    return {
        "now": write("llm.trec", COARSE),
        "before": f"llm={write('before.trec', STRICT)}",
        "qrels": write("qrels.txt", QRELS),
    }


def review(call, files, *options):
    return call("review", files["now"], "--qrels", files["qrels"], *options)


def test_a_review_says_which_targets_are_met_and_exits_with_1_where_one_is_missed(call, files):
    code, out, _ = review(call, files, "-r", "MTRR>=0.99", "-r", "TMHits@5>=0.9")
    assert code == 1
    assert out.startswith("<!-- tiescope -->\n## TieScope\n")
    assert "### 1 of 2 targets met" in out
    assert "| ✗ | llm | RR >= 0.99 |" in out
    assert review(call, files, "-r", "MTRR>=0.99", "--fail-on", "never")[0] == 0


def test_a_value_that_fell_in_every_order_of_its_ties_fails_where_that_is_asked_for(call, files, write):
    worst = f"llm={write('worst.trec', STRICT.replace('0.', '-0.').replace(' 1.0 ', ' -1.0 '))}"
    options = ["--before", files["before"], "--since", "main", "-m", "Hits@4"]
    code, out, _ = call("review", worst, "--qrels", files["qrels"], *options)
    assert (code, "lower in every order" in out) == (0, True)
    assert "### Since main" in out
    assert call("review", worst, "--qrels", files["qrels"], *options, "--fail-on", "lower")[0] == 1


def test_a_renamed_run_is_reported_as_gone(call, files):
    old = files["before"].replace("llm=", "old=")
    code, out, err = review(call, files, "--before", old, "--fail-on", "lower")
    assert (code, "| gone |" in out) == (0, True)
    assert "Gone, so not compared: old." in err
    assert "Gone" not in review(call, files, "--before", files["before"])[2]


def test_a_value_that_is_not_scored_is_no_failure_of_a_review(call, write):
    table = write("none.csv", "query_id,doc_id,score,relevance\nq,a,1,0\n")
    code, out, _ = call("review", table, "--empty", "skip", "--before", table)
    assert (code, "No list is scored" in out) == (0, True)
    assert "nan" not in out
    assert "None" not in out


def test_of_many_rerankers_what_matters_most_comes_first(call, write):
    rows = [
        f"m{place},q,d{document},{-document},{int(document == place)}"
        for place in range(30)
        for document in range(30)
    ]
    header = "reranker,query_id,doc_id,score,relevance"
    before = write("before.csv", "\n".join([header, *rows]))
    now = write("now.csv", "\n".join([header, *(row.replace("m29,q,d29,-29", "m29,q,d29,1") for row in rows)]))
    out = call("review", now, "--before", before, "-r", "RR>=0.5")[1]
    tables = [line for line in out.splitlines() if line.startswith("| ")]
    assert len(tables) == 2 + 20 + 2 + 1
    assert tables[2].startswith("| ✗ | m28 |")
    assert tables[-1].startswith("| m29 | RR | 0.0333 | 1.0000 | +0.9667 |")
    assert "10 more rows: tiescope report." in out
    assert "29 values did not change." in out
