"""What the command hands to the app: runs, judgments and stored evaluations."""

import json
import os

import pandas as pd
import pytest

from dashboard import settings
from metrics import Runs, evaluate
from metrics.scale.stored import Stored

RUN = "q0 Q0 d0 1 1 t\nq0 Q0 d1 2 1 t\n"


@pytest.fixture
def results_file(tmp_path):
    rows = Runs.from_frame(
        pd.DataFrame({"query_id": ["q"] * 2, "doc_id": ["a", "b"], "score": [1.0, 1.0], "relevance": [1, 0]})
    )
    return Stored.write(tmp_path / "kept.parquet", [evaluate(rows)]).path


def test_a_stored_evaluation_is_handed_to_the_app_apart_from_runs(call, streamlit_calls, results_file, write):
    run, qrels = write("run.trec", RUN), write("qrels.txt", "q0 0 d0 1\n")
    assert call("app", results_file, run, "--qrels", qrels)[0] == 0
    message = json.loads(os.environ[settings.OPEN])
    assert message == {"runs": [str(run)], "qrels": str(qrels), "stored": [str(results_file)]}
    assert call("app", results_file)[0] == 0
    assert json.loads(os.environ[settings.OPEN])["runs"] == []
    assert len(streamlit_calls) == 2


def test_judgments_without_a_run_are_refused(call, streamlit_calls, results_file, write):
    code, _, err = call("app", results_file, "--qrels", write("qrels.txt", "q0 0 d0 1\n"))
    assert (code, streamlit_calls) == (2, [])
    assert "--qrels applies only to runs" in err


def test_a_stored_evaluation_that_is_damaged_is_refused_by_the_command(call, streamlit_calls, results_file):
    results_file.write_bytes(results_file.read_bytes().replace(b'"version": 1', b'"version": 9'))
    code, _, err = call("app", results_file)
    assert (code, streamlit_calls) == (2, [])
    assert "kept.parquet: its format is 9. Use a newer TieScope." in err
