//! `mero profile`: where the time and the memory of training steps go.

mod charts;
mod findings;
mod json;
mod page;
mod text;

use std::path::PathBuf;

use pollster::block_on;

use crate::Answer;
use crate::options::contents::{PAGE, TRACE};
use crate::options::flags::{Every, Flags};
use crate::options::hardware::{Hardware, choose_geometry};
use crate::options::outputs::{Force, check_outs, write_out};
use crate::options::sizes::Sizes;
use crate::terminal::console::{say, say_json};
use crate::terminal::progress::Progress;
use findings::Findings;
use meromorph::nn::Spec;
use meromorph::profile::{Ceilings, MemoryProfile, Part, ProfileOptions, StepProfile, inside, trace};
use meromorph::train::{Data, StepKind, Trainer, TrainerConfig};
use meromorph::{Device, Result};

#[derive(clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    flags: Flags<Every<ProfileOptions>>,
    /// Show also what the device's memory holds, and look for leaks
    #[arg(long)]
    memory: bool,
    /// File for a trace of the first steps, for ui.perfetto.dev or chrome://tracing
    #[arg(long, value_name = "JSON")]
    trace: Option<PathBuf>,
    /// File for a page with charts
    #[arg(long, alias = "page", value_name = "HTML")]
    report: Option<PathBuf>,
    #[command(flatten)]
    force: Force,
    /// Print only JSON, one object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    sizes: Sizes,
    #[command(flatten)]
    hardware: Hardware,
}

/// Windows in which the recorded form of a fused step is measured, at most: only its shares matter.
const MOST_RECORDED: usize = 3;
/// Marks in the profile of the memory after the set-up, with steps in between.
const MARKS: usize = 8;

pub(super) fn run(args: &Args) -> Answer {
    let ProfileOptions { steps, windows } = args.flags.apply(ProfileOptions::default())?;
    let table = args.sizes.file().map(|file| ("table", file.as_path()));
    let outs = [("trace", args.trace.as_deref(), Some(&TRACE)), ("page", args.report.as_deref(), Some(&PAGE))];
    check_outs(&outs, table.as_slice(), args.force.force)?;
    args.hardware.check()?;
    let ((data, spec, settings), loading) = args.sizes.timed(wave)?;
    let device = args.hardware.open_timed()?;
    let memory = args.memory.then(|| MemoryProfile::of(&device));
    let recorded = (spec.clone(), TrainerConfig { step: Some(StepKind::Recorded), ..settings.clone() }, data.clone());
    let mut trainer = Trainer::new(&device, spec, settings, data)?;
    choose_geometry(&mut trainer, &args.hardware)?;
    trainer.prepare()?;
    if let Some(memory) = &memory {
        marked(memory, &mut trainer)?;
    }
    let profile = profiled(&mut trainer, steps, windows)?;
    // Measuring the device takes memory that a step does not.
    if let Some(memory) = &memory {
        memory.end();
    }
    let ceilings = measured(&device)?;
    let parts = if trainer.step_kind() == StepKind::Fused {
        parts(&device, &profile, recorded, windows.min(MOST_RECORDED))?
    } else {
        Vec::new()
    };
    let findings = Findings { trainer: &trainer, profile, ceilings, memory, parts, loading };
    if let Some(out) = &args.trace {
        let info = device.info();
        let trace = trace(&findings.profile, &format!("{} ({})", info.device, info.name));
        write_out(out, &TRACE, format!("{trace}\n").as_bytes(), args.force.force)?;
    }
    if let Some(out) = &args.report {
        write_out(out, &PAGE, page::page(&findings).html().as_bytes(), args.force.force)?;
    }
    print(&findings, args.json);
    Ok(())
}

/// Measures the steps of another command's run and prints the same tables. Its device has to be one whose plans are timed.
pub(crate) fn show(trainer: &mut Trainer, is_json: bool) -> Answer {
    let ProfileOptions { steps, windows } = ProfileOptions::default();
    let profile = profiled(trainer, steps, windows)?;
    let ceilings = measured(trainer.device())?;
    print(&Findings { trainer, profile, ceilings, memory: None, parts: Vec::new(), loading: None }, is_json);
    Ok(())
}

fn print(findings: &Findings<'_>, is_json: bool) {
    if is_json {
        say_json(&json::report(findings));
    } else {
        say(&text::report(findings));
    }
}

fn profiled(trainer: &mut Trainer, steps: Option<usize>, windows: usize) -> Result<StepProfile> {
    let _progress = Progress::open("measuring steps");
    block_on(StepProfile::of(trainer, steps, windows))
}

/// What the fused launch does inside, by the shares of the recorded step of the same training.
fn parts(
    device: &Device,
    fused: &StepProfile,
    (spec, settings, data): (Spec, TrainerConfig, Data),
    windows: usize,
) -> Result<Vec<Part>> {
    let mut trainer = Trainer::new(device, spec, settings, data)?;
    trainer.prepare()?;
    let recorded = profiled(&mut trainer, Some(fused.steps), windows)?;
    Ok(inside(fused, &recorded))
}

/// Rows without a table: values between -1 and 1 that do not repeat soon.
fn wave(at: usize) -> f32 {
    (at as f32 * 0.7).sin()
}

/// Runs steps, and marks the memory before, after the set-up and in between.
fn marked(memory: &MemoryProfile, trainer: &mut Trainer) -> Result<()> {
    memory.mark("set up");
    for mark in 1..=MARKS {
        trainer.advance(1)?;
        block_on(trainer.batch_losses())?;
        memory.mark(format!("step {mark}"));
    }
    Ok(())
}

fn measured(device: &Device) -> Result<Ceilings> {
    let _progress = Progress::open("measuring the device");
    block_on(Ceilings::measure(device))
}
