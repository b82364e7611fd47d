"""`--repeats`: repeats on the command line, scored under their own noise."""

import csv
import io

import pytest

RUN = "q Q0 a 1 {} x\nq Q0 b 2 {} x\n"


@pytest.fixture
def folder(write, monkeypatch):
    for seed, scores in enumerate([(1, 0), (2, 1.5), (0, 0.6)], 1):
        path = write(f"c-seed{seed}.trec", RUN.format(*scores))
    write("qrels", "q 0 a 1\n")
    write("wide.csv", "query_id,doc_id,s,t,u,relevance\nq,a,1,2,0,1\nq,b,0,1.5,0.6,0\n")
    monkeypatch.chdir(path.parent)


def values(output):
    return {row["reranker"]: float(row["value"]) for row in csv.DictReader(io.StringIO(output))}


SCORED = ("-m", "RR", "--ties", "noise", "--format", "csv")


@pytest.mark.usefixtures("folder")
def test_repeats_of_every_kind_give_one_value_under_their_own_noise(call):
    seeds = ("c-seed1.trec", "c-seed2.trec", "c-seed3.trec", "--qrels", "qrels")
    code, by_name, said = call("evaluate", *seeds, *SCORED, "--repeats", "seeds")
    assert code == 0
    assert "mean of 3 repeats" in said
    group = call("evaluate", *seeds, *SCORED, "--repeats", "d=c-seed1, c-seed2,c-seed3")[1]
    columns = call("evaluate", "wide.csv", *SCORED, "--repeats", "s,t,u")[1]
    value = values(by_name)["c"]
    assert 0.5 < value < 1
    assert values(group) == {"d": pytest.approx(value)}
    assert values(columns) == {"wide": pytest.approx(value)}
    of_mean = call("evaluate", *seeds, *SCORED, "--repeats", "seeds", "--repeats-std", "mean")[1]
    assert values(of_mean)["c"] > value


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (("--repeats", "seeds", "--stream"), "Leave out --stream"),
        (("--repeats", "seeds", "--repeats", "a,b"), "give seeds, or NAME=A,B,C"),
        (("--repeats", "d=c-seed1,c-seed2", "--repeats", "d=c-seed3,c-seed2"), "two groups have the same name"),
        (("--repeats", "c-seed1"), "at least two score columns"),
        (("--repeats", ","), "name at least two score columns"),
        (("--repeats", "d=a,b"), "'a' is not a reranker"),
    ],
)
def test_repeats_that_are_none_are_refused_as_usage(options, problem, call):
    code, _, said = call("evaluate", "c-seed1.trec", "c-seed2.trec", "--qrels", "qrels", *options)
    assert code == 2
    assert problem in said


@pytest.mark.usefixtures("folder")
def test_check_says_what_repeats_lack_and_refuses_those_that_are_not_there(call):
    code, out, _ = call("check", "c-seed1.trec", "c-seed2.trec", "qrels", "--repeats", "seeds")
    assert code == 0
    assert "repeats-combined" in out
    assert call("check", "wide.csv", "--repeats", "s,t")[0] == 0
    code, _, said = call("check", "c-seed1.trec", "wide.csv", "--repeats", "no,none")
    assert code == 2
    assert "No file has the chosen columns: no, none" in said
