import subprocess
import sys

import pytest


@pytest.fixture
def table(write):
    return write("run.csv", "query_id,doc_id,score,relevance\nq,a,1,0\nq,b,1,0\nq,c,1,1\n")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            ["--draws", 9, "--limit", 3],
            "--limit applies to listed orderings, and --draws to random orderings: give only one",
        ),
        (["--seed", 0], "--seed needs --draws"),
    ],
)
def test_an_option_that_would_be_ignored_is_refused(call, table, options, words):
    code, out, err = call("permutations", table, "--query", "q", *options)
    assert (code, out) == (2, "")
    assert words in err
    assert len(err.splitlines()) == 1


def test_further_scores_split_the_ties_whose_orderings_are_listed(call, write):
    rows = "q,a,1,3,0\nq,b,1,2,1\nq,c,1,2,0\n"
    run = write("further.csv", f"query_id,doc_id,score,fresh,relevance\n{rows}")
    arguments = ["permutations", run, "--query", "q", "--format", "csv", "-m", "RR"]
    assert len(call(*arguments)[1].splitlines()) == 1 + 6
    _, out, _ = call(*arguments, "--tiebreak-by", "fresh")
    assert [line.split(",")[1] for line in out.splitlines()[1:]] == ["a b c", "a c b"]
    code, _, err = call(*arguments, "--tiebreak-by", "relevance", "--tiebreak-by", "stale")
    assert (code, "There are: fresh." in err) == (2, True)


def test_a_limit_bounds_what_is_listed_and_a_seed_says_what_is_drawn(call, table):
    arguments = ["permutations", table, "--query", "q", "--format", "csv", "-m", "RR"]
    assert len(call(*arguments)[1].splitlines()) == 1 + 6
    assert len(call(*arguments, "--limit", 2)[1].splitlines()) == 1 + 2
    drawn = [call(*arguments, "--draws", 50, *seed)[1] for seed in ([], ["--seed", 0], ["--seed", 1])]
    assert drawn[0] == drawn[1] != drawn[2]


@pytest.mark.parametrize(
    ("query", "options", "words"),
    [
        ("unlisted", [], "run.trec has no documents for query 'unlisted'."),
        ("unjudged", [], "run.trec has documents for query 'unjudged', but none is judged."),
        ("q", ["--unjudged", "leave_out"], "run.trec has documents for query 'q', but none is judged."),
    ],
)
def test_a_query_without_judged_documents_is_refused_with_the_cause(call, write, query, options, words):
    run = write("run.trec", "q Q0 a 1 1 t\nunjudged Q0 a 1 1 t\n")
    qrels = write("qrels.txt", "q 0 b 1\nunlisted 0 a 1\n")
    code, out, err = call("permutations", run, "--qrels", qrels, "--query", query, *options)
    assert (code, out) == (2, "")
    assert words in err


def test_orderings_that_do_not_fit_in_memory_are_refused_before_they_are_listed(call, write, monkeypatch):
    monkeypatch.setattr("metrics.studies.one_list.every_ordering", None)
    documents = "".join(f"q,d{number},1,{number % 9 // 8}\n" for number in range(50_000))
    run = write("tied.csv", f"query_id,doc_id,score,relevance\n{documents}")
    code, out, err = call("permutations", run, "--query", "q")
    assert (code, out) == (2, "")
    assert err.splitlines()[-1] == (
        "tiescope: This list has 50,000 documents: at most 100 orderings can be listed, not 120. "
        "Give --limit 100, or draw orderings with --draws 1000."
    )


@pytest.mark.slow
def test_the_orderings_of_a_million_tied_documents_take_less_than_two_gigabytes(write):
    documents = "".join(f"q,d{number},1,1\n" for number in range(10**6))
    run = write("million.csv", f"query_id,doc_id,score,relevance\n{documents}")
    script = (
        "import resource\n"
        "from dashboard.cli import main\n"
        "try:\n"
        "    main()\n"
        "finally:\n"
        "    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)\n"
    )
    arguments = ["permutations", run, "--query", "q", "--limit", "5", "-o", run.with_name("listed.csv")]
    command = [sys.executable, "-c", script, *map(str, arguments)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 our own
    assert (ended.returncode, int(ended.stdout) < 2 * 10**6) == (0, True)
