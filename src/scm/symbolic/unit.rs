//! How far the degrees of a rational unit can grow over levels of composition: at level L the bound is 2^(L-1) max(dP,
//! dQ) for guarded payloads and 3^(L-1) max(dP, dQ) for strict divisions.

use super::expression::Expression;
use super::flatten::{Budget, Flattened};
use super::polynomial::Polynomial;
use super::refusal::{Flattening, Refusal};

/// The factor by which a level of composition multiplies degrees at most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Growth {
    /// 2: a reduced fraction beside its guards.
    #[default]
    Guarded,
    /// 3: a division that keeps everything in the fraction.
    Strict,
}

/// The room that rational layers may take: seed degrees, depth, growth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RationalUnit {
    degree: u32,
    growth: Growth,
    depth: usize,
    max_depth: usize,
}

impl RationalUnit {
    /// A unit over rational layers of these degrees, `depth` of them, which may become `max_depth` (5 unless there is a
    /// reason).
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

    /// An expression flattened, if its depth and degrees fit. A refusal holds what was met and what would have been
    /// allowed; the expression can still be evaluated as it is.
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
