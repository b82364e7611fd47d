import pytest

from metrics.studies.targets.baseline import usual_baseline


@pytest.mark.parametrize(
    ("names", "baseline"),
    [
        (["monot5", "BM25", "bm25-top100-monot5"], "BM25"),
        (["monot5", "run.bm25-rm3.trec"], "run.bm25-rm3.trec"),
        (["monot5", "BM-25"], "BM-25"),
        (["pyserini_bm25"], "pyserini_bm25"),
        (["monot5", "bm256", "albm25"], "monot5"),
        (["重排序模型", "BM25基线"], "BM25基线"),
        (["b", "a"], "b"),
    ],
)
def test_the_baseline_is_the_reranker_named_bm25_else_the_first(names, baseline):
    assert usual_baseline(names) == baseline
