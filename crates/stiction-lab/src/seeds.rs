//! Many seeds on several threads: each seed is judged once, and the tallies of the threads are joined.
//!
//! Counts do not depend on the number of threads.

use crate::BadInput;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// Seeds that a thread takes at a time.
const CHUNK: u64 = 64;

/// Time between two calls of `watch`.
const TICK: Duration = Duration::from_millis(50);

/// Counts over some of the seeds.
pub(crate) trait Tally: Default + Send {
    /// Adds the counts over other seeds.
    fn join(&mut self, other: Self);
}

/// Pool of this many threads; by default one per core.
pub(crate) fn pool(threads: Option<usize>) -> Result<ThreadPool, BadInput> {
    let builder = ThreadPoolBuilder::new().num_threads(threads.map_or(0, |threads| threads.max(1)));
    builder.build().map_err(|error| BadInput(error.to_string()))
}

/// Judges the seeds 0 to `count` and joins the tallies. `judge` is handed the tally of its thread, the seed and the
/// number of the thread. `watch` is called on the calling thread while the others work.
///
/// Each thread loops over chunks of seeds. A parallel iterator would not do: a thread that waits for a parallel solve
/// could begin another seed meanwhile, and times per seed would mean nothing.
pub(crate) fn over_seeds<T: Tally>(
    pool: &ThreadPool,
    count: u64,
    judge: impl Fn(&mut T, u64, usize) + Sync,
    mut watch: impl FnMut(),
) -> T {
    let next = AtomicU64::new(0);
    let (sender, receiver) = channel();
    let all_chunks = |thread: usize| {
        let mut tally = T::default();
        loop {
            let first = next.fetch_add(CHUNK, Ordering::Relaxed);
            if first >= count {
                return tally;
            }
            (first..count.min(first + CHUNK)).for_each(|seed| judge(&mut tally, seed, thread));
        }
    };
    let mut total = T::default();
    pool.in_place_scope(|scope| {
        scope.spawn_broadcast(|_, context| {
            let tally = catch_unwind(AssertUnwindSafe(|| all_chunks(context.index())));
            // the receiver is there until the last thread has sent
            let _ = sender.send(tally);
        });
        let mut working = pool.current_num_threads();
        while working > 0 {
            match receiver.recv_timeout(TICK) {
                Ok(Ok(tally)) => total.join(tally),
                Ok(Err(panic)) => resume_unwind(panic),
                Err(RecvTimeoutError::Timeout) => {
                    watch();
                    continue;
                }
                Err(RecvTimeoutError::Disconnected) => break,
            }
            working -= 1;
        }
    });
    total
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default, PartialEq, Debug)]
    struct Sum(u64, u64);

    impl Tally for Sum {
        fn join(&mut self, other: Self) {
            self.0 += other.0;
            self.1 += other.1;
        }
    }

    #[test]
    fn every_seed_is_judged_once_on_any_number_of_threads() {
        for threads in [1, 2, 5] {
            for count in [0, 1, 64, 1000] {
                let pool = pool(Some(threads)).unwrap();
                let judge = |sum: &mut Sum, seed: u64, thread: usize| {
                    assert!(thread < threads);
                    sum.join(Sum(1, seed));
                };
                let sum = over_seeds(&pool, count, judge, || ());
                assert_eq!(sum, Sum(count, count * count.saturating_sub(1) / 2), "{threads} {count}");
            }
        }
    }
}
