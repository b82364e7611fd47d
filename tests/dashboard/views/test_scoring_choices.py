"""What is scored and how: chosen in the sidebar, said there, kept in the link."""

import numpy as np
import pandas as pd
import pytest
from boards import COARSE, EXTREMES, QRELS, board
from opening import PAGES, PRESENTATION, finding, only, opened, plain, table, texts

from dashboard import cache
from metrics import emulate, evaluate
from metrics.runs.named_judgments import FROM_2
from metrics.support.wording import compared_as
from metrics.ties import fronts
from metrics.ties.fronts import front_numbers

SEGMENTED = "model,qid,docid,score,rel,query_type\n" + "".join(
    f"{model},q{query},d{document},{document % 3},{int(document == query)},{'short' if query < 2 else 'long'}\n"
    for model in "ab"
    for query in range(4)
    for document in range(5)
)


KINDS = (
    *("selectbox", "segmented_control", "multiselect", "number_input", "text_input", "slider", "toggle"),
    *("pills", "button_group"),
)
"""Controls whose values a link can set."""


def shown(page):
    """Return the values of the controls a link names, the cards, and what the page found."""
    controls = {}
    for kind in KINDS:
        for control in page.get(kind):
            key = str(control.key or "")
            if key.isidentifier() and not key.startswith("_"):
                controls[key] = control.value
    return {
        "title": [title.value for title in page.title],
        "controls": controls,
        "cards": {card.label: card.value for card in page.metric},
        "findings": [text.value for text in page.markdown if text.value.startswith(":material/lightbulb:")],
    }


def add_board(new_board):
    return cache.loaded_boards().add(new_board).label


def tied(page):
    return table(page, "All rerankers").set_index("reranker")["tied"].to_dict()


def sidebar_text(page):
    return plain(" ".join(text.value for text in page.sidebar.caption))


def means(scored_board, measure="RR", **options):
    return (
        evaluate(scored_board.runs, [measure], ["expected"], **options)
        .summary()[measure, "expected", "mean"]
        .to_dict()
    )


def test_any_measure_of_a_link_is_shown_beside_the_usual():
    page = opened("leaderboard", measure="nDCG@77")
    assert page.segmented_control(key="measure").value == "nDCG@77"
    assert tied(page) == pytest.approx(means(cache.sample_board(), "nDCG@77"))


def test_a_precision_that_is_written_though_there_is_none_such_is_told_of_once():
    page = opened("leaderboard")
    choice = page.selectbox(key="precision")
    choice.options.append("float8")
    choice.set_value("float8").run()
    assert page.selectbox(key="precision").value == "float64"
    (warning,) = page.warning
    assert "There is no precision 'float8'. Precisions: float64, " in plain(warning.value)
    assert plain(warning.value).endswith("Scores are compared as float64.")
    assert not page.run().warning


@pytest.mark.parametrize("precision", ["float16", "decimals:9", "within:0.37"])
def test_coarser_scores_change_the_values_and_are_said(precision):
    page = opened("leaderboard", precision=precision)
    assert tied(page) == pytest.approx(means(cache.sample_board(), precision=precision))
    assert f"scores as {compared_as(precision)}" in sidebar_text(page)


def by_tools(**query):
    """What each tool says of each reranker."""
    page = opened("leaderboard", section="Other tools", **query)
    rows = table(page, "Reranker by reranker").set_index("reranker")
    return pd.DataFrame({tool: rows[tools] for tools in rows for tool in tools.split(", ")})


def test_the_smallest_relevant_grade_can_be_raised():
    new_board = board(coarse_trec=COARSE, qrels_txt=QRELS.replace("q0 0 d0 1", "q0 0 d0 2"))
    query = {"data": add_board(new_board), "relevant_from": "2"}
    page = opened("leaderboard", **query)
    assert tied(page) == pytest.approx(means(new_board, relevant_from=2))
    assert "relevant from grade 2" in sidebar_text(page)
    expected = emulate(new_board.runs, ["RR"], relevant_from=2).set_index("tool")["value"]
    values = by_tools(**query).loc["coarse"]
    assert set(values.index) >= {"trec_eval", "scikit-learn"} & set(expected.dropna().index)
    both = values.index.intersection(expected.dropna().index)
    assert values[both].to_dict() == pytest.approx(expected[both].to_dict())


def test_queries_that_some_rerankers_lack_are_counted_as_a_largest_number():
    uneven = board(coarse_trec=COARSE, few_trec=COARSE.replace("q3 ", "t3 "), qrels_txt=QRELS)
    assert "up to 1 without rows counted as 0" in sidebar_text(opened("leaderboard", data=add_board(uneven)))


def test_missing_and_empty_queries_are_counted_in_sight():
    new_board = EXTREMES["a query without rows"]()
    page = opened("leaderboard", data=add_board(new_board))
    assert ", 1 without rows counted as 0" in sidebar_text(page)
    page = opened("leaderboard", data=add_board(new_board), missing="skip")
    assert "1 without rows left out" in sidebar_text(page)
    assert tied(page) == pytest.approx(means(new_board, missing="skip"))


@pytest.mark.parametrize("view", ["leaderboard", "ties", "rerankers", "query"])
def test_choices_that_leave_no_list_are_said_and_show_all(view):
    page = opened(view, data=add_board(EXTREMES["nothing relevant"]()), empty="skip")
    assert "No list matches these settings, so all lists are shown." in only(page.sidebar.warning).value
    assert finding(page)


def test_a_segment_restricts_every_value_to_its_queries():
    new_board = board(table_csv=SEGMENTED)
    query = {"data": add_board(new_board), "segments": ["short"]}
    page = opened("leaderboard", **query)
    scores = evaluate(new_board.runs, ["RR"], ["expected"]).scores["RR", "expected"]
    for name, value in tied(page).items():
        assert value == pytest.approx(scores.loc[name].loc[["q0", "q1"]].mean())
    assert "2 queries" in sidebar_text(page)
    expected = emulate(new_board.runs, ["RR"], queries={"q0", "q1"}).set_index(["tool", "reranker"])["value"]
    assert by_tools(**query)["ranx"].to_dict() == pytest.approx(expected["ranx"].to_dict())


@pytest.mark.parametrize("order", ["optimistic", "pessimistic", "random:0"])
def test_any_strict_order_can_be_the_traditional_one(order):
    page = opened("leaderboard", order=order)
    traditional_means = table(page, "All rerankers").set_index("reranker")["traditional"].to_dict()
    values = evaluate(cache.sample_board().runs, ["RR"], [order]).summary()["RR", order, "mean"]
    assert traditional_means == pytest.approx(values.to_dict())


def split_rows():
    """Rows of three rerankers with coarse scores and three further ones, and by all of them the rank of each.

    The score and the lowest third rank together, by fronts; then the highest fresh, then the highest second.
    """
    rng = np.random.default_rng(20)
    places = [(name, f"q{query}", f"d{doc}") for name in "abc" for query in range(4) for doc in range(6)]
    rows = pd.DataFrame(places, columns=["reranker", "query_id", "doc_id"])
    for column in ("score", "fresh", "second", "third"):
        rows[column] = rng.integers(0, 3, len(rows))
    rows["relevance"] = (rows["doc_id"].str[1:] == rows["query_id"].str[1:]).astype(int)
    starts = np.arange(0, len(rows) + 1, 6)
    front = front_numbers([rows["score"].to_numpy(float), -rows["third"].to_numpy(float)], starts)
    keys = list(zip(-front, rows["fresh"], rows["second"], strict=True))
    rank = {key: place for place, key in enumerate(sorted(set(keys)))}
    return rows, rows.assign(score=[rank[key] for key in keys])


RANKED = {"criteria": ["score", "third:asc"], "tiebreak": ["fresh", "second"]}
LIST_PAGES = [name for name in PAGES if name not in ("large", "guide", "data")]
"""Those whose figures are of lists; Data says what the files hold, whatever is chosen."""


@pytest.mark.parametrize("name", LIST_PAGES)
def test_a_page_follows_rounding_criteria_and_the_further_scores_that_split_ties(name):
    rows, ranked = split_rows()
    scores = ["score", "fresh", "second", "third"]
    rows[scores] += np.random.default_rng(1).uniform(-0.4, 0.4, (len(rows), len(scores)))
    by_columns, by_rank = (add_board(board(split_csv=frame.to_csv(index=False))) for frame in (rows, ranked))
    page = opened(name, data=by_columns, precision="decimals:0", **RANKED)
    now, expected = shown(page), shown(opened(name, data=by_rank))
    assert now["findings"] or name in {"audit", PRESENTATION}
    assert now["cards"] == expected["cards"]
    assert now["findings"] == expected["findings"]
    assert page.selectbox(key="precision").value == page.query_params["precision"] == "decimals:0"
    for key, choice in RANKED.items():
        assert page.multiselect(key=key).value == choice
        assert page.query_params[key] == choice


def test_criteria_and_tie_breaks_are_said_beside_every_page():
    page = opened("ties", data=add_board(board(split_csv=split_rows()[0].to_csv(index=False))), **RANKED)
    assert "ranked by fronts of score and third (lowest first)" in sidebar_text(page)
    assert "ties broken first by fresh, second" in sidebar_text(page)


def test_documents_are_listed_by_front_with_criteria_and_tie_breaks():
    label = add_board(board(split_csv=split_rows()[0].to_csv(index=False)))
    page = opened("query", data=label, section="Documents", **RANKED)
    rows = table(page, "The documents")
    assert (
        "dotted frame: documents of one front of score and third (lowest first); shaded block: also equal in "
        "fresh and"
    ) in texts(page)
    keys = rows.assign(front=-rows["front"])[["front", "further_1", "further_2"]].to_numpy().tolist()
    assert keys == sorted(keys, reverse=True)
    points = rows[["criterion_1", "criterion_2"]].to_numpy() * [1, -1]
    numbers = front_numbers(list(points.T), np.array([0, len(rows)]))
    assert rows["front"].tolist() == (1 + numbers).tolist()


def test_further_scores_follow_the_link_and_lacking_ones_are_named():
    label = add_board(board(split_csv=split_rows()[0].to_csv(index=False)))
    criteria = ["third:desc", "score:desc", "third:asc", "price"]
    page = opened("leaderboard", data=label, tiebreak=["second", "stale", "fresh"], criteria=criteria)
    assert page.multiselect(key="tiebreak").value == ["second", "fresh"]
    assert page.multiselect(key="criteria").value == ["third", "score"]
    assert "third, lowest first" not in page.multiselect(key="criteria").options
    (warning,) = page.warning
    assert all(
        text in plain(warning.value) for text in ("tiebreak=stale", "criteria=third:asc", "criteria=price")
    )
    page.selectbox(key="data").set_value(cache.SIMULATED_LABEL).run()
    assert not page.exception
    assert {"tiebreak", "criteria"}.isdisjoint(control.key for control in page.multiselect)
    assert {"tiebreak", "criteria"}.isdisjoint(page.query_params)


def test_lists_too_long_for_fronts_are_said_and_ranked_by_the_score(monkeypatch):
    monkeypatch.setattr(fronts, "MAX_LIST", 2)
    new_board = board(long_csv="query_id,doc_id,score,cost,relevance\n" + "q,a,1,2,0\nq,b,2,3,1\nq,c,0,1,0\n")
    page = opened("leaderboard", data=add_board(new_board), criteria=["score", "cost:asc"])
    assert "A list of 3 documents is too long" in only(page.sidebar.warning).value
    assert tied(page) == means(new_board)


def test_a_known_collection_offers_the_grade_that_its_papers_count_from(monkeypatch):
    judged = "".join(f"q{query} 0 d{query} {1 + query % 3}\n" for query in range(6))
    run = "".join(f"q{query} Q0 d{query} 1 1 tag\n" for query in range(6))
    monkeypatch.setitem(FROM_2, (2, 2, 2), "Six Queries")
    page = opened("leaderboard", data=add_board(board(run_trec=run, qrels_txt=judged)))
    offer = page.button(key="as-published")
    assert "Six Queries" in offer.help
    offer.click().run()
    assert not page.exception, page.exception
    assert page.query_params["relevant_from"] == "2"
    assert not [button for button in page.button if button.key == "as-published"]
