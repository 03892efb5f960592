//! Complementarity problems.
