//! `mero xpcs`: fits two-time correlations, and makes synthetic ones.

mod homodyne;
mod model;
mod running;
mod synthetic;

use std::path::{Path, PathBuf};

use crate::config::MOST_BYTES;
use crate::fit::converged;
use crate::fit::running::Running;
use crate::fit::timings::Timings;
use crate::options::contents::{LOG, of_xpcs};
use crate::options::outputs::{Force, Wanted, check_outs, keep_out};
use crate::options::pairs::{pairs, range, value};
use crate::show::fitted::{cautions, parameter_table, stop_text};
use crate::terminal::console::{complain, say, say_data};
use crate::{Answer, Failure};
use homodyne::HomodyneArgs;
use meromorph::Error;
use meromorph::fit::{Global, RobustLoss};
use meromorph::internal::host;
use meromorph::report::{counted, duration, figure};
use meromorph_xpcs::{
    ARRAYS_FILE, AngleRange, Config, Experiment, Fitting, Outcome, PairRows, RESULT_FILES, Results, canonical,
    check_arrays, chosen, open_experiment, parse_angles,
};
use model::ModelArgs;
use running::{Run, kept_rows};
use synthetic::SyntheticArgs;

#[derive(clap::Args)]
pub(super) struct Args {
    /// Configuration: a YAML file with the keys of homodyne; also --config YAML
    #[arg(required_unless_present = "synthetic", value_name = "YAML")]
    file: Option<PathBuf>,
    /// Data: an NPZ file with phi_angles, c2_exp and t1 or dt; by default, experimental_data.file_path
    #[arg(long, alias = "data-file", value_name = "NPZ")]
    data: Option<PathBuf>,
    /// Folder of the result files; by default, output.directory, or else xpcs_results
    #[arg(short, long, alias = "output-dir", value_name = "DIR")]
    out: Option<PathBuf>,
    /// Angles to use, in degrees; by default, those of phi_filtering
    #[arg(long, value_name = "0,45,80..100", allow_hyphen_values = true)]
    phi_angles: Option<String>,
    /// Starts of parameters; others are looked for
    #[arg(long, value_name = "D0=1000,alpha=0.5", allow_hyphen_values = true)]
    p0: Vec<String>,
    /// Start of the contrast
    #[arg(long, value_name = "START")]
    contrast: Option<f64>,
    /// Start of the offset
    #[arg(long, value_name = "START")]
    offset: Option<f64>,
    /// Bounds of parameters, low:high; either may be left out
    #[arg(long, value_name = "D0=1:1e6", allow_hyphen_values = true)]
    bounds: Vec<String>,
    /// Parameters that keep a value
    #[arg(long, value_name = "D_offset=0", allow_hyphen_values = true)]
    fix: Vec<String>,
    /// Loss of a residual; all but linear are robust against outliers: linear, soft_l1, huber, cauchy, arctan
    #[arg(long, value_name = "LOSS")]
    loss: Option<String>,
    /// Size of a residual from which a robust loss counts it less, in units of c2, or of sigma if the data have it
    #[arg(long, value_name = "SIZE")]
    loss_scale: Option<f64>,
    /// Take the data's sigma as it is; by default, standard errors are scaled so that the residuals agree with them
    #[arg(long)]
    absolute_sigma: bool,
    /// Probability of the intervals
    #[arg(long, default_value_t = 0.95, value_name = "LEVEL")]
    level: f64,
    /// Evaluations of the model over all pairs of times, at most; 0 = 500 for each free parameter and 500 more
    #[arg(long, alias = "max-iterations", value_name = "N")]
    max_evaluations: Option<usize>,
    /// Search for the start all over the bounds, even if starts are given: none, multistart, cmaes
    #[arg(long, value_name = "HOW")]
    global: Option<String>,
    #[command(flatten)]
    running: Running,
    /// Folder for the checkpoint, in the place of --checkpoint
    #[arg(long, value_name = "DIR", group = "saved")]
    checkpoint_dir: Option<PathBuf>,
    /// Write no fitted_data.npz, and remove an older one
    #[arg(long)]
    no_arrays: bool,
    /// Print only JSON, one object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    homodyne: HomodyneArgs,
    #[command(flatten)]
    force: Force,
    #[command(flatten)]
    model: ModelArgs,
    #[command(flatten)]
    synthetic: SyntheticArgs,
}

pub(super) fn run(args: &Args) -> Answer {
    if let Some(out) = &args.synthetic.synthetic {
        return synthetic::run(&args.synthetic, &args.model, (args.json, args.force.force), out);
    }
    let (file, mut config) = args.config()?;
    let run = Run::of(args, &mut config)?;
    let mut timings = Timings::new(&run.running, run.running.timings);
    let data = args.data(&file, &config)?;
    let experiment = open_experiment(&data, &config.setup)?;
    if let Some(last) =
        config.setup.frames.1.filter(|last| *last > experiment.t.len() && config.setup.frames.0 <= Some(1))
    {
        let (times, data) = (experiment.t.len(), data.display());
        config.notes.push(format!("end_frame: {last} is beyond the {times} times of {data}, which are all used"));
    }
    let experiment = args.selected(experiment, &mut config)?;
    if args.model.has_no_scaling() {
        config.settle_scaling(experiment.phi.len());
    }
    let out = args.out.clone().or_else(|| config.out.clone()).unwrap_or_else(|| PathBuf::from("xpcs_results"));
    let Some((experiment, plan)) = run.planned(experiment, args.json)? else { return Ok(()) };
    if !args.no_arrays {
        check_arrays(&experiment, run.limit.bytes.min(host::memory_bytes()))?;
    }
    config.fitting.strategy = plan.strategy;
    // A folder that cannot be made is better known before the fit.
    host::make_folder(&out)?;
    let log = run.log_in(&out);
    let paths: Vec<(&str, PathBuf)> = RESULT_FILES.iter().map(|name| (*name, out.join(name))).collect();
    let outs = paths.iter().map(|(name, path)| (*name, Some(path.as_path()), Some(of_xpcs(name))));
    let outs: Vec<Wanted<'_>> = outs.chain([("log", log.as_deref(), Some(&LOG))]).collect();
    let inputs = [("configuration", file.as_path()), ("data", data.as_path())];
    check_outs(&outs, &inputs, args.force.force)?;
    let source = data.display().to_string();
    experiment.check().map_err(|error| error.within(&source))?;
    experiment.check_measured(&source)?;
    let mut solver = run.solver((&config.fitting, &experiment), [&data, &out], log.as_deref(), args.force.force)?;
    let rows = timings.metered(Box::new(PairRows::keeping(&experiment, kept_rows(&plan, &experiment))?));
    let outcome = config.fitting.solve_by(&experiment, &rows, |problem, options, number| {
        solver.solve(problem, options, &rows, (number, &mut timings))
    })?;
    if outcome.is_restarted {
        let note =
            "with the given starts the search ended where the data determine nothing: other starts were looked for";
        config.notes.push(note.to_owned());
    }
    let (timings, times) = timings.ended()?.unzip();
    let results = Results { outcome: &outcome, experiment: &experiment, data: &source, notes: &config.notes, timings };
    let mut written = Vec::new();
    for (name, bytes) in results.files(!args.no_arrays)? {
        let path = out.join(name);
        keep_out(&path, of_xpcs(name), &bytes, args.force.force)?;
        written.push(path);
    }
    if args.no_arrays {
        // Those of another fit would contradict the other files.
        host::remove(&out.join(ARRAYS_FILE))?;
    }
    // What it would save again is written.
    solver.finish()?;
    if args.json {
        say_data(format!("{}\n", results.report()).as_bytes());
        return converged(&outcome.fit);
    }
    for note in &config.notes {
        complain(&format!("xpcs: note: {note}"));
    }
    say(&summary(&outcome, &experiment, &source));
    if let Some(times) = times {
        say(&times);
    }
    let names: Vec<String> = written.iter().map(|path| path.display().to_string()).collect();
    say(&format!("wrote {}", names.join(", ")));
    converged(&outcome.fit)
}

impl Args {
    /// The configuration with what the command line changes, and its file.
    fn config(&self) -> Answer<(PathBuf, Config)> {
        let file = self.file.clone().unwrap_or_default();
        let source = file.display().to_string();
        let bytes = host::read_within(&file, MOST_BYTES, "a configuration")?;
        let text = String::from_utf8(bytes).map_err(|_| Error::new(format!("{source}: is not UTF-8 text")))?;
        let mut config = Config::parse(&text, &source, self.model.flow())?;
        self.homodyne.apply(&mut config)?;
        self.model.apply(&mut config.fitting.model)?;
        self.apply(&mut config.fitting)?;
        Ok((file, config))
    }

    /// The data file: a relative path is looked for in the current folder, then in that of the configuration.
    fn data(&self, file: &Path, config: &Config) -> Answer<PathBuf> {
        if let Some(data) = &self.data {
            return Ok(data.clone());
        }
        let missing = || {
            let source = file.display();
            Failure::usage(format!("data: {source} has no experimental_data.file_path: expected one, or --data"))
        };
        let data = config.data.clone().ok_or_else(missing)?;
        let beside = host::folder_of(file).join(&data);
        Ok(if !data.exists() && beside.exists() { beside } else { data })
    }

    /// Changes what the command line says of starts and of the search.
    fn apply(&self, fitting: &mut Fitting) -> Answer {
        let mut starts: Vec<(&'static str, f64)> = Vec::new();
        for (name, text) in pairs(&self.p0, "p0", "D0=1000")? {
            starts.push((canonical(name)?.name, value("p0", name, text)?));
        }
        starts.extend(self.contrast.map(|start| ("contrast", start)));
        starts.extend(self.offset.map(|start| ("offset", start)));
        fitting.starts.retain(|(known, _)| !starts.iter().any(|(name, _)| name == known));
        fitting.starts.extend(starts);
        for (name, text) in pairs(&self.bounds, "bounds", "D0=1:1e6")? {
            let (name, bounds) = (canonical(name)?.name, range(name, text)?);
            fitting.bounds.retain(|(known, _)| *known != name);
            fitting.bounds.push((name, bounds));
        }
        for (name, text) in pairs(&self.fix, "fix", "D_offset=0")? {
            let name = canonical(name)?.name;
            fitting.fixed.retain(|(known, _)| *known != name);
            fitting.fixed.push((name, value("fix", name, text)?));
        }
        if let Some(loss) = &self.loss {
            fitting.loss = RobustLoss::named(loss)?;
        }
        fitting.loss_scale = self.loss_scale.unwrap_or(fitting.loss_scale);
        fitting.is_absolute = self.absolute_sigma;
        if let Some(name) = &self.global {
            fitting.options.global = chosen("global", name, &Global::ALL)?;
        }
        let options = &mut fitting.options;
        options.level = self.level;
        options.evaluations = self.max_evaluations.unwrap_or(options.evaluations);
        Ok(())
    }

    /// The experiment with the angles to use.
    fn selected(&self, experiment: Experiment, config: &mut Config) -> Answer<Experiment> {
        let given = self.phi_angles.as_deref().map(parse_angles).transpose()?;
        let ranges = given.as_ref().unwrap_or(&config.angles);
        if ranges.is_empty() {
            return Ok(experiment);
        }
        match AngleRange::places(ranges, &experiment.phi) {
            Ok(places) => Ok(experiment.with_angles(&places)?),
            Err(error) if given.is_none() && config.has_fallback => {
                config.notes.push(format!("{error}: all angles are used, as fallback_to_all_angles says"));
                Ok(experiment)
            }
            Err(error) => Err(error.into()),
        }
    }
}

/// The fit for people.
fn summary(outcome: &Outcome, experiment: &Experiment, data: &str) -> String {
    let fit = &outcome.fit;
    let (angles, times) = (counted(experiment.phi.len(), "angle"), counted(experiment.t.len(), "time"));
    let mut text = format!("{}: {angles} and {times} of {data}\n\n", outcome.model.flow.name());
    text += &parameter_table(fit, &outcome.formula).text();
    let statistics = &fit.statistics;
    let chi = if experiment.sigma.is_some() { "reduced chi²" } else { "variance of the residuals" };
    text += &format!(
        "\n\n{chi} {}   R² {}   {} of freedom\n{} and {}\n",
        figure(statistics.reduced_chi_square),
        figure(statistics.r_squared),
        counted(fit.dof, "degree"),
        stop_text(fit),
        duration(outcome.seconds)
    );
    for caution in cautions(fit) {
        text += &format!("{caution}\n");
    }
    text.truncate(text.trim_end().len());
    text
}
