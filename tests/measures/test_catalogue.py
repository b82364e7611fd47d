import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import metrics
from metrics import UsageError, parse
from metrics.measures import side_by_side, with_gains

NAMES = [name for measure in metrics.MEASURES for name in measure.names]


def test_no_two_measures_share_a_name():
    folded = [name.casefold() for name in NAMES]
    assert len(set(folded)) == len(folded)


def written(measure, name, cutoff):
    """A name with what must follow it."""
    inside = "" if measure.parameter is None else f"({measure.parameter:g})"
    needs = measure.cutoff == "required" or (measure.cutoff == "optional" and cutoff > 1)
    return f"{name}{inside}@{cutoff}" if needs else f"{name}{inside}"


@given(st.sampled_from(metrics.MEASURES), st.integers(1, 10**6))
def test_a_measure_prints_back_as_it_is_written(measure, cutoff):
    text = written(measure, measure.name, cutoff)
    assert str(parse(text)) == text


@given(st.sampled_from(metrics.MEASURES), st.integers(1, 1000), st.data())
def test_every_name_in_any_case_means_the_measure_it_prints_but_that_of_ndcg(measure, cutoff, data):
    name = data.draw(st.sampled_from(measure.names))
    parsed = parse(written(measure, name, cutoff))
    assert parse(parsed.traditional) == parse(parsed.tied) == parsed
    if name == "nDCG":
        return
    upper, lower = (parse(written(measure, spelt, cutoff)) for spelt in (name.upper(), name.lower()))
    assert upper == lower == parsed == parse(str(parsed))


@pytest.mark.parametrize(
    ("text", "name", "traditional", "tied"),
    [
        ("RR", "RR", "MRR", "MTRR"),
        ("mrr", "RR", "MRR", "MTRR"),
        ("MTRR@10", "RR@10", "MRR@10", "MTRR@10"),
        (" Hits@3 ", "Hits@3", "Hits@3", "TMHits@3"),
        ("TMHits@5", "Hits@5", "Hits@5", "TMHits@5"),
        ("success@1", "Hits@1", "Hits@1", "TMHits@1"),
        ("tied nDCG@10", "nDCG@10", "nDCG@10", "tied nDCG@10"),
        ("Tied MAP", "AP", "MAP", "tied MAP"),
        ("tied RR", "RR", "MRR", "MTRR"),
    ],
)
def test_a_name_gives_its_measure_and_what_its_means_are_called(text, name, traditional, tied):
    measure = parse(text)
    assert (str(measure), measure.traditional, measure.tied) == (name, traditional, tied)


@pytest.mark.parametrize(
    ("theirs", "name"),
    [
        ("ndcg_cut_10", "nDCG-linear@10"),
        ("ndcg_cut.10", "nDCG-linear@10"),
        ("P_10", "P@10"),
        ("recall_100", "R@100"),
        ("ndcg_at_10", "nDCG-linear@10"),
        ("mrr_at_10", "RR@10"),
        ("hit_rate@5", "Hits@5"),
        ("rbp.95", "RBP(0.95)"),
        ("ndcg_burges@5", "nDCG@5"),
        ("nDCG(dcg='exp-log2')@5", "nDCG@5"),
        ("nDCG(dcg='log2')", "nDCG-linear"),
    ],
)
def test_a_name_of_another_tool_means_what_it_means_there(theirs, name):
    assert str(parse(theirs)) == name


@pytest.mark.parametrize("text", ["NDCG@10", "ndcg@10", "Ndcg@10", "nDcg@10", "tied NDCG@10", " ndcg@10 "])
def test_a_name_that_tools_give_to_two_gains_is_refused_with_both_choices(text):
    choices = r"name of two measures.*nDCG@10 for the gain 2\^grade - 1.*nDCG-linear@10 for the gain grade"
    with pytest.raises(UsageError, match=choices):
        parse(text)
    with pytest.raises(UsageError, match=r"Write nDCG for.*or nDCG-linear for"):
        parse("ndcg")


@pytest.mark.parametrize(
    ("names", "shown"),
    [
        (["RR", "nDCG@10"], ["RR", "nDCG@10"]),
        (["nDCG@10", "nDCG-linear@10"], ["nDCG@10 (2^grade − 1)", "nDCG-linear@10"]),
        (["nDCG-linear", "tied", "nDCG[@k]"], ["nDCG-linear", "tied", "nDCG[@k] (2^grade − 1)"]),
        (["DCG-linear@5", "nDCG@5", "DCG@5"], ["DCG-linear@5", "nDCG@5", "DCG@5 (2^grade − 1)"]),
    ],
)
def test_the_gain_is_named_where_two_are_in_sight(names, shown):
    assert with_gains(names) == shown


@pytest.mark.parametrize("measure", metrics.MEASURES, ids=lambda measure: measure.name)
def test_a_measure_with_its_own_rule_for_ties_says_whose_ties_it_settles(measure):
    assert bool(measure.answers) == measure.family.own_rule
    assert (
        not measure.answers
        or not next(one for one in metrics.MEASURES if one.name == measure.answers).family.own_rule
    )


RECIPROCAL = ["RR", "taRR", "TsRR", "PRR", "GRAG-RR"]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("RR", RECIPROCAL),
        ("TsRR", RECIPROCAL),
        ("PRR", RECIPROCAL),
        ("RR@10", ["RR@10"]),
        ("GRAG-Hits@3", ["Hits@3", "GRAG-Hits@3"]),
        ("Hits@3", ["Hits@3", "GRAG-Hits@3"]),
        ("AP", ["AP"]),
        ("AP@10", ["AP@10"]),
    ],
)
def test_a_measure_stands_beside_all_that_settle_the_same_ties(text, names):
    assert [str(measure) for measure in side_by_side(parse(text))] == names


MISSPELT = {
    "Hitz@3": "Hits",
    "MRRR": "RR",
    "suces@1": "Hits",
    "tied nDGC@10": "nDCG@10",
    "ndcg_10": "nDCG@10",
    "hitz": "Hits@k",
}
NO_NAME = ["", "@3", "RR@", "RR@-1", "RR@@3", "RR@3@4", "RR 3", "RR@\uff11", "tied", "tied TsRR"]
CONDENSED = ["nDCG'@10", "AP'", "AP\N{PRIME}"]
OF_IR_MEASURES = ["infAP", "IPrec@0.1", "alpha_nDCG@10"]
NO_PARAMETER = ["RBP(1.5)", "RBP(-0.5)", "RBP(1)", "RBP(12)", "RR(0.5)"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        *((text, f"{text}.*Did you mean {meant}") for text, meant in MISSPELT.items()),
        ("zzz", r"'zzz'.*RR.*Hits@k"),
        *((text, "no measure") for text in NO_NAME),
        *((text, r"unjudged documents are left out.*unjudged='leave_out'") for text in CONDENSED),
        ("AP(rel=2)", "relevant_from"),
        ("Hits", "cut-off"),
        ("RR@0", "must be between 1 and"),
        ("Hits@00", "must be between 1 and"),
        ("RR@2.5", "a whole number"),
        *((text, f"no measure {text!r}.*ir_measures computes it") for text in OF_IR_MEASURES),
        *((text, r"only RBP takes a parameter, between 0 and 1: RBP\(0.8\)") for text in NO_PARAMETER),
    ],
)
def test_a_name_that_is_no_measure_is_refused_with_what_to_write(text, problem):
    with pytest.raises(UsageError, match=problem):
        parse(text)


def test_a_cutoff_may_begin_with_any_number_of_zeros():
    assert parse("RR@" + "0" * 5000 + "7") == parse("RR@7")


@given(st.text(max_size=20))
def test_any_text_is_a_measure_or_a_usage_error(text):
    try:
        measure = parse(text)
    except UsageError as error:
        assert str(error)  # noqa: PT017 either end is right
    else:
        assert parse(str(measure)) == measure


@pytest.mark.parametrize("digits", [20, 5000])
def test_an_absurd_cutoff_is_refused_or_the_whole_list(digits):
    name = "Hits@" + "9" * digits
    table = pd.DataFrame({"query_id": ["q"], "doc_id": ["d"], "score": [1.0], "relevance": [1.0]})
    runs = metrics.Runs.from_frame(table)
    try:
        evaluation = metrics.evaluate(runs, [name], ["expected"])
    except UsageError:
        return
    assert evaluation.scores.iloc[0, 0] == 1


@pytest.mark.parametrize("text", ["gm_ndcg", "ndcg-l3", "MR", "my_recall@10"])
def test_a_name_that_extends_or_cuts_another_is_not_taken_for_it(text):
    with pytest.raises(UsageError, match="Measures: RR"):
        parse(text)


@pytest.mark.parametrize(
    ("text", "name"),
    [("Accuracy@1", "Hits@1"), ("R_cap@10", "R-cap@10"), ("recall_cap@10", "R-cap@10"), ("Hole@10", "Hole@10")],
)
def test_names_of_beir_mean_what_they_mean_there(text, name):
    assert str(parse(text)) == name


def test_gains_of_grades_may_be_given():
    frame = pd.DataFrame({"query_id": "q", "doc_id": [*"abc"], "score": [1, 1, 0], "relevance": [1, 2, 0]})
    name = "nDCG(gains=0:0,1:1,2:10)@2"
    assert str(parse(name)) == name
    ideal = 10 + 1 / np.log2(3)
    value = metrics.score(frame, name, "expected")["expected"].to_list()
    assert value == [pytest.approx((1 + 1 / np.log2(3)) * 5.5 / ideal)]
    assert metrics.score(frame, "nDCG(gains=1:1,2:2)", "expected")["expected"].to_list() == pytest.approx(
        metrics.score(frame, "nDCG-linear", "expected")["expected"].to_list()
    )
    with pytest.raises(UsageError, match="the grade 2 has no gain"):
        metrics.score(frame, "nDCG(gains=0:0,1:1)", "expected")
    for gains in ("1:2,2:1", "0:1,1:2"):
        with pytest.raises(UsageError, match="gains: a gain must be 0 for grades up to 0"):
            parse(f"nDCG(gains={gains})")
