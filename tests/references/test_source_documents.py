"""Every table, figure, printed line and piece of advice of the source documents: where it is here, and a check.

One row a feature: the lines of the document that hold it, what it is, where the product has it, and what runs.
Beside the repository, where the documents are, no line of them is without a row.
"""

import itertools
import math
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
from boards import board
from comparing import scored
from document_checks import (
    SIMULATED,
    both,
    control,
    corrects,
    equal,
    evaluates,
    guide,
    holds_to,
    lines_of,
    page,
    prints,
    reports,
    scores,
    true,
    value,
)
from repository import ROOT, SAMPLE
from scipy.stats import ttest_rel

import metrics
from metrics import Runs, evaluate
from metrics.runs import COLUMNS
from metrics.simulation import (
    NOTEBOOK_RERANKERS,
    NOTEBOOK_SCENARIOS,
    NOTEBOOK_SEGMENTS,
    notebook_grag,
    notebook_llm_rerankers,
    notebook_synthetic,
)
from metrics.simulation.link_text import runs_from_list, scenario_documents
from metrics.studies.gaps import gaps, ranks_and_ratios
from metrics.studies.one_list import complexity_report, sampled_mean
from metrics.studies.pairs import stars
from metrics.studies.targets import PRESETS, Target
from metrics.ties import Ranking
from metrics.ties.permutations import Orderings, count_orderings

SEEDS = ROOT.parent / "shared" / "seeds"
DOCSEARCH = SAMPLE / "docsearch" / "docsearch.parquet"
SAMPLE_RERANKERS = {"data": "Sample: simulated rerankers"}
FIRST_LIST = SAMPLE_RERANKERS | {"reranker": "GPT-4 (Low Ties)", "query": "q084"}
COMPLEX, SIMPLE = ([0.8, 0.8, 0.8, 0.6, 0.5], [0, 1, 0, 0, 0]), ([0.9, 0.8, 0.8, 0.6, 0.5], [0, 1, 0, 0, 0])
RETRIEVED = [1, 0, 1, 0, 1, 0, 0, 0, 0, 0]
FULL_TIE = [0.5] * 5


class Feature(NamedTuple):
    """A part of a document, and where the product has it.

    Attributes:
        first: line of the document.
        last: line of the document, included.
        name: what the document has there.
        place: where the product has it.
        check: fails where it is not there.
    """

    first: int
    last: int
    name: str
    place: str
    check: Callable[[], None]


def ranking(*sizes):
    """A list with ties of these sizes, and three documents that do not tie."""
    values = [-group for group, size in enumerate((*sizes, 1, 1, 1)) for _ in range(size)]
    table = pd.DataFrame({"query_id": "q", "score": values, "relevance": 0}).astype({"score": float})
    table["doc_id"] = [f"d{place}" for place in range(len(values))]
    table.loc[0, "relevance"] = 1
    return Ranking.of(Runs.from_frame(table.assign(reranker="r")), "r")


def scenario(name):
    return Ranking.of(runs_from_list(scenario_documents(name)), "list", query_id="list")


def rows_reversed(measure, ties):
    """A value before and after the rows of the file change places."""
    table = pd.read_csv(SIMULATED)
    return [
        evaluate(Runs.from_frame(rows), [measure], [ties]).scores.groupby(level="reranker").mean().to_numpy()
        for rows in (table, table[::-1])
    ]


def is_left_alone(measure, ties):
    return np.allclose(*rows_reversed(measure, ties), atol=1e-12)


def every_order_is_listed():
    orders = Orderings.of(scenario("Multiple Ties"), "list")
    groups = [[0], [1, 2], [3, 4]]
    expected = {sum(parts, ()) for parts in itertools.product(*map(itertools.permutations, groups))}
    return set(orders) == expected and count_orderings(scenario("Multiple Ties"), "list").orderings == 4


def online_means_are_those_of_evaluate():
    """Lists that arrive one by one have the mean of all lists, and of the last of them."""
    rows = pd.DataFrame({"query_id": list("qqrrss"), "doc_id": list("ababab"), "score": 1.0})
    rows["relevance"], running = [1, 0, 1, 1, 0, 0], metrics.Running("RR")
    for _, lists in rows.groupby("query_id"):
        running.add(lists)
    tied = evaluate(rows, "RR", "expected").scores.to_numpy()
    values = [running.means(last=last)["tied"].item() for last in (None, 2)]
    return np.allclose(values, [tied.mean(), tied[-2:].mean()], atol=1e-12)


def stars_of_paired_t_tests():
    """Each reranker has the stars of scipy's paired t-test against the baseline, uncorrected."""
    names = ("A", "GraphFlow", "B", "C")
    values = np.random.default_rng(5).random((30, 4)) + np.array([0, 0, 0.2, 0.4])
    evaluation = scored("DR@20", expected=dict(zip(names, values.T, strict=True)))
    table = metrics.compare(evaluation, "DR@20", baseline="GraphFlow", test="t", correction="none")
    p = [ttest_rel(values[:, names.index(name)], values[:, 1]).pvalue for name in table["reranker"]]
    return np.allclose(table["p_adjusted"], p) and table["stars"].to_list() == list(stars(p)) != ["ns"] * 3


def one_list(measure, targets, grades, k):
    """A measure of one list whose documents satisfy targets."""
    table = pd.DataFrame({"query_id": "q", "relevance": grades, "target_id": targets})
    table = table.assign(doc_id=[f"d{place}" for place in range(len(table))], score=range(len(table), 0, -1))
    return evaluate(Runs.from_frame(table), [f"{measure}@{k}"], ["expected"]).scores.iloc[0, 0]


def synthetic_extents():
    """Fewest and most documents, fewest and most relevant ones."""
    lists = evaluate(notebook_synthetic(200), ["RR"]).lists[["n_docs", "n_relevant"]]
    return lists.agg(["min", "max"]).to_numpy().ravel(order="F").tolist()


def queries_by_type():
    rows = notebook_grag().tables["G-RAG"].to_pandas().drop_duplicates("query_id")
    return rows["segment"].value_counts(sort=False).to_dict()


def hopeless_lists():
    """Lists of the four rerankers with over 10,000 orders, and those of the largest in millions of millions."""
    orders = evaluate(notebook_llm_rerankers(100), ["RR"]).lists["log10_orderings"]
    return int((orders > 4).sum()), round(10 ** orders.max() / 10**12)


def mean_value(measure, *lists):
    """Mean over queries of lists of grades, top first."""
    return round(math.fsum(value(measure, grades) for grades in lists) / len(lists), 4)


def mean_of_lists(measure, *relevant):
    """Mean over queries whose relevant documents have these numbers; only the first three are listed."""
    qrels = "".join(
        f"q{query} 0 d{document} 1\n" for query, documents in enumerate(relevant) for document in documents
    )
    run = "".join(
        f"q{query} Q0 d{place} {place} {-place} r\n" for query in range(len(relevant)) for place in (1, 2, 3)
    )
    runs = board(r_trec=run, qrels_txt=qrels).runs
    return round(evaluate(runs, [measure], ["expected"]).scores.to_numpy().mean(), 4)


def read_beside(measure, documents, baseline_documents):
    """Typical rank, ratio to a baseline and relevant documents of one list, by ranks."""
    frames = [
        pd.DataFrame({"reranker": name, "doc_id": [f"d{rank}" for rank in range(1, 501)]}).assign(
            query_id="q", score=np.arange(500, 0, -1), relevance=np.isin(np.arange(1, 501), ranks) * 1
        )
        for name, ranks in (("A", documents), ("B", baseline_documents))
    ]
    evaluation = evaluate(Runs.from_frame(pd.concat(frames)), ["RR", measure], ["expected"])
    return ranks_and_ratios(evaluation, measure, "B").round(2).loc["A"].tolist()


def refuses_a_list_without_scores():
    with pytest.raises(metrics.ReadError):
        Runs.from_frame(pd.DataFrame({"query_id": ["q"], "doc_id": ["d"], "relevance": [1]}))
    return True


def synonyms(column):
    return next(entry.synonyms for entry in COLUMNS if entry.name == column)


def order_of_rules(grades, tied_scores):
    """taRR, TsRR and pessimistic RR of one list."""
    return [
        value("taRR", grades, tied_scores),
        value("TsRR", grades, tied_scores),
        value("RR", grades, tied_scores, "pessimistic"),
    ]


def compare(*arguments):
    return ["compare", SIMULATED, "--baseline", "GPT-4 (Low Ties)", *arguments, "--format", "csv"]


five_cases = partial(page, "simulator", "The five cases", section="Notebook")
synthetic = partial(page, "simulator", "Impact of tied rankings", section="Notebook")
llm_panels = partial(page, "simulator", "LLM reranker performance", section="Notebook")
printed_report = partial(page, "simulator", "G-RAG evaluation report", section="Notebook")
summary = partial(page, "rerankers", "Summary table", **SAMPLE_RERANKERS)
tradeoffs = partial(page, "compare", section="Trade-offs")


def target(text):
    return both(
        true(lambda: text in PRESETS["retrieval"]),
        holds_to(f"| {Target.of(text)} |"),
    )


# fmt: off
NOTEBOOK = (
    Feature(1, 16, "title, paper and objectives", "Errors in the sources",
            corrects("notebook on MTRR and TMHits@K", "arXiv 2405.18414")),
    Feature(18, 24, "tied documents get arbitrary ranks", "Guide, One minute",
            guide("one_minute", "Nothing orders a tie", "Row order or document IDs decide")),
    Feature(25, 25, "results vary with the order of the file", "`input`",
            true(lambda: not is_left_alone("RR", "input"))),
    Feature(26, 26, "models with other ties look incomparable", "Guide, Deciding",
            guide("deciding", "Rerankers tie differently")),
    Feature(28, 33, "mean over all arrangements, whatever the order of the file", "`expected`",
            true(lambda: is_left_alone("RR", "expected"))),
    Feature(35, 53, "set-up", "the library", true(lambda: metrics.MEASURES)),
    Feature(55, 61, "formula of MRR", "Guide, Formulas",
            guide("formulas", r"\mathrm{MRR}=\frac{1}{|Q|}\sum_{q\in Q}\frac{1}{r_q}")),
    Feature(63, 71, "formula of MTRR and its symbols", "Guide, Formulas",
            guide("formulas", r"\frac{1}{|\Pi_q|}\sum_{\pi\in\Pi_q}\frac{1}{r_q^{\pi}}",
                "rank of the first relevant document in order")),
    Feature(73, 75, "formula of TMHits@K", "Guide, Formulas", guide("formulas", r"\mathbb{1}[r_q^{\pi}\le k]")),
    Feature(76, 86, "a ranking with scores and relevance of one length", "`Runs`",
            true(refuses_a_list_without_scores)),
    Feature(88, 97, "tied groups, best score first", "`metrics.ties`",
            equal(lambda: count_orderings(scenario("Multiple Ties"), "list").tie_sizes, (2, 2))),
    Feature(98, 118, "all rankings, group by group", "`Orderings`", true(every_order_is_listed)),
    Feature(119, 125, "reciprocal rank of one ranking, 0 without a hit", "`RR`",
            both(scores(1 / 3, "RR", [0, 0, 1]), scores(0, "RR", [0, 0, 0]))),
    Feature(127, 133, "hit within k of one ranking", "`Hits@k`",
            both(scores(1, "Hits@3", [0, 0, 1]), scores(0, "Hits@2", [0, 0, 1]))),
    Feature(135, 148, "MTRR", "`RR`, expected", scores((1 + 1 / 2 + 1 / 3) / 3, "RR", COMPLEX[1], COMPLEX[0])),
    Feature(150, 163, "TMHits@K", "`Hits@k`, expected", scores(2 / 3, "Hits@2", COMPLEX[1], COMPLEX[0])),
    Feature(165, 171, "MRR by the order of the file", "`RR`, input",
            scores(1 / 2, "RR", COMPLEX[1], COMPLEX[0], "input")),
    Feature(173, 180, "Hits@K by the order of the file", "`Hits@k`, input",
            scores(1, "Hits@2", COMPLEX[1], COMPLEX[0], "input")),
    Feature(182, 216, "four scenarios", "Simulator, Scenario",
            equal(lambda: list(NOTEBOOK_SCENARIOS), ["No Ties", "Simple Tie", "Complex Tie", "Multiple Ties"])),
    Feature(218, 239, "each scenario by all measures", "Simulator, The four scenarios",
            page("simulator", "The four scenarios", "0.5", "0.4167", "0.6111", "0.3333")),
    Feature(240, 257, "Scenario Analysis Results: columns", "Simulator, The four scenarios",
            page("simulator", "The four scenarios", "Scenario", "Scores", "Grades", "Ties", "Largest tie",
                "MRR", "MTRR", "Hits@3", "TMHits@3", "Hits@5", "TMHits@5", "0.9 0.8 0.8 0.6 0.6", "0 0 1 0 0")),
    Feature(259, 271, "Detailed Analysis: scores and relevance", "Simulator, Small list",
            page("simulator", "", "Score", "Grade", "0.4167", scenario="Simple Tie")),
    Feature(273, 284, "tied groups of a scenario", "Simulator, Small list: the order and its scores",
            page("simulator", "", "score 0.8", scenario="Simple Tie")),
    Feature(286, 288, "total possible rankings", "Simulator, Small list",
            page("simulator", "", "6 orders", scenario="Complex Tie")),
    Feature(290, 310, "each ranking, its first relevant position, MRR and Hits@3", "Simulator, Every order",
            page("simulator", "Every order", "Documents", "First relevant", "RR", "Hits@3",
                "doc2 doc1 doc3 doc4 doc5", scenario="Complex Tie")),
    Feature(312, 314, "range and mean of MRR", "Simulator, Every order",
            page("simulator", "Every order", "RR over all orders: 0.3333 to 1.0000, mean (MTRR) 0.6111",
                scenario="Complex Tie")),
    Feature(315, 316, "range and mean of Hits@3", "Simulator, Every order",
            page("simulator", "Every order",
                "Hits@3 over all orders: 1.0000 to 1.0000, mean (TMHits@3) 1.0000", scenario="Complex Tie")),
    Feature(317, 318, "too many rankings to show", "`tiescope permutations`",
            equal(lambda: complexity_report(ranking(8), "q")[-1].split(";")[0], "Too many to enumerate")),
    Feature(320, 323, "Simple Tie and Complex Tie in detail", "Simulator, Scenario",
            both(page("simulator", "", "0.4167", scenario="Simple Tie"), page("simulator",
                "", "0.6111", scenario="Complex Tie"))),
    Feature(325, 362, "200 synthetic lists: 5 to 14 documents, 1 to 3 relevant", "`notebook_synthetic`",
            equal(synthetic_extents, [5, 14, 1, 3])),
    Feature(364, 395, "each list: ties, ratio, both values and both gaps",
            "Ties vs gap, Lists with the largest gap",
            both(page("ties", "Lists with the largest gap", "Query", "Tie ratio", "Largest tie", "RR",
                "Tied RR", "RR gap", **SAMPLE_RERANKERS), page("ties", "Lists with the largest gap",
                "Hits@3 gap", measure="Hits@3", **SAMPLE_RERANKERS))),
    Feature(397, 399, "analyzed 200 synthetic scenarios", "Simulator, Notebook",
            synthetic("Analyzed 200 synthetic scenarios")),
    Feature(400, 400, "scenarios with ties: 60 (30.0%)", "Simulator, Notebook",
            synthetic("Scenarios with ties: 60 (30.0%)")),
    Feature(401, 401, "average tie ratio: 0.226", "Simulator, Notebook", synthetic("Average tie ratio: 0.226")),
    Feature(403, 413, "panel: MRR difference against tie ratio", "Simulator, Notebook",
            synthetic("tie ratio", "| RR − tied RR |")),
    Feature(415, 420, "panel: MRR difference against largest tie", "Simulator, Notebook",
            synthetic("largest tie, documents")),
    Feature(422, 427, "panel: distribution of MRR differences", "Simulator, Notebook",
            synthetic("lists", "traditional too high")),
    Feature(429, 434, "panel: Hits@3 difference against tie ratio", "Simulator, Notebook",
            synthetic("| Hits@3 − tied Hits@3 |")),
    Feature(436, 441, "panel: Hits@3 difference against largest tie", "Simulator, Notebook",
            synthetic("| Hits@3 − tied Hits@3 |", "largest tie, documents")),
    Feature(443, 451, "panel: one difference against the other", "Simulator, Notebook",
            synthetic("| RR − tied RR |", "| Hits@3 − tied Hits@3 |")),
    Feature(403, 451, "the panels of one's own runs", "Ties vs gap, More panels",
            page("ties", "", "tie ratio", "| RR − tied RR |", "lists", section="More panels",
                **SAMPLE_RERANKERS)),
    Feature(453, 456, "mean MRR difference 0.0252 (± 0.0779)", "Simulator, Notebook",
            synthetic("Mean MRR difference: 0.0252 (±0.0779)")),
    Feature(457, 457, "largest MRR difference 0.5092", "Simulator, Notebook",
            synthetic("Max MRR difference: 0.5092")),
    Feature(458, 458, "mean Hits@3 difference 0.0291 (± 0.1221)", "Simulator, Notebook",
            synthetic("Mean Hits@3 difference: 0.0291 (±0.1221)")),
    Feature(459, 459, "largest Hits@3 difference 0.7500", "Simulator, Notebook",
            synthetic("Max Hits@3 difference: 0.7500")),
    Feature(460, 460, "correlation with the tie ratio 0.546", "Simulator, Notebook",
            synthetic("Correlation between tie ratio and MRR diff: 0.546")),
    Feature(461, 461, "correlation with the largest tie 0.596", "Simulator, Notebook",
            synthetic("Correlation between max tie size and MRR diff: 0.596")),
    Feature(453, 461, "the same of one's own runs", "Ties vs gap, More panels, Tie sizes",
            both(page("ties", "Gaps and correlations by measure", "Mean |gap|", "± SD of |gap|",
                "Largest |gap|", "r of |gap| with tie ratio", "r of |gap| with largest tie", "RR", "Hits@3",
                section="More panels", **SAMPLE_RERANKERS), page("ties", "Ties of each reranker",
                "Lists with ties", "% of lists", "Tie ratio", **SAMPLE_RERANKERS))),
    Feature(463, 474, "a simulated reranker: tie probability, score levels", "Simulator, LLM rerankers",
            both(control("simulator", "slider", "madeties", section="LLM rerankers"),
                control("simulator", "slider", "madelevels", section="LLM rerankers"))),
    Feature(468, 516, "several rerankers of one's own at once, or continuous scores", "`tiescope simulate`",
            prints(["simulate", "--help"], "--reranker", "continuous")),
    Feature(476, 516, "boosted, clipped, on levels, then ties handed on", "`notebook_llm_rerankers`",
            equal(lambda: len(notebook_llm_rerankers(3).tables), 4)),
    Feature(518, 524, "four rerankers and their settings", "`NOTEBOOK_RERANKERS`",
            equal(lambda: [(one.tie_probability, one.levels) for one in NOTEBOOK_RERANKERS.values()],
                [(0.1, 20), (0.3, 10), (0.5, 5), (0.7, 3)])),
    Feature(526, 575, "each query of each reranker: ties, both values, both gaps", "`gaps`",
            true(lambda: ({"tie_ratio", "n_docs", "n_relevant", "rr_gap",
                "hits_gap"} <= set(gaps(evaluate(notebook_llm_rerankers(3), ["RR", "Hits@5"]), {"rr": "RR",
                "hits": "Hits@5"}, "input"))))),
    Feature(526, 575, "by enumeration the run of 400 lists does not end", "Errors in the sources",
            both(equal(hopeless_lists, (188, 42)), corrects(
                "188 of the 400 lists have more than 10,000 orders, and one has 42 trillion"))),
    Feature(518, 524, "GPT-4 (Low Ties) ties 57% of its documents", "Errors in the sources",
            both(corrects("57% of its documents share a score"), summary("57"))),
    Feature(577, 581, "evaluated 4 rerankers on 100 queries", "Simulator, Notebook; sample data",
            both(llm_panels("Four rerankers on 100 queries"), page("leaderboard", "All rerankers", "0.6845",
                "0.5571", *NOTEBOOK_RERANKERS, **SAMPLE_RERANKERS))),
    Feature(583, 606, "panel: mean MRR and MTRR by reranker", "Simulator, Notebook; Rerankers",
            both(llm_panels("MRR", "traditional", "tied"), page("rerankers", "", "MRR",
                "traditional", "tied", **SAMPLE_RERANKERS))),
    Feature(608, 616, "panel: average tie ratio by reranker", "Simulator, Notebook; Rerankers",
            both(llm_panels("mean tie ratio"), page("rerankers", "", "mean tie ratio",
                **SAMPLE_RERANKERS))),
    Feature(618, 628, "panel: MRR difference against tie ratio by reranker", "Simulator, Notebook; Rerankers",
            both(llm_panels("|RR gap|", "GPT-4 (Low Ties)", "Means, all together"), page("rerankers",
                "Gap against tie ratio", "|RR gap|", "GPT-4 (Low Ties)", "Claude (High", "Means, all together",
                **SAMPLE_RERANKERS))),
    Feature(630, 642, "panel: distribution of MRR differences by reranker", "Simulator, Notebook; Rerankers",
            both(llm_panels("|RR gap| of each list"), page("rerankers", "",
                "|RR gap| of each list", **SAMPLE_RERANKERS))),
    Feature(644, 657, "summary statistics, ± beside each mean", "Simulator, Notebook",
            page("simulator", "LLM reranker summary", "0.6748 ± 0.3664", "0.6845 ± 0.3524",
                "0.0376, up to 0.3889", "0.9000 ± 0.3015", "0.8827 ± 0.2897", "0.5690 ± ", section="Notebook")),
    Feature(644, 646, "tie ratio of each reranker, mean and deviation", "Rerankers, Summary table",
            summary("Tie ratio", "± SD of tie ratio", "57", "82", "95", "97")),
    Feature(647, 647, "MRR of each reranker, mean and deviation", "Rerankers, Summary table",
            summary("MRR", "0.6748", "0.5571", "0.5127", "0.4802", "0.3664")),
    Feature(648, 648, "MTRR of each reranker, mean and deviation", "Rerankers, Summary table",
            summary("MTRR", "0.6845", "0.5756", "0.5324", "0.4840", "0.3524")),
    Feature(649, 649, "MRR difference of each reranker, mean and largest", "Rerankers, Summary table",
            summary("|RR gap|", "Largest |RR gap|", "0.0376", "0.0686", "0.1294", "0.1667", "0.3889", "0.4792",
                "0.5433", "0.5092")),
    Feature(650, 650, "Hits@5 of each reranker, mean and deviation", "Rerankers, Summary table",
            summary("Hits@5", "0.9000", "0.7700", "0.7900", "0.7500", "0.3015")),
    Feature(651, 651, "TMHits@5 of each reranker, mean and deviation", "Rerankers, Summary table",
            summary("TMHits@5", "0.8827", "0.7697", "0.7957", "0.7679", "0.2897")),
    Feature(652, 657, "Hits@5 difference of each reranker, mean and largest", "Rerankers, Summary table",
            summary("0.0454", "0.0410", "0.1001", "0.1461", "0.8000", "0.8333")),
    Feature(659, 663, "tied metrics for LLM rerankers", "Guide, Deciding",
            guide("deciding", "An LLM scores the documents")),
    Feature(664, 664, "tied metrics for discrete scores", "Guide, Deciding",
            guide("deciding", "Scores have few levels")),
    Feature(665, 665, "tied metrics to compare models", "Guide, Deciding",
            guide("deciding", "Rerankers tie differently")),
    Feature(666, 666, "tied metrics in production", "Guide, Deciding",
            guide("deciding", "You track a score over time", "In production")),
    Feature(668, 670, "large ties cost much to enumerate", "closed forms: a tie of a million",
            scores(math.fsum(1 / rank for rank in range(1, 10**5 + 1)) / 10**5, "RR", [1, *[0] * (10**5 - 1)],
                [0.5] * 10**5, digits=12)),
    Feature(671, 671, "sample where a tie is very large", "Simulator, Notebook: Sampling",
            page("simulator", "Sampling RR", "exact", "drawn", "standard error", section="Notebook")),
    Feature(672, 672, "always report both", "Guide, Deciding; report, Scores",
            both(guide("deciding", "Always report both"), reports("| MTRR |", "| Traditional |"))),
    Feature(674, 697, "MTRR exactly where that is cheap, else sampled", "`RR`, expected",
            scores((1 + 1 / 2 + 1 / 3) / 3, "RR", COMPLEX[1], COMPLEX[0])),
    Feature(698, 720, "mean of drawn orders", "`tiescope permutations --draws`",
            true(lambda: abs(sampled_mean(ranking(5), "q", "RR", 4000)[0] - 137 / 300) < 0.02)),
    Feature(721, 739, "orders, tie sizes, tractable, recommended draws", "Queries, Permutations",
            page("query", "Permutations", "24 orders", "from ties of ", "relevance pattern", **FIRST_LIST)),
    Feature(721, 739, "np.math, which NumPy 2 has no more", "Errors in the sources",
            both(true(lambda: not hasattr(np, "math")), corrects("NumPy 2 has no `np.math`"))),
    Feature(674, 697, "TMHits@K is listed whatever its size; recommended draws are not used",
            "Errors in the sources",
            corrects("TMHits@K still enumerates every order", "draws but never uses it")),
    Feature(741, 745, "Small ties: 4 orders", "Simulator, The five cases",
            five_cases("Small ties", "2, 2", "4")),
    Feature(746, 746, "Medium ties: 72 orders", "Simulator, The five cases",
            five_cases("Medium ties", "3, 3, 2", "72")),
    Feature(747, 747, "Large tie: 120 orders", "Simulator, The five cases",
            five_cases("Large tie", "5", "120")),
    Feature(748, 748, "Very large tie: 40,320 orders, 4,032 draws",
            "Simulator, The five cases; `complexity_report`",
            both(five_cases("Very large tie", "8", "40,320", "4,032"),
                equal(lambda: complexity_report(ranking(8), "q")[-1].partition(" draws")[0],
                "Too many to enumerate; 4,032"))),
    Feature(749, 777, "Multiple large ties: 3,456 orders", "Simulator, The five cases",
            five_cases("Multiple large ties", "4, 4, 3", "3,456")),
    Feature(741, 777, "the same of one's own lists", "`tiescope permutations`; Ties vs gap, Tie sizes",
            both(equal(lambda: complexity_report(ranking(4, 4, 3), "q")[0],
                "3,456 orderings from ties of sizes [4, 4, 3]."), page("ties", "Ties of each reranker",
                "GPT-4 (Low Ties)", **SAMPLE_RERANKERS))),
    Feature(779, 823, "every value of one query", "Queries, Every measure of this list",
            page("query", "Every measure of this list", "RR", "Hits@1", "Hits@3", "Hits@5", "Hits@10",
                "Traditional", "Tied", "SD from ties", **SAMPLE_RERANKERS)),
    Feature(825, 855, "means, deviations, queries with ties, differences", "Simulator, Notebook",
            printed_report("0.5558", "0.5589", "45.0%", "0.0122", "0.2778")),
    Feature(857, 870, "report: number of queries", "`tiescope report --format text`",
            evaluates("G-RAG Evaluation Report: G-RAG", "Number of queries: 100")),
    Feature(871, 874, "report: queries with ties", "`tiescope report --format text`",
            evaluates("Queries with ties: 45.0%")),
    Feature(875, 875, "report: tie groups a query", "`tiescope report --format text`",
            evaluates("Avg tie groups per query: 0.5")),
    Feature(876, 877, "report: largest tie, which is a mean",
            "`tiescope report --format text`; Errors in the sources",
            both(evaluates("Max tie size observed: 1.7", "Largest tie of any query: 5"),
                corrects("Max tie size observed: 1.7 | This is the mean of the largest ties",
                "the mean is 2.26"))),
    Feature(879, 888, "report: traditional metrics ± (of the population)",
            "`tiescope report --format text`; Errors in the sources",
            both(evaluates("MRR: 0.5558 (±0.3818)", "Hits@1: 0.4000 (±0.4899)", "Hits@3: 0.6500 (±0.4770)",
                "Hits@5: 0.7500 (±0.4330)", "Hits@10: 0.9000 (±0.3000)"), corrects("0.3818 for MRR",
                "0.3837"))),
    Feature(879, 888, "the deviation of MRR as a sample's: 0.3837", "report, Every measure",
            equal(lambda: round(evaluate(notebook_grag(), ["RR"],
                ["input"]).summary()["RR", "input", "std"].item(), 4), 0.3837)),
    Feature(890, 898, "report: tied metrics ± (of the population)", "`tiescope report --format text`",
            evaluates("MTRR: 0.5589 (±0.3745)", "TMHits@1: 0.3990 (±0.4792)", "TMHits@3: 0.6587 (±0.4667)",
                "TMHits@5: 0.7525 (±0.4294)", "TMHits@10: 0.9020 (±0.2946)")),
    Feature(899, 901, "report: mean and largest |MRR − MTRR|", "`tiescope report --format text`",
            evaluates("Mean |MRR - MTRR|: 0.0122", "Max |MRR - MTRR|: 0.2778")),
    Feature(902, 905, "report: recommendation", "`tiescope report --format text`; Leaderboard",
            both(evaluates("Recommendation: Use tied metrics for fair comparison"), page("leaderboard",
                "All rerankers", "Verdict", **SAMPLE_RERANKERS))),
    Feature(906, 963, "four types of query, 25 each", "`notebook_grag`",
            equal(queries_by_type, dict.fromkeys(NOTEBOOK_SEGMENTS, 25))),
    Feature(964, 966, "the G-RAG evaluation run", "Simulator, Notebook", printed_report("G-RAG")),
    Feature(968, 973, "the problem", "Guide, One minute",
            guide("one_minute", "Scores tie", "A score is a range")),
    Feature(975, 978, "stable whatever breaks ties", "`expected`",
            true(lambda: is_left_alone("Hits@3", "expected"))),
    Feature(980, 983, "cost of exactness", "Guide, Deciding",
            guide("deciding", "exact at any tie size, without sampling")),
    Feature(985, 988, "who is truly better", "Compare, Stability",
            page("compare", "P(row above column)", "random tie-breaks", **SAMPLE_RERANKERS,
                section="Stability")),
    Feature(990, 995, "inside the evaluation of G-RAG", "`metrics.evaluate`",
            true(lambda: evaluate(notebook_grag(1), ["RR"]).summary().size)),
    Feature(997, 999, "extension: ties weighted by confidence", "`tiebreak_by` a column of confidences",
            true(lambda: (evaluate(Runs.from_frame(pd.DataFrame({"query_id": "q", "doc_id": ["a", "b"],
                "score": [1.0, 1.0], "relevance": [0, 1], "confidence": [0.2, 0.9]})), ["RR"], ["expected"],
                tiebreak_by=["confidence"]).scores.iloc[0, 0] == 1))),
    Feature(1000, 1000, "extension: hierarchical ties", "`tiebreak_by`",
            prints(["evaluate", "--help"], "--tiebreak-by")),
    Feature(1001, 1001, "extension: several criteria", "`criteria`; Compare, Trade-offs",
            both(prints(["evaluate", "--help"], "--criterion"),
                tradeoffs("Quality against latency", "front, tied"))),
    Feature(1002, 1002, "extension: online evaluation", "`Running`", true(online_means_are_those_of_evaluate)),
    Feature(999, 1002, "extensions by the names of the notebook", "Errors in the sources",
            corrects("Hierarchical ties", "Adaptive ties", "Multi-objective ties",
                "Online evaluation")),
    Feature(1004, 1023, "conclusion", "Guide, One minute",
            guide("one_minute", "The tied score is the mean of these values", "Each tool has its own rule")),
)

TSRR = (
    Feature(1, 9, "a metric for tied scores", "`TsRR`",
            both(equal(lambda: str(metrics.parse("TsRR")), "TsRR"), guide("measures",
                "Ties should be penalised"))),
    Feature(11, 11, "larger ties cost more", "`TsRR`",
            true(lambda: (value("TsRR", [1, 0, 0, 0, 0], FULL_TIE) < value("TsRR", [1, 0, 0, 0, 0],
                [2, 2, 2, 1, 0]) < 1))),
    Feature(12, 12, "a smaller tie with the relevant document is rewarded", "`TsRR`",
            true(lambda: value("TsRR", [1, 0, 0, 0], [2, 2, 1, 0]) > value("TsRR", [1, 0, 0, 0],
                [2, 2, 2, 0]))),
    Feature(13, 13, "known cases", "`TsRR`",
            both(scores(1 / 3, "TsRR", [0, 0, 1, 0]), scores(1 / 5, "TsRR", [1, 0, 0, 0, 0], FULL_TIE))),
    Feature(15, 25, "symbols", "Guide, Formulas",
            guide("formulas", "documents above the tie", "relevant documents in the tie",
                "documents in the tie", "expected position of the first relevant document in its tie")),
    Feature(27, 31, "tie penalty τ", "Guide, Formulas",
            guide("formulas", "share of the irrelevant documents of the list that are in this tie")),
    Feature(33, 67, "special cases: 1/r, 1/R and in between", "Guide, Formulas",
            guide("formulas", "No tie:** TsRR is", "equal to PRR", "lies between taRR and PRR")),
    Feature(33, 39, "expected rank adjusted by τ, and TsRR", "Guide, Formulas",
            guide("formulas", r"\frac{1}{b+(1-\tau)\,\mathrm{E}[L]+\tau\,(n-r+1)}")),
    Feature(41, 45, "the larger τ, the nearer to the worst case", "`TsRR`",
            both(scores(1 / (1 + 2), "taRR", [0, 1, 0, 0, 0], [3, 2, 2, 2, 1]),
                scores(1 / (1 + 0.5 * 2 + 0.5 * 3), "TsRR", [0, 1, 0, 0, 0], [3, 2, 2, 2, 1]))),
    Feature(47, 48, "earlier is better", "`TsRR`", true(lambda: value("TsRR", [1, 0]) > value("TsRR", [0, 1]))),
    Feature(50, 52, "no ties: 1/r; full tie: 1/R", "`TsRR`",
            both(scores(1 / 2, "TsRR", [0, 1, 0]), scores(1 / 3, "TsRR", [0, 1, 0], [1, 1, 1]))),
    Feature(54, 59, "fully tied, one relevant: that of pessimistic RR", "`TsRR`",
            scores(value("RR", [1, 0, 0, 0, 0], FULL_TIE, "pessimistic"), "TsRR", [1, 0, 0, 0, 0], FULL_TIE)),
    Feature(61, 63, "strict ranking: classical RR", "`TsRR`", scores(1 / 4, "TsRR", [0, 0, 0, 1, 0])),
    Feature(65, 65, "between ta-RR and PRR", "`taRR`, `TsRR`, `RR` pessimistic",
            true(lambda: (order_of_rules([0, 1, 0, 0, 0],
                [3, 2, 2, 2, 1]) == sorted(order_of_rules([0, 1, 0, 0, 0], [3, 2, 2, 2, 1]), reverse=True)))),
    Feature(65, 65, "MRR, MTRR, ta-RR, TsRR and PRR side by side", "Guide, One minute",
            page("guide", "An example to edit", "MTRR", "taRR", "TsRR", "PRR", "GRAG-RR")),
    Feature(65, 65, "PRR", "`PRR`",
            scores(value("RR", [0, 1, 0, 1], [1] * 4, "pessimistic"), "PRR", [0, 1, 0, 1], [1] * 4)),
    Feature(27, 31, "τ where nothing irrelevant is listed", "`TsRR`; Errors in the sources",
            both(scores(1, "TsRR", [1, 1], [1, 1]), corrects("uses τ = 0"))),
    Feature(67, 76, "NumPy, installation", "part of the library",
            true(lambda: metrics.parse("TsRR").measure.source)),
)

RANKING_METRICS = (
    Feature(1, 3, "why rankings matter", "Guide, Measures", guide("measures", "Which measure when")),
    Feature(7, 23, "precision: definition, formula, code", "`P@k`; Guide, Formulas",
            both(scores(3 / 5, "P@5", RETRIEVED), guide("formulas",
                r"`P`: $g=\mathrm{rel}$, $w=\frac{1}{k}$"))),
    Feature(25, 30, "precision: 0.6 and 0.67", "`P@k`",
            both(scores(0.6, "P@5", RETRIEVED), scores(0.67, "P@3", RETRIEVED, digits=2))),
    Feature(33, 36, "precision: how to read it", "Guide, Measures",
            guide("reading", "P@3 = 1.0", "P@5 = 0.6", "P@10 = 0.3")),
    Feature(36, 36, "P@10 of 0.3 is the best with three relevant documents", "`P@10`; Errors in the sources",
            both(scores(0.3, "P@10", [1, 1, 1, *[0] * 7]), corrects("0.3 is the maximum"))),
    Feature(38, 42, "precision: when", "Guide, Measures",
            guide("reading", "only the top k go to the LLM", "readers see only the first results",
                "the token budget limits the list to k",
                "the order inside the top k matters")),
    Feature(44, 47, "precision: targets", "Report, Targets",
            both(target("P@3>0.80"), target("P@5>0.70"), target("P@10>0.60"))),
    Feature(51, 67, "recall: definition, formula, code", "`R@k`; Guide, Formulas",
            both(scores(2 / 3, "R@3", RETRIEVED), guide("formulas",
                r"`R`: $g=\mathrm{rel}$, $w=\frac{1}{R}$"))),
    Feature(69, 72, "recall: 1.0", "`R@k`", scores(1, "R@5", RETRIEVED)),
    Feature(75, 78, "recall: how to read it", "Guide, Measures",
            guide("reading", "R@10 = 1.0", "R@5 = 0.6", "R@3 = 0.33")),
    Feature(80, 84, "recall: when", "Guide, Measures",
            guide("reading", "few documents are relevant, and none may be missed", "multi-hop questions",
                "you evaluate a retriever before reranking", "only the first document is used")),
    Feature(86, 89, "recall: targets", "Report, Targets",
            both(target("R@5>0.70"), target("R@10>0.90"), target("R@20>0.95"))),
    Feature(93, 112, "F1: definition, formula, code, 0 where both are 0", "`F1@k`",
            both(scores(0.75, "F1@5", RETRIEVED), scores(0, "F1@3", [0, 0, 0, 1]))),
    Feature(114, 117, "F1: how to read it", "Guide, Measures",
            guide("reading", "low if either is low, high if both are high")),
    Feature(119, 122, "F1: when", "Guide, Measures",
            guide("reading", "precision and recall trade off",
                "one number must summarise both", "precision matters far more than recall")),
    Feature(124, 124, "F1: target", "Report, Targets", target("F1@5>0.70")),
    Feature(128, 153, "MRR: definition, formula, code", "`RR`; Guide, Formulas",
            both(scores(1 / 3, "RR", [0, 0, 1, 1, 1]), guide("formulas", r"`RR`: $f(x)=\frac{1}{x}$"))),
    Feature(155, 167, "MRR: mean over queries", "`Evaluation.means`",
            prints(["evaluate", SIMULATED, "-m", "RR", "--ties", "input", "--format", "csv"],
                "GPT-4 (Low Ties),RR,input,0.6748")),
    Feature(169, 175, "MRR: 0.333 and 1.0", "`RR`",
            both(scores(0.333, "RR", [0, 0, 1, 1, 1], digits=3), scores(1, "RR", [1, 0, 1, 0, 1]))),
    Feature(178, 182, "MRR: how to read it", "Guide, Measures",
            guide("reading", "MRR = 1.0", "Typical rank 2 (a harmonic mean, not the mean rank)",
                "Typical rank 3", "Typical rank 10: poor")),
    Feature(180, 182, "one over MRR is no mean rank: ranks 1 and 3", "Errors in the sources",
            both(equal(lambda: mean_of_lists("RR", {1}, {3}), 0.6667), corrects(
                "First hits at ranks 1 and 3 have mean rank 2 but MRR 0.6667"))),
    Feature(184, 188, "MRR: when", "Guide, Measures",
            guide("reading", "one answer is enough: a single fact, the first click, the first chunk")),
    Feature(190, 192, "MRR: targets", "Report, Targets; Guide, Measures",
            both(target("RR>0.8"), target("RR>0.9"),
                guide("reading", "MRR > 0.8", "Above 0.9: on at least 80%"))),
    Feature(196, 236, "MAP: definition, formula, code, 0 without relevant documents", "`AP`",
            both(scores(0.7556, "AP", [1, 0, 1, 0, 1, 0]), scores(0, "AP", [0, 0]))),
    Feature(238, 245, "MAP: 0.756", "`AP`", scores(0.756, "AP", [1, 0, 1, 0, 1, 0], digits=3)),
    Feature(248, 251, "MAP: when", "Guide, Measures",
            guide("reading", "the whole ranking counts",
                "you compare with the literature")),
    Feature(255, 287, "DCG: definition, formula, code", "`DCG@k`; Guide, Formulas",
            both(scores(7 + 3 / 2 + 1 / math.log2(5), "DCG@5", [3, 0, 2, 1, 0]), guide("formulas",
                r"$w=\frac{1}{\log_2(i+1)}$"))),
    Feature(289, 304, "nDCG: over the ideal, 0 without one", "`nDCG@k`",
            both(scores(1, "nDCG@5", [3, 2, 1, 0, 0]), scores(0, "nDCG@5", [0, 0]))),
    Feature(306, 312, "nDCG: about 0.95", "`nDCG@k`", scores(0.9508, "nDCG@5", [3, 0, 2, 1, 0])),
    Feature(314, 316, "nDCG: about 0.65, which is 0.4930", "`nDCG@k`; Errors in the sources",
            both(scores(0.4930, "nDCG@5", [0, 1, 0, 2, 3]), corrects(
                "nDCG@5 of grades 0, 1, 0, 2, 3 is about 0.65 | 0.4930"))),
    Feature(319, 323, "the scale 0 to 3", "Guide, Measures",
            guide("reading", "Perfect: answers the query completely | 7",
                "Very relevant: helpful, not complete | 3", "Partly relevant: touches on it | 1",
                "Irrelevant | 0")),
    Feature(325, 329, "nDCG: how to read it", "Guide, Measures",
            guide("reading", "nDCG@5 = 1.0", "nDCG@5 = 0.9", "nDCG@5 = 0.7", "nDCG@5 = 0.5")),
    Feature(329, 329, "nDCG of a random order: 0.6906 here", "Guide, Measures; Errors in the sources",
            both(scores(0.6906, "nDCG@5", [3, 2, 1, 0, 0], FULL_TIE), corrects("0.6906"),
                guide("reading", "0.6906"))),
    Feature(331, 335, "nDCG: when", "Guide, Measures",
            guide("reading", "relevance has grades", "higher ranks count more",
                "you compare ranking methods")),
    Feature(337, 339, "nDCG: targets", "Report, Targets", both(target("nDCG@5>0.85"), target("nDCG@10>0.80"))),
    Feature(343, 361, "hit rate: definition and code", "`Hits@k`",
            both(scores(1, "Hits@3", [0, 0, 1]), scores(0, "Hits@2", [0, 0, 1]))),
    Feature(363, 365, "hit rate: when", "Guide, Measures",
            guide("reading", "does the top k contain a relevant document", "a quick check")),
    Feature(367, 367, "hit rate: target", "Report, Targets", target("Hits@10>0.95")),
    Feature(371, 375, "LLM uses the first: MRR", "Guide, Measures",
            guide("measures", "only the first document is used | `RR`")),
    Feature(376, 376, "LLM uses the first three: P@3, nDCG@3", "Guide, Measures",
            guide("measures", "An LLM reads the first three | `P@3`, `nDCG@3`")),
    Feature(377, 377, "several are needed: R@10, MAP", "Guide, Measures",
            guide("measures", "Several relevant documents are needed | `R@10`, `AP`")),
    Feature(378, 378, "grades: nDCG", "Guide, Measures", guide("measures", "Relevance has grades | `nDCG@10`")),
    Feature(379, 379, "sanity check: Hits@10", "Guide, Measures",
            guide("measures", "A quick sanity check | `Hits@10`")),
    Feature(380, 380, "A/B test: MRR and nDCG@5", "Guide, Measures",
            guide("measures", "An A/B test | `RR`, `nDCG@5`")),
)

MRR_MAP = (
    Feature(1, 11, "MRR and MAP explained", "Guide, Measures", guide("reading", "MRR beside MAP")),
    Feature(13, 18, "a list per test triple, TracInScore, In_path", "Runs",
            true(lambda: "tracinscore" in synonyms("score") and "inpath" in synonyms("relevance"))),
    Feature(22, 44, "MRR: what it measures, formula", "`RR`; Guide, Measures",
            guide("reading", "How high the first relevant document ranks")),
    Feature(46, 57, "RR of test triple 1: 0.3333", "`RR`", scores(0.3333, "RR", [0, 0, 1, 1, 0])),
    Feature(59, 66, "RR of test triple 2: 1.0000", "`RR`", scores(1, "RR", [1, 0, 1])),
    Feature(68, 77, "RR of test triple 3: 0.2000", "`RR`", scores(0.2, "RR", [0, 0, 0, 0, 1])),
    Feature(79, 79, "MRR: 0.5111", "`RR`",
            equal(lambda: mean_value("RR", [0, 0, 1, 1, 0], [1, 0, 1], [0, 0, 0, 0, 1]), 0.5111)),
    Feature(81, 86, "MRR: how to read it", "Guide, Measures",
            guide("reading", "The first document is always relevant", "MRR = 0.5", "MRR = 0.1")),
    Feature(88, 93, "MRR: when", "Guide, Measures",
            guide("reading", "one answer is enough", "all relevant documents are worth the same")),
    Feature(97, 121, "MAP: what it measures, formula", "`AP`; Guide, Measures",
            guide("reading", "all relevant documents rank at the top")),
    Feature(123, 153, "AP of test triple 1: 0.5000", "`AP`", scores(0.5, "AP", [0, 1, 0, 1, 0, 1, 0])),
    Feature(155, 174, "AP of test triple 2: 0.8334, which is 0.8333", "`AP`; Errors in the sources",
            both(scores(0.8333, "AP", [1, 0, 1, 0]), corrects(
                "AP of test triple 2: 0.8334 | 0.8333"))),
    Feature(176, 191, "AP of test triple 3: 0.3333", "`AP`", scores(0.3333, "AP", [0, 0, 1])),
    Feature(193, 193, "MAP: 0.5556", "`AP`",
            equal(lambda: mean_value("AP", [0, 1, 0, 1, 0, 1, 0], [1, 0, 1, 0], [0, 0, 1]), 0.5556)),
    Feature(195, 201, "MAP: how to read it", "Guide, Measures",
            guide("reading", "MAP = 1.0", "MAP = 0.8", "MAP = 0.5", "MAP = 0.1")),
    Feature(203, 209, "MAP: when", "Guide, Measures",
            guide("reading", "queries have several relevant documents", "the whole ranking counts")),
    Feature(213, 222, "MRR against MAP, aspect by aspect", "Guide, Measures",
            guide("reading", "| Looks at |", "| Depends on |", "| Answers |", "| Range | 0 to 1 | 0 to 1 |",
                "| 1 means |", "| Several relevant documents |")),
    Feature(224, 233, "scenario A: 1.0 and 0.7333, which is 0.7000", "Guide, Measures; Errors in the sources",
            both(scores(0.7, "AP", [1, 0, 0, 1, 1, 0, 0, 0, 0, 0]), guide("reading",
                "Relevant at ranks 1, 4, 5: RR 1.0000, AP 0.7000"), corrects(
                "0.7333, twice | 0.7000"))),
    Feature(235, 242, "scenario B: 1.0 and 1.0", "Guide, Measures",
            guide("reading", "Relevant at ranks 1, 2, 3: RR 1.0000, AP 1.0000")),
    Feature(244, 247, "where the two part", "Guide, Measures",
            guide("reading", "they differ below the first relevant document")),
    Feature(251, 271, "code of MRR, which leaves out queries without a hit", "`RR`; Errors in the sources",
            both(equal(lambda: mean_of_lists("RR", {2}, {4}), 0.25), corrects(
                "first hit at rank 2 and another query has no hit",
                "the code gives 0.5. The formula and TieScope give 0.25"))),
    Feature(273, 301, "code of AP, over those found", "`AP`; Errors in the sources",
            both(equal(lambda: mean_of_lists("AP", {1, 4}), 0.5), corrects(
                "one of two relevant documents is found, at rank 1", "the code gives 1", "TieScope give 0.5"))),
    Feature(303, 326, "MAP: mean over queries", "`Evaluation.means`",
            prints(["evaluate", SIMULATED, "-m", "AP", "--ties", "input", "--format", "csv"],
                "GPT-4 (Low Ties),AP,input,0.5510")),
    Feature(328, 341, "what is asked of both", "Guide, Measures",
            guide("reading", "Can I find one good answer quickly?", "Are all relevant documents ranked well?")),
    Feature(343, 346, "MRR 0.0123: rank about 81", "Rerankers, Summary table; Errors in the sources",
            both(equal(lambda: read_beside("RR", [81], [476])[0], 81), corrects("about 81"),
                summary("1/MTRR"))),
    Feature(347, 347, "MAP beside it", "Rerankers, Summary table, by AP",
            page("rerankers", "Summary table", "MAP", "tied MAP", **SAMPLE_RERANKERS, measure="AP")),
    Feature(348, 348, "mean relevant a query", "Rerankers, Summary table",
            summary("Relevant per query", "2.52")),
    Feature(350, 353, "MRR 0.0021: rank about 476", "Rerankers, Summary table",
            equal(lambda: read_beside("RR", [476], [81])[0], 476)),
    Feature(355, 356, "6 times better by MRR", "Rerankers, Summary table",
            both(equal(lambda: read_beside("RR", [81], [476])[1], 5.88),
                summary("× baseline", "1.19", measure="RR", baseline="PaLM-2 (Medium Ties)"))),
    Feature(357, 357, "2.4 times better by MAP", "Rerankers, Summary table, by AP",
            both(equal(lambda: read_beside("AP", [208], [500])[1], 2.4),
                page("rerankers", "Summary table", "× baseline", **SAMPLE_RERANKERS, measure="AP"))),
    Feature(358, 358, "10 times more relevant, so easier", "Rerankers, Summary table; Guide, Measures",
            both(equal(lambda: read_beside("RR", range(1, 18), [1, 2])[2], 17),
                guide("reading", "Queries with more relevant documents have an easier first hit"))),
    Feature(362, 376, "Mann-Whitney U, two-sided, 0.05", "Compare, Test; `compare --test mann-whitney`",
            prints(compare("--test", "mann-whitney"), "p_adjusted")),
    Feature(378, 380, "p = 0.000017 and 0.000024: three stars", "`stars`",
            equal(lambda: list(stars([0.000017, 0.000024])), ["***", "***"])),
    Feature(382, 382, "not due to chance", "Errors in the sources",
            corrects("chance alone would rank two samples at least this")),
    Feature(386, 390, "MRR ignores several relevant", "Guide, Measures",
            guide("reading", "the value is the same whether one or ten follow")),
    Feature(391, 391, "MRR is a binary view", "Guide, Measures",
            guide("reading", "| Looks at | The first relevant document |")),
    Feature(392, 392, "MRR does not see the tail", "Guide, Measures",
            guide("reading", ".020 at rank 50 and .002 at rank 500")),
    Feature(394, 396, "MAP takes all as equally important", "Guide, Measures",
            guide("reading", "Each one counts, and all count the same")),
    Feature(397, 397, "MAP depends on how many are relevant", "Guide, Measures; Errors in the sources",
            both(guide("reading", "A query with few relevant documents is hard to compare with a query"),
                scores(0.0519, "AP", [1] + [0] * 99, [0.5] * 100), scores(0.1381, "AP", [1] * 10 + [0] * 90,
                [0.5] * 100), corrects("0.0519 with one relevant document and 0.1381 with ten"))),
    Feature(398, 398, "MAP: only places of relevant documents", "Guide, Measures",
            guide("reading", "only the ranks of the relevant documents count")),
    Feature(400, 404, "use both", "Guide, Measures", guide("reading", "use both")),
    Feature(408, 412, "references", "Guide, Measures",
            both(guide("measures", "Voorhees, TREC-8 QA track report, 1999"), corrects(
                "Manning, Raghavan & Schütze", "Pruthi, Liu, Kale & Sundararajan"))),
    Feature(416, 423, "summary", "Guide, Measures",
            guide("reading", "MRR asks for one good document, MAP for all of them")),
)

RETRIEVAL = (
    Feature(1, 11, "notation, latency in seconds", "Guide, Files", guide("files", "`latency`")),
    Feature(13, 16, "Hit@k at 1, 5, 10 and 20", "Compare, Trade-offs, Against the baseline",
            tradeoffs("Against BM25", "Hits@1", "Hits@5", "Hits@10", "Hits@20")),
    Feature(18, 21, "MRR, a query without a hit counts 0", "`RR`; Compare, Trade-offs",
            both(scores(0, "RR", [0, 0]), tradeoffs("Against BM25", "MRR"))),
    Feature(23, 26, "Recall@20", "`R@20`; Compare, Trade-offs",
            both(scores(1, "R@20", RETRIEVED), tradeoffs("Against BM25", "Recall@20"))),
    Feature(28, 31, "DR@20: each target once", "`DR@20`; Compare, Trade-offs",
            both(true(lambda: one_list("DR", ["a", "a", "b"], [1, 1, 0], 20) == 1), true(lambda: one_list("DR",
                ["a", "a", "b", "b"], [1, 1, 0, 1], 2) == 0.5), tradeoffs("Recall and diversity",
                "+0.002"))),
    Feature(33, 36, "diversity: unique targets in the first 20", "`Div@20`; Compare, Trade-offs",
            both(true(lambda: one_list("Div", ["a", "a", "b"], [1, 1, 1], 20) == 2), tradeoffs(
                "Recall and diversity", "Div@20, distinct targets per query"))),
    Feature(38, 41, "latency, mean seconds", "Compare, Trade-offs", tradeoffs("Against BM25", "Latency (s)")),
    Feature(38, 41, "latency of each run", "`tiescope evaluate`",
            prints(["evaluate", DOCSEARCH, "-m", "RR", "--ties", "expected", "--latency", "--format", "csv"],
                "BM25,latency_s,expected,")),
    Feature(43, 45, "paired t-tests of every metric against a baseline",
            "Compare, Trade-offs; report; `compare --table`",
            both(prints(compare("--table"), "Hits@20", "RR", "R@20", "DR@20", "Div@20", "p_adjusted"),
                reports("Every measure against GPT-4 (Low Ties)", "Hits@20", "DR@20", "Div@20"),
                tradeoffs("Against BM25", "MiniLM float32", "tied", "traditional"))),
    Feature(43, 45, "paired t-tests against GraphFlow, each p as it is",
            "`compare --test t --correction none --baseline GraphFlow`",
            true(stars_of_paired_t_tests)),
    Feature(46, 47, "p < 0.001: ***", "`stars`", equal(lambda: list(stars([0.0009, 0.001])), ["***", "**"])),
    Feature(48, 48, "p < 0.01: **", "`stars`", equal(lambda: list(stars([0.0099, 0.01])), ["**", "*"])),
    Feature(49, 49, "p < 0.05: *", "`stars`", equal(lambda: list(stars([0.0499, 0.05])), ["*", "ns"])),
    Feature(50, 50, "p ≥ 0.05: ns", "`stars`; report, Compare",
            both(equal(lambda: list(stars([0.5])), ["ns"]),
                reports("p \\< 0.01,", "p \\< 0.05, ns not significant"))),
    Feature(47, 50, "stars say a difference, not an improvement", "Errors in the sources",
            corrects("worse methods also get stars")),
    Feature(44, 45, "each p as it is, many compared", "Errors in the sources; `compare --correction`",
            both(corrects("TieScope corrects by default"), prints(["compare", "--help"],
                "--correction"))),
    Feature(52, 53, "accuracy and diversity together", "Compare, Trade-offs, Recall and diversity",
            tradeoffs("Recall and diversity", "DR@20")),
    Feature(54, 54, "quality against latency", "Compare, Trade-offs, Quality against latency",
            tradeoffs("Quality against latency", "latency per query")),
    Feature(55, 55, "all of it in one table", "Compare, Trade-offs, Against BM25",
            tradeoffs("Against BM25", "MRR", "p50 ms", "p95 ms", "mean ms", "Recall@20", "DR@20",
                "Div@20", "Repeats")),
)

# fmt: on
FEATURES = {
    "1-tied-ranking-metrics-notebook": NOTEBOOK,
    "2-tsrr": TSRR,
    "3-ranking-metrics": RANKING_METRICS,
    "4-mrr-map-tracin": MRR_MAP,
    "5-retrieval-experiment-metrics": RETRIEVAL,
}
"""Document → its features."""
ROWS = [(document, feature) for document, features in FEATURES.items() for feature in features]


@pytest.mark.parametrize(
    "feature",
    [feature for _, feature in ROWS],
    ids=[f"{document[0]}:{feature.first} {feature.name}" for document, feature in ROWS],
)
def test_a_feature_of_a_document_is_where_the_table_says(feature):
    feature.check()


@pytest.mark.skipif(not SEEDS.is_dir(), reason="the documents are not beside the repository")
@pytest.mark.parametrize("document", FEATURES)
def test_no_line_of_a_document_is_without_a_feature(document):
    feature_lines = {line for feature in FEATURES[document] for line in range(feature.first, feature.last + 1)}
    missing = {
        number: line
        for number, line in lines_of(SEEDS / f"{document}.md").items()
        if number not in feature_lines
    }
    assert not missing
