"""`tiescope watch`: running means of files that come to a folder, and of lines on standard input."""

import csv
import json
import os
import signal
from functools import partial

import pytest

from metrics import evaluate, read_runs

HEADER = "query_id,doc_id,score,relevance\n"
MEASURES = ["RR", "nDCG@3"]
OPTIONS = ("-m", "RR", "-m", "nDCG@3", "--json")
TREATMENTS = {"traditional": "input", "tied": "expected", "worst": "pessimistic", "best": "optimistic"}


@pytest.fixture
def pipe(tmp_path, monkeypatch):
    """Give a text to whoever opens standard input."""

    def give(text):
        monkeypatch.setattr("metrics.runs.files.STDIN", tmp_path / "stdin")
        (tmp_path / "stdin").write_text(text)

    return give


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return a folder, and what says which files come to it before each look but the first; then Ctrl-C."""
    path = tmp_path / "runs"
    path.mkdir()

    def script(*steps):
        left = iter(steps)

        def next_step(_seconds):
            step = next(left, None)
            if step is None:
                os.kill(os.getpid(), signal.SIGINT)
            for name, text in (step or {}).items():
                (path / name).write_text(text)

        monkeypatch.setattr("metrics.scale.live.sleep", next_step)
        return path

    return script


def rows_of(seed, n_queries, first=0):
    return "".join(
        f"q{query},d{place},{(query * 7 + place * seed) % 3},{int((query + place) % 4 == 0)}\n"
        for query in range(first, first + n_queries)
        for place in range(5)
    )


def means(out, kind="means"):
    return [row for line in out.splitlines() if (row := json.loads(line))["kind"] == kind]


def last_means(out):
    rows = means(out)
    return {row["measure"]: [row[name] for name in TREATMENTS] for row in rows if row["n"] == rows[-1]["n"]}


def evaluated(runs):
    scores = evaluate(runs, MEASURES, list(TREATMENTS.values())).scores
    return {
        measure: pytest.approx([scores[measure, ties].mean() for ties in TREATMENTS.values()], rel=1e-12)
        for measure in MEASURES
    }


JSON_ROWS = "".join(
    json.dumps(
        {"query_id": f"q{query}", "doc_id": f"d{place}", "score": place % 2, "relevance": place == query}
    )
    + "\n"
    for query in range(4)
    for place in range(4)
)
JSON_LISTS = "".join(
    json.dumps(
        {
            "query_id": f"q{query}",
            "hits": [
                {"doc_id": f"d{place}", "score": place % 2, "relevance": place == query} for place in range(4)
            ],
        }
    )
    + "\n"
    for query in range(4)
)
TURNS = (
    "reranker,"
    + HEADER
    + "".join(
        f"{reranker},q{query},d{place},{(place + shift) % 3},{int(place == query)}\n"
        for query in range(4)
        for place in range(4)
        for shift, reranker in enumerate(("a", "b"))
    )
)


@pytest.mark.parametrize(
    "text",
    [
        HEADER + rows_of(2, 30),
        JSON_ROWS,
        JSON_LISTS,
        TURNS,
        (HEADER + rows_of(2, 3)).replace(",", "\t").rstrip(),
    ],
    ids=["table", "records", "lists", "rerankers taking turns", "tabs, no last line feed"],
)
def test_lines_score_what_evaluate_says_of_the_same_lists(call, pipe, write, text):
    pipe(text)
    code, out, _ = call("watch", "-", *OPTIONS)
    assert code == 0
    runs = read_runs({None: write("same.txt", text)}.values())
    for reranker in runs.rerankers:
        name = reranker if len(runs.rerankers) > 1 else "stdin"
        of_reranker = "\n".join(line for line in out.splitlines() if f'"reranker": "{name}"' in line)
        assert last_means(of_reranker) == evaluated(runs.arranged({reranker: reranker}))


def test_lines_without_a_header_use_qrels_of_queries_that_arrived(call, pipe, write):
    run = "".join(f"q{query} Q0 d{place} 1 {place % 2} t\n" for query in range(5) for place in range(4))
    qrels = write("qrels.txt", "".join(f"q{query} 0 d1 1\nq{query} 0 d2 0\n" for query in range(1, 9)))
    pipe(run)
    code, out, err = call("watch", "llm=-", "--qrels", qrels, *OPTIONS, "--traditional", "input")
    runs = read_runs({"llm": write("run.trec", run)}, qrels)
    scores = evaluate(runs, "RR", "expected", missing="skip").scores
    assert code == 0
    assert means(out)[-1]["n"] == len(scores) == 4
    assert last_means(out)["RR"][1] == pytest.approx(scores.to_numpy().mean(), rel=1e-12)
    assert "llm: 1 of 5 lists has no judgments, left out." in err


def test_only_the_list_with_an_unreadable_line_is_left_out_and_its_line_named(call, pipe):
    lines = (HEADER + rows_of(2, 3)).splitlines(keepends=True)
    lines[8] = "q1,d2,high,0\n"
    pipe("".join(lines))
    code, out, err = call("watch", "-", *OPTIONS)
    assert (code, means(out)[-1]["n"]) == (0, 2)
    assert "stdin, line 9: score 'high' is not a number" in err


def test_a_line_that_is_no_json_does_not_end_the_watch(call, pipe):
    pipe(JSON_LISTS + '{"query_id": \n' + JSON_LISTS.replace(': "q', ': "p'))
    code, out, err = call("watch", "-", *OPTIONS)
    assert (code, means(out)[-1]["n"]) == (0, 8)
    assert "stdin, line 5: not valid JSON" in err


def test_a_field_that_is_too_long_for_a_table_does_not_end_the_watch(call, pipe, request):
    request.addfinalizer(partial(csv.field_size_limit, csv.field_size_limit(100)))
    pipe(f"{HEADER}{rows_of(2, 2)}q2,{'d' * 200},1,1\n{rows_of(2, 2, first=3)}")
    code, out, _ = call("watch", "-", *OPTIONS)
    assert (code, means(out)[-1]["n"]) == (0, 5)


def test_a_query_that_comes_again_after_another_or_a_blank_line_counts_again(call, pipe):
    pipe(HEADER + rows_of(2, 2) + rows_of(3, 1) + "\n" + rows_of(3, 1))
    code, out, _ = call("watch", "-", *OPTIONS)
    assert (code, means(out)[-1]["n"]) == (0, 4)


def test_a_header_without_queries_ends_the_watch_for_nothing_could_be_read(call, pipe):
    pipe("doc_id,score\na,1\n")
    code, out, err = call("watch", "-", "--lines", "table")
    assert (code, out) == (2, "")
    assert "no query_id column among doc_id, score" in err


def test_a_change_that_ties_cannot_explain_is_told_once(call, pipe):
    lists = [f"q{query},a,2,{int(query < 40)}\nq{query},b,1,0\nq{query},c,0,1\n" for query in range(90)]
    pipe(HEADER + "".join(lists))
    changes = means(call("watch", "llm=-", *OPTIONS, "--every", "0.05")[1], "change")
    assert [(row["measure"], row["query_id"]) for row in changes] == [("RR", "q40"), ("nDCG@3", "q40")]
    assert (changes[0]["before"], changes[0]["after"]) == (1, pytest.approx(1 / 3))
    _, out, _ = call("watch", "llm=-", "-m", "RR")
    assert out.count("over all tie orders, the mean was between 1.0000 and 1.0000 before") == 1


def test_a_change_that_more_ties_alone_make_under_a_rule_of_their_own_is_not_told(call, pipe):
    lists = [f"q{query},a,2,1\nq{query},b,{1 + (query >= 40)},0\n" for query in range(90)]
    pipe(HEADER + "".join(lists))
    code, out, _ = call("watch", "llm=-", "-m", "TsRR", "-m", "taRR", "--json")
    assert (code, means(out)[-1]["n"], means(out, "change")) == (0, 90, [])


def test_a_file_whose_name_is_no_text_is_scored_and_a_link_to_itself_passed_over(call, folder):
    text = HEADER + rows_of(2, 2)
    path = folder({"bad\udcff.csv": text}, {})
    (path / "loop.csv").symlink_to("loop.csv")
    code, out, _ = call("watch", path, *OPTIONS)
    assert (code, means(out)[-1]["reranker"]) == (0, "bad\N{REPLACEMENT CHARACTER}")
    assert call("evaluate", path / "bad\udcff.csv", "-m", "RR")[0] == 0


@pytest.mark.parametrize(("window", "n"), [(("--last", 2), 2), (("--halflife", 3), 6), (("--seconds", 99), 6)])
def test_windows_are_those_of_running(call, pipe, window, n):
    pipe(HEADER + rows_of(2, 6))
    _, out, _ = call("watch", "-", *OPTIONS, *window)
    assert (means(out)[-1]["n"], means(out)[-1][window[0][2:]]) == (n, window[1])


def test_whole_files_count_and_an_interrupt_prints_the_last_table(call, folder):
    whole = HEADER + rows_of(2, 4)
    path = folder(
        {"a.csv": whole[:-40], ".b.csv": "x", "c.csv.part": "x"}, {"a.csv": whole}, {}, {"d.csv": whole}
    )
    code, out, err = call("watch", f"llm={path}", *OPTIONS)
    assert (code, err) == (0, "")
    assert [row["n"] for row in means(out)] == [4, 4]
    assert last_means(out) == evaluated(read_runs({"llm": path / "a.csv"}))


def test_files_of_a_folder_are_one_run_if_named_so(call, folder):
    judged = "".join(f"q{query} 0 d1 1\n" for query in range(6))
    runs = [
        "".join(f"q{query} Q0 d{place} 1 0 t\n" for query in queries for place in range(3))
        for queries in ((0, 1, 2), (3, 4, 5))
    ]
    path = folder({"1.trec": runs[0]}, {"2.trec": runs[1]}, {})
    (path / "qrels.txt").write_text(judged)
    code, out, err = call("watch", f"llm={path}", "--qrels", path / "qrels.txt", *OPTIONS)
    assert (code, means(out)[-1]["reranker"], means(out)[-1]["n"]) == (0, "llm", 6)
    assert "Tie order for TREC runs:" in err


def test_a_file_that_cannot_be_read_is_told_and_read_again_when_it_is_mended(call, folder):
    bad = HEADER + "q,a,high,1\n"
    path = folder({"a.csv": bad, "b.csv": HEADER + rows_of(2, 2)}, {}, {"a.csv": bad.replace("high", "12")}, {})
    code, out, err = call("watch", f"llm={path}", *OPTIONS)
    assert (code, [row["n"] for row in means(out)]) == (0, [2, 2, 3, 3])
    assert err.count("a.csv, line 2: score 'high' is not a number") == 1


def test_a_file_that_changes_after_reading_is_reported_once_and_not_recounted(call, folder):
    text = HEADER + rows_of(2, 2)
    path = folder({"a.csv": text}, {}, {"a.csv": text + rows_of(2, 1, 2)}, {}, {"a.csv": text}, {})
    code, out, err = call("watch", f"llm={path}", *OPTIONS)
    assert (code, [row["n"] for row in means(out)]) == (0, [2, 2])
    assert err.count("a.csv changed after it was read") == 1


def test_a_folder_that_is_gone_is_looked_for_again(call, folder, tmp_path):
    path = folder({}, {"a.csv": HEADER + rows_of(2, 2)}, {}, {})
    away = tmp_path / "away"
    looks, names = 0, os.scandir

    def scandir(place):
        nonlocal looks
        looks += 1
        return names(away if looks in (2, 3) else place)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "scandir", scandir)
        patch.setattr("metrics.cli.options._STDOUT", tmp_path / "new")  # a file would be looked for, too
        code, out, err = call("watch", f"llm={path}", *OPTIONS)
    assert (code, [row["n"] for row in means(out)]) == (0, [2, 2])
    assert err.count("waits until the folder is back") == 1


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("nowhere",), "nowhere: No such file or directory. Name a folder"),
        ((".", "--lines", "jsonl"), "--lines needs -"),
        ((".", "-m", "nonsense"), "nonsense"),
        ((".", "--last", "3", "--seconds", "3"), "Give only one of last, seconds or halflife"),
        ((".", "--halflife", "inf"), "--halflife"),
        ((".", "--halflife", "nan"), "--halflife"),
        ((".", "--last", "9" * 20), "--last"),
        ((".", "--every", "inf"), "--every"),
        ((".", "--every", "nan"), "--every"),
    ],
)
def test_what_cannot_be_watched_is_refused_at_once(call, tmp_path, monkeypatch, arguments, problem):
    monkeypatch.chdir(tmp_path)
    code, out, err = call("watch", *arguments)
    assert (code, out) == (2, "")
    assert problem in err
