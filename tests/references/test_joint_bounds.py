"""Joint bounds against every order of the ties and every way to judge what nobody judged."""

import random
from itertools import product

import pandas as pd
import pyarrow as pa
import pytest
from enumeration import RULES, Doc, JudgedList, every_value, name_and_parameter
from relevance_measures import with_cutoffs

from metrics import Runs, UsageError, evaluate, parse
from metrics.evaluation import ScoringOptions
from metrics.evaluation.holes import is_exact, joint_bounds

NAMES = [
    *(str(parse(name)) for name in with_cutoffs(["", "@1", "@3"], ["@1", "@2", "@3"])),
    "RBP(0.5)",
    "IPrec@0",
    "IPrec@0.5",
    "IPrec@1",
]
REACHED = [name for name in NAMES if parse(name).measure.family.joint_exact != "never"]
SCALE = (0, 1, 3)


def draw_list(seed, most_docs=4, most_unjudged=3):
    """One list and unjudged documents that only another list has."""
    chance = random.Random(seed)  # noqa: S311
    scores = chance.choice([(1,), (2, 1), (4, 3, 2, 1)])
    grades = chance.choice([(0, 1), (0,), (3,), SCALE, (-1, 0, 1, 3)])
    n_docs, n_elsewhere = chance.randint(1, most_docs), chance.choice([0, 0, 1])
    unjudged = chance.sample(range(n_docs), min(n_docs, chance.randint(0, most_unjudged - n_elsewhere)))
    docs = tuple(
        Doc(
            f"d{place}",
            chance.choice(scores),
            0 if place in unjudged else chance.choice(grades),
            place not in unjudged,
        )
        for place in range(n_docs)
    )
    return (
        docs,
        [chance.choice(grades) for _ in range(chance.randint(not set(range(n_docs)) - set(unjudged), 2))],
        n_elsewhere,
    )


def judgment_ways(docs, n_elsewhere):
    """Every way to judge: grades of the documents of the list, and of those that it lacks."""
    n_open = sum(not doc.is_judged for doc in docs) + n_elsewhere
    for way in product(SCALE, repeat=n_open):
        grades = iter(way)
        judged = tuple(
            doc if doc.is_judged else doc._replace(grade=next(grades), is_judged=True) for doc in docs
        )
        yield judged, list(grades)


def rows_of(query, docs, field):
    return [(query, doc.id, getattr(doc, field)) for doc in docs]


def runs_of(lists, judgments, elsewhere=()):
    run, other, qrels = (
        pa.Table.from_pandas(
            pd.DataFrame(rows, columns=["query_id", "doc_id", column]).astype({column: float}),
            preserve_index=False,
        )
        for rows, column in ((lists, "score"), (elsewhere, "score"), (judgments, "relevance"))
    )
    return Runs({"A": run, "B": other} if elsewhere else {"A": run}, qrels)


def holed_runs(drawn):
    """The lists as they are judged; reranker B has the unjudged documents that A lacks."""
    lists, judgments = [], [("scale", "d", 3), ("scale", "e", 1)]
    elsewhere = [("scale", "d", 1)]
    for number, (docs, unlisted, n_elsewhere) in enumerate(drawn):
        query = str(number)
        lists += rows_of(query, docs, "score")
        judgments += rows_of(query, [doc for doc in docs if doc.is_judged], "grade")
        judgments += [(query, f"unlisted{place}", grade) for place, grade in enumerate(unlisted)]
        elsewhere += [(query, f"elsewhere{place}", 1) for place in range(n_elsewhere)]
    return runs_of(lists, judgments, elsewhere)


def ends_of_every_way(drawn, names, relevant_from=1):
    """Smallest and largest value of each list over all orders and judgments."""
    lists, judgments, owner = [], [], {}
    for number, (docs, unlisted, n_elsewhere) in enumerate(drawn):
        for way, (judged, more) in enumerate(judgment_ways(docs, n_elsewhere)):
            query = f"{number}/{way}"
            owner[query] = str(number)
            lists += rows_of(query, judged, "score")
            judgments += rows_of(query, judged, "grade")
            judgments += [(query, f"more{place}", grade) for place, grade in enumerate([*unlisted, *more])]
    scores = evaluate(
        runs_of(lists, judgments), names, ["pessimistic", "optimistic"], relevant_from=relevant_from
    ).scores.loc["A"]
    lowest = scores.xs("pessimistic", axis=1, level=1).groupby(owner).min()
    return lowest, scores.xs("optimistic", axis=1, level=1).groupby(owner).max()


@pytest.mark.parametrize("relevant_from", [1, 2])
def test_bounds_are_the_ends_of_all_orders_and_judgments(relevant_from):
    drawn = [draw_list(f"every {number}") for number in range(120)]
    bounds = joint_bounds(holed_runs(drawn), NAMES, ScoringOptions(relevant_from=relevant_from)).loc["A"]
    lowest, highest = ends_of_every_way(drawn, NAMES, relevant_from)
    names = [name for name in REACHED if not name.startswith("Judged")]
    bounds = bounds.loc[lowest.index]
    for name in {*NAMES} - {*REACHED}:
        assert (bounds[name, "lowest"] <= lowest[name] + 1e-12).all()
        assert (bounds[name, "highest"] >= highest[name] - 1e-12).all()
    pd.testing.assert_frame_equal(
        bounds.xs("lowest", axis=1, level=1)[names], lowest[names], check_names=False, rtol=0, atol=1e-12
    )
    pd.testing.assert_frame_equal(
        bounds.xs("highest", axis=1, level=1)[names], highest[names], check_names=False, rtol=0, atol=1e-12
    )


@pytest.mark.parametrize("measures", [["AP", "AP@3", "AP-cap@3"], ["nDCG", "nDCG@3", "nDCG-linear@5"]])
def test_bounds_of_longer_lists_are_the_ends_of_all_orders_and_judgments(measures):
    drawn = [draw_list(f"longer {number}", 9, 5) for number in range(30)]
    bounds = joint_bounds(holed_runs(drawn), measures).loc["A"]
    for bound, ends in zip(("lowest", "highest"), ends_of_every_way(drawn, measures), strict=True):
        own = bounds.xs(bound, axis=1, level=1).loc[ends.index]
        pd.testing.assert_frame_equal(own, ends, check_names=False, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    "measure", [name for name in NAMES if name_and_parameter(name)[0] in {*RULES} - {"Judged"}]
)
def test_bounds_are_the_ends_of_exact_fractions(measure):
    drawn = [draw_list(f"exact {number}") for number in range(12)]
    bounds = joint_bounds(holed_runs(drawn), measure).loc["A"][measure]
    for number, (docs, unlisted, n_elsewhere) in enumerate(drawn):
        values = []
        for judged, more in judgment_ways(docs, n_elsewhere):
            grades = [*(doc.grade for doc in judged), *unlisted, *more]
            targets = tuple((grade, str(place)) for place, grade in enumerate(grades))
            listing = JudgedList(tuple(doc._replace(target=doc.id) for doc in judged), targets)
            values += map(float, every_value(measure, listing))
        low, high = bounds.loc[str(number)]
        if measure in REACHED:
            assert [low, high] == pytest.approx([min(values), max(values)], abs=1e-12)
        assert (low <= min(values) + 1e-12, high >= max(values) - 1e-12) == (True, True)


def test_judged_is_known_so_ties_alone_move_it():
    lists = [draw_list(f"judged {number}") for number in range(40)]
    runs = holed_runs(lists)
    ends = evaluate(runs, "Judged@2", ["pessimistic", "optimistic"]).scores
    bounds = joint_bounds(runs, "Judged@2").loc[ends.index]
    assert bounds.to_numpy() == pytest.approx(ends.to_numpy())


def test_without_unjudged_documents_bounds_are_the_worst_and_the_best_order():
    lists = [("q", name, score) for name, score in zip("abcdef", [2, 2, 1, 1, 1, 0], strict=True)]
    runs = runs_of(
        lists, [("q", name, grade) for name, grade in zip("abcdefg", [0, 1, 3, 0, 1, 2, 3], strict=True)]
    )
    ends = evaluate(runs, NAMES, ["pessimistic", "optimistic"]).scores
    assert joint_bounds(runs, NAMES).to_numpy() == pytest.approx(ends.to_numpy(), abs=1e-12)


def test_documents_that_no_reranker_has_may_be_relevant_too():
    runs = runs_of([("q", "a", 1)], [("q", "a", 1)])
    assert joint_bounds(runs, ["R@1", "AP"], n_unlisted=3).to_numpy().tolist() == [[0.25, 1, 0.25, 1]]
    with pytest.raises(UsageError, match="n_unlisted=-1"):
        joint_bounds(runs, "R@1", n_unlisted=-1)


def test_documents_that_are_left_out_bound_nothing():
    with pytest.raises(UsageError, match="unjudged='nonrelevant'"):
        joint_bounds(runs_of([("q", "a", 1)], [("q", "a", 1)]), "RR", ScoringOptions(unjudged="leave_out"))


def test_bounds_of_bpref_and_inferred_ap_hold_where_documents_stay_unjudged():
    drawn = [draw_list(f"stay {number}") for number in range(40)]
    runs = holed_runs(drawn)
    names = [name for name in NAMES if name not in REACHED]
    ends = evaluate(runs, names, ["pessimistic", "optimistic"]).scores
    bounds = joint_bounds(runs, names).loc[ends.index]
    assert names == ["bpref", "infAP"]
    for name in names:
        assert (bounds[name, "lowest"] <= ends[name, "pessimistic"] + 1e-12).all()
        assert (bounds[name, "highest"] >= ends[name, "optimistic"] - 1e-12).all()


def test_bounds_of_shared_targets_bpref_and_infap_may_not_be_reached():
    frame = pd.DataFrame({"query_id": "q", "doc_id": list("abc"), "score": 1.0, "relevance": [1.0, 1, 0]})
    runs = Runs.from_frame(frame)
    assert [name for name in NAMES if not is_exact(runs, parse(name))] == ["bpref", "infAP"]
    shared = Runs.from_frame(frame.assign(target_id=["s", "s", "t"]))
    assert {name for name in NAMES if not is_exact(shared, parse(name))} == {
        *("bpref", "infAP"),
        *(f"{name}@{k}" for name in ("DR", "Div") for k in (1, 2, 3)),
    }
