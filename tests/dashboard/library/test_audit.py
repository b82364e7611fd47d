"""Who did what and when, as the audit log has it."""

import json
import os
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

import pytest
from boards import COARSE, QRELS, board
from full_disk import largest_file
from libraries import ANNA, BERT, FIRST, OTHER, keep_as, sha

from dashboard.library import audit
from dashboard.library.audit import AUDIT_LOG, record_event
from metrics.errors import LibraryError

HOSTILE = 'a\nb","who":"eve@example.org\x1b]0;x\x07\u2028\u202e\ud800{"'


@pytest.fixture
def log(tmp_path, monkeypatch):
    """The file that events are appended to."""
    monkeypatch.setenv(AUDIT_LOG, str(tmp_path / "audit.jsonl"))
    return tmp_path / "audit.jsonl"


def events(log):
    return [json.loads(line) for line in log.read_bytes().split(b"\n")[:-1]]


def actions(log):
    return [(event["action"], event["who"]) for event in events(log)]


def test_every_change_of_the_library_is_one_line_that_says_who_what_and_when(library, log):
    record = library.keep(FIRST, ANNA)
    library.save_view(record.id, {"depth": 5}, ANNA)
    library.share(record.id, "link", ANNA)
    double = library.duplicate(record.id, BERT)
    library.rename(double.id, "Bert's", BERT)
    library.revise(double.id, library.find(double.id, BERT).version, OTHER, BERT)
    library.delete(record.id, ANNA)
    library.restore(record.id, ANNA)
    library.delete(double.id, BERT)
    third = library.keep(OTHER, BERT)
    library.discard(sha(third), BERT)
    library.restore(third.id, BERT)
    assert actions(log) == [
        *((action, ANNA) for action in ("kept", "saved view", "shared")),
        *((action, BERT) for action in ("duplicated", "renamed", "changed")),
        *((action, ANNA) for action in ("deleted", "restored")),
        *((action, BERT) for action in ("deleted", "kept", "deleted", "restored")),
    ]
    kept, _, shared, *_, discarded, _ = events(log)
    assert (kept["board"], kept["name"], kept["files"]) == (record.id, "strict", ["strict.trec", "qrels.txt"])
    assert (shared["board"], shared["access"]) == (record.id, "link")
    assert discarded["upload"] == sha(third)
    assert abs((datetime.now(UTC) - datetime.fromisoformat(kept["time"])).total_seconds()) < 3600


def test_what_was_refused_is_not_said_to_be_done(library, log):
    record = library.keep(FIRST, ANNA)
    for operation in (library.delete, library.duplicate, lambda *who: library.share(record.id, "link", who[1])):
        with pytest.raises(LibraryError):
            operation(record.id, BERT)
    assert actions(log) == [("kept", ANNA)]


def test_hostile_names_stay_inside_their_line(library, log):
    keep_as(library, FIRST, ANNA, name=HOSTILE)
    record_event("refused", HOSTILE, path=HOSTILE)
    content = log.read_bytes()
    assert content.isascii()
    assert content.count(b"\n") == 3
    assert not set(content) & set(range(10)) | set(content) & set(range(11, 32))
    assert events(log)[2] | {"time": ""} == {"time": "", "who": HOSTILE, "action": "refused", "path": HOSTILE}
    assert [event["action"] for event in events(log)] == ["kept", "renamed", "refused"]


def test_it_holds_no_contents_and_no_more_of_a_stranger_than_tells_sessions_apart(library, log):
    stranger = f"visitor:{'5ec2e7' * 10}"
    library.keep(board(coarse_trec=COARSE, qrels_txt=QRELS + "secret-query 0 secret-document 1\n"), stranger)
    text = log.read_text()
    assert "secret" not in text
    assert stranger not in text
    assert events(log)[0]["who"] == "visitor:5ec2e75e"


def test_only_its_owner_reads_it(log):
    record_event("opened", ANNA)
    assert log.stat().st_mode & 0o777 == 0o600


def test_lines_written_at_once_do_not_mix(log):
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda number: record_event("opened", ANNA, name=f"{number} " * 60), range(200)))
    assert sorted(int(event["name"].split()[0]) for event in events(log)) == list(range(200))


def test_a_line_that_a_full_disk_cuts_is_taken_back_and_goes_to_the_servers_log(log, monkeypatch):
    messages = []
    monkeypatch.setattr(audit._LOG, "error", lambda text, *parts: messages.append(text % parts))  # noqa: SLF001 whatever other tests did to logging
    record_event("opened", ANNA)
    size = log.stat().st_size
    with largest_file(size + 20):
        record_event("deleted", BERT, name="cut")
    record_event("opened", BERT)
    assert actions(log) == [("opened", ANNA), ("opened", BERT)]
    (message,) = messages
    assert "The audit log" in message
    assert '"who": "bert@example.org", "action": "deleted", "name": "cut"' in message


def test_the_command_refuses_a_log_that_cannot_be_written(call, streamlit_calls, tmp_path):
    code, _, err = call("app", "--audit-log", tmp_path / "nowhere" / "audit.jsonl")
    assert (code, streamlit_calls) == (2, [])
    assert "no such file or directory" in err


def test_the_command_tells_the_app_where_the_log_is(call, streamlit_calls, tmp_path, monkeypatch):
    monkeypatch.setenv(AUDIT_LOG, "")
    assert call("app", "--audit-log", "audit.jsonl")[0] == 0
    assert os.environ[AUDIT_LOG] == str(tmp_path / "audit.jsonl")
    assert len(streamlit_calls) == 1
