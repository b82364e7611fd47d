"""What must hold of every measure under every treatment, whatever the table."""

import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrics import MEASURES, TREATMENTS, Runs, evaluate, parse

NAMES = [
    f"{one.name}{cutoff}"
    for one in MEASURES
    for cutoff in {"none": [""], "optional": ["", "@2"], "required": ["@1", "@3"]}[one.cutoff]
]
NAMED = [str(parse(name)) for name in NAMES]
BOUNDED = [str(parse(name)) for name in NAMES if parse(name).measure.largest == 1]
SAMPLED = [str(parse(name)) for name in NAMES if parse(name).measure.name in ("AP", "DR", "Div")]
CLOSED = [name for name in NAMED if name not in SAMPLED]
ORDERS = ["input", "docid_desc", "docid_asc", "random:1", "random:2"]
VALUES = [*[one.name for one in TREATMENTS if not one.spread], "random:1", "random:2"]
ORDERLESS = ["expected", "optimistic", "pessimistic", "std"]

KEYS = ["reranker", "query_id", "doc_id"]
LISTED = st.fixed_dictionaries(
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
        lambda least, row=row, most=most: st.lists(
            row, min_size=least, max_size=most, unique_by=lambda row: tuple(map(row.get, KEYS))
        )
    )
    for row, most in ((LISTED, 25), (JUDGED, 15))
)


@pytest.fixture(scope="module", autouse=True)
def few_draws():
    """How near a sampled deviation comes is not the question here."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("metrics.evaluation.scoring.DRAWS", 10)
        yield


def scores(rows, qrels, ties, measures=NAMES):
    runs = {
        name: pa.Table.from_pylist([row for row in rows if row["reranker"] == name])
        for name in sorted({row["reranker"] for row in rows})
    }
    return evaluate(Runs(runs, pa.Table.from_pylist(qrels)), measures, ties).scores.sort_index()


def assert_same(left, right):
    pd.testing.assert_frame_equal(left, right, rtol=1e-12, atol=1e-12)


def test_every_measure_is_crossed_with_every_treatment():
    assert {parse(name).measure for name in NAMES} == set(MEASURES)
    assert {*VALUES, *ORDERLESS} >= {one.name for one in TREATMENTS}


@given(RUNS, QRELS)
def test_values_lie_between_zero_and_the_largest_there_is(rows, qrels):
    found = scores(rows, qrels, VALUES)
    assert found.ge(0).all(axis=None)
    assert found[BOUNDED].le(1 + 1e-12).all(axis=None)
    assert found["Div@3"].le(3 + 1e-12).all(axis=None)


@given(RUNS, QRELS)
def test_a_standard_deviation_is_at_most_half_the_range_of_best_and_worst(rows, qrels):
    found = scores(rows, qrels, ORDERLESS)
    for measure in CLOSED:
        half = (found[measure, "optimistic"] - found[measure, "pessimistic"]) / 2
        assert found[measure, "std"].between(0, half + 1e-12).all()
    for measure in SAMPLED:
        whole = found[measure, "optimistic"] - found[measure, "pessimistic"]
        assert found[measure, "std"].between(0, whole + 1e-12).all()


@given(RUNS, QRELS)
def test_all_treatments_agree_and_nothing_varies_where_nothing_ties(rows, qrels):
    strict = [{**row, "score": float(place)} for place, row in enumerate(rows)]
    found = scores(strict, qrels, [*VALUES, "std"])
    for measure in NAMED:
        one = found[measure]
        assert one[VALUES].eq(one["input"], axis=0).all(axis=None)
        assert one["std"].eq(0).all()


@given(RUNS, QRELS)
def test_best_and_worst_enclose_every_other_treatment(rows, qrels):
    found = scores(rows, qrels, VALUES)
    for measure in NAMED:
        one = found[measure][[*ORDERS, "expected"]]
        assert one.ge(found[measure, "pessimistic"] - 1e-12, axis=0).all(axis=None)
        assert one.le(found[measure, "optimistic"] + 1e-12, axis=0).all(axis=None)


@given(RUNS, QRELS, st.randoms())
def test_the_order_of_rows_does_not_matter_to_what_has_no_order(rows, qrels, chance):
    shuffled = chance.sample(rows, len(rows)), chance.sample(qrels, len(qrels))
    how = [*ORDERLESS, "docid_asc", "docid_desc"]
    assert_same(scores(rows, qrels, how), scores(*shuffled, how))


@given(RUNS, QRELS, st.permutations("abCdé\U0001f600z"))
def test_the_names_of_documents_do_not_matter_where_the_treatment_does_not_read_them(rows, qrels, others):
    new = dict(zip("abCdé\U0001f600z", others, strict=True))
    renamed = [[{**row, "doc_id": new[row["doc_id"]]} for row in part] for part in (rows, qrels)]
    for how, names in ((["expected", "optimistic", "pessimistic", "input"], NAMED), (["std"], CLOSED)):
        assert_same(scores(rows, qrels, how, names), scores(*renamed, how, names))


def assert_same_alone(rows, qrels, ties, measures=NAMES):
    among = scores(rows, qrels, ties, measures)
    alone = [row for row in rows if [row[key] for key in KEYS[:2]] == [rows[-1][key] for key in KEYS[:2]]]
    judged = [row for row in qrels if row["query_id"] == rows[-1]["query_id"]]
    if judged:
        found = scores(alone, judged, ties, measures)
        assert_same(among.loc[found.index], found)


@given(RUNS, QRELS)
def test_a_list_scores_the_same_alone_as_among_other_lists_and_rerankers(rows, qrels):
    assert_same_alone(rows, qrels, [*VALUES, "std"])


LEVEL = [{"reranker": "A", "query_id": "q", "doc_id": name, "score": 1.0} for name in "abcdef"]
KNOWN = [{"query_id": "q", "doc_id": name, "relevance": 1.0, "target_id": name} for name in "za"]
SEEDS = [f"random:{seed}" for seed in range(30)]


def test_a_seed_gives_a_list_the_same_values_each_time_alone_or_among_others():
    alone = scores(LEVEL, KNOWN, SEEDS)
    assert scores(LEVEL, KNOWN, SEEDS).equals(alone)
    rows, qrels = ([{**row, "query_id": "p"} for row in part] for part in (LEVEL, KNOWN))
    assert_same(scores([*rows, *LEVEL], [*qrels, *KNOWN], SEEDS).loc[[("A", "q")]], alone)


def test_what_sorts_a_tie_sorts_it_the_same_way_for_every_measure():
    judged = [*KNOWN, *({**KNOWN[0], "doc_id": name, "relevance": 0.0} for name in "ef")]
    rows = [*LEVEL, *({**row, "doc_id": f"{row['doc_id']}2", "score": 0.0} for row in LEVEL)]
    found = scores(rows, [*judged, {**judged[-1], "doc_id": "f2"}], [*ORDERS, *SEEDS], NAMES).iloc[0]
    assert found["Hits@1"].equals(found["P@1"])
    assert found["P@1"].le(found["Judged@1"]).all()
    assert found["P@3"].le(found["Judged@3"]).all()


@pytest.mark.parametrize("grade", [100.0, 600.0, 1e6])
@pytest.mark.parametrize("ties", [*VALUES, "std"])
def test_huge_grades_do_not_overflow(ties, grade):
    found = scores(LEVEL, [*KNOWN, {**KNOWN[0], "doc_id": "b", "relevance": grade}], [ties], BOUNDED)
    assert found.ge(0).all(axis=None)
    assert found.le(1 + 1e-12).all(axis=None)


def test_tables_with_long_strings_as_pandas_makes_them_score_the_same():
    plain = [
        pa.Table.from_pylist(rows).select(names)
        for rows, names in ((LEVEL, ["query_id", "doc_id", "score"]), (KNOWN, [*KNOWN[0]]))
    ]
    long = [pa.Table.from_pandas(table.to_pandas(), preserve_index=False) for table in plain]
    assert pa.types.is_large_string(long[0]["doc_id"].type)
    found, wanted = (evaluate(Runs({"A": run}, qrels), NAMES, VALUES).scores for run, qrels in (long, plain))
    assert_same(found, wanted)
