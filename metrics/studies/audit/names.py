"""Match published names of measures and rerankers with ours."""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import PurePosixPath

import pandas as pd

from metrics.errors import UsageError
from metrics.measures import MEASURES, parse
from metrics.runs import Runs
from metrics.runs.files import File
from metrics.studies.audit.published_table import PublishedTable
from metrics.support.cached import cached_property
from metrics.support.wording import first_names, quote

_OTHER_NAMES = {
    "meanreciprocalrank": "RR",
    "reciprankcut": "RR",
    "mrrcut": "RR",
    "meanaverageprecision": "AP",
    "averageprec": "AP",
    "ndcgcut": "nDCG",
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
_DERIVED = {
    *("std", "sd", "stdev", "stddev", "stderr", "se", "sem", "σ", "ci", "var", "variance", "p", "p-value"),
    *("δ", "delta", "diff", "difference", "change", "gain", "improvement", "rank"),
}
"""Lower-case words for statistics derived from a measure; a capital P is precision."""
_WITHIN_NAMES = re.compile(r"reciprocal\s+rank|rank[\s-]+biased|cumulative\s+gain", re.IGNORECASE)
"""Names of measures that contain such words."""
_MAX_CACHED = 2**14
_MAX_NAME = 200
"""Most letters of a name that are matched."""


@lru_cache(_MAX_CACHED)
def our_measure(published: str) -> str:
    """Return our measure for a published name, such as nDCG@10, or ""."""
    name = _THOUSANDS.sub("000", _ASIDE.sub("", published[:_MAX_NAME]).strip())
    if measure := _exactly(name):
        return measure
    base, k = _base(name), ""
    if base not in _bases() and (match := _CUT.fullmatch(name)):
        base, k = _base(match[1]), str(int(match[2]))
    measure = _bases().get(base, "")
    return _exactly(f"{measure}@{k}" if k else measure) if measure else ""


@lru_cache(_MAX_CACHED)
def is_bounded(published: str) -> bool:
    """Return whether the values of a measure are at most 1; unknown measures count as such."""
    ours = our_measure(published)
    return not ours or parse(ours).measure.largest == 1


def is_measure_of(published: str, family: str) -> bool:
    """Return whether a published name is of this measure family: NDCG@10 is of ndcg."""
    return _bases().get(_base(family), "?") == our_measure(published).partition("@")[0]


@lru_cache(_MAX_CACHED)
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


def has_measure(published: str) -> bool:
    """Return whether a published name is one of our measures or has one in its words."""
    return bool(our_measure(published) or measures_within(published))


def _exactly(name: str) -> str:
    try:
        measure = parse(name)
    except UsageError:
        return ""
    if measure.measure.geometric:  # an audit reproduces arithmetic means
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

    @cached_property
    def _matches(self) -> tuple[dict[str, str], dict[str, str]]:
        tables = (self.rerankers, self.measures)
        rerankers, measures = (dict(zip(t["published"], t["matched"], strict=True)) for t in tables)
        return rerankers, measures

    def reranker(self, published: str) -> str:
        """Return our reranker for a published name, or ""."""
        return self._matches[0].get(published, "")

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
        return self._matches[1].get(published, "")


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
    tags = {name: origin.tag for name, origin in runs.origins.items()}
    counts = Counter(tags.values())
    return {name: (tag,) for name, tag in tags.items() if tag and counts[tag] == 1}


def _match_by_hand(
    published: Sequence[str], rerankers: Sequence[str], by_hand: Mapping[str, str]
) -> dict[str, Match]:
    rows: dict[str, Match] = {}
    for name in filter(by_hand.__contains__, published):
        ours = by_hand[name]
        if ours and ours not in rerankers:
            names = first_names([quote(other) for other in rerankers], 12)
            raise UsageError(f"{quote(ours)} is not a reranker of the runs. Rerankers: {names}.")
        twins = [other for other, (match, *_) in rows.items() if ours and match == ours]
        if twins:
            raise UsageError(
                f"{quote(twins[0])} and {quote(name)} are both matched to {quote(ours)} by hand. "
                "Match one and leave the other out."
            )
        rows[name] = (ours, "by hand" if ours else "", ())
    return rows


def _match_rerankers(
    published: PublishedTable,
    rerankers: Sequence[str],
    by_hand: Mapping[str, str],
    tags: Mapping[str, Sequence[str]],
) -> pd.DataFrame:
    rows = _match_by_hand(published.rerankers, rerankers, by_hand)
    *certain, last = _LIKENESS
    no_tags: Mapping[str, Sequence[str]] = {}
    ways = [(*way, no_tags) for way in certain]
    ways += [*(("alike", key, tags) for _, key in certain), (*last, no_tags)]
    for likeness, key, own_tags in ways:
        taken = {match for match, *_ in rows.values()}
        ours = _by_key({name: (name, *own_tags.get(name, ())) for name in rerankers if name not in taken}, key)
        unmatched = [name for name in published.rerankers if name not in rows]
        texts = {name: (name, *published.other_names.get(name, ())) for name in unmatched}
        theirs = _by_key(texts, key)
        for name in unmatched:
            keys = [shape for shape in dict.fromkeys(map(key, texts[name])) if shape in ours]
            candidates = tuple(dict.fromkeys(match for shape in keys for match in ours[shape]))
            rivals = {rival for shape in keys for rival in theirs[shape]}
            if likeness and len(candidates) == 1 and rivals == {name}:
                rows[name] = (candidates[0], likeness, ())
            elif candidates:
                rows[name] = ("", "", candidates)
    matches = [(name, *rows.get(name, ("", "", ()))) for name in published.rerankers]
    return pd.DataFrame(matches, columns=list(COLUMNS))


def _by_key(texts: Mapping[str, Sequence[str]], key: Callable[[str], str]) -> dict[str, list[str]]:
    """Return key → names with a text of this key."""
    names: dict[str, list[str]] = {}
    for name, own_texts in texts.items():
        for shape in filter(None, dict.fromkeys(map(key, own_texts))):
            names.setdefault(shape, []).append(name)
    return names


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
    matched_measures = {matched for matched, how, _ in rows.values() if how}
    n_alike = Counter(candidates for *_, candidates in rows.values())
    for name, (_, likeness, candidates) in rows.items():
        is_only = likeness == "" and len(candidates) == n_alike[candidates] == 1
        if is_only and candidates[0] not in matched_measures:
            rows[name] = (candidates[0], "alike", ())
    return pd.DataFrame([(name, *rows[name]) for name in published], columns=list(COLUMNS))
