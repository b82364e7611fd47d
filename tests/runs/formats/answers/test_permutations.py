import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrics.runs.formats.listwise import has_permutation, parse_permutation

ORDERS = st.integers(1, 30).flatmap(lambda n: st.permutations(range(1, n + 1)))


def places(answer, n):
    return list(parse_permutation(answer, n).places)


@given(
    ORDERS,
    st.sampled_from(["{} > {}", "{}>{}", "{} , {}", "{}\n>\n{}", "{} {}"]),
    st.sampled_from(
        ["", "[rankstart] ", "Sure! ", "<think>[2] > [1] > [9]</think>", "Passage [1] is best: no, "]
    ),
    st.sampled_from(["", " [rankend]", ".", "\n\nI hope this helps."]),
)
def test_a_permutation_reads_back_whatever_stands_around_it(order, link, before, after):
    chain = f"[{order[0]}]"
    for number in order[1:]:
        chain = link.format(chain, f"[{number}]")
    if len(order) == 1 and "Passage" in before:
        before = ""
    assert places(before + chain + after, len(order)) == [order.index(n + 1) for n in range(len(order))]


@given(ORDERS)
def test_bare_numbers_and_arrays_of_numbers_read_back(order):
    expected = [order.index(n + 1) for n in range(len(order))]
    assert places(order, len(order)) == places(" > ".join(map(str, order)), len(order)) == expected
    assert places(str(list(order)), len(order)) == expected


@given(ORDERS.filter(lambda order: len(order) > 1), st.data())
def test_an_equals_sign_puts_documents_on_a_level(order, data):
    links = data.draw(
        st.lists(st.sampled_from([" > ", " = "]), min_size=len(order) - 1, max_size=len(order) - 1)
    )
    text, place, expected = f"[{order[0]}]", 0, {order[0]: 0}
    for link, number in zip(links, order[1:], strict=True):
        text, place = f"{text}{link}[{number}]", place + (link == " > ")
        expected[number] = place
    assert places(text, len(order)) == [expected[n + 1] for n in range(len(order))]


@pytest.mark.parametrize(
    ("answer", "ranked", "counts"),
    [
        ("[2] > [1] > [2] > [7] > [0]", [1, 0, None], (1, 1, 2)),
        ("[C] > [A]", [1, None, 0], (1, 0, 0)),
        ("I cannot rank these 3 passages.", [None] * 3, (3, 0, 0)),
        ("", [None] * 3, (3, 0, 0)),
        (None, [None] * 3, (3, 0, 0)),
        ({"a": 1}, [None] * 3, (3, 0, 0)),
        ([3, "1", 3], [None, None, 0], (2, 1, 0)),
        ("2", [None, 0, None], (2, 0, 0)),
        ("[1] > [2], then [3] > [2] > [1]", [2, 1, 0], (0, 0, 0)),
        ("[1000000000000000] > [1]", [0, None, None], (2, 0, 0)),
    ],
)
def test_what_answers_drop_repeat_and_invent_is_counted(answer, ranked, counts):
    permutation = parse_permutation(answer, 3)
    assert list(permutation.places) == ranked
    assert (permutation.n_dropped, permutation.n_repeated, permutation.n_invented) == counts


@given(st.text() | st.none() | st.integers() | st.lists(st.integers() | st.text()), st.integers(0, 5))
def test_any_answer_gives_each_place_once_from_the_first_on(answer, n_documents):
    permutation = parse_permutation(answer, n_documents)
    ranked = sorted({place for place in permutation.places if place is not None})
    assert ranked == list(range(len(ranked)))
    assert len(permutation.places) == n_documents
    assert has_permutation(answer) in (True, False)
