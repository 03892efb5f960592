#!/usr/bin/env bash
# Lemke's method on stacked boxes: this library, then quantecon's on the same problems, in one run.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# the virtual environment is made again when the pinned packages change
if ! cmp -s benches/requirements.txt .venv/requirements.txt; then
    rm -rf .venv
    python3 -m venv .venv
    .venv/bin/python -m pip install --quiet --disable-pip-version-check -r benches/requirements.txt
    cp benches/requirements.txt .venv/requirements.txt
fi

cargo run --locked --release -p stiction-cli -- \
    bench lemke --json out/bench/lemke.json --problems out/bench/problems
.venv/bin/python benches/lemke_quantecon.py out/bench/lemke.json
