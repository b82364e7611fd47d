"""Running means as text for people, or as lines of JSON for programs."""

import json
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from math import isfinite
from typing import Any

from metrics.cli.output import print_text, write_table
from metrics.evaluation.running import Running
from metrics.scale.live.new_changes import ChangeWatch, NewChange
from metrics.support.escaping import clean
from metrics.support.wording import count_of


class LiveTable:
    """Prints the means of what was scored, and each change once."""

    def __init__(self, running: Running, window: Mapping[str, Any], *, as_json: bool) -> None:
        """Begin.

        Args:
            running: what was scored.
            window: name of the window, as of `Running.means`, and its width; empty for all lists.
            as_json: whether programs read it.
        """
        self._running, self._window, self._as_json = running, window, as_json
        self._changes = ChangeWatch(running)

    def write(self) -> None:
        """Print the means as they are now, and the changes that are new; who reads a pipe has them at once."""
        means, changes = self._running.means(**self._window), self._changes.new_changes()
        now = datetime.now(UTC)
        if self._as_json:
            time = now.isoformat(timespec="milliseconds").replace("+00:00", "Z")
            rows = [{"kind": "means", "time": time, **self._window, **row} for row in means.to_dict("records")]
            rows += [
                {"kind": "change", "time": time, "reranker": name, "measure": measure, **vars(change)}
                for name, measure, change in changes
            ]
            print_text("".join(f"{json.dumps(_plain(row), ensure_ascii=False)}\n" for row in rows))
        else:
            n_lists = count_of(sum(self._running.n_lists.values()), "list")
            sys.stdout.write(f"{now.astimezone():%H:%M:%S} · {n_lists}{self._window_words()}\n")
            write_table(means, "table", None)
            sys.stdout.writelines(f"{clean(_change_sentence(change))}\n" for change in changes)
        sys.stdout.flush()

    def _window_words(self) -> str:
        words = {
            "last": "the last {:,.0f} of each reranker",
            "seconds": "those of the last {:,g} seconds",
            "halflife": "half the weight after {:,g} lists",
        }
        return "".join(f" · {words[name].format(width)}" for name, width in self._window.items())


def _plain(row: Mapping[str, object]) -> dict[str, object]:
    """Return what JSON can say: no number that is none."""
    return {
        name: None if isinstance(value, float) and not isfinite(value) else value for name, value in row.items()
    }


def _change_sentence(new: NewChange) -> str:
    """Say where a mean changed, from what to what, and what any order of ties would give."""
    change = new.change
    (low, high), (other_low, other_high) = change.before_bounds, change.after_bounds
    before, after = count_of(change.n_before, "list"), count_of(change.n_after, "list")
    return (
        f"Change · {new.reranker} · {new.measure} · from query {change.query_id} on: {change.before:.4f} → "
        f"{change.after:.4f} tied ({before} before, {after} since). Ties alone cannot explain it: any order of "
        f"them gives {low:.4f} to {high:.4f} before, {other_low:.4f} to {other_high:.4f} since."
    )
