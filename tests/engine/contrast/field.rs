//! Fields on a device against the reference: their paths over a hundred windows, what they keep, and the steps that are refused.

use super::oracle::tasks::Task;
use super::oracle::{self, Phase, Wave};
use super::rule::{apart, geometry, narrow};
use super::scalar::{rule, trainer};
use crate::devices::devices;
use meromorph::Result;
use meromorph::contrast::{Curvature, Dynamics, Field, PhaseForm, Phases, ScalarRule, Symplectic, Velocity};
use meromorph::device::Device;
use meromorph::train::Trainer;
use pollster::block_on;

const STEPS: usize = 8;
const GRID: [usize; 2] = [5, 4];
const WINDOWS: usize = 100;

fn field(dynamics: Dynamics) -> Field {
    Field { grid: GRID, width: 2, dynamics, seed: 3 }
}

fn verlet(dt: f64) -> Dynamics {
    Dynamics::Symplectic(Symplectic { dt, ..Symplectic::default() })
}

fn phases(form: PhaseForm) -> Phases {
    Phases { dt: 0.8, mass: 1.5, memory: 0.2, factors: [1.0, 0.7], form }
}

fn with(field: Field, steps: usize) -> Result<ScalarRule> {
    Ok(ScalarRule {
        velocity: Velocity::Displacement,
        rate: 0.1,
        steps,
        curvature: Curvature::Field(field),
        keys: narrow(&Task::rotation(3, 40).energy.retrieval.keys),
        ..rule()?
    })
}

/// Planes of real and imaginary parts as numbers of the reference, in which both alternate.
fn woven(planes: &[f32]) -> Vec<f64> {
    let (real, imaginary) = planes.split_at(planes.len() / 2);
    real.iter().zip(imaginary).flat_map(|(re, im)| [f64::from(*re), f64::from(*im)]).collect()
}

/// The block of this name.
fn block(trainer: &Trainer, name: &str) -> Result<Vec<f32>> {
    let blocks = block_on(trainer.source_blocks())?;
    Ok(blocks.into_iter().find(|block| block.name == name).expect("a block of the field").values)
}

fn start(field: &Field) -> Wave {
    let values = woven(&field.state()[0].values);
    Wave::new(oracle::Field { grid: field.grid, channels: 4, values })
}

fn step(dynamics: &Dynamics, wave: &mut Wave) {
    match *dynamics {
        Dynamics::Symplectic(Symplectic { dt, mass, hbar, stiffness }) => {
            oracle::Symplectic { dt, mass, hbar, stiffness }.step(wave);
        }
        Dynamics::Phases(Phases { dt, mass, memory, factors, form }) => {
            let phase = if form == PhaseForm::Exact { Phase::Exact } else { Phase::Cayley };
            oracle::Dissipative { dt, mass, memory, factors, phase }.step(&mut wave.field);
        }
    }
}

fn worst(got: &[f64], expected: &[f64]) -> f64 {
    assert_eq!(got.len(), expected.len());
    got.iter().zip(expected).map(|(got, expected)| (got - expected).abs()).fold(0.0, f64::max)
}

/// The path of the field, R before each step, and the costs and updates of the rule that depend on it.
#[test]
fn fields_move_as_those_of_the_reference() -> Result<()> {
    let task = Task::rotation(3, 40);
    let reference = oracle::ScalarRule { velocity: oracle::Velocity::Displacement, rate: 0.1, nudge_scale: 0.1 };
    for device in devices(&[1]) {
        for dynamics in
            [verlet(0.5), Dynamics::Phases(phases(PhaseForm::Exact)), Dynamics::Phases(phases(PhaseForm::Cayley))]
        {
            let field = field(dynamics);
            let mut wave = start(&field);
            let mut trainer = trainer(&device, &task, WINDOWS, with(field, STEPS)?)?;
            let (mut at, mut errors) = (task.geometry(), [0.0_f64; 3]);
            for window in 0..WINDOWS {
                let r: Vec<f64> = (0..STEPS)
                    .map(|_| {
                        let r = wave.field.mean_modulus();
                        step(&dynamics, &mut wave);
                        r
                    })
                    .collect();
                let rows = task.rows(window);
                let [free, _] =
                    reference.train(&task.energy.retrieval, &mut at, &rows.batch.queries, &rows.centres, &r);
                trainer.advance(1)?;
                let figures = block(&trainer, "figures")?;
                let near = |got: f32, expected: f64| (f64::from(got) - expected).abs() / expected.abs();
                errors[0] = errors[0].max(worst(&woven(&block(&trainer, "field")?), &wave.field.values));
                errors[1] = [(figures[0], free.lior), (figures[3], free.r), (figures[4], free.speed)]
                    .into_iter()
                    .map(|(got, expected)| near(got, expected))
                    .fold(errors[1], f64::max);
                let got = geometry(&trainer)?;
                errors[2] = errors[2].max(apart(&got, &at));
                at = got;
            }
            if let Dynamics::Symplectic(_) = dynamics {
                errors[0] = errors[0].max(worst(&woven(&block(&trainer, "momentum")?), &wave.momentum));
            }
            let name = &device.info().device;
            assert!(errors.iter().all(|error| *error < 1e-4), "{name}, {dynamics:?}: {errors:?}");
        }
    }
    Ok(())
}

/// Back to the start with the opposite momentum, from a checkpoint in which it is turned.
#[test]
fn a_path_is_undone_by_turning_the_momentum() -> Result<()> {
    let task = Task::rotation(3, 40);
    let (first, device) = (field(verlet(1.0)), Device::cpu(1));
    let mut trainer = trainer(&device, &task, 20, with(field(verlet(1.0)), 64)?)?;
    trainer.advance(5)?;
    let mut checkpoint = block_on(trainer.checkpoint())?;
    let blocks = &mut checkpoint.source.as_mut().expect("a source").blocks;
    let momentum = blocks.iter_mut().find(|block| block.name == "momentum").expect("a momentum");
    assert!(momentum.values.iter().any(|p| p.abs() > 0.05));
    momentum.values.iter_mut().for_each(|p| *p = -*p);
    let network = with(field(verlet(1.0)), 64)?.network()?;
    let data = trainer.data().clone();
    let mut back = block_on(Trainer::resume_with(&device, network, data, checkpoint))?;
    back.advance(5)?;
    let [got, expected] = [woven(&block(&back, "field")?), woven(&first.state()[0].values)];
    let error = worst(&got, &expected);
    assert!(error < 1e-4, "{error:e}");
    Ok(())
}

/// Over 6,400 steps the energy of a wave stays within its error of the order of dt², and Σ |T|² of phases is kept.
#[test]
fn energies_and_norms_are_kept() -> Result<()> {
    let task = Task::rotation(3, 40);
    let device = Device::cpu(1);
    let reference = oracle::Symplectic { dt: 0.5, ..oracle::Symplectic::default() };
    let wave = field(verlet(0.5));
    let first = reference.energy(&start(&wave));
    let trainer_of = |field: Field| trainer(&device, &task, WINDOWS, with(field, 64)?);
    let mut trainer = trainer_of(wave.clone())?;
    for _ in 0..10 {
        trainer.advance(10)?;
        let mut now = start(&wave);
        now.field.values = woven(&block(&trainer, "field")?);
        now.momentum = woven(&block(&trainer, "momentum")?);
        let change = reference.energy(&now) / first - 1.0;
        assert!(change.abs() < 5e-3, "{change:e}");
    }
    for form in [PhaseForm::Exact, PhaseForm::Cayley] {
        let field = field(Dynamics::Phases(phases(form)));
        let first = start(&field).field.square();
        let mut trainer = trainer_of(field)?;
        trainer.advance(WINDOWS)?;
        let square: f64 = woven(&block(&trainer, "field")?).iter().map(|x| x * x).sum();
        // Rounding in f32 adds up over the steps.
        assert!((square / first - 1.0).abs() < 5e-4, "{form:?}: {}", square / first - 1.0);
    }
    Ok(())
}

#[test]
fn first_values_are_complex_gaussian_numbers() {
    let field = Field { grid: [8, 8], width: 16, dynamics: verlet(0.005), seed: 4 };
    let wave = start(&field);
    let r = wave.field.mean_modulus();
    // √π / 2.
    assert!((r - 0.5 * std::f64::consts::PI.sqrt()).abs() < 0.01, "{r}");
    assert_ne!(field.state(), Field { seed: 5, ..field.clone() }.state());
}

#[test]
fn steps_that_would_grow_are_refused() -> Result<()> {
    // 2 / √(8 · 0.01 / 2 + 0.01) = 8.9443 at the constants of Trainer2.
    assert!((Symplectic::default().longest_step() - 8.9443).abs() < 1e-4);
    let said = |field: Field| {
        let network = with(field, 4).and_then(ScalarRule::network);
        network.map(drop).expect_err("it does not fit").to_string()
    };
    let cases = [
        (field(verlet(8.95)), "field: dt: got 8.95, expected less than 8.9443, from which on the fastest wave grows"),
        (field(verlet(-1.0)), "field: dt: got -1, expected a finite number above 0"),
        (
            field(Dynamics::Phases(phases(PhaseForm::Euler))),
            "field: got Euler's step, with which |T| grows without bound: expected exact or cayley",
        ),
        (
            field(Dynamics::Phases(Phases { memory: 1.5, ..phases(PhaseForm::Exact) })),
            "field: memory: got 1.5, expected a number from 0 to 1",
        ),
        (
            Field { grid: [33, 32], ..field(Dynamics::Phases(phases(PhaseForm::Exact))) },
            "field: got 1056 sites, expected at most 1024 for a field of phases",
        ),
        (
            Field { width: 0, ..field(verlet(0.5)) },
            "field: got a grid of 5 x 4 with matrices of 0, expected at least 1 of each",
        ),
    ];
    for (field, expected) in cases {
        assert_eq!(said(field), expected);
    }
    assert!(with(field(verlet(8.94)), 4)?.network().is_ok());
    Ok(())
}
