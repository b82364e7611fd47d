"""The container and its database, read as files: nothing is built or started here."""

import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
from click.testing import CliRunner
from repository import ROOT
from ruamel.yaml import YAML

DOCKERFILE = (ROOT / "deploy/Dockerfile").read_text(encoding="utf-8")
COMPOSE = (ROOT / "deploy/compose.yaml").read_text(encoding="utf-8")
SERVICES = YAML(typ="safe").load(COMPOSE)["services"]
VARIABLE = r"\bTIESCOPE_\w+"


def instructions(name):
    """What follows an instruction of the Dockerfile, each time it is given."""
    return re.findall(rf"^{name} (.+)$", DOCKERFILE, re.MULTILINE)


def test_the_linter_of_the_image_finds_nothing():
    linter = Path(sys.executable).with_name("hadolint")
    listing = subprocess.run(  # noqa: S603 the command is our own
        [linter, "deploy/Dockerfile"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert listing.returncode == 0, listing.stdout + listing.stderr


@pytest.mark.parametrize(
    ("schema", "name"),
    [
        ("compose-spec", "deploy/compose.yaml"),
        ("github-actions", "action.yml"),
        ("citation-file-format", "CITATION.cff"),
    ],
)
def test_a_file_for_other_tools_is_as_their_schema_says(schema, name):
    tool = import_module("check_jsonschema")  # for two seconds, which each process would spend that collects
    check = CliRunner().invoke(tool.main, ["--builtin-schema", f"vendor.{schema}", str(ROOT / name)])
    assert check.exit_code == 0, check.output


def test_the_image_does_not_run_as_root():
    assert instructions("USER")[-1] not in {"root", "0"}


def test_every_base_image_has_a_version_and_is_named_by_its_digest():
    images = [*instructions("FROM"), *(one["image"] for one in SERVICES.values() if "image" in one)]
    assert len(images) == 2
    assert not [image for image in images if not re.fullmatch(r"[a-z]+:\d[\w.-]*@sha256:[0-9a-f]{64}", image)]


def test_the_image_asks_for_sign_in():
    assert instructions("CMD")[-1] == '["tiescope", "app", "--host", "0.0.0.0"]'
    assert "insecure" not in (DOCKERFILE + COMPOSE).lower()


def test_no_port_is_published_to_other_machines():
    ports = [port for one in SERVICES.values() for port in one.get("ports", [])]
    assert ports == ["127.0.0.1:8501:8501"]


def test_neither_the_password_nor_the_allow_list_has_a_default():
    variables = set(re.findall(r"\$\{(\w+)(:\?)?", COMPOSE))
    assert variables >= {("POSTGRES_PASSWORD", ":?"), ("TIESCOPE_ALLOW", ":?")}
    assert {name for name, demanded in variables if not demanded} == {"APP_MEMORY", "DATABASE_MEMORY"}
    secret = {
        key: value for one in SERVICES.values() for key, value in one["environment"].items() if "PASS" in key
    }
    assert all(value.startswith("${POSTGRES_PASSWORD:?") for value in secret.values())
    assert len(secret) == 2


def test_secrets_are_mounted_read_only_where_streamlit_is_told_to_look():
    app = SERVICES["app"]
    (mount,) = [volume for volume in app["volumes"] if isinstance(volume, dict)]
    assert mount["read_only"]
    assert mount["target"] == app["environment"]["STREAMLIT_SECRETS_FILES"]
    assert mount["source"].removeprefix("../") in (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()


def test_every_variable_of_ours_is_one_the_code_reads():
    code = [
        path.read_text(encoding="utf-8")
        for part in ("metrics", "dashboard")
        for path in (ROOT / part).rglob("*.py")
    ]
    in_code = set(re.findall(VARIABLE, " ".join(code)))
    used = set(re.findall(VARIABLE, DOCKERFILE + COMPOSE))
    database = {"TIESCOPE_HOME", "TIESCOPE_DATABASE_URL"}
    assert database | {"TIESCOPE_ALLOW", "TIESCOPE_MAX_VISITORS_MB"} == used
    assert used <= in_code


def test_the_build_sees_all_that_it_copies_and_nothing_else():
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    included = {line.removeprefix("!") for line in ignored if line.startswith("!")}
    copied = {name for line in instructions("COPY") for name in line.split()[:-1]}
    assert ignored[0] == "*"
    assert included == copied
    assert all((ROOT / name).exists() for name in copied)
