"""Commands that help to decide between rerankers: compare.

Its studies are imported when it is called: statsmodels takes a second that other commands need not pay.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Annotated, Any

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
from metrics.studies.targets.baseline import usual_baseline
from metrics.studies.tradeoffs.latency import latencies, with_latency
from metrics.support.progress import progress
from metrics.support.wording import written_p
from metrics.ties import treatment

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
    from metrics.studies.significance.test_registry import CORRECTIONS, TESTS

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
    from metrics.studies.significance.comparisons import baseline_pairs
    from metrics.studies.significance.test_registry import find_correction, find_test

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
    from metrics.studies.significance.test_registry import find_test

    n_pairs = n_rerankers * (n_rerankers - 1) // 2
    seconds = n_pairs * n_tables * _SECONDS_A_PAIR.get(find_test(test).name, _SLOW_PAIR)
    if n_rerankers > MANY_RERANKERS or seconds > _PATIENCE:
        say(
            f"{n_rerankers:,} rerankers are {n_pairs:,} pairs: about {duration(seconds)}. "
            "--baseline NAME compares all with one; or give fewer rerankers."
        )


def _experiment_measures() -> Sequence[str]:
    from metrics.studies.tradeoffs.experiment import experiment_measures

    return experiment_measures()


def _experiment(
    runs: Runs, evaluation: Evaluation, baseline: str, testing: dict[str, Any], form: OutputFormat
) -> pd.DataFrame:
    """Return one table of every measure and the latency, and say on stderr what its stars mean."""
    from metrics.studies.tradeoffs import experiment

    timed = with_latency(evaluation, latencies(runs))
    table = experiment.experiment_table(timed, baseline, **testing)
    note = experiment.experiment_note(table, baseline, testing["test"], testing["correction"])
    say(note)
    return experiment.experiment_lines(table) if form in FOR_PEOPLE else table


def _swaps(runs: Runs, evaluation: Evaluation, scoring: ScoringOptions, level: float) -> pd.DataFrame:
    """Return the swaps by every measure and treatment, and say on stderr how many there are."""
    from metrics.studies.leaderboard.swapped_orders import (
        order_chances,
        swapped_orders,
        swaps_finding,
    )
    from metrics.studies.prose import plain

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
    from metrics.studies.significance.significance import compare
    from metrics.studies.significance.test_registry import find_test

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
    from metrics.studies.prose import plain
    from metrics.studies.significance import significance

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
