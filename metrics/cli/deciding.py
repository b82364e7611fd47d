"""Commands that decide: compare, stability, gate, review."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import pandas as pd
import typer

from metrics.cli.file_options import Qrels, RunPaths
from metrics.cli.messages import MANY_RERANKERS, duration, say, say_left_out, traditional_order
from metrics.cli.options import (
    FOR_PEOPLE,
    Measures,
    OutputFormat,
    ReadingOptions,
    TableOutput,
    Traditional,
    with_shared_options,
)
from metrics.cli.output import listing
from metrics.errors import UsageError
from metrics.evaluation import Evaluation, ScoringOptions, score_runs
from metrics.measures import parse
from metrics.runs import Runs
from metrics.studies.targets import usual_baseline
from metrics.studies.tradeoffs import latencies, with_latency
from metrics.support.progress import progress
from metrics.support.wording import written_p
from metrics.ties import treatment

if TYPE_CHECKING:
    from metrics.studies.stability import OrderStability


from collections.abc import Hashable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from metrics.cli.file_options import NAME_HELP, FileUse, NamedPath, Output, parse_run
from metrics.cli.options import (
    TargetBaseline,
    Targets,
)
from metrics.cli.output import write_text
from metrics.studies.targets import PRESETS, check_targets, targets_of
from metrics.support.escaping import clean

MEASURES = ("RR", "nDCG@10")
P_DIGITS = 4
"""Decimals of a p for people."""
_BOUNDED = {"expected": "tied", "pessimistic": "worst", "optimistic": "best"}
"""Treatments by which a run is scored that has none beside it, and how their columns are called."""
_SECONDS_A_PAIR = {"t": 2e-6, "tukey": 2e-6}
"""Seconds of a processor that a test takes for a pair on a few queries; tests that draw take more."""
_SLOW_PAIR = 5e-3
_PATIENCE = 60
_BLOCK = 2**15
"""Pairs whose rows are put together at a time."""


def _tests() -> list[tuple[str, str]]:
    from metrics.studies.test_registry import CORRECTIONS, TESTS

    tests = [(f"--test {entry.name}", f"{entry.summary} {entry.interval_sentence}") for entry in TESTS]
    return tests + [(f"--correction {entry.name}", entry.summary) for entry in CORRECTIONS]


@with_shared_options
def compare_command(
    run: RunPaths,
    qrels: Qrels = None,
    baseline: Annotated[
        list[str] | None,
        typer.Option(help="The reranker the others are compared with; omitted: all pairs. Repeatable."),
    ] = None,
    measure: Measures = None,
    traditional: Traditional = None,
    ties: Annotated[
        list[str] | None,
        typer.Option(help="Each treatment to compare by, in place of --traditional and expected."),
    ] = None,
    test: Annotated[str, typer.Option(help="Which test of a difference; --list-tests.")] = "t",
    correction: Annotated[
        str, typer.Option(help="How p is corrected for many comparisons; --list-tests.")
    ] = "holm",
    level: Annotated[
        float, typer.Option(help="Confidence of the intervals; p below 1 - level is significant.")
    ] = 0.95,
    seed: Annotated[int, typer.Option(min=0, help="Seed of randomisation and bootstrap.")] = 0,
    in_one_table: Annotated[
        bool,
        typer.Option("--table", help="One table: all measures and the latency of each run, with stars."),
    ] = False,
    only_swaps: Annotated[
        bool, typer.Option("--swaps", help="Only the pairs whose order swaps once ties are averaged.")
    ] = False,
    *,
    table_output: TableOutput,
    scoring: ScoringOptions,
    reading: ReadingOptions,
    _lists_tests: Annotated[bool, listing("--list-tests", "every test and correction", _tests)] = False,
) -> None:
    """Test differences between runs, and whether the verdicts depend on the order of ties."""
    from metrics.studies.comparisons import baseline_pairs
    from metrics.studies.test_registry import find_correction, find_test

    find_test(test), find_correction(correction)
    if ties and traditional:
        raise UsageError("Give --traditional, or all treatments by --ties.")
    if in_one_table and len(baseline or []) > 1:
        raise UsageError("--table compares with one baseline: name it once.")
    with progress("Reading"):
        runs = reading.read(run, qrels)
    baseline_pairs(runs.rerankers, baseline)
    testing = {"test": test, "correction": correction, "level": level, "seed": seed}
    ties = ties or [traditional_order(runs, traditional), "expected"]
    is_alone = len(runs.rerankers) == 1
    if is_alone:
        ties = list(dict.fromkeys([*ties, *_BOUNDED]))
    with progress("Scoring"):
        names = measure or (_experiment_measures() if in_one_table else MEASURES)
        evaluation = score_runs(runs, names, ties, scoring)
    say_left_out(runs, evaluation)
    if is_alone:
        say(f"{runs.rerankers[0]} is the only run. To compare, give two runs or more. Its mean values:")
        table_output.write(evaluation.summary(flat=True).rename(columns=_BOUNDED))
        return
    if baseline is None and not in_one_table and not only_swaps:
        _say_how_long(len(runs.rerankers), len(evaluation.measures) * len(ties), test)
    finish = partial(_printable, form=table_output.format)
    with progress("Testing"):
        if in_one_table:
            against = baseline[0] if baseline else usual_baseline(runs.rerankers)
            table_output.write(_experiment(runs, evaluation, against, testing, table_output.format))
        elif only_swaps:
            table_output.write(finish(_swaps(runs, evaluation, scoring, level)))
        else:
            table_output.write_blocks(_pair_by_pair(evaluation, baseline, testing), finish)


def _say_how_long(n_rerankers: int, n_tables: int, test: str) -> None:
    """Say how long all pairs of many rerankers take, and what to do instead."""
    from metrics.studies.test_registry import find_test

    n_pairs = n_rerankers * (n_rerankers - 1) // 2
    seconds = n_pairs * n_tables * _SECONDS_A_PAIR.get(find_test(test).name, _SLOW_PAIR)
    if n_rerankers > MANY_RERANKERS or seconds > _PATIENCE:
        say(
            f"{n_rerankers:,} rerankers are {n_pairs:,} pairs: about {duration(seconds)}. "
            "--baseline NAME compares all with one; or give fewer rerankers."
        )


def _experiment_measures() -> Sequence[str]:
    from metrics.studies.experiment import experiment_measures

    return experiment_measures()


def _experiment(
    runs: Runs, evaluation: Evaluation, baseline: str, testing: dict[str, Any], form: OutputFormat
) -> pd.DataFrame:
    """Return one table of every measure and the latency, and say on stderr what its stars mean."""
    from metrics.studies import experiment

    timed = with_latency(evaluation, latencies(runs))
    table = experiment.experiment_table(timed, baseline, **testing)
    note = experiment.experiment_note(table, baseline, testing["test"], testing["correction"])
    say(note)
    return experiment.experiment_lines(table) if form in FOR_PEOPLE else table


def _swaps(runs: Runs, evaluation: Evaluation, scoring: ScoringOptions, level: float) -> pd.DataFrame:
    """Return the swaps by every measure and treatment, and say on stderr how many there are."""
    from metrics.studies.prose import plain
    from metrics.studies.swapped_orders import (
        order_chances,
        swapped_orders,
        swaps_finding,
    )

    treatments = [name for name in evaluation.ties if treatment(name).key is not None]
    if not treatments or "expected" not in evaluation.ties:
        raise UsageError("--swaps holds an order against the tied one: --ties expected --ties input.")
    tables = []
    for measure in evaluation.measures:
        for order in treatments:
            swaps = swapped_orders(evaluation, measure, order, level=level)
            say(f"{measure}: {plain(swaps_finding(swaps, len(runs.rerankers), parse(measure).traditional))}")
            tables.append(order_chances(swaps, runs, measure, scoring).assign(measure=measure))
    table = pd.concat(tables, ignore_index=True)
    return table[["measure", *table.columns.drop("measure")]]


def _pair_by_pair(
    evaluation: Evaluation, baselines: list[str] | None, testing: dict[str, Any]
) -> Iterator[pd.DataFrame]:
    """Yield every comparison by every measure and treatment, and say on stderr which verdicts change."""
    from metrics.studies.significance import compare
    from metrics.studies.test_registry import find_test

    for name in evaluation.measures:
        tables = {ties: compare(evaluation, name, ties, baselines, **testing) for ties in evaluation.ties}
        if len(tables) > 1 and "expected" in tables:
            tables = _with_changes(tables, name, testing["test"], testing["level"])
        yield from _side_by_side(tables, name)
        n_pairs = max(map(len, tables.values()))
        tables.clear()  # millions of rows, which those of the next measure need not lie beside
    if n_pairs:
        say(f"low and high: the {testing['level']:.4g} {find_test(testing['test']).interval}.")


def _with_changes(
    tables: dict[str, pd.DataFrame], measure: str, test: str, level: float
) -> dict[str, pd.DataFrame]:
    """Return tables by treatment with a column `changed`: is a verdict not the tied one? Say so on stderr."""
    from metrics.studies import significance
    from metrics.studies.prose import plain

    tied = tables["expected"].assign(changed=False)
    tables = tables | {"expected": tied}
    for ties in [name for name in tables if name != "expected"]:
        changed = significance.changed_verdicts(tied, tables[ties], level)
        tables[ties] = tables[ties].assign(changed=changed)
        tied["changed"] |= changed
        verdicts = significance.Verdicts(tied, tables[ties], changed, ties, level)
        finding = significance.significance_finding(verdicts, measure, test)
        say(f"{measure}: {plain(finding)}")
    return tables


def _side_by_side(tables: dict[str, pd.DataFrame], measure: str) -> Iterator[pd.DataFrame]:
    """Yield the rows of all treatments, those of one pair of rerankers next to each other, block by block."""
    n_pairs = max(map(len, tables.values()))
    for start in range(0, max(1, n_pairs), _BLOCK):
        parts = [
            table[start : start + _BLOCK].assign(measure=measure, ties=ties) for ties, table in tables.items()
        ]
        block = pd.concat(parts).sort_index(kind="stable")
        yield block[["measure", "ties", *block.columns.drop(["measure", "ties"])]]


def _printable(table: pd.DataFrame, form: OutputFormat) -> pd.DataFrame:
    """Return the table with p as four decimals show it, for people."""
    if form in FOR_PEOPLE:
        for name in ("p", "p_adjusted"):
            table[name] = [written_p(p, P_DIGITS) for p in table[name]]
    return table


STABILITY_MEASURES = ("RR", "nDCG@10")
_SECONDS_A_RERANKER, _SECONDS_A_PAIR_OF_SUMS = 0.005, 5e-6
"""Seconds of a processor for the mean of a reranker, and for an order of two."""
PAIR_COLUMNS = ["measure", "reranker", "other", "above", "equal", "below", "method", "standard_error"]
PLACE_COLUMNS = ["measure", "reranker", "place", "chance", "method", "standard_error"]


@with_shared_options
def stability_command(
    run: RunPaths,
    qrels: Qrels = None,
    measure: Measures = None,
    places: Annotated[
        bool, typer.Option("--places", help="The chance of every place, not of every pair's order.")
    ] = False,
    seed: Annotated[int, typer.Option(min=0, help="Seed of what is drawn.")] = 0,
    *,
    table_output: TableOutput,
    scoring: ScoringOptions,
    reading: ReadingOptions,
) -> None:
    """Say how likely each run comes out above each other when all ties are broken at random."""
    from metrics.studies.mean_distributions import SPREADS
    from metrics.studies.prose import plain
    from metrics.studies.stability import OrderStability, stability_finding
    from metrics.studies.verdict_sentence import same_runs

    names = dict.fromkeys(str(parse(name)) for name in measure or STABILITY_MEASURES)
    with progress("Reading"):
        runs = reading.read(run, qrels)
    if len(runs.rerankers) > MANY_RERANKERS:
        _say_how_long_sums_take(len(runs.rerankers), len(names))
    tables = []
    with progress("Breaking ties at random"):
        rankings = {name: scoring.ranking(runs, name) for name in runs.rerankers}
        for number, name in enumerate(names):
            evaluation = score_runs(runs, name, SPREADS, scoring)
            if not number:
                say_left_out(runs, evaluation)
            study = OrderStability.of(evaluation, name, rankings, seed=seed)
            tables.append((_places(study) if places else study.pairs).assign(measure=name))
            finding = stability_finding(
                study.pairs, study.bounds, study.tau, parse(name).traditional, same_runs(runs, evaluation, name)
            )
            say(f"{name}: {plain(finding)}")
    columns = PLACE_COLUMNS if places else PAIR_COLUMNS
    table_output.write_blocks((table[columns] for table in tables), lambda table: table)


def _say_how_long_sums_take(n_rerankers: int, n_measures: int) -> None:
    """Say how long the orders of many rerankers take, and what to do instead."""
    n_pairs = n_rerankers * (n_rerankers - 1) // 2
    seconds = n_measures * (n_rerankers * _SECONDS_A_RERANKER + n_pairs * _SECONDS_A_PAIR_OF_SUMS)
    say(f"{n_rerankers:,} rerankers are {n_pairs:,} pairs: about {duration(seconds)}. Give fewer rerankers.")


def _places(study: "OrderStability") -> pd.DataFrame:
    """Return a row for each reranker and place: reranker, place, chance, method, standard_error."""
    chances, errors = (table.stack() for table in (study.places.chances, study.places.errors))  # noqa: PD013
    table = chances.rename("chance").rename_axis(["reranker", "place"]).reset_index()
    methods = study.places.methods.reindex(table["reranker"]).to_numpy()
    return table.assign(method=methods, standard_error=errors.to_numpy())


_PRESETS = "; ".join(f"{name}: {', '.join(targets)}" for name, targets in PRESETS.items())


@with_shared_options
def gate_command(
    run: RunPaths,
    qrels: Qrels = None,
    require: Targets = None,
    preset: Annotated[list[str] | None, typer.Option(help=f"Ready targets. {_PRESETS}.")] = None,
    baseline: TargetBaseline = None,
    ties: Annotated[str, typer.Option(help="The treatment of ties that decides.")] = "expected",
    traditional: Traditional = None,
    *,
    table_output: TableOutput,
    scoring: ScoringOptions,
    reading: ReadingOptions,
) -> None:
    """Hold runs to targets: a line a target, exit 1 where one is missed."""
    targets = targets_of(require or (), preset or ())
    with progress("Scoring"):
        runs = reading.read(run, qrels)
        traditional = traditional_order(runs, traditional)
        evaluation = score_runs(
            runs,
            [str(target.measure) for target in targets],
            ["expected", "optimistic", "pessimistic", traditional, ties],
            scoring,
        )
    say_left_out(runs, evaluation)
    outcomes = check_targets(evaluation, targets, traditional, baseline, ties)
    if table_output == TableOutput(OutputFormat.table, None):
        for row in outcomes.to_dict("records"):
            typer.echo(clean(_line(row, traditional, ties)))
    else:
        table_output.write(outcomes)
    if not outcomes["passed"].all():
        raise typer.Exit(1)


def _line(row: dict[Hashable, Any], traditional: str, ties: str) -> str:
    """Return the outcome of one target in words."""
    bound = str(row["target"]).split(" ", 1)[1]
    if "baseline" in bound:
        bound += f" = {row['bound']:.4f}"
    outcome = "pass" if row["passed"] else "MISS"
    value = f"{row['measure']} {row['value']:.4f}"
    return f"{outcome}  {row['reranker']}  {value} {bound}: {_reason(row, traditional, ties)}"


def _reason(row: dict[Hashable, Any], traditional: str, ties: str) -> str:
    verdict, tied = row["verdict"], f"tied it is {row['tied']:.4f}"
    if verdict == "not scored":
        return "no list is scored"
    if row["passed"] and parse(str(row["target"]).split(" ", 1)[0]).measure.answers:
        return "by its own rule for ties"
    if row["passed"] and treatment(ties).noise is not None:
        return f"on average over noisy scores; {tied}"
    if row["passed"]:
        reasons = {
            "met": "whatever the order of ties",
            "met on average": "on average; some order of ties misses it",
        }
        return reasons.get(verdict, f"by this order of ties; {tied}")
    missed = f"missed by {row['missed_by']:.4f}"
    if verdict == "sort order only":
        return f"{missed}; {treatment(traditional).order} gives {row['traditional']:.4f}"
    return missed if verdict == "missed" else f"{missed}; {tied}, which meets it"


class FailOn(StrEnum):
    """What ends a review with exit code 1."""

    never = "never"
    missed = "missed"
    lowered = "lower"


@with_shared_options
def review_command(
    run: RunPaths,
    qrels: Qrels = None,
    measure: Measures = None,
    require: Targets = None,
    baseline: TargetBaseline = None,
    before: Annotated[
        list[NamedPath] | None,
        typer.Option(metavar="RUN", parser=parse_run, help=f"A run as it was before. Repeatable. {NAME_HELP}"),
        FileUse.READ,
    ] = None,
    before_qrels: Annotated[
        Path | None, typer.Option(help="Judgments as they were; else those of now."), FileUse.READ
    ] = None,
    since: Annotated[str, typer.Option(help="What the state before is called, such as main.")] = "before",
    fail_on: Annotated[
        FailOn,
        typer.Option(
            help="Exit 1: never; where a target is missed; there or where a value fell in every order."
        ),
    ] = FailOn.missed,
    traditional: Traditional = None,
    title: Annotated[str, typer.Option(help="Heading.")] = "TieScope",
    output: Output = None,
    *,
    scoring: ScoringOptions,
    reading: ReadingOptions,
) -> None:
    """Write what a pull request does to runs, as Markdown: targets, and changes beyond what ties can do."""
    targets = targets_of(require, ()) if require else []
    measures = list(dict.fromkeys([*(measure or ()), *(str(target.measure) for target in targets)])) or ["RR"]
    with progress("Scoring"):
        runs = reading.read(run, qrels)
        order = traditional_order(runs, traditional)
        treatments = ["expected", "optimistic", "pessimistic", order]
        now = score_runs(runs, measures, treatments, scoring)
        changes = None
        if before:
            runs_before = reading.read(before, before_qrels or qrels)
            changes = _changes(score_runs(runs_before, measures, treatments, scoring), now, order)
    say_left_out(runs, now)
    outcomes = check_targets(now, targets, order, baseline)
    write_text(_markdown(now, outcomes, changes, order, (title, since)), output)
    is_missed = not outcomes["passed"].all()
    is_lower = changes is not None and (changes["verdict"] == "lower in every order").any()
    if (is_missed and fail_on != FailOn.never) or (is_lower and fail_on == FailOn.lowered):
        raise typer.Exit(1)


def _changes(before: Evaluation, now: Evaluation, order: str) -> "pd.DataFrame":
    from metrics.studies.history import value_changes

    return value_changes(before, now, order)


def _markdown(
    now: Evaluation,
    outcomes: "pd.DataFrame",
    changes: "pd.DataFrame | None",
    order: str,
    names: tuple[str, str],
) -> str:
    """Return the review; `names` are its heading, and what the state before is called."""
    from metrics.report.embedding import review
    from metrics.studies.leaderboard import leaderboard, leaderboard_finding
    from metrics.studies.verdict_sentence import query_sets

    (title, since), measure = names, parse(now.measures[0])
    board = leaderboard(now, str(measure), order)
    finding = (*query_sets(now, str(measure)), *leaderboard_finding(board, measure.traditional, order))
    return review(title, finding, outcomes, changes, since)
