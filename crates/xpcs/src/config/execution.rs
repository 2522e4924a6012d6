//! What a configuration says of the machine: memory, threads, checkpoints and logs. None of it changes the answer.

use std::path::PathBuf;

use super::yaml::Section;
use meromorph::error::{Error, Result};
use meromorph::fit::Strategy;

/// Memory, threads, checkpoints and logs; `None` where nothing is said.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Execution {
    /// Where rows are while the fit runs.
    pub strategy: Option<Strategy>,
    /// Bytes that may be used, and the key that says so.
    pub memory: Option<(u64, &'static str)>,
    /// The share of the memory that the fit may use.
    pub memory_fraction: Option<f64>,
    /// Number of threads.
    pub threads: Option<usize>,
    /// Where and how often the fit is saved.
    pub checkpoints: Option<Checkpoints>,
    /// The log of what takes long.
    pub log: Option<PerformanceLog>,
}

/// Where and how often a fit is saved.
#[derive(Clone, Debug, PartialEq)]
pub struct Checkpoints {
    /// The folder, if the configuration names or switches it on.
    pub folder: Option<PathBuf>,
    /// Parts of rows between two checkpoints.
    pub every: Option<usize>,
    /// Checkpoints that are kept.
    pub kept: Option<usize>,
    /// Whether a checkpoint that is there is gone on from.
    pub resumes: bool,
}

/// A log of what takes long.
#[derive(Clone, Debug, PartialEq)]
pub struct PerformanceLog {
    /// Its file, in the folder of the results.
    pub file: PathBuf,
    /// Seconds from which something is written.
    pub threshold: f64,
}

const GIB: f64 = (1_u64 << 30) as f64;

impl Execution {
    pub(super) fn read_performance(&mut self, mut section: Section<'_>) -> Result<()> {
        if let Some(name) = section.text("strategy_override")? {
            let strategy = Strategy::named(name).map_err(|error| super::at(&section, "strategy_override", &error))?;
            self.strategy = Some(strategy);
        }
        if let Some(gib) = positive(&mut section, "memory_limit_gb")? {
            self.memory = Some(((gib * GIB) as u64, "memory_limit_gb"));
        }
        if let Some(mut computation) = section.section("computation")? {
            let threads = computation.word("cpu_threads");
            self.threads = threads.filter(|threads| threads != "auto").map_or(Ok(None), |text| {
                let threads = text.parse().ok().filter(|threads| *threads > 0);
                let what = || format!("got {text}, expected a number of threads, or auto");
                threads.map(Some).ok_or_else(|| computation.wrong("cpu_threads", &what()))
            })?;
            let unused = ["enable_jit", "gpu_acceleration", "vectorization_level", "numerical_precision"];
            computation.unused(&unused);
            computation.unused(&["gradient_clipping", "gradient_clip_value"]);
            computation.finish();
        }
        if let Some(mut memory) = section.section("memory_optimization")? {
            memory.unused(&["enabled", "max_memory_usage_gb", "chunk_size"]);
            memory.switches(&["enable_caching", "cache_strategy"]);
            memory.finish();
        }
        if let Some(mut files) = section.section("io_optimization")? {
            files.unused(&["memory_mapped_io", "parallel_loading", "prefetch_buffer_size"]);
            files.switches(&["compression_level"]);
            files.finish();
        }
        section.unused(&["enable_progress", "subsampling", "parallel_processing"]);
        section.switches(&["fast_mode", "enable_numerical_validation", "enable_caching", "caching"]);
        section.finish();
        Ok(())
    }

    /// The memory that the section `nlsq` allows.
    pub(super) fn read_memory(&mut self, section: &mut Section<'_>) -> Result<()> {
        if let Some(fraction) = section.number("memory_fraction")? {
            let is_share = fraction > 0.0 && fraction <= 1.0;
            if !is_share {
                let what = format!("got {fraction}, expected a share of the memory, above 0 and at most 1");
                return Err(section.wrong("memory_fraction", &what));
            }
            self.memory_fraction = Some(fraction);
        }
        if let Some(gib) = positive(section, "memory_threshold_gb")? {
            self.memory = self.memory.or(Some(((gib * GIB) as u64, "memory_threshold_gb")));
        }
        Ok(())
    }

    /// Checkpoints, and what a reader has to know.
    pub(super) fn read_streaming(&mut self, mut section: Section<'_>) -> Result<Vec<String>> {
        let folder = section.text("checkpoint_dir")?.map(expanded).transpose()?;
        let is_enabled = section.flag("enable_checkpoints")?.unwrap_or(folder.is_some());
        let every = section.whole("checkpoint_frequency")?;
        let kept = section.whole("keep_last_checkpoints")?;
        for (name, value) in [("checkpoint_frequency", every), ("keep_last_checkpoints", kept)] {
            if value == Some(0) {
                return Err(section.wrong(name, "got 0, expected a whole number from 1 on"));
            }
        }
        let resumes = section.flag("resume_from_checkpoint")?.unwrap_or(true);
        // How often and how many also holds for a folder of the command line.
        let folder = is_enabled.then(|| folder.unwrap_or_else(|| PathBuf::from("checkpoints")));
        self.checkpoints = Some(Checkpoints { folder, every, kept, resumes });
        let batch = section.word("batch_size").filter(|size| size != "auto");
        let notes = batch.map(|_| {
            let path = section.path("batch_size");
            format!("{path} changes nothing: rows are summed in parts of 32,768, whose order fixes every bit")
        });
        let unused =
            ["enable_fault_tolerance", "max_retries_per_batch", "min_success_rate", "adaptive_batching", "max_epochs"];
        section.unused(&unused);
        section.switches(&["validate_numerics", "fast_mode", "enable_numerical_validation", "enable_compression"]);
        section.finish();
        Ok(notes.into_iter().collect())
    }

    pub(super) fn read_logging(&mut self, mut section: Section<'_>) -> Result<()> {
        let is_on = section.flag("enabled")?.unwrap_or(true);
        if let Some(mut log) = section.section("performance")? {
            let is_enabled = log.flag("enabled")?.unwrap_or(true);
            let file = log.text("filename")?.map(PathBuf::from);
            let threshold = log.number("threshold_seconds")?.unwrap_or(0.1);
            if threshold < 0.0 {
                let what = format!("got {threshold}, expected a number of seconds from 0");
                return Err(log.wrong("threshold_seconds", &what));
            }
            if is_on && is_enabled {
                let file = file.unwrap_or_else(|| PathBuf::from("performance.log"));
                self.log = Some(PerformanceLog { file, threshold });
            }
            log.unused(&["level"]);
            log.finish();
        }
        section.unused(&["level", "format", "console", "file", "modules", "contexts", "scientific_contexts"]);
        section.finish();
        Ok(())
    }
}

fn positive(section: &mut Section<'_>, name: &'static str) -> Result<Option<f64>> {
    match section.number(name)? {
        Some(number) if number <= 0.0 => Err(section.wrong(name, &format!("got {number}, expected a number above 0"))),
        number => Ok(number),
    }
}

/// A path with the environment's variables in it, such as `/scratch/$SLURM_JOB_ID/checkpoints`. Errors if one is not set.
pub(super) fn expanded(text: &str) -> Result<PathBuf> {
    replaced(text, |name| std::env::var(name).ok()).map(PathBuf::from)
}

fn replaced(text: &str, variable: impl Fn(&str) -> Option<String>) -> Result<String> {
    let mut parts = text.split('$');
    let mut path = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let is_braced = part.starts_with('{');
        let inner = part.strip_prefix('{').unwrap_or(part);
        let end = inner.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(inner.len());
        let (name, rest) = inner.split_at(end);
        let rest = if is_braced { rest.strip_prefix('}') } else { Some(rest) };
        if let (false, Some(rest)) = (name.is_empty(), rest) {
            let missing = || Error::usage(format!("{text}: the environment variable {name} is not set"));
            path += &variable(name).ok_or_else(missing)?;
            path += rest;
        } else {
            path.push('$');
            path += part;
        }
    }
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::replaced;

    #[test]
    fn variables_of_the_environment_are_replaced_in_paths() {
        let known = |name: &str| (name == "JOB").then(|| "17".to_owned());
        let of = |text: &str| replaced(text, known).map_err(|error| error.to_string());
        assert_eq!(of("/scratch/$JOB/a").as_deref(), Ok("/scratch/17/a"));
        assert_eq!(of("${JOB}x/$").as_deref(), Ok("17x/$"));
        assert_eq!(of("$NONE/a").unwrap_err(), "$NONE/a: the environment variable NONE is not set");
    }
}
