"""Match published names of measures and rerankers with ours."""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import PurePosixPath

import pandas as pd

from metrics.errors import UsageError
from metrics.measures import MEASURES, parse
from metrics.runs import Runs
from metrics.runs.files import File
from metrics.studies.audit.published_table import PublishedTable
from metrics.support.wording import first_names, quote

_OTHER_NAMES = {
    "meanreciprocalrank": "RR",
    "reciprankcut": "RR",
    "mrrcut": "RR",
    "meanaverageprecision": "AP",
    "averageprec": "AP",
    "ndcgcut": "nDCG",
    "ndcgburges": "nDCG",
    "prec": "P",
    "precisionat": "P",
    "rec": "R",
    "hitsat": "Hits",
    "hitat": "Hits",
    "accuracy": "Hits",
    "successat": "Hits",
    "rprecision": "Rprec",
}
"""Names of our measures in other software, without separators."""
_CUT = re.compile(r"(.*?)(?:[\s_.@-]*(?:at|@)?[\s_.@-]*)(\d{1,9})", re.DOTALL)
_ASIDE = re.compile(r"\((?:rel|judged_only|dcg|gains)\s*=[^()]*\)|\(%\)|[%↑↓]", re.IGNORECASE)
_BESIDE = re.compile(r"\([^()]*\)|\[[^\[\]]*\]|(?:±|\+/-).*", re.DOTALL)
_THOUSANDS = re.compile(r"(?<=\d)k$", re.IGNORECASE)
_RECALL = re.compile(r"iprec_at_recall[_.](\d\.\d+)")
_DERIVED = {
    *("std", "sd", "stdev", "stddev", "stderr", "se", "sem", "σ", "ci", "var", "variance", "p", "p-value"),
    *("δ", "delta", "diff", "difference", "change", "gain", "improvement", "rank"),
}
"""Lower-case words for statistics derived from a measure; a capital P is precision."""
_WITHIN_NAMES = re.compile(r"reciprocal\s+rank|rank[\s-]+biased|cumulative\s+gain", re.IGNORECASE)
"""Names of measures that contain such words."""
_MAX_NAME = 200
"""Most letters of a name that are matched."""


@cache
def our_measure(published: str) -> str:
    """Return our measure for a published name, such as nDCG@10, or ""."""
    name = _THOUSANDS.sub("000", _ASIDE.sub("", published[:_MAX_NAME]).strip())
    name = _RECALL.sub(r"IPrec@\1", name)
    if measure := _exactly(name):
        return measure
    base, k = _base(name), ""
    if base not in _bases() and (match := _CUT.fullmatch(name)):
        base, k = _base(match[1]), str(int(match[2]))
    measure = _bases().get(base, "")
    return _exactly(f"{measure}@{k}" if k else measure) if measure else ""


@cache
def is_bounded(published: str) -> bool:
    """Return whether the values of a measure are at most 1; unknown measures count as such."""
    ours = our_measure(published)
    return not ours or parse(ours).measure.largest == 1


def is_measure_of(published: str, family: str) -> bool:
    """Return whether a published name is of this measure family: NDCG@10 is of ndcg."""
    return _bases().get(_base(family), "?") == our_measure(published).partition("@")[0]


@cache
def measures_within(published: str) -> tuple[str, ...]:
    """Return our measures in the words of a published name: `DL19 nDCG@10` has nDCG@10.

    Names of deviations, differences or ranks have none, such as `nDCG@10 std`, unless that word is in brackets
    or after ±.
    """
    name = published[:_MAX_NAME]
    beside = _WITHIN_NAMES.sub(" ", _BESIDE.sub(" ", name)).split()
    if not _DERIVED.isdisjoint(word if word == "P" else word.casefold() for word in beside):
        return ()
    words = re.split(r"[\s/|:,()\[\]]+", name)
    return tuple(dict.fromkeys(measure for word in words if len(word) > 1 and (measure := our_measure(word))))


def _exactly(name: str) -> str:
    try:
        measure = parse(name)
    except UsageError:
        return ""
    is_named_gain = "lin" in name.casefold()
    return str(measure) if is_named_gain else str(measure).replace("nDCG-linear", "nDCG")


def _base(name: str) -> str:
    return "".join(letter for letter in name.casefold() if letter.isalnum())


@cache
def _bases() -> dict[str, str]:
    ours = {_base(name): measure.name for measure in MEASURES for name in measure.names}
    return ours | _OTHER_NAMES


Match = tuple[str, str, tuple[str, ...]]
"""Match of a published name: matched, how, candidates."""
COLUMNS = ("published", "matched", "how", "candidates")
_PREFIX = re.compile(r"(?:(?:input|output|run|summary|eval|results?)[\s._-](?=.))+")
_SIGNS = "+*'\N{RIGHT SINGLE QUOTATION MARK}\N{PRIME}"
"""Signs that can distinguish otherwise equal names."""
_ENDING = re.compile(r"\.(?:eval|out|summary|results?|output|treceval|te|md|tex)$")


@dataclass(frozen=True, eq=False)
class NameMatches:
    """Matches of published names with ours.

    Attributes:
        rerankers: one row per published reranker: published, matched (ours, or empty), how ("same", "alike",
            "by hand" or ""), candidates (similar names, if none was chosen).
        measures: the same columns for measures, such as nDCG@10; the gain depends on the convention.
        unpublished: rerankers of the runs without figures.
    """

    rerankers: pd.DataFrame
    measures: pd.DataFrame
    unpublished: tuple[str, ...] = ()

    def reranker(self, published: str) -> str:
        """Return our reranker for a published name, or ""."""
        return _matched(self.rerankers, published)

    @property
    def unmatched(self) -> str:
        """The published names without a match, with their candidates."""
        parts = []
        for noun, table in (("reranker", self.rerankers), ("measure", self.measures)):
            rows = table.loc[table["how"] == "", ["published", "candidates"]]
            texts = [
                quote(name) + (f" (alike: {', '.join(candidates)})" if candidates else "")
                for name, candidates in rows.itertuples(index=False)
            ]
            parts += [f"{noun}{'s' * (len(texts) > 1)} {first_names(texts, 5)}"] if texts else []
        return "; ".join(parts)

    def measure(self, published: str) -> str:
        """Return our measure for a published name, or ""."""
        return _matched(self.measures, published)


def match_names(published: PublishedTable, runs: Runs, by_hand: Mapping[str, str] | None = None) -> NameMatches:
    """Match the names of a published table with those of runs; uncertain names stay unmatched.

    `by_hand` maps published names to ours, or to "" to leave a name out. Rerankers match if their names are
    equal, or else equal without case, then without folders, suffixes and a prefix such as `input.`, then
    without punctuation, or by the tags of TREC runs. If several names are equally similar, or differ in a sign
    that can be part of a name (BM25 and BM25+), they are only reported as candidates.
    """
    choices = dict(by_hand or {})
    unknown = [name for name in choices if name not in {*published.rerankers, *published.measures}]
    if unknown:
        names = first_names([quote(name) for name in (*published.rerankers, *published.measures)], 12)
        raise UsageError(f"{quote(unknown[0])} is not in the published table. Names in it: {names}.")
    rerankers = _match_rerankers(published, runs.rerankers, choices, _own_tags(runs))
    matched = set(rerankers["matched"])
    return NameMatches(
        rerankers,
        _match_measures(published.measures, choices),
        tuple(name for name in runs.rerankers if name not in matched),
    )


def _own_tags(runs: Runs) -> dict[str, tuple[str, ...]]:
    """Return reranker → tag of its TREC run, if no other run has it."""
    tags = {name: runs.origins[name].tag for name in runs.rerankers if name in runs.origins}
    counts = Counter(tags.values())
    return {name: (tag,) for name, tag in tags.items() if tag and counts[tag] == 1}


def _match_rerankers(
    published: PublishedTable,
    rerankers: Sequence[str],
    by_hand: Mapping[str, str],
    tags: Mapping[str, Sequence[str]],
) -> pd.DataFrame:
    rows: dict[str, Match] = {}
    for name in published.rerankers:
        if name in by_hand:
            if by_hand[name] and by_hand[name] not in rerankers:
                candidates = first_names([quote(other) for other in rerankers], 12)
                raise UsageError(
                    f"{quote(by_hand[name])} is not a reranker of the runs. Rerankers: {candidates}."
                )
            twin = next((other for other, row in rows.items() if row[0] == by_hand[name] != ""), None)
            if twin is not None:
                raise UsageError(
                    f"{quote(twin)} and {quote(name)} are both matched to {quote(by_hand[name])} by hand. "
                    "Match one and leave the other out."
                )
            rows[name] = (by_hand[name], "by hand" if by_hand[name] else "", ())
    open_names = [name for name in published.rerankers if name not in rows]
    *certain, last = _LIKENESS
    ways: list[tuple[str, Callable[[str], str], Mapping[str, Sequence[str]]]] = [
        *((likeness, keys, {}) for likeness, keys in certain),
        *(("alike", keys, tags) for _, keys in certain),
        (*last, {}),
    ]
    for likeness, keys, own_tags in ways:
        free = [name for name in rerankers if name not in {match for match, *_ in rows.values()}]
        alike = _alike(open_names, free, published.other_names, keys, own_tags)
        rows |= {
            name: (candidates[0], likeness, ()) if likeness and is_certain else ("", "", tuple(candidates))
            for name, (candidates, is_certain) in alike.items()
        }
        open_names = [name for name in open_names if name not in rows]
    rows |= dict.fromkeys(open_names, ("", "", ()))
    return pd.DataFrame([(name, *rows[name]) for name in published.rerankers], columns=list(COLUMNS))


def _alike(
    published: Sequence[str],
    rerankers: Sequence[str],
    other_names: Mapping[str, Sequence[str]],
    key: Callable[[str], str],
    tags: Mapping[str, Sequence[str]],
) -> dict[str, tuple[list[str], bool]]:
    ours = _by_key(((text, name) for name in rerankers for text in (name, *tags.get(name, ()))), key)
    theirs = _by_key(((other, name) for name in published for other in (name, *other_names.get(name, ()))), key)
    alike = {}
    for name in published:
        keys = dict.fromkeys(map(key, (name, *other_names.get(name, ()))))
        candidates = list(dict.fromkeys(match for each in keys if each for match in ours.get(each, ())))
        rivals = {rival for each in keys if ours.get(each) for rival in theirs[each]}
        if candidates:
            alike[name] = candidates, len(candidates) == 1 and rivals == {name}
    return alike


def _by_key(names: Iterable[tuple[str, str]], key: Callable[[str], str]) -> dict[str, list[str]]:
    by_key: dict[str, list[str]] = {}
    for text, name in names:
        if (shape := key(text)) and name not in by_key.setdefault(shape, []):
            by_key[shape].append(name)
    return by_key


def _folded(name: str) -> str:
    return unicodedata.normalize("NFKC", name).casefold().strip()


def _file_name(name: str) -> str:
    text = PurePosixPath(_folded(name).replace("\\", "/").replace("__", "/")).name or name
    while (stem := _ENDING.sub("", File(text, b"").stem)) != text:  # bm25.run.eval.gz is bm25
        text = stem
    return _PREFIX.sub("", text, count=1)


def _with_signs(name: str) -> str:
    return "".join(letter for letter in _file_name(name) if letter.isalnum() or letter in _SIGNS)


def _letters(name: str) -> str:
    return "".join(filter(str.isalnum, _file_name(name)))


_LIKENESS: tuple[tuple[str, Callable[[str], str]], ...] = (
    ("same", str),
    ("alike", _folded),
    ("alike", _file_name),
    ("alike", _with_signs),
    ("", _letters),
)
"""Similarity of names → the part that must be equal, closest first; the last one does not suffice."""


def _match_measures(published: Sequence[str], by_hand: Mapping[str, str]) -> pd.DataFrame:
    rows: dict[str, Match] = {}
    for name in published:
        if name in by_hand:
            matched = str(parse(by_hand[name])) if by_hand[name] else ""
            rows[name] = (matched, "by hand" if matched else "", ())
        elif matched := our_measure(name):
            rows[name] = (matched, "same" if matched == name else "alike", ())
        else:
            rows[name] = ("", "", measures_within(name))
    for name, (_, likeness, candidates) in rows.items():
        if likeness == "" and len(candidates) == 1:
            is_matched = any(how and matched in candidates for matched, how, _ in rows.values())
            n_alike = sum(others == candidates for *_, others in rows.values())
            if not is_matched and n_alike == 1:
                rows[name] = (candidates[0], "alike", ())
    return pd.DataFrame([(name, *rows[name]) for name in published], columns=list(COLUMNS))


def _matched(table: pd.DataFrame, published: str) -> str:
    rows = table.loc[table["published"] == published, "matched"]
    return str(rows.iloc[0]) if len(rows) else ""
