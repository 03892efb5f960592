"""MuJoCo's runner."""

import math

import mujoco
import numpy as np
from common import main


def build(sc, h, st):
    joints, nb = sc["joints"], len(sc["bodies"])
    mu, e = sc["mu"], sc["e"]
    opt = {"timestep": h}
    desc = []
    elastic = e > 0
    if st == "default":
        opt.update(integrator="Euler")
        desc.append("Euler, pyramidal cone, Newton, solref .02/1 (all defaults)")
    else:
        opt.update(
            cone="elliptic",
            iterations=200,
            tolerance=1e-14,
            ls_iterations=100,
            noslip_iterations=20,
            noslip_tolerance=1e-14,
            impratio=10,
        )
        opt["integrator"] = "RK4" if not sc["collide"] else "implicitfast"
        desc.append(
            "%s, elliptic cone, Newton tol 1e-14, noslip 20, impratio 10, solref 2h/1, solimp .99 .9999"
            % opt["integrator"]
        )
    if elastic:
        # MuJoCo has no restitution coefficient: spring-damper with the damping ratio giving e for a half period
        z = -math.log(e) / math.sqrt(math.pi**2 + math.log(e) ** 2) if e < 1 else 0.0
        k = (math.pi / (5 * h if st == "accurate" else 0.02)) ** 2
        b = 2 * z * math.sqrt(k)
        solref = "%g %g" % (-k, -b if b > 0 else -1e-9)
        solimp = "0.99 0.99 0.001 0.5 2"
        desc.append("e via solref(-k,-b), half-period %s" % ("5h" if st == "accurate" else "20 ms"))
    elif st == "default":
        solref, solimp = ".02 1", ".9 .95 .001 .5 2"
    else:
        solref, solimp = "%g 1" % (2 * h), ".99 .9999 .0001 .5 2"
    f = 'friction="%g 0 0" condim="%d" solref="%s" solimp="%s"' % (mu, 3 if mu > 0 else 1, solref, solimp)
    x = [
        '<mujoco><compiler autolimits="true" inertiafromgeom="false"/><size memory="2G"/><option gravity="%g %g %g" %s/>'
        % (*sc["gravity"], " ".join('%s="%s"' % kv for kv in opt.items())),
        "<worldbody>",
    ]
    if sc["plane"]:
        x.append('<geom type="plane" size="50 50 1" %s/>' % f)

    def geom(b):
        c = "" if sc["collide"] else ' contype="0" conaffinity="0"'
        s = {
            "box": lambda: 'box" size="%.17g %.17g %.17g' % tuple(b["half"]),
            "sphere": lambda: 'sphere" size="%.17g' % b["r"],
            "capsule": lambda: 'capsule" size="%.17g %.17g' % (b["r"], b["hl"]),
        }[b["shape"]]()
        return (
            '<inertial pos="0 0 0" mass="%.17g" diaginertia="%.17g %.17g %.17g"/><geom type="%s" %s%s/>'
            % (b["mass"], *b["inertia"], s, f, c)
        )

    if joints:  # serial chain, reduced coordinates (all quats identity)
        prev = np.zeros(3)
        tail = ""
        for i, (b, j) in enumerate(zip(sc["bodies"], joints)):
            p = np.array(b["pos"]) - prev
            an = np.array(j["anchor"]) - np.array(b["pos"])
            prev = np.array(b["pos"])
            x.append(
                '<body name="b%d" pos="%.17g %.17g %.17g"><joint type="hinge" pos="%.17g %.17g %.17g" axis="%g %g %g"/>'
                % (i, *p, *an, *j["axis"])
                + geom(b)
            )
            tail += "</body>"
        x.append(tail)
    else:
        for i, b in enumerate(sc["bodies"]):
            x.append(
                '<body name="b%d" pos="%.17g %.17g %.17g" quat="%.17g %.17g %.17g %.17g"><freejoint/>'
                % (i, *b["pos"], *b["quat"])
                + geom(b)
                + "</body>"
            )
    x.append("</worldbody></mujoco>")
    m = mujoco.MjModel.from_xml_string("".join(x))
    d = mujoco.MjData(m)
    if not joints:
        for i, b in enumerate(sc["bodies"]):
            R = np.zeros(9)
            mujoco.mju_quat2Mat(R, np.array(b["quat"], float))
            R = R.reshape(3, 3)
            d.qvel[6 * i : 6 * i + 3] = b["vel"]
            d.qvel[6 * i + 3 : 6 * i + 6] = R.T @ np.array(b["omega"], float)
            d.xfrc_applied[i + 1, :3] = b["force"]
    mujoco.mj_forward(m, d)

    def state():
        if joints:
            mujoco.mj_kinematics(m, d)
            mujoco.mj_comPos(m, d)
            mujoco.mj_comVel(m, d)
        out = np.zeros((nb, 13))
        v = np.zeros(6)
        for i in range(nb):
            if joints:
                out[i, :3] = d.xpos[i + 1]
                out[i, 3:7] = d.xquat[i + 1]
                mujoco.mj_objectVelocity(m, d, mujoco.mjtObj.mjOBJ_BODY, i + 1, v, 0)
                out[i, 7:10] = v[3:]
                out[i, 10:] = v[:3]
            else:
                q = d.qpos[7 * i : 7 * i + 7]
                out[i, :7] = q
                out[i, 7:10] = d.qvel[6 * i : 6 * i + 3]
                R = np.zeros(9)
                mujoco.mju_quat2Mat(R, q[3:])
                out[i, 10:] = R.reshape(3, 3) @ d.qvel[6 * i + 3 : 6 * i + 6]
        return out

    def step(n):
        mujoco.mj_step(m, d, nstep=n)

    return step, state, "; ".join(desc)


main("mujoco", mujoco.__version__, build)
