"""Evaluators of sentence-transformers, by models of its documented contract; real ones where they are."""

import importlib
import sys
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import metrics
from metrics.errors import MissingPackageError, UsageError

OURS = "metrics.interop.sentence_transformers"
WORDS = ["cat", "dog", "fish", "bird"]
SAMPLES = [
    {"query": "cat dog", "positive": ["dog"], "negative": ["cat", "fish", "dog bird"]},
    {"query": "fish", "positive": ["bird", "fish"], "negative": "cat"},
    {"query": "bird", "positive": "bird", "negative": []},
]
QUERIES = {"q1": "cat dog", "q2": "fish", "q3": "bird"}
CORPUS = {
    f"d{n}": text for n, text in enumerate(["dog", "cat", "fish", "bird", "cat dog", "fish", "dog", "cat bird"])
}
RELEVANT = {"q1": {"d0", "d4"}, "q2": {"d5", "elsewhere"}, "q3": set()}


class Embedder:
    """Embeds a text as the words it has, so that many similarities are equal."""

    similarity_fn_name = "dot"
    dtype = np.float32

    def __init__(self):
        self.model_card_data, self.n_texts = [], 0

    def encode(self, texts, *, batch_size, show_progress_bar, convert_to_tensor):
        assert convert_to_tensor
        assert batch_size
        assert not show_progress_bar
        self.n_texts += len(texts)
        return np.array([[word in text.split() for word in WORDS] for text in texts], self.dtype)

    def similarity(self, queries, documents):
        return queries @ documents.T


class PairScorer:
    """Counts the words that query and document share."""

    def predict(self, pairs, *, prompt_name, batch_size, show_progress_bar):
        assert prompt_name is None
        assert batch_size
        assert not show_progress_bar
        return np.array([len({*query.split()} & {*text.split()}) for query, text in pairs], np.float32)


@pytest.mark.usefixtures("forgotten")
def test_without_the_package_the_error_names_the_extra(monkeypatch):
    for name in ("sentence_transformers", *sys.modules):  # where it is installed, its modules stay imported
        if name.partition(".")[0] == "sentence_transformers":
            monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingPackageError, match=r'pip install "tiescope\[sentence-transformers\]"'):
        importlib.import_module(OURS)


def test_reranking_values_equal_evaluate_and_the_tied_score_selects(evaluators):
    evaluator = evaluators.TiedRerankingEvaluator(SAMPLES, name="dev")
    metrics_of_dev = evaluator(model := Embedder(), epoch=2, steps=7)
    # cat dog: dog bird, cat and dog share a word each; fish: fish above bird and cat, which are tied
    frame = pd.DataFrame(
        [("1", n, *row) for n, row in enumerate([(1, 1), (1, 0), (0, 0), (1, 0)])]
        + [("2", n, *row) for n, row in enumerate([(0, 1), (1, 1), (0, 0)])],
        columns=["query_id", "doc_id", "score", "relevance"],
    )
    evaluation = metrics.evaluate(frame, ["AP", "RR@10", "nDCG@10"], ["expected", "pessimistic", "optimistic"])
    words = {"tied": "expected", "worst": "pessimistic", "best": "optimistic"}
    names = {"map": "AP", "mrr@10": "RR@10", "ndcg@10": "nDCG@10"}
    expected = {
        f"dev_{word}_{key}": pytest.approx(evaluation.means(name)[ties].item(), abs=1e-15)
        for word, ties in words.items()
        for key, name in names.items()
    }
    assert metrics_of_dev == expected | {"dev_tie_ratio": pytest.approx((3 / 4 + 2 / 3) / 2)}
    assert evaluator.primary_metric == "dev_tied_ndcg@10"
    assert evaluator.greater_is_better
    assert model.model_card_data == [(metrics_of_dev, 2, 7)]
    assert model.n_texts == 2 + 7


def test_a_cross_encoder_is_asked_for_pairs_and_samples_without_negatives_count(evaluators):
    evaluator = evaluators.TiedRerankingEvaluator(dict(enumerate(SAMPLES)), at_k=3)
    values = evaluator(PairScorer())
    assert values["tied_mrr@3"] == pytest.approx((11 / 18 + 1 + 1) / 3)  # of three tied: 1, 1/2 or 1/3
    assert evaluator.primary_metric == "tied_ndcg@3"


@pytest.mark.parametrize(("always", "tied_mrr"), [(True, (3 / 4 + 1) / 2), (False, (0 + 1) / 2)])
def test_positives_that_a_first_stage_lacks_are_ranked_or_left_out(evaluators, always, tied_mrr):
    samples = [
        {"query": "cat", "positive": ["cat"], "documents": ["cat dog", "fish"]},
        {"query": "dog", "positive": "dog", "documents": ["dog"]},
    ]
    evaluator = evaluators.TiedRerankingEvaluator(samples, always_rerank_positives=always)
    assert evaluator(PairScorer())["tied_mrr@10"] == tied_mrr


@pytest.mark.parametrize("chunk", [1, 3, 50_000])
def test_retrieval_values_do_not_depend_on_the_chunk_size(evaluators, chunk):
    evaluator = evaluators.TiedInformationRetrievalEvaluator(
        QUERIES, CORPUS, RELEVANT, chunk, [2], [2], [1], [2], [2], name="dev"
    )
    values = evaluator(model := Embedder())
    vectors = Embedder().encode(
        [*CORPUS.values()], batch_size=1, show_progress_bar=False, convert_to_tensor=True
    )
    queries = Embedder().encode(
        [*QUERIES.values()], batch_size=1, show_progress_bar=False, convert_to_tensor=True
    )
    run = {
        query: dict(zip(CORPUS, (vectors @ row).tolist(), strict=True))
        for query, row in zip(QUERIES, queries, strict=True)
        if RELEVANT[query]
    }
    qrels = {query: dict.fromkeys(documents, 1) for query, documents in RELEVANT.items() if documents}
    names = {
        "mrr@2": "RR@2",
        "ndcg@2": "nDCG@2",
        "accuracy@1": "Hits@1",
        "precision@2": "P@2",
        "recall@2": "R@2",
        "map@2": "AP-cap@2",
    }
    evaluation = metrics.evaluate(
        run, [*names.values()], ["expected", "pessimistic", "optimistic"], qrels=qrels
    )
    for word, ties in {"tied": "expected", "worst": "pessimistic", "best": "optimistic"}.items():
        for key, name in names.items():
            assert values[f"dev_dot_{word}_{key}"] == pytest.approx(
                evaluation.means(name)[ties].item(), abs=1e-15
            )
    assert evaluator.primary_metric == "dev_dot_tied_ndcg@2"
    assert model.n_texts == 2 + 8
    # cat dog, then four that share a word; two of fish
    assert values["dev_dot_tie_ratio"] == pytest.approx((4 / 5 + 1) / 2)


def test_a_model_that_gives_all_documents_one_score_keeps_one_score_a_place(evaluators):
    corpus = dict.fromkeys(range(1000), "cat")
    evaluator = evaluators.TiedInformationRetrievalEvaluator({1: "cat"}, corpus, {1: {7}}, 100)
    assert evaluator(Embedder())["dot_tied_mrr@10"] == pytest.approx(sum(1 / n for n in range(1, 11)) / 1000)
    tops = sys.modules[OURS].TopScores(10, np.array([[0, 7]]), 1)
    for first in range(0, 1000, 100):
        tops.add(np.ones((1, 100), np.float32), first)
    assert (tops.highest.shape, tops.n_lowest.tolist()) == ((1, 10), [1000])


def test_lists_are_evaluated_in_batches_of_rows_with_the_same_means(evaluators, monkeypatch):
    evaluator = evaluators.TiedInformationRetrievalEvaluator(QUERIES, CORPUS, RELEVANT)
    values = evaluator(Embedder())
    monkeypatch.setattr(sys.modules[OURS], "_MAX_ROWS", 3)
    assert evaluator(Embedder()) == pytest.approx(values)


def test_half_precision_scores_stay_tied_and_functions_keep_separate_metrics(evaluators):
    model = Embedder()
    model.dtype = np.float16
    functions = {"dot": model.similarity, "near": lambda a, b: model.similarity(a, b) + np.float16(2048)}
    evaluator = evaluators.TiedInformationRetrievalEvaluator(
        QUERIES, CORPUS, RELEVANT, score_functions=functions, main_score_function="near"
    )
    values = evaluator(model)
    assert values["near_worst_ndcg@10"] < values["dot_worst_ndcg@10"]  # 2048 and 2049 are one number of 16 bits
    assert evaluator.primary_metric == "near_tied_ndcg@10"
    assert model.n_texts == 2 + 8


def test_the_csv_has_a_row_a_call_and_other_columns_go_to_a_file_of_their_own(evaluators, tmp_path):
    evaluator = evaluators.TiedRerankingEvaluator(SAMPLES, name="dev")
    for steps in (10, 20):
        values = evaluator(Embedder(), tmp_path / "eval", epoch=1, steps=steps)
    table = pd.read_csv(tmp_path / "eval" / "TiedRerankingEvaluator_dev_results_@10.csv")
    assert table["steps"].tolist() == [10, 20]
    assert table.columns[:3].tolist() == ["epoch", "steps", "tied_map"]
    assert table["tied_ndcg@10"].iloc[1] == values["dev_tied_ndcg@10"]
    for similarity_fn_name in ("dot", "cosine", "dot"):
        model = Embedder()
        model.similarity_fn_name = similarity_fn_name
        retrieval = evaluators.TiedInformationRetrievalEvaluator(QUERIES, CORPUS, RELEVANT)
        retrieval(model, str(tmp_path))
    name = "TiedInformationRetrievalEvaluator_results"
    assert len(pd.read_csv(tmp_path / f"{name}.csv")) == 2
    assert "cosine_tied_ndcg@10" in pd.read_csv(tmp_path / f"{name}_2.csv")
    evaluators.TiedRerankingEvaluator(SAMPLES, write_csv=False)(Embedder(), tmp_path / "none")
    assert not (tmp_path / "none").exists()


def test_what_cannot_be_evaluated_is_refused_with_what_it_needs(evaluators):
    rerank, search = evaluators.TiedRerankingEvaluator, evaluators.TiedInformationRetrievalEvaluator
    without_positive = {"query": "cat", "positive": None, "negative": []}
    for sample, keys in (({"query": "cat"}, "query"), (None, "nothing"), (without_positive, "query, negative")):
        with pytest.raises(
            UsageError, match=rf"Sample 1 has {keys}\. A sample needs query, positive, and either"
        ):
            rerank([sample])
    with pytest.raises(UsageError, match="No sample has documents to rank"):
        rerank(SAMPLES[2:])(Embedder())
    with pytest.raises(UsageError, match="give documents, and queries with relevant documents"):
        search(QUERIES, CORPUS, {})
    for option in ({"ndcg_at_k": ()}, {"corpus_chunk_size": -3}):
        with pytest.raises(
            UsageError, match="Give ndcg_at_k a cut-off, and set corpus_chunk_size to 1 document"
        ):
            search(QUERIES, CORPUS, RELEVANT, **option)


@pytest.mark.parametrize(
    ("scores", "problem"),
    [
        (np.zeros((8, 2)), r"of shape \(8, 2\), not one per document: \(8,\)"),
        (np.zeros(3), r"of shape \(3,\), not one per document: \(8,\)"),
        (["1"] * 8, "of type <U1. Scores must be numbers"),
        (np.full(8, np.nan), "8 of 8 scores of the model are not numbers"),
    ],
)
def test_scores_that_are_no_number_a_document_are_refused(evaluators, scores, problem):
    with pytest.raises(UsageError, match=problem):
        evaluators.TiedRerankingEvaluator(SAMPLES)(SimpleNamespace(predict=lambda *_, **__: scores))


@pytest.fixture
def real():
    """The package itself, ours on it, and the parts of which a model is made here."""
    pytest.importorskip("sentence_transformers", reason="sentence-transformers is not installed")
    from sentence_transformers import SentenceTransformer  # noqa: PLC0415 only where it is
    from sentence_transformers.sentence_transformer import evaluation, modules  # noqa: PLC0415 likewise
    from tokenizers import Tokenizer, models, pre_tokenizers  # noqa: PLC0415 likewise

    tokenizer = Tokenizer(models.WordLevel({word: place for place, word in enumerate(WORDS)}, "cat"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()

    def model(weights):
        embedding = modules.StaticEmbedding(tokenizer, embedding_weights=np.array(weights, np.float32))
        return SentenceTransformer(modules=[embedding], device="cpu")

    return SimpleNamespace(ours=importlib.import_module(OURS), theirs=evaluation, model=model)


@pytest.mark.filterwarnings("default")  # of other packages
@pytest.mark.parametrize("precision", ["float32", "float16", "bfloat16"])
def test_the_real_reranking_evaluators_ndcg_equals_ours_and_mrr_is_in_bounds(real, precision):
    import torch  # noqa: PLC0415 only where sentence-transformers is

    rng = np.random.default_rng(0)
    model = real.model(rng.integers(-1, 2, (4, 3))).to(getattr(torch, precision))
    model.similarity_fn_name = "dot"
    samples = [
        {"query": texts[0], "positive": texts[1:3].tolist(), "negative": texts[3:].tolist()}
        for texts in rng.choice(WORDS, (20, 9))
    ]
    values = real.ours.TiedRerankingEvaluator(samples)(model)
    theirs = real.theirs.RerankingEvaluator(samples, similarity_fct=model.similarity)(model)
    assert values["tied_ndcg@10"] == pytest.approx(theirs["ndcg@10"], abs=1e-12)
    assert values["worst_mrr@10"] <= theirs["mrr@10"] <= values["best_mrr@10"]


@pytest.mark.filterwarnings("default")  # of other packages
def test_the_real_retrieval_evaluator_agrees_or_lies_within_bounds(real):
    rng = np.random.default_rng(0)
    corpus = {f"d{n}": " ".join(WORDS[:n] * (n + 1)) for n in range(1, 5)} | {"d5": "dog", "d6": "fish bird"}
    queries = {word: word for word in WORDS}
    relevant = {word: set(rng.choice([*corpus], 2)) for word in WORDS}
    cases = {False: (rng.normal(size=(4, 5)), corpus), True: (np.ones((4, 2)), corpus)}
    for is_tied, (weights, documents) in cases.items():
        model = real.model(weights)
        theirs = real.theirs.InformationRetrievalEvaluator(queries, documents, relevant, name="dev")(model)
        ours = real.ours.TiedInformationRetrievalEvaluator(
            queries, documents, relevant, map_at_k=[100], name="dev"
        )
        values = ours(model)
        assert ours.primary_metric == "dev_cosine_tied_ndcg@10"
        assert (values["dev_cosine_tie_ratio"] > 0) == is_tied
        for key, value in theirs.items():
            worst, best = (values[key.replace("cosine", f"cosine_{word}")] for word in ("worst", "best"))
            assert worst - 1e-12 <= value <= best + 1e-12
            assert is_tied or worst == pytest.approx(best)


@pytest.mark.filterwarnings("default")  # of other packages
@pytest.mark.parametrize("always", [True, False])
def test_the_ndcg_of_the_real_evaluator_of_cross_encoders_is_ours(real, tmp_path, always):
    import torch  # noqa: PLC0415 only where sentence-transformers is
    import transformers  # noqa: PLC0415 likewise
    from sentence_transformers import CrossEncoder  # noqa: PLC0415 likewise
    from sentence_transformers.cross_encoder.evaluation import (  # noqa: PLC0415 likewise
        CrossEncoderRerankingEvaluator,
    )

    torch.manual_seed(0)
    sizes = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 1, "intermediate_size": 8}
    config = transformers.BertConfig(vocab_size=len(WORDS), num_labels=1, **sizes)
    transformers.BertForSequenceClassification(config).save_pretrained(tmp_path)
    tokenizer = real.model(np.eye(4)).tokenizer
    special = {"pad_token": "cat", "unk_token": "cat", "cls_token": "cat", "sep_token": "cat"}
    transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, **special).save_pretrained(tmp_path)
    model = CrossEncoder(str(tmp_path), device="cpu").to(torch.bfloat16)
    samples = [
        {"query": texts[0], "positive": texts[1:3].tolist(), "documents": texts[2:].tolist()}
        for texts in np.random.default_rng(0).choice(WORDS, (20, 9))
    ]
    values = real.ours.TiedRerankingEvaluator(samples, always_rerank_positives=always)(model)
    theirs = CrossEncoderRerankingEvaluator(samples, always_rerank_positives=always)(model)
    assert values["tied_ndcg@10"] == pytest.approx(theirs["ndcg@10"], abs=1e-9)
    assert values["tie_ratio"] > 0.5


@pytest.mark.filterwarnings("default")  # of other packages
def test_the_real_reranking_evaluator_breaks_the_ties_of_one_list_by_three_rules(real):
    """The figures of docs/how-to/training.md."""
    model = real.model([[1, 0], [0, 1], [0, 2], [0, 0]])
    model.similarity_fn_name = "dot"
    samples = [
        {"query": "cat", "positive": ["bird"], "negative": ["dog", "fish"]},
        {"query": "dog", "positive": ["bird"], "negative": ["fish", "cat"]},
    ]
    theirs = real.theirs.RerankingEvaluator(samples, similarity_fct=model.similarity)(model)
    figures = {"mrr@10": 0.75, "map": 1 / 3, "ndcg@10": 0.6379}
    assert {name: theirs[name] for name in figures} == pytest.approx(figures, abs=5e-5)
