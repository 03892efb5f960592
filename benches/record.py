"""What the scripts here share: which machine this is, and the files of results."""

import argparse
import csv
import datetime
import json
import os
import pathlib


HERE = pathlib.Path(__file__).resolve().parent


def read(description, writer, option, default):
    """Results in JSON that the command line names, and the path of its option, by default one in `results`."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("results", type=pathlib.Path, help=f"what {writer} wrote")
    parser.add_argument(option, dest="path", type=pathlib.Path, default=HERE / "results" / default)
    arguments = parser.parse_args()
    return json.loads(arguments.results.read_text()), arguments.path


def machine():
    """The processor's name."""
    try:
        for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return "unknown"


def stamped(rows, written):
    """Rows under the machine and the date, each number as `written` gives it."""
    where = {"machine": machine(), "date": datetime.date.today().isoformat()}
    return [where | {key: written(value) for key, value in row.items()} for row in rows]


def write(path, rows):
    """Writes rows, dictionaries with the same keys, as CSV."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    print(f"\nwritten to {os.path.relpath(path)}")
