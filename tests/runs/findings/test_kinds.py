import json
from typing import get_args

import pytest
from repository import ROOT

from metrics.runs.findings import KINDS, Severity


def test_no_two_kinds_share_a_code():
    text = (ROOT / "metrics" / "runs" / "kinds.json").read_text(encoding="utf-8")
    codes = [code for code, _ in json.loads(text, object_pairs_hook=list)]
    assert codes == [kind.code for kind in KINDS]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.code)
def test_a_kind_says_in_sentences_what_it_is_and_what_to_do(kind):
    assert kind.severity in get_args(Severity)
    assert kind.subject in {"run", "file"}
    for text in (kind.summary, kind.hint):
        assert len(text.split()) >= 4
        assert text[0].isupper()
        assert text.endswith(".")
