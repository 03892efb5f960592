#!/usr/bin/env bash
# Installs the engines of the comparison under $PEERS, once: some 4 GB. ODE comes from the system's packages
# (libode-dev on Debian) and needs a C++ compiler; where either is missing the rows of ODE fail.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

mkdir -p "$PEERS"
if ! cmp -s requirements.txt "$PEERS/requirements.txt"; then
    python3 -m venv --clear "$PEERS/venv"
    "$PEERS/venv/bin/python" -m pip install --quiet --disable-pip-version-check -r requirements.txt
    cp requirements.txt "$PEERS/requirements.txt"
fi
CARGO_TARGET_DIR=$PEERS/target cargo build --locked --release --manifest-path runners/rapier/Cargo.toml
if ! g++ -O3 -march=native -o "$PEERS/ode_runner" runners/ode_runner.cpp -lode; then
    echo "ODE's runner could not be built: are g++ and libode-dev there?" >&2
fi
