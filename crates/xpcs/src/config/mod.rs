//! The configuration: a YAML file with the keys of homodyne. Keys that are unknown are an error with their lines and paths; those that set nothing here
//! are named in one note.

mod execution;
mod search;
mod starts;
mod yaml;

use std::path::PathBuf;

use super::angles::AngleRange;
use super::files::Setup;
use super::fitting::Fitting;
use super::model::{Convention, Flow, Model, Scaling, SincArgument, chosen};
use execution::expanded;
pub use execution::{Checkpoints, Execution, PerformanceLog};
use meromorph::error::{Error, Result};
pub use search::check_method;
use yaml::{Findings, Section, read};

/// What a configuration says.
#[derive(Clone, Debug)]
pub struct Config {
    /// The experiment.
    pub setup: Setup,
    /// The data file.
    pub data: Option<PathBuf>,
    /// The folder of the results.
    pub out: Option<PathBuf>,
    /// The angles to use; all if there are no ranges.
    pub angles: Vec<AngleRange>,
    /// Whether all angles are used if none is within the ranges.
    pub has_fallback: bool,
    /// The model, starts, bounds and search.
    pub fitting: Fitting,
    /// From how many angles on they share a contrast and an offset; `None` if the model's scaling is as it says.
    pub shared_from: Option<usize>,
    /// Memory, threads, checkpoints and logs.
    pub execution: Execution,
    /// Whether `model.scaling` or starts for each angle decide the scaling.
    has_scaling: bool,
    /// Parameters that are fitted; others keep their starts.
    active: Option<Vec<&'static str>>,
    /// What a reader has to know: keys that are not used.
    pub notes: Vec<String>,
}

/// Sections of homodyne that set nothing here; what is in them is not looked at.
const UNUSED: [&str; 9] = [
    "config_version",
    "metadata",
    "analysis_settings",
    "plotting",
    "quality_control",
    "noise_estimation",
    "validation",
    "v2_features",
    "workflows",
];

/// Keys of the section `output` that set nothing here.
const UNUSED_OUTPUT: [&str; 6] = ["base_directory", "formats", "create_subdirs", "timestamp_dirs", "plots", "reports"];

/// Names of modes; without and with flow.
const MODES: [(&str, Flow); 7] = [
    ("static", Flow::Static),
    ("static_isotropic", Flow::Static),
    ("static_anisotropic", Flow::Static),
    ("laminar_flow", Flow::Laminar),
    ("laminar", Flow::Laminar),
    ("heterodyne", Flow::TwoComponent),
    ("two_component", Flow::TwoComponent),
];

impl Config {
    /// Reads a configuration; `source` names it in errors, `flow` replaces the mode in it.
    pub fn parse(text: &str, source: &str, flow: Option<Flow>) -> Result<Self> {
        let (root, findings) = (read(text, source)?, Findings::default());
        let mut root = Section::root(&root, source, &findings)?;
        let mode = root.text("analysis_mode")?;
        let mode = mode.map(|mode| chosen("", mode, &MODES).map_err(|error| at(&root, "analysis_mode", &error)));
        let mode = mode.transpose()?;
        let missing =
            || Error::usage(format!("{source}: analysis_mode is missing: expected static, laminar_flow or heterodyne"));
        let flow = flow.or(mode).ok_or_else(missing)?;
        let mut config = Self {
            setup: Setup::default(),
            data: None,
            out: None,
            angles: Vec::new(),
            has_fallback: false,
            fitting: Fitting::new(Model::new(flow)),
            shared_from: None,
            execution: Execution::default(),
            has_scaling: false,
            active: None,
            notes: Vec::new(),
        };
        if let Some(section) = root.section("analyzer_parameters")? {
            config.read_setup(section)?;
        }
        if let Some(section) = root.section("experimental_data")? {
            config.read_data(section)?;
        }
        if let Some(section) = root.section("phi_filtering")? {
            config.read_angles(section)?;
        }
        if let Some(section) = root.section("model")? {
            config.read_model(section)?;
        }
        if let Some(section) = root.section("initial_parameters")? {
            config.read_starts(section)?;
        }
        if let Some(section) = root.section("parameter_space")? {
            config.read_bounds(section)?;
        }
        if let Some(section) = root.section("optimization")? {
            config.read_search(section)?;
        }
        if let Some(section) = root.section("performance")? {
            config.execution.read_performance(section)?;
        }
        if let Some(section) = root.section("logging")? {
            config.execution.read_logging(section)?;
        }
        if let Some(mut section) = root.section("output")? {
            config.out = section.text("directory")?.map(expanded).transpose()?;
            section.unused(&UNUSED_OUTPUT);
            section.switches(&["compress_hdf5", "compression_level"]);
            section.finish();
        }
        root.unused(&UNUSED);
        root.finish();
        findings.check(source)?;
        config.fix_inactive()?;
        config.notes.extend(findings.notes());
        Ok(config)
    }

    /// The scaling for so many angles, where the configuration leaves it to their number.
    pub fn settle_scaling(&mut self, angles: usize) {
        if let Some(shared_from) = self.shared_from {
            self.fitting.model.scaling = if angles >= shared_from { Scaling::Constant } else { Scaling::Individual };
        }
    }

    fn read_setup(&mut self, mut section: Section<'_>) -> Result<()> {
        self.setup.dt = section.number("dt")?;
        let first = section.whole("start_frame")?;
        // -1 is homodyne's way to say: up to the last one.
        let last = section.number("end_frame")?.filter(|last| *last != -1.0);
        if let Some(last) = last.filter(|last| *last < 1.0 || last.fract() != 0.0) {
            return Err(section.wrong("end_frame", &format!("got {last}, expected a whole number from 1 on, or -1")));
        }
        self.setup.frames = (first, last.map(|last| last as usize));
        if let Some(mut scattering) = section.section("scattering")? {
            self.setup.q = scattering.number("wavevector_q")?;
            scattering.finish();
        }
        if let Some(mut geometry) = section.section("geometry")? {
            self.setup.gap = geometry.number("stator_rotor_gap")?;
            geometry.finish();
        }
        section.finish();
        Ok(())
    }

    fn read_data(&mut self, mut section: Section<'_>) -> Result<()> {
        let file = section.text("file_path")?.map(expanded).transpose()?;
        let folder = section.text("data_folder_path")?.map(expanded).transpose()?;
        let name = section.text("data_file_name")?;
        self.data = file.or_else(|| name.map(|name| folder.unwrap_or_default().join(name)));
        section.unused(&["phi_angles_path", "phi_angles_file", "data_type", "file_format", "exchange_key"]);
        section.switches(&["cache_file_path", "cache_filename_template", "cache_compression", "cache_enabled"]);
        section.finish();
        Ok(())
    }

    fn read_angles(&mut self, mut section: Section<'_>) -> Result<()> {
        let is_enabled = section.flag("enabled")?.unwrap_or(true);
        self.has_fallback = section.flag("fallback_to_all_angles")?.unwrap_or(false);
        let mut ranges = Vec::new();
        for mut range in section.sections("target_ranges")? {
            let ends = range.number("min_angle")?.zip(range.number("max_angle")?);
            let missing = || range.wrong("min_angle", "a range needs min_angle and max_angle");
            let (low, high) = ends.ok_or_else(missing)?;
            ranges.push(AngleRange::new(low, high)?);
            // Only a remark.
            range.text("description")?;
            range.finish();
        }
        if ranges.is_empty() {
            ranges = vec![AngleRange::new(-10.0, 10.0)?, AngleRange::new(170.0, 190.0)?];
            if is_enabled {
                self.notes
                    .push("phi_filtering: no target_ranges: angles of -10 to 10 and of 170 to 190 are used".to_owned());
            }
        }
        if is_enabled {
            self.angles = ranges;
        }
        section.unused(&["algorithm", "tolerance", "quality_control"]);
        section.finish();
        Ok(())
    }

    fn read_model(&mut self, mut section: Section<'_>) -> Result<()> {
        let model = &mut self.fitting.model;
        if let Some(name) = section.text("preset")? {
            model.convention = chosen("", name, &Convention::ALL).map_err(|error| at(&section, "preset", &error))?;
        }
        if let Some(name) = section.text("sinc_arg")? {
            model.convention.argument =
                chosen("", name, &SincArgument::ALL).map_err(|error| at(&section, "sinc_arg", &error))?;
        }
        match section.whole("sinc_power")? {
            None => {}
            Some(power @ (1 | 2)) => model.convention.power = power as u32,
            Some(power) => return Err(section.wrong("sinc_power", &format!("got {power}, expected 1 or 2"))),
        }
        if let Some(name) = section.text("int_rule")? {
            check_rule(name).map_err(|error| at(&section, "int_rule", &error))?;
        }
        if let Some(name) = section.text("scaling")? {
            model.scaling = chosen("", name, &Scaling::ALL).map_err(|error| at(&section, "scaling", &error))?;
            self.has_scaling = true;
        }
        section.finish();
        Ok(())
    }
}

/// Errors unless an integration rule is supported.
pub fn check_rule(name: &str) -> Result<()> {
    match name {
        "trapezoid" => Ok(()),
        _ => Err(Error::usage(format!(
            "got \"{name}\", expected \"trapezoid\"; the plain cumulative sum (cumsum) of early versions is not supported"
        ))),
    }
}

/// The error with the line and path of a key.
fn at(section: &Section<'_>, name: &str, error: &Error) -> Error {
    section.wrong(name, error.to_string().trim_start_matches(": "))
}
