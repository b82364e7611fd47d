"""What README shows is what happens."""

import re

from opening import PAGES
from repository import ROOT

import tiescope

README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_first_example_prints_what_stands_below_it(capsys):
    code, printed = re.search(r"```python\n(.*?)```\n\n```text\n(.*?)```", README, re.DOTALL).groups()
    exec(code, {})  # noqa: S102 our own
    assert capsys.readouterr().out == printed


def test_the_example_of_files_reads_them(write, monkeypatch):
    code = next(text for text in re.findall(r"```python\n(.*?)```", README, re.DOTALL) if "bm25.trec" in text)
    for name in ("bm25.trec", "llm.trec"):
        path = write(name, "q Q0 a 1 1 t\n")
    write("qrels.txt", "q 0 a 1\n")
    monkeypatch.chdir(path.parent)
    exec(f"import tiescope, metrics\n{code}", names := {})  # noqa: S102 our own
    assert names["ev"].summary().index.to_list() == ["BM25", "LLM"]


def test_the_example_of_plain_lists_holds():
    code = next(text for text in re.findall(r"```python\n(.*?)```", README, re.DOTALL) if "approx" in text)
    exec(f"import tiescope, metrics\n{code}", {})  # noqa: S102 our own


def test_every_link_within_the_repository_leads_to_a_file():
    links = [link for link in re.findall(r"\]\(([^)\s]+)\)", README) if "://" not in link]
    assert len(links) > 10
    assert [link for link in links if not (ROOT / link).is_file()] == []


def test_every_page_of_the_menu_has_a_row_in_the_table_of_pages():
    table = README.partition("| page | what you see |\n|---|---|\n")[2].partition("\n\n")[0]
    pages = {row.split("|")[1].strip() for row in table.splitlines()}
    assert pages == {*PAGES.values()} - {"Large results", "Present"}


def test_the_number_of_tools_is_that_of_the_table_of_tools():
    assert re.search(r"how (\d+) tools break ties", README)[1] == str(len(tiescope.TOOLS))


def test_the_share_of_the_time_of_pytrec_eval_holds_for_each_row_of_the_comparison():
    rows = (ROOT / "docs/comparison.md").read_text(encoding="utf-8")
    ratios = re.findall(
        r"^\| dictionaries \| 10?,000 × 100 \|.* pytrec_eval \| ([\d.]+) \|", rows, re.MULTILINE
    )
    (ends,) = re.findall(
        r"in ([\d.]+) to ([\d.]+) of pytrec_eval's time for 1,000 dictionaries or more", README
    )
    assert len(ratios) == 2
    assert all(float(ends[0]) <= float(ratio) <= float(ends[1]) for ratio in ratios)
