import json
import re
from datetime import date
from html.parser import HTMLParser
from itertools import pairwise

import pandas as pd
import pytest
from boards import COARSE, EXTREMES, HOSTILE, QRELS, STRICT, board
from markdown_it import MarkdownIt
from plotly.offline import get_plotlyjs_version
from repository import SAMPLE
from tradeoff_boards import TIMED

from dashboard.charts.palette import DARK, LIGHT
from dashboard.charts.report import CHARTS, draw_charts
from dashboard.charts.targets import target_bullets, target_matrix
from metrics import Runs, UsageError, evaluate, read_table
from metrics.report import SECTIONS, Table, report, write_report
from metrics.studies.audit.published import read_published
from metrics.studies.audit.published_table import example_table
from metrics.studies.leaderboard import leaderboard
from metrics.studies.pair_findings import verdicts
from metrics.studies.prose import plain
from metrics.studies.swapped_orders import swapped_orders
from metrics.studies.targets import PRESETS
from metrics.studies.verdict_sentence import leaderboard_verdict

DAY, NEXT = date(2026, 1, 30), date(2026, 1, 31)
SIMULATED = {"files": [("llm_rerankers.csv", "ab" * 32)], "targets": PRESETS["retrieval"], "preset": "full"}


@pytest.fixture(scope="module")
def simulated():
    return read_table(SAMPLE / "llm_rerankers.csv")


@pytest.fixture(scope="module")
def simulated_report(simulated):
    return report(simulated, **SIMULATED, published=published_table(simulated))


@pytest.fixture(scope="module")
def simulated_charts(simulated_report):
    return draw_charts(simulated_report)


@pytest.fixture(scope="module")
def made_again(simulated):
    """The same report, made and drawn a second time."""
    again = report(simulated, **SIMULATED, published=published_table(simulated))
    return again, draw_charts(again)


def published_table(runs):
    """What a careless script prints of runs, one figure of it mistaken."""
    text = example_table(evaluate(runs, ["RR", "Hits@1"], "input"), ["RR", "Hits@1"])
    return read_published({"table.csv": text.replace("0.6748", "0.6848").encode()})


def of(**files):
    return report(board(**files).runs, preset="full")


def section(finished, name):
    return next(each for each in finished.sections if each.name == name)


class Elements(HTMLParser):
    """Elements of a file, and the text outside scripts and styles."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.text, self._silent = [], "", False
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        self._silent = tag in ("script", "style")

    def handle_endtag(self, tag):
        self._silent = self._silent and tag not in ("script", "style")

    def handle_data(self, data):
        self.text += "" if self._silent else data


def test_a_full_report_has_every_section(simulated_report):
    assert [each.name for each in simulated_report.sections] == [name for name in SECTIONS if name != "paper"]
    assert plain(simulated_report.recommendation).startswith("Report MTRR")


def test_its_first_line_is_the_verdict_of_the_leaderboard_in_every_form(simulated_report):
    table = leaderboard(evaluation := simulated_report.studies.evaluation, "RR", "input")
    swaps, pairs = swapped_orders(evaluation, "RR", "input"), verdicts(evaluation, "RR", "input")
    verdict = plain(leaderboard_verdict(table, swaps, pairs, evaluation, "RR"))
    assert plain(simulated_report.conclusion) == verdict
    first_sentence = verdict.partition(". ")[0]
    lines = simulated_report.markdown(DAY).splitlines()
    assert first_sentence in next(line for line in lines[1:] if line).replace("*", "").replace("\\", "")
    page = Elements(simulated_report.html(DAY)).text.split(simulated_report.title)[-1]
    assert page.strip().startswith(first_sentence)


def test_its_scores_are_those_of_an_evaluation(simulated_report, simulated):
    means = evaluate(simulated, ["RR"]).summary()["RR"].xs("mean", axis=1, level=1)
    rows = section(simulated_report, "scores").tables[0].frame.set_index("Reranker")
    for heading, ties in (
        ("MTRR", "expected"),
        ("File order", "input"),
        ("Worst", "pessimistic"),
        ("Best", "optimistic"),
    ):
        pd.testing.assert_series_equal(
            rows[heading].sort_index(), means[ties].sort_index(), check_names=False, check_index_type=False
        )


def test_it_holds_the_notebooks_figures(simulated_report):
    ties = section(simulated_report, "ties").tables[0].frame.set_index("Reranker")
    assert set(ties.columns) >= {"With ties", "Tie groups per list", "Largest tie, mean", "Largest tie"}
    assert ties.loc["GPT-4 (Low Ties)", "Largest tie"] == 7
    assert ties.index[0] == "All lists"
    assert ties.loc["All lists", "|RR gap|, mean"] == pytest.approx(ties["|RR gap|, mean"].iloc[1:].mean())
    assert "| MRR | GPT-4 (Low Ties) | 0.6748 | 0.3664 | **0.6845** | 0.3524 |" in simulated_report.markdown(
        DAY
    )


@pytest.mark.parametrize(
    ("preset", "names"),
    [("short", ["summary", "swaps", "brief"]), ("paper", ["paper", "brief"]), ("full", None)],
)
def test_presets_choose_the_length_start_with_the_summary_and_add_no_targets(preset, names):
    finished = report(board(strict_trec=STRICT, coarse_trec=COARSE, qrels_txt=QRELS).runs, preset=preset)
    every = [name for name in SECTIONS if name not in ("paper", "targets", "audit")]
    assert [each.name for each in finished.sections] == (names or every)
    assert [each.name for each in finished.summary] == (names or ["summary", "swaps", "brief"])
    assert "missed" not in finished.markdown(DAY)


def test_the_orders_that_swap_stand_in_the_summary_with_both_values_p_and_chance(simulated):
    finished = report(simulated, traditional="optimistic", preset="short")
    assert plain(section(finished, "swaps").sentences[0]).startswith("4 of 6 pairs change order")
    (table,) = section(finished, "swaps").tables
    assert len(table.frame) == len(finished.studies.swaps) == 4
    assert list(table.frame)[:5] == [
        "Ranked first traditionally",
        "Ranked first with ties averaged",
        "Verdict",
        "MRR",
        "MTRR",
    ]
    first = finished.studies.swaps.iloc[0]
    assert table.frame["MRR"][0] == f"{first['traditional_a']:.4f} / {first['traditional_b']:.4f}"


def test_a_published_table_is_audited_with_a_sentence_its_figures_and_its_orders(simulated_report):
    audit = section(simulated_report, "audit")
    sentence = plain(audit.sentences[0])
    assert "7 of 8 figures are reproduced" in sentence
    assert "pairs with different published means" in sentence
    figures, pairs = audit.tables
    assert figures.frame["MRR"].tolist().count("0.6848 (−0.0100)") == 1
    assert len(pairs.frame) == len(simulated_report.studies.audited_order.pairs)
    assert "| 0.6848 (−0.0100) |" in simulated_report.markdown(DAY)
    assert "Values not reproduced: 1, with" in simulated_report.markdown(DAY)
    assert audit.title in simulated_report.latex(DAY)
    with pytest.raises(UsageError, match="needs a published table: --published"):
        report(simulated_report.studies.runs, sections=["audit"])


@pytest.mark.parametrize("write", ["markdown", "latex", "html"])
def test_two_reports_differ_in_nothing_but_the_line_of_their_date(
    simulated_report, simulated_charts, made_again, write
):
    again, charts_again = made_again
    charts = [(drawn,) if write == "html" else () for drawn in (simulated_charts, charts_again)]
    first, second = getattr(simulated_report, write)(DAY, *charts[0]), getattr(again, write)(DAY, *charts[1])
    assert first == second
    later = getattr(again, write)(NEXT, *charts[1])
    pairs = zip(first.splitlines(), later.splitlines(), strict=True)
    different = [one for one, other in pairs if one != other]
    assert len(different) == 1
    assert "2026-01-30" in different[0]


def test_the_hashes_of_its_files_and_the_versions_are_in_it(simulated_report):
    assert "ab" * 32 in simulated_report.markdown(DAY)
    assert re.search(r"tiescope \d+\.\d+.*, numpy \d+\.\d+", simulated_report.markdown(DAY))


def test_the_html_file_names_no_other_host_and_forbids_to_ask_any(simulated_report, simulated_charts):
    page = Elements(simulated_report.html(DAY, simulated_charts))
    linked = [
        value for _, attributes in page.tags for name, value in attributes.items() if name in ("src", "href")
    ]
    assert linked
    assert all(link.startswith("#") for link in linked)
    policy = next(attributes["content"] for tag, attributes in page.tags if attributes.get("http-equiv"))
    assert "default-src 'none'" in policy
    assert "http" not in policy


def test_every_chart_of_a_section_is_drawn(simulated_report, simulated_charts):
    charts = [name for each in simulated_report.sections for name in each.charts]
    ids = {
        attributes.get("id") for _, attributes in Elements(simulated_report.html(DAY, simulated_charts)).tags
    }
    assert {f"chart-{name}" for name in charts} <= ids
    assert len(charts) == len(set(charts)) == 8


@pytest.mark.parametrize("name", EXTREMES)
def test_a_report_of_extreme_data_has_targets_and_verdicts_in_words(name):
    finished = report(EXTREMES[name]().runs, targets=PRESETS["retrieval"], preset="full")
    assert plain(finished.recommendation)
    assert finished.markdown(DAY)
    assert finished.latex(DAY)
    assert finished.html(DAY, draw_charts(finished))
    studies = finished.studies
    rows = studies.targets[studies.targets["reranker"] == studies.targets_for].reset_index(drop=True)
    figure = target_bullets(rows, LIGHT)
    assert (
        len(figure.data[-1].x)
        == len(figure.layout.annotations)
        == len(figure.layout.shapes)
        == len(PRESETS["retrieval"])
    )
    assert len(target_matrix(studies.targets, LIGHT, studies.targets_for).data) == 4


def test_the_summary_has_thirty_rerankers_and_the_one_that_leads_by_its_sort():
    first_of_five = "".join(
        f"q{q} Q0 d{document} 1 1 t\n" for q in range(4) for document in sorted(range(5), key=lambda d: d != q)
    )
    runs = board(**{f"r{n:02}_trec": STRICT for n in range(35)}, lucky_trec=first_of_five, qrels_txt=QRELS).runs
    finished = report(runs, traditional="input", sections=["summary"])
    lucky = finished.studies.leaderboard.loc["lucky"]
    assert (lucky["tied_rank"], lucky["traditional_rank"]) == (36, 1)
    (table,) = section(finished, "summary").tables
    assert (len(table.rows), table.frame["Reranker"].iloc[-1]) == (31, "lucky")
    assert "lucky" in plain(finished.conclusion)


def test_names_are_shown_as_they_are_and_never_as_markup():
    finished = of(table_csv=HOSTILE)
    page = Elements(finished.html(DAY, draw_charts(finished)))
    assert "<b>*x*</b>$1$ [a](b) :red[a] %{x}" in page.text
    assert {"b", "i", "img", "a"} & {
        tag for tag, attributes in page.tags if tag != "a" or "href" not in attributes
    } == set()
    assert page.tags.count(("strong", {})) >= 1


def test_no_text_ends_a_script_of_the_html_file():
    finished = of(table_csv=HOSTILE.replace("<b>*x*</b>", "</script><script>alert(1)</script>"))
    charts = draw_charts(finished)
    html = finished.html(DAY, charts)
    assert "alert(1)" in html
    assert "<script>alert(1)" not in html
    assert html.count("<script type=") == 2 * len(charts.figures)


def test_names_mean_nothing_to_markdown():
    bad = HOSTILE.replace("%{x}", "www.x.y http://x.y _m_ @someone &lt; `c` ~~s~~ #1")
    text = of(table_csv=bad).markdown(DAY)
    assert "\u202e" not in text
    page = Elements(MarkdownIt("commonmark").enable(["table", "strikethrough"]).render(text))
    name = "<b>*x*</b>$1$ [a](b) :red[a] www.x.y http://x.y _m_ @someone &lt; `c` ~~s~~ #1"
    assert name in page.text.replace("\N{WORD JOINER}", "")
    ours = {*("h1", "h2", "h3", "p", "blockquote", "ul", "li", "strong"), *("thead", "tbody", "table")}
    ours |= {"tr", "th", "td"}
    assert {tag for tag, _ in page.tags} <= ours
    assert not re.search(r"(?i)(?<!\N{WORD JOINER})(://x|www\.x|@someone)", text)


def test_a_name_ends_no_row_and_no_cell_of_a_markdown_table():
    run = STRICT.replace("tag", "t")
    lines = of(**{"a|b_trec": run, "qrels_txt": QRELS}).markdown(DAY).splitlines()
    for above, line in pairwise(lines):
        if above.startswith("|") and line.startswith("|"):
            assert len(re.findall(r"(?<!\\)\|", above)) == len(re.findall(r"(?<!\\)\|", line))


def test_names_mean_nothing_to_latex():
    name = r"[b]\input{x}%&_#$~^*"
    text = report(board(r_trec=COARSE, qrels_txt=QRELS).runs.arranged({"r": name}), preset="full").latex(DAY)
    text = text.replace(r"\allowbreak{}", "")
    assert r"\input" not in text
    assert r"{[}b{]}\textbackslash{}input\{x\}\%\&\_\#\$\textasciitilde{}\textasciicircum{}{*}" in text
    body = re.sub(r"\\[{}]", "", text)
    assert body.count("{") == body.count("}")
    assert text.count(r"\begin{longtable}") == text.count(r"\end{longtable}") == text.count(r"\endhead")


def test_every_list_has_a_row_with_every_measure_and_treatment(simulated_report, simulated):
    rows = simulated_report.per_query()
    assert len(rows) == 400
    values = evaluate(simulated, ["nDCG@10"], ["expected"]).scores["nDCG@10", "expected"]
    assert rows["nDCG@10 expected"].tolist() == values.tolist()
    assert {"n_docs", "tie_ratio", "straddles_10", "RR std", "RR input"} <= set(rows.columns)


def test_the_table_of_every_measure_and_latency_is_in_every_form_of_the_report():
    finished = report(TIMED["some not timed"]().runs, baseline="slow", test="wilcoxon", sections=["tradeoffs"])
    lines = finished.markdown(DAY).splitlines()
    measures = "Hits@1 | Hits@5 | Hits@10 | Hits@20 | MRR | Recall@20 | DR@20 | Div@20 | Latency (s)"
    assert f"| Reranker | Ties | {measures} |" in lines
    rows = [
        line.strip("| ").split(" | ") for line in lines if line.startswith(("| fast", "| slow", "| middle"))
    ]
    assert sorted(row[:2] for row in rows) == [
        [name, ties] for name in ("fast", "middle", "slow") for ties in ("tied", "traditional")
    ]
    assert {row[0]: row[-1] for row in rows} == {"fast": "0.0115 ns", "middle": "–", "slow": "1.15"}
    assert "compared with slow by Wilcoxon signed-rank test, corrected for 3 pairs by Holm" in finished.latex(
        DAY
    ).replace(r"\allowbreak{}", "")
    assert "1 of 3 rerankers has no latencies." in Elements(finished.html(DAY)).text
    lists = finished.per_query().set_index(["reranker", "query_id"])
    assert lists.loc["fast", "latency_s"].to_list() == pytest.approx([0.01, 0.011, 0.012, 0.013])
    assert lists.loc["middle", "latency_s"].isna().all()
    assert {"DR@20 expected", "Div@20 input", "RR std"} <= set(lists.columns)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sections": ["end"]}, "'end' is not a section"),
        ({"measures": ["XR"]}, "no measure"),
        ({"measures": []}, "at least one measure"),
        ({"traditional": "up"}, "There is no tie order 'up'"),
        ({"baseline": "none"}, "no reranker 'none'"),
        ({"targets_for": "none"}, "no reranker 'none'"),
        ({"targets": ["RR>>1"]}, "is not a target"),
        ({"preset": "long"}, "'long' is not a preset. Presets: short, full, paper"),
        ({"segments": ["none"]}, "no query group 'none'"),
        ({"rerankers": ["none"]}, "Name one or more of these rerankers"),
    ],
)
def test_what_does_not_exist_is_refused_by_name(simulated, options, message):
    with pytest.raises(UsageError, match=message):
        report(simulated, **options)


def test_the_table_pairs_an_own_tie_rule_with_the_replaced_measure():
    runs = board(strict_trec=STRICT, coarse_trec=COARSE, qrels_txt=QRELS).runs
    finished = report(runs, measures=["TsRR", "RR"], preset="full")
    assert plain(finished.recommendation).startswith("Report TsRR together with MTRR, and name its tie rule.")
    table, rules, every = section(finished, "scores").tables
    assert list(table.frame) == ["#", "Reranker", "Verdict", "TsRR", "Ranks", "SD queries"]
    assert all(re.fullmatch(r"\d+(–\d+)?", ranks) for ranks in table.frame["Ranks"])
    assert list(rules.frame) == ["Reranker", "MRR", "MTRR", "taRR", "TsRR", "PRR", "GRAG-RR"]
    own_rows = every.frame[every.frame["Measure"] == "TsRR"]
    assert own_rows[["File order", "Worst", "Best", "Gap"]].isna().all(axis=None)
    text = finished.markdown(DAY)
    dismissals = ("do not matter", "stable", "No tie order", "No verdict", "can report the traditional")
    assert [words for words in dismissals if words in text] == []


def test_a_report_says_how_many_of_the_queries_each_reranker_has():
    rows = [
        (name, f"q{query}", f"d{place}", float(place % 2), float(place == 0))
        for name, queries in (("A", range(6)), ("B", range(3, 8)))
        for query in queries
        for place in range(3)
    ]
    frame = pd.DataFrame(rows, columns=["reranker", "query_id", "doc_id", "score", "relevance"])
    uneven = report(Runs.from_frame(frame), sections=["data", "scores"])
    assert uneven.extent == "2 rerankers on 8 queries, 5 to 6 each"
    facts = dict(next(section.facts for section in uneven.sections if section.name == "data"))
    assert facts["Queries per reranker"] == "5 to 6"
    whole = report(Runs.from_frame(frame[frame["reranker"] == "A"]), sections=["data"])
    assert whole.extent == "A on 6 queries"


def test_a_report_ends_in_nothing_else(simulated, tmp_path):
    with pytest.raises(UsageError, match=r"A report cannot be a '\.pdf' file"):
        write_report(simulated, tmp_path / "report.pdf")


def test_the_basic_script_draws_every_chart_but_places(simulated_charts):
    kinds = {
        name: {trace["type"] for trace in json.loads(figure.light)["data"]}
        for name, figure in simulated_charts.figures.items()
    }
    assert kinds.keys() == CHARTS.keys()
    assert {name for name, of_chart in kinds.items() if of_chart - {"bar", "scatter"}} == {"places"}
    assert "(basic" not in simulated_charts.script[:200]


def test_every_chart_is_there_for_light_and_for_dark_ground(simulated_charts):
    assert simulated_charts.figures
    for figure in simulated_charts.figures.values():
        for drawn, palette in ((figure.light, LIGHT), (figure.dark, DARK)):
            layout = json.loads(drawn)["layout"]
            assert layout["font"]["color"] == palette.text
            assert layout["height"] == figure.height


def test_targets_pass_or_fail_by_the_tied_value(simulated_report):
    rows = section(simulated_report, "targets").tables[0].frame
    assert len(rows) == 4 * len(PRESETS["retrieval"])
    assert set(rows["Result"]) == {"pass", "fail"}
    assert ((rows["Margin"] > 0) == (rows["Result"] == "pass")).all()


@pytest.mark.parametrize("ending", [".html", ".md", ".tex", ".txt", ".csv", ".parquet"])
def test_a_report_is_written_as_the_file_ends(simulated, tmp_path, ending):
    path = tmp_path / f"report{ending}"
    write_report(simulated, path, day=DAY)
    assert path.stat().st_size > 1000


def test_a_short_report_holds_the_basic_script_and_is_small(simulated):
    short = report(simulated)
    text = short.html(DAY, draw_charts(short))
    assert f"plotly.js (basic - minified) v{get_plotlyjs_version()}" in text
    assert len(text.encode()) < 1_500_000


def test_no_difference_reads_0_in_a_table_and_a_small_one_does_not():
    frame = pd.DataFrame({"Gap": [0.0, -1e-17, 0.00003, -0.00003, 0.25], "Mean": [0.0, -1e-17, 0.5, 1.0, 2.0]})
    rows = Table("Gaps", frame, {"Gap": "+.4f", "Mean": ".4f"}).rows
    assert [row[0].text for row in rows] == ["0", "0", "+0.000030", "−0.000030", "+0.2500"]
    assert [row[1].text for row in rows][:3] == ["0.0000", "0.0000", "0.5000"]
