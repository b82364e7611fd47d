"""The report's LaTeX: compiled by a real TeX where there is one, its columns measured everywhere."""

import re
import shutil
import subprocess
from datetime import date
from pathlib import Path

import pandas as pd
import pytest

from metrics import Runs
from metrics.report import Table, report
from metrics.report.writing import LINE, blocks, wrapped
from metrics.support.escaping import latex

DAY = date(2026, 1, 30)
PDFLATEX = shutil.which("pdflatex")
LONG = "cross-encoder/ms_marco-MiniLM-L6-v2-finetuned-on-the-corpus-of-2025-with-hard-negatives-lr{}e-5__fp16"
SCRIPTS = [
    "مُعيد ترتيب النماذج",
    "重排序模型-大型语言模型-第三版",
    "переранжировщик",
    "मॉडल-पुनः",
    "rérankeur-élan ¡ß!",
    "A" * 120,
]
TEX_MARKS = r"100% of_a & b #1 {x} $y$ ~z^ \end{document} [q]*"


def ranked(names):
    """Runs of three queries; of every three rerankers one has no ties, so that orders swap."""
    rows = [
        (name, f"q{query}", f"d{doc}", (doc * (2 + place) + query) % (2 if place % 3 else 7), int(doc == 2))
        for place, name in enumerate(names)
        for query in range(3)
        for doc in range(5)
    ]
    columns = ["reranker", "query_id", "doc_id", "score", "relevance"]
    return Runs.from_frame(pd.DataFrame(rows, columns=columns))


BOARDS = {
    "1, of marks that TeX reads": ([TEX_MARKS], "full"),
    "14, long names": ([LONG.format(n) for n in range(14)], "full"),
    "6 in four scripts": (SCRIPTS, "full"),
    "200": ([f"lynx-rerank-{n}" for n in range(200)], "short"),
    "200 for a paper": ([f"lynx-rerank-{n}" for n in range(200)], "paper"),
    "14 for a paper": ([LONG.format(n) for n in range(14)], "paper"),
}


@pytest.mark.skipif(PDFLATEX is None, reason="no pdflatex here: Debian has it in texlive-latex-base")
@pytest.mark.parametrize(("names", "preset"), BOARDS.values(), ids=BOARDS)
def test_it_compiles_and_no_box_is_overfull_and_no_float_too_large(tmp_path, names, preset):
    options = {"preset": preset, "targets": ["retrieval"], "files": [("a.trec", "ab" * 32)]}
    log = compiled(tmp_path, report(ranked(names), **options).latex(DAY))
    assert not re.findall(r"^(?:Overfull|LaTeX Warning: Float too large|!).*", log, re.MULTILINE)
    assert "Output written on report.pdf" in log


@pytest.mark.skipif(PDFLATEX is None, reason="no pdflatex here: Debian has it in texlive-latex-base")
def test_a_paper_takes_it_in(tmp_path):
    (tmp_path / "table.tex").write_text(report(ranked(["a", "b"]), preset="paper").latex(DAY), encoding="utf-8")
    start = r"\documentclass{article}\usepackage{longtable}\begin{document}"
    log = compiled(tmp_path, start + r"before \input{table} after\end{document}")
    assert "Output written on report.pdf (1 page" in log


def compiled(folder: Path, text: str) -> str:
    """Log of the second pass, in which the widths of long tables are known."""
    (folder / "report.tex").write_text(text, encoding="utf-8")
    for _ in range(2):
        subprocess.run(  # noqa: S603 ours
            [PDFLATEX, "-interaction=nonstopmode", "-halt-on-error", "report.tex"],
            cwd=folder,
            capture_output=True,
            check=False,
        )
    return (folder / "report.log").read_text(encoding="utf-8", errors="replace")


def test_columns_fit_a_line_and_what_names_a_row_stands_in_each_part():
    values = {f"value {n}": 0.5 for n in range(30)}
    frame = pd.DataFrame([{"Reranker": LONG.format(1), **values, "Why": "word " * 90}])
    parts = blocks(Table("Many", frame, dict.fromkeys(values, ".4f")))
    assert len(parts) > 3
    assert all(part.headings[0].endswith("Reranker") and "cross" in part.rows[0][0] for part in parts)
    assert sum(len(part.headings) - 1 for part in parts) == frame.shape[1] - 1
    widths = [[float(width) for width in re.findall(r"\{([\d.]+)em\}", part.columns)] for part in parts]
    assert all(sum(part) <= LINE for part in widths)


def test_a_long_name_may_break_at_its_marks_and_a_number_never():
    assert wrapped("a/b_c-2026-01-30 0.1234").count(r"\allowbreak") == 3
    assert r"\penalty" in wrapped("A" * 40)
    assert r"\penalty" not in wrapped("significance")


def test_accents_work_in_every_tex_and_other_scripts_use_codes():
    assert latex("é ß ñ") == r"\'{e} \ss{} \~{n}"
    assert latex("ab重排") == r"ab\ifdefined\Umathcode 重排\else{\scriptsize U+91CD 6392}\fi{}"


def test_the_table_for_a_paper_has_both_values_bounds_and_stars():
    runs = ranked(["a", "b", "c", "d"])
    table = report(runs, preset="paper").sections[0].tables[0]
    assert [name for name in table.frame if name.strip()] == ["Reranker", "MRR", "MTRR", "Worst", "Best"]
    assert "Stars: sign flips, corrected for 6 pairs by the largest statistic, against a" in table.note
    own_rule = report(runs, preset="paper", measures=["TsRR"]).sections[0].tables[0]
    assert [name for name in own_rule.frame if name.strip()] == ["Reranker", "TsRR"]
    alone = report(ranked(["a"]), preset="paper").sections[0].tables[0]
    assert "Stars" not in alone.note


def test_a_short_table_for_a_paper_is_a_float_and_a_long_one_breaks_across_pages():
    short, long = (
        report(ranked([f"r{n}" for n in range(count)]), preset="paper").latex(DAY) for count in (2, 60)
    )
    assert r"\begin{table}" in short
    assert r"\begin{longtable}" not in short
    assert r"\begin{table}" not in long
    assert r"\begin{longtable}" in long
