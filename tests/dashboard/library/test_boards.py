"""Boards: what keeps their names, and rerankers as they are shown."""

from dataclasses import replace

import pytest
from boards import COARSE, EXTREMES, QRELS, STRICT, board

from dashboard.boards import with_names_of
from dashboard.library.boards import BoardSpec, default_name, keep_arrangement, make_board, open_files
from dashboard.views.data.upload import board_finding
from metrics.errors import TieScopeError
from metrics.runs import File
from metrics.studies.prose import plain

TIED = COARSE.replace(" tag", " other")


def joined(before, **files):
    """The files of a spec and others, nothing renamed."""
    new_spec = BoardSpec.of([File(name.replace("_", "."), text.encode()) for name, text in files.items()])
    spec = before.with_files(new_spec)
    return make_board(spec, [entry.read() for entry in spec.entries])


@pytest.fixture
def arranged():
    """A board whose second run comes first under another name, and whose third is left out."""
    original = board(a_trec=STRICT, b_trec=COARSE, c_trec=COARSE, qrels_txt=QRELS)
    return replace(original.spec, names=(("b", "the second"), ("a", "a")))


def test_names_order_and_what_is_left_out_stay_when_a_run_joins(arranged):
    new_board = keep_arrangement(joined(arranged, new_trec=STRICT), arranged)
    assert new_board.runs.rerankers == ["the second", "a", "new"]


def test_a_file_that_takes_anothers_place_keeps_its_name_on_the_board(arranged):
    new_board = keep_arrangement(joined(arranged, b_trec=TIED), arranged)
    assert new_board.runs.rerankers == ["the second", "a"]


def test_a_new_run_of_a_name_that_was_given_to_another_is_refused():
    original = board(a_trec=STRICT, b_trec=COARSE, qrels_txt=QRELS)
    before = replace(original.spec, names=(("a", "new"), ("b", "b")))
    with pytest.raises(TieScopeError, match="needs a unique name"):
        keep_arrangement(joined(before, new_trec=TIED), before)


def test_queries_that_no_two_runs_share_are_all_counted():
    def table(name, first, last):
        rows = [f"{name},q{query},d,1,1\n" for query in range(first, last)]
        return "model,query_id,doc_id,score,label\n" + "".join(rows)

    two_runs = board(a_csv=table("a", 0, 60), b_csv=table("b", 45, 105))
    assert two_runs.label.startswith("a vs b · ")
    assert plain(board_finding(two_runs)).startswith("2 runs for 105 queries."), "once, not as a name too"
    named = replace(two_runs, label="mine · 1a2b")
    assert plain(board_finding(named)).startswith("mine: 2 runs for 105 queries.")


def test_a_board_without_a_judged_list_is_not_said_to_have_no_ties():
    text = plain(board_finding(EXTREMES["no query in common"]()))
    assert text.startswith("1 run and judgments for 1 query. No run has documents to score for a judged query.")


def test_another_column_leaves_the_choice_about_missing_scores():
    spec = BoardSpec.of([File("llm.csv", b"")]).with_rule(0, "missing_score", "drop")
    columns = dict(spec.with_columns(0, {"doc_id": "passage"}).entries[0].columns)
    assert columns == {"doc_id": "passage", "missing_score": "drop"}


def test_another_choice_about_missing_scores_keeps_names_order_and_what_is_left_out(arranged):
    spec = arranged.with_rule(0, "missing_score", "drop")
    new_board = with_names_of(arranged, make_board(spec, [entry.read() for entry in spec.entries]))
    assert new_board.runs.rerankers == ["the second", "a"]


def test_files_of_grades_and_labels_on_the_command_line_are_read_as_in_a_command(tmp_path):
    rows = [("q", "a", 3, 1), ("q", "b", 3, 0)]
    files = []
    for name, places in {"old": (0, 1, 2), "new": (0, 1, 2), "labels": (0, 1, 3)}.items():
        header = ("query", "passage", "grade", "relevant")
        lines = [",".join(str(row[place]) for place in places) for row in [header, *rows]]
        files.append(tmp_path / f"{name}.csv")
        files[-1].write_text("\n".join(lines))
    for runs, labels in ((files, None), (files[:2], files[2]), (files, files[2])):
        opened = open_files(runs, labels).runs
        assert (opened.rerankers, len(opened.qrels)) == (["old", "new"], 2)
    opened = open_files(files[:2], None).runs
    assert (opened.rerankers, opened.is_judged) == (["old", "new"], False)


@pytest.mark.parametrize(
    ("names", "default"),
    [
        (["llm"], "llm"),
        (["new_grades", "old_grades"], "new vs old"),
        (["bm25", "bm25_v2"], "bm25 vs bm25_v2"),
        (["run_scifact_a", "run_scifact_b", "run_scifact_bm25"], "scifact · 3 runs"),
        (["a", "b", "c", "d"], "a, b, c and 1 more"),
        (["x" * 30, "y" * 30, "z"], "3 runs, 4 queries"),
        (["a" * 300], "a" * 200),
    ],
)
def test_a_board_is_named_by_what_it_holds(names, default):
    files = [File(f"{name}.trec", STRICT.encode()) for name in names] + [File("qrels.txt", QRELS.encode())]
    spec = BoardSpec.of(files)
    assert default_name(make_board(spec, [entry.read() for entry in spec.entries])) == default
