"""Runs scenes to accuracies, verifies the journals, and writes times and counts as CSV.

    python3 benches/gallery_accuracy.py target/release/stiction scenes/*.toml

Needs nothing but Python. Writes benches/results/gallery_accuracy.csv, or the file given with --csv. A run above --seconds
is ended and recorded as "time limit"; times are processor times of the runs, so other work on the machine changes them
little.
"""

import argparse
import json
import os
import pathlib
import signal
import subprocess
import tempfile
import time

from record import HERE, stamped, write


def processor_time():
    """Processor time of all children that ended [s]."""
    times = os.times()
    return times.children_user + times.children_system


def limited(command, seconds):
    """Exit code and output of a command; its code is None if it was ended after this much processor time."""
    with tempfile.TemporaryFile("w+") as output:
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT)
        ended = False
        while process.poll() is None:
            time.sleep(0.02)
            try:
                fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
                used = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
            except (OSError, IndexError):
                continue
            if used > seconds and not ended:
                process.send_signal(signal.SIGTERM)
                ended = True
        output.seek(0)
        return None if ended else process.returncode, output.read()


def measured(program, scene, accuracy, seconds, folder):
    """Row of one run."""
    journal = folder / f"{scene.stem}-{accuracy}.journal"
    before = processor_time()
    run = [program, "run", scene, "--accuracy", accuracy, "--out", journal, "--overwrite", "--json"]
    code, text = limited(run, seconds)
    row = {"scene": scene.stem, "accuracy": accuracy, "limit": seconds}
    row["run"] = "time limit" if code is None else code
    row["seconds"] = round(processor_time() - before, 2)
    try:
        summary = json.loads(text[text.index("{") :])
    except ValueError:
        summary = {}
    for key in ("end", "until", "problems", "contacts", "events", "first_order_steps"):
        row[key] = summary.get(key, "")
    row["verify"] = ""
    if journal.exists():
        code, _ = limited([program, "verify", journal], 10 * seconds)
        row["verify"] = "time limit" if code is None else code
    return row


def main():
    parser = argparse.ArgumentParser(description="scenes run to accuracies, verified and timed")
    parser.add_argument("program", type=pathlib.Path, help="the command stiction")
    parser.add_argument("scenes", type=pathlib.Path, nargs="+", help="scene files")
    parser.add_argument("--accuracy", nargs="+", default=["1e-4", "1e-6"], help="accuracies")
    parser.add_argument("--seconds", type=float, default=60, help="processor time of a run at most [s]")
    default = HERE / "results" / "gallery_accuracy.csv"
    parser.add_argument("--csv", type=pathlib.Path, default=default, help="file to write")
    arguments = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for scene in arguments.scenes:
            for accuracy in arguments.accuracy:
                row = measured(arguments.program, scene, accuracy, arguments.seconds, pathlib.Path(folder))
                print(" ".join(str(value) for value in row.values()), flush=True)
                rows.append(row)
    write(arguments.csv, stamped(rows, lambda value: value))


if __name__ == "__main__":
    main()
