//! What stays in 32 bits: by name, and where poles are.

use super::{INPUTS, blocks, data, deep, paired, settings, smooth};
use meromorph::Device;
use meromorph::device::Launch;
use meromorph::loss::Loss;
use meromorph::nn::{Activation, Head, Spec};
use meromorph::train::{Data, Half, MixedPrecision, Trainer, TrainerConfig};

/// The launches of a step that move fewer bytes in bf16 than in f32, and how many fewer.
fn narrowed(spec: &Spec, config: &TrainerConfig, names: &[&str], data: &Data) -> Vec<(Launch, u64)> {
    let keep_f32 = names.iter().map(|name| (*name).to_owned()).collect();
    let launches = |precision| {
        let config = TrainerConfig { batch: 256, precision, ..config.clone() };
        let mut trainer = Trainer::new(&Device::dry(), spec.clone(), config, data.clone()).expect("a trainer");
        trainer.prepare().expect("plans");
        let mut launches = trainer.step_summary().launches.clone();
        // What no kernel converts itself; bf16 needs no launch for a scale.
        launches.retain(|launch| launch.kernel != "cast");
        launches
    };
    let whole = launches(None);
    let half = launches(Some(MixedPrecision { keep_f32, ..MixedPrecision::new(Half::Bf16) }));
    assert_eq!(whole.len(), half.len());
    let saved = whole.into_iter().zip(half).map(|(whole, half)| {
        let bytes = whole.cost.bytes - half.cost.bytes;
        (half, bytes)
    });
    saved.filter(|(_, bytes)| *bytes > 0).collect()
}

#[test]
fn names_choose_what_stays_in_32_bits() {
    let labels = |spec: &Spec, names: &[&str]| -> Vec<String> {
        let narrowed = narrowed(spec, &settings(None), names, &data(256, smooth));
        narrowed.into_iter().map(|(launch, _)| launch.label.to_string()).collect()
    };
    let of = |names: &[&str]| labels(&deep(4, 32), names);
    let all = of(&[]);
    assert!(all.iter().any(|label| label == "layers.2 layer"), "{all:?}");
    // An activation after a linear layer is a part of its launch, by its place and by its kind.
    for name in ["layers.2", "layers.3"] {
        let kept = of(&[name]);
        assert!(kept.len() < all.len() && !kept.is_empty(), "{name}: {kept:?}");
    }
    for name in ["linear", "activation", "layer"] {
        assert_eq!(of(&[name]), Vec::<String>::new(), "{name}");
    }
    // A layer's name stands for the layers inside it.
    let inside = |names: &[&str]| {
        labels(&blocks(), names).into_iter().filter(|label| label.starts_with("layers.2.layers")).count()
    };
    assert!(inside(&[]) > inside(&["layers.2"]) && inside(&["residual"]) == inside(&["layers.2"]));
}

#[test]
fn poles_stay_in_32_bits() {
    let spec = Spec::projective(INPUTS, &[64, 64], Head::rational(1), Activation::tanh());
    let config = TrainerConfig { loss: Loss::Pairs(meromorph::loss::PairLoss::default()), ..settings(None) };
    let narrowed = narrowed(&spec, &config, &[], &paired(256));
    let saved = |layer: &str, is_backward| -> u64 {
        let is_it = |launch: &Launch| &*launch.label.layer == layer && launch.label.is_backward == is_backward;
        narrowed.iter().filter(|(launch, _)| is_it(launch)).map(|(_, bytes)| bytes).sum()
    };
    let values = 2 * 256 * 64;
    // Values and slopes; what the head reads stays.
    assert_eq!(["layers.0", "layers.2", "layers.4"].map(|layer| saved(layer, false)), [2 * values, 3 * values, values]);
    assert_eq!([saved("layers.5", false), saved("layers.5", true)], [0; 2]);
}
