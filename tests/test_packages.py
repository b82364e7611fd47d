"""What is published: a wheel and an sdist that hold all they need and run away from the repository."""

import json
import re
import subprocess
import sys
import tarfile
import tomllib
import urllib.request
import zipfile

import pytest
from empty_environment import empty_environment, output_of
from repository import ROOT
from servers import TIESCOPE, free_port, running

from dashboard.cli.commands import COMMANDS

PACKAGES = ("metrics", "dashboard")
SAMPLES = {
    "sample_data/llm_rerankers.csv",
    *(f"sample_data/docsearch/{name}" for name in ("docsearch.parquet", "leaderboard.csv", "prompts.parquet")),
}
"""What the app opens; in the repository beside the package that it is in where it is installed."""
OF_EXTRAS = (
    *("streamlit", "scipy", "plotly", "sqlalchemy", "jinja2"),
    *("alembic", "starlette", "platformdirs"),
)
LOCKED = re.compile(r"^([\w.-]+)==([\w.]+)", re.MULTILINE)
VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
EVERY_PAGE = """
from pathlib import Path
from streamlit.testing.v1 import AppTest
import dashboard
from dashboard.pages import PAGES

assert "site-packages" in dashboard.__file__, dashboard.__file__
app = Path(dashboard.__file__).with_name("app.py")
for shown in PAGES:
    page = AppTest.from_file(str(app), default_timeout=120).switch_page(shown.file).run()
    assert not page.exception, (shown.file, page.exception)
print(len(PAGES))
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The wheel and the sdist of this checkout."""
    folder = tmp_path_factory.mktemp("built")
    command = [sys.executable, "-m", "hatchling", "build", "-d", folder, "-t", "wheel", "-t", "sdist"]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    return next(folder.glob("*.whl")), next(folder.glob("*.tar.gz"))


def tracked(*folders):
    """Files of the repository below some folders, as built packages name them."""
    paths = (path for folder in folders for path in (ROOT / folder).rglob("*"))
    return {
        path.relative_to(ROOT).as_posix()
        for path in paths
        if path.is_file() and "__pycache__" not in path.parts and "shots" not in path.parts
    }


def test_the_wheel_holds_every_file_of_the_packages_and_no_other(built):
    names = zipfile.ZipFile(built[0]).namelist()
    assert {name for name in names if ".dist-info/" not in name} == {
        name.removeprefix("dashboard/installed/") for name in tracked(*PACKAGES)
    } | {f"dashboard/{name}" for name in SAMPLES}


def test_the_sdist_holds_what_its_tests_need(built):
    with tarfile.open(built[1]) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert names >= tracked(*PACKAGES, "sample_data", "tests", "docs")
    assert names >= {
        "mkdocs.yml",
        "pyproject.toml",
        "README.md",
        "LICENSE",
        "SECURITY.md",
        "CITATION.cff",
        "requirements/dev.txt",
    }
    assert not [name for name in names if name.startswith((".venv", "dist/", ".git/"))]


def test_every_place_that_names_the_version_names_the_same():
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    version, day = re.search(r"^## (\d\S*) - (\S+)$", changes, re.MULTILINE).groups()
    cited = re.search(r'^version: (.*)\ndate-released: "(.*)"$', citation, re.MULTILINE)
    assert cited.groups() == (version, day)
    assert version == VERSION


def test_commands_start_without_the_packages_of_extras():
    code = f"import sys; sys.modules.update(dict.fromkeys({OF_EXTRAS})); from dashboard.cli import commands"
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    """The interpreter of an empty environment."""
    return empty_environment(tmp_path_factory.mktemp("environment"))


def install(python, *what):
    subprocess.run([python, "-m", "pip", "install", "--quiet", *what], check=True)


def works(python, folder, monkeypatch):
    """Check that the installed command scores, and that each page of the installed app opens."""
    tiescope = python.with_name("tiescope")
    assert output_of([tiescope, "--version"], folder) == f"tiescope {VERSION}\n"
    (folder / "judged.csv").write_text("query_id,doc_id,score,relevance\nq,a,1,1\nq,b,1,0\n", encoding="utf-8")
    command = [tiescope, "evaluate", "judged.csv", "-m", "RR", "--ties", "expected", "--format", "csv"]
    assert output_of(command, folder).splitlines()[1] == "judged,RR,expected,0.75"
    command = [tiescope, "report", "judged.csv", "-o", "report.html"]
    output_of(command, folder)
    assert "MTRR" in (folder / "report.html").read_text(encoding="utf-8")
    assert int(output_of([python, "-c", EVERY_PAGE], folder)) > 10
    monkeypatch.chdir(folder)
    monkeypatch.delenv("PYTHONPATH", raising=False)
    monkeypatch.setattr(sys, "executable", str(python))
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    with running([*TIESCOPE, "app", "--port", str(port)], f"{address}/_stcore/health", folder):
        assert b"<title>" in urllib.request.urlopen(address, timeout=60).read()


def bytes_of(folder):
    return sum(path.lstat().st_size for path in folder.rglob("*"))


@pytest.fixture(scope="module")
def bare(built, tmp_path_factory):
    """The interpreter of an environment with the wheel and no extra, and how many bytes that added."""
    folder = tmp_path_factory.mktemp("bare")
    python = empty_environment(folder)
    empty = bytes_of(folder)
    install(python, built[0])
    return python, bytes_of(folder) - empty


@pytest.mark.slow
def test_the_library_alone_is_small_and_brings_no_app_and_no_statistics(bare, tmp_path):
    python, size = bare
    assert size < 370e6
    found = f"import importlib.util as u; print([name for name in {OF_EXTRAS} if u.find_spec(name)])"
    assert output_of([python, "-c", found], tmp_path) == "[]\n"
    score = "import tiescope; print(tiescope.score({'q': {'a': 1.0, 'b': 1.0}}, qrels={'q': {'a': 1}}))"
    assert "0.75" in output_of([python, "-c", score], tmp_path)


@pytest.mark.slow
def test_each_command_says_which_extra_it_needs_as_the_documentation_does(bare, tmp_path, monkeypatch):
    monkeypatch.delenv("PYTHONPATH", raising=False)
    (tmp_path / "llm.trec").write_text("".join(f"q{i} Q0 {d} 1 1 t\n" for i in range(3) for d in "ab"), "utf-8")
    (tmp_path / "bm25.trec").write_text("".join(f"q{i} Q0 b 1 1 t\n" for i in range(3)), "utf-8")
    judgments = "q0 0 b 0\n" + "".join(f"q{i} 0 a 1\n" for i in range(3))
    (tmp_path / "qrels.txt").write_text(judgments, "utf-8")
    (tmp_path / "table.csv").write_text("reranker,MRR\nllm,1\nbm25,0\n", "utf-8")
    runs = ["llm.trec", "bm25.trec", "--qrels", "qrels.txt"]
    options = {
        "audit": [*runs, "--published", "table.csv"],
        "app": [],
        "conformance": [],
        "gate": [*runs, "--require", "MTRR>=0"],
        "permutations": ["llm.trec", "--query", "q1", "--qrels", "qrels.txt"],
        "simulate": ["-o", "simulated.csv"],
    }
    page = (ROOT / "docs/index.md").read_text("utf-8")
    table = re.findall(r"^\| `tiescope(?:\[(\w+)\])?` \|.*\| (`\w.*)\|$", page, re.MULTILINE)
    listed = {name: extra for extra, names in table for name in re.findall(r"`([\w-]+)`", names)}
    assert listed.keys() == COMMANDS.keys()
    for name, extra in listed.items():
        command = [bare[0].with_name("tiescope"), name, *options.get(name, runs)]
        ended = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False, text=True)
        says_extra = ended.stderr.rstrip().endswith(f'Install it: pip install "tiescope[{extra}]"')
        assert says_extra == bool(extra), (name, ended.stderr)
        assert ended.returncode in ({2} if extra else {0, 1}), (name, ended.stderr)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [0, 1], ids=["wheel", "sdist"])
def test_what_is_built_works_in_an_empty_environment(built, python, tmp_path, monkeypatch, kind):
    install(python, "--force-reinstall", "--no-deps", built[kind])
    install(python, f"{built[kind]}[app]")
    works(python, tmp_path, monkeypatch)


@pytest.mark.slow
def test_the_bill_of_materials_agrees_with_the_lock_file(python, tmp_path):
    install(python, "cyclonedx-bom")
    recipe = re.search(
        r"^\t\$\(BIN\)/(cyclonedx-py .*)$", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE
    )
    command = recipe[1].replace("dist/sbom.json", str(tmp_path / "sbom.json")).split()
    subprocess.run([python.with_name(command[0]), *command[1:]], cwd=ROOT, check=True, capture_output=True)
    bill = json.loads((tmp_path / "sbom.json").read_text(encoding="utf-8"))
    lock = (ROOT / "requirements/server.txt").read_text(encoding="utf-8")
    assert {(one["name"], one["version"]) for one in bill["components"]} == set(LOCKED.findall(lock))
    hashes = {file["content"] for one in bill["components"] for file in one["externalReferences"][0]["hashes"]}
    assert hashes == set(re.findall(r"sha256:([0-9a-f]{64})", lock))
    assert (bill["bomFormat"], bill["metadata"]["component"]["version"]) == ("CycloneDX", VERSION)
