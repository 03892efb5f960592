//! Marks of visited features, reset in constant time.

/// Visit marks of numbered features: each holds the number of the query that last visited it.
#[derive(Default)]
pub(super) struct VisitMarks {
    last_query: Vec<u32>,
    query: u32,
}

impl VisitMarks {
    /// Starts a query over this many features, none of them visited.
    pub(super) fn start(&mut self, count: usize) {
        self.query = self.query.wrapping_add(1);
        if self.query == 0 {
            self.last_query.clear();
        }
        if self.last_query.len() < count {
            self.last_query.resize(count, self.query.wrapping_sub(1));
        }
    }

    /// Marks a feature; returns whether this is its first visit.
    pub(super) fn visit(&mut self, index: usize) -> bool {
        std::mem::replace(&mut self.last_query[index], self.query) != self.query
    }
}
