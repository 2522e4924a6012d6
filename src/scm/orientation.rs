//! Which way a value points: s(⊥) = ⊥, s(0) = 0, s(x) = x/|x|. Near 0 that chatters; a tracker keeps the last sign it
//! was sure of until |x| has left a band: the sign is taken over only where |x| > ε, and changed only where |x| ≥ ε (1
//! + h).

use super::complex::Complex;
use super::value::{Payload, Scm};
use crate::error::{Error, Result};

/// The sign of a real value, the point on the unit circle of a complex one; 0 at 0, ⊥ at ⊥.
pub fn weak_sign(value: Scm) -> Scm {
    match value.payload() {
        Payload::Bottom => Scm::BOTTOM,
        _ if value.is_zero() => Scm::ZERO,
        Payload::Real(x) => Scm::from_ieee(x.signum()),
        Payload::Complex(z) => Scm::from_complex(Complex::direction(z)),
    }
}

/// The band around 0 in which a sign is remembered instead of taken.
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
    /// Half its width ε, in the unit of the values, and by which fraction of ε |x| must exceed it to change a sign.
    pub fn new(epsilon: f64, hysteresis: f64) -> Result<Self> {
        for (name, value) in [("epsilon", epsilon), ("hysteresis", hysteresis)] {
            if !value.is_finite() || value < 0.0 {
                let what = format!("weak sign: {name} is {value}, which should be a finite number not below 0");
                return Err(Error::new(what));
            }
        }
        Ok(Self { epsilon, hysteresis })
    }

    /// Whether a value of this size is too small to give a sign, or to change one that is known.
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
    /// A tracker that knows no sign yet.
    pub fn new(band: Band) -> Self {
        Self { band, last: None }
    }

    /// A tracker that starts from a known sign, of modulus 1 within 1e-9.
    pub fn from_sign(band: Band, sign: Scm) -> Result<Self> {
        if !sign.modulus().is_some_and(|modulus| (modulus - 1.0).abs() <= 1e-9) {
            return Err(Error::new(format!("weak sign: the last sign is {sign}, which should have modulus 1")));
        }
        Ok(Self { band, last: Some(sign) })
    }

    /// The sign of the next value; 0 in the band if none is known. ⊥ gives ⊥ and is forgotten.
    pub fn update(&mut self, value: Scm) -> Scm {
        let Some(modulus) = value.modulus() else { return Scm::BOTTOM };
        if self.band.holds(modulus, self.last.is_some()) {
            return self.last.unwrap_or(Scm::ZERO);
        }
        *self.last.insert(weak_sign(value))
    }

    /// The last sign that was taken.
    pub fn last(&self) -> Option<Scm> {
        self.last
    }

    /// Forgets the sign.
    pub fn reset(&mut self) {
        self.last = None;
    }
}

/// The weak signs of many real values over time, one remembered sign each.
#[derive(Clone, Debug, PartialEq)]
pub struct Trackers {
    band: Band,
    /// -1, 1, or 0 where none is known.
    last: Vec<i8>,
}

impl Trackers {
    /// Trackers for `count` values that know no sign yet.
    pub fn new(band: Band, count: usize) -> Self {
        Self { band, last: vec![0; count] }
    }

    /// Writes the signs of the next `values` (-1, 0 or 1; 0 under ⊥) to `signs`, all of the trackers' count. Bit i of
    /// word w of
    /// `bottom` says that element 32w + i is ⊥; the bits of values that are not finite are set as well. ⊥ changes no memory.
    #[track_caller]
    pub fn update<T: Copy + Into<f64> + From<i8>>(&mut self, values: &[T], bottom: &mut [u32], signs: &mut [T]) {
        let count = self.last.len();
        assert_eq!((values.len(), signs.len()), (count, count), "weak sign: values and signs for {count} trackers");
        assert_eq!(bottom.len(), count.div_ceil(32), "weak sign: words of bits for {count} trackers");
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
