//! Synthetic experiments: c2 = g2(truth) + sigma·z, with z from a counter that is the place in c2, so that a number depends on nothing else.

use super::experiment::Experiment;
use super::model::{Flow, Model};
use super::parameter::canonical;
use super::theory::decay;
use super::values::Values;
use meromorph::error::{Error, Result};
use meromorph::internal::math::splitmix::{STEP, mixed};

/// What a synthetic experiment is made of.
#[derive(Clone, Debug, PartialEq)]
pub struct Synthetic {
    /// The model; contrast and offset are the same for all angles.
    pub model: Model,
    /// Angles in degrees.
    pub phi: Vec<f64>,
    /// Number of times.
    pub times: usize,
    /// The time step in seconds.
    pub dt: f64,
    /// The wavevector in 1/Å.
    pub q: f64,
    /// The gap between stator and rotor in Å.
    pub gap: f64,
    /// The true parameters.
    pub truth: Vec<(&'static str, f64)>,
    /// The standard deviation of the noise.
    pub noise: f64,
    /// The seed of the noise.
    pub seed: u64,
}

impl Synthetic {
    /// Eleven angles and 60 times with 1 % of noise, all parameters well determined.
    pub fn new(model: Model) -> Self {
        let mut truth = vec![
            ("contrast", 0.3),
            ("offset", 1.0),
            ("D0", 3000.0),
            ("alpha", 0.5),
            ("D_offset", 500.0),
            ("gamma_dot_0", 2e-4),
            ("D0_ref", 4000.0),
            ("alpha_ref", 0.2),
            ("D_offset_ref", 300.0),
            ("D0_sample", 9000.0),
            ("alpha_sample", 0.3),
            ("D_offset_sample", 500.0),
            ("v0", 1500.0),
            ("beta", 0.3),
            ("v_offset", 40.0),
            ("gamma_dot_offset", 1e-4),
            ("f0", 0.3),
            ("f1", 0.15),
            ("f2", 0.0),
            ("f3", 0.1),
            ("phi0", 3.0),
        ];
        truth.retain(|(name, _)| model.parameters().any(|known| known.name == *name));
        let phi = (0..11).map(|at| 18.0 * f64::from(at)).collect();
        Self { model, phi, times: 60, dt: 0.1, q: 0.0054, gap: 2e6, truth, noise: 0.01, seed: 0 }
    }

    /// The same with a parameter's true value. Errors if the model has no parameter of this name.
    pub fn with(mut self, name: &str, value: f64) -> Result<Self> {
        let known = canonical(name)?.name;
        let entry = self.truth.iter_mut().find(|(name, _)| *name == known);
        let flow = self.model.flow.name();
        entry.ok_or_else(|| Error::usage(format!("parameter: \"{known}\" is not one of the model {flow}")))?.1 = value;
        Ok(self)
    }

    /// The true value of a parameter of the model.
    pub fn value(&self, name: &str) -> f64 {
        self.truth.iter().find(|(known, _)| *known == name).map_or(f64::NAN, |(_, value)| *value)
    }

    /// The experiment.
    pub fn experiment(&self) -> Result<Experiment> {
        let Self { phi, times, dt, q, gap, .. } = self;
        let count = phi.len() * times * times;
        let bytes = 16 * count as u64;
        if bytes > meromorph::internal::host::memory_bytes() {
            let [bytes, most] = [bytes, meromorph::internal::host::memory_bytes()].map(meromorph::internal::host::gib);
            return Err(Error::usage(format!("xpcs: these data need {bytes}, this process may use {most}")));
        }
        let mut experiment = Experiment {
            phi: phi.clone(),
            t: (0..*times).map(|at| dt * at as f64).collect(),
            dt: *dt,
            q: *q,
            gap: (self.model.flow == Flow::Laminar).then_some(*gap),
            c2: Values::Double(vec![0.0; count]),
            sigma: None,
        };
        experiment.check()?;
        let mut c2 = decay(&self.model, &experiment, |name| self.value(name))?;
        let [contrast, offset] = ["contrast", "offset"].map(|name| self.value(name));
        for angle in 0..phi.len() {
            for i in 0..*times {
                for j in i..*times {
                    let [place, mirrored] = [[angle, i, j], [angle, j, i]].map(|at| experiment.place(at));
                    c2[place] = offset + contrast * c2[place] + self.noise * normal(self.seed, place as u64);
                    c2[mirrored] = c2[place];
                }
            }
        }
        experiment.c2 = Values::Double(c2);
        Ok(experiment)
    }
}

/// A standard normal number for a counter (Box and Muller, Annals of Mathematical Statistics 29, 1958).
fn normal(seed: u64, counter: u64) -> f64 {
    let word = |at: u64| mixed(mixed(seed.wrapping_add(STEP)) ^ mixed(STEP.wrapping_mul(2 * counter + at + 1)));
    // Within (0, 1].
    let uniform = |at: u64| ((word(at) >> 11) + 1) as f64 / (1_u64 << 53) as f64;
    (-2.0 * uniform(0).ln()).sqrt() * (std::f64::consts::TAU * uniform(1)).cos()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_is_standard_normal() {
        let count = 200_000;
        let numbers: Vec<f64> = (0..count).map(|at| normal(7, at)).collect();
        let moment = |power: i32| numbers.iter().map(|z| z.powi(power)).sum::<f64>() / count as f64;
        assert!(moment(1).abs() < 0.01 && (moment(2) - 1.0).abs() < 0.02 && (moment(4) - 3.0).abs() < 0.1);
        let lagged: f64 = numbers.windows(2).map(|pair| pair[0] * pair[1]).sum::<f64>() / count as f64;
        let seeds: f64 = numbers.iter().zip(0..).map(|(z, at)| z * normal(8, at)).sum::<f64>() / count as f64;
        assert!(lagged.abs() < 0.01 && seeds.abs() < 0.01, "{lagged} {seeds}");
    }
}
