"""A page whose connection was lost goes on as after a refresh."""

import re

import pytest
from boards import COARSE, QRELS, STRICT
from pages import LIGHT_RUNS, go, settle, upload
from playwright.sync_api import expect

LOST = "[data-testid=stApp]:not([data-test-connection-state=CONNECTED])"


@pytest.fixture
def files(tmp_path):
    texts = {"strict.trec": STRICT, "coarse.trec": COARSE, "qrels.txt": QRELS}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    return [tmp_path / name for name in texts]


@pytest.fixture
def page(server, elsewhere):
    """A page of a browser in which failed connections are no errors."""
    with elsewhere.new_page() as page:
        page.goto(server + LIGHT_RUNS)
        settle(page)
        yield page


def shown_address(page, files):
    """The query of the address of a board of these files, shown in another tie order than at first."""
    upload(page, files)
    page.wait_for_url(re.compile(r"data=\w+$"))
    page.goto(f"{page.url}&order=optimistic")
    settle(page)
    expect(page.get_by_test_id("stSidebar")).to_contain_text("2 rerankers")
    return page.url.partition("?")[2]


def shows_same(page, address):
    """Look whether the next page of the menu shows the same board in the same tie order."""
    go(page, "Compare")
    page.wait_for_url(f"**/compare?{address}")
    expect(page.get_by_test_id("stSidebar")).to_contain_text("2 rerankers")


def test_a_new_session_after_a_gap_in_the_connection_begins_from_the_address(page, files, restart):
    address = shown_address(page, files)
    restart()
    shows_same(page, address)


def test_a_page_that_comes_back_to_its_session_shows_the_same(page, files):
    sockets = []

    def follow(socket):
        sockets.append(socket)
        socket.connect_to_server()

    page.route_web_socket("**/_stcore/stream", follow)
    address = shown_address(page, files)
    sockets[-1].close()
    page.wait_for_selector(LOST)
    shows_same(page, address)
    assert len(sockets) > 1


def test_a_board_of_this_session_only_that_is_gone_after_a_gap_is_said_to_be(page, files, restart):
    page.get_by_text("This session only").click()
    address = shown_address(page, files)
    restart()
    warning = page.get_by_test_id("stAlert")
    expect(warning).to_contain_text("is not on this server or is not shared with you")
    expect(warning).to_contain_text("A board of This session only is lost")
    settle(page)
    assert address in page.url
