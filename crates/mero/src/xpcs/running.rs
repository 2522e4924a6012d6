//! How a fit of correlations runs: what the command line, the configuration and the environment say of memory, threads, checkpoints and logs, in this order.

use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::Args;
use crate::fit::checkpoint::{Checkpoint, Pace};
use crate::fit::log::Log;
use crate::fit::running::{AUTO, Running, show, smaller};
use crate::fit::solving::Job;
use crate::fit::timings::Timings;
use crate::terminal::interrupt;
use crate::{Answer, Failure};
use meromorph::files::RowSource;
use meromorph::fit::{Facts, Fit, Plan, Problem, SolveOptions, Strategy};
use meromorph::internal::host::{self, FileLock, MemoryLimit};
use meromorph_xpcs::{Config, Experiment, Fitting, Values};

/// The environment's memory in GiB, as homodyne reads it.
const MEMORY: &str = "HOMODYNE_MEMORY_LIMIT";
/// The environment's share of the memory.
const SHARE: &str = "NLSQ_MEMORY_FRACTION";
/// The environment's threads.
const THREADS: &str = "JAX_NUM_THREADS";
/// The share of the memory that a plan uses.
const USED: f64 = 0.75;
/// How a fit runs.
pub(super) struct Run {
    pub(super) running: Running,
    pub(super) limit: MemoryLimit,
    /// The checkpoint, if it has a path of its own.
    checkpoint: Option<PathBuf>,
    pace: Pace,
    /// The log of the configuration, in the folder of the results.
    log: Option<PathBuf>,
    /// A folder of checkpoints, in which each fit has its own; removed when it is empty.
    folder: Option<PathBuf>,
}

impl Run {
    pub(super) fn of(args: &Args, config: &mut Config) -> Answer<Self> {
        let mut running = args.running.clone();
        let said = &config.execution;
        if let Some(strategy) = said.strategy.filter(|_| running.strategy == AUTO) {
            strategy.name().clone_into(&mut running.strategy);
        }
        if running.threads == 0 {
            running.threads = said.threads.or(threads_of_environment()?).unwrap_or(0);
        }
        let mut limit = running.limit()?;
        if running.memory_limit.is_none() {
            let of_environment = number(MEMORY)?.map(|gib| ((gib * (1_u64 << 30) as f64) as u64, MEMORY));
            if let Some((bytes, by)) = said.memory.or(of_environment) {
                limit = smaller(limit, bytes, by);
            }
        }
        let share = said.memory_fraction.map(|share| (share, "memory_fraction"));
        if let (Some((share, by)), None) = (share.or(number(SHARE)?.map(|share| (share, SHARE))), &running.memory_limit)
        {
            if share > 1.0 {
                return Err(Failure::usage(format!("{by}: got {share}, expected a share of the memory, at most 1")));
            }
            limit = smaller(limit, (limit.bytes as f64 * share / USED) as u64, by);
        }
        running.hardware().check()?;
        running.apply(&mut config.fitting.options)?;
        let (mut pace, mut folder, mut log) = (Pace::of(running.checkpoint_every), args.checkpoint_dir.clone(), None);
        if let Some(saved) = &said.checkpoints {
            folder = folder.or_else(|| saved.folder.clone().filter(|_| running.checkpoint.is_none()));
            (pace.parts, pace.resumes) = (saved.every, saved.resumes);
            pace.older = saved.kept.map_or(pace.older, |kept| kept - 1);
        }
        if let Some(wanted) = &said.log {
            (running.timings, running.has_ceilings) = (true, running.timings);
            if running.log.is_none() {
                (log, running.log_threshold) = (Some(wanted.file.clone()), wanted.threshold);
            }
        }
        Ok(Self { checkpoint: running.checkpoint.clone(), pace, running, limit, log, folder })
    }

    /// The path of the log.
    pub(super) fn log_in(&self, out: &Path) -> Option<PathBuf> {
        self.running.log.clone().or_else(|| self.log.as_ref().map(|log| out.join(log)))
    }

    /// The experiment with its numbers where the plan has them; `None` if only the plan is shown.
    pub(super) fn planned(&self, experiment: Experiment, is_json: bool) -> Answer<Option<(Experiment, Plan)>> {
        let columns = 1 + u64::from(experiment.sigma.is_some());
        let pairs = experiment.t.len() * (experiment.t.len() - 1) / 2;
        let rows = (experiment.phi.len() * pairs) as u64;
        let matrices = experiment.c2.bytes() + experiment.sigma.as_ref().map_or(0, Values::bytes);
        // A part of rows has times and angles too, which are computed.
        let threads = self.running.thread_count() * (columns + 3) / columns;
        let facts = Facts { rows, columns, table_bytes: 0, threads, limit: self.limit.bytes };
        let parts = Plan::of(&facts, Some(Strategy::Streaming))?.bytes[3];
        // A plan adds the columns to the table; here the matrices and the parts are all there is.
        let table_bytes = (matrices + parts).saturating_sub(8 * columns * rows);
        let facts = Facts { table_bytes, ..facts };
        let plan = Plan::of(&facts, self.running.requested()?)?;
        let facts = Facts { threads: self.running.thread_count(), ..facts };
        if self.running.plan {
            show(&plan, &facts, &self.limit, is_json);
            return Ok(None);
        }
        let is_held = plan.strategy == Strategy::Standard;
        if !is_held && !experiment.c2.is_stored() {
            let strategy = plan.strategy.name();
            return Err(Failure::usage(format!(
                "strategy: {strategy}: c2_exp is in Fortran order, which is not read in parts: expected C order, or standard"
            )));
        }
        Ok(Some((if is_held { experiment.held()? } else { experiment }, plan)))
    }

    /// What solves the fit of a data file, with results in a folder.
    pub(super) fn solver(
        &self,
        (fitting, experiment): (&Fitting, &Experiment),
        [data, out]: [&Path; 2],
        log: Option<&Path>,
        is_forced: bool,
    ) -> Answer<Solver<'_>> {
        let Fitting { loss, loss_scale, is_absolute, options, .. } = fitting;
        let SolveOptions { seed, evaluations, method, global, recovers, .. } = options;
        let identity = format!(
            "{} xpcs {} {} {loss_scale} {is_absolute} {seed} {evaluations} {method:?} {global:?} {recovers} {}",
            env!("CARGO_PKG_VERSION"),
            fitting.model.formula(experiment)?,
            loss.name(),
            self.running.device
        );
        let mut checkpoint = self.checkpoint.clone();
        if let Some(folder) = &self.folder {
            host::make_folder(folder)?;
            let digest = Sha256::digest(format!("{identity} {} {}", data.display(), out.display()));
            let digits: String = digest[..4].iter().map(|byte| format!("{byte:02x}")).collect();
            checkpoint = Some(folder.join(format!("xpcs-{digits}.ckpt")));
        }
        let lock = checkpoint.as_deref().map(FileLock::of).transpose()?.flatten();
        interrupt::watch_until_work();
        let log = Log::new("mero xpcs", log, self.running.log_threshold)?;
        Ok(Solver { run: self, checkpoint, identity, is_forced, log, done: Vec::new(), lock })
    }
}

/// The rows that stay in memory besides matrices.
pub(super) fn kept_rows(plan: &Plan, experiment: &Experiment) -> usize {
    match plan.strategy {
        Strategy::Standard | Strategy::Streaming => 0,
        Strategy::Large => experiment.phi.len() * experiment.t.len() * (experiment.t.len() - 1) / 2,
        Strategy::Chunked => plan.held as usize,
    }
}

/// Solves the searches of a fit, each with a checkpoint of its own.
pub(super) struct Solver<'a> {
    run: &'a Run,
    checkpoint: Option<PathBuf>,
    identity: String,
    is_forced: bool,
    log: Log,
    done: Vec<Checkpoint>,
    lock: Option<FileLock>,
}

impl Solver<'_> {
    /// Solves the search of this number.
    pub(super) fn solve(
        &mut self,
        problem: &Problem<'_>,
        options: &SolveOptions,
        rows: &dyn RowSource,
        (number, timings): (usize, &mut Timings),
    ) -> Answer<Fit> {
        // The searches before this one are not repeated if it is ended.
        self.done.iter_mut().for_each(|checkpoint| checkpoint.keep_all(&mut self.log));
        let mut identity = Sha256::new();
        identity.update(format!("{} {number} {:?}", self.identity, problem.parameters()));
        let saved = self.checkpoint.as_ref().map(|path| numbered(path, number));
        if saved.is_some() {
            identity.update(rows.fingerprint()?);
        }
        let job = Job {
            saved: saved.as_deref().map(|path| (path, self.run.pace)),
            is_forced: self.is_forced,
            columns: rows.columns().len(),
            log: &mut self.log,
            timings,
        };
        let (fit, checkpoint) = self.run.running.solve(problem, options, identity, job)?;
        self.done.extend(checkpoint);
        Ok(fit)
    }

    /// Removes the checkpoints of a fit that is done.
    pub(super) fn finish(self) -> Answer {
        let Self { run, done, lock, .. } = self;
        done.iter().try_for_each(Checkpoint::remove)?;
        // It has a file in the folder.
        drop(lock);
        if let Some(folder) = &run.folder {
            // One that holds something else stays.
            let _ = std::fs::remove_dir(folder);
        }
        Ok(())
    }
}

/// The checkpoint of a search.
fn numbered(path: &Path, number: usize) -> PathBuf {
    if number == 0 {
        return path.to_owned();
    }
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".search{number}"));
    PathBuf::from(name)
}

/// Threads in the environment.
fn threads_of_environment() -> Answer<Option<usize>> {
    let Some(threads) = number(THREADS)? else { return Ok(None) };
    if threads.fract() != 0.0 || threads > 1024.0 {
        return Err(Failure::usage(format!("{THREADS}: got {threads}, expected a whole number from 1 to 1024")));
    }
    Ok(Some(threads as usize))
}

/// A number above 0 in the environment.
fn number(name: &str) -> Answer<Option<f64>> {
    let Ok(text) = std::env::var(name) else { return Ok(None) };
    let number = host::parse_number(text.trim()).filter(|number| *number > 0.0);
    let wrong = || Failure::usage(format!("{name}: got \"{text}\", expected a number above 0"));
    number.ok_or_else(wrong).map(Some)
}
