"""Columns of what a row is of, values of a measure, gaps, ties, ranks and counts."""

from metrics.support.shown_column import ShownColumn

COLUMNS = (
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
    ShownColumn("binary_value", "{measure}", "1 with a relevant document within the cut-off, else 0.", "count"),
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
    ShownColumn("places", "Possible places", "Best to worst place that some order of the ties gives.", "text"),
    ShownColumn("tier", "Tier", "Nothing tells those of one tier apart, with 95% confidence in all.", "count"),
    ShownColumn("ranks", "Ranks, 95%", "Of its true mean among all others; all hold at once.", "text"),
    ShownColumn("verdict_reason", "Why", "What the verdict rests on.", "text", width="large"),
    # how many
    ShownColumn("n_lists", "Lists", "Lists that are scored.", "count"),
    ShownColumn("n", "Queries", "Queries that are compared.", "count"),
    ShownColumn("n_queries", "Queries", "Queries that are counted.", "localized"),
)
