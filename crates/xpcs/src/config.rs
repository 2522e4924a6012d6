//! The configuration: a YAML file with the keys of homodyne. A key that is unknown is an error with its line and path; one that means nothing here is
//! named in the notes.

use std::path::PathBuf;

use super::angles::AngleRange;
use super::files::Setup;
use super::fitting::Fitting;
use super::model::{Convention, Flow, Model, Scaling, SincArgument, chosen};
use super::parameter::canonical;
use super::yaml::{Section, read};
use meromorph::error::{Error, Result};
use meromorph::fit::{Method, RobustLoss};

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
    /// Parameters that are fitted; others keep their starts.
    active: Option<Vec<&'static str>>,
    /// What a reader has to know: keys that are not used.
    pub notes: Vec<String>,
}

/// Sections of homodyne that mean nothing here.
const UNUSED: [&str; 8] = [
    "metadata",
    "analysis_settings",
    "performance",
    "logging",
    "plotting",
    "quality_control",
    "noise_estimation",
    "validation",
];

/// Keys of the section `output` that mean nothing here.
const UNUSED_OUTPUT: [&str; 6] =
    ["base_directory", "formats", "create_subdirs", "timestamp_dirs", "compress_hdf5", "compression_level"];

/// Names of modes; without and with flow.
const MODES: [(&str, Flow); 5] = [
    ("static", Flow::Static),
    ("static_isotropic", Flow::Static),
    ("static_anisotropic", Flow::Static),
    ("laminar_flow", Flow::Laminar),
    ("laminar", Flow::Laminar),
];

impl Config {
    /// Reads a configuration; `source` names it in errors, `flow` replaces the mode in it.
    pub fn parse(text: &str, source: &str, flow: Option<Flow>) -> Result<Self> {
        let root = read(text, source)?;
        let mut root = Section::root(&root, source)?;
        let mode = root.text("analysis_mode")?;
        let mode = mode.map(|mode| chosen("", mode, &MODES).map_err(|error| at(&root, "analysis_mode", &error)));
        let mode = mode.transpose()?;
        let missing = || Error::usage(format!("{source}: analysis_mode is missing: expected static or laminar_flow"));
        let flow = flow.or(mode).ok_or_else(missing)?;
        let mut config = Self {
            setup: Setup::default(),
            data: None,
            out: None,
            angles: Vec::new(),
            has_fallback: false,
            fitting: Fitting::new(Model::new(flow)),
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
        if let Some(mut section) = root.section("output")? {
            config.out = section.text("directory")?.map(PathBuf::from);
            section.unused(&UNUSED_OUTPUT, &mut config.notes);
            section.finish()?;
        }
        root.unused(&UNUSED, &mut config.notes);
        root.finish()?;
        config.fix_inactive()?;
        Ok(config)
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
            scattering.finish()?;
        }
        if let Some(mut geometry) = section.section("geometry")? {
            self.setup.gap = geometry.number("stator_rotor_gap")?;
            geometry.finish()?;
        }
        section.finish()
    }

    fn read_data(&mut self, mut section: Section<'_>) -> Result<()> {
        let file = section.text("file_path")?.map(PathBuf::from);
        let folder = section.text("data_folder_path")?.map(PathBuf::from);
        let name = section.text("data_file_name")?;
        if file.is_some() && name.is_some() {
            self.notes.push(format!("{} is not used: file_path is given", section.path("data_file_name")));
        }
        self.data = file.or_else(|| name.map(|name| folder.unwrap_or_default().join(name)));
        let unused = [
            "phi_angles_path",
            "phi_angles_file",
            "cache_file_path",
            "cache_filename_template",
            "cache_compression",
            "data_type",
            "file_format",
            "exchange_key",
        ];
        section.unused(&unused, &mut self.notes);
        section.finish()
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
            range.finish()?;
        }
        if ranges.is_empty() {
            ranges = vec![AngleRange::new(-10.0, 10.0)?, AngleRange::new(170.0, 190.0)?];
        }
        if is_enabled {
            self.angles = ranges;
        }
        section.unused(&["algorithm", "tolerance", "quality_control"], &mut self.notes);
        section.finish()
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
        }
        section.finish()
    }

    fn read_starts(&mut self, mut section: Section<'_>) -> Result<()> {
        let names = section.texts("parameter_names")?.unwrap_or_default();
        let values = section.numbers("values")?;
        let known = names.iter().map(|name| canonical(name)).collect::<Result<Vec<_>>>();
        let known = known.map_err(|error| at(&section, "parameter_names", &error))?;
        if let Some(twice) = (1..known.len()).find(|&at| known[..at].contains(&known[at])) {
            return Err(section.wrong("parameter_names", &format!("\"{}\" is there twice", names[twice])));
        }
        if let Some(values) = &values {
            if values.len() != names.len() {
                let (got, expected) = (values.len(), names.len());
                return Err(
                    section.wrong("values", &format!("got {got} values, expected {expected} as parameter_names"))
                );
            }
            let starts = known.iter().zip(values).map(|(known, value)| (known.name, *value));
            self.fitting.starts = starts.collect();
        }
        if let Some(names) = section.texts("active_parameters")? {
            let active = names.iter().map(|name| canonical(name).map(|known| known.name)).collect::<Result<_>>();
            self.active = Some(active.map_err(|error| at(&section, "active_parameters", &error))?);
        }
        for (name, value) in section.named_numbers("fixed_parameters")? {
            let known = canonical(name).map_err(|error| at(&section, "fixed_parameters", &error))?;
            self.fitting.fixed.push((known.name, value));
        }
        if let Some(mut scaling) = section.section("per_angle_scaling")? {
            for name in ["contrast", "offset"] {
                if let Some(values) = scaling.numbers(name)? {
                    self.fitting.model.scaling = Scaling::Individual;
                    self.fitting.angle_starts.push((name, values));
                }
            }
            scaling.finish()?;
        }
        // Units are those of the parameters, see `PARAMETERS`.
        section.unused(&["units"], &mut self.notes);
        section.finish()
    }

    fn read_bounds(&mut self, mut section: Section<'_>) -> Result<()> {
        for mut one in section.sections("bounds")? {
            let name = one.text("name")?.ok_or_else(|| one.wrong("name", "the name of the parameter is missing"))?;
            let known = canonical(name).map_err(|error| at(&one, "name", &error))?;
            let low = one.number("min")?.unwrap_or(known.bounds[0]);
            let high = one.number("max")?.unwrap_or(known.bounds[1]);
            let is_range = low < high;
            if !is_range {
                return Err(one.wrong("min", &format!("got {low} to {high}, expected min below max")));
            }
            if self.fitting.bounds.iter().any(|(other, _)| *other == known.name) {
                return Err(one.wrong("name", &format!("the bounds of \"{name}\" are there twice")));
            }
            self.fitting.bounds.push((known.name, [low, high]));
            one.unused(&["type", "prior_mu", "prior_sigma", "unit"], &mut self.notes);
            one.finish()?;
        }
        section.unused(&["model", "priors"], &mut self.notes);
        section.finish()
    }

    fn read_search(&mut self, mut section: Section<'_>) -> Result<()> {
        if let Some(method) = section.text("method")?.filter(|method| !["nlsq", "lsq"].contains(method)) {
            let what = format!("got \"{method}\", expected \"nlsq\": only least squares is supported");
            return Err(section.wrong("method", &what));
        }
        for name in ["nlsq", "lsq"] {
            let Some(mut search) = section.section(name)? else { continue };
            if let Some(name) = search.text("method")? {
                self.fitting.options.method =
                    chosen("", name, &Method::ALL).map_err(|error| at(&search, "method", &error))?;
            }
            if let Some(most) = search.whole("max_iterations")? {
                self.fitting.options.evaluations = most;
            }
            if let Some(name) = search.text("loss")? {
                self.fitting.loss = RobustLoss::named(name).map_err(|error| at(&search, "loss", &error))?;
            }
            if let Some(scale) = search.number("loss_scale")? {
                self.fitting.loss_scale = scale;
            }
            let unused = [
                "tolerance",
                "ftol",
                "xtol",
                "gtol",
                "trust_region_scale",
                "verbose",
                "x_scale_map",
                "shear_transforms",
                "diagnostics",
                "multi_start",
                "anti_degeneracy",
            ];
            search.unused(&unused, &mut self.notes);
            search.finish()?;
        }
        let unused =
            ["mcmc", "cmc", "streaming", "sharding", "backend_config", "combination", "per_shard_mcmc", "validation"];
        section.unused(&unused, &mut self.notes);
        section.finish()
    }

    /// Fixes what is not active at its start, and leaves out what the model does not have.
    fn fix_inactive(&mut self) -> Result<()> {
        let fitting = &mut self.fitting;
        let has = |name: &str| fitting.model.parameters().any(|known| known.name == name);
        let flow = fitting.model.flow.name();
        let mut foreign: Vec<&str> = Vec::new();
        let given = fitting.starts.iter().chain(&fitting.fixed).map(|(name, _)| *name);
        for name in given.chain(fitting.bounds.iter().map(|(name, _)| *name)) {
            if !has(name) && !foreign.contains(&name) {
                foreign.push(name);
            }
        }
        for name in foreign {
            self.notes.push(format!("\"{name}\" is not used: it is not a parameter of the model {flow}"));
        }
        fitting.starts.retain(|(name, _)| has(name));
        fitting.fixed.retain(|(name, _)| has(name));
        fitting.bounds.retain(|(name, _)| has(name));
        let Some(active) = &self.active else { return Ok(()) };
        for known in fitting.model.parameters() {
            // Contrast and offset are always fitted, unless they are fixed by name.
            let is_scaling = ["contrast", "offset"].contains(&known.name);
            if is_scaling || active.contains(&known.name) || fitting.fixed.iter().any(|(name, _)| *name == known.name) {
                continue;
            }
            let start = fitting.starts.iter().find(|(name, _)| *name == known.name).ok_or_else(|| {
                Error::usage(format!(
                    "initial_parameters.active_parameters: \"{}\" is not active and has no value to keep: expected one in values",
                    known.name
                ))
            })?;
            fitting.fixed.push(*start);
        }
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
