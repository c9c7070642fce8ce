# Two commands do everything on a fresh machine: `make run` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP_INSTALL = $(BIN)/pip install --quiet --constraint constraints.txt
SHARED_DATA := ../shared/data
PYTEST_ARGS ?=
PYTEST = $(BIN)/python -m pytest $(if $(wildcard $(SHARED_DATA)),,-m "not shared_data") $(PYTEST_ARGS)

.PHONY: run test lint format bench install install-tests chromium clean

run: install
	GRADIO_ANALYTICS_ENABLED=False $(BIN)/python app.py

# The page's tests have the machine for themselves: they measure memory and wait for a browser.
test: install-tests chromium
	@[ -d $(SHARED_DATA) ] || echo "$(SHARED_DATA) is missing: the tests marked shared_data are left out."
	$(PYTEST) -n 2 --dist loadfile tests/unit tests/integration tests/style_lora tests/engines
	$(PYTEST) tests/e2e

lint: install-tests
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: install-tests
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/benchmarks.installed
	$(BIN)/python -m benchmarks

install: $(VENV)/runtime.installed
install-tests: $(VENV)/tests.installed

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Python 3.11 or newer is needed; name one with: make PYTHON=python3.12 ..."; exit 1; }
	@$(PYTHON) -m venv $(VENV) || \
	  { rm -rf $(VENV); echo "Creating $(VENV) failed; on Debian or Ubuntu: apt-get install python3-venv"; exit 1; }

$(VENV)/runtime.installed: requirements.txt constraints.txt | $(BIN)/python
	@echo "Installing the packages of the app into $(VENV): once, some minutes without a word from pip."
	@echo "1.6 GB on the disk with PyTorch's CPU build, several more with its CUDA build (see README.md)."
	$(PIP_INSTALL) -r requirements.txt
	@touch $@

$(VENV)/tests.installed: $(VENV)/runtime.installed tests/requirements.txt vetscanner/training/requirements.txt $(wildcard requirements-*.txt)
	@echo "Installing what the tests need: once, some minutes without a word from pip."
	$(PIP_INSTALL) -r requirements.txt -r tests/requirements.txt
	@touch $@

$(VENV)/benchmarks.installed: $(VENV)/tests.installed benchmarks/requirements.txt
	@command -v pdftoppm >/dev/null || { [ "$$(id -u)" = 0 ] && apt-get update -qq && apt-get install -y -qq poppler-utils >/dev/null; } || \
	  { echo "The comparison with pdf2image needs poppler: apt-get install poppler-utils"; exit 1; }
	@echo "Installing what the benchmarks need ..."
	$(PIP_INSTALL) -r benchmarks/requirements.txt
	@touch $@

# The browser tests drive Debian's Chromium (on Ubuntu, where that package is a snap, any
# Chromium or Chrome named chromium on the PATH serves).
chromium:
	@command -v chromium >/dev/null || { \
	  if [ "$$(id -u)" = 0 ]; then \
	    echo "Installing chromium for the browser tests ..."; \
	    apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium >/dev/null; \
	  else \
	    echo "The browser tests need Chromium. Install it, then run make test again: sudo apt-get install chromium"; \
	    exit 1; \
	  fi; }

clean:
	rm -rf $(VENV) build .mypy_cache .ruff_cache .pytest_cache .hypothesis
