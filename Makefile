# Everything a newcomer needs: `make demo` and `make test`. `make help` lists the rest.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# rustup puts cargo here; a shell that was open before does not know it yet. Where the machine has no
# Rust, tools/toolchain.py puts one into .toolchain.
export PATH := $(HOME)/.cargo/bin:$(CURDIR)/.toolchain/bin:$(PATH)
export PYO3_PYTHON := $(CURDIR)/$(BIN)/python

RUNTIME := $(VENV)/.runtime
REQUIREMENTS := $(VENV)/.requirements
EXTENSION := $(VENV)/.extension
RUST_SOURCES := $(shell find crates -name '*.rs' -o -name Cargo.toml) Cargo.toml Cargo.lock

FUZZ_SECONDS ?= 60
DRAWS ?= 60
SEED ?= 1
SOAK_FOR ?= 1 h

.PHONY: help setup demo test test-rust test-python test-deep loom no-sockets alone interop testbed clocks kernel-router soak mutants lint format conformance schema lab bench virtual-kernel virtual-time oracle rounds fuzz fuzz-smoke cost cost-budgets cost-search deep deny advisories msrv features hostile sweeps golden searches matrix lock docs dist semver clean cargo
.DEFAULT_GOAL := help

help: ## List the targets.
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  make \1\t\2/' | expand -t 22

setup: $(EXTENSION) $(REQUIREMENTS) ## Create .venv, install the locked packages, build the extension.

# uv installs in a tenth of pip's time.
INSTALL := VIRTUAL_ENV=$(CURDIR)/$(VENV) $(BIN)/uv pip install --quiet --system-certs --requirements

$(RUNTIME): requirements/runtime.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo 'error: $(PYTHON) is not Python 3.11 or newer: name one, as in make PYTHON=python3.12' >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || \
	  { echo 'error: $(PYTHON) lacks venv: install it, on Debian and Ubuntu by apt install python3-venv' >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check "$$(grep ^uv== requirements/runtime.txt)"
	$(INSTALL) requirements/runtime.txt
	@touch $@

$(REQUIREMENTS): requirements/dev.txt $(RUNTIME)
	$(INSTALL) requirements/dev.txt
	@touch $@

DEVELOP := VIRTUAL_ENV=$(CURDIR)/$(VENV) $(BIN)/maturin develop --uv --locked --quiet

$(EXTENSION): $(RUNTIME) $(RUST_SOURCES) pyproject.toml | cargo
	$(DEVELOP) --profile quick
	@touch $@

cargo:
	@$(PYTHON) tools/toolchain.py

demo: $(EXTENSION) ## Reproduce all papers into out/all and print the path of the report.
	$(BIN)/skywave reproduce --all --stored-ns2 --out out/all
	@echo 'The report is $(CURDIR)/out/all/report.html'

test: test-rust test-python ## Run every test.

test-rust: $(REQUIREMENTS) | cargo
	cargo test --workspace --locked --quiet

test-python: $(EXTENSION) $(REQUIREMENTS)
	$(BIN)/pytest --quiet --numprocesses auto --dist loadfile

loom: | cargo ## Explore the interleavings of an endpoint's threads.
	cargo test --package skywave-net --features loom --lib --locked --quiet interleavings

no-sockets: $(EXTENSION) $(REQUIREMENTS) ## Build the extension without sockets, and test it.
	cargo build --package skywave-python --no-default-features --features module --locked --quiet
	SKYWAVE_WITHOUT_SOCKETS=$(CURDIR)/target/debug/lib_core.so $(BIN)/pytest --quiet tests/test_sockets.py

ALONE := target/alone
alone: $(REQUIREMENTS) | cargo ## Run the library's tests with a wheel that has no papers.
	rm -rf $(ALONE)
	$(BIN)/maturin build --profile quick --locked --quiet --out $(ALONE)/whole
	$(BIN)/python tools/without_papers.py $(ALONE)/whole/*.whl $(ALONE)
	$(BIN)/uv venv --quiet --python $(BIN)/python $(ALONE)/venv
	VIRTUAL_ENV=$(ALONE)/venv $(BIN)/uv pip install --quiet --system-certs --requirements requirements/dev.txt $(ALONE)/*.whl
	$(ALONE)/venv/bin/pytest --quiet --numprocesses auto --dist loadfile --ignore=tests/papers --ignore=tests/validation \
	  --ignore=tests/test_book.py --ignore=tests/test_readme.py --ignore=tests/test_package.py

# The guests need root. -B leaves no root-owned __pycache__ behind.
SUDO := $(if $(filter-out 0,$(shell id -u)),sudo --preserve-env=HOME)

interop: $(EXTENSION) ## Run the matrix of connections with the Linux kernel's DCCP (installs by apt).
	@$(SUDO) $(BIN)/python -B -m validation.linux install
	@$(SUDO) $(BIN)/python -B -m validation.linux matrix --short --kernel --only 'both ways'
	@$(SUDO) $(BIN)/python -B -m validation.linux matrix

testbed: $(EXTENSION) ## Run the papers on both clocks into out/testbed: published, simulated, real time (13 minutes).
	@$(SUDO) $(BIN)/python -B -m validation.testbed --out out/testbed

kernel-router: | cargo ## Test the router in the Linux kernel and measure what it costs (root; installs clang by apt).
	@command -v clang >/dev/null && [ -e /usr/include/bpf/bpf_helpers.h ] || \
	  { $(SUDO) apt-get update -qq && $(SUDO) apt-get install -y -qq --no-install-recommends clang libbpf-dev; } >/dev/null
	cargo test --package skywave-kernel-router --locked --quiet --no-run
	@$(SUDO) env PATH="$(PATH)" cargo test --package skywave-kernel-router --locked --quiet
	@$(SUDO) env PATH="$(PATH)" cargo run --release --package skywave-kernel-router --locked --quiet --example cost

clocks: $(EXTENSION) ## Run examples and Linux's TCP in real time beside simulations, and store the tables.
	@$(SUDO) $(BIN)/python -B -m validation.clocks

soak: $(EXTENSION) ## Run sockets under hostile traffic for SOAK_FOR, and judge memory, descriptors and data.
	$(BIN)/python -m validation.soak run --duration '$(SOAK_FOR)' --out out/soak

MUTANTS := target/tools/bin/cargo-mutants
BASE ?= HEAD~1

$(MUTANTS): | cargo
	cargo install --locked --quiet --root target/tools --version 27.1.0 cargo-mutants

# In a copy of the tree, whose dependencies stay built.
mutants: $(MUTANTS) ## Introduce bugs into the code changed since BASE (HEAD~1), and list those that no test catches.
	@git diff --output=target/mutants.diff $(BASE) --
	CARGO_TARGET_DIR=$(CURDIR)/target/mutants $(MUTANTS) mutants --in-diff target/mutants.diff --output target

lint: $(EXTENSION) $(REQUIREMENTS) | cargo ## Check formats, lints, types, layers and documentation.
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked --quiet -- -D warnings
	cargo clippy -p skywave-python --no-default-features --features module --locked --quiet -- -D warnings
	RUSTDOCFLAGS='-D warnings' cargo doc --workspace --no-deps --locked --quiet
	cargo metadata --manifest-path fuzz/Cargo.toml --locked --format-version 1 >target/fuzz-metadata.json # fails on a stale fuzz/Cargo.lock
	$(BIN)/ruff check --quiet .
	$(BIN)/ruff format --check --quiet .
	$(BIN)/mypy
	@found=$$($(BIN)/lint-imports --no-cache --no-logo) || { echo "$$found"; exit 1; }
	$(BIN)/python -m mypy.stubtest --concise --mypy-config-file pyproject.toml --allowlist tools/stubtest.allow skywave._core
	$(BIN)/python validation/conformance/table.py --check

format: $(REQUIREMENTS) | cargo ## Format Rust and Python.
	cargo fmt --all
	$(BIN)/ruff check --quiet --fix .
	$(BIN)/ruff format --quiet .

conformance: $(REQUIREMENTS) ## Write docs/conformance.md from the ids that tests name.
	$(BIN)/python validation/conformance/table.py

bench: $(EXTENSION) ## Measure the simulator beside ns-2 (where installed) and htsim (HTSIM=PATH), and sockets beside UDP and quinn.
	$(DEVELOP) --release # what is measured is what a wheel has
	$(BIN)/skywave bench standard $(if $(HTSIM),--htsim '$(HTSIM)')
	$(BIN)/skywave bench threads
	cargo run --release --locked --quiet -p skywave-perf --features quinn --example loopback

virtual-kernel: ## Build the Linux kernels of `--virtual-time`, outside the tree, once (six minutes; Debian, or LINUX_SOURCE=FILE).
	tools/virtual-kernel/build

virtual-time: $(EXTENSION) virtual-kernel ## Run on virtual time what waits for hours; store validation/virtual_time, validation/controls and validation/clocks (two hours).
	$(BIN)/pytest --quiet -m 'deep or not deep' tests/test_virtual_time.py
	$(BIN)/python -m validation.linux matrix --virtual-time
	$(BIN)/python -m validation.virtual_time
	$(BIN)/python -m validation.controls
	$(BIN)/python -m validation.clocks --virtual-time
	$(BIN)/python -m validation.testbed --virtual-time --out out/testbed-virtual-time

oracle: $(EXTENSION) ## Compare random runs with ns-2 (stores nothing; needs ns-2).
	$(BIN)/python -m validation.ns2.random --draws $(DRAWS) --seed $(SEED)

rounds: DRAWS = 10000
rounds: | cargo ## Compare random scenarios, executed element by element and as a whole (DRAWS, SEED).
	DRAWS=$(DRAWS) SEED=$(SEED) cargo test --package skywave-sim --locked --quiet --lib results_do_not_depend

fuzz: | cargo ## Run each fuzz target for a minute (FUZZ_SECONDS), with the address sanitizer.
	SANITIZER=address fuzz/run $(FUZZ_SECONDS)

fuzz-smoke: | cargo ## Run each fuzz target for ten seconds.
	fuzz/run 10

cost: | cargo ## Compare the instructions that the worst known packets take with their budgets (needs valgrind).
	cd fuzz && cargo bench --locked --quiet --bench cost

cost-budgets: | cargo ## Store those budgets.
	cd fuzz && cargo bench --locked --quiet --bench cost -- store

cost-search: | cargo ## Find the worst packets among those of `make fuzz`, and store them and their budgets.
	cd fuzz && cargo bench --locked --quiet --bench cost -- search

# What is too long for CI; each part may be run alone.
deep: FUZZ_SECONDS = 300
deep: SOAK_FOR = 30 min
deep: deny features hostile rounds fuzz interop soak sweeps alone test-deep ## Run the checks that take too long for CI: deny, features, hostile, rounds, fuzz, interop, soak, sweeps, alone, test-deep.

test-deep: $(EXTENSION) $(REQUIREMENTS) ## Run the Python tests that are marked as deep.
	$(BIN)/pytest --quiet -m deep

deny: | cargo ## Check licences, sources and duplicates of the dependencies (installs cargo-deny).
	@command -v cargo-deny >/dev/null || cargo install --locked cargo-deny
	cargo deny --locked check -D unmatched-skip bans licenses sources
	cargo deny --locked --manifest-path fuzz/Cargo.toml check -A unmatched-skip bans licenses sources

advisories: | cargo ## Check the dependencies for known vulnerabilities (installs cargo-deny, fetches RustSec).
	@command -v cargo-deny >/dev/null || cargo install --locked cargo-deny
	cargo deny --locked check advisories
	cargo deny --locked --manifest-path fuzz/Cargo.toml check advisories

MSRV = $(shell sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)

msrv: | cargo ## Build the crates with the oldest supported compiler, rust-version in Cargo.toml (needs rustup).
	cargo +$(MSRV) check --workspace --exclude skywave-python --all-features --locked --quiet

features: $(REQUIREMENTS) | cargo ## Check each crate with each set of its features (installs cargo-hack).
	@command -v cargo-hack >/dev/null || cargo install --locked cargo-hack
	cargo hack --workspace --feature-powerset --exclude-features default clippy --locked --quiet -- -D warnings

hostile: | cargo ## Send 200,000 random connections over hostile paths, and a million hostile packets to a socket.
	SKYWAVE_CONNECTIONS=200000 cargo test --locked --quiet -p skywave-transport --test dccp chaos
	SKYWAVE_PACKETS=1000000 cargo test --locked --quiet -p skywave-net --test hostile -- --nocapture

sweeps: $(EXTENSION) $(REQUIREMENTS) ## Interrupt sweeps of 10,000 runs, here and on a Dask cluster whose workers die.
	SKYWAVE_SWEEP_RUNS=10000 $(BIN)/pytest --quiet tests/test_sweep.py tests/test_sweep_cluster.py -k interrupted

golden: $(EXTENSION) ## Run ns-2 and store its results (needs ns-2).
	$(BIN)/python -m skywave.papers golden

searches: $(EXTENSION) ## Recompute and store what takes minutes: searches, readings, sweeps, variants of papers.
	$(BIN)/python -m skywave.papers stored

matrix: $(EXTENSION) ## Run the matrix with its defaults and store its table; then review its text.
	$(BIN)/python -m skywave_papers.matrix

schema: $(EXTENSION) ## Generate what derives from the schema: JSON Schema, Python classes, docs/scenario.md.
	$(BIN)/python -m tools

docs: $(EXTENSION) $(REQUIREMENTS) ## Build the book into out/book.
	$(BIN)/sphinx-build --quiet --fail-on-warning --keep-going docs out/book
	@echo 'The book is $(CURDIR)/out/book/index.html'

lab: ## Build the page of skywave lab into the package (needs Node 20).
	cd lab && npm ci --no-fund --no-audit --loglevel=error && npm run --silent build

LOCK_GROUP := $(BIN)/uv pip compile --quiet --system-certs --universal --python-version 3.11 --no-header --no-annotate \
  --no-emit-index-url
LOCK := $(LOCK_GROUP) --all-extras pyproject.toml

lock: $(RUNTIME) ## Update the locked Python dependencies.
	$(LOCK) --upgrade --group contributing -o requirements/dev.txt
	$(LOCK) --group build --constraints requirements/dev.txt -o requirements/runtime.txt
	$(LOCK_GROUP) --group dist --constraints requirements/dev.txt -o requirements/dist.txt
	$(LOCK_GROUP) --group toolchain --constraints requirements/dist.txt -o requirements/toolchain.txt

# Two wheels for each Python from 3.11 on, for every Linux with glibc 2.28 (2018) or newer.
WHEEL := CARGO_ZIGBUILD_PYTHON_PATH=$(CURDIR)/$(BIN)/python $(BIN)/maturin build --release --locked --quiet --strip --zig --compatibility manylinux_2_28 --out dist

dist: $(REQUIREMENTS) | cargo ## Build wheels (x86_64 and aarch64), the source distribution and the crates into dist, and try them.
	$(INSTALL) requirements/dist.txt
	@command -v rustup >/dev/null || \
	  { echo 'error: rustup is missing, which installs what wheels for other processors need: see https://rustup.rs' >&2; exit 1; }
	rm -rf dist target/package
	rustup target add --toolchain '$(shell sed -n 's/^channel = "\(.*\)"/\1/p' rust-toolchain.toml)' x86_64-unknown-linux-gnu aarch64-unknown-linux-gnu
	$(WHEEL) --target x86_64-unknown-linux-gnu
	$(WHEEL) --target aarch64-unknown-linux-gnu
	$(BIN)/maturin sdist --out dist
	cargo package --workspace --exclude skywave-python --locked --quiet
	cp target/package/*.crate dist
	SKYWAVE_DIST=dist $(BIN)/pytest --quiet tests/test_package.py
	@ls -lh dist

semver: | cargo ## Compare the crates' public API with the last release's (installs cargo-semver-checks).
	@last=$$(git describe --tags --match 'v*' --abbrev=0 HEAD^ 2>/dev/null) || \
	  { echo 'Nothing was released before: there is no earlier tag v* to compare with'; exit 0; }; \
	  command -v cargo-semver-checks >/dev/null || cargo install --locked cargo-semver-checks; \
	  cargo semver-checks --workspace --exclude skywave-python --baseline-rev "$$last"

clean: ## Remove build outputs; reports in out/ stay.
	rm -rf $(VENV) .toolchain target fuzz/target dist .mypy_cache .ruff_cache .pytest_cache
	find python -name '*.so' -delete
