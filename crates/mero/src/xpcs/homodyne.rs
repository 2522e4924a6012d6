//! The options of homodyne's command line that have other names here, or nothing to set.

use crate::Answer;
use meromorph_xpcs::{Config, check_method};

/// Options of homodyne.
#[expect(clippy::struct_excessive_bools, reason = "flags of another program")]
#[derive(clap::Args)]
#[command(next_help_heading = "Options of homodyne")]
pub(super) struct HomodyneArgs {
    /// Method: nlsq
    #[arg(long, value_name = "NAME")]
    method: Option<String>,
    #[arg(long, hide = true)]
    force_cpu: bool,
    #[arg(long, hide = true, value_name = "TOLERANCE")]
    tolerance: Option<f64>,
    #[arg(long, hide = true, value_name = "FRACTION")]
    gpu_memory_fraction: Option<f64>,
    #[arg(long, hide = true)]
    verbose: bool,
    #[arg(long, hide = true)]
    save_plots: bool,
    #[arg(long, hide = true, value_name = "NAME")]
    plotting_backend: Option<String>,
    #[arg(long, hide = true)]
    parallel_plots: bool,
    #[arg(long, hide = true, value_name = "FORMAT")]
    output_format: Option<String>,
}

impl HomodyneArgs {
    /// Errors if the method is another than least squares; names in a note what has no effect.
    pub(super) fn apply(&self, config: &mut Config) -> Answer {
        if let Some(method) = &self.method {
            check_method(method).map_err(|error| error.within("method"))?;
        }
        let given = [
            ("--tolerance", self.tolerance.is_some()),
            ("--gpu-memory-fraction", self.gpu_memory_fraction.is_some()),
            ("--force-cpu", self.force_cpu),
            ("--verbose", self.verbose),
            ("--save-plots", self.save_plots),
            ("--plotting-backend", self.plotting_backend.is_some()),
            ("--parallel-plots", self.parallel_plots),
            ("--output-format", self.output_format.is_some()),
        ];
        let given: Vec<&str> = given.into_iter().filter_map(|(name, is_given)| is_given.then_some(name)).collect();
        if !given.is_empty() {
            config.notes.push(format!("not used: {}", given.join(", ")));
        }
        Ok(())
    }
}
