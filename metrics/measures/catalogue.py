"""All measures, and parsing of their names."""

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np

from metrics.errors import UsageError
from metrics.measures import additive as add
from metrics.measures import own_rules as own
from metrics.measures.average_precision import average_precision, capped_average_precision
from metrics.measures.bpref import bpref
from metrics.measures.cascade import expected_reciprocal_rank
from metrics.measures.first_hit import first_hit
from metrics.measures.model import Measure, MeasureAt
from metrics.measures.targets import distinct_recall, distinct_targets

_TIES = "ties: McSherry & Najork, ECIR 2008"
_DCG = "Järvelin & Kekäläinen, TOIS 2002; gain 2^grade - 1: Burges et al., ICML 2005"
_TSRR = "github.com/McGill-DMaS/TsRR"

MEASURES: tuple[Measure, ...] = (
    Measure(
        name="RR",
        family=first_hit(lambda rank: 1 / rank),
        cutoff="optional",
        traditional="MRR",
        tied="MTRR",
        aliases=("ReciprocalRank", "recip_rank"),
        summary="One over the rank of the first relevant document.",
        source=f"Voorhees, TREC-8 QA track report, 1999; {_TIES}",
        term=r"$f(x)=\frac{1}{x}$",
    ),
    Measure(
        name="Hits",
        family=first_hit(np.ones_like),
        cutoff="required",
        tied="TMHits",
        aliases=("Hit", "Success", "HitRate", "hit_rate", "Accuracy"),
        summary="1 if a relevant document is among the first k, else 0.",
        source=f"{_TIES}; TMHits: arXiv 2405.18414",
        term=r"$f(x)=1$, which gives $1-\binom{n-r}{m}\big/\binom{n}{m}$",
    ),
    Measure(
        name="AP",
        family=average_precision,
        cutoff="optional",
        traditional="MAP",
        tied="tied MAP",
        aliases=("AveragePrecision", "map_cut"),
        summary="Precision at each relevant document, averaged over all relevant documents.",
        source=f"Buckley & Voorhees, SIGIR 2000; {_TIES}",
        term=r"$D=R$",
    ),
    Measure(
        name="gm_map",
        family=average_precision,
        cutoff="none",
        aliases=("GMAP", "gm_ap"),
        summary="AP, whose mean over queries is geometric: AP below 0.00001 counts as 0.00001. Differences and "
        "tests of two rerankers use the AP of each query.",
        source=f"Robertson, CIKM 2006; as trec_eval 9; {_TIES}",
        geometric=True,
        term=r"$D=R$",
    ),
    Measure(
        name="AP-cap",
        family=capped_average_precision,
        cutoff="required",
        traditional="MAP-cap",
        tied="tied MAP-cap",
        summary="AP@k divided by the smaller of k and the number of relevant documents: 1 if the first k "
        "documents are all relevant.",
        source=f"as InformationRetrievalEvaluator of sentence-transformers computes its map@k; {_TIES}",
        term=r"$D=\min(R,k)$",
    ),
    Measure(
        name="bpref",
        family=bpref,
        cutoff="none",
        aliases=("BinaryPreference",),
        summary="Penalises each document judged irrelevant that ranks above a relevant document. Unjudged "
        "documents are ignored.",
        source="Buckley & Voorhees, SIGIR 2004; as trec_eval 9 computes it",
    ),
    Measure(
        name="ERR",
        family=expected_reciprocal_rank,
        cutoff="optional",
        aliases=("ExpectedReciprocalRank",),
        summary="Expected value of 1/rank for the rank at which a reader stops. A reader who reaches a "
        "document stops there with probability (2^grade - 1)/16; grades go up to 4.",
        source="Chapelle et al., CIKM 2009; highest grade: gdeval of TREC's web track",
    ),
    Measure(
        name="nDCG",
        family=add.normalised_gain(),
        cutoff="optional",
        aliases=("nDCG-exp", "ndcg_burges"),
        summary="Sum of the gains 2^grade - 1, discounted by rank, divided by this sum for the ideal order of "
        "all judged documents.",
        source=f"{_DCG}; {_TIES}",
        term=r"$g=2^{\mathrm{grade}}-1$, $w=\frac{1}{\log_2(i+1)}$, divided by the ideal DCG",
    ),
    Measure(
        name="nDCG-linear",
        family=add.of_grades(add.linear, add.per_ideal(add.linear)),
        cutoff="optional",
        aliases=("ndcg_cut", "nDCG-lin"),
        summary="nDCG whose gain is the grade itself, as in trec_eval's ndcg_cut.",
        source=f"Järvelin & Kekäläinen, TOIS 2002; {_TIES}",
        term=r"$g=\mathrm{grade}$, $w=\frac{1}{\log_2(i+1)}$, divided by the ideal DCG",
    ),
    Measure(
        name="DCG",
        family=add.of_grades(add.exponential),
        cutoff="optional",
        summary="Gain 2^grade - 1, discounted by rank; it has no upper bound.",
        source=f"{_DCG}; {_TIES}",
        largest=None,
        term=r"$g=2^{\mathrm{grade}}-1$, $w=\frac{1}{\log_2(i+1)}$",
    ),
    Measure(
        name="P",
        family=add.additive(add.relevant, scale=add.per_k),
        cutoff="required",
        aliases=("Precision",),
        summary="Share of the first k documents that are relevant.",
        source=f"Kent et al., 1955; {_TIES}",
        term=r"$g=\mathrm{rel}$, $w=\frac{1}{k}$",
    ),
    Measure(
        name="R",
        family=add.additive(add.relevant, scale=add.per_relevant),
        cutoff="required",
        aliases=("Recall",),
        summary="Share of all relevant documents that are among the first k.",
        source=f"Kent et al., 1955; {_TIES}",
        term=r"$g=\mathrm{rel}$, $w=\frac{1}{R}$",
    ),
    Measure(
        name="R-cap",
        family=add.additive(add.relevant, scale=add.per_capped),
        cutoff="required",
        aliases=("R_cap", "recall_cap", "capped_recall"),
        summary="Relevant documents among the first k, divided by the smaller of k and the number of relevant "
        "documents.",
        source=f"as recall_cap of BEIR; {_TIES}",
        term=r"$g=\mathrm{rel}$, $w=\frac{1}{\min(R,k)}$",
    ),
    Measure(
        name="F1",
        family=add.additive(add.relevant, scale=add.f1),
        cutoff="required",
        aliases=("F", "F1-score"),
        summary="Harmonic mean of P@k and R@k.",
        source=f"van Rijsbergen, 1979; {_TIES}",
        term=r"$g=\mathrm{rel}$, $w=\frac{2}{k+R}$",
    ),
    Measure(
        name="Rprec",
        family=add.additive(
            add.relevant, scale=add.per_relevant, cut=lambda groups: groups.n_relevant.astype(np.float64)
        ),
        cutoff="none",
        aliases=("R-precision",),
        summary="Precision at rank R, where R is the number of relevant documents.",
        source=f"Buckley & Voorhees, SIGIR 2000; {_TIES}",
        term=r"$g=\mathrm{rel}$, $w=\frac{1}{R}$, $k=R$",
    ),
    Measure(
        name="RBP",
        family=add.additive(add.relevant, add.persistent),
        cutoff="none",
        summary="Sum of the probabilities that a reader reaches each relevant document, multiplied by 1 - p. "
        "The reader continues to the next document with probability p.",
        source=f"Moffat & Zobel, TOIS 2008; {_TIES}",
        parameter=0.8,
        term=r"$g=\mathrm{rel}$, $w=(1-p)\,p^{\,i-1}$",
    ),
    Measure(
        name="Judged",
        family=add.additive(add.judged, scale=add.per_k, counts_all=True),
        cutoff="required",
        summary="Share of the first k documents that are judged.",
        source=f"as P@k; {_TIES}",
        term=r"$g=1$ if judged, $w=\frac{1}{k}$",
    ),
    Measure(
        name="Hole",
        family=add.unjudged(),
        cutoff="required",
        summary="Share of the first k ranks that hold an unjudged document. A lower value is better.",
        source=f"as hole of BEIR, with the judgments of each query; {_TIES}",
        term=r"$g=1$ if unjudged, $w=\frac{1}{k}$",
    ),
    Measure(
        name="set_P",
        family=add.additive(add.relevant, scale=add.per_listed),
        cutoff="none",
        aliases=("SetP",),
        summary="Share of all listed documents that are relevant. No order changes it.",
        source="Kent et al., 1955; as trec_eval 9",
        term=r"$g=\mathrm{rel}$, $w=\frac{1}{n}$, $n$ the documents of the list",
    ),
    Measure(
        name="set_R",
        family=add.additive(add.relevant, scale=add.per_relevant),
        cutoff="none",
        aliases=("set_recall", "SetR"),
        summary="Share of all relevant documents that are listed. No order changes it.",
        source="Kent et al., 1955; as trec_eval 9",
        term=r"$g=\mathrm{rel}$, $w=\frac{1}{R}$",
    ),
    Measure(
        name="set_F",
        family=add.additive(add.relevant, scale=add.f1_of_set),
        cutoff="none",
        aliases=("SetF",),
        summary="Harmonic mean of set_P and set_R. No order changes it.",
        source="van Rijsbergen, 1979; as trec_eval 9",
        term=r"$g=\mathrm{rel}$, $w=\frac{2}{n+R}$",
    ),
    Measure(
        name="num_ret",
        family=add.number(lambda groups: groups.n_docs),
        cutoff="none",
        aliases=("NumRet",),
        summary="Number of listed documents. trec_eval prints the sum over queries, TieScope the mean.",
        source="trec_eval 9",
        term=r"$g=1$, $w=1$",
        largest=None,
    ),
    Measure(
        name="num_rel",
        family=add.number(lambda groups: groups.n_relevant),
        cutoff="none",
        aliases=("NumRel",),
        summary="Number of relevant documents of the query. trec_eval prints the sum over queries, TieScope "
        "the mean.",
        source="trec_eval 9",
        term=r"$R$, whatever the order",
        largest=None,
    ),
    Measure(
        name="DR",
        family=distinct_recall,
        cutoff="required",
        aliases=("DistinctRecall",),
        summary="Share of all targets that the first k documents cover.",
        source="Clarke et al., SIGIR 2008 (novelty); ties: hypergeometric, per target",
        term=r"$\mathbb{E}\,/\,T$, $\sigma\,/\,T$",
    ),
    Measure(
        name="Div",
        family=distinct_targets,
        cutoff="required",
        aliases=("Diversity",),
        summary="Number of distinct targets that the first k documents cover.",
        source="as DR@k, not divided",
        largest=None,
        term=r"$\mathbb{E}$, $\sigma$",
    ),
    Measure(
        name="taRR",
        family=own.tie_aware_rr,
        cutoff="none",
        answers="RR",
        aliases=("ta-RR",),
        summary="One over the expected rank of the first relevant document.",
        source=f"tie-aware RR (ta-RR), as in the README of TsRR: {_TSRR}",
    ),
    Measure(
        name="TsRR",
        family=own.tie_sensitive_rr,
        cutoff="none",
        answers="RR",
        summary="Reciprocal rank, closer to the worst case the larger the share of the list's irrelevant "
        "documents in the tie.",
        source=f"Tie-sensitive Reciprocal Rank, McGill DMaS: {_TSRR}",
    ),
    Measure(
        name="PRR",
        family=own.pessimistic_rr,
        cutoff="none",
        answers="RR",
        aliases=("PessimisticRR",),
        summary="Reciprocal rank if relevant documents are last in their tie.",
        source=f"pessimistic RR (PRR), as in the README of TsRR: {_TSRR}",
    ),
    Measure(
        name="GRAG-RR",
        family=own.grag_rr,
        cutoff="none",
        answers="RR",
        summary="For each relevant document, one over the mean rank of its tie; averaged over all relevant "
        "documents.",
        source="arXiv 2405.18414, eq. 11",
    ),
    Measure(
        name="GRAG-Hits",
        family=own.grag_hits,
        cutoff="required",
        answers="Hits",
        summary="For each relevant document, the share of its tie that is within the first k; averaged over "
        "all relevant documents.",
        source="arXiv 2405.18414, eq. 12, as described in the paper's text",
    ),
)
"""All measures."""

_DIGITS = 9
_PATTERN = re.compile(
    r"\s*((?i:tied)\s)?([^\W\d][\w-]*?)(?:\((?:p=)?(-?[0-9]{0,3}\.?[0-9]{1,12})\))?(?:@([0-9]+(?:\.[0-9]{1,12})?))?\s*"
)
"""The word "tied", name, parameter, and cut-off."""
_GAINS = re.compile(
    r"\s*nDCG\(gains=(\d[\d.]*:\d[\d.]*(?:,\d[\d.]*:\d[\d.]*)*)\)(?:@([1-9]\d{0,8}))?\s*", re.ASCII
)
"""Gains by grade, and cut-off."""
_SPELLINGS = (
    (r"(p|recall|success|map_cut|ndcg_cut)[_.](\d+)", r"\1@\2"),  # trec_eval
    (r"ndcg_at_(\d+)", r"nDCG-linear@\1"),  # MTEB
    (r"(map|mrr|recall|precision|hit_rate)_at_(\d+)", r"\1@\2"),
    (r"rbp(\.\d+)", r"RBP(\1)"),  # ranx
    (r"nDCG(?:-linear)?\(dcg='log2'\)(@\d+)?", r"nDCG-linear\1"),  # ir_measures
    (r"nDCG\(dcg='exp-log2'\)(@\d+)?", r"nDCG\1"),
)
"""Names with a cut-off or parameter in other tools → the same measure in ours."""


class _UnknownMeasureError(UsageError):
    """A name that is not a measure; similar names are searched only for its message."""

    def __str__(self) -> str:
        name = str(self.args[0])
        return f"There is no measure {name[:40]!r}. {_suggestion(name)}"


def parse(text: object) -> MeasureAt:
    """Return the measure of a name: `RR`, `MRR@10`, `RBP(0.8)`, `tied nDCG@10`.

    Names that only other tools have mean the same as there: `ndcg_cut_10` of trec_eval is `nDCG-linear@10`, and
    so is the object `ir_measures.nDCG @ 10`. `nDCG` is the one name whose case counts: `NDCG@10` of BEIR and
    `ndcg@10` of ranx are nDCG-linear, but others write the same for the gain 2^grade - 1.

    Raises:
        UsageError: the measure does not exist, cannot have this cut-off or parameter, or may have two gains.
    """
    is_of_ir_measures = type(text).__module__.partition(".")[0] == "ir_measures"
    return _parse(str(text), MEASURES, is_of_ir_measures)


@lru_cache(maxsize=512)
def _parse(text: str, measures: tuple[Measure, ...], is_of_ir_measures: bool) -> MeasureAt:  # noqa: FBT001 a key
    text = _our_spelling(text, is_of_ir_measures=is_of_ir_measures)
    if match := _GAINS.fullmatch(text):
        return MeasureAt(_of_gains(match[1]), int(match[2]) if match[2] else None)
    _refuse_prime(text)
    match = _PATTERN.fullmatch(text)
    measure = _by_name(measures).get(match[2].casefold()) if match else None
    if match is None or measure is None or (match[1] and measure.family.own_rule):
        raise _UnknownMeasureError(text)
    if match[4] and "." in match[4]:
        raise UsageError(f"{text[:40]}: a cut-off is a whole number of documents, as in {measure.name}@10.")
    k, parameter = None, measure.parameter
    if match[4] is not None:
        digits = match[4].lstrip("0")
        if not 1 <= len(digits) <= _DIGITS:
            raise UsageError(f"{text[:40]}: a cut-off must be between 1 and {10**_DIGITS - 1:,}.")
        k = int(digits)
    _check_gain(text, match[2], k)
    if k is None and measure.cutoff == "required":
        raise UsageError(f"{text} needs a cut-off, such as {measure.name}@10.")
    if k is not None and measure.cutoff == "none":
        raise UsageError(f"{text}: {measure.name} takes no cut-off.")
    if match[3] is not None:
        parameter = float(match[3])
        if measure.parameter is None or not 0 < parameter < 1:
            raise UsageError(f"{text}: only RBP takes a parameter, between 0 and 1: RBP(0.8).")
    return MeasureAt(measure, k, parameter)


@lru_cache
def _of_gains(text: str) -> Measure:
    """Return nDCG with the gains of a text: `0:0,1:1,2:10`."""
    pairs = (pair.split(":") for pair in text.split(","))
    family = add.mapped_gain({float(grade): float(gain) for grade, gain in pairs})
    summary = "nDCG with a gain for each grade."
    return replace(
        _by_name(MEASURES)["ndcg"], name=f"nDCG(gains={text})", family=family, aliases=(), summary=summary
    )


def _refuse_prime(text: str) -> None:
    if text.rstrip("@.0123456789 ").endswith(("'", "\N{PRIME}", "\N{RIGHT SINGLE QUOTATION MARK}")):
        raise UsageError(
            f"{text[:40]}: the prime means that unjudged documents are left out, an option of all measures. "
            "Omit the prime and set unjudged='leave_out' (--unjudged leave_out)."
        )


def _check_gain(text: str, name: str, k: int | None) -> None:
    """Raise a UsageError for a spelling of nDCG that other tools use for another gain."""
    if name.casefold() == "ndcg" and name != "nDCG":
        ending = "" if k is None else f"@{k}"
        raise UsageError(
            f"{text.strip()[:40]} is the name of two measures. Write nDCG{ending} for the gain 2^grade - 1, or "
            f"nDCG-linear{ending} for the gain grade (trec_eval, BEIR, ranx)."
        )


def with_gains(names: Sequence[str]) -> list[str]:
    """Return names as they are shown together: `nDCG@10 (2^grade − 1)` beside `nDCG-linear`."""
    bases = [re.split(r"[\[(@]", name, maxsplit=1)[0] for name in names]
    return [
        f"{name} (2^grade − 1)" if f"{base}-linear" in bases else name
        for name, base in zip(names, bases, strict=True)
    ]


def question(measure: MeasureAt) -> MeasureAt:
    """Return the measure whose ties a measure resolves by its own rule, RR for TsRR; else itself."""
    answers = measure.measure.answers
    return replace(measure, measure=_by_name(MEASURES)[answers.casefold()]) if answers else measure


def side_by_side(measure: MeasureAt) -> tuple[MeasureAt, ...]:
    """Return the measure of `question`, then all measures that resolve its ties by their own rule.

    `RR`, `TsRR` and `PRR` all give RR, taRR, TsRR, PRR, GRAG-RR; most measures stand alone.
    """
    answered = question(measure)
    k_allowed = ("none", "optional") if measure.k is None else ("optional", "required")
    rules = (rule for rule in MEASURES if rule.answers == answered.measure.name and rule.cutoff in k_allowed)
    return answered, *(MeasureAt(rule, measure.k) for rule in rules)


def _our_spelling(text: str, *, is_of_ir_measures: bool) -> str:
    if not is_of_ir_measures and text.partition("@")[0].casefold() in _by_name(MEASURES):
        return text
    if is_of_ir_measures:
        text = re.sub("^nDCG(?!.*exp-log2)", "nDCG-linear", text)
    for theirs, ours in _SPELLINGS:
        if match := re.fullmatch(theirs, text.strip(), re.ASCII | re.IGNORECASE):
            return match.expand(ours)
    return text


@lru_cache(maxsize=1)
def _by_name(measures: tuple[Measure, ...]) -> dict[str, Measure]:
    """Return lower-case name, alias or name of a mean → measure."""
    return {name.casefold(): measure for measure in measures for name in measure.names}


def _is_variant(name: str, known: str) -> bool:
    """Return whether one name is the other with more letters: `gm_map` is not `map`, and `MR` is not `MRR`."""
    short, long = sorted((name, known), key=len)
    more = long.removeprefix(short) if long.startswith(short) else long.removesuffix(short)
    is_typo = len(short) > 2 and (more == short[-1] or (len(more) == 1 and len(short) > 3))  # noqa: PLR2004
    return name != known and more != long and not is_typo


def _suggestion(text: str) -> str:
    from difflib import get_close_matches  # noqa: PLC0415 only for misspelt names

    if re.match(r"\s*(infap|iprec|alpha.?ndcg)", text, re.IGNORECASE):
        return "The package ir_measures computes it."
    if "rel=" in text or "judged_only=" in text:
        return (
            "Omit the brackets. Instead of rel, set relevant_from (--relevant-from). Instead of judged_only, "
            "set unjudged='leave_out' (--unjudged leave_out)."
        )
    names = _by_name(MEASURES)
    name = text.strip().casefold()[:40].removeprefix("tied ")
    base, digits, _ = re.split(r"(?:@|_at_|[_.])?([0-9]*)\Z", name, maxsplit=1)
    similar = [known for known in names if not _is_variant(base, known)]
    if close := get_close_matches(base, similar, n=1, cutoff=0.75):
        measure = names[close[0]]
        k = {"none": "", "optional": digits, "required": digits or "k"}[measure.cutoff]
        return f"Did you mean {measure.name}{k and f'@{k}'}?"
    return f"Measures: {', '.join(m.name + ('@k' if m.cutoff == 'required' else '') for m in MEASURES)}."
