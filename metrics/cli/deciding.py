"""Commands that decide: compare, stability, gate and review."""

from collections.abc import Hashable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from typer import Option

from metrics.cli import options
from metrics.cli.messages import say, say_left_out, traditional_order
from metrics.errors import UsageError
from metrics.support.escaping import clean
from metrics.support.progress import progress
from metrics.support.wording import first_names, written_p

if TYPE_CHECKING:
    import pandas as pd

    from metrics.evaluation import Evaluation, ScoringOptions
    from metrics.runs import Runs
    from metrics.studies.draws import Draws

_MEASURES = ("RR", "nDCG@10")
_BLOCK = 2**15
"""Pairs whose rows are made at a time."""


def _tests() -> list[tuple[str, str]]:
    from metrics.studies.pair_tests import TESTS
    from metrics.studies.pairs import CORRECTIONS

    tests = [(f"--test {entry.name}", f"{entry.summary} Interval: {entry.interval}.") for entry in TESTS]
    return tests + [(f"--correction {name}", f"{label}.") for name, label in CORRECTIONS.items()]


@options.with_shared_options
def compare_command(
    inputs: options.Inputs,
    baseline: Annotated[
        str | None, Option(help="Compare all rerankers with this one (default: all pairs).")
    ] = None,
    measure: options.Measures = None,
    traditional: options.Traditional = None,
    ties: Annotated[
        list[str] | None,
        Option(help="Tie orders to compare under (default: --traditional, and expected). Repeatable."),
    ] = None,
    test: Annotated[str, Option(help="Test of differences (--list-tests).")] = "flips",
    correction: Annotated[
        str | None,
        Option(help="Correction for the number of pairs (--list-tests; default: largest, or holm)."),
    ] = None,
    family: Annotated[
        Literal["all", "baseline"], Option(help="Pairs to correct for: all, or those with --baseline.")
    ] = "all",
    seed: Annotated[int, Option(min=0, help="Seed of sign flips and resamples.")] = 0,
    in_one_table: Annotated[
        bool,
        Option("--table", help="Write one table of all measures and latencies, with significance stars."),
    ] = False,
    only_swaps: Annotated[
        bool, Option("--swaps", help="Show only pairs whose order differs between traditional and tied scores.")
    ] = False,
    *,
    table_output: options.TableOutput,
    scoring: "ScoringOptions",
    _lists_tests: Annotated[bool, options.listing("--list-tests", "all tests and corrections", _tests)] = False,
) -> None:
    """Test differences between runs, and whether the verdicts depend on tie order."""
    from metrics.evaluation import score_runs
    from metrics.studies.experiment import experiment_lines, experiment_measures
    from metrics.studies.pair_findings import method_texts
    from metrics.studies.pairs import check_baseline

    if ties and traditional:
        raise UsageError("Give either --traditional or --ties. With --ties, name the traditional order too.")
    runs = inputs.read()
    if len(runs.rerankers) == 1:
        raise UsageError("There is only one run. Give two runs or more, or use tiescope evaluate.")
    check_baseline(runs.rerankers, baseline)
    testing: dict[str, Any] = {"test": test, "correction": correction, "family": family, "seed": seed}
    method, interval = method_texts(len(runs.rerankers), **testing)
    ties = ties or [traditional_order(runs, traditional), "expected"]
    with progress("Scoring"):
        names = measure or (experiment_measures() if in_one_table else _MEASURES)
        evaluation = score_runs(runs, names, ties, scoring)
    say_left_out(runs, evaluation)
    with progress("Testing"):
        if in_one_table:
            table = _experiment(runs, evaluation, baseline, testing)
            table_output.write(experiment_lines(table) if table_output.is_for_people else table)
        elif only_swaps:
            swaps = _swaps(runs, evaluation, scoring)
            table_output.write(_with_printed_p(swaps) if table_output.is_for_people else swaps)
        else:
            say(f"Pairs: {method}.")
            blocks = _pair_by_pair(evaluation, baseline, (method, interval), testing)
            table_output.write_blocks(map(_with_printed_p, blocks) if table_output.is_for_people else blocks)


def _experiment(
    runs: "Runs", evaluation: "Evaluation", baseline: str | None, testing: dict[str, Any]
) -> "pd.DataFrame":
    from metrics.studies.experiment import experiment_note, experiment_table
    from metrics.studies.targets import usual_baseline
    from metrics.studies.tradeoffs import latencies, with_latency

    baseline = baseline or usual_baseline(runs.rerankers)
    table = experiment_table(with_latency(evaluation, latencies(runs)), baseline, **testing)
    say(experiment_note(table, baseline, **testing))
    return table


def _swaps(runs: "Runs", evaluation: "Evaluation", scoring: "ScoringOptions") -> "pd.DataFrame":
    """Return the swaps by each measure and tie order, and report how many there are."""
    import pandas as pd

    from metrics.measures import parse
    from metrics.studies.prose import plain
    from metrics.studies.swapped_orders import order_chances, swapped_orders, swaps_finding
    from metrics.ties import treatment

    orders = [name for name in evaluation.ties if treatment(name).key is not None]
    if not orders or "expected" not in evaluation.ties:
        raise UsageError("--swaps needs expected (tied scores) and a tie order: --ties expected --ties input.")
    tables = []
    for measure in evaluation.measures:
        for order in orders:
            swaps = swapped_orders(evaluation, measure, order)
            say(f"{measure}: {plain(swaps_finding(swaps, len(runs.rerankers), parse(measure).traditional))}")
            tables.append(order_chances(swaps, runs, measure, scoring).assign(measure=measure))
    table = pd.concat(tables, ignore_index=True)
    return table[["measure", *table.columns.drop("measure")]]


def _pair_by_pair(
    evaluation: "Evaluation", baseline: str | None, method_texts: tuple[str, str], testing: dict[str, Any]
) -> "Iterator[pd.DataFrame]":
    """Yield the comparisons by each measure and tie order in blocks, and report which verdicts change."""
    import pandas as pd

    from metrics.studies.pairs import compare

    (method, interval), is_tested = method_texts, False
    for measure in evaluation.measures:
        tables = {ties: compare(evaluation, measure, ties, baseline, **testing) for ties in evaluation.ties}
        if len(tables) > 1 and "expected" in tables:
            tables = _with_changes(tables, measure, method)
        is_tested = is_tested or any(table["p"].notna().any() for table in tables.values())
        n_pairs = max(map(len, tables.values()))
        for start in range(0, max(1, n_pairs), _BLOCK):
            rows = slice(start, start + _BLOCK)
            parts = [table[rows].assign(measure=measure, ties=ties) for ties, table in tables.items()]
            block = pd.concat(parts).sort_index(kind="stable")
            yield block[["measure", "ties", *block.columns.drop(["measure", "ties"])]]
        tables.clear()  # frees millions of rows before the next measure
    if is_tested:
        say(f"low and high: 95% {interval}.")


def _with_changes(tables: "dict[str, pd.DataFrame]", measure: str, method: str) -> "dict[str, pd.DataFrame]":
    """Add the column `changed`, whether a verdict differs from the tied one, and report the changes."""
    from metrics.studies.pair_findings import Verdicts, changed_verdicts, significance_finding
    from metrics.studies.prose import plain

    tied = tables["expected"].assign(changed=False)
    tables = tables | {"expected": tied}
    for ties in [name for name in tables if name != "expected"]:
        changed = changed_verdicts(tied, tables[ties])
        tables[ties] = tables[ties].assign(changed=changed)
        tied["changed"] |= changed
        verdicts = Verdicts(tied, tables[ties], changed, ties, method)
        say(f"{measure}: {plain(significance_finding(verdicts, measure))}")
    return tables


def _with_printed_p(table: "pd.DataFrame") -> "pd.DataFrame":
    return table.assign(**{name: [written_p(p, 4) for p in table[name]] for name in ("p", "p_adjusted")})


_PAIR_COLUMNS = ["measure", "reranker", "other", "above", "equal", "below", "standard_error", "reversible"]
_RANK_COLUMNS = ["measure", "reranker", "place", "chance", "standard_error"]


@options.with_shared_options
def stability_command(
    inputs: options.Inputs,
    measure: options.Measures = None,
    places: Annotated[
        bool,
        Option("--places", help="Report the probability of each rank, not of the order of each pair."),
    ] = False,
    n_draws: Annotated[int, Option("--draws", min=1, help="Number of random tie orders.")] = 1000,
    noise: Annotated[
        str,
        Option(
            metavar="SIGMA|score_std",
            help="Add normal noise to the scores first: its standard deviation, or score_std for the column "
            "of that name.",
        ),
    ] = "0",
    seed: Annotated[
        int, Option(min=0, help="Seed of the first draw, which breaks ties as --ties random:SEED.")
    ] = 0,
    *,
    table_output: options.TableOutput,
    scoring: "ScoringOptions",
) -> None:
    """Estimate how likely each run ranks above each other run if ties are broken at random."""
    from metrics.measures import parse
    from metrics.studies.draws import draws, read_noise, same_runs, stability_finding
    from metrics.studies.prose import plain

    sigma = read_noise(noise)
    names = list(dict.fromkeys(str(parse(name)) for name in measure or _MEASURES))
    runs = inputs.read()
    tables = []
    with progress("Breaking ties at random"):
        for number, name in enumerate(names):
            tie_draws = draws(runs, name, scoring, n_draws, sigma, seed)
            if not number:
                say_left_out(runs, tie_draws.evaluation)
            tables.append((_rank_chances(tie_draws) if places else tie_draws.pairs).assign(measure=name))
            copies = same_runs(runs, tie_draws.evaluation, name)
            say(f"{name}: {plain(stability_finding(tie_draws, parse(name).traditional, copies))}")
    table_output.write_blocks(table[_RANK_COLUMNS if places else _PAIR_COLUMNS] for table in tables)


def _rank_chances(tie_draws: "Draws") -> "pd.DataFrame":
    chances, errors = (table.stack() for table in (tie_draws.places, tie_draws.place_errors))  # noqa: PD013
    table = chances.rename("chance").rename_axis(["reranker", "place"]).reset_index()
    return table.assign(standard_error=errors.to_numpy())


@options.with_shared_options
def gate_command(
    inputs: options.Inputs,
    require: options.Targets = None,
    preset: Annotated[
        list[str] | None,
        Option(
            help="A set of targets. retrieval: P@3>0.80, P@5>0.70, P@10>0.60, R@5>0.70, R@10>0.90, R@20>0.95, "
            "F1@5>0.70, RR>0.8, RR>0.9, nDCG@5>0.85, nDCG@10>0.80, Hits@10>0.95."
        ),
    ] = None,
    baseline: options.TargetBaseline = None,
    traditional: options.Traditional = None,
    *,
    table_output: options.TableOutput,
    scoring: "ScoringOptions",
) -> None:
    """Check runs against targets, one line per target; exit with 1 if one is missed."""
    from metrics.studies.targets import check_targets, targets_of

    targets = targets_of(require or (), preset or ())
    names = [str(target.measure) for target in targets]
    evaluation, traditional = inputs.score(names, traditional, scoring)
    outcomes = check_targets(evaluation, targets, traditional, baseline)
    if table_output == options.TableOutput("table", None):
        for row in outcomes.to_dict("records"):
            typer.echo(clean(_outcome_line(row, traditional)))
    else:
        table_output.write(outcomes)
    if not outcomes["passed"].all():
        raise typer.Exit(1)


def _outcome_line(row: dict[Hashable, Any], traditional: str) -> str:
    bound = str(row["target"]).split(" ", 1)[1]
    if "baseline" in bound:
        bound += f" = {row['bound']:.4f}"
    outcome = "pass" if row["passed"] else "MISS"
    value = f"{row['measure']} {row['tied']:.4f}"
    return f"{outcome}  {row['reranker']}  {value} {bound}: {_reason(row, traditional)}"


def _reason(row: dict[Hashable, Any], traditional: str) -> str:
    from metrics.measures import parse
    from metrics.ties import treatment

    is_relative = "baseline" in str(row["target"])
    if row["verdict"] == "not scored":
        return f"no list was scored{' for a query of the baseline' * is_relative}"
    if row["passed"]:
        if parse(str(row["target"]).split(" ", 1)[0]).measure.answers:
            return "by the measure's own rule for ties"
        return "in every tie order" if row["verdict"] == "met" else "on average, but not in every tie order"
    missed = f"missed by {row['missed_by']:.4f}"
    if row["verdict"] == "missed":
        return missed
    against = ", which meets the target against the baseline in that order" * is_relative
    return f"{missed}; {treatment(traditional).order} gives {row['traditional']:.4f}{against}"


@options.with_shared_options
def review_command(
    inputs: options.Inputs,
    measure: options.Measures = None,
    require: options.Targets = None,
    baseline: options.TargetBaseline = None,
    before: Annotated[
        list[options.NamedPath] | None,
        Option(
            metavar="RUN",
            parser=options.parse_run,
            help=f"A run from before the change. Repeatable. {options.NAME_HELP}",
        ),
        options.FileUse.READ,
    ] = None,
    before_qrels: Annotated[
        Path | None, Option(help="Judgments from before the change (default: --qrels)."), options.FileUse.READ
    ] = None,
    since: Annotated[str, Option(help="Name of the version before the change, such as main.")] = "before",
    fail_on: Annotated[
        Literal["never", "missed", "lower"],
        Option(
            help="When to exit with status 1. missed: a target is missed. lower: a target is missed, or a "
            "value fell in every tie order. never: not at all. A removed run is reported, but does not fail."
        ),
    ] = "missed",
    traditional: options.Traditional = None,
    title: Annotated[str, Option(help="Heading of the review.")] = "TieScope",
    output: options.Output = None,
    *,
    scoring: "ScoringOptions",
) -> None:
    """Write a Markdown review of a pull request: targets, and changes larger than ties can cause."""
    from metrics.cli.output import write_text
    from metrics.evaluation import score_runs
    from metrics.measures import parse
    from metrics.report.review import review, value_changes
    from metrics.studies.leaderboard import leaderboard, leaderboard_finding
    from metrics.studies.targets import check_targets, targets_of
    from metrics.studies.verdict_sentence import query_sets

    targets = targets_of(require, ()) if require else []
    measures = list(dict.fromkeys([*(measure or ()), *(str(target.measure) for target in targets)])) or ["RR"]
    now, order = inputs.score(measures, traditional, scoring)
    changes = None
    if before:
        runs_before = inputs.reading.read(before, before_qrels or inputs.qrels)
        with progress("Scoring"):
            earlier = score_runs(runs_before, measures, now.ties, scoring)
        changes = value_changes(earlier, now, order)
    outcomes = check_targets(now, targets, order, baseline)
    first = parse(now.measures[0])
    board = leaderboard(now, str(first), order)
    finding = (*query_sets(now, str(first)), *leaderboard_finding(board, first.traditional, order))
    write_text(review(title, finding, outcomes, changes, since), output)
    if changes is not None and len(gone := changes.loc[changes["verdict"] == "gone", "reranker"].unique()):
        say(f"Gone, so not compared: {first_names(gone)}. If you renamed a run, give its old name: NAME=PATH.")
    is_missed = not outcomes["passed"].all()
    is_lower = changes is not None and (changes["verdict"] == "lower in every order").any()
    if (is_missed and fail_on != "never") or (is_lower and fail_on == "lower"):
        raise typer.Exit(1)
