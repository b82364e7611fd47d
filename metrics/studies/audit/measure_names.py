"""Published names of measures, such as ndcg_cut_10, NDCG@10 or ndcg_at_10, read as ours."""

import re
from functools import cache

from metrics.errors import UsageError
from metrics.measures import MEASURES, parse

_OTHER_NAMES = {
    "meanreciprocalrank": "RR",
    "reciprankcut": "RR",
    "mrrcut": "RR",
    "meanaverageprecision": "AP",
    "averageprec": "AP",
    "mapcut": "AP",
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
"""Names, without what stands between their words, that other software has for our measures."""
_CUT = re.compile(r"(.*?)(?:[\s_.@-]*(?:at|@)?[\s_.@-]*)(\d{1,9})", re.DOTALL)
_ASIDE = re.compile(r"\((?:rel|judged_only|dcg|gains)\s*=[^()]*\)|\(%\)|[%↑↓]", re.IGNORECASE)
_BESIDE = re.compile(r"\([^()]*\)|\[[^\[\]]*\]|(?:±|\+/-).*", re.DOTALL)
_THOUSANDS = re.compile(r"(?<=\d)k$", re.IGNORECASE)
_DERIVED = {
    *("std", "sd", "stdev", "stddev", "stderr", "se", "sem", "σ", "ci", "var", "variance", "p", "p-value"),
    *("δ", "delta", "diff", "difference", "change", "gain", "improvement", "rank"),
}
"""Words, in small letters, of what is computed from values of a measure; a P is precision."""
_WITHIN_NAMES = re.compile(r"reciprocal\s+rank|rank[\s-]+biased|cumulative\s+gain", re.IGNORECASE)
"""Where such words are part of a measure's name."""
_MAX_NAME = 200
"""Letters of a name that are looked at."""


@cache
def our_measure(published: str) -> str:
    """Return our measure that a published name means, such as nDCG@10; empty where none does.

    A cut-off of AP stays as published, AP@1000, though `metrics.MEASURES` has none: past the end of all lists
    it is AP.
    """
    name = _THOUSANDS.sub("000", _ASIDE.sub("", published[:_MAX_NAME]).strip())
    if measure := _exactly(name):
        return measure
    base, k = _base(name), ""
    if base not in _bases() and (match := _CUT.fullmatch(name)):
        base, k = _base(match[1]), str(int(match[2]))
    measure = _bases().get(base, "")
    if measure == "AP" and k:
        return f"AP@{k}"
    return _exactly(f"{measure}@{k}" if k else measure) if measure else ""


@cache
def is_bounded(published: str) -> bool:
    """Return whether a measure has values up to 1; what is not known may."""
    ours = our_measure(published)
    return not ours or ours.startswith("AP") or parse(ours).measure.largest == 1


def is_measure_of(published: str, family: str) -> bool:
    """Return whether a published name is of the measure that another one means: NDCG@10 is of ndcg."""
    return _bases().get(_base(family), "?") == our_measure(published).partition("@")[0]


@cache
def measures_within(published: str) -> tuple[str, ...]:
    """Return our measures that single words of a published name mean: `DL19 nDCG@10` holds nDCG@10.

    What another word says to be a deviation, a difference or a rank is of none: `nDCG@10 std`. In brackets or
    after ±, it says what stands beside the value.
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
    """Return every name of a measure, in small letters and without what stands between its words → ours."""
    ours = {_base(name): measure.name for measure in MEASURES for name in measure.names}
    return ours | _OTHER_NAMES
