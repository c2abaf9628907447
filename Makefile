# The daily commands. `make` alone lists them.
.DEFAULT_GOAL := help
.PHONY: help demo lab compare test test-engines setup setup-engines lint bench nightly report clean

SHELL := /bin/bash
export PATH := $(CURDIR)/.venv/bin:$(PATH)
# Waiting OpenMP threads would spin and slow each other down on a busy machine.
export OMP_WAIT_POLICY ?= PASSIVE

help: ## list these commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: setup ## run the whole pipeline on the active profile (laptop by default)
	@test -f params.yaml || elastic profile use laptop
	@elastic profile check
	@dvc repro
	@$(MAKE) --no-print-directory report

lab: demo ## evaluate the models of `make demo` under every strategy, two evaluations at a time (about 20 minutes)
	@cd lab && python -m lab.side_by_side
	@echo "report: file://$(CURDIR)/lab/reports/index.html (its table: lab/reports/summary.md)"

compare: setup ## train every recipe side by side, two runs at a time (about 90 minutes)
	@cd compare && python -m compare.side_by_side
	@echo "report: file://$(CURDIR)/compare/reports/index.html (its table: compare/reports/summary.md)"

test: setup ## run the test suite
	@python -m pytest -m "not nightly"

test-engines: setup-engines ## run the tests of vLLM in its own environment
	@.venv-engines/bin/python -m pytest tests/engines_vllm

setup: ## make .venv, or bring it up to date
	@infra/setup.sh

setup-engines: ## make .venv-engines, which has vLLM, or bring it up to date
	@infra/setup.sh engines

lint: setup ## style, types and the import contracts
	ruff check
	ruff format --check
	mypy
	lint-imports

bench: setup ## compare engine, training step, sandbox and grader with the alternatives (minutes)
	@python -m bench.engine
	@python -m bench.prefixes
	@python -m bench.train_step
	@python -m bench.sandbox
	@if [ -n "$$ELASTIC_DATA_MIRROR" ]; then python -m bench.grading; \
	else echo "bench.grading needs the golds of MATH500: name their folder in ELASTIC_DATA_MIRROR"; fi

nightly: setup bench ## the longer drills and the benchmark
	@python -m pytest -m nightly

report: ## say where the report is
	@test -f reports/index.html || { echo "no report yet: run make demo" >&2; exit 1; }
	@echo "report: file://$(CURDIR)/reports/index.html (its table: reports/summary.md)"

clean: ## remove caches and what interrupted stages would resume from; keeps environments and every output
	@find . -name __pycache__ -not -path './.venv*' -prune -exec rm -r {} +
	@rm -rf .scratch compare/.scratch lab/.scratch .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis *.egg-info
