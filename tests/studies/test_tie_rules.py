import pandas as pd
import pytest

from metrics.studies.prose import plain
from metrics.studies.tie_rules import answers_finding


@pytest.mark.parametrize(
    ("other", "sentence"),
    [
        ([0.4, 0.3], "bm25 has the highest mean under every rule."),
        (
            [0.4, 0.4],
            "bm25 has the highest mean under 1 of 2 rules; under the other rules, other rerankers have the "
            "same mean.",
        ),
        ([0.5, 0.4], "All rerankers have the same mean under every rule."),
    ],
)
def test_who_leads_by_every_rule_and_by_how_many_ahead_of_all_others(other, sentence):
    answers = pd.DataFrame({"MRR": [0.5, other[0]], "TsRR": [0.4, other[1]]}, index=["bm25", "bge"])
    assert plain(answers_finding(answers, pd.Series(0.2, answers.index))).endswith(f" {sentence}")


def test_the_means_are_ranked_and_nobody_is_said_to_lead_without_a_test():
    answers = pd.DataFrame({"MRR": [0.51, 0.5], "TsRR": [0.41, 0.4]}, index=["bm25", "bge"])
    text = plain(answers_finding(answers, pd.Series(0.2, answers.index)))
    assert text.endswith("bm25 has the highest mean under every rule.")
    assert not {"leads", "beats", "better"} & set(text.replace(".", "").split())
