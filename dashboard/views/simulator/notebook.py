"""Simulator → Notebook: everything the notebook on tied metrics draws and prints, in its order."""

from collections.abc import Callable, Sequence
from datetime import date
from functools import cache

import pandas as pd
import streamlit as st

from dashboard import controls, visitor
from dashboard.cache import cached, drawn
from dashboard.charts.rerankers import PANELS_WIDTH, aligned_rows, gap_multiples
from dashboard.charts.simulator import sampling_convergence
from dashboard.views.simulator import simulation as simulations
from dashboard.widgets.components import chart, heading, section, table
from dashboard.widgets.one_list import draw_orders, draw_permutations
from metrics import evaluate, parse
from metrics.simulation import notebook_scenarios
from metrics.simulation.link_text import Document, runs_from_list, scenario_documents
from metrics.simulation.notebook import notebook_cases
from metrics.studies.gaps import notebook_lines, notebook_table
from metrics.studies.one_list import MAX_LISTED, ladder
from metrics.studies.orderings import list_values, running_mean, sample_values
from metrics.studies.permutations import possible_values
from metrics.support.shown_columns import ShownColumn, shown_columns
from metrics.ties import Ranking
from metrics.ties.permutations import count_orderings

_QUERY, _SEED = "list", 1


def notebook(edited: list[Document] | None, choose_scenario: Callable[[], str]) -> None:
    """Draw everything that the notebook draws and prints."""
    scenario_table()
    name = choose_scenario()
    documents = edited or scenario_documents(name)
    ranking = Ranking.of(runs_from_list(documents), _QUERY, query_id=_QUERY)
    every_order(ranking, documents)
    synthetic_lists()
    llm_panels()
    sampling(ranking)
    five_cases()
    printed_report()


@section("The four scenarios")
def scenario_table() -> None:
    """Draw the table of the scenarios."""
    rows, columns = _scenarios()
    table(rows, "The four scenarios", "scenarios", columns)


@cache
def _scenarios() -> tuple[pd.DataFrame, dict[str, ShownColumn]]:
    evaluation = evaluate(notebook_scenarios(), ["RR", "Hits@3", "Hits@5"], ["input", "expected"])
    columns = shown_columns(("query_id", "scenario"), "n_tie_groups", "max_tie_size")
    values = {}
    for measure in map(parse, evaluation.measures):
        for ties, label in (("input", measure.traditional), ("expected", measure.tied)):
            values[label] = evaluation.scores[str(measure), ties]
            columns |= shown_columns((label, "value"), measure=label)
    rows = evaluation.lists[["n_tie_groups", "max_tie_size"]].assign(**values)
    rows = rows.reset_index("query_id").reset_index(drop=True)
    documents = [scenario_documents(name) for name in rows["query_id"]]
    rows = rows.assign(
        scores=[" ".join(f"{document.score:g}" for document in listed) for listed in documents],
        grades=[" ".join(f"{document.grade:g}" for document in listed) for listed in documents],
    )
    return rows, columns | shown_columns("scores", "grades")


@section("Every order")
def every_order(ranking: Ranking, documents: Sequence[Document]) -> None:
    """Draw the possible values of the small list, and its single orders if they are few."""
    rows, n_orders = ladder(ranking, _QUERY), count_orderings(ranking, _QUERY).orderings
    names = {str(position): document.name for position, document in enumerate(documents, 1)}
    rows = rows.assign(doc_id=rows["doc_id"].map(names))
    heading("Every value", "Each rank of the first relevant document, with an order that has it.")
    draw_permutations(possible_values(ranking, _QUERY, "RR", "input"), rows, visitor.theme(), "scenario-values")
    if n_orders is None or n_orders > MAX_LISTED:
        st.caption(f"More than {MAX_LISTED} orders are not listed.")
        return
    draw_orders(ranking, _QUERY, rows, visitor.theme(), ("RR", "Hits@3"))


@section("200 synthetic lists")
def synthetic_lists() -> None:
    """Draw the six panels and print the summary."""
    simulation = simulations.Simulation(simulations.NOTEBOOK_LISTS)
    lists = simulations.list_gaps(simulation)
    heading("Impact of tied rankings: 200 synthetic lists", "Six panels.")
    simulations.lists_chart(lists, ("RR", "Hits@3"), "synthetic")
    st.code("\n".join(notebook_lines(lists, ("MRR", "Hits@3"))), language=None, wrap_lines=True)
    simulations.exit_buttons(simulation)


@section("Four LLM rerankers")
def llm_panels() -> None:
    """Draw the four panels of the rerankers and their summary."""
    simulation, palette = simulations.Simulation(simulations.NOTEBOOK_LLMS), visitor.theme()
    lists, summary = simulations.list_gaps(simulation), simulations.gap_sizes(simulation)
    heading(
        "LLM reranker performance",
        "Four rerankers on 100 queries: score, tie ratio and gap; then list by list.",
    )
    chart(
        drawn(aligned_rows, summary, lists, palette, "MRR"),
        "llm-rows",
        "MRR, MTRR, mean tie ratio and distribution of gaps of four simulated rerankers.",
        wide=640,
    )
    colours = {str(name): palette.reranker(number) for number, name in enumerate(summary.index)}
    chart(
        drawn(gap_multiples, lists, palette, colours, "RR"),
        "llm-multiples",
        "Gap against tie ratio, one panel per reranker.",
        wide=PANELS_WIDTH,
    )
    rows = notebook_table(summary, ("MRR", "MTRR"), ("Hits@5", "TMHits@5"))
    table(
        rows, "LLM reranker summary", "llm-summary", {name: st.column_config.TextColumn(name) for name in rows}
    )
    st.caption("Scores: mean ± standard deviation over 100 lists. Gaps: mean and largest.")
    simulations.exit_buttons(simulation)


@section("Sampling")
def sampling(ranking: Ranking) -> None:
    """Draw how the mean of random orders approaches the exact value."""
    heading("Sampling RR", "Mean of the orders drawn so far. Grey: 1.96 standard errors of the mean.")
    n = int(controls.segmented("Draws", ("100", "1000", "10000"), "draws", "1000"))
    rr = list_values(ranking, _QUERY, ["RR"], ["expected"]).loc["RR"]
    means = running_mean(sample_values(ranking, _QUERY, "RR", n, _SEED), float(rr["std"]))
    figure = drawn(sampling_convergence, means, float(rr["expected"]), visitor.theme(), "RR")
    chart(figure, "sampling", "Running mean of the orders drawn, with its standard error, and the exact value.")


@section("The five cases")
def five_cases() -> None:
    """Draw the number of orders in five cases."""
    rows = notebook_cases()
    table(
        rows.assign(
            tie_sizes=[", ".join(map(str, sizes)) for sizes in rows["tie_sizes"]],
            draws=["" if pd.isna(draws) else f"{draws:,}" for draws in rows["draws"]],
        ),
        "The five cases",
        "notebook-cases",
        shown_columns(
            "case", "tie_sizes", ("orderings", "n_orderings"), "tractable", ("draws", "draws_written")
        ),
        download=rows,
    )


@section("The printed report")
def printed_report() -> None:
    """Print the evaluation report on the G-RAG queries."""
    heading("G-RAG evaluation report", "For any run, open the page Share or run tiescope report --format text.")
    text = _report_text(date.today())  # noqa: DTZ011 the day where the app runs
    st.code(text, language=None, wrap_lines=True)
    simulations.exit_buttons(simulations.Simulation(simulations.NOTEBOOK_GRAG))


@cached(show_spinner="Writing …", max_entries=1)
def _report_text(day: date) -> str:
    from metrics.report import report  # noqa: PLC0415 when asked for

    return report(simulations.runs(simulations.Simulation(simulations.NOTEBOOK_GRAG)), sections=["data"]).text(
        day
    )
