//! Named blocks of a function.

use super::{config, data, traced};
use crate::devices::devices;
use meromorph::autograd::Var;
use meromorph::graph::Graph;
use meromorph::internal::json::{Json, Record};
use meromorph::model::{Initial, Network};
use meromorph::nn::Spec;
use meromorph::tensor::Tensor;
use meromorph::train::{Half, MixedPrecision, StepKind, Trainer, TrainerConfig};
use meromorph::{Device, Result, ops};
use pollster::block_on;

/// Two blocks, the second within a third.
fn blocks() -> Network {
    let parameters = [("w", [3, 32]), ("v", [32, 32]), ("u", [32, 1])];
    Network::function(3, parameters.map(|(name, shape)| (name, Initial::normal(shape, 0.3))), |p, x| {
        let h = ops::block("features", x, || ops::sin(&ops::matmul(x, &p["w"])));
        let h = ops::block("body", x, || {
            let h = ops::tanh(&ops::matmul(&h, &p["v"]));
            ops::block("gate", x, || ops::mul(&h, &ops::sigmoid(&h)))
        });
        ops::matmul(&h, &p["u"])
    })
}

#[test]
fn blocks_are_computed_again_by_their_names() -> Result<()> {
    let graph = traced(&blocks())?;
    assert_eq!(graph.blocks(), ["features", "body", "body.gate"]);
    let lines = graph.lines()?;
    assert_eq!(lines[1], "v1 = sin(v0)   [rows, 32]   features");
    assert_eq!(lines[6], "v6 = matmul(v5, u, transposed=[false, false])   [rows, 1]");
    let again = Graph::from_json(&Json::parse(&graph.to_json().to_string())?)?;
    assert_eq!(again, graph);
    for device in devices(&[1, 2]) {
        let trainer = |network: Network, names: &[&str]| {
            let recompute_layers = names.iter().map(|name| (*name).to_owned()).collect();
            let settings = TrainerConfig { recompute_layers, step: Some(StepKind::Recorded), ..config() };
            Trainer::new(&device, network, settings, data())
        };
        let from_file = Network::from(block_on(blocks().traced(&device))?);
        let start = blocks().initialise(config().seed)?;
        let bytes = |names: &[&str]| {
            let trainer = trainer(blocks(), names)?;
            let summary = trainer.step_summary();
            Ok::<_, meromorph::Error>((summary.transient_bytes, summary.recomputed.0))
        };
        let (plain, none) = bytes(&[])?;
        let (features, one) = bytes(&["features"])?;
        assert!(features < plain && none == 0 && one > 0, "{features} {plain} {none} {one}");
        let [gate, body, all] = [["body.gate"], ["body"], ["block"]].map(|names| bytes(&names).map(|(_, count)| count));
        let counts = [gate?, body?, all?];
        assert!(counts[0] > 0 && counts[0] <= counts[1] && counts[2] >= counts[1] + one, "{counts:?} {one}");
        let after = |network: Network, names: &[&str]| {
            let mut trainer = trainer(network, names)?;
            assert_eq!(block_on(trainer.parameters())?, start);
            trainer.advance(7)?;
            block_on(trainer.parameters())
        };
        let expected = after(blocks(), &[])?;
        for names in [&["features"][..], &["body", "features"], &["block"]] {
            assert_eq!(after(blocks(), names)?, expected, "{names:?} on {}", device.info().device);
        }
        // From the file of the function, with the same names and the same plan.
        let loaded = Trainer::with_parameters(
            &device,
            from_file,
            trainer(blocks(), &["features"])?.settings().clone(),
            data(),
            &start,
        )?;
        assert_eq!(loaded.step_summary().transient_bytes, features);
        // The whole function has the names that a layer of a `Spec` has.
        for name in ["function", "layers.0"] {
            let settings = trainer(blocks(), &[])?.settings().clone();
            let settings = TrainerConfig { recompute_layers: vec![name.into()], ..settings };
            let spec = block_on(blocks().traced(&device))?;
            let whole = Trainer::with_parameters(&device, spec, settings, data(), &start)?;
            assert!(whole.step_summary().recomputed.0 > one, "{name}");
        }
        let said = trainer(blocks(), &["feature"]).err().expect("no block").to_string();
        let start = r#"train: recompute_layers: got "feature", expected one of "block", "body", "body.gate", "features", "layer""#;
        assert!(said.starts_with(start) && said.ends_with(r#"did you mean "features"?"#), "{said}");
    }
    Ok(())
}

#[test]
fn blocks_within_layers_have_the_path_of_both() -> Result<()> {
    let device = Device::cpu(1);
    let inner = Network::function(8, [("v", Initial::normal([8, 8], 0.3))], |p, x| {
        ops::block("outer", x, || ops::block("inner", x, || ops::sin(&ops::matmul(x, &p["v"]))))
    });
    let function = block_on(inner.traced(&device))?.layers.remove(0);
    let layers = vec![meromorph::nn::Linear::new(8).into(), function, meromorph::nn::Linear::new(1).into()];
    let spec = Spec { inputs: 3, layers };
    for name in ["layers.1.outer", "layers.1.outer.inner", "layers.1", "block"] {
        let settings =
            TrainerConfig { recompute_layers: vec![name.into()], step: Some(StepKind::Recorded), ..config() };
        assert!(Trainer::new(&device, spec.clone(), settings, data())?.step_summary().recomputed.0 > 0, "{name}");
    }
    // In 16 bits as the same ops without a block.
    let precision = MixedPrecision { keep_half: vec!["layers.1.outer".into()], ..MixedPrecision::new(Half::Bf16) };
    let settings = TrainerConfig { precision: Some(precision), step: Some(StepKind::Recorded), ..config() };
    Trainer::new(&device, spec.clone(), settings, data())?.advance(2)?;
    let text = spec.to_json().to_string().replace("outer.inner", "outer.loss");
    let said = Spec::from_json(&Json::parse(&text)?)?.outputs().expect_err("a name").to_string();
    assert_eq!(said, "model: layers.1: node 0 (matmul): got the block \"outer.loss\", whose name is taken");
    Ok(())
}

#[test]
#[should_panic(expected = "block: got the name \"matmul\", expected one that is not empty and not batch, block")]
fn a_block_needs_a_name_of_its_own() {
    let x = Var::constant(Tensor::scalar(&Device::cpu(1), 1.0));
    ops::block("matmul", &x, || ());
}
