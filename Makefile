# Two commands: `make demo` shows the checker at work, `make test` runs everything that must hold.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test lint types pytest wheel bench rtl host experiments clean

demo: $(VENV)/installed
	@$(BIN)/python experiments/corpus.py
	@$(BIN)/gradual warm-up

test: lint types pytest

lint: $(VENV)/installed-test
	$(BIN)/ruff check .

# gradual.adapters and gradual.datalog stand at the top level; mypy wants them where they are installed.
types: $(VENV)/installed-test
	rm -rf build/types && mkdir -p build/types/gradual
	ln -s $(CURDIR)/gradual/* $(CURDIR)/adapters $(CURDIR)/datalog build/types/gradual/
	cd build/types && ../../$(BIN)/mypy --config-file ../../pyproject.toml

pytest: $(VENV)/installed-test
	@$(BIN)/gradual warm-up
	$(BIN)/pytest -n auto --dist loadgroup

wheel: | $(BIN)/python
	rm -rf build/lib build/bdist.* dist
	$(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir dist .

bench: $(VENV)/installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[bench]"
	$(BIN)/python experiments/ladder.py
	$(BIN)/python -m experiments.bench $(ARGS)
	$(BIN)/python -m experiments.hard $(ARGS)

rtl: $(VENV)/installed
	command -v iverilog >/dev/null || apt-get install -qq -y iverilog || sudo -n apt-get install -qq -y iverilog
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[rtl]"
	$(BIN)/python experiments/rtl/run.py
	$(BIN)/python experiments/rtl/run.py --faults

experiments: $(VENV)/installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[bench,rtl]"
	$(BIN)/python -m experiments.paper $(ARGS)

host: $(VENV)/installed
	$(BIN)/python experiments/host/run.py

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/installed: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	touch $@

$(VENV)/installed-test: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[test]"
	touch $(VENV)/installed $@

clean:
	rm -rf $(VENV) build *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis
