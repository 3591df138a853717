# Everything here needs python3 (3.11 or newer), make and a package index, and sets itself up in .venv.
#
#   make demo      a small real model behind a cache (GGUF=path, BASE_URL=... MODEL=..., MODEL=smollm2)
#   make test      the test suite             make lint, make types    ruff, mypy
#   make notebooks run all notebooks          make examples            run all examples
#   make wheel-check build and try the wheel  make versions            the adapters with the oldest frameworks
#   make bench     the paper's benchmark      make bench-quick         the same in under three minutes
#   make bench-speed   what the cache itself costs
#   make clean     remove what make made (models and pip's cache stay)
#
# PyTorch is installed first, from TORCH: what a plain `pip install torch` brings differs between machines. For a CPU
# build elsewhere, add its index: make TORCH="torch --index-url <the CPU index that pytorch.org names>".

PYTHON ?= python3
TORCH ?= torch==2.13.0
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check -qq
DEMO_CACHE ?= .cache/demo

.DEFAULT_GOAL := help
.PHONY: help demo test lint types notebooks examples wheel-check versions bench bench-quick bench-speed clean

help:
	@sed -n 's/^#  //p' Makefile

# A failing recipe leaves no stamp, so the next run takes it up again.
$(VENV)/.made:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "StepCache needs Python 3.11 or newer: make PYTHON=python3.12")'
	$(PYTHON) -m venv $(VENV)
	$(PIP) install --upgrade "pip>=25.1"
	touch $@

$(VENV)/.torch: $(VENV)/.made
	@echo "Installing $(TORCH)"
	$(PIP) install $(TORCH)
	touch $@

$(VENV)/.demo: $(VENV)/.torch pyproject.toml
	@echo "Installing StepCache with what the demo needs"
	$(PIP) install -e '.[demo]'
	touch $@

$(VENV)/.dev: $(VENV)/.torch pyproject.toml
	@echo "Installing StepCache with all extras and the development tools"
	$(PIP) install -e '.[all]' --group dev
	touch $@ $(VENV)/.demo

demo: $(VENV)/.demo
	$(BIN)/stepcache demo --cache "$(DEMO_CACHE)" $(if $(GGUF),--gguf "$(GGUF)") $(if $(BASE_URL),--base-url "$(BASE_URL)") $(if $(MODEL),--model "$(MODEL)")

test: $(VENV)/.dev
	$(BIN)/python -m pytest $(ARGS)

lint: $(VENV)/.dev
	$(BIN)/ruff check .

types: $(VENV)/.dev
	$(BIN)/mypy

notebooks: $(VENV)/.dev
	$(BIN)/jupyter execute notebooks/*.ipynb

examples: $(VENV)/.dev
	for script in examples/*.py; do echo "== $$script"; $(BIN)/python $$script || exit 1; done

wheel-check: $(VENV)/.dev
	$(BIN)/python .ci/wheel_check.py

versions: $(VENV)/.dev
	$(BIN)/python .ci/versions.py $(ARGS)

bench: $(VENV)/.dev
	$(BIN)/python -m benchmarks.paper run $(ARGS)

bench-quick: $(VENV)/.dev
	$(BIN)/python -m benchmarks.paper quick $(ARGS)

bench-speed: $(VENV)/.dev
	$(BIN)/python -m benchmarks.speed $(ARGS)

clean:
	rm -rf $(VENV) .cache build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
