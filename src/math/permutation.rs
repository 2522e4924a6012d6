//! Orders of rows: of the epochs of a run, and of its parts.

use super::splitmix::{STEP, mixed};

/// The order in which rows are assigned to training, validation and test: the same seed gives the same split everywhere.
pub(crate) fn split_order(rows: usize, seed: u64) -> Vec<u32> {
    // A key that no epoch uses; otherwise the split would follow the order of an epoch.
    permutation(rows, !seed, 0)
}

/// A shuffled order of `rows` rows for an epoch: Fisher and Yates, drawn from SplitMix64 keyed by seed and epoch.
pub(crate) fn permutation(rows: usize, seed: u64, epoch: usize) -> Vec<u32> {
    let mut order: Vec<u32> = (0..rows as u32).collect();
    let mut state = mixed(seed ^ mixed(epoch as u64 + 1));
    for at in (1..rows).rev() {
        state = state.wrapping_add(STEP);
        // The high half of a product maps 32 random bits onto 0..=at with a bias below 2^-32 · at.
        let pick = ((mixed(state) >> 32) * (at as u64 + 1)) >> 32;
        order.swap(at, pick as usize);
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_permutation_has_every_row_once_and_depends_on_seed_and_epoch() {
        let mut order = permutation(1000, 7, 3);
        assert_eq!(order, permutation(1000, 7, 3));
        assert_ne!(order, permutation(1000, 7, 4));
        assert_ne!(order, permutation(1000, 8, 3));
        assert_ne!(split_order(1000, 7), permutation(1000, 7, 0));
        order.sort_unstable();
        assert!(order.into_iter().eq(0..1000));
    }
}
