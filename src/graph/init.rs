//! Initial values of parameters, drawn from the counter-based generator: the same seed gives the same model on every device.

use crate::kernels::random::{self, threefry};
use crate::record;

/// Initialisation of a parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
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
    /// All equal.
    Constant {
        /// The value.
        value: f32,
    },
    /// N(0, deviation²).
    Normal {
        /// The standard deviation.
        deviation: f64,
    },
    /// U(-bound, bound).
    Uniform {
        /// The bound.
        bound: f64,
    },
    /// Values that a program gives; a file does not hold them.
    Given,
}

record! {
    enum Init {
        Linear, Kaiming, Xavier, Zero, One, Identity { numerator, channels }, Small, NearOne, Constant { value }, Normal { deviation },
        Uniform { bound }, Given,
    }
}

impl Init {
    /// Initialisation of the bias of a layer whose weight has this one.
    pub(crate) fn of_bias(self) -> Self {
        if self == Self::Linear { Self::Linear } else { Self::Zero }
    }

    fn bound(self, inputs: usize, outputs: usize) -> f64 {
        match self {
            Self::Linear => 1.0 / (inputs as f64).sqrt(),
            Self::Kaiming => (6.0 / inputs as f64).sqrt(),
            Self::Xavier => (6.0 / (inputs + outputs) as f64).sqrt(),
            Self::Uniform { bound } => bound,
            // Not drawn between bounds.
            Self::Zero
            | Self::One
            | Self::Small
            | Self::NearOne
            | Self::Identity { .. }
            | Self::Constant { .. }
            | Self::Normal { .. }
            | Self::Given => 0.0,
        }
    }

    /// Fills the values of a parameter: [`fan`](super::Parameter) has the inputs and outputs of its layer; `stream` differs between parameters.
    pub(crate) fn fill(self, values: &mut [f32], fan: (usize, usize), key: [u32; 2], stream: u32) {
        match self {
            Self::Zero | Self::Given => {}
            Self::Constant { value } => values.fill(value),
            Self::Normal { deviation } => {
                for (index, value) in values.iter_mut().enumerate() {
                    *value = (deviation * f64::from(random::normal(threefry(key, [index as u32, stream]))[0])) as f32;
                }
            }
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
            Self::Linear | Self::Kaiming | Self::Xavier | Self::Uniform { .. } => {
                let bound = self.bound(fan.0, fan.1);
                for (index, value) in values.iter_mut().enumerate() {
                    let unit = f64::from(threefry(key, [index as u32, stream])[0] >> 8) / f64::from(1 << 24);
                    *value = ((2.0 * unit - 1.0) * bound) as f32;
                }
            }
        }
    }
}
