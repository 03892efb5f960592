"""Errors of runs to accuracies, over the accuracies asked for, as CSV.

    python3 benches/accuracy_errors.py target/release/stiction benches/accuracy/*.toml scenes/*.toml

Needs nothing but Python. Each scene runs to each accuracy and to a tighter reference. The error is the largest difference
of a coordinate of a body [m, rad] at any of 20 samples, and κ the growth of a change of friction and gravity by 1e-7.
`ratio` = error / (accuracy · max(1, κ)) is what the number asked for bounds: at most 10. A run above --seconds of
processor time is ended and recorded as "time limit". Where a file has a line `# exact = [...]`, the error of the
coordinates at the end against these is in `exact`. Samples cut steps, so smooth scenes are more exact than asked for.
"""

import argparse
import json
import math
import pathlib
import re
import tempfile

from gallery_accuracy import limited
from record import HERE, stamped, write

SAMPLES = 20
CHANGE = 1e-7


def sampled(text, until):
    """Scene with samples; its own record settings are left out."""
    kept, own = [], False
    for line in text.splitlines():
        if line.strip().startswith("["):
            own = line.strip() == "[record]"
        if not own:
            kept.append(line)
    return "\n".join(kept) + f"\n[record]\nevery = {until / SAMPLES!r}\n"


def changed(text, factor):
    """Scene with friction and gravity multiplied by a factor."""

    def times(match):
        return match.group(1) + repr(float(match.group(2)) * factor)

    text = re.sub(r"(?m)^(friction = )([\d.e+-]+)", times, text)
    gravity = re.search(r"(?m)^gravity = \[(.*)\]", text)
    if gravity:
        numbers = ", ".join(repr(float(x) * factor) for x in gravity.group(1).split(","))
        return text.replace(gravity.group(0), f"gravity = [{numbers}]")
    if re.search(r"(?m)^\[world\]|^world\b", text):
        return text
    plane = re.search(r"(?m)^dimension = 2", text)
    down = f"[0.0, {-9.81 * factor!r}]" if plane else f"[0.0, 0.0, {-9.81 * factor!r}]"
    return text + f"\n[world]\ngravity = {down}\n"


class Runs:
    """Runs of one program, in a folder of their own."""

    def __init__(self, program, seconds, folder):
        self.program, self.seconds, self.folder = program, seconds, pathlib.Path(folder)

    def run(self, text, accuracy):
        """Coordinates at the samples and problems solved; a word where the run did not end well."""
        scene, out = self.folder / "scene.toml", self.folder / "run.json"
        scene.write_text(text)
        out.unlink(missing_ok=True)
        command = [self.program, "run", scene, "--accuracy", accuracy, "--out", out, "--overwrite", "--json"]
        code, output = limited(command, self.seconds)
        if code is None:
            return "time limit", 0
        if code != 0:
            return f"exit code {code}", 0
        summary = json.loads(output[output.index("{") :])
        return json.loads(out.read_text())["coordinates"], summary.get("problems", 0)


def difference(a, b):
    """Largest difference of a coordinate."""
    if len(a) != len(b):
        return math.inf
    return max((abs(x - y) for p, q in zip(a, b) for x, y in zip(p, q)), default=0.0)


def measured(runs, scene, accuracies, reference):
    """Rows of one scene."""
    text = scene.read_text()
    until = float(re.search(r"duration\s*=\s*([\d.]+)", text).group(1))
    exact = re.search(r"(?m)^# exact = (\[.*\])", text)
    exact = json.loads(exact.group(1)) if exact else None
    text = sampled(text, until)
    best, _ = runs.run(text, reference)
    growth = math.nan
    if not isinstance(best, str):
        others = [runs.run(changed(text, 1.0 + sign * CHANGE), reference)[0] for sign in (-1.0, 1.0)]
        ends = [difference(other, best) / CHANGE for other in others if not isinstance(other, str)]
        growth = max(ends, default=math.nan)
    for accuracy in accuracies:
        samples, problems = runs.run(text, accuracy)
        row = {"scene": scene.stem, "accuracy": accuracy, "reference": reference, "growth": growth}
        row |= {"error": "", "ratio": "", "exact": "", "problems": problems, "end": "whole"}
        if isinstance(samples, str):
            yield row | {"end": samples}
            continue
        if isinstance(best, str):
            row["end"] = f"whole; reference: {best}"
        else:
            row["error"] = difference(samples, best)
            row["ratio"] = row["error"] / (float(accuracy) * max(1.0, growth))
        if exact is not None:
            # quaternions follow positions: the numbers given are the first of the last body's
            row["exact"] = difference([samples[-1][: len(exact)]], [exact])
        yield row


def written(value):
    """Number with three digits; words as they are."""
    return f"{value:.3g}" if isinstance(value, float) else value


def main():
    parser = argparse.ArgumentParser(description="errors of runs to accuracies over the accuracies asked for")
    parser.add_argument("program", type=pathlib.Path, help="the command stiction")
    parser.add_argument("scenes", type=pathlib.Path, nargs="+", help="scene files")
    parser.add_argument("--accuracy", nargs="+", default=["1e-4", "1e-6", "1e-8"], help="accuracies, loosest first")
    parser.add_argument("--reference", default="1e-10", help="accuracy of the reference")
    parser.add_argument("--seconds", type=float, default=30, help="processor time of a run at most [s]")
    default = HERE / "results" / "accuracy_errors.csv"
    parser.add_argument("--csv", type=pathlib.Path, default=default, help="file to write")
    arguments = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        runs = Runs(arguments.program, arguments.seconds, folder)
        for scene in arguments.scenes:
            for row in measured(runs, scene, arguments.accuracy, arguments.reference):
                print(" ".join(str(written(value)) for value in row.values()), flush=True)
                rows.append(row)
            write(arguments.csv, stamped(rows, written))


if __name__ == "__main__":
    main()
