//! The one upload of an epoch: a table row per step, then the order of the training rows.

use super::settings::Settings;

/// Words of the table row of a step.
pub(super) const ROW_WORDS: usize = 4;

/// The order in which rows are dealt out to training, validation and test: the same seed gives the same split everywhere.
pub(super) fn split_order(rows: usize, seed: u64) -> Vec<u32> {
    // No epoch of the run draws from this key, or the split would be the order of one.
    permutation(rows, !seed, 0)
}

/// A shuffled order of `rows` rows for an epoch: Fisher and Yates, drawn from SplitMix64 keyed by seed and epoch.
pub(super) fn permutation(rows: usize, seed: u64, epoch: usize) -> Vec<u32> {
    let mut order: Vec<u32> = (0..rows as u32).collect();
    let mut state = mixed(seed ^ mixed(epoch as u64 + 1));
    for at in (1..rows).rev() {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        // The high half of a product maps 32 random bits onto 0..=at with a bias below 2^-32 · at.
        let pick = ((mixed(state) >> 32) * (at as u64 + 1)) >> 32;
        order.swap(at, pick as usize);
    }
    order
}

/// The finaliser of SplitMix64 (Steele, Lea and Flood 2014).
fn mixed(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The words of `order` for an epoch: `steps` table rows (those of a group of steps alike), then the permutation.
pub(super) fn epoch_words(
    settings: &Settings,
    epoch: usize,
    steps: usize,
    drops: u32,
    permutation: &[u32],
) -> Vec<u32> {
    let mut words = Vec::with_capacity(ROW_WORDS * steps + permutation.len());
    let group = settings.accumulate;
    for step in 0..steps {
        let done = (epoch * steps.div_ceil(group) + step / group) as u64;
        let lr = settings.lr * settings.schedule.factor(done, epoch, settings.epochs, drops);
        words.extend(settings.optimizer.row(lr, done + 1).map(f32::to_bits));
    }
    words.extend(permutation);
    words
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
