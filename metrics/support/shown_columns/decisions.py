"""Columns of what a decision rests on: noise, weights, targets, speed and judgments."""

from metrics.support.shown_column import ShownColumn

COLUMNS = (
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
    ShownColumn("leads", "Leads", "Share of weightings at which no other is higher; shared if level.", "share"),
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
    # what nobody judged
    ShownColumn(
        "expectation",
        "At judged rate",
        "Mean expected if unjudged documents are relevant as often as judged ones of like places tell.",
    ),
    ShownColumn(
        "unjudged", "Unjudged", "Share of the documents within the cut-off that nobody judged.", "percent"
    ),
    ShownColumn(
        "lowest", "Lowest", "Smallest mean over all orders of the ties and all judgments of unjudged documents."
    ),
    ShownColumn(
        "highest",
        "Highest",
        "Largest mean over all orders of the ties and all judgments of unjudged documents.",
    ),
    ShownColumn("judging_number", "#", "The document that narrows the bars most first.", "count"),
    ShownColumn("having_rerankers", "In the top {k} of", "Rerankers that have it so high.", "text"),
    ShownColumn("best_place", "Best place", "The highest place that the scores of any allow it.", "count"),
    ShownColumn("best_reranker", "By", "The first reranker with it at that place.", "text"),
)
