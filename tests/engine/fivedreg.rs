//! The 5-input interpolator compared with its oracle: from the same initial weights and batch order (reference generators, here in test
//! code only) gradients, parameters and curves agree; results are within the bands of the published table. Golden values: `data/fivedreg.json`,
//! made once in float64 by an independent implementation.

use std::f64::consts::PI;

use meromorph::nn::{Activation, Layout, Spec};
use meromorph::train::{Data, Examples, Flow, Trainer, TrainerConfig};
use meromorph::{Device, Result};
use pollster::block_on;
use serde_json::Value;

/// MT19937 (Matsumoto and Nishimura 1998), classic seeding.
struct Twister {
    state: [u32; 624],
    at: usize,
}

impl Twister {
    fn new(seed: u32) -> Self {
        let mut state = [seed; 624];
        for i in 1..624 {
            let last = state[i - 1];
            state[i] = 1_812_433_253_u32.wrapping_mul(last ^ (last >> 30)).wrapping_add(i as u32);
        }
        Self { state, at: 624 }
    }

    fn word(&mut self) -> u32 {
        if self.at == 624 {
            for i in 0..624 {
                let y = (self.state[i] & 0x8000_0000) | (self.state[(i + 1) % 624] & 0x7fff_ffff);
                let twist = if y & 1 == 1 { 0x9908_b0df } else { 0 };
                self.state[i] = self.state[(i + 397) % 624] ^ (y >> 1) ^ twist;
            }
            self.at = 0;
        }
        let mut y = self.state[self.at];
        self.at += 1;
        y ^= y >> 11;
        y ^= (y << 7) & 0x9d2c_5680;
        y ^= (y << 15) & 0xefc6_0000;
        y ^ (y >> 18)
    }

    fn unit(&mut self) -> f64 {
        let (a, b) = (f64::from(self.word() >> 5), f64::from(self.word() >> 6));
        (a * 67_108_864.0 + b) / 9_007_199_254_740_992.0
    }

    /// Normals by the polar method: the second of a pair is returned first.
    fn normals(&mut self, count: usize) -> Vec<f64> {
        let mut out = Vec::with_capacity(count + 1);
        while out.len() < count {
            let (p, q) = (2.0 * self.unit() - 1.0, 2.0 * self.unit() - 1.0);
            let s = p * p + q * q;
            if s > 0.0 && s < 1.0 {
                let f = (-2.0 * s.ln() / s).sqrt();
                out.extend([f * q, f * p]);
            }
        }
        out.truncate(count);
        out
    }

    fn permutation(&mut self, count: usize) -> Vec<u32> {
        let mut order: Vec<u32> = (0..count as u32).collect();
        for i in 0..count.saturating_sub(1) {
            order.swap(i, i + self.word() as usize % (count - i));
        }
        order
    }

    fn long(&mut self) -> u64 {
        let (high, low) = (u64::from(self.word()), u64::from(self.word()));
        ((high << 32) | low) & 0x7fff_ffff_ffff_ffff
    }

    /// Flat initial parameters in a layout: U(-1/√inputs, 1/√inputs), 24 bits each, one fused multiply-add.
    fn parameters(&mut self, layout: &Layout) -> Vec<f32> {
        let mut flat = vec![0.0; layout.total];
        for parameter in &layout.parameters {
            let high = (1.0 / (parameter.fan.0 as f64).sqrt()) as f32;
            for value in &mut flat[parameter.offset..parameter.offset + parameter.shape.len()] {
                let unit = (self.word() & 0xff_ffff) as f32 / 16_777_216.0;
                *value = unit.mul_add(high - -high, -high);
            }
        }
        flat
    }
}

fn golden() -> Value {
    serde_json::from_str(include_str!("../data/fivedreg.json")).expect("the golden values are JSON")
}

fn numbers(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(items) => items.iter().flat_map(numbers).collect(),
        other => vec![other.as_f64().expect("a number")],
    }
}

/// Rows of a synthetic target.
struct Rows {
    x: Vec<f32>,
    y: Vec<f32>,
}

/// y = 2 x0 + 0.5 x1 - 1.5 x2 + 0.8 x3 - 0.3 x4 + 0.1 ε, everything normal.
fn linear(count: usize, seed: u32) -> Rows {
    let mut normals = Twister::new(seed).normals(6 * count).into_iter();
    let x: Vec<f32> = normals.by_ref().take(5 * count).map(|value| value as f32).collect();
    let signal = |x: &[f32]| 2.0 * x[0] + 0.5 * x[1] - 1.5 * x[2] + 0.8 * x[3] - 0.3 * x[4];
    let y = x.chunks_exact(5).zip(normals).map(|(x, noise)| (f64::from(signal(x)) + 0.1 * noise) as f32).collect();
    Rows { x, y }
}

/// y = sin 2πx0 + x1²/2 - 0.3 x2 + cos πx3x4 on [-1, 1], no noise.
fn wave(count: usize, seed: u32) -> Rows {
    let mut source = Twister::new(seed);
    let x: Vec<f32> = (0..5 * count).map(|_| (2.0 * source.unit() - 1.0) as f32).collect();
    let target = |x: &[f32]| {
        let x: Vec<f64> = x.iter().map(|&v| f64::from(v)).collect();
        ((2.0 * PI * x[0]).sin() + 0.5 * x[1] * x[1] - 0.3 * x[2] + (PI * x[3] * x[4]).cos()) as f32
    };
    let y = x.chunks_exact(5).map(target).collect();
    Rows { x, y }
}

/// Mean and population deviation (plus 1e-8) of every `width`-th value from `column`.
fn scale(values: &[f32], width: usize, column: usize) -> (f64, f64) {
    let column: Vec<f64> = values.iter().skip(column).step_by(width).map(|&v| f64::from(v)).collect();
    let count = column.len() as f64;
    let mean = column.iter().sum::<f64>() / count;
    let variance = column.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / count;
    (mean, variance.sqrt() + 1e-8)
}

/// The reference's preparation: scaled over the whole data, split 70/15/15 by the permutation of seed 123.
fn prepare(rows: &Rows) -> Data {
    let count = rows.y.len();
    let part = (count as f64 * 0.15) as usize;
    let scales: Vec<_> = (0..5).map(|column| scale(&rows.x, 5, column)).collect();
    let (mean, deviation) = scale(&rows.y, 1, 0);
    let order = Twister::new(123).permutation(count);
    let take = |range: std::ops::Range<usize>| {
        let mut examples = Examples::default();
        for &row in &order[range] {
            let row = row as usize;
            let x = rows.x[5 * row..5 * row + 5].iter().zip(&scales);
            examples.x.extend(x.map(|(&v, (mean, deviation))| ((f64::from(v) - mean) / deviation) as f32));
            examples.y.push(((f64::from(rows.y[row]) - mean) / deviation) as f32);
        }
        examples
    };
    let train = count - 2 * part;
    let (train, validation, test) = (take(0..train), take(train..train + part), take(train + part..count));
    Data { inputs: 5, targets: 1, train, validation, test }
}

/// A trainer that starts from the reference's weights and visits its batches.
fn reference_trainer(device: &Device, data: Data, settings: TrainerConfig, seed: u32) -> Result<Trainer> {
    let spec = Spec::mlp(5, &[64, 64, 64], 1, Activation::silu());
    let mut source = Twister::new(seed);
    let parameters = source.parameters(&Layout::of(&spec));
    let rows = data.train.y.len();
    let seeds: Vec<u32> = (0..settings.epochs)
        .map(|_| {
            source.long();
            let seed = source.long() as u32;
            source.long();
            seed
        })
        .collect();
    let mut trainer = Trainer::with_parameters(device, spec, settings, data, &parameters)?;
    trainer.shuffle_with(move |epoch| Twister::new(seeds[epoch]).permutation(rows));
    Ok(trainer)
}

#[test]
fn the_generators_equal_the_reference() {
    let golden = &golden()["golden"];
    let mut source = Twister::new(123);
    let raw: Vec<f64> = (0..6).map(|_| f64::from(source.word())).collect();
    assert_eq!(raw, numbers(&golden["mt19937_seed_123_raw"]));
    let normals = Twister::new(42).normals(10);
    assert!(normals.iter().zip(numbers(&golden["randn_seed_42"])).all(|(a, b)| (a - b).abs() < 1e-14));
    let rows = linear(1000, 42);
    let first: Vec<f64> = rows.x[..10].iter().map(|&v| f64::from(v)).collect();
    assert_eq!(first, numbers(&golden["linear_1000_seed_42"]["x_rows_0_1"]));
    let first: Vec<f64> = rows.y[..5].iter().map(|&v| f64::from(v)).collect();
    assert_eq!(first, numbers(&golden["linear_1000_seed_42"]["y_0_4"]));
    let order: Vec<f64> = Twister::new(123).permutation(1000)[..6].iter().map(|&v| f64::from(v)).collect();
    assert_eq!(order, numbers(&golden["split_1000_seed_123"]["train_head"]));
    let layout = Layout::of(&Spec::mlp(5, &[64, 64, 64], 1, Activation::silu()));
    assert_eq!(layout.count(), 8769);
    let mut source = Twister::new(7);
    let flat = source.parameters(&layout);
    let first: Vec<f64> = flat[..5].iter().map(|&v| f64::from(v)).collect();
    assert_eq!(first, numbers(&golden["init_seed_7_dims_5_64_64_64_1"]["w0_row0"]));
    assert_eq!(source.long().to_string(), golden["init_seed_7_dims_5_64_64_64_1"]["next_u63"]);
}

/// W and b of each layer in the flat layout.
fn flat(layout: &Layout, layers: &Value) -> Vec<f64> {
    let tensors = layers.as_array().expect("layers").iter().flat_map(|layer| layer.as_array().expect("W and b"));
    let mut flat = vec![0.0; layout.total];
    for (parameter, values) in layout.parameters.iter().zip(tensors) {
        let values = numbers(values);
        flat[parameter.offset..parameter.offset + values.len()].copy_from_slice(&values);
    }
    flat
}

/// The largest difference over the largest value.
fn off(got: &[f32], expected: &[f64]) -> f64 {
    let top = expected.iter().fold(0.0, |top: f64, v| top.max(v.abs()));
    got.iter().zip(expected).map(|(&a, b)| (f64::from(a) - b).abs()).fold(0.0, f64::max) / top
}

#[test]
fn gradients_and_updates_match_the_oracle() -> Result<()> {
    let golden = golden();
    let spec = Spec::mlp(5, &[8, 8, 8], 1, Activation::silu());
    let layout = Layout::of(&spec);
    let floats = |key: &str| numbers(&golden[key]).iter().map(|&v| v as f32).collect::<Vec<_>>();
    let train = Examples { x: floats("x"), y: floats("y") };
    let data = Data { inputs: 5, targets: 1, train, ..Data::default() };
    let parameters: Vec<f32> = flat(&layout, &golden["params_0"]).iter().map(|&v| v as f32).collect();
    for step in [meromorph::train::StepKind::Fused, meromorph::train::StepKind::Recorded] {
        let schedule = meromorph::optim::Schedule::CONSTANT;
        let settings = TrainerConfig { batch: 16, schedule, step: Some(step), ..TrainerConfig::default() };
        let mut trainer =
            Trainer::with_parameters(&Device::cpu(2), spec.clone(), settings.clone(), data.clone(), &parameters)?;
        trainer.advance(1)?;
        // After one step the first moment is a tenth of the gradient.
        let moments = block_on(trainer.checkpoint())?.moments;
        let gradient: Vec<f32> = moments[..layout.total].iter().map(|m| m / 0.1).collect();
        let error = off(&gradient, &flat(&layout, &golden["grads_1"]));
        assert!(error < 1e-5, "{step:?}: gradients off by {error:.1e}");
        // An epoch is one step here.
        let settings = TrainerConfig { epochs: 5, patience: 0, ..settings };
        let mut trainer = Trainer::with_parameters(&Device::cpu(2), spec.clone(), settings, data.clone(), &parameters)?;
        block_on(trainer.run(&mut |_| Flow::Continue))?;
        let losses: Vec<f32> = trainer.history().iter().map(|epoch| epoch.train_loss as f32).collect();
        let error = off(&losses, &numbers(&golden["losses"]));
        assert!(error < 1e-6, "{step:?}: losses off by {error:.1e}");
        let last = block_on(trainer.parameters())?;
        let error = off(&last, &flat(&layout, &golden["params_last"]));
        assert!(error < 1e-5, "{step:?}: parameters off by {error:.1e}");
    }
    Ok(())
}

#[test]
fn the_validation_curve_follows_the_reference_for_twenty_epochs() -> Result<()> {
    // Twenty epochs of a cosine that would last two hundred.
    let settings = TrainerConfig { epochs: 200, patience: 0, ..TrainerConfig::default() };
    let mut trainer = reference_trainer(&Device::cpu(2), prepare(&linear(10_000, 42)), settings, 0)?;
    block_on(trainer.run(&mut |event| match event {
        meromorph::train::Event::Epoch(report) if report.epoch == 19 => Flow::Stop,
        _ => Flow::Continue,
    }))?;
    let expected = numbers(&golden()["val_curve"]);
    for (report, expected) in trainer.history().iter().zip(&expected) {
        let got = report.val_loss.expect("there are validation rows");
        assert!((got / expected - 1.0).abs() < 0.01, "epoch {}: {got} instead of {expected}", report.epoch);
    }
    assert_eq!(trainer.history().len(), expected.len());
    Ok(())
}

#[test]
fn the_published_table_is_reproduced() -> Result<()> {
    // Bands over ten seeds of the reference: validation, then test mean squared error in scaled units.
    let bands = [
        (1_000, 0.001_502..=0.001_633, 0.001_328..=0.001_587),
        (5_000, 0.001_383..=0.001_422, 0.001_313..=0.001_401),
        (10_000, 0.001_391..=0.001_437, 0.001_406..=0.001_439),
    ];
    let mut failures = Vec::new();
    for (rows, validation_band, test_band) in bands {
        let mut trainer = reference_trainer(&Device::cpu(2), prepare(&linear(rows, 42)), TrainerConfig::default(), 0)?;
        block_on(trainer.run(&mut |_| Flow::Continue))?;
        let (validation, test) = block_on(trainer.metrics(1.0))?;
        let [validation, test] = [validation, test].map(|metrics| metrics.mse.expect("a regression"));
        if !validation_band.contains(&validation) || !test_band.contains(&test) {
            failures.push(format!("{rows} rows: validation {validation}, test {test}"));
        }
    }
    assert!(failures.is_empty(), "{failures:?}");
    Ok(())
}

#[test]
fn a_wave_is_interpolated() -> Result<()> {
    let settings = TrainerConfig { lr: 5e-3, patience: 20, ..TrainerConfig::default() };
    let spec = Spec::mlp(5, &[64, 64, 64], 1, Activation::silu());
    let mut trainer = Trainer::new(&Device::cpu(2), spec, settings, prepare(&wave(5_000, 123)))?;
    block_on(trainer.run(&mut |_| Flow::Continue))?;
    let (_, test) = block_on(trainer.metrics(1.0))?;
    assert!(test.r2.is_some_and(|r2| r2 >= 0.999), "{test:?}");
    Ok(())
}
