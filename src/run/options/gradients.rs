//! The options of what happens between the gradients of a step and its update.

use super::names::decays;
use super::{TrainOptions, option};
use crate::error::{Error, Result};
use crate::options::{Entry, Kind, Range};
use crate::train::{Clip, ParameterGroup};

/// The most for the first updates of an adaptive limit without another.
const UNLIMITED: f64 = 1e30;

pub(crate) const GRADIENTS: &[Entry<TrainOptions>] = &[
    option(
        "clip_norm",
        Kind::Number(Range::Positive),
        "Largest norm of all gradients together; a longer gradient is shortened",
    )
    .aliases(&["max_grad_norm", "clipnorm"])
    .set(|o, v| o.gradients.clip = Some(Clip::Norm { most: v.number() })),
    option("clip_tensor", Kind::Number(Range::Positive), "Largest norm of the gradient of each weight matrix or vector")
        .try_set(|o, v| {
            if o.gradients.clip.is_some() {
                return Err(Error::usage("clip_tensor: got clip_norm as well, expected one of them"));
            }
            o.gradients.clip = Some(Clip::Tensor { most: v.number() });
            Ok(())
        }),
    option(
        "clip_adaptive",
        Kind::Number(Range::Positive),
        "Largest norm in standard deviations above the mean of past norms; {clip_norm} holds for the first ten updates",
    )
    .try_set(adaptive),
    option("clip_value", Kind::Number(Range::Positive), "Largest size of each gradient")
        .aliases(&["clipvalue"])
        .set(|o, v| o.gradients.clip_value = Some(v.number())),
    option("skip_overflow", Kind::Flag, "Leave out an update whose gradient is not finite, instead of ending the run")
        .default("false")
        .set(|o, v| o.gradients.skips_overflow = v.flag()),
    option(
        "freeze",
        Kind::Texts,
        "Parameters that stay as they are: names such as layers.0.weight, layers such as layers.0, or bias",
    )
    .set(|o, v| {
        let parameters = v.texts();
        o.gradients.groups.push(ParameterGroup { parameters, ..ParameterGroup::frozen(&[]) });
    }),
    option("decay", Kind::Name(decays), "What the weight decay applies to")
        .default("all")
        .set(|o, v| o.gradients.decays_vectors = v.text() == "all"),
    option(
        "mean_decay",
        Kind::Number(Range::Share),
        "Decay per update of a running mean of the weights, which is evaluated and kept instead of them",
    )
    .aliases(&["ema"])
    .set(|o, v| o.gradients.mean_decay = Some(v.number())),
    option(
        "sharpness",
        Kind::Number(Range::Positive),
        "Distance at which each update looks for a worse loss first, so that flat minima are found; twice the work (SAM)",
    )
    .aliases(&["sam_rho"])
    .set(|o, v| o.gradients.sharpness = Some(v.number())),
];

fn adaptive(options: &mut TrainOptions, value: &crate::options::Value) -> Result<()> {
    let most = match options.gradients.clip {
        None => UNLIMITED,
        Some(Clip::Norm { most }) => most,
        Some(_) => return Err(Error::usage("clip_adaptive: got clip_tensor as well, expected one of them")),
    };
    options.gradients.clip = Some(Clip::Adaptive { deviations: value.number(), most });
    Ok(())
}
