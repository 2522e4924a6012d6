//! The options of what is stored in 16 bits.

use super::TrainOptions;
use crate::kernels::halves::Half;
use crate::options::{Entry, Kind, Range};
use crate::train::{LossScaling, MixedPrecision};

const WITH_HALVES: &str = "{precision} f16 or bf16";

fn formats() -> Vec<(&'static str, &'static str)> {
    vec![
        ("f32", "All in 32 bits"),
        ("f16", "What layers keep for the backward pass, and gradients between them, in 16 bits; the loss is scaled"),
        ("bf16", "The same with the range of 32 bits and fewer digits"),
    ]
}

fn has_halves(options: &TrainOptions) -> bool {
    options.precision.is_some()
}

fn is_scaled(options: &TrainOptions) -> bool {
    options.precision.as_ref().is_some_and(|precision| precision.scale.is_some())
}

fn precision(options: &mut TrainOptions) -> &mut MixedPrecision {
    options.precision.get_or_insert_with(|| MixedPrecision::new(Half::F16))
}

fn scale(options: &mut TrainOptions) -> &mut LossScaling {
    precision(options).scale.get_or_insert_with(LossScaling::default)
}

pub(crate) const PRECISION: &[Entry<TrainOptions>] = &[
    Entry::new("precision", Kind::Name(formats), "How intermediate results are stored; weights and sums are in f32")
        .default("f32")
        .set(|o, v| {
            o.precision = match v.text() {
                "f16" => Some(MixedPrecision::new(Half::F16)),
                "bf16" => Some(MixedPrecision::new(Half::Bf16)),
                _ => None,
            };
        }),
    Entry::new("keep_f32", Kind::Texts, "Layers such as layers.2, kinds of layers or ops whose results stay in f32")
        .needs(has_halves, WITH_HALVES)
        .set(|o, v| precision(o).keep_f32 = v.texts()),
    Entry::new("keep_half", Kind::Texts, "The same for results that are stored in 16 bits as well, such as layer_norm")
        .needs(has_halves, WITH_HALVES)
        .set(|o, v| precision(o).keep_half = v.texts()),
    Entry::new(
        "loss_scale",
        Kind::Number(Range::Positive),
        "First factor of the loss, so that small gradients are not lost",
    )
    .needs(is_scaled, "{precision} f16")
    .default("65536")
    .set(|o, v| scale(o).initial = v.number()),
    Entry::new("scale_interval", Kind::whole(1), "Updates in a row after which the factor of the loss doubles")
        .needs(is_scaled, "{precision} f16")
        .default("2000")
        .set(|o, v| scale(o).interval = v.whole() as u64),
    Entry::new(
        "strict",
        Kind::Flag,
        "Refuse a precision that the device has no type for, instead of packing two numbers in a word",
    )
    .needs(has_halves, WITH_HALVES)
    .default("false")
    .set(|o, v| precision(o).is_strict = v.flag()),
];
