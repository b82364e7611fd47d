"""What a page audits: names by hand that go together."""

from dashboard.widgets.audited_table import last_given


def test_a_reranker_chosen_for_a_second_published_name_is_taken_from_the_first():
    names = {"Ours": "x", "AP": "RR", "MAP": "RR", "Theirs": "", "Base": "x"}
    given = last_given(names, {"Ours", "Theirs", "Base"})
    assert given == {"Ours": "", "AP": "RR", "MAP": "RR", "Theirs": "", "Base": "x"}
