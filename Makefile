# Each target does its own set-up. Needed on the machine: Rust (cargo), and for `bench` Python 3.

.DEFAULT_GOAL := help
.PHONY: help demo test bench soak

# Problems that `make soak` solves.
SOAK ?= 100000

help: ## show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-6s  %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: ## solve a stack of boxes, print its certificate and draw it
	cargo run --locked --release -p stiction-cli -- demo --out out/demo
	@test -f out/demo/stack.svg || { echo "make demo: out/demo/stack.svg was not written" >&2; exit 1; }
	@echo
	@echo "Open out/demo/stack.svg in a browser: the boxes, and the impulse at every contact."

test: ## formatting, clippy, documentation, tests and doc tests
	@bash scripts/test.sh

bench: ## time Lemke's method, here and in quantecon, on the same problems
	@bash scripts/bench.sh

soak: ## solve and certify many random contact problems (SOAK=100000)
	cargo run --locked --release -p stiction-cli -- soak --count $(SOAK)
