"""Bullet's runner."""

import math

import numpy as np
import pybullet as p
from common import main

p.connect(p.DIRECT)


def build(sc, h, st):
    p.resetSimulation()
    p.setGravity(*sc["gravity"])
    p.setTimeStep(h)
    mu, e = math.sqrt(sc["mu"]), math.sqrt(sc["e"])  # Bullet multiplies the two coefficients
    kw = dict(restitutionVelocityThreshold=0.0 if e > 0 else 0.2)
    if st == "default":
        desc = "SI solver 50 iterations, erp .2 (PyBullet defaults)"
    elif st == "accurate":
        kw.update(numSolverIterations=1000, solverResidualThreshold=1e-14, enableConeFriction=1)
        desc = "SI 1000 iterations, residual 1e-14, cone friction"
    else:
        kw.update(constraintSolverType=p.CONSTRAINT_SOLVER_LCP_DANTZIG, globalCFM=1e-9)
        desc = "MLCP Dantzig, cfm 1e-9"
    p.setPhysicsEngineParameter(**kw)
    ids = []

    def shape(b):
        if not sc["collide"]:
            return -1
        if b["shape"] == "box":
            return p.createCollisionShape(p.GEOM_BOX, halfExtents=b["half"])
        if b["shape"] == "sphere":
            return p.createCollisionShape(p.GEOM_SPHERE, radius=b["r"])
        return p.createCollisionShape(p.GEOM_CAPSULE, radius=b["r"], height=2 * b["hl"])

    def dyn(i, l, b=None):
        k = dict(
            lateralFriction=mu,
            restitution=e,
            rollingFriction=0,
            spinningFriction=0,
            linearDamping=0,
            angularDamping=0,
            jointDamping=0,
        )
        p.changeDynamics(i, l, **k)
        if b:
            p.changeDynamics(i, l, activationState=p.ACTIVATION_STATE_DISABLE_SLEEPING)
            p.changeDynamics(
                i, l, localInertiaDiagonal=b["inertia"]
            )  # its own call: combined with others a link ignores it
            if e > 0 and st != "default":
                p.changeDynamics(i, l, contactProcessingThreshold=0.0)

    if sc["plane"]:
        dyn(p.createMultiBody(0, p.createCollisionShape(p.GEOM_PLANE)), -1)
    B = sc["bodies"]
    if sc["joints"]:
        prev = np.zeros(3)
        pos, ip = [], []
        for b, j in zip(B, sc["joints"]):
            an = np.array(j["anchor"])
            pos.append((an - prev).tolist())
            ip.append((np.array(b["pos"]) - an).tolist())
            prev = an
        n = len(B)
        i = p.createMultiBody(
            0,
            -1,
            -1,
            [0, 0, 0],
            linkMasses=[b["mass"] for b in B],
            linkCollisionShapeIndices=[-1] * n,
            linkVisualShapeIndices=[-1] * n,
            linkPositions=pos,
            linkOrientations=[[0, 0, 0, 1]] * n,
            linkInertialFramePositions=ip,
            linkInertialFrameOrientations=[[0, 0, 0, 1]] * n,
            linkParentIndices=list(range(n)),
            linkJointTypes=[p.JOINT_REVOLUTE] * n,
            linkJointAxis=[j["axis"] for j in sc["joints"]],
        )
        dyn(i, -1)
        for l, b in enumerate(B):
            dyn(i, l, b)
            p.setJointMotorControl2(i, l, p.VELOCITY_CONTROL, force=0)
        desc += "; multibody (Featherstone) joints"
    else:
        for b in B:
            q = b["quat"]
            i = p.createMultiBody(b["mass"], shape(b), -1, b["pos"], [q[1], q[2], q[3], q[0]])
            dyn(i, -1, b)
            p.resetBaseVelocity(i, b["vel"], b["omega"])
            ids.append(i)
    forced = [(i, b["force"]) for i, b in zip(ids, B) if any(b["force"])]

    def step(n):
        for _ in range(n):
            for i, f in forced:
                p.applyExternalForce(i, -1, f, p.getBasePositionAndOrientation(i)[0], p.WORLD_FRAME)
            p.stepSimulation()

    def state():
        out = np.zeros((len(B), 13))
        for k in range(len(B)):
            if sc["joints"]:
                s = p.getLinkState(0, k, computeLinkVelocity=1, computeForwardKinematics=1)
                x, q, v, w = s[0], s[1], s[6], s[7]
            else:
                x, q = p.getBasePositionAndOrientation(ids[k])
                v, w = p.getBaseVelocity(ids[k])
            out[k] = [*x, q[3], q[0], q[1], q[2], *v, *w]
        return out

    return step, state, desc


main("bullet", "pybullet 3.2.7 (Bullet 3.25)", build)
