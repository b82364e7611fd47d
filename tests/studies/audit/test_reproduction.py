"""When a computed figure is reproduced as it was printed."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import pytrec_eval
from published_tables import MEASURES, printed_table, small_board
from repository import REAL_RUNS

import metrics
from metrics.studies.audit.audit import audit, convention_finding, uncertainty_notes
from metrics.studies.audit.conventions import Convention
from metrics.studies.audit.reproduction import VERDICTS, PrintedDigits
from metrics.studies.prose import plain


def verdicts(printed, computed, decimals=4, scale=1):
    n = len(printed)
    digits = PrintedDigits(np.array(printed), np.full(n, decimals), np.full(n, scale))
    return [VERDICTS[place] for place in digits.verdicts(np.array(computed))]


DIGIT, ROUNDED, OFF = VERDICTS


def test_to_the_digit_is_what_c_prints():
    values = np.random.default_rng(1).random(2000)
    values[:100] = np.arange(100) / 32
    printed = [float(f"{value:6.4f}") for value in values]
    assert set(verdicts(printed, values)) == {DIGIT}


@pytest.mark.parametrize(
    ("printed", "computed", "verdict"),
    [
        (0.0313, 0.03125, ROUNDED),  # half up, where C goes to the even digit
        (0.0312, 0.03125, DIGIT),
        (0.2835, 0.28344999999, ROUNDED),  # a sum in another order
        (0.2835, 0.28349, DIGIT),
        (0.2835, 0.28344, OFF),
        (0.2835, 0.2836, OFF),
        (0.2835, np.nan, OFF),
        (0.0, 0.0, DIGIT),
    ],
)
def test_a_figure_is_off_by_rounding_only_on_the_half_or_by_the_error_of_floats(printed, computed, verdict):
    assert verdicts([0.1235, printed], [0.12349, computed]) == [DIGIT, verdict]


def test_a_value_whose_last_bit_depends_on_the_order_of_operations_prints_as_either():
    assert f"{7 / 160:.4f}" != f"{7 * (1 / 160):.4f}"
    for computed in (7 / 160, 7 * (1 / 160)):
        assert verdicts([0.0437, 0.0438, 0.0439], [computed] * 3) == [DIGIT, DIGIT, OFF]


def test_percents_are_compared_as_printed():
    assert verdicts([0.284, 0.285], [0.28351, 0.2844], 1, 100) == [DIGIT, OFF]


def test_the_shortest_text_of_a_float_is_compared_as_the_float():
    value = 0.1 + 0.2
    assert verdicts([value], [value], 17) == [DIGIT]
    assert verdicts([value], [0.3], 17) == [ROUNDED]
    assert verdicts([value], [0.30001], 17) == [OFF]


FOLDER = REAL_RUNS / "trec-dl-2019"
needs_real_runs = pytest.mark.skipif(not FOLDER.exists(), reason="needs the shared TREC runs")


@pytest.fixture(scope="module")
def board():
    frame, qrels = small_board()
    return metrics.read_runs(frame, qrels)


def audited(runs, text, **options):
    """The audit of a CSV; relevant from grade 2, unless said otherwise: that saves two thirds of the time."""
    options = {"relevant_from": 2} | options
    return audit(runs, {"table.csv": text.encode()}, **options)


def named(runs, convention, **options):
    """Whether the audit of a table made under a convention names it, and no other that differs here."""
    reproduction = audited(
        runs, printed_table(runs, convention, form="{:.6f}"), every_rule=True, **options
    ).reproduction
    return (
        convention in reproduction.fitting
        and reproduction.n_fitting_alike == 1
        and reproduction.conventions["to_the_digit"].iloc[0] == reproduction.n_figures
    )


FIELDS = {
    "treatment": ["docid_desc", "docid_asc", "input", "expected", "pessimistic", "optimistic"],
    "precision": ["float64", "float32", "float16", "bfloat16", *(f"decimals:{n}" for n in (6, 4, 3, 2))],
    "relevant_from": [1, 2, 3],
    "missing": ["zero", "skip"],
    "empty": ["zero", "skip"],
    "gain": ["linear", "exponential"],
    "unjudged": ["nonrelevant", "leave_out"],
}
USUAL = Convention(relevant_from=2, treatment="input")


@pytest.mark.parametrize("number", range(8))
def test_a_table_names_the_convention_it_was_made_by(board, number):
    """Eight conventions among which every value of every field is."""
    values = [choices[(number + shift) % len(choices)] for shift, choices in enumerate(FIELDS.values())]
    convention = Convention(*values)
    assert named(board, convention, relevant_from=convention.relevant_from)


def trec_eval_output(run, qrels, level, name):
    """Return what trec_eval -q prints: values of pytrec_eval, formatted as its C code does."""
    measures = {"map", "Rprec", "recip_rank", "ndcg_cut", "P", "recall", "success", "num_q"}
    results = pytrec_eval.RelevanceEvaluator(qrels, measures, relevance_level=level).evaluate(run)
    names = list(next(iter(results.values())))
    lines = [f"{m:<22}\t{q}\t{results[q][m]:6.4f}" for q in sorted(results) for m in names]
    lines.append(f"{'runid':<22}\tall\t{name}")
    for m in names:
        mean = pytrec_eval.compute_aggregated_measure(m, [values[m] for values in results.values()])
        lines.append(f"{m:<22}\tall\t{mean:6.4f}")
    return "\n".join(lines) + "\n"


def trec_lists(path, value):
    lists = {}
    for fields in map(str.split, path.read_text().splitlines()):
        lists.setdefault(fields[0], {})[fields[2]] = value(fields)
    return lists


@needs_real_runs
@pytest.mark.parametrize("level", [2, *(pytest.param(level, marks=pytest.mark.slow) for level in (1, 3))])
def test_all_that_trec_eval_prints_of_real_runs_comes_out_to_the_digit(level):
    qrels = trec_lists(FOLDER / "qrels.txt", lambda fields: int(fields[3]))
    names = ["rankgpt35", "repllama"]
    published = {
        f"{name}.eval": trec_eval_output(
            trec_lists(FOLDER / f"{name}.trec", lambda fields: float(fields[4])), qrels, level, f"{name} (x+y)"
        ).encode()
        for name in names
    }
    runs = metrics.read_runs([FOLDER / f"{name}.trec" for name in names], FOLDER / "qrels.txt")
    result = audit(runs, published)
    assert result.reproduction.best == Convention("docid_desc", relevant_from=level)
    assert (result.reproduction.figures()["verdict"] == "to the digit").all()
    assert result.reproduction.n_figures == 2 * 44 * 33
    assert {each.treatment for each in result.reproduction.fitting} == {"docid_desc"}


@needs_real_runs
def test_conventions_that_differ_past_the_printed_digits_alone_are_all_named():
    folder = REAL_RUNS / "robust-2003"
    runs = metrics.read_runs({"rutcor": folder / "rutcor03100.trec.gz"}, folder / "qrels.txt.gz")
    result = audited(runs, printed_table(runs, Convention("input"), ("RR", "AP", "nDCG@10")), relevant_from=1)
    assert {each.treatment for each in result.reproduction.fitting} == {"input", "docid_asc"}
    sentence = plain(convention_finding(result.reproduction))
    assert "3 of 3 figures are reproduced, all to the last digit, under 2 conventions" in sentence
    assert "which more printed digits would distinguish" in sentence


NO_TIES = "\n".join(f"q{q} Q0 d{d} {d} {9 - d} t" for q in range(3) for d in range(5))


def test_where_nothing_ties_no_order_of_ties_is_claimed(write):
    runs = metrics.read_runs(
        {"a": write("a.trec", NO_TIES)}, write("q.txt", "q0 0 d0 1\nq1 0 d3 1\nq2 0 d2 1\n")
    )
    result = audited(runs, "reranker,RR,AP\na,0.5278,0.5278\n", relevant_from=1, every_rule=True)
    assert len(result.reproduction.fitting) == 6
    assert result.reproduction.n_fitting_alike == 1
    sentence = plain(convention_finding(result.reproduction))
    assert "follows this convention" not in sentence
    assert "2 of 2 figures are reproduced, all to the last digit, under 6 conventions" in sentence
    assert "which give the same figures on these files" in sentence
    assert any("every run has all judged queries" in note for note in uncertainty_notes(result.reproduction))


def test_a_figure_that_no_convention_gives_is_named_with_its_run_and_measure(board):
    text = printed_table(board, USUAL).splitlines()
    cells = text[2].split(",")
    text[2] = ",".join([*cells[:3], "0.1111", *cells[4:]])
    result = audited(board, "\n".join(text))
    failed = result.reproduction.figures().query("verdict == 'is not reproduced'")
    assert failed[["reranker", "measure", "text"]].to_numpy().tolist() == [["b", "AP", "0.1111"]]
    sentence = plain(convention_finding(result.reproduction))
    assert f"{3 * len(MEASURES) - 1} of {3 * len(MEASURES)} figures are reproduced" in sentence
    assert "Figures that differ, by reranker: b (1); by measure: AP (1)." in sentence


def test_figures_of_single_queries_leave_open_how_queries_count(board):
    values = metrics.evaluate(board, ["AP"], ["input"], relevant_from=2).scores["AP", "input"]
    rows = [f"{name},{query},{value:.6f}" for (name, query), value in values.items()]
    sentence = str(audited(board, "\n".join(["reranker,query,AP", *rows]), every_rule=True))
    assert (
        "The table follows this convention: file order; relevant from grade 2. 120 of 120 figures" in sentence
    )
    assert "The figures do not show how queries without rows count, nor how queries without rel" in sentence


def test_measures_of_two_conventions_are_told_apart(board):
    conventions = [replace(USUAL, treatment=ties) for ties in ("input", "docid_asc")]
    by_file, by_id = (printed_table(board, convention, ("RR",)) for convention in conventions)
    rows = [f"{line},{other.split(',')[1]}" for line, other in zip(by_file.split(), by_id.split(), strict=True)]
    result = audited(board, "\n".join(["reranker,RR,recip_rank", *rows[1:]]))
    sentence = plain(convention_finding(result.reproduction))
    assert "Another convention reproduces all figures of RR (file order; relevant from grade 2)" in sentence


def test_an_audits_evaluation_uses_the_gain_of_the_convention(board):
    result = audited(board, printed_table(board, replace(USUAL, gain="exponential")))
    assert result.measure("nDCG@10") == "nDCG@10"
    assert result.evaluation.ties == ("input", "expected", "optimistic", "pessimistic")
    linear = audited(board, printed_table(board, USUAL))
    assert linear.measure("nDCG@10") == "nDCG-linear@10"
    assert linear.order("RR") == sorted("abc", key=lambda name: -linear.published.means("RR")[name])


def test_a_query_that_nobody_judged_does_not_come_out(board):
    result = audited(board, "reranker,query,RR\na,other,0.5\n")
    assert result.reproduction.figures()["verdict"].tolist() == ["is not reproduced"]
    assert "by reranker: a (1); by measure: RR (1)." in str(result)
    assert "1 figure is for a query without judgments." in str(result)


NOISE = np.random.default_rng(1).uniform(-0.06, 0.06, (15, 3, 3))


@pytest.mark.parametrize(("digits", "n_rerankers", "n_measures"), [(3, 1, 1), (1, 3, 3)])
def test_of_tables_that_none_made_none_is_said_to_be_made(board, digits, n_rerankers, n_measures):
    """Figures near to true ones, with so few digits that some convention gives them."""
    measures = ["nDCG@10", "RR", "AP"][:n_measures]
    means = metrics.evaluate(board, measures, ["expected"]).scores.groupby("reranker", sort=False).mean()
    come_out = 0
    for noise in NOISE[[3, 14]]:
        values = means.to_numpy()[:n_rerankers] + noise[:n_rerankers, :n_measures]
        rows = [",".join([n, *(f"{v:.{digits}f}" for v in row)]) for n, row in zip("abc", values, strict=False)]
        sentence = str(audited(board, "\n".join([",".join(["run", *measures]), *rows]), relevant_from=None))
        assert "follows this convention" not in sentence
        come_out += "this match may be due to chance." in sentence
        come_out += "which more printed digits would distinguish" in sentence
    assert come_out


def test_what_fits_by_rounding_is_not_dropped_beside_what_fits_to_the_digit():
    """RR@10 is 1/16 by the file, 0.063 half up; the mean of every order prints so to the digit."""
    rows, judged = [], []
    for query in range(16):
        scores = [*range(100, 91, -1), *[50] * 12, *range(-11, -15, -1)]
        rows += [("a", f"q{query}", f"d{place:02}", score) for place, score in enumerate(scores)]
        judged.append((f"q{query}", {0: "d00", 1: "d15"}.get(query, "other"), 1))
    runs = metrics.read_runs(
        pd.DataFrame(rows, columns=["reranker", "query_id", "doc_id", "score"]),
        pd.DataFrame(judged, columns=["query_id", "doc_id", "relevance"]),
    )
    result = audited(runs, "reranker,RR@10\na,0.063\n", relevant_from=1)
    assert {"expected", "input"} <= {each.treatment for each in result.reproduction.fitting}
    assert str(result).startswith("1 of 1 figure is reproduced, up to 1 by rounding, under")
