"""What other software would report for the same files, and why that is not the tied value."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from metrics.errors import UsageError
from metrics.evaluation import AS_READ, Policy, ScoringOptions, score_runs
from metrics.measures import MeasureAt, parse
from metrics.runs import Runs
from metrics.ties import Ranking

View = Callable[[Runs], Runs]
"""How a tool changes the runs before it scores them."""


def unchanged(runs: Runs) -> Runs:
    """Return the runs as they are."""
    return runs


def keep_listed(runs: Runs) -> Runs:
    """Keep the relevance of listed documents only: the ideal holds no other, and queries without rows go."""
    if runs.qrels is None:
        return runs
    tables = {}
    for name, table in runs.tables.items():
        ranking = Ranking.of(runs, name)
        rows = table.select(["query_id", "doc_id", "score"]).take(pa.array(ranking.rows))
        tables[name] = rows.append_column("relevance", pa.array(ranking.grades))
    return Runs(tables)


def binarise_grades(runs: Runs) -> Runs:
    """Replace grades of 1 or more by 1, and others by 0."""

    def cut(table: pa.Table) -> pa.Table:
        hit = pc.cast(pc.greater_equal(table["relevance"], 1), pa.float64())
        return table.set_column(table.column_names.index("relevance"), "relevance", hit)

    if runs.qrels is not None:
        return replace(runs, qrels=cut(runs.qrels))
    return Runs({name: cut(table) for name, table in runs.tables.items()})


def drop_query_documents(runs: Runs) -> Runs:
    """Drop documents whose id is that of their query."""

    def drop(table: pa.Table) -> pa.Table:
        query, document = (table[name].cast(pa.string()) for name in ("query_id", "doc_id"))
        return table.filter(pc.not_equal(query, document))

    return replace(runs, tables={name: drop(table) for name, table in runs.tables.items()})


@dataclass(frozen=True)
class Rule:
    """How a tool computes a measure.

    Attributes:
        treatment: what it does about ties, a name of `metrics.TREATMENTS`.
        why: one sentence on why its value is not the tied one.
        precision: how it holds scores.
        missing: what it does about queries the run lacks.
        empty: what it does about queries with nothing relevant.
        view: what it makes of the files first.
        one_relevant: whether this holds only where no query has two relevant documents.
        computed: our measure that equals the tool's; empty where it is the one asked for.
        spelling: name of the measure in the tool, {k} for the cut-off.
    """

    treatment: str
    why: str
    precision: str = "float64"
    missing: Policy = "zero"
    empty: Policy = "zero"
    view: View = unchanged
    one_relevant: bool = False
    computed: str = ""
    spelling: str = ""

    def spelled(self, names: str) -> dict[str, "Rule"]:
        """Return measure → this rule with the tool's spelling, from pairs `ours=theirs` set apart by spaces."""
        pairs = (pair.split("=", 1) for pair in names.split())
        return {ours: replace(self, spelling=theirs) for ours, theirs in pairs}

    @property
    def policy(self) -> tuple[View, ScoringOptions]:
        """What one evaluation can serve."""
        return self.view, ScoringOptions(self.precision, self.missing, self.empty)


@dataclass(frozen=True)
class Tool:
    """Software that scores rankings.

    Attributes:
        name: what it is called.
        version: the version its rules were found with.
        summary: its convention for ties, in one line.
        rules: our measure, `RR` or with any cut-off `RR@k` → how the tool computes it; a measure that
            no rule gives exactly is left out.
    """

    name: str
    version: str
    summary: str
    rules: Mapping[str, Rule]

    def rule(self, measure: MeasureAt) -> Rule | None:
        """How it computes this measure, `spelling` and `computed` filled in; None where it does not."""
        rule = self.rules.get(measure.measure.name + ("" if measure.k is None else "@k"))
        if rule is None:
            return None
        ours, theirs = rule.computed or str(measure), rule.spelling.format(k=measure.k)
        return replace(rule, computed=ours, spelling=theirs)


_TREC = "AP=map Rprec=Rprec nDCG-linear=ndcg nDCG-linear@k=ndcg_cut_{k} P@k=P_{k} R@k=recall_{k}"
_BEIR = "nDCG-linear@k=NDCG@{k} P@k=P@{k} R@k=Recall@{k}"
_IR = "RR=RR AP=AP Rprec=Rprec nDCG-linear=nDCG nDCG-linear@k=nDCG@{k} P@k=P@{k} R@k=R@{k} Hits@k=Success@{k}"
_RANX = (
    "RR=mrr RR@k=mrr@{k} AP=map Rprec=r-precision nDCG=ndcg_burges nDCG@k=ndcg_burges@{k} nDCG-linear=ndcg "
    "nDCG-linear@k=ndcg@{k} P@k=precision@{k} R@k=recall@{k} Hits@k=hit_rate@{k}"
)
_NDCG = "nDCG@k=ndcg@{k} nDCG-linear@k=ndcg@{k}"
_IDS = "Equal scores fall by document id, descending, so names decide what comes first"
_LESS = "; queries the run lacks are left out"
_IDEAL = "Ties are averaged, but only listed documents are in the ideal"
_DESC = Rule("docid_desc", f"{_IDS}{_LESS}.", missing="skip")
_DESC_32 = replace(_DESC, why=f"{_IDS}, and scores alike to 32 bits are equal{_LESS}.", precision="float32")
_DESC_ALL = replace(_DESC_32, why=f"{_IDS}, and scores alike to 32 bits are equal.", missing="zero")
_MS_MARCO = Rule("docid_asc", "With a cut-off another provider answers: document id ascending, not descending.")
_AS_LISTED = Rule("input", "Equal scores stay as listed, so whoever wrote the file decides.")
_ARRAYS = Rule("expected", f"{_IDEAL}.", missing="skip", view=keep_listed)
_LAST = Rule("pessimistic", "A relevant document counts as last in its tie.", missing="skip", one_relevant=True)
_RERANKING = replace(
    _ARRAYS,
    why=f"{_IDEAL}, and grades are cut to 0 and 1.",
    view=lambda runs: binarise_grades(keep_listed(runs)),
)
_SCRAMBLED = "Equal scores are meant to stay as listed; past 15 documents a list it reports something else."
_ASC = Rule(
    "docid_asc", "Equal scores fall by document id, ascending.", "float32", empty="skip", view=binarise_grades
)
_HARMONIC = "One over the mean of best and worst rank is less than the mean of one over the rank."
_MEAN_RANK = Rule("expected", _HARMONIC, "float32", one_relevant=True, computed="GRAG-RR")

TOOLS: tuple[Tool, ...] = (
    Tool("trec_eval", "10.0", "64-bit scores, then document id descending; ranks in the file are ignored.",
         _DESC.spelled(f"RR=recip_rank Hits@k=success_{{k}} {_TREC}")),
    Tool("pytrec_eval", "pytrec-eval-terrier 0.5.11", "32-bit scores, then document id descending.",
         _DESC_32.spelled(f"RR=recip_rank Hits@k=success_{{k}} {_TREC}")),
    Tool("ir_measures", "0.4.3", "By provider: as pytrec_eval, but document id ascending for RR@k.",
         _DESC_ALL.spelled(_IR) | _MS_MARCO.spelled("RR@k=RR@{k}")),
    Tool("ranx", "0.3.21", "Meant: as listed, and so up to 15 documents; its unstable sort scrambles more.",
         replace(_AS_LISTED, why=_SCRAMBLED).spelled(_RANX)),
    Tool("BEIR", "main, 2025", "As pytrec_eval; its MRR: as listed. A document named as its query is dropped.",
         replace(_DESC_32, view=drop_query_documents).spelled(_BEIR)
         | replace(_AS_LISTED, view=drop_query_documents).spelled("RR@k=MRR@{k}")),
    Tool("MTEB", "main, August 2026", "Document id descending; before, MRR took ties as listed.",
         _DESC_32.spelled(f"Hits@k=HitRate@{{k}} {_BEIR}") | _DESC.spelled("RR@k=MRR@{k}")),
    Tool("sentence-transformers reranking", "main, 2026", "nDCG averages ties; MRR follows an unstable sort.",
         replace(_RERANKING, precision="float32").spelled(_NDCG)
         | replace(_LAST, precision="float32").spelled("AP=map")),
    Tool("sentence-transformers retrieval", "main, 2026", "Document id ascending; before, the order of a heap.",
         _ASC.spelled(f"RR@k=mrr@{{k}} P@k=precision@{{k}} R@k=recall@{{k}} Hits@k=accuracy@{{k}} {_NDCG}")),
    Tool("scikit-learn", "1.9", "nDCG averages ties; average precision takes a tie as one step.",
         _ARRAYS.spelled("nDCG-linear=ndcg_score nDCG-linear@k=ndcg_score(k={k})")
         | _LAST.spelled("AP=average_precision_score")),
    Tool("PyKEEN realistic", "documentation, 2026", "The mean of best and worst rank, one answer a query.",
         _MEAN_RANK.spelled("RR=inverse_harmonic_mean_rank")),
)  # fmt: skip
"""Every tool there is."""


def find_tool(name: str) -> Tool:
    """Return the tool of a name.

    Raises:
        UsageError: there is none.
    """
    for candidate in TOOLS:
        if candidate.name.casefold() == name.strip().casefold():
            return candidate
    raise UsageError(f"There is no tool {name[:40]!r}. Tools: {', '.join(one.name for one in TOOLS)}.")


def emulate(runs: Runs, measures: Sequence[str], tools: Iterable[Tool] = TOOLS) -> pd.DataFrame:
    """What each tool would report for each measure it has, beside the tied value.

    Args:
        runs: what was ranked.
        measures: names such as `RR`, `nDCG-linear@10`; relevant is a grade of 1 or more.
        tools: which to ask.

    Returns:
        tool, measure, spelling (in the tool), reranker, value (its mean, unrounded; NaN where it scores no
        list), tied (our expected mean), why (they differ); no row where a rule does not hold.
    """
    measure_list = list(dict.fromkeys(map(parse, measures)))
    ours = score_runs(runs, [str(measure) for measure in measure_list], ["expected"], AS_READ)
    tied = _means(ours.scores, runs)
    most_relevant = ours.lists["n_relevant"].groupby(level="reranker").max()
    used = [(one.name, str(name), rule) for one in tools for name in measure_list if (rule := one.rule(name))]
    means = _means_by_policy(runs, [rule for *_, rule in used])
    rows = [
        (name, measure, rule.spelling, reranker, value, tied.loc[reranker, (measure, "expected")], rule.why)
        for name, measure, rule in used
        for reranker, value in means[rule.policy][rule.computed, rule.treatment].items()
        if most_relevant[reranker] <= 1 or not rule.one_relevant
    ]
    return pd.DataFrame(rows, columns=["tool", "measure", "spelling", "reranker", "value", "tied", "why"])


def _means_by_policy(runs: Runs, rules: Sequence[Rule]) -> dict[tuple[View, ScoringOptions], pd.DataFrame]:
    """Return the means of rules by policy: one evaluation serves all rules of one policy."""
    viewed = {view: view(runs) for view in {rule.view for rule in rules}}
    means = {}
    for policy in dict.fromkeys(rule.policy for rule in rules):
        alike = [rule for rule in rules if rule.policy == policy]
        names, ties = [rule.computed for rule in alike], [rule.treatment for rule in alike]
        view, scoring = policy
        means[policy] = _means(score_runs(viewed[view], names, ties, scoring).scores, runs)
    return means


def _means(scores: pd.DataFrame, runs: Runs) -> pd.DataFrame:
    """Mean of each column for each reranker, in the order given."""
    return scores.groupby(level="reranker", sort=False).mean().reindex(runs.rerankers)
