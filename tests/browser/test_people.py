"""Several people on one server, who sign in by a real provider, and what none of them gets by asking."""

import json
from contextlib import ExitStack

import pytest
from gated import gated
from raw_client import XSRF, Client, upload
from servers import TIESCOPE, free_port, running
from websockets.exceptions import ConnectionClosed, InvalidStatus

EVIL = "evil.example"
SECRET = "0nly-in-the-file"  # noqa: S105 an id of a query
GATE = "Sign in to TieScope"
TABLE = "query_id,doc_id,score,relevance\n" + "".join(
    f"{SECRET},d{number},{number // 2},{number % 2}\n" for number in range(6)
)
PATHS = ("/auth/logout", "/auth/login", "/oauth2callback?state=x&code=y", "/oauth2callback?error=x", "/runs/")
FORGED = {
    "X_Forwarded_User": "ada@example.org",
    "X_Forwarded_Email": "ada@example.org",
    "X_Forwarded_Preferred_Username": "ada",
    "X_Auth_Request_Email": "ada@example.org",
    "X_Remote_User": "ada@example.org",
    "Remote_User": "ada@example.org",
    "X_Forwarded_For": "127.0.0.1",
    "X_Real_IP": "127.0.0.1",
    "X_Forwarded_Host": EVIL,
    "X_Forwarded_Proto": "https",
    "X_Forwarded_Prefix": f"//{EVIL}",
    "Forwarded": f"for=127.0.0.1;host={EVIL};proto=https",
}


@pytest.fixture(scope="module")
def signed_in(gated_server):
    """Ada and Bob, as they have just signed in."""
    with ExitStack() as stack:
        clients = {name: stack.enter_context(Client(gated_server)) for name in ("ada", "bob")}
        for name, client in clients.items():
            client.sign_in(name)
        yield clients


@pytest.fixture
def new_client(gated_server):
    """Somebody whom the server does not know, who sends these headers."""
    with ExitStack() as stack:
        yield lambda **headers: stack.enter_context(Client(gated_server, **headers))


@pytest.fixture(scope="module")
def board(signed_in):
    """The id of a board that Ada keeps for herself."""
    with signed_in["ada"].page(name="data") as page:
        page.drop("table.csv", TABLE.encode())
        assert "1 run" in page.text
        return page.board


def events(people, action):
    lines = (people.folder / "audit.jsonl").read_text().splitlines()
    return [event for event in map(json.loads, lines) if event["action"] == action]


def remove(http, path):
    """The answer to who takes back an upload."""
    return http.delete(path, headers={"X-Xsrftoken": http.cookies.get(XSRF, "").strip('"')})


def test_forwarded_headers_let_nobody_in_and_make_nobody_another(new_client, signed_in):
    stranger = new_client(**FORGED)
    with stranger.page() as page:
        assert GATE in page.text
    bob = new_client(**FORGED)
    bob.http.cookies.update(signed_in["bob"].http.cookies)
    with bob.page() as page:
        assert "Signed in as bob@example.org" in page.text


def test_nothing_is_served_to_another_host_or_to_a_page_of_another_port(new_client, signed_in):
    for headers in (
        {"Host": EVIL},
        {"Host": EVIL, "Origin": f"http://{EVIL}"},
        {"Origin": "http://127.0.0.1:1"},
    ):
        client = new_client(**headers, **FORGED)
        answers = [client.http.get(path) for path in (*PATHS, "/", "/_stcore/health", "/no/such/file")]
        assert [answer.status_code for answer in answers] == [403] * len(answers)
        assert not any("set-cookie" in answer.headers for answer in answers)
    with pytest.raises(InvalidStatus, match="403"), signed_in["ada"].page(origin="http://127.0.0.1:1"):
        pass


def test_forwarded_headers_lead_no_cookie_and_no_redirect_elsewhere(gated_server, new_client):
    client = new_client(**FORGED)
    with client.page() as page:
        page.click("Sign in")
        answers = [client.http.get(page.redirect)]
    answers += map(client.http.get, PATHS)
    answers += [
        client.http.get(f"{gated_server}//{EVIL}{path}") for path in ("", "/..", "/oauth2callback", "/runs/")
    ]
    for answer in answers:
        assert EVIL not in answer.headers.get("location", "")
        assert "domain" not in answer.headers.get("set-cookie", "").casefold()
    redirect_uri = answers[0].next_request.url.params["redirect_uri"]
    assert redirect_uri == f"{gated_server}/oauth2callback"


def test_anothers_board_is_not_there_by_its_id_its_hash_or_a_guess(people, signed_in, board):
    earlier = len(events(people, "refused"))
    for guess in (board, f"x · {board}", f"{board[:-1]}_", "%", "' OR ''='"):
        with signed_in["bob"].page(f"data={guess}") as page:
            assert "not on this server or is not shared with you" in page.text
            assert SECRET.encode() not in b"".join(page.frames)
    refusals = [(event["who"], event["board"]) for event in events(people, "refused")[earlier:]]
    assert refusals[:2] == [("bob@example.org", board)] * 2


def test_a_shared_board_is_read_not_changed_until_it_is_shared_no_more(people, signed_in, board):
    ada, bob = signed_in["ada"], signed_in["bob"]
    with ada.page(f"data={board}", "data") as own:
        own.tick("Anyone with the link")
        with bob.page(f"data={board}&section=Columns", "data") as rows:
            assert SECRET.encode() in b"".join(rows.frames)
        with bob.page(f"data={board}", "data") as other:
            assert "Shared with you. You can read this board" in other.text
            assert other.find("button", "Duplicate")
            assert not other.find("button", "Delete")
            own.tick("Anyone with the link", is_on=False)
            other.frames.clear()
            assert "not shared with you" in other.run().text
            assert SECRET.encode() not in b"".join(other.frames)
        own.tick("Anyone with the link")
        with bob.page(f"data={board}") as other:
            assert "not shared with you" not in other.run(part=other.part).text
            own.tick("Anyone with the link", is_on=False)
            other.frames.clear()
            assert "not shared with you" in other.run(part=other.part).text
            assert SECRET.encode() not in b"".join(other.frames)
    assert [event["access"] for event in events(people, "shared")] == ["link", "private"] * 2


def test_large_messages_are_taken_of_who_is_signed_in_and_no_larger_ones(new_client, signed_in):
    for client, megabytes, is_taken in [
        (new_client(), 0.9, True),
        (new_client(), 1.1, False),
        (signed_in["ada"], 9, True),
        (signed_in["ada"], 11, False),
    ]:
        text = {"string_value": "x" * int(megabytes * 10**6)}
        if is_taken:
            with client.page() as page:
                page.run(field=text)
        else:
            endings = (end_of_page(client, text) for _ in range(5))
            assert any("1009" in ending for ending in endings), "the reason is lost if it ends while sending"


def end_of_page(client, text):
    """How the server ends a page that sends a text."""
    with client.page() as page, pytest.raises(ConnectionClosed) as ended:
        page.run(field=text)
    return str(ended.value)


def test_no_message_of_a_stranger_clears_what_others_hold_in_memory(new_client, signed_in):
    with signed_in["ada"].page(name="data") as page:
        page.tick("This session only").drop("strict.csv", TABLE.replace(SECRET, "q").encode())
        link = page.query
        with new_client().page() as stranger:
            stranger.send(clear_cache=True)
            stranger.run()
        assert "In memory only" in page.run().text
        with signed_in["ada"].page(link, "data") as again:
            assert "In memory only" in again.text


def test_what_is_there_for_this_session_only_is_nobody_else_s_by_any_id(new_client, signed_in):
    ada_again = new_client()
    ada_again.sign_in("ada")
    with signed_in["ada"].page(name="data") as page:
        page.tick("This session only").drop("private.csv", TABLE.encode())
        offer, link, path = page.offer("Download"), page.board, f"/_stcore/upload_file/{page.session}/x"
        for thief in (new_client(), signed_in["bob"]):
            with thief.page(f"data={link}", "data", resume=page.session) as stolen:
                assert stolen.session != page.session
                assert SECRET.encode() not in b"".join(stolen.frames)
                assert stolen.download(offer) == ""
            assert thief.http.get(page.download(offer)).status_code == 404
            assert upload(thief.http, path, "x", b"x").status_code == 403
            assert remove(thief.http, path).status_code == 403
        with ada_again.page(f"data={link}", "data") as other_sign_in:
            assert "not on this server" in other_sign_in.text
            assert SECRET.encode() not in b"".join(other_sign_in.frames)
        answers = [
            signed_in["ada"].http.get(page.download(offer)),
            upload(signed_in["ada"].http, path, "x", b"x"),
        ]
        answers += [remove(signed_in["ada"].http, path), signed_in["ada"].http.get("/")]
        assert [answer.status_code for answer in answers] == [200, 204, 204, 200]
        assert {answer.headers["Cache-Control"] for answer in answers} == {"private, no-store"}


def test_a_deleted_session_board_is_gone_from_all_pages_of_its_visitor(signed_in):
    with ExitStack() as stack:
        page = stack.enter_context(signed_in["ada"].page(name="data"))
        page.tick("This session only").drop("gone.csv", TABLE.replace("d1", "gone").encode())
        whole, body, after = (stack.enter_context(signed_in["ada"].page(page.query, "data")) for _ in range(3))
        assert all("In memory only" in other.text for other in (whole, body, after))
        offer = after.offer("Download")
        page.click("Delete")
        for other in (whole, body):
            other.frames.clear()
        assert after.download(offer) == ""
        for text in (whole.run().text, body.run(part=body.part).text):
            assert "not on this server" in text
        assert SECRET.encode() not in b"".join(whole.frames + body.frames)


def test_a_file_taken_out_of_a_board_of_one_session_is_on_none_of_its_pages(signed_in):
    with signed_in["ada"].page(name="data") as page:
        page.tick("This session only").drop("first.csv", TABLE.replace("d1", "first").encode())
        page.tick("Add to this board").drop("second.csv", TABLE.replace("d2", "second").encode())
        with signed_in["ada"].page(page.query, "data") as other:
            assert b"first.csv" in b"".join(other.frames)
            other.frames.clear()
            page.click("Remove")
            other.run()
            assert b"first.csv" not in b"".join(other.frames)
            assert b"second.csv" in b"".join(other.frames)


def test_signing_out_ends_every_page_of_the_sign_in_and_every_copy_of_its_cookie(new_client, signed_in):
    ada, thief = new_client(), new_client()
    ada.sign_in("ada")
    thief.http.cookies.update(ada.http.cookies)
    with ExitStack() as stack:
        page = stack.enter_context(ada.page(name="data"))
        page.tick("This session only").drop("secret.csv", TABLE.encode())
        other, body = (stack.enter_context(ada.page(page.query, "data")) for _ in range(2))
        offer, made = other.offer("Download"), other.download(other.offer("Download"))
        path = f"/_stcore/upload_file/{other.session}/x"
        assert thief.http.get(made).status_code == 200
        ada.http.get("/auth/logout")
        for old in (page, other, body):
            old.frames.clear()
        assert other.download(offer) == ""
        for text in (page.click("Keep").text, other.run().text, body.run(part=body.part).text):
            assert "You are signed out" in text
        assert SECRET.encode() not in b"".join(page.frames + other.frames + body.frames)
        with thief.page(page.query, resume=other.session) as copied:
            assert GATE in copied.text
            assert SECRET.encode() not in b"".join(copied.frames)
        assert thief.http.get(made).status_code == 404
        assert upload(thief.http, path, "x", b"x").status_code == 403
        assert remove(thief.http, path).status_code == 403
    with signed_in["ada"].page() as elsewhere:
        assert "Signed in as ada@example.org" in elsewhere.text


def test_signing_out_ends_the_pages_own_sign_in_whatever_the_cookie(new_client):
    ada, old = new_client(), new_client()
    ada.sign_in("ada")
    old.http.cookies.update(ada.http.cookies)
    with ada.page() as page, new_client() as bob:
        bob.sign_in("bob")
        ada.http.cookies.update(bob.http.cookies)
        page.click("Sign out")
        assert page.redirect == "/auth/logout"
    with old.page() as copied:
        assert GATE in copied.text


def test_without_sign_in_a_session_board_belongs_to_its_browser(tmp_path):
    port = free_port()
    address, command = f"http://127.0.0.1:{port}", [*TIESCOPE, "app", "--insecure", "--port", str(port)]
    with (
        running(command, f"{address}/_stcore/health", tmp_path, {"TIESCOPE_HOME": str(tmp_path)}),
        Client(address) as browser,
        Client(address) as other_browser,
    ):
        with browser.page(name="data") as page:
            page.tick("This session only").drop("private.csv", TABLE.encode())
            link = page.query
        with browser.page(link, "data") as again:
            assert "In memory only" in again.text
        with other_browser.page(link, "data") as stolen:
            assert "not on this server" in stolen.text
            assert SECRET.encode() not in b"".join(stolen.frames)


def test_behind_a_proxy_that_speaks_tls_cookies_go_by_https_alone(tmp_path):
    with (
        gated(tmp_path, ["ada@example.org"], scheme="https") as address,
        Client(address.replace("http:", "https:"), via=address) as ada,
    ):
        signed_in = ada.sign_in("ada")
        with ada.page(name="data") as page:
            assert "Signed in as ada@example.org" in page.text
            made = ada.http.get(page.download(page.offer("Download")))
        assert (made.status_code, made.headers["Cache-Control"]) == (200, "private, no-store")
        cookies = [*signed_in.headers.get_list("set-cookie"), *ada.http.get("/").headers.get_list("set-cookie")]
        cookies += ada.http.get("/_stcore/health").headers.get_list("set-cookie")
        names = {cookie.partition("=")[0]: cookie.casefold() for cookie in cookies}
        assert {"_streamlit_user", "_streamlit_user_tokens", XSRF} <= names.keys()
        assert all("; secure" in cookie and "samesite=lax" in cookie for cookie in names.values())
        assert "httponly" in names["_streamlit_user"]
        ada.http.get("/auth/logout")
        with ada.page() as page:
            assert GATE in page.text
