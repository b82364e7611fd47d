"""What *Download* gives: the files of a board as they were uploaded, under names that unpack anywhere."""

import io
import zipfile

import pytest
import streamlit
from boards import QRELS, STRICT, board
from libraries import keep_as, replace_bytes
from opening import opened

from dashboard import cache
from dashboard.library.loaded import packed_files, table_label
from dashboard.library.uploads import zip_names, zipped
from dashboard.settings import INSECURE
from metrics.errors import LibraryError
from metrics.runs import File

PUBLISHED = File("paper.csv", b"reranker,MRR\nstrict,1\n")
FIRST = board(strict_trec=STRICT, qrels_txt=QRELS)


def unpacked(packed):
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        assert archive.testzip() is None
        return {name: archive.read(name) for name in archive.namelist()}


def test_the_files_of_a_board_are_those_uploaded(library):
    record = library.keep(FIRST)
    uploaded = {"strict.trec": STRICT.encode(), "qrels.txt": QRELS.encode()}
    assert unpacked(zipped(FIRST.files)) == uploaded
    assert unpacked(zipped([entry.file for entry in record.spec.entries])) == uploaded


def test_the_data_page_offers_the_files_of_the_board_and_its_published_results(library, monkeypatch):
    record = keep_as(library, FIRST, name="My board")
    library.publish(record.id, (table_label([PUBLISHED]), packed_files([PUBLISHED])))
    offers, offer = {}, streamlit.download_button

    def note(label, **options):
        offers[label] = options
        return offer(label, **options)

    monkeypatch.setattr(streamlit, "download_button", note)
    monkeypatch.setenv(INSECURE, "1")
    monkeypatch.setattr(cache, "open_library", lambda: library)
    opened("data", data=record.label)
    download = offers["Download"]
    assert download["file_name"] == "My-board.zip"
    assert unpacked(download["data"]()) == {
        "strict.trec": STRICT.encode(),
        "qrels.txt": QRELS.encode(),
        "paper.csv": PUBLISHED.data,
    }


def test_a_damaged_upload_is_not_downloaded(library):
    file = library.keep(FIRST).spec.entries[0].file
    replace_bytes(library, file.sha256, b"damaged")
    with pytest.raises(LibraryError, match=r"strict\.trec: the library's copy"):
        zipped([file])


def test_files_of_one_name_are_all_there():
    files = [File("t.csv.gz", b"1"), File("T.csv.gz", b"2"), File("t.csv.gz", b"3")]
    assert unpacked(zipped(files)) == {"t.csv.gz": b"1", "T-2.csv.gz": b"2", "t-3.csv.gz": b"3"}


@pytest.mark.parametrize(
    ("name", "plain"),
    [
        ("llm.trec", "llm.trec"),
        ("today/llm.trec", "today-llm.trec"),
        ("../../etc/passwd", "-..-etc-passwd"),
        ("..", "file"),
        ("", "file"),
        ("C:\\evil", "C--evil"),
        ("a\nb\x1b.trec", "a-b-.trec"),
        (".hidden", "hidden"),
        ("Ωμέγα 🎯.trec", "Ωμέγα 🎯.trec"),
    ],
)
def test_a_name_in_the_zip_stays_in_its_folder(name, plain):
    assert zip_names([name]) == [plain]
