"""The page Audit: a published table, by which rule it was made, and which of its orders stand."""

import pytest
from boards import COARSE, EXTREMES, QRELS, STRICT
from opening import charts, finding, go_to_data, only, opened, plain, table, texts, title
from published_tables import printed_table

from dashboard import cache
from metrics.studies.audit.conventions import Convention
from metrics.studies.audit.reproduction import Reproduction

SAMPLE = (cache.SAMPLES[cache.SAMPLE_LABEL].with_name("leaderboard.csv")).read_text()


@pytest.fixture(autouse=True)
def no_table_outlives_its_test(monkeypatch):
    """The results published on the sample are in memory, for all boards of a process."""
    monkeypatch.setattr(cache.loaded_boards(), "_published", {})


def drop(page, text, name="mine.csv"):
    page.file_uploader(key="published").set_value([(name, text.encode(), "text/csv")]).run()
    assert not page.exception, page.exception
    return page


def show(page, section):
    page.segmented_control(key="section").set_value(section).run()
    assert not page.exception, page.exception
    return page


def said(page):
    return plain(" ".join(alert.value for alert in [*page.error, *page.warning, *page.info]))


def test_the_sample_opens_on_its_table_and_other_rules_show_their_misses():
    page = opened("audit")
    sentences = texts(page).replace("*", "")
    assert "48 of 48 figures are reproduced, all to the last digit." in sentences
    open_question = "The figures do not show in which number format scores were compared"
    assert open_question not in sentences
    assert "By MRR, of 27 pairs with different published means," in sentences
    by_measure = table(page, "Published pairwise orders by measure").set_index("measure")
    assert by_measure.loc["MRR"].tolist() == [27, 9, 9, 9]
    assert any("Agreement of the two orders" in caption.value for caption in page.caption)
    first = table(page, "Pair by pair") if page.header else None
    assert first is not None
    assert first.iloc[0][["a", "b"]].tolist() == ["MiniLM grade 0-10", "MiniLM int8"]
    assert set(charts(page)) == {"place-and-score"}
    words = [trace["text"] for trace in charts(page)["place-and-score"]["data"] if trace.get("mode") == "text"]
    gaps = next(column for column in words if "+0.085" in column)
    assert gaps == ["+0.013", "+0.016", "0", "0", "+0.002", "0", "+0.085", "0"]
    page.selectbox(key="by").set_value("Hits@1").run()
    assert page.query_params["by"] == "Hits@1"
    assert "By Hits@1" in texts(page)
    show(page, "Figures")
    assert set(charts(page)) == {"figures", "audit-rules"}
    rules = page.selectbox(key="rule")
    assert rules.value == rules.options[0]
    rules.set_value("trec_eval: id, descending; nDCG gain = grade").run()
    assert page.query_params["rule"] == "trec_eval: id, descending; nDCG gain = grade"
    marks = {trace["name"] for trace in charts(page)["figures"]["data"] if trace.get("name")}
    assert not any(name.endswith("reproduced · 0") for name in marks)
    assert "48 of 48 figures are reproduced" in finding(page)  # by the rule that fits
    n_rules = len(rules.options)
    page.toggle(key="every-rule").set_value(True).run()
    assert open_question in texts(page).replace("*", "")
    assert len(page.selectbox(key="rule").options) > n_rules


def test_a_page_that_is_drawn_again_does_not_score_its_rule_again(monkeypatch):
    page = opened("audit", section="Figures")
    matrix = charts(page)["figures"]["data"]
    monkeypatch.delattr(Reproduction, "figures")
    page.run()
    assert not page.exception
    assert charts(page)["figures"]["data"] == matrix


def test_a_board_without_a_table_offers_the_example_table():
    page = opened("audit", data=cache.loaded_boards().add(EXTREMES["two rerankers with ties"]()).label)
    assert "Drop a file of published results for these runs" in said(page)
    assert not charts(page)
    page.button(key="example-table").click().run()
    assert not page.exception, page.exception
    assert page.query_params["table"] == "file-order"
    assert "all to the last digit" in texts(page)


def test_lost_and_bad_tables_are_reported_and_names_can_be_matched_by_hand():
    page = opened("audit", table="theirs.csv~12345678")
    assert "table=theirs.csv~12345678" in said(page)
    assert "This link audits theirs.csv, which this board does not have." in said(page)
    assert not charts(page)  # the sample's table does not take its place
    drop(page, "model,quality\nnobody,0.5\n")
    assert "No reranker of the table matches this board" in said(page)
    assert page.selectbox(key="match-rerankers-nobody-").value == ""
    drop(page, SAMPLE.replace("TF-IDF", "Sparse words"))
    assert page.query_params["table"].startswith("mine.csv~")
    assert "Not matched and left out: 1 reranker (Sparse words)" in texts(page)
    assert "42 of 42 figures are reproduced" in finding(page)
    show(page, "Names").selectbox(key="match-rerankers-Sparse words-").set_value("TF-IDF").run()
    assert "Matched by hand: Sparse words is TF-IDF." in texts(page).replace("*", "")
    assert "48 of 48 figures are reproduced" in finding(page)
    assert page.query_params["names"] == "Sparse words=TF-IDF"
    drop(page, "no table at all")
    assert only(page.error).value.startswith("mine")
    assert "Nothing was replaced." in texts(page)
    assert "48 of 48 figures are reproduced" in finding(page)
    drop(page, "reranker,MRR\nBM25,0.7\nTF-IDF,0.7\n")  # nobody is above another
    assert "the table ranks no reranker above another" in texts(page)
    drop(page, "recip_rank\tq001\t1.0000\nrecip_rank\tq002\t1.0000\n", "BM25.eval")  # no mean
    assert "place-and-score" not in charts(show(page, "Orders"))


def test_the_report_takes_the_table_that_is_audited_and_its_command_names_it():
    label = cache.loaded_boards().add(EXTREMES["two rerankers with ties"]()).label
    names = ["MRR=Hits@1", "nobody=AP"]  # the second is in no table
    page = opened("share", data=label, preset="short", table="file-order", names=names)
    assert "--published as-in-file.csv" in texts(page, "code")
    assert "--names MRR=Hits@1" in texts(page, "code")
    assert "names=nobody=AP" in said(page)
    assert "--published" not in texts(opened("share", data=label, preset="short"), "code")


def drop_on_data(page, files):
    uploads = [(name, text.encode(), "text/plain") for name, text in files.items()]
    page.file_uploader(key="upload").set_value(uploads).run()
    assert not page.exception, page.exception
    return page


def trec_eval_output(name, value):
    return f"runid\tall\t{name}\nmap\tall\t{value}\nrecip_rank\tall\t{value}\n"


OUTPUTS = {
    "strict.trec.eval": trec_eval_output("t", "0.9000"),
    "coarse.trec.eval": trec_eval_output("t", "0.5000"),
}
RUNS = {"strict.trec": STRICT, "coarse.trec": COARSE, "qrels.txt": QRELS}


def test_results_dropped_with_runs_are_kept_and_audited_in_one_click():
    page = drop_on_data(opened("data"), RUNS | OUTPUTS)
    assert not page.error
    assert page.selectbox(key="data").value.startswith("strict vs coarse · ")
    assert "2 files of published results (strict.trec.eval, coarse.trec.eval) came with this board" in texts(
        page
    )
    page.button(key="audit-kept").click().run()
    assert title(page) == "Audit"
    assert page.query_params["table"].startswith("strict.trec.eval~")
    assert set(table(page, "Published pairwise orders by measure")["measure"]) == {"map", "recip_rank"}
    link = {key: page.query_params[key] for key in ("data", "table")}
    cache.loaded_boards.clear()  # as a restart does
    again = opened("audit", **link)
    assert finding(again) == finding(page)
    assert finding(opened("audit", data=link["data"])) == finding(page)


def test_results_dropped_alone_audit_the_board_that_is_shown():
    page = drop_on_data(go_to_data(drop_on_data(opened("data"), RUNS)), OUTPUTS)
    assert not page.error
    assert "2 files of published results" in texts(page)
    page.button(key="audit-dropped").click().run()
    assert title(page) == "Audit"
    assert set(table(page, "Published pairwise orders by measure")["measure"]) == {"map", "recip_rank"}


def test_results_on_a_sample_belong_to_the_visitor_and_copies_have_their_own():
    page = drop(opened("audit"), SAMPLE.replace("TF-IDF", "tf-idf"))
    again = opened("audit", table=page.query_params["table"])
    assert finding(again) == finding(page)
    kept = drop_on_data(opened("data"), RUNS | OUTPUTS)
    copied = cache.open_library().duplicate(kept.query_params["data"])
    assert cache.open_library().published(copied.id) == cache.open_library().published(
        kept.query_params["data"]
    )


def test_the_rule_of_the_table_is_used_on_the_board():
    runs = "query_id,doc_id,score,relevance,reranker\n" + "".join(
        f"q{query},d{place},{(place + query) % 3 + place * query % 5 / 1000},{(place * 7 + query) % 4},{name}\n"
        for name in ("a", "b")
        for query in range(12)
        for place in (range(9) if name == "a" else range(8, -1, -1))
    )
    page = drop_on_data(opened("data"), {"runs.csv": runs})
    convention = Convention("docid_asc", precision="decimals:2", relevant_from=2)
    text = printed_table(
        cache.load_record(cache.open_library().find(page.query_params["data"])).runs, convention
    )
    page = drop(opened("audit", data=page.query_params["data"]), text)
    assert "relevant from grade 2" in finding(page)
    thresholds = "relevant from grade 2 in the table, but from 1 on this board"
    assert thresholds in texts(page, "caption")
    page.button(key="use-rule").click().run()
    assert not page.exception
    assert page.selectbox(key="order").value == "docid_asc"
    assert page.selectbox(key="precision").value.startswith(("decimals:2", "float"))
    assert only([button for button in page.button if button.key == "use-rule"]).disabled
    assert thresholds not in texts(page, "caption")
    page.switch_page("views/leaderboard.py").run()
    assert page.query_params["relevant_from"] == "2"
