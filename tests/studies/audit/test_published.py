"""Tables as consoles print them, and what writers put beside names and figures."""

import json

import pandas as pd
import pytest

from metrics import ReadError, UsageError
from metrics.runs import FORMATS, File
from metrics.studies.audit.published import holds_results, read_published
from metrics.studies.audit.published_layouts import _spanned


def laid_out(name, text):
    table = read_published({name: text.encode()}).figures
    return table[["reranker", "measure", "text"]].to_numpy().tolist()


MEANS = pd.DataFrame(
    {"nDCG@10": [0.4973, 0.71, None], "MRR": [0.7024, 0.8812, 0.5]},
    index=pd.Index(["bm25", "mono T5 (3B), k=9", "ada"], name="reranker"),
)
EXPECTED = [
    *[["bm25", "nDCG@10", "0.4973"], ["bm25", "MRR", "0.7024"]],
    *[["mono T5 (3B), k=9", "nDCG@10", "0.7100"], ["mono T5 (3B), k=9", "MRR", "0.8812"]],
    ["ada", "MRR", "0.5000"],
]
RANX = """
#    Model              nDCG@10    MRR
---  -----------------  ---------  --------
a    bm25               0.4973     0.7024
b    mono T5 (3B), k=9  0.7100ᵃ    0.8812ᵃᶜ
c    ada                           0.5000
"""


@pytest.mark.parametrize(
    "text",
    [
        f"Means of 3 rerankers:\n\n{MEANS}\n",
        MEANS.to_string().replace("NaN", "   "),
        RANX,
    ],
    ids=["a data frame", "with a gap", "a report of ranx"],
)
def test_columns_aligned_by_spaces_are_those_of_a_table(text):
    assert laid_out("t.txt", text) == EXPECTED


@pytest.mark.parametrize("note", ["", "\n[^1]: as its authors tuned it\n"])
def test_footnotes_are_no_part_of_names_in_markdown(note):
    text = f"| Model | MRR[^a] |\n|---|---|\n| bm25 [^1] | 0.702[^1] |\n{note}"
    assert laid_out("t.md", text) == [["bm25", "MRR", "0.702"]]


def figures(name, text, *columns):
    table = read_published({name: text.encode()}).figures
    return table[list(columns or ("reranker", "measure", "text", "value"))].to_numpy().tolist()


MARKDOWN = r"""
# Results

| Model | nDCG@10 | **RR@10** |
|---|---:|---:|
| [**BM25+RM3**](http://x) | 49.7 ± 0.3 | 70.2<sup>a</sup> |
| mono\|T5 (3B) | **71.0**† | <u>88.1</u> |
| *Dense* | | |
| `ada_2` | – | 81.5 (0.4) |
"""
LATEX = r"""
\begin{table}\caption{A & B \\}
\begin{tabular}{lcc} % comment & here
\toprule
 & \multicolumn{2}{c}{DL 2019} \\ \cmidrule(lr){2-3}
Model & nDCG@10 & MAP \\ \midrule
\multicolumn{3}{l}{\textit{Sparse}} \\
BM25~\cite{foo} & 0.497 & .2901$^{a,b}$ \\[2pt]
\rowcolor{gray}
\textbf{mono\_T5 (3B)} & \textbf{0.710}$^{\dagger\ddagger}$ & \underline{0.501} \\
\textcolor{red}{ada \& co} & $0.69_{\pm.01}$ & -- \\
\bottomrule
\end{tabular}\end{table}"""
TABLES = {
    "a table with a column for each measure": (
        "t.csv",
        "model,nDCG@10,MAP\nbm25 (k1=0.9) + rm3,0.4973,0.29\n",
        [["bm25 (k1=0.9) + rm3", "nDCG@10", "0.4973", 0.4973], ["bm25 (k1=0.9) + rm3", "MAP", "0.29", 0.29]],
    ),
    "decimal commas": (
        "t.csv",
        "Modell;MRR\nbm25;0,702\nt5;28,4%\n",
        [["bm25", "MRR", "0,702", 0.702], ["t5", "MRR", "28,4%", 0.284]],
    ),
    "a row for each figure": (
        "t.tsv",
        "run\tmeasure\tquery\tvalue\na\tmap\tall\t0.1234\na\tmap\tq1\t.5\n",
        [["a", "map", "0.1234", 0.1234], ["a", "map", ".5", 0.5]],
    ),
    "one column of numbers beside measures": (
        "t.csv",
        "reranker,measure,docid_desc\na,RR,0.7\na,AP,0.1\n",
        [["a", "RR", "0.7", 0.7], ["a", "AP", "0.1", 0.1]],
    ),
    "measures as rows": (
        "t.csv",
        "metric,a,b\nMAP,0.29,0.5\n",
        [["a", "MAP", "0.29", 0.29], ["b", "MAP", "0.5", 0.5]],
    ),
    "markdown": (
        "t.md",
        MARKDOWN,
        [
            ["BM25+RM3", "nDCG@10", "49.7", 0.497],
            ["BM25+RM3", "RR@10", "70.2", 0.702],
            ["mono|T5 (3B)", "nDCG@10", "71.0", 0.71],
            ["mono|T5 (3B)", "RR@10", "88.1", 0.881],
            ["ada_2", "RR@10", "81.5", 0.815],
        ],
    ),
    "latex": (
        "t.tex",
        LATEX,
        [
            ["BM25", "DL 2019 nDCG@10", "0.497", 0.497],
            ["BM25", "DL 2019 MAP", ".2901", 0.2901],
            ["mono_T5 (3B)", "DL 2019 nDCG@10", "0.710", 0.71],
            ["mono_T5 (3B)", "DL 2019 MAP", "0.501", 0.501],
            ["ada & co", "DL 2019 nDCG@10", "0.69", 0.69],
        ],
    ),
    "results of BEIR by model": (
        "r.json",
        '{"bm25": {"NDCG@10": 0.6743}, "e5": {"NDCG@10": 0.7}}',
        [["bm25", "NDCG@10", "0.6743", 0.6743], ["e5", "NDCG@10", "0.7", 0.7]],
    ),
    "what BEIR returns": (
        "e5.json",
        '[{"NDCG@10": 0.6743}, {"MAP@10": 0.5}]',
        [["e5", "NDCG@10", "0.6743", 0.6743], ["e5", "MAP@10", "0.5", 0.5]],
    ),
    "a task of MTEB": (
        "SciFact.json",
        '{"task_name": "SciFact", "scores": {"test": [{"hf_subset": "x", "ndcg_at_10": 0.67, "tags": []}]}}',
        [["SciFact", "ndcg_at_10", "0.67", 0.67]],
    ),
    "ir_measures": (
        "r.txt",
        "nDCG@10\t0.4973\nAP(rel=2)\t0.3012\n",
        [["r", "nDCG@10", "0.4973", 0.4973], ["r", "AP(rel=2)", "0.3012", 0.3012]],
    ),
    "trec_eval of old, which counts queries, too": (
        "r.eval",
        "num_q  \tall\t2\nP5     \tall\t0.2345\nmap   all   0.1\ninfAP  \tall\tnan\nrunid all my run (x)\n",
        [
            ["my run (x)", "P5", "0.2345", 0.2345],
            ["my run (x)", "map", "0.1", 0.1],
        ],
    ),
    "another table without figures before it": (
        "t.md",
        "| a | b |\n|---|---|\n| x | y |\n\n| run | AP |\n|---|---|\n| r | .1 |\n",
        [["r", "AP", ".1", 0.1]],
    ),
    "unbounded measures above 1": ("t.csv", "run,DCG@10\na,4.5\n", [["a", "DCG@10", "4.5", 4.5]]),
}


@pytest.mark.parametrize("case", TABLES)
def test_a_published_table_gives_its_figures(case):
    name, text, expected = TABLES[case]
    assert figures(name, text) == [[*names, pytest.approx(value)] for *names, value in expected]


def test_figures_know_their_file_and_line():
    assert figures("t.tex", LATEX, "file", "line")[0] == ["t.tex", 8]
    assert figures("t.md", MARKDOWN, "file", "line")[-1] == ["t.md", 9]
    assert figures("t.csv", 'run,AP\n"a\nb",.1\nc,.2\n', "line") == [[3], [4]]


def test_zeros_that_a_machine_leaves_out_count_and_those_of_a_person_do_not():
    assert figures("t.csv", "run,AP,RR\na,0.69,0.5\nb,0.1234,0.70\n", "decimals") == [[4], [1], [4], [2]]
    assert figures("r.json", '{"NDCG@10": 0.67434, "MAP@10": 0.63}', "decimals") == [[5], [5]]
    assert figures("t.md", "|run|AP|\n|---|---|\n|a|0.69|\n|b|0.1234|\n", "decimals") == [[2], [4]]


def test_a_run_is_named_by_its_id_and_its_file_else_by_the_file_alone():
    named = {
        "input.a.eval": b"runid\tall\tBM25+RM3 (k=1)\nmap\tall\t0.1\n",
        "b.eval": b"runid\tall\tx\nmap\tall\t0.2\n",
    }
    published = read_published(named)
    assert published.rerankers == ["BM25+RM3 (k=1)", "x"]
    assert published.other_names["BM25+RM3 (k=1)"] == ("input.a.eval",)
    alike = {
        "a.eval": b"runid\tall\tAnserini\nmap\tall\t0.1\n",
        "b.eval": b"runid\tall\tAnserini\nmap\tall\t0.2\n",
    }
    assert read_published(alike).rerankers == ["a.eval", "b.eval"]


def test_files_of_one_name_are_told_apart_by_their_folders(tmp_path):
    for model, value in (("e5", 0.5), ("bge", 0.6)):
        (tmp_path / model).mkdir()
        text = f'{{"task_name": "SciFact", "scores": {{"test": [{{"ndcg_at_10": {value}}}]}}}}'
        (tmp_path / model / "SciFact.json").write_text(text)
    published = read_published([tmp_path / model / "SciFact.json" for model in ("e5", "bge")])
    assert [name.split("/")[-2:] for name in published.rerankers] == [["e5", "SciFact"], ["bge", "SciFact"]]
    assert [names[0] for names in published.other_names.values()] == ["e5", "bge"]


REFUSED = {
    "an empty file": (b"", "t.csv: the file is empty"),
    "no figures": (b"run,AP\na,b\n", "t.csv, line 1: this table has no figure"),
    "a value that is no number": (b"run,measure,value\na,AP,high\n", "t.csv, line 2: 'high' is not a number"),
    "two rows of one name": (
        b"run,AP\na,.1\na,.2\n",
        "t.csv, line 3: 'AP' of 'a' is printed twice with different values",
    ),
    "a line of trec_eval that is none": (
        b"map\tall\t0.1\n" * 60 + b"oh no\n",
        "t.csv, line 61: 'oh no' is not a figure",
    ),
    "several runs in one output of trec_eval": (
        b"runid\tall\tA\nmap\tall\t0.2\nrunid\tall\tB\nmap\tall\t0.3\n",
        "t.csv, line 3: the file has several runs",
    ),
    "a picture": (b"\x89PNG\x00", "this is a PNG picture"),
    "no UTF-8": (b"run,AP\na,.1\n\xff,.2\n", "t.csv, line 3: the text is not UTF-8"),
    "more lines than a table has": (b"run,AP\n" + b"a,.1\n" * 500_000, "more than 500,000 lines"),
    "more bytes than a table has": (b"run,AP\n" + b"a,.1\n" + b" " * 2**25, "more than 32 MB"),
    "a longer text than a table": (
        b"|run|AP|\n|---|---|\n" + b"|a|.1|\n" * 5000,
        "more than 256 KB or 5,000 lines of Markdown or LaTeX",
    ),
    "no figures in the first lines": (
        b"run,AP\n" + b"a,b\n" * 1000 + b"a,.1\n",
        "this table has no figure",
    ),
    "JSON without figures": (b'{"a": "b"}', "this JSON has no figure"),
    "JSON that is none": (b'{"a": ', "not valid JSON"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_read_is_refused_with_its_place(case):
    data, problem = REFUSED[case]
    with pytest.raises(ReadError) as error:
        read_published({"t.csv": data})
    assert problem in str(error.value)


HOSTILE = {
    "stars": "|run|AP|\n|---|---|\n" + f"|a|.1{'*' * 90}x|\n" * 200 + "|b|.2|\n",
    "open brackets": "\\begin{tabular}{l} run & AP \\\\ " + "\\cite[{" * 20_000 + " & .1 \\\\ b & .2 \\\\",
    "quotes": "run,AP\n" + ',"' * 20_000 + '"\nb,.2\n',
    "braces": "\\begin{tabular} run & AP \\\\ b & .2 \\\\" + "{" * 50_000 + "& .3",
    "tildes": "run,AP\nb,.2\n" + "~" * 50_000 + ",.3\n",
}


@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_text_is_read_or_refused(case):
    try:
        published = read_published({"t.txt": HOSTILE[case].encode()})
    except ReadError:
        return
    assert "b" in published.rerankers


@pytest.mark.parametrize(
    "cell",
    ["**0.8833**", "__0.8833__†", r"\textbf{0.8833}", r"\underline{\textbf{0.8833}}", "0.8833a", "0.8833 a b"],
)
def test_a_first_row_in_bold_or_with_letters_of_significance_is_no_header(cell):
    rows = figures("t.csv", f"model,MRR\nA,{cell}\nB,0.3\nC,0.2\n", "reranker", "value")
    assert rows == [["A", 0.8833], ["B", 0.3], ["C", 0.2]]


def test_percents_that_a_machine_multiplied_have_the_decimals_that_were_meant():
    text = f"run,AP\na,{round(0.6295, 4) * 100}\nb,55.12\n"
    assert "62.949999999999996" in text
    assert figures("t.csv", text, "decimals", "value") == [
        [2, pytest.approx(0.6295)],
        [2, pytest.approx(0.5512)],
    ]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("run,AP\na,0.91\nb,0.88\nc,8.5\n", [0.91, 0.88, 8.5]),
        ("run,AP\na,91.5\nb,0.88\nc,85\n", [0.915, 0.0088, 0.85]),
        ("run,AP\na,35.1%\nb,32.0\n", [0.351, 0.32]),
        ("run,MRR (%)\na,0.72\nb,0.41\n", [0.0072, 0.0041]),
    ],
)
def test_a_column_is_of_percents_by_its_header_or_by_most_of_its_figures(text, values):
    assert figures("t.csv", text, "value") == [[pytest.approx(value)] for value in values]


SUBSCRIPTS = {
    "t.md": "|M|nDCG<sub>10</sub>|\n|---|---|\n| monoT5<sub>3B</sub><sup>a</sup> | 0.72<sub>1</sub> |\n",
    "t.tex": r"\begin{tabular}{ll} M & nDCG$_{10}$ \\ monoT5$_{\text{3B}}$\footnotemark[1] & $0.72_{1}$ \\"
    r"\end{tabular}",
    "u.tex": r"\begin{tabular}{ll} M & nDCG$_{10}$ \\ monoT5\textsubscript{3B}$^a$ & 0.72$_1$ \\ \end{tabular}",
}


@pytest.mark.parametrize("name", SUBSCRIPTS)
def test_subscripts_are_part_of_names_and_not_of_numbers(name):
    assert figures(name, SUBSCRIPTS[name]) == [["monoT5 3B", "nDCG 10", "0.72", 0.72]]


def test_numbers_that_are_not_finite_are_left_out_and_it_is_said():
    published = read_published({"t.json": b'{"a": {"RR": NaN, "AP": 0.3}, "b": {"P@5": 1e999, "AP": 0.4}}'})
    assert published.figures["value"].tolist() == [0.3, 0.4]
    assert published.notes == ("t.json: infinite values were left out: RR, P@5.",)
    published = read_published({"t.csv": b"run,AP\na,1e999\nb,0.2\n"})
    assert published.rerankers == ["b"]
    assert published.notes == ("t.csv, line 2: '1e999' is not a number and was left out.",)


PANDAS = pd.DataFrame({"model": ["A", "B"], "MRR": [0.5, 0.6], "map": [0.2, 0.3]})


@pytest.mark.parametrize(
    "text",
    [
        PANDAS.to_json(orient="records"),
        PANDAS.to_json(),
        PANDAS.set_index("model").to_json(),
        PANDAS.set_index("model").to_json(orient="index"),
        '{"A": {"mrr": {"MRR": 0.5}, "map": 0.2}, "B": {"mrr": {"MRR": 0.6}, "map": 0.3}}',
    ],
)
def test_json_of_pandas_names_rerankers_and_measures(text):
    expected = [["A", "MRR", 0.5], ["A", "map", 0.2], ["B", "MRR", 0.6], ["B", "map", 0.3]]
    assert sorted(figures("t.json", text, "reranker", "measure", "value")) == expected


def test_a_comma_in_a_table_of_semicolons_stands_before_the_decimals_of_shares():
    assert figures("t.csv", "m;MRR\na;72,712\nb;63,150\n", "value") == [
        [pytest.approx(value)] for value in (0.72712, 0.6315)
    ]
    assert figures("t.csv", "m;documents\na;72,712\n", "value") == [[72712]]


@pytest.mark.parametrize(
    ("text", "is_results"),
    [
        ("runid\tall\tbm25\nmap\tall\t0.2543\nP_5\tall\t0.5000\n", True),
        ("map\tq1\t0.2543\nmap\tall\t0.5000\n", True),
        ("nDCG@10\t0.5\n", True),
        ("system,MRR,nDCG@10\nBM25,0.72,0.63\n", True),
        ("| model | MRR |\n|---|---|\n| BM25 | 0.72 |\n", True),
        ('{"NDCG@10": 0.5, "MAP@10": 0.3}', True),
        ('{"bm25": {"NDCG@10": 0.5}}', True),
        ('{"q1": {"d7": 0.9, "d2": 0.9}}', False),
        ("q1,d7,0.9\nq1,d2,0.9\n", False),
        ("a note\nof two lines\n", False),
        ("", False),
    ],
)
def test_files_of_results_are_told_from_others(text, is_results):
    assert holds_results(File("file.txt", text.encode())) == is_results


@pytest.mark.parametrize("known", FORMATS, ids=lambda known: known.name)
def test_no_run_and_no_judgments_are_taken_for_results(known):
    assert not holds_results(File("file", known.example.encode()))


@pytest.mark.parametrize("figures", [{"MRR": 0.9}, 0.9, [0.9], pd.DataFrame({"MRR": [0.9]})], ids=type)
def test_figures_that_are_neither_a_path_nor_bytes_are_refused(figures):
    with pytest.raises(UsageError, match="path of a table"):
        read_published(figures)


def test_a_cell_of_latex_spans_at_most_20_columns_and_json_has_at_most_1000_measures():
    wide = "run & MRR \\\\\n\\multicolumn{999}{c}{x} & .5 \\\\\na & .5 \\\\\n"
    assert figures("t.tex", wide, "reranker", "value") == [["a", 0.5]]
    assert len(_spanned("\\multicolumn{999}{c}{x}")) == 20
    names = json.dumps({f"name{n}": 0.5 for n in range(1_001)})
    with pytest.raises(ReadError, match=r"1,001 columns, more than 1,000"):
        figures("t.json", names, "value")
    with pytest.raises(ReadError, match="more than 10,000 entries"):
        figures("t.json", json.dumps([{"AP": 0.5}] * 10_001))


def test_what_is_left_out_is_said():
    published = read_published({"t.csv": b"run,AP,size\na,.1,3B\nb,.2 / .3,7B\n"})
    assert published.notes == (
        "t.csv, line 3: '.2 / .3' is not a number and was left out.",
        "Columns without numbers were left out: size.",
    )
    assert read_published({"t.csv": b"run;AP\na;0,1\n"}).notes == ("Commas were read as decimal points.",)
