"""`lowest` and `highest`, asked for like treatments: what `joint_bounds` gives, in memory and of parts."""

import pandas as pd
import pytest
from relevance_measures import MEASURES, with_cutoffs

from metrics import Running, UsageError, evaluate, parse, read_runs
from metrics.evaluation import ScoringOptions
from metrics.evaluation.holes import joint_bounds
from metrics.measures import RefinedGroups
from metrics.scale.stream import Stream
from metrics.ties import Ranking, treatment

BOUNDED = [measure for measure in MEASURES if measure.family.joint]
NAMES = [str(parse(name)) for name in with_cutoffs([""], ["@2"], BOUNDED)]
RUN = "".join(
    f"{query} Q0 {name} 1 {score} A\n"
    for query, names in (("q", "abcd"), ("r", "aef"), ("s", "g"), ("w", "xyz"))
    for name, score in zip(names, (2, 1, 1, 0), strict=False)
)
OTHER = "q Q0 b 1 3 B\nq Q0 h 2 2 B\nr Q0 i 1 1 B\n"
QRELS = "q 0 a 0\nq 0 c 1\nr 0 e 3\nr 0 z 1\ns 0 g 0\nt 0 g 1\n"


@pytest.fixture
def paths(tmp_path):
    for name, text in (("A", RUN), ("B", OTHER), ("qrels", QRELS)):
        (tmp_path / f"{name}.txt").write_text(text, encoding="utf-8")
    return [tmp_path / "A.txt", tmp_path / "B.txt"], tmp_path / "qrels.txt"


def test_bounds_can_be_asked_for_like_treatments(paths):
    runs = read_runs(*paths)
    scores = evaluate(runs, NAMES, ["lowest", "expected", "highest"]).scores
    bounds = joint_bounds(runs, NAMES).loc[scores.index]
    alone = evaluate(runs, NAMES, "expected").scores
    pd.testing.assert_frame_equal(scores.xs("expected", axis=1, level=1), alone.xs("expected", axis=1, level=1))
    for name in ("lowest", "highest"):
        pd.testing.assert_frame_equal(
            scores.xs(name, axis=1, level=1), bounds.xs(name, axis=1, level=1), check_exact=True
        )
    assert (scores.xs("lowest", axis=1, level=1) < scores.xs("highest", axis=1, level=1)).to_numpy().any()


def test_bounds_are_of_the_lists_that_count(paths):
    runs = read_runs(*paths)
    evaluation = evaluate(runs, "AP", ["lowest", "highest"], missing="skip")
    bounds = joint_bounds(runs, "AP")
    assert evaluation.scores.index.to_list() == [*(("A", "q"), ("A", "r"), ("A", "s"), ("B", "q"), ("B", "r"))]
    assert (
        evaluation.scores["AP"].to_numpy().tolist()
        == bounds["AP"].loc[evaluation.scores.index].to_numpy().tolist()
    )


def test_a_stream_bounds_each_list_by_what_all_runs_have(paths):
    files, qrels = paths
    whole = evaluate(read_runs(*paths), NAMES, ["lowest", "highest"]).scores
    stream = Stream(files, qrels, is_bounded=True)
    parts = stream.parts(lambda runs: evaluate(runs, NAMES, ["lowest", "highest"]))
    scores = pd.concat([part.scores for part in parts])
    pd.testing.assert_frame_equal(scores.loc[whole.index], whole, check_exact=True)
    alone = evaluate(read_runs(files[:1], qrels), "AP", "lowest").scores
    assert (whole["AP"].loc[["A"]]["lowest"] < alone["AP"]["lowest"]).any()


def test_bounds_that_nobody_can_know_are_refused(paths):
    runs = read_runs(*paths)
    with pytest.raises(UsageError, match="unjudged='nonrelevant'"):
        evaluate(runs, "RR", "highest", unjudged="leave_out")
    with pytest.raises(UsageError, match="empty='zero'"):
        evaluate(runs, "RR", "highest", empty="skip")
    stream = Stream(*paths, is_bounded=True)
    with pytest.raises(UsageError, match="empty='zero'"):
        list(stream.parts(lambda part: evaluate(part, "RR", "highest", empty="skip")))
    with pytest.raises(UsageError, match="is_bounded=True"):
        list(Stream(*paths).parts(lambda part: evaluate(part, "RR", "highest")))
    with pytest.raises(UsageError, match=r"need all runs and their judgments\. Call metrics\.evaluate"):
        list(RefinedGroups(Ranking.of(runs, "A")).values(parse("RR"), [treatment("lowest")]))
    with pytest.raises(UsageError, match="one by one"):
        Running("RR", traditional="lowest")
    assert ScoringOptions().unjudged == "nonrelevant"
