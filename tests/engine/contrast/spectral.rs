//! Windows with a second distance against the reference, and against the kernel where that distance says nothing.

use super::oracle::tasks::Task;
use super::oracle::{Error, Geometry, Rates, Statistics, descend};
use super::rule::{apart, geometry, source, trainer_of};
use crate::devices::devices;
use crate::noise::noise;
use meromorph::Result;
use meromorph::contrast::{Contrast, Cue, SpectralContrast, States};
use meromorph::device::Device;
use meromorph::train::{Data, Examples, Trainer};
use pollster::block_on;

const WIDTH: usize = 2;
const WINDOWS: usize = 3;
const SLOTS: usize = 24;
const NUDGE: f64 = 0.003;

/// A rule with as many steps as the reference has.
fn rule(task: &Task) -> Result<Contrast> {
    let mut rule = source(task, States::Classes)?;
    rule.retrieval.steps = task.energy.steps as u32;
    Ok(rule)
}

/// Few steps and keys: a composed window has launches for each.
fn task() -> Task {
    let mut task = Task::rotation(2, SLOTS);
    task.energy.error = Error::CrossEntropy;
    task.energy.steps = 64;
    task.rates = Rates { metric: 0.2, theta: 0.1 };
    task
}

/// A run with spectra behind the coordinates of its rows.
fn spectral(
    device: &Device,
    task: &Task,
    contrast: Contrast,
    scale: f32,
    rows: &[f32],
    known: &[f32],
) -> Result<Trainer> {
    let plain = trainer_of(device, task, WINDOWS, States::Classes, rule(task)?.network(None))?;
    let rows = plain.data().train.x.chunks_exact(8).zip(rows.chunks_exact(WIDTH));
    let x: Vec<f32> = rows.flat_map(|(row, spectrum)| [row, spectrum].concat()).collect();
    let data =
        Data { inputs: 8 + WIDTH, train: Examples { x, y: plain.data().train.y.clone() }, ..plain.data().clone() };
    let rule = SpectralContrast { contrast, spectra: known.to_vec(), width: WIDTH, scale };
    let mut trainer = Trainer::new(device, rule.network(None)?, plain.settings().clone(), data)?;
    trainer.shuffle_with(|_| (0..32 * WINDOWS as u32).collect());
    Ok(trainer)
}

#[test]
fn steps_are_those_of_the_reference() -> Result<()> {
    let task = task();
    let energy = &task.energy;
    let (rows, known) = (noise(32 * WINDOWS * WIDTH, 3), noise(SLOTS * WIDTH, 4));
    let wide = |x: &[f32]| -> Vec<f64> { x.iter().map(|&x| f64::from(x)).collect() };
    let (wide_rows, wide_known) = (wide(&rows), wide(&known));
    for device in devices(&[1]) {
        // The reference takes plain steps, which come to rest under a small nudge.
        let mut rule = rule(&task)?;
        rule.retrieval.nudge = NUDGE as f32;
        let mut trainer = spectral(&device, &task, rule, 1.5, &rows, &known)?;
        let mut at = task.geometry();
        for window in 0..WINDOWS {
            let batch = task.rows(window).batch;
            let phase = |at: &Geometry, b: f64| {
                let relaxed = batch.queries.chunks_exact(8).zip(batch.targets.chunks_exact(8)).enumerate();
                let relaxed: Vec<_> = relaxed
                    .map(|(row, (query, target))| {
                        let own = &wide_rows[(window * 32 + row) * WIDTH..][..WIDTH];
                        let costs = energy.retrieval.costs(at, query).into_iter().zip(wide_known.chunks_exact(WIDTH));
                        let costs: Vec<f64> = costs
                            .map(|(cost, known)| {
                                let square: f64 = known.iter().zip(own).map(|(a, b)| (a - b).powi(2)).sum();
                                cost + 1.5 * (square + 1e-8).sqrt()
                            })
                            .collect();
                        let free = energy.relax(&costs, target, 0.0, &[0.0; 8]);
                        energy.relax(&costs, target, b, &free.y)
                    })
                    .collect();
                Statistics::of(energy, at, &batch, &relaxed)
            };
            let gradient = phase(&at, NUDGE).difference(&phase(&at, -NUDGE), 2.0 * NUDGE);
            assert!(descend(&mut at, &gradient, task.rates));
            trainer.advance(1)?;
            let got = geometry(&trainer)?;
            let worst = apart(&got, &at);
            assert!(worst < 1e-4, "{}, window {window}: {worst:e}", device.info().device);
            at = got;
        }
        assert!(at.theta.iter().any(|angle| angle.abs() > 1e-3), "{at:?}");
    }
    Ok(())
}

/// A distance that is the same for all keys changes nothing: the composed window is the one of the kernel, also for rows whose own class is unlikely.
#[test]
fn spectra_that_say_nothing_leave_the_window_of_the_kernel() -> Result<()> {
    let task = task();
    for device in devices(&[1]) {
        let mut plain = trainer_of(&device, &task, WINDOWS, States::Classes, rule(&task)?.network(None))?;
        let still = vec![0.5; 32 * WINDOWS * WIDTH];
        let mut composed = spectral(&device, &task, rule(&task)?, 1.0, &still, &[0.25; SLOTS * WIDTH])?;
        plain.advance(2)?;
        composed.advance(2)?;
        let worst = apart(&geometry(&composed)?, &geometry(&plain)?);
        assert!(worst < 1e-3, "{}: {worst:e}", device.info().device);
        let figures =
            |trainer: &Trainer| Ok::<_, meromorph::Error>(block_on(trainer.source_report())?.expect("figures"));
        for ((name, got), (_, expected)) in figures(&composed)?.into_iter().zip(figures(&plain)?) {
            let shift = if name == "cost" { 0.125_f64.sqrt() } else { 0.0 };
            assert!((got - expected - shift).abs() < 1e-3 * expected.abs().max(1.0), "{name}: {got}, {expected}");
        }
    }
    Ok(())
}

#[test]
fn what_has_no_composed_window_is_an_error() -> Result<()> {
    let task = task();
    let said = |rule: SpectralContrast| rule.network(None).map(drop).expect_err("it does not fit").to_string();
    let make = |contrast: Contrast| SpectralContrast { contrast, spectra: vec![0.0; 48], width: 2, scale: 1.0 };
    let vectors = source(&task, States::Vectors(8, Cue::Squared))?;
    assert_eq!(said(make(vectors)), "contrast: spectra: got states that are vectors, expected classes");
    let mut growing = rule(&task)?;
    growing.bank.grows = true;
    assert_eq!(said(make(growing)), "contrast: spectra: got a memory that grows, expected one that stays");
    let short = SpectralContrast { spectra: vec![0.0; 4], ..make(rule(&task)?) };
    assert_eq!(said(short), "contrast: spectra: got 4 numbers, expected 48, 2 for each of 24 slots");
    let negative = SpectralContrast { scale: -1.0, ..make(rule(&task)?) };
    assert_eq!(said(negative), "contrast: spectra: scale: got -1, expected a finite number of at least 0");
    Ok(())
}
