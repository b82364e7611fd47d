"""What a person does: upload, read, switch, share."""

import re

import pytest
from boards import COARSE, HOSTILE, QRELS, STRICT
from opening import DATA_PAGES
from pages import go, settle, upload
from playwright.sync_api import expect

import metrics


@pytest.fixture
def files(tmp_path):
    """Two runs and judgments on disk, and what they score."""
    paths = [tmp_path / name for name in ("strict.trec", "coarse.trec", "qrels.txt")]
    for path, text in zip(paths, (STRICT, COARSE, QRELS), strict=True):
        path.write_text(text)
    runs = metrics.read_runs(paths[:2], paths[2])
    means = metrics.evaluate(runs, ["RR", "Hits@3"], ["expected"]).summary()
    return paths, means


def best(page):
    return page.get_by_test_id("stMetricValue").first


def test_upload_read_switch_and_share(new_page, files):
    paths, means = files
    page = new_page("/runs")
    upload(page, paths)
    expect(page.get_by_text("2 runs and judgments")).to_be_visible()

    go(page, "Leaderboard")
    expect(best(page)).to_have_text(f"{means['RR', 'expected', 'mean'].max():.4f}")
    expect(page.locator("table[role=grid]").first).to_contain_text("coarse")

    page.get_by_role("radio", name="Hits@3").click()
    tied = f"{means['Hits@3', 'expected', 'mean'].max():.4f}"
    expect(best(page)).to_have_text(tied)
    go(page, "Rerankers")
    expect(page.get_by_role("radio", name="Hits@3").first).to_be_checked()
    go(page, "Leaderboard")
    expect(page).to_have_url(re.compile(r"measure=Hits%403"))

    other = new_page(page.url.removeprefix(page.url.split("/?")[0]))
    expect(best(other)).to_have_text(tied)
    expect(other.get_by_role("radio", name="Hits@3")).to_be_checked()
    expect(other.locator("table[role=grid]").first).to_contain_text("coarse")


WRONG = {
    "picture.csv": (b"\x89PNG\r\n\x1a\n\x00\x00", "line 1: this is a PNG picture"),
    "empty.trec": (b"", "line 1: the file is empty"),
    "bare.csv": (b"query_id,doc_id,text\n1,2,x\n", "line 1: no score column"),
    "word.trec": (b"1 Q0 a 1 0.5 t\n1 Q0 b 2 high t\n", "line 2: score 'high' is not a number"),
}


def test_a_wrong_file_is_named_with_its_line_and_loses_nothing(new_page, files, tmp_path):
    page = new_page("/runs")
    upload(page, files[0])
    expect(page.get_by_text("2 runs and judgments")).to_be_visible()
    expect(page).to_have_url(re.compile("data="))
    link = page.url
    for name, (content, message) in WRONG.items():
        wrong = tmp_path / name
        wrong.write_bytes(content)
        upload(page, wrong)
        expect(page.get_by_test_id("stAlert").filter(has_text=name)).to_have_count(1)
        expect(page.get_by_test_id("stAlert").filter(has_text=name)).to_contain_text(f"{name}, {message}")
        expect(page.get_by_text("2 runs and judgments")).to_be_visible()
        assert page.url == link
    go(page, "Leaderboard")
    expect(page.locator("table[role=grid]").first).to_contain_text("coarse")


def test_a_run_alone_waits_for_its_judgments(new_page, files):
    page = new_page("/runs")
    upload(page, files[0][0])
    expect(page.get_by_test_id("stAlert")).to_contain_text("relevant")
    upload(page, files[0][2])
    expect(page.get_by_text("1 run and judgments")).to_be_visible()


def test_a_click_on_a_dot_opens_its_list(new_page):
    page = new_page("/ties?data=Sample%3A+simulated+rerankers")
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
    link = page.get_by_role("link", name="Open in Query explorer")
    expect(link).to_be_visible()
    link.click()
    expect(page.locator("h1")).to_have_text("Query explorer")
    settle(page)
    expect(page.get_by_role("combobox", name="Query, largest gap first")).to_have_value(dot["query"])


def test_charts_follow_the_theme(new_page):
    page = new_page("/")
    dot = page.locator(".js-plotly-plot .scatterlayer path.point").last
    expect(dot).to_have_css("fill", "rgb(0, 114, 178)")
    page.emulate_media(color_scheme="dark")
    expect(dot).to_have_css("fill", "rgb(90, 180, 240)")


def test_a_names_markup_never_runs(new_page, tmp_path):
    path = tmp_path / "hostile.csv"
    path.write_text(HOSTILE)
    page = new_page("/runs")
    upload(page, path)
    expect(page.get_by_text("2 runs for")).to_be_visible()
    for title in DATA_PAGES.values():
        go(page, title)
        assert page.locator("img[src=x]").count() == 0
        assert page.locator("main script").count() == 0
