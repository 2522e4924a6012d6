//! The search of a fit, on its device, with checkpoints and a log if they are wanted.

use pollster::block_on;
use sha2::{Digest, Sha256};

use super::args::Args;
use super::checkpoint::Checkpoint;
use super::log::Log;
use super::rows::Rows;
use crate::Answer;
use crate::terminal::interrupt;
use meromorph::fit::{Fit, Journal, Problem, SolveOptions, approach, solve_from};

/// The device that needs no search before the fit.
pub(super) const CPU: &str = "cpu";

impl Args {
    /// Solves the fit, with checkpoints if they are wanted.
    pub(super) fn solve(&self, problem: &Problem<'_>, options: &SolveOptions, rows: &Rows) -> Answer<Fit> {
        let mut log = Log::new(self.log.as_deref(), self.log_threshold, problem.rows())?;
        let Some(path) = &self.checkpoint else {
            let mut journal = Journal::default();
            self.approach(problem, options, &mut journal)?;
            return Ok(solve_from(problem, options, &mut journal, &mut |journal| log.evaluated(journal))?);
        };
        let mut checkpoint = Checkpoint::new(path, self.checkpoint_every, self.identity(problem, rows))?;
        let mut journal = checkpoint.load(self.force)?;
        interrupt::watch();
        self.approach(problem, options, &mut journal)?;
        let solved = solve_from(problem, options, &mut journal, &mut |journal| {
            log.evaluated(journal)?;
            checkpoint.watch(journal, &mut log)
        });
        if interrupt::is_requested() && solved.is_err() {
            return Err(checkpoint.stopped(&journal));
        }
        let fit = solved?;
        checkpoint.remove()?;
        Ok(fit)
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
    fn identity(&self, problem: &Problem<'_>, rows: &Rows) -> Sha256 {
        let mut digest = Sha256::new();
        let ties = self.tie.join(";");
        let (method, loss) = (&self.method, &self.loss);
        digest.update(format!(
            "{} {} {ties} {method} {loss} {:?}",
            env!("CARGO_PKG_VERSION"),
            self.model,
            self.loss_scale
        ));
        digest.update(format!("{} {} {} {}", self.device, self.seed, self.max_evaluations, self.absolute_sigma));
        digest.update(format!("{:?}", problem.parameters()));
        rows.digest(&mut digest);
        digest
    }
}
