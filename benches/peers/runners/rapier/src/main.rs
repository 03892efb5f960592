//! Rapier's runner.
use cpu_time::ProcessTime;
use rapier3d_f64::prelude::*;
use serde_json::{json, Value};
use std::time::Instant;

fn v3(v: &Value) -> Vector {
    Vector::new(v[0].as_f64().unwrap(), v[1].as_f64().unwrap(), v[2].as_f64().unwrap())
}
fn f(v: &Value) -> f64 {
    v.as_f64().unwrap()
}

/// A scene as a world, its bodies in order, and what the settings are.
fn build(sc: &Value, h: f64, st: &str) -> (PhysicsWorld, Vec<RigidBodyHandle>, String) {
    let mut w = PhysicsWorld::default();
    w.gravity = v3(&sc["gravity"]);
    let p = &mut w.integration_parameters;
    p.dt = h;
    p.min_ccd_dt = h / 100.0;
    let mut desc = String::from("4 TGS-soft substeps, simplified friction, contact recycling (defaults)");
    if st != "default" {
        // found by trial on these scenes: the Coulomb friction model lets the box on the incline slide at 0.9 of its
        // mu, multibody joints do not converge to the double pendulum, so both are left at their defaults
        p.num_solver_iterations = 50;
        p.contact_recycling = false;
        p.contact_clustering = false;
        p.friction_in_bias_pass = true;
        p.warmstart_joints = true;
        p.contact_softness.natural_frequency = 200.0;
        p.static_contact_softness.natural_frequency = 200.0;
        desc = "50 substeps, contact frequency 200 Hz, friction in bias pass, no recycling/clustering, joint warm start, impulse joints".into();
    }
    let (mu, e, collide) = (f(&sc["mu"]), f(&sc["e"]), sc["collide"].as_bool().unwrap());
    let mat = |c: ColliderBuilder| c.friction(mu).restitution(e).density(0.0);
    if sc["plane"].as_bool().unwrap() {
        let g = w.insert_body(RigidBodyBuilder::fixed());
        w.insert_collider(
            mat(ColliderBuilder::new(SharedShape::halfspace(Vector::new(0.0, 0.0, 1.0)))),
            Some(g),
        );
    }
    let mut hs = vec![];
    for b in sc["bodies"].as_array().unwrap() {
        let q = &b["quat"];
        let rot = Rotation::from_xyzw(f(&q[1]), f(&q[2]), f(&q[3]), f(&q[0])).normalize();
        let m = f(&b["mass"]);
        let body = RigidBodyBuilder::dynamic()
            .pose(Pose::from_parts(v3(&b["pos"]), rot))
            .linvel(v3(&b["vel"]))
            .angvel(v3(&b["omega"]))
            .can_sleep(false)
            .linear_damping(0.0)
            .angular_damping(0.0)
            .gyroscopic_forces_enabled(true)
            .additional_mass_properties(MassProperties::new(Vector::ZERO, m, v3(&b["inertia"])));
        let hd = w.insert_body(body);
        w.bodies[hd].add_force(v3(&b["force"]), true); // persistent in rapier until reset
        if collide {
            let c = match b["shape"].as_str().unwrap() {
                "box" => ColliderBuilder::cuboid(f(&b["half"][0]), f(&b["half"][1]), f(&b["half"][2])),
                "sphere" => ColliderBuilder::ball(f(&b["r"])),
                _ => ColliderBuilder::capsule_z(f(&b["hl"]), f(&b["r"])),
            };
            w.insert_collider(mat(c), Some(hd));
        }
        hs.push(hd);
    }
    for j in sc["joints"].as_array().unwrap() {
        let an = v3(&j["anchor"]);
        let a = j["a"].as_i64().unwrap();
        let b = hs[j["b"].as_u64().unwrap() as usize];
        let (ha, pa) = if a < 0 {
            (w.insert_body(RigidBodyBuilder::fixed()), an)
        } else {
            (hs[a as usize], an - w.bodies[hs[a as usize]].translation())
        };
        let pb = an - w.bodies[b].translation();
        let jt = RevoluteJointBuilder::new(v3(&j["axis"]))
            .local_anchor1(pa)
            .local_anchor2(pb)
            .contacts_enabled(false);
        w.insert_impulse_joint(ha, b, jt);
    }
    (w, hs, desc)
}

/// Centre, rotation, velocity and angular velocity of every body.
fn state(w: &PhysicsWorld, hs: &[RigidBodyHandle]) -> Value {
    Value::Array(
        hs.iter()
            .map(|h| {
                let b = &w.bodies[*h];
                let (p, q, v, o) = (b.translation(), b.rotation(), b.linvel(), b.angvel());
                json!([p.x, p.y, p.z, q.w, q.x, q.y, q.z, v.x, v.y, v.z, o.x, o.y, o.z])
            })
            .collect(),
    )
}

fn main() {
    let a: Vec<String> = std::env::args().collect();
    let get = |k: &str, d: &str| a.iter().position(|x| x == k).map(|i| a[i + 1].clone()).unwrap_or(d.into());
    let sc: Value = serde_json::from_str(&std::fs::read_to_string(get("--scene", "")).unwrap()).unwrap();
    let (h, st, rep, mw) = (
        get("--h", "0.001").parse::<f64>().unwrap(),
        get("--settings", "default"),
        get("--repeat", "1").parse::<usize>().unwrap(),
        get("--max-wall", "30").parse::<f64>().unwrap(),
    );
    let (t, ns) = (f(&sc["T"]), sc["samples"].as_u64().unwrap());
    let k = (t / ns as f64 / h).round() as u64;
    let mut cpus: Vec<f64> = vec![];
    let (mut walls, mut xs, mut ts, mut desc, mut timeout) = (vec![], vec![], vec![], String::new(), false);
    for r in 0..rep {
        let (mut w, hs, d) = build(&sc, h, &st);
        desc = d;
        let (mut wall, mut cpu) = (0.0, 0.0);
        if r == 0 {
            xs.push(state(&w, &hs));
            ts.push(0.0);
        }
        for i in 0..ns {
            let (t0, c0) = (Instant::now(), ProcessTime::now());
            for _ in 0..k {
                w.step();
            }
            wall += t0.elapsed().as_secs_f64();
            cpu += c0.elapsed().as_secs_f64();
            if r == 0 {
                xs.push(state(&w, &hs));
                ts.push((i + 1) as f64 * k as f64 * h);
            }
            if wall > mw {
                timeout = true;
                break;
            }
        }
        walls.push(wall);
        cpus.push(cpu);
        if timeout {
            break;
        }
    }
    let mut o = json!({"scene": sc["name"], "engine": "rapier3d-f64", "version": "0.36.1", "settings": st, "settings_desc": desc, "h": h,
        "sim_s": ts.last().unwrap(), "wall_s": walls.iter().cloned().fold(f64::MAX, f64::min), "cpu_s": cpus.iter().cloned().fold(f64::MAX, f64::min), "walls": walls, "nsteps": (ts.len() as u64 - 1) * k, "t": ts, "X": xs});
    if timeout {
        o["timeout"] = json!(true);
    }
    println!("{o}");
}
