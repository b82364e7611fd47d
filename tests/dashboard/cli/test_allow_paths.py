"""What a visitor may open by path: nothing, unless the server's owner says so; and no way around that."""

import json
import os

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.access import settings
from dashboard.access.allowed_paths import MOST_MATCHES, AllowedPaths
from metrics import Runs, evaluate
from metrics.errors import UsageError
from metrics.scale.stored import Stored

RUN = "q0 Q0 d0 1 1 t\nq0 Q0 d1 2 1 t\n"
BUCKET = "s3://bucket/runs/"


@pytest.fixture
def tree(tmp_path):
    """A folder that is allowed, beside one that is not, with links from one to the other."""
    runs, secret = tmp_path / "runs", tmp_path / "secret"
    for folder in (runs / "deep", secret):
        folder.mkdir(parents=True)
    for file in (
        runs / "a.trec",
        runs / "b.trec",
        runs / "deep" / "c.trec",
        runs / "x[1].trec",
        secret / "s.trec",
    ):
        file.write_text(RUN)
    (tmp_path / "runs-too").mkdir()
    (tmp_path / "runs-too" / "a.trec").write_text(RUN)
    (runs / "link.trec").symlink_to(secret / "s.trec")
    (runs / "nowhere.trec").symlink_to(secret / "none.trec")
    (runs / "loop.trec").symlink_to(runs / "loop.trec")
    (runs / "out").symlink_to(secret)
    (runs / "inside.trec").symlink_to(runs / "a.trec")
    os.mkfifo(runs / "pipe.trec")
    return tmp_path


@pytest.fixture
def allowed(tree):
    return AllowedPaths.of([str(tree / "runs")])


def refused(allowed, text):
    with pytest.raises(UsageError) as error:
        allowed.files(text)
    return str(error.value)


@pytest.mark.parametrize(
    "text", ["a.trec", "{runs}/a.trec", " a.trec ", "./a.trec", "inside.trec", "{runs}//a.trec"]
)
def test_a_file_below_an_allowed_folder_opens_by_where_it_really_is(tree, allowed, text):
    assert allowed.files(text.format(runs=tree / "runs")) == [(tree / "runs" / "a.trec").resolve()]


def test_a_pattern_names_the_files_of_a_folder_and_none_that_a_link_leads_out_to(allowed):
    names = [path.name for path in allowed.files("*.trec")]
    assert names == ["a.trec", "b.trec", "a.trec", "x[1].trec"]
    assert [path.name for path in allowed.files("deep/?.trec")] == ["c.trec"]
    assert [path.name for path in allowed.files("x[1].trec")] == ["x[1].trec"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        ".",
        "{runs}",
        "none.trec",
        "link.trec",
        "nowhere.trec",
        "loop.trec",
        "loop.trec/a.trec",
        "pipe.trec",
        "out/s.trec",
        "out/*.trec",
        "out/none.trec",
        "o*t/s.trec",
        "**/c.trec",
        "*/c.trec",
        "../secret/s.trec",
        "deep/../a.trec",
        "{runs}/../secret/s.trec",
        "{runs}/out/../s.trec",
        "{root}/secret/s.trec",
        "{root}/secret/none.trec",
        "{root}/secret/*",
        "{root}/runs-too/a.trec",
        "{runs}-too/a.trec",
        "/{runs}/a.trec",
        "~/a.trec",
        "/etc/passwd",
        "/proc/self/environ",
        "file://{runs}/a.trec",
        "FILE://{runs}/a.trec",
        "file:{runs}/a.trec",
        "local://{runs}/a.trec",
        "memory://a.trec",
        "simplecache::file://{runs}/a.trec",
        "zip://a.trec::{root}/secret/s.zip",
        "http://127.0.0.1/a.trec",
        "s3://bucket/runs/a.trec",
        "a.trec\0",
        "a.trec\n",
        "a\x7f.trec",
        "x" * 300,
        "x" * 5000,
        "a/" * 1000,
    ],
)
def test_whatever_else_is_named_is_refused_by_one_message_that_tells_nothing(tree, allowed, text):
    text = text.format(runs=tree / "runs", root=tree)
    if text == "a.trec\n":  # white space around a path is no part of it
        assert allowed.files(text)
        return
    message = refused(allowed, text)
    quoted = text.strip() if len(text) <= 200 else f"{text[:200]} ..."
    assert message == (
        f"{quoted}: this file does not exist, or may not be opened here. You can open files in {tree / 'runs'}."
    )


def test_a_folder_that_is_a_link_is_allowed_by_both_its_names(tree):
    (tree / "alias").symlink_to(tree / "runs")
    allowed = AllowedPaths.of([str(tree / "alias")])
    for text in (f"{tree}/alias/a.trec", f"{tree}/runs/a.trec", "a.trec"):
        assert allowed.files(text) == [(tree / "runs" / "a.trec").resolve()]


def test_a_folder_above_this_one_is_allowed_by_where_it_is(tree, monkeypatch):
    monkeypatch.chdir(tree / "runs" / "deep")
    allowed = AllowedPaths.of([".."])
    assert str(allowed) == str((tree / "runs").resolve())
    assert allowed.files(f"{tree}/runs/a.trec") == allowed.files("a.trec")


def test_a_link_between_two_allowed_folders_is_followed(tree):
    allowed = AllowedPaths.of([str(tree / "runs"), str(tree / "secret")])
    assert allowed.files("link.trec") == [(tree / "secret" / "s.trec").resolve()]
    assert allowed.files("s.trec") == [(tree / "secret" / "s.trec").resolve()]


def test_a_pattern_that_names_too_many_files_is_refused(tree, allowed):
    for number in range(MOST_MATCHES + 1):
        (tree / "runs" / "deep" / f"many-{number}.trec").write_text(RUN)
    with pytest.raises(UsageError, match="more than 100 files"):
        allowed.files("deep/many-*.trec")


@given(st.text(max_size=40) | st.text("./\\*?[]:%@~abs3 ", max_size=30))
def test_no_text_opens_anything_where_nothing_is_allowed(text):
    refused(AllowedPaths(), text)


@given(st.text(max_size=40) | st.text("./\\*?[]:%@~#; ab", max_size=40))
def test_no_text_leaves_the_address_that_is_allowed(text):
    allowed = AllowedPaths.of([BUCKET])
    for given_text in (text, BUCKET + text):
        try:
            (file,) = allowed.files(given_text)
        except UsageError:
            continue
        assert file.startswith(BUCKET)
        below_bucket = file.removeprefix(BUCKET)
        assert below_bucket
        assert not {"", ".", ".."} & set(below_bucket.split("/"))
        assert not set("%?#@\\*[]") & set(below_bucket)
        assert "::" not in below_bucket


@pytest.mark.parametrize("text", ["s3://bucket/runs/a.trec", "s3://bucket/runs/2026/May 3/a+b=c.parquet"])
def test_an_address_below_an_allowed_one_opens(text):
    assert AllowedPaths.of(["S3://bucket/runs"]).files(text) == [text]


@pytest.mark.parametrize(
    "text",
    [
        "s3://bucket/runs",
        "s3://bucket/runs/",
        "s3://bucket/runs-secret/a.trec",
        "s3://bucket/secret/a.trec",
        "s3://bucket/runs/../secret/a.trec",
        "s3://bucket/runs/./a.trec",
        "s3://bucket/runs/..",
        "s3://bucket/runs/%2e%2e/secret/a.trec",
        "s3://bucket/runs/%252e%252e/a.trec",
        "s3://bucket/runs/..;/a.trec",
        "s3://bucket/runs//a.trec",
        "s3://bucket/runs\\a.trec",
        "s3://bucket/runs/\\..\\a.trec",
        "s3://bucket/runs/*.trec",
        "s3://bucket/runs/a.trec?versionId=1",
        "s3://bucket/runs/a.trec#part",
        "s3://user:secret@bucket/runs/a.trec",
        "s3://bucket@other/runs/a.trec",
        "s3://other/runs/a.trec",
        "s3://bucket.other/runs/a.trec",
        "s3://BUCKET/runs/a.trec",
        "S3://bucket/runs/a.trec",
        "s3a://bucket/runs/a.trec",
        "gs://bucket/runs/a.trec",
        "http://bucket/runs/a.trec",
        "file:///bucket/runs/a.trec",
        "simplecache::s3://bucket/runs/a.trec",
        "s3://bucket/runs/a.zip::s3://other/secret.trec",
        "zip://a.trec::s3://bucket/runs/a.zip",
        "s3://bucket/runs/a\u2024\u2024/b",
        "s3://bucket/runs/\uff0e\uff0e/b",
        "s3:/bucket/runs/a.trec",
        "/etc/passwd",
    ],
)
def test_any_other_address_is_refused(text):
    message = refused(AllowedPaths.of([BUCKET]), text)
    assert message == (
        f"{text}: this file does not exist, or may not be opened here. You can open files in {BUCKET}."
    )


@pytest.mark.parametrize(
    "text",
    [
        "",
        "nowhere/at/all",
        "file:///data",
        "file:/data",
        "local:///data",
        "memory://data",
        "s3://",
        "s3://u:p@bucket/",
        f"{'s' * 300}://u:p@bucket/",
        "s3://bucket/../x",
        "s3://bucket/%2e",
        "https://Example.org/runs",
        "simplecache::s3://bucket",
    ],
)
def test_the_command_refuses_to_allow_what_is_no_folder_and_no_plain_address(call, streamlit_calls, text):
    code, _, err = call("app", "--allow-paths", text)
    assert (code, streamlit_calls) == (2, [])
    assert "--allow-paths" in err


def test_the_command_tells_the_app_what_may_be_opened(call, streamlit_calls, tree, monkeypatch):
    monkeypatch.chdir(tree)
    assert call("app", "--allow-paths", "runs", "--allow-paths", "s3://bucket/runs")[0] == 0
    assert json.loads(os.environ[settings.ALLOW_PATHS]) == [str(tree / "runs"), BUCKET]
    assert len(streamlit_calls) == 1


def test_without_the_option_no_path_opens(call, streamlit_calls, monkeypatch):
    monkeypatch.setenv(settings.ALLOW_PATHS, '["/"]')
    assert call("app")[0] == 0
    assert json.loads(os.environ[settings.ALLOW_PATHS]) == []
    assert len(streamlit_calls) == 1


def test_with_insecure_it_says_that_everybody_can_read_what_is_allowed(call, streamlit_calls, tree):
    code, _, err = call("app", "--host", "0.0.0.0", "--insecure", "--allow-paths", tree / "runs")  # noqa: S104 not served
    assert (code, len(streamlit_calls)) == (0, 1)
    assert f"anybody who can reach 0.0.0.0 can read all runs in {tree / 'runs'}" in " ".join(err.split())


@pytest.fixture
def results_file(tmp_path):
    rows = Runs.from_frame(
        pd.DataFrame({"query_id": ["q"] * 2, "doc_id": ["a", "b"], "score": [1.0, 1.0], "relevance": [1, 0]})
    )
    return Stored.write(tmp_path / "kept.parquet", [evaluate(rows)]).path


def test_a_stored_evaluation_is_handed_to_the_app_apart_from_runs(call, streamlit_calls, results_file, write):
    run, qrels = write("run.trec", RUN), write("qrels.txt", "q0 0 d0 1\n")
    assert call("app", results_file, run, "--qrels", qrels)[0] == 0
    message = json.loads(os.environ[settings.OPEN])
    assert message == {"runs": [str(run)], "qrels": str(qrels), "stored": [str(results_file)]}
    assert call("app", results_file)[0] == 0
    assert json.loads(os.environ[settings.OPEN])["runs"] == []
    assert len(streamlit_calls) == 2


def test_judgments_without_a_run_are_refused(call, streamlit_calls, results_file, write):
    code, _, err = call("app", results_file, "--qrels", write("qrels.txt", "q0 0 d0 1\n"))
    assert (code, streamlit_calls) == (2, [])
    assert "--qrels applies only to runs" in err


def test_a_stored_evaluation_that_is_damaged_is_refused_by_the_command(call, streamlit_calls, results_file):
    results_file.write_bytes(results_file.read_bytes().replace(b'"version": 1', b'"version": 9'))
    code, _, err = call("app", results_file)
    assert (code, streamlit_calls) == (2, [])
    assert "kept.parquet: its format is 9. Use a newer TieScope." in err
