"""Times quantecon's Lemke on the problems that `stiction-lab bench lemke --problems` wrote, beside Stiction's times.

    stiction-lab bench lemke --json out/bench/lemke.json --problems out/bench/problems
    python benches/lemke_quantecon.py out/bench/lemke.json

quantecon's `lcp_lemke` is compiled by numba; a first call compiles it and is not timed. Its buffers are handed
in, so that it allocates nothing. Stiction's times include its certificate; quantecon's answer is judged by the
same natural map, outside its time. Its answer counts when its residual is at most 1e-10, whatever it says of it:
on the larger towers it often reaches a solution and reports a ray. Prints a table and writes
benches/results/lemke.csv.
"""

import argparse
import datetime
import json
import pathlib
import statistics
import time

import numpy as np
from record import machine, write
from quantecon.optimize import lcp_lemke

HERE = pathlib.Path(__file__).resolve().parent
# largest residual of an answer, as in Stiction's default
TOLERANCE = 1e-10
STATUS = {0: "solved", 1: "budget", 2: "ray"}


def residual(m, q, z):
    """Largest |min(weight z, w)| against the largest entry of q: the natural map of Stiction's certificate."""
    w = m @ z + q
    diagonal = np.abs(np.diag(m))
    around = np.maximum(np.abs(m).max(axis=0), np.abs(m).max(axis=1))
    weight = np.where(diagonal != 0, diagonal, np.where(around > 0, around, 1.0))
    return float(np.abs(np.minimum(weight * z, w)).max() / np.abs(q).max())


def times(m, q, seconds):
    """Times of one problem [µs], at least seven, and the answer."""
    n = len(q)
    buffers = {"tableau": np.empty((n, 2 * n + 2)), "basis": np.empty(n, dtype=np.int_), "z": np.empty(n)}
    result = lcp_lemke(m, q, **buffers)
    measured = []
    begun = time.perf_counter()
    while len(measured) < 7 or (time.perf_counter() - begun < seconds and len(measured) < 20000):
        start = time.perf_counter()
        lcp_lemke(m, q, **buffers)
        measured.append(1e6 * (time.perf_counter() - start))
    return min(measured), statistics.median(measured), result


def main():
    parser = argparse.ArgumentParser(description="quantecon's Lemke on the problems of stiction-lab bench lemke")
    parser.add_argument("results", type=pathlib.Path, help="what stiction-lab bench lemke --json wrote")
    parser.add_argument("--csv", type=pathlib.Path, default=HERE / "results" / "lemke.csv")
    parser.add_argument("--seconds", type=float, default=0.3, help="time spent on each problem")
    arguments = parser.parse_args()

    # compile before anything is timed
    lcp_lemke(np.array([[2.0, 1.0], [1.0, 2.0]]), np.array([-5.0, -6.0]))

    host, today = machine(), datetime.date.today().isoformat()
    rows = []
    for ours in json.loads(arguments.results.read_text()):
        problem = json.loads(pathlib.Path(ours["problem"]).read_text())
        m, q = np.array(problem["m"], order="C"), np.array(problem["q"])
        best, median, theirs = times(m, q, arguments.seconds)
        rows.append(
            {
                "machine": host,
                "date": today,
                "contacts": ours["contacts"],
                "n": ours["n"],
                "seed": ours["seed"],
                "stiction_us": round(ours["dense"]["best_us"], 2),
                "stiction_median_us": round(ours["dense"]["median_us"], 2),
                "quantecon_us": round(best, 2),
                "quantecon_median_us": round(median, 2),
                "ratio": round(best / ours["dense"]["best_us"], 2),
                "stiction_pivots": ours["pivots"],
                "quantecon_pivots": theirs.num_iter,
                "stiction_residual": f"{ours['certificate']:.1e}",
                "quantecon_residual": f"{residual(m, q, theirs.z):.1e}",
                "quantecon_status": STATUS.get(theirs.status, str(theirs.status)),
            }
        )

    print(f"\n{host}\nLemke's method on the same dense problems, best of many repetitions [µs]\n")
    print(f"{'contacts':>8} {'n':>5} {'seed':>5} {'stiction':>10} {'quantecon':>10} {'ratio':>7}"
          f"   {'pivots':>11}   {'residuals':>19}   quantecon says")
    for row in rows:
        print(f"{row['contacts']:>8} {row['n']:>5} {row['seed']:>5} {row['stiction_us']:>10.1f}"
              f" {row['quantecon_us']:>10.1f} {row['ratio']:>7.2f}"
              f"   {row['stiction_pivots']:>5} {row['quantecon_pivots']:>5}"
              f"   {row['stiction_residual']:>9} {row['quantecon_residual']:>9}   {row['quantecon_status']}")
    print(f"\n{'contacts':>8} {'n':>5} {'median ratio':>13} {'least':>7}   right answers of quantecon")
    for contacts in sorted({row["contacts"] for row in rows}):
        own = [row for row in rows if row["contacts"] == contacts]
        # the time of a wrong answer is no time to compare with
        ratios = [row["ratio"] for row in own if float(row["quantecon_residual"]) <= TOLERANCE]
        middle, least = (f"{statistics.median(ratios):.2f}", f"{min(ratios):.2f}") if ratios else ("none", "none")
        print(f"{contacts:>8} {own[0]['n']:>5} {middle:>13} {least:>7}   {len(ratios)} of {len(own)}")

    spread = [row[f"{who}_median_us"] / row[f"{who}_us"] for row in rows for who in ("stiction", "quantecon")]
    busy = sum(ratio > 1.1 for ratio in spread)
    if busy:
        print(f"\nthe machine was busy: {busy} of {len(spread)} medians are more than 1.1 times their best")

    write(arguments.csv, rows)


if __name__ == "__main__":
    main()
