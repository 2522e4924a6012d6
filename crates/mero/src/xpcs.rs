//! `mero xpcs`: fits two-time correlations, and makes synthetic ones.

mod model;
mod synthetic;

use std::path::{Path, PathBuf};

use crate::config::MOST_BYTES;
use crate::options::contents::of_xpcs;
use crate::options::outputs::{Force, Wanted, check_outs, keep_out};
use crate::options::pairs::{pairs, range, value};
use crate::show::fitted::{cautions, parameter_table, stop_text};
use crate::terminal::console::{complain, say, say_data};
use crate::{Answer, Failure};
use meromorph::Error;
use meromorph::fit::RobustLoss;
use meromorph::internal::host;
use meromorph::report::{counted, duration, figure};
use meromorph_xpcs::{
    ARRAYS_FILE, AngleRange, Config, Experiment, Fitting, Outcome, RESULT_FILES, Results, canonical, parse_angles,
    read_experiment,
};
use model::ModelArgs;
use synthetic::SyntheticArgs;

#[derive(clap::Args)]
pub(super) struct Args {
    /// Configuration: a YAML file with the keys of homodyne
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
    /// Threads; 0 = all. The result is the same for any number
    #[arg(long, default_value_t = 0, value_name = "N")]
    threads: usize,
    /// Write no fitted_data.npz, and remove an older one
    #[arg(long)]
    no_arrays: bool,
    /// Print only JSON, one object
    #[arg(long)]
    json: bool,
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
    let file = args.file.as_deref().unwrap_or(Path::new(""));
    let source = file.display().to_string();
    let bytes = host::read_within(file, MOST_BYTES, "a configuration")?;
    let text = String::from_utf8(bytes).map_err(|_| Error::new(format!("{source}: is not UTF-8 text")))?;
    let mut config = Config::parse(&text, &source, args.model.flow())?;
    args.model.apply(&mut config.fitting.model)?;
    args.apply(&mut config.fitting)?;
    let data = args.data.clone().or_else(|| config.data.clone()).ok_or_else(|| {
        Failure::usage(format!("data: {source} has no experimental_data.file_path: expected one, or --data"))
    })?;
    let experiment = read_experiment(&data, &config.setup)?;
    let experiment = args.selected(experiment, &mut config)?;
    let out = args.out.clone().or_else(|| config.out.clone()).unwrap_or_else(|| PathBuf::from("xpcs_results"));
    // A folder that cannot be made is better known before the fit.
    host::make_folder(&out)?;
    let paths: Vec<(&str, PathBuf)> = RESULT_FILES.iter().map(|name| (*name, out.join(name))).collect();
    let outs: Vec<Wanted<'_>> =
        paths.iter().map(|(name, path)| (*name, Some(path.as_path()), Some(of_xpcs(name)))).collect();
    let inputs = [("configuration", file), ("data", data.as_path())];
    check_outs(&outs, &inputs, args.force.force)?;
    let outcome = config.fitting.solve(&experiment)?;
    if outcome.is_restarted {
        let note =
            "with the given starts the search ended where the data determine nothing: other starts were looked for";
        config.notes.push(note.to_owned());
    }
    let data = data.display().to_string();
    let results = Results { outcome: &outcome, experiment: &experiment, data: &data, notes: &config.notes };
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
    if args.json {
        say_data(format!("{}\n", results.report()).as_bytes());
        return Ok(());
    }
    for note in &config.notes {
        complain(&format!("xpcs: note: {note}"));
    }
    say(&summary(&outcome, &experiment, &data));
    let names: Vec<String> = written.iter().map(|path| path.display().to_string()).collect();
    say(&format!("wrote {}", names.join(", ")));
    Ok(())
}

impl Args {
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
        let options = &mut fitting.options;
        (options.level, options.threads) = (self.level, self.threads);
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
            Ok(places) => Ok(experiment.with_angles(&places)),
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
