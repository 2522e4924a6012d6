//! `mero plan --recommend`: the device and the batch for data of a size. Some steps of the network are timed on each device of this machine; memory is
//! counted on the dry device. Ends with the command to copy.

use pollster::block_on;
use serde_json::json;

use crate::Answer;
use crate::options::sizes::Sizes;
use crate::terminal::console::{say, say_json};
use crate::terminal::progress::Progress;
use meromorph::device::{AUTO, Request};
use meromorph::internal::host;
use meromorph::nn::{Layer, Spec};
use meromorph::report::{Table, bytes, count, counted, duration, facts};
use meromorph::train::{Data, Trainer, TrainerConfig};
use meromorph::{Device, Result};

/// Factors of the default batch that are timed.
const FACTORS: [usize; 4] = [1, 2, 4, 8];
/// A larger batch makes fewer updates from an epoch: it has to leave so many, and be faster by this factor.
const LEAST_STEPS: usize = 200;
const WORTH: f64 = 1.25;
/// Steps before a measurement, and how long it takes at least.
const WARM_UP: usize = 3;
const WINDOW_MS: f64 = 150.0;
/// Windows of a measurement; the median counts.
const WINDOWS: usize = 3;
/// Steps in a measurement, at most.
const MOST_STEPS: usize = 4096;

/// A device and a batch, measured.
#[derive(Clone, Debug, PartialEq)]
struct Choice {
    device: String,
    batch: usize,
    steps_per_epoch: usize,
    step_ms: f64,
    peak_bytes: u64,
}

impl Choice {
    fn epoch_ms(&self) -> f64 {
        self.step_ms * self.steps_per_epoch as f64
    }
}

pub(super) fn run(sizes: &Sizes, is_json: bool) -> Answer {
    // Steps of rows that are all alike would overflow or stop early.
    let (data, spec, settings) = sizes.run(|at| (at as f32 * 0.7).sin())?;
    let rows = data.train.x.len() / data.inputs.max(1);
    let choices = measured(&data, &spec, &settings)?;
    let best = best(&choices, settings.batch);
    let command = sizes.train_command(&best.device, (best.batch != settings.batch).then_some(best.batch));
    let hidden = widths(&spec);
    if is_json {
        for choice in &choices {
            say_json(&json!({
                "event": "choice", "device": choice.device, "batch": choice.batch, "step_ms": choice.step_ms,
                "steps_per_epoch": choice.steps_per_epoch, "epoch_ms": choice.epoch_ms(), "peak_bytes": choice.peak_bytes,
                "is_chosen": choice == best,
            }));
        }
        say_json(&json!({
            "event": "report", "rows": rows, "inputs": data.inputs, "device": best.device, "batch": best.batch, "hidden": hidden,
            "epochs": settings.epochs, "epoch_ms": best.epoch_ms(), "most_ms": best.epoch_ms() * settings.epochs as f64,
            "peak_bytes": best.peak_bytes, "command": command,
        }));
        return Ok(());
    }
    let line = |choice: &Choice| {
        let mark = if choice == best { "✓" } else { "" };
        [
            choice.device.clone(),
            count(choice.batch as u64),
            duration(choice.step_ms / 1e3),
            duration(choice.epoch_ms() / 1e3),
            bytes(choice.peak_bytes),
            mark.to_owned(),
        ]
    };
    let header = ["device", "batch", "a step", "an epoch", "memory", "recommended"];
    say(&format!("{}\n", Table::new(header).rows(choices.iter().map(line)).text()));
    let hidden: Vec<String> = hidden.iter().map(usize::to_string).collect();
    let epochs = settings.epochs;
    say(&facts(&[
        ("data", format!("{} for training, {}", counted(rows, "row"), counted(data.inputs, "input"))),
        ("hidden", hidden.join(",")),
        ("batch", why(best, settings.batch)),
        (
            "time",
            format!(
                "{} for an epoch, at most {} for {}; training stops earlier once validation no longer improves",
                duration(best.epoch_ms() / 1e3),
                duration(best.epoch_ms() * epochs as f64 / 1e3),
                counted(epochs, "epoch")
            ),
        ),
        ("memory", format!("{} on the device, and the table", bytes(best.peak_bytes))),
        ("command", command),
    ]));
    Ok(())
}

fn why(best: &Choice, default: usize) -> String {
    if best.batch == default {
        return format!("{default}, the default for data of this size");
    }
    format!(
        "{}, as an epoch is at least {WORTH} times as fast as with the default of {default}, and still has {}",
        best.batch,
        counted(best.steps_per_epoch, "update")
    )
}

/// The fastest device with the default batch, and of its larger batches the fastest that is worth it.
fn best(choices: &[Choice], default: usize) -> &Choice {
    let faster = |a: &&Choice, b: &&Choice| a.epoch_ms().total_cmp(&b.epoch_ms());
    let plain = choices.iter().filter(|choice| choice.batch == default).min_by(faster).unwrap_or(&choices[0]);
    let larger = choices.iter().filter(|choice| {
        choice.device == plain.device
            && choice.steps_per_epoch >= LEAST_STEPS
            && choice.epoch_ms() * WORTH <= plain.epoch_ms()
    });
    larger.min_by(faster).unwrap_or(plain)
}

fn measured(data: &Data, spec: &Spec, settings: &TrainerConfig) -> Result<Vec<Choice>> {
    let open = |name: &str| block_on(Device::open(&Request { device: name.into(), ..Request::default() }));
    let cpu = open("cpu")?;
    // A machine without a GPU has the CPU twice.
    let gpu = open(AUTO).ok().filter(|device| !device.info().runs_cpu_path());
    let devices: Vec<Device> = [cpu].into_iter().chain(gpu).collect();
    let rows = data.train.x.len() / data.inputs.max(1);
    let batches: Vec<usize> = FACTORS.iter().map(|factor| factor * settings.batch).collect();
    let batches = batches.into_iter().filter(|batch| *batch <= rows.max(settings.batch));
    let batches: Vec<usize> = batches.collect();
    let progress = Progress::of((devices.len() * batches.len()) as u64, "measuring steps");
    let mut choices = Vec::new();
    for device in &devices {
        for &batch in &batches {
            let config = TrainerConfig { batch, ..settings.clone() };
            choices.push(choice(device, (data, spec, config))?);
            progress.step();
        }
    }
    progress.finish();
    Ok(choices)
}

fn choice(device: &Device, (data, spec, config): (&Data, &Spec, TrainerConfig)) -> Result<Choice> {
    let dry = Device::dry();
    let mut counted = Trainer::new(&dry, spec.clone(), config.clone(), data.clone())?;
    counted.prepare()?;
    let batch = config.batch;
    let mut trainer = Trainer::new(device, spec.clone(), config, data.clone())?;
    let mut timed = |steps: usize| -> Result<f64> {
        let start = host::now_ms();
        trainer.advance(steps)?;
        block_on(trainer.batch_losses())?;
        Ok(host::now_ms() - start)
    };
    timed(WARM_UP)?;
    let mut steps = WARM_UP;
    while timed(steps)? < WINDOW_MS && steps < MOST_STEPS {
        steps *= 2;
    }
    let mut windows = (0..WINDOWS).map(|_| timed(steps)).collect::<Result<Vec<f64>>>()?;
    windows.sort_by(f64::total_cmp);
    Ok(Choice {
        device: device.info().device.to_owned(),
        batch,
        steps_per_epoch: trainer.steps_per_epoch(),
        step_ms: windows[WINDOWS / 2] / steps as f64,
        peak_bytes: dry.counters().peak_bytes,
    })
}

/// Outputs of the linear layers before the last layer.
fn widths(spec: &Spec) -> Vec<usize> {
    let (_, before) = spec.layers.split_last().unwrap_or((&spec.layers[0], &[]));
    let width = |layer: &Layer| if let Layer::Linear(linear) = layer { Some(linear.outputs) } else { None };
    before.iter().filter_map(width).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_larger_batch_has_to_be_worth_it() {
        let choice = |device: &str, batch: usize, steps_per_epoch, step_ms| Choice {
            device: device.into(),
            batch,
            steps_per_epoch,
            step_ms,
            peak_bytes: 0,
        };
        // An epoch takes 400, 360, 300 and 50 ms: the second is not much faster, the fourth leaves too few updates.
        let cpu = [
            choice("cpu", 256, 1600, 0.25),
            choice("cpu", 512, 800, 0.45),
            choice("cpu", 1024, 400, 0.75),
            choice("cpu", 4096, 100, 0.5),
        ];
        assert_eq!(best(&cpu, 256).batch, 1024);
        assert_eq!(best(&cpu[..2], 256).batch, 256);
        let gpu = [choice("webgpu", 256, 1600, 0.1), choice("webgpu", 1024, 400, 0.39)];
        let all: Vec<Choice> = cpu.iter().chain(&gpu).cloned().collect();
        assert_eq!((best(&all, 256).device.as_str(), best(&all, 256).batch), ("webgpu", 256));
    }

    #[test]
    fn widths_are_those_between_inputs_and_outputs() {
        let spec = Spec::mlp(5, &[64, 32], 1, meromorph::nn::Activation::silu());
        assert_eq!(widths(&spec), [64, 32]);
    }
}
