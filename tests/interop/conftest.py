"""Our evaluators on a package of the documented contract, which need not be installed."""

import importlib
import sys
from types import ModuleType

import pytest

OURS = "metrics.interop.sentence_transformers"


class BaseEvaluator:
    """What an evaluator inherits, as documented."""

    def __init__(self):
        self.greater_is_better, self.primary_metric = True, None

    def store_metrics_in_model_card_data(self, model, metrics, epoch, step):
        model.model_card_data.append((metrics, epoch, step))


@pytest.fixture
def forgotten(monkeypatch):
    """Nothing of ours is imported yet."""
    for name in [name for name in sys.modules if name.startswith(OURS)]:
        monkeypatch.delitem(sys.modules, name)


@pytest.fixture
def evaluators(monkeypatch, forgotten):  # noqa: ARG001 before the import
    """Our evaluators on a base of the documented contract."""
    package = {"": {}, ".base": {}, ".base.evaluation": {"BaseEvaluator": BaseEvaluator}}
    for name, contents in package.items():
        module = ModuleType(f"sentence_transformers{name}")
        vars(module).update(contents)
        monkeypatch.setitem(sys.modules, module.__name__, module)
    yield importlib.import_module(OURS)
    for name in [name for name in sys.modules if name.startswith(OURS)]:
        del sys.modules[name]  # for good: monkeypatch would put it back
