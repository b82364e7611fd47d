"""Columns of rerankers beside each other: differences, tests and orders that swap."""

from metrics.support.shown_column import ShownColumn

COLUMNS = (
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
    ShownColumn(
        "holds",
        "Holds",
        "No order of the ties and no judgment of unjudged documents reverses the order.",
        "flag",
    ),
    # lists that are alike
    ShownColumn("other_reranker", "Other", "Whose lists are held against them.", "text"),
    ShownColumn("list_overlap", "Overlap", "Rank-biased, mean over the queries both rank.", digits=3),
    ShownColumn("identical", "Same lists", "Queries with the same documents and ties in both lists.", "count"),
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
    # a published order
    ShownColumn("published_above", "A, published above", "Who is printed with the higher figure.", "text"),
    ShownColumn("published_below", "B", "Who is printed with the lower figure.", "text"),
    ShownColumn("a_published", "A pub.", "Figure of A, as it is printed."),
    ShownColumn("b_published", "B pub.", "Figure of B, as it is printed."),
    ShownColumn("a_tied", "A tied", "Mean of A over every order that the ties allow."),
    ShownColumn("b_tied", "B tied", "Mean of B over every order that the ties allow."),
    ShownColumn(
        "p_above",
        "P(A above B | ties)",
        "Chance of the printed order when every tie is broken at random.",
        "text",
    ),
)
