//! A complementarity problem by itself: a rod jammed between two walls has no solution, a wider gap has one.
//!
//! `cargo run --release -p stiction --example complementarity`

use stiction_lcp::{Lcp, LcpError, Solver, certify, solve};

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    // w = M z + q, w ≥ 0, z ≥ 0, zᵀw = 0
    let lcp = Lcp::from_rows(&[&[2.0, 1.0], &[1.0, 2.0]], &[-5.0, -6.0]);
    let solution = solve(&lcp, &Solver::default(), None)?;
    println!("z = {:.6?}, w = {:.6?}", solution.z(), solution.w());
    println!("residual {:.1e}, {} pivots", solution.certificate().worst(), solution.work().pivots);
    assert!((solution.z()[0] - 4.0 / 3.0).abs() < 1e-12);

    // any vector may be judged by the certificate, whoever proposes it
    let wrong = certify(&lcp, &[1.0, 1.0])?;
    println!("z = [1, 1] has residual {:.2}", wrong.certificate.worst());
    assert!(!wrong.certificate.passes(1e-8));

    // w = −z − 1 is negative for every z ≥ 0: no solution, with a proof
    let infeasible = Lcp::from_rows(&[&[-1.0]], &[-1.0]);
    match solve(&infeasible, &Solver::default(), None) {
        Err(error @ LcpError::Ray { proof: Some(_), .. }) => println!("second problem: {error}"),
        other => return Err(format!("a proof was expected, not {other:?}").into()),
    }

    // two solutions: z = 0 with w = 1, and z = 1 with w = 0
    let two = Lcp::from_rows(&[&[-1.0]], &[1.0]);
    for z in [0.0, 1.0] {
        assert!(certify(&two, &[z])?.certificate.passes(1e-12));
    }
    println!("third problem: z = 0 and z = 1 both pass, so the answer is not unique");
    Ok(())
}
