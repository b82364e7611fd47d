import ast

import pytest
from repository import ROOT

from metrics.runs.findings import KINDS

TELLING = {"found", "lists", "_neighbours"}


def codes_told():
    """Every string without a space that is passed to what makes findings."""
    for path in (ROOT / "metrics" / "runs").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if (
                isinstance(node, ast.Call)
                and getattr(node.func, "attr", getattr(node.func, "id", "")) in TELLING
            ):
                texts = [one.value for one in node.args if isinstance(one, ast.Constant)]
                yield from (text for text in texts if isinstance(text, str) and " " not in text)


def test_every_code_that_is_told_is_a_kind():
    told = set(codes_told())
    assert len(told) > 20
    assert told <= {kind.code for kind in KINDS}


def test_codes_are_told_apart():
    assert len({kind.code for kind in KINDS}) == len(KINDS)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.code)
def test_a_kind_says_in_sentences_what_it_is_and_what_to_do(kind):
    assert kind.severity in {"error", "warning", "info"}
    for text in (kind.summary, kind.hint):
        assert len(text.split()) >= 4
        assert text[0].isupper()
        assert text.endswith(".")
