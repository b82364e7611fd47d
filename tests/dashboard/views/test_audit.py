"""The page Audit: a published table, by which rule it was made, and which of its orders stand."""

from boards import EXTREMES
from opening import charts, has_four_cards, metrics, only, opened, plain, table, texts

from dashboard import cache
from metrics.studies.audit.reproduction import Reproduction

SAMPLE = (cache.SAMPLES[cache.SAMPLE_LABEL].with_name("leaderboard.csv")).read_text()


def drop(page, text, name="mine.csv"):
    page.file_uploader(key="published").set_value([(name, text.encode(), "text/csv")]).run()
    assert not page.exception, page.exception
    return page


def said(page):
    return plain(" ".join(alert.value for alert in [*page.error, *page.warning, *page.info]))


def test_the_sample_opens_on_the_table_beside_it_and_another_rule_shows_what_it_leaves_out():
    page = opened("audit")
    assert metrics(page) == {
        "Figures that come out": "48 of 48",
        "Orders that stand": "9 of 27",
        "Orders that swap": "9",
        "Tiers": "2",
    }
    assert (
        "48 of 48 figures come out, all to the digit. The figures do not tell whether scores were compared as "
        "read, as float16, as bfloat16 or to 6, 4, 3 or 2 decimals. By MRR, of 27 orders printed,"
    ) in texts(page).replace("*", "")
    assert "all within luck" in texts(page)
    assert any("How alike the two orders are" in caption.value for caption in page.caption)
    first = table(page, "Pair by pair") if page.header else None
    assert first is not None
    assert first.iloc[0][["a", "b"]].tolist() == ["MiniLM grade 0-10", "MiniLM int8"]
    assert set(charts(page)) == {"figures", "audit-rules", "published-places"}
    rules = page.selectbox(key="rule")
    assert rules.value == rules.options[0]
    rules.set_value("trec_eval: id, descending").run()
    assert page.query_params["rule"] == "trec_eval: id, descending"
    marks = {trace["name"] for trace in charts(page)["figures"]["data"] if trace.get("name")}
    assert not any(name.endswith("come out · 0") for name in marks)
    assert metrics(page)["Figures that come out"] == "48 of 48"  # of the rule that fits
    page.selectbox(key="by").set_value("Hits@1").run()
    assert page.query_params["by"] == "Hits@1"
    assert "By Hits@1" in texts(page)


def test_a_page_that_is_drawn_again_does_not_score_its_rule_again(monkeypatch):
    page = opened("audit")
    matrix = charts(page)["figures"]["data"]
    monkeypatch.delattr(Reproduction, "figures")
    page.run()
    assert not page.exception
    assert charts(page)["figures"]["data"] == matrix


def test_a_board_without_a_table_says_what_to_drop_and_offers_that_of_a_careless_script():
    page = opened("audit", data=cache.loaded_boards().add(EXTREMES["two rerankers with ties"]()).label)
    assert "No published table is here" in said(page)
    assert not page.metric
    page.button(key="careless").click().run()
    assert not page.exception, page.exception
    assert page.query_params["table"] == "file-order"
    assert has_four_cards(page)
    assert "all to the digit" in texts(page)


def test_a_lost_table_is_missed_a_bad_one_refused_and_names_unlike_ours_are_matched_by_hand():
    page = opened("audit", table="theirs.csv~12345678")
    assert "table=theirs.csv~12345678" in said(page)
    assert "This link audits theirs.csv, which only the session that it was dropped in has." in said(page)
    assert not page.metric  # the sample's table does not take its place
    drop(page, "model,quality\nnobody,0.5\n")
    assert "No reranker of the table has a name that is known here" in said(page)
    assert page.selectbox(key="match-rerankers-nobody-").value == ""
    drop(page, SAMPLE.replace("TF-IDF", "Sparse words"))
    assert page.query_params["table"].startswith("mine.csv~")
    assert "Not matched, and left out: 1 reranker (Sparse words)" in texts(page)
    assert metrics(page)["Figures that come out"] == "42 of 42"
    page.selectbox(key="match-rerankers-Sparse words-").set_value("TF-IDF").run()
    assert "By hand: Sparse words is TF-IDF." in texts(page).replace("*", "")
    assert metrics(page)["Figures that come out"] == "48 of 48"
    assert page.query_params["names"] == "Sparse words=TF-IDF"
    drop(page, "no table at all")
    assert only(page.error).value.startswith("mine")
    assert "Nothing was replaced." in texts(page)
    assert metrics(page)["Figures that come out"] == "48 of 48"
    drop(page, "reranker,MRR\nBM25,0.7\nTF-IDF,0.7\n")  # nobody is above another
    assert metrics(page)["Orders that stand"] == metrics(page)["Orders that swap"] == "–"
    assert "no order is printed" in texts(page)
    drop(page, "recip_rank\tq001\t1.0000\nrecip_rank\tq002\t1.0000\n", "BM25.eval")  # no mean
    assert metrics(page)["Tiers"] == "–"
    assert "published-places" not in charts(page)


def test_the_report_takes_the_table_that_is_audited_and_its_command_names_it():
    label = cache.loaded_boards().add(EXTREMES["two rerankers with ties"]()).label
    names = ["MRR=Hits@1", "nobody=AP"]  # the second is in no table
    page = opened("share", data=label, preset="short", table="file-order", names=names)
    assert "--published as-in-file.csv" in texts(page, "code")
    assert "--names MRR=Hits@1" in texts(page, "code")
    assert "names=nobody=AP" in said(page)
    assert "--published" not in texts(opened("share", data=label, preset="short"), "code")
