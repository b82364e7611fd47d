"""Rerankers that are repeats become one, with the mean of their scores and its spread."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from metrics import UsageError, evaluate, read_runs

PAIRS = [("c-seed1", 5.0, 4.5), ("c-seed2", 1.0, 1.25), ("c-seed3", -3.0, -3.5)]
SEEDS = ["c-seed1", "c-seed2", "c-seed3"]
RUNS = st.dictionaries(
    st.tuples(st.sampled_from(SEEDS), st.sampled_from(["q1", "q2"]), st.sampled_from("abc")),
    st.integers(-5, 5).map(lambda number: number / 4),
    min_size=2,
)


def frame(scores):
    """Rows of {(reranker, query, document): score}; document a is relevant."""
    rows = [(*key, score, int(key[2] == "a")) for key, score in scores.items()]
    return pd.DataFrame(rows, columns=["reranker", "query_id", "doc_id", "score", "relevance"])


def runs_of(*names):
    return read_runs(frame({(name, "q", document): 1.0 for name in names for document in "ab"}))


@given(RUNS)
def test_repeats_combine_to_the_mean_and_deviation_of_each_document(scores):
    rows = frame(scores)
    present = list(dict.fromkeys(rows["reranker"]))
    groups = rows.groupby(["query_id", "doc_id"])["score"]
    if len(present) < 2 or groups.size().max() < 2:
        return
    runs = read_runs(rows, repeats={"c": present}, repeats_std="run")
    table = runs.tables["c"].to_pandas()
    expected = groups.agg(["mean", "std"]).loc[list(zip(table["query_id"], table["doc_id"], strict=True))]
    assert len(table) == len(groups)
    assert table["score"].to_numpy() == pytest.approx(expected["mean"].to_numpy())
    several = expected["std"].notna().to_numpy()
    assert table["score_std"][several].to_numpy() == pytest.approx(expected["std"][several].to_numpy())
    assert (table["relevance"] == (table["doc_id"] == "a")).all()


def test_the_combined_reranker_stands_in_the_place_of_its_first_repeat():
    runs = runs_of("x", *SEEDS[:2], "y", SEEDS[2])
    assert runs.combined({"c": SEEDS}).rerankers == ["x", "c", "y"]
    assert read_runs(frame({(name, "q", "a"): 1.0 for name in ["x", *SEEDS]}), repeats="seeds").rerankers == [
        "x",
        "c",
    ]


def test_documents_that_a_repeat_lacks_are_counted():
    scores = {("c-seed1", "q", "a"): 1, ("c-seed1", "q", "b"): 2, ("c-seed2", "q", "a"): 3}
    runs = read_runs(frame(scores), repeats="seeds", repeats_std="run")
    message = runs.findings.set_index("code")["message"]["repeats-incomplete"]
    assert "1 of 2 documents" in message
    assert message.endswith("score_std is pooled from the other documents): 1.")
    assert runs.tables["c"]["score_std"].to_pylist() == pytest.approx([2**0.5] * 2)


def test_repeats_on_unlike_scales_are_said_to_be():
    scores = {
        (name, "q", f"d{n}"): n * scale
        for name, scale in zip(SEEDS, (1, 1, 40), strict=True)
        for n in range(12)
    }
    codes = list(read_runs(frame(scores), repeats="seeds").findings["code"])
    assert "repeats-unlike" in codes
    scores = {key: score / 40 if key[0] == SEEDS[2] else score for key, score in scores.items()}
    assert "repeats-unlike" not in list(read_runs(frame(scores), repeats="seeds").findings["code"])


@pytest.mark.parametrize(
    ("repeats", "problem"),
    [
        ({"c": ["c-seed1", "nobody"]}, "'nobody' is not a reranker"),
        ({"c": ["c-seed1"]}, "at least two rerankers"),
        ({"c": ["c-seed1", "c-seed1"]}, "named twice"),
        ({"c": ["c-seed1", "c-seed2"], "d": ["c-seed2", "x"]}, "named twice"),
        ({"x": ["c-seed1", "c-seed2"]}, "is empty or already in use"),
        ({" ": ["c-seed1", "c-seed2"]}, "is empty or already in use"),
        ({"c": ["x", "apart"]}, "no document appears in two"),
        ({"c": ["x", "endless"]}, "inf and -inf"),
        ("seed", "or 'seeds'"),
        (("score",), "two score columns"),
        (("one", "two"), "No file has the chosen columns: one, two"),
    ],
)
def test_repeats_that_are_none_are_refused(repeats, problem):
    scores = {(name, "q", document): 1.0 for name in ["c-seed1", "c-seed2", "x"] for document in "ab"}
    scores |= {("apart", "q", "z"): 1.0, ("x", "q", "b"): np.inf, ("endless", "q", "b"): -np.inf}
    with pytest.raises(UsageError, match=problem):
        read_runs(frame(scores), repeats=repeats)


def test_seeds_are_asked_for_in_vain_where_no_name_has_one():
    with pytest.raises(UsageError, match="among bm25, gpt-4, no two names differ only in a seed"):
        read_runs(frame({("bm25", "q", "a"): 1, ("gpt-4", "q", "a"): 1}), repeats="seeds")


def test_noise_of_repeats_scores_what_one_further_run_would():
    rows = dict(zip(SEEDS, ([1.0, 0.0], [2.0, 1.5], [0.0, 0.6]), strict=True))
    scores = {
        (name, "q", document): row["ab".index(document)] for name, row in rows.items() for document in "ab"
    }
    runs = read_runs(frame(scores), repeats="seeds", repeats_std="run")
    first, second = 1.0, 0.7
    spread = np.hypot(np.std([1, 2, 0], ddof=1), np.std([0, 1.5, 0.6], ddof=1))
    ahead = norm.cdf((first - second) / spread)
    value = evaluate(runs, "RR", "noise").scores.iloc[0, 0]
    assert value == pytest.approx(ahead + (1 - ahead) / 2)
    runs = read_runs(frame(scores), repeats="seeds", repeats_std="mean")
    ahead = norm.cdf((first - second) / spread * 3**0.5)
    assert evaluate(runs, "RR", "noise").scores.iloc[0, 0] == pytest.approx(ahead + (1 - ahead) / 2)
    with pytest.raises(UsageError, match="repeats_std must be 'order', 'run' or 'mean', not 'both'"):
        read_runs(frame(scores), repeats="seeds", repeats_std="both")


def test_noise_of_order_is_that_of_the_difference_of_two_documents():
    scores = {(name, "q", doc): value for name, *row in PAIRS for doc, value in zip("ab", row, strict=True)}
    differences = [first - second for _, first, second in PAIRS]
    ahead = norm.cdf(np.mean(differences) / np.std(differences, ddof=1))
    value = evaluate(read_runs(frame(scores), repeats="seeds"), "RR", "noise").scores.iloc[0, 0]
    assert value == pytest.approx(ahead + (1 - ahead) / 2)


def test_judgments_apart_and_lines_of_their_files_stay_known(write):
    files = [write(f"c-seed{n}.trec", f"q Q0 a 1 {n} x\nq Q0 b 2 0 x\n") for n in (1, 3)]
    runs = read_runs(files, write("qrels", "q 0 a 1\n"), repeats={"c": ["c-seed1", "c-seed3"]})
    assert runs.tables["c"]["score"].to_pylist() == [2, 0]
    assert runs.origins["c"].file == "c-seed1.trec, c-seed3.trec"
    assert runs.origins["c"].line_of(1) == 2
    assert evaluate(runs, "RR", "expected").scores.iloc[0, 0] == 1
    assert list(runs.arranged({"c": "d"}).tables) == ["d"]


def test_grades_that_repeats_give_unlike_are_refused_unless_judgments_are_apart():
    rows = frame({(name, "q", doc): 1.0 for name in SEEDS[:2] for doc in "ab"})
    rows.loc[rows["reranker"] == "c-seed2", "relevance"] = 0
    problem = (
        "'c': document 'a' of query 'q' has relevance 0 in 'c-seed2' and 1 in 'c-seed1'; "
        r"documents with two grades: 1\. Make them agree"
    )
    for order in (rows, rows[::-1]):
        with pytest.raises(UsageError, match=problem):
            read_runs(order, repeats="seeds")
    judged = read_runs(rows, frame({("x", "q", "a"): 1.0}).drop(columns="score"), repeats="seeds")
    assert judged.rerankers == ["c"]


def test_unread_columns_of_repeats_are_named():
    first, second = (frame({(name, "q", doc): 1.0 for doc in "ab"}) for name in SEEDS[:2])
    runs = read_runs([first.assign(bm25=2.0, score_std=0.5), second], repeats="seeds")
    findings = runs.findings
    assert list(findings["message"][findings["code"] == "columns-unused"]) == [
        "'c': columns not read because some of the 2 repeats lack them: bm25 (in 1).",
        "'c': the score_std column in 1 of 2 repeats is ignored; score_std is computed from the scores.",
    ]
    assert "bm25" not in runs.tables["c"].column_names
    assert "columns-unused" not in list(read_runs([first, second], repeats="seeds").findings["code"])
