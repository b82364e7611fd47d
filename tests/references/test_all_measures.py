"""Every measure under every treatment, on thousands of short lists, against every ordering in fractions."""

import math
import random
from fractions import Fraction
from statistics import mean

import pyarrow as pa
import pytest
from drawing import GRADES, TREATMENTS
from enumeration import (
    RULES,
    Doc,
    JudgedList,
    arrangements,
    count_relevant,
    every_value,
    name_and_parameter,
    over_orderings,
    rr,
    tie_groups,
    treated_value,
)
from hypothesis import given
from hypothesis import strategies as st
from relevance_measures import MEASURES, with_cutoffs

from metrics import Runs, evaluate, parse

NAMES = [
    *(str(parse(name)) for name in with_cutoffs(["", "@1", "@3", "@10"], ["@1", "@3", "@10"])),
    "RBP(0.5)",
]
"""Every measure of the catalogue."""
OWN = [name for name in NAMES if name.startswith(("TsRR", "taRR", "PRR", "GRAG"))]
BY_ORDER = [name for name in NAMES if name not in OWN]
SETTINGS = {  # judgments apart, target column, relevant from, lists, most documents
    "relevance inside": (False, False, 1, 600, 7),
    "relevance inside, targets": (False, True, 1, 600, 6),
    "judgments apart": (True, False, 1, 600, 7),
    "judgments apart, targets": (True, True, 1, 600, 6),
    "relevant from 2": (True, True, 2, 600, 5),
}


def draw_list(seed, apart, targets, relevant_from, most_docs):
    """One list: few scores, so many ties; few, no or only relevant documents; some not judged.

    Also grade and target of what is judged, but not listed.
    """
    chance = random.Random(seed)  # noqa: S311
    grades = chance.choice([(0, 1), (0, 0, 0, 1), (0,), (1, 1), (0, 1, 2, 3), (-2, -1, 0, 0, 1, 3)])
    scores = chance.choice([(1,), (0.5, 0.5, -1), (3, 2, 1), (7, 6, 5, 4, 3, 2, 1)])
    names = chance.sample("aBcdéfgh\uffff\U0001f600", chance.randint(1, most_docs))
    docs, judgments = [], []
    for name in names:
        is_judged = not apart or chance.random() < 0.7
        grade = chance.choice(grades) if is_judged else 0
        target = chance.choice("stu") if targets else name
        docs.append(Doc(name, chance.choice(scores), grade, is_judged, target))
        judgments += [(grade, target)] * is_judged
    unlisted = [
        (chance.choice(grades), chance.choice("uvw") if targets else f"unlisted{number}")
        for number in range(chance.randint(not judgments, 3) if apart else 0)
    ]
    return JudgedList(tuple(docs), (*judgments, *unlisted), relevant_from), unlisted


def table(rows, names):
    columns = dict(zip(names, zip(*rows, strict=True), strict=True))
    types = {"score": pa.float64(), "relevance": pa.float64()}
    return pa.table({name: pa.array(values, types.get(name, pa.string())) for name, values in columns.items()})


@pytest.fixture(scope="module", params=SETTINGS)
def scored_lists(request):
    """Lists, and what every measure of the library gives for each."""
    apart, targets, relevant_from, n_lists, most_docs = SETTINGS[request.param]
    listings, rows, judgments = [], [], []
    for number in range(n_lists):
        listing, unlisted = draw_list(f"{request.param} {number}", apart, targets, relevant_from, most_docs)
        listings.append(listing)
        for doc in listing.docs:
            rows.append((str(number), doc.id, doc.score, doc.grade, doc.target))
            judgments += [(str(number), doc.id, doc.grade, doc.target)] * doc.is_judged
        judgments += [(str(number), f"unlisted{i}", *judgment) for i, judgment in enumerate(unlisted)]
    names = ["query_id", "doc_id", "score", "relevance", "target_id"]
    run, qrels = table(rows, names), table(judgments, [*names[:2], *names[3:]])
    if not targets:
        run, qrels = run.drop_columns(["target_id"]), qrels.drop_columns(["target_id"])
    runs = Runs({"A": run.select(names[:3])}, qrels) if apart else Runs({"A": run})
    treatments = [*TREATMENTS, "random:1", "random:2", "std"]
    scores = evaluate(runs, NAMES, treatments, relevant_from=relevant_from).scores
    return listings, scores.loc["A"].loc[[str(number) for number in range(n_lists)]]


def deviation(values):
    centre = mean(values)
    return math.sqrt(mean((value - centre) ** 2 for value in values))


def first_difference(listings, values, exact, **tolerance):
    """The first list whose value is not the exact one, with both; None where there is none."""
    assert listings
    triples = zip(listings, values, exact, strict=True)
    return next((triple for triple in triples if not math.isclose(*triple[1:], **tolerance)), None)


def test_the_reference_has_a_rule_for_every_measure_there_is():
    own = {name_and_parameter(name)[0] for name in OWN}
    assert {*RULES, *own} == {measure.name for measure in MEASURES}


@pytest.mark.parametrize("measure", BY_ORDER)
def test_a_value_under_every_treatment_is_that_of_all_orderings(scored_lists, measure):
    listings, scores = scored_lists
    differences = {}
    for ties in TREATMENTS:
        exact = [treated_value(measure, listing, ties) for listing in listings]
        differences[ties] = first_difference(
            listings, scores[measure, ties], exact, rel_tol=1e-12, abs_tol=1e-15
        )
    assert differences == dict.fromkeys(TREATMENTS)


@pytest.mark.parametrize("measure", NAMES)
def test_no_value_exceeds_the_largest_that_the_measure_states(scored_lists, measure):
    _, scores = scored_lists
    largest = parse(measure).measure.largest
    assert largest is None or scores[measure, "optimistic"].max() <= largest + 1e-12


@pytest.mark.parametrize("measure", BY_ORDER)
def test_a_seeded_draw_is_the_value_of_one_ordering(scored_lists, measure):
    listings, scores = scored_lists
    seeds = [scores[measure, "random:1"], scores[measure, "random:2"]]
    distances = [
        min(abs(drawn - float(value)) for value in set(every_value(measure, listing)))
        for listing, *draws in zip(listings, *seeds, strict=True)
        for drawn in draws
    ]
    assert len(distances) == 2 * len(listings)
    assert max(distances) <= 1e-12


@pytest.mark.parametrize("measure", NAMES)
def test_the_standard_deviation_is_that_over_all_orderings(scored_lists, measure):
    listings, scores = scored_lists
    exact = [0 if measure in OWN else over_orderings(deviation, measure, listing) for listing in listings]
    assert first_difference(listings, scores[measure, "std"], exact, rel_tol=1e-12, abs_tol=1e-13) is None


DOCUMENTS = st.builds(
    Doc,
    st.sampled_from("abcdefg"),
    st.sampled_from([1.0, 1.0, 0.5]),
    GRADES,
    st.just(True),
    st.sampled_from("stu"),
)


@pytest.mark.parametrize("measure", MEASURES, ids=lambda measure: measure.name)
@given(docs=st.lists(DOCUMENTS, min_size=2, max_size=7, unique_by=lambda doc: doc.id))
def test_the_standard_deviation_of_any_list_is_that_of_exact_fractions(measure, docs):
    names = [name for name in NAMES if parse(name).measure == measure]
    rows = [("q", doc.id, doc.score, doc.grade, doc.target) for doc in docs]
    run = table(rows, ["query_id", "doc_id", "score", "relevance", "target_id"])
    stds = evaluate(Runs({"A": run}), names, "std").scores.iloc[0].to_numpy()
    listing = JudgedList(tuple(docs), tuple((doc.grade, doc.target) for doc in docs))
    exact = [0 if name in OWN else over_orderings(deviation, name, listing) for name in names]
    assert stds == pytest.approx(exact, rel=1e-12, abs=1e-13)


def own_rule(measure, listing):
    """TsRR, taRR, PRR and the two of G-RAG, from the places of an enumerated list."""
    name, k = name_and_parameter(measure)
    groups, above, shares, lead = tie_groups(listing.docs), 0, [], Fraction(0)
    for group in groups:
        hits = [doc.grade >= listing.relevant_from for doc in group]
        places = [above + place for place in range(1, len(group) + 1)]
        share = 1 / mean(map(Fraction, places)) if name == "GRAG-RR" else mean(p <= (k or 0) for p in places)
        shares += [Fraction(share)] * sum(hits)
        if not lead and any(hits):
            first = [1 / rr(order, None, None) for order in arrangements(tuple(hits))]
            irrelevant = sum(doc.grade < listing.relevant_from for doc in listing.docs)
            leans = {
                "taRR": Fraction(0),
                "TsRR": Fraction(hits.count(False), irrelevant or 1),
                "PRR": Fraction(1),
            }
            tau = leans.get(name, 0)
            lead = 1 / (above + (1 - tau) * mean(first) + tau * max(first))
        above += len(group)
    return sum(shares) / (count_relevant(listing) or 1) if name.startswith("GRAG") else lead


@pytest.mark.parametrize("measure", OWN)
def test_a_measure_with_its_own_tie_rule_is_equal_under_every_treatment(scored_lists, measure):
    listings, scores = scored_lists
    exact = [own_rule(measure, listing) for listing in listings]
    for ties in (*TREATMENTS, "random:1"):
        assert first_difference(listings, scores[measure, ties], exact, rel_tol=1e-12) is None
    assert scores[measure, "std"].eq(0).all()
