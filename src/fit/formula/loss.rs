//! Losses of a residual r, robust against outliers: the cost is ½ s² Σ ρ((r / s)²), where s is the loss scale. The names and formulas are those of
//! SciPy's `least_squares`.

use crate::error::{Error, Result, hint, listed};

/// How the cost grows with a residual.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum RobustLoss {
    /// ρ(z) = z: least squares.
    #[default]
    Linear,
    /// ρ(z) = 2 (√(1 + z) - 1), linear for large residuals.
    SoftL1,
    /// ρ(z) = z up to 1, then 2 √z - 1.
    Huber,
    /// ρ(z) = ln(1 + z).
    Cauchy,
    /// ρ(z) = arctan z, bounded.
    Arctan,
    /// The likelihood of counts (Poisson), which is none of residuals: the cost is half the deviance, Σ f - y + y ln(y / f) for a model f.
    Poisson,
}

impl RobustLoss {
    /// Every loss of residuals with its name.
    pub const ALL: [(&'static str, Self); 5] = [
        ("linear", Self::Linear),
        ("soft_l1", Self::SoftL1),
        ("huber", Self::Huber),
        ("cauchy", Self::Cauchy),
        ("arctan", Self::Arctan),
    ];

    /// Those and the likelihood of counts, which have other errors: options of fits.
    pub const CHOICES: [(&'static str, Self); 6] = {
        let [a, b, c, d, e] = Self::ALL;
        [a, b, c, d, e, ("poisson", Self::Poisson)]
    };

    /// The loss of residuals with this name.
    pub fn named(name: &str) -> Result<Self> {
        let names = Self::ALL.map(|(name, _)| name);
        let found = Self::ALL.into_iter().find(|(known, _)| *known == name).map(|(_, loss)| loss);
        found.ok_or_else(|| {
            let (all, near) = (listed(&names), hint(name, names.into_iter()));
            Error::usage(format!("loss: got \"{name}\", expected one of {all}{near}"))
        })
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        Self::CHOICES.into_iter().find(|(_, loss)| *loss == self).map_or("", |(name, _)| name)
    }

    /// Its formula in one line.
    pub(crate) fn summary(self) -> &'static str {
        match self {
            Self::Linear => "z: least squares",
            Self::SoftL1 => "2 (√(1 + z) - 1)",
            Self::Huber => "z up to 1, then 2 √z - 1",
            Self::Cauchy => "ln(1 + z)",
            Self::Arctan => "arctan z, bounded",
            Self::Poisson => "the likelihood of counts",
        }
    }

    /// A loss that is as robust as a convex one can be; itself if it is convex.
    pub(crate) fn convex(self) -> Self {
        if matches!(self, Self::Cauchy | Self::Arctan) { Self::SoftL1 } else { self }
    }

    /// ρ(z) and its first two derivatives.
    pub(crate) fn at(self, z: f64) -> [f64; 3] {
        let root = (1.0 + z).sqrt();
        match self {
            Self::Linear | Self::Poisson => [z, 1.0, 0.0],
            Self::SoftL1 => [2.0 * (root - 1.0), 1.0 / root, -0.5 / (root * root * root)],
            Self::Huber if z <= 1.0 => [z, 1.0, 0.0],
            Self::Huber => [2.0 * z.sqrt() - 1.0, 1.0 / z.sqrt(), -0.5 / (z * z.sqrt())],
            Self::Cauchy => [z.ln_1p(), 1.0 / (1.0 + z), -1.0 / ((1.0 + z) * (1.0 + z))],
            Self::Arctan => {
                let slope = 1.0 / (1.0 + z * z);
                [z.atan(), slope, -2.0 * z * slope * slope]
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn derivatives_agree_with_differences() {
        for (name, loss) in RobustLoss::ALL {
            for z in [0.1, 0.9, 1.5, 40.0] {
                let step = 1e-5 * z;
                let [below, at, above] = [z - step, z, z + step].map(|z| loss.at(z));
                for order in 1..3 {
                    let slope = (above[order - 1] - below[order - 1]) / (2.0 * step);
                    assert!((at[order] - slope).abs() < 1e-6 * (1.0 + slope.abs()), "{name} at {z}: {at:?}, {slope}");
                }
            }
        }
    }
}
