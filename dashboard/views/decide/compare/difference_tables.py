"""Tables of differences: every comparison, and the queries behind one."""

from itertools import islice
from urllib.parse import urlencode

import pandas as pd
import streamlit as st

from dashboard import controls
from dashboard.charts.labels import MATRIX_COLUMNS, SENTENCE_COLUMNS, short_names
from dashboard.choices import View
from dashboard.escaping import escape_markdown
from dashboard.views.decide.compare.cached import query_rows
from dashboard.widgets.columns import MOST_WRITTEN
from dashboard.widgets.components import heading, section_finding, table
from dashboard.widgets.first_rows import FIRST_ROWS, ROWS_IN_TABLE, shown_rows
from dashboard.widgets.page_body import section
from metrics import parse
from metrics.studies.leaderboard.holes import holds, order_finding
from metrics.studies.prose import and_more
from metrics.studies.significance.significance import Verdicts
from metrics.studies.significance.test_registry import find_correction, find_test, is_significant
from metrics.support.shown_columns import shown_columns
from metrics.support.wording import count_of

_STARS = r"\*\*\* p < 0.001, \*\* p < 0.01, \* p < 0.05, ns not significant.".replace(
    " p < ", "\u00a0p\u00a0<\u00a0"
)
_MAX_NOTES = 4
"""Notes that are written below the table; it has them all."""
_COLUMNS = shown_columns(
    *("difference", "p_adjusted", "stars", "share_ties"),
    "traditional_difference",
    ("traditional_p_adjusted", "p_adjusted"),
    ("traditional_stars", "stars"),
    *("low", "high", "dz", "superiority", "won", "equal", "lost", "n", "note"),
)


@section("The table of comparisons")
def comparison_table(
    verdicts: Verdicts,
    tie_shares: "pd.Series[float]",
    measure: str,
    test_name: str,
    correction_name: str,
    differences: pd.DataFrame | None = None,
) -> None:
    """Draw every comparison with the baseline, and how they were made.

    Args:
        verdicts: the comparisons.
        tie_shares: as `cached.tie_shares` returns them.
        measure: which is compared.
        test_name: the test.
        correction_name: the correction.
        differences: index reranker, lowest and highest over all judgments; None where all is judged.
    """
    verdicts = verdicts.changed_first(FIRST_ROWS)
    baseline = str(verdicts.tied["baseline"].iloc[0])
    labels = short_names([*verdicts.tied["reranker"], baseline], SENTENCE_COLUMNS)
    shares = tie_shares.reindex(verdicts.tied["reranker"]).to_numpy()
    rows = _comparison_rows(verdicts).assign(share_ties=shares)
    if differences is not None:
        rows["holds"] = holds(differences).reindex(rows["reranker"]).to_numpy()
    has_changed_first = len(rows) > FIRST_ROWS and rows["changed"].any()
    table(
        rows,
        f"Results against {escape_markdown(labels[baseline])}",
        "significance",
        shown_columns("reranker", "changed", *(["holds"] if differences is not None else [])) | _COLUMNS,
        download=rows.assign(share_ties=100 * rows["share_ties"]),
        explanation="Those whose verdict changes first." if has_changed_first else "",
    )
    if differences is not None:
        is_larger = is_significant(verdicts.tied["p_adjusted"].to_numpy(), verdicts.level)
        shares_grades = parse(measure).measure.family.shares is not None
        section_finding(order_finding(rows["holds"].to_numpy(), is_larger, shares_grades=shares_grades))
    test, correction = find_test(test_name), find_correction(correction_name)
    is_corrected = not test.simultaneous and correction.method is not None
    corrected = f", {correction.label} over {count_of(len(rows), 'comparison')}" if is_corrected else ""
    interval = f"From, to: the {verdicts.level:.0%} {test.interval_scope}."
    st.caption(f"{test.label[0].upper()}{test.label[1:]}{corrected}. {test.summary} {interval} {_STARS}")
    for note, names in _named_notes(verdicts.tied.replace({"reranker": labels})).items():
        st.caption(escape_markdown(f"For {names}, {note}."))


def _named_notes(rows: pd.DataFrame) -> dict[str, str]:
    """Return what else has to be known of the comparisons, each with the rerankers it is true of."""
    noted = rows[rows["note"] != ""].groupby("note", sort=False)["reranker"]
    return {note: f"{names.iloc[0]}{and_more(len(names) - 1)}" for note, names in islice(noted, _MAX_NOTES)}


def _comparison_rows(verdicts: Verdicts) -> pd.DataFrame:
    """Return a row for each comparison, traditional and tied side by side."""
    tested = verdicts.without_untested()
    tied, traditional = tested.tied, tested.traditional
    return pd.DataFrame(
        {
            "reranker": tied["reranker"],
            "n": tied["n"],
            **{f"traditional_{name}": traditional[name] for name in ("difference", "p_adjusted", "stars")},
            **{name: tied[name] for name in ("difference", "low", "high", "p", "p_adjusted", "stars")},
            "changed": verdicts.changed,
            **{name: tied[name] for name in ("dz", "superiority", "won", "equal", "lost", "note")},
        }
    )


@section("Query by query")
def query_table(view: View, measure: str, baseline: str) -> None:
    """Draw the queries behind a comparison, each a link to both lists side by side.

    Args:
        view: what the sidebar says is shown.
        measure: which is compared.
        baseline: with whom.
    """
    heading(
        "Queries behind a difference",
        "Those whose difference the order of ties moves most, or those that differ most once it is averaged.",
    )
    with st.container(horizontal=True, vertical_alignment="top", gap="medium"):
        others = [name for name in view.rerankers if name != baseline]
        reranker = controls.select_name("Compared with the baseline", others, "compared", width=240)
        order = controls.segmented("Farthest by", ("ties", "difference"), "farthest")
    rows = query_rows(
        *(view, measure, reranker, baseline, view.traditional), "moved" if order == "ties" else "difference"
    )
    row_range = shown_rows(len(rows), "queries", ROWS_IN_TABLE, MOST_WRITTEN)
    first = row_range.of(rows)
    link = controls.list_link_parameters(reranker, "", beside=baseline)
    links = [f"/query?{urlencode(link | {'query': [query]}, doseq=True)}" for query in first["query_id"]]
    names = short_names(view.rerankers, MATRIX_COLUMNS)
    table(
        first.assign(open=pd.Series(links, dtype="str")),
        "Query by query",
        "queries",
        {
            **shown_columns("query_id"),
            "open": st.column_config.LinkColumn(
                "Lists",
                display_text="Open both",
                width="small",
                help="Opens both lists of the query, side by side.",
            ),
            **shown_columns("difference_before", ("difference", "query_difference"), "moved"),
            **shown_columns(
                "a", "b", "a_before", "b_before", reranker=names[reranker], baseline=names[baseline]
            ),
        },
        download=rows,
        explanation=row_range.left_out(),
    )
    row_range.buttons()
