"""Other software, asked the way its users ask: (spellings, run, qrels, level) → {spelling: value}.

A run is {query: {document: score}}, qrels are {query: {document: grade}}, level the smallest relevant grade.
"""

# ruff: noqa: PLC0415, ARG001 a package that is not installed skips its own tests alone; all are asked alike

import re
import warnings
from types import SimpleNamespace

import numpy as np


def pytrec_eval(spellings, run, qrels, level):
    values = by_query(spellings, run, qrels, level)
    return {name: np.mean([query[base(name)] for query in values.values()]) for name in spellings}


def by_query(spellings, run, qrels, level):
    import pytrec_eval

    names = {re.sub(r"_(?=\d)", ".", base(name)) for name in spellings}
    return pytrec_eval.RelevanceEvaluator(qrels, names, relevance_level=level).evaluate(run)


def base(name):
    return re.split(r",| -l", name)[0]


def trec_eval(spellings, run, qrels, level):
    """By the measures of trec_eval in pytrec_eval, on ranks, which 32 bits hold as well as 64."""
    return pytrec_eval(spellings, as_ranks(run), qrels, level)


def trec_eval_complete(spellings, run, qrels, level):
    values = by_query(spellings, as_ranks(run), qrels, level)
    return {name: sum(query[base(name)] for query in values.values()) / len(qrels) for name in spellings}


def as_ranks(run):
    """Scores as whole numbers in the same order, equal ones equal."""
    ranked = {}
    for query, docs in run.items():
        ranks = np.unique([*docs.values()], return_inverse=True)[1].astype(float)
        ranked[query] = dict(zip(docs, ranks.tolist(), strict=True))
    return ranked


def ir_measures(spellings, run, qrels, level):
    """One call a measure: in one call, nDCG with gains and without take each other's judgments."""
    import ir_measures

    gains = {grade: 2**grade - 1 for docs in qrels.values() for grade in docs.values() if grade >= 0}
    values = {}
    for name in spellings:
        measure = ir_measures.parse_measure(name.replace("(gains=2^grade-1)", ""))
        measure = measure(gains=gains) if "gains" in name else measure
        values[name] = ir_measures.calc_aggregate([measure], qrels, run)[measure]
    return values


def ranx(spellings, run, qrels, level):
    import ranx

    values = {}
    for name in spellings:
        judged, ranked = ranx.Qrels.from_dict(qrels), ranx.Run.from_dict(run)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", ".*unsafe cast")  # numba's, in bold, as it compiles
            values[name] = float(ranx.evaluate(judged, ranked, name, make_comparable=True))
    return values


def beir(spellings, run, qrels, level):
    from beir.retrieval.evaluation import EvaluateRetrieval

    cuts = sorted({int(name.split("@")[1]) for name in spellings})
    copy = {query: dict(docs) for query, docs in run.items()}
    values = {}
    for table in EvaluateRetrieval.evaluate(qrels, copy, cuts):
        values |= table
    for measure in {"MRR": "mrr", "Accuracy": "acc"}.items():
        if any(name.startswith(measure[0]) for name in spellings):
            values |= EvaluateRetrieval.evaluate_custom(qrels, copy, cuts, measure[1])
    return {name: values[name] for name in spellings}


def mteb(spellings, run, qrels, level):
    from mteb._evaluators.retrieval_metrics import calculate_retrieval_scores

    cuts = sorted({int(name.split("@")[1]) for name in spellings})
    result = calculate_retrieval_scores(run, qrels, cuts)
    values = result.ndcg | result.map | result.recall | result.precision | result.mrr | result.hit_rate
    return {name: values[name] for name in spellings}


def samples(run, qrels, level):
    """Documents of each judged query as `query|document`, relevant and not."""
    for query, docs in run.items():
        if query in qrels:
            names = {True: [], False: []}
            for name in docs:
                names[qrels[query].get(name, 0) >= level].append(f"{query}|{name}")
            yield {"query": query, "positive": names[True], "negative": names[False]}


def score_of(run, text):
    query, name = text.split("|")
    return run[query][name]


def cross_encoder(spellings, run, qrels, level):
    from sentence_transformers.cross_encoder.evaluation import CrossEncoderRerankingEvaluator

    model = SimpleNamespace(
        predict=lambda pairs, **_: np.float32([score_of(run, text) for _, text in pairs]),
        model_card_data=None,
    )
    return by_cut(
        spellings,
        lambda k: CrossEncoderRerankingEvaluator([*samples(run, qrels, level)], at_k=k, write_csv=False),
        model,
    )


def bi_encoder(spellings, run, qrels, level):
    import torch
    from sentence_transformers.sentence_transformer.evaluation import RerankingEvaluator

    model = SimpleNamespace(
        encode_query=lambda texts, **_: torch.zeros(len(texts), 1),
        encode_document=lambda texts, **_: torch.tensor([[score_of(run, text)] for text in texts]),
        model_card_data=None,
    )
    return by_cut(
        spellings,
        lambda k: RerankingEvaluator(
            [*samples(run, qrels, level)],
            at_k=k,
            write_csv=False,
            similarity_fct=lambda _, documents: documents[:, 0],
        ),
        model,
    )


def by_cut(spellings, evaluator_at, model):
    values = {}
    for name in spellings:
        evaluator = evaluator_at(int([*name.split("@"), "10"][1]))
        evaluator.store_metrics_in_model_card_data = lambda *_: None
        values[name] = float(evaluator(model)[name])
    return values


def retrieval(spellings, run, qrels, level):
    from sentence_transformers.sentence_transformer.evaluation import InformationRetrievalEvaluator

    cuts = sorted({int(name.split("@")[1]) for name in spellings})
    relevant = {
        query: {name for name, grade in docs.items() if grade >= level} for query, docs in qrels.items()
    }
    evaluator = InformationRetrievalEvaluator(
        {query: query for query in qrels},
        {name: name for docs in run.values() for name in docs},
        relevant,
        **dict.fromkeys(("mrr_at_k", "map_at_k", "ndcg_at_k", "accuracy_at_k", "precision_recall_at_k"), cuts),
    )
    hits = [
        [{"corpus_id": name, "score": float(np.float32(score))} for name, score in run.get(query, {}).items()]
        for query in evaluator.queries_ids
    ]
    values = evaluator.compute_metrics(hits)
    return {name: values[f"{name.split('@')[0]}@k"][int(name.split("@")[1])] for name in spellings}


def scikit_learn(spellings, run, qrels, level):
    from sklearn.metrics import average_precision_score, ndcg_score

    lists = [(qrels[query], docs) for query, docs in run.items() if query in qrels]
    values = {}
    for name in spellings:
        cut = re.search(r"k=(\d+)", name)
        scored = []
        for judged, docs in lists:
            grades, scores = [judged.get(document, 0) for document in docs], [*docs.values()]
            if "2**grade-1" in name:
                grades = [2**grade - 1 for grade in grades]
            if name.startswith("ndcg"):
                scored.append(ndcg_score([grades], [scores], k=int(cut[1]) if cut else None))
            elif max(grades) < level:
                scored.append(0)  # as average_precision_score, without its warning
            else:
                scored.append(average_precision_score([grade >= level for grade in grades], scores))
        values[name] = np.mean(scored)
    return values


def pykeen(spellings, run, qrels, level):
    import torch
    from pykeen.evaluation.ranks import Ranks
    from pykeen.metrics.ranking import InverseHarmonicMeanRank

    ranks = []
    for query, docs in run.items():
        if query in qrels:
            relevant = [name for name in docs if qrels[query].get(name, 0) >= level]
            scores = torch.tensor([[*docs.values()]])
            true_score = torch.tensor([[docs[relevant[0]]]])
            ranks.append(Ranks.from_scores(true_score, scores).realistic.item())
    return {name: float(InverseHarmonicMeanRank()(np.array(ranks))) for name in spellings}


def torchmetrics(spellings, run, qrels, level):
    import torch
    from torchmetrics import retrieval as measures

    lists = [(number, qrels[query], docs) for number, (query, docs) in enumerate(run.items()) if query in qrels]
    indexes = torch.tensor([number for number, _, docs in lists for _ in docs])
    scores = torch.tensor([score for *_, docs in lists for score in docs.values()])
    values = {}
    for name in spellings:
        measure, cut = re.fullmatch(r"(\w+)(?:\(top_k=(\d+)\))?", name).groups()
        grades = torch.tensor([judged.get(document, 0) for _, judged, docs in lists for document in docs])
        target = grades if "DCG" in measure else grades >= level
        metric = getattr(measures, measure)(**({"top_k": int(cut)} if cut else {}))
        values[name] = float(metric(scores, target, indexes=indexes))
    return values


PACKAGES = {
    "trec_eval": trec_eval,
    "trec_eval 10": trec_eval,
    "trec_eval -c": trec_eval_complete,
    "pytrec_eval": pytrec_eval,
    "ir_measures": ir_measures,
    "ranx": ranx,
    "BEIR": beir,
    "MTEB": mteb,
    "sentence-transformers CrossEncoder reranking": cross_encoder,
    "sentence-transformers bi-encoder reranking": bi_encoder,
    "sentence-transformers retrieval": retrieval,
    "scikit-learn": scikit_learn,
    "PyKEEN realistic": pykeen,
    "torchmetrics": torchmetrics,
}
"""Name of a tool → who asks it."""
