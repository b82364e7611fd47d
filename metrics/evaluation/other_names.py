"""What to use in place of a name from another tool."""

from difflib import get_close_matches

from metrics.measures import MEASURES

FUNCTIONS = {
    "RR": "reciprocal_rank(relevance, scores)",
    "Hits": "hits_at_k(relevance, scores, k)",
    "P": "precision_at_k(relevance, scores, k)",
    "R": "recall_at_k(relevance, scores, k)",
    "F1": "f1_at_k(relevance, scores, k)",
    "AP": "average_precision(relevance, scores)",
    "nDCG": "ndcg(relevance, scores, k)",
    "nDCG-linear": "ndcg(relevance, scores, k, gain='linear')",
    "TsRR": "tsrr(relevance, scores)",
    "taRR": "tarr(relevance, scores)",
}
"""Measure → the function of one plain list."""

_EVALUATE = "metrics.evaluate(runs, measures, qrels=qrels), or metrics.score(frame, measures) for a data frame"
_READ = "metrics.read_runs(runs, qrels), of files, data frames or dictionaries {query: {document: score}}"
_OTHER_TOOLS = {
    "evaluaterun": _EVALUATE,
    "evaluateruns": _EVALUATE,
    "relevanceevaluator": _EVALUATE,
    "calcaggregate": _EVALUATE,
    "itercalc": _EVALUATE,
    "evaluator": _EVALUATE,
    "experiment": _EVALUATE,
    "scores": _EVALUATE,
    "qrels": _READ,
    "run": _READ,
    "readqrels": _READ,
    "readrun": _READ,
    "readtrec": _READ,
    "readcsv": "metrics.read_table(path), or metrics.read_runs(paths, qrels)",
    "compare": "metrics.studies.pairs, or tiescope compare",
}
_ENDINGS = ("score", "atk", "cut", "k", "s")
_BEGINNINGS = ("mean", "tied", "expected")


def advice(name: str, public_names: list[str]) -> str:
    """Return a hint on what to use in place of a name; empty where no public name is similar."""
    plain = "".join(filter(str.isalnum, name)).casefold()
    measure = next((measure for spelling in _spellings(plain) if (measure := _measures().get(spelling))), "")
    if measure:
        one_list = f"metrics.{FUNCTIONS[measure]} for one list, " if measure in FUNCTIONS else ""
        cutoff = (
            "@10" if any(record.name == measure and record.cutoff == "required" for record in MEASURES) else ""
        )
        return f": use {one_list}metrics.score(frame, {measure + cutoff!r}) for a data frame of many lists"
    if plain in _OTHER_TOOLS:
        return f": use {_OTHER_TOOLS[plain]}"
    close = get_close_matches(name, public_names, n=1)
    return f": did you mean {close[0]}?" if close else ""


def _measures() -> dict[str, str]:
    """Return the letters and digits of each name, alias or function → name of the measure."""
    spellings = [(alias, measure.name) for measure in MEASURES for alias in measure.names]
    spellings += [(call.split("(")[0], measure) for measure, call in FUNCTIONS.items()]
    return {"".join(filter(str.isalnum, alias)).casefold(): measure for alias, measure in reversed(spellings)}


def _spellings(plain: str) -> list[str]:
    """Return the name with and without a cut-off and words such as mean or score."""
    names = [plain, plain.rstrip("0123456789")]
    names += [name.removesuffix("at") for name in names]
    names += [name.removesuffix(ending) for name in names for ending in _ENDINGS]
    return names + [name.removeprefix(beginning) for name in names for beginning in _BEGINNINGS]
