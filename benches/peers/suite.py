"""Runs every engine with its settings on every scene at every step size, one process at a time.

    make bench-peers
    python benches/peers/suite.py --stiction target/release/stiction-lab --scenes dpend,bounce --engines stiction,mujoco

Every run is a line of --json, written as soon as it is there; a run that is in the file is not made again, so that a
run that was stopped goes on. At the end all lines become benches/results/peers.csv, and what each engine was set to
benches/results/peers_settings.csv. The runners are described in README.md.
"""

import argparse
import datetime
import json
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import metrics
from record import machine, write
from reference import PEERS
from scenes import SCENES

RUNNERS = HERE / "runners"
PYTHON = PEERS / "venv" / "bin" / "python"
# command and settings of each engine
ENGINES = {
    "stiction": ([], ["default", "first-order", "accurate", "followed"]),
    "mujoco": ([PYTHON, RUNNERS / "run_mujoco.py"], ["default", "accurate"]),
    "drake": ([PYTHON, RUNNERS / "run_drake.py"], ["default", "accurate"]),
    "bullet": ([PYTHON, RUNNERS / "run_bullet.py"], ["default", "accurate", "dantzig"]),
    "dart": ([PYTHON, RUNNERS / "run_dart.py"], ["default", "accurate", "nsgs"]),
    "rapier": ([PEERS / "target" / "release" / "rapier_runner"], ["default", "accurate"]),
    "ode": ([PEERS / "ode_runner"], ["default", "accurate", "quick1000"]),
}
SHAPES = {"box": 0, "sphere": 1, "capsule": 2}


def flat(scene):
    """A scene as plain numbers for ODE's runner, which has no reader of JSON."""
    head = [scene[key] for key in ("name", "T")] + scene["gravity"] + [scene["mu"], scene["e"]]
    head += [int(scene["plane"]), int(scene["collide"]), scene["samples"]]
    lines = [head + [len(scene["bodies"]), len(scene["joints"])]]
    for b in scene["bodies"]:
        size = b["half"] if b["shape"] == "box" else [b["r"], b.get("hl", 0), 0]
        state = b["pos"] + b["quat"] + b["vel"] + b["omega"] + b["force"]
        lines.append([SHAPES[b["shape"]], *size, b["mass"], *b["inertia"], *state])
    lines += [[j["a"], j["b"], *j["anchor"], *j["axis"]] for j in scene["joints"]]
    return "".join(" ".join(str(x) for x in line) + "\n" for line in lines)


def run(engine, command, scene, settings, h, repeat, max_wall):
    """One run: what its runner printed, with the error in place of the states."""
    path = PEERS / "scenes" / f"{scene['name']}.json"
    arguments = [
        "--scene",
        path,
        "--h",
        h,
        "--settings",
        settings,
        "--repeat",
        repeat,
        "--max-wall",
        max_wall,
    ]
    threads = ("OMP", "OPENBLAS", "MKL", "RAYON")
    one = os.environ | {f"{name}_NUM_THREADS": "1" for name in threads}
    told = {"scene": scene["name"], "settings": settings, "h": h}
    try:
        done = subprocess.run(
            [str(a) for a in command + arguments],
            input=flat(scene) if engine == "ode" else None,
            check=False,
            capture_output=True,
            text=True,
            # a step may take long, and so may the set-up
            timeout=max_wall * (repeat + 2) + 60,
            env=one,
            # MuJoCo leaves a log where it runs
            cwd=PEERS,
        )
        lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
        if lines:
            told = json.loads(lines[-1])
        else:
            told["fail"] = f"no answer, exit code {done.returncode}: {done.stderr.strip()[-200:]}"
    except subprocess.TimeoutExpired:
        told["fail"] = "one step took longer than the limit of time"
    states, times = told.pop("X", None), told.pop("t", None)
    if told.get("timeout"):
        told["fail"] = f"{max_wall:g} s were over at t = {told['sim_s']:.3g} s"
    elif "fail" not in told:
        told["error"] = metrics.evaluate(scene, times, states)
    return told | {"engine": engine, "load": os.getloadavg()[0], "date": datetime.date.today().isoformat()}


def digits(value, digits=4):
    return float(f"{value:.{digits}g}") if isinstance(value, float) else value


def row(told):
    """A line of the CSV. Commas are left to the format."""
    seconds = told.get("sim_s") or float("nan")
    figures = {
        "error_is": metrics.METRICS[told["scene"]][1],
        "error": digits(told.get("error", "")),
        "cpu_s_per_s": digits(told["cpu_s"] / seconds) if "cpu_s" in told else "",
        "wall_s_per_s": digits(told["wall_s"] / seconds) if "wall_s" in told else "",
        "steps": told.get("nsteps", ""),
        # of all steps, where the engine says so; errors are made of the samples
        "infeasibility": digits(told.get("infeasibility", "")),
        "load": round(told["load"], 2),
        "fail": " ".join(told.get("fail", "").replace(",", ";").split())[:160],
    }
    named = {key: told[key] for key in ("date", "scene", "engine", "settings", "h")}
    return {"machine": machine()} | named | figures


def main():
    split = lambda text: text.split(",")
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--stiction", type=pathlib.Path, required=True, help="the command of this project")
    parser.add_argument("--engines", type=split, default=list(ENGINES))
    parser.add_argument("--scenes", type=split, default=list(SCENES))
    parser.add_argument("--repeat", type=int, default=2, help="runs of each, of which the fastest counts")
    parser.add_argument("--max-wall", type=float, default=20.0, help="end of a run that takes longer [s]")
    parser.add_argument("--json", type=pathlib.Path, default=pathlib.Path("out/bench/peers.jsonl"))
    parser.add_argument("--folder", type=pathlib.Path, default=HERE.parent / "results")
    arguments = parser.parse_args()
    ENGINES["stiction"][0].extend([arguments.stiction.resolve(), "peer"])

    (PEERS / "scenes").mkdir(parents=True, exist_ok=True)
    for name in arguments.scenes:
        (PEERS / "scenes" / f"{name}.json").write_text(json.dumps(SCENES[name]))
    arguments.json.parent.mkdir(parents=True, exist_ok=True)
    key = lambda told: (told["scene"], told["engine"], told["settings"], told["h"])
    there = arguments.json.read_text().splitlines() if arguments.json.exists() else []
    all_told = {key(told): told for told in map(json.loads, there)}
    with arguments.json.open("a") as file:
        for scene in (SCENES[name] for name in arguments.scenes):
            # engines innermost: neighbours in time share what else the machine does
            plan = [(h, e, s) for h in scene["hs"] for e in arguments.engines for s in ENGINES[e][1]]
            for h, engine, settings in plan:
                if (scene["name"], engine, settings, h) in all_told:
                    continue
                told = run(
                    engine, ENGINES[engine][0], scene, settings, h, arguments.repeat, arguments.max_wall
                )
                all_told[key(told)] = told
                file.write(json.dumps(told) + "\n")
                file.flush()
                line = row(told)
                figures = line["fail"] or f"error {line['error']:<10} CPU {line['cpu_s_per_s']} s per s"
                print(f"{scene['name']:<14} h={h:<7} {engine:<9} {settings:<10} {figures}", flush=True)

    order = {name: i for i, name in enumerate([*SCENES, *ENGINES])}
    place = lambda t: (
        order[t["scene"]],
        order[t["engine"]],
        ENGINES[t["engine"]][1].index(t["settings"]),
        -t["h"],
    )
    ordered = sorted(all_told.values(), key=place)
    write(arguments.folder / "peers.csv", [row(told) for told in ordered])
    described = {
        (t["engine"], t["settings"], t["settings_desc"]): t["version"]
        for t in sorted(ordered, key=lambda t: order[t["engine"]])
        if t.get("settings_desc")
    }
    write(
        arguments.folder / "peers_settings.csv",
        [{"engine": e, "version": v, "settings": s, "description": d} for (e, s, d), v in described.items()],
    )


if __name__ == "__main__":
    main()
