#!/usr/bin/env bash
# Short benchmarks. Solver: heaps of boxes, success rates, chains. Steps: phases, named scenes, second
# order beside AH04. Gap queries: the ratio metric beside parry. Lemke's method: this library beside quantecon's.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

cargo run --locked --release -p stiction-lab -- bench solver --json out/bench/solver.json
python3 benches/scenes_csv.py out/bench/solver.json --csv benches/results/solver.csv

cargo run --locked --release -p stiction-lab -- bench rates --count 2000 --json out/bench/rates.json
python3 benches/scenes_csv.py out/bench/rates.json --csv benches/results/rates.csv

cargo run --locked --release -p stiction-lab -- bench chains --json out/bench/chains.json
python3 benches/scenes_csv.py out/bench/chains.json --csv benches/results/chains.csv

cargo run --locked --release -p stiction-lab -- bench profile --json out/bench/profile.json --svg docs/profile.svg
python3 benches/scenes_csv.py out/bench/profile.json --csv benches/results/profile.csv

cargo run --locked --release -p stiction-lab -- bench scenes --json out/bench/scenes.json
python3 benches/scenes_csv.py out/bench/scenes.json

cargo run --locked --release -p stiction-lab -- bench second-order --json out/bench/second_order.json
python3 benches/second_order_csv.py out/bench/second_order.json

cargo run --locked --release -p stiction-lab -- bench ratio --json out/bench/ratio.json
python3 benches/ratio_csv.py out/bench/ratio.json

# the virtual environment is made again when the pinned packages change
if ! cmp -s benches/requirements.txt .venv/requirements.txt; then
    rm -rf .venv
    python3 -m venv .venv
    .venv/bin/python -m pip install --quiet --disable-pip-version-check -r benches/requirements.txt
    cp benches/requirements.txt .venv/requirements.txt
fi

cargo run --locked --release -p stiction-lab -- \
    bench lemke --json out/bench/lemke.json --problems out/bench/problems
.venv/bin/python benches/lemke_quantecon.py out/bench/lemke.json
