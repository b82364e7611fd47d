"""Tie groups under several treatments, measured together."""

import numpy as np
import pandas as pd
import pytest
from relevance_measures import MEASURES

from metrics import Runs, parse
from metrics.measures import RefinedGroups, model
from metrics.ties import Ranking, treatment

TREATMENTS = [
    treatment(name)
    for name in ("input", "std", "expected", "noise:0.2", "docid_desc", "optimistic", "pessimistic")
]


@pytest.fixture(scope="module")
def ranking():
    draw, n = np.random.default_rng(4), 400
    rows = {
        "reranker": "a",
        "query_id": np.sort(draw.integers(0, 30, n)).astype(str),
        "doc_id": np.arange(n).astype(str),
        "score": draw.integers(0, 4, n) / 4,
        "relevance": draw.choice([0.0, 0.0, 0.0, 0.4, 1.3, 2.7], n),
        "target_id": draw.integers(0, 5, n).astype(str),
    }
    return Ranking.of(Runs.from_frame(pd.DataFrame(rows)), "a")


@pytest.mark.parametrize("most", [1, 300, 2**17], ids=["each alone", "some together", "all together"])
@pytest.mark.parametrize("name", [one.name + "@5" * (one.cutoff == "required") for one in MEASURES])
def test_treatments_measured_together_give_to_the_last_bit_what_each_gives_alone(
    ranking, name, most, monkeypatch
):
    monkeypatch.setattr(model, "_CONTRIBUTING", most)
    treatments = [ties for ties in TREATMENTS if ties.noise is None or parse(name).measure.family.noisy]
    together = RefinedGroups(ranking).values(parse(name), treatments)
    alone = [next(RefinedGroups(ranking).values(parse(name), [ties])) for ties in treatments]
    assert np.array_equal(np.stack(list(together)), np.stack(alone))
