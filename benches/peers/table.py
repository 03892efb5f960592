"""Says what benches/results/peers.csv holds, as Markdown: rows of every scene, and what they mean for this project.

    python3 benches/peers/table.py [--rows] [--short]

Needs nothing but Python. A row beats another when it is both cheaper and more accurate.
"""

import argparse
import csv
import math
import pathlib

RESULTS = pathlib.Path(__file__).resolve().parent.parent / "results" / "peers.csv"
SETTINGS = RESULTS.with_name("peers_settings.csv")
OURS = "stiction"


class Row:
    """A run, with its error and its cost in CPU seconds per simulated second; both infinite where it failed."""

    def __init__(self, line):
        self.engine, self.settings, self.fail = line["engine"], line["settings"], line["fail"]
        self.h = float(line["h"])
        number = lambda key: math.inf if self.fail or line[key] == "" else float(line[key])
        self.error, self.cost = number("error"), number("cpu_s_per_s")
        # of all steps where the engine says so
        self.infeasibility = number("infeasibility")
        self.measured, self.date, self.machine = line["error_is"], line["date"], line["machine"]

    def beats(self, other):
        return self.error < other.error and self.cost < other.cost

    def name(self):
        return f"{self.engine} {self.settings} {self.h:g}"

    def lacking(self):
        """The engine has not what the scene needs."""
        return "n/a" in self.fail

    def figures(self):
        if self.fail:
            return "n/a" if self.lacking() else "failed"
        return f"{self.error:.1e} @ {self.cost:.2g}" if math.isfinite(self.error) else "flew off"


def read(path):
    """Rows by scene, in the order of the file."""
    scenes = {}
    with path.open(newline="") as file:
        for line in csv.DictReader(file):
            scenes.setdefault(line["scene"], []).append(Row(line))
    return scenes


def table(head, lines):
    text = ["| " + " | ".join(cells) + " |" for cells in [head, ["---"] * len(head), *lines]]
    return "\n".join(text) + "\n"


def rows(scenes):
    """All rows: error @ CPU seconds per simulated second."""
    text = []
    for scene, all_rows in scenes.items():
        steps = sorted({row.h for row in all_rows}, reverse=True)
        lines = []
        for named in dict.fromkeys((row.engine, row.settings) for row in all_rows):
            of = {row.h: row.figures() for row in all_rows if (row.engine, row.settings) == named}
            lines.append([*named, *(of.get(h, "") for h in steps)])
        text.append(f"### {scene}\n\n" + table(["engine", "settings", *(f"h = {h:g}" for h in steps)], lines))
    return "\n".join(text)


def best(some):
    return min(some, key=lambda row: (row.error, row.cost), default=None)


def verdict(scenes):
    """Of each scene: the best rows, and which rows of the peers none of ours is at least as good as in both."""
    lines = []
    for scene, all_rows in scenes.items():
        ours = [row for row in all_rows if row.engine == OURS]
        peers = [row for row in all_rows if row.engine != OURS]
        mine, theirs = best(ours), best(peers)
        if mine is None or theirs is None:
            continue
        ahead = [p for p in peers if all(p.beats(row) for row in ours)]
        # what the peers have on the common front
        level = [
            p
            for p in peers
            if math.isfinite(p.error)
            and not any(row.error <= p.error and row.cost <= p.cost for row in ours)
            and not any(q.beats(p) for q in peers)
        ]
        lines.append(
            [
                scene,
                f"{mine.figures()} ({mine.settings} {mine.h:g})",
                f"{theirs.figures()} ({theirs.name()})",
                "yes" if mine.error < theirs.error else "**no**",
                "none" if not ahead else f"**{len(ahead)}: the best is {best(ahead).name()}**",
                "; ".join(f"{p.name()}: {p.figures()}" for p in level) or "none",
            ]
        )
    head = [
        "scene",
        "our best error @ cost",
        "best of the peers",
        "ours is lowest",
        "peer rows that beat all of ours",
    ]
    return table([*head, "peer rows on the front"], lines)


def short(scenes):
    """What the README shows: the best row of this project and of the peers, when, where and against which versions."""
    lines = []
    for scene, all_rows in scenes.items():
        mine = best([row for row in all_rows if row.engine == OURS])
        theirs = best([row for row in all_rows if row.engine != OURS])
        if mine is None or theirs is None:
            continue
        figures = lambda row, name: f"{row.error:.0e} @ {row.cost:.2g} ({name})"
        lines.append([scene, mine.measured, figures(mine, mine.settings), figures(theirs, theirs.engine)])
    head = ["scene", "error", "Stiction's best @ cost", "the others' best @ cost"]
    with SETTINGS.open(newline="") as file:
        versions = {line["engine"]: line["version"] for line in csv.DictReader(file)}
    named = ", ".join(f"{engine} {version}" for engine, version in versions.items())
    first = next(iter(scenes.values()))[0]
    return table(head, lines) + f"\nCost: CPU seconds per simulated second. {first.date}, {first.machine}: {named}.\n"


def find(scenes, scene, engine, settings, h):
    chosen = [r for r in scenes.get(scene, []) if (r.engine, r.settings, r.h) == (engine, settings, h)]
    return chosen[0] if chosen else None


def targets(scenes):
    """The aims of the project, each with its figure. Costs are parts of a peer's row in the same file."""
    ours = lambda scene: [row for row in scenes.get(scene, []) if row.engine == OURS]
    lines = []

    def costly(what, scene, limit, error, peer, part):
        beside = find(scenes, scene, *peer)
        good = [row for row in ours(scene) if error(row) < limit]
        cheapest = min(good, key=lambda row: row.cost, default=best(ours(scene)))
        if beside is None or cheapest is None:
            return
        ratio = cheapest.cost / beside.cost
        met = bool(good) and ratio <= part
        figure = f"{cheapest.figures()} ({cheapest.settings} {cheapest.h:g}), {ratio:.2g} of {beside.name()}"
        lines.append([what, figure, "met" if met else "**missed**"])

    sampled = lambda row: row.error
    costly(
        "1000:1 stack within 1e-7 at the cost of MuJoCo's accurate row",
        "stack1000",
        1e-7,
        sampled,
        ("mujoco", "accurate", 0.01),
        1.0,
    )
    costly(
        "216 balls within 1e-6 of the radius at 0.79 of Rapier's accurate row",
        "b666",
        1e-6,
        sampled,
        ("rapier", "accurate", 0.01),
        0.79,
    )
    # infeasibility is in metres
    costly(
        "pile of 100 within 0.01 mm in all steps at the cost of Rapier's accurate row",
        "pile_100",
        1e-5,
        lambda row: max(1e-3 * row.error, row.infeasibility),
        ("rapier", "accurate", 0.01),
        1.0,
    )
    every = lambda what, rows, limit: (
        rows
        and lines.append(
            [
                what,
                f"{max(r.error for r in rows):.1e} at most",
                "met" if all(r.error < limit for r in rows) else "**missed**",
            ]
        )
    )
    resting = [row for row in ours("incline_stick") if not row.lacking()]
    every("2 % below slip: creep below 1e-12 m in every row", resting, 1e-12)
    rods = [row for row in ours("painleve_rod") if row.settings == "accurate"]
    every("rod within 1e-3 in every accurate row", rods, 1e-3)
    for peer in (
        row for row in scenes.get("dpend", []) if (row.engine, row.settings) == ("mujoco", "accurate")
    ):
        good = [row for row in ours("dpend") if row.error <= peer.error]
        cheapest = min(good, key=lambda row: row.cost, default=None)
        figure = (
            "no row is as accurate"
            if cheapest is None
            else (
                f"{cheapest.figures()} ({cheapest.settings} {cheapest.h:g}), {cheapest.cost / peer.cost:.2g} of its cost"
            )
        )
        met = cheapest is not None and cheapest.cost <= peer.cost
        lines.append(
            [
                f"double pendulum ahead of MuJoCo's RK4 at {peer.error:.1e}",
                figure,
                "met" if met else "**missed**",
            ]
        )
    return table(["aim", "figure", ""], lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--csv", type=pathlib.Path, default=RESULTS)
    parser.add_argument("--rows", action="store_true", help="all rows of every scene too")
    parser.add_argument("--short", action="store_true", help="the table of the README, and the aims, alone")
    arguments = parser.parse_args()
    scenes = read(arguments.csv)
    if arguments.short:
        print(short(scenes))
        print(targets(scenes))
        return
    if arguments.rows:
        print("Error @ CPU seconds per simulated second.\n\n" + rows(scenes))
    print(verdict(scenes))
    print(targets(scenes))


if __name__ == "__main__":
    main()
