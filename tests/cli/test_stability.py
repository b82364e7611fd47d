import csv
import io
import json

import pytest

PAIRS = ["measure", "reranker", "other", "above", "equal", "below", "standard_error", "reversible"]
PLACES = ["measure", "reranker", "place", "chance", "standard_error"]


@pytest.fixture
def table(write):
    """Tied puts its relevant document anywhere among four; second has it second, last has it last."""
    lines = ["reranker,query_id,doc_id,score,relevance"]
    lines += [f"tied,q,{doc},1,{int(doc == 'a')}" for doc in "abcd"]
    lines += [f"second,q,{doc},{4 - place},{int(place == 1)}" for place, doc in enumerate("abcd")]
    lines += [f"last,q,{doc},{4 - place},{int(place == 3)}" for place, doc in enumerate("abcd")]
    return write("runs.csv", "\n".join(lines) + "\n")


def rows(text):
    return list(csv.DictReader(io.StringIO(text)))


def test_csv_says_how_often_each_run_is_above_each_other(call, table):
    code, out, err = call("stability", table, "-m", "RR", "--format", "csv")
    assert (code, out.splitlines()[0].split(",")) == (0, PAIRS)
    pairs = {(row["reranker"], row["other"]): row for row in rows(out)}
    chances = [float(pairs["tied", "second"][name]) for name in ("above", "equal", "below")]
    assert chances == pytest.approx([0.25, 0.25, 0.5], abs=4 * float(pairs["tied", "second"]["standard_error"]))
    assert pairs["second", "last"]["above"] == "1.0"
    assert pairs["second", "last"]["standard_error"] == "0.0"
    assert f"RR: second has a higher MRR than tied in {chances[2]:.0%} of 1,000 random tie orders" in err


def test_places_are_chances_that_sum_to_one(call, table):
    _, out, _ = call("stability", table, "-m", "RR", "--places", "--format", "csv")
    assert out.splitlines()[0].split(",") == PLACES
    chances = {(row["reranker"], row["place"]): float(row["chance"]) for row in rows(out)}
    assert [chances["tied", place] for place in "123"] == pytest.approx([0.5, 0.5, 0], abs=0.07)
    assert [chances["second", place] for place in "123"] == pytest.approx([0.75, 0.25, 0], abs=0.06)
    assert [chances["last", place] for place in "123"] == pytest.approx([0, 0.25, 0.75], abs=0.06)
    errors = {(row["reranker"], row["place"]): float(row["standard_error"]) for row in rows(out)}
    share = chances["last", "2"]
    assert errors["last", "2"] == pytest.approx((share * (1 - share) / 1000) ** 0.5)


def test_draws_are_the_tie_orders_of_their_seeds(call, table):
    arguments = ["stability", table, "-m", "RR", "--draws", "20", "--format", "json"]
    pair = json.loads(call(*arguments, "--seed", "7")[1])[0]
    orders = [text for seed in range(7, 27) for text in ("--ties", f"random:{seed}")]
    out = call("evaluate", table, "-m", "RR", *orders, "--format", "csv")[1]
    values = [float(row["value"]) for row in rows(out) if row["reranker"] == "tied"]
    assert (pair["reranker"], pair["other"]) == ("tied", "second")
    assert pair["above"] == sum(value > 0.5 for value in values) / 20
    assert json.loads(call(*arguments, "--seed", "7")[1])[0] == pair


def test_noise_is_a_standard_deviation_or_the_column_score_std(call, table, write):
    out = call("stability", table, "-m", "RR", "--noise", "5", "--format", "json")[1]
    chances = {(pair["reranker"], pair["other"]): pair["above"] for pair in json.loads(out)}
    assert 0.4 < chances["second", "last"] < 0.8
    code, _, err = call("stability", table, "--noise", "score_std")
    assert (code, "has no column score_std" in err) == (2, True)
    code, _, err = call("stability", table, "--noise", "loud")
    assert (code, "'loud'" in err) == (2, True)
    lines = ["reranker,query_id,doc_id,score,score_std,relevance"]
    lines += [
        f"{name},q,{doc},{-place},{std},{int(doc == 'a')}"
        for name, std in (("A", 0), ("B", 9))
        for place, doc in enumerate("abcd")
    ]
    path = write("std.csv", "\n".join(lines) + "\n")
    (pair,) = json.loads(call("stability", path, "-m", "RR", "--noise", "score_std", "--format", "json")[1])
    assert 0.5 < pair["above"] < 0.9
    assert pair["below"] == 0
