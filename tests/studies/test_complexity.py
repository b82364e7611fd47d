from metrics.studies.complexity import NOTEBOOK_CASES, notebook_cases


def test_the_notebooks_five_cases_have_its_figures():
    cases = notebook_cases().set_index("case")
    assert cases["orderings"].to_dict() == {
        "Small ties": 4,
        "Medium ties": 72,
        "Large tie": 120,
        "Very large tie": 40_320,
        "Multiple large ties": 3_456,
    }
    assert cases["n_tie_groups"].to_list() == [2, 3, 1, 1, 3]
    assert cases["max_tie_size"].to_list() == [2, 3, 5, 8, 4]
    assert cases.index[~cases["tractable"]].to_list() == ["Very large tie"]
    assert cases["draws"].dropna().to_dict() == {"Very large tie": 4_032}
    assert cases["tie_sizes"].to_dict() == {case: list(sizes) for case, sizes in NOTEBOOK_CASES.items()}
