//! Initial values of parameters, drawn from the counter-based generator: the same seed gives the same model on every device.

use crate::kernels::random::{self, threefry};
use crate::record;

/// Initialisation of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Init {
    /// U(-1/√inputs, 1/√inputs) for weight and bias: the common default of linear layers.
    Linear,
    /// U(-√(6/inputs), √(6/inputs)), bias 0 (He et al. 2015): for relu and similar functions.
    Kaiming,
    /// U(-√(6/(inputs + outputs)), …), bias 0 (Glorot and Bengio 2010): for tanh and sigmoid.
    Xavier,
    /// All zero.
    Zero,
    /// All one.
    One,
    /// Coefficients of a rational function that starts near the identity: P has N(0, 0.01²), plus 1 for x; Q has 1, 0, 0, …
    Identity {
        /// Degree of P.
        numerator: usize,
        /// Number of channels.
        channels: usize,
    },
    /// N(0, 0.01²).
    Small,
    /// 1 + N(0, 0.01²).
    NearOne,
}

record! { enum Init { Linear, Kaiming, Xavier, Zero, One, Identity { numerator, channels }, Small, NearOne } }

impl Init {
    /// Initialisation of the bias of a layer whose weight has this one.
    pub(super) fn of_bias(self) -> Self {
        if self == Self::Linear { Self::Linear } else { Self::Zero }
    }

    fn bound(self, inputs: usize, outputs: usize) -> f64 {
        match self {
            Self::Linear => 1.0 / (inputs as f64).sqrt(),
            Self::Kaiming => (6.0 / inputs as f64).sqrt(),
            Self::Xavier => (6.0 / (inputs + outputs) as f64).sqrt(),
            Self::Zero | Self::One | Self::Small | Self::NearOne | Self::Identity { .. } => 0.0,
        }
    }

    /// Fills the values of a parameter: [`fan`](super::Parameter) has the inputs and outputs of its layer; `stream` differs between parameters.
    pub(super) fn fill(self, values: &mut [f32], fan: (usize, usize), key: [u32; 2], stream: u32) {
        match self {
            Self::Zero => {}
            Self::One => values.fill(1.0),
            Self::Identity { numerator, channels } => {
                for (index, value) in values.iter_mut().enumerate() {
                    let noise = 0.01 * random::normal(threefry(key, [index as u32, stream]))[0];
                    *value = match index / channels {
                        1 if numerator >= 1 => 1.0 + noise,
                        k if k <= numerator => noise,
                        k => f32::from(u8::from(k == numerator + 1)),
                    };
                }
            }
            Self::Small | Self::NearOne => {
                let centre = if self == Self::Small { 0.0 } else { 1.0 };
                for (index, value) in values.iter_mut().enumerate() {
                    *value = centre + 0.01 * random::normal(threefry(key, [index as u32, stream]))[0];
                }
            }
            _ => {
                let bound = self.bound(fan.0, fan.1);
                for (index, value) in values.iter_mut().enumerate() {
                    let unit = f64::from(threefry(key, [index as u32, stream])[0] >> 8) / f64::from(1 << 24);
                    *value = ((2.0 * unit - 1.0) * bound) as f32;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nn::{Layer, Layout, Spec, initialise};

    /// Initial weight and bias of a layer from `inputs` to `outputs`.
    fn drawn(init: Init, inputs: usize, outputs: usize) -> [Vec<f32>; 2] {
        let layout = Layout::of(&Spec { inputs, layers: vec![Layer::Linear { outputs, bias: true, init }] });
        let flat = initialise(&layout, 5);
        [0, 1].map(|at| layout.slice(&layout.parameters[at], &flat).to_vec())
    }

    #[test]
    fn weights_are_uniform_up_to_the_bound_of_their_layers_fan() {
        // A uniform number in (-b, b) has mean 0 and variance b²/3; the largest of 4000 is near b.
        let cases = [
            (Init::Linear, 1000, 4, 1.0 / 1000.0),
            (Init::Linear, 4, 1000, 1.0 / 4.0),
            (Init::Kaiming, 1000, 4, 6.0 / 1000.0),
            (Init::Kaiming, 4, 1000, 6.0 / 4.0),
            (Init::Xavier, 1000, 4, 6.0 / 1004.0),
            (Init::Xavier, 4, 1000, 6.0 / 1004.0),
        ];
        for (init, inputs, outputs, squared) in cases {
            let [weight, _] = drawn(init, inputs, outputs);
            let mean =
                |of: &dyn Fn(f64) -> f64| weight.iter().map(|w| of(f64::from(*w))).sum::<f64>() / weight.len() as f64;
            let bound = f64::sqrt(squared);
            let largest = f64::from(weight.iter().fold(0.0_f32, |largest, w| largest.max(w.abs())));
            let place = format!("{init:?} from {inputs} to {outputs}");
            assert_eq!(weight.len(), 4000, "{place}");
            assert!(largest <= bound && largest > 0.99 * bound, "{place}: got {largest}, expected at most {bound}");
            let (centre, variance) = (mean(&|w| w), mean(&|w| w * w));
            assert!(centre.abs() < 0.05 * bound, "{place}: the mean is {centre}");
            assert!(
                (3.0 * variance / squared - 1.0).abs() < 0.05,
                "{place}: got a variance of {variance}, expected {}",
                squared / 3.0
            );
        }
    }

    #[test]
    fn a_bias_follows_the_inputs_of_a_linear_start_and_is_0_else() {
        let largest = |init| drawn(init, 4, 1000)[1].iter().fold(0.0_f32, |largest, b| largest.max(b.abs()));
        let linear = largest(Init::Linear);
        assert!(linear <= 0.5 && linear > 0.49, "{linear}");
        assert_eq!([Init::Kaiming, Init::Xavier, Init::Zero].map(largest), [0.0; 3]);
    }
}
