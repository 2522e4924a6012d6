//! Scalars, weak signs and policies: the properties, numbered as in the published list, and the results of the original.

mod orientation;
mod original;
mod policy;
mod value;

use std::ops::{Add, Div, Mul, Sub};

use meromorph_meadow::Scm;

const BOTTOM: Scm = Scm::BOTTOM;

type Binary = fn(Scm, Scm) -> Scm;
type Unary = fn(Scm) -> Scm;

const BINARY: [(&str, Binary); 4] = [("add", Scm::add), ("sub", Scm::sub), ("mul", Scm::mul), ("div", Scm::div)];
const UNARY: [(&str, Unary); 8] = [
    ("inv", Scm::inv),
    ("neg", |x| -x),
    ("log", Scm::ln),
    ("exp", Scm::exp),
    ("sqrt", Scm::sqrt),
    ("sin", Scm::sin),
    ("cos", Scm::cos),
    ("tan", Scm::tan),
];

fn real(x: f64) -> Scm {
    Scm::real(x).expect("finite")
}

fn complex(re: f64, im: f64) -> Scm {
    Scm::complex(re, im).expect("finite")
}

/// SplitMix64: enough for cases.
struct Cases(u64);

impl Cases {
    fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((word ^ (word >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    fn within(&mut self, limit: f64) -> f64 {
        (2.0 * self.unit() - 1.0) * limit
    }

    /// Zeros, ⊥, reals and complex numbers.
    fn any(&mut self) -> Scm {
        match (self.unit() * 6.0) as u32 {
            0 => BOTTOM,
            1 => Scm::ZERO,
            2 | 3 => complex(self.within(10.0), self.within(10.0)),
            _ => real(self.within(10.0)),
        }
    }
}

fn assert_near(got: Scm, expected: Scm, what: &str) {
    let difference = (got - expected).modulus();
    let scale = expected.modulus().unwrap_or(0.0).max(1.0);
    let is_near = if expected.is_bottom() { got.is_bottom() } else { difference.is_some_and(|d| d <= 1e-9 * scale) };
    assert!(is_near, "{what}: got {got}, expected {expected}");
}
