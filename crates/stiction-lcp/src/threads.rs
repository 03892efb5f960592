//! Many things at once, with the same answer whatever the number of threads: each is made from its own input alone, and
//! they are put down in order.

use rayon::prelude::*;

/// Things below which threads cost more than they save, each about a third of a microsecond of work.
const SERIAL: usize = 512;

/// Appends what `make` makes of every item and its place.
pub fn extend<T: Sync, R: Send>(out: &mut Vec<R>, items: &[T], make: impl Fn(usize, &T) -> R + Sync) {
    if items.len() < SERIAL || rayon::current_num_threads() == 1 {
        out.extend(items.iter().enumerate().map(|(i, item)| make(i, item)));
    } else {
        let apart = items.par_iter().enumerate().with_min_len(SERIAL / 8);
        out.par_extend(apart.map(|(i, item)| make(i, item)));
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn all_in_order_after_what_was_there() {
        for n in [0, 3, 511, 512, 5000] {
            let items: Vec<usize> = (0..n).collect();
            let mut out = vec![7];
            super::extend(&mut out, &items, |i, item| 3 * i + item);
            assert_eq!(out.len(), n + 1);
            assert!(out[0] == 7 && out[1..].iter().enumerate().all(|(i, x)| *x == 4 * i));
        }
    }
}
