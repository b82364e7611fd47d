"""Every p, interval, rank interval and verdict of a board is one set of figures, wherever it is read."""

import io

import numpy as np
import pandas as pd
import pytest
from boards import board as uploaded
from repository import REAL_RUNS

from dashboard.cache import PROMPTS_LABEL, SAMPLES, SIMULATED_LABEL, ShownBoard, compared_pairs, pair_verdicts
from dashboard.choices import Testing as Choice
from dashboard.library.boards import open_files
from dashboard.views.leaderboard import swapped_orders, verdict_prose
from metrics.evaluation import ScoringOptions, score_runs
from metrics.report import report
from metrics.studies.audit.audit import audit
from metrics.studies.audit.audited_order import audited_order
from metrics.studies.audit.published import read_published
from metrics.studies.pairs import compare, find_pairs, rank_intervals, significant_signs
from metrics.studies.prose import plain

MEASURE, TRADITIONAL = "RR", "input"
TIES = ["expected", TRADITIONAL, "optimistic", "pessimistic", "std"]
FIGURES = ["n", "n_differ", "difference", "low", "high", "p", "p_adjusted"]
SAMPLE_FILES = {
    "docstring search": SAMPLES["Sample: docstring search"],
    "simulated rerankers": SAMPLES[SIMULATED_LABEL],
    "five prompts": SAMPLES[PROMPTS_LABEL],
}
REAL = {
    "three runs": ("bm25", "rankgpt35", "ada2"),
    "five runs": ("ada2", "bm25", "rankgpt35", "repllama", "spladepp"),
}
"""Runs of TREC Deep Learning 2019."""


def table(lists):
    """A long table of (reranker, query) → scores of documents in file order, the relevant one among them."""
    lines = ["reranker,query_id,doc_id,score,relevance"]
    for (name, query), (scores, relevant) in lists.items():
        lines += [f"{name},q{query},d{at},{score},{int(at == relevant)}" for at, score in enumerate(scores)]
    return "\n".join(lines) + "\n"


def random_lists(seed, rerankers, queries, *, skill=0.0, levels=4, lacking=0.0):
    """Lists of five documents whose scores tie; a reranker of more skill scores the relevant one higher."""
    random, lists = np.random.default_rng(seed), {}
    for query in range(queries):
        relevant = int(random.integers(5))
        for number in range(rerankers):
            if random.random() < lacking:
                continue
            scores = random.integers(0, levels, 5)
            scores[relevant] += random.random() < skill * number / rerankers
            lists[f"r{number:02}", query] = scores.tolist(), relevant
    return lists


def ranked(ranks):
    """Lists without ties whose relevant document is at a rank, a column a reranker; rank 0: it is not there."""
    return {
        (f"r{number:02}", query): ([5, 4, 3, 2, 1], rank - 1)
        for query, row in enumerate(ranks)
        for number, rank in enumerate(row)
    }


def rare_hits(queries=60, rerankers=5):
    return ranked((np.random.default_rng(3).random((queries, rerankers)) < 0.03).astype(int))


def copies(lists, name, of):
    return lists | {(name, query): entry for (other, query), entry in lists.items() if other == of}


MADE = {
    "two rerankers": random_lists(0, 2, 30, skill=0.8),
    "three rerankers, eight queries": random_lists(1, 3, 8, skill=1),
    "twelve rerankers of rising skill": random_lists(2, 12, 60, skill=1, levels=3),
    "identical runs": copies(random_lists(3, 3, 20, skill=1), "copy", "r01"),
    "all runs identical": copies(random_lists(3, 1, 20), "copy", "r00"),
    "one query": random_lists(4, 4, 1),
    "two queries": random_lists(5, 4, 2),
    "six queries that agree": ranked([[1, 2, 3, 4]] * 6),
    "two hundred rerankers": random_lists(6, 200, 12, skill=1),
    "unequal queries": random_lists(7, 5, 40, skill=1, lacking=0.3),
    "no query in common": {
        entry: value
        for entry, value in random_lists(8, 2, 24).items()
        if (entry[0] == "r00") == (entry[1] < 12)
    },
    "rare hits": rare_hits(),
    "all tied": random_lists(9, 4, 20, levels=1),
    "no ties": ranked(np.random.default_rng(1).integers(1, 5, (30, 4))),
    "nothing relevant": ranked(np.zeros((10, 3), dtype=int)),
    "one reranker": random_lists(10, 1, 20),
    "constant differences": ranked([[1, 2, 2]] * 30),
}


def one_way(rows, columns=FIGURES):
    """Figures of each pair, as differences of the name that sorts last minus the other."""
    names = rows[["reranker", "baseline"]].to_numpy()
    ours, theirs = names.max(axis=1), names.min(axis=1)
    found = find_pairs(rows, ours, theirs).set_index(["reranker", "baseline"]).sort_index()
    return found[columns] + 0.0


def same(rows, expected, columns=FIGURES):
    rows = one_way(rows, columns)
    pd.testing.assert_frame_equal(rows, expected.loc[rows.index, columns], check_exact=True)


def check(call, paths, shown, arguments, scoring):
    """Assert that Leaderboard, Compare, Audit, report and `compare` have the figures of the table of pairs."""
    runs = shown.runs
    view = ShownBoard(shown, runs.rerankers, scoring, score_runs(runs, MEASURE, TIES, scoring), ())
    evaluation, baseline = view.evaluation, runs.rerankers[-1]
    tied, before = (compare(evaluation, MEASURE, ties) for ties in ("expected", TRADITIONAL))
    is_tested = tied["p"].notna().to_numpy()
    if len(tied):
        expected = {"expected": one_way(tied), TRADITIONAL: one_way(before)}
    ranks = rank_intervals(evaluation, MEASURE).set_index("reranker")[["lowest", "highest"]]
    n_significant = int(np.count_nonzero(significant_signs(tied)))

    finished = report(
        runs,
        measures=[MEASURE],
        traditional=TRADITIONAL,
        baseline=baseline,
        sections=["summary"],
        scoring=scoring,
    )
    studies = finished.studies
    leaderboard_pairs = pair_verdicts(view, MEASURE, TRADITIONAL)
    on_compare = compared_pairs(view, MEASURE, TRADITIONAL, baseline, Choice())
    for verdicts in (leaderboard_pairs, studies.pairs, on_compare, studies.verdicts):
        for rows, ties in ((verdicts.tied, "expected"), (verdicts.traditional, TRADITIONAL)):
            if len(rows):
                same(rows, expected[ties])
    assert np.count_nonzero(significant_signs(leaderboard_pairs.tied)) == n_significant
    assert leaderboard_pairs.changed.tolist() == studies.pairs.changed.tolist()
    assert leaderboard_pairs.method == studies.pairs.method == on_compare.method == studies.verdicts.method

    swaps = swapped_orders(view, MEASURE, TRADITIONAL)
    pd.testing.assert_frame_equal(swaps, studies.swaps)
    if len(swaps):
        swapped = find_pairs(tied, swaps["a"], swaps["b"])
        assert swaps[["p", "p_adjusted"]].equals(swapped[["p", "p_adjusted"]])
        is_shown = significant_signs(swapped) < 0
        assert (swaps["verdict"] == "swaps, significant").tolist() == is_shown.tolist()
    assert plain(verdict_prose(view, MEASURE, TRADITIONAL)) == plain(finished.conclusion)
    reported = studies.leaderboard.loc[ranks.index, ["rank_low", "rank_high"]]
    assert reported.to_numpy().tolist() == ranks.to_numpy().tolist()

    code, out, said = call(
        "compare", *paths, *arguments, "-m", MEASURE, "--traditional", TRADITIONAL, "--format", "csv"
    )
    assert code == (0 if len(runs.rerankers) > 1 else 2)
    if len(tied):
        assert f"{leaderboard_pairs.method}." in said
        names = {"baseline": str, "reranker": str}
        printed = pd.read_csv(io.StringIO(out), dtype=names)
        for ties, rows in printed.groupby("ties"):
            tested = rows[rows["p"].notna()]
            if len(tested):
                same(tested, expected[ties])
            assert len(tested) == is_tested.sum()
            assert (rows["p_adjusted"] < 0.05).sum() == (expected[ties]["p_adjusted"] < 0.05).sum()
        changed = printed[printed["ties"] == TRADITIONAL]["changed"]
        assert changed.sum() == leaderboard_pairs.changed.sum()
    return runs, evaluation, tied, ranks


def check_audit(runs, evaluation, tied, ranks):
    """Assert that the audit of a table of tied means has the figures of the table of pairs."""
    means = evaluation.means(MEASURE)[TRADITIONAL].dropna()
    text = "reranker,MRR\n" + "".join(f"{name},{mean!r}\n" for name, mean in means.items())
    result = audit(runs, read_published({"t.csv": text.encode()}))
    order = audited_order(result, runs, "MRR")
    if len(order.pairs):
        found = find_pairs(tied, order.pairs["a"], order.pairs["b"])
        assert order.pairs[["p", "p_adjusted"]].equals(found[["p", "p_adjusted"]])
    audited = order.places.loc[ranks.index, ["rank_low", "rank_high"]]
    assert audited.to_numpy().tolist() == ranks.to_numpy().tolist()


@pytest.mark.parametrize("name", MADE)
def test_made_boards_have_one_set_of_figures(call, write, name):
    text = table(MADE[name])
    check_audit(*check(call, [write("table.csv", text)], uploaded(table_csv=text), [], ScoringOptions()))


@pytest.mark.parametrize("missing", ["zero", "skip"])
def test_unequal_queries_with_judgments_have_one_set_of_figures(call, write, missing):
    files = {f"r{number}.trec": "" for number in range(4)}
    random = np.random.default_rng(11)
    for name in files:
        for query in range(30):
            if random.random() > 0.2:
                files[name] += "".join(
                    f"q{query} Q0 d{place} 1 {random.integers(3)} tag\n" for place in range(5)
                )
    files["qrels.txt"] = "".join(f"q{query} 0 d{query % 5} 1\n" for query in range(30))
    paths = [write(name, text) for name, text in files.items()]
    board = uploaded(**{name.replace(".", "_"): text for name, text in files.items()})
    arguments = ["--qrels", paths.pop(), "--missing", missing]
    check(call, paths, board, arguments, ScoringOptions(missing=missing))


@pytest.mark.parametrize("name", SAMPLE_FILES)
def test_samples_have_one_set_of_figures(call, name):
    path = SAMPLE_FILES[name]
    check_audit(*check(call, [path], open_files([str(path)], None), [], ScoringOptions()))


@pytest.mark.parametrize("name", REAL)
def test_real_runs_have_one_set_of_figures(call, name):
    if not REAL_RUNS.is_dir():
        pytest.skip("the real runs are not beside the repository")
    folder = REAL_RUNS / "trec-dl-2019"
    paths, qrels = [folder / f"{run}.trec" for run in REAL[name]], folder / "qrels.txt"
    board = open_files([str(path) for path in paths], str(qrels))
    check_audit(*check(call, paths, board, ["--qrels", qrels], ScoringOptions()))


@pytest.mark.parametrize("testing", [{}, {"test": "t"}])
def test_a_subset_is_corrected_over_the_board_on_screen_and_in_the_report(testing):
    board = uploaded(table_csv=table(MADE["twelve rerankers of rising skill"]))
    names = ["r00", "r05", "r11"]
    every = score_runs(board.runs, MEASURE, TIES, ScoringOptions())
    expected = one_way(compare(every, MEASURE, **testing))
    view = ShownBoard(board, names, ScoringOptions(), every.only(names), ())
    shown = compared_pairs(view, MEASURE, TRADITIONAL, "r05", Choice(**testing))
    options = {"measures": [MEASURE], "rerankers": names, "baseline": "r05", "sections": ["summary"]}
    studies = report(board.runs, **options, **testing).studies
    reported = studies.verdicts
    for verdicts in (shown, reported):
        assert len(verdicts.tied) == 2
        same(verdicts.tied, expected)
        assert "corrected for 66 pairs" in verdicts.method
    rows = studies.experiment.query("measure == 'RR' and ties == 'expected' and reranker != 'r05'")
    same(rows.assign(baseline="r05"), expected, ["difference", "low", "high", "p", "p_adjusted"])


def test_an_audit_of_some_rerankers_is_corrected_over_the_board():
    runs = uploaded(table_csv=table(MADE["twelve rerankers of rising skill"])).runs
    every = score_runs(runs, MEASURE, TIES, ScoringOptions())
    published = "reranker,MRR\nr00,0.5\nr05,0.6\nr11,0.7\n"
    order = audited_order(audit(runs, read_published({"t.csv": published.encode()})), runs, "MRR")
    found = find_pairs(compare(every, MEASURE), order.pairs["a"], order.pairs["b"])
    assert len(found) == 3
    assert order.pairs[["p", "p_adjusted"]].equals(found[["p", "p_adjusted"]])
    assert order.places[["rank_low", "rank_high"]].max().max() == 3
