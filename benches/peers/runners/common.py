"""Shared main of the Python runners. A runner gives build(scene, h, settings) -> (step(n), state(), description)."""

import argparse
import json
import os
import sys
import time

import numpy as np


def main(engine, version, build):
    ap = argparse.ArgumentParser()
    ap.add_argument("--scene", required=True)
    ap.add_argument("--h", type=float, required=True)
    ap.add_argument("--settings", default="default")
    ap.add_argument("--repeat", type=int, default=1)
    ap.add_argument("--max-wall", type=float, default=30.0)
    a = ap.parse_args()
    sc = json.load(open(a.scene))
    out = dict(scene=sc["name"], engine=engine, version=version, settings=a.settings, h=a.h)
    k = round(sc["T"] / sc["samples"] / a.h)
    walls, cpus = [], []
    rec = None
    try:
        for _ in range(a.repeat):
            step, state, desc = build(sc, a.h, a.settings)
            X, ts, wall, cpu = [np.array(state())], [0.0], 0.0, 0.0
            for i in range(sc["samples"]):
                t0, c0 = time.perf_counter(), time.process_time()
                step(k)
                wall += time.perf_counter() - t0
                cpu += time.process_time() - c0
                X.append(np.array(state()))
                ts.append((i + 1) * k * a.h)
                if wall > a.max_wall:
                    out["timeout"] = True
                    break
            walls.append(wall)
            cpus.append(cpu)
            if rec is None:
                rec = (ts, X)
            if out.get("timeout"):
                break
        out.update(
            settings_desc=desc,
            sim_s=rec[0][-1],
            wall_s=min(walls),
            cpu_s=min(cpus),
            walls=walls,
            nsteps=(len(rec[0]) - 1) * k,
            t=rec[0],
            X=[x.tolist() for x in rec[1]],
        )
    except Exception as ex:
        out["fail"] = "%s: %s" % (type(ex).__name__, str(ex)[:300])
    sys.stdout.write(json.dumps(out) + "\n")
    sys.stdout.flush()
    # some engines crash as they are torn down
    os._exit(0)
