"""Kinds of findings about what a language model answered: in permutations, in pairs, in words."""

from metrics.runs.findings.kinds.kind import Kind

ANSWER_KINDS: tuple[Kind, ...] = (
    Kind(
        "answers-dropped",
        "warning",
        "Answers leave out documents that the model was shown; they are tied, below those it named.",
        "Ask again for these lists, or report best and worst: where they stand is not the model's answer.",
        "documents that answers leave out",
        "file",
    ),
    Kind(
        "answers-repeated",
        "info",
        "Answers name a document more than once; the first place counts.",
        "Nothing to do, unless they are many: then the model did not follow the prompt.",
        "documents that answers name twice",
        "file",
    ),
    Kind(
        "answers-invented",
        "warning",
        "Answers name numbers that no document had; they are left out.",
        "Check that documents are numbered from 1, in the order of the prompt.",
        "numbers that no document had",
        "file",
    ),
    Kind(
        "answers-unread",
        "warning",
        "Answers rank nothing that was asked, so all of their documents are tied.",
        "Look at these answers: a refusal, or a sentence in place of a ranking.",
        "answers that rank nothing",
        "file",
    ),
    Kind(
        "preferences-unread",
        "warning",
        "Comparisons do not say which of their documents is preferred, and are left out.",
        "Ask again for these pairs: what is left out is not the model's answer.",
        "comparisons without an answer",
        "file",
    ),
    Kind(
        "preferences-inconsistent",
        "warning",
        "Pairs were compared more than once, such as in either order, with different answers; most of them "
        "decide, and a pair on a level is half a win of each.",
        "Ask for every pair in both orders: a model may prefer what it is shown first.",
        "pairs compared again with another answer",
        "file",
    ),
    Kind(
        "preferences-missing",
        "warning",
        "Pairs were never compared, so documents with more comparisons had more chances to win.",
        "Compare all pairs, or choose bradley_terry as the score, which allows for whom a document met.",
        "pairs that were never compared",
        "file",
    ),
    Kind(
        "preferences-apart",
        "warning",
        "No chain of comparisons connects some documents of a list, so nothing says which of them is better; "
        "bradley_terry then rests on one tie of each with an average document.",
        "Compare documents of one group with those of the other.",
        "documents that no comparison connects",
        "file",
    ),
    Kind(
        "preferences-cycles",
        "info",
        "Preferences go round in circles (a over b, b over c, c over a), so no order agrees with all of them.",
        "Nothing to do: Copeland scores often tie such documents, and these ties are real.",
        "preferences that go round in circles",
        "file",
    ),
)
"""Kinds of findings that permutations and preferences are read with, whatever columns are chosen."""
ANSWER_CODES = frozenset(kind.code for kind in ANSWER_KINDS)
"""Their codes."""
GRADE_KINDS: tuple[Kind, ...] = (
    Kind(
        "grades-in-words",
        "info",
        "Scores are texts with a grade in them: the number after a label such as Score, else the only number.",
        "Look at some of them: what the words say of the number is not read.",
        "grades read out of words",
        "file",
    ),
    Kind(
        "grades-scales",
        "warning",
        "Answers name several scales, such as 7/10 and 3/5, and the numbers before them are compared.",
        "Ask for one scale, or bring the grades to one before.",
        "grades of several scales",
        "file",
    ),
    Kind(
        "grades-expected",
        "info",
        "The file has probabilities of grades: the expected grade is the score, so that documents of one "
        "likeliest grade need not tie.",
        "Choose argmax_grade as the score to see what the likeliest grade would make of it.",
        "expected grades as scores",
        "file",
    ),
    Kind(
        "grades-scaled",
        "info",
        "Probabilities of grades do not sum to 1, as those of the likeliest tokens alone, and are scaled.",
        "Nothing to do, unless much is missing: then the model wanted to say something else.",
        "probabilities that do not sum to 1",
        "file",
    ),
)
"""Kinds of findings of a column of grades in words."""
