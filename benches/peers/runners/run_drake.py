"""Drake's runner."""

import importlib.metadata

import numpy as np
import pydrake.all as pd
from common import main
from pydrake.all import (
    AddMultibodyPlant,
    Box,
    Capsule,
    ConstantValueSource,
    CoulombFriction,
    DiagramBuilder,
    ExternallyAppliedSpatialForce,
    FixedOffsetFrame,
    HalfSpace,
    MultibodyPlantConfig,
    Quaternion,
    RevoluteJoint,
    RigidTransform,
    Simulator,
    SpatialForce,
    SpatialInertia,
    SpatialVelocity,
    Sphere,
    UnitInertia,
    Value,
)


def build(sc, h, st):
    if sc["e"] > 0:
        raise RuntimeError(
            "n/a: no restitution coefficient (compliant contact with Hunt-Crossley dissipation only)"
        )
    cont = (not sc["collide"]) and st == "accurate"
    cfg = MultibodyPlantConfig()
    cfg.time_step = 0.0 if cont else h
    if st == "default":
        desc = (
            "discrete, %s approximation, point contact, penetration_allowance 1 mm"
            % cfg.discrete_contact_approximation
        )
    else:
        desc = (
            "continuous RK3 fixed step"
            if cont
            else "discrete SAP lagged, point contact, penetration_allowance 1e-5 m; boxes carry 8 corner spheres "
            "(r 1 mm), capsules 2 end spheres: a lone Box or Capsule gets ONE contact point per pair"
        )
        cfg.penetration_allowance = 1e-5
    cfg.contact_model = "point"
    cfg.stiction_tolerance = 1e-4 if st != "default" else cfg.stiction_tolerance
    bld = DiagramBuilder()
    plant, sg = AddMultibodyPlant(cfg, bld)
    fr = CoulombFriction(sc["mu"], sc["mu"])
    bodies = []
    noplane = []
    if sc["plane"]:
        ground = plant.RegisterCollisionGeometry(
            plant.world_body(), RigidTransform(), HalfSpace(), "ground", fr
        )
    for i, b in enumerate(sc["bodies"]):
        m = b["mass"]
        I = b["inertia"]
        M = SpatialInertia(m, np.zeros(3), UnitInertia(I[0] / m, I[1] / m, I[2] / m))
        rb = plant.AddRigidBody("b%d" % i, M)
        bodies.append(rb)
        if sc["collide"]:
            s = (
                Box(*(2 * np.array(b["half"])))
                if b["shape"] == "box"
                else Sphere(b["r"])
                if b["shape"] == "sphere"
                else Capsule(b["r"], 2 * b["hl"])
            )
            gid = plant.RegisterCollisionGeometry(rb, RigidTransform(), s, "g%d" % i, fr)
            if st == "accurate" and b["shape"] != "sphere":
                noplane.append(gid)  # the corner spheres, not the shape itself, meet the plane
                if b["shape"] == "box":
                    r = 1e-3
                    hx = b["half"]
                    P = [
                        (x * (hx[0] - r), y * (hx[1] - r), z * (hx[2] - r))
                        for x in (-1, 1)
                        for y in (-1, 1)
                        for z in (-1, 1)
                    ]
                else:
                    r = b["r"]
                    P = [(0, 0, -b["hl"]), (0, 0, b["hl"])]
                for k, p in enumerate(P):
                    plant.RegisterCollisionGeometry(rb, RigidTransform(p), Sphere(r), "c%d_%d" % (i, k), fr)
    for k, j in enumerate(sc["joints"]):
        pf = plant.world_frame() if j["a"] < 0 else bodies[j["a"]].body_frame()
        an = np.array(j["anchor"])
        pa = an if j["a"] < 0 else an - np.array(sc["bodies"][j["a"]]["pos"])
        F = plant.AddFrame(FixedOffsetFrame("P%d" % k, pf, RigidTransform(pa)))
        C = plant.AddFrame(
            FixedOffsetFrame(
                "C%d" % k,
                bodies[j["b"]].body_frame(),
                RigidTransform(an - np.array(sc["bodies"][j["b"]]["pos"])),
            )
        )
        plant.AddJoint(RevoluteJoint("j%d" % k, F, C, j["axis"], 0.0))
    plant.mutable_gravity_field().set_gravity_vector(sc["gravity"])
    plant.Finalize()
    forces = []
    for rb, b in zip(bodies, sc["bodies"]):
        if any(b["force"]):
            f = ExternallyAppliedSpatialForce()
            f.body_index = rb.index()
            f.p_BoBq_B = np.zeros(3)
            f.F_Bq_W = SpatialForce(np.zeros(3), np.array(b["force"], float))
            forces.append(f)
    if forces:
        src = bld.AddSystem(ConstantValueSource(Value[list[ExternallyAppliedSpatialForce]](forces)))
        bld.Connect(src.get_output_port(), plant.get_applied_spatial_force_input_port())
    if sc["plane"] and noplane:
        sg.collision_filter_manager().Apply(
            pd.CollisionFilterDeclaration().ExcludeBetween(pd.GeometrySet(ground), pd.GeometrySet(noplane))
        )
    dg = bld.Build()
    sim = Simulator(dg)
    ctx = sim.get_mutable_context()
    pc = plant.GetMyMutableContextFromRoot(ctx)
    if not sc["joints"]:
        for rb, b in zip(bodies, sc["bodies"]):
            q = b["quat"]
            plant.SetFreeBodyPose(
                pc, rb, RigidTransform(Quaternion(np.array(q, float) / np.linalg.norm(q)), b["pos"])
            )
            plant.SetFreeBodySpatialVelocity(
                rb, SpatialVelocity(np.array(b["omega"], float), np.array(b["vel"], float)), pc
            )
    if cont:
        pd.ResetIntegratorFromFlags(sim, "runge_kutta3", h)
        it = sim.get_mutable_integrator()
        it.set_fixed_step_mode(True)
        it.set_maximum_step_size(h)
    sim.set_publish_every_time_step(False)
    sim.Initialize()
    n = [0]

    def step(k):
        n[0] += k
        sim.AdvanceTo(n[0] * h)

    def state():
        out = np.zeros((len(bodies), 13))
        for i, rb in enumerate(bodies):
            X = plant.EvalBodyPoseInWorld(pc, rb)
            V = plant.EvalBodySpatialVelocityInWorld(pc, rb)
            out[i] = [
                *X.translation(),
                *X.rotation().ToQuaternion().wxyz(),
                *V.translational(),
                *V.rotational(),
            ]
        return out

    return step, state, desc


main("drake", importlib.metadata.version("drake"), build)
