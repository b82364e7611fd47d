"""Commands that check the numbers of others: audit, conformance."""

from glob import iglob
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from typer import Argument, Option

from metrics.cli.messages import say, say_left_out
from metrics.cli.options import FileUse, Inputs, TableOutput, with_shared_options
from metrics.errors import UsageError
from metrics.support.progress import progress
from metrics.support.wording import count_of, first_names, part_of, quote

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from metrics.studies.audit.audit import Audit
    from metrics.studies.audit.audited_order import AuditedOrder
    from metrics.studies.audit.names import NameMatches


_MAX_CONVENTIONS = 20
"""Conventions that tables for people hold."""
_MAX_NAMES = 8


PublishedNames = Annotated[
    list[str] | None,
    Option(
        "--names",
        help="Match a published name with a reranker or measure of the runs: PUBLISHED=NAME. Write PUBLISHED= "
        "to leave a published name out. Repeatable.",
    ),
]


@with_shared_options
def audit_command(
    inputs: Inputs,
    published: Annotated[
        list[str] | None,
        Option(
            "--published",
            "-p",
            help="The published figures: trec_eval's output (a file per run), CSV, Markdown or LaTeX tables, "
            "or JSON of BEIR or MTEB. Give a file, a folder or a quoted pattern. Repeatable.",
        ),
        FileUse.READ,
    ] = None,
    names: PublishedNames = None,
    relevant_from: Annotated[
        float | None,
        Option(help="Smallest grade that counts as relevant (default: try every grade)."),
    ] = None,
    show: Annotated[
        Literal["figures", "conventions", "names", "orders"],
        Option(
            help="Content of the table. figures: figures under the best convention. conventions: every "
            "convention, also after one fits, and what the files cannot show. names: matched names. "
            "orders: the order of each pair of rerankers."
        ),
    ] = "figures",
    order_by: Annotated[
        list[str] | None,
        Option(
            help="Check the published ranking by this measure. Give the measure's name in the published table "
            "or in TieScope (default: RR or nDCG). Repeatable."
        ),
    ] = None,
    *,
    table_output: TableOutput,
) -> None:
    """Find the convention that gives a published table; exit with 1 if a figure is not reproduced."""
    from metrics.studies.audit.audit import audit, convention_finding, uncertainty_notes
    from metrics.studies.audit.audited_order import audited_order, standing_finding
    from metrics.studies.prose import plain

    files = published_files(published or [])
    runs = inputs.read()
    say_left_out(runs)
    with progress("Trying conventions"):
        result = audit(
            runs,
            files,
            names=names_by_hand(names or []),
            relevant_from=relevant_from,
            every_rule=show == "conventions",
        )
    measures = _ordered_measures(result, order_by or [])
    with progress("Judging orders"):
        orders = [audited_order(result, runs, measure) for measure in measures]
    _say_names(result.names)
    for note in result.published.notes:
        say(note)
    say(plain(convention_finding(result.reproduction)))
    if show == "conventions":
        for note in uncertainty_notes(result.reproduction):
            say(note)
    for order in orders:
        say(f"{order.measure}: {plain(standing_finding(order.pairs))}")
    if show == "orders":
        table = _orders(orders)
    elif show == "names":
        table = _names(result)
    elif show == "conventions":
        table = _conventions(result, for_people=table_output.is_for_people)
    else:
        table = result.reproduction.figures()
        table = _worst_first(table) if table_output.is_for_people else table.reset_index(drop=True)
    table_output.write(table)
    if result.reproduction.conventions["does_not_come_out"].iloc[0]:
        raise typer.Exit(1)


def published_files(texts: list[str]) -> list[Path]:
    """Return the files that paths, folders and patterns name; UsageError if one names no file."""
    if not texts:
        raise UsageError("Name the published figures: --published table.csv, or trec_eval output of each run.")
    files: list[Path] = []
    for text in texts:
        path = Path(text)
        if path.is_dir():
            matches = sorted(file for file in path.iterdir() if file.is_file() and file.name[0] != ".")
        elif path.exists() or text == "-":
            matches = [path]
        else:
            matches = [Path(name) for name in sorted(iglob(text))]  # noqa: PTH207 Path.glob refuses some patterns
        if not matches:
            problem = "the folder holds no files" if path.is_dir() else "the file does not exist"
            raise UsageError(f"--published {text}: {problem}.")
        files += matches
    return list(dict.fromkeys(files))


def names_by_hand(texts: list[str]) -> dict[str, str]:
    """Return published name → name in the runs, from texts PUBLISHED=NAME that are split at the last =."""
    for text in texts:
        if not all(text.rpartition("=")[:2]):
            raise UsageError(f"--names {text}: write PUBLISHED=NAME, such as 'BM25 (base)=bm25'.")
    return {text.rpartition("=")[0]: text.rpartition("=")[2] for text in texts}


def _say_names(names: "NameMatches") -> None:
    for noun, table in (("reranker", names.rerankers), ("measure", names.measures)):
        matched = table[table["how"] != ""]
        say(f"{part_of(len(matched), len(table), f'published {noun}')} matched.")
        renamed = matched[matched["published"] != matched["matched"]]
        if len(renamed):
            pairs = [f"{quote(row.published)} is {row.matched}" for row in renamed.itertuples()]
            say(f"  {first_names(pairs, _MAX_NAMES)}.")
    if names.unmatched:
        say(f"Not matched: {names.unmatched}.")
    if names.unpublished:
        unpublished = [quote(name) for name in names.unpublished]
        say(f"Runs without a name in the table: {first_names(unpublished, _MAX_NAMES)}.")


def _ordered_measures(result: "Audit", choices: list[str]) -> list[str]:
    for name in choices:
        if not result.published_measure(name):
            names = first_names([quote(each) for each in result.measures], _MAX_NAMES) or "none"
            raise UsageError(f"--order-by {name}: the table has no ranking by this measure. Rankings: {names}.")
    return list(filter(None, map(result.published_measure, choices or [result.first_measure])))


def _orders(orders: "Sequence[AuditedOrder]") -> "pd.DataFrame":
    import pandas as pd

    if not orders:
        raise UsageError("--show orders needs a measure whose means are published for two rerankers.")
    table = pd.concat([order.pairs.assign(measure=order.measure) for order in orders], ignore_index=True)
    return table[["measure", *table.columns.drop("measure")]]


def _worst_first(table: "pd.DataFrame") -> "pd.DataFrame":
    """Return the figures for people, those that are not reproduced first."""
    from metrics.studies.audit.reproduction import VERDICTS
    from metrics.studies.prose import signed

    differences = table["difference"].map(lambda value: signed(value, 4))
    table = table.assign(
        difference=differences.where(table["verdict"] != VERDICTS[0], ""),
        query_id=table["query_id"].fillna("all"),
    )
    table = table.sort_values("verdict", key=lambda column: -column.map(VERDICTS.index), kind="stable")
    table = table.drop(columns="published")
    return table.drop(columns="query_id") if (table["query_id"] == "all").all() else table


def _conventions(result: "Audit", *, for_people: bool) -> "pd.DataFrame":
    """Return all conventions, their fields as columns; for people the labels of the best."""
    import pandas as pd

    table = result.reproduction.conventions
    if for_people:
        return table.drop(columns=["convention", "group"]).head(_MAX_CONVENTIONS)
    fields = pd.DataFrame([vars(convention) for convention in table["convention"]])
    return pd.concat([fields, table.drop(columns="convention")], axis=1)


def _names(result: "Audit") -> "pd.DataFrame":
    import pandas as pd

    tables = [result.names.rerankers.assign(kind="reranker"), result.names.measures.assign(kind="measure")]
    table = pd.concat(tables, ignore_index=True)[["kind", "published", "matched", "how", "candidates"]]
    return table.assign(candidates=[", ".join(names) for names in table["candidates"]])


@with_shared_options
def conformance_command(
    results: Annotated[
        Path | None,
        Argument(metavar="RESULTS.json", help="JSON file with the other tool's value for each test case."),
        FileUse.READ,
    ] = None,
    tolerance: Annotated[
        float,
        Option(min=0, help="Largest difference that passes. Use 5e-5 for values with four decimals."),
    ] = 1e-6,
    *,
    table_output: TableOutput,
) -> None:
    """Find the tie order of another evaluation tool and the cases it fails; exit with 1 if it fails any.

    Without RESULTS.json, print where the cases are and the format of RESULTS.json.
    """
    from metrics import conformance
    from metrics.cli.output import print_text

    cases = conformance.load_cases()
    if results is None:
        print_text(
            f"The {len(cases)} cases: {conformance.CASES_FILE}\n"
            "Score the run of each case with its qrels and measure. Write the values as JSON (null: no "
            "value):\n"
            f'{{"{cases[0]["id"]}": 0.5, "{cases[1]["id"]}": 0, ...}}\n'
            "Then: tiescope conformance RESULTS.json\n"
        )
        return
    table = conformance.compare_results(conformance.read_results(results), tolerance)
    for sentence in conformance.order_sentences(table):
        say(sentence)
    table = table.drop(columns="also")
    failed = table[~table["passes"]]
    n_missing = len(cases) - len(table)
    say(f"{part_of(len(failed), len(table), 'case')} failed; {count_of(n_missing, 'case')} without a value.")
    if not table_output.is_for_people:
        table_output.write(table)
    elif len(failed):
        table_output.write(failed.drop(columns="passes"))
    if len(failed):
        raise typer.Exit(1)
