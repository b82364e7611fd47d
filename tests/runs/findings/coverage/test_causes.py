import pyarrow as pa
import pytest

from metrics.runs.inspection import cause_of

CASE = "The IDs differ only by case."
ZEROS = "The IDs differ only by leading zeros."
DECIMAL = "The IDs differ only by a trailing .0."
SPACES = "The IDs differ only by surrounding spaces."
BEFORE = "The IDs differ only by the prefix {!r} in the {}."
BEHIND = "The IDs differ only by the suffix {!r} in the {}."


def cause(ours, theirs):
    sentence, own, judged = cause_of(pa.array(ours), pa.array(theirs))
    return sentence, ours[own], theirs[judged]


@pytest.mark.parametrize(
    ("ours", "theirs", "sentence", "example"),
    [
        (["x", "Q7"], ["y", "q7"], CASE, ("Q7", "q7")),
        (["x", "007"], ["y", "7"], ZEROS, ("007", "7")),
        (["000"], ["0"], ZEROS, ("000", "0")),
        (["x", "7.0"], ["y", "7"], DECIMAL, ("7.0", "7")),
        (["7"], ["7.00"], DECIMAL, ("7", "7.00")),
        (["x", " 7"], ["y", "7"], SPACES, (" 7", "7")),
        (["q10", "q11"], ["9", "11"], BEFORE.format("q", "run"), ("q11", "11")),
        (["7", "8"], ["doc-9", "doc-8"], BEFORE.format("doc-", "judgments"), ("8", "doc-8")),
        (["a.txt", "b.txt"], ["c", "b"], BEHIND.format(".txt", "run"), ("b.txt", "b")),
        (["c", "b"], ["a#0", "b#0"], BEHIND.format("#0", "judgments"), ("b", "b#0")),
    ],
)
def test_the_cause_is_named_with_an_example(ours, theirs, sentence, example):
    assert cause(ours, theirs) == (sentence, *example)


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (["q1", "q2"], ["31", "32"]),
        (["12", "13"], ["2", "3"]),
        (["21", "31"], ["2", "3"]),
        (["q1", "r2"], ["1", "2"]),
    ],
    ids=["others", "first-digit", "last-digit", "no-common-prefix"],
)
def test_without_a_cause_the_judgments_are_of_another_collection(ours, theirs):
    assert cause(ours, theirs) == ("The judgments seem to belong to another collection.", ours[0], theirs[0])
