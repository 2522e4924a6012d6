//! The models evaluated at every pair of times, for results and synthetic data. The same numbers as those of the formula in `model.rs`, from running
//! sums over the times instead of a program over rows.

use super::experiment::Experiment;
use super::model::{Flow, LEAST_RATE, Model, least_time};
use super::two_component;
use meromorph::error::Result;

/// g1² = (g2 - offset) / contrast [angles, times, times], 1 on the diagonal. `value` has the physical parameters by name.
pub fn decay(model: &Model, experiment: &Experiment, value: impl Fn(&str) -> f64) -> Result<Vec<f64>> {
    let Experiment { phi, t, dt, q, .. } = experiment;
    if model.flow == Flow::TwoComponent {
        return Ok(two_component::decay(experiment, value));
    }
    let running = |start: &str, power: &str, offset: &str| {
        let [start, power, offset] = [start, power, offset].map(&value);
        let rate = |t: f64| (start * t.max(least_time(*dt)).powf(power) + offset).max(LEAST_RATE);
        let mut sum = 0.0;
        let mut sums = vec![0.0];
        for pair in t.windows(2) {
            sum += 0.5 * (pair[1] - pair[0]) * (rate(pair[0]) + rate(pair[1]));
            sums.push(sum);
        }
        sums
    };
    let diffusion = running("D0", "alpha", "D_offset");
    let (shear, factor) = match model.flow {
        Flow::Static | Flow::TwoComponent => (vec![0.0; t.len()], 0.0),
        Flow::Laminar => (running("gamma_dot_0", "beta", "gamma_dot_offset"), model.factor(experiment)?),
    };
    let power = 2 * model.convention.power as i32;
    let phi0 = if model.flow == Flow::Laminar { value("phi0") } else { 0.0 };
    let times = t.len();
    let mut all = vec![1.0; phi.len() * times * times];
    for (angle, phi) in phi.iter().enumerate() {
        let along = factor * (phi0 - phi).to_radians().cos();
        for i in 0..times {
            for j in i + 1..times {
                let shear = sinc(along * (shear[j] - shear[i])).powi(power);
                let g1_square = (-q * q * (diffusion[j] - diffusion[i])).exp() * shear;
                all[experiment.place([angle, i, j])] = g1_square;
                all[experiment.place([angle, j, i])] = g1_square;
            }
        }
    }
    Ok(all)
}

/// sin(x) / x.
fn sinc(x: f64) -> f64 {
    if x == 0.0 { 1.0 } else { x.sin() / x }
}
