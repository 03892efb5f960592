#!/usr/bin/env bash
# Builds the book into out/book. mdBook is built once into .tools where the machine has none.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

export PATH=$PATH:$PWD/.tools/bin
if ! command -v mdbook >/dev/null; then
    echo "mdbook is not installed: building it into .tools, which takes some minutes"
    cargo install --locked --quiet --root .tools --no-default-features mdbook
fi
mdbook build book
# pictures are those of docs: the chapters name them from where they stand, the pages have them beside them
mkdir -p out/book/docs
cp docs/*.svg docs/*.png out/book/docs/
sed -i.part 's#"\.\./\.\./docs/#"docs/#g' out/book/*.html
rm out/book/*.part
echo "Open in a browser: out/book/index.html"
