"""Writes what `stiction-lab bench ratio --json` measured as CSV, with the machine.

    stiction-lab bench ratio --json out/bench/ratio.json
    python3 benches/ratio_csv.py out/bench/ratio.json

Needs nothing but Python. Writes benches/results/ratio.csv.
"""

from record import machine, read, write


def written(value):
    """Numbers with the digits that mean something."""
    return float(f"{value:.4g}") if isinstance(value, float) else value


def main():
    measured, path = read(
        "the results of stiction-lab bench ratio as CSV", "stiction-lab bench ratio --json", "--csv", "ratio.csv"
    )
    rows = [{"machine": machine()} | {key: written(value) for key, value in row.items()} for row in measured]
    write(path, rows)


if __name__ == "__main__":
    main()
