"""Writes what `stiction-lab bench ratio --json` measured as CSV, with the machine.

    stiction-lab bench ratio --json out/bench/ratio.json
    python3 benches/ratio_csv.py out/bench/ratio.json

Needs nothing but Python. Writes benches/results/ratio.csv.
"""

import argparse
import json
import pathlib

from record import machine, write

HERE = pathlib.Path(__file__).resolve().parent


def written(value):
    """Numbers with the digits that mean something."""
    return float(f"{value:.4g}") if isinstance(value, float) else value


def main():
    parser = argparse.ArgumentParser(description="the results of stiction-lab bench ratio as CSV")
    parser.add_argument("results", type=pathlib.Path, help="what stiction-lab bench ratio --json wrote")
    parser.add_argument("--csv", type=pathlib.Path, default=HERE / "results" / "ratio.csv")
    arguments = parser.parse_args()

    measured = json.loads(arguments.results.read_text())
    rows = [{"machine": machine()} | {key: written(value) for key, value in row.items()} for row in measured]
    write(arguments.csv, rows)


if __name__ == "__main__":
    main()
