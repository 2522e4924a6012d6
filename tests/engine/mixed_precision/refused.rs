//! Wrong settings are errors.

use super::{INPUTS, data, deep, f16, paired, settings, smooth, with_scale};
use meromorph::Device;
use meromorph::loss::Loss;
use meromorph::nn::{Activation, Head, Layer, MaskedNorm, Spec};
use meromorph::optim::Optimizer;
use meromorph::train::{LossScaling, MixedPrecision, StepKind, Trainer, TrainerConfig};

#[test]
fn wrong_settings_are_errors() {
    let device = Device::cpu(1);
    let said = |config: TrainerConfig, spec: Spec| {
        let trainer = Trainer::new(&device, spec, config, data(64, smooth));
        trainer.and_then(|mut trainer| trainer.prepare()).map(drop).unwrap_err().to_string()
    };
    let of = |precision: MixedPrecision| said(settings(Some(precision)), deep(2, 8));
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let both = MixedPrecision { keep_f32: names(&["layers.2"]), keep_half: names(&["linear", "layers.2"]), ..f16() };
    assert_eq!(
        of(both),
        "train: keep_half: got \"layers.2\", which keep_f32 names as well, expected it in one of them"
    );
    assert_eq!(
        of(MixedPrecision { keep_f32: names(&["layer.2"]), ..f16() }),
        "train: keep_f32: got \"layer.2\", expected one of \"activation\", \"layer\", \"layer_norm\", \"layers.0\", \"layers.1\", \"layers.2\", \"layers.3\", \"layers.4\", \"linear\", \"map\", \"masked\", …, \"rational\"; did you mean \"layers.2\"?"
    );
    assert_eq!(
        of(MixedPrecision { is_strict: true, ..f16() }),
        "train: strict: got precision f16 on cpu, which has no type for it: expected f32, or no strict, which packs two numbers in a word"
    );
    assert_eq!(
        of(with_scale(LossScaling { interval: 0, ..LossScaling::default() })),
        "train: scale_interval: got 0, expected at least 1 update"
    );
    assert_eq!(
        of(with_scale(LossScaling { initial: -1.0, ..LossScaling::default() })),
        "train: loss_scale: got -1, expected a finite number above 0"
    );
    let rational = || {
        let mut spec = Spec::projective(INPUTS, &[8, 8], Head::rational(1), Activation::tanh());
        let norm = Layer::MaskedNorm(MaskedNorm { epsilon: 1e-5, policy: None });
        spec.layers.splice(1..2, [norm]);
        spec
    };
    for name in ["projective", "masked_norm", "layers.1"] {
        let precision = Some(MixedPrecision { keep_half: names(&[name]), ..f16() });
        let config = TrainerConfig { loss: Loss::Pairs(meromorph::loss::PairLoss::default()), ..settings(precision) };
        let trainer = Trainer::new(&device, rational(), config, paired(64));
        assert_eq!(
            trainer.map(drop).unwrap_err().to_string(),
            format!("train: keep_half: got \"{name}\", whose poles need f32: expected layers without poles")
        );
    }
    assert_eq!(
        of(with_scale(LossScaling { most: f64::INFINITY, ..LossScaling::default() })),
        "train: the largest loss scale: got inf, expected a finite number above 0"
    );
    assert_eq!(
        said(TrainerConfig { step: Some(StepKind::Fused), ..settings(Some(f16())) }, deep(2, 8)),
        "train: precision: got f16, but the fused step keeps nothing between its passes: expected the recorded step"
    );
    assert_eq!(
        said(
            TrainerConfig { optimizer: Optimizer::parse("lamb").expect("a name"), ..settings(Some(f16())) },
            deep(2, 8)
        ),
        "train: precision: got f16 with the optimizer lamb, which cannot leave out an update; expected bf16, f32 or another optimizer"
    );
}
