import numpy as np
import pytest
from repository import REAL_RUNS

from metrics import read_runs
from metrics.runs.inspection import pool_findings

DEPTH = 30
FOLDER = REAL_RUNS / "trec-dl-2019"


def unjudged(listing, judged):
    return list(pool_findings([listing], judged))


def astuple_of(finding):
    return finding.severity, finding.code, finding.line, finding.count, finding.message


@pytest.fixture
def board(listing_of_rows, judged_of):
    """Rerankers and the findings of their pool: each ranks documents of its own, a share of which is judged."""

    def build(shares, n_queries=20, seed=1, n_judged=DEPTH):
        chance = np.random.default_rng(seed)
        listings, grades = [], {f"q{query}": {} for query in range(n_queries)}
        for name, share in shares.items():
            rows = []
            for query, judged in grades.items():
                is_judged = chance.random(DEPTH) < share
                is_judged[n_judged:] = False
                rows += [
                    (query, f"{name}{place}", float(-place), 0 if known else None)
                    for place, known in enumerate(is_judged)
                ]
                judged |= {f"{name}{place}": 0 for place in np.flatnonzero(is_judged)}
            listings.append(listing_of_rows(rows, name=name, file=f"{name}.trec"))
        findings = [one for one in pool_findings(listings, judged_of(grades)) if one.code != "unjudged"]
        return {name: [one for one in findings if one.file == f"{name}.trec"] for name in shares}

    return build


def test_unjudged_documents_of_the_top_ten_are_counted(listing_of_rows, judged_of):
    rows = [("q", f"d{at}", -at, None if at in {1, 2, 11} else 0) for at in range(12)]
    rows += [("r", "d0", 1, 0), ("s", "d0", 1, None)]
    judged = judged_of({"q": {"d0": 1}, "r": {"d0": 1}})
    [(*finding, message)] = [astuple_of(finding) for finding in unjudged(listing_of_rows(rows), judged)]
    assert finding == ["info", "unjudged", None, 2]
    assert message.startswith("18% of the documents in the top 10")
    assert "in 1 of 2 lists: 2 of 11." in message
    assert "For a tie across the cut-off, the expected number" in message


def test_ties_across_the_border_count_by_their_expected_share(listing_of_rows, judged_of):
    above = [("q", f"d{at}", 9, 0) for at in range(8)]
    tied = [("q", "x", 1, None), ("q", "y", 1, None), ("q", "z", 1, None), ("q", "w", 1, 0)]
    [finding] = unjudged(listing_of_rows(above + tied), judged_of({"q": {"d0": 1}}))
    assert "15% of" in finding.message
    assert "1.5 of 10." in finding.message
    assert finding.count == 2


def test_a_share_that_is_nearly_whole_is_not_said_to_be(listing_of_rows, judged_of):
    tied = [("q", f"d{at}", 1, None if at < 205 else 0) for at in range(2000)]
    [finding] = unjudged(listing_of_rows(tied), judged_of({"q": {"d300": 1}}))
    assert "1.0 of 10." in finding.message


@pytest.mark.parametrize(("n_unjudged", "severity"), [(5, "info"), (6, "warning")])
def test_more_than_half_unjudged_is_a_warning(listing_of_rows, judged_of, n_unjudged, severity):
    rows = [("q", f"d{at}", -at, None if at < n_unjudged else 0) for at in range(10)]
    [finding] = unjudged(listing_of_rows(rows), judged_of({"q": {"d9": 0}}))
    assert finding.severity == severity


def test_unjudged_documents_below_the_top_ten_are_no_matter(listing_of_rows, judged_of):
    rows = [("q", f"d{at}", -at, None if at > 9 else 0) for at in range(12)]
    assert not unjudged(listing_of_rows(rows), judged_of({"q": {"d0": 1}}))


def test_a_reranker_with_far_fewer_judged_documents_is_outside_the_pool(board):
    findings = board({"A": 0.95, "B": 0.9, "C": 0.5, "D": 0.92})
    assert [name for name, own in findings.items() if own] == ["C"]
    [finding] = findings["C"]
    assert (finding.severity, finding.code, finding.count) == ("warning", "outside-pool", 97)
    assert finding.message.startswith("48% of this reranker's documents in the top 10")
    assert "against 4% to 14% for 3 other rerankers" in finding.message
    assert finding.message.endswith("was probably not in the judged pool.")


@pytest.mark.parametrize(("seed", "outside"), [(0, ["B"]), (12, [])], ids=["3 to 4", "2 to 3"])
def test_a_larger_share_must_exceed_the_median_by_three_standard_errors(board, seed, outside):
    findings = board({"A": 0.9, "B": 0.6}, n_queries=5, seed=seed)
    assert [name for name, own in findings.items() if own] == outside


@pytest.mark.parametrize(
    "shares",
    [
        {"A": 0.95},
        {"A": 0.95, "B": 0.85},
        {"A": 0.6, "B": 0.4, "C": 0.5},
        {"A": 0.1, "B": 0.05, "C": 0.0},
        {"A": 1.0, "B": 1.0},
    ],
    ids=str,
)
def test_similarly_judged_or_single_rerankers_are_inside_the_pool(board, shares):
    assert not any(board(shares).values())


def test_shares_of_few_lists_are_not_compared(board):
    assert not any(board({"A": 1.0, "B": 0.0}, n_queries=4).values())
    assert [own[0].code for own in board({"A": 1.0, "B": 0.3}, n_queries=5, n_judged=30).values() if own]


def test_judgments_from_one_run_are_named_and_no_run_is_outside_the_pool(listing_of_rows, judged_of):
    grades = {f"q{query}": {f"A{place}": 0 for place in range(12)} for query in range(20)}
    rows = {
        name: [(query, f"{name}{place}", -place) for query in grades for place in range(DEPTH)]
        for name in "ABC"
    }
    rows["B"] += [(query, "A3", 1) for query in grades]
    rows["C"] += [("q0", "A3", 1)]
    listings = [
        listing_of_rows([(*row, grades[row[0]].get(row[1])) for row in own], name=name, file=f"{name}.trec")
        for name, own in rows.items()
    ]
    [finding] = [one for one in pool_findings(listings, judged_of(grades)) if one.code != "unjudged"]
    *facts, message = astuple_of(finding)
    assert facts == ["warning", "judged-from-run", None, 20]
    assert message.startswith("0% of this reranker's documents in the top 10")
    assert "against 90% to over 99% for 2 other rerankers" in message
    assert message.endswith("judgments were probably made from this run, or from runs like it.")


def test_judgments_of_what_a_second_run_has_too_are_not_said_to_be_made_from_one(listing_of_rows, judged_of):
    grades = {f"q{query}": {f"d{place}": 0 for place in range(12)} for query in range(9)}
    rows = [
        (query, f"d{place}", place % 7, grades[query].get(f"d{place}"))
        for query in grades
        for place in range(12)
    ]
    far = [(query, f"e{place}", -place, None) for query in grades for place in range(12)] + rows[:1]
    names = [("A", rows), ("B", rows), ("C", far), ("D", far), ("E", far)]
    listings = [listing_of_rows(own, name=name, file=f"{name}.trec") for name, own in names]
    codes = {finding.code for finding in pool_findings(listings, judged_of(grades))}
    assert codes == {"unjudged", "outside-pool"}


def test_judgments_of_a_pool_of_several_runs_were_not_made_from_one(board):
    assert not any(own for own in board({"A": 1.0, "B": 1.0, "C": 0.95}).values())
    findings = board({"A": 1.0, "B": 0.6, "C": 0.5})
    assert {finding.code for own in findings.values() for finding in own} <= {"outside-pool"}


@pytest.mark.skipif(not FOLDER.is_dir(), reason="the real runs are not beside the repository")
def test_real_pools_have_no_outside_runs_until_judged_from_one_run():
    paths = [FOLDER / f"{name}.trec" for name in ("ada2", "bm25", "rankgpt35", "repllama", "spladepp")]
    runs = read_runs(paths, FOLDER / "qrels.txt")
    assert not {"outside-pool", "judged-from-run"} & set(runs.findings["code"])
    queries = runs.tables["spladepp"]["query_id"].to_pandas()
    first = (queries.groupby(queries, observed=True).cumcount() < 10).to_numpy()
    rows, places = runs.pairs("spladepp").match(runs.judged_pairs)
    made_from_splade = runs.judged_by(runs.qrels.take(np.unique(places[first[rows]])))
    findings = made_from_splade.findings.set_index("code")
    assert findings.loc["judged-from-run", "file"] == "spladepp.trec"
    assert "against 42% to 71% for 4 other rerankers" in findings.loc["judged-from-run", "message"]
