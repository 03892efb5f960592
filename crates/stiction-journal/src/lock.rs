//! Lock of a journal: while one program writes it, a second one is kept out, with the name of the first.
//!
//! The lock is one of the operating system, on a file beside the journal that names the holder. It ends with the program
//! that holds it, however that ends: a file that is left behind by a crash keeps no run out.

use crate::error::JournalError;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// Number of times a lock is tried again whose file another program removed meanwhile.
const ATTEMPTS: usize = 100;

/// Longest description of a holder that is read [bytes].
const MAX_HOLDER_BYTES: u64 = 1000;

/// Lock of a journal, held until it is dropped.
#[derive(Debug)]
pub(crate) struct JournalLock {
    path: PathBuf,
    file: File,
}

impl JournalLock {
    /// Locks a journal. `None` for pipes and devices, which have no file beside them.
    pub(crate) fn acquire(journal: &Path) -> Result<Option<Self>, JournalError> {
        if journal.metadata().is_ok_and(|found| !found.is_file()) {
            return Ok(None);
        }
        let mut path = journal.as_os_str().to_owned();
        path.push(".lock");
        let path = PathBuf::from(path);
        let failed = |error| JournalError::file(&path, error);
        for _ in 0..ATTEMPTS {
            let opened = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path);
            let mut file = opened.map_err(failed)?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => {
                    let mut holder = String::new();
                    // the holder may be about to write it
                    let _ = (&file).take(MAX_HOLDER_BYTES).read_to_string(&mut holder);
                    let holder = holder.trim();
                    let holder = if holder.is_empty() { "another program" } else { holder };
                    return Err(JournalError::Locked {
                        path: journal.to_path_buf(),
                        holder: holder.to_string(),
                    });
                }
                // a file system without locks: nothing can be kept out
                Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => {}
                Err(TryLockError::Error(error)) => return Err(failed(error)),
            }
            if !is_still_at(&file, &path) {
                continue;
            }
            let named = file.set_len(0).and_then(|()| writeln!(file, "{}", holder()));
            named.map_err(failed)?;
            return Ok(Some(Self { path, file }));
        }
        Err(failed(io::Error::other("the lock file is removed again and again")))
    }
}

impl Drop for JournalLock {
    fn drop(&mut self) {
        // removed before it is unlocked, so that no other lock is
        let _ = std::fs::remove_file(&self.path);
        let _ = self.file.unlock();
    }
}

/// Whether a path still leads to an open file: another program may have removed it before this one locked it.
#[cfg(unix)]
fn is_still_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let place = |found: std::fs::Metadata| (found.dev(), found.ino());
    match (file.metadata(), path.metadata()) {
        (Ok(own), Ok(found)) => place(own) == place(found),
        _ => false,
    }
}

/// Open files cannot be removed here.
#[cfg(not(unix))]
fn is_still_at(_file: &File, _path: &Path) -> bool {
    true
}

/// This program in words: process, host and time.
fn holder() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    format!("process {} on {}, since {}", std::process::id(), host(), utc(seconds))
}

/// Name of this machine.
fn host() -> String {
    let files = ["/proc/sys/kernel/hostname", "/etc/hostname"];
    let read = files.iter().filter_map(|file| std::fs::read_to_string(file).ok());
    let variables = ["HOSTNAME", "COMPUTERNAME"];
    let names = read.chain(variables.iter().filter_map(|name| std::env::var(name).ok()));
    let mut names = names.map(|name| name.trim().to_string()).filter(|name| !name.is_empty());
    names.next().unwrap_or_else(|| "this machine".to_string())
}

/// Date and time of a number of seconds since 1970, in UTC.
fn utc(seconds: u64) -> String {
    let (mut days, rest) = (seconds / 86_400, seconds % 86_400);
    let is_leap = |year: u64| year.is_multiple_of(4) && !year.is_multiple_of(100) || year.is_multiple_of(400);
    let mut year = 1970;
    while days >= 365 + u64::from(is_leap(year)) {
        days -= 365 + u64::from(is_leap(year));
        year += 1;
    }
    let mut month = 1;
    for length in [31, 28 + u64::from(is_leap(year)), 31, 30, 31, 30, 31, 31, 30, 31, 30] {
        if days < length {
            break;
        }
        days -= length;
        month += 1;
    }
    let (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60);
    format!("{year}-{month:02}-{:02} {hour:02}:{minute:02}:{second:02} UTC", days + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_dates() {
        // printed by `date -u -d @…`
        for (seconds, date) in [
            (0, "1970-01-01 00:00:00 UTC"),
            (951_782_400, "2000-02-29 00:00:00 UTC"),
            (1_700_000_000, "2023-11-14 22:13:20 UTC"),
            (1_735_689_599, "2024-12-31 23:59:59 UTC"),
        ] {
            assert_eq!(utc(seconds), date);
        }
    }
}
