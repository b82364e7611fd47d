"""Names of users in written files: nothing in them is taken for Markdown, HTML, LaTeX or a formula."""

import html as _html
import re
import unicodedata

import pandas as pd

LONGEST = 1000
"""Letters of a text that are written; names may have 65,536."""

_UNSEEN = {"Cc", "Cf", "Cs", "Co", "Cn"}
_ADDRESS = re.compile(r"(?i)(://|www\.|(?<!\w)@|@(?=[\w-]+\.\w))")
_MARKS = re.compile(r"([\\`*\[\]<#|~$]|&(?=#|\w+;)|(?<!\w)_|_(?!\w))")
"""What means something to Markdown inside a line; an underscore inside a word does not."""
_LATEX = str.maketrans(
    {mark: f"\\{mark}" for mark in "&%$#_{}"}
    | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    | {"<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", '"': r"\textquotedbl{}"}
    | {mark: f"{{{mark}}}" for mark in "[]*`'"}  # \\ takes [ and * after it for its own
    | {"\N{MINUS SIGN}": "$-$", "±": r"$\pm$", "–": "--", "…": r"\ldots{}", "²": r"$^2$", "ρ": r"$\rho$"}
    | {"≥": r"$\ge$", "≤": r"$\le$", "·": r"$\cdot$", "×": r"$\times$"}
)
_FORMULA = r"[=+\-@\t\r]"


def clean(text: str, longest: int = LONGEST) -> str:
    """A text on one line: without control characters, shortened in the middle."""
    plain = "".join(letter for letter in text if unicodedata.category(letter) not in _UNSEEN)
    plain = re.sub(r"\s", " ", plain)
    if len(plain) <= longest:
        return plain
    tail = longest // 2
    return f"{plain[: longest - tail - 1]}…{plain[-tail:]}"


def clean_lines(text: str) -> str:
    """A text of several lines, each without control characters."""
    return "\n".join(clean(line) for line in text.split("\n"))


def markdown(text: str) -> str:
    """A text as Markdown shows it as it is: no mark-up, no HTML, no link, nobody mentioned."""
    apart = _ADDRESS.sub("\N{WORD JOINER}\\1", clean(text))
    return _MARKS.sub(r"\\\1", apart)


def html(text: str) -> str:
    """A text as HTML shows it as it is, inside an element or an attribute."""
    return _html.escape(clean(text))


def latex(text: str) -> str:
    """A text as LaTeX sets it as it is, at the beginning of a table's row too."""
    return clean(text).translate(_LATEX)


def without_formulas(frame: pd.DataFrame) -> pd.DataFrame:
    """The same table with an apostrophe before each text that a spreadsheet would run as a formula."""
    safe = frame.copy()
    for name in safe.columns:
        if not pd.api.types.is_numeric_dtype(safe[name]):
            text = safe[name].astype(str)
            safe[name] = text.where(~text.str.match(_FORMULA), "'" + text)
    return safe
