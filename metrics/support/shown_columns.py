"""The columns of tables that people read: what each is called, how it is written, and what it means."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from metrics.support.wording import chance_percent, written_p

Kind = Literal[
    "text",
    "number",
    "difference",
    "significant",
    "percent",
    "count",
    "localized",
    "share",
    "flag",
    "p",
    "chance",
]
_FORMATS: Mapping[str, str] = {
    "number": "%.{digits}f",
    "difference": "%+.{digits}f",
    "significant": "%.{digits}g",
    "percent": "%.0f%%",
    "count": "%d",
    "localized": "localized",
}
WRITERS: Mapping[str, Callable[[float], str]] = {"p": written_p, "chance": chance_percent}
"""How numbers of a kind are written that no format can write."""


@dataclass(frozen=True)
class ShownColumn:
    """A column as a reader sees it.

    Attributes:
        key: names it among `COLUMNS`.
        label: its heading; in braces the words that tables fill in, as `{tied}`.
        kind: text; a number with so many decimals, a difference with its sign, or so many significant
            digits; percent, a count, a number as the reader's language writes it; a share of one, drawn as
            a bar; a flag that is set or not; a p value; a chance that is neither none nor sure.
        digits: decimals or significant digits; 0 significant digits are as many as there are.
        help: what it means, words in braces as in the label.
        width: pixels or a size, none for what the content takes.
    """

    key: str
    label: str
    kind: Kind = "number"
    digits: int = 4
    help: str | None = None
    width: int | Literal["small", "medium", "large"] | None = None

    @property
    def number_format(self) -> str:
        """Its format in the manner of printf, or `localized`; empty where it is no number."""
        if self.kind == "significant" and not self.digits:
            return "%g"
        return _FORMATS.get(self.kind, "").format(digits=self.digits)

    @property
    def is_hundredfold(self) -> bool:
        """Whether shares of one are shown as so many of a hundred."""
        return self.kind in ("share", "percent")


def shown_columns(*keys: str | tuple[str, str], **words: object) -> dict[str, ShownColumn]:
    """Choose the columns of a table.

    Args:
        keys: of `COLUMNS`, in order; where the table's column has another name, that name and the key.
        words: what stands for the words in braces; a value is called Tied or Traditional unless they say more.

    Returns:
        Column of the table → how it is shown.
    """
    words = {"tied": "Tied", "traditional": "Traditional"} | words
    pairs = [(key, key) if isinstance(key, str) else key for key in keys]
    columns = {}
    for name, key in pairs:
        column = COLUMNS[key]
        explanation = None if column.help is None else column.help.format_map(words)
        columns[name] = replace(column, label=column.label.format_map(words), help=explanation)
    return columns


_TIED_VALUE, _ABSOLUTE_GAP = "Tied value.", "Mean over lists of the absolute gap."
_SAMPLE_STD = "Sample standard deviation over lists (ddof 1)."
COLUMNS: Mapping[str, ShownColumn] = {
    column.key: column
    for column in (
        # what a row is of
        ShownColumn("reranker", "Reranker", "text"),
        ShownColumn("query_id", "Query", "text"),
        ShownColumn("doc_id", "Document", "text"),
        ShownColumn("measure", "Measure", "text"),
        ShownColumn("segment", "Segment", "text"),
        ShownColumn("ties", "Ties", "text"),
        ShownColumn("scenario", "Scenario", "text"),
        ShownColumn("number_format", "Format", "text"),
        ShownColumn("target", "Target", "text"),
        ShownColumn("text", "Text", "text", width="large"),
        # values of a measure
        ShownColumn("value", "{measure}"),
        ShownColumn("binary_value", "{measure}", "count"),
        ShownColumn("tied", "{tied}"),
        ShownColumn("traditional", "{traditional}"),
        ShownColumn("worst", "Worst"),
        ShownColumn("best", "Best"),
        ShownColumn("width", "Best − worst"),
        ShownColumn("std", "± by ties", help="Standard deviation of the mean when ties are broken at random."),
        ShownColumn(
            "ordering_std",
            "± std",
            help="Standard deviation over all orderings; AP has no closed form, and is estimated from {draws} "
            "draws.",
        ),
        ShownColumn("deviation", "± std", help=f"{_SAMPLE_STD} In the unit of the column before it."),
        ShownColumn("share_deviation", "± std", "percent", help=f"{_SAMPLE_STD} In percentage points."),
        # gaps
        ShownColumn("gap", "Gap", "difference", help="Traditional minus tied."),
        ShownColumn("list_gap", "Gap", "difference"),
        ShownColumn("measure_gap", "{measure} gap", "difference"),
        ShownColumn("gap_mean", "|gap|", help=_ABSOLUTE_GAP),
        ShownColumn("measure_gap_mean", "|{measure} gap|", help=_ABSOLUTE_GAP),
        ShownColumn("gap_max", "max"),
        ShownColumn("lists_with_gap", "Lists with a gap", "share"),
        ShownColumn(
            "r_ratio", "r, tie ratio", "number", 3, "Correlation of the {measure} gap with the tie ratio."
        ),
        ShownColumn(
            "r_size", "r, largest tie", "number", 3, "Correlation of the {measure} gap with the largest tie."
        ),
        # ties
        ShownColumn("tie_ratio", "Tie ratio", "share"),
        ShownColumn(
            "mean_tie_ratio",
            "Tie ratio",
            "share",
            help="Documents that share their score with another, mean over lists.",
        ),
        ShownColumn("max_tie_size", "Largest tie", "count"),
        ShownColumn(
            "max_tie_size_mean",
            "Largest tie, mean",
            digits=2,
            help="A list without ties counts 1, as in the notebook's six panels, and one without rows 0.",
        ),
        ShownColumn(
            "tie_size_mean",
            "untied as 0",
            digits=2,
            help="Mean of the largest tie where a list without ties counts 0, as in the notebook's G-RAG "
            "report, which calls it the maximum.",
        ),
        ShownColumn("tie_groups", "Ties a list", digits=2),
        ShownColumn("n_tie_groups", "Ties", "count"),
        ShownColumn("with_ties", "Lists with ties", "count"),
        ShownColumn("with_ties_share", "of all", "percent", help="Lists with ties, of all lists."),
        # ranks
        ShownColumn("tied_rank", "#", "count"),
        ShownColumn("traditional_rank", "# before", "count", help="Place by the traditional value."),
        ShownColumn("places", "Places", "text", help="Every place that some order of ties gives."),
        ShownColumn("verdict_reason", "Because", "text", width="large"),
        # how many
        ShownColumn("n_lists", "Lists", "count"),
        ShownColumn("n", "Queries", "count"),
        ShownColumn("n_queries", "Queries", "localized"),
        # one list
        ShownColumn("place", "Place", "localized"),
        ShownColumn("from_place", "From place", "localized"),
        ShownColumn("to_place", "To place", "localized"),
        ShownColumn("possible_places", "Can stand at", "text"),
        ShownColumn("score", "Score", "significant", 6),
        ShownColumn("scores", "Scores", "text"),
        ShownColumn("grade", "Grade", "significant", 0),
        ShownColumn("grades", "Grades", "text"),
        ShownColumn("group", "Group", "localized"),
        ShownColumn("document_group", "Group", "localized", help="Documents of one group share a score."),
        ShownColumn("n_documents", "Documents", "localized"),
        ShownColumn("n_relevant", "Relevant", "localized"),
        # its orderings
        ShownColumn("ordering", "#", "count"),
        ShownColumn("pattern", "#", "count"),
        ShownColumn("documents", "Documents", "text"),
        ShownColumn("ordered_documents", "Documents, top first", "text", width="large"),
        ShownColumn("ordered_grades", "Grades, top first", "text", width="large"),
        ShownColumn("orderings", "Orderings", "localized", help="Orderings that share the pattern."),
        ShownColumn("chance", "Chance", "significant"),
        ShownColumn("first_relevant", "First relevant", "count"),
        # mean reciprocal rank and mean average precision in words
        ShownColumn("times", "× baseline", "significant", 3, "So many times the value of {baseline}."),
        ShownColumn("typical_rank", "1/{measure}", digits=1, help="{typical_rank}"),
        ShownColumn(
            "mean_rank",
            "Mean rank",
            digits=1,
            help="Of the first relevant document in the traditional order, over the lists that hold one.",
        ),
        ShownColumn("relevant_mean", "Relevant a query", digits=2),
        ShownColumn(
            "one_sided",
            "RR or AP alone",
            "count",
            help="Queries on which only one of RR and AP, ties averaged, differs from the baseline.",
        ),
        ShownColumn(
            "opposed",
            "RR against AP",
            "count",
            help="Queries on which RR is above the baseline's and AP below, or the other way round.",
        ),
        # how many orderings there are, and what they cost
        ShownColumn("case", "Case", "text"),
        ShownColumn("tie_sizes", "Tie sizes", "text"),
        ShownColumn("size", "Tied", "localized"),
        ShownColumn("n_orderings", "Orderings", "localized"),
        ShownColumn("orderings_written", "Orderings", "text"),
        ShownColumn("patterns_written", "Patterns", "text", help="Orders of grades: C(n, r) of a tie."),
        ShownColumn("tractable", "Few enough", "flag", help="10,000 orderings or fewer."),
        ShownColumn("tractable_lists", "Enumerable", "localized", help="Lists of 10,000 orderings or fewer."),
        ShownColumn("tractable_share", "of all", "percent", help="Enumerable lists, of all lists."),
        ShownColumn("draws_written", "Draws advised", "text"),
        ShownColumn(
            "draws_advised",
            "Draws advised",
            "localized",
            help="As in the notebook: a tenth of the orderings, but at least 1,000 and at most 10,000.",
        ),
        ShownColumn(
            "terms",
            "Closed form",
            "localized",
            help="Terms of RR: places the first relevant document can take.",
        ),
        # two rerankers, query by query
        ShownColumn("won", "Won", "count"),
        ShownColumn("equal", "Equal", "count"),
        ShownColumn("lost", "Lost", "count"),
        ShownColumn("won_before", "Won, traditional", "count"),
        ShownColumn("equal_before", "Equal, traditional", "count"),
        ShownColumn("lost_before", "Lost, traditional", "count"),
        ShownColumn(
            "changed_queries",
            "Decided by ties",
            "count",
            help="Queries whose outcome differs between the two values.",
        ),
        ShownColumn("difference_before", "Traditional difference", "difference"),
        ShownColumn("query_difference", "Tied difference", "difference"),
        ShownColumn("moved", "Moved by ties", "difference", help="Traditional minus tied difference."),
        ShownColumn("a", "{reranker}", help=_TIED_VALUE),
        ShownColumn("b", "{baseline}", help=_TIED_VALUE),
        ShownColumn("a_before", "{reranker}, traditional"),
        ShownColumn("b_before", "{baseline}, traditional"),
        # tests of significance
        ShownColumn("traditional_difference", "Traditional", "difference"),
        ShownColumn("difference", "Tied", "difference"),
        ShownColumn("low", "from", "difference"),
        ShownColumn("high", "to", "difference"),
        ShownColumn("p_adjusted", "p adj.", "p"),
        ShownColumn("stars", "", "text", width=44),
        ShownColumn("changed", "Changes", "flag", help="The verdict rests on the order of ties."),
        ShownColumn(
            "dz",
            "Effect d",
            "difference",
            2,
            help="Mean difference in standard deviations: of the differences (Cohen's dz); unpaired, of the "
            "values (Cohen's d).",
        ),
        ShownColumn(
            "superiority",
            "P(wins)",
            digits=2,
            help="Chance to beat the baseline on a query, equal ones half; unpaired: on any query of each.",
        ),
        ShownColumn(
            "share_ties",
            "Ties",
            "share",
            help="Share of the difference's variance that is ties; the rest is queries.",
        ),
        ShownColumn("note", "Note", "text"),
        # orders that swap
        ShownColumn("first_by_sort", "A, first by the sort", "text"),
        ShownColumn("first_when_tied", "B, first when tied", "text"),
        ShownColumn("places_of_pair", "Places", "text", help="Of A and of B, by the sort."),
        ShownColumn("tied_places_of_pair", "Tied places", "text", help="Of A and of B, ties averaged."),
        ShownColumn("pair_difference", "Difference", "difference", help="A minus B, by the sort."),
        ShownColumn("tied_pair_difference", "Tied diff.", "difference", help="A minus B, ties averaged."),
        ShownColumn("pair_p", "p", "p", help="Paired t-test of the tied values, Holm over all pairs."),
        ShownColumn(
            "above",
            "P(A above B | ties)",
            "chance",
            help="Chance of the sort's order when every tie is broken at random.",
        ),
        ShownColumn("traditional_a", "A, traditional"),
        ShownColumn("traditional_b", "B, traditional"),
        ShownColumn("tied_a", "A, tied"),
        ShownColumn("tied_b", "B, tied"),
        # targets
        ShownColumn("missed_by", "Missed by"),
        ShownColumn("passes", "Passes", "text"),
        # speed and diversity
        ShownColumn("p50", "p50 ms", "localized"),
        ShownColumn("p95", "p95 ms", "localized"),
        ShownColumn("mean_latency", "mean ms", "localized"),
        ShownColumn("recall", "Recall@{k}"),
        ShownColumn("distinct", "DR@{k}", help="Distinct relevant targets in the top, over all targets."),
        ShownColumn("targets", "Div@{k}", digits=2, help="Distinct relevant targets in the top."),
        ShownColumn(
            "repeated",
            "Repeats",
            "percent",
            help="Relevant documents in the top whose target another satisfies.",
        ),
        ShownColumn("beaten_by", "Beaten by", "text"),
        # other tools
        ShownColumn("version", "Checked against", "text"),
        ShownColumn("spelling", "Calls it", "text"),
        ShownColumn("why", "Why it differs from the tied value", "text", width="large"),
    )
}
"""Every column by its key."""
