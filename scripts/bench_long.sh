#!/usr/bin/env bash
# Benchmarks of about half an hour: 100,000 steps of a wall and of a drum, jacks that come to rest, heaps of up to 10,000
# cubes on one thread and two, 100,000 problems with circular friction.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

for run in long jacks scaling; do
    cargo run --locked --release -p stiction-lab -- bench "$run" --json "out/bench/$run.json"
    python3 benches/scenes_csv.py "out/bench/$run.json" --csv "benches/results/$run.csv"
done

cargo run --locked --release -p stiction-lab -- soak --circles --json > out/bench/soak_circles.json
python3 benches/scenes_csv.py out/bench/soak_circles.json --csv benches/results/soak_circles.csv
