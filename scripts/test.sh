#!/usr/bin/env bash
# All checks of the project, each part timed. Every part runs even when an earlier one failed; the log ends
# with the runner's counts and the time of each part. One profile and one target folder serve all of them.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

export CARGO_TERM_COLOR=never
tools=$PWD/.tools
export PATH=$PATH:$tools/bin

names=()
seconds=()
results=()
failed=0

# part NAME COMMAND...: runs the command, keeps its output in $log and records time and result; a command that leaves
# with 77 was skipped and has said why
log=
part() {
    local name=$1 start=$SECONDS result=ok
    shift
    log=$logs/${#names[@]}
    printf '\n== %s\n' "$name"
    local status=0
    "$@" 2>&1 | tee "$log" || status=$?
    if [ "$status" = 77 ]; then
        result=skipped
    elif [ "$status" != 0 ]; then
        result=FAILED
        failed=1
    fi
    names+=("$name")
    seconds+=($((SECONDS - start)))
    results+=("$result")
}

documentation() {
    RUSTDOCFLAGS="-D warnings" cargo doc --locked --workspace --no-deps --release
}

# what the parts below need: nextest is built once into .tools, and a machine that cannot build it runs the
# tests with cargo alone
set_up() {
    if command -v rustup >/dev/null && ! { cargo fmt --version && cargo clippy --version; } >/dev/null 2>&1; then
        rustup component add rustfmt clippy
    fi
    if cargo nextest --version; then
        return
    fi
    echo "cargo-nextest is not installed: building it into .tools"
    if ! cargo install --locked --quiet --root "$tools" cargo-nextest; then
        echo "cargo-nextest could not be built: the tests run with cargo test"
    fi
}

tests() {
    if cargo nextest --version >/dev/null 2>&1; then
        cargo nextest run --locked --workspace --release --no-fail-fast
    else
        cargo test --locked --workspace --release --no-fail-fast --lib --bins --tests
    fi
}

# 60 random scenes in seven or more runs each; benches/results/truth.txt has the findings of the three seeds left out.
# The commands are those that the tests have built: a build of their own would have other features, and take minutes.
truth() {
    cargo test --locked --workspace --release --no-run --quiet
    local target=${CARGO_TARGET_DIR:-target}
    "$target/release/stiction-lab" truth --count 63 --except 26,28,32 --seconds 60 --whole --out out/truth
}

# the last words of the runner: nextest's summary, or the sum of cargo's result lines
counts() {
    grep -E '^ *Summary \[' "$1" && return
    awk '/^test result:/ { passed += $4; failed += $6; ignored += $8; lines += 1 }
         END { if (lines) printf "%d passed, %d failed, %d ignored\n", passed, failed, ignored
               else print "did not run" }' "$1"
}

logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT

part "set-up" set_up
part "viewer" bash scripts/viewer.sh
part "formatting" cargo fmt --all --check
part "clippy" cargo clippy --locked --workspace --all-targets --release -- -D warnings
part "documentation" documentation
part "tests" tests
tests_log=$log
part "truth" truth
part "doc tests" cargo test --locked --doc --workspace --release --no-fail-fast
doc_tests_log=$log
part "browser" env STICTION_BUILT=1 bash scripts/browser.sh
browser_log=$log

printf '\n== counts\n'
printf 'tests:     %s\n' "$(counts "$tests_log" | sed 's/^ *//')"
printf 'doc tests: %s\n' "$(counts "$doc_tests_log" | sed 's/^ *//')"
browser_counts=$(sed -nE 's/^(#|ℹ) (pass|fail) ([0-9]+)/\3 \2/p' "$browser_log" | paste -sd ',' | sed 's/ pass/ passed/; s/,/, /; s/ fail/ failed/')
printf 'browser:   %s\n' "${browser_counts:-$(grep -m1 skipped "$browser_log" || echo 'did not run')}"

printf '\n== time of each part\n'
for i in "${!names[@]}"; do
    printf '%-14s %5d s  %s\n' "${names[$i]}" "${seconds[$i]}" "${results[$i]}"
done
printf '%-14s %5d s  %s\n' "all" "$SECONDS" "$([ "$failed" = 0 ] && echo ok || echo FAILED)"
exit "$failed"
