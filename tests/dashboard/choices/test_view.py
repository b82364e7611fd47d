"""Which rerankers pages can show."""

from boards import STRICT, board

from dashboard.choices import offered_rerankers


def test_pages_show_the_first_200_rerankers_of_more():
    rows = "".join(f"r{number},q,d{number},1,1\n" for number in range(201))
    names = [f"r{number}" for number in range(200)]
    header = "reranker,query_id,doc_id,score,relevance\n"
    assert offered_rerankers(board(many_csv=header + rows)) == names
    assert offered_rerankers(board(few_csv=header + rows[: rows.index("r200")])) == names


def test_pages_show_all_of_a_few_rerankers():
    files = {"a_trec": STRICT, "b_trec": STRICT, "qrels_txt": "q0 0 d1 1\n"}
    assert offered_rerankers(board(**files)) == ["a", "b"]
