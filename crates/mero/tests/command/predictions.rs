//! Predictions of models with known weights, computed by hand: in long tables, exactly at a threshold, and where Q is 0.

use super::all_devices::devices;
use super::folder::Folder;
use meromorph::Result;
use meromorph::autograd::Var;
use meromorph::judge::Metrics;
use meromorph::loss::{Loss, PairLoss};
use meromorph::model::{Factor, Model};
use meromorph::nn::{Activation, Decoding, Dropout, Head, Layer, Layout, RationalLayer, Spec, Threshold};
use meromorph::scm::strict::strict;
use meromorph::table::{Feature, NumberFeature, Preparation, Target};
use meromorph::tensor::Tensor;
use meromorph::train::{Data, Decoded, Examples, StepKind, Trainer, TrainerConfig};
use pollster::block_on;

/// A linear layer's weight, row by row, and its bias.
type Linear<'a> = (&'a [f32], &'a [f32]);

/// A model of one linear layer with these weights, and further layers.
fn model(inputs: usize, (weight, bias): Linear<'_>, after: impl IntoIterator<Item = Layer>, loss: Loss) -> Model {
    let mut spec = Spec::mlp(inputs, &[], bias.len(), Activation::identity());
    spec.layers.extend(after);
    filled(spec, &[weight, bias], loss)
}

/// A model with the values of its parameters, in their order.
fn filled(spec: Spec, parameters: &[&[f32]], loss: Loss) -> Model {
    let layout = Layout::of(&spec);
    assert_eq!(layout.parameters.len(), parameters.len());
    let mut flat = vec![0.0; layout.total];
    for (parameter, values) in layout.parameters.iter().zip(parameters) {
        assert_eq!(parameter.shape.len(), values.len(), "{}", parameter.name);
        flat[parameter.offset..][..values.len()].copy_from_slice(values);
    }
    Model::new(spec, loss, flat, None)
}

/// A head whose pairs are its features: numerators, then denominators.
fn bare(outputs: usize, decoding: Decoding) -> Layer {
    Layer::Projective(Head { anchor: 0.0, decoding, ..Head::linear(outputs) })
}

fn pair_loss() -> Loss {
    Loss::Pairs(PairLoss::default())
}

/// Predictions are computed in parts of 65,536 rows: two such parts and a short one.
const ROWS: usize = 2 * 65_536 + 100;

/// Row r as (r / 512, r mod 512), all of which f32 holds exactly.
fn numbered() -> Vec<f32> {
    (0..ROWS).flat_map(|row| [(row / 512) as f32, (row % 512) as f32]).collect()
}

#[test]
fn rows_past_the_first_65536_are_in_order_for_several_outputs() -> Result<()> {
    // 512 a + b is the row's number.
    let linear: Linear<'_> = (&[512.0, 1.0, 1.0, -1.0, 0.0, 2.0], &[0.0, 0.0, 3.0]);
    let fused = model(2, linear, [], Loss::mse());
    // Dropout does not change predictions, but the fused kernels do not support it.
    let recorded = model(2, linear, [Layer::Dropout(Dropout { rate: 0.5 })], Loss::mse());
    for device in devices(&[1, 2]) {
        for (name, model) in [("fused", &fused), ("recorded", &recorded)] {
            let got = block_on(model.outputs(&device, &numbered()))?;
            assert_eq!(got.len(), 3 * ROWS);
            for (row, got) in got.chunks(3).enumerate() {
                let (high, low) = ((row / 512) as f32, (row % 512) as f32);
                let expected = [row as f32, high - low, 2.0 * low + 3.0];
                assert_eq!(got, expected, "row {row}, {name}, on {}", device.info().device);
            }
        }
    }
    Ok(())
}

#[test]
fn decoded_rows_past_the_first_65536_are_in_order_with_their_validity_factors() -> Result<()> {
    // P is the row's number and its negative, Q is 1 and 2.
    let linear: Linear<'_> = (&[512.0, 1.0, -512.0, -1.0, 0.0, 0.0, 0.0, 0.0], &[0.0, 0.0, 1.0, 2.0]);
    let model = model(2, linear, [bare(2, Decoding::raw(0.5, None))], pair_loss());
    let every = |nth: usize| (0..2 * ROWS).map(|at| if at % nth == 0 { 0.0 } else { 1.0 }).collect();
    let factors = [5, 7].map(|nth| Factor { values: every(nth), tau: 0.5 });
    for device in devices(&[1, 2]) {
        let got = block_on(model.decoded_where(&device, &numbered(), &factors))?;
        assert_eq!((got.value.len(), got.provenance.len(), got.gap.len()), (2 * ROWS, 2 * ROWS, 2 * ROWS));
        for at in 0..2 * ROWS {
            let number = (at / 2) as f32;
            let is_bottom = at % 5 == 0 || at % 7 == 0;
            let value = if at % 2 == 0 { number } else { -number / 2.0 };
            let expected = if is_bottom { (0.0, 2) } else { (value, 0) };
            assert_eq!((got.value[at], got.provenance[at]), expected, "value {at} on {}", device.info().device);
        }
    }
    Ok(())
}

/// A number with the next float below it and the next above.
fn around(x: f32) -> [f32; 3] {
    [x.next_down(), x, x.next_up()]
}

/// The verdict at |Q| = a threshold: whether it is ⊥, and whether it is in the gap. A pair is near only below a threshold.
const AT_INFER: [(bool, bool); 3] = [(true, false), (false, true), (false, true)];
const AT_TRAIN: [(bool, bool); 3] = [(false, true), (false, false), (false, false)];

fn verdicts(decoded: &Decoded) -> Vec<(bool, bool)> {
    (0..decoded.value.len()).map(|at| (decoded.is_semantic(at), decoded.gap[at])).collect()
}

/// Pairs with |Q| one float below, at and one float above each of the two thresholds, of both signs, with the expected verdicts.
fn at_thresholds(p: f32) -> (Vec<[f32; 2]>, Vec<(bool, bool)>) {
    let sizes = [around(INFER * p), around(TRAIN * p)].concat();
    let pairs = [1.0, -1.0].iter().flat_map(|sign| sizes.iter().map(move |q| [p, sign * q])).collect();
    (pairs, [AT_INFER, AT_TRAIN, AT_INFER, AT_TRAIN].concat())
}

/// Limits of |Q|, and of |Q| / |P| for an angle: τ / √(1 - τ²), which for such a small τ equals τ to the last bit of an f32.
const INFER: f32 = 1.0 / 8192.0;
const TRAIN: f32 = 1.5 / 8192.0;

/// Each kind of threshold, with numerators for the test.
fn decodings() -> [(Decoding, Vec<f32>); 2] {
    let raw = Decoding::raw(INFER, Some(TRAIN));
    let angle = Decoding { threshold: Threshold::Angle, ..raw };
    [(raw, vec![1.0]), (angle, vec![1.0, 4.0, 2.0_f32.powi(70), 2.0_f32.powi(-70)])]
}

#[test]
fn a_pair_exactly_at_a_threshold_is_not_below_it() -> Result<()> {
    for device in devices(&[1, 2]) {
        for (decoding, numerators) in decodings() {
            for p in numerators {
                let (pairs, expected) = at_thresholds(p);
                let place = format!("{decoding:?}, P = {p}, on {}", device.info().device);
                let part = |k: usize| {
                    let values: Vec<f32> = pairs.iter().map(|pair| pair[k]).collect();
                    Tensor::from_f32(&device, [values.len()], &values).map(Var::constant)
                };
                let decoded = block_on(strict(&part(0)?, &part(1)?, &decoding, &[]))?;
                assert_eq!(verdicts(&decoded), expected, "strict, {place}");
                // A model that gives its inputs as pairs.
                let model = model(2, (&[1.0, 0.0, 0.0, 1.0], &[0.0; 2]), [bare(1, decoding)], pair_loss());
                assert_eq!(verdicts(&block_on(model.decoded(&device, &pairs.concat()))?), expected, "model, {place}");
            }
        }
    }
    Ok(())
}

#[test]
fn a_validity_factor_exactly_at_its_threshold_keeps_the_value() -> Result<()> {
    let model = model(2, (&[1.0, 0.0, 0.0, 1.0], &[0.0; 2]), [bare(1, Decoding::raw(0.5, None))], pair_loss());
    let sizes = around(0.1);
    let values = [sizes, sizes.map(|size| -size)].concat();
    for device in devices(&[1, 2]) {
        let factors = [Factor { values: values.clone(), tau: 0.1 }];
        let decoded = block_on(model.decoded_where(&device, &[3.0, 1.0].repeat(6), &factors))?;
        assert_eq!(decoded.provenance, [2, 0, 0, 2, 0, 0], "on {}", device.info().device);
    }
    Ok(())
}

#[test]
fn a_rational_layer_has_no_value_where_its_denominator_is_exactly_epsilon() -> Result<()> {
    // 1 / x, with P = 1 + 0 x and Q = 0 + 1 x.
    let layer = Layer::Rational(RationalLayer { epsilon: 0.25, ..RationalLayer::new(1, 1) });
    let spec = Spec { inputs: 1, layers: vec![layer, Layer::Projective(Head::value(1))] };
    let model = filled(spec, &[&[1.0, 0.0, 0.0, 1.0]], pair_loss());
    let sizes = around(0.25);
    let x = [sizes, sizes.map(|size| -size)].concat();
    for device in devices(&[1, 2]) {
        let decoded = block_on(model.decoded(&device, &x))?;
        assert_eq!(decoded.provenance, [2, 2, 0, 2, 2, 0], "on {}", device.info().device);
    }
    Ok(())
}

#[test]
fn metrics_count_a_pair_at_tau_infer_as_a_value_and_at_tau_train_as_no_gap() {
    for (decoding, numerators) in decodings() {
        for p in numerators {
            let (pairs, _) = at_thresholds(p);
            let head = Head { decoding, ..Head::linear(1) };
            let spec = Spec::projective(1, &[], head, Activation::identity());
            let y = [1.0, 1.0].repeat(pairs.len());
            let metrics = Metrics::of(&spec, &pair_loss(), &pairs.concat(), &y, 1.0).expect("there are rows");
            // Of twelve pairs two are ⊥, and two at and two above the first threshold and two below the second are gaps.
            assert_eq!((metrics.coverage, metrics.gap), (Some(10.0 / 12.0), Some(6.0 / 12.0)), "{decoding:?}, P = {p}");
        }
    }
}

/// Compares the loss of one pair (P, Q) for a target with the expected one: in metrics, and in both steps on every device.
fn check_loss(loss: PairLoss, pair: [f32; 2], target: [f32; 2], expected: f64) -> Result<()> {
    let loss = Loss::Pairs(loss);
    let model = model(2, (&[1.0, 0.0, 0.0, 1.0], &[0.0; 2]), [bare(1, Decoding::raw(0.1, None))], loss.clone());
    let metrics = Metrics::of(&model.spec, &loss, &pair, &target, 1.0).expect("there is a row");
    assert!((metrics.loss - expected).abs() < 1e-6, "{pair:?} in metrics: got {}, expected {expected}", metrics.loss);
    let train = Examples { x: pair.to_vec(), y: target.to_vec() };
    let data = Data { inputs: 2, targets: 2, train, ..Data::default() };
    for device in devices(&[1]) {
        for step in [StepKind::Fused, StepKind::Recorded] {
            let settings = TrainerConfig { loss: loss.clone(), step: Some(step), batch: 1, ..TrainerConfig::default() };
            let (spec, data) = (model.spec.clone(), data.clone());
            let mut trainer = Trainer::with_parameters(&device, spec, settings, data, &model.parameters)?;
            trainer.advance(1)?;
            let got = f64::from(block_on(trainer.batch_losses())?[0]);
            let place = format!("{pair:?} in the {} step on {}", step.name(), device.info().device);
            assert!((got - expected).abs() < 1e-6, "{place}: got {got}, expected {expected}");
        }
    }
    Ok(())
}

#[test]
fn losses_decode_a_denominator_of_0_as_positive() -> Result<()> {
    // B = sgn(Q) max(|Q|, τ): with P = 1 and τ = 1/2 the value is 2 at Q = 0 and -2 just below, of which 1 is 1 and 3 off.
    let loss = PairLoss { decoded: 1.0, tau: [0.5; 2], ..PairLoss::none() };
    for (q, expected) in [(0.0, 1.0), (0.25, 1.0), (-0.25, 9.0), (1.0, 0.0), (-1.0, 4.0)] {
        check_loss(loss, [1.0, q], [1.0, 1.0], expected)?;
    }
    Ok(())
}

#[test]
fn the_sign_term_includes_targets_with_a_denominator_exactly_at_the_bound() -> Result<()> {
    // The cosine of the angle between (3, 4) and (4, 3) is 24 / 25.
    for (sign_within, expected) in [(3.0_f32.next_down(), 0.0), (3.0, 0.04), (3.0_f32.next_up(), 0.04)] {
        check_loss(PairLoss { sign: 1.0, sign_within, ..PairLoss::none() }, [3.0, 4.0], [4.0, 3.0], expected)?;
    }
    Ok(())
}

#[test]
fn the_range_of_a_row_at_a_pole_is_its_numerators_sign_and_0_is_above() -> Result<()> {
    // P = a and Q = b.
    let decoding = Decoding::raw(0.5, None);
    let column = |name: &str| {
        Feature::Numeric(NumberFeature {
            name: name.into(),
            scale: 1.0,
            min: -2.0,
            max: 2.0,
            ..NumberFeature::default()
        })
    };
    let features = vec![column("a"), column("b")];
    let target = Target::Regression { name: "y".into(), mean: 0.0, scale: 1.0, min: -4.0, max: 4.0 };
    let mut model = model(2, (&[1.0, 0.0, 0.0, 1.0], &[0.0; 2]), [bare(1, decoding)], pair_loss());
    model.preparation = Some(Preparation::new(features, target));
    let folder = Folder::new();
    folder.write("pairs.safetensors", model.save()?);
    folder.write("rows.csv", "a,b\n2,0\n-2,0\n0,0\n-0.5,-0.25\n1,0.5\n-1,-0.5\n-1,1\n");
    let told = folder.told("predict pairs.safetensors rows.csv --device cpu --range");
    let expected = [
        "value,bottom,gap,fault,range,note",
        ",1,0,0,above,no value: at a pole",
        ",1,0,0,below,no value: at a pole",
        ",1,0,0,above,no value: at a pole",
        ",1,0,0,below,no value: at a pole",
        "2,0,0,0,within,",
        "2,0,0,0,within,",
        "-1,0,0,0,within,",
    ];
    assert_eq!(told.lines().collect::<Vec<_>>(), expected);
    Ok(())
}
