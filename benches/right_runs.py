"""Runs scenes under every scheme and to accuracies, verifies the journals, and writes the exit codes as CSV.

    python3 benches/right_runs.py target/release/stiction

Needs nothing but Python. A run that is right must hold: `verify` ends with 0, or with 5 where the run was ended by
--seconds of processor time, and everything up to its end holds. A run that a scheme refuses has the code 1 or 2 of `run`,
and the steps before it are verified all the same. Ends with 1 if a run does not hold. Writes
benches/results/right_runs.csv, or the file given with --csv.
"""

import argparse
import json
import pathlib
import sys
import tempfile

from gallery_accuracy import limited
from record import HERE, stamped, write

SCENES = [
    "21-disks", "gripper", "rattleback", "drum", "slider-crank", "dice3", "balance2", "cart", "two-carts", "heavytop",
]
SCHEMES = [
    "default", "timed", "accurate", "pagt06", "ah04", "st00", "st00-nonlinear", "cp03", "ap97", "baumgarte",
]
ACCURACIES = ["1e-3", "1e-4", "1e-6", "1e-8"]

# scenes of the list that are not in the gallery
OTHER = HERE / "scenes"


def scene_file(name):
    """Path of a scene."""
    own = OTHER / f"{name}.toml"
    return own if own.exists() else HERE.parent / "scenes" / f"{name}.toml"


def judged(program, scene, option, journal, arguments):
    """Row of one run."""
    command = [program, "run", scene, *option, "--out", journal, "--overwrite", "--json"]
    if arguments.until:
        command += ["--until", arguments.until]
    code, text = limited(command, arguments.seconds)
    row = {"scene": scene.stem, "scheme": " ".join(option)}
    row["run"] = "time limit" if code is None else code
    row["verify"], row["end"], row["first finding"] = "", "", ""
    if journal.exists():
        code, text = limited([program, "verify", journal, "--json"], 10 * arguments.seconds)
        row["verify"] = "time limit" if code is None else code
        try:
            report = json.loads(text[text.index("{") :])
        except ValueError:
            return row
        row["end"] = report.get("end", "")
        reasons = list(report.get("reasons", {}))
        findings = [f"{f['t']:.4g} s: {f['check']}: {f['place']}" for f in report.get("findings", [])[:1]]
        row["first finding"] = "; ".join(findings + reasons)
    return row


def holds(row):
    """Whether a row shows a run that holds, or one that was refused before its first step."""
    refused = row["run"] in (1, 2)
    return row["verify"] == 0 or row["verify"] == 5 and (refused or row["run"] == "time limit") or refused and row["verify"] == ""


def main():
    parser = argparse.ArgumentParser(description="scenes under every scheme and to accuracies, verified")
    parser.add_argument("program", type=pathlib.Path, help="the command stiction")
    parser.add_argument("--scenes", nargs="+", default=SCENES, help="names of scenes")
    parser.add_argument("--schemes", nargs="*", default=SCHEMES, help="names of schemes")
    parser.add_argument("--accuracies", nargs="*", default=ACCURACIES, help="accuracies")
    parser.add_argument("--until", help="end of every run [s]")
    parser.add_argument("--seconds", type=float, default=10, help="processor time of a run at most [s]")
    parser.add_argument("--csv", type=pathlib.Path, default=HERE / "results" / "right_runs.csv", help="file to write")
    arguments = parser.parse_args()
    options = [["--scheme", name] for name in arguments.schemes]
    options += [["--accuracy", accuracy] for accuracy in arguments.accuracies]
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        journal = pathlib.Path(folder) / "run.journal"
        for name in arguments.scenes:
            for option in options:
                row = judged(arguments.program, scene_file(name), option, journal, arguments)
                journal.unlink(missing_ok=True)
                rows.append(row)
                print("" if holds(row) else "DOES NOT HOLD ", *row.values(), flush=True)
    write(arguments.csv, stamped(rows, lambda value: value))
    failed = sum(not holds(row) for row in rows)
    print(f"{len(rows)} runs, {failed} of them do not hold")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
