"""The scenes, in one neutral description that every runner builds from.

A scene is a dictionary, written as JSON for the runners:
  name, T [s], gravity, samples, plane (a half-space z <= 0 that stands still), collide (whether anything meets)
  mu, e: coefficients of friction and restitution of every pair
  bodies: shape (box with half, sphere with r, capsule with r and hl along its z), mass, inertia about its axes,
          pos, quat (w x y z), vel, omega (in the world), force (constant, at the centre)
  joints: type (revolute), a (a body, or -1 for the world), b, anchor and axis in the world
  hs: step sizes [s]; the time between samples is a whole multiple of each
Everything else is read by the error of the scene alone.
"""

import math
import random

G = 9.81
# off the axes of the world, so that friction pyramids show
YAW = math.radians(30)
D = (math.cos(YAW), math.sin(YAW))
STEPS = (0.01, 0.002, 0.0005)


def body(mass, inertia, pos, quat=(1, 0, 0, 0), vel=(0, 0, 0), omega=(0, 0, 0), force=(0, 0, 0), **shape):
    state = {"pos": pos, "quat": quat, "vel": vel, "omega": omega, "force": force}
    return shape | {"mass": mass, "inertia": list(inertia)} | {key: list(x) for key, x in state.items()}


def box(m, half, pos, **state):
    x, y, z = (a**2 for a in half)
    inertia = (m / 3 * (y + z), m / 3 * (x + z), m / 3 * (x + y))
    return body(m, inertia, pos, shape="box", half=list(half), **state)


def sphere(m, r, pos, **state):
    return body(m, [0.4 * m * r * r] * 3, pos, shape="sphere", r=r, **state)


def scene(
    name, time, bodies, mu=0.5, e=0.0, gravity=(0, 0, -G), free=False, joints=(), samples=50, hs=STEPS, **own
):
    common = {"name": name, "T": time, "gravity": list(gravity), "mu": mu, "e": e, "plane": not free}
    parts = {
        "collide": not free,
        "bodies": bodies,
        "joints": list(joints),
        "samples": samples,
        "hs": list(hs),
    }
    return common | parts | own


def roll_ball():
    """A ball that slips until it rolls."""
    ball = sphere(1, 0.1, (0, 0, 0.1), vel=(3 * D[0], 3 * D[1], 0))
    return scene("roll_ball", 2.0, [ball], mu=0.3, v0=3.0)


def slide_box():
    """A box that slides until it stops."""
    sliding = box(1, (0.2, 0.2, 0.1), (0, 0, 0.1), vel=(2 * D[0], 2 * D[1], 0))
    return scene("slide_box", 2.0, [sliding], mu=0.3, v0=2.0)


def bounce():
    """A ball that falls 1 m and bounces."""
    return scene("bounce", 2.0, [sphere(1, 0.1, (0, 0, 1.1))], mu=0.0, e=0.8, samples=100, drop=1.0)


def b666():
    """216 balls, 6 by 6 by 6, that fall into a heap."""
    shake = random.Random(666)
    balls = []
    for k in range(6):
        for j in range(6):
            for i in range(6):
                at = [0.205 * (n - 2.5) + shake.uniform(-0.01, 0.01) for n in (i, j)]
                # far enough apart that the shake lets none overlap
                balls.append(sphere(1, 0.1, (1.13 * at[0], 1.13 * at[1], 0.15 + 0.23 * k)))
    return scene("b666", 2.0, balls, samples=20, hs=STEPS[:2])


def pendulum(name, n, length):
    """Bars on hinges, let go from level."""
    height = 2.0 + length * n
    bars = [box(1.0, (length / 2, 0.02, 0.02), (length * (i + 0.5), 0, height)) for i in range(n)]
    hinge = {"type": "revolute", "axis": [0, 1, 0]}
    joints = [hinge | {"a": i - 1, "b": i, "anchor": [length * i, 0, height]} for i in range(n)]
    return scene(name, 10.0, bars, free=True, joints=joints, samples=100, n=n, L=length)


def incline(name, factor):
    """A box on an incline, with this many times the friction that holds it."""
    slope = 0.5
    theta = math.atan(slope)
    along = G * math.sin(theta)
    turn = (math.cos(YAW / 2), 0, 0, math.sin(YAW / 2))
    resting = box(1, (0.2, 0.2, 0.1), (0, 0, 0.1), quat=turn)
    gravity = (along * D[0], along * D[1], -G * math.cos(theta))
    return scene(name, 10.0, [resting], mu=slope * factor, gravity=gravity, slope=slope)


def roll_plate():
    """A plate that is pulled over 25 balls, for as long as its weight stays over all of them."""
    at = [0.4 * (i - 2) for i in range(5)]
    balls = [sphere(1, 0.1, (x, y, 0.1)) for x in at for y in at]
    force = 20.0
    plate = box(10, (2, 2, 0.05), (0, 0, 0.25), force=(force * D[0], force * D[1], 0))
    return scene("roll_plate", 0.5, [*balls, plate], F=force)


def tumble():
    """A free box that spins about its middle axis, and turns over."""
    spinning = box(1, (0.1, 0.2, 0.3), (0, 0, 0), omega=(0.1, 5, 0.1))
    return scene("tumble", 10.0, [spinning], gravity=(0, 0, 0), free=True, samples=100)


def stack1000():
    """Ten boxes on each other, the topmost a thousand times heavier."""
    boxes = [box(1000.0 if i == 9 else 1.0, (0.1, 0.1, 0.1), (0, 0, 0.1 + 0.2 * i)) for i in range(10)]
    return scene("stack1000", 5.0, boxes, samples=25)


def pile(n, side, hs):
    """Boxes of all sizes that fall into a heap from a grid."""
    dice = random.Random(n)
    boxes = []
    for i in range(n):
        half = [dice.uniform(0.05, 0.1) for _ in range(3)]
        turn = [dice.gauss(0, 1) for _ in range(4)]
        norm = math.sqrt(sum(x * x for x in turn))
        at = [0.36 * (k - (side - 1) / 2) for k in (i % side, (i // side) % side)]
        pos = (*at, 0.2 + 0.36 * (i // side**2))
        boxes.append(box(8000 * half[0] * half[1] * half[2], half, pos, quat=[x / norm for x in turn]))
    return scene(f"pile_{n}", 3.0, boxes, samples=60, hs=hs)


def painleve_rod():
    """A rod that falls on one end, turning, and then on the other."""
    angle = (math.pi / 2 - math.radians(30)) / 2
    lies = (math.cos(angle), 0, math.sin(angle), 0)
    rod = body(1.0, [0.002] * 3, (0, 0, 1.0), quat=lies, omega=(0, -4.0, 0), shape="capsule", r=0.05, hl=0.25)
    return scene("painleve_rod", 1.0, [rod], mu=0.6, samples=100)


MADE = [roll_ball(), roll_plate(), slide_box(), bounce(), b666()]
MADE += [pendulum("dpend", 2, 0.5), pendulum("chain10", 10, 0.2)]
MADE += [incline("incline_stick", 1.02), incline("incline_slip", 0.98), stack1000()]
MADE += [pile(10, 2, STEPS), pile(100, 5, STEPS[:2]), painleve_rod(), tumble()]
SCENES = {made["name"]: made for made in MADE}
