"""Names that differ in a seed are repeats of one reranker; other numbers tell rerankers apart."""

import pytest

from metrics.runs.repeats import numbered_scores, repeat_groups


@pytest.mark.parametrize(
    ("names", "stem"),
    [
        (["colbert-seed1", "colbert-seed2", "colbert-seed42"], "colbert"),
        (["x.seed=42", "x.seed=7"], "x"),
        (["a_run3", "a_run10"], "a"),
        (["MiniLM-6 seed 1", "MiniLM-6 seed 2"], "MiniLM-6"),
        (["gpt-4 (seed 1)", "gpt-4 (seed 2)"], "gpt-4"),
        (["seed1-llm-large", "seed2-llm-large"], "llm-large"),
        (["llm-seed1-large", "llm-Seed2-large"], "llm-large"),
        (["MiniLM prompt 1", "MiniLM prompt 2"], "MiniLM"),
        (["مصنف seed1", "مصنف seed2"], "مصنف"),
        (["seed1", "seed2"], "repeats"),
        (["<b>_run1", "<b>_run2"], "<b>"),
    ],
)
def test_names_that_differ_in_a_seed_alone_are_repeats_of_what_they_share(names, stem):
    assert repeat_groups(["bm25", *names, "other"]) == {stem: names}


@pytest.mark.parametrize(
    "names",
    [
        ["bm25", "bm26"],
        ["MiniLM-6", "MiniLM-12"],
        ["gpt-3", "gpt-4"],
        ["run1", "run2"],  # of any two rerankers
        ["trunk1", "trunk2"],
        ["seedling-1", "seedling-2"],
        ["x-seed1", "y-seed2"],
        ["x-seed1", "x-run2"],
        ["x-seed1b", "x-seed2b"],
        ["x seed 1.5", "x seed 2.5"],
        ["x-seed1"],
        ["MiniLM float16", "MiniLM float32"],
        [],
    ],
)
def test_other_numbers_tell_rerankers_apart(names):
    assert repeat_groups(names) == {}


def test_a_number_beside_a_seed_tells_rerankers_apart():
    names = [f"MiniLM-{layers}-seed{seed}" for layers in (6, 12) for seed in (1, 2)]
    assert repeat_groups(names) == {"MiniLM-6": names[:2], "MiniLM-12": names[2:]}
    runs = ["m-run1-seed1", "m-run1-seed2", "m-run2-seed1", "m-run2-seed2"]
    assert repeat_groups(runs) == {"m-run1": runs[:2], "m-run2": runs[2:]}


def test_what_is_shared_is_no_name_of_another_reranker():
    assert repeat_groups(["x", "x-seed1", "x-seed2"]) == {"x (2 repeats)": ["x-seed1", "x-seed2"]}
    assert repeat_groups(["x", "x (2 repeats)", "x-seed1", "x-seed2"]) == {}


def test_names_are_gone_over_a_few_times_however_many_groups_there_are():
    class Names(list):
        n_passes = 0

        def __iter__(self):
            self.n_passes += 1
            return super().__iter__()

    names = Names(f"model{number % 40}-seed{number // 40}" for number in range(80))
    assert len(repeat_groups(names)) == 40
    assert names.n_passes < 5


def test_two_hundred_rerankers_fall_into_their_groups():
    names = [f"model{number % 40}-seed{number // 40}" for number in range(200)]
    groups = repeat_groups(names)
    assert set(groups) == {f"model{number}" for number in range(40)}
    assert {len(group) for group in groups.values()} == {5}


def test_numbered_columns_of_scores_are_repeats():
    assert numbered_scores(["query_id", "score_1", "Score 2", "score.seed3"]) == ["score_1", "Score 2"]
    assert numbered_scores(["llm_score_1", "score_1", "llm_score_2"]) == ["llm_score_1", "llm_score_2"]
    assert numbered_scores(["score", "score_1", "bm25"]) == []
