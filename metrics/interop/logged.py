"""The data of an evaluation for experiment trackers: names, values, settings and tables."""

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq

from metrics.errors import UsageError
from metrics.evaluation import Evaluation
from metrics.evaluation.evaluation import mean_scores
from metrics.runs import Runs
from metrics.support.escaping import spreadsheet_csv
from metrics.ties import treatment

TREATMENT_WORDS = {"expected": "tied", "pessimistic": "worst", "optimistic": "best", "std": "std"}
"""Treatment → word in the name of a logged value."""
_NO_NAME = re.compile(r"[^\w.\- /]+", re.ASCII)


@dataclass(frozen=True)
class LoggedEvaluation:
    """An evaluation to log.

    Attributes:
        evaluation: the evaluation.
        traditional: the treatment that is logged as `traditional`; "" for none.
    """

    evaluation: Evaluation
    traditional: str

    @classmethod
    def of(cls, evaluation: Evaluation, traditional: str | None) -> "LoggedEvaluation":
        """Choose the traditional treatment: an evaluated order by name, else the first one."""
        orders = [name for name in evaluation.ties if name not in TREATMENT_WORDS]
        if traditional is not None and traditional not in evaluation.ties:
            raise UsageError(
                f"The treatment {traditional!r} was not evaluated. Choose among {', '.join(evaluation.ties)}, "
                f"or evaluate with ties=(..., {traditional!r})."
            )
        if word := TREATMENT_WORDS.get(traditional or ""):
            raise UsageError(f"{traditional} is logged as {word}. Choose a tie order, such as input.")
        return cls(evaluation, traditional or next(iter(orders), ""))

    @property
    def rerankers(self) -> list[str]:
        """Names of the rerankers."""
        return list(self.evaluation.policies.index)

    @property
    def keys(self) -> dict[str, str]:
        """Reranker → unique name in characters that trackers accept, ignoring case."""
        keys: dict[str, str] = {}
        for reranker in self.rerankers:
            key, number = plain_name(reranker), 2
            while key.casefold() in map(str.casefold, keys.values()):
                key, number = f"{plain_name(reranker)}-{number}", number + 1
            keys[reranker] = key
        return keys

    @property
    def settings(self) -> dict[str, str]:
        """Scoring options, the traditional order and the version, as texts."""
        options = {name: str(value) for name, value in asdict(self.evaluation.options).items()}
        order = treatment(self.traditional).label if self.traditional else ""
        return options | {"traditional": order, "tiescope": version("tiescope")}

    def values(self) -> pd.DataFrame:
        """Return means and tie ratios: index reranker, columns such as `nDCG_at_10/tied`."""
        evaluation = self.evaluation
        means = mean_scores(evaluation.scores, evaluation.policies.index)
        means.columns = pd.Index([self._value_name(measure, ties) for measure, ties in means.columns])
        return means.assign(tie_ratio=evaluation.tie_ratios)

    def per_query(self, reranker: str) -> pd.DataFrame:
        """Return the lists of one reranker: query, values, and tie statistics."""
        part = self.evaluation.only([reranker])
        values = part.scores.droplevel("reranker")
        values.columns = pd.Index([self._value_name(measure, ties) for measure, ties in values.columns])
        return values.join(part.lists.droplevel("reranker")).reset_index()

    def _value_name(self, measure: str, ties: str) -> str:
        word = "traditional" if ties == self.traditional else TREATMENT_WORDS.get(ties, ties)
        return f"{plain_name(measure)}/{plain_name(word)}"


def write_files(logged: LoggedEvaluation, runs: Runs | None, folder: Path) -> None:
    """Write the means of all rerankers and the lists of each as CSV, and the runs as Parquet."""
    (folder / "leaderboard.csv").write_bytes(spreadsheet_csv(logged.values().reset_index()))
    (folder / "per_query").mkdir()
    for reranker, key in logged.keys.items():
        (folder / "per_query" / f"{key}.csv").write_bytes(spreadsheet_csv(logged.per_query(reranker)))
    if runs is None:
        return
    (folder / "runs").mkdir()
    for reranker, key in logged.keys.items():
        pq.write_table(runs.tables[reranker], folder / "runs" / f"{key}.parquet")
    if runs.qrels is not None:
        pq.write_table(runs.qrels, folder / "qrels.parquet")


def plain_name(text: str) -> str:
    """Return a name in characters that all trackers and file systems accept: `nDCG@10` is `nDCG_at_10`."""
    return _NO_NAME.sub("_", text.replace("@", "_at_")).replace("/", "_")[:100]


TREATMENTS = ("expected", "pessimistic", "optimistic")
"""What is evaluated: the mean over all tie orders, the worst and the best order."""


def tied_means(evaluation: Evaluation, names: Mapping[str, str], n_lists: int) -> dict[str, float]:
    """Return the means of each measure, with the prefixes `tied_`, `worst_` and `best_`, and the tie ratio.

    Returns:
        name → mean; last `tie_ratio`, the mean share of a list's documents that are tied.
    """
    sums = evaluation.scores.sum()
    means = {
        f"{TREATMENT_WORDS[ties]}_{name}": float(sums[measure, ties]) / n_lists
        for ties in evaluation.ties
        for measure, name in names.items()
    }
    return means | {"tie_ratio": float(evaluation.lists["tie_ratio"].sum()) / n_lists}
