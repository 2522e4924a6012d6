//! The section `optimization`: what is minimised and how, and the scaling of angles.

use super::yaml::Section;
use super::{Config, at};
use crate::model::{Scaling, chosen};
use meromorph::error::{Error, Result};
use meromorph::fit::{Global, Method, RobustLoss};

/// Keys of the sections `nlsq` and `lsq` that set nothing here: the search goes to the limit of rounding, with scales and damping of its own.
const UNUSED: [&str; 26] = [
    "enabled",
    "workflow",
    "goal",
    "tolerance",
    "ftol",
    "xtol",
    "gtol",
    "trust_region_scale",
    "verbose",
    "x_scale",
    "x_scale_map",
    "shear_transforms",
    "diagnostics",
    "enable_diagnostics",
    "progress",
    "enable_progress_bar",
    "log_iteration_interval",
    "hybrid_streaming",
    "enable_streaming",
    "streaming_chunk_size",
    "enable_stratified",
    "target_chunk_size",
    "max_recovery_attempts",
    "recovery",
    "quality_validation",
    "subsampling",
];

/// How contrast and offset depend on the angle.
#[derive(Clone, Copy)]
enum AngleMode {
    Auto,
    Constant,
    Fourier,
    Individual,
}

const ANGLE_MODES: [(&str, AngleMode); 4] = [
    ("auto", AngleMode::Auto),
    ("constant", AngleMode::Constant),
    ("fourier", AngleMode::Fourier),
    ("individual", AngleMode::Individual),
];

/// With `auto`, so many angles share a contrast and an offset.
const SHARED_FROM: usize = 3;

impl Config {
    pub(super) fn read_search(&mut self, mut section: Section<'_>) -> Result<()> {
        if let Some(method) = section.text("method")? {
            check_method(method).map_err(|error| at(&section, "method", &error))?;
        }
        if let Some(angles) = section.section("angle_filtering")? {
            self.read_angles(angles)?;
        }
        for name in ["nlsq", "lsq"] {
            if let Some(search) = section.section(name)? {
                self.read_least_squares(search)?;
            }
        }
        if let Some(mut recovery) = section.section("recovery")? {
            self.fitting.options.recovers = recovery.flag("enable")?.unwrap_or(self.fitting.options.recovers);
            recovery.unused(&["max_attempts", "lr_decay", "lambda_growth", "trust_decay", "log_retries"]);
            recovery.finish();
        }
        if let Some(streaming) = section.section("streaming")? {
            let notes = self.execution.read_streaming(streaming)?;
            self.notes.extend(notes);
        }
        section.unused(&[
            "vi",
            "hybrid",
            "mcmc",
            "cmc",
            "stratification",
            "sequential",
            "sharding",
            "backend_config",
            "combination",
            "per_shard_mcmc",
            "validation",
        ]);
        section.finish();
        Ok(())
    }

    fn read_least_squares(&mut self, mut search: Section<'_>) -> Result<()> {
        let options = &mut self.fitting.options;
        if let Some(name) = search.text("method")? {
            options.method = chosen("", name, &Method::ALL).map_err(|error| at(&search, "method", &error))?;
        }
        for name in ["max_iterations", "max_nfev"] {
            options.evaluations = search.whole(name)?.unwrap_or(options.evaluations);
        }
        options.recovers = search.flag("enable_recovery")?.unwrap_or(options.recovers);
        if let Some(name) = search.text("loss")? {
            self.fitting.loss = RobustLoss::named(name).map_err(|error| at(&search, "loss", &error))?;
        }
        if let Some(scale) = search.number("loss_scale")? {
            self.fitting.loss_scale = scale;
        }
        self.execution.read_memory(&mut search)?;
        if let Some(several) = search.section("multi_start")? {
            self.read_global(several, Global::MultiStart, &SEVERAL)?;
        }
        if let Some(evolution) = search.section("cmaes")? {
            self.read_global(evolution, Global::CmaEs, &EVOLUTION)?;
        }
        if let Some(angles) = search.section("anti_degeneracy")? {
            self.read_scaling(angles)?;
        }
        search.unused(&UNUSED);
        search.switches(&["fast_mode", "enable_numerical_validation", "validate_numerics"]);
        search.finish();
        Ok(())
    }

    /// A search all over the bounds, if it is enabled.
    fn read_global(&mut self, mut section: Section<'_>, global: Global, unused: &[&'static str]) -> Result<()> {
        if section.flag("enable")?.unwrap_or(false) {
            self.fitting.options.global = global;
        }
        if let Some(seed) = section.whole("seed")? {
            self.fitting.options.seed = seed as u64;
        }
        section.unused(unused);
        section.finish();
        Ok(())
    }

    fn read_scaling(&mut self, mut section: Section<'_>) -> Result<()> {
        let is_enabled = section.flag("enable")?.unwrap_or(true);
        let mode = section.text("per_angle_mode")?.unwrap_or("auto");
        let mode = chosen("", mode, &ANGLE_MODES).map_err(|error| at(&section, "per_angle_mode", &error))?;
        let shared_from = section.whole("constant_scaling_threshold")?.unwrap_or(SHARED_FROM);
        if !self.has_scaling {
            let path = section.path("per_angle_mode");
            let scaling = &mut self.fitting.model.scaling;
            match mode {
                AngleMode::Auto if is_enabled => self.shared_from = Some(shared_from),
                AngleMode::Constant if is_enabled => {
                    *scaling = Scaling::Constant;
                    self.notes.push(format!(
                        "{path}: one contrast and one offset are fitted for all angles; homodyne keeps estimates from quantiles of c2"
                    ));
                }
                AngleMode::Fourier if is_enabled => {
                    *scaling = Scaling::Individual;
                    self.notes.push(format!(
                        "{path}: a contrast and an offset are fitted for every angle; homodyne makes them smooth functions of it"
                    ));
                }
                _ => *scaling = Scaling::Individual,
            }
        }
        section.unused(&[
            "fourier_order",
            "fourier_auto_threshold",
            "hierarchical",
            "regularization",
            "gradient_monitoring",
            "shear_weighting",
        ]);
        section.finish();
        Ok(())
    }
}

/// Errors unless a method is least squares.
pub fn check_method(name: &str) -> Result<()> {
    match name {
        "nlsq" | "lsq" => Ok(()),
        _ => Err(Error::usage(format!(
            "got \"{name}\", expected \"nlsq\": only least squares is supported, whose standard errors follow from the curvature at the minimum"
        ))),
    }
}

/// Keys of `multi_start` that set nothing here.
const SEVERAL: [&str; 11] = [
    "n_starts",
    "sampling_strategy",
    "n_workers",
    "use_screening",
    "screen_keep_fraction",
    "subsample_size",
    "warmup_only_threshold",
    "refine_top_k",
    "refinement_ftol",
    "degeneracy_threshold",
    "custom_starts",
];

/// Keys of `cmaes` that set nothing here.
const EVOLUTION: [&str; 25] = [
    "preset",
    "max_generations",
    "sigma",
    "sigma_warmstart",
    "warmstart_auto_skip",
    "warmstart_skip_threshold",
    "popsize",
    "tol_fun",
    "tol_x",
    "restart_strategy",
    "max_restarts",
    "population_batch_size",
    "data_chunk_size",
    "memory_limit_gb",
    "auto_select",
    "scale_threshold",
    "normalize",
    "normalization_epsilon",
    "refine_with_nlsq",
    "refinement_workflow",
    "refinement_ftol",
    "refinement_xtol",
    "refinement_gtol",
    "refinement_max_nfev",
    "refinement_loss",
];
