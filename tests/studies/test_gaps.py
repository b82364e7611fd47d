import statistics

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from boards import EXTREMES
from comparing import scored
from drawing import frame, tables
from enumeration import Doc
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from metrics import Runs, evaluate
from metrics.simulation import notebook_grag, notebook_llm_rerankers, notebook_synthetic
from metrics.studies.gaps import (
    ALL_LISTS,
    Moments,
    QueryMoments,
    correlation,
    gap_finding,
    gap_prose,
    gap_summary,
    gaps,
    gaps_by_measure,
    notebook_lines,
    notebook_table,
    ranks_and_ratios,
    reranker_finding,
    tie_prediction,
    tie_size_counts,
    trend,
    with_overall,
)
from metrics.studies.prose import Strong, plain
from metrics.ties import Ranking
from metrics.ties.permutations import Orderings

TIES = ["expected", "optimistic", "pessimistic", "input", "docid_desc"]


def table_of(table, traditional="input"):
    evaluation = evaluate(Runs.from_frame(frame(table)), ["RR", "Hits@3"], TIES)
    return gaps(evaluation, {"first": "RR", "second": "Hits@3"}, traditional)


def finding(*lists):
    return plain(gap_finding(table_of({"A": {f"q{n}": docs for n, docs in enumerate(lists)}}), "RR"))


def tie(size, relevant):
    return [Doc(str(n), 1, int(n == relevant)) for n in range(1, size + 1)]


STRICT = [Doc("a", 2, 1), Doc("b", 1, 0)]


@given(tables())
def test_a_gap_is_traditional_minus_tied_and_no_wider_than_best_minus_worst(table):
    rows = table_of(table)
    for p in ("first", "second"):
        gap = rows[f"{p}_gap"]
        assert np.allclose(gap, rows[f"{p}_traditional"] - rows[f"{p}_tied"], atol=1e-12)
        assert (gap.abs() <= rows[f"{p}_best"] - rows[f"{p}_worst"] + 1e-12).all()


@pytest.mark.parametrize(("traditional", "gap"), [("input", 7 / 18), ("docid_desc", 1 / 3 - 11 / 18)])
def test_the_gap_is_that_of_the_treatment_asked_for(traditional, gap):
    assert table_of({"A": {"q": tie(3, 1)}}, traditional)["first_gap"].to_list() == [pytest.approx(gap)]


@pytest.mark.parametrize(
    ("x", "y"),
    [
        ([], []),
        ([1, 2, 3], [3, 1, 2]),
        ([1, 1, 1, 1], [1, 2, 3, 4]),
        ([1, 2, 3, 4], [0.5, 0.5, 0.5, 0.5]),
        ([1, 2, 3, 4], [0.1 + 0.2, 0.3, 0.3, 0.3]),
    ],
    ids=["nothing", "three lists", "x constant", "y constant", "y constant but for rounding"],
)
def test_a_correlation_that_is_not_defined_is_none(x, y):
    assert correlation(pd.Series(x, dtype=float), pd.Series(y, dtype=float)) is None


def of_queries(queries, x, y):
    moments = QueryMoments()
    moments.add_lists(pa.array(queries, pa.string()), np.asarray(x, float), np.asarray(y, float))
    return moments.with_interval()


def one_list_a_query(x, y, copies=1):
    """A table of gaps: one list a query, of `copies` rerankers with equal lists."""
    queries = [f"q{at}" for at in range(len(x))]
    columns = {"query_id": queries, "tie_ratio": x, "first_gap": y, "first_best": 1.0, "n_relevant": 1}
    return pd.concat(
        [pd.DataFrame(columns | {"reranker": f"r{at}"}) for at in range(copies)], ignore_index=True
    )


TWELVE = [0, 0.1, 0.2, 0.3, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1], [0, 3, 1, 0, 8, 2, 7, 0, 1, 9, 2, 9]


def test_copies_of_a_reranker_are_no_further_evidence_that_ties_predict_the_gap():
    alone, copied = (plain(gap_finding(one_list_a_query(*TWELVE, copies), "RR")) for copies in (1, 10))
    assert "The data cannot tell whether the tie ratio predicts the gap (r = 0.43" in alone
    assert "The data cannot tell whether the tie ratio predicts the gap (r = 0.43" in copied


def test_an_interval_of_a_correlation_resamples_whole_queries():
    """Against resamples drawn query by query and correlated by numpy."""
    draw = np.random.default_rng(3)
    x = draw.random((15, 4))
    y = x + draw.random((15, 1))
    r, low, high = of_queries(np.repeat([f"q{at}" for at in range(15)], 4), x.ravel(), y.ravel())
    resamples = [draw.integers(0, 15, 15) for _ in range(5_000)]
    by_hand = [np.corrcoef(x[rows].ravel(), y[rows].ravel())[0, 1] for rows in resamples]
    level = stats.norm.sf(stats.t.isf(0.025, 14) * np.sqrt(15 / 14))
    assert r == pytest.approx(np.corrcoef(x.ravel(), y.ravel())[0, 1])
    assert (low, high) == pytest.approx(tuple(np.quantile(by_hand, [level, 1 - level])), abs=0.03)


def test_lists_of_three_queries_say_nothing_of_a_correlation():
    x = np.linspace(0, 1, 30)
    assert of_queries([f"q{at % 3}" for at in range(30)], x, x) is None
    assert of_queries([f"q{at % 4}" for at in range(30)], x, x) is not None


def test_an_interval_of_thousands_of_queries_has_the_width_of_fishers():
    draw = np.random.default_rng(7)
    x, noise = draw.normal(size=(2, 5_000))
    y = x + 2 * noise
    _, low, high = of_queries([f"q{at}" for at in range(5_000)], x, y)
    fishers = stats.pearsonr(x, y).confidence_interval()
    assert (low, high) == pytest.approx(tuple(fishers), abs=0.006)


@pytest.mark.slow
@pytest.mark.parametrize("n_queries", [12, 40])
def test_unrelated_ties_and_gaps_are_seldom_said_to_be_related(n_queries):
    """At most 8% of boards of three alike rerankers; 5% is nominal, and gaps are skewed with many zeros."""
    draw, n_boards, n_related = np.random.default_rng(11), 1_000, 0
    queries = np.tile([f"q{at}" for at in range(n_queries)], 3)
    for _ in range(n_boards):
        x = draw.random(n_queries)
        y = draw.exponential(size=n_queries) * (draw.random(n_queries) < 0.5)
        _, low, high = of_queries(queries, np.tile(x, 3), np.tile(y, 3)) or (0, 0, 0)
        n_related += not low <= 0 <= high
    assert n_related <= 0.08 * n_boards


@pytest.mark.parametrize("x", [[], [1, 2, 3], [2, 2, 2, 2, 2]])
def test_a_trend_needs_four_lists_that_differ(x):
    assert not len(trend(pd.Series(x, dtype=float), pd.Series(x, dtype=float)))


def test_a_trend_follows_a_straight_line_inside_its_band():
    x = pd.Series(np.linspace(0, 1, 400))
    line = trend(x, 2 * x)
    middle = line[line["x"].between(0.3, 0.7)]
    assert np.allclose(middle["mean"], 2 * middle["x"], atol=0.05)
    assert (line["low"] <= line["mean"]).all()
    assert (line["mean"] <= line["high"]).all()


def test_the_finding_says_plainly_that_nothing_ties_or_that_ties_cost_nothing():
    assert finding(STRICT, STRICT).startswith("No documents tie.")
    text = finding([Doc("a", 2, 1), Doc("b", 1, 0), Doc("c", 1, 0)], STRICT)
    assert text.startswith("One list has ties.")
    assert "changes no value" in text


def test_without_a_judged_list_the_findings_do_not_say_that_nothing_ties():
    lists = gaps(evaluate(EXTREMES["no query in common"]().runs, ["RR"]), {"first": "RR"}, "input")
    for text in (plain(gap_finding(lists, "RR")), plain(reranker_finding(lists, "RR"))):
        assert text.startswith("No run has documents to score for a judged query.")


@pytest.mark.parametrize(("relevant", "direction"), [(1, "too high"), (5, "too low")])
def test_the_finding_names_the_query_that_is_farthest_off_and_which_way(relevant, direction):
    text = finding(STRICT, tie(5, relevant), tie(2, 1))
    assert "query q1: the traditional score of A" in text
    assert text.endswith(f"{direction}.")


@pytest.mark.parametrize(
    ("correlation", "said"),
    [
        ((-0.004, -1.0, 1.0), "cannot tell whether the tie ratio predicts the gap (r = 0.00"),
        ((-0.73, -0.97, 0.21), "cannot tell whether the tie ratio predicts the gap (r = −0.73"),
        ((-0.73, -0.9, -0.5), "strongly (r = −0.73)"),
        ((0.4, 0.1, 0.6), "moderately (r = 0.40)"),
    ],
)
def test_no_strength_is_said_of_a_correlation_that_may_be_none(correlation, said):
    worst = {"gap": 0.5, "query_id": "q", "reranker": "A"}
    assert said in plain(gap_prose(6, 0.5, correlation, worst, "RR"))


@pytest.mark.parametrize("seed", range(5))
def test_correlations_of_lists_in_parts_equal_those_of_scipy(seed):
    draw = np.random.default_rng(seed)
    x = draw.random(200) + seed
    y = seed * x + draw.normal(size=200) ** 3
    scipys = stats.pearsonr(x, y)
    parts = Moments()
    for part in (slice(0, 7), slice(7, 150), slice(150, 200)):
        parts.add(x[part], y[part])
    for result in (correlation(pd.Series(x), pd.Series(y)), parts.correlation()):
        assert result == pytest.approx(scipys.statistic, rel=0, abs=1e-12)


def test_a_gap_that_cannot_be_told_is_none_rather_than_zero():
    values = {ties: {"A": {"p": 0.5, "q": 0.25}} for ties in ("expected", "optimistic", "pessimistic")}
    evaluation = scored(input={"A": {"p": np.nan, "q": 0.25 + 1e-14}}, **values)
    evaluation.lists[["n_docs", "n_relevant", "n_tie_groups", "max_tie_size", "log10_orderings"]] = 2
    table = gaps(evaluation, {"first": "RR"}, "input")
    assert table["first_gap"].to_list() == pytest.approx([np.nan, 0], nan_ok=True)


def test_lists_with_nothing_relevant_are_not_said_to_be_level():
    table = pd.DataFrame(
        {
            "reranker": "A",
            "query_id": ["q1", "q2", "q3", "q4"],
            "tie_ratio": 0.5,
            "first_gap": [0.2, 0.0, 0.0, 0.0],
            "first_best": [1.0, 1.0, 0.0, 0.0],
            "n_relevant": [1, 1, 0, 0],
        }
    )
    assert plain(gap_finding(table, "RR")).startswith("50% of the 2 lists with ties and a relevant document")
    judged = table.assign(n_relevant=1)
    assert plain(gap_finding(judged, "RR")).startswith(
        "75% of the 4 lists with ties have equal traditional and tied RR"
    )


@pytest.mark.parametrize(("gap", "number"), [(0.0, "All"), (0.2, "None")])
def test_all_or_none_of_the_lists_are_counted_in_words(gap, number):
    names = {"reranker": "A", "query_id": ["q1", "q2"], "tie_ratio": 0.5, "n_relevant": 1}
    table = pd.DataFrame(names | {"first_gap": gap, "first_best": 1.0})
    start = f"{number} of the 2 lists with ties have equal traditional and tied RR."
    assert plain(gap_finding(table, "RR")).startswith(start)


def test_rerankers_of_equal_gaps_are_said_to_have_the_same():
    sizes = dict.fromkeys("AB", np.array([0.1, 0.2, 0.3]))
    text = plain(reranker_finding(drawn_lists(sizes, {"A": 0.9, "B": 0.5}), "RR"))
    assert "Largest mean |RR gap|: A (0.200), the same as B. " in text
    alone = plain(reranker_finding(drawn_lists({"A": sizes["A"]}, {"A": 0.9}), "RR"))
    assert "Mean |RR gap|: 0.200. " in alone
    assert "argest" not in alone


def test_the_prediction_alone_repeats_the_finding():
    table = one_list_a_query(np.linspace(0, 1, 40), np.linspace(0, 0.4, 40))
    point, rest = tie_prediction(table, "RR")
    assert point == Strong("The tie ratio predicts the gap strongly")
    assert point.text + rest in plain(gap_finding(table, "RR"))
    level = table.assign(first_gap=0.0)
    assert tie_prediction(level, "RR") == gap_finding(level, "RR")


LUCKY = [Doc("a", 1, 1), Doc("b", 1, 0), Doc("c", 0, 0), Doc("d", -1, 0)]


def lists_of(runs, first="RR", second="Hits@3", **policies):
    return gaps(evaluate(runs, [first, second], **policies), {"first": first, "second": second}, "input")


def row(runs, **options):
    return gap_summary(lists_of(runs), **options).iloc[0]


def test_the_mean_largest_tie_is_1_71_or_2_26_with_untied_lists_as_1():
    summary = row(notebook_grag())
    assert summary["tie_groups"] == pytest.approx(0.46)
    assert summary["tie_size_mean"] == pytest.approx(1.71)
    assert summary["max_tie_size_mean"] == pytest.approx(2.26)
    assert summary["max_tie_size"] == 5


def test_deviations_divide_by_one_less_than_the_lists_unless_told_otherwise():
    lists = lists_of(notebook_grag())
    sample, population = gap_summary(lists).iloc[0], gap_summary(lists, ddof=0).iloc[0]
    for name, column in (
        ("tie_ratio_std", lists["tie_ratio"]),
        ("first_tied_std", lists["first_tied"]),
        ("second_gap_std", lists["second_gap"].abs()),
    ):
        assert sample[name] == pytest.approx(statistics.stdev(column))
        assert population[name] == pytest.approx(statistics.pstdev(column))
    assert round(population["first_traditional_std"], 4) == 0.3818  # as the notebook's G-RAG report prints it


@given(tables())
def test_means_are_those_of_the_evaluation_and_the_first_row_is_of_all_lists(table):
    evaluation = evaluate(Runs.from_frame(frame(table)), ["RR", "Hits@3"])
    lists = gaps(evaluation, {"first": "RR", "second": "Hits@3"}, "input")
    summary = gap_summary(lists)
    assert summary.index.to_list() == list(table)
    means = evaluation.scores.groupby(level="reranker", sort=False).mean()
    assert summary["first_tied"].to_list() == pytest.approx(means["RR", "expected"].to_list())
    assert summary["second_best"].to_list() == pytest.approx(means["Hits@3", "optimistic"].to_list())
    assert (summary["first_gap"].abs() <= summary["first_gap_mean"] + 1e-12).all()
    overall = with_overall(summary, lists)
    assert overall.index.to_list() == ([ALL_LISTS, *table] if len(table) > 1 else list(table))
    assert overall["n"].iloc[0] == len(lists)
    assert overall["first_gap_mean"].iloc[0] == pytest.approx(np.abs(lists["first_gap"]).mean())


def test_a_row_a_measure_is_the_summary_of_all_lists_by_that_measure():
    evaluation = evaluate(notebook_llm_rerankers(10), ["RR", "AP", "Hits@5"])
    rows = gaps_by_measure(evaluation, ["RR", "AP", "Hits@5"], "input")
    assert rows.index.to_list() == ["RR", "AP", "Hits@5"]
    for measure, row_of in rows.iterrows():
        lists = gaps(evaluation, {"first": measure}, "input").assign(reranker="all")
        summary = gap_summary(lists).iloc[0]
        assert row_of.to_dict() == pytest.approx({name: summary[f"first_{name}"] for name in row_of.index})


def test_the_synthetic_lists_are_printed_as_in_the_notebook():
    lines = notebook_lines(lists_of(notebook_synthetic()), ("MRR", "Hits@3"))
    assert [line for line in lines if line] == [
        "Analyzed 200 synthetic scenarios",
        "Scenarios with ties: 60 (30.0%)",
        "Average tie ratio: 0.226",
        "Summary Statistics:",
        "Mean MRR difference: 0.0252 (±0.0779)",
        "Max MRR difference: 0.5092",
        "Mean Hits@3 difference: 0.0291 (±0.1221)",
        "Max Hits@3 difference: 0.7500",
        "Correlation between tie ratio and MRR diff: 0.546",
        "Correlation between max tie size and MRR diff: 0.596",
    ]


def test_the_notebooks_rerankers_are_printed_with_deviations():
    summary = gap_summary(lists_of(notebook_llm_rerankers(100), "RR", "Hits@5"))
    rows = notebook_table(summary, ("MRR", "MTRR"), ("Hits@5", "TMHits@5"))
    assert rows.iloc[0].to_list() == [
        "GPT-4 (Low Ties)",
        f"0.5690 ± {summary['tie_ratio_std'].iloc[0]:.4f}",
        "0.6748 ± 0.3664",
        "0.6845 ± 0.3524",
        "0.0376, up to 0.3889",
        "0.9000 ± 0.3015",
        "0.8827 ± 0.2897",
        "0.0454, up to 0.8000",
    ]


HARMLESS = [Doc("a", 2, 1), Doc("b", 1, 0), Doc("c", 1, 0), Doc("d", 1, 0)]


def lists_by_reranker(runs, **policies):
    return gaps(evaluate(runs, ["RR"], **policies), {"first": "RR"}, "input")


def sentence(table, **policies):
    return plain(reranker_finding(lists_by_reranker(Runs.from_frame(frame(table)), **policies), "RR"))


def drawn_lists(sizes, ratios):
    """Lists of rerankers with these absolute gaps and tie ratios, query by query."""
    parts = [
        pd.DataFrame(
            {
                "reranker": name,
                "query_id": [f"q{number}" for number in range(len(gap))],
                "tie_ratio": ratios[name],
                "first_gap": gap,
            }
        )
        for name, gap in sizes.items()
    ]
    return pd.concat(parts, ignore_index=True)


def test_the_finding_of_rerankers_says_plainly_that_nothing_ties_or_nothing_is_scored():
    assert sentence({"A": {"q": STRICT}}).startswith("No documents tie.")
    assert sentence({"A": {"q": [Doc("a", 1, 0)]}}, empty="skip").startswith("No list is scored")


def test_the_finding_tells_who_ties_most_from_whose_lists_are_farther_off():
    queries = ["q", "r", "s"]
    text = sentence({"harmless": dict.fromkeys(queries, HARMLESS), "lucky": dict.fromkeys(queries, LUCKY)})
    assert text.startswith("Most ties: harmless (75% of the documents in a list on average).")
    assert "Largest mean |RR gap|: lucky (0.250), before harmless (0.000)." in text


@given(st.integers(0, 2**32 - 1))
def test_no_gap_is_called_larger_within_the_standard_error(seed):
    draw = np.random.default_rng(seed)
    sizes = {name: draw.random(12) * draw.choice([0.4, 0.5, 1]) for name in "AB"}
    text = plain(reranker_finding(drawn_lists(sizes, {"A": 0.9, "B": 0.5}), "RR"))
    difference = sizes["A"] - sizes["B"]
    error = difference.std(ddof=1) / np.sqrt(len(difference))
    is_clear = abs(difference.mean()) > error
    assert ("before" in text) == is_clear
    assert ("cannot tell it apart from" in text) == (not is_clear)
    assert ("Largest mean |RR gap|: B" in text) == (difference.mean() < 0)


def test_the_finding_says_who_else_ties_as_much_to_the_percent():
    def text_of(*ratios):
        names = list("ABCD")[: len(ratios)]
        lists = drawn_lists({name: np.zeros(3) for name in names}, dict(zip(names, ratios, strict=True)))
        return plain(reranker_finding(lists, "RR"))

    end = "(90% of the documents in a list on average). Tie order changes no value: every RR gap is 0. "
    assert text_of(0.9) == f"Ties: A {end}"
    assert text_of(0.9, 0.2) == f"Most ties: A {end}"
    assert text_of(0.9, 0.899, 0.2, 0.9) == f"Most ties: A and 2 more {end}"


def test_the_prediction_is_that_of_the_finding_on_lists():
    lists = lists_by_reranker(notebook_llm_rerankers(100))
    text, of_lists = plain(reranker_finding(lists, "RR")), plain(gap_finding(lists, "RR"))
    assert "The tie ratio predicts the gap moderately (r = 0.39)" in text
    assert text[text.index("The tie ratio") :].strip() in of_lists
    assert text.startswith("Most ties: Local LLM (Very High Ties) (97% of the documents in a list on average).")
    assert "Local LLM (Very High Ties) (0.167), before Claude (High Ties) (0.129)." in text


def lists_without_ties(rerankers):
    """Lists of ten documents without ties: reranker → the relevant ranks of each query."""
    rows = [
        (name, f"q{query}", f"d{rank}", -rank, int(rank in ranks))
        for name, queries in rerankers.items()
        for query, ranks in enumerate(queries)
        for rank in range(1, 11)
    ]
    return Runs.from_frame(pd.DataFrame(rows, columns=["reranker", "query_id", "doc_id", "score", "relevance"]))


@pytest.mark.parametrize(("measure", "times"), [("RR", (1 + 1 / 4) / (1 / 4 + 1 / 8)), ("AP", 1.325 / 0.375)])
def test_a_mean_is_read_as_a_typical_rank_and_so_many_times_the_baselines(measure, times):
    runs = lists_without_ties({"low": [{4}, {8}], "high": [{1}, {4, 5}]})
    row = ranks_and_ratios(evaluate(runs, ["RR", "AP"], ["expected"]), measure, "low").loc["high"]
    assert row.to_list() == pytest.approx([1.6, times, 1.5])


def test_one_over_mtrr_is_the_harmonic_mean_with_queries_without_a_hit():
    runs = lists_without_ties({"A": [{1}, {3}, set()]})
    for empty, n_queries in (("zero", 3), ("skip", 2)):
        evaluation = evaluate(runs, ["RR"], ["expected"], empty=empty)
        rank = ranks_and_ratios(evaluation, "RR", "A").loc["A", "typical_rank"]
        assert rank == pytest.approx(n_queries / (1 + 1 / 3))


def test_a_mean_of_zero_has_no_typical_rank_and_no_ratio_to_it():
    runs = lists_without_ties({"none": [set()], "one": [{1}]})
    rows = ranks_and_ratios(evaluate(runs, ["RR"], ["expected"]), "RR", "none")
    assert rows["typical_rank"].isna().to_dict() == {"none": True, "one": False}
    assert rows["times"].isna().all()
    assert rows["relevant"].to_list() == [0, 1]


@given(tables())
def test_ties_are_counted_by_their_size_in_steps_of_powers_of_two(table):
    runs = Runs.from_frame(frame(table))
    counts = tie_size_counts({name: Ranking.of(runs, name) for name in table}, evaluate(runs, "RR").lists)
    sizes = [
        size
        for name in table
        for query in table[name]
        for size in map(len, Orderings.of(Ranking.of(runs, name), query).groups)
        if size > 1
    ]
    for row in counts.itertuples():
        inside = [size for size in sizes if row.first <= size <= row.last]
        assert (row.ties, row.documents) == (len(inside), sum(inside))
    assert counts["ties"].sum() == len(sizes)


def test_ties_of_lists_that_do_not_count_are_left_out():
    tied = [Doc("a", 1, 1), Doc("b", 1, 0)]
    runs = Runs.from_frame(frame({"A": {"q": tied, "r": tied}}))
    lists = evaluate(runs, "RR").lists
    assert tie_size_counts({"A": Ranking.of(runs, "A")}, lists.loc[[("A", "q")]])["ties"].to_list() == [1]
