"""All tools, with their rules for our measures."""

from dataclasses import replace

from metrics.studies import tool_rules as rules
from metrics.studies.tool_rules import Rule, Tool

_TREC = (
    "AP=map AP@k=map_cut_{k} Rprec=Rprec nDCG-linear=ndcg nDCG-linear@k=ndcg_cut_{k} P@k=P_{k} R@k=recall_{k}"
)
_TREC_EVAL = f"RR=recip_rank Hits@k=success_{{k}} bpref=bpref {_TREC}"
_BEIR = "AP@k=MAP@{k} nDCG-linear@k=NDCG@{k} P@k=P@{k} R@k=Recall@{k}"
_IR = (
    "RR=RR AP=AP AP@k=AP@{k} bpref=Bpref Rprec=Rprec nDCG-linear=nDCG "
    "nDCG-linear@k=nDCG@{k} P@k=P@{k} R@k=R@{k} Hits@k=Success@{k}"
)
_RANX = (
    "RR=mrr RR@k=mrr@{k} AP=map AP@k=map@{k} Rprec=r-precision nDCG=ndcg_burges nDCG@k=ndcg_burges@{k} "
    "nDCG-linear=ndcg nDCG-linear@k=ndcg@{k} P@k=precision@{k} R@k=recall@{k} Hits@k=hit_rate@{k}"
)
_IR_GAINS = "nDCG=nDCG(gains=2^grade-1) nDCG@k=nDCG(gains=2^grade-1)@{k}"
_SCIKIT = (
    "nDCG=ndcg_score(2**grade-1) nDCG@k=ndcg_score(2**grade-1,k={k}) nDCG-linear=ndcg_score "
    "nDCG-linear@k=ndcg_score(k={k})"
)
_RETRIEVAL = "RR@k=mrr@{k} AP-cap@k=map@{k} P@k=precision@{k} R@k=recall@{k} Hits@k=accuracy@{k}"
_NDCG = "nDCG@k=ndcg@{k} nDCG-linear@k=ndcg@{k}"
_TORCHMETRICS = (
    "RR=RetrievalMRR RR@k=RetrievalMRR(top_k={k}) AP=RetrievalMAP P@k=RetrievalPrecision(top_k={k}) "
    "R@k=RetrievalRecall(top_k={k})"
)

_IDS = "Ties are broken by descending document ID"
_IDS_32 = f"{_IDS}, and scores that are equal in 32 bits tie"
_LACKING = "judged queries missing from the run"
_LACKING_0, _LACKING_OUT = f"{_LACKING} count as 0", f"{_LACKING} are left out"
_DESC_ALL = Rule("docid_desc", f"{_IDS}; {_LACKING_0}.", refusals=(rules.NOT_WHOLE,), level="{name} -l{level}")
_DESC = replace(_DESC_ALL, why=f"{_IDS}; {_LACKING_OUT}.", missing="skip")
_DESC_STRICT = replace(_DESC, why=f"{_IDS}.", refusals=(rules.NOT_WHOLE, rules.LACKING))
_DESC_32 = replace(
    _DESC, why=f"{_IDS_32}; {_LACKING_OUT}.", precision="float32", level="{name}, relevance_level={level}"
)
_IR_DESC = replace(_DESC_32, why=f"{_IDS_32}; {_LACKING_0}.", missing="zero", level="{base}(rel={level}){cut}")
_IR_ASC = replace(
    _IR_DESC,
    treatment="docid_asc",
    precision="float64",
    why="With a cut-off, ir_measures uses another provider, which breaks ties by ascending document ID; "
    f"{_LACKING_0}.",
)
_FIXED_32 = replace(_DESC_32, level="")
_BEIR_32 = replace(_FIXED_32, view=(rules.drop_query_documents,), refusals=(rules.NOT_WHOLE, rules.EMPTIED))
_BEIR_LISTED = Rule(
    "input",
    f"Ties keep file order; {_LACKING_0}.",
    view=(rules.drop_query_documents,),
    refusals=(rules.NOT_WHOLE, rules.UNJUDGED),
)
_MTEB_32 = replace(_FIXED_32, refusals=(rules.NOT_WHOLE, rules.UNJUDGED))
_MTEB_RR = replace(_MTEB_32, why=f"{_IDS}; {_LACKING_OUT}.", precision="float64")
_RANX_LISTED = Rule(
    "input",
    f"Ties keep file order in lists of up to 15 documents; {_LACKING_0} (make_comparable=True).",
    refusals=(rules.NOT_WHOLE,),
    stable=15,
    level="{name}-l{level}",
)
_IDEAL = f"the ideal ranking contains only listed documents; {_LACKING_OUT}."
_SCIKIT_NDCG = Rule(
    "expected",
    f"Ties are averaged, but {_IDEAL}",
    view=(rules.keep_listed,),
    refusals=(rules.ONE_DOCUMENT, rules.NEGATIVE, rules.INFINITE),
)
_STEPS = "A tie counts as one step, so its relevant document counts as the last of the tie"
_SCIKIT_AP = Rule(
    "pessimistic",
    f"{_STEPS}; {_LACKING_OUT}.",
    view=(rules.keep_listed,),
    refusals=(rules.TWO_RELEVANT, rules.INFINITE),
    level="{name}",
)
_NO_ORDER = "Its sort is not stable, so tied documents have no fixed order"
_CROSS_NDCG = Rule(
    "expected",
    f"Ties are averaged, but relevance is binary and {_IDEAL}",
    precision="float32",
    view=(rules.keep_listed, rules.binarise),
    refusals=(rules.ONE_RELEVANT_ALONE, rules.INFINITE_32),
    level="{name}",
)
_CROSS_AP = replace(
    _CROSS_NDCG,
    treatment="pessimistic",
    why=f"{_STEPS}; {_LACKING_OUT}.",
    refusals=(*_CROSS_NDCG.refusals, rules.TWO_RELEVANT),
)
_CROSS_RR = replace(_CROSS_NDCG, treatment="input", why=f"{_NO_ORDER}; {_LACKING_OUT}.", stable=0)
_ONE_SIDED = "lists with only relevant or only non-relevant documents are left out"
_BI_NDCG = replace(
    _CROSS_NDCG,
    why=f"Ties are averaged, but relevance is binary, and {_ONE_SIDED}.",
    view=(rules.keep_listed, rules.keep_two_sided, rules.binarise),
    refusals=(rules.INFINITE_32,),
)
_BI_AP = replace(
    _BI_NDCG,
    treatment="pessimistic",
    why=f"{_STEPS}, and {_ONE_SIDED}.",
    refusals=(rules.INFINITE_32, rules.TWO_RELEVANT),
)
_BI_RR = replace(_BI_NDCG, treatment="input", why=f"{_NO_ORDER}, and {_ONE_SIDED}.", stable=0)
_ASC = Rule(
    "docid_asc",
    f"Ties are broken by ascending document ID; queries without relevant documents are left out, {_LACKING_0}.",
    precision="float32",
    empty="skip",
    view=(rules.binarise,),
    level="{name}",
)
_MEAN_RANK = Rule(
    "expected",
    "1 / (mean of best and worst rank) never exceeds the mean reciprocal rank.",
    precision="float32",
    view=(rules.keep_listed,),
    refusals=(rules.NOT_ONE_LISTED,),
    computed="GRAG-RR",
    level="{name}",
)
_TORCH_NDCG = replace(_SCIKIT_NDCG, precision="float32", refusals=(rules.NOT_WHOLE, rules.NEGATIVE))
_TORCH_TOP = Rule(
    "input",
    f"{_NO_ORDER}; {_LACKING_OUT}.",
    precision="float32",
    missing="skip",
    view=(rules.keep_listed,),
    stable=0,
    level="{name}",
)

TOOLS: tuple[Tool, ...] = (
    Tool("trec_eval", "9.0.8", "64-bit scores, ties by descending document ID; ranks in the file are ignored.",
         _DESC.spelled(_TREC_EVAL), "source"),
    Tool("trec_eval 10", "10.0-rc3", "Like 9.0.8, but stops if the run lacks a judged query.",
         _DESC_STRICT.spelled(_TREC_EVAL)),
    Tool("trec_eval -c", "9.0.8 and 10.0-rc3",
         f"Like trec_eval, but {_LACKING_0}.",
         _DESC_ALL.spelled(_TREC_EVAL), "source"),
    Tool("pytrec_eval", "pytrec-eval-terrier 0.5.11", "32-bit scores, ties by descending document ID.",
         _DESC_32.spelled(_TREC_EVAL)),
    Tool("ir_measures", "0.4.3",
         "Like pytrec_eval, but RR@k and Judged@k break ties by ascending document ID, because ir_measures "
         "computes them with other providers.",
         _IR_DESC.spelled(f"{_IR} {_IR_GAINS}") | _IR_ASC.spelled("RR@k=RR@{k}")),
    Tool("ranx", "0.3.21",
         "Ties keep file order in lists of up to 15 documents; an unstable sort shuffles ties in longer lists.",
         _RANX_LISTED.spelled(_RANX)),
    Tool("BEIR", "2.2.0",
         "Like pytrec_eval, but ties keep file order for MRR; drops documents whose ID equals the query ID.",
         _BEIR_32.spelled(_BEIR) | _BEIR_LISTED.spelled("RR@k=MRR@{k} Hits@k=Accuracy@{k}")),
    Tool("MTEB", "2.26.24", "Ties by descending document ID; before August 2026, ties kept file order for MRR.",
         _MTEB_32.spelled(f"Hits@k=HitRate@{{k}} {_BEIR}") | _MTEB_RR.spelled("RR@k=MRR@{k}")),
    Tool("sentence-transformers CrossEncoder reranking", "6.2.0",
         "nDCG averages ties; MRR uses an unstable sort; every list counts.",
         _CROSS_NDCG.spelled(_NDCG) | _CROSS_AP.spelled("AP=map") | _CROSS_RR.spelled("RR@k=mrr@{k}")),
    Tool("sentence-transformers bi-encoder reranking", "6.2.0",
         "Like CrossEncoder, but only for lists with both relevant and non-relevant documents.",
         _BI_NDCG.spelled(_NDCG) | _BI_AP.spelled("AP=map") | _BI_RR.spelled("RR@k=mrr@{k}")),
    Tool("sentence-transformers retrieval", "6.2.0",
         "Ties by ascending document ID; before 2026, ties were broken by the order of an internal heap.",
         _ASC.spelled(f"{_RETRIEVAL} {_NDCG}")),
    Tool("scikit-learn", "1.9.1", "nDCG averages ties; average precision treats a tie as one step.",
         _SCIKIT_NDCG.spelled(_SCIKIT) | _SCIKIT_AP.spelled("AP=average_precision_score")),
    Tool("PyKEEN realistic", "1.11.1",
         "Uses the mean of the best and the worst rank; needs exactly one relevant document per list.",
         _MEAN_RANK.spelled("RR=inverse_harmonic_mean_rank")),
    Tool("torchmetrics", "1.9.0", "nDCG averages ties; other measures use an unstable sort.",
         _TORCH_NDCG.spelled("nDCG-linear=RetrievalNormalizedDCG "
                             "nDCG-linear@k=RetrievalNormalizedDCG(top_k={k})")
         | _TORCH_TOP.spelled("Hits@k=RetrievalHitRate(top_k={k})")
         | replace(_TORCH_TOP, refusals=(rules.NOT_POSITIVE,)).spelled(_TORCHMETRICS)),
)  # fmt: skip
"""All tools."""
