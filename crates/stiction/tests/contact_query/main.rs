//! Contact queries: pairs that are found, and the search cache.

mod cache;
mod pairs;
