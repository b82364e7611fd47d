"""What the command line puts into the library, lists of it and takes out."""

import csv
import io
import json
import os
import shutil
import subprocess
import sys
from datetime import UTC, datetime, timedelta

import pytest
from boards import COARSE, EXTREMES, HOSTILE, QRELS, STRICT, TIED, board
from rich.text import Text

from dashboard.library.boards import BoardSpec, Entry, make_board
from dashboard.library.exchange import push, read_files_to_push, safe_names
from dashboard.library.loaded import packed_files, table_label
from dashboard.library.store import Library
from metrics import evaluate, read_runs
from metrics.errors import LibraryError
from metrics.runs import File, read

TABLE = "model,query_id,doc_id,score,label\n" + "".join(
    f"{model},q,d{at},{at // 2},{int(at == 1)}\n" for model in ("a", "b") for at in range(4)
)


@pytest.fixture(scope="session")
def migrated(tmp_path_factory):
    home = tmp_path_factory.mktemp("library")
    library = Library(home)
    library.boards()
    library.close()
    return home


@pytest.fixture
def library(migrated, tmp_path, monkeypatch):
    """The library the commands use, which keeps nothing yet."""
    home = tmp_path / "home"
    shutil.copytree(migrated, home)
    monkeypatch.setenv("TIESCOPE_HOME", str(home))
    monkeypatch.delenv("TIESCOPE_DATABASE_URL", raising=False)
    store = Library.open()
    yield store
    store.close()


@pytest.fixture
def run_and_qrels(write):
    return [write("strict.trec", STRICT), write("coarse.trec", COARSE), "--qrels", write("qrels.txt", QRELS)]


@pytest.fixture
def nightly(library, call, run_and_qrels):
    """A board of two runs and judgments."""
    call("push", *run_and_qrels, "--board", "nightly")
    return library.boards()[0]


def files_on(library, owner="", index=0):
    record = library.find(library.boards(owner)[index].id, owner)
    return [entry.file.name for entry in record.spec.entries]


def as_read(record):
    return make_board(record.spec, [entry.read() for entry in record.spec.entries])


def values(paths, qrels=None):
    scores = evaluate(read_runs(paths, qrels)).scores
    return {(*row, *column): value for column, part in scores.items() for row, value in part.items()}


# push


def test_a_push_prints_the_label_of_the_new_board_and_says_what_was_kept(library, call, run_and_qrels):
    code, out, err = call("push", *run_and_qrels, "--board", "nightly")
    (record,) = library.boards()
    assert (code, out) == (0, f"{record.label}\n")
    assert err == "new board: 3 new uploads, 0 already in the library.\n"
    assert files_on(library) == ["strict.trec", "coarse.trec", "qrels.txt"]


def test_the_same_push_again_changes_nothing(library, call, run_and_qrels, nightly):
    code, out, err = call("push", *run_and_qrels, "--board", "nightly")
    assert (code, out, err) == (
        0,
        f"{nightly.label}\n",
        "board updated: 0 new uploads, 3 already in the library.\n",
    )
    assert library.boards() == [nightly]


def test_runs_join_a_board_and_need_no_judgments_where_it_has_some(library, call, write, nightly):
    code, out, err = call("push", write("flat.trec", TIED), "--board", "nightly")
    assert (code, out, err) == (
        0,
        f"{nightly.label}\n",
        "board updated: 1 new upload, 0 already in the library.\n",
    )
    assert files_on(library) == ["strict.trec", "coarse.trec", "qrels.txt", "flat.trec"]


@pytest.mark.usefixtures("nightly")
def test_a_file_of_a_name_that_is_there_takes_its_place(library, call, write):
    _, _, err = call("push", write("coarse.trec", TIED), "--board", "nightly")
    assert err == "1 file replaced: 1 new upload, 0 already in the library.\n"
    pushed_board = as_read(library.find(library.boards()[0].id))
    assert set(pushed_board.runs.tables["coarse"]["score"].to_pylist()) == {0.5}
    assert len(pushed_board.files) == 3


def test_a_board_can_be_named_by_its_id(library, call, write, nightly):
    call("push", write("flat.trec", TIED), "--board", nightly.id)
    assert len(library.boards()) == 1
    assert "flat.trec" in files_on(library)


def test_a_board_can_be_named_by_the_label_that_a_push_printed(library, call, write, run_and_qrels, tmp_path):
    label = call("push", *run_and_qrels, "--board", "Nightly · 1")[1].strip()
    assert call("push", write("flat.trec", TIED), "--board", label)[1].strip() == label
    library.rename(library.boards()[0].id, "other")
    assert call("push", write("flat.trec", TIED), "--board", label)[0] == 0
    assert len(library.boards()) == 1
    assert "flat.trec" in files_on(library)
    assert call("pull", label, "-o", tmp_path / "out")[0] == 0
    assert (tmp_path / "out" / "flat.parquet").exists()


def test_a_name_that_looks_like_a_label_is_a_name(library, call, run_and_qrels):
    call("push", *run_and_qrels, "--board", "Nightly · 1")
    call("push", *run_and_qrels, "--board", "Weekly · 1")
    assert {one.name for one in library.boards()} == {"Nightly · 1", "Weekly · 1"}


def test_a_name_that_is_cut_names_the_same_board_again(library, call, run_and_qrels):
    for _ in range(2):
        assert call("push", *run_and_qrels, "--board", "x" * 300)[0] == 0
    assert [one.name for one in library.boards()] == ["x" * 200]


def test_a_file_of_a_name_that_no_system_encodes_is_known_again(library, call, write):
    run_and_qrels = write("caf\udce9.csv", TABLE)
    assert (
        call("push", run_and_qrels, "--board", "t")[2] == "new board: 1 new upload, 0 already in the library.\n"
    )
    assert (
        call("push", run_and_qrels, "--board", "t")[2]
        == "board updated: 0 new uploads, 1 already in the library.\n"
    )
    assert files_on(library) == ["caf?.csv"]


def test_a_table_with_relevance_needs_no_judgments(library, call, write):
    assert call("push", write("t.csv", TABLE), "--board", "tables")[0] == 0
    assert files_on(library) == ["t.csv"]


def test_a_note_is_kept_with_each_upload(library, call, run_and_qrels):
    call("push", *run_and_qrels, "--board", "nightly", "--note", "commit 1a2b3c")
    assert {one.note for one in library.uploads()} == {"commit 1a2b3c"}


def test_whose_a_board_is_can_be_said(library, call, run_and_qrels):
    call("push", *run_and_qrels, "--board", "nightly", "--owner", "Ada@Example.org")
    assert library.boards() == []
    assert files_on(library, "ada@example.org") == ["strict.trec", "coarse.trec", "qrels.txt"]


def test_columns_are_read_as_chosen_and_stay_so(library, call, write):
    run_and_qrels = write("t.csv", TABLE.replace("label", "old_label"))
    assert call("push", run_and_qrels, "--board", "t", "--column", "relevance=old_label")[0] == 0
    pushed_board = as_read(library.find(library.boards()[0].id))
    assert pushed_board.runs.tables["a"]["relevance"].to_pylist() == [0, 1, 0, 0]


def test_a_choice_of_columns_concerns_only_the_files_that_have_them(library, call, write):
    runs = write("t.csv", "topic id,doc_id,score\nq,a,1\n")
    qrels = write("qrels.txt", "q 0 a 1\n")
    assert call("push", runs, "--qrels", qrels, "--board", "t", "--column", "query_id=topic id")[0] == 0
    assert as_read(library.find(library.boards()[0].id)).n_queries == 1


def test_judgments_given_as_a_table_with_scores_stay_judgments(library, call, write):
    run, judged = write("r.trec", "d Q0 a 1 1 t\n"), "query_id,doc_id,score,relevance\nd,a,9,1\n"
    assert call("push", run, "--qrels", write("judged.csv", judged), "--board", "b")[0] == 0
    pushed_board = as_read(library.find(library.boards()[0].id))
    assert (pushed_board.runs.rerankers, pushed_board.runs.qrels["relevance"].to_pylist()) == (["r"], [1])


def test_what_is_done_about_repeated_rows_stays_with_the_board(library, call, write):
    run = write("r.csv", "query_id,doc_id,score,relevance\nq,a,1,0\nq,a,2,1\n")
    assert call("push", run, "--board", "r")[0] == 2
    assert call("push", run, "--board", "r", "--repeated", "max")[0] == 0
    assert as_read(library.find(library.boards()[0].id)).runs.tables["r"]["score"].to_pylist() == [2]
    call("push", write("s.csv", "query_id,doc_id,score,relevance\nq,a,3,0\nq,a,4,1\n"), "--board", "r")
    assert as_read(library.find(library.boards()[0].id)).runs.tables["s"]["score"].to_pylist() == [4]


def test_judgments_may_be_among_the_runs_as_a_pattern_names_them(library, call, run_and_qrels):
    runs, qrels = run_and_qrels[:2], run_and_qrels[3]
    assert call("push", *runs, qrels, "--qrels", qrels, "--board", "nightly")[0] == 0
    assert files_on(library) == ["strict.trec", "coarse.trec", "qrels.txt"]
    assert values([*runs, qrels], qrels) == values(runs, qrels)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["r.trec"], "--board NAME"),
        (["missing.trec", "--board", "b"], "missing.trec"),
        (["r.trec", "--board", "b"], "Nothing says which documents of 'r' are relevant"),
        (["r.trec", "--board", "b", "--qrels", "r.trec"], "not judgments"),
        (
            ["r.trec", "--board", "b", "--qrels", "q.txt", "--column", "score=x"],
            "No file has the chosen columns: x",
        ),
        (["r.trec", "--board", "b", "--owner", "ada"], "'ada' is not an e-mail address"),
        (["r.trec", "one.tiescope", "--board", "b"], "Push it alone"),
        (["one.tiescope", "--qrels", "q.txt"], "Push it alone"),
        (["one.tiescope"], "not a complete board file"),
        (["r.trec", "--board", "b", "--repeated", "last"], "last"),
    ],
)
def test_what_cannot_be_pushed_exits_with_2_and_keeps_nothing(
    library, call, write, tmp_path, monkeypatch, arguments, message
):
    write("r.trec", STRICT), write("q.txt", QRELS), write("one.tiescope", b"PK\3\4")
    monkeypatch.chdir(tmp_path)
    code, out, err = call("push", *arguments)
    assert (code, out) == (2, "")
    assert message in " ".join(err.split())
    assert (library.boards(), library.uploads()) == ([], [])


def test_a_library_that_cannot_be_opened_exits_with_2(call, run_and_qrels, tmp_path, monkeypatch):
    monkeypatch.setenv("TIESCOPE_HOME", str(tmp_path / "strict.trec"))
    code, out, err = call("push", *run_and_qrels, "--board", "nightly")
    assert (code, out) == (2, "")
    assert "TIESCOPE_HOME" in err


def test_of_several_boards_of_a_name_none_is_chosen(library, call, write):
    pushed_board = board(t_csv=TABLE)
    ids = {library.keep(pushed_board, name="nightly").id for _ in range(2)}
    for command in (["push", write("t.csv", TABLE), "--board", "nightly"], ["pull", "nightly", "-o", "out"]):
        code, out, err = call(*command)
        assert (code, out) == (2, "")
        assert "2 boards are called 'nightly'" in err
        assert all(one in err for one in ids)


def process(*arguments):
    code = "from dashboard.cli import main; main()"
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)  # noqa: S603 our own


def test_pushes_at_once_end_up_on_one_board(library, write):
    qrels = write("qrels.txt", QRELS)
    runs = {"a.trec": STRICT, "b.trec": COARSE}
    running = [
        process("push", write(name, text), "--qrels", qrels, "--board", "nightly")
        for name, text in runs.items()
    ]
    outcome = [one.communicate() for one in running]
    assert [one.returncode for one in running] == [0, 0], outcome
    assert len({out for out, _ in outcome}) == 1
    assert sorted(files_on(library)) == ["a.trec", "b.trec", "qrels.txt"]
    assert as_read(library.find(library.boards()[0].id)).n_queries == 4


class Contested(Library):
    """A library in which somebody changes a board whenever one is looked up, so many times."""

    times = 1

    def find(self, board_id, owner=""):
        record = super().find(board_id, owner)
        if self.times:
            self.times -= 1
            self.share(board_id, "link", owner)
        return record


@pytest.mark.parametrize("times", [0, 1, 4])
def test_a_board_that_was_changed_meanwhile_is_read_again(library, write, run_and_qrels, tmp_path, times):
    files = read_files_to_push(run_and_qrels[:2], run_and_qrels[3], {}, None)
    push(library, files, "nightly")
    contested = Contested(tmp_path / "home")
    contested.times = times
    outcome = push(contested, read_files_to_push([write("flat.trec", TIED)], None, {}, None), "nightly")
    contested.close()
    assert (outcome.n_new, outcome.is_new) == (1, False)
    assert "flat.trec" in files_on(library)


class Overtaken(Library):
    """A library in which somebody makes a board of the same name just before."""

    n_others = 1

    def keep(self, board, owner="", **options):
        if self.n_others:
            self.n_others -= 1
            self.keep(EXTREMES["all tied"](), owner, name="nightly")
        return super().keep(board, owner, **options)


def test_a_board_that_somebody_else_made_meanwhile_is_joined(library, write, tmp_path):
    overtaken = Overtaken(tmp_path / "home")
    run = write("strict.trec", STRICT)
    outcome = push(overtaken, read_files_to_push([run], write("qrels.txt", QRELS), {}, None), "nightly")
    overtaken.close()
    assert [one.label for one in library.boards()] == [outcome.label]
    assert sorted(files_on(library)) == ["flat.trec", "qrels.txt", "strict.trec"]


def test_a_board_that_never_stays_as_it_is_is_left_alone(library, write, run_and_qrels, tmp_path):
    push(library, read_files_to_push(run_and_qrels[:2], run_and_qrels[3], {}, None), "nightly")
    contested = Contested(tmp_path / "home")
    contested.times = 100
    with pytest.raises(LibraryError, match="changed by somebody else"):
        push(contested, read_files_to_push([write("flat.trec", TIED)], None, {}, None), "nightly")
    contested.close()
    assert "flat.trec" not in files_on(library)


# boards


def test_boards_are_listed_with_what_is_on_them(library, call, write, nightly):
    call("push", write("t.csv", TABLE), "--board", "tables")
    rows = list(csv.DictReader(io.StringIO(call("boards", "--format", "csv")[1])))
    assert [tuple(row.values())[:5] for row in rows] == [
        ("tables", library.boards()[0].id, "2", "1", "1"),
        ("nightly", nightly.id, "2", "4", "3"),
    ]
    assert json.loads(call("boards", "--format", "json")[1]) == [
        row | {name: int(row[name]) for name in ("runs", "queries", "files")} for row in rows
    ]
    changed = datetime.fromisoformat(rows[1]["changed"])
    assert changed.utcoffset() is not None
    assert abs(changed - nightly.changed.replace(tzinfo=UTC)) < timedelta(seconds=1)


def test_counts_are_those_of_the_board_that_is_shown(library, call):
    def keep_board(name, repeated="error", names=None, **texts):
        files = [File(file.replace("_", "."), text.encode()) for file, text in texts.items()]
        spec = BoardSpec(tuple(map(Entry, files)), repeated, names)
        library.keep(make_board(spec, [read(file) for file in files]), name=name)

    longer_table = TABLE + "b,q2,d1,1,1\n"
    keep_board("tables", t_csv=longer_table)
    keep_board("one", names=(("a", "z"),), t_csv=longer_table)
    keep_board(
        "queries apart", t_csv=longer_table, u_csv=TABLE.replace("a,q,", "c,q3,").replace("b,q,", "d,q4,")
    )
    keep_board("judged twice", strict_trec=STRICT, one_txt=QRELS, two_txt="q9 0 d1 1\nq0 0 d9 1\n")
    for name, factory in EXTREMES.items():
        library.keep(factory(), name=name)
    pulled = {
        one["name"]: (one["runs"], one["queries"]) for one in json.loads(call("boards", "--format", "json")[1])
    }
    boards = {one.name: as_read(library.find(one.id)) for one in library.boards()}
    assert pulled == {name: (len(one.runs.tables), one.n_queries) for name, one in boards.items()}


def test_a_board_with_a_damaged_file_is_listed(call, nightly, tmp_path):
    for path in (tmp_path / "home").glob("uploads/*/*.*"):
        path.write_bytes(b"")
    (row,) = json.loads(call("boards", "--format", "json")[1])
    assert (row["id"], row["runs"], row["queries"], row["files"]) == (nightly.id, 2, 4, 3)
    assert nightly.id in call("boards")[1]


def test_published_results_are_pulled_and_pushed_with_their_board(library, call, nightly, tmp_path):
    files = [File("paper.csv", b"reranker,RR\nstrict,0.5\n")]
    published = (table_label(files), packed_files(files))
    library.publish(nightly.id, published)
    call("pull", "nightly", "-o", tmp_path / "out", "--format", "tiescope")
    library.delete(nightly.id)
    assert call("push", tmp_path / "out" / "nightly.tiescope", "--board", "again")[0] == 0
    (again,) = library.boards()
    assert library.published(again.id) == published


def test_a_hostile_name_is_shown_on_one_line_and_moves_no_cursor(library, call):
    library.keep(board(t_csv=TABLE), name="[b]x\x1b[2J\n\x07y:100:")
    code, out, _ = call("boards")
    assert code == 0
    assert len(out.splitlines()) == 2
    assert "[b]x[2Jy:100:" in out
    (row,) = json.loads(call("boards", "--format", "json")[1])
    assert row["name"] == "[b]x\x1b[2J\n\x07y:100:"


@pytest.mark.usefixtures("library")
def test_an_empty_library_is_an_empty_list(call):
    assert call("boards", "--format", "json") == (0, "[]\n", "")
    assert call("boards", "--format", "csv")[1] == "name,id,runs,queries,files,changed,access\n"


@pytest.mark.usefixtures("nightly")
def test_the_boards_of_others_are_not_listed(call):
    assert call("boards", "--format", "json", "--owner", "ada@example.org")[1] == "[]\n"


# pull


@pytest.mark.usefixtures("nightly")
def test_a_pull_prints_what_it_writes(call, tmp_path):
    out = tmp_path / "deep" / "out"
    code, printed, err = call("pull", "nightly", "-o", out)
    assert (code, err) == (0, "")
    assert printed.split() == [
        str(out / name) for name in ("strict.parquet", "coarse.parquet", "qrels.parquet")
    ]
    assert sorted(path.name for path in out.iterdir()) == ["coarse.parquet", "qrels.parquet", "strict.parquet"]


@pytest.mark.parametrize(("form", "qrels"), [("parquet", "qrels.parquet"), ("trec", "qrels.txt")])
@pytest.mark.usefixtures("nightly")
def test_evaluate_prints_of_what_was_pulled_the_values_it_prints_of_the_files(
    call, run_and_qrels, tmp_path, form, qrels
):
    call("pull", "nightly", "-o", tmp_path / "out", "--format", form)
    arguments = ["--format", "csv", "--per-query"]
    _, before, _ = call("evaluate", *run_and_qrels, *arguments)
    pulled = sorted((tmp_path / "out").glob(f"*.{form}"))  # with --qrels among them, as a shell gives it
    _, after, _ = call("evaluate", *pulled, "--qrels", tmp_path / "out" / qrels, *arguments)
    assert sorted(after.splitlines()) == sorted(before.splitlines())


@pytest.mark.parametrize("name", EXTREMES)
def test_parquet_that_was_pulled_has_every_value_of_the_board(library, call, tmp_path, name):
    pushed_board = EXTREMES[name]()
    record = library.keep(pushed_board, name=name)
    assert call("pull", record.id, "-o", tmp_path / "out")[0] == 0
    qrels = tmp_path / "out" / "qrels.parquet"
    pulled = values(sorted((tmp_path / "out").iterdir()), qrels if qrels.exists() else None)
    scores = evaluate(pushed_board.runs).scores
    assert pulled == {(*row, *column): value for column, part in scores.items() for row, value in part.items()}


def test_what_is_pulled_is_what_the_board_shows(library, call, tmp_path):
    table = File("t.csv", (TABLE + TABLE.splitlines()[1] + "\n").encode())
    names = (("b", "GPT-4 (b)"), ("a", "../../a"))
    both_record = library.keep(
        make_board(BoardSpec((Entry(table),), "first", names), [read(table)]), name="both"
    )
    single_record = library.keep(
        make_board(BoardSpec((Entry(table),), "first", names[1:]), [read(table)]), name="one"
    )
    for record in (both_record, single_record):
        assert call("pull", record.name, "-o", tmp_path / record.name)[0] == 0
        (path,) = (tmp_path / record.name).iterdir()
        assert read_runs([path]).rerankers == as_read(record).runs.rerankers
        assert read_runs([path]).tables["../../a"]["score"].to_pylist() == [0, 0, 1, 1]
    assert [path.name for path in tmp_path.glob("both/*")] == ["t.parquet"]
    assert [path.name for path in tmp_path.glob("one/*")] == ["a.parquet"]


def test_two_uploads_of_one_name_are_two_files(library, call, tmp_path):
    files = [
        File("t.csv", TABLE.replace("\na,", f"\n{one}a,").replace("\nb,", f"\n{one}b,").encode())
        for one in "xy"
    ]
    library.keep(make_board(BoardSpec.of(files), list(map(read, files))), name="two")
    call("pull", "two", "-o", tmp_path / "out")
    pulled = {path.name: read_runs([path]).rerankers for path in (tmp_path / "out").iterdir()}
    assert pulled == {"t.parquet": ["xa", "xb"], "t-2.parquet": ["ya", "yb"]}


def test_scores_in_a_trec_file_are_the_same_doubles(library, call, tmp_path):
    scores = ["0.1", "0.30000000000000004", "1e-310", "5e-324", "-0.0", "1e22", "inf", "-inf", "3"]
    rows = "".join(f"q,d{at},{score},{at % 2}\n" for at, score in enumerate(scores))
    library.keep(board(t_csv="query_id,doc_id,score,relevance\n" + rows), name="t")
    call("pull", "t", "-o", tmp_path / "out", "--format", "trec")
    pulled = read(File.open(tmp_path / "out" / "t.trec")).table["score"].to_pylist()
    assert list(map(repr, pulled)) == [repr(float(score)) for score in scores]


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (HOSTILE, "There is a reranker called"),
        (TABLE.replace("a,q", "a b,q"), "There is a reranker called 'a b'"),
        (TABLE.replace(",q,", ",q 1,"), "There is a query called 'q 1'"),
        (TABLE.replace(",d1,", ",d\u00a01,"), "There is a document called 'd 1'"),
        (TABLE.replace(",q,", ",#q,"), "There is a query called '#q'"),
        (TABLE.replace(",q,", ",[q,"), "There is a query called '[q'"),
        (TABLE + "b,q,d9,0,0\n", "Judgments differ between"),
    ],
)
def test_what_trec_cannot_hold_is_refused_and_nothing_written(library, call, tmp_path, table, message):
    library.keep(board(t_csv=table), name="t")
    code, out, err = call("pull", "t", "-o", tmp_path / "out", "--format", "trec")
    assert (code, out) == (2, "")
    assert message in " ".join(err.split())
    assert "Parquet" in err
    assert not (tmp_path / "out").exists()


def test_a_board_goes_from_one_library_to_another_in_one_file(
    library, call, nightly, migrated, tmp_path, monkeypatch
):
    library.save_view(nightly.id, {"precision": "float16"})
    before = library.find(nightly.id)
    call("pull", "nightly", "-o", tmp_path / "out", "--format", "tiescope")
    path = tmp_path / "out" / "nightly.tiescope"
    shutil.copytree(migrated, tmp_path / "other")
    monkeypatch.setenv("TIESCOPE_HOME", str(tmp_path / "other"))
    code, _, err = call("push", path)
    assert (code, err) == (0, "new board: 3 new uploads, 0 already in the library.\n")
    other = Library.open()
    after = other.find(other.boards()[0].id)
    assert (after.name, after.view) == ("nightly", {"precision": "float16"})
    assert evaluate(as_read(after).runs).scores.equals(evaluate(as_read(before).runs).scores)
    assert call("push", path)[2] == "board updated: 0 new uploads, 3 already in the library.\n"
    other.close()


def test_a_board_file_pushed_where_it_came_from_changes_nothing(library, call, nightly, tmp_path):
    call("pull", "nightly", "-o", tmp_path / "out", "--format", "tiescope")
    code, out, err = call("push", tmp_path / "out" / "nightly.tiescope")
    assert (code, out, err) == (
        0,
        f"{nightly.label}\n",
        "board updated: 0 new uploads, 3 already in the library.\n",
    )
    assert library.boards() == [nightly]


def test_a_link_to_nothing_is_not_written_over(call, nightly, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "qrels.parquet").symlink_to(tmp_path / "nowhere")
    assert call("pull", nightly.id, "-o", tmp_path / "out")[0] == 2


def test_a_file_that_is_there_is_not_written_over_unless_told(call, nightly, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    (out / "coarse.parquet").write_text("mine")
    (out / "qrels.parquet").symlink_to(tmp_path / "nowhere")
    code, printed, err = call("pull", nightly.id, "-o", out)
    assert (code, printed) == (2, "")
    assert "coarse.parquet already exists" in " ".join(err.split())
    assert sorted(path.name for path in out.iterdir()) == ["coarse.parquet", "qrels.parquet"]
    assert call("pull", nightly.id, "-o", out, "--force")[0] == 0
    assert (out / "coarse.parquet").read_bytes().startswith(b"PAR1")
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.parametrize(
    ("arguments", "message"), [(["no such"], "no board 'no such'"), (["nightly", "--owner", "x"], "x")]
)
@pytest.mark.usefixtures("nightly")
def test_what_is_not_there_cannot_be_pulled(call, tmp_path, arguments, message):
    code, out, err = call("pull", *arguments, "-o", tmp_path / "out")
    assert (code, out) == (2, "")
    assert message in err
    assert not (tmp_path / "out").exists()


@pytest.mark.usefixtures("nightly")
def test_a_folder_that_cannot_be_made_exits_with_2(call, tmp_path):
    code, _, err = call("pull", "nightly", "-o", tmp_path / "strict.trec")
    assert code == 2
    assert "strict.trec: this is a file. Choose a folder." in err


def test_a_board_of_others_can_be_pulled_by_its_id_where_it_is_shared(library, call, nightly, tmp_path):
    arguments = ["pull", nightly.id, "-o", tmp_path / "out", "--owner", "ada@example.org"]
    assert call(*arguments)[0] == 2
    library.share(nightly.id, "link")
    assert call(*arguments)[0] == 0


@pytest.mark.parametrize(
    ("name", "safe"),
    [
        ("cross-encoder/ms-marco", "cross-encoder-ms-marco"),
        ("..", "run"),
        ("", "run"),
        ("\0\n\x1b", "run"),
        ("../../etc/passwd", "etc-passwd"),
        ("..\\..\\evil", "evil"),
        ("C:\\evil", "C--evil"),
        (".hidden", "hidden"),
        ("-rf", "rf"),
        ("con", "_con"),
        ("NUL.txt", "_NUL.txt"),
        ("end. ", "end"),
        ('a<b>:"c"|d?*', "a-b---c--d"),
        ("qrels", "qrels-2"),
        ("Ωμέγα 🎯", "Ωμέγα 🎯"),
    ],
)
def test_the_name_of_a_file_is_safe_on_every_system(name, safe):
    assert safe_names([name]) == [safe]


def test_no_two_files_have_one_name_in_whatever_case():
    assert safe_names(["a/b", "a:b", "A-B", "a-b-2"]) == ["a-b", "a-b-2", "A-B-3", "a-b-2-2"]
    assert len(set(safe_names(["é" * 500 + str(at) for at in range(30)]))) == 30
    assert all(len(name.encode()) < 200 for name in safe_names(["🎯" * 500]))


# start


def test_other_commands_start_without_the_library(write):
    table = write("t.csv", TABLE)
    code = (
        "import sys; sys.argv = ['tiescope', 'evaluate', sys.argv[1]]\n"
        "from dashboard.cli import main\n"
        "try:\n    main()\n"
        "finally:\n"
        "    library = {'sqlalchemy', 'alembic', 'platformdirs', 'streamlit', 'plotly'}\n"
        "    print(library & set(sys.modules), file=sys.stderr)"
    )
    outcome = subprocess.run([sys.executable, "-c", code, table], capture_output=True, text=True, check=True)  # noqa: S603
    assert outcome.stderr == "set()\n"


@pytest.mark.usefixtures("library")
def test_a_process_says_in_plain_text_what_came_of_a_push(write):
    running = process("push", write("t.csv", TABLE), "--board", "[red]x")
    out, err = running.communicate()
    assert out.startswith("[red]x · ")
    assert Text.from_ansi(err).plain == err == "new board: 1 new upload, 0 already in the library.\n"
    assert os.environ["TIESCOPE_HOME"]
