#!/usr/bin/env bash
# The tests of the page in a real browser. Uses a Chromium that it finds; installs Debian's as root; leaves with 77,
# and the command to get one, elsewhere.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if ! command -v npm >/dev/null; then
    echo "skipped: the tests in a browser need Node.js 20 or later"
    exit 77
fi
found() {
    [ -n "${CHROMIUM:-}" ] && return
    CHROMIUM=$(command -v chromium || command -v chromium-browser || command -v google-chrome) && export CHROMIUM
}
if ! found && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    apt-get update -qq && apt-get install -qq -y --no-install-recommends chromium
fi
if ! found; then
    echo "skipped: no Chromium was found. Get one with: sudo apt-get install chromium, or set CHROMIUM to its path"
    exit 77
fi
# the tests have built the command already; building it by itself would build its dependencies again
[ -n "${STICTION_BUILT:-}" ] || cargo build --locked --release -p stiction-cli
cd viewer
node --test --test-concurrency=1 tests/*.test.mjs
