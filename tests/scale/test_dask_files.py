"""What a dataset is made of: paths, patterns, folders, URLs, and whose rows they hold."""

import pickle
from gzip import compress

import fsspec
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from dask_cluster import MEASURES, TIES, assert_same, dataset_evaluation
from pyarrow import parquet
from runs.written import WRITERS

from metrics import ReadError, UsageError, evaluate, read_runs
from metrics.runs import File, Runs
from metrics.scale.dataset_parts import dataset_files
from metrics.scale.part_scoring import read_judgments

QRELS = "".join(f"q{q} 0 d{d} {d % 3 - 1}\n" for q in range(2, 14) for d in range(0, 10, 2))


def table(seed=1, **columns):
    """Twelve lists of eight documents, with ties, their rows in any order."""
    draw = np.random.default_rng(seed)
    rows = pd.DataFrame({"query_id": np.repeat([f"q{at}" for at in range(12)], 8)})
    rows["doc_id"] = [f"d{at % 8}" for at in range(len(rows))]
    rows["score"], rows["relevance"] = draw.integers(0, 4, len(rows)), draw.integers(0, 3, len(rows))
    return rows.assign(**columns).sample(frac=1, random_state=seed)


@pytest.fixture
def put(tmp_path, monkeypatch):
    """Write a table where the test is, and say where; of Parquet in row groups of 20 rows."""
    monkeypatch.chdir(tmp_path)

    def write(name, rows=None):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        rows = table() if rows is None else rows
        if path.suffix == ".parquet":
            arrow_table = (
                rows if isinstance(rows, pa.Table) else pa.Table.from_pandas(rows, preserve_index=False)
            )
            parquet.write_table(arrow_table, path, row_group_size=20)
        else:
            rows.to_csv(path, index=False, sep="\t" if path.suffix == ".tsv" else ",")
        return path

    return write


def named_files(paths, **columns):
    return [(one.table.file.name, one.reranker) for one in dataset_files(paths, columns)]


A, B = ("a.parquet", "a"), ("b.parquet", "b")


@pytest.mark.parametrize(
    ("paths", "expected"),
    [
        ("runs/a.parquet", [A]),
        (["runs/b.parquet", "runs/a.parquet"], [B, A]),
        ("runs/*.parquet", [A, B]),
        ("run*/[ab].parquet", [A, B]),
        ("*/a.parquet", [A]),
        ("**/*.parquet", [A, B]),
        ("./runs/?.parquet", [A, B]),
        ("runs", [("a.parquet", "runs"), ("b.parquet", "runs")]),
        ("runs/", [("a.parquet", "runs"), ("b.parquet", "runs")]),
        (".", [("a.parquet", "here"), ("b.parquet", "here")]),
        ("r*s", [("a.parquet", "runs"), ("b.parquet", "runs")]),
        ({"X": "runs/*.parquet"}, [("a.parquet", "X"), ("b.parquet", "X")]),
        ({"X": "runs/a.parquet", "Y": "runs/b.parquet"}, [("a.parquet", "X"), ("b.parquet", "Y")]),
    ],
    ids=str,
)
def test_files_are_named_by_the_user_else_by_their_folder_else_by_their_stem(put, monkeypatch, paths, expected):
    for name in ("a", "b"):
        folder = put(f"here/runs/{name}.parquet").parent
    monkeypatch.chdir(folder.parent)
    assert named_files(paths) == expected


def test_a_pattern_means_files_of_the_folder_one_is_in(put, monkeypatch):
    monkeypatch.chdir(put("runs/a.parquet").parent)
    assert named_files("*.parquet") == [A]
    assert named_files(".") == [("a.parquet", "runs")]
    monkeypatch.chdir(put("below/b.parquet").parent)
    assert named_files("../runs/*.parquet") == [A]


def test_what_tools_leave_beside_tables_is_not_read(put):
    path = put("llm.parquet/part-0.parquet")
    for name in ("_SUCCESS", ".crc"):
        (path.parent / name).write_text("")
    put("llm.parquet/_temporary/0/part-1.parquet")
    put("llm.parquet/.trash/part-2.parquet")
    assert named_files("llm.parquet") == named_files("*.parquet") == [("part-0.parquet", "llm")]
    assert named_files("llm.parquet/*") == [("part-0.parquet", "part-0")]
    assert named_files("llm.parquet/_temporary/0") == [("part-1.parquet", "0")]


def test_parts_come_in_the_order_of_their_numbers(put):
    for number in (10, 9, 1, 2):
        put(f"run/part.{number}.parquet")
    assert [name for name, _ in named_files("run")] == [f"part.{at}.parquet" for at in (1, 2, 9, 10)]


def test_brackets_in_names_of_what_is_there_mean_themselves(put):
    put("v[1]/a[2].parquet")
    for path in ("v[1]/a[2].parquet", "v[1]/*.parquet", "v[[]1]/*.parquet"):
        assert named_files(path) == [("a[2].parquet", "a[2]")]
    assert named_files("v[1]") == [("a[2].parquet", "v[1]")]


def test_partitions_name_their_rerankers(address, put):
    runs = {name: table(seed) for seed, name in enumerate(["A b", "C"])}
    for name, rows in runs.items():
        for part in range(2):
            put(
                f"set/reranker={name.replace(' ', '%20')}/part-{part}.parquet",
                rows[part * 48 : (part + 1) * 48],
            )
    expected = evaluate(
        read_runs({name: put(f"{name}.csv", rows) for name, rows in runs.items()}), MEASURES, TIES
    )
    sources = [file.table.file.data for file in dataset_files("set", {})]
    for paths in ("set", "set/*/*.parquet", sources):
        assert_same(dataset_evaluation(address, paths)[0], expected)


@pytest.mark.parametrize("path", ["nix/*.parquet", "*.nix", "nix.parquet", "empty", "memory://nix/*.parquet"])
def test_nothing_there_is_said_with_the_path_as_given(put, tmp_path, path):
    (tmp_path / "empty").mkdir()
    put("a.parquet")
    for paths in (path, ["a.parquet", path]):
        with pytest.raises(ReadError) as refused:
            dataset_files(paths, {})
        assert str(refused.value).startswith(f"{path}: ")
        assert str(refused.value).endswith("Check the path.")


@pytest.mark.parametrize(
    "paths",
    [
        ["a.parquet", "a.parquet"],
        ["a.parquet", "x/a.csv"],
        ["x/run", "y/run"],
        ["set/reranker=a", "a.parquet"],
        ["a.parquet", "inside.parquet"],
        {"X": "a.parquet", "Y": "b.parquet", "a": "x/a.csv", "Z": "inside.parquet"},
    ],
    ids=str,
)
def test_two_runs_of_one_name_are_refused_before_anything_is_scored(address, put, paths):
    for name in ("a.parquet", "b.parquet", "x/a.csv", "run.csv", "x/run/0.csv", "y/run/0.csv"):
        put(name)
    put("set/reranker=a/0.parquet")
    two_rerankers = pd.concat([table(reranker="a"), table(reranker="c")])
    put("inside.parquet", two_rerankers)
    with pytest.raises(UsageError, match=r"There are two runs named '(a|run)'"):
        dataset_evaluation(address, paths)


def test_a_table_of_one_reranker_goes_by_the_name_given(address, put):
    old, new = put("old.parquet", table(1, reranker="llm")), put("new.parquet", table(2, reranker="llm"))
    paths = {"old": old, "new": new}
    assert_same(dataset_evaluation(address, paths)[0], evaluate(read_runs(paths), MEASURES, TIES))
    several = {"X": put("two.parquet", pd.concat([table(1, reranker="A"), table(2, reranker="B")]))}
    assert_same(dataset_evaluation(address, several)[0], evaluate(read_runs(several), MEASURES, TIES))


def test_urls_are_files_folders_and_patterns(address, put):
    disk, memory = put("a.parquet"), fsspec.filesystem("memory")
    memory.pipe_file("/urls/a.parquet", disk.read_bytes())
    expected = evaluate(read_runs([disk]), MEASURES, TIES)
    assert named_files("memory://urls") == named_files("memory://urls/") == [("a.parquet", "urls")]
    for path in ("memory://urls/a.parquet", "memory://urls/*.parquet", {"a": "memory://urls"}, disk.as_uri()):
        assert_same(dataset_evaluation(address, path)[0], expected)


def test_formats_go_together(address, put, write):
    rows = table().sort_values(["query_id", "score"], ascending=[True, False])
    text = "".join(f"{one.query_id} Q0 {one.doc_id} 1 {one.score} t\n" for one in rows.itertuples())
    ranks = "".join(f"{one.query_id}\t{one.doc_id}\t{at % 8 + 1}\n" for at, one in enumerate(rows.itertuples()))
    plain = rows.drop(columns="relevance")
    files = [write("trec.trec.gz", compress(text.encode())), write("ranks.tsv", ranks)]
    files += [put("csv.csv", plain), put("named.tsv", plain), put("parquet.parquet", plain)]
    qrels = write("qrels.txt", QRELS)
    for policy in ("zero", "skip"):
        options = {"missing": policy, "empty": policy}
        expected = evaluate(read_runs(files, qrels), MEASURES, TIES, **options)
        assert_same(dataset_evaluation(address, files, qrels, **options)[0], expected)


@pytest.mark.parametrize("options", [{}, {"relevant_from": 2, "precision": "within:0.5"}], ids=str)
def test_a_list_may_be_torn_over_files_of_any_format_and_types_of_ids(address, put, options):
    rows = table()
    for name in ("query_id", "doc_id"):
        rows[name] = rows[name].str[1:].astype(int)
    kinds = [
        pa.int64(),
        pa.float32(),
        pa.large_string(),
        pa.string_view(),
        pa.dictionary(pa.int32(), pa.string()),
    ]
    for number, kind in enumerate(kinds):
        piece = pa.Table.from_pandas(rows[number * 16 : (number + 1) * 16], preserve_index=False)
        for place, name in enumerate(["query_id", "doc_id"]):
            ids = piece[name] if number < 2 else piece[name].cast(pa.string())
            piece = piece.set_column(place, name, ids.dictionary_encode() if number == 4 else ids.cast(kind))
        put(f"torn/{number}.parquet", piece)
    put("torn/5.csv", rows[80:])
    expected = evaluate(read_runs({"torn": put("whole.csv", rows)}), MEASURES, TIES, **options)
    assert_same(dataset_evaluation(address, "torn", **options)[0], expected)


def test_targets_may_be_in_some_files_and_grades_of_any_kind(address, put):
    draw = np.random.default_rng(3)
    first = table(reranker="A", target_id=draw.choice(["s", "t", None], 96))
    second = table(2, reranker="B").assign(relevance=lambda rows: (rows["relevance"] > 1).astype(int))
    put("torn/0.parquet", first[:40])
    put("torn/1.parquet", first[40:])
    put("torn/2.parquet", second[:40].assign(relevance=second["relevance"][:40].astype(bool)))
    put("torn/3.csv", second[40:])
    expected = evaluate(read_runs([put("A.parquet", first), put("B.parquet", second)]), MEASURES, TIES)
    assert_same(dataset_evaluation(address, "torn")[0], expected)


def test_ties_are_broken_and_fronts_are_formed_by_further_columns_wherever_they_are(address, put):
    rows = table(first=np.arange(96) % 3, second=np.arange(96) % 7 / 10, latency=0.5)
    put("torn/0.parquet", rows[:50])
    put("torn/1.csv", rows[50:])
    for options in (
        {"tiebreak_by": ("first", "second")},
        {"tiebreak_by": ("latency",)},
        {"criteria": ("score", "second:asc")},
    ):
        expected = evaluate(read_runs({"torn": put("whole.parquet", rows)}), MEASURES, TIES, **options)
        assert_same(dataset_evaluation(address, "torn", **options)[0], expected)


def test_columns_may_be_chosen(address, put):
    rows = table(other=1.5).rename(columns={"query_id": "theme"})
    put("torn/0.parquet", rows[:50])
    put("torn/1.csv", rows[50:])
    reading = {"columns": {"query_id": "theme", "score": "other"}}
    expected = evaluate(read_runs({"torn": put("whole.csv", rows)}, **reading), MEASURES, TIES)
    assert_same(dataset_evaluation(address, "torn", reading=reading)[0], expected)
    with pytest.raises(UsageError, match="No file has the chosen columns: nix"):
        dataset_evaluation(address, "torn", reading={"columns": {"query_id": "theme", "latency": "nix"}})


def test_grades_are_scores_where_judgments_are_given_apart(address, put, write):
    path = put("in/run.csv", table().drop(columns="relevance").rename(columns={"score": "grade"}))
    qrels = write("in/qrels.txt", QRELS)
    expected = evaluate(read_runs([path], qrels), MEASURES, TIES)
    assert_same(dataset_evaluation(address, "in/run.csv", qrels)[0], expected)
    with pytest.raises(ReadError, match="no score column among query_id, doc_id, grade"):
        dataset_evaluation(address, "in/run.csv")


def test_tables_without_a_row_miss_every_query(address, put, write):
    rows = table()
    empty = put("set/0.parquet", rows[:0])
    parquet.ParquetWriter(empty.with_name("1.parquet"), parquet.read_schema(empty)).close()
    qrels = write("qrels.txt", QRELS)
    assert_same(
        dataset_evaluation(address, "set", qrels)[0],
        evaluate(read_runs({"set": empty}, qrels), MEASURES, TIES),
    )
    expected = evaluate(read_runs({"set": put("set/2.parquet", rows)}, qrels), MEASURES, TIES)
    assert_same(dataset_evaluation(address, "set", qrels)[0], expected)
    with pytest.raises(UsageError, match="There is no run"):
        dataset_evaluation(address, put("named.parquet", rows[:0].assign(reranker="A")))


def test_judgments_among_the_files_are_no_run(address, put, write):
    run = put("in/run.csv", table().drop(columns="relevance").sort_values("query_id"))
    qrels = write("in/qrels.txt", QRELS)
    expected = evaluate(read_runs([run], qrels), MEASURES, TIES)
    assert_same(dataset_evaluation(address, "in/*", "in/qrels.txt")[0], expected)
    assert_same(dataset_evaluation(address, {"run": "in"}, qrels)[0], expected)


def test_a_judged_run_is_a_run_though_its_relevance_is_asked_for(address, put):
    path = put("run.csv")
    assert_same(dataset_evaluation(address, path, path)[0], evaluate(read_runs([path], path), MEASURES, TIES))


def test_what_is_not_used_is_said_of_parquet_as_of_text(address, put, write):
    rows, qrels = table(foo="x", bar=1, target_id="t"), write("qrels.txt", QRELS)
    for path in (put("run.csv", rows), put("run.parquet", rows)):
        findings = dataset_evaluation(address, path, qrels)[1].left_out.set_index("code")
        expected = read_runs([path], qrels).left_out.set_index("code")
        for code in ("columns-unused", "relevance-unused", "target-unused"):
            assert findings.loc[code, "message"] == expected.loc[code, "message"]
        assert findings.loc["relevance-unused", "count"] == len(rows)
        assert findings.loc["queries-unjudged", "count"] == 2


LAID_OUT = ("trec-run", "ranked", "table", "parquet")


@pytest.mark.parametrize(
    "writer",
    [writer for writer in WRITERS if writer.format in ("trec-qrels", "beir-qrels")],
    ids=lambda writer: writer.name,
)
def test_judgments_can_be_sent(writer):
    judged = read_judgments(File("qrels", writer.sample()), {}, "error")
    again = pickle.loads(pickle.dumps(judged))  # noqa: S301 our own
    places = np.arange(len(judged.pairs.queries))
    nothing = Runs({})
    assert again.judge(nothing, places).qrels.equals(judged.judge(nothing, places).qrels)


@pytest.mark.parametrize(
    "writer", [writer for writer in WRITERS if writer.format in LAID_OUT], ids=lambda writer: writer.name
)
def test_what_is_to_be_read_of_a_file_can_be_sent(writer, tmp_path):
    path = tmp_path / "run"
    path.write_bytes(writer.sample())
    (member,) = dataset_files(path, {})
    again = pickle.loads(pickle.dumps(member))  # noqa: S301 our own
    assert again.table.read().table.equals(member.table.read().table)
