//! How the fused step splits a batch on a GPU: the fastest of a few ways, measured with a step of a perceptron 5-64-64-64-1, and remembered on disk for
//! the adapter with its driver. What is fastest depends on how many workgroups a GPU runs at once and on how much memory they have, less on the model.

use super::config::{StepKind, TrainerConfig};
use super::data::Data;
use super::step::Plans;
use super::trainer::Trainer;
use crate::device::{Device, Execution, Geometry, Info, MANY_ROWS, Tiles};
use crate::error::{Error, Result};
use crate::host;
use crate::kernels::mlp::Mlp;
use crate::model::Examples;
use crate::nn::{Activation, Layout, Spec};

/// Batches that are measured: of few rows, and of many.
const BATCHES: [usize; 2] = [256, 2048];
/// Batches of an epoch.
const STEPS: usize = 16;
/// Windows of each candidate, which take turns; the fastest counts.
const WINDOWS: usize = 5;
/// Length of a window.
const WINDOW_MS: f64 = 8.0;
/// Steps of a window, at most.
const MOST_STEPS: usize = 256;
/// Steps before anything is measured.
const WARM_UP: usize = 8;
/// What another geometry must save to be chosen instead of the default.
const WORTH: f64 = 0.03;

/// What is tried for few rows, and for many.
const CANDIDATES: [&[Geometry]; 2] = [
    &[of(16, 64), of(8, 128), held(16, 128), held(8, 128), held(8, 256), held(4, 128)],
    &[of(16, 64), of(32, 128), held(16, 128), held(16, 256), held(32, 256), held(8, 128)],
];

const fn of(rows: u32, lanes: u32) -> Geometry {
    Geometry { rows, lanes, is_held: false }
}

const fn held(rows: u32, lanes: u32) -> Geometry {
    Geometry { is_held: true, ..of(rows, lanes) }
}

impl Trainer {
    /// Finds out how a GPU splits the batches of a fused step, if its device was opened to measure that, and plans the step anew.
    pub async fn choose_geometry(&mut self) -> Result<()> {
        let rows = self.settings.batch.min(self.data.train.rows(self.data.targets));
        if self.plans.kind == StepKind::Fused && self.device.known_geometry(rows).is_none() {
            choose(&self.device, rows).await?;
            self.plans = Plans::new(&self.setup(), &self.states())?;
        }
        Ok(())
    }
}

/// Finds the geometry of a device for batches of so many rows, if it does not have one yet. Measures for about a
/// second on an adapter with a driver that it has not seen before; on the device `cuda`, where kernels are compiled for it, for up to half a minute.
async fn choose(device: &Device, rows: usize) -> Result<()> {
    if device.known_geometry(rows).is_some() {
        return Ok(());
    }
    let geometry = match cached(device.info(), rows) {
        Some(geometry) => geometry,
        None if has_choice(device.info()) => {
            let best = best(&measured(device, rows).await?);
            remember(device.info(), rows, best);
            best
        }
        None => Geometry::DEFAULT,
    };
    device.set_geometry(rows, Some(geometry));
    Ok(())
}

/// Whether a trainer's geometry makes a difference.
pub fn matters(trainer: &Trainer) -> bool {
    trainer.step_kind() == StepKind::Fused && has_choice(trainer.device().info())
}

/// Whether the geometry makes a difference on a device.
fn has_choice(info: &Info) -> bool {
    info.execution == Execution::Shaders && info.tiles == Tiles::ManySmall && !info.is_software
}

/// Measures the geometries that are worth trying on a device for batches of so many rows: each with microseconds of a step. The device keeps the one it
/// has. Errors if it has no choice.
pub async fn measured(device: &Device, rows: usize) -> Result<Vec<(Geometry, f64)>> {
    if !has_choice(device.info()) {
        let Info { device, name, .. } = device.info();
        return Err(Error::usage(format!(
            "geometry: device \"{device}\" ({name}) splits batches in one way: expected a GPU that is not implemented in software"
        )));
    }
    let _kept = Kept { device, rows, geometry: device.known_geometry(rows) };
    timed(device, rows).await
}

/// Gives a device its geometry back, also if a search is given up.
struct Kept<'d> {
    device: &'d Device,
    rows: usize,
    geometry: Option<Geometry>,
}

impl Drop for Kept<'_> {
    fn drop(&mut self) {
        self.device.set_geometry(self.rows, self.geometry);
    }
}

async fn timed(device: &Device, rows: usize) -> Result<Vec<(Geometry, f64)>> {
    let class = usize::from(rows >= MANY_ROWS);
    let (spec, batch) = (Spec::mlp(5, &[64; 3], 1, Activation::silu()), BATCHES[class]);
    let mut trainers = Vec::new();
    for &geometry in CANDIDATES[class] {
        if geometry.is_held && !holds(device.info(), &spec, geometry) {
            continue;
        }
        device.set_geometry(rows, Some(geometry));
        match warmed_up(device, &spec, batch).await {
            Ok(trainer) => trainers.push((geometry, trainer, f64::INFINITY)),
            Err(error) if trainers.is_empty() => return Err(error),
            // What cannot be compiled for a GPU is not tried further. WebGPU reports that later, from a window.
            Err(_) => {}
        }
    }
    let Some((_, first, _)) = trainers.first_mut() else { return Ok(Vec::new()) };
    let once = window(first, WARM_UP).await?;
    let steps = ((WINDOW_MS / once.max(1e-3)) as usize).clamp(WARM_UP, MOST_STEPS);
    for _ in 0..WINDOWS {
        for (_, trainer, least) in &mut trainers {
            *least = least.min(window(trainer, steps).await?);
        }
    }
    Ok(trainers.into_iter().map(|(geometry, _, least)| (geometry, 1e3 * least)).collect())
}

/// A trainer of the fused step after its first steps.
async fn warmed_up(device: &Device, spec: &Spec, batch: usize) -> Result<Trainer> {
    let settings = TrainerConfig { batch, step: Some(StepKind::Fused), ..TrainerConfig::default() };
    let mut trainer = Trainer::new(device, spec.clone(), settings, noise(STEPS * batch))?;
    window(&mut trainer, WARM_UP).await?;
    Ok(trainer)
}

/// Milliseconds of a step, as a mean over some.
async fn window(trainer: &mut Trainer, steps: usize) -> Result<f64> {
    let start = host::now_ms();
    trainer.advance(steps)?;
    trainer.batch_losses().await?;
    Ok((host::now_ms() - start) / steps as f64)
}

/// Whether a geometry keeps a model's data in workgroup memory on a device.
fn holds(info: &Info, spec: &Spec, geometry: Geometry) -> bool {
    let rows = geometry.rows as usize;
    Mlp::of(spec, &Layout::of(spec)).is_some_and(|mlp| mlp.training(info, geometry, [rows, rows], 1, 1).is_held())
}

/// Rows without meaning.
fn noise(rows: usize) -> Data {
    let values = |count: usize, step: f32| (0..count).map(|at| (at as f32 * step).sin()).collect();
    let train = Examples { x: values(5 * rows, 0.7), y: values(rows, 0.3) };
    Data { inputs: 5, targets: 1, train, ..Data::default() }
}

/// The fastest; the first, which is the default, if no other is clearly faster.
pub fn best(timed: &[(Geometry, f64)]) -> Geometry {
    let [(first, time), others @ ..] = timed else { return Geometry::DEFAULT };
    let fastest = others.iter().min_by(|(_, a), (_, b)| a.total_cmp(b));
    fastest.filter(|(_, other)| *other < (1.0 - WORTH) * time).map_or(*first, |(geometry, _)| *geometry)
}

/// The file of geometries that were measured: a line for each adapter with its driver, this version, and a class of batches.
const FILE: &str = "geometry.txt";

/// Counts changes to the kernels of a step that make what was measured before worthless.
const REVISION: u32 = 2;

/// What a line begins with.
fn key(info: &Info, rows: usize) -> String {
    let class = ["few rows", "many rows"][usize::from(rows >= MANY_ROWS)];
    let version = concat!(env!("CARGO_PKG_VERSION"), "-");
    format!("{} | {} | {} | {version}{REVISION} | {class} | ", info.device, info.name, info.driver)
}

fn cached(info: &Info, rows: usize) -> Option<Geometry> {
    let (text, key) = (host::kept(FILE)?, key(info, rows));
    text.lines().find_map(|line| Geometry::parse(line.strip_prefix(&key)?).ok())
}

/// Keeps a geometry for later runs. Without a place for it, the next run measures again.
pub fn remember(info: &Info, rows: usize, geometry: Geometry) {
    let (text, key) = (host::kept(FILE).unwrap_or_default(), key(info, rows));
    let others = text.lines().filter(|line| !line.starts_with(&key)).map(|line| format!("{line}\n"));
    host::keep(FILE, &(others.collect::<String>() + &format!("{key}{geometry}\n")));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_geometry_must_be_clearly_faster() {
        let timed = |times: [f64; 3]| [of(16, 64), of(8, 128), held(8, 128)].into_iter().zip(times).collect::<Vec<_>>();
        assert_eq!(best(&timed([10.0, 9.9, 9.8])), of(16, 64));
        assert_eq!(best(&timed([10.0, 9.0, 8.0])), held(8, 128));
        assert_eq!(best(&timed([10.0, 7.0, 8.0])), of(8, 128));
        assert_eq!(best(&[]), Geometry::DEFAULT);
    }

    #[test]
    fn the_default_is_always_tried_first() {
        for candidates in CANDIDATES {
            assert_eq!(candidates[0], Geometry::DEFAULT);
            for geometry in candidates {
                assert_eq!(Geometry::parse(&geometry.to_string()).expect("its own text"), *geometry);
            }
        }
    }

    #[test]
    fn devices_without_a_choice_are_not_measured() {
        let device = Device::cpu(1);
        pollster::block_on(choose(&device, 64)).expect("nothing to measure");
        assert_eq!(device.known_geometry(64), Some(Geometry::DEFAULT));
        let error = pollster::block_on(measured(&device, 64)).expect_err("nothing to measure").to_string();
        assert!(error.starts_with("geometry: device \"cpu\"") && error.contains("one way"), "{error}");
    }
}
