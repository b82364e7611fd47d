import numpy as np
from hypothesis import given
from hypothesis import strategies as st

ROWS = st.lists(
    st.tuples(
        st.sampled_from("qrs"), st.sampled_from([-np.inf, -1.5, -0.0, 0.0, 2, np.inf]), st.integers(0, 2)
    ),
    max_size=12,
)


def test_rows_are_ordered_by_query_then_falling_score_then_place(listing_of_rows):
    rows = [("q", "a", 1, 0), ("r", "a", 5, 0), ("q", "b", 2, 1), ("r", "b", 5, 1), ("q", "c", 1, 1)]
    listing = listing_of_rows(rows)
    assert listing.order.tolist() == [2, 0, 4, 1, 3]
    assert listing.scores.tolist() == [2, 1, 1, 5, 5]
    assert listing.list_starts.tolist() == [0, 3, 5]
    assert listing.starts.tolist() == [0, 1, 3]
    assert listing.sizes.tolist() == [1, 2, 2]
    assert listing.above.tolist() == [0, 1, 0]
    assert listing.group_lists.tolist() == [0, 0, 1]
    assert listing.relevant.tolist() == [1, 1, 1]
    assert listing.list_relevant.tolist() == [2, 1]
    assert listing.tied == 4


@given(ROWS)
def test_tie_groups_are_what_grouping_row_by_row_gives(listing_of_rows, rows):
    listing = listing_of_rows(
        [(query, f"d{at}", score, grade) for at, (query, score, grade) in enumerate(rows)]
    )
    queries = list(dict.fromkeys(query for query, *_ in rows))
    by_hand = {}
    for query, score, grade in sorted(rows, key=lambda row: (queries.index(row[0]), -row[1])):
        by_hand.setdefault((queries.index(query), score), []).append(grade >= 1)
    assert listing.sizes.tolist() == [len(group) for group in by_hand.values()]
    assert listing.relevant.tolist() == [sum(group) for group in by_hand.values()]
    assert listing.group_lists.tolist() == [at for at, _ in by_hand]
    assert listing.list_queries.tolist() == list(range(len(queries)))


def test_the_order_is_the_same_whether_rows_come_sorted_or_not(listing_of_rows):
    scores = np.random.default_rng(1).integers(0, 3, 60).tolist()
    rows = [(f"q{at % 4}", f"d{at}", score, 0) for at, score in enumerate(scores)]
    listing = listing_of_rows(rows)
    again = listing_of_rows([rows[at] for at in listing.order])
    assert again.order.tolist() == list(range(60))
    assert again.starts.tolist() == listing.starts.tolist()


def test_distinct_scores_leave_out_infinite_ones(listing_of):
    assert listing_of({"q": [np.inf, 2, 1, 2, -np.inf]}).values.tolist() == [1, 2]


def test_a_message_names_the_reranker_where_the_file_does_not(listing_of):
    for name, message in [("llm", "m"), ("GPT", "GPT: m")]:
        assert listing_of({"q": [1]}, name=name, file="llm.trec.gz").finding("comments", "m").message == message


def test_a_finding_about_lists_names_the_first_and_its_line(listing_of):
    listing = listing_of({"q": [2, 1], "r": [2, 1], "s": [1]})
    [finding] = listing.list_findings("one-document", np.array([False, True, True]), "are such")
    assert (finding.message, finding.line, finding.count) == ("2 of 3 lists are such, 'r' first.", 3, 2)


def test_nothing_is_relevant_where_nothing_is_known(listing_of):
    assert listing_of({"q": [1, 1]}).relevant.tolist() == [0]
