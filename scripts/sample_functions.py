#!/usr/bin/env python3
"""Prints functions of the Rust sources, chosen by a seed, each with its documentation: a sample of the language.

    python3 scripts/sample_functions.py --seed 1 [--count 10] [--least 5] [--repo DIR]

Functions of fewer lines than --least are left out. The choice depends on the seed and the sources alone.
"""

import argparse
import pathlib
import random
import re

from census import blanked, functions, sources_of, without_tests


def with_documentation(text, start, end):
    """A function from the first line of its documentation to its end."""
    lines = text[:start].split("\n")
    first = len(lines) - 1
    while first > 0 and re.match(r"^[ \t]*(///|#\[)", lines[first - 1]):
        first -= 1
    return "\n".join(lines[first:]) + text[start:end]


def main():
    parser = argparse.ArgumentParser(description="Functions chosen by a seed, with their documentation.")
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--count", type=int, default=10)
    parser.add_argument("--least", type=int, default=5, help="least lines of a function")
    parser.add_argument("--repo", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    arguments = parser.parse_args()
    found = []
    for folder in sorted(f for f in (arguments.repo / "crates").iterdir() if (f / "src").is_dir()):
        for source in sources_of(folder):
            text = source.read_text(encoding="utf-8")
            code, text = without_tests(blanked(text), text)
            place = source.relative_to(arguments.repo)
            for name, lines, _, start, end in functions(code):
                if lines >= arguments.least:
                    found.append((place, name, with_documentation(text, start, end)))
    chosen = random.Random(arguments.seed).sample(found, min(arguments.count, len(found)))
    for place, name, text in chosen:
        print(f"== {place}: {name}\n\n{text}\n")


if __name__ == "__main__":
    main()
