//! Bounds on the degrees of a rational unit over levels of composition: at level L the bound is 2^(L-1) max(dP, dQ) for
//! guarded fractions and 3^(L-1) max(dP, dQ) for strict divisions.

use super::expression::Expression;
use super::flatten::{Budget, Flattened};
use super::polynomial::Polynomial;
use super::refusal::{Flattening, Refusal};

/// The largest factor by which a level of composition multiplies degrees.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Growth {
    /// 2: a reduced fraction with separate guards.
    #[default]
    Guarded,
    /// 3: a division that keeps everything in the fraction.
    Strict,
}

/// Size limits of composed rational layers: initial degrees, depth, growth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RationalUnit {
    degree: u32,
    growth: Growth,
    depth: usize,
    max_depth: usize,
}

impl RationalUnit {
    /// A unit of `depth` rational layers of these degrees, which can be extended to `max_depth` (usually 5).
    pub fn new(degrees: (u32, u32), growth: Growth, depth: usize, max_depth: usize) -> Flattening<Self> {
        Self { degree: degrees.0.max(degrees.1), growth, depth: 0, max_depth }.extended(depth)
    }

    /// The same with more levels.
    pub fn extended(self, levels: usize) -> Flattening<Self> {
        let (depth, limit) = (self.depth.saturating_add(levels), self.max_depth);
        if depth == 0 || depth > limit {
            return Err(Refusal::UnitDepth { depth, limit });
        }
        Ok(Self { depth, ..self })
    }

    /// Its levels.
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// The bound on the degree of the numerator and of the denominator at its last level.
    pub fn bound(&self) -> u64 {
        self.bound_at(self.depth)
    }

    /// The bound at each level.
    pub fn degree_profile(&self) -> Vec<u64> {
        (1..=self.depth).map(|level| self.bound_at(level)).collect()
    }

    /// Flattens an expression, if its depth and degrees are within the limits. The error holds the actual size and the
    /// limit; the expression can still be evaluated unflattened.
    pub fn flattened(&self, expression: &Expression, nonzero: &[Polynomial], budget: Budget) -> Flattening<Flattened> {
        let flat = expression.flattened(nonzero, budget)?;
        let (depth, degrees) = (flat.payload().depth(), flat.payload().degrees());
        if depth > self.depth {
            return Err(Refusal::OverDepth { depth, limit: self.depth });
        }
        if u64::from(degrees.0.max(degrees.1)) > self.bound() {
            return Err(Refusal::OverDegree { degrees, limit: self.bound() });
        }
        Ok(flat)
    }

    fn bound_at(&self, level: usize) -> u64 {
        let factor = match self.growth {
            Growth::Guarded => 2u64,
            Growth::Strict => 3,
        };
        factor.saturating_pow((level - 1) as u32).saturating_mul(u64::from(self.degree))
    }
}
