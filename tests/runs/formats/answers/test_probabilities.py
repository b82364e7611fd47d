import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reading import columns, refusal

from metrics import ReadError, draws, read_runs
from metrics.runs import File, open_run, read
from metrics.runs.formats import probabilities
from metrics.runs.formats.probabilities import GradeProbabilities

TABLE = """query_id,doc_id,p_0,p_1,p_2,bm25,relevance
q1,d7,0.1,0.3,0.6,3,1
q1,d2,0,0.25,0.75,2,0
q1,d4,0.2,,0.4,1,0
"""
WEIGHTS = st.lists(st.lists(st.floats(0, 1) | st.just(0.0), min_size=3, max_size=3), min_size=1, max_size=5)


def noted(text):
    return {one.code: one for one in read(File("llm.csv", text.encode())).noted}


@given(WEIGHTS)
def test_mean_spread_and_likeliest_grade_are_as_summed_by_hand(weights):
    grades = [-1.0, 0.5, 3.0]
    scores = GradeProbabilities(np.array(grades), np.array(weights)).scores()
    for row, of_row in enumerate(weights):
        total = sum(of_row)
        mean, spread, argmax = (scores[name][row] for name in ("expected_grade", "score_std", "argmax_grade"))
        if not total:
            assert np.isnan(mean)
            assert np.isnan(argmax)
            continue
        expected = sum(weight * grade for weight, grade in zip(of_row, grades, strict=True)) / total
        squares = sum(weight * (grade - expected) ** 2 for weight, grade in zip(of_row, grades, strict=True))
        assert mean == pytest.approx(expected, abs=1e-11)
        assert spread == pytest.approx((squares / total) ** 0.5, abs=1e-9)
        assert argmax == grades[of_row.index(max(of_row))]


def test_the_expected_grade_is_the_score_beside_its_spread_and_the_likeliest():
    rows = columns(TABLE.encode())
    assert rows["score"] == [1.5, 1.75, pytest.approx(4 / 3, abs=1e-12)]
    assert rows["score_std"] == pytest.approx([0.45**0.5, 0.1875**0.5, (8 / 9) ** 0.5])
    assert rows["argmax_grade"] == [2, 2, 2]
    assert rows["bm25"] == [3, 2, 1]
    assert "p_0" not in rows


def test_the_likeliest_grade_can_be_chosen_as_the_score():
    rows = columns(TABLE.encode(), mapping={"score": "argmax_grade"})
    assert rows["score"] == [2, 2, 2]
    assert rows["expected_grade"][:2] == [1.5, 1.75]


def test_findings_count_the_ties_that_grading_makes_and_what_is_scaled():
    findings = noted(TABLE)
    assert findings["grades-expected"].count == 3
    assert "most likely grade: 3 of 3 documents" in findings["grades-expected"].message
    assert "expected grade: 0 of 3 documents" in findings["grades-expected"].message
    assert findings["grades-scaled"].count == 1
    assert "grades-scaled" not in noted("query_id,doc_id,p_0,p_1\nq,a,0.5,0.5\n")


@pytest.mark.parametrize("write", [json.dumps, lambda records: "\n".join(map(json.dumps, records))])
@pytest.mark.parametrize("name", ["probabilities", "probs", "p", "grade_probs", "prob"])
def test_a_map_of_each_document_is_read_from_json(write, name):
    records = [
        {"qid": 1, "docid": "a", name: {"0": 0.2, "3": 0.8}},
        {"qid": 1, "docid": "b", name: {"1": 0.2, "3": 0.8}},
    ]
    rows = columns(write(records).encode())
    assert rows["score"] == [2.4, 2.6]
    assert rows["argmax_grade"] == [3, 3]


def test_maps_stand_in_cells_of_a_table_and_inside_arrays_of_documents():
    table = 'query_id\tdoc_id\tprobabilities\nq\td\t"{""0"": 0.5, ""1"": 0.5}"\nq\te\t"{""1"": 1}"\n'
    assert columns(table.encode())["score"] == [0.5, 1]
    candidates = [{"docid": name, "probs": {"0": 1 - p, "2": p}} for name, p in (("a", 0.5), ("b", 1))]
    record = {"qid": 1, "candidates": candidates}
    assert columns(json.dumps([record]).encode())["score"] == [1, 2]


def test_logarithms_of_the_likeliest_tokens_are_taken_for_what_they_are():
    logs = {"0": float(np.log(0.25)), "1": float(np.log(0.5)), "the": -8.0}
    record = {"qid": 1, "docid": "a", "logprobs": logs}
    assert columns(json.dumps([record]).encode())["score"] == [pytest.approx(2 / 3)]


@pytest.mark.parametrize(
    ("table", "problem"),
    [
        ("query_id,doc_id,p_0,p_1\nq,a,0,1\nq,b,x,1\n", "line 3: p_0 'x' is not a probability"),
        ("query_id,doc_id,p_0,p_1\nq,a,0,0\n", "line 2: score None is not a number (column 'expected_grade')"),
        ("query_id,doc_id,p_0,p_1\nq,a,-1,2\n", "line 2: score None is not a number (column 'expected_grade')"),
        (
            'query_id\tdoc_id\tprobs\nq\ta\t"{""0"": 1, ""1"": 0}"\nq\tb\t[1]\n',
            "line 3: not a JSON map of grades",
        ),
        ("query_id,doc_id,p_0,p_1,p_1\nq,a,0,0,0\n", "two columns share a name"),
    ],
)
def test_what_is_no_distribution_is_refused_with_its_line(table, problem):
    assert problem in str(refusal(table.encode()))


def test_documents_without_a_distribution_go_the_way_of_missing_scores(tmp_path):
    (tmp_path / "llm.csv").write_text("query_id,doc_id,p_0,p_1,relevance\nq,a,0,0,1\nq,b,0.5,0.5,0\n")
    runs = read_runs(tmp_path / "llm.csv", missing_score="last")
    assert runs.tables["llm"]["score"].to_pylist() == [float("-inf"), 0.5]


def test_ties_are_counted_among_documents_that_have_probabilities():
    rows = "q,a,0,0\nq,b,0,0\nq,c,0.9,0.1\nq,d,0.2,0.8\n"
    for columns_chosen in ({}, {"score": "argmax_grade"}):
        file = File("llm.csv", f"query_id,doc_id,p_0,p_1\n{rows}".encode())
        source = read(file, columns_chosen, missing_score="last")
        message = next(one.message for one in source.noted if one.code == "grades-expected")
        assert "most likely grade: 0 of 2 documents" in message
        assert "expected grade: 0 of 2 documents" in message


@pytest.mark.parametrize("write", [json.dumps, lambda records: "\n".join(map(json.dumps, records))])
def test_a_map_beside_judgments_is_read(write):
    records = [{"query_id": "q", "doc_id": "d", "relevance": 1, "probs": {"0": 0.5, "1": 0.5}}]
    rows = columns(write(records).encode())
    assert (rows["score"], rows["relevance"]) == ([0.5], [1])


@pytest.mark.parametrize("cell", ["{}", '{""yes"": 0.5, ""no"": 0.5}'])
def test_a_map_without_a_grade_is_refused_with_its_line(cell):
    error = refusal(f'query_id,doc_id,probs\nq,d,"{cell}"\n'.encode())
    assert "line 2: no column or map entry is the probability of a grade" in str(error)
    assert 'write a map: {"0": 0.1, "1": 0.9}' in str(error)


def _maps(n_rows, keys):
    return [{"qid": 1, "docid": f"d{row}", "probs": dict.fromkeys(keys(row), 0.5)} for row in range(n_rows)]


def _as_table(records):
    cells = (json.dumps(record["probs"]).replace('"', '""') for record in records)
    rows = [
        f'{record["qid"]},{record["docid"]},"{cell}"\n' for record, cell in zip(records, cells, strict=True)
    ]
    return "".join(["query_id,doc_id,probs\n", *rows])


@pytest.mark.parametrize("write", [json.dumps, _as_table])
def test_more_grades_than_columns_may_be_are_refused_before_any_column_is_made(write, monkeypatch):
    monkeypatch.setattr(probabilities, "value_arrays", lambda *_: pytest.fail("a column was made"))
    records = _maps(600, lambda row: (str(2 * row), str(2 * row + 1)))
    assert "columns, more than 1,000" in str(refusal(write(records).encode()))


@pytest.mark.parametrize("write", [json.dumps, _as_table])
def test_words_among_the_likeliest_tokens_are_no_columns_however_many(write):
    records = _maps(600, lambda row: ("0", "1", f"word {row}", f"other {row}"))
    assert columns(write(records).encode())["score"] == [0.5] * 600


def test_grades_times_documents_are_limited(monkeypatch):
    monkeypatch.setattr(probabilities, "MAX_VALUES", 5)
    problem = "2 grades for 3 documents make more than 5 probabilities"
    assert problem in str(refusal(json.dumps(_maps(3, lambda _: "01")).encode()))


def test_a_table_with_a_score_of_its_own_stays_as_it_was():
    rows = columns(b"query_id,doc_id,score,p_0,p_1\nq1,d7,1,0,1\n")
    assert rows == {"query_id": ["q1"], "doc_id": ["d7"], "score": [1], "p_0": [0], "p_1": [1]}


def test_the_spread_is_what_noise_reads(tmp_path):
    (tmp_path / "llm.csv").write_text(TABLE)
    drawn = draws(read_runs(tmp_path / "llm.csv"), "RR", n=200, noise="score_std")
    assert drawn.bounds["expected"].to_list() == [0.5]
    assert set(drawn.means.iloc[:, 0]) > {0.5, 1.0}


def test_a_file_of_probabilities_cannot_be_read_with_dask():
    with pytest.raises(ReadError, match="grade-probabilities cannot be read with Dask"):
        open_run(File("llm.csv", TABLE.encode()), {})
