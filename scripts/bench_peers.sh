#!/usr/bin/env bash
# This project beside MuJoCo, Drake, Bullet, DART, Rapier and ODE on the same scenes: see benches/peers/README.md.
# Engines are kept under $PEERS. Arguments go to the suite, such as --scenes dpend,bounce --engines stiction,mujoco.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export PEERS=${PEERS:-${XDG_CACHE_HOME:-$HOME/.cache}/stiction-peers}

bash benches/peers/setup.sh
cargo build --locked --release -p stiction-lab
"$PEERS/venv/bin/python" benches/peers/suite.py --stiction target/release/stiction-lab "$@"
target/release/stiction-lab bench peers --svg docs/peers.svg
python3 benches/peers/table.py --rows | tee out/bench/peers.md
