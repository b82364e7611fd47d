"""What the Guide says: every formula in words, and examples of every file format."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from metrics.measures import MEASURES, Measure, MeasureAt
from metrics.runs.formats.json_records import MAX_DEPTH, MAX_JSON
from metrics.runs.reading.columns import MAX_COLUMNS
from metrics.runs.reading.files import MAX_BYTES
from metrics.runs.reading.text import MAX_LINE
from metrics.studies.tools.tools import TOOLS
from metrics.ties import TREATMENTS, treatment

_MCSHERRY_NAJORK = (
    "McSherry & Najork, Computing information retrieval performance measures efficiently in the presence of "
    "tied scores, ECIR 2008"
)

SYMBOLS: Mapping[str, str] = {
    "n": "documents in the tie",
    "r": "of them relevant",
    "b": "documents strictly above the tie",
    "c": "relevant documents above the tie",
    "k": "cut-off",
    "m": r"places of the tie within the cut-off: $k-b$, at least 0 and at most $n$",
    "R": "relevant documents of the query, listed or not",
}
"""LaTeX symbols that all formulas share, and what they stand for."""


@dataclass(frozen=True)
class Formula:
    """How a family of measures is computed, for people; text may hold LaTeX between dollar signs.

    Attributes:
        module: of `metrics.measures`, where the family is.
        title: what the family is called.
        idea: what it does about ties, in one sentence.
        latex: the expectation of one list over all orders; empty where each measure has its own.
        symbols: those that only this formula has.
        each: measure → what is its own; empty where the family has one measure.
        source: where the formula comes from; empty where each measure has its own.
    """

    module: str
    title: str
    idea: str
    latex: str
    symbols: Mapping[str, str]
    each: Mapping[str, str]
    source: str = _MCSHERRY_NAJORK

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The measures of the family."""
        return tuple(one for one in MEASURES if one.family.mean.__module__ == f"metrics.measures.{self.module}")


FORMULAS: tuple[Formula, ...] = (
    Formula(
        "first_hit",
        "First hit",
        "Only the first tie with a relevant document counts: $P(l)$ is the chance that its first relevant "
        "document stands at its place $l$.",
        r"\mathbb{E}=\sum_{l=1}^{n-r+1} P(l)\,f(b+l) \qquad P(l)=\frac{\binom{n-l}{r-1}}{\binom{n}{r}}",
        {"f": "value of a rank, 0 past the cut-off"},
        {
            "RR": r"$f(x)=\frac{1}{x}$",
            "Hits": r"$f(x)=1$, which gives $1-\binom{n-r}{m}\big/\binom{n}{m}$",
        },
    ),
    Formula(
        "additive",
        "Additive",
        "Each document adds its gain times the weight of its place; in a tie every place gets the mean gain.",
        r"\mathbb{E}=\sum_{\text{ties}} \bar{g}\;\bigl(W(b+n)-W(b)\bigr)",
        {
            r"\bar{g}": "mean gain of the documents in the tie",
            "W(x)": "weights $w$ of places 1 to $x$ added up, 0 past the cut-off",
            r"\mathrm{rel}": "1 if relevant, else 0",
            "i": "a place",
            r"\text{ideal}": "the same sum over all judged documents, highest grade first",
        },
        {
            "nDCG": r"$g=2^{\mathrm{grade}}-1$, $w=\frac{1}{\log_2(i+1)}$, over the ideal",
            "nDCG-linear": r"$g=\mathrm{grade}$, $w=\frac{1}{\log_2(i+1)}$, over the ideal",
            "DCG": r"$g=2^{\mathrm{grade}}-1$, $w=\frac{1}{\log_2(i+1)}$",
            "P": r"$g=\mathrm{rel}$, $w=\frac{1}{k}$",
            "R": r"$g=\mathrm{rel}$, $w=\frac{1}{R}$",
            "F1": r"$g=\mathrm{rel}$, $w=\frac{2}{k+R}$",
            "Rprec": r"$g=\mathrm{rel}$, $w=\frac{1}{R}$, $k=R$",
            "RBP": r"$g=\mathrm{rel}$, $w=(1-p)\,p^{\,i-1}$",
            "Judged": r"$g=1$ if judged, $w=\frac{1}{k}$",
        },
    ),
    Formula(
        "average_precision",
        "Average precision",
        "A relevant document counts the relevant ones above its tie, and its share of those inside.",
        r"\begin{aligned}\mathbb{E}=\frac{1}{R}\sum_{\text{ties}}\frac{r}{n}\Bigl[&(c+1)\,\Delta"
        r"\\&+\frac{r-1}{n-1}\bigl(n-(b+1)\,\Delta\bigr)\Bigr]\end{aligned}",
        {r"\Delta": r"$\frac{1}{b+1}+\dots+\frac{1}{b+n}$; the term in $n-1$ is 0 where $n=1$"},
        {},
    ),
    Formula(
        "targets",
        "Distinct targets",
        "Documents of one target count once. For each target only the first tie that holds it counts.",
        r"\mathbb{E}=\sum_{\text{targets}} 1-\frac{\binom{n-t}{m}}{\binom{n}{m}}",
        {"t": "documents of the target in that tie", "T": "targets of the query"},
        {"DR": r"$\mathbb{E}\,/\,T$", "Div": r"$\mathbb{E}$"},
        "",
    ),
    Formula(
        "own_rules",
        "Own rule for ties",
        "These are defined on the ties themselves, so every treatment gives the same value. The first two look "
        "at the first tie with a relevant document, the last two at the tie of every relevant document.",
        "",
        {
            r"\mathrm{E}[L]": r"$\frac{n+1}{r+1}$, expected place of the first relevant document in its tie",
            r"\tau": "share of the irrelevant documents listed that stand in that tie",
        },
        {
            "taRR": r"$\displaystyle\frac{1}{b+\mathrm{E}[L]}$",
            "TsRR": r"$\displaystyle\frac{1}{b+(1-\tau)\,\mathrm{E}[L]+\tau\,(n-r+1)}$",
            "GRAG-RR": r"$\displaystyle\frac{1}{R}\sum_{\text{relevant}}\frac{1}{b+\frac{n+1}{2}}$",
            "GRAG-Hits": r"$\displaystyle\frac{1}{R}\sum_{\text{relevant}}\frac{m}{n}$",
        },
        "",
    ),
)
"""Every family of measures."""


@dataclass(frozen=True)
class Advice:
    """Measures for a purpose, and why these."""

    purpose: str
    measures: Sequence[str]
    why: str


ADVICE: tuple[Advice, ...] = (
    Advice("One answer is enough: the first document is all that is used", ("RR", "Hits@1"),
           "Only the place of the first relevant document counts."),
    Advice("An LLM reads the first three", ("P@3", "nDCG@3"), "How good exactly these are, and in what order."),
    Advice("Several relevant documents are needed", ("R@10", "AP"), "None of them may be missed."),
    Advice("Relevance has grades", ("nDCG@10",), "Better documents count more, early places too."),
    Advice("A quick sanity check", ("Hits@10",), "Is anything relevant there at all?"),
    Advice("An A/B test", ("RR", "nDCG@5"), "One looks at the first hit, the other at the quality of the top."),
    Advice("Near duplicates, or several documents for one answer", ("DR@20", "Div@20"),
           "Each target counts once, so repeating an answer gains nothing."),
    Advice("Documents that nobody judged", ("Judged@10",), "How far the other values rest on judgments."),
    Advice("Ties themselves should cost", ("TsRR",), "The larger the tie, the nearer to the worst order."),
)  # fmt: skip
"""Which measure when."""

WORDS: Mapping[str, str] = {
    "list": "The documents one reranker returned for one query.",
    "run": "All lists of one reranker.",
    "tie": "Documents of one list that share a score.",
    "tie ratio": "Documents in ties, over all documents of the list.",
    "ordering": "One strict order of a list that its scores allow.",
    "treatment": "What is done about ties before a measure is taken.",
    "traditional": "The value of the one order that a sort happened to give.",
    "tied": "The exact mean over every ordering.",
    "gap": "Traditional minus tied.",
    "worst, best": "The smallest and the largest value of any ordering.",
}
"""What words mean here."""

COUNTED: Mapping[str, str] = {
    "Relevant": "A grade of 1 or more, unless set otherwise. Grades below 0 gain nothing.",
    "Judged by nobody": "Not relevant. Judged@k says how many these are.",
    "Judged, no rows in the run": 'The query counts 0 (missing="zero"), or is left out ("skip").',
    "Nothing relevant": 'The query counts 0 (empty="zero"), or is left out ("skip").',
    "In the run, not judged": "The query is left out, and a finding says how many.",
    "Twice in a list": "An error, unless you keep the first row or the highest score.",
    "Ids": "Text: 007 and 7 differ.",
}
"""What counts as what."""

EXAMPLES: Mapping[str, str] = {
    "trec-run": "q1 Q0 d7 1 0.9 llm\nq1 Q0 d2 2 0.9 llm\nq2 Q0 d4 1 0.3 llm",
    "trec-qrels": "q1 0 d7 1\nq1 0 d2 0\nq2 0 d4 2",
    "table": "reranker,query_id,doc_id,score,relevance\nllm,q1,d7,0.9,1\nllm,q1,d2,0.9,0",
    "parquet": 'import pandas as pd\ntable = pd.read_csv("llm.csv")\ntable.to_parquet("llm.parquet")',
    "json": (
        '[{"query_id": "q1", "doc_id": "d7", "score": 0.9},\n'
        ' {"query_id": "q1", "doc_id": "d2", "score": 0.9},\n'
        ' {"query_id": "q2", "doc_id": "d4", "score": 0.3}]'
    ),
    "jsonl": (
        '{"query_id": "q1", "doc_id": "d7", "score": 0.9}\n'
        '{"query_id": "q1", "doc_id": "d2", "score": 0.9}\n'
        '{"query_id": "q2", "doc_id": "d4", "score": 0.3}'
    ),
    "nested-json": '{"q1": {"d7": 0.9,\n        "d2": 0.9},\n "q2": {"d4": 0.3}}',
    "beir-qrels": "query-id\tcorpus-id\tscore\nq1\td7\t1\nq1\td2\t0",
    "ranked": "q1\td7\t1\nq1\td2\t2\nq2\td4\t1",
}
"""Three lines of every format; of Parquet, which is no text, three lines that write it."""


TIE_LUCK = {
    "± by ties": r"Standard deviation of the mean, $\frac{1}{n}\sqrt{\sum\sigma^2}$: lists are independent. "
    r"Exact, but for AP, DR and Div, whose $\sigma$ is drawn.",
    "P(A above B | ties)": "Chance that A's mean comes out above B's. Exact where a mean can take few values, "
    "normal where many lists make it up, else drawn; the chart says which.",
    "Places": "From 1 + how many are above whatever the ties, to 1 + how many could be. Equal means share "
    "the better place.",
    "Expected Kendall tau": "How far two leaderboards agree, each with its ties broken at random: the mean "
    r"over pairs of $(P(\text{above})-P(\text{below}))^2$; 1 where ties decide nothing.",
    "Ties' share of a difference": "Variance that ties add to a mean difference, over that of ties and "
    r"queries: $\mathrm{Var}(D)=\mathrm{Var}(d)/n+\mathbb{E}[t^2]/n$.",
    "A verdict that changes": "Significant by the traditional values and not by the tied ones, or the other "
    "way round, or both with opposite signs.",
}
"""What breaking ties at random says of a leaderboard → how it is computed; text may hold LaTeX."""


def measure_table() -> pd.DataFrame:
    """Every measure.

    Returns:
        measure (as it is written), traditional and tied (names of its means, tied empty where it has its
        own rule), summary, range, source.
    """
    cuts = {"none": "", "optional": "[@k]", "required": "@k"}
    rows = []
    for one in MEASURES:
        named, cut = MeasureAt(one), cuts[one.cutoff]
        written = one.name + ("" if one.parameter is None else "(p)") + cut
        tied = "" if one.family.own_rule else named.tied + cut
        rows.append((written, named.traditional + cut, tied, one.summary, _range(one), one.source))
    return pd.DataFrame(rows, columns=["measure", "traditional", "tied", "summary", "range", "source"])


def _range(measure: Measure) -> str:
    return "0 and up" if measure.largest is None else f"0 to {measure.largest:g}"


def treatment_table() -> pd.DataFrame:
    """Every treatment: treatment, summary, used_by."""
    drawn = treatment("random:0")
    rows = [(one.name, one.summary, one.used_by) for one in TREATMENTS]
    rows.append(("random:SEED", drawn.summary, drawn.used_by))
    return pd.DataFrame(rows, columns=["treatment", "summary", "used_by"])


def tool_table() -> pd.DataFrame:
    """What each tool does, a row for each of its rules that differ in treatment or reason.

    Returns:
        tool, version, summary, measures (which the rule is for), treatment, why (its value is not the
        tied one).
    """
    rows = []
    for one in TOOLS:
        rules: dict[tuple[str, str], list[str]] = {}
        for measure, rule in one.rules.items():
            rules.setdefault((rule.treatment, rule.why), []).append(measure)
        for (how, why), measures in rules.items():
            rows.append((one.name, one.version, one.summary, _together(measures), how, why))
    return pd.DataFrame(rows, columns=["tool", "version", "summary", "measures", "treatment", "why"])


def _together(measures: Sequence[str]) -> str:
    """Names of measures; RR and RR@k become RR[@k]."""
    both = [name for name in measures if f"{name}@k" in measures]
    single = [name for name in measures if name.removesuffix("@k") not in both]
    return ", ".join([*(f"{name}[@k]" for name in both), *single])


def limits() -> dict[str, str]:
    """What is refused as too large: what → its limit."""
    return {
        "A file, unpacked; of Parquet, the columns that are read": f"{MAX_BYTES / 2**30:.3g} GB",
        "A JSON document that is not one record a line": f"{MAX_JSON // 2**20} MB",
        "A line": f"{MAX_LINE // 2**20} MB",
        "Columns of a table": f"{MAX_COLUMNS:,}",
        "Brackets inside brackets, in JSON": f"{MAX_DEPTH} deep",
    }
