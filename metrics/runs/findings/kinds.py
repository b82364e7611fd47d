"""Every kind of finding there is: how grave it is, what it means, and what to do about it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Severity = Literal["error", "warning", "info"]


@dataclass(frozen=True)
class Kind:
    """One kind of finding.

    Attributes:
        code: its name.
        severity: how grave it is, as a rule.
        summary: what was found and why it matters, in one sentence.
        hint: what to do about it.
        title: what several of them have in common, as in "8 runs: scores in half precision".
        subject: what each is about.
    """

    code: str
    severity: Severity
    summary: str
    hint: str
    title: str
    subject: Literal["run", "file"] = "run"


KINDS: tuple[Kind, ...] = (
    Kind(
        "unreadable",
        "error",
        "A file holds something that cannot be read, so nothing of it is used.",
        "Mend the place that is named, or choose other columns.",
        "cannot be read",
        "file",
    ),
    Kind(
        "rows-dropped",
        "info",
        "Documents stand more than once in a list, and only one row of each is kept, as you chose.",
        "Remove the repeats from the file to be sure which row is used.",
        "repeated rows left out",
        "file",
    ),
    Kind(
        "scores-missing",
        "warning",
        "Documents have no number as their score, such as an answer of an LLM that could not be read.",
        "Ask the reranker again for these documents: where they end up is your choice, not its answer.",
        "scores that are no numbers",
    ),
    Kind(
        "one-list",
        "info",
        "A data frame has no column of queries, so all of its rows are one list.",
        "Add a column query_id if the rows belong to several queries.",
        "no column of queries: one list",
        "file",
    ),
    Kind(
        "records-empty",
        "warning",
        "Records list no document, so their queries have no rows.",
        "Look at these records: the reranker may have failed on them.",
        "records without a document",
        "file",
    ),
    Kind(
        "comments",
        "info",
        "Lines that begin with # are taken for comments and left out.",
        "If they are data, change the first character of their ids.",
        "lines taken for comments",
        "file",
    ),
    Kind(
        "ids-from-numbers",
        "info",
        "Ids came as decimal numbers such as 1.0 and are written as whole numbers, so that they match others.",
        "Nothing to do, unless the ids really end in .0.",
        "decimal ids written as whole numbers",
        "file",
    ),
    Kind(
        "ranks-as-scores",
        "info",
        "The file has ranks and no scores, so it holds no ties by construction: whatever tied is hidden.",
        "Give the scores the ranking was made from to see its ties.",
        "ranks in place of scores",
        "file",
    ),
    Kind(
        "columns-unused",
        "info",
        "Columns of the file are not read.",
        "Scores do not depend on them.",
        "columns that are not read",
        "file",
    ),
    Kind(
        "relevance-unused",
        "info",
        "Relevance stands inside the table and in judgments apart; the judgments are used.",
        "Leave the judgments out to use it.",
        "relevance inside the table is not used",
        "file",
    ),
    Kind(
        "target-unused",
        "info",
        "Targets stand inside the table while judgments were given apart; the judgments are used.",
        "Leave the judgments out to use it.",
        "targets inside the table are not used",
        "file",
    ),
    Kind(
        "no-relevance",
        "warning",
        "Nothing says which documents are relevant, so ties can be counted but nothing can be scored.",
        "Give judgments, or a table with a relevance column.",
        "nothing says which documents are relevant",
    ),
    Kind(
        "many-rerankers",
        "warning",
        "There are so many rerankers that only the first are looked at one by one; with few rows each, they "
        "may be none.",
        "If these are no systems that ranked, choose the column that says who ranked, or none: then all rows "
        "are of one.",
        "very many rerankers",
        "file",
    ),
    Kind(
        "no-overlap",
        "error",
        "No query of the run is judged, so every score would be 0.",
        "Write the ids alike, or give the judgments that belong to the run.",
        "no query is judged",
    ),
    Kind(
        "documents-no-overlap",
        "error",
        "Queries are judged, but not one document listed for them is, so every score would be 0.",
        "Write the ids alike, or give the judgments that belong to the run.",
        "no listed document is judged",
    ),
    Kind(
        "queries-missing",
        "warning",
        "Judged queries have no rows in the run; counted as 0 they lower every mean.",
        'They count as 0 (missing="zero") or are left out (missing="skip").',
        "judged queries without rows",
    ),
    Kind(
        "queries-unjudged",
        "info",
        "Queries of the run have no judgments, so they cannot be scored.",
        "They are left out.",
        "queries without judgments",
    ),
    Kind(
        "queries-differ",
        "info",
        "Rerankers answer different queries, so their means are not over the same lists.",
        "Each mean is over the reranker's own queries. Compare rerankers on queries they share.",
        "queries that only others answer",
    ),
    Kind(
        "unjudged",
        "info",
        "Documents near the top were judged by nobody and count as not relevant, which lowers scores.",
        "Read scores beside Judged@10; a reranker that finds new documents is hurt most.",
        "unjudged documents in the top 10",
    ),
    Kind(
        "negative-grades",
        "info",
        "Some grades are below 0; they count as not relevant and gain nothing.",
        "Nothing to do, unless they stand for something else, such as a missing judgment.",
        "grades below 0",
    ),
    Kind(
        "nothing-relevant",
        "info",
        "Queries have no document of grade 1 or more, so no order of their lists can score.",
        'They count as 0 (empty="zero") or are left out (empty="skip").',
        "queries with nothing relevant",
    ),
    Kind(
        "none-found",
        "info",
        "Lists hold none of the relevant documents of their query: they score 0 in every order of their ties.",
        "Look at the retrieval before the reranker, or list more documents.",
        "lists that hold nothing relevant",
    ),
    Kind(
        "all-relevant",
        "info",
        "In some lists every document is relevant, so where grades do not matter every order scores the same.",
        "Add documents that are not relevant, or grades: these lists cannot tell rerankers apart.",
        "lists of relevant documents only",
    ),
    Kind(
        "one-document",
        "info",
        "Lists of a single document have no order, so they say nothing about a reranker or its ties.",
        "List more documents for each query.",
        "lists of one document",
    ),
    Kind(
        "straddles",
        "info",
        "Ties lie across a cut-off, so which of their documents count is up to how the file was sorted.",
        "Use expected values, or report best and worst beside the score.",
        "ties across a cut-off",
    ),
    Kind(
        "rank-disagrees",
        "warning",
        "The rank column orders documents against their scores; scores decide here, other tools may use ranks.",
        "Check that higher scores are better. For distances, give their negatives.",
        "ranks that contradict the scores",
    ),
    Kind(
        "order-leaks",
        "warning",
        "Inside ties the order of the file goes with relevance, so scoring in file order does not treat "
        "ties by chance.",
        "Do not score in file order: use expected values. If the scores were rounded, give them in full.",
        "inside ties the order of the file goes with relevance",
    ),
    Kind(
        "constant-run",
        "warning",
        "Every document of the run has the same score, so the order is all the file's and none the reranker's.",
        "Check that the right column was read as the score.",
        "one score for every document",
    ),
    Kind(
        "constant-lists",
        "warning",
        "Lists give one score to all of their documents, so their order is all the file's.",
        "Check these queries: the reranker may have failed on them and fallen back to a default.",
        "lists with one score for all documents",
    ),
    Kind(
        "saturated",
        "warning",
        "Many documents are tied at exactly 0 or exactly 1, the ends of the scale, where differences are lost.",
        "If a sigmoid or softmax made the scores, rank by the logits before it, or compute it in 64 bits.",
        "many documents tied at 0 or 1",
    ),
    Kind(
        "infinite",
        "info",
        "Scores are infinite; documents that share one are tied.",
        "Nothing to do if they mark documents put first or last on purpose.",
        "infinite scores",
    ),
    Kind(
        "few-decimals",
        "warning",
        "Scores have few decimals and there are ties: printing or rounding may have made them.",
        "Write scores with all their digits, such as Python's repr gives.",
        "scores with few decimals, and ties",
    ),
    Kind(
        "graded",
        "info",
        "Scores are a few whole numbers, as a graded reranker gives: ties are part of its answer.",
        "Use expected values, or break ties by a further score such as the retrieval's.",
        "scores that are a few whole numbers",
    ),
    Kind(
        "half-precision",
        "info",
        "Every score fits a 16-bit float, so the reranker most likely ran in half precision, which makes ties.",
        "Compute at least the last layer's output in 32 bits.",
        "scores in half precision",
    ),
    Kind(
        "float32-ties",
        "warning",
        "Scores differ as 64-bit floats and not as 32-bit floats: tools such as pytrec_eval see more ties.",
        "Choose precision float32 to see what those tools see.",
        "scores that differ as 64-bit floats only",
    ),
    Kind(
        "near-ties",
        "info",
        "Neighbours in a list differ by less than a billionth: rounding noise may be all that orders them.",
        "Choose precision float32, decimals:N or within:E to treat them as tied.",
        "scores that differ by rounding noise",
    ),
)
"""Every kind of finding, from reading a file to looking at its last digits."""

BY_CODE: Mapping[str, Kind] = {kind.code: kind for kind in KINDS}
