//! Random numbers of resampling and of walks: those of the same seed are the same everywhere.

use crate::math::splitmix::{STEP, mixed};

/// A generator of numbers.
pub(crate) struct Random(u64);

impl Random {
    /// The generator of one of many independent draws.
    pub(crate) fn nth(seed: u64, at: u64) -> Self {
        Self(mixed(seed ^ mixed(at.wrapping_add(1).wrapping_mul(STEP))))
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(STEP);
        mixed(self.0)
    }

    /// From 0 up to, without, 1.
    pub(crate) fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A whole number below another.
    pub(crate) fn below(&mut self, count: usize) -> usize {
        ((self.unit() * count as f64) as usize).min(count.saturating_sub(1))
    }

    /// Of the normal distribution (Box and Muller).
    pub(crate) fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.unit()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.unit()).cos()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 10,000 numbers have means within five standard errors of theirs.
    #[test]
    fn numbers_have_their_moments() {
        let mut random = Random::nth(1, 2);
        let count = 10_000;
        let (mut unit, mut normal, mut square) = (0.0, 0.0, 0.0);
        for _ in 0..count {
            unit += random.unit() - 0.5;
            let one = random.normal();
            (normal, square) = (normal + one, square + one * one - 1.0);
        }
        let limit = 5.0 * f64::from(count).sqrt();
        assert!(unit.abs() < limit / 12.0_f64.sqrt() && normal.abs() < limit && square.abs() < limit * 2.0_f64.sqrt());
        assert_ne!(Random::nth(1, 2).unit(), Random::nth(1, 3).unit());
        assert!((0..1000).all(|_| random.below(3) < 3));
    }
}
