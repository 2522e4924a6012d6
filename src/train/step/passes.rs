//! The passes over a recorded step: which results are computed again in the backward pass, and which are stored in 16 bits.

use std::rc::Rc;

use super::layers::{Layers, OPS};
use super::setup::Setup;
use crate::device::{Choice, Halves, Label, Passes};
use crate::error::{Error, Result};
use crate::kernels::cast::stored;
use crate::train::MixedPrecision;

/// Kinds of layers whose results are stored in 16 bits.
const KINDS: [&str; 6] = ["linear", "activation", "dropout", "residual", "function", "block"];
/// Kinds of layers near whose poles 16 bits are not enough.
const WITH_POLES: [&str; 4] = ["rational", "projective", "masked_norm", "masked_softmax"];

/// The passes over a recorded step.
pub(crate) fn passes(setup: &Setup<'_>) -> Result<Passes> {
    let layers = Layers::of(setup.network, setup.device);
    let names = layers.named(&setup.settings.recompute_layers, "recompute_layers")?;
    let drops: Option<Choice> = match &names[..] {
        [] => None,
        _ => Some(Rc::new(move |label: &Label, _| layers.has(&names, label))),
    };
    let halves = match &setup.settings.precision {
        None => None,
        Some(precision) => {
            precision.storage(setup.device.info())?;
            Some(halves(precision, setup)?)
        }
    };
    Ok(Passes { recompute: setup.settings.recompute, drops, halves, ..Passes::default() })
}

/// The pass that stores results of a network in 16 bits. Errors if the network has no part of a given name.
fn halves(precision: &MixedPrecision, setup: &Setup<'_>) -> Result<Halves> {
    let layers = Layers::of(setup.network, setup.device);
    let keep_f32 = layers.named(&precision.keep_f32, "keep_f32")?;
    let keep_half = layers.named(&precision.keep_half, "keep_half")?;
    let has_poles = |kind: &str| WITH_POLES.contains(&kind) || kind == "masked";
    let is_refused = |name: &&String| has_poles(name) || layers.kind(name).is_some_and(has_poles);
    if let Some(name) = keep_half.iter().find(is_refused) {
        return Err(Error::usage(format!(
            "train: keep_half: got \"{name}\", whose poles need f32: expected layers without poles"
        )));
    }
    let format = precision.format;
    let takes = move |label: &Label| {
        // Other parts of a step, such as the loss, have a name that is no layer's.
        let kind = layers.kind(&label.layer);
        let is_of_model = kind.is_some() || label.layer.is_empty();
        if !is_of_model || kind.is_some_and(has_poles) || layers.has(&keep_f32, label) {
            return false;
        }
        let is_plain = kind.is_none_or(|kind| KINDS.contains(&kind)) && OPS.contains(&label.op);
        is_plain || layers.has(&keep_half, label)
    };
    Ok(stored(format, takes))
}
