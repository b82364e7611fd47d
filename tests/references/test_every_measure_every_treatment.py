"""What must hold of every measure under every treatment, whatever the table."""

import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from relevance_measures import MEASURES, with_cutoffs

from metrics import TREATMENTS, Runs, UsageError, evaluate, parse

NAMES = with_cutoffs(["", "@2"], ["@1", "@3"])
CANONICAL_NAMES = [str(parse(name)) for name in NAMES]
BOUNDED = [str(parse(name)) for name in NAMES if parse(name).measure.largest == 1]
ORDERS = ["input", "docid_desc", "docid_asc", "random:1", "random:2"]
VALUES = [*[one.name for one in TREATMENTS if not one.spread], "random:1", "random:2"]
ORDERLESS = ["expected", "optimistic", "pessimistic", "std"]

KEYS = ["reranker", "query_id", "doc_id"]
RUN_ROW = st.fixed_dictionaries(
    {
        "reranker": st.sampled_from("AB"),
        "query_id": st.sampled_from(["7", "007", "q"]),
        "doc_id": st.sampled_from("abCdé\U0001f600"),
        "score": st.sampled_from([1.0, 1.0, 0.5, -2.0, 1e300]),
    }
)
JUDGED = st.fixed_dictionaries(
    {
        "query_id": st.sampled_from(["7", "007", "q"]),
        "doc_id": st.sampled_from("abCdé\U0001f600z"),
        "relevance": st.sampled_from([-1.0, 0.0, 0.0, 1.0, 2.0, 3.0]),
        "target_id": st.sampled_from("stu"),
    }
)
RUNS, QRELS = (
    st.integers(1, 12).flatmap(
        lambda n_min, row=row, n_max=n_max: st.lists(
            row, min_size=n_min, max_size=n_max, unique_by=lambda row: tuple(map(row.get, KEYS))
        )
    )
    for row, n_max in ((RUN_ROW, 25), (JUDGED, 15))
)


def scores(rows, qrels, ties, measures=NAMES):
    runs = {
        name: pa.Table.from_pylist([row for row in rows if row["reranker"] == name])
        for name in sorted({row["reranker"] for row in rows})
    }
    return evaluate(Runs(runs, pa.Table.from_pylist(qrels)), measures, ties).scores.sort_index()


def assert_same(actual, expected):
    pd.testing.assert_frame_equal(actual, expected, rtol=1e-12, atol=1e-12)


def test_every_measure_is_crossed_with_every_treatment():
    assert {parse(name).measure for name in NAMES} == set(MEASURES)
    assert {*VALUES, *ORDERLESS} >= {one.name for one in TREATMENTS}


@given(RUNS, QRELS)
def test_values_lie_between_zero_and_the_largest_there_is(rows, qrels):
    values = scores(rows, qrels, VALUES)
    assert values.ge(0).all(axis=None)
    assert values[BOUNDED].le(1 + 1e-12).all(axis=None)
    assert values["Div@3"].le(3 + 1e-12).all(axis=None)


@given(RUNS, QRELS)
def test_a_standard_deviation_is_at_most_half_the_range_of_best_and_worst(rows, qrels):
    values = scores(rows, qrels, ORDERLESS)
    for measure in CANONICAL_NAMES:
        half = (values[measure, "optimistic"] - values[measure, "pessimistic"]) / 2
        assert values[measure, "std"].between(0, half + 1e-12).all()


@given(RUNS, QRELS)
def test_all_treatments_agree_and_nothing_varies_where_nothing_ties(rows, qrels):
    strict = [{**row, "score": float(place)} for place, row in enumerate(rows)]
    values = scores(strict, qrels, [*VALUES, "std"])
    for measure in CANONICAL_NAMES:
        by_treatment = values[measure]
        assert by_treatment[VALUES].eq(by_treatment["input"], axis=0).all(axis=None)
        assert by_treatment["std"].eq(0).all()


@given(RUNS, QRELS)
def test_best_and_worst_enclose_every_other_treatment(rows, qrels):
    values = scores(rows, qrels, VALUES)
    for measure in CANONICAL_NAMES:
        by_treatment = values[measure][[*ORDERS, "expected"]]
        assert by_treatment.ge(values[measure, "pessimistic"] - 1e-12, axis=0).all(axis=None)
        assert by_treatment.le(values[measure, "optimistic"] + 1e-12, axis=0).all(axis=None)


@given(RUNS, QRELS, st.randoms())
def test_the_order_of_rows_does_not_matter_to_what_has_no_order(rows, qrels, chance):
    shuffled = chance.sample(rows, len(rows)), chance.sample(qrels, len(qrels))
    treatments = [*ORDERLESS, "docid_asc", "docid_desc"]
    assert_same(scores(rows, qrels, treatments), scores(*shuffled, treatments))


@given(RUNS, QRELS, st.permutations("abCdé\U0001f600z"))
def test_document_names_matter_only_to_tie_orders_that_read_them(rows, qrels, new_names):
    new = dict(zip("abCdé\U0001f600z", new_names, strict=True))
    renamed = [[{**row, "doc_id": new[row["doc_id"]]} for row in part] for part in (rows, qrels)]
    treatments = [*ORDERLESS, "input"]
    assert_same(scores(rows, qrels, treatments), scores(*renamed, treatments))


def test_no_ordering_is_drawn_for_a_standard_deviation(monkeypatch):
    monkeypatch.setattr("metrics.ties.treatments.seeded_order", lambda _: pytest.fail("a seeded ordering"))
    monkeypatch.setattr("numpy.random.default_rng", lambda *_: pytest.fail("a generator"))
    assert scores(LEVEL, JUDGMENTS, ["std"])[["AP", "DR@1", "Div@3"]].gt(0).all(axis=None)


def assert_same_alone(rows, qrels, ties, measures=NAMES):
    among = scores(rows, qrels, ties, measures)
    alone = [row for row in rows if [row[key] for key in KEYS[:2]] == [rows[-1][key] for key in KEYS[:2]]]
    judged = [row for row in qrels if row["query_id"] == rows[-1]["query_id"]]
    if judged:
        values = scores(alone, judged, ties, measures)
        assert_same(among.loc[values.index], values)


@given(RUNS, QRELS)
def test_a_list_scores_the_same_alone_as_among_other_lists_and_rerankers(rows, qrels):
    assert_same_alone(rows, qrels, [*VALUES, "std"])


LEVEL = [{"reranker": "A", "query_id": "q", "doc_id": name, "score": 1.0} for name in "abcdef"]
JUDGMENTS = [{"query_id": "q", "doc_id": name, "relevance": 1.0, "target_id": name} for name in "za"]
SEEDS = [f"random:{seed}" for seed in range(30)]


def test_a_seed_gives_a_list_the_same_values_each_time_alone_or_among_others():
    alone = scores(LEVEL, JUDGMENTS, SEEDS)
    assert scores(LEVEL, JUDGMENTS, SEEDS).equals(alone)
    rows, qrels = ([{**row, "query_id": "p"} for row in part] for part in (LEVEL, JUDGMENTS))
    assert_same(scores([*rows, *LEVEL], [*qrels, *JUDGMENTS], SEEDS).loc[[("A", "q")]], alone)


def test_what_sorts_a_tie_sorts_it_the_same_way_for_every_measure():
    judged = [*JUDGMENTS, *({**JUDGMENTS[0], "doc_id": name, "relevance": 0.0} for name in "ef")]
    rows = [*LEVEL, *({**row, "doc_id": f"{row['doc_id']}2", "score": 0.0} for row in LEVEL)]
    values = scores(rows, [*judged, {**judged[-1], "doc_id": "f2"}], [*ORDERS, *SEEDS], NAMES).iloc[0]
    assert values["Hits@1"].equals(values["P@1"])
    assert values["P@1"].le(values["Judged@1"]).all()
    assert values["P@3"].le(values["Judged@3"]).all()


@pytest.mark.parametrize("grade", [100.0, 600.0, 1e6])
@pytest.mark.parametrize("ties", [*VALUES, "std"])
def test_huge_grades_do_not_overflow_and_those_above_4_are_refused_by_err(ties, grade):
    judgments = [*JUDGMENTS, {**JUDGMENTS[0], "doc_id": "b", "relevance": grade}]
    with pytest.raises(UsageError, match=r"ERR takes grades up to 4, .* Map the grades"):
        scores(LEVEL, judgments, [ties], ["ERR"])
    names = [name for name in BOUNDED if not name.startswith("ERR")]
    values = scores(LEVEL, judgments, [ties], names)
    assert values.ge(0).all(axis=None)
    assert values.le(1 + 1e-12).all(axis=None)


def test_tables_with_long_strings_as_pandas_makes_them_score_the_same():
    plain = [
        pa.Table.from_pylist(rows).select(names)
        for rows, names in ((LEVEL, ["query_id", "doc_id", "score"]), (JUDGMENTS, [*JUDGMENTS[0]]))
    ]
    long = [pa.Table.from_pandas(table.to_pandas(), preserve_index=False) for table in plain]
    assert pa.types.is_large_string(long[0]["doc_id"].type)
    actual, expected = (evaluate(Runs({"A": run}, qrels), NAMES, VALUES).scores for run, qrels in (long, plain))
    assert_same(actual, expected)
