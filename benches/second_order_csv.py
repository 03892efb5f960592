"""Writes what `stiction-lab bench second-order --json` measured as CSV, with the machine and the date.

    stiction-lab bench second-order --json out/bench/second_order.json
    python3 benches/second_order_csv.py out/bench/second_order.json

Needs nothing but Python. Writes benches/results/second_order.csv, the cost of steps, and
benches/results/second_order_precision.csv, the time to an error.
"""

import argparse
import json
import pathlib

from record import stamped, write

HERE = pathlib.Path(__file__).resolve().parent


def written(value):
    """Numbers with the digits that mean something."""
    if isinstance(value, list):
        return " ".join(str(written(v)) for v in value)
    if not isinstance(value, float):
        return value
    return f"{value:.2e}" if 0 < abs(value) < 1e-2 else round(value, 2)


def main():
    parser = argparse.ArgumentParser(description="the results of stiction-lab bench second-order as CSV")
    parser.add_argument("results", type=pathlib.Path, help="what stiction-lab bench second-order --json wrote")
    parser.add_argument("--folder", type=pathlib.Path, default=HERE / "results")
    arguments = parser.parse_args()

    measured = json.loads(arguments.results.read_text())
    for part, name in [("steps", "second_order.csv"), ("precision", "second_order_precision.csv")]:
        write(arguments.folder / name, stamped(measured[part], written))


if __name__ == "__main__":
    main()
