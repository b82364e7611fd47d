"""Rerankers: what each scores by the order of its file, over every order, and where the two part."""

import streamlit as st

from dashboard import session
from dashboard.charts.gaps.gap_multiples import gap_multiples
from dashboard.charts.leaderboard.aligned_rows import aligned_rows
from dashboard.views.rerankers.comparisons import baseline_comparison
from dashboard.views.rerankers.readings import readings_section
from dashboard.widgets.components import Card, cards, chart, finding, heading, page_head, table
from dashboard.widgets.first_rows import row_limit
from metrics import parse
from metrics.measures import question
from metrics.studies.gaps.gap import gaps
from metrics.studies.gaps.gap_summary import gap_summary
from metrics.studies.leaderboard.rerankers import reranker_finding
from metrics.studies.prose import decimal, signed
from metrics.studies.tie_rules import own_rule_note
from metrics.support.shown_columns import shown_columns
from metrics.support.wording import percent

view = session.view()
page_head(
    "Rerankers",
    "What each reranker scores by the order of its file, what it scores over every order its ties allow, "
    "and where the two part.",
)
with st.container(horizontal=True, vertical_alignment="top", gap="medium"):
    measure = session.measure()
    sort = session.segmented("Sort by", ("tied", "traditional", "tie ratio", "gap"), "sort")
    n_drawn = row_limit(len(view.rerankers))
name = chosen = parse(measure)
second = "Hits@5" if measure != "Hits@5" else "RR"
if chosen.measure.answers:
    name, second = question(chosen), measure
first = str(name)
lists = gaps(view.evaluation, {"first": first, "second": second}, view.traditional)
summary = gap_summary(lists)
sort_columns = {"tied": "first_tied", "traditional": "first_traditional", "gap": "first_gap"}
summary = summary.sort_values(sort_columns.get(sort, "tie_ratio"), ascending=False, kind="stable")
finding((*own_rule_note(measure), *reranker_finding(summary, name.traditional)))

best_by = "second_tied" if chosen.measure.answers else "first_tied"
best, farthest = summary.loc[summary[best_by].idxmax()], summary.loc[summary["first_gap"].abs().idxmax()]
most_tied, farthest_list = (summary.loc[summary[column].idxmax()] for column in ("tie_ratio", "first_gap_max"))
cards(
    Card("trophy", f"Best {chosen.tied}", decimal(best[best_by], 4), str(best.name), "blue"),
    Card(
        "casino",
        "Largest gap",
        signed(farthest["first_gap"], 4),
        str(farthest.name),
        "orange",
    ),
    Card("join_inner", "Most ties", percent(most_tied["tie_ratio"]), str(most_tied.name), "orange"),
    Card(
        "vertical_align_center",
        "Farthest single list",
        decimal(farthest_list["first_gap_max"], 4),
        str(farthest_list.name),
    ),
)

heading(
    "Score, ties and gap, reranker by reranker",
    "Right: lists with a gap, orange where the traditional value is too high, grey where it is too low.",
)
chart(
    aligned_rows(summary.head(n_drawn), lists, view.palette, name.traditional),
    "rerankers",
    f"{name.traditional} with tie bounds, mean tie ratio and distribution of gaps of each reranker.",
    wide=820,
)
heading(
    "Gap against tie ratio, one reranker at a time",
    "Each dot is a list; grey repeats the lists of all rerankers. The line is the mean gap.",
)
colours = {str(reranker): view.colour(str(reranker)) for reranker in summary.head(n_drawn).index}
chart(
    gap_multiples(lists, view.palette, colours, first),
    "gap-multiples",
    f"{first} gap against tie ratio, a panel a reranker, and their means together.",
    wide=820,
)

if len(view.rerankers) > 1:
    baseline_comparison(view, measure, n_drawn)
readings_section(view)

columns = shown_columns("reranker", "tie_ratio", ("tie_ratio_std", "share_deviation"))
for prefix, shown_measure in (("first", name), ("second", parse(second))):
    columns |= shown_columns(
        (f"{prefix}_traditional", "traditional"),
        (f"{prefix}_traditional_std", "deviation"),
        (f"{prefix}_tied", "tied"),
        (f"{prefix}_tied_std", "deviation"),
        (f"{prefix}_gap_mean", "gap_mean"),
        (f"{prefix}_gap_max", "gap_max"),
        traditional=shown_measure.traditional,
        tied=shown_measure.tied,
    )
table(
    summary.reset_index(),
    "Summary",
    "rerankers",
    columns,
    download=summary.reset_index().rename(
        columns=lambda column: column.replace("first", first).replace("second", second)
    ),
)
st.caption("± std: sample standard deviation over lists (ddof 1), as the notebook's summary has it.")
