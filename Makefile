# Two commands for a fresh machine: `make demo` and `make test`.

CARGO ?= cargo
PYTHON ?= python3
TARGET := $(or $(CARGO_TARGET_DIR),target)
GANNET := $(TARGET)/quick/gannet
DEMO := target/demo

.PHONY: demo test lint python-tests soak-ray wheel dist tables lab lab-quick memory help

# Indexes the sample and asks it a few questions. Without object storage and jemalloc, which take
# long to build, and with the engine optimized a little less.
demo:
	$(CARGO) build --profile quick --locked --package gannet-cli --no-default-features
	@rm -rf $(DEMO) && mkdir -p $(DEMO)
	@scripts/demo $(GANNET) $(DEMO)

# How the Python module is built: for whatever interpreter loads it. Lints and tests must agree.
export PYO3_BUILD_EXTENSION_MODULE = 1

# Everything that has to hold for every change.
test: lint
	$(PYTHON) scripts/tables --check
	$(PYTHON) -m unittest discover --start-directory lab
	$(CARGO) test --workspace --locked
	$(MAKE) python-tests PACKAGES='--workspace --lib --bins --tests'

# The Python package: types, stubs, pytest. It is built into target/venv.
python-tests:
	PYTHON=$(PYTHON) PACKAGES='$(PACKAGES)' scripts/python-tests

# Shards on Ray for hours: 100 processes killed and 20 nodes lost, while writing and searching. It
# uses the environment of `make python-tests`.
soak-ray:
	$(PYTHON) measure/shard_kills.py --python target/venv/bin/python

# A wheel for every Linux since glibc 2.28, with the command in it.
wheel:
	PYTHON=$(PYTHON) scripts/wheel

# The command as one static file, with man pages, completions, checksums and the licences of its
# crates.
dist:
	PYTHON=$(PYTHON) scripts/dist

lint:
	$(CARGO) fmt --all --check
	$(CARGO) fmt --manifest-path fuzz/Cargo.toml --check
	$(CARGO) clippy --workspace --all-targets --locked -- -D warnings
	RUSTDOCFLAGS='-D warnings' $(CARGO) doc --package gannet --package gannet-remote --no-deps --locked --quiet
	@if $(CARGO) deny --version >/dev/null 2>&1; then $(CARGO) deny --locked check licenses sources bans; \
	else echo "skipped: licences and sources of dependencies, for cargo-deny is not installed"; fi

# The tables of README and docs, from the results in docs/results/.
tables:
	$(PYTHON) scripts/tables

# The results of the pages again, each by the command in its file, for hours. It ends with status 1
# and a list of the targets that are missed, if any is. See docs/experiments/method.md.
lab:
	$(PYTHON) lab/whole.py

# All scripts of the lab with little of everything: minutes, and no figures to quote.
lab-quick:
	$(PYTHON) lab/quick.py

# Peak memory against the memory budget: the whole matrix on a twentieth of each corpus. See
# docs/experiments/memory.md.
memory:
	$(PYTHON) lab/memory.py --scale twentieth --resume
	$(PYTHON) lab/missed.py target/results/memory-twentieth.json

# Measurements and longer proofs, one for each promise, see measure/README.md: measure-relevance, for example.
measure-%:
	$(PYTHON) measure/$*.py

# The targets, a line for each.
help:
	@echo "make demo          build the command and try it on the sample"
	@echo "make test          formatting, lints, links and all tests"
	@echo "make lint          formatting, lints and links of the API docs"
	@echo "make python-tests  tests of the Python package"
	@echo "make soak-ray      shards on Ray, while processes are killed and nodes lost"
	@echo "make wheel         the Python package as a wheel, in target/dist"
	@echo "make dist          the command as one static file, in target/dist"
	@echo "make tables        write the tables of the docs from docs/results"
	@echo "make lab           the results of the pages again, for hours"
	@echo "make lab-quick     all scripts of the lab with little of everything, in minutes"
	@echo "make memory        peak memory against the memory budget"
	@for script in measure/*.py; do name=$$(basename $$script .py); \
		case $$name in harness|ndcg|passages|python_environment|*_runs) ;; *) \
		printf 'make measure-%-14s %s\n' $$name "$$(sed -n '2s/^"""//; 2s/"""$$//p' $$script)";; esac; done
