"""Sections on the data, the scores and their ties."""

from collections.abc import Iterable

import pandas as pd

from metrics.measures import parse
from metrics.report.model import SEVERITY, VERDICT, Section, Table
from metrics.report.studies import ReportStudies
from metrics.studies.gaps.gap import gap_finding
from metrics.studies.leaderboard.leaderboard import VERDICTS, leaderboard_finding
from metrics.studies.leaderboard.recommendation import first_mend

_COUNTED = {"zero": "count as 0", "skip": "are left out"}


def data(found: ReportStudies) -> Section:
    """How much there is, what counts and how, and what made the ties."""
    asked, lists, policies = found.asked, found.evaluation.lists, found.evaluation.policies
    scoring = asked.scoring
    queries = lists.index.get_level_values("query_id").nunique()
    facts = [
        ("Queries", f"{queries:,}"),
        ("Rerankers", f"{len(found.rerankers):,}"),
        ("Documents a list", _range(lists["n_docs"])),
        ("Relevant documents a query", _range(lists["n_relevant"])),
        ("Relevant", f"grade {scoring.relevant_from:g} and above; what nobody judged is not"),
        (
            "Scores are compared as",
            "64-bit floats, as read" if scoring.precision == "float64" else scoring.precision,
        ),
        ("Judged queries without rows", _policy(policies["n_missing"], scoring.missing)),
        ("Queries with nothing relevant", _policy(policies["n_empty"], scoring.empty)),
    ]
    if asked.segments:
        facts.append(("Segments", ", ".join(asked.segments)))
    if scoring.tiebreak_by:
        facts.append(("Ties are split first by", ", ".join(scoring.tiebreak_by)))
    if absent := [name for name in asked.rerankers or found.runs.rerankers if name not in found.rerankers]:
        facts.append(("Without a list", ", ".join(absent)))
    uneven = bool(policies[["n_missing", "n_empty"]].to_numpy().any())
    return Section(
        "data",
        "Data and policies",
        "What was ranked, what counts, and what made the ties.",
        says=first_mend(found.findings),
        facts=tuple(facts),
        tables=(_policies(policies),) if uneven else (),
    )


def scores(found: ReportStudies) -> Section:
    """Traditional and tied values side by side."""
    name, board = found.name, found.board.reset_index()
    places = board[["best_rank", "worst_rank"]].astype("str").to_numpy()
    over = found.evaluation.summary()[found.measure, "expected", "std"]
    main = pd.DataFrame(
        {
            "#": board["tied_rank"],
            "Reranker": board["reranker"],
            f"{name.tied}": board["tied"],
            "± queries": over.reindex(board["reranker"]).to_numpy(),
            "± ties": board["std"],
            "Worst": board["worst"],
            "Best": board["best"],
            "Traditional": board["traditional"],
            "Gap": board["gap"],
            "# before": board["traditional_rank"],
            "Places": ["–".join(dict.fromkeys(both)) for both in places],
            VERDICT: board["verdict"],
        }
    )
    figures = {name.tied, "± queries", "± ties", "Worst", "Best", "Traditional"}
    formats = dict.fromkeys(figures, ".4f") | {"#": "d", "# before": "d", "Gap": "+.4f"}
    note = "± queries: standard deviation over lists. ± ties: of the mean, when ties are broken at random. "
    verdicts = " ".join(f"{word}: {VERDICTS[word]}" for word in VERDICTS if word in set(board["verdict"]))
    return Section(
        "scores",
        "Scores",
        f"Traditional: {_order(found.asked.traditional)}. Tied: the exact mean over every order the scores "
        "allow; worst and best are the ends.",
        says=(leaderboard_finding(found.board, name.traditional),),
        tables=(
            Table(
                f"{name.traditional}, best tied first", main, formats, _best(main, name.tied), note + verdicts
            ),
            _every_measure(found),
        ),
        charts=("scores", "ranks"),
    )


def ties(found: ReportStudies) -> Section:
    """How much is tied, and what it costs."""
    by = found.evaluation.lists.groupby(level="reranker", sort=False)
    order = found.board.index
    size = found.lists["first_gap"].abs().groupby(found.lists["reranker"], sort=False)
    gap = f"|{found.name.traditional} gap|"
    rows = pd.DataFrame(
        {
            "Lists": by.size(),
            "With ties": by["n_tie_groups"].agg(lambda groups: (groups > 0).mean()),
            "Tie groups a list": by["n_tie_groups"].mean(),
            "Largest tie, mean": by["max_tie_size"].mean(),
            "Largest tie": by["max_tie_size"].max(),
            "Documents tied": by["tie_ratio"].mean(),
            f"{gap}, mean": size.mean(),
            f"{gap}, largest": size.max(),
        }
    )
    rows = rows.reindex(order).rename_axis("Reranker").reset_index()
    formats = {
        "Lists": ",d",
        "With ties": ".1%",
        "Tie groups a list": ".2f",
        "Largest tie, mean": ".2f",
        "Largest tie": ",d",
        "Documents tied": ".1%",
        f"{gap}, mean": ".4f",
        f"{gap}, largest": ".4f",
    }
    return Section(
        "ties",
        "Ties",
        "How many documents share a score, and how far a list's traditional value is from its tied one.",
        says=(gap_finding(found.lists, found.measure),),
        tables=(Table("Ties of each reranker", rows, formats),),
        charts=("gaps",),
    )


def findings(found: ReportStudies) -> Section:
    """What is odd about the files."""
    rows = found.findings
    where = [one.file if pd.isna(one.line) else f"{one.file}, line {one.line}" for one in rows.itertuples()]
    told = {
        SEVERITY: rows["severity"],
        "Where": where,
        "Finding": rows["message"],
        "What to do": rows["hint"],
    }
    return Section(
        "findings",
        "Findings",
        "What is worth knowing of the files, the gravest first.",
        says=() if len(rows) else (("Nothing is odd about the files.",),),
        tables=(Table("Finding by finding", pd.DataFrame(told)),) if len(rows) else (),
    )


def _every_measure(found: ReportStudies) -> Table:
    """Every measure of every reranker, traditional and tied with their standard deviations over queries."""
    summary, asked = found.evaluation.summary(), found.asked
    rows = [
        {
            "Measure": str(parse(measure).traditional),
            "Reranker": reranker,
            "Traditional": values[measure, asked.traditional, "mean"],
            "± ": values[measure, asked.traditional, "std"],
            "Tied": values[measure, "expected", "mean"],
            "±": values[measure, "expected", "std"],
            "Worst": values[measure, "pessimistic", "mean"],
            "Best": values[measure, "optimistic", "mean"],
            "Gap": values[measure, asked.traditional, "mean"] - values[measure, "expected", "mean"],
        }
        for measure in asked.measures
        for reranker, values in summary.loc[found.board.index].iterrows()
    ]
    frame = pd.DataFrame(rows)
    figures = ("Traditional", "± ", "Tied", "±", "Worst", "Best")
    formats = dict.fromkeys(figures, ".4f") | {"Gap": "+.4f"}
    note = "±: standard deviation over lists. Bold: the best tied value of a measure."
    return Table("Every measure", frame, formats, _best(frame, "Tied", "Measure"), note)


def _best(frame: pd.DataFrame, column: str, within: str | None = None) -> frozenset[tuple[int, str]]:
    """Cells of the largest figure, to four decimals, of each group; nothing where all are alike."""
    shown = frame[column].round(4)
    groups = [frame.index] if within is None else frame.groupby(within, sort=False).groups.values()
    cells = set()
    for rows in groups:
        if shown[rows].max() > shown[rows].min():
            cells |= {(int(at), column) for at in rows if shown[at] == shown[rows].max()}
    return frozenset(cells)


def _policies(policies: pd.DataFrame) -> Table:
    names = {
        "n_queries": "Queries",
        "n_missing": "Without rows",
        "n_empty": "Nothing relevant",
        "n_scored": "Scored",
    }
    rows = policies[list(names)].rename(columns=names).rename_axis("Reranker").reset_index()
    return Table("What was scored", rows, dict.fromkeys(names.values(), ",d"))


def _range(values: Iterable[int]) -> str:
    low, high = min(values), max(values)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def _policy(counts: "pd.Series[int]", policy: str) -> str:
    most = int(counts.max())
    return "none" if not most else f"up to {most:,} of a reranker; they {_COUNTED[policy]}"


def _order(treatment: str) -> str:
    return "ties in the order of the file" if treatment == "input" else f"ties by {treatment}"
