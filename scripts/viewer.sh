#!/usr/bin/env bash
# Builds the page of viewer/ into viewer/dist/index.html, which the program embeds. Does nothing where it is up to
# date; leaves with 77 where there is no npm.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../viewer"

if ! command -v npm >/dev/null; then
    echo "npm was not found: the page is not built, and \`stiction view\` and \`--html\` will say so"
    echo "install Node.js 20 or later, then: make viewer"
    exit 77
fi
if [ ! -e node_modules/.package-lock.json ] || [ package-lock.json -nt node_modules/.package-lock.json ]; then
    npm ci --loglevel=error
    touch node_modules/.package-lock.json
fi
if [ ! -e dist/index.html ] || [ -n "$(find src build.mjs tsconfig.json package.json package-lock.json -newer dist/index.html)" ]; then
    npm run --silent build
fi
echo "viewer/dist/index.html is up to date"
