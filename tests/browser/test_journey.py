"""What a person does: upload, read, switch, go back, share, save a chart, open the list of a dot."""

import re

import pytest
from boards import COARSE, QRELS, STRICT
from pages import LIGHT_RUNS, go, settle, upload
from playwright.sync_api import expect
from streamlit.proto.BackMsg_pb2 import BackMsg

import metrics


@pytest.fixture
def files(tmp_path):
    """Two runs and judgments on disk, and what they score."""
    paths = [tmp_path / name for name in ("strict.trec", "coarse.trec", "qrels.txt")]
    for path, text in zip(paths, (STRICT, COARSE, QRELS), strict=True):
        path.write_text(text)
    runs = metrics.read_runs(paths[:2], paths[2])
    means = metrics.evaluate(runs, ["RR", "nDCG@10"], ["expected"]).summary()
    return paths, means


def ranked(page):
    """The table of the Leaderboard."""
    return page.locator("table[role=grid]").first


def expect_radio(page, name):
    return expect(page.get_by_role("radio", name=name, exact=True).first)


def test_upload_read_switch_go_back_share_and_present_by_keys(new_page, files):
    paths, means = files
    page = new_page(LIGHT_RUNS)
    upload(page, paths[0])
    expect(page.get_by_test_id("stMain")).to_contain_text("judgments")  # a run alone has none
    upload(page, paths[1:])
    settle(page, "Leaderboard")
    expect(page.get_by_text("Your data: 2 runs")).to_be_visible()
    expect(ranked(page)).to_contain_text(str(means["RR", "expected", "mean"].max())[:6])
    expect(ranked(page)).to_contain_text("coarse")

    page.get_by_role("radio", name="nDCG@10").click()
    tied = str(means["nDCG@10", "expected", "mean"].max())[:6]
    expect(ranked(page)).to_contain_text(tied)
    expect(page).to_have_url(re.compile(r"measure=nDCG%4010"))
    go(page, "Rerankers")
    expect_radio(page, "nDCG@10").to_be_checked()
    page.get_by_role("radio", name="AP", exact=True).first.click()
    expect(page).to_have_url(re.compile("rerankers.*measure=AP"))
    settle(page)

    page.go_back()
    expect(page.locator("h1")).to_have_text("Leaderboard")
    settle(page)
    expect_radio(page, "nDCG@10").to_be_checked()
    link = page.url
    page.go_forward()
    expect(page.locator("h1")).to_have_text("Rerankers")
    settle(page)
    expect_radio(page, "AP").to_be_checked()

    other = new_page(link.removeprefix(link.split("/?")[0]))
    expect(ranked(other)).to_contain_text(tied)
    expect_radio(other, "nDCG@10").to_be_checked()
    expect(ranked(other)).to_contain_text("coarse")

    go(other, "Share")
    other.get_by_role("radio", name="nDCG@10").click()
    expect(other).to_have_url(re.compile("share.*measure=nDCG"))
    other.get_by_test_id("stMain").get_by_role("link", name="Present").click()
    settle(other, "Present")
    expect(other.get_by_test_id("stSidebar")).to_be_hidden()
    other.keyboard.press("ArrowRight")
    expect(other).to_have_url(re.compile(r"present.*measure=nDCG%4010&slide=2"))
    settle(other)
    other.keyboard.press("ArrowLeft")
    expect(other).not_to_have_url(re.compile("slide"))
    settle(other)
    other.keyboard.press("Escape")
    expect(other.locator("h1")).to_have_text("Share")


CLICK_TWO_PAGES = """([first, second]) => {
    const link = path => document.querySelector(`[data-testid=stSidebarNav] a[href$='${path}']`);
    const push = history.pushState;
    history.pushState = (...entry) => {
        push(...entry);
        if (location.pathname !== first) return;
        history.pushState = push;
        link(second).click();
    };
    link(first).click();
}"""
"""Open a page of the menu, and another as soon as the first is in the history."""


def test_back_to_a_page_left_at_once_and_to_that_of_the_upload_keeps_the_board(new_page, files):
    page = new_page("/data")
    upload(page, files[0])
    settle(page, "Leaderboard")
    board = page.get_by_role("combobox", name="Board")
    own_board = board.input_value()
    assert "Sample" not in own_board
    page.evaluate(CLICK_TWO_PAGES, ["/share", "/query"])
    settle(page, "Queries")
    for title in ("Share", "Leaderboard", "Data"):
        page.go_back()
        settle(page, title)
        expect(board).to_have_value(own_board)
        expect(page).to_have_url(re.compile("data="))
    page.reload()
    settle(page, "Data")
    expect(board).to_have_value(own_board)


WATCH_LEFTOVERS = """title => {
    window.leftovers = [];
    const look = () => {
        if (document.querySelector('h1')?.innerText === title) {
            if (document.querySelector('[data-testid=stApp]').dataset.testScriptState === 'notRunning') return;
            const stale = [...document.querySelectorAll('[data-testid=stMain] [data-stale=true]')];
            window.leftovers.push(...stale.filter(part => part.checkVisibility()).map(part => part.innerText));
        }
        requestAnimationFrame(look);
    };
    look();
}"""
"""Note what is in sight of the page before while a page of that title is drawn."""


def test_a_page_that_opens_by_itself_shows_nothing_of_the_page_before_below_its_title(new_page, files):
    page = new_page(LIGHT_RUNS)
    page.evaluate(WATCH_LEFTOVERS, "Leaderboard")
    upload(page, files[0])
    settle(page, "Leaderboard")
    assert page.evaluate("window.leftovers") == []
    expect(page.locator("body.new-page")).to_have_count(0)


FIRST_BYTES = {"SVG": b"<svg", "PNG": b"\x89PNG"}


def test_saving_a_chart_or_a_link_needs_no_run_and_a_dot_opens_its_list(new_page):
    reruns = []

    def note_rerun(frame):
        request = BackMsg.FromString(frame).rerun_script
        if request.ByteSize() and not request.is_auto_rerun:
            reruns.append(request)

    page = new_page("/ties?data=Sample%3A+simulated+rerankers", on_frame_sent=note_rerun)
    assert reruns
    reruns.clear()
    plot = page.locator(".js-plotly-plot").first
    plot.hover()
    for kind, first_bytes in FIRST_BYTES.items():
        with page.expect_download() as download:
            plot.locator(f'.modebar-btn[data-title="Save as {kind}"]').click()
        assert download.value.path().read_bytes().startswith(first_bytes)
        assert download.value.suggested_filename.endswith(kind.lower())
    icons = plot.locator(".modebar-btn path").evaluate_all("paths => paths.map(path => path.getAttribute('d'))")
    assert len(set(icons)) == len(FIRST_BYTES)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy link").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == page.url
    page.get_by_role("button", name="Copy", exact=True).click()
    expect(page.get_by_role("button", name="Copied")).to_have_count(2)
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.endswith(f"TieScope (on this computer only): {page.url}")
    assert not reruns

    dot = page.evaluate(
        """() => {
            const plot = document.querySelector('.js-plotly-plot');
            const trace = plot._fullData.find(trace => trace.customdata && trace.type === 'scatter');
            const box = plot.getBoundingClientRect(), {xaxis, yaxis} = plot._fullLayout;
            return {
                x: box.left + xaxis._offset + xaxis.l2p(trace.x[0]),
                y: box.top + yaxis._offset + yaxis.l2p(trace.y[0]),
                query: trace.customdata[0][2],
            };
        }"""
    )
    page.mouse.move(dot["x"] - 3, dot["y"])
    page.mouse.move(dot["x"], dot["y"])
    page.mouse.click(dot["x"], dot["y"])
    link = page.get_by_role("link", name="Open in Queries")
    expect(link).to_be_visible()
    link.click()
    expect(page.locator("h1")).to_have_text("Queries")
    settle(page)
    expect(page.get_by_role("combobox", name="Query, largest gap first")).to_have_value(
        re.compile(rf"^{dot['query']} · ")
    )


def test_a_click_on_a_row_of_rerankers_opens_that_reranker(new_page):
    page = new_page("/rerankers?data=Sample%3A+simulated+rerankers")
    settle(page, "Rerankers")
    bar = page.evaluate(
        """() => {
            const plot = document.querySelector('.js-plotly-plot');
            const trace = plot._fullData.find(trace => trace.type === 'bar' && trace.xaxis === 'x2');
            const box = plot.getBoundingClientRect();
            const [x, y] = [trace.xaxis, trace.yaxis].map(id => plot._fullLayout[id.replace(/^(.)/, '$1axis')]);
            return {
                x: box.left + x._offset + x.l2p(trace.x[1] / 2),
                y: box.top + y._offset + y.l2p(trace.y[1]),
                name: plot._fullLayout.yaxis.ticktext[1],
            };
        }"""
    )
    page.mouse.move(bar["x"] - 3, bar["y"])
    page.mouse.move(bar["x"], bar["y"])
    page.mouse.click(bar["x"], bar["y"])
    expect(page.get_by_role("combobox", name="Open one reranker")).to_have_value(
        f"Open one reranker: {bar['name']}"
    )
    expect(page.get_by_role("heading", name=bar["name"])).to_be_visible()


def test_a_report_that_was_seen_some_pages_ago_is_not_sent_again(new_page):
    page, sizes, largest = new_page(f"{LIGHT_RUNS}&section=Library"), [], []
    page.on("websocket", lambda socket: socket.on("framereceived", lambda data: sizes.append(len(data))))
    page.reload()
    settle(page, "Data")
    for name in ("Share", "Data", "Guide", "Data", "Share"):
        sizes.clear()
        go(page, name)
        if not largest:
            page.get_by_text("Preview", exact=True).click()
        if name == "Share":
            expect(page.locator("iframe[title='Preview of the report']")).to_be_visible()
        largest.append(max(sizes))
    assert largest[0] > 10**6 > largest[-1]
