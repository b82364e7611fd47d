"""The functions of four public packages: a document each, and queries with what answers them.

A query is the first sentence of a function's docstring. A document is what a page on the function would
show besides: its name and its docstring without that sentence, without signature, and without the section
"See Also", which says what else answers the query.
"""

import importlib
import inspect
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

PACKAGES = {
    "numpy": ("", "linalg", "fft", "random", "ma", "strings", "polynomial.polynomial"),
    "scipy": (
        *("cluster.hierarchy", "fft", "integrate", "interpolate", "linalg", "ndimage", "optimize", "signal"),
        *("sparse", "sparse.linalg", "spatial", "spatial.distance", "special", "stats"),
    ),
    "pandas": ("", "DataFrame", "Series", "Series.str", "Series.dt", "api.types"),
    "sklearn": (
        *("cluster", "covariance", "datasets", "decomposition", "ensemble", "feature_extraction.text"),
        *("feature_selection", "impute", "linear_model", "manifold", "metrics", "metrics.pairwise"),
        *("model_selection", "naive_bayes", "neighbors", "pipeline", "preprocessing", "svm", "tree", "utils"),
    ),
}
"""Package → where its public functions and classes are looked for."""

UNSTEADY = {
    "scipy.signal.lombscargle",
    *(f"scipy.stats.{name}" for name in ("Binomial", "Logistic", "Normal", "Uniform")),
}
"""Left out: their docstrings hold random numbers or a set, and read otherwise at each import."""

QUERIES_PER_PACKAGE = 50
WORDS = range(5, 21)
"""Words a query may have."""
SHORTEST = 40
"""Words a document has at least, for its function to be asked for."""

_SECTION = re.compile(r"^([A-Z][A-Za-z ]+)\n-{3,}\n", re.MULTILINE)
_SENTENCE = re.compile(r"(.+?[.!?])(?:\s|$)(.*)", re.DOTALL)
_SIGNATURE = re.compile(r"[\w.]+\(.*\)\s*", re.DOTALL)
_NAME = re.compile(r"[A-Za-z_][\w.]*")
_ROLE = re.compile(r":\w+:`~?|`")


@dataclass(frozen=True)
class Function:
    """A public function, class or method.

    Attributes:
        name: dotted, as it is imported.
        package: it belongs to.
        target: first name that has the same docstring: itself, unless it is an alias.
        summary: first sentence of its docstring.
        text: the document.
        related: names of its section "See Also", as they stand there.
    """

    name: str
    package: str
    target: str
    summary: str
    text: str
    related: tuple[str, ...]


@dataclass(frozen=True)
class Query:
    """A question and the grades of what answers it.

    Attributes:
        query_id: says nothing of the answer.
        text: the first sentence of a function.
        package: of that function.
        grades: name → 2 where it is that function, 1 where that function names it under "See Also".
    """

    query_id: str
    text: str
    package: str
    grades: dict[str, int]


def functions() -> list[Function]:
    """Every public function that has a docstring, in the order of `PACKAGES`, then by name."""
    found, first = [], {}
    for holder in _holders():  # scipy adds to a docstring of numpy, so all are imported before any is read
        package = holder.partition(".")[0]
        for name, docstring in _documented(holder):
            target = first.setdefault(docstring, name)
            summary, text, related = _parts(name, docstring)
            found.append(Function(name, package, target, summary, text, related))
    return found


def queries(corpus: Sequence[Function], seed: int = 7) -> list[Query]:
    """As many functions of each package as are asked for, drawn, with their grades."""
    by_target = defaultdict(list)
    for one in corpus:
        by_target[one.target].append(one.name)
    asked = Counter(one.summary.lower() for one in corpus if one.name == one.target)
    known = {one.name: one.target for one in corpus}
    drawn = []
    for package in PACKAGES:
        fit = [
            one
            for one in corpus
            if one.package == package and _can_be_asked(one, asked) and _relatives(one, known)
        ]
        drawn += sorted(random.Random(seed).sample(fit, QUERIES_PER_PACKAGE), key=lambda one: one.name)  # noqa: S311 a fixed draw
    random.Random(seed).shuffle(drawn)  # noqa: S311 a fixed draw
    return [
        Query(f"q{at:03d}", one.summary, one.package, _grades(one, known, by_target))
        for at, one in enumerate(drawn, 1)
    ]


def _holders() -> list[str]:
    """Every module and class that is looked into, imported."""
    names = [f"{package}.{place}".rstrip(".") for package, places in PACKAGES.items() for place in places]
    for name in names:
        _found(name)
    return names


def _documented(holder: str) -> Iterator[tuple[str, str]]:
    """Name and docstring of all that is public in a module or class."""
    for own, found in _public(_found(holder)):
        docstring, name = inspect.getdoc(found), f"{holder}.{own}"
        if docstring and callable(found) and not inspect.ismodule(found) and name not in UNSTEADY:
            yield name, docstring


def _found(dotted: str) -> Any:  # noqa: ANN401 a module or a class
    """What a dotted name stands for."""
    try:
        return importlib.import_module(dotted)
    except ModuleNotFoundError:
        holder, _, name = dotted.rpartition(".")
        return getattr(_found(holder), name)


def _public(holder: Any) -> Iterator[tuple[str, Any]]:  # noqa: ANN401 a module or a class
    """Public names of a module or class, sorted, and what they stand for."""
    listed = getattr(holder, "__all__", None) if isinstance(holder, ModuleType) else None
    for name in sorted(set(listed or dir(holder))):
        if not name.startswith("_"):
            try:
                yield name, getattr(holder, name)
            except (AttributeError, ImportError):
                continue  # experimental names ask for an import of their own


def _parts(name: str, docstring: str) -> tuple[str, str, tuple[str, ...]]:
    """Summary, document and the names under "See Also"."""
    head, *sections = _SECTION.split(docstring)
    paragraphs = [part for part in re.split(r"\n\s*\n", head) if not _SIGNATURE.fullmatch(part)]
    first = " ".join(paragraphs[0].split()) if paragraphs else ""
    summary, rest = found.groups() if (found := _SENTENCE.match(first)) else (first, "")
    named = dict(zip(sections[::2], sections[1::2], strict=True))
    related = _names(named.pop("See Also", ""))
    body = [rest, *paragraphs[1:], *(f"{title}\n{text}" for title, text in named.items())]
    return summary, "\n".join([re.sub(r"[._]+", " ", name), *body]), related


def _names(section: str) -> tuple[str, ...]:
    """The names a section "See Also" lists: at the beginning of its lines, before a colon."""
    lines = (re.split(r"\s:(?:\s|$)", _ROLE.sub("", line))[0] for line in section.splitlines())
    return tuple(
        name
        for line in lines
        if line[:1].strip()
        for part in line.split(",")
        if _NAME.fullmatch(name := part.strip())
    )


def _can_be_asked(one: Function, asked: Counter[str]) -> bool:
    """Whether a function's summary is a question that only this function and its aliases answer."""
    return (
        one.name == one.target
        and len(one.summary.split()) in WORDS
        and asked[one.summary.lower()] == 1
        and len(one.text.split()) >= SHORTEST
    )


def _relatives(one: Function, known: dict[str, str]) -> list[str]:
    """Functions of the corpus that a function names under "See Also", without itself."""
    found = [_resolved(name, one.name, known) for name in one.related]
    return [name for name in dict.fromkeys(found) if name and known[name] != one.target]


def _resolved(name: str, beside: str, known: dict[str, str]) -> str | None:
    """The function meant by a name, looked for beside the one that names it and then further up."""
    name = re.sub(r"^np\.", "numpy.", name)
    holder = beside
    while holder:
        holder = holder.rpartition(".")[0]
        if (full := f"{holder}.{name}".lstrip(".")) in known:
            return full
    return None


def _grades(one: Function, known: dict[str, str], by_target: dict[str, list[str]]) -> dict[str, int]:
    """2 for a function under each of its names, 1 for its relatives under each of theirs."""
    related = {alias: 1 for name in _relatives(one, known) for alias in by_target[known[name]]}
    return related | dict.fromkeys(by_target[one.target], 2)
