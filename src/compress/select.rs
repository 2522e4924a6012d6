//! Which values of a gradient are sent: exactly the k largest magnitudes, or those above a cutoff.

use crate::math::splitmix::{STEP, mixed};

/// Orders values by magnitude, equal ones by place, the first one highest. Bits of magnitudes are ordered like magnitudes.
fn key(place: usize, value: f32) -> u64 {
    u64::from(value.abs().to_bits()) << 32 | u64::from(!(place as u32))
}

/// Whether a value at a place belongs to the `count` largest, 1 to `values.len()`.
pub(super) fn largest(values: &[f32], count: usize) -> impl Fn(usize, f32) -> bool + use<> {
    let mut keys: Vec<u64> = values.iter().enumerate().map(|(place, value)| key(place, *value)).collect();
    // Keys are all different, so exactly `count` of them are at least this one.
    let rank = keys.len() - count;
    let least = *keys.select_nth_unstable(rank).1;
    move |place, value| key(place, value) >= least
}

/// A sample of this size finds a share to within 0.4 % (one standard deviation, at a half).
const SAMPLE: usize = 16_384;

/// The magnitude below which a share of the values lies; 0 if there are none. Taken from a sample if there are many.
pub(super) fn cutoff(values: &[f32], share: f64) -> f32 {
    let drawn = |draw: usize| (mixed(STEP.wrapping_mul(draw as u64 + 1)) % values.len() as u64) as usize;
    let bits = |value: f32| value.abs().to_bits();
    let mut sample: Vec<u32> = if values.len() <= SAMPLE {
        values.iter().map(|value| bits(*value)).collect()
    } else {
        (0..SAMPLE).map(|draw| bits(values[drawn(draw)])).collect()
    };
    if sample.is_empty() {
        return 0.0;
    }
    let rank = ((share * sample.len() as f64).round() as usize).min(sample.len() - 1);
    f32::from_bits(*sample.select_nth_unstable(rank).1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(values: &[f32], count: usize) -> Vec<usize> {
        let is_kept = largest(values, count);
        (0..values.len()).filter(|&place| is_kept(place, values[place])).collect()
    }

    #[test]
    fn the_largest_magnitudes_are_kept_and_the_first_of_equal_ones() {
        assert_eq!(places(&[1.0, -3.0, 2.0, 0.0], 2), [1, 2]);
        assert_eq!(places(&[1.0, -1.0, 1.0, -1.0], 2), [0, 1]);
        assert_eq!(places(&[0.0, -0.0, 0.0], 1), [0]);
        assert_eq!(places(&[0.0, 5.0, -0.0], 3), [0, 1, 2]);
    }

    #[test]
    fn exactly_so_many_are_kept_however_many_are_equal() {
        let values: Vec<f32> = (0..1000).map(|at| ((at * 7919) % 13) as f32 - 6.0).collect();
        for count in [1, 2, 499, 999, 1000] {
            let kept = places(&values, count);
            assert_eq!(kept.len(), count);
            let least = kept.iter().map(|&at| values[at].abs()).fold(f32::INFINITY, f32::min);
            let others = (0..1000).filter(|at| !kept.contains(at)).map(|at| values[at].abs());
            assert!(others.fold(0.0, f32::max) <= least, "{count}");
        }
    }

    #[test]
    fn a_cutoff_leaves_out_the_wanted_share() {
        for length in [1000, 300_000] {
            let values: Vec<f32> = (0..length).map(|at| (at as f32 * 0.618_034).fract().powi(3) - 0.2).collect();
            for share in [0.0, 0.5, 0.8, 0.95] {
                let least = cutoff(&values, share);
                let zeros = values.iter().filter(|value| value.abs() < least).count() as f64 / length as f64;
                assert!((zeros - share).abs() < 0.02, "{length} values: {zeros}, expected {share}");
            }
        }
        assert_eq!(cutoff(&[], 0.5), 0.0);
    }
}
