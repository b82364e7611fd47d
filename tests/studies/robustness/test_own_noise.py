"""The noise that score_std tells of the data itself, and what a measure is under it."""

import numpy as np
import pandas as pd
import pytest

from metrics import evaluate, read_runs
from metrics.studies.robustness.own_noise import NO_OWN_NOISE, own_noise, own_noise_sentence

ROWS = [("q", "a", 3.0, 1), ("q", "b", 2.0, 0), ("q", "c", 1.0, 0)]


def runs(**deviations):
    frames = {
        name: pd.DataFrame(ROWS, columns=["query_id", "doc_id", "score", "relevance"]) for name in deviations
    }
    for name, deviation in deviations.items():
        if deviation is not None:
            frames[name]["score_std"] = deviation
    return read_runs(frames)


def said(sentence):
    return "".join(map(str, sentence))


def test_rerankers_with_a_spread_are_scored_under_it():
    board = runs(exact=None, noisy=2.0)
    own = own_noise(board, "RR")
    assert list(own.index) == ["noisy"]
    alone = board.arranged({"noisy": "noisy"})
    assert own.loc["noisy", "value"] == evaluate(alone, "RR", "noise").scores.iloc[0, 0]
    sizes = own.loc["noisy", ["low", "noise", "high"]].tolist()
    assert sizes == pytest.approx([2 / np.std([3, 2, 1])] * 3)
    tied = pd.Series({"exact": 1.0, "noisy": 1.0})
    assert said(own_noise_sentence(own, tied, "MRR")).endswith(" has 0.749 MRR, without it 1.000.")


def test_a_spread_that_cannot_be_computed_leaves_its_reranker_out():
    own = own_noise(runs(fine=1e-3, tiny=1e-300), "RR")
    assert own["value"].isna().tolist() == [False, True]
    assert "keeps its 1.000 MRR" in said(own_noise_sentence(own, pd.Series({"fine": 1.0, "tiny": 1.0}), "MRR"))


def test_without_a_spread_nothing_is_said():
    assert own_noise(runs(exact=None), "RR").equals(NO_OWN_NOISE)
    assert own_noise_sentence(NO_OWN_NOISE, pd.Series({"exact": 1.0}), "MRR") == ()
