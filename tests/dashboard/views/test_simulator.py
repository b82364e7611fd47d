"""The Simulator: a list to edit, lists by settings, the visitor's own scores with fewer digits."""

import json

import pytest
from boards import EXTREMES
from opening import charts, has_four_cards, metrics, opened, plain

from dashboard import cache
from dashboard.charts.palette import LIGHT
from dashboard.charts.simulator import precision_panels, tie_growth
from dashboard.views.simulator import simulation, simulator
from dashboard.views.simulator.simulation import (
    KINDS,
    LLM,
    SEVERAL,
    Simulation,
    growth,
)
from metrics import evaluate
from metrics.simulation import NOTEBOOK_RERANKERS, LlmReranker, notebook_llm_rerankers, simulate
from metrics.simulation.link_text import parse_list, runs_from_list
from metrics.studies.precisions import precision_curve


def simulated(**query):
    """The section Small list with the choices of a link."""
    page = opened("simulator", **query)
    assert has_four_cards(page)
    return page


def llm_rerankers(**query):
    """The section LLM rerankers with the choices of a link."""
    return opened("simulator", section="LLM rerankers", **query)


def notebook(**query):
    """The section Notebook with the choices of a link."""
    return opened("simulator", section="Notebook", **query)


def rounded(**query):
    """The section Rounding with the choices of a link."""
    return opened("simulator", section="Rounding", **query)


def figures(page):
    return [metric.value for metric in page.metric]


def table(page, column):
    return next(one.value for one in page.dataframe if column in one.value.columns)


def page_text(page):
    return " ".join(one.value for one in [*page.markdown, *page.caption]).replace("\\", "")


@pytest.mark.parametrize(
    ("scenario", "listed", "tied", "ends"),
    [
        ("No Ties", "0.5000", "0.5000", "0.50 to 0.50"),
        ("Simple Tie", "0.5000", "0.4167", "0.33 to 0.50"),
        ("Complex Tie", "0.5000", "0.6111", "0.33 to 1.00"),
        ("Multiple Ties", "0.3333", "0.4167", "0.33 to 0.50"),
    ],
)
def test_each_scenario_shows_the_notebooks_figures(scenario, listed, tied, ends):
    page = simulated(scenario=scenario)
    assert figures(page)[:2] == [tied, "1.0000"]
    assert page.metric[0].delta.replace("\\", "") == f"as listed {listed} · {ends}"


def test_four_measures_of_the_list_are_in_the_cards_by_the_cut_off_chosen():
    page = simulated(rows="0.9,0; 0.9,1; 0.5,2", listk="2")
    assert list(metrics(page)) == ["Tied RR", "Tied Hits@2", "Tied AP", "Tied nDCG@2"]
    values = evaluate(
        runs_from_list(parse_list("0.9,0; 0.9,1; 0.5,2")), ["RR", "Hits@2", "AP", "nDCG@2"], "expected"
    )
    assert [float(value) for value in figures(page)] == pytest.approx(values.scores.iloc[0].to_list(), abs=5e-5)


def test_a_further_score_is_a_column_where_it_is_asked_for_or_the_list_has_one():
    def columns(**query):
        return list(table(simulated(**query), "grade").columns)

    assert columns() == ["name", "score", "grade"]
    assert columns(listthen="true") == columns(rows="0.5/2,1; 0.5,0") == ["name", "score", "further", "grade"]


def test_a_list_of_a_link_is_shown_and_scored_with_the_range_and_mean_of_its_orders():
    page = simulated(rows="0.9,0; 0.9,1; 0.5,0,<b>last</b>", listk="1")
    assert figures(page)[:2] == ["0.7500", "0.5000"]
    assert "2 orders" in page_text(page)
    page.segmented_control(key="section").set_value("Notebook").run()
    text = page_text(page)
    assert "RR over all orders: 0.5000 to 1.0000, mean (MTRR) 0.7500." in text
    assert "Hits@3 over all orders: 1.0000 to 1.0000, mean (TMHits@3) 1.0000." in text
    assert table(page, "ordering")["documents"].tolist() == ["doc1 doc2 <b>last</b>", "doc2 doc1 <b>last</b>"]
    page.segmented_control(key="section").set_value("Small list").run()
    assert figures(page)[1] == "0.5000", "the cut-off of the link is kept"


def test_the_notebook_is_gone_through_in_its_order_all_open():
    page = notebook(draws="100")
    headings = [plain(element.value) for element in page.main if element.type in ("header", "subheader")]
    assert headings == [
        "The four scenarios",
        "Every value",
        "Every order: 6",
        "Impact of tied rankings: 200 synthetic lists",
        "LLM reranker performance",
        "LLM reranker summary",
        "Sampling RR",
        "The five cases",
        "G-RAG evaluation report",
    ]
    assert list(charts(page)) == [
        "scenario-values",
        "orders-drawn",
        "synthetic-panels",
        "llm-rows",
        "llm-multiples",
        "sampling",
    ]
    assert not page.expander
    tied = table(page, "TMHits@3").set_index("query_id")["MTRR"]
    assert tied.round(4).to_dict() == {
        "No Ties": 0.5,
        "Simple Tie": 0.4167,
        "Complex Tie": 0.6111,
        "Multiple Ties": 0.4167,
    }
    lists, report = (code.value for code in page.get("code"))
    assert "Mean MRR difference: 0.0252 (±0.0779)" in lists
    assert "MTRR: 0.5589 (±0.3745)" in report
    assert table(page, "case").set_index("case").loc["Very large tie", "orderings"] == 40_320


def test_the_orders_of_the_small_list_are_drawn_as_often_as_chosen_and_always_alike():
    page = notebook(scenario="Complex Tie", draws="100")
    first_chart = charts(page)["sampling"]
    assert charts(notebook(scenario="Complex Tie", draws="100"))["sampling"] == first_chart
    page.segmented_control(key="draws").set_value("1000").run()
    assert charts(page)["sampling"] != first_chart
    assert "listk" not in [control.key for control in page.segmented_control], "nothing here has a cut-off"


@pytest.mark.parametrize("rows", ["nothing", "nan,1", "inf,1", "1;" * 100])
def test_a_line_that_is_no_list_leaves_the_scenario(rows):
    assert figures(simulated(rows=rows, scenario="Simple Tie"))[0] == "0.4167"


def test_a_list_of_a_link_stays_over_a_page_switch_and_goes_with_another_scenario():
    page = simulated(rows="1; 1,1; 1,1")
    assert figures(page)[0] == "0.8333"
    page.switch_page("views/guide.py").run().switch_page("views/simulator/simulator.py").run()
    assert figures(page)[0] == "0.8333"
    page.segmented_control(key="scenario").set_value("No Ties").run()
    assert figures(page)[0] == "0.5000"
    assert "rows" not in page.query_params


def test_grades_count_from_the_one_that_is_chosen():
    assert figures(simulated(rows="0.9,1;0.8,2", listgrade="2"))[0] == "0.5000"
    page = simulated(rows="0.9,1;0.8,2", listgrade="3")
    assert figures(page)[:3] == ["0.0000"] * 3
    assert "The list has no relevant document" in page_text(page)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_list_is_simulated(kind):
    page = llm_rerankers(made=kind)
    assert page.segmented_control(key="made").value == kind
    assert len(table(page, "first_tied")) == len(simulation.runs(Simulation(kind)).tables)


def test_settings_of_a_link_shape_what_is_simulated():
    page = llm_rerankers(madeties="0.6", madelevels="4", madequeries="30", madeseed="7", madedocs=["5", "9"])
    settings = Simulation(LLM, 30, (5, 9), (1, 4), 7, 0.6, 4)
    row = table(page, "first_tied").iloc[0]
    assert row["reranker"] == "LLM (0.6 ties, 4 levels)"
    tied = evaluate(simulation.runs(settings), "RR", "expected").scores.mean().item()
    assert row["first_tied"] == pytest.approx(tied)


@pytest.mark.parametrize("value", ["x", "-1", "1e999"])
def test_settings_of_a_link_that_cannot_be_fall_back(value):
    keys = ("madeties", "madelevels", "madequeries", "madeseed", "performance", "madedocs", "maderelevant",
            "made", "madeof", "madetypes", "scenario", "listk", "listgrade", "held")  # fmt: skip
    page = simulated(**dict.fromkeys(keys, value))
    for section in ("Notebook", "LLM rerankers", "Rounding"):
        page.segmented_control(key="section").set_value(section).run()
        assert not page.exception
        assert page.main.get("plotly_chart")


@pytest.mark.parametrize(
    ("settings", "said_of_ties"),
    [
        ({"madedocs": ["1", "1"], "maderelevant": ["0", "0"], "madelevels": "1"}, "No documents tie"),
        ({"madedocs": ["60", "60"], "madeties": "1", "madelevels": "1"}, "100% of the documents tie"),
        ({"made": "Synthetic lists", "listties": "0"}, "No documents tie"),
    ],
)
def test_settings_hold_at_their_ends(settings, said_of_ties):
    assert said_of_ties in page_text(llm_rerankers(**settings))


def test_several_rerankers_of_a_link_are_simulated_each_as_it_says():
    page = llm_rerankers(
        made=SEVERAL, madeof="0.6,4,0.5,Mine; 0,0,1,<b>Exact</b>; 0,0,1,<b>Exact</b>", madequeries="30"
    )
    rows = table(page, "first_tied").set_index("reranker")
    assert rows.index.to_list() == ["Mine", "<b>Exact</b>", "<b>Exact</b> (2)"]
    runs = simulate({"Mine": LlmReranker(0.6, 4, 0.5), "Exact": LlmReranker(0, 0, 1)}, 30, seed=42)
    means = evaluate(runs, "RR", "expected").scores.groupby("reranker", sort=False).mean()
    assert rows["first_tied"].iloc[:2].to_list() == pytest.approx(means["RR", "expected"].to_list())
    assert rows["with_ties"].to_list()[1:] == [0, 0]


def test_a_line_that_is_no_rerankers_leaves_those_there_are_at_first():
    page = llm_rerankers(made=SEVERAL, madeof="; ".join(["0,0"] * 11))
    assert table(page, "first_tied")["reranker"].to_list() == [*NOTEBOOK_RERANKERS, "Continuous"]


def test_query_types_fix_the_performance():
    assert "performance" in {slider.key for slider in llm_rerankers().slider}
    assert "performance" not in {slider.key for slider in llm_rerankers(madetypes="four").slider}


def test_what_is_simulated_becomes_the_data_of_the_app():
    page = notebook()
    page.button(key="use-simulated-Notebook: four LLMs").click().run()
    assert page.selectbox(key="data").value.startswith("simulated · 4 runs · ")
    assert table(page, "tied")["tied"].max() == pytest.approx(0.6845, abs=5e-5)


@pytest.mark.parametrize("precision", ["decimals:0", "grades:0-10", "bfloat16"])
@pytest.mark.parametrize("name", EXTREMES)
def test_a_board_with_fewer_digits_scores_as_its_curve_says(name, precision):
    before = EXTREMES[name]()
    after = simulator.board_at_precision(before, precision)
    assert after.runs.rerankers == before.runs.rerankers
    curve = precision_curve(before.runs, "RR", precisions=[precision]).set_index("reranker")["tied"]
    means = evaluate(after.runs, "RR", "expected").scores["RR", "expected"].groupby(level="reranker").mean()
    assert means.to_dict() == pytest.approx(curve.to_dict())


def test_number_formats_are_of_the_data_shown():
    label = cache.loaded_boards().add(EXTREMES["no ties"]()).label
    page = rounded(data=label)
    rows = table(page, "precision").set_index("precision")
    assert rows["tie_ratio"].iloc[:4].to_list() == [0, 0, 0, 0]
    assert rows.loc["decimals:0", "tie_ratio"] == 100
    hints = [node.proto.body for node in page.get("html")]
    assert not any("sideways-760" in hint for hint in hints), "formats fit a tablet"
    assert "enough: " in page_text(page)


def test_growth_marks_what_is_chosen():
    settings = Simulation(LLM, queries=20)
    figure = tie_growth(growth(settings, "RR"), LIGHT, "MRR", 0.3)
    assert {trace.name for trace in figure.data} == {"worst to best", "95% of random orders", "tied"}
    assert figure.layout.shapes[0].x0 == 0.3


def test_the_chart_of_formats_draws_a_line_between_bits_and_digits():
    curve = precision_curve(notebook_llm_rerankers(5), "RR")
    figure = precision_panels(curve[curve["reranker"] == "GPT-4 (Low Ties)"], LIGHT, "<MRR>")
    assert figure.layout.shapes[0].x0 == 3.5
    assert "<MRR>" not in json.loads(figure.to_json())["layout"]["yaxis"]["title"]["text"]


def test_shares_above_the_bars_of_formats_are_short_and_never_shrunk():
    curve = precision_curve(notebook_llm_rerankers(5), "RR")
    curve = curve[curve["reranker"] == "GPT-4 (Low Ties)"]
    ratios = [0, 0.001, 0.999, 1, *[0.3] * (len(curve) - 4)]
    bars = precision_panels(curve.assign(tie_ratio=ratios), LIGHT, "MRR").data[0]
    assert bars.text[:4] == ("0%", "<1%", ">99%", "100%")
    assert bars.constraintext == "none"
