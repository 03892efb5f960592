# Each target does its own set-up. Needed on the machine: Rust (cargo); for the page npm, without which it is left
# out; for `bench` and `bench-peers` Python 3.

.DEFAULT_GOAL := help
.PHONY: help demo test viewer gallery book parquet bench bench-long bench-peers soak fuzz

# Number of problems of `make soak`.
SOAK ?= 100000
# Number of pairs of bodies, and of scene files, of `make fuzz`.
FUZZ ?= 1000000

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-11s  %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: ## solve a step, simulate a wrecking ball; certificates, report, pictures and a page that replays it
	@bash scripts/viewer.sh || test $$? = 77
	cargo run --locked --release -p stiction-cli -- demo --out out/demo
	@test -f out/demo/stack.svg || { echo "make demo: out/demo/stack.svg was not written" >&2; exit 1; }
	@echo
	@echo "Open the pictures and the page in a browser. Next: make gallery for every scene of scenes/, make book for the book."

test: ## formatting, clippy, documentation, tests, doc tests, and the page in a browser
	@bash scripts/test.sh

viewer: ## build the page that `stiction view` and `--html` need, with npm
	@bash scripts/viewer.sh

gallery: ## run every scene of scenes/; a page with a picture and a replay of each: out/gallery/index.html
	@bash scripts/viewer.sh
	cargo run --locked --release -p stiction-cli -- gallery scenes --out out/gallery

book: ## build the book: out/book/index.html
	@bash scripts/book.sh

parquet: ## lint and test the command with its feature `parquet`, which `make test` leaves out
	cargo clippy --locked --release -p stiction-cli --all-targets --features parquet -- -D warnings
	cargo test --locked --release -p stiction-cli --features parquet --test runs parquet

bench: ## time solvers, steps of first and second order, gap queries beside parry, Lemke's method beside quantecon's
	@bash scripts/bench.sh

bench-long: ## 100,000 steps of a wall and of a drum, heaps of jacks, piles of 10,000 cubes: half an hour
	@bash scripts/bench_long.sh

bench-peers: ## this project beside six other engines on the same scenes (PEERS=folder for them, 4 GB)
	@bash scripts/bench_peers.sh

soak: ## solve and certify many random contact problems (SOAK=100000)
	cargo run --locked --release -p stiction-lab -- soak --count $(SOAK)
	cargo run --locked --release -p stiction-lab -- soak --count $(SOAK) --circles

fuzz: ## random pairs of bodies against parry, and scene files changed at random (FUZZ=1000000)
	cargo run --locked --release -p stiction-lab -- fuzz ratio --count $(FUZZ)
	cargo run --locked --release -p stiction-lab -- fuzz scenes --count $(FUZZ)
