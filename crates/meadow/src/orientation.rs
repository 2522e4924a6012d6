//! Weak signs: s(⊥) = ⊥, s(0) = 0, s(x) = x/|x|. Near 0 the sign of a noisy value flips often; a tracker keeps the last
//! sign until |x| leaves a band: a first sign needs |x| > ε, a change of sign needs |x| ≥ ε (1 + h).

use super::complex::Complex;
use super::value::{Payload, Scm};
use meromorph::error::{Error, Result};

/// The sign of a real value, the point on the unit circle of a complex one; 0 at 0, ⊥ at ⊥.
pub fn weak_sign(value: Scm) -> Scm {
    match value.payload() {
        Payload::Bottom => Scm::BOTTOM,
        _ if value.is_zero() => Scm::ZERO,
        Payload::Real(x) => Scm::from_ieee(x.signum()),
        Payload::Complex(z) => Scm::from_complex(Complex::direction(z)),
    }
}

/// The band around 0 in which the last sign is kept.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Band {
    epsilon: f64,
    hysteresis: f64,
}

impl Default for Band {
    fn default() -> Self {
        Self { epsilon: 1e-9, hysteresis: 0.25 }
    }
}

impl Band {
    /// A band with half-width ε, in the unit of the values, and hysteresis h: to change a sign, |x| must be at least ε (1 + h).
    pub fn new(epsilon: f64, hysteresis: f64) -> Result<Self> {
        for (name, value) in [("epsilon", epsilon), ("hysteresis", hysteresis)] {
            if !value.is_finite() || value < 0.0 {
                let what = format!("weak sign: {name}: got {value}, expected a finite number of at least 0");
                return Err(Error::new(what));
            }
        }
        Ok(Self { epsilon, hysteresis })
    }

    /// Whether a value of this size is too small to give a sign, or to change a known one.
    fn holds(self, modulus: f64, is_known: bool) -> bool {
        modulus <= self.epsilon || (is_known && modulus < self.epsilon * (1.0 + self.hysteresis))
    }
}

/// The weak sign of one value over time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Tracker {
    band: Band,
    last: Option<Scm>,
}

impl Tracker {
    /// A tracker without a known sign.
    pub fn new(band: Band) -> Self {
        Self { band, last: None }
    }

    /// A tracker that starts from a known sign, of modulus 1 within 1e-9.
    pub fn from_sign(band: Band, sign: Scm) -> Result<Self> {
        if !sign.modulus().is_some_and(|modulus| (modulus - 1.0).abs() <= 1e-9) {
            return Err(Error::new(format!("weak sign: last sign: got {sign}, expected a number of modulus 1")));
        }
        Ok(Self { band, last: Some(sign) })
    }

    /// The sign of the next value; 0 in the band if no sign is known. ⊥ gives ⊥ and does not change the known sign.
    pub fn update(&mut self, value: Scm) -> Scm {
        let Some(modulus) = value.modulus() else { return Scm::BOTTOM };
        if self.band.holds(modulus, self.last.is_some()) {
            return self.last.unwrap_or(Scm::ZERO);
        }
        *self.last.insert(weak_sign(value))
    }

    /// The last known sign.
    pub fn last(&self) -> Option<Scm> {
        self.last
    }

    /// Forgets the sign.
    pub fn reset(&mut self) {
        self.last = None;
    }
}

/// The weak signs of many real values over time, with one known sign each.
#[derive(Clone, Debug, PartialEq)]
pub struct Trackers {
    band: Band,
    /// -1, 1, or 0 if unknown.
    last: Vec<i8>,
}

impl Trackers {
    /// Trackers for `count` values without known signs.
    pub fn new(band: Band, count: usize) -> Self {
        Self { band, last: vec![0; count] }
    }

    /// Writes the signs of the next `values` (-1, 0 or 1; 0 under ⊥) to `signs`; both have one element per tracker. Bit i of
    /// word w of `bottom` marks element 32w + i as ⊥; this function also sets the bits of values that are not finite. ⊥ does
    /// not change a known sign.
    #[track_caller]
    pub fn update<T: Copy + Into<f64> + From<i8>>(&mut self, values: &[T], bottom: &mut [u32], signs: &mut [T]) {
        let count = self.last.len();
        assert_eq!(
            (values.len(), signs.len()),
            (count, count),
            "weak sign: numbers of values and of signs, expected {count} each"
        );
        assert_eq!(bottom.len(), count.div_ceil(32), "weak sign: number of mask words for {count} trackers");
        for (at, (&value, sign)) in values.iter().zip(signs).enumerate() {
            let (value, word, bit): (f64, _, _) = (value.into(), &mut bottom[at / 32], 1 << (at % 32));
            *word |= if value.is_finite() { 0 } else { bit };
            *sign = if *word & bit == 0 { self.next(at, value) } else { 0 }.into();
        }
    }

    /// Forgets all signs.
    pub fn reset(&mut self) {
        self.last.fill(0);
    }

    fn next(&mut self, at: usize, value: f64) -> i8 {
        let last = &mut self.last[at];
        if !self.band.holds(value.abs(), *last != 0) {
            *last = if value < 0.0 { -1 } else { 1 };
        }
        *last
    }
}
