import csv
import io
import json

import pytest
from published_tables import printed_table, small_board

import metrics
from metrics.studies.audit.conventions import Convention

RUN = "".join(f"q{q} Q0 d{d} {d} {[9, 5, 5, 5, 1][d]} t\n" for q in range(3) for d in range(5))
QRELS = "q0 0 d1 1\nq1 0 d3 1\nq2 0 d2 1\n"
BY_ID = "measure,BM25+,other\nRR,0.3611,\n"
"""As trec_eval breaks the ties: ranks 4, 2 and 3."""


@pytest.fixture
def inputs(write):
    return [write("bm25+.trec", RUN), "--qrels", write("qrels.txt", QRELS)]


def test_the_convention_is_named_and_the_figures_are_printed(call, inputs, write):
    published = write("t.csv", BY_ID)
    code, out, err = call("audit", *inputs, "--published", published)
    assert code == 0
    assert "1 of 1 published reranker matched." in err
    assert "'BM25+' is bm25+." in err
    assert "1 of 1 figure is reproduced, to the last digit" in err
    assert "trec_eval: id, descending" in err
    head, row = out.splitlines()
    assert head.split() == ["reranker", "measure", "text", "computed", "difference", "verdict"]
    assert row.split() == ["BM25+", "RR", "0.3611", "0.3611", "to", "the", "digit"]


def test_a_figure_that_does_not_come_out_exits_with_1_and_says_by_how_much(call, inputs, write):
    code, out, err = call("audit", *inputs, "--published", write("t.csv", BY_ID.replace("0.3611", "0.9")))
    assert code == 1
    assert "No tested convention reproduces any figure of the table." in err
    assert "is not reproduced" in out
    assert "cannot show" not in err


def test_what_does_not_come_out_is_first(call, inputs, tmp_path):
    (tmp_path / "evals").mkdir()
    right = ["recip_rank\tq0\t0.2500", "recip_rank\tq1\t0.5000", "recip_rank\tall\t0.3611", "map\tall\t0.3611"]
    (tmp_path / "evals" / "bm25+.trec.eval").write_text("\n".join([*right, "P_5\tall\t0.9", "P_5\tq1\t0.8"]))
    code, out, _ = call("audit", *inputs, "--published", tmp_path / "evals")
    assert code == 1
    _, *rows = [line.split() for line in out.splitlines()]
    assert [row[1:3] for row in rows[:2]] == [["P_5", "all"], ["P_5", "q1"]]
    assert [row[-3:] for row in rows[2:]] == [["to", "the", "digit"]] * 4
    _, out, _ = call("audit", *inputs, "--published", tmp_path / "evals", "--format", "csv")
    assert len(list(csv.DictReader(io.StringIO(out)))) == 6


def test_names_of_a_table_may_be_the_tags_of_the_runs(call, write):
    runs = [write(f"run{k}.trec", RUN.replace(" t\n", f" {tag}\n")) for k, tag in enumerate(["BM25", "QL"])]
    published = write("t.csv", "model,MRR\nbm25,0.3611\nQL,0.3611\n")
    code, _, err = call("audit", *runs, "--qrels", write("qrels.txt", QRELS), "--published", published)
    assert code == 0
    assert "'bm25' is run0, 'QL' is run1." in err


def test_a_tag_of_several_runs_is_nobodys_name(call, inputs, write):
    published = write("t.csv", "model,MRR\nt,0.3611\nbm25+,0.3611\n")
    _, _, err = call("audit", *inputs, write("other.trec", RUN), "--published", published)
    assert "Not matched: reranker 't'." in err


def test_outputs_of_trec_eval_are_taken_from_a_folder_or_a_pattern(call, inputs, tmp_path):
    (tmp_path / "evals").mkdir()
    output = "runid\tall\tx\nmap\tall\t0.3611\nrecip_rank\tq0\t0.2500\nP_5\tall\t0.2000\ngm_map\tall\t0.3000\n"
    (tmp_path / "evals" / "input.bm25+.eval").write_text(output)
    outputs = []
    for place in ("evals", "evals/*.eval"):
        code, out, err = call("audit", *inputs, "--published", tmp_path / place, "--format", "csv")
        assert code == 0
        assert "'x' is bm25+." in err
        assert "Not matched: measure 'gm_map'." in err
        outputs.append(list(csv.DictReader(io.StringIO(out))))
    assert outputs[0] == outputs[1]
    assert [row["query_id"] for row in outputs[0]] == ["", "q0", ""]


def test_every_convention_that_was_tried_is_a_row_of_json(call, inputs, write):
    published = write("t.csv", BY_ID)
    _, out, _ = call("audit", *inputs, "-p", published, "--show", "conventions", "--format", "json")
    rows = json.loads(out)
    assert {row["treatment"] for row in rows} == {ties.name for ties in metrics.TREATMENTS} - {"std"}
    assert rows[0]["to_the_digit"] == 1
    _, out, err = call("audit", *inputs, "-p", published, "--show", "conventions")
    assert "These files cannot show in which number format scores were compared" in err
    assert out.splitlines()[0].split() == [
        *("label", "to_the_digit", "by_rounding", "does_not_come_out", "largest_difference")
    ]


def test_names_are_matched_by_hand_and_shown(call, inputs, write):
    published = write("t.csv", "run,Quality (a=b),AP\nOurs,0.3611,0.9\n")
    options = ["--names", "Ours=bm25+", "--names", "Quality (a=b)=RR", "--names", "AP="]
    code, out, _ = call("audit", *inputs, "-p", published, *options, "--show", "names", "--format", "csv")
    assert code == 0
    assert list(csv.reader(io.StringIO(out)))[1:] == [
        ["reranker", "Ours", "bm25+", "by hand", ""],
        ["measure", "Quality (a=b)", "RR", "by hand", ""],
        ["measure", "AP", "", "", ""],
    ]


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ([], "Name the published figures"),
        (["-p", "nowhere.csv"], "--published nowhere.csv: the file does not exist."),
        (["-p", "{}", "--names", "x"], "--names x: write PUBLISHED=NAME"),
        (["-p", "{}", "--names", "x=y"], "'x' is not in the published table"),
        (["-p", "{}", "-o", "{}"], "which this command reads. Name another file."),
        (["-p", "{}", "--relevant-from", "0"], "relevant_from=0"),
    ],
)
def test_wrong_options_exit_with_2_and_say_what_to_write(call, inputs, write, options, problem):
    published = write("t.csv", BY_ID)
    code, out, err = call("audit", *inputs, *(option.format(published) for option in options))
    assert (code, out) == (2, "")
    assert problem in err


def test_a_table_of_several_runs_is_audited_as_it_was_made(call, tmp_path):
    frame, qrels = small_board()
    frame.to_csv(tmp_path / "runs.csv", index=False)
    qrels.to_csv(tmp_path / "qrels.csv", index=False)
    runs = metrics.read_runs(tmp_path / "runs.csv", tmp_path / "qrels.csv")
    (tmp_path / "t.csv").write_text(printed_table(runs, Convention("input", relevant_from=2)))
    code, _, err = call(
        "audit", tmp_path / "runs.csv", "--qrels", tmp_path / "qrels.csv", "-p", tmp_path / "t.csv"
    )
    assert code == 0
    convention = "file order; relevant from grade 2; nDCG gain = grade"
    assert f"The table follows this convention: {convention}. 18 of 18 figures" in err
    assert "RR: Of three pairs with different published means, " in err
    inputs = (tmp_path / "runs.csv", "--qrels", tmp_path / "qrels.csv", "-p", tmp_path / "t.csv")
    options = ("--relevant-from", "2", "--show", "orders", "--order-by", "AP", "--format", "csv")
    code, out, err = call("audit", *inputs, *options)
    assert [row["measure"] for row in csv.DictReader(io.StringIO(out))] == ["AP"] * 3
    code, _, err = call("audit", *inputs, "--order-by", "nDCG@5")
    assert code == 2
    assert "--order-by nDCG@5: the table has no ranking by this measure. Rankings: 'RR', 'RR@10', 'AP'" in err


@pytest.mark.parametrize(
    "choice", [[], ["--order-by", "RR"], ["--order-by", "MRR"], ["--order-by", "recip_rank"]]
)
def test_the_order_of_rr_comes_first_and_is_chosen_by_our_name_or_that_of_the_table(
    call, inputs, write, choice
):
    other = write("other.trec", RUN.replace(" 9 t", " 0 t"))
    published = write("t.csv", "run,map,recip_rank\nbm25+,0.3611,0.3\nother,0.2,0.2\n")
    _, _, err = call("audit", other, *inputs, "--published", published, *choice)
    assert "recip_rank: The only pair with different published means" in err
    code, _, err = call("audit", other, *inputs, "--published", published, "--order-by", "nDCG@10")
    assert code == 2
    assert "the table has no ranking by this measure" in err
