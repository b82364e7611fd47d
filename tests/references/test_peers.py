"""The comparison with other tools, on those that the tests have anyway."""

from benchmarks.peers import PEERS, SHORT_MEASURES, differences

LISTS = {"n_queries": 40, "n_documents": 5}


def test_no_value_of_ours_differs_from_the_mean_of_all_orderings():
    assert {name: count for name, count, _ in differences(PEERS["TieScope"], **LISTS)} == dict.fromkeys(
        SHORT_MEASURES, 0
    )


def test_a_tool_that_breaks_ties_by_id_differs_in_every_measure():
    assert all(count > 0 for _, count, _ in differences(PEERS["pytrec_eval"], **LISTS))
