"""A server for several people, with an OpenID provider of its own: who comes in, and what others see."""

import re

import pytest
from barriers import barriers
from pages import opened_profile, settle
from pictures import take_picture
from playwright.sync_api import expect

from dashboard import cache


@pytest.fixture(scope="module")
def profile(browser, gated_server):
    """One profile for all pages of that server."""
    with opened_profile(browser, gated_server) as context:
        yield context


@pytest.fixture
def stranger(profile):
    """A page of somebody the server does not know, and all that the server sends to it."""
    profile.clear_cookies()
    page, frames = profile.new_page(), []
    page.on("websocket", lambda socket: socket.on("framereceived", lambda frame: frames.append(frame)))  # noqa: PLW0108 Playwright takes no built-in
    yield page, frames
    page.close()


def sign_in(page, person):
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("button", name=person, exact=True).click()
    settle(page)


def leave(page):
    """Go from the app to the provider, where the session can be ended."""
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("button", name="End session")).to_be_visible()


def end_session(page, frames):
    """End the session at the provider, and come back as anybody."""
    page.get_by_role("button", name="End session").click()
    settle(page)
    sees_only(page, frames, "Sign in to TieScope")


def sees_only(page, frames, title):
    """Nothing but the gate is drawn, and nothing of the data was sent."""
    expect(page.locator("h1")).to_have_text(title)
    expect(page.get_by_test_id("stSidebar")).to_have_count(0)
    expect(page.get_by_role("dialog")).to_have_count(0)
    names = [
        *cache.SAMPLES,
        *(name for label in cache.SAMPLES for name in cache.sample_board(label).runs.rerankers),
    ]
    assert not [name for name in names if name.encode() in b"".join(frames)]


def barriers_of(page, name, scheme):
    """What keeps a reader out of a gate page; and a picture of it. A gate takes its theme as it is loaded."""
    take_picture(page, f"{name}-{scheme}")
    return barriers(page, f"{name}, {scheme}")


def test_a_stranger_sees_the_sign_in_page_then_the_linked_page_until_sign_out(stranger, gated_server):
    page, frames = stranger
    page.goto(f"{gated_server}/rerankers?measure=AP")
    settle(page)
    sees_only(page, frames, "Sign in to TieScope")
    expect(page.get_by_role("button")).to_have_text(["Sign in"])
    problems = barriers_of(page, "sign-in", "light")
    sign_in(page, "ada")
    expect(page).to_have_url(f"{gated_server}/rerankers?measure=AP")
    settle(page, "Rerankers")
    page.reload()
    settle(page, "Rerankers")
    expect(page.get_by_test_id("stSidebar")).to_contain_text(re.compile("Signed in as ada\u2060?@example"))
    page.emulate_media(color_scheme="dark")
    leave(page)
    frames.clear()  # what Ada was sent
    end_session(page, frames)
    problems += barriers_of(page, "sign-in", "dark")
    page.reload()
    settle(page)
    sees_only(page, frames, "Sign in to TieScope")
    assert problems == []


def test_signing_out_ends_other_tabs_at_their_next_click(stranger, profile, gated_server):
    page, _ = stranger
    page.goto(gated_server)
    settle(page)
    sign_in(page, "ada")
    other = profile.new_page()
    other.goto(f"{gated_server}/data")
    settle(other, "Data")
    leave(page)
    other.get_by_role("button", name="Sample data").click()
    settle(other, "You are signed out")
    expect(other.get_by_test_id("stSidebar").get_by_role("combobox")).to_have_count(0)
    expect(other.get_by_test_id("stMain").get_by_role("button")).to_have_text(["Sign in"])
    sign_in(other, "bob")
    settle(other, "Data")
    expect(other.get_by_test_id("stSidebar")).to_contain_text(re.compile("Signed in as bob⁠?@example"))
    other.close()


def test_who_is_not_on_the_list_or_not_verified_is_told_so_and_sees_nothing(stranger, gated_server):
    page, frames = stranger
    page.goto(gated_server)
    problems = []
    for person, address, scheme in (("eve", "_eve_", "light"), ("unverified", "ada", "dark")):
        page.emulate_media(color_scheme=scheme)
        sign_in(page, person)
        sees_only(page, frames, "Not allowed in")
        expect(page.get_by_test_id("stMain")).to_contain_text(f"You are signed in as {address}")
        problems += barriers_of(page, "not-allowed", scheme)
        leave(page)
        end_session(page, frames)
    assert problems == []
