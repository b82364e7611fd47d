"""Commands that hold what was published against its runs: audit.

Its studies are imported when it is called.
"""

from enum import StrEnum
from glob import iglob
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import pandas as pd
import typer

from metrics.cli.file_options import FileUse, Qrels, RunPaths
from metrics.cli.messages import say
from metrics.cli.options import FOR_PEOPLE, OutputFormat, ReadingOptions, TableOutput, with_shared_options
from metrics.errors import UsageError
from metrics.support.progress import progress
from metrics.support.wording import first_names, part_of, quote

if TYPE_CHECKING:
    from collections.abc import Sequence

    from metrics.studies.audit.audit import Audit
    from metrics.studies.audit.audited_order import AuditedOrder
    from metrics.studies.audit.names import NameMatches


_MOST_CONVENTIONS = 20
"""Conventions that people are shown."""
_MOST_NAMES = 8


PublishedNames = Annotated[
    list[str] | None,
    typer.Option(
        "--names",
        help="A published name of a reranker or measure, and ours: published=ours; published= leaves it out. "
        "Repeatable.",
    ),
]


class AuditTable(StrEnum):
    """Figures by the convention that fits best, conventions tried, whose names are whose, or orders printed."""

    figures = "figures"
    conventions = "conventions"
    names = "names"
    orders = "orders"


@with_shared_options
def audit_command(
    run: RunPaths,
    qrels: Qrels = None,
    published: Annotated[
        list[str] | None,
        typer.Option(
            "--published",
            "-p",
            help="What was published: trec_eval's output (a file for each run), CSV, Markdown or LaTeX tables, "
            "JSON of BEIR or MTEB. A file, a folder, or a pattern in quotes. Repeatable.",
        ),
        FileUse.READ,
    ] = None,
    names: PublishedNames = None,
    relevant_from: Annotated[
        float | None,
        typer.Option(help="Smallest grade that counts as relevant; else every grade that is there is tried."),
    ] = None,
    show: Annotated[
        AuditTable,
        typer.Option(
            help="The table: figures by the best convention, all conventions tried, names, or the orders "
            "printed, pair by pair."
        ),
    ] = AuditTable.figures,
    order_by: Annotated[
        list[str] | None,
        typer.Option(
            help="A published measure whose order is judged, by its name or ours; else RR or nDCG. Repeatable."
        ),
    ] = None,
    *,
    table_output: TableOutput,
    reading: ReadingOptions,
) -> None:
    """Say by which convention a published table was made; exit 1 where a figure does not come out."""
    from metrics.studies.audit.audit import audit
    from metrics.studies.audit.audited_order import audited_order

    files = published_files(published or [])
    with progress("Reading"):
        runs = reading.read(run, qrels)
    with progress("Trying conventions"):
        result = audit(runs, files, names=names_by_hand(names or []), relevant_from=relevant_from)
    measures = _ordered_measures(result, order_by or [])
    with progress("Judging orders"):
        orders = [audited_order(result, runs, measure) for measure in measures]
    _say_names(result.names)
    for note in result.published.notes:
        say(note)
    _say_findings(result, orders)
    table = _orders(orders) if show is AuditTable.orders else _TABLES[show](result, table_output.format)
    table_output.write(table)
    if result.reproduction.conventions["does_not_come_out"].iloc[0]:
        raise typer.Exit(1)


def published_files(texts: list[str]) -> list[Path]:
    """Return the files that paths, folders and patterns name; UsageError where none does, or one holds none."""
    if not texts:
        raise UsageError("Say what was published: --published table.csv, or trec_eval's output of each run.")
    files: list[Path] = []
    for text in texts:
        path = Path(text)
        if path.is_dir():
            within = sorted(file for file in path.iterdir() if file.is_file() and not file.name.startswith("."))
        elif path.exists() or text == "-":
            within = [path]
        else:
            within = [Path(name) for name in sorted(iglob(text))]  # noqa: PTH207 which Path.glob may refuse
        if not within:
            problem = "there is no file in this folder" if path.is_dir() else "there is no such file"
            raise UsageError(f"--published {text}: {problem}.")
        files += within
    return list(dict.fromkeys(files))


def names_by_hand(texts: list[str]) -> dict[str, str]:
    """Return published → ours of names given as published=ours; the last = parts them."""
    wrong = [text for text in texts if not all(text.rpartition("=")[:2])]
    if wrong:
        raise UsageError(f"--names {wrong[0]}: write published=ours, such as 'BM25 (base)=bm25'.")
    return {text.rpartition("=")[0]: text.rpartition("=")[2] for text in texts}


def _say_names(names: "NameMatches") -> None:
    """Say on stderr which published names are whose, and which are nobody's."""
    for noun, table in (("reranker", names.rerankers), ("measure", names.measures)):
        matched = table[table["how"] != ""]
        say(f"{part_of(len(matched), len(table), f'published {noun}')} matched.")
        renamed = matched[matched["published"] != matched["matched"]]
        if len(renamed):
            pairs = [f"{quote(row.published)} is {row.matched}" for row in renamed.itertuples()]
            say(f"  {first_names(pairs, _MOST_NAMES)}.")
        nameless = table[table["how"] == ""]
        likely = [row for row in nameless.itertuples() if row.candidates]
        for row in likely:
            say(f"  {quote(row.published)} is not matched; alike: {', '.join(map(quote, row.candidates))}.")
        unlike_any = [quote(row.published) for row in nameless.itertuples() if not row.candidates]
        if unlike_any:
            say(f"  Not matched: {first_names(unlike_any, _MOST_NAMES)}.")
    if names.unpublished:
        say(f"Not in the table: {first_names([quote(name) for name in names.unpublished], _MOST_NAMES)}.")


def _say_findings(result: "Audit", orders: "Sequence[AuditedOrder]") -> None:
    """Say on stderr by which convention the table was made, what these files cannot tell, and what stands."""
    from metrics.studies.audit.audit import convention_finding, untold_notes
    from metrics.studies.audit.audited_order import standing_finding
    from metrics.studies.prose import plain

    say(plain(convention_finding(result.reproduction)))
    for note in untold_notes(result.reproduction):
        say(note)
    for order in orders:
        say(f"{order.measure}: {plain(standing_finding(order.pairs))}")


def _ordered_measures(result: "Audit", choices: list[str]) -> list[str]:
    """Return the published measures whose orders are judged: those chosen, which must exist, else the first."""
    for name in choices:
        if not result.published_measure(name):
            measure_names = first_names([quote(each) for each in result.measures], _MOST_NAMES) or "none"
            raise UsageError(f"--order-by {name}: there is no order by it. Orders: {measure_names}.")
    return list(filter(None, map(result.published_measure, choices or [result.first_measure])))


def _orders(orders: "Sequence[AuditedOrder]") -> pd.DataFrame:
    """Return what becomes of every order printed, the measure first."""
    tables = [order.pairs.assign(measure=order.measure) for order in orders]
    if not tables:
        raise UsageError("--show orders: no two rerankers have a mean by one measure.")
    table = pd.concat(tables, ignore_index=True)
    return table[["measure", *table.columns.drop("measure")]]


def _figures(result: "Audit", form: OutputFormat) -> pd.DataFrame:
    """Return the figures by the best convention; people see those that do not come out first."""
    table = result.reproduction.figures()
    return _folded_figures(table) if form in FOR_PEOPLE else table.reset_index(drop=True)


def _folded_figures(table: pd.DataFrame) -> pd.DataFrame:
    """Return what does not come out first, and a line for all figures of a reranker that do, to the digit."""
    from metrics.studies.audit.reproduction import VERDICTS
    from metrics.studies.prose import signed

    differences = [signed(value, 4) for value in table["difference"]]
    table = table.assign(difference=differences, query_id=table["query_id"].fillna("all"))
    is_exact = table["verdict"] == "to the digit"
    order = table["verdict"].map({verdict: -place for place, verdict in enumerate(VERDICTS)})
    inexact = table[~is_exact].sort_values("verdict", key=lambda _: order[~is_exact], kind="stable")
    exact = table[is_exact].groupby("reranker", sort=False)
    folded = exact.first().assign(difference="")
    counts = exact.size()
    is_folded = counts > 1
    folded["measure"] = folded["measure"].mask(is_folded, counts.map("{:,} figures".format))
    folded[["query_id", "text", "computed"]] = folded[["query_id", "text", "computed"]].mask(is_folded, "")
    table = pd.concat([inexact, folded.reset_index()]).drop(columns="published")
    return table.drop(columns="query_id") if table["query_id"].isin(["all", ""]).all() else table


def _conventions(result: "Audit", form: OutputFormat) -> pd.DataFrame:
    """Return every convention tried, its fields as columns; people see its label, and the first of them."""
    table = result.reproduction.conventions
    if form in FOR_PEOPLE:
        return table.drop(columns=["convention", "group"]).head(_MOST_CONVENTIONS)
    fields = pd.DataFrame([vars(convention) for convention in table["convention"]])
    return pd.concat([fields, table.drop(columns="convention")], axis=1)


def _names(result: "Audit", _: OutputFormat) -> pd.DataFrame:
    """Return published names of rerankers and measures beside ours."""
    tables = [
        getattr(result.names, f"{kind}s").assign(kind=kind)[
            ["kind", "published", "matched", "how", "candidates"]
        ]
        for kind in ("reranker", "measure")
    ]
    table = pd.concat(tables, ignore_index=True)
    return table.assign(candidates=[", ".join(names) for names in table["candidates"]])


_TABLES = {AuditTable.figures: _figures, AuditTable.conventions: _conventions, AuditTable.names: _names}
