"""The columns of tables that people read: what each is called, how it is written, and what it means."""

from collections.abc import Mapping
from dataclasses import replace

from metrics.support.shown_column import ShownColumn

_WORDS = {"tied": "Tied", "traditional": "Traditional", "order": "the traditional order"}


def shown_columns(*keys: str | tuple[str, str], **words: object) -> dict[str, ShownColumn]:
    """Choose the columns of a table.

    Args:
        keys: of `COLUMNS`, in order; where the table's column has another name, that name and the key.
        words: what stands for the words in braces; values are Tied and Traditional unless they say more.

    Returns:
        Column of the table → how it is shown.
    """
    words = _WORDS | words
    pairs = [(key, key) if isinstance(key, str) else key for key in keys]
    columns = {}
    for name, key in pairs:
        column = COLUMNS[key]
        columns[name] = replace(
            column, label=column.label.format_map(words), help=column.help.format_map(words)
        )
    return columns


COLUMNS: Mapping[str, ShownColumn] = {
    column.key: column
    for column in (
        # what a row is of
        ShownColumn("reranker", "Reranker", "Whose lists they are, by the name of its file or column.", "text"),
        ShownColumn("name", "Whole name", "The reranker's name in full, as downloads have it.", "text"),
        ShownColumn("query_id", "Query", "Id of the query, as in the files.", "text"),
        ShownColumn("doc_id", "Document", "Id of the document, as in the files.", "text"),
        ShownColumn("measure", "Measure", "What is measured; the Guide has its formula.", "text"),
        ShownColumn("segment", "Segment", "Type of the query, as the files have it.", "text"),
        ShownColumn("ties", "Ties", "Whether ties are in one order or averaged over all.", "text"),
        ShownColumn("scenario", "Scenario", "What is simulated.", "text"),
        ShownColumn("number_format", "Format", "As what scores are compared.", "text"),
        ShownColumn("target", "Target", "What is asked of the mean.", "text"),
        ShownColumn("text", "Text", "Text of the document, as the files have it.", "text", width="large"),
        # values of a measure
        ShownColumn("value", "{measure}", "Value of the measure: of the list, or the mean over lists."),
        ShownColumn(
            "binary_value", "{measure}", "1 with a relevant document within the cut-off, else 0.", "count"
        ),
        ShownColumn(
            "tied", "{tied}", "Mean over every order that the ties allow; by rule where the measure has one."
        ),
        ShownColumn("traditional", "{traditional}", "Value by {order} of the ties."),
        ShownColumn("worst", "Worst", "Value when every tie falls in its worst order."),
        ShownColumn("best", "Best", "Value when every tie falls in its best order."),
        ShownColumn("width", "Best − worst", "How far the order of ties alone can move the value."),
        ShownColumn("std", "SD from ties", "Standard deviation of the mean when ties fall at random."),
        ShownColumn("ordering_std", "SD from ties", "Standard deviation over all orderings."),
        ShownColumn(
            "share_deviation",
            "± SD of tie ratio",
            "Sample standard deviation over lists (ddof 1) of the tie ratio, in percentage points.",
            "percent",
        ),
        ShownColumn(
            "measure_deviation",
            "± SD of {measure}",
            "Sample standard deviation over lists (ddof 1) of {measure}.",
        ),
        # gaps
        ShownColumn("gap", "Gap", "Traditional minus tied.", "difference"),
        ShownColumn("list_gap", "Gap", "Traditional minus tied, of this list.", "difference"),
        ShownColumn("measure_gap", "{measure} gap", "Traditional minus tied, of this list.", "difference"),
        ShownColumn("gap_mean", "Mean |gap|", "Mean over lists of the absolute gap."),
        ShownColumn("measure_gap_mean", "|{measure} gap|", "Mean over lists of the absolute gap."),
        ShownColumn("gap_max", "Largest |gap|", "The largest absolute gap of a list."),
        ShownColumn("measure_gap_max", "Largest |{measure} gap|", "The largest absolute gap of a list."),
        ShownColumn("lists_with_gap", "Lists with a gap", "Lists whose two values differ.", "share"),
        ShownColumn(
            "r_ratio", "{measure} r with tie ratio", "Correlation of {measure} gap and tie ratio.", digits=3
        ),
        ShownColumn(
            "r_size", "{measure} r with largest tie", "Correlation of {measure} gap and largest tie.", digits=3
        ),
        # ties
        ShownColumn("argmax_tie_ratio", "Ties by grade", "Tie ratio where the likeliest grade ranks.", "share"),
        ShownColumn(
            "expected_tie_ratio", "Ties by expectation", "Tie ratio where the expected grade ranks.", "share"
        ),
        ShownColumn("argmax", "{measure} by grade", "Tied mean where the likeliest grade ranks."),
        ShownColumn("expected", "{measure} by expectation", "Tied mean where the expected grade ranks."),
        ShownColumn("gain", "Gain", "By expectation minus by grade: what grading threw away.", "difference"),
        ShownColumn("tie_ratio", "Tie ratio", "Share of its documents that tie.", "share"),
        ShownColumn(
            "mean_tie_ratio", "Tie ratio", "Share of documents that tie, mean over lists.", "share", width=96
        ),
        ShownColumn("max_tie_size", "Largest tie", "Documents of the largest tie group.", "count"),
        ShownColumn(
            "max_tie_size_mean",
            "Largest tie, mean",
            "A list without ties counts 1, as in the notebook's six panels, and one without rows 0.",
            digits=2,
        ),
        ShownColumn(
            "tie_size_mean",
            "Largest tie, 0 if none",
            "Mean where a list without ties counts 0, as in the notebook's G-RAG report.",
            digits=2,
        ),
        ShownColumn("tie_groups", "Ties per list", "Groups that tie, mean over lists.", digits=2),
        ShownColumn("n_tie_groups", "Tie groups", "Groups of documents that tie.", "count"),
        ShownColumn("with_ties", "Lists with ties", "Lists in which documents tie.", "count"),
        ShownColumn("with_ties_share", "% of lists", "Lists with ties, of all lists.", "percent"),
        # ranks
        ShownColumn("tied_rank", "#", "Place by the tied value, 1 the best; equal values share one.", "count"),
        ShownColumn("traditional_rank", "# {traditional}", "Place by {order} of the ties.", "count"),
        ShownColumn(
            "places", "Possible places", "Best to worst place that some order of the ties gives.", "text"
        ),
        ShownColumn("verdict_reason", "Why", "What the verdict rests on.", "text", width="large"),
        # how many
        ShownColumn("n_lists", "Lists", "Lists that are scored.", "count"),
        ShownColumn("n", "Queries", "Queries that are compared.", "count"),
        ShownColumn("n_queries", "Queries", "Queries that are counted.", "localized"),
        # one list
        ShownColumn("place", "Place", "Place in the list, by score.", "localized"),
        ShownColumn("from_place", "From place", "First place of the group in the list.", "localized"),
        ShownColumn("to_place", "To place", "Last place of the group in the list.", "localized"),
        ShownColumn("possible_places", "Can stand at", "Places that some order of the ties gives it.", "text"),
        ShownColumn("score", "Score", "What documents are ranked by.", "significant", 6),
        ShownColumn(
            "further_score", "{column}", "Splits ties in the scores before it, highest first.", "significant", 6
        ),
        ShownColumn("front", "Front", "No document of its list outside the fronts above beats it.", "count"),
        ShownColumn("criterion", "{column}", "A criterion, as the files have it.", "significant", 6),
        ShownColumn("scores", "Scores", "From the first document to the last.", "text"),
        ShownColumn("grade", "Grade", "How relevant it was judged; empty: not judged.", "significant", 0),
        ShownColumn("grades", "Grades", "How relevant they were judged.", "text"),
        ShownColumn("group", "Group", "Number of the tie group, the highest score first.", "localized"),
        ShownColumn("document_group", "Group", "Documents of one group tie.", "localized"),
        ShownColumn("n_documents", "Documents", "How many there are.", "localized"),
        ShownColumn("n_relevant", "Relevant", "How many of them are relevant.", "localized"),
        # its orderings
        ShownColumn("ordering", "#", "Number of the ordering.", "count"),
        ShownColumn("pattern", "#", "Number of the pattern.", "count"),
        ShownColumn("documents", "Documents", "Their ids.", "text"),
        ShownColumn(
            "ordered_documents", "Documents, top first", "Ids in this ordering.", "text", width="large"
        ),
        ShownColumn("ordered_grades", "Grades, top first", "Grades in this pattern.", "text", width="large"),
        ShownColumn("orderings", "Orderings", "Orderings that share the pattern.", "localized"),
        ShownColumn("chance", "Chance", "How likely it is when every ordering is.", "significant"),
        ShownColumn("first_relevant", "First relevant", "Place of the first relevant document.", "count"),
        # mean reciprocal rank and mean average precision in words
        ShownColumn("times", "× baseline", "So many times the value of {baseline}.", "significant", 3),
        ShownColumn("typical_rank", "1/{measure}", "{typical_rank}", digits=1),
        ShownColumn(
            "mean_rank",
            "Mean rank",
            "Mean traditional rank of the first relevant document, of lists that hold one.",
            digits=1,
        ),
        ShownColumn("relevant_mean", "Relevant per query", "Mean over queries.", digits=2),
        ShownColumn(
            "one_sided",
            "Only RR or AP differs",
            "Queries on which one of RR and AP, ties averaged, is the baseline's.",
            "count",
        ),
        ShownColumn(
            "opposed",
            "RR and AP disagree",
            "Queries on which one of RR and AP is above the baseline's, one below.",
            "count",
        ),
        # how many orderings there are, and what they cost
        ShownColumn("case", "Case", "How the list is tied.", "text"),
        ShownColumn("tie_sizes", "Tie sizes", "Documents of each tie group.", "text"),
        ShownColumn("size", "Tied", "Documents that tie.", "localized"),
        ShownColumn("n_orderings", "Orderings", "Orders of the documents that the scores allow.", "localized"),
        ShownColumn("orderings_written", "Orderings", "Orders of the documents that the scores allow.", "text"),
        ShownColumn("patterns_written", "Patterns", "Orders of grades: C(n, r) of a tie.", "text"),
        ShownColumn("tractable", "Few enough", "10,000 orderings or fewer.", "flag"),
        ShownColumn("tractable_lists", "Can be enumerated", "Lists of 10,000 orderings or fewer.", "localized"),
        ShownColumn("tractable_share", "% of lists", "Lists that can be enumerated, of all lists.", "percent"),
        ShownColumn(
            "draws_written",
            "Draws advised",
            "A tenth of the orderings, from 1,000 to 10,000, as in the notebook.",
            "text",
        ),
        ShownColumn(
            "draws_advised",
            "Draws advised",
            "A tenth of the orderings, from 1,000 to 10,000, as in the notebook.",
            "localized",
        ),
        ShownColumn("terms", "Closed form", "Terms of RR: places of the first relevant document.", "localized"),
        # two rerankers, query by query
        ShownColumn("won", "Won", "Queries it wins by tied values.", "count"),
        ShownColumn("equal", "Equal", "Queries level by tied values.", "count"),
        ShownColumn("lost", "Lost", "Queries it loses by tied values.", "count"),
        ShownColumn("won_before", "Won, traditional", "Queries it wins by traditional values.", "count"),
        ShownColumn("equal_before", "Equal, traditional", "Queries level by traditional values.", "count"),
        ShownColumn("lost_before", "Lost, traditional", "Queries it loses by traditional values.", "count"),
        ShownColumn(
            "changed_queries",
            "Decided by ties",
            "Queries whose outcome differs between the two values.",
            "count",
        ),
        ShownColumn(
            "difference_before", "Traditional difference", "Difference of the traditional values.", "difference"
        ),
        ShownColumn("query_difference", "Tied difference", "Difference of the tied values.", "difference"),
        ShownColumn("moved", "Moved by ties", "Traditional minus tied difference.", "difference"),
        ShownColumn("a", "{reranker}", "Tied value."),
        ShownColumn("b", "{baseline}", "Tied value."),
        ShownColumn("a_before", "{reranker}, traditional", "Traditional value."),
        ShownColumn("b_before", "{baseline}, traditional", "Traditional value."),
        # tests of significance
        ShownColumn("traditional_difference", "Traditional", "Difference by traditional values.", "difference"),
        ShownColumn("difference", "Tied", "Difference by tied values.", "difference"),
        ShownColumn("low", "from", "Lower end of the interval of the tied difference.", "difference"),
        ShownColumn("high", "to", "Upper end of that interval.", "difference"),
        ShownColumn("p_adjusted", "p adj.", "p of the test, corrected for the number of comparisons.", "p"),
        ShownColumn("stars", "", "Stars of significance.", "text", width=44),
        ShownColumn("changed", "Changes", "The verdict rests on the order of ties.", "flag"),
        ShownColumn(
            "dz",
            "Effect d",
            "Mean difference in standard deviations: Cohen's dz; unpaired, Cohen's d.",
            "difference",
            2,
        ),
        ShownColumn(
            "superiority", "P(wins)", "Chance to beat the baseline on a query; equal ones count half.", digits=2
        ),
        ShownColumn(
            "share_ties",
            "From ties",
            "Share of the difference's variance that is ties, not queries.",
            "share",
            width=96,
        ),
        ShownColumn("note", "Note", "What is particular about this comparison.", "text"),
        # orders that swap
        ShownColumn("first_by_sort", "A, first by the sort", "Who is ahead by {order}.", "text"),
        ShownColumn("first_when_tied", "B, first when tied", "Who is ahead once ties are averaged.", "text"),
        ShownColumn("places_of_pair", "Places", "Of A and of B, by {order}.", "text"),
        ShownColumn("tied_places_of_pair", "Tied places", "Of A and of B, ties averaged.", "text"),
        ShownColumn("pair_difference", "Difference", "A minus B, by {order}.", "difference"),
        ShownColumn("tied_pair_difference", "Tied diff.", "A minus B, ties averaged.", "difference"),
        ShownColumn("pair_p", "p", "Paired t-test of the tied values, Holm over all pairs.", "p"),
        ShownColumn(
            "above",
            "P(A above B | ties)",
            "Chance of the sort's order when every tie is broken at random.",
            "chance",
        ),
        ShownColumn("traditional_of_pair", "{traditional}", "Values of A and of B by {order}.", "text"),
        ShownColumn("tied_of_pair", "{tied}", "Values of A and of B, ties averaged.", "text"),
        # noise
        ShownColumn("near_noise", "At σ .01", "Mean with noise of a hundredth of the spread of its scores."),
        ShownColumn("far_noise", "At σ .1", "Mean with noise of a tenth of the spread of its scores."),
        ShownColumn("own_noise", "At its own σ", "Mean with the noise that the column score_std tells."),
        ShownColumn("noise_of_loss", "Loses .01 at σ", "Noise at which it is .01 lower.", "significant", 2),
        ShownColumn("first_trade", "First trade at σ", "Noise at which it trades places.", "significant", 2),
        # weights of criteria
        ShownColumn("lowest_weighted", "Lowest {tied}", "At the weighting that suits it least."),
        ShownColumn("highest_weighted", "Highest {tied}", "At the weighting that suits it most."),
        ShownColumn("best_weights", "Highest at", "The first weighting with the highest value.", "text"),
        ShownColumn(
            "leads", "Leads", "Share of weightings at which no other is higher; shared if level.", "share"
        ),
        # targets
        ShownColumn("missed_by", "Missed by", "How far the tied value is from the bound; 0 where it meets it."),
        ShownColumn("passes", "Passes", "Whether the tied value meets the target.", "text"),
        # speed and diversity
        ShownColumn("p50", "p50 ms", "Half of the lists take no longer, in milliseconds.", "localized"),
        ShownColumn("p95", "p95 ms", "95 of 100 lists take no longer, in milliseconds.", "localized"),
        ShownColumn("mean_latency", "mean ms", "Mean over lists, in milliseconds.", "localized"),
        ShownColumn("recall", "Recall@{k}", "Share of the relevant documents in the top; ties averaged."),
        ShownColumn("distinct", "DR@{k}", "Distinct relevant targets in the top, over all targets."),
        ShownColumn("targets", "Div@{k}", "Distinct relevant targets in the top.", digits=2),
        ShownColumn("repeated", "Repeats", "Relevant documents in the top that repeat a target.", "percent"),
        ShownColumn("beaten_by", "Beaten by", "Rerankers as fast and as good, and better in one.", "text"),
    )
}
"""Every column by its key."""
