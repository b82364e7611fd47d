import pandas as pd
import pytest

from metrics.studies.prose import plain
from metrics.studies.tie_rules import answers_finding


@pytest.mark.parametrize(
    ("other", "sentence"),
    [
        ([0.4, 0.3], "bm25 has the highest mean under every rule."),
        ([0.5, 0.4], "bm25 and 1 more have the highest mean under every rule."),
        ([0.6, 0.3], "The rules rank different rerankers first."),
    ],
)
def test_who_leads_by_every_rule_is_said(other, sentence):
    answers = pd.DataFrame({"MRR": [0.5, other[0]], "TsRR": [0.4, other[1]]}, index=["bm25", "bge"])
    assert plain(answers_finding(answers, pd.Series(0.2, answers.index))).endswith(f" {sentence}")


def test_the_means_are_ranked_and_nobody_is_said_to_lead_without_a_test():
    answers = pd.DataFrame({"MRR": [0.51, 0.5], "TsRR": [0.41, 0.4]}, index=["bm25", "bge"])
    text = plain(answers_finding(answers, pd.Series(0.2, answers.index)))
    assert text.endswith("bm25 has the highest mean under every rule.")
    assert not {"leads", "beats", "better"} & set(text.replace(".", "").split())
