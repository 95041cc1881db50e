# Two commands do everything on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --disable-pip-version-check -c constraints.txt
# Tests make thousands of small files durable: in memory, where there is room, nothing waits for that.
MEMORY := $(shell df -Pk /dev/shm 2>/dev/null | awk 'NR == 2 && $$4 > 4000000 {print "TMPDIR=/dev/shm"}')
PYTEST := $(MEMORY) $(BIN)/python -m pytest
WORKERS ?= auto
SIDE_BY_SIDE := -n $(WORKERS) --dist worksteal  # neighbours in one process: they share kernels and fixtures

.PHONY: help demo test test-slow axe lint format bench docs pictures clean
.DEFAULT_GOAL := help

help:  ## Say what each target does
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | awk -F'\t' '{printf "make %-10s %s\n", $$1, $$2}'

demo: $(VENV)/.core  ## Set up and run the main job
	@$(BIN)/rsg demo

# Kernels are run once uncompiled, for coverage; the second run adds to what the first one saw.
test: $(VENV)/.dev  ## Set up and run the tests, in parallel, with the coverage gate
	NUMBA_DISABLE_JIT=1 $(PYTEST) $(SIDE_BY_SIDE) -q -m "kernels and not slow" tests --cov --cov-report=
	$(PYTEST) $(SIDE_BY_SIDE) -m "not slow" --durations=25 --cov --cov-append --cov-report=term-missing:skip-covered --cov-fail-under=95

test-slow: $(VENV)/.dev  ## The long runs: kills, damage, fuzzing, large property counts
	$(PYTEST) $(SIDE_BY_SIDE) -m slow --timeout=3600

axe: out/axe/package/axe.min.js  ## Fetch what tests whether everybody can use the page of the studio (takes npm)

lint: $(VENV)/.dev  ## Formatting, lint rules, strict typing
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

format: $(VENV)/.dev  ## Let ruff put the code in order
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(VENV)/.dev  ## Measure speed; writes benchmarks/results/*.json
	$(BIN)/python -m benchmarks

docs: $(VENV)/.dev  ## Build the documentation site into site/
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo "The site is in site/index.html"

pictures: $(VENV)/.dev  ## Draw the pictures of the documentation anew
	$(BIN)/python docs/pictures.py
	$(BIN)/python -m docs.pictures_of_studio

clean:  ## Remove everything that the other targets made
	rm -rf $(VENV) site build dist .coverage* .pytest_cache .mypy_cache .ruff_cache .hypothesis out/demo
	find src tests reproductions benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +

out/axe/package/axe.min.js:
	@mkdir -p out/axe
	@cd out/axe && npm pack --silent axe-core@4.14.1 && tar -xzf axe-core-*.tgz package/axe.min.js && touch package/axe.min.js

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "rsg needs Python 3.11 or newer; $(PYTHON) is older. Try: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 2; }
	@$(PYTHON) -m venv $(VENV)

$(VENV)/.core: pyproject.toml constraints.txt | $(VENV)/bin/python
	@echo "Installing rsg and what it needs into $(VENV) (a few minutes the first time) ..."
	@$(PIP) --quiet -e '.[studio]'
	@touch $@

$(VENV)/.dev: pyproject.toml constraints.txt | $(VENV)/bin/python
	@echo "Installing rsg and the development tools into $(VENV) (a few minutes the first time) ..."
	@$(PIP) --quiet -e '.[dev,studio,formats,onnx,environments,ompl,pddl]' || { $(PIP) --quiet -e '.[dev,studio,formats,onnx,environments]' && \
	  echo "Planners that others wrote are not to be had here; tests with them are skipped."; }
	@touch $@ $(VENV)/.core
