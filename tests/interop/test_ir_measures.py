"""ir_measures' own functions and command, with the measures that importing metrics.interop.ir_measures adds."""

import importlib
import itertools
import pickle
import random
import shutil
import subprocess
import sys

import ir_measures
import pandas as pd
import pyarrow as pa
import pytest
from ir_measures import AP, ERR, RR, SDCG, Bpref, IPrec, NumQ, P, Qrel, R, ScoredDoc, Success, nDCG
from repository import REAL_RUNS, ROOT

from metrics import Runs, TieScopeError, UsageError, evaluate, parse, read_runs
from metrics.interop import ir_measures as interop
from metrics.interop.ir_measures import MTRR, TMHits, TsRR, best, tied, worst

pytestmark = pytest.mark.filterwarnings("ignore:ast.:DeprecationWarning")  # how ir_measures reads names

TREATMENT_OF = {tied: "expected", worst: "pessimistic", best: "optimistic"}
EXP = nDCG(dcg="exp-log2")
PLAIN = {
    RR: "RR",
    AP: "AP",
    AP @ 3: "AP@3",
    Bpref: "bpref",
    nDCG: "nDCG-linear",
    EXP: "nDCG",
    **{RR @ k: f"RR@{k}" for k in (1, 3, 10)},
    **{P @ k: f"P@{k}" for k in (1, 5)},
    **{R @ k: f"R@{k}" for k in (1, 5)},
    **{nDCG @ k: f"nDCG-linear@{k}" for k in (1, 5)},
    **{EXP @ k: f"nDCG@{k}" for k in (1, 5)},
    **{Success @ k: f"Hits@{k}" for k in (1, 3)},
}
NAMES = [
    *("MTRR", "MTRR@10", "MTRR(rel=2)@10", "TMHits@3", "TsRR", "TsRR(rel=2)", "worst_RR@5", "best_Success@1"),
    *("tied_P@5", "worst_R(judged_only=True)@10", "best_AP", "tied_nDCG", "worst_nDCG(dcg='exp-log2')@10"),
    "best_nDCG(gains={0:1,2:5})@10",
]


def board(seed, *, scores=(0.0, 0.5, 1.0)):
    """{query: {document: score}} and {query: {document: grade}}; without scores, all differ."""
    chance = random.Random(seed)  # noqa: S311
    names = [f"d{number}" for number in range(30)]
    run, qrels = {}, {}
    for number in range(25):
        documents = chance.sample(names, chance.randint(2, 25))
        if number % 8:
            values = chance.choices(scores, k=30) if scores else chance.sample(range(30), 30)
            run[f"q{number}"] = dict(zip(documents, map(float, values), strict=False))
        if number % 7:
            judged = chance.sample(names, chance.randint(1, 20))
            qrels[f"q{number}"] = {name: chance.choice((-1, 0, 0, 1, 1, 2, 3)) for name in judged}
    return run, qrels


def rows(nested):
    return [(query, document, value) for query, docs in nested.items() for document, value in docs.items()]


def table(nested, value):
    columns = list(zip(*rows(nested), strict=True))
    return pa.table({"query_id": columns[0], "doc_id": columns[1], value: pa.array(columns[2], pa.float64())})


def per_query(measures, qrels, run):
    """{measure: {query: value}}, each query once."""
    values_by_measure = {}
    for metric in ir_measures.iter_calc(measures, qrels, run):
        values = values_by_measure.setdefault(metric.measure, {})
        assert metric.query_id not in values
        values[metric.query_id] = metric.value
    return values_by_measure


@pytest.mark.parametrize("rel", [1, 2])
def test_every_tied_worst_and_best_value_is_that_of_evaluate(rel):
    run, qrels = board(rel)
    runs = Runs({"A": table(run, "score")}, table(qrels, "relevance"))
    ours = evaluate(runs, [*PLAIN.values(), "TsRR"], list(TREATMENT_OF.values()), relevant_from=rel).scores.loc[
        "A"
    ]
    expected = {TsRR(rel=rel): ours["TsRR", "expected"].to_dict()}
    for (plain, name), (wrapper, treatment) in itertools.product(PLAIN.items(), TREATMENT_OF.items()):
        measure = wrapper(plain if plain.NAME == "nDCG" else plain(rel=rel))
        expected[measure] = ours[name, treatment].to_dict()
    assert len(expected) == 3 * len(PLAIN) + 1
    assert per_query(list(expected), qrels, run) == expected


@pytest.mark.parametrize(
    ("params", "measures"),
    [
        ({}, (RR, RR @ 3, AP, AP @ 3, Bpref, P @ 5, R @ 5, Success @ 3, nDCG, nDCG @ 5)),
        ({"rel": 2}, (RR, RR @ 3, AP, AP @ 3, P @ 5, R @ 5, Success @ 3)),
        ({"judged_only": True}, (RR, AP, P @ 5, R @ 5, Success @ 3, nDCG, nDCG @ 5)),
        ({"gains": {0: 1, 1: 5, 3: 0}}, (nDCG, nDCG @ 5)),
        ({"gains": {1: -1}, "judged_only": True}, (nDCG, nDCG @ 5)),
    ],
    ids=str,
)
@pytest.mark.parametrize("seed", range(3))
def test_without_ties_all_three_are_the_value_of_ir_measures_itself(seed, params, measures):
    run, qrels = board(seed, scores=())
    for plain in measures:
        measure = plain(**params)
        theirs = per_query([measure], qrels, run)[measure]
        ours = per_query([wrapper(measure) for wrapper in TREATMENT_OF], qrels, run)
        assert list(ours.values()) == [pytest.approx(theirs)] * 3, measure


@pytest.mark.skipif(shutil.which("perl") is None, reason="ERR of ir_measures is a Perl script")
def test_without_ties_err_is_the_value_of_ir_measures_itself_to_its_five_decimals():
    run, qrels = ({query[1:]: docs for query, docs in side.items()} for side in board(0, scores=()))
    theirs = per_query([ERR @ 3], qrels, run)[ERR @ 3]
    for values in per_query([wrapper(ERR @ 3) for wrapper in TREATMENT_OF], qrels, run).values():
        assert values == pytest.approx(theirs, abs=6e-6)


@pytest.mark.parametrize("seed", range(3))
def test_with_ties_the_value_of_ir_measures_itself_lies_between_worst_and_best(seed):
    run, qrels = board(seed)
    for plain in (RR, RR @ 3, AP, AP @ 3, Bpref, P @ 5, R @ 5, Success @ 3, nDCG @ 5):
        values = per_query([worst(plain), plain, tied(plain), best(plain)], qrels, run)
        for query, value in values[plain].items():
            assert values[worst(plain)][query] <= value + 1e-9, plain
            assert value <= values[best(plain)][query] + 1e-9, plain


def test_of_two_tied_documents_one_relevant_the_first_hit_is_first_half_the_time():
    results = ir_measures.calc([MTRR, TMHits @ 1, RR], {"q": {"a": 1}}, {"q": {"a": 1.0, "b": 1.0}})
    assert results.aggregated[MTRR] == 0.75
    assert results.aggregated[TMHits @ 1] == 0.5
    assert sorted(str(one.measure) for one in results.per_query) == ["MTRR", "RR", "TMHits@1"]


def test_queries_and_means_are_those_of_ir_measures():
    run = {"both": {"a": 1.0}, "unjudged": {"a": 1.0}}
    qrels = {"both": {"a": 1}, "missing": {"b": 1}, "nothing relevant": {"b": 0}, "other": {"b": 1}}
    values = per_query([RR, MTRR], qrels, run)
    assert values[MTRR] == values[RR] == {query: float(query == "both") for query in qrels}
    assert ir_measures.calc_aggregate([RR, MTRR], qrels, run) == {RR: 0.25, MTRR: 0.25}
    assert ir_measures.calc_aggregate([MTRR], qrels, {}) == {MTRR: 0}
    assert ir_measures.calc_aggregate([MTRR], {"no judgment": {}} | qrels, run) == {MTRR: 0.2}
    assert ir_measures.calc_aggregate([MTRR], {}, run)[MTRR] == pytest.approx(float("nan"), nan_ok=True)


def test_dicts_frames_and_iterators_give_equal_values_for_several_runs():
    run, qrels = board(5)
    measures = [MTRR, RR]
    expected = ir_measures.calc_aggregate(measures, qrels, run)
    iterators = (Qrel(*row) for row in rows(qrels)), (ScoredDoc(*row) for row in rows(run))
    assert ir_measures.calc_aggregate(measures, *iterators) == expected
    frames = (
        pd.DataFrame(rows(qrels), columns=["query_id", "doc_id", "relevance"]),
        pd.DataFrame(rows(run), columns=["query_id", "doc_id", "score"]),
    )
    assert MTRR.calc_aggregate(*frames) == expected[MTRR]
    evaluator = ir_measures.evaluator(measures, qrels)
    assert [evaluator.calc_aggregate(each) for each in (run, {}, run)] == [expected, {MTRR: 0, RR: 0}, expected]


def test_ids_that_are_numbers_come_back_as_they_were():
    qrels = pd.DataFrame({"query_id": [7, 8], "doc_id": [1, 1], "relevance": [1, 1]})
    run = pd.DataFrame({"query_id": [7], "doc_id": [1], "score": [1]})
    assert per_query([MTRR], qrels, run) == {MTRR: {7: 1.0, 8: 0.0}}


@pytest.mark.parametrize("name", NAMES)
def test_a_name_reads_back_as_it_prints(name):
    measure = ir_measures.parse_measure(name)
    assert str(measure) == name
    assert ir_measures.providers.registry["tiescope"].supports(measure)
    assert pickle.loads(pickle.dumps(measure)) == measure  # noqa: S301


@pytest.mark.parametrize(
    ("alias", "name"),
    [
        *(("tied_RR@10", "MTRR@10"), ("tied_MRR", "MTRR"), ("tied_Success@3", "TMHits@3")),
        *(("worst_MAP", "worst_AP"), ("best_NDCG@5", "best_nDCG@5"), ("tied_Recall@5", "tied_R@5")),
    ],
)
def test_aliases_of_ir_measures_are_aliases_here(alias, name):
    assert str(ir_measures.parse_measure(alias)) == name


def test_a_measure_of_ir_measures_is_tied_with_its_parameters():
    assert tied(RR(rel=2) @ 10) == MTRR(rel=2) @ 10
    assert tied("Success@3") == TMHits @ 3
    assert str(worst(EXP @ 10)) == "worst_nDCG(dcg='exp-log2')@10"
    with pytest.raises(UsageError, match=r"no best SDCG.*\. Choose AP, Bpref, ERR, nDCG"):
        best(SDCG(max_rel=3) @ 3)
    with pytest.raises(UsageError, match="no tied IPrec"):
        tied(IPrec @ 0.1)


@pytest.mark.parametrize("text", ["NoSuch@3", "nDCG@@3", "nDCG(x=1)@10"])
def test_what_ir_measures_does_not_know_is_refused(text):
    with pytest.raises(UsageError, match=r"ir_measures does not know the measure|nDCG has no parameter 'x'"):
        tied(text)


def test_trec_eval_names_are_read_as_before():
    assert ir_measures.parse_trec_measure("recip_rank") == [RR]
    with pytest.raises(ValueError, match="MTRR"):
        ir_measures.parse_trec_measure("MTRR")


def test_the_listings_of_ir_measures_have_measures_and_provider():
    provider = ir_measures.providers.registry["tiescope"]
    names = {one.NAME for one in provider.SUPPORTED_MEASURES}
    three = {
        f"{wrapper.__name__}_{name}"
        for wrapper in TREATMENT_OF
        for name in ("AP", "Bpref", "ERR", "P", "R", "nDCG")
    }
    hits = {f"{prefix}_{name}" for prefix in ("worst", "best") for name in ("RR", "Success")}
    assert names == {"MTRR", "TMHits", "TsRR"} | three | hits
    for name in names:
        measure = ir_measures.measures.registry[name]
        assert all(parameter.desc for parameter in measure.SUPPORTED_PARAMS.values())
        assert "Source: " in measure.__doc__
        assert measure.SHORT_DESC in measure.__doc__
        assert ".. cite:: " in measure.__doc__ or name == "TsRR"


@pytest.mark.parametrize(
    "name",
    [
        *("MTRR@0", "MTRR(rel=0)", "TMHits@-1", "tied_P@1000000000"),
        *("tied_nDCG(dcg='exp-log2',gains={1:2})@3", "tied_nDCG(gains={1:2.5})"),
    ],
)
def test_what_is_not_computed_is_said_to_be_unsupported(name):
    provider = ir_measures.providers.registry["tiescope"]
    measure = interop.tied_P @ -1 if name == "TMHits@-1" else ir_measures.parse_measure(name)
    assert not provider.supports(measure)
    with pytest.raises(ValueError, match="Unsupported measures"):
        ir_measures.calc_aggregate([measure], {"q": {"a": 1}}, {})


def test_what_the_provider_does_not_have_it_refuses():
    with pytest.raises(UsageError, match="tiescope does not compute NumQ"):
        ir_measures.providers.registry["tiescope"].evaluator([NumQ], {})


@pytest.mark.parametrize(
    ("qrels", "run", "problem"),
    [
        ([Qrel("q", "a", 1)], [ScoredDoc("q", "a", 1.0)] * 2, r"'a' is listed twice.*1 repeated row in all"),
        ([Qrel("q", "a", 1)] * 2, [ScoredDoc("q", "a", 1.0)], "'a' is listed twice for query 'q'"),
        ({"q": {"a": 1}}, {"q": {"a": float("nan")}}, "not a number"),
    ],
)
def test_what_cannot_be_read_is_an_error_of_ours(qrels, run, problem):
    with pytest.raises(TieScopeError, match=problem):
        ir_measures.calc_aggregate([MTRR], qrels, run)


def test_importing_again_changes_nothing():
    before = ir_measures.DefaultPipeline.providers[:]
    registry = dict(ir_measures.measures.registry)
    importlib.reload(interop)
    assert [one.NAME for one in ir_measures.DefaultPipeline.providers] == [one.NAME for one in before]
    assert ir_measures.measures.registry == registry
    measures = [MTRR, interop.MTRR @ 3]
    assert ir_measures.calc_aggregate(measures, {"q": {"a": 1}}, {"q": {"a": 1.0}}) == {MTRR: 1, MTRR @ 3: 1}


def test_without_ir_measures_the_import_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "ir_measures", None)
    monkeypatch.delitem(sys.modules, "metrics.interop.ir_measures")
    with pytest.raises(ImportError, match=r'pip install "tiescope\[ir-measures\]"') as caught:
        importlib.import_module("metrics.interop.ir_measures")
    assert isinstance(caught.value, TieScopeError)


def test_the_command_of_ir_measures_has_them(write):
    qrels = write("qrels.txt", "q 0 a 1\nq 0 b 0\n")
    run = write("run.txt", "q Q0 a 1 1.0 x\nq Q0 b 2 1.0 x\n")
    command = [sys.executable, "-m", "metrics.interop.ir_measures", qrels, run]
    arguments = ["MTRR worst_RR@10", "TMHits@1", "RR", "tied_nDCG(dcg='exp-log2')@10", "--by_query"]
    process = subprocess.run([*command, *arguments], cwd=ROOT, capture_output=True, text=True, check=True)  # noqa: S603
    assert process.stderr == ""
    values = {line.split("\t")[1]: line.split("\t")[2] for line in process.stdout.splitlines()}
    assert values == {
        "MTRR": "0.7500",
        "worst_RR@10": "0.5000",
        "TMHits@1": "0.5000",
        "RR": "0.5000",
        "tied_nDCG(dcg='exp-log2')@10": "0.8155",
    }


@pytest.mark.skipif(not REAL_RUNS.is_dir(), reason="the real runs are not beside the repository")
def test_the_command_prints_the_mtrr_of_a_real_run_that_evaluate_gives(monkeypatch, capsys):
    run, qrels = (REAL_RUNS / "trec-dl-2019" / name for name in ("repllama.trec", "qrels.txt"))
    monkeypatch.setattr(
        sys, "argv", ["ir_measures", str(qrels), str(run), "--places", "-1", "MTRR", "worst_P@5"]
    )
    interop.main_cli()
    scores = evaluate(read_runs([run], qrels), ["RR", "P@5"], ["expected", "pessimistic"]).scores
    printed = dict(line.split("\t") for line in capsys.readouterr().out.splitlines())
    assert round(float(printed["MTRR"]), 4) == 0.9851
    assert float(printed["MTRR"]) == pytest.approx(scores["RR", "expected"].mean(), rel=1e-12)
    assert float(printed["worst_P@5"]) == pytest.approx(scores["P@5", "pessimistic"].mean(), rel=1e-12)


@pytest.mark.filterwarnings("ignore")  # PyTerrier's own
def test_an_experiment_of_pyterrier_has_them():
    pt = pytest.importorskip("pyterrier", reason="PyTerrier is not installed")
    topics = pd.DataFrame({"qid": ["q"], "query": ["anything"]})
    run = pd.DataFrame({"qid": ["q", "q"], "docno": ["a", "b"], "score": [1.0, 1.0], "rank": [0, 1]})
    qrels = pd.DataFrame({"qid": ["q"], "docno": ["a"], "label": [1]})
    measures = [MTRR, TMHits @ 1, tied(nDCG @ 10), ir_measures.parse_measure("worst_RR@10")]
    (row,) = pt.Experiment([run], topics, qrels, measures, names=["all tied"]).to_dict("records")
    values = {"MTRR": 0.75, "TMHits@1": 0.5, "tied_nDCG@10": pytest.approx(0.8154648768), "worst_RR@10": 0.5}
    assert row == {"name": "all tied"} | values


def test_a_measure_of_ir_measures_means_the_same_to_evaluate():
    assert [str(parse(measure)) for measure in PLAIN] == list(PLAIN.values())
    assert str(parse(nDCG(dcg="log2") @ 5)) == "nDCG-linear@5"
    one_list = pd.DataFrame({"doc_id": ["a", "b"], "score": [2, 1], "relevance": [1, 3]})
    assert evaluate(one_list, nDCG @ 5).measures == ("nDCG-linear@5",)


def test_a_measure_with_options_of_ir_measures_is_refused_with_ours():
    with pytest.raises(UsageError, match=r"nDCG-linear.*unjudged='leave_out'"):
        parse(nDCG(judged_only=True) @ 5)
