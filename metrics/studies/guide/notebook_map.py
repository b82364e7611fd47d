"""Where the app shows what the notebook prints and draws."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Shown:
    """A table, a figure or a block of lines of the notebook, and its place here.

    Attributes:
        printed: what the notebook calls it.
        says: what is in it.
        page: file of the page, without ending.
        place: heading of the place on that page, or its beginning.
        link: choices that the page needs; `data` is `simulated` where it needs the simulated sample.
        figures: some of the notebook's own that stand there, each named and at its end.
    """

    printed: str
    says: str
    page: str
    place: str
    link: Mapping[str, str] = field(default_factory=dict)
    figures: tuple[str, ...] = ()


_LISTS, _GRAG = {"made": "Notebook: 200 lists"}, {"made": "Notebook: G-RAG"}
_SAMPLE = {"data": "simulated"}

NOTEBOOK: tuple[Shown, ...] = (
    Shown(
        "Scenario Analysis Results",
        "Ties, largest tie, MRR, MTRR, Hits and TMHits at 3 and 5 of four scenarios of five documents.",
        "simulator",
        "The four scenarios",
        figures=("MTRR of Simple Tie 0.4167", "of Complex Tie 0.6111"),
    ),
    Shown(
        "Detailed Analysis: Simple Tie, Complex Tie",
        "Scores, relevance and tied groups of one scenario, and how many rankings it allows.",
        "simulator",
        "A small list",
        {"scenario": "Simple Tie"},
        ("MTRR 0.4167",),
    ),
    Shown(
        "All possible rankings, and their summary",
        "Each ranking with its first relevant position, MRR and Hits@3; their range and their mean.",
        "simulator",
        "Every ordering",
        {"scenario": "Complex Tie"},
        ("average MRR 0.6111",),
    ),
    Shown(
        "Analyzed 200 synthetic scenarios",
        "How many have ties, and the average tie ratio.",
        "simulator",
        "In figures",
        _LISTS,
        ("with ties 60", "tie ratio 22.6%"),
    ),
    Shown(
        "Impact of Tied Rankings on Evaluation Metrics (six panels)",
        "Tie ratio and largest tie against both gaps, their distribution, and one gap against the other. "
        "Of your own runs: Ties vs gap.",
        "simulator",
        "Ties against gaps",
        _LISTS,
    ),
    Shown(
        "Summary Statistics",
        "Mean, deviation and maximum of the gaps in MRR and Hits@3; correlation with the size of ties.",
        "simulator",
        "In figures",
        _LISTS,
        (
            "MRR gap 0.0252",
            "± 0.0779",
            "up to 0.5092",
            "Hits@3 gap 0.0291",
            "± 0.1221",
            "up to 0.7500",
            "r 0.546",
            "and 0.596",
        ),
    ),
    Shown(
        "LLM Reranker Evaluation Complete",
        "Four simulated rerankers on 100 queries; they are sample data, and any others can be simulated.",
        "simulator",
        "Many lists",
        {"made": "Notebook: four LLMs"},
        ("queries 100",),
    ),
    Shown(
        "LLM Reranker Performance (four panels)",
        "Mean MRR and MTRR, tie ratio, and the distribution of gaps of each reranker.",
        "rerankers",
        "Score, ties and gap",
        _SAMPLE,
    ),
    Shown(
        "MRR Difference vs Tie Ratio by Reranker",
        "Each list as a dot, a panel a reranker.",
        "rerankers",
        "Gap against tie ratio",
        _SAMPLE,
    ),
    Shown(
        "LLM Reranker Summary Statistics",
        "Mean and deviation of tie ratio, MRR, MTRR, Hits@5 and TMHits@5; mean and largest gap.",
        "rerankers",
        "Summary",
        _SAMPLE,
        (
            "GPT-4: MRR 0.6748",
            "MTRR 0.6845",
            "gap 0.0376",
            "PaLM-2: MRR 0.5571",
            "MTRR 0.5756",
            "gap 0.0686",
        ),
    ),
    Shown(
        "Computational Complexity Analysis",
        "Orderings and tie sizes of a list, whether they can be enumerated, and how many draws are advised: "
        "the badges below the cards.",
        "query",
        "The list and its ties",
        _SAMPLE,
    ),
    Shown(
        "G-RAG Evaluation Report",
        "MRR, MTRR, Hits and TMHits at 1, 3, 5 and 10; queries with ties, ties a query, mean and largest gap. "
        "What the report calls the maximum of the tie sizes is their mean; both are shown.",
        "simulator",
        "In figures",
        _GRAG,
        ("MRR 0.5558", "MTRR 0.5589", "TMHits@10 0.9020", "with ties 45"),
    ),
    Shown(
        "Recommendation",
        "Whether ties matter: a verdict for each reranker, by what they do to its mean and not by how many.",
        "leaderboard",
        "All rerankers",
        _SAMPLE,
    ),
)
"""Every printed table and figure of the notebook, in its order."""
