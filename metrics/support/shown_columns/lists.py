"""Columns of one list, its orderings, and measures in words."""

from metrics.support.shown_column import ShownColumn

COLUMNS = (
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
    ShownColumn("ordered_documents", "Documents, top first", "Ids in this ordering.", "text", width="large"),
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
    ShownColumn("n_orderings", "Orderings", "Orders of the documents that ties allow.", "localized"),
    ShownColumn("orderings_written", "Orderings", "Orders of the documents that ties allow.", "text"),
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
)
