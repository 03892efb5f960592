"""DART's runner."""

import dartpy as dart
import numpy as np
from common import main

D = dart.dynamics


def build(sc, h, st):
    w = dart.simulation.World()
    w.setTimeStep(h)
    w.setGravity(sc["gravity"])
    cs = w.getConstraintSolver()
    if st == "default":
        desc = "BoxedLCP Dantzig (PGS fallback), FCL collision (defaults)"
    elif st == "accurate":
        w.setCollisionDetector(dart.collision.FCLCollisionDetector())
        cs = w.getConstraintSolver()
        cs.setSplitImpulseEnabled(True)
        desc = "BoxedLCP Dantzig, FCL collision, split impulse"
    else:
        w.setCollisionDetector(dart.collision.BulletCollisionDetector())
        cs = w.getConstraintSolver()
        o = dart.constraint.NsgsFrictionSolver.Options()
        cs.setBoxedLcpSolver(dart.constraint.NsgsFrictionSolver(o))
        desc = "NSGS exact-cone friction solver, Bullet collision"
    # dartpy 6.20 hands out a copy of the collision option: the cap of 1000 contacts cannot be raised from Python
    cap = cs.getCollisionOption().maxNumContacts
    seen = [0]
    mu = sc["mu"]
    e = sc["e"] ** 0.5  # DART: min of friction, product of restitution

    def iso(p, q=None):
        T = dart.math.Isometry3()
        T.set_translation(p)
        if q is not None:
            T.set_quaternion(dart.math.Quaternion(*q))
        return T

    def props(sn):
        sn.createCollisionAspect()
        a = sn.createDynamicsAspect()
        a.setFrictionCoeff(mu)
        a.setRestitutionCoeff(e)

    if sc["plane"]:
        g = D.Skeleton("ground")
        j, bn = g.createWeldJointAndBodyNodePair()
        thick = 1.0
        sn = bn.createShapeNode(D.BoxShape([100, 100, thick]))
        props(sn)
        j.setTransformFromParentBodyNode(iso([0, 0, -thick / 2]))
        g.setMobile(False)
        w.addSkeleton(g)
    BN = []
    skels = []

    def inertia(bn, b):
        I = b["inertia"]
        bn.setInertia(D.Inertia(b["mass"], np.zeros(3), np.diag(I)))

    if sc["joints"]:
        s = D.Skeleton("chain")
        parent = None
        for b, j in zip(sc["bodies"], sc["joints"]):
            P = D.RevoluteJointProperties()
            P.mAxis = np.array(j["axis"], float)
            jt, bn = (
                s.createRevoluteJointAndBodyNodePair(parent, P)
                if parent is not None
                else s.createRevoluteJointAndBodyNodePair(None, P)
            )
            an = np.array(j["anchor"])
            pp = np.zeros(3) if parent is None else np.array(sc["bodies"][j["a"]]["pos"])
            jt.setTransformFromParentBodyNode(iso(an - pp))
            jt.setTransformFromChildBodyNode(iso(an - np.array(b["pos"])))
            inertia(bn, b)
            BN.append(bn)
            parent = bn
        w.addSkeleton(s)
    else:
        for i, b in enumerate(sc["bodies"]):
            s = D.Skeleton("s%d" % i)
            jt, bn = s.createFreeJointAndBodyNodePair()
            inertia(bn, b)
            if sc["collide"]:
                sh = (
                    D.BoxShape(2 * np.array(b["half"]))
                    if b["shape"] == "box"
                    else D.SphereShape(b["r"])
                    if b["shape"] == "sphere"
                    else D.CapsuleShape(b["r"], 2 * b["hl"])
                )
                props(bn.createShapeNode(sh))
            T = iso(b["pos"], b["quat"])
            s.setPositions(D.FreeJoint.convertToPositions(T))
            R = T.rotation()
            s.setVelocities(np.r_[R.T @ np.array(b["omega"], float), R.T @ np.array(b["vel"], float)])
            w.addSkeleton(s)
            BN.append(bn)
            skels.append(s)
    forced = [(bn, np.array(b["force"], float)) for bn, b in zip(BN, sc["bodies"]) if any(b["force"])]

    def step(n):
        if forced:
            for _ in range(n):
                for bn, f in forced:
                    bn.addExtForce(f)
                w.step()
        else:
            for _ in range(n):
                w.step()

    def state():
        if sc["collide"]:
            seen[0] = max(seen[0], w.getLastCollisionResult().getNumContacts())
            if seen[0] >= cap:
                raise RuntimeError("n/a: invalid run, dartpy's contact cap (%d) reached" % cap)
        out = np.zeros((len(BN), 13))
        for i, bn in enumerate(BN):
            T = bn.getWorldTransform()
            q = T.quaternion()
            out[i] = [
                *np.asarray(T.translation()).ravel(),
                q.w(),
                q.x(),
                q.y(),
                q.z(),
                *np.asarray(bn.getLinearVelocity()).ravel(),
                *np.asarray(bn.getAngularVelocity()).ravel(),
            ]
        return out

    return step, state, desc


main("dart", dart.__version__, build)
