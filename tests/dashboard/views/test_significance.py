"""Differences on the Compare page are those of the studies, and its charts show them."""

import re
from dataclasses import replace
from urllib.parse import parse_qs, urlparse

import numpy as np
import pandas as pd
import pytest
from boards import board
from comparing import scored
from opening import charts, copied, finding, only, opened, table, texts
from scipy import stats

from dashboard import cache
from dashboard.charts.compare import (
    difference_forest,
    difference_histogram,
    finish_heatmap,
    matrix_width,
    order_matrix,
    verdict_matrix,
)
from dashboard.charts.palette import DARK, LIGHT, blend, contrast
from dashboard.views import compare as compare_page
from dashboard.visitor import BROWSER_KEY
from metrics import evaluate
from metrics.studies.draws import draws
from metrics.studies.pair_findings import Verdicts, verdicts
from metrics.studies.pairs import COLUMNS, compare, significant_signs
from metrics.studies.prose import chance, decimal, plain, signed
from metrics.studies.query_values import query_differences, values_by_query
from metrics.support.wording import describe_part, written_p

BASE = "GPT-4 (Low Ties)"
SIMULATED = cache.SIMULATED_LABEL
BOUNDS = ((0.001, "***"), (0.01, "**"), (0.05, "*"))
FEW = ["Against the baseline", "Stability", "Trade-offs"]
"""Sections of up to three rerankers."""
TIES = ("expected", "docid_asc")


@pytest.fixture(scope="module")
def sample():
    return evaluate(cache.sample_board(SIMULATED).runs, ["Hits@5"], TIES)


@pytest.fixture(scope="module")
def drawn():
    return draws(cache.sample_board(SIMULATED).runs, "Hits@5", n=300)


def detailed(**choices):
    """The page with its comparison in detail."""
    page = opened("compare", **choices)
    assert not page.expander[0].dataframe, "nothing of it is made before it is opened"
    page.session_state["comparison-detail"] = True
    return page.run()


def label(new_board):
    return cache.loaded_boards().add(new_board).label


def unstyled(text):
    return re.sub("<[/a-z][^>]*>", "", text)


def marks(figure, kind):
    return next(trace for trace in figure.data if trace.name == kind and trace.x[0] is not None)


def words(figure):
    return [note.text for note in figure.layout.annotations]


def test_the_page_shows_the_table_of_all_pairs_of_the_board(sample):
    page = opened("compare", data=SIMULATED, measure="Hits@5", order="docid_asc")
    pairs = verdicts(sample, "Hits@5", "docid_asc").against(BASE)
    rows = table(page, "Results against").set_index("reranker")
    changed = pairs.changed.map({True: "yes", False: "no"})
    expected = pairs.tied.assign(changed=changed).set_index("reranker").reindex(rows.index)
    shown = [name for name in (*COLUMNS, "changed") if name in rows]
    assert len(shown) == 12
    pd.testing.assert_frame_equal(rows[shown], expected[shown])
    marks_drawn = {trace["name"]: trace["x"] for trace in charts(page)["forest"]["data"] if "error_x" in trace}
    assert marks_drawn["tied"] == pytest.approx(pairs.changed_first(3).tied["difference"].tolist())
    assert " significantly worse than GPT-4 (Low Ties), and none is significantly better" in finding(page)
    assert ", with ties averaged. 1 of 3 verdicts depends on tie order." in finding(page)
    assert "Test: sign flips, corrected for 6 pairs by the largest statistic." in texts(page)


CHOICES = {"test": "t-test", "correction": "none", "family": "against the baseline"}
"""Those of the fifth source document: stars of paired t-tests, not corrected."""


def test_a_link_shows_the_stars_of_paired_t_tests_without_correction(sample):
    page = opened("compare", data=SIMULATED, measure="Hits@5", order="docid_asc", baseline=BASE, **CHOICES)
    values = values_by_query(sample, "Hits@5", "expected")
    rows = table(page, "Results against").set_index("reranker")
    for name, row in rows.iterrows():
        p = stats.ttest_rel(values[name], values[BASE]).pvalue
        assert row["p_adjusted"] == pytest.approx(p)
        assert row["stars"] == next((mark for bound, mark in BOUNDS if p < bound), "ns")
    assert "Test: paired t-test, not corrected." in texts(page)


@pytest.mark.parametrize(
    "choices",
    [
        {"test": "Wilcoxon signed-rank", "correction": "Holm"},
        {"test": "t-test", "correction": "Bonferroni", "family": "against the baseline"},
        {"test": "sign flips", "correction": "largest statistic", "family": "against the baseline"},
    ],
)
def test_a_test_chosen_in_more_changes_every_figure_and_line_of_compare(sample, choices):
    page = opened("compare", data=SIMULATED, measure="Hits@5", order="docid_asc", baseline=BASE, **choices)
    names = {"Wilcoxon signed-rank": "wilcoxon", "t-test": "t", "sign flips": "flips"}
    family = "baseline" if "family" in choices else "all"
    correction = None if choices["test"] == "sign flips" else choices["correction"].casefold()
    testing = {"test": names[choices["test"]], "correction": correction, "family": family}
    expected = verdicts(sample, "Hits@5", "docid_asc", BASE, **testing)
    usual = verdicts(sample, "Hits@5", "docid_asc").against(BASE)
    rows = table(page, "Results against").set_index("reranker")
    tied = expected.tied.set_index("reranker").loc[rows.index]
    assert rows[["low", "high", "p_adjusted"]].equals(tied[["low", "high", "p_adjusted"]])
    assert not rows["low"].reset_index(drop=True).equals(usual.tied["low"])
    assert f"Test: {expected.method}." in texts(page)
    assert f"95% {expected.interval}." in texts(page)
    assert expected.method in finding(page) or expected.changed.any()
    pairs = verdicts(sample, "Hits@5", "docid_asc", **testing | {"family": "all"})
    page.segmented_control(key="section").set_value("All pairs").run()
    n_significant = np.count_nonzero(significant_signs(pairs.tied))
    differ = describe_part(n_significant, 6, "pair", "differ")
    assert f"{differ} significantly by tied scores." in texts(page)
    assert f"Test: {pairs.method}." in texts(page)


def test_a_subset_on_screen_is_still_corrected_for_all_pairs_of_the_board(sample):
    names = sample.scores.index.unique("reranker").to_list()
    page = opened("compare", data=SIMULATED, measure="Hits@5", order="docid_asc", rerankers=names[:2])
    pairs = compare(sample, "Hits@5").set_index(["baseline", "reranker"])
    p = chance(pairs.loc[tuple(names[:2]), "p_adjusted"])
    assert p != chance(compare(sample.only(names[:2]), "Hits@5")["p_adjusted"].iloc[0])
    assert p in finding(page)
    assert "corrected for 6 pairs" in texts(page)


def test_two_rerankers_have_one_distribution_and_the_queries_that_decide(sample):
    names = sample.scores.index.unique("reranker").to_list()[:2]
    page = opened("compare", data=SIMULATED, measure="Hits@5", order="docid_asc", rerankers=names)
    assert set(charts(page)) == {"differences"}
    bars, interval, mean = charts(page)["differences"]["data"]
    pair = compare(sample, "Hits@5").set_index(["baseline", "reranker"]).loc[tuple(names)]
    assert sum(bars["y"]) == pair["n_differ"]
    assert interval["x"] == [pair["low"], pair["high"]]
    assert mean["x"] == [pair["difference"]]
    figures = f"{signed(pair['difference'])}, 95% interval {signed(pair['low'])} to {signed(pair['high'])}"
    means = f"{decimal(pair['mean'])} TMHits@5 against {decimal(pair['mean_baseline'])} of {names[0]}"
    (line,) = (line for line in copied(page).splitlines() if line.startswith(f"- {names[1]} has {means}: "))
    assert f": {figures} ({chance(pair['p_adjusted'])}). It is better on {pair['won']} of" in line
    rows = table(page, "Query by query")
    assert rows["difference"].abs().is_monotonic_decreasing
    assert not page.expander


@pytest.mark.parametrize("test", ["sign flips", "t-test", "bootstrap", "Mann-Whitney U"])
def test_every_test_can_be_chosen_and_only_sign_flips_have_the_largest_statistic(test):
    page = opened("compare", data=SIMULATED, test=test, correction="none")
    assert page.segmented_control(key="test").value == test
    assert ("largest statistic" in page.segmented_control(key="correction").options) == (test == "sign flips")
    assert any(test.casefold() in text.value.casefold() for text in page.caption)
    assert any("p\u00a0<\u00a00.05" in text.value for text in page.caption), "no line ends within a bound of p"


def test_a_comparison_on_one_query_has_a_note():
    text = "\n".join(line for line in THREE.splitlines() if line[:2] == "re" or ",q2," in line)
    page = opened("compare", data=label(board(single_csv=text)))
    assert finding(page).startswith("No test is possible.")
    assert "For high, one query in common: no test is possible." in texts(page)


def test_a_single_reranker_is_compared_with_nobody():
    page = opened("compare", data=SIMULATED, rerankers=[BASE])
    assert finding(page)
    assert not page.dataframe
    assert not charts(page)


@pytest.mark.parametrize(("n_rerankers", "sections"), [(3, FEW), (4, [*FEW[:1], "All pairs", *FEW[1:]])])
def test_all_pairs_are_offered_from_four_rerankers_on(sample, n_rerankers, sections):
    names = sample.scores.index.unique("reranker").to_list()[:n_rerankers]
    page = opened("compare", data=SIMULATED, rerankers=names)
    assert page.segmented_control(key="section").options == sections
    assert not page.warning


THREE = "reranker,query_id,doc_id,score,relevance\n" + "".join(
    f"low,q{query},{doc},{ord(doc)},{int(doc == 'a')}\nhigh,q{query},{doc},{-ord(doc)},{int(doc == 'a')}\n"
    for query in range(3)
    for doc in "abcd"[: 2 + query]
)
"""Two rerankers on three queries, one above the other on each."""


def test_of_two_rerankers_and_three_queries_no_more_is_said_than_they_allow():
    page = opened("compare", data=label(board(three_csv=THREE)), test="Wilcoxon signed-rank")
    text = texts(page)
    assert "p = 0.250" in text
    assert charts(page)["differences"]["data"][1]["x"][0] > 0
    assert charts(page)["differences"]["layout"]["yaxis"]["dtick"] == 1  # no half query
    page.segmented_control(key="test").set_value("Mann-Whitney U").run()
    assert "3 queries of the reranker, 3 of the baseline." in texts(page)
    assert "high is not significantly better than low, whether ties are broken or averaged." in text
    assert "\nTest: Wilcoxon signed-rank test.\n" in text
    assert "95% Student's t interval of the mean difference (p compares ranks)." in text
    page.segmented_control(key="test").set_value("sign flips").run()
    assert "Above: their mean (hollow: not significant) with 95% interval by sign flips." in texts(page)
    assert "For high, p compares ranks, the interval compares means, and the two disagree." in text


def test_no_interval_is_said_where_one_query_allows_no_test():
    rows = "high,q1,a,2,1\nhigh,q1,b,1,0\nlow,q1,a,1,1\nlow,q1,b,2,0\n"
    page = opened("compare", data=label(board(one_csv="reranker,query_id,doc_id,score,relevance\n" + rows)))
    assert "Tied RR differences. Above: their mean.\n" in texts(page)
    assert "For low, one query in common: no test is possible." in texts(page)


def test_a_query_opens_both_lists_in_the_query_explorer(sample):
    page = detailed(data=SIMULATED, measure="Hits@5", order="docid_asc")
    row = table(page, "Query by query").iloc[0]
    link = {key: value[0] for key, value in parse_qs(urlparse(row["open"]).query).items()}
    other = page.selectbox(key="compared").value
    farthest = query_differences(sample, "Hits@5", other, BASE, "docid_asc").iloc[0]
    assert (link["reranker"], link["beside"], link["query"]) == (other, BASE, farthest["query_id"])
    assert link["measure"] == "Hits@5"


def test_the_detail_of_a_comparison_is_that_of_its_row(sample):
    outcome = verdicts(sample, "Hits@5", "docid_asc").against(BASE).tied.set_index("reranker")
    for name, row in outcome.iterrows():
        text = texts(opened("compare", data=SIMULATED, measure="Hits@5", order="docid_asc", compared=name))
        assert f"95% interval {signed(row['low'])} to {signed(row['high'])}" in text
        means = f"{decimal(row['mean'])} TMHits@5 against {decimal(row['mean_baseline'])} of {BASE}"
        assert f"**{name}** has {means}: {signed(row['difference'])}, 95%" in text
        assert (
            f"better on {row['won']} of {row['n']} queries, worse on {row['lost']} and equal on {row['equal']}."
        ) in text


def test_a_comparison_in_detail_is_copied_with_its_test_and_what_it_holds_for():
    page = detailed(data=SIMULATED, measure="RR", order="docid_asc", relevant_from="2")
    sentence, test, conditions = copied(page, "comparison").split("\n")
    assert sentence in texts(page).replace("**", "")
    assert " MTRR against " in sentence
    method = "sign flips, corrected for 6 pairs by the largest statistic"
    assert test == f"Test: {method}. 95% simultaneous intervals of 6 pairs (largest statistic)."
    assert conditions.startswith("RR; tie order: Anserini's order; 100 queries; ")
    assert conditions.endswith("relevant from grade 2.")


def test_names_are_copied_as_they_are():
    names = {"low": "a_b*<c>", "high": "[d](e)`f"}
    text = THREE.replace("low,", f"{names['low']},").replace("high,", f"{names['high']},")
    page = opened("compare", data=label(board(named_csv=text)))
    assert f"- {names['high']} has " in copied(page)
    assert f" of {names['low']}: " in copied(page)
    assert "\\" not in copied(page)


def test_a_link_to_one_comparison_opens_its_detail(sample):
    other = next(name for name in sample.scores.index.unique("reranker") if name != BASE)
    page = opened("compare", data=SIMULATED, compared=other, farthest="difference")
    assert page.selectbox(key="compared").value == other
    assert page.segmented_control(key="farthest").value == "difference"
    page.segmented_control(key="measure").set_value("AP").run()
    assert page.selectbox(key="compared").value == other


def test_the_table_has_100_queries_behind_a_difference_until_asked_for_all(downloads):
    page = detailed()
    assert downloads["queries"]()["query_id"].nunique() == 200
    assert len(table(page, "Query by query")) == 100
    assert "The first 100 of 200 rows; the CSV file contains all rows." in texts(page)
    page.button(key="show-queries-expand_more").click().run()
    assert table(page, "Query by query")["query_id"].nunique() == 200
    assert table(page, "Query by query")["open"].nunique() == 200


MANY = "reranker,query_id,doc_id,score,relevance\n" + "".join(
    f"r{reranker:02},q{query},{doc},{score},{int(doc == 'a')}\n"
    for reranker in range(21)
    for query in range(4)
    for doc, score in (("b", 2 if reranker > 8 + 3 * query else 1), ("a", 1), ("c", reranker % 2))
)
"""Twenty-one rerankers, some level and some ahead only because the file lists them so."""


@pytest.fixture(scope="module")
def many():
    return label(board(many_csv=MANY.replace("r20", "run-bm25")))


def test_all_pairs_of_many_rerankers_are_drawn_and_counted(many):
    page = opened("compare", data=many, section="All pairs")
    cells, _, *legend = charts(page)["all-pairs"]["data"]
    assert len(cells["customdata"]) == 21
    assert sum(int(entry["name"].partition(" · ")[2]) for entry in legend) == 210
    assert "of 210 pairs differ significantly by tied scores." in texts(page)
    assert "by tied mean" not in texts(page)


def test_the_legend_of_all_pairs_counts_also_those_that_are_not_drawn(sample):
    pairs = verdicts(sample, "Hits@5", "docid_asc")
    cells, _, *legend = verdict_matrix(pairs, pairs.tied["reranker"].unique()[:2].tolist(), LIGHT).data
    assert np.isfinite(cells.z.astype(float)).sum() == 1
    assert sum(int(entry.name.partition(" · ")[2]) for entry in legend) == 6


def test_of_many_rerankers_stability_has_the_twenty_best_and_all_on_request(many):
    page = opened("compare", data=many, section="Stability")
    drawn = charts(page)
    counts = {key: len(drawn[key]["data"][0]["customdata"]) for key in drawn}
    assert counts == {"above": 20, "finishes": 20}
    assert "The best 20 of 21 rerankers by tied mean; pairs and ranks are counted among these." in texts(page)
    hints = [node.proto.body for node in page.get("html")]
    assert sum("Scroll the chart sideways" in hint for hint in hints) == 1, "the matrix, and it alone"
    page.button(key="show-paired-expand_more").click().run()
    assert len(charts(page)["above"]["data"][0]["customdata"]) == 21
    assert "by tied mean" not in texts(page)


def test_each_run_sends_the_number_of_draws_to_a_browser_that_skipped_the_first():
    page = opened("compare", section="Stability")
    page.run()
    field = page.number_input(key="draws")
    assert (field.value, field.proto.set_value, field.proto.value) == (1000, True, 1000)


def test_on_a_phone_stability_and_all_pairs_have_the_twelve_best_which_fit_its_width(many):
    page = opened("compare", data=many, section="Stability")
    page.session_state[BROWSER_KEY] = {"is_narrow": True}
    page.run()
    assert len(charts(page)["above"]["data"][0]["customdata"]) == 12
    page.segmented_control(key="section").set_value("All pairs").run()
    assert len(charts(page)["all-pairs"]["data"][0]["customdata"]) == 12
    assert "of 210 pairs differ significantly by tied scores." in texts(page)
    assert matrix_width(12, is_narrow=True) <= 350


def test_of_two_rerankers_stability_says_their_order_in_its_sentence_alone():
    page = opened("compare", data=SIMULATED, section="Stability", rerankers=[BASE, "Claude (High Ties)"])
    assert list(charts(page)) == ["finishes"]


def test_beyond_two_hundred_rerankers_pairs_are_for_the_command():
    lines = [
        f"r{number:03},q{query},{doc},{score},{int(doc == 'a')}"
        for number in range(201)
        for query in range(3)
        for doc, score in (("a", 1), ("b", number % (query + 2)))
    ]
    text = "reranker,query_id,doc_id,score,relevance\n" + "\n".join(lines) + "\n"
    page = opened("compare", data=label(board(large_csv=text)))
    assert "All pairs" not in page.segmented_control(key="section").options
    assert "All pairs of more than 200 rerankers: `tiescope compare`." in texts(page)
    assert "forest" in charts(page)


def test_baselines_are_listed_by_tied_mean_and_the_usual_one_stays_the_default():
    page = opened("compare", data=label(board(three_csv=THREE)))
    assert page.selectbox(key="baseline").options == ["Baseline: high", "Baseline: low"]
    assert page.selectbox(key="baseline").value == "low"
    assert "baseline" not in page.query_params


def test_of_many_rerankers_the_twenty_others_are_compared_with_bm25(many):
    page = opened("compare", data=many)
    assert page.selectbox(key="baseline").value == "run-bm25"
    assert len(table(page, "Results against")) == 20
    assert list(charts(page)) == ["forest"]


def test_tables_and_charts_begin_with_verdicts_that_change(sample, monkeypatch):
    shown = {}
    monkeypatch.setattr(compare_page, "FIRST_ROWS", 2)
    monkeypatch.setattr(compare_page, "table", lambda rows, *_, **options: shown.update(options, rows=rows))
    outcome = verdicts(sample, "Hits@5", "docid_asc").against(BASE).changed_first(3)
    outcome = replace(outcome, changed=pd.Series([False, False, True]))
    compare_page.comparison_table(outcome)
    assert shown["rows"]["changed"].tolist() == [True, False, False]
    assert shown["rows"]["reranker"].iloc[0] == outcome.tied["reranker"].iloc[-1]
    assert shown["explanation"] == "Changed verdicts first."


@pytest.mark.parametrize("palette", [LIGHT, DARK])
def test_a_difference_is_filled_only_where_it_is_significant(sample, palette):
    outcome = verdicts(sample, "Hits@5", "docid_asc").against(BASE)
    figure = difference_forest(outcome, palette, "Hits@5")
    for kind, rows, colour in (
        ("tied", outcome.tied, palette.tied),
        ("traditional", outcome.traditional, palette.traditional),
    ):
        filled = [fill == colour for fill in marks(figure, kind).marker.color]
        assert filled == (rows["p_adjusted"] < 0.05).tolist()
        assert list(marks(figure, kind).x) == rows["difference"].tolist()
        assert {text.rpartition("adjusted p ")[2] for _, text, _ in marks(figure, kind).customdata} <= {
            written_p(p, 4) for p in rows["p_adjusted"]
        }
    zero, *washes = sorted(figure.layout.shapes, key=lambda shape: shape.type)
    assert (zero.type, zero.x0, zero.x1, zero.y0, zero.y1, zero.yref) == ("line", 0, 0, 0, 1, "y domain")
    assert len(washes) == outcome.changed.sum()
    assert len(set(figure.layout.yaxis.ticktext)) == len(outcome.tied)
    row = outcome.tied.iloc[0]
    assert row["won"] < row["lost"]
    assert f"{row['won']} · <b>{row['lost']}</b> · {row['equal']}" in words(figure)
    level = outcome.tied.assign(won=row["lost"])
    drawn_level = difference_forest(replace(outcome, tied=level), palette, "Hits@5")
    assert f"{row['lost']} · {row['lost']} · {row['equal']}" in words(drawn_level)


@pytest.mark.parametrize(("p", "fill"), [(0.494, LIGHT.ground), (0.049, LIGHT.tied)])
def test_the_mean_of_two_rerankers_is_filled_only_if_significant(p, fill):
    pair = pd.Series({"difference": 0.025, "low": 0.0, "high": 0.05, "p_adjusted": p})
    mean = difference_histogram(np.array([0.25, 0.25]), pair, LIGHT, "RR").data[-1]
    assert (mean.marker.color, mean.marker.line.color) == (fill, LIGHT.tied)


def test_a_comparison_on_one_query_has_its_difference_and_no_interval_p_or_stars(sample):
    before = verdicts(sample, "Hits@5", "docid_asc").against(BASE)
    rows = before.tied.assign(n=1, low=np.nan, high=np.nan, p=np.nan, p_adjusted=np.nan, stars="–")
    figure = difference_forest(replace(before, tied=rows, traditional=rows), LIGHT, "Hits@5")
    for kind in ("tied", "traditional"):
        drawn = marks(figure, kind)
        assert list(drawn.x) == rows["difference"].tolist()
        assert np.isnan(drawn.error_x.array).all()
        assert {text for _, text, _ in drawn.customdata} == {"no test is possible"}


def test_a_comparison_without_a_common_query_is_described_without_numbers():
    row = compare(scored(expected={"A": {"a": 1}, "B": {"b": 1}}), "RR").iloc[0]
    assert plain(compare_page.comparison_sentence(row, "MTRR")) == "B has no query in common with A."


def test_a_row_far_off_the_scale_is_told_in_words(sample):
    outcome = verdicts(sample, "Hits@5", "docid_asc").against(BASE)
    for rows in (outcome.tied, outcome.traditional):
        rows.loc[0, ["difference", "low", "high"]] = [-9.0, -9.1, -8.9]
    figure = difference_forest(outcome, LIGHT, "Hits@5")
    assert any("off the scale" in text and "−9.000" in text for text in words(figure))
    assert len(marks(figure, "tied").x) == 2
    assert figure.layout.xaxis.range[0] > -1


def test_the_matrix_has_a_cell_a_pair_with_the_chance_of_its_row(drawn):
    pairs, order = drawn.pairs, list(drawn.means)
    cells = order_matrix(pairs, order, LIGHT).data[0]
    assert np.isfinite(cells.z.astype(float)).sum() == len(pairs)
    row = pairs[(pairs["reranker"] == order[0]) & (pairs["other"] == order[-1])].iloc[0]
    assert cells.text[0][-1] == (">99" if row["reversible"] else "·")
    assert row["above"] > 0.99


def test_a_chance_is_never_rounded_to_certainty():
    pairs = pd.DataFrame(
        {"reranker": ["a"], "other": ["b"], "above": [0.9999], "equal": [0.0], "below": [0.0001]}
        | {"reversible": [True], "standard_error": [0.0]}
    )
    assert order_matrix(pairs, ["a", "b"], LIGHT).data[0].text[0][1] == ">99"
    assert order_matrix(pairs, ["b", "a"], LIGHT).data[0].text[0][1] == "<1"
    certain_pairs = pairs.assign(above=1.0, below=0.0)
    assert order_matrix(certain_pairs, ["a", "b"], LIGHT).data[0].text[0][1] == ">99"


def test_every_pair_has_its_tied_difference_and_the_colour_of_its_verdict():
    ends = {"baseline": ["a", "a", "b"], "reranker": ["b", "c", "c"]}
    tied = pd.DataFrame(ends | {"difference": [-0.0814, 1e-4, -0.5], "p_adjusted": [0.01, 1.0, 0.01]})
    before = pd.DataFrame(ends | {"difference": [-0.1, -0.1, 0.0], "p_adjusted": [0.01, 0.01, 0.2]})
    pairs = Verdicts(tied, before, pd.Series([False, True, True]), "input", "")
    figure = verdict_matrix(pairs, ["a", "b", "c"], LIGHT)
    cells, names = figure.data[0], figure.data[1]
    assert np.nan_to_num(np.array(cells.z, dtype=float), nan=-1).tolist() == [
        [-1, 3, 1],
        [-1, -1, 2],
        [-1, -1, -1],
    ]
    written = [unstyled(cells.text[row][column]) for row, column in ((0, 1), (0, 2), (1, 2))]
    assert written == [".081", "<.001", ".500"]
    assert cells.text[0][1].startswith("<b>")
    assert "adjusted p, tied >0.999" in cells.customdata[0][2]
    assert {trace.name for trace in figure.data[2:]} == {
        "both · 1",
        "tied only · 1",
        "traditional only · 1",
        "neither · 0",
    }
    assert list(names.text) == ["a  <b>1</b>", "b  <b>2</b>", "c  <b>3</b>"]
    assert list(figure.layout.xaxis.ticktext) == [1, 2, 3]


def test_irreversible_pairs_have_a_dot_and_equal_pairs_an_equals_sign():
    pairs = pd.DataFrame(
        {"reranker": ["a", "b"], "other": ["b", "c"], "above": [1.0, 0.0], "equal": [0.0, 1.0]}
        | {"below": [0.0, 0.0], "reversible": False, "standard_error": 0.0}
    )
    figure = order_matrix(pairs, ["a", "b", "c"], LIGHT)
    cells = figure.data[0]
    assert [trace.name for trace in figure.data[2:]] == [
        "· : no tie order reverses this pair<br>= : equal in every draw"
    ]
    swatches = [
        trace.marker for trace in order_matrix(pairs.assign(reversible=True), list("abc"), LIGHT).data[2:]
    ]
    assert len({swatch.color for swatch in swatches}) == len(swatches) == 3
    assert {swatch.line.color for swatch in swatches} == {LIGHT.muted}
    assert (cells.text[0][1], cells.text[1][2]) == ("·", "=")
    assert "no tie order reverses this pair" in cells.customdata[0][1]
    assert "equal in every draw" in cells.customdata[1][2]


def test_an_outline_holds_every_place_with_a_chance(drawn):
    figure = finish_heatmap(drawn.places, drawn.rank_ranges, [1, 2, 3, 4], LIGHT)
    cells = figure.data[0].z.astype(float)
    for row, box in enumerate(figure.layout.shapes):
        places = 1 + np.flatnonzero(np.isfinite(cells[row]))
        assert box.x0 < places.min()
        assert places.max() < box.x1


def test_a_chart_of_possible_ranks_is_low_beside_names_and_where_it_has_no_figures():
    ranks, sizes = list(range(1, 14)), {}
    for n in (12, 13):
        names = pd.Index([f"r{rank}" for rank in ranks[:n]])
        chances = pd.DataFrame(np.eye(n), names, ranks[:n])
        limits = pd.DataFrame({"best_place": 1, "worst_place": n}, names)
        for is_narrow in (False, True):
            figure = finish_heatmap(chances, limits, ranks[:n], LIGHT, is_narrow=is_narrow)
            sizes[n, is_narrow] = figure.layout.height
            beside = figure.layout.yaxis.ticktext
            assert (beside is None) == is_narrow
    assert sizes == {(12, False): 480, (12, True): 732, (13, False): 382, (13, True): 655}


def test_a_place_that_is_not_the_only_one_is_never_sure():
    names = pd.Index(["a", "b", "c"])
    chances = pd.DataFrame(np.eye(3), names, [1, 2, 3])
    limits = pd.DataFrame({"best_place": [1, 2, 3], "worst_place": [2, 2, 3]}, names)
    cells = finish_heatmap(chances, limits, [2, 3, 1], LIGHT).data[0]
    assert [unstyled(cells.text[row][row]) for row in range(3)] == [">99%", "100%", "100%"]


@pytest.mark.parametrize("palette", [LIGHT, DARK])
def test_the_percent_of_a_place_is_read_on_every_shade(palette):
    chances = pd.DataFrame([[share / 20, 1 - share / 20] for share in range(1, 20)])
    limits = pd.DataFrame({"best_place": 1, "worst_place": 2}, chances.index)
    cells = finish_heatmap(chances, limits, [1] * len(chances), palette).data[0]
    scale = [colour for _, colour in cells.colorscale]
    for text, share in zip(np.ravel(cells.text), chances.to_numpy().ravel(), strict=True):
        place = share * (len(scale) - 1)
        shade = blend(scale[int(place)], scale[int(place) + 1], place % 1)
        assert contrast(re.search("#[0-9A-F]{6}", text)[0], shade) >= 4.2


def test_stability_has_the_draws_and_the_noise_that_are_chosen():
    page = opened("compare", data=SIMULATED, measure="Hits@5", section="Stability", draws="50", noise="0.05")
    runs = cache.sample_board(SIMULATED).runs
    expected = draws(runs, "Hits@5", n=50, noise=0.05)
    means = next(folded for folded in page.expander if folded.label == "Means over the draws")
    shown = means.dataframe[0].value.set_index("reranker")
    assert shown["drawn_mean"].to_dict() == pytest.approx(expected.summary["mean"].to_dict())
    assert shown["tied"].to_dict() == pytest.approx(expected.bounds["expected"].to_dict())
    assert "50 random tie orders with noise" in texts(page)
    assert "Outline: all ranks that were drawn." in texts(page)
    page.text_input(key="noise").set_value("score_std").run()
    assert "no column score" in only(page.warning).value
    page.text_input(key="noise").set_value("").run()
    assert "Outline: all ranks that ties allow." in texts(page)
