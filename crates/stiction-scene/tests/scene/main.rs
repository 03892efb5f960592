//! Scene files: what is read, what is refused, and where.

mod mistakes;
