//! The search of a fit, on its device, with checkpoints and a log if they are wanted.

use std::path::Path;
use std::time::Instant;

use pollster::block_on;
use sha2::{Digest, Sha256};

use super::args::Args;
use super::checkpoint::{Checkpoint, Pace};
use super::log::Log;
use super::rows::digest as rows_digest;
use super::running::{CPU, Running};
use super::timings::Timings;
use crate::terminal::interrupt;
use crate::{Answer, Failure};
use meromorph::Error;
use meromorph::fit::{Fit, FitOptions, FitRows, Global, Journal, Method, Problem, SolveOptions, approach, solve_from};
use meromorph::report::counted;

/// What follows a search: where it is saved, its log and its times.
pub(crate) struct Job<'a> {
    /// The file of the checkpoint and how often it is written, if it is.
    pub(crate) saved: Option<(&'a Path, Pace)>,
    /// Whether the checkpoint of another fit is replaced.
    pub(crate) is_forced: bool,
    /// Columns of numbers that a pass takes in.
    pub(crate) columns: usize,
    pub(crate) log: &'a mut Log,
    pub(crate) timings: &'a mut Timings,
}

impl Running {
    /// Solves a fit, which `identity` tells from others.
    pub(crate) fn solve(
        &self,
        problem: &Problem<'_>,
        options: &SolveOptions,
        identity: Sha256,
        Job { saved, is_forced, columns, log, timings }: Job<'_>,
    ) -> Answer<(Fit, Option<Checkpoint>)> {
        let mut checkpoint = saved.map(|(path, pace)| Checkpoint::new(path, pace, identity)).transpose()?;
        let loaded = checkpoint.as_ref().map(|checkpoint| checkpoint.load(is_forced)).transpose()?;
        let mut journal = loaded.unwrap_or_default();
        log.begin(problem.rows(), &journal);
        let (before, started) = (journal.evaluations(), Instant::now());
        self.approach(problem, options, &mut journal)?;
        interrupt::watch();
        let mut last = Instant::now();
        let solved = solve_from(problem, options, &mut journal, &mut |journal| {
            log.evaluated(journal);
            if let Some(checkpoint) = &mut checkpoint {
                checkpoint.watch(journal, log);
            }
            last = Instant::now();
            if interrupt::is_requested() { Err(Error::new("stopped")) } else { Ok(()) }
        });
        let (whole, after) = (started.elapsed().as_secs_f64(), last.elapsed().as_secs_f64());
        timings.add((problem.rows(), columns), journal.evaluations() - before, [journal.sums_seconds(), whole, after]);
        let is_stopped = interrupt::is_requested();
        interrupt::work_is_done();
        match (solved, checkpoint) {
            (Err(_), Some(checkpoint)) if is_stopped => Err(checkpoint.stopped(&journal)),
            (Err(_), None) if is_stopped => {
                let done = counted(journal.evaluations(), "evaluation");
                Err(Failure::Interrupted(format!(
                    "interrupted after {done}; nothing was written; --checkpoint FILE saves them"
                )))
            }
            (solved, checkpoint) => Ok((solved?, checkpoint.map(|checkpoint| checkpoint.with(journal)))),
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
}

impl Args {
    /// Solves the fit, with checkpoints if they are wanted.
    pub(super) fn solve(
        &self,
        problem: &Problem<'_>,
        options: &FitOptions,
        rows: &FitRows<'_>,
        timings: &mut Timings,
    ) -> Answer<(Fit, Option<Checkpoint>)> {
        let running = &self.running;
        let mut log = Log::new("mero fit", running.log_path(), running.log_threshold)?;
        let saved = running.checkpoint.as_deref().map(|path| (path, Pace::of(running.checkpoint_every)));
        let columns = rows.columns.len() + 1 + usize::from(rows.sigma.is_some());
        let job = Job { saved, is_forced: self.force, columns, log: &mut log, timings };
        running.solve(problem, &options.solve, self.identity(problem, options, rows), job)
    }

    /// What tells this fit from others: model, options and data.
    fn identity(&self, problem: &Problem<'_>, options: &FitOptions, rows: &FitRows<'_>) -> Sha256 {
        let mut digest = Sha256::new();
        let FitOptions { ties, loss, loss_scale, absolute_sigma, solve, .. } = options;
        let SolveOptions { seed, evaluations, method, global, recovers, .. } = solve;
        let ties: Vec<String> = ties.iter().map(|(name, formula)| format!("{name}={formula}")).collect();
        let (ties, loss, version) = (ties.join(";"), loss.name(), env!("CARGO_PKG_VERSION"));
        let method = Method::ALL.iter().find(|(_, known)| known == method).map_or("", |(name, _)| name);
        let loss_scale = (*loss_scale != 1.0).then_some(loss_scale);
        digest.update(format!("{version} {} {ties} {method} {loss} {loss_scale:?}", self.model));
        digest.update(format!("{} {seed} {evaluations} {absolute_sigma}", self.running.device));
        // Without these, checkpoints of earlier versions are known.
        if (*global, *recovers) != (Global::None, true) {
            digest.update(format!("{global:?} {recovers}"));
        }
        digest.update(format!("{:?}", problem.parameters()));
        rows_digest(rows, &mut digest);
        digest
    }
}
