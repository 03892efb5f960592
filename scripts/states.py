#!/usr/bin/env python3
"""Compares the states of every scene, bit by bit, with hashes that were recorded before a change.

    scripts/states.py record  --binary OLD --hashes FILE   run everything and write the hashes
    scripts/states.py compare --binary NEW --hashes FILE   run everything and compare
    scripts/states.py compare --binary NEW --hashes FILE --old OLD   where bits differ, also measure by how much

A run is a scene with its own settings, with another scheme, or to an accuracy. Its hash covers the times,
coordinates and velocities of all recorded samples. The figures that `reproduce all` prints are one more entry.
Hashes are comparable on one kind of processor only: kernels use the widest registers there are.
Exit code: 0 all equal, 1 some differ. Needs Python 3 alone.
"""

import argparse
import hashlib
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import zipfile

SCHEMES = ["default", "accurate", "ap97", "ah04", "st00", "st00-nonlinear", "cp03", "baumgarte", "pagt06"]
ACCURACIES = ["1e-4", "1e-7"]
# Part of each scene that is run with schemes and accuracies other than its own [s].
SHORT = "0.25"
# A run that takes longer is not recorded: whether it ends would depend on the machine's load [s].
TIME_LIMIT = 4.0
# Where bits differ, the first steps have to agree to this, relative to the size of the coordinates.
FIRST_STEPS, FIRST_TOLERANCE = 10, 1e-12


def runs(scenes):
    for scene in sorted(scenes.glob("*.toml")) + sorted(scenes.glob("reference/*.toml")):
        yield scene, []
        for scheme in SCHEMES:
            yield scene, ["--scheme", scheme, "--until", SHORT]
        for accuracy in ACCURACIES:
            yield scene, ["--accuracy", accuracy, "--until", SHORT]


def arrays(binary, scene, options, folder, limit):
    """Exit code and the raw time, coordinate and velocity arrays of a run; None where it takes too long."""
    out = folder / "run.npz"
    for file in folder.iterdir():
        file.unlink()
    command = [binary, "run", scene, "--out", out, "--overwrite", *options]
    try:
        done = subprocess.run(command, capture_output=True, timeout=limit)
    except subprocess.TimeoutExpired:
        return None
    if not out.exists():
        return done.returncode, []
    with zipfile.ZipFile(out) as archive:
        return done.returncode, [archive.read(f"{name}.npy") for name in ("time", "coordinates", "velocities")]


def digest(result):
    code, data = result
    total = hashlib.sha256(str(code).encode())
    for block in data:
        total.update(block)
    return total.hexdigest()[:32]


def figures(binary):
    """Hash of the column of computed figures of `reproduce all`."""
    with tempfile.TemporaryDirectory() as folder:
        text = subprocess.run([binary, "reproduce", "all"], capture_output=True, text=True, cwd=folder).stdout
    kept = []
    for line in text.splitlines():
        fields = re.split(r"\s{2,}", line.strip())
        if line.startswith("  ") and len(fields) >= 3 and fields[0] != "case":
            kept.append(fields[2])
    return hashlib.sha256("\n".join(kept).encode()).hexdigest()[:32], len(kept)


def numbers(npy):
    """Values of a .npy file of doubles, and the length of one sample."""
    length = struct.unpack("<H", npy[8:10])[0]
    shape = re.search(rb"'shape': \(([^)]*)\)", npy[10 : 10 + length]).group(1)
    sizes = [int(size) for size in shape.replace(b" ", b"").split(b",") if size]
    values = struct.unpack(f"<{(len(npy) - 10 - length) // 8}d", npy[10 + length :])
    return values, sizes[1] if len(sizes) > 1 else 1


def difference(old, new):
    """Largest difference of coordinates over the first steps and over all, relative to their size."""
    if not old[1] or not new[1]:
        return None
    (a, width), (b, _) = numbers(old[1][1]), numbers(new[1][1])
    size = max([abs(x) for x in a] + [1e-300])
    gaps = [abs(x - y) / size for x, y in zip(a, b)]
    return max(gaps[: width * (FIRST_STEPS + 1)], default=0.0), max(gaps, default=0.0)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("action", choices=["record", "compare"])
    parser.add_argument("--binary", type=pathlib.Path, default="target/release/stiction")
    parser.add_argument("--old", type=pathlib.Path)
    parser.add_argument("--hashes", type=pathlib.Path, default="benches/results/states.txt")
    parser.add_argument("--scenes", type=pathlib.Path, default="scenes")
    parser.add_argument("--only", default="", help="scenes whose name contains this; without the figures")
    arguments = parser.parse_args()
    binary = arguments.binary.resolve()
    known = {}
    if arguments.action == "compare":
        for line in arguments.hashes.read_text().splitlines():
            if line and not line.startswith("#"):
                name, value = line.rsplit(" ", 1)
                known[name] = value
    lines, equal, different = [], 0, []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for scene, options in runs(arguments.scenes):
            key = " ".join([str(scene.relative_to(arguments.scenes)), *options])
            if arguments.only not in key or (arguments.action == "compare" and key not in known):
                continue
            limit = TIME_LIMIT if arguments.action == "record" else 60 * TIME_LIMIT
            result = arrays(binary, scene, options, folder, limit)
            if result is None:
                if arguments.action == "compare":
                    different.append((key, "did not end"))
                continue
            value = digest(result)
            lines.append(f"{key} {value}")
            if arguments.action == "compare":
                if known[key] == value:
                    equal += 1
                else:
                    old = arguments.old and arrays(arguments.old.resolve(), scene, options, folder, limit)
                    gap = old and difference(old, result)
                    different.append((key, gap))
                    print(f"differs: {key}" + (f"  first {gap[0]:.1e}, all {gap[1]:.1e}" if gap else ""), flush=True)
    if not arguments.only:
        value, count = figures(binary)
        lines.append(f"reproduce all, {count} figures {value}")
        key = f"reproduce all, {count} figures"
        if arguments.action == "compare":
            if known.get(key) == value:
                equal += 1
            else:
                different.append((key, None))
                print(f"differs: {key}")
    if arguments.action == "record":
        arguments.hashes.write_text("# scene, options and hash of all samples; see scripts/states.py\n" + "\n".join(lines) + "\n")
        print(f"{len(lines)} runs recorded")
        return 0
    print(f"{equal} of {equal + len(different)} runs are equal bit by bit")
    far = [key for key, gap in different if not gap or gap == "did not end" or gap[0] > FIRST_TOLERANCE]
    for key in far:
        print(f"beyond {FIRST_TOLERANCE:g} within the first {FIRST_STEPS} steps, or not measured: {key}")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
