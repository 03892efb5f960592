use crate::ensemble::{Arrangement, Heap};
use crate::problem::StepProblem;
use crate::{Chain, Method, Solver, Stage};

fn solve(p: &StepProblem) -> (crate::Work, f64) {
    let solver = Solver { method: Method::Chain(Chain::default()), tolerance: 1e-8 };
    match crate::solve(p, &solver, None) {
        Ok(s) => (s.work().clone(), s.certificate().worst()),
        Err(e) => (crate::Work::default(), e.best().unwrap().certificate.worst()),
    }
}

#[test]
fn rates() {
    let arrangements = [
        Arrangement::Tower(4),
        Arrangement::Tower(8),
        Arrangement::Wall(3, 3),
        Arrangement::Wall(5, 5),
        Arrangement::Pile(2),
        Arrangement::Pile(3),
        Arrangement::Jointed(8),
    ];
    for mu in [0.3, 0.5, 0.8, 1.0, 1.5, 2.0] {
        for arrangement in arrangements {
            let (mut bad, mut total, mut its, mut facs, mut worst, mut hist) = (0, 0, 0, 0, 0.0f64, [0; 8]);
            let count: u64 = std::env::var("COUNT").map_or(40, |c| c.parse().unwrap());
            for seed in 0..count {
                let p = Heap { arrangement, mu, speed: 0.1, mass_ratio: 1.0, seed }.sample();
                let (o, c) = solve(&p);
                total += 1;
                its += o.iterations;
                facs = facs.max(o.factorizations);
                worst = worst.max(c);
                if !(c <= 1e-8) {
                    bad += 1;
                    println!("  bad {mu} {arrangement:?} {seed} {o:?} {c:.1e}");
                }
                hist[match o.stage {
                    Stage::Interior => 0,
                    Stage::Path => 1,
                    Stage::Sweeps => 2,
                    _ => 3,
                }] += 1;
            }
            println!(
                "mu {mu} {arrangement:?}: {bad}/{total} its {:.1} most facs {} {hist:?} worst {worst:.1e}",
                its as f64 / total as f64,
                facs
            );
        }
    }
}

#[test]
#[ignore]
fn one() {
    let p =
        Heap { arrangement: Arrangement::Tower(8), mu: 0.5, speed: 0.1, mass_ratio: 1.0, seed: 28 }.sample();
    println!("{:?}", solve(&p));
}
