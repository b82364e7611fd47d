import json
from collections import Counter
from typing import get_args

import pytest
from repository import ROOT

from metrics.support.shown_columns import COLUMNS, Kind


def test_no_two_columns_share_a_key():
    text = (ROOT / "metrics" / "support" / "words" / "columns.json").read_text(encoding="utf-8")
    sections = json.loads(text, object_pairs_hook=list)
    keys = Counter(key for _, section in sections for key, _ in section)
    assert len(keys) == len(COLUMNS)
    assert max(keys.values()) == 1


@pytest.mark.parametrize("column", COLUMNS.values(), ids=lambda column: column.key)
def test_a_column_is_of_a_kind_that_is_written_and_says_what_it_means(column):
    assert column.kind in get_args(Kind)
    assert column.digits >= 0
    assert column.width is None or isinstance(column.width, int) or column.width in ("small", "medium", "large")
    assert column.help.endswith((".", "}"))
