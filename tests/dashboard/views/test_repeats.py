"""Repeats, on Data: offered where names differ in a seed, combined and separated by a button alone."""

from boards import QRELS, STRICT, board
from opening import opened, texts

from dashboard import cache
from dashboard.escaping import escape_markdown

HOSTILE = "<img src=x onerror=alert(1)>**b**"


def press(page, key):
    page.button(key=key).click().run()
    assert not page.exception, page.exception
    return page


def table(names):
    rows = [
        f'"{name}",q{query},d{document},{query + document + number / 4},{int(document == 2)}\n'
        for number, name in enumerate(names)
        for query in range(3)
        for document in range(4)
    ]
    return "reranker,query_id,doc_id,score,relevance\n" + "".join(rows)


def test_repeats_are_offered_combined_and_separated_and_never_by_themselves():
    names = [f"{HOSTILE}-seed1", f"{HOSTILE}-seed2", "gpt-4"]
    label = cache.loaded_boards().add(board(runs_csv=table(names))).label
    page = opened("data", data=label, section="Rerankers")
    offer = f"2 rerankers look like repeats of **{HOSTILE}**"
    assert offer in texts(page)
    assert any(escape_markdown(HOSTILE) in paragraph.value for paragraph in page.markdown)
    address = page.query_params["data"]
    press(page, "combine-repeats")
    assert page.query_params["data"] == address, "what is changed takes the place of what was loaded"
    assert f"**{HOSTILE}** is the mean of 2 repeats" in texts(page)
    assert offer not in texts(page)
    press(page, "separate-repeats")
    assert offer in texts(page)


def test_names_that_end_in_other_numbers_are_not_offered():
    loaded = board(bm25_trec=STRICT, bm26_trec=STRICT, qrels_txt=QRELS)
    page = opened("data", data=cache.loaded_boards().add(loaded).label, section="Rerankers")
    assert not [one for one in page.button if one.key in ("combine-repeats", "separate-repeats")]
