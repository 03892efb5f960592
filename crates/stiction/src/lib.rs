//! Rigid multibody dynamics with joints, hard contact and Coulomb friction.
