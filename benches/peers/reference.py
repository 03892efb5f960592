"""References of scenes without a closed form, kept in the cache folder once they are computed."""

import itertools
import json
import math
import os
import pathlib

import numpy as np
from scipy.integrate import solve_ivp

G = 9.81
PEERS = pathlib.Path(os.environ.get("PEERS") or pathlib.Path.home() / ".cache" / "stiction-peers")


def cached(key, compute):
    path = PEERS / "references" / f"{key}.json"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(np.asarray(compute()).tolist()))
    return np.array(json.loads(path.read_text()))


def pendulum(scene, times):
    """Centre of the last bar (x, z) at some times, from the equations of the angles by DOP853 at 1e-12."""
    n, length = scene["n"], scene["L"]
    m, inertia = scene["bodies"][0]["mass"], scene["bodies"][0]["inertia"][1]
    # levers of each angle on the centre of each bar
    a = np.array([[length if i < k else (length / 2 if i == k else 0.0) for i in range(n)] for k in range(n)])
    coupling, weight = m * a.T @ a, m * G * a.sum(0)

    def rate(_, y):
        angle, speed = y[:n], y[n:]
        d = angle[:, None] - angle[None, :]
        mass = coupling * np.cos(d) + inertia * np.eye(n)
        force = -(coupling * np.sin(d)) @ (speed * speed) - weight * np.sin(angle)
        return np.r_[speed, np.linalg.solve(mass, force)]

    start = np.r_[np.full(n, math.pi / 2), np.zeros(n)]
    run = solve_ivp(rate, (0, max(times)), start, "DOP853", t_eval=times, rtol=1e-12, atol=1e-12)
    lever, angle = a[-1][:, None], run.y[:n]
    return np.stack([(lever * np.sin(angle)).sum(0), 2.0 + length * n - (lever * np.cos(angle)).sum(0)], 1)


def free_rotation(scene, times):
    """Quaternion of a free body at some times, from Euler's equations by DOP853 at 1e-12."""
    body = scene["bodies"][0]
    inertia = np.array(body["inertia"])

    def rate(_, y):
        (w, x, y_, z), o = y[:4], y[4:]
        turn = 0.5 * np.array(
            [
                -x * o[0] - y_ * o[1] - z * o[2],
                w * o[0] + y_ * o[2] - z * o[1],
                w * o[1] + z * o[0] - x * o[2],
                w * o[2] + x * o[1] - y_ * o[0],
            ]
        )
        return np.r_[turn, np.cross(inertia * o, o) / inertia]

    start = np.r_[body["quat"], body["omega"]]
    return solve_ivp(rate, (0, max(times)), start, "DOP853", t_eval=times, rtol=1e-12, atol=1e-12).y[:4].T


# what a contact of the rod may do
STICK, RIGHT, LEFT, OPEN = 1, 2, 3, 0
ROUND_OFF = 1e-9


def rod(scene, h):
    """x, z and angle of the rod at the samples: planar steps of first order, each solved by trying all modes."""
    r, half, mu = 0.05, 0.25, scene["mu"]
    inverse = np.diag([1.0, 1.0, 1 / 0.002])
    q, v = np.array([0.0, 1.0, math.radians(30)]), np.array([0.0, 0.0, 4.0])
    out = [q.copy()]
    every = round(scene["T"] / scene["samples"] / h)
    for step in range(every * scene["samples"]):
        v = v + h * np.array([0, -G, 0])
        contacts = []
        for side in (1, -1):
            sin, cos = side * half * math.sin(q[2]), side * half * math.cos(q[2])
            gap = q[1] + sin - r
            if gap + h * (v[1] + cos * v[2]) < 0:
                # the point of contact lies r below the end's centre, which lengthens the lever of friction
                contacts.append((np.array([0, 1, cos]), np.array([1, 0, r - sin]), gap / h))
        if contacts:
            answers = (
                answer(modes, contacts, v, mu, inverse)
                for modes in itertools.product((STICK, RIGHT, LEFT, OPEN), repeat=len(contacts))
            )
            v = next((a for a in answers if a is not None), v)
        q = q + h * v
        if (step + 1) % every == 0:
            out.append(q.copy())
    return np.array(out)


def answer(modes, contacts, v, mu, inverse):
    """The velocity after a step in given modes, or None where they are not right."""
    pushes, rows, offsets = [], [], []
    for mode, (normal, tangent, offset) in zip(modes, contacts):
        if mode == STICK:
            pushes += [normal, tangent]
            rows += [normal, tangent]
            offsets += [-offset - normal @ v, -tangent @ v]
        elif mode != OPEN:
            pushes.append(normal + (-mu if mode == RIGHT else mu) * tangent)
            rows.append(normal)
            offsets.append(-offset - normal @ v)
    impulses = []
    if pushes:
        push = inverse @ np.array(pushes).T
        try:
            impulses = list(np.linalg.solve(np.array(rows) @ push, offsets))
        except np.linalg.LinAlgError:
            return None
        v = v + push @ impulses
    for mode, (normal, tangent, offset) in zip(modes, contacts):
        if mode == OPEN:
            right = normal @ v + offset >= -ROUND_OFF
        else:
            press = impulses.pop(0)
            right = press >= -ROUND_OFF
            if mode == STICK:
                right &= abs(impulses.pop(0)) <= mu * press + ROUND_OFF
            else:
                right &= (tangent @ v) * (1 if mode == RIGHT else -1) >= -ROUND_OFF
        if not right:
            return None
    return v
