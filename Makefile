# Two commands for a fresh machine: `make demo` and `make test`.

CARGO ?= cargo
PYTHON ?= python3
TARGET := $(or $(CARGO_TARGET_DIR),target)
GANNET := $(TARGET)/release/gannet
DEMO := target/demo

.PHONY: demo test lint

# Indexes the sample and asks it a few questions.
demo:
	$(CARGO) build --release --locked --package gannet-cli
	@rm -rf $(DEMO) && mkdir -p $(DEMO)
	@scripts/demo $(GANNET) $(DEMO)

# Everything that has to hold for every change.
test: lint
	$(CARGO) test --workspace --locked

lint:
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --locked -- -D warnings

# Measurements and longer proofs, one for each promise: show-1 to show-8.
show-%:
	$(PYTHON) show/show_$*.py
