//! Quantised values: v ≈ m · (l / L) with m = max |v| of a block of 256 values and whole levels l from -L to L.
//!
//! The payload has the m of all blocks, then the levels: a byte each, or half a byte (level + 8, the earlier value in the low half). Writing m
//! rather than m / L keeps the largest value of each block, and so every constant gradient, exact. An error is at most m / (2 L) when rounding to
//! the nearest level, m / L when rounding at random, and a rounding of f32.

use super::bytes::{check_finite, floats, put_floats};
use super::method::Bits;
use crate::error::{Error, Result};

/// Values of a block; the usual size in 8-bit optimisers and in QSGD's buckets. Its m costs 1/64 of a byte per value.
const BLOCK: usize = 256;

impl Bits {
    /// The largest level, L.
    fn largest(self) -> f32 {
        match self {
            Self::Four => 7.0,
            Self::Eight => 127.0,
        }
    }

    /// Bytes of the levels of `length` values.
    fn size(self, length: usize) -> usize {
        match self {
            Self::Four => length.div_ceil(2),
            Self::Eight => length,
        }
    }

    /// The value of a level.
    fn value(self, most: f32, level: i8) -> f32 {
        most * (f32::from(level) / self.largest())
    }

    /// Levels of the values of a block whose largest magnitude is `most`. `draw` gives a number from 0 up to 1 for a place in the block, by which
    /// its value is rounded; without it a value is rounded to the nearest level.
    fn levels(self, most: f32, values: &[f32], levels: &mut [i8], draw: impl Fn(usize) -> Option<f32>) {
        if most == 0.0 {
            return;
        }
        let half = 0.5 * self.value(most, 1);
        for (place, (value, level)) in values.iter().zip(levels).enumerate() {
            let size = value.abs();
            let count = size / most * self.largest();
            let count = match draw(place) {
                Some(draw) => count + f32::from(draw < count.fract()),
                // Below the half of the first level, 0 is the level whose difference from the value is a number of f32.
                None => f32::from(size >= half) * (count + 0.5),
            };
            // Truncated; the count is at most L + 1/2.
            let count = count as i32 as i8;
            *level = if *value < 0.0 { -count } else { count };
        }
    }
}

/// Appends the payload; `draw` gives the random number of a place, if rounding is random.
pub(super) fn write(out: &mut Vec<u8>, values: &[f32], bits: Bits, draw: impl Fn(usize) -> Option<f32>) {
    let mut levels = vec![0; values.len()];
    for (block, (values, levels)) in values.chunks(BLOCK).zip(levels.chunks_mut(BLOCK)).enumerate() {
        let most = values.iter().fold(0.0, |most: f32, value| most.max(value.abs()));
        put_floats(out, [most]);
        bits.levels(most, values, levels, |place| draw(block * BLOCK + place));
    }
    match bits {
        Bits::Eight => out.extend(levels.iter().map(|level| *level as u8)),
        Bits::Four => out.extend(levels.chunks(2).map(|pair| {
            let half = |place: usize| pair.get(place).map_or(0, |level| (level + 8) as u8);
            half(0) | half(1) << 4
        })),
    }
}

/// Half a byte of the levels.
fn half(levels: &[u8], place: usize) -> u8 {
    levels[place / 2] >> (4 * (place % 2)) & 0xf
}

/// An error unless the payload has the levels of `length` values.
pub(super) fn check(payload: &[u8], length: usize, bits: Bits) -> Result<()> {
    let expected = 4 * length.div_ceil(BLOCK) + bits.size(length);
    if payload.len() != expected {
        return Err(Error::new(format!("levels: got {} bytes, expected {expected}", payload.len())));
    }
    let (most, levels) = payload.split_at(4 * length.div_ceil(BLOCK));
    check_finite(floats(most), |at| format!("largest magnitude of block {at}"))?;
    if let Some((at, most)) = floats(most).enumerate().find(|(_, most)| *most < 0.0) {
        return Err(Error::new(format!("largest magnitude of block {at}: got {most}, expected at least 0")));
    }
    // The one level that has no negative is never written.
    let odd = match bits {
        Bits::Eight => levels.iter().position(|level| *level as i8 == i8::MIN),
        Bits::Four => (0..length).find(|&place| half(levels, place) == 0),
    };
    odd.map_or(Ok(()), |place| {
        let most = bits.largest();
        Err(Error::new(format!("level of value {place}: got {}, expected from {} to {most}", -most - 1.0, -most)))
    })
}

/// Calls `each` with the places and values of `length` quantised values.
pub(super) fn visit(payload: &[u8], length: usize, bits: Bits, mut each: impl FnMut(usize, f32)) {
    let (most, levels) = payload.split_at(4 * length.div_ceil(BLOCK));
    for (block, most) in floats(most).enumerate() {
        for place in block * BLOCK..length.min((block + 1) * BLOCK) {
            let level = match bits {
                Bits::Eight => levels[place] as i8,
                Bits::Four => half(levels, place) as i8 - 8,
            };
            each(place, bits.value(most, level));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quantised(values: &[f32], bits: Bits, draw: impl Fn(usize) -> Option<f32>) -> Vec<f32> {
        let mut payload = Vec::new();
        write(&mut payload, values, bits, draw);
        check(&payload, values.len(), bits).unwrap();
        let mut out = vec![f32::NAN; values.len()];
        visit(&payload, values.len(), bits, |place, value| out[place] = value);
        out
    }

    fn waves(length: usize) -> Vec<f32> {
        (0..length).map(|at| (at as f32 * 1.7).sin() * (at as f32 * 0.01).exp2()).collect()
    }

    #[test]
    fn an_error_is_at_most_half_a_level() {
        for length in [0, 1, 2, 255, 256, 257, 1001] {
            let values = waves(length);
            for bits in [Bits::Four, Bits::Eight] {
                let got = quantised(&values, bits, |_| None);
                for (block, got) in values.chunks(BLOCK).zip(got.chunks(BLOCK)) {
                    let most = block.iter().fold(0.0, |most: f32, v| most.max(v.abs()));
                    let bound = 0.5 * most / bits.largest() * (1.0 + 1e-4);
                    let worst = block.iter().zip(got).map(|(v, q)| (v - q).abs()).fold(0.0, f32::max);
                    assert!(worst <= bound, "{length} values, {bits:?}: {worst}, expected at most {bound}");
                }
            }
        }
    }

    #[test]
    fn constants_zeros_and_extremes_survive() {
        for value in [0.0, 0.1, -0.3, 1e-45, -f32::MIN_POSITIVE, f32::MAX, -f32::MAX] {
            for bits in [Bits::Four, Bits::Eight] {
                assert_eq!(quantised(&[value; 300], bits, |_| None), [value; 300], "{bits:?}");
            }
        }
    }

    #[test]
    fn the_difference_from_the_nearest_level_is_exact() {
        let hard = [1.0_f32, 0.5, 0.1, 1.0 / 14.0, 1.0 / 254.0, 0.999_999_9, 3e-39];
        let near = hard.iter().flat_map(|v| [v.next_down(), *v, v.next_up()]);
        for values in [waves(5000), near.collect()] {
            for bits in [Bits::Four, Bits::Eight] {
                for (v, q) in values.iter().zip(quantised(&values, bits, |_| None)) {
                    assert_eq!(f64::from(v - q), f64::from(*v) - f64::from(q), "{bits:?}: {v} and {q}");
                    assert_eq!(q + (v - q), *v);
                }
            }
        }
    }

    #[test]
    fn random_rounding_keeps_the_mean() {
        let values = [1.0, 0.33, -0.71, 0.05];
        let draws = 1000;
        let mut sums = [0.0; 4];
        for at in 0..draws {
            let got = quantised(&values, Bits::Four, |_| Some((at as f32 + 0.5) / draws as f32));
            sums.iter_mut().zip(got).for_each(|(sum, q)| *sum += f64::from(q) / draws as f64);
        }
        for (mean, value) in sums.iter().zip(values) {
            assert!((mean - f64::from(value)).abs() < 1e-3, "{mean}, expected {value}");
        }
    }

    #[test]
    fn what_was_not_written_here_is_refused() {
        let refused = |payload: &[u8], bits| check(payload, 1, bits).unwrap_err().to_string();
        assert_eq!(refused(&[0; 4], Bits::Eight), "levels: got 4 bytes, expected 5");
        let with = |most: f32, level: u8| [&most.to_le_bytes()[..], &[level]].concat();
        assert!(refused(&with(f32::NAN, 1), Bits::Eight).contains("block 0: got NaN"));
        assert!(refused(&with(-1.0, 1), Bits::Eight).contains("got -1, expected at least 0"));
        assert_eq!(refused(&with(1.0, 0x80), Bits::Eight), "level of value 0: got -128, expected from -127 to 127");
        assert_eq!(refused(&with(1.0, 0x00), Bits::Four), "level of value 0: got -8, expected from -7 to 7");
    }
}
