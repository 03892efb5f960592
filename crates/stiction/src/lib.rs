//! Rigid multibody dynamics with joints, hard contact and Coulomb friction.

// the examples of the README are doc tests
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
