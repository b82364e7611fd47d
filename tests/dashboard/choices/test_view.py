"""Which rerankers pages can show, and how settings read."""

from boards import board

from dashboard.choices import offered_rerankers, policy_phrases
from dashboard.widgets.one_list import bracket_text
from metrics.evaluation import ScoringOptions


def test_pages_show_the_first_200_rerankers_of_more():
    rows = "".join(f"r{number},q,d{number},1,1\n" for number in range(201))
    names = [f"r{number}" for number in range(200)]
    header = "reranker,query_id,doc_id,score,relevance\n"
    assert offered_rerankers(board(many_csv=header + rows)) == names
    assert offered_rerankers(board(few_csv=header + rows[: rows.index("r200")])) == names


def test_one_criterion_ranks_by_its_values_and_not_by_fronts():
    none, scoring = {"n_missing": 0, "n_empty": 0}, ScoringOptions(criteria=("cost:asc",))
    assert policy_phrases(none, scoring) == ["ranked by cost (lowest first)"]
    assert bracket_text(scoring) == "shaded block: documents with the same value of cost (lowest first)"
