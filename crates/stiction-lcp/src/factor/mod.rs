//! Factorizations, one per kind of linear system.
//!
//! | system | factorization | type |
//! |---|---|---|
//! | small dense matrix, e.g. a basis of Lemke's method | LU, partial pivoting | `DenseLu` |
//! | small dense matrix of unknown rank, e.g. an enumerated basis | LU, full pivoting | `RankRevealingLu` |
//! | null space of a dense matrix, e.g. of impulses without a motion | QR, pivoted | [`null_space`] |
//! | mass matrix M̃, one block per body or group of coupled bodies | Cholesky or LU per block | [`MassFactor`] |
//! | joint rows beside M̃, possibly redundant | pivoted QR, or LU of the Schur complement | `JointFactor` |
//! | N M⁻¹ Nᵀ of rigid independent joints | block LU over the graph of joints | [`JointSchur`] |
//! | Newton matrix over the graph of bodies and joints | supernodal block LU | `BlockMatrix` |
//!
//! The module knows no problem and no solver: callers pass entries and rows.

mod dense;
mod joint_pattern;
mod joint_schur;
mod joints;
mod mass;
mod null_space;
mod rank;
mod sparse;
mod triangular;

pub(crate) use dense::DenseLu;
pub use joint_pattern::JointTerms;
pub use joint_schur::JointSchur;
pub(crate) use joints::{JointFactor, JointImpulses};
pub use mass::MassFactor;
pub use null_space::null_space;
pub(crate) use rank::RankRevealingLu;
pub(crate) use sparse::{BlockMatrix, Node, Product, Slot};
pub use triangular::find_root;
