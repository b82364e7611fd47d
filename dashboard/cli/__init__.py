"""The command `tiescope`."""

from metrics.support.interrupts import exit_at_interrupt


def main() -> None:
    """Run `tiescope`; an interrupt ends it in one line from its first moment on."""
    with exit_at_interrupt():
        from dashboard.cli.commands import draw, tiescope
        from metrics.cli import run
    run(tiescope, draw)
