"""Writes what `stiction-lab bench second-order --json` measured as CSV, with the machine and the date.

    stiction-lab bench second-order --json out/bench/second_order.json
    python3 benches/second_order_csv.py out/bench/second_order.json

Needs nothing but Python. Writes benches/results/second_order.csv, the cost of steps, and
benches/results/second_order_precision.csv, the time to an error.
"""

from record import read, stamped, write


def written(value):
    """Numbers with the digits that mean something."""
    if isinstance(value, list):
        return " ".join(str(written(v)) for v in value)
    if not isinstance(value, float):
        return value
    return f"{value:.2e}" if 0 < abs(value) < 1e-2 else round(value, 2)


def main():
    measured, path = read(
        "the results of stiction-lab bench second-order as CSV", "stiction-lab bench second-order --json", "--folder", ""
    )
    for part, name in [("steps", "second_order.csv"), ("precision", "second_order_precision.csv")]:
        write(path / name, stamped(measured[part], written))


if __name__ == "__main__":
    main()
