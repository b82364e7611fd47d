"""Every measure under every treatment, on thousands of short lists, against every ordering in fractions."""

import math
import random
from fractions import Fraction
from statistics import mean

import exact
import pyarrow as pa
import pytest
from drawing import TREATMENTS
from exact import Doc, Listed, every_value, tied, value_in_order

from metrics import MEASURES, Runs, evaluate

OWN = ("TsRR", "taRR", "GRAG-RR", "GRAG-Hits@1", "GRAG-Hits@3", "GRAG-Hits@10")
SAMPLED = ("AP", "DR@1", "DR@3", "DR@10", "Div@1", "Div@3", "Div@10")
CLOSED = (
    *("RR", "RR@1", "RR@3", "RR@10", "Hits@1", "Hits@3", "Hits@10", "Rprec", "RBP(0.8)", "RBP(0.5)"),
    *("nDCG", "nDCG@1", "nDCG@3", "nDCG@10", "nDCG-linear", "nDCG-linear@3", "DCG", "DCG@3"),
    *("P@1", "P@3", "P@10", "R@1", "R@3", "R@10", "F1@1", "F1@3", "F1@10", "Judged@1", "Judged@3", "Judged@10"),
)
ORDERS = {
    "input": lambda docs: docs,
    "docid_asc": sorted,
    "docid_desc": lambda docs: sorted(docs, reverse=True),
}
SETTINGS = {  # judgments apart, target column, relevant from, lists, most documents
    "relevance inside": (False, False, 1, 600, 7),
    "relevance inside, targets": (False, True, 1, 600, 6),
    "judgments apart": (True, False, 1, 600, 7),
    "judgments apart, targets": (True, True, 1, 600, 6),
    "relevant from 2": (True, True, 2, 600, 5),
}


def draw(seed, apart, targets, relevant_from, most):
    """One list: few scores, so many ties; few, no or only relevant documents; some not judged."""
    chance = random.Random(seed)  # noqa: S311
    grades = chance.choice([(0, 1), (0, 0, 0, 1), (0,), (1, 1), (0, 1, 2, 3), (-2, -1, 0, 0, 1, 3)])
    scores = chance.choice([(1,), (0.5, 0.5, -1), (3, 2, 1), (7, 6, 5, 4, 3, 2, 1)])
    names = chance.sample("aBcdéfgh\uffff\U0001f600", chance.randint(1, most))
    docs, judged = [], []
    for name in names:
        known = not apart or chance.random() < 0.7
        grade = chance.choice(grades) if known else 0
        target = chance.choice("stu") if targets else name
        docs.append(Doc(name, chance.choice(scores), grade, known, target))
        judged += [(grade, target)] * known
    lacking = [
        (chance.choice(grades), chance.choice("uvw") if targets else f"lacking{at}")
        for at in range(chance.randint(not judged, 3) if apart else 0)
    ]
    return Listed(tuple(docs), (*judged, *lacking), relevant_from), lacking


def table(rows, names):
    columns = dict(zip(names, zip(*rows, strict=True), strict=True))
    types = {"score": pa.float64(), "relevance": pa.float64()}
    return pa.table({name: pa.array(values, types.get(name, pa.string())) for name, values in columns.items()})


@pytest.fixture(scope="module", params=SETTINGS)
def drawn(request):
    """Lists, and what every measure of the library gives for each."""
    apart, targets, relevant_from, lists, most = SETTINGS[request.param]
    listed, rows, judgments = [], [], []
    for number in range(lists):
        one, lacking = draw(f"{request.param} {number}", apart, targets, relevant_from, most)
        listed.append(one)
        for doc in one.docs:
            rows.append((str(number), doc.id, doc.score, doc.grade, doc.target))
            judgments += [(str(number), doc.id, doc.grade, doc.target)] * doc.judged
        judgments += [(str(number), f"lacking{at}", *known) for at, known in enumerate(lacking)]
    names = ["query_id", "doc_id", "score", "relevance", "target_id"]
    run, qrels = table(rows, names), table(judgments, [*names[:2], *names[3:]])
    if not targets:
        run, qrels = run.drop_columns(["target_id"]), qrels.drop_columns(["target_id"])
    runs = Runs({"A": run.select(names[:3])}, qrels) if apart else Runs({"A": run})
    treatments = [*TREATMENTS, "random:1", "random:2", "std"]
    found = evaluate(runs, [*CLOSED, *SAMPLED, *OWN], treatments, relevant_from=relevant_from).scores
    return listed, found.loc["A"].loc[[str(number) for number in range(lists)]]


def reference(measure, ties, listed):
    if ties in ORDERS:
        return value_in_order(measure, listed, ORDERS[ties](list(listed.docs)))
    return {"optimistic": max, "pessimistic": min, "expected": mean}[ties](every_value(measure, listed))


def deviation(values):
    centre = mean(values)
    return math.sqrt(mean((value - centre) ** 2 for value in values))


def differing(listed, found, wanted, **tolerance):
    """The first list whose value is not the one wanted."""
    pairs = zip(listed, found, wanted, strict=True)
    return next((each for each in pairs if not math.isclose(each[1], each[2], **tolerance)), None)


def test_the_reference_has_a_rule_for_every_measure_there_is():
    assert {exact.parts(name)[0] for name in (*CLOSED, *SAMPLED, *OWN)} == {one.name for one in MEASURES}


@pytest.mark.parametrize("ties", TREATMENTS)
@pytest.mark.parametrize("measure", [*CLOSED, *SAMPLED])
def test_a_value_is_that_of_all_orderings(drawn, measure, ties):
    listed, found = drawn
    wanted = [reference(measure, ties, one) for one in listed]
    assert differing(listed, found[measure, ties], wanted, rel_tol=1e-12, abs_tol=1e-15) is None


@pytest.mark.parametrize("measure", [*CLOSED, *SAMPLED])
def test_a_seeded_draw_is_the_value_of_one_ordering(drawn, measure):
    listed, found = drawn
    for one, *values in zip(listed, found[measure, "random:1"], found[measure, "random:2"], strict=True):
        allowed = [float(value) for value in every_value(measure, one)]
        assert [min(abs(value - each) for each in allowed) for value in values] == pytest.approx([0, 0])


@pytest.mark.parametrize("measure", CLOSED)
def test_the_standard_deviation_is_that_over_all_orderings(drawn, measure):
    listed, found = drawn
    wanted = [deviation(every_value(measure, one)) for one in listed]
    assert differing(listed, found[measure, "std"], wanted, rel_tol=1e-9, abs_tol=1e-12) is None


@pytest.mark.parametrize("measure", SAMPLED)
def test_a_sampled_standard_deviation_is_near_and_zero_where_nothing_can_vary(drawn, measure):
    listed, found = drawn
    wanted = [deviation(every_value(measure, one)) for one in listed]
    assert differing(listed, found[measure, "std"], wanted, rel_tol=0.5, abs_tol=0.05) is None
    assert found[measure, "std"].where([not one for one in wanted], 0).eq(0).all()
    assert found[measure, "std"].sum() == pytest.approx(sum(wanted), rel=0.02)


def own_rule(measure, listed):
    """TsRR, taRR and the two of G-RAG, from the places of an enumerated list."""
    name, k = exact.parts(measure)
    groups, above, shares, lead = tied(listed.docs), 0, [], Fraction(0)
    for group in groups:
        hits = [doc.grade >= listed.relevant_from for doc in group]
        places = [above + place for place in range(1, len(group) + 1)]
        share = 1 / mean(map(Fraction, places)) if name == "GRAG-RR" else mean(p <= (k or 0) for p in places)
        shares += [Fraction(share)] * sum(hits)
        if not lead and any(hits):
            first = [1 / exact.rr(order, None, None) for order in exact.arrangements(tuple(hits))]
            irrelevant = sum(doc.grade < listed.relevant_from for doc in listed.docs)
            tau = Fraction(hits.count(False), irrelevant or 1) if name == "TsRR" else 0
            lead = 1 / (above + (1 - tau) * mean(first) + tau * max(first))
        above += len(group)
    return sum(shares) / (exact.relevant_judgments(listed) or 1) if name.startswith("GRAG") else lead


@pytest.mark.parametrize("measure", OWN)
def test_a_measure_with_its_own_rule_is_the_same_under_every_treatment_and_varies_nowhere(drawn, measure):
    listed, found = drawn
    wanted = [own_rule(measure, one) for one in listed]
    for ties in (*TREATMENTS, "random:1"):
        assert differing(listed, found[measure, ties], wanted, rel_tol=1e-12) is None
    assert found[measure, "std"].eq(0).all()
