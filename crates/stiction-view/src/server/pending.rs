//! Connections that have not shown the token of the page: at most a few, of which a new one displaces the oldest. So
//! connections that send nothing, or send it slowly, cannot keep a page out.

use std::collections::VecDeque;
use std::net::{Shutdown, TcpStream};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Largest number of connections without the token. A page needs one for some milliseconds.
const MAX_PENDING: usize = 16;

/// Connections without the token, oldest first.
#[derive(Default)]
pub(super) struct PendingConnections(Mutex<PendingQueue>);

#[derive(Default)]
struct PendingQueue {
    streams: VecDeque<(u64, TcpStream)>,
    last: u64,
}

impl PendingConnections {
    fn lock(&self) -> MutexGuard<'_, PendingQueue> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a connection and returns its number; closes the oldest one where there are too many. `None` where the system
    /// has no more descriptors.
    pub(super) fn add(&self, stream: &TcpStream) -> Option<u64> {
        let copy = stream.try_clone().ok();
        let mut queue = self.lock();
        if (queue.streams.len() >= MAX_PENDING || copy.is_none())
            && let Some((_, oldest)) = queue.streams.pop_front()
        {
            // its thread reads the end of the stream and ends
            let _ = oldest.shutdown(Shutdown::Both);
        }
        queue.last += 1;
        let number = queue.last;
        queue.streams.push_back((number, copy?));
        Some(number)
    }

    /// Removes a connection that has shown the token, or has ended.
    pub(super) fn remove(&self, number: u64) {
        self.lock().streams.retain(|(own, _)| *own != number);
    }
}
