"""The commands of `tiescope`: those of `metrics.cli`, and those that need the dashboard.

A command is imported when it is called: neither `--help` nor another command waits for what it needs. What
stands here says its name and its first sentence; they are those of the command.
"""

from typing import TYPE_CHECKING

from dashboard.cli.deferred import Command, command_line
from metrics.errors import needs

if TYPE_CHECKING:
    from metrics.report import Report, ReportCharts


def evaluate() -> Command:
    """Score runs under one or more treatments of their ties."""
    from metrics.cli.evaluating import evaluate_command

    return evaluate_command


def watch() -> Command:
    """Print running means as files arrive in a folder, or lines on standard input."""
    from metrics.cli.watching import watch_command

    return watch_command


def compare() -> Command:
    """Test differences between runs, and whether the verdicts depend on the order of ties."""
    from metrics.cli.deciding import compare_command

    return compare_command


def stability() -> Command:
    """Say how likely each run comes out above each other when all ties are broken at random."""
    from metrics.cli.deciding import stability_command

    return stability_command


def gate() -> Command:
    """Hold runs to targets: a line a target, exit 1 where one is missed."""
    from metrics.cli.deciding import gate_command

    return gate_command


def review() -> Command:
    """Write what a pull request does to runs, as Markdown: targets, and changes beyond what ties can do."""
    from metrics.cli.deciding import review_command

    return review_command


def badge() -> Command:
    """Write a badge, an SVG: one tied value, and its verdict where the order of ties matters."""
    from metrics.cli.reporting import badge_command

    return badge_command


def embed() -> Command:
    """Write a leaderboard to embed: an HTML fragment without scripts that asks nothing of any host."""
    from metrics.cli.reporting import embed_command

    return embed_command


def judge_next() -> Command:
    """Say which unjudged documents to judge next: those whose judgment narrows the leaderboard most."""
    from metrics.cli.judging import judge_next_command

    return judge_next_command


def audit() -> Command:
    """Say by which convention a published table was made; exit 1 where a figure does not come out."""
    from metrics.cli.auditing import audit_command

    return audit_command


def conformance() -> Command:
    """Say which tie order another evaluation tool uses, and which cases it fails; exit 1 where it fails."""
    from metrics.cli.conforming import conformance_command

    return conformance_command


def report() -> Command:
    """Write one file to send: scores, ties, tests, targets, and which number to report."""
    from metrics.cli.reporting import report_command

    return report_command


def permutations() -> Command:
    """List the orderings one list's ties allow, with what each scores."""
    from metrics.cli.evaluating import permutations_command

    return permutations_command


def check() -> Command:
    """Say what is worth knowing of runs before they are scored; exit 1 where something is wrong."""
    from metrics.cli.evaluating import check_command

    return check_command


def simulate() -> Command:
    """Make runs that nobody ranked, with relevance inside, as one long table."""
    from metrics.cli.simulating import simulate_command

    return simulate_command


def app() -> Command:
    """Serve the dashboard in the browser."""
    with needs("app"):
        from dashboard.cli.serving import app_command

    return app_command


def push() -> Command:
    """Keep runs and judgments on a board of the library; a file of a name that is there takes its place."""
    from dashboard.cli.sharing import push_command

    return push_command


def boards() -> Command:
    """List the boards of the library, the one changed last first."""
    from dashboard.cli.sharing import boards_command

    return boards_command


def pull() -> Command:
    """Write the runs and judgments of a board as files that every tool reads."""
    from dashboard.cli.sharing import pull_command

    return pull_command


tiescope = command_line(
    [
        evaluate,
        watch,
        compare,
        stability,
        gate,
        judge_next,
        review,
        badge,
        embed,
        audit,
        conformance,
        report,
        permutations,
        check,
        simulate,
        app,
        push,
        boards,
        pull,
    ]
)


def draw(report: "Report") -> "ReportCharts":
    """Return the charts of a report; plotly is imported when it is called."""
    with needs("report"):
        from dashboard.charts.report import draw_charts

    return draw_charts(report)
