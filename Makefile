# Two commands for a fresh machine: `make demo` and `make test`. Research has a Makefile of its own:
# `make -C research help`.

CARGO ?= cargo
PYTHON ?= python3
TARGET := $(or $(CARGO_TARGET_DIR),target)
GANNET := $(TARGET)/quick/gannet
DEMO := target/demo

.PHONY: demo test test-fast lint clients python-tests wheel wheel-portable dist tables help

# Indexes the sample and asks it a few questions. Without object storage, which takes long to build,
# and with the engine optimized a little less.
demo:
	$(CARGO) build --profile quick --locked --package gannet-cli --no-default-features
	@rm -rf $(DEMO) && mkdir -p $(DEMO)
	@scripts/demo $(GANNET) $(DEMO)

# How the Python module is built: for whatever interpreter loads it. Lints and tests must agree.
export PYO3_BUILD_EXTENSION_MODULE = 1

# Everything that has to hold for every change of the product, with the figures of its pages.
test: lint
	$(PYTHON) scripts/claims --check
	cd research && "$$(../scripts/venv)" -m unittest tests.test_claims tests.test_links
	$(CARGO) test --workspace --locked
	PYTHON=$(PYTHON) GANNET=$(TARGET)/debug/gannet scripts/client-tests
	$(MAKE) python-tests PACKAGES='--workspace --lib --bins --tests'

# What a change of the engine or of the package needs first: lints, all tests in Rust, the Python
# package without Ray and without types.
test-fast: lint
	$(CARGO) test --workspace --locked
	PYTHON=$(PYTHON) PACKAGES='--workspace --lib --bins --tests' FAST=yes scripts/python-tests

# Many clients of Elasticsearch and OpenSearch, each from its registry: a line for each.
clients:
	$(CARGO) build --locked --package gannet-cli
	GANNET=$(TARGET)/debug/gannet $(PYTHON) scripts/clients

# The Python package: types, stubs, pytest. It is built into target/venv.
python-tests:
	PYTHON=$(PYTHON) PACKAGES='$(PACKAGES)' scripts/python-tests

# A wheel for this machine, with the command in it, built as quickly as the demo.
wheel:
	PYTHON=$(PYTHON) scripts/wheel

# The wheel of a release, for every Linux since glibc 2.28.
wheel-portable:
	PYTHON=$(PYTHON) scripts/wheel --portable

# The command as one static file, with man pages, completions, checksums and the licences of its
# crates.
dist:
	PYTHON=$(PYTHON) scripts/dist

lint:
	$(CARGO) fmt --all --check
	$(CARGO) fmt --manifest-path fuzz/Cargo.toml --check
	$(CARGO) clippy --workspace --all-targets --locked -- -D warnings
	RUSTDOCFLAGS='-D warnings' $(CARGO) doc --package gannet --package gannet-remote --package gannet-server --no-deps --locked --quiet
	@if $(CARGO) deny --version >/dev/null 2>&1; then $(CARGO) deny --locked check licenses sources bans; \
	else echo "skipped: licences and sources of dependencies, for cargo-deny is not installed"; fi

# The tables of README, docs and research, from the results beside the pages.
tables:
	$(PYTHON) scripts/claims

# The targets, a line for each.
help:
	@echo "make demo          build the command and try it on the sample"
	@echo "make test          formatting, lints, links and all tests of the product"
	@echo "make test-fast     the same without Ray, types of Python and figures of the pages"
	@echo "make lint          formatting, lints and links of the API docs"
	@echo "make clients       many clients of Elasticsearch against the server, from their registries"
	@echo "make python-tests  tests of the Python package"
	@echo "make wheel         the Python package as a wheel for this machine, in target/dist"
	@echo "make wheel-portable  the same for every Linux since glibc 2.28, as it is released"
	@echo "make dist          the command as one static file, in target/dist"
	@echo "make tables        write the tables of the pages from the results"
	@echo "make -C research help   measurements, proofs and papers"
