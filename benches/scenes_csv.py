"""Writes what `stiction-lab bench … --json` or `stiction-lab soak --json` found as CSV, with the machine and the date.

    stiction-lab bench scenes --json out/bench/scenes.json
    python3 benches/scenes_csv.py out/bench/scenes.json

Needs nothing but Python. Writes benches/results/scenes.csv, or the file given with --csv.
"""

from record import read, stamped, write


def written(value):
    """Numbers with the digits that mean something."""
    if not isinstance(value, float):
        return value
    return f"{value:.1e}" if 0 < abs(value) < 1e-3 else round(value, 2)


def main():
    measured, path = read(
        "the results of stiction-lab bench or soak as CSV", "--json", "--csv", "scenes.csv"
    )
    if isinstance(measured, dict):
        # a soak: one row for each kind of problem, and their sum
        kinds = measured["kinds"] | {"all": measured["total"]}
        friction = "circle" if measured["circles"] else "polygon"
        measured = [{"friction": friction, "kind": kind} | tally for kind, tally in kinds.items()]
    write(path, stamped(measured, written))


if __name__ == "__main__":
    main()
