"""A measure is one record of the catalogue: all that scores, studies or lists measures has it from there."""

import re
import sys
from collections import Counter
from functools import partial
from statistics import fmean, pstdev

import dask_cluster
import pytest
from drawing import TREATMENTS, frame
from enumeration import Doc, every_value, judged_list
from opening import DATA_PAGES, only, opened, texts
from repository import ROOT

from metrics import Evaluation, Runs, Stored, UsageError, evaluate, parse
from metrics.measures import MEASURES, Measure
from metrics.measures.first_hit import first_hit
from metrics.scale.dask import Dataset
from metrics.studies.draws import draws
from metrics.studies.guide import family_measures, measure_table
from metrics.studies.permutations import possible_values
from metrics.ties import Ranking

CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
CODE = re.search(r"```python\n(Measure\(.*?)```", CONTRIBUTING, re.DOTALL)[1]
RECORD = eval(CODE, {"Measure": Measure, "first_hit": first_hit})  # noqa: S307 our own
"""The measure that CONTRIBUTING shows how to add."""
NAMES = {"RRSquared": "RR", "RRSquared@2": "RR@2"}
"""The measure → that whose square it is."""
TABLE = {
    reranker: {
        "q1": [Doc("a", top, 0), Doc("b", 1.0, 0), Doc("c", 1.0, 2), Doc("d", 1.0, 1), Doc("e", 0.0, 1)],
        "q2": [Doc("a", 1.0, 0), Doc("b", 1.0, 1), Doc("c", top, 0), Doc("d", 1.0, -1)],
        "q3": [Doc("a", 1.0, 0), Doc("b", 1.0, 0)],
        "q4": [Doc("a", top, 0), Doc("b", 1.0, 0), Doc("c", 0.0, 0), Doc("d", 0.0, 1), Doc("e", 0.0, 1)],
    }
    for reranker, top in (("A", 1.0), ("B", 2.0))
}
TIES = [*TREATMENTS, "std"]
OF_JUDGED = ["bpref"]
"""Measures to which every judged document matters."""
OTHERS = ["AP@2", "AP-cap@2", "ERR@3"]


def replace_everywhere(old, new):
    """Have every module that imported the tuple of measures hold another, as after an edit of the catalogue."""
    for module in list(sys.modules.values()):
        for name in [name for name, value in list(getattr(module, "__dict__", {}).items()) if value is old]:
            setattr(module, name, new)


@pytest.fixture(scope="module", autouse=True)
def extended():
    """The catalogue with one more record."""
    measures = (*MEASURES, RECORD)
    replace_everywhere(MEASURES, measures)
    yield
    replace_everywhere(measures, measures[:-1])


@pytest.fixture(scope="module")
def runs():
    return Runs.from_frame(frame(TABLE))


@pytest.fixture
def path(tmp_path):
    frame(TABLE).to_csv(tmp_path / "table.csv", index=False)
    return tmp_path / "table.csv"


def every_square(measure, documents):
    """The value of every ordering of a list, in exact fractions."""
    return [value**2 for value in every_value(NAMES[measure], judged_list(documents))]


def test_its_names_are_understood_and_a_wrong_one_is_answered_with_it():
    assert [str(parse(name)) for name in ("rrsquared@10", "MRR²@10", "mtrr²")] == [
        *["RRSquared@10"] * 2,
        "RRSquared",
    ]
    assert parse("RRSquared@10").tied == "MTRR²@10"
    with pytest.raises(UsageError, match="Did you mean RRSquared"):
        parse("RRSquare")


@pytest.mark.parametrize("measure", NAMES)
def test_mean_ends_and_deviation_are_those_of_every_ordering(runs, measure):
    scores = evaluate(runs, measure, TIES).scores[measure]
    for (reranker, query), row in scores.iterrows():
        values = [float(value) for value in every_square(measure, TABLE[reranker][query])]
        ends = [fmean(values), max(values), min(values), pstdev(values)]
        assert row[["expected", "optimistic", "pessimistic", "std"]].to_list() == pytest.approx(ends, abs=1e-12)


@pytest.mark.parametrize("ties", ["input", "docid_asc", "docid_desc", "random:1"])
def test_a_strict_order_gives_the_square_of_the_reciprocal_rank(runs, ties):
    scores = evaluate(runs, ["RR", *NAMES], ties).scores.droplevel("ties", axis=1)
    assert scores["RRSquared"].to_list() == pytest.approx((scores["RR"] ** 2).to_list())
    assert scores["RRSquared@2"].to_list() == pytest.approx(
        (scores["RR"] ** 2).where(scores["RR"] >= 0.5, 0).to_list()
    )


@pytest.mark.parametrize("measure", NAMES)
@pytest.mark.parametrize("query", TABLE["A"])
def test_the_distribution_of_a_list_is_exact(runs, measure, query):
    ranking = Ranking.of(runs, "A")
    rows = possible_values(ranking, query, measure, "input").rows
    values = Counter(every_square(measure, TABLE["A"][query]))
    for value, row in rows.groupby(rows["value"].round(9)):
        share = sum(count for each, count in values.items() if abs(each - value) < 1e-9) / values.total()
        assert row["chance"].sum() == pytest.approx(share)
    assert sorted({float(value) for value in values}) == pytest.approx(sorted(set(rows["value"])))


@pytest.mark.parametrize("measure", NAMES)
def test_drawn_means_have_the_exact_mean_and_deviation_within_four_standard_errors(runs, measure):
    drawn = draws(runs, measure)
    for exact, value in (("expected", "mean"), ("std", "std")):
        distance = (drawn.summary[value] - drawn.bounds[exact]).abs()
        assert (distance <= 4 * drawn.summary[f"{value}_error"] + 1e-12).all()


def test_files_larger_than_memory_give_the_same_and_results_are_kept(runs, path):
    measures = [*NAMES, *OF_JUDGED, *OTHERS]
    in_memory = evaluate(runs, measures, TIES)
    stored = Stored.write(path.with_suffix(".parquet"), [in_memory])
    assert stored.means("RRSquared@2").equals(in_memory.means("RRSquared@2"))
    assert stored.load().scores.equals(in_memory.scores)


def test_workers_of_dask_give_the_same(runs, path):
    measures = [*NAMES, *OF_JUDGED, *OTHERS]
    score = partial(evaluate, measures=measures, ties=TIES)
    with dask_cluster.scheduler() as address:
        merged = Evaluation.merge(*Dataset([path], scheduler=address).parts(score))
    dask_cluster.assert_same(merged, evaluate(runs, measures, TIES))


def test_the_guide_and_the_command_list_it(call, path):
    row = measure_table().set_index("measure").loc["RRSquared[@k]"]
    assert (row["tied"], row["summary"]) == ("MTRR²[@k]", RECORD.summary)
    assert RECORD in family_measures("first_hit")
    code, out, _ = call("evaluate", "--list-measures")
    assert (code, "RRSquared[@k]" in out) == (0, True)
    code, out, _ = call("evaluate", path, "-m", "RRSquared@2", "--format", "csv")
    assert (code, "A,RRSquared@2,expected," in out) == (0, True)


@pytest.mark.parametrize(
    "arguments",
    [
        ("compare", "-m", "MTRR²@2", "--swaps"),
        ("gate", "-r", "MTRR²@2 >= 0"),
        ("stability", "-m", "MRR²@2"),
        ("report", "-m", "RRSquared@2", "-o", "-"),
    ],
    ids=lambda arguments: arguments[0],
)
def test_a_command_that_studies_it_takes_its_names_and_prints_one(call, path, arguments):
    name, *options = arguments
    code, out, error = call(name, path, *options)
    assert code == 0
    assert re.search("RR(²|Squared)@2", out + error)


def test_the_query_explorer_shows_it_without_a_cutoff():
    rows = only(element.value for element in opened("query", measure="RRSquared").dataframe)
    assert rows["value"].to_list() == [1, 1 / 4]


def test_the_leaderboard_offers_it():
    page = opened("leaderboard", measure="RRSquared@10")
    assert page.segmented_control(key="measure").value == "RRSquared@10"
    assert "RRSquared · MRR²" in page.selectbox(key="_other").options


WITHOUT_MEASURE = {"data", "audit", "guide", "simulator"}
"""Pages whose sentences do not follow the measure."""


@pytest.mark.parametrize("view", DATA_PAGES)
def test_every_page_opens_with_it_and_those_that_follow_the_measure_name_it(view):
    section = {"section": "Stability"} if view == "compare" else {}
    says = texts(opened(view, measure="RRSquared@10", **section), "markdown", "caption", "header")
    is_named = any(name in says for name in ("RR²@10", "RRSquared@10"))
    assert is_named == (view not in WITHOUT_MEASURE)
