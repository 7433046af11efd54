# `make demo` shows Loopwright at work, `make test` runs its tests; both install what they need
# into .venv first.  Needs Python 3.11 or newer, gcc and make.

PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
JOBS ?= 2

# The tests start hundreds of processes: each would compile all modules again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help demo docs web test test-all test-mutants lint coq proofs checker fuzz fuzz-certificates fuzz-storage bench-codegen bench-codegen-fast bench-check bench-recursion bench-speed bench-optimise bench-tadashi bench-latency bench-gpu bench-certificates bench-answers bench-judge bench-faults nvcc clean

help:
	@echo "make demo           two loops rewritten, proved and timed; then loops from a description"
	@echo "make test           all tests, each with some of the programs that it is for"
	@echo "make test-all       all tests, with all of them"
	@echo "make test-mutants   540 mutants of the kernels against the dynamic checker"
	@echo "make lint           ruff and mypy --strict"
	@echo "make checker        the verified checker that transform and codegen ask (needs ocamlopt)"
	@echo "make fuzz           random programs, scripts, mutants, schedules and damaged files for SECONDS=600 seconds"
	@echo "make fuzz-certificates  a thousand wrong certificates against the checker"
	@echo "make fuzz-storage       a thousand random scripts with operations on storage against running"
	@echo "make coq            the Coq library and its axioms (needs coqc)"
	@echo "make proofs         the Coq library, and the proofs made for programs (needs coqc)"
	@echo "make bench-codegen  against isl's generator, over the corpus"
	@echo "make bench-codegen-fast  the same, instructions estimated by interpretation"
	@echo "make bench-check    what checking a run costs, kernel by kernel"
	@echo "make bench-recursion  recursive and cache-oblivious programs, right and with bugs, judged by check"
	@echo "make bench-speed    the kernels by their scripts, beside gcc, clang and Polly"
	@echo "make bench-optimise what loopwright optimise finds for the kernels, beside scripts and peers"
	@echo "make bench-threads  what it finds for two threads, beside Pluto and what two cores can do"
	@echo "make bench-fleet    trials on local workers beside the same trials alone"
	@echo "make bench-blas     matrix products and factorisations by scripts, beside OpenBLAS on one core"
	@echo "make bench-tsvc     by which operations the loops of TSVC become vector loops"
	@echo "make bench-regions  how many regions of public C are read and proved, and why the others are not"
	@echo "make bench-guards   what tests at run time (--guard) cost, each by itself, of the run of its function"
	@echo "make bench-tadashi  Tadashi's moves on the kernels, legal or not, judged by loopwright prove"
	@echo "make bench-latency  how long a user waits for an answer, against limits"
	@echo "make bench-proof-times  whether proofs of the kernels' scripts take longer than they did"
	@echo "make docs           the documentation as a site with search, in build/site"
	@echo "make web            the page of loopwright serve, and moving pictures, from web/ (needs npm)"
	@echo "make bench-gpu      kernels on a GPU: the same bits as the CPU, then times (needs nvcc and a GPU)"
	@echo "make bench-certificates  what the verified checker checks: the kernels' scripts and the corpus"
	@echo "make bench-answers       whether the extracted checker and coqc give the same answers (needs both)"
	@echo "make bench-judge    what Pluto made of the kernels, judged by loopwright prove"
	@echo "make bench-faults   faults planted in that: how many are refused"
	@echo "make bench-mlir     what mlir-opt's affine passes made of the kernels, judged (needs mlir-opt)"
	@echo "make clean          removes what make made"

$(INSTALLED): pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	$(BIN)/python -m compileall -q src
	touch $@

# What users need, without the tools of developers: `make demo` is the first thing tried.
READY := $(VENV)/.ready
$(READY): pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[cvc5,serve,show]'
	$(BIN)/python -m compileall -q src
	touch $@

demo: $(READY)
	@$(BIN)/loopwright demo
	@$(BIN)/python examples/demo.py

# every link between pages is followed, and a page without a place in the menu is an error
docs: $(INSTALLED)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
	@echo build/site/index.html

# what it writes is committed: npm is needed only to change web/
web:
	cd web && npm ci --silent && npx tsc --noEmit && node build.mjs

test: $(INSTALLED)
	$(BIN)/python -m pytest -n $(JOBS) --dist worksteal --durations=25 --durations-min=5

# tests that share programs out among themselves have all of them here; algorithm B needs barvinok, in a folder
# of its own since it brings an islpy
test-all: $(INSTALLED)
	LOOPWRIGHT_TESTS=all $(BIN)/python -m pytest -n $(JOBS) --dist worksteal
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --upgrade --target build/barvinok islpy-barvinok
	LOOPWRIGHT_TESTS=all PYTHONPATH=build/barvinok $(BIN)/python -m pytest -n $(JOBS) tests/check/test_algorithms.py

test-mutants: $(INSTALLED)
	LOOPWRIGHT_TESTS=all LOOPWRIGHT_MUTANTS=18 $(BIN)/python -m pytest -n $(JOBS) tests/check/test_mutants.py

lint: $(INSTALLED)
	$(BIN)/ruff check .
	$(BIN)/mypy --strict

# the library is compiled once: in the user's cache, where the tests look for it; nothing has to be installed for that
coq:
	@command -v coqc > /dev/null || { echo "coqc is not installed: apt install coq (8.16)"; exit 1; }
	cp -p "$$(PYTHONPATH=src $(PYTHON) -m loopwright.prove.coq.check)"/*.vo proofs
	$(MAKE) -j 2 -C proofs

proofs: $(INSTALLED) coq
	$(BIN)/python -m pytest -n $(JOBS) tests/coq tests/backends

# what is accepted or proved is run under sanitizers; SEED=N starts elsewhere
SECONDS ?= 600
SEED ?= 0
fuzz: $(INSTALLED)
	$(BIN)/python -m tests.fuzz --seconds $(SECONDS) --seed $(SEED) --jobs $(JOBS)

# a wrong program with a thousand changed certificates, a thousand texts with another token: none may be accepted
fuzz-certificates: $(INSTALLED)
	LOOPWRIGHT_CERTIFICATES=1000 $(BIN)/python -m pytest -q tests/coq/test_checker.py tests/coq/test_checker_storage.py tests/coq/test_checker_texts.py tests/coq/test_wrong_certificates.py tests/coq/test_checker_buffers.py -k "certificate or token"

# random scripts with operations on storage: what is accepted has to leave the same bits
fuzz-storage: $(INSTALLED)
	$(BIN)/python -m tests.storage.attack --scripts 1000

checker: $(READY)
	$(BIN)/python -m loopwright.prove.certificates.checker

bench-codegen: $(INSTALLED)
	$(BIN)/python -m benchmarks.codegen --jobs $(JOBS)

bench-codegen-fast: $(INSTALLED)
	$(BIN)/python -m benchmarks.codegen --jobs $(JOBS) --instructions interpreter --repetitions 1

bench-check: $(INSTALLED)
	$(BIN)/python -m benchmarks.check

bench-recursion: $(INSTALLED)
	$(BIN)/python -m benchmarks.recursion

bench-speed: $(INSTALLED)
	$(BIN)/python -m benchmarks.speed

bench-optimise: $(INSTALLED)
	$(BIN)/python -m benchmarks.optimising

.PHONY: bench-threads bench-fleet bench-blas bench-tsvc
bench-threads: $(INSTALLED)
	$(BIN)/python -m benchmarks.threads

bench-fleet: $(INSTALLED)
	$(BIN)/python -m benchmarks.fleet --workers $(JOBS)

bench-blas: $(INSTALLED)
	$(BIN)/python -m benchmarks.blas --jobs $(JOBS)

bench-tsvc: $(INSTALLED)
	$(BIN)/python -m benchmarks.tsvc

.PHONY: bench-regions
bench-regions: $(INSTALLED)
	$(BIN)/python -m benchmarks.regions --jobs $(JOBS)

.PHONY: bench-guards
bench-guards: $(INSTALLED)
	$(BIN)/python -m benchmarks.guards --kernels

bench-certificates: $(INSTALLED)
	$(BIN)/python -m benchmarks.certificates scripts
	$(BIN)/python -m benchmarks.certificates corpus

# the extracted checker and coqc, on all that codegen and transform ask of the corpus and of the kernels' scripts
bench-answers: coq checker
	$(BIN)/python -m benchmarks.answers

bench-latency: $(INSTALLED)
	$(BIN)/python -m benchmarks.latency

.PHONY: bench-proof-times
bench-proof-times: $(INSTALLED)
	$(BIN)/python -m benchmarks.proof_times

# the compiler for kernels, with which the tests then compile what they make
nvcc:
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev,cuda]'
	touch $(INSTALLED)

bench-gpu: $(INSTALLED)
	$(BIN)/python -m benchmarks.gpu

bench-judge: $(INSTALLED)
	$(BIN)/python -m benchmarks.judge --jobs $(JOBS)

.PHONY: bench-mlir
bench-mlir: $(INSTALLED)
	$(BIN)/python -m benchmarks.mlir

# the kinds of faults: benchmarks/planting.py
bench-faults: $(INSTALLED)
	$(BIN)/python -m benchmarks.faults --jobs $(JOBS)

# in an environment of its own: this project does not need it
bench-tadashi: $(INSTALLED)
	test -x $(VENV)-tadashi/bin/python || $(PYTHON) -m venv $(VENV)-tadashi
	$(VENV)-tadashi/bin/python -m pip install --quiet --disable-pip-version-check tadashi
	$(BIN)/python -m benchmarks.moves --python $(VENV)-tadashi/bin/python

clean:
	rm -rf $(VENV) $(VENV)-tadashi web/node_modules build dist src/*.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
