import pytest


@pytest.fixture
def table(write):
    return write("run.csv", "query_id,doc_id,score,relevance\nq,a,1,0\nq,b,1,0\nq,c,1,1\n")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--draws", 9, "--limit", 3], "--limit bounds the orderings that are listed"),
        (["--seed", 0], "--seed goes with --draws"),
    ],
)
def test_an_option_that_would_be_ignored_is_refused(call, table, options, words):
    code, out, err = call("permutations", table, "--query", "q", *options)
    assert (code, out) == (2, "")
    assert words in err
    assert len(err.splitlines()) == 1


def test_a_limit_bounds_what_is_listed_and_a_seed_says_what_is_drawn(call, table):
    arguments = ["permutations", table, "--query", "q", "--format", "csv", "-m", "RR"]
    assert len(call(*arguments)[1].splitlines()) == 1 + 6
    assert len(call(*arguments, "--limit", 2)[1].splitlines()) == 1 + 2
    drawn = [call(*arguments, "--draws", 50, *seed)[1] for seed in ([], ["--seed", 0], ["--seed", 1])]
    assert drawn[0] == drawn[1] != drawn[2]
