"""Libraries, board files, stored evaluations and links of earlier versions: what they say stays the same."""

import json
import random
import shutil
import sqlite3
from dataclasses import replace
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from urllib.parse import parse_qs

import pandas as pd
import pytest
from opening import finding, opened, table
from stored_by_0_1.shown import shown

from dashboard import cache
from dashboard.access.settings import INSECURE, OPEN
from dashboard.library.board_file import export, load
from dashboard.library.boards import Entry, make_board
from dashboard.library.earlier import EarlierUpload
from dashboard.library.exchange import boards_table
from dashboard.library.store import Library
from metrics import evaluate
from metrics.runs import File
from metrics.scale.stored import Stored

FOLDER = Path(__file__).parents[2] / "stored_by_0_1"
EXPECTED = json.loads((FOLDER / "expected.json").read_text(encoding="utf-8"))
BOARDS = EXPECTED["library"]["boards"]
CHANGED = {
    "runs": {"find", "measure", "file", "baseline", "severity"},
    "rerankers": {"baseline"},
    "query": {"every", "rows", "draws", "drawseed"},
    "simulator": {
        *("made", "madetypes", "madebeside", "madeseed", "madeties", "madelevels", "madedocs", "maderelevant"),
        *("madequeries", "performance", "reranker", "held", "measure"),
    },
    "report": {"targets"},
    "significance": {"compared", "farthest"},
}
"""Controls of other sections or folded by now, which stay in the link until those are opened, or that are gone;
and the targets an empty field stood for, which are now named in it."""
TITLES = {
    "runs": "Data",
    "report": "Share",
    "significance": "Compare",
    "tradeoffs": "Compare",
    "query": "Queries",
}
"""Pages that are called otherwise by now; the app leads on from the addresses of those that moved."""


def section_table(page, name):
    """The first table of another section of the page."""
    return table(page.segmented_control(key="section").set_value(name).run(), name)


CARDLESS = {
    "runs": lambda page: finding(page).split("On average, ")[1].split()[0],
    "rerankers": lambda page: f"{section_table(page, 'Summary table')['first_tied'].max():.4f}",
    "ties": lambda page: (
        f"r {section_table(page, 'Other measures').set_index('measure').loc['AP', 'r_ratio']:.3f}"
    ),
    "simulator": lambda page: (
        f"{section_table(page, 'Notebook').set_index('query_id').loc['Complex Tie', 'MTRR']:.4f}"
    ),
    "large": lambda page: f"{table(page, 'All rerankers')['tied'].max():.4f}",
    "leaderboard": lambda page: f"{table(page, 'All rerankers')['tied'].max():.4f}",
    "significance": lambda page: finding(page).split("detect a difference of ")[1].rstrip("."),
    "tradeoffs": lambda page: f"{table(page, 'All figures')['tied'].max():.4f}",
}
"""Pages that had cards and have none by now: a figure of these, where it is now."""
FURTHER_TARGET = {"0 of 11": "0 of 12"}
"""Targets met, of those of the preset: RR>0.9 joined them."""


@pytest.fixture
def library(tmp_path):
    """A copy of the library, in which the deleted board was deleted just now, whatever today is."""
    home = tmp_path / "library"
    shutil.copytree(FOLDER / "library", home)
    with sqlite3.connect(home / "library.db") as connection:
        today = datetime.now(UTC).replace(tzinfo=None).isoformat(" ")
        connection.execute("UPDATE boards SET deleted = ? WHERE deleted IS NOT NULL", [today])
    connection.close()
    stored = Library(home)
    yield stored
    stored.close()


def as_json(value):
    """A value as it is once it was written as JSON: tuples are lists."""
    return json.loads(json.dumps(value))


def values(board):
    scores = evaluate(board.runs, ["RR", "nDCG@5", "AP"], ["input", "expected", "optimistic"]).scores
    return {" ".join(column): pytest.approx(values.tolist(), nan_ok=True) for column, values in scores.items()}


def board_of(record):
    return make_board(record.spec, [entry.read() for entry in record.spec.entries])


@pytest.mark.parametrize("kind", BOARDS)
def test_a_board_is_what_it_was(library, kind):
    expected = BOARDS[kind]
    record = library.find(expected["id"])
    description = {
        "label": record.label,
        "name": record.name,
        "is_named": record.named,
        "owner": record.owner,
        "access": record.access,
        "version": record.version,
        "view": dict(record.view),
        "repeated": record.spec.repeated,
        "names": as_json(record.spec.names),
    }
    assert description == {name: expected[name] for name in description}
    files = [
        {
            "name": entry.file.name,
            "sha256": entry.file.sha256,
            "size": entry.file.size,
            "columns": as_json(entry.columns),
        }
        for entry in record.spec.entries
    ]
    assert files == expected["files"]


@pytest.mark.parametrize("kind", BOARDS)
def test_the_runs_of_a_board_score_what_they_did(library, kind):
    expected = BOARDS[kind]
    board = board_of(library.find(expected["id"]))
    assert board.sources[0].table.to_pydict() == expected["rows"][0]
    assert board.runs.findings["code"].tolist() == expected["findings"]
    assert values(board) == expected["scores"]


def test_uploads_keep_their_notes_and_profiles(library):
    uploads = [
        {
            "name": upload.name,
            "sha256": upload.sha256,
            "note": upload.note,
            "is_pinned": upload.pinned,
            "kind": upload.kind,
            "rows": upload.rows,
            "queries": upload.profile.queries,
            "depth": upload.profile.depth,
            "tied": upload.profile.tied,
            "boards": [name for _, name in upload.boards],
        }
        for upload in sorted(library.uploads(), key=lambda upload: upload.name)
    ]
    assert uploads == EXPECTED["library"]["uploads"]


def test_a_deleted_board_can_be_restored(library):
    (deleted,) = library.boards(deleted=True)
    assert [deleted.name] == EXPECTED["library"]["deleted"]
    library.restore(deleted.id)
    assert board_of(library.find(deleted.id)).runs.rerankers == ["dense"]


def test_a_choice_about_a_full_library_stays(library):
    assert library.is_evicting() is EXPECTED["library"]["evicts"]


def test_a_board_file_holds_the_board_that_was_exported(library):
    imported = load(File.open(FOLDER / "board.tiescope"))
    expected = BOARDS["named"]
    assert imported.name == expected["name"]
    assert dict(imported.view) == expected["view"]
    assert values(imported.board) == expected["scores"]
    record = library.keep(imported.board, name="Imported", view=imported.view)
    assert [entry.file.name for entry in record.spec.entries] == [file["name"] for file in expected["files"]]
    assert values(board_of(record)) == expected["scores"]


@pytest.mark.parametrize("kind", BOARDS)
def test_a_board_of_earlier_uploads_is_exported_as_files_that_anybody_reads(library, kind):
    expected, stream = BOARDS[kind], BytesIO()
    export(library.find(expected["id"], expected["owner"]), stream)
    imported = load(File("sent.tiescope", stream.getvalue()))
    assert imported.view == expected["view"]
    assert values(imported.board) == expected["scores"]


def test_boards_of_earlier_versions_are_listed_without_runs_and_queries(library):
    table = boards_table(library, "", for_people=False).set_index("id")
    sizes = table.loc[BOARDS["named"]["id"], ["runs", "queries", "files"]].tolist()
    assert sizes == [pd.NA, pd.NA, len(BOARDS["named"]["files"])]


def test_the_bytes_of_an_earlier_upload_take_the_place_of_its_table(library):
    chance = random.Random(1)  # noqa: S311 data, no secret
    lines = (f"q{at // 12} Q0 d{at % 12} {at % 12} {chance.randrange(40) / 40} tag\n" for at in range(84))
    file = File("bm25.trec", "".join(lines).encode())  # as make.py makes it
    before = library.find(BOARDS["named"]["id"])
    (at,) = [at for at, entry in enumerate(before.spec.entries) if entry.file.sha256 == file.sha256]
    entries = list(before.spec.entries)
    entries[at] = Entry(file, entries[at].columns)
    spec = replace(before.spec, entries=tuple(entries))
    library.keep(make_board(spec, [entry.read() for entry in entries]), name="With its bytes")
    after = library.find(before.id)
    are_earlier = [isinstance(entry.file, EarlierUpload) for entry in after.spec.entries]
    assert are_earlier == [entry.file.sha256 != file.sha256 for entry in after.spec.entries]
    assert b"".join(after.spec.entries[at].file.uploaded()) == file.data
    assert values(board_of(after)) == BOARDS["named"]["scores"]


@pytest.mark.parametrize("link", EXPECTED["links"])
def test_a_link_shows_what_it_did(library, monkeypatch, link):
    page, _, query = link.partition("?")
    monkeypatch.setenv(INSECURE, "1")
    monkeypatch.setattr(cache, "open_library", lambda: library)
    if page == "large":
        monkeypatch.setenv(OPEN, json.dumps({"runs": [], "stored": [str(FOLDER / "evaluation.parquet")]}))
    asked, changed = parse_qs(query), CHANGED.get(page, set())
    new_page = opened(page, **asked)
    now, then = as_json(shown(new_page)), EXPECTED["links"][link]
    still_there = {key: value for key, value in then["controls"].items() if key not in changed}
    if (
        "relevant_from" not in now["controls"]
    ):  # asked on pages of scores, where there are grades to choose from
        still_there.pop("relevant_from", None)
    assert not new_page.warning, "what it asks for is offered, here or on another page"
    assert changed & asked.keys() <= new_page.query_params.keys()
    assert now["title"] == ([TITLES[page]] if page in TITLES else then["title"])
    assert now["controls"].items() >= still_there.items(), "a newer version may have more"
    assert len(now["findings"]) == len(then["findings"]), "the words are those of the newer version"
    if then["controls"].get("precision", "").startswith("decimals"):  # which now round as printing does
        return
    if page in CARDLESS:
        assert CARDLESS[page](new_page) in then["cards"].values()
    else:
        assert len(now["cards"]) >= len(then["cards"])
        same_cards = now["cards"].keys() & then["cards"].keys()  # a newer version has better words
        assert len(same_cards) >= len(then["cards"]) / 2
        values_then = [then["cards"][label] for label in same_cards]
        if page == "query":  # which now shows three decimals
            values_then = [f"{float(value):.3f}" for value in values_then]
        assert [now["cards"][label] for label in same_cards] == [FURTHER_TARGET.get(v, v) for v in values_then]


def test_a_stored_evaluation_opens():
    stored = Stored.open(FOLDER / "evaluation.parquet")
    means = {" ".join(column): pytest.approx(values.to_dict()) for column, values in stored.summary().items()}
    assert means == EXPECTED["evaluation"]
