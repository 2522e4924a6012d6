//! Formulas of users, as text and as closures: every built-in and a user's formula train alike on every device and in both steps, a saved
//! model keeps its formula, and errors in formulas name their position.

use crate::devices::devices;
use crate::noise::noise;
use meromorph::loss::{self, Loss, Rule, Target};
use meromorph::model::Model;
use meromorph::nn::{Activation, Spec, activation};
use meromorph::optim::{self, Optimizer};
use meromorph::program::expr::{cosh, ln, softplus, tanh};
use meromorph::program::parse::parse;
use meromorph::train::{Checkpoint, Data, Examples, Flow, StepKind, Trainer, TrainerConfig};
use meromorph::{Device, Result};
use pollster::block_on;

/// How far losses of a few epochs may differ between steps and devices, relative.
const BOUND: f64 = 3e-4;

fn data() -> Data {
    let part = |rows: usize, seed| {
        let x = noise(rows * 3, seed);
        let y = x.chunks_exact(3).map(|x| x[0].sin() + x[1] * x[2]).collect();
        Examples { x, y }
    };
    Data { inputs: 3, targets: 1, train: part(200, 1), validation: part(50, 2), test: part(50, 3) }
}

fn settings() -> TrainerConfig {
    TrainerConfig { epochs: 3, batch: 64, patience: 0, seed: 5, ..TrainerConfig::default() }
}

fn trained(device: &Device, activation: &Activation, settings: TrainerConfig) -> Result<Trainer> {
    let spec = Spec::mlp(3, &[12, 9], 1, activation.clone());
    let mut trainer = Trainer::new(device, spec, settings, data())?;
    block_on(trainer.run(&mut |_| Flow::Continue))?;
    Ok(trainer)
}

fn losses(device: &Device, activation: &Activation, settings: TrainerConfig) -> Result<Vec<f64>> {
    let trainer = trained(device, activation, settings)?;
    Ok(trainer.history().iter().flat_map(|epoch| [Some(epoch.train_loss), epoch.val_loss]).flatten().collect())
}

/// A message if values differ by more than the bound.
fn apart(what: &str, got: &[f64], expected: &[f64]) -> Option<String> {
    let worst = got.iter().zip(expected).map(|(a, b)| (a - b).abs() / b.abs()).fold(0.0, f64::max);
    let is_near = got.len() == expected.len() && worst <= BOUND;
    (!is_near).then(|| format!("{what}: got {got:?}, expected {expected:?}"))
}

#[test]
fn built_ins_and_formulas_train_alike_in_both_steps_on_every_device() -> Result<()> {
    let activations = activation::ALL.iter().map(|built_in| Activation::of_built_in(built_in));
    let activations = activations
        .chain(["x*tanh(softplus(x))", "where(x > 0, x, 0.2*sin(x))"].map(|text| Activation::parse(text).unwrap()));
    let losses_of_numbers = loss::ALL
        .iter()
        .filter(|record| record.target == Target::NUMBERS && matches!(record.rule, Rule::Pointwise { .. }));
    let all_losses = losses_of_numbers.map(|built_in| Loss::of_record(built_in));
    let all_losses =
        all_losses.chain(["log(cosh(p - y))", "d = p - y; d*d/(1 + abs(d))"].map(|text| Loss::parse(text).unwrap()));
    let optimizers = optim::ALL.iter().map(|method| Optimizer::new(method).with_weight_decay(0.01));
    let mut runs: Vec<(String, Activation, TrainerConfig)> = Vec::new();
    runs.extend(activations.map(|function| (format!("{function:?}"), function, settings())));
    runs.extend(
        all_losses.map(|loss| (loss.text().to_owned(), Activation::tanh(), TrainerConfig { loss, ..settings() })),
    );
    runs.extend(optimizers.map(|optimizer| {
        (optimizer.name().to_owned(), Activation::tanh(), TrainerConfig { optimizer, lr: 1e-4, ..settings() })
    }));
    let mut failures = Vec::new();
    let all = devices(&[1, 2]);
    for (name, function, settings) in runs {
        let step = |step| TrainerConfig { step: Some(step), ..settings.clone() };
        let expected = losses(&all[0], &function, step(StepKind::Recorded))?;
        // The kernels' cases run every built-in on a GPU; compiling a step for each again would take minutes.
        let is_formula = name.contains(['(', ' ']);
        for device in all.iter().filter(|device| is_formula || device.info().device == "cpu") {
            let got = losses(device, &function, step(StepKind::Fused))?;
            failures.extend(apart(&format!("{name} on {}", device.info().device), &got, &expected));
        }
    }
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
    Ok(())
}

#[test]
fn a_formula_has_its_value_and_slope() -> Result<()> {
    let device = Device::cpu(1);
    let by = |loss| losses(&device, &Activation::tanh(), TrainerConfig { loss, ..settings() });
    let (built_in, formula) = (by(Loss::mse())?, by(Loss::parse("(p - y)^2")?)?);
    assert_eq!(apart("(p - y)^2", &formula, &built_in), None);
    // ln cosh 0.5 and its derivative tanh 0.5.
    let program = parse("log(cosh(p - y))", &["p", "y"], &[])?.with_gradient(&[0, 1]);
    let got = program.at(&[1.25, 0.75]);
    let expected = [0.120_114_506_958_277_52, 0.462_117_157_260_009_75, -0.462_117_157_260_009_75];
    assert!(got.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-15), "{got:?}");
    Ok(())
}

#[test]
fn closures_and_text_are_the_same_formula() {
    let mish = Activation::of(|x| x * tanh(softplus(x)));
    assert_eq!(mish, Activation::parse("x*tanh(softplus(x))").unwrap());
    assert_eq!(Loss::of(|p, y| ln(cosh(p - y))).text(), "ln(cosh(p - y))");
    assert_eq!(
        parse(mish.text(), &["x"], &[]).unwrap().latex(&["x"]),
        "x \\, \\tanh\\left(\\operatorname{softplus}\\left(x\\right)\\right)"
    );
}

#[test]
fn a_saved_model_and_a_checkpoint_keep_their_formulas() -> Result<()> {
    let function = Activation::parse("x*tanh(softplus(x))")?;
    let settings = TrainerConfig { loss: Loss::parse("log(cosh(p - y))")?, ..settings() };
    for device in devices(&[1]) {
        let trainer = trained(&device, &function, settings.clone())?;
        let parameters = block_on(trainer.parameters())?;
        let model = Model::new(trainer.spec()?.clone(), settings.loss.clone(), parameters, None);
        let again = Model::load(&model.save()?, "test")?;
        assert_eq!((&again.spec, &again.loss), (&model.spec, &model.loss));
        let outputs = |model: &Model| block_on(model.outputs(&device, &data().test.x));
        assert_eq!(outputs(&model)?, outputs(&again)?);
        let (checkpoint, _) = Checkpoint::load(&block_on(trainer.checkpoint())?.save(None)?, "test")?;
        let mut resumed = Trainer::resume(&device, data(), checkpoint)?;
        block_on(resumed.run(&mut |_| Flow::Continue))?;
        assert_eq!(block_on(resumed.parameters())?, block_on(trainer.parameters())?);
    }
    Ok(())
}

#[test]
fn errors_in_formulas_name_their_position() {
    let long = "x+".repeat(500_000);
    let deep = format!("{}x{}", "(".repeat(200), ")".repeat(200));
    let wrong: [(&str, &str); 17] = [
        ("x*tanhh(x)", "character 3: unknown function \"tanhh\": did you mean \"tanh\"?"),
        ("x*wdith", "character 3: unknown name \"wdith\": the inputs are \"x\""),
        ("tanh(x", "character 7: got the end, expected \")\""),
        ("(x + 1", "character 7: got the end, expected \")\""),
        ("tanh(x, 2)", "character 1: tanh: got 2 arguments, expected 1"),
        ("where(x > 0, x)", "character 1: where: got 2 arguments, expected 3"),
        ("x/0", "character 2: division by a constant zero"),
        ("x/(2 - 2)", "character 2: division by a constant zero"),
        ("x + log(0 - 1)", "character 5: ln of these constants is not a finite number"),
        ("x*1e999", "character 3: invalid number \"1e999\""),
        ("2 x", "character 3: got \"x\", expected an operator or the end"),
        ("x +", "character 4: got the end, expected a number, a name or \"(\""),
        ("x # 2", "character 3: got \"#\", expected an operator or the end"),
        ("1 + 1", "does not depend on x"),
        ("x, x*2", "got 2 results, expected 1"),
        (&long, "it is too long: got 1000000 characters, expected at most 10000"),
        (&deep, "nested too deeply: at most 100 levels are allowed"),
    ];
    for (text, what) in wrong {
        let error = Activation::parse(text).expect_err(what).to_string();
        assert!(error.contains(what) && error.starts_with("activation"), "{error}");
    }
    let error = Loss::parse("y*y").unwrap_err().to_string();
    assert_eq!(error, "loss: \"y*y\" does not depend on the prediction p");
    let error = Activation::parse("1e-60*x").unwrap_err().to_string();
    assert_eq!(error, "activation: formula: the constant 1e-60 is outside the range of 32-bit numbers");
    assert_eq!(
        Activation::parse("mihs").unwrap_err().to_string(),
        "activation: unknown name \"mihs\": did you mean \"mish\"?"
    );
}
