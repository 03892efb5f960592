//! Convex shapes and their gap functions: knows poses, not dynamics.
