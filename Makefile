# The front door. Every target sets up what it needs in .venv; PYTHON picks the interpreter that makes it.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
SETUP  := $(VENV)/.ready

.PHONY: demo test lint bench docs clean

$(SETUP): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[test,lint,docs]"
	@touch $@

demo: $(SETUP)
	$(BIN)/krein demo --out results

test: $(SETUP)
	$(BIN)/python -m pytest -n 2 -q

lint: $(SETUP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

docs: $(SETUP)
	$(BIN)/python -m sphinx -W --keep-going -b html docs docs/_build/html

clean:
	rm -rf $(VENV) results docs/_build .pytest_cache .ruff_cache .mypy_cache
