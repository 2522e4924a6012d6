//! Optimisers whose update takes several launches: their trajectories are those of torch, and they train with everything else that updates know.

use crate::devices::devices;
use crate::noise::noise;
use crate::rows::rows;
use meromorph::model::{Initial, Network};
use meromorph::nn::{Activation, Layout, Spec};
use meromorph::optim::{Method, Motion, Optimizer, Schedule};
use meromorph::program::constants::Constant;
use meromorph::run::TrainOptions;
use meromorph::train::{
    Checkpoint, Clip, Data, Examples, Flow, GradientConfig, Half, MixedPrecision, ParameterGroup, StepKind, Trainer,
    TrainerConfig,
};
use meromorph::{Device, Result, ops};
use pollster::block_on;

const KINDS: [StepKind; 2] = [StepKind::Fused, StepKind::Recorded];
const NAMES: [&str; 3] = ["muon", "adafactor", "novograd"];

fn optimizer(name: &str, constants: &[(&str, f32)]) -> Optimizer {
    let set = |optimizer: Optimizer, &(name, value): &(&str, f32)| optimizer.with(name, value).expect("a constant");
    constants.iter().fold(Optimizer::parse(name).expect("an optimizer"), set)
}

/// A name in `torch_optimizers.txt`, the optimiser, its constants and learning rate.
type Known = (&'static str, &'static str, &'static [(&'static str, f32)], f64);

const TORCH: [Known; 4] = [
    ("muon", "muon", &[], 0.002),
    ("muon-rms", "muon", &[("nesterov", 0.0), ("match_rms", 1.0), ("weight_decay", 0.0)], 0.002),
    ("adafactor", "adafactor", &[], 0.01),
    (
        "adafactor-decay",
        "adafactor",
        &[("beta2_decay", -0.6), ("least_rms", 0.02), ("largest_rms", 1.1), ("weight_decay", 0.05)],
        0.01,
    ),
];

/// sin(first), sin(first + 1), … rounded to f32, as in `torch_optimizers.py`.
fn sines(count: usize, first: usize) -> Vec<f32> {
    (first..first + count).map(|at| (at as f64).sin() as f32).collect()
}

/// Parameters in order, without padding, after so many updates.
fn known(name: &str, steps: usize) -> Vec<f64> {
    let text = include_str!("../data/torch_optimizers.txt");
    let start = format!("{name} {steps} ");
    let line = text.lines().find_map(|line| line.strip_prefix(start.as_str())).expect("a line of that name");
    line.split(' ').map(|value| value.parse().expect("a number")).collect()
}

#[test]
fn trajectories_are_those_of_torch() -> Result<()> {
    let spec = Spec::mlp(3, &[4, 3], 1, Activation::tanh());
    let layout = Layout::of(&spec);
    let mut flat = vec![0.0; layout.total];
    let mut first = 1;
    for parameter in &layout.parameters {
        let count = parameter.shape.len();
        let values = sines(count, first).into_iter().map(|value| value / 2.0);
        flat[parameter.offset..][..count].iter_mut().zip(values).for_each(|(p, value)| *p = value);
        first += count;
    }
    let data =
        Data { inputs: 3, targets: 1, train: Examples { x: sines(24, 100), y: sines(8, 200) }, ..Data::default() };
    for device in devices(&[1, 2]) {
        for kind in KINDS {
            for (name, method, constants, lr) in TORCH {
                let config = TrainerConfig {
                    optimizer: optimizer(method, constants),
                    schedule: Schedule::CONSTANT,
                    lr,
                    batch: 8,
                    step: Some(kind),
                    epochs: 101,
                    patience: 0,
                    ..TrainerConfig::default()
                };
                let mut trainer = Trainer::with_parameters(&device, spec.clone(), config, data.clone(), &flat)?;
                trainer.shuffle_with(|_| (0..8).collect());
                for (more, steps, most) in [(10, 10, 1e-6), (90, 100, 1e-4)] {
                    // An epoch is one step, and every epoch has rates of its own.
                    for _ in 0..more {
                        block_on(trainer.epoch(&mut |_| Flow::Continue))?;
                    }
                    let got = block_on(trainer.parameters())?;
                    let got = layout.parameters.iter().flat_map(|parameter| layout.slice(parameter, &got));
                    let apart = got.zip(known(name, steps)).map(|(got, wanted)| (f64::from(*got) - wanted).abs());
                    let worst = apart.fold(0.0, f64::max);
                    assert!(worst < most, "{name} {kind:?} on {}, {steps} steps: {worst:e}", device.info().device);
                }
            }
        }
    }
    Ok(())
}

/// Σ over rows of (p - y)²/rows has the gradient 2 (p - mean y) by each entry of p, whatever x is.
#[test]
fn novograd_follows_its_paper() -> Result<()> {
    let (rows, x) = (4, vec![1.0; 4]);
    let y = [1.0_f32, -2.0, 0.5, 3.0, 2.0, -1.0, 1.5, 1.0, 0.0, 0.0, 1.0, 2.0];
    let mean = |output: usize| y.iter().skip(output).step_by(3).map(|y| f64::from(*y)).sum::<f64>() / rows as f64;
    let (lr, beta1, beta2, decay) = (0.05, 0.9, 0.8, 0.1);
    let (mut p, mut m, mut v) = ([[0.5, -1.0, 2.0], [0.0; 3]], [[0.0; 3]; 2], [0.0; 2]);
    for _ in 0..20 {
        let outputs: [f64; 3] = std::array::from_fn(|at| p[0][at] + p[1][at]);
        let g: [f64; 3] = std::array::from_fn(|at| 2.0 * (outputs[at] - mean(at)) / 3.0);
        for tensor in 0..2 {
            let square = g.iter().map(|g| g * g).sum::<f64>();
            v[tensor] = if v[tensor] == 0.0 { square } else { beta2 * v[tensor] + (1.0 - beta2) * square };
            for at in 0..3 {
                m[tensor][at] = beta1 * m[tensor][at] + g[at] / (v[tensor].sqrt() + 1e-8);
                p[tensor][at] = p[tensor][at] * (1.0 - lr * decay) - lr * m[tensor][at];
            }
        }
    }
    let data = Data { inputs: 1, targets: 3, train: Examples { x, y: y.to_vec() }, ..Data::default() };
    let parameters = [("weight", Initial::values([1, 3], [0.5, -1.0, 2.0])), ("bias", Initial::zeros([3]))];
    let constants = [("beta1", beta1 as f32), ("beta2", beta2 as f32), ("weight_decay", decay as f32)];
    let optimizer = optimizer("novograd", &constants);
    let config =
        TrainerConfig { optimizer, schedule: Schedule::CONSTANT, lr, batch: 4, ..settings("novograd", KINDS[1]) };
    for device in devices(&[1]) {
        let network = Network::function(1, parameters.clone(), |p, x| &ops::matmul(x, &p["weight"]) + &p["bias"]);
        let mut trainer = Trainer::new(&device, network, config.clone(), data.clone())?;
        trainer.advance(20)?;
        let flat = block_on(trainer.parameters())?;
        let got = [[flat[0], flat[1], flat[2]], [flat[64], flat[65], flat[66]]].map(|tensor| tensor.map(f64::from));
        let apart = got.iter().flatten().zip(p.iter().flatten()).map(|(got, wanted)| (got - wanted).abs());
        assert!(apart.fold(0.0, f64::max) < 1e-5, "{}: {got:?} {p:?}", device.info().device);
    }
    Ok(())
}

fn data(count: usize) -> Data {
    rows(3, [count, count / 2], |x| 2.0 * x[0] - x[1] * x[2])
}

fn spec() -> Spec {
    Spec::mlp(3, &[12, 8], 1, Activation::tanh())
}

fn settings(name: &str, kind: StepKind) -> TrainerConfig {
    TrainerConfig {
        optimizer: optimizer(name, &[]).with_weight_decay(0.01),
        schedule: Schedule::COSINE,
        lr: 0.02,
        epochs: 2,
        batch: 64,
        patience: 0,
        step: Some(kind),
        ..TrainerConfig::default()
    }
}

fn trainer(device: &Device, config: TrainerConfig, data: Data) -> Trainer {
    let mut trainer = Trainer::new(device, spec(), config, data).expect("a trainer");
    let rows = trainer.data().train.y.len() as u32;
    trainer.shuffle_with(move |_| (0..rows).collect());
    trainer
}

fn advanced(device: &Device, config: &TrainerConfig, data: Data, steps: usize) -> Vec<f32> {
    let mut trainer = trainer(device, config.clone(), data);
    trainer.advance(steps).expect("steps");
    block_on(trainer.parameters()).expect("parameters")
}

fn worst(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
}

/// Runs a body for every device, kind of step and optimiser.
fn everywhere(threads: &[usize], body: impl Fn(&Device, TrainerConfig, &str)) {
    for device in devices(threads) {
        for kind in KINDS {
            for name in NAMES {
                let place = format!("{name} {kind:?} on {}", device.info().device);
                body(&device, settings(name, kind), &place);
            }
        }
    }
}

#[test]
fn an_update_that_is_not_finite_is_left_out_as_if_it_had_never_been() {
    everywhere(&[1, 2], |device, mut config, place| {
        config.gradients.skips_overflow = true;
        config.schedule = Schedule::CONSTANT;
        let mut bad = data(192);
        bad.train.y[64..128].fill(3e38);
        let mut never = data(192);
        never.train.x.drain(64 * 3..128 * 3);
        never.train.y.drain(64..128);
        let [got, wanted] = [(bad.clone(), 3), (never, 2)].map(|(data, steps)| advanced(device, &config, data, steps));
        assert_eq!(got, wanted, "{place}");
        let mut whole = trainer(device, config, bad);
        block_on(whole.run(&mut |_| Flow::Continue)).expect("a run");
        let report = whole.history()[1].gradients.expect("a report");
        assert_eq!((report.updates, report.skipped), (2, 1), "{place}");
    });
}

#[test]
fn accumulated_steps_are_one_update_of_all_their_rows() {
    everywhere(&[1], |device, config, place| {
        let parts = TrainerConfig { accumulate: 3, ..config.clone() };
        let whole = TrainerConfig { batch: 192, ..config };
        let mut trainer = trainer(device, parts.clone(), data(192));
        let before = block_on(trainer.parameters()).expect("parameters");
        trainer.advance(2).expect("steps");
        assert_eq!(block_on(trainer.parameters()).expect("parameters"), before, "{place}: no update yet");
        let [got, wanted] = [(parts, 3), (whole, 1)].map(|(config, steps)| advanced(device, &config, data(192), steps));
        assert!(worst(&got, &before) > 1e-3, "{place}");
        assert!(worst(&got, &wanted) < 2e-5, "{place}: {:e}", worst(&got, &wanted));
    });
}

#[test]
fn a_resumed_run_goes_on_with_the_same_bits() {
    everywhere(&[1], |device, mut config, place| {
        (config.accumulate, config.gradients.clip) = (2, Some(Clip::Norm { most: 0.1 }));
        config.gradients.skips_overflow = true;
        let start = || Trainer::new(device, spec(), config.clone(), data(320)).expect("a trainer");
        let mut whole = start();
        whole.advance(5).expect("an epoch");
        let wanted = block_on(whole.parameters()).expect("parameters");
        for steps in [1, 2] {
            let mut cut = start();
            cut.advance(steps).expect("steps");
            let bytes = block_on(cut.checkpoint()).and_then(|checkpoint| checkpoint.save(None)).expect("a file");
            let (checkpoint, _) = Checkpoint::load(&bytes, "file").expect("a checkpoint");
            let mut resumed = Trainer::resume(device, data(320), checkpoint).expect("a trainer");
            resumed.advance(5 - steps).expect("steps");
            let got = block_on(resumed.parameters()).expect("parameters");
            assert!(got == wanted, "{place}, cut after {steps} steps: {:e}", worst(&got, &wanted));
        }
    });
}

#[test]
fn limits_groups_and_a_look_ahead_reach_every_parameter() {
    everywhere(&[2], |device, config, place| {
        let free = advanced(device, &config, data(192), 4);
        let changed = |change: &dyn Fn(&mut GradientConfig)| {
            let mut config = config.clone();
            change(&mut config.gradients);
            advanced(device, &config, data(192), 4)
        };
        // A limit that is never reached takes the launches of one that is.
        let most = 1e6;
        for clip in [Clip::Norm { most }, Clip::Tensor { most }] {
            let limited = changed(&|gradients| gradients.clip = Some(clip));
            assert!(worst(&limited, &free) < 2e-5, "{place} {clip:?}: {:e}", worst(&limited, &free));
        }
        assert_ne!(changed(&|gradients| gradients.clip_value = Some(1e-3)), free, "{place}");
        assert_ne!(changed(&|gradients| gradients.sharpness = Some(0.05)), free, "{place}");
        let before = advanced(device, &config, data(192), 0);
        let group = ParameterGroup { rate: 0.1, is_frozen: false, ..ParameterGroup::frozen(&["layers.2"]) };
        let groups = vec![ParameterGroup::frozen(&["layers.0.weight", "layers.4.bias"]), group];
        let grouped = changed(&|gradients| gradients.groups.clone_from(&groups));
        for parameter in &Layout::of(&spec()).parameters {
            let own = |flat: &[f32]| flat[parameter.offset..parameter.offset + parameter.shape.len()].to_vec();
            let is_frozen = ["layers.0.weight", "layers.4.bias"].contains(&parameter.name.as_str());
            assert_eq!(own(&grouped) == own(&before), is_frozen, "{place} {}", parameter.name);
            if parameter.name.starts_with("layers.2") {
                let ratio = worst(&own(&grouped), &own(&before)) / worst(&own(&free), &own(&before));
                assert!((0.02..0.3).contains(&ratio), "{place} {}: {ratio}", parameter.name);
            }
        }
    });
}

/// The loss is scaled, and its scale moves as with other optimisers; the launches of the update stay in f32.
#[test]
fn mixed_precision_trains_as_well() {
    everywhere(&[1], |device, mut config, place| {
        if config.step == Some(StepKind::Fused) {
            return;
        }
        config.epochs = 8;
        let last = |config: &TrainerConfig| {
            let mut trainer = trainer(device, config.clone(), data(512));
            block_on(trainer.run(&mut |_| Flow::Continue)).expect("a run");
            trainer.history()[7].train_loss
        };
        let whole = last(&config);
        config.precision = Some(MixedPrecision::new(Half::F16));
        let half = last(&config);
        assert!((half - whole).abs() < 0.05 * whole, "{place}: {half} {whole}");
    });
}

#[test]
fn both_kinds_of_step_and_all_devices_agree() {
    for name in NAMES {
        let mut all = Vec::new();
        for device in devices(&[1, 2]) {
            all.extend(KINDS.map(|kind| advanced(&device, &settings(name, kind), data(192), 3)));
        }
        for one in &all[1..] {
            assert!(worst(one, &all[0]) < 1e-4, "{name}: {:e}", worst(one, &all[0]));
        }
    }
}

#[test]
fn a_regression_is_learned() {
    everywhere(&[2], |device, config, place| {
        let config = TrainerConfig { epochs: 60, lr: 0.03, ..config };
        let mut trainer = trainer(device, config, data(512));
        block_on(trainer.run(&mut |_| Flow::Continue)).expect("a run");
        let losses: Vec<f64> = trainer.history().iter().filter_map(|epoch| epoch.val_loss).collect();
        let [first, last] = [losses[0], losses[losses.len() - 1]];
        assert!(last < 0.006, "{place}: {first} {last}");
    });
}

#[test]
fn no_step_allocates_or_binds_anything() {
    everywhere(&[1], |device, config, place| {
        let mut trainer = trainer(device, config, data(192));
        trainer.advance(3).expect("an epoch");
        let before = device.counters();
        trainer.advance(2).expect("steps");
        let after = device.counters();
        assert_eq!(after.live_bytes, before.live_bytes, "{place}");
        assert_eq!(after.bind_groups, before.bind_groups, "{place}");
        assert_eq!(after.readbacks, before.readbacks, "{place}");
    });
}

#[test]
fn a_function_of_parameters_trains() -> Result<()> {
    for name in NAMES {
        let parameters = [
            ("first", Initial::normal([3, 8], 0.5)),
            ("gain", Initial::constant([8], 1.0)),
            ("last", Initial::normal([8, 1], 0.5)),
        ];
        let network = Network::function(3, parameters, |p, x| {
            ops::matmul(&ops::mul(&ops::tanh(&ops::matmul(x, &p["first"])), &p["gain"]), &p["last"])
        });
        let config = TrainerConfig { epochs: 20, step: None, ..settings(name, StepKind::Recorded) };
        let mut trainer = Trainer::new(&Device::cpu(1), network, config, data(192))?;
        block_on(trainer.run(&mut |_| Flow::Continue))?;
        let losses: Vec<f64> = trainer.history().iter().map(|epoch| epoch.train_loss).collect();
        assert!(losses[19] < 0.5 * losses[0], "{name}: {losses:?}");
    }
    Ok(())
}

#[test]
fn the_state_of_a_factored_matrix_is_its_rows_and_columns() -> Result<()> {
    let spec = Spec::mlp(128, &[256], 64, Activation::tanh());
    let x = noise(16 * 128, 1);
    let data = Data { inputs: 128, targets: 64, train: Examples { x, y: noise(16 * 64, 2) }, ..Data::default() };
    let trainer = Trainer::new(&Device::cpu(1), spec, settings("adafactor", StepKind::Recorded), data)?;
    let moments = block_on(trainer.checkpoint())?.moments.len();
    // Rows and columns of both weights, two biases, and what updates remember.
    assert_eq!(moments, (256 + 128) + 256 + (64 + 256) + 64 + 64);
    Ok(())
}

/// Gradient descent as a program would define it.
static OWN: Method = Method {
    name: "own",
    doc: "p - lr g",
    constants: &[Constant::at_least_zero("weight_decay", 0.0, "Weight decay")],
    rates: |_, lr, _| [lr, 0.0, 0.0, 0.0],
    update: |state, _| [state.p - state.rates[0] * state.g, state.m, state.v, state.a],
    by_hand: None,
    motion: Motion::ByValue,
    usual_rate: 1e-2,
    has_own_decay: false,
    oracle: |state, _| [state.p - state.rates[0] * state.g, state.m, state.v, state.a],
};

#[test]
fn an_own_optimizer_trains_and_is_not_written_in_vain() {
    let config = TrainerConfig { optimizer: Optimizer::new(&OWN), ..settings("adafactor", StepKind::Fused) };
    let trainer = trainer(&Device::cpu(1), config, data(64));
    let why = "optimizer \"own\" is the program's own, which no file holds: expected one of the engine's";
    let said = block_on(trainer.checkpoint()).map(drop).expect_err("no file").to_string();
    assert_eq!(said, format!("checkpoint: {why}"));
    let options = TrainOptions { optimizer: Some(Optimizer::new(&OWN)), ..TrainOptions::default() };
    assert_eq!(options.check().expect_err("no file").to_string(), format!("train: {why}"));
}

#[test]
fn what_does_not_go_together_is_an_error() {
    let refused = |name: &str, model: Spec, change: fn(&mut TrainerConfig)| {
        let mut config = settings(name, StepKind::Recorded);
        change(&mut config);
        Trainer::new(&Device::cpu(1), model, config, data(64)).map(|_| ()).expect_err("wrong").to_string()
    };
    for name in NAMES {
        assert_eq!(
            refused(name, spec(), |config| config.gradients.mean_decay = Some(0.9)),
            format!("train: mean_decay: the optimizer {name} keeps no mean of the weights")
        );
    }
    assert_eq!(
        refused("muon", Spec::mlp(3, &[], 1, Activation::tanh()), |_| {}),
        "train: muon: got a model without hidden weight matrices (\"layers.0.weight\", \"layers.0.bias\"), expected at least one of two rows and two columns before the output layer's; use adamw"
    );
    assert_eq!(
        optimizer("muon", &[]).with("newton_schulz_steps", 2.5).unwrap_err().to_string(),
        "newton_schulz_steps: got 2.5, expected a whole number from 1 to 99"
    );
}
