"""alpha_nDCG: against every ordering of short lists in fractions, against ndeval, and what is not computed."""

import math
import random
from fractions import Fraction
from itertools import chain, permutations, product

import pandas as pd
import pytest

from metrics import UsageError, evaluate, parse, read_runs
from metrics.errors import RepeatError
from metrics.runs import File, read
from metrics.runs.joining import subtopic_rows

ALPHAS = (Fraction(1, 2), Fraction(9, 10), Fraction(1, 8))
QRELS_COLUMNS = ["query_id", "subtopic", "doc_id", "relevance"]


def gain(order, covers, alpha, k):
    """The gain of an order: sums of exact fractions, only logarithms rounded."""
    seen, terms = {}, []
    for rank, document in enumerate(order[:k], 1):
        worth = sum((1 - alpha) ** seen.get(subtopic, 0) for subtopic in covers.get(document, ()))
        terms.append(float(worth) / math.log2(rank + 1))
        for subtopic in covers.get(document, ()):
            seen[subtopic] = seen.get(subtopic, 0) + 1
    return math.fsum(terms)


def greedy(covers, alpha):
    order, rest = [], sorted(covers, reverse=True)
    while rest:
        seen = [subtopic for document in order for subtopic in covers[document]]
        best = max(rest, key=lambda name: sum((1 - alpha) ** seen.count(subtopic) for subtopic in covers[name]))
        order.append(best)
        rest.remove(best)
    return order


def draw(seed):
    """A run of a few scores, and judgments of subtopics, of one query; documents unjudged and unlisted too."""
    chance = random.Random(seed)  # noqa: S311
    documents = chance.sample("abcdefghi", chance.randint(1, 9))
    listed = documents[: chance.randint(1, min(6, len(documents)))]
    levels = chance.choice([(1,), (2, 1), (3, 2, 1)])
    run = [(f"q{seed}", name, float(chance.choice(levels))) for name in chance.sample(listed, len(listed))]
    judged = [
        (f"q{seed}", subtopic, name, chance.choice([0, 1, 1, 2]))
        for name in documents
        for subtopic in chance.sample("1234", chance.choice([0, 1, 1, 2, 3]))
    ]
    return run, judged or [(f"q{seed}", "1", "a", 1)]


SEEDS = range(120)
RUN = pd.DataFrame([row for seed in SEEDS for row in draw(seed)[0]], columns=["query_id", "doc_id", "score"])
JUDGED = pd.DataFrame([row for seed in SEEDS for row in draw(seed)[1]], columns=QRELS_COLUMNS)


@pytest.fixture(scope="module")
def runs():
    return read_runs(RUN, qrels=JUDGED)


def covers_of(query, relevant_from):
    rows = JUDGED[(JUDGED["query_id"] == query) & (JUDGED["relevance"] >= relevant_from)]
    return rows.groupby("doc_id")["subtopic"].agg(list).to_dict()


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize(("k", "relevant_from"), [(None, 1), (2, 1), (4, 2)])
def test_tied_and_traditional_values_are_those_of_every_ordering(runs, alpha, k, relevant_from):
    name = f"alpha_nDCG({float(alpha)})" + (f"@{k}" if k else "")
    scores = evaluate(runs, name, ["expected", "input"], relevant_from=relevant_from).scores[name]
    for (_, query), row in scores.iterrows():
        covers = covers_of(query, relevant_from)
        ideal = gain(greedy(covers, alpha), covers, alpha, k)
        listed = RUN[RUN["query_id"] == query].sort_values("score", ascending=False, kind="stable")
        ties = [list(group["doc_id"]) for _, group in listed.groupby("score", sort=False)]
        orders = [list(chain.from_iterable(parts)) for parts in product(*map(permutations, ties))]
        values = [gain(order, covers, alpha, k) / ideal if ideal else 0 for order in orders]
        assert row["expected"] == pytest.approx(math.fsum(values) / len(values), abs=1e-12)
        assert row["input"] == pytest.approx(values[0], abs=1e-12)


def test_strict_orders_give_the_values_of_ndeval(runs):
    pyndeval = pytest.importorskip("pyndeval")
    names = {f"alpha-nDCG@{k}": f"alpha_nDCG(0.5)@{k}" for k in (1, 3, 5, 20)}
    ordered = RUN.sort_values(["query_id", "score", "doc_id"], ascending=False)
    strict = [
        (query, name, -float(row)) for row, (query, name, _) in enumerate(ordered.itertuples(index=False))
    ]
    theirs = pyndeval.ndeval(list(JUDGED.itertuples(index=False, name=None)), strict, list(names))
    ours = evaluate(runs, list(names.values()), "docid_desc").scores.droplevel("ties", axis=1).loc["table"]
    for query, values in theirs.items():
        for theirs_name, name in names.items():
            assert ours.loc[query, name] == pytest.approx(values[theirs_name], abs=1e-12)


def test_large_ties_lie_near_the_mean_of_draws_and_cost_little():
    chance = random.Random(1)  # noqa: S311
    names = [f"d{number}" for number in range(3000)]
    judged = [("q", str(number % 3), name, 1) for number, name in enumerate(names[:900])]
    run = pd.DataFrame({"query_id": "q", "doc_id": names, "score": 1.0})
    scored = evaluate(run, ["alpha_nDCG@20"], "expected", qrels=pd.DataFrame(judged, columns=QRELS_COLUMNS))
    covers = {name: [subtopic] for _, subtopic, name, _ in judged}
    ideal = gain(greedy(dict(list(covers.items())[:60]), 0.5), covers, 0.5, 20)
    draws = [gain(chance.sample(names, 20), covers, 0.5, 20) / ideal for _ in range(2000)]
    assert scored.scores.iloc[0, 0] == pytest.approx(math.fsum(draws) / 2000, abs=0.01)


def test_best_worst_and_deviation_are_refused_in_one_line_and_not_usual(runs):
    for ties in ("optimistic", "pessimistic", "std"):
        with pytest.raises(UsageError, match="best case, worst case"):
            evaluate(runs, "alpha_nDCG@10", ties)
    assert evaluate(runs, "alpha_nDCG@10").ties == ("input", "expected")
    with pytest.raises(UsageError, match="best case, worst case"):
        evaluate(runs, ["RR", "alpha_nDCG@10"], ["expected", "optimistic"])
    assert evaluate(runs, ["RR", "alpha_nDCG@10"]).ties == ("input", "expected")


def test_judgments_without_subtopics_are_refused_with_what_to_give():
    with pytest.raises(
        UsageError, match="judgments of subtopics: lines with query, subtopic, document and grade"
    ):
        evaluate(
            RUN,
            "alpha_nDCG@10",
            qrels=JUDGED.drop(columns="subtopic").groupby(["query_id", "doc_id"], as_index=False).max(),
        )


@pytest.mark.parametrize(
    "written", ["alpha_nDCG@10", "alpha-nDCG@10", "α-nDCG(alpha=0.5)@10", "ALPHA_NDCG(0.5)@10"]
)
def test_names_and_parameters_are_read(written):
    assert str(parse(written)) == "alpha_nDCG(0.5)@10"
    assert parse(written) == parse("alpha_nDCG@10")
    assert parse("alpha_nDCG(0.9)@10") != parse(written)


@pytest.fixture
def qrels_path(tmp_path):
    path = tmp_path / "diversity.qrels"
    path.write_text("".join(f"{q} {s} {d} {g}\n" for q, s, d, g in JUDGED.itertuples(index=False)))
    return path


def test_a_diversity_qrels_file_a_table_and_a_frame_give_the_same(runs, qrels_path, tmp_path):
    JUDGED.to_csv(tmp_path / "judged.csv", index=False)
    expected = evaluate(runs, "alpha_nDCG@5").scores
    for qrels in (qrels_path, tmp_path / "judged.csv"):
        read = read_runs(RUN, qrels=qrels)
        pd.testing.assert_frame_equal(evaluate(read, "alpha_nDCG@5").scores, expected)
    halves = [JUDGED[JUDGED["subtopic"] < "3"], JUDGED[JUDGED["subtopic"] >= "3"]]
    pd.testing.assert_frame_equal(
        evaluate(read_runs(RUN, qrels=halves), "alpha_nDCG@5").scores.sort_index(), expected.sort_index()
    )


def test_a_document_counts_once_with_its_highest_grade(qrels_path):
    highest = JUDGED.groupby(["query_id", "doc_id"], as_index=False)["relevance"].max()
    measures = ["AP", "nDCG@5", "RR", "bpref"]
    pd.testing.assert_frame_equal(
        evaluate(RUN, measures, qrels=str(qrels_path)).scores.sort_index(),
        evaluate(RUN, measures, qrels=highest).scores.sort_index(),
    )


def test_relevance_and_subtopics_may_stand_beside_the_scores():
    inside = RUN.merge(JUDGED, on=["query_id", "doc_id"])
    listed = inside[["query_id", "doc_id", "score"]].drop_duplicates()
    apart = evaluate(listed, "alpha_nDCG@5", qrels=inside[QRELS_COLUMNS])
    pd.testing.assert_frame_equal(evaluate(inside, "alpha_nDCG@5").scores, apart.scores)


def test_one_subtopic_judged_twice_is_refused_or_settled():
    judged = pd.DataFrame([("q", "1", "d", 1), ("q", "1", "d", 0), ("q", "2", "d", 1)], columns=QRELS_COLUMNS)
    run = pd.DataFrame({"query_id": ["q"], "doc_id": ["d"], "score": [1.0]})
    with pytest.raises(RepeatError, match="document 'd' is judged twice for subtopic '1'"):
        read_runs(run, qrels=judged)
    for repeated, grade in (("first", 1), ("max", 1)):
        (row,) = read_runs(run, qrels=judged, repeated=repeated).qrels.to_pylist()
        assert dict(row["subtopics"]) == {"1": grade, "2": 1}


def test_an_iteration_that_all_lines_share_is_no_subtopic(tmp_path):
    path = tmp_path / "one.qrels"
    path.write_text("q 1 a 1\nq 1 b 0\n")
    run = pd.DataFrame({"query_id": ["q"], "doc_id": ["a"], "score": [1.0]})
    assert read_runs(run, qrels=path).qrels.column_names == ["query_id", "doc_id", "relevance"]
    assert read(File.open(path)).format == "trec-qrels"


def test_joined_judgments_are_written_as_files_have_them(runs):
    written = subtopic_rows(runs.qrels)
    assert sorted(written.select(QRELS_COLUMNS).to_pandas().itertuples(index=False)) == sorted(
        JUDGED.itertuples(index=False)
    )
    again = read_runs(RUN, qrels=written)
    assert again.qrels.equals(runs.qrels)
