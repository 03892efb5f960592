"""The error of every scene, from sampled states, by the same code for all engines."""

import math

import numpy as np
import reference
from reference import G
from scipy.spatial import cKDTree
from scenes import D


def rotation(q):
    w, x, y, z = q
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def boxes(a, pa, ra, b, pb, rb):
    """Depth of two boxes in each other by the separating-axis test; negative where they are apart."""
    axes = np.vstack([ra.T, rb.T, np.cross(ra.T[:, None, :], rb.T[None, :, :]).reshape(9, 3)])
    length = np.linalg.norm(axes, axis=1)
    # parallel edges have no axis of their own
    there = length > 1e-7
    axes = axes[there] / length[there][:, None]
    reach = np.abs(axes @ ra) @ np.array(a["half"]) + np.abs(axes @ rb) @ np.array(b["half"])
    return float(np.min(reach - np.abs(axes @ (pb - pa))))


def lowest(body, p, r):
    """Height of the lowest point of a body."""
    if body["shape"] == "box":
        return p[2] - np.abs(r[2]) @ np.array(body["half"])
    return p[2] - body["r"] - (abs(r[2, 2]) * body["hl"] if body["shape"] == "capsule" else 0.0)


def penetration(scene, x):
    """The deepest of the plane and all pairs of spheres or boxes [m]."""
    bodies = scene["bodies"]
    p, r = x[:, :3], [rotation(s[3:7]) for s in x]
    deepest = 0.0
    if scene["plane"]:
        deepest = max(deepest, *(-lowest(*body) for body in zip(bodies, p, r)))
    if len(bodies) > 1:
        radius = np.array([b["r"] if b["shape"] == "sphere" else np.linalg.norm(b["half"]) for b in bodies])
        for i, j in cKDTree(p).query_pairs(2 * radius.max()):
            apart = np.linalg.norm(p[i] - p[j]) - radius[i] - radius[j]
            if apart < 0:
                balls = bodies[i]["shape"] == "sphere"
                depth = -apart if balls else boxes(bodies[i], p[i], r[i], bodies[j], p[j], r[j])
                deepest = max(deepest, depth)
    return deepest


def travelled(scene, distance, x):
    """Error of the distance gone in the direction of the start, relative to it."""
    return np.linalg.norm(x[-1, 0, :2] - x[0, 0, :2] - distance * np.array(D)) / distance


def roll_ball(scene, t, x):
    v, brake = scene["v0"], scene["mu"] * G
    slips = 2 * v / (7 * brake)
    return travelled(scene, v * slips - 0.5 * brake * slips**2 + 5 / 7 * v * (t[-1] - slips), x)


def slide_box(scene, t, x):
    return travelled(scene, scene["v0"] ** 2 / (2 * scene["mu"] * G), x)


def incline_stick(scene, t, x):
    return np.linalg.norm(x[-1, 0, :2])


def incline_slip(scene, t, x):
    slope = scene["slope"]
    brake = (slope - scene["mu"]) * G / math.hypot(1, slope)
    return travelled(scene, 0.5 * brake * t[-1] ** 2, x)


def roll_plate(scene, t, x):
    balls = scene["bodies"][:-1]
    # a ball rolls at half the speed of the plate, which adds a quarter of m + I / r² to its mass
    mass = scene["bodies"][-1]["mass"] + sum(0.25 * (b["mass"] + b["inertia"][0] / b["r"] ** 2) for b in balls)
    return travelled(scene, 0.5 * scene["F"] / mass * t[-1] ** 2, x[:, -1:])


def tumble(scene, t, x):
    inertia = np.array(scene["bodies"][0]["inertia"])
    turns = [rotation(state[0, 3:7]) for state in x]
    momenta = np.array([r @ (inertia * (r.T @ state[0, 10:13])) for r, state in zip(turns, x)])
    drift = np.linalg.norm(momenta - momenta[0], axis=1).max() / np.linalg.norm(momenta[0])
    at = int(np.searchsorted(t, 2.0 - 1e-9))
    end = reference.cached(scene["name"], lambda: reference.free_rotation(scene, t[: at + 1]))[-1]
    turn = x[at, 0, 3:7] / np.linalg.norm(x[at, 0, 3:7])
    # of both signs of a quaternion the nearer; the chord is exact where an arc cosine is not
    apart = min(np.linalg.norm(turn - end), np.linalg.norm(turn + end))
    return max(drift, 4 * math.asin(min(1.0, apart / 2)))


def bounce(scene, t, x):
    e, drop = scene["e"], scene["drop"]
    fall = math.sqrt(2 * drop / G)
    errors = []
    for instant, state in zip(t, x):
        bounces, hit, before = 0, fall, 0.0
        while instant > hit:
            bounces += 1
            before, hit = hit, hit + 2 * fall * e**bounces
        # no engine is blamed for the step in which it bounces
        if min(abs(instant - hit), abs(instant - before) if bounces else math.inf) > 0.015:
            energy = 0.5 * state[0, 9] ** 2 + G * (state[0, 2] - 0.1)
            errors.append(abs(energy - G * drop * e ** (2 * bounces)) / (G * drop))
    return np.mean(errors)


def b666(scene, t, x):
    return max(penetration(scene, s) for s in x) / 0.1


def pendulum(scene, t, x):
    gap = 0.0
    for state in x:
        for joint in scene["joints"]:
            anchor = np.array(joint["anchor"])

            def end(i):
                if i < 0:
                    return anchor
                return state[i, :3] + rotation(state[i, 3:7]) @ (anchor - np.array(scene["bodies"][i]["pos"]))

            gap = max(gap, np.linalg.norm(end(joint["a"]) - end(joint["b"])))
    at = int(np.searchsorted(t, 1.0 - 1e-9))
    end = reference.cached(scene["name"], lambda: reference.pendulum(scene, t[: at + 1]))[-1]
    return max(gap, np.linalg.norm(x[at, -1][[0, 2]] - end))


def stack1000(scene, t, x):
    return np.linalg.norm(x[:, :, :3] - x[0, :, :3], axis=2).max() / 0.2


def pile(scene, t, x):
    return 1e3 * max(penetration(scene, s) for s in x[1:])


def painleve_rod(scene, t, x):
    end = reference.cached(scene["name"], lambda: reference.rod(scene, 1e-6))[-1]
    return abs(x[-1, 0, 0] - end[0])


# what each error is
METRICS = {
    "roll_ball": (roll_ball, "relative error of the distance after 2 s"),
    "roll_plate": (roll_plate, "relative error of the plate's distance after 0.5 s"),
    "slide_box": (slide_box, "relative error of the distance after 2 s"),
    "bounce": (bounce, "mean relative error of the energy"),
    "b666": (b666, "deepest penetration / radius"),
    "dpend": (pendulum, "error after 1 s or joint gap [m]"),
    "chain10": (pendulum, "error after 1 s or joint gap [m]"),
    "incline_stick": (incline_stick, "creep after 10 s [m]"),
    "incline_slip": (incline_slip, "relative error of the distance after 10 s"),
    "stack1000": (stack1000, "largest displacement / box"),
    "pile_10": (pile, "deepest penetration [mm]"),
    "pile_100": (pile, "deepest penetration [mm]"),
    "painleve_rod": (painleve_rod, "error after 1 s [m]"),
    "tumble": (tumble, "angle after 2 s [rad] or relative change of angular momentum"),
}


def evaluate(scene, t, x):
    """The error of a run; infinite where it flew off."""
    t, x = np.asarray(t), np.asarray(x, float)
    if not np.all(np.isfinite(x)) or np.abs(x[:, :, :3]).max() > 1e4:
        return math.inf
    return float(METRICS[scene["name"]][0](scene, t, x))
