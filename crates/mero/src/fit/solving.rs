//! The search of a fit, on its device, with checkpoints and a log if they are wanted.

use std::path::PathBuf;

use pollster::block_on;
use sha2::{Digest, Sha256};

use super::args::Args;
use super::checkpoint::Checkpoint;
use super::log::Log;
use super::rows::Rows;
use crate::terminal::interrupt;
use crate::{Answer, Failure};
use meromorph::Error;
use meromorph::fit::{Fit, FitOptions, Global, Journal, Method, Problem, SolveOptions, approach, solve_from};
use meromorph::report::counted;

/// The device that needs no search before the fit.
pub(super) const CPU: &str = "cpu";

impl Args {
    /// Solves the fit, with checkpoints if they are wanted.
    pub(super) fn solve(
        &self,
        problem: &Problem<'_>,
        options: &FitOptions,
        rows: &Rows,
    ) -> Answer<(Fit, Option<Checkpoint>)> {
        let mut log = Log::new(self.log.as_deref(), self.log_threshold, problem.rows())?;
        let new = |path: &PathBuf| Checkpoint::new(path, self.checkpoint_every, self.identity(problem, options, rows));
        let mut checkpoint = self.checkpoint.as_ref().map(new).transpose()?;
        let loaded = checkpoint.as_ref().map(|checkpoint| checkpoint.load(self.force)).transpose()?;
        let mut journal = loaded.unwrap_or_default();
        self.approach(problem, &options.solve, &mut journal)?;
        interrupt::watch();
        let solved = solve_from(problem, &options.solve, &mut journal, &mut |journal| {
            log.evaluated(journal);
            if let Some(checkpoint) = &mut checkpoint {
                checkpoint.watch(journal, &mut log);
            }
            if interrupt::is_requested() { Err(Error::new("stopped")) } else { Ok(()) }
        });
        interrupt::work_is_done();
        match (solved, checkpoint) {
            (Err(_), Some(checkpoint)) if interrupt::is_requested() => Err(checkpoint.stopped(&journal)),
            (Err(_), None) if interrupt::is_requested() => {
                let done = counted(journal.evaluations(), "evaluation");
                Err(Failure::Interrupted(format!(
                    "interrupted after {done}; nothing was written; --checkpoint FILE saves them"
                )))
            }
            (solved, checkpoint) => Ok((solved?, checkpoint)),
        }
    }

    /// Searches on the device, if it is not the cpu.
    fn approach(&self, problem: &Problem<'_>, options: &SolveOptions, journal: &mut Journal) -> Answer {
        if self.device == CPU {
            return Ok(());
        }
        let device = self.hardware().open()?;
        if device.info().device == CPU {
            return Ok(());
        }
        Ok(block_on(approach(problem, options, &device, journal))?)
    }

    /// What tells this fit from others: model, options and data.
    fn identity(&self, problem: &Problem<'_>, options: &FitOptions, rows: &Rows) -> Sha256 {
        let mut digest = Sha256::new();
        let FitOptions { ties, loss, loss_scale, absolute_sigma, solve, .. } = options;
        let SolveOptions { seed, evaluations, method, global, recovers, .. } = solve;
        let ties: Vec<String> = ties.iter().map(|(name, formula)| format!("{name}={formula}")).collect();
        let (ties, loss, version) = (ties.join(";"), loss.name(), env!("CARGO_PKG_VERSION"));
        let method = Method::ALL.iter().find(|(_, known)| known == method).map_or("", |(name, _)| name);
        let loss_scale = (*loss_scale != 1.0).then_some(loss_scale);
        digest.update(format!("{version} {} {ties} {method} {loss} {loss_scale:?}", self.model));
        digest.update(format!("{} {seed} {evaluations} {absolute_sigma}", self.device));
        // Without these, checkpoints of earlier versions are known.
        if (*global, *recovers) != (Global::None, true) {
            digest.update(format!("{global:?} {recovers}"));
        }
        digest.update(format!("{:?}", problem.parameters()));
        rows.digest(&mut digest);
        digest
    }
}
