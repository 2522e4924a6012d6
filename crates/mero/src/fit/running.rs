//! How a fit runs, in `mero fit` and in `mero xpcs`: its device, threads, memory, checkpoints and log. None of it changes the answer.

use std::path::{Path, PathBuf};

use serde_json::json;

use crate::options::hardware::Hardware;
use crate::terminal::console::{say, say_json};
use crate::{Answer, Failure};
use meromorph::fit::{Facts, Plan, SolveOptions, Strategy};
use meromorph::internal::host::{self, MemoryLimit};
use meromorph::report::{Table as TextTable, binary, count};

/// The options of every fit that may be long.
#[derive(clap::Args, Clone)]
pub(crate) struct Running {
    /// Device of the search: a GPU searches in single precision, where the data allow it, and the cpu finds the last digits in double precision. Worth
    /// it from about a million rows: auto, cpu, webgpu
    #[arg(long, default_value = "cpu", value_name = "NAME")]
    pub(crate) device: String,
    /// Threads; 0 = all. The result is the same for any number
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub(crate) threads: usize,
    /// Where rows are while the fit runs; the result is the same: standard (the whole table in memory), large (the columns that are used), chunked (the
    /// first rows; the others are read in each pass), streaming (none). auto takes the first that fits into three quarters of the memory
    #[arg(long, default_value = "auto", value_name = "STRATEGY")]
    pub(crate) strategy: String,
    /// Memory that may be used, such as 8GB; the limits of control groups and of SLURM are known
    #[arg(long, value_name = "SIZE")]
    pub(crate) memory_limit: Option<String>,
    /// Print what each strategy would take and which is chosen, and do not fit
    #[arg(long)]
    pub(crate) plan: bool,
    /// File to save a long fit in now and then; the same command goes on from it, with the same result. On Ctrl-C, SIGTERM or SIGUSR1 the fit is
    /// saved and ends with exit code 75
    #[arg(long, value_name = "FILE", group = "saved")]
    pub(crate) checkpoint: Option<PathBuf>,
    /// Seconds between checkpoints
    #[arg(long, default_value_t = 30.0, value_name = "SECONDS", requires = "saved")]
    pub(crate) checkpoint_every: f64,
    /// File for a line of JSON for each evaluation and checkpoint: seconds, rows a second, bytes
    #[arg(long, value_name = "FILE")]
    pub(crate) log: Option<PathBuf>,
    /// Seconds from which something is written to the log
    #[arg(long, default_value_t = 0.1, value_name = "SECONDS", requires = "log")]
    pub(crate) log_threshold: f64,
    /// Memory of a GPU for rows that stay there, such as 8GB; others are uploaded in each pass. By default 1GiB
    #[arg(long, value_name = "SIZE")]
    pub(crate) device_memory: Option<String>,
    /// Also show where the time went: passes over the rows, rows a second, seconds of each part, memory, and the share of what this machine's memory
    /// can move. The report has them too
    #[arg(long)]
    pub(crate) timings: bool,
    /// Whether they are compared with what the machine can do, which takes a second.
    #[arg(skip = true)]
    pub(crate) has_ceilings: bool,
}

impl Running {
    pub(crate) fn hardware(&self) -> Hardware {
        Hardware::of(&self.device, self.threads)
    }

    /// What the search has to know.
    pub(crate) fn apply(&self, options: &mut SolveOptions) -> Answer {
        options.threads = self.threads;
        if let Some(text) = &self.device_memory {
            options.device_bytes = size("device-memory", text)?;
        }
        Ok(())
    }

    /// The memory that the fit may use.
    pub(crate) fn limit(&self) -> Answer<MemoryLimit> {
        let found = host::memory_limit();
        let Some(text) = &self.memory_limit else { return Ok(found) };
        Ok(smaller(found, size("memory-limit", text)?, "--memory-limit"))
    }

    pub(crate) fn requested(&self) -> Answer<Option<Strategy>> {
        Ok(if self.strategy == AUTO { None } else { Some(Strategy::named(&self.strategy)?) })
    }

    /// The threads that run.
    pub(crate) fn thread_count(&self) -> u64 {
        (if self.threads == 0 { host::threads() } else { self.threads }) as u64
    }

    /// The path of the log, for checks of outputs.
    pub(crate) fn log_path(&self) -> Option<&Path> {
        self.log.as_deref()
    }
}

/// Shows what each strategy would take.
pub(crate) fn show(plan: &Plan, facts: &Facts, limit: &MemoryLimit, is_json: bool) {
    if is_json {
        let needs: serde_json::Map<String, serde_json::Value> =
            Strategy::ALL.iter().zip(plan.bytes).map(|((name, _), bytes)| ((*name).to_owned(), bytes.into())).collect();
        return say_json(&json!({
            "event": "plan", "rows": facts.rows, "columns": facts.columns, "threads": facts.threads, "bytes": needs, "limit": limit.bytes,
            "limited_by": limit.by, "budget": plan.budget, "strategy": plan.strategy.name(), "rows_in_memory": plan.held, "reason": plan.reason(),
        }));
    }
    let mut table = TextTable::new(["strategy", "memory", ""]);
    for ((name, strategy), bytes) in Strategy::ALL.into_iter().zip(plan.bytes) {
        let chosen = if strategy == plan.strategy { "chosen" } else { "" };
        table = table.row([name.to_owned(), binary(bytes), chosen.to_owned()]);
    }
    say(&format!(
        "{} rows of {} columns, {} threads\n{} may be used ({}), three quarters of it by the fit: {}\n\n{}",
        count(facts.rows),
        facts.columns,
        facts.threads,
        binary(limit.bytes),
        limit.by,
        binary(plan.budget),
        table.text()
    ));
    if plan.strategy == Strategy::Chunked {
        say(&format!("{} of the rows stay in memory, the others are read in each pass", count(plan.held)));
    }
}

/// The device that needs no search before the fit.
pub(crate) const CPU: &str = "cpu";

/// The strategy that is chosen by the memory.
pub(crate) const AUTO: &str = "auto";

/// The smaller of a limit and so many bytes, which `by` sets.
pub(crate) fn smaller(found: MemoryLimit, bytes: u64, by: &'static str) -> MemoryLimit {
    if bytes < found.bytes { MemoryLimit { bytes, by } } else { found }
}

fn size(option: &str, text: &str) -> Answer<u64> {
    let wrong = || Failure::usage(format!("{option}: got \"{text}\", expected a size such as 500MB, 8GB or 2GiB"));
    parse_bytes(text).ok_or_else(wrong)
}

/// A size such as 500MB or 2GiB.
fn parse_bytes(text: &str) -> Option<u64> {
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let value: f64 = text[..digits].parse().ok()?;
    let unit: f64 = match text[digits..].trim().to_ascii_lowercase().as_str() {
        "" | "b" => 1.0,
        "kb" => 1e3,
        "mb" => 1e6,
        "gb" | "g" => 1e9,
        "tb" => 1e12,
        "kib" => 1024.0,
        "mib" => 1024.0 * 1024.0,
        "gib" => 1024.0 * 1024.0 * 1024.0,
        _ => return None,
    };
    (value > 0.0).then_some((value * unit) as u64)
}

#[cfg(test)]
mod tests {
    use super::parse_bytes;

    #[test]
    fn sizes_have_units() {
        let cases = [("500MB", Some(500_000_000)), ("2GiB", Some(2 << 30)), ("1.5 kb", Some(1_500)), ("12", Some(12))];
        for (text, bytes) in cases.into_iter().chain([("x", None), ("3 apples", None), ("0", None), ("", None)]) {
            assert_eq!(parse_bytes(text), bytes, "{text}");
        }
    }
}
