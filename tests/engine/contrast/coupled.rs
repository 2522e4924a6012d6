//! The contrastive rule under an R that moves from window to window, and the checks of a device before a run.

use super::oracle::tasks::Task;
use super::oracle::{self, Wave, descend};
use super::rule::{apart, geometry, source, trainer_of};
use crate::devices::devices;
use meromorph::Result;
use meromorph::contrast::{
    Collapse, Coupled, Cue, Curvature, Dynamics, Field, Rotors, SelfCheck, States, Symplectic, self_checks,
};
use pollster::block_on;

/// R is the mean of |T| before each window, after which the field moves by four steps.
#[test]
fn a_window_has_the_r_of_its_field() -> Result<()> {
    let states = States::Vectors(8, Cue::Squared);
    let task = Task::metric(1, 64);
    for device in devices(&[1]) {
        let dynamics = Dynamics::Symplectic(Symplectic { dt: 1.0, ..Symplectic::default() });
        let field = Field { grid: [3, 4], width: 1, dynamics, seed: 2 };
        let first: Vec<f64> = {
            let values = &field.state()[0].values;
            (0..12).flat_map(|at| [f64::from(values[at]), f64::from(values[12 + at])]).collect()
        };
        let mut wave = Wave::new(oracle::Field { grid: [3, 4], channels: 1, values: first });
        let verlet = oracle::Symplectic { dt: 1.0, ..oracle::Symplectic::default() };
        let network = source(&task, states)?.network(None);
        let rule = Coupled::new(source(&task, states)?, Curvature::Field(field), 4)?;
        let mut trainer = trainer_of(&device, &task, 30, states, network.with_source(rule))?;
        let (mut task, mut at) = (task.clone(), task.geometry());
        let mut seen = Vec::new();
        for window in 0..30 {
            task.energy.retrieval.r = wave.field.mean_modulus();
            (0..4).for_each(|_| verlet.step(&mut wave));
            seen.push(task.energy.retrieval.r);
            let gradient = task.energy.contrast(&at, &task.rows(window).batch, task.nudge);
            assert!(descend(&mut at, &gradient, task.rates));
            trainer.advance(1)?;
            let blocks = block_on(trainer.source_blocks())?;
            let control = blocks.iter().find(|block| block.name == "control").expect("a control");
            let r = f64::from(control.values[1]);
            let name = &device.info().device;
            assert!((r - task.energy.retrieval.r).abs() < 1e-5, "{name}, window {window}: R is {r}");
            let got = geometry(&trainer)?;
            assert!(apart(&got, &at) < 1e-4, "{name}, window {window}: {got:?}, expected {at:?}");
            at = got;
        }
        assert!(seen.iter().any(|r| (r - seen[0]).abs() > 0.01), "{seen:?}");
    }
    Ok(())
}

#[test]
fn curvatures_that_do_not_fit_windows_are_errors() -> Result<()> {
    let task = Task::metric(1, 64);
    let rule = || source(&task, States::Vectors(8, Cue::Squared));
    let said = |curvature: Curvature| Ok::<_, meromorph::Error>(Coupled::new(rule()?, curvature, 2).map(drop));
    let error = said(Curvature::Each(vec![1.0; 2]))?.expect_err("R is fixed").to_string();
    assert_eq!(error, "contrast: curvature: got one for each step, expected one that is fixed in a window");
    assert!(said(Curvature::Collapse(Collapse { tensor: vec![1.0; 4096], epsilon: 1e-8 }))?.is_ok());
    assert!(said(Curvature::Constant(f32::INFINITY))?.is_err());
    Ok(())
}

#[test]
fn devices_pass_the_checks_before_a_run() -> Result<()> {
    for device in devices(&[1, 2]) {
        let checks = block_on(self_checks(&device, Rotors::ring(8, 6)?))?;
        let name = &device.info().device;
        assert_eq!(checks.len(), 3);
        assert!(checks.iter().all(SelfCheck::is_passed), "{name}: {checks:?}");
        assert!(checks.iter().any(|check| check.error > 0.0), "{name}: {checks:?}");
    }
    Ok(())
}
