//! The models as formulas over t1, t2 and φ.
//!
//! With D(t) = D0·t^alpha + D_offset and, in a flow, γ̇(t) = gamma_dot_0·t^beta + gamma_dot_offset:
//!
//! g2 = offset + contrast · exp(-q² ∫D dt) · sinc(B cos(phi0 - φ) ∫γ̇ dt)^(2k), both integrals from t1 to t2, sinc(x) = sin(x)/x.
//!
//! B and k differ between sources; see [`Convention`]. The integrals are sums of trapezoids between the measured times. As in homodyne, t is at
//! least dt/2 and both rates are at least 1e-10. Its other guards change no digit of g2 and are left out: the smooth absolute value √(x² + 1e-12)
//! of a sum that is positive anyway, and the smallest g1 of 1e-10.
//!
//! Two components, a reference r and a sample s that moves with the velocity v against it, are in `two_component.rs`.

use super::experiment::Experiment;
use super::parameter::{PARAMETERS, ParameterInfo};
use super::two_component;
use meromorph::error::{Error, Result, hint, listed};
use meromorph::internal::host::number;

/// What the sample does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// It diffuses at rest: the same for all angles.
    Static,
    /// It diffuses in a laminar shear flow.
    Laminar,
    /// It moves against a reference, with which its scattering interferes (heterodyne).
    TwoComponent,
}

impl Flow {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Static => "static",
            Self::Laminar => "laminar_flow",
            Self::TwoComponent => "heterodyne",
        }
    }
}

/// Whether contrast and offset are the same for all angles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scaling {
    /// One contrast and one offset.
    Constant,
    /// One of each for every angle.
    Individual,
}

impl Scaling {
    /// Every kind with its name.
    pub const ALL: [(&'static str, Self); 2] = [("constant", Self::Constant), ("individual", Self::Individual)];
}

/// The factor B of the argument of sinc.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SincArgument {
    /// B = q·L/(2π), as homodyne computes.
    OverTwoPi,
    /// B = q·L/2, as the theory says.
    Half,
}

impl SincArgument {
    /// Every kind with its name.
    pub const ALL: [(&'static str, Self); 2] = [("over_2pi", Self::OverTwoPi), ("half", Self::Half)];
}

/// Where the sources differ: the theory and the program that implements it disagree about B and k, so that shear rates that are fitted with one
/// convention are about π times those of the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Convention {
    /// The factor B.
    pub argument: SincArgument,
    /// The power k of sinc in g1, 1 or 2.
    pub power: u32,
}

impl Convention {
    /// What homodyne computes: q·L/(2π), k = 2.
    pub const CODE: Self = Self { argument: SincArgument::OverTwoPi, power: 2 };
    /// What its theory says: q·L/2, k = 1.
    pub const THEORY: Self = Self { argument: SincArgument::Half, power: 1 };
    /// Both with their names.
    pub const ALL: [(&'static str, Self); 2] = [("code", Self::CODE), ("theory", Self::THEORY)];

    /// Its name, if it is one of the two.
    pub fn name(self) -> &'static str {
        Self::ALL.into_iter().find(|(_, known)| *known == self).map_or("own", |(name, _)| name)
    }
}

/// A model of c2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Model {
    /// What the sample does.
    pub flow: Flow,
    /// Whether contrast and offset are the same for all angles.
    pub scaling: Scaling,
    /// The convention for the flow.
    pub convention: Convention,
}

/// Rates below this are raised to it.
pub(super) const LEAST_RATE: f64 = 1e-10;

impl Model {
    /// A model with one contrast and offset, in the convention of homodyne.
    pub fn new(flow: Flow) -> Self {
        Self { flow, scaling: Scaling::Constant, convention: Convention::CODE }
    }

    /// Its parameters.
    pub fn parameters(&self) -> impl Iterator<Item = &'static ParameterInfo> + use<> {
        let flow = self.flow;
        PARAMETERS.iter().filter(move |one| one.flows.contains(&flow))
    }

    /// A parameter that is not fitted, since others have the same effect.
    pub(super) fn redundant(&self) -> Option<&'static ParameterInfo> {
        PARAMETERS.iter().find(|one| self.flow == Flow::TwoComponent && one.name == "f2")
    }

    /// Its formula over the columns t1, t2 and phi for a geometry and a time step. Errors if the flow needs a gap that is not known.
    pub fn formula(&self, experiment: &Experiment) -> Result<String> {
        let bracket = if self.scaling == Scaling::Individual { "[phi]" } else { "" };
        if self.flow == Flow::TwoComponent {
            return Ok(two_component::formula(experiment, bracket));
        }
        let least = number(least_time(experiment.dt)).to_string();
        let rate = |start: &str, power: &str, offset: &str| {
            let floor = number(LEAST_RATE);
            format!("cumint(max({start}*max(u, {least})^{power} + {offset}, {floor}), u, t1, t2)")
        };
        let square = number(experiment.q * experiment.q);
        let diffusion = format!("exp(-{square}*{})", rate("D0", "alpha", "D_offset"));
        let shear = match self.flow {
            Flow::Static | Flow::TwoComponent => String::new(),
            Flow::Laminar => {
                let factor = number(self.factor(experiment)?);
                let shear = rate("gamma_dot_0", "beta", "gamma_dot_offset");
                let power = 2 * self.convention.power;
                format!("*sinc({factor}*cos((phi0 - phi)*pi/180)*{shear})^{power}")
            }
        };
        Ok(format!("offset{bracket} + contrast{bracket}*{diffusion}{shear}"))
    }

    /// The factor B.
    pub(super) fn factor(&self, experiment: &Experiment) -> Result<f64> {
        let missing = "xpcs: laminar flow needs the gap between stator and rotor: expected analyzer_parameters.geometry.stator_rotor_gap";
        let gap = experiment.gap.ok_or_else(|| Error::usage(missing))?;
        let divisor = match self.convention.argument {
            SincArgument::OverTwoPi => std::f64::consts::TAU,
            SincArgument::Half => 2.0,
        };
        Ok(experiment.q * gap / divisor)
    }
}

/// Earlier times count as this one: t^alpha has a pole at 0.
pub(super) fn least_time(dt: f64) -> f64 {
    (dt / 2.0).max(1e-8)
}

/// The entry of a table with this name; `what` is the option or key.
pub fn chosen<T: Copy>(what: &str, name: &str, table: &[(&'static str, T)]) -> Result<T> {
    let found = table.iter().find(|(known, _)| *known == name);
    found.map(|(_, value)| *value).ok_or_else(|| {
        let names: Vec<&str> = table.iter().map(|(name, _)| *name).collect();
        let (all, near) = (listed(&names), hint(name, names.iter().copied()));
        Error::usage(format!("{what}: got \"{name}\", expected one of {all}{near}"))
    })
}
