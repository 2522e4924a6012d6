//! The options of a curve fit in every face. To add one: a field of [`FitOptions`] and an entry here; flag, help, the JavaScript reader, TypeScript
//! types and the tables in the documents follow.

use super::observed::{error_column, looks_like_errors};
use super::{Background, Fit, Resampling, add_bootstrap, add_derived, add_posterior, add_profiles};
use super::{ColumnFormula, Formula, Global, Method, Problem, RobustLoss, SolveOptions, is_named, named};
use super::{solve_inexact, with_errors_in_x};
use crate::error::{Error, Result, listed};
use crate::options::{Entry, Group, Kind, Range, Table, Value};
use crate::program::parse::is_name;

use super::answer::check_derived;
use super::formula::quoted;

/// What is fitted and how.
#[derive(Clone, Debug, PartialEq)]
pub struct FitOptions {
    /// Observed values: a column, or a formula over columns.
    pub y: Option<String>,
    /// Starts of parameters.
    pub p0: Vec<(String, f64)>,
    /// Bounds of parameters, infinite where an end is open.
    pub bounds: Vec<(String, [f64; 2])>,
    /// Parameters with the values that they keep.
    pub fix: Vec<(String, f64)>,
    /// Parameters with the formulas of others that they are.
    pub ties: Vec<(String, String)>,
    /// Standard deviations of the observed values: a column, or a formula over columns.
    pub sigma: Option<String>,
    /// Standard deviations of the one column of the model: a column, or a formula over columns.
    pub sigma_x: Option<String>,
    /// Formula over columns that is not 0 in the rows that are used; all without one.
    pub condition: Option<String>,
    /// What is subtracted from the observed values before the fit.
    pub background: Background,
    /// Weight of the second differences of a background by asymmetric least squares.
    pub smoothness: f64,
    /// Weight of rows above it; those below have 1 less it.
    pub asymmetry: f64,
    /// Whether sigma is taken as it is.
    pub absolute_sigma: bool,
    /// Whether rows with missing cells are left out.
    pub drops_missing: bool,
    /// Loss of a residual.
    pub loss: RobustLoss,
    /// Size of a residual from which a robust loss counts it less.
    pub loss_scale: f64,
    /// Whether intervals from the profile of the cost are computed.
    pub profile: bool,
    /// Fits of data that are drawn again; 0 for none.
    pub bootstrap: usize,
    /// What is drawn again for them.
    pub resample: Resampling,
    /// Draws of the posterior; 0 for none.
    pub sample: usize,
    /// Values that are computed from parameters, with their formulas.
    pub derive: Vec<(String, String)>,
    /// The search.
    pub solve: SolveOptions,
}

impl Default for FitOptions {
    fn default() -> Self {
        Self {
            y: None,
            p0: Vec::new(),
            bounds: Vec::new(),
            fix: Vec::new(),
            ties: Vec::new(),
            sigma: None,
            sigma_x: None,
            condition: None,
            background: Background::None,
            smoothness: 1e5,
            asymmetry: 0.01,
            absolute_sigma: false,
            drops_missing: false,
            loss: RobustLoss::default(),
            loss_scale: 1.0,
            profile: false,
            bootstrap: 0,
            resample: Resampling::default(),
            sample: 0,
            derive: Vec::new(),
            solve: SolveOptions::default(),
        }
    }
}

/// The options of a curve fit.
pub static OPTIONS: Table<FitOptions> = Table {
    groups: &[
        Group { title: "Parameters", entries: || PARAMETERS },
        Group { title: "Observed values", entries: || OBSERVED },
        Group { title: "Search", entries: || SEARCH },
        Group { title: "Answer", entries: || ANSWER },
    ],
};

const PARAMETERS: &[Entry<FitOptions>] = &[
    Entry::new("p0", Kind::Numbers, "Starts of parameters; others are looked for")
        .set(|options, value| options.p0 = value.numbers()),
    Entry::new("bounds", Kind::Ranges, "Bounds of parameters").set(|options, value| options.bounds = value.ranges()),
    Entry::new("fix", Kind::Numbers, "Parameters that keep a value")
        .set(|options, value| options.fix = value.numbers()),
    Entry::new(
        "tie",
        Kind::Fields { names: None, has_numbers: false, example: ["d", "2*a"] },
        "Parameters that are computed from others, such as d from 2*a",
    )
    .set(|options, value| options.ties = formulas(value)),
];

const OBSERVED: &[Entry<FitOptions>] = &[
    Entry::new(
        "y",
        Kind::Text("a column, or a formula over columns,"),
        "Observed values: a column, or a formula over columns such as \"log(y)\"",
    )
    .default("the last column that the model does not use")
    .set(|options, value| options.y = Some(value.text().to_owned())),
    Entry::new(
        "sigma",
        Kind::Text("a column, or a formula over columns,"),
        "Standard deviations of the observed values, such as \"max(1, sqrt(n))\": rows are weighted by 1 / sigma²",
    )
    .set(|options, value| options.sigma = Some(value.text().to_owned())),
    Entry::new(
        "sigma_x",
        Kind::Text("a column, or a formula over columns,"),
        "Standard deviations of the one column that the model uses, if it has errors too (effective variance)",
    )
    .needs(|options: &FitOptions| options.sigma.is_some(), "{sigma}")
    .set(|options, value| options.sigma_x = Some(value.text().to_owned())),
    Entry::new(
        "absolute_sigma",
        Kind::Flag,
        "Take {sigma} as it is; else standard errors are scaled so that the residuals agree with them",
    )
    .default("false")
    .needs(|options: &FitOptions| options.sigma.is_some(), "{sigma}")
    .set(|options, value| options.absolute_sigma = value.flag()),
    Entry::new(
        "where",
        Kind::Text("a formula over columns"),
        "Rows that are used, such as \"x > 3 && x < 9\"; && is and, || is or",
    )
    .default("all rows")
    .set(|options, value| options.condition = Some(value.text().to_owned())),
    Entry::new(
        "background",
        Kind::Name(|| {
            vec![
                ("none", "Nothing"),
                ("shirley", "That of electrons that lost energy"),
                ("als", "A smooth curve below the peaks, by asymmetric least squares"),
            ]
        }),
        "What is subtracted from the observed values before the fit",
    )
    .default("none")
    .set(|options, value| options.background = value.one_of(&Background::ALL)),
    Entry::new(
        "smoothness",
        Kind::Double(Range::Positive),
        "How smooth the background of als is: the weight of its second differences",
    )
    .default("1e5")
    .needs(|options: &FitOptions| options.background == Background::Als, "{background} als")
    .set(|options, value| options.smoothness = value.number()),
    Entry::new(
        "asymmetry",
        Kind::Double(Range::Probability),
        "Weight of rows above the background of als; those below have 1 less it",
    )
    .default("0.01")
    .needs(|options: &FitOptions| options.background == Background::Als, "{background} als")
    .set(|options, value| options.asymmetry = value.number()),
    Entry::new(
        "missing",
        Kind::Name(|| vec![("error", "An error"), ("drop", "Such rows are left out")]),
        "What happens to rows with a missing cell in a column that is used",
    )
    .default("error")
    .set(|options, value| options.drops_missing = value.text() == "drop"),
    Entry::new(
        "loss",
        Kind::Name(|| RobustLoss::CHOICES.map(|(name, loss)| (name, loss.summary())).to_vec()),
        "Loss of a residual r, with z = (r / {loss_scale})²; soft_l1, huber, cauchy and arctan are robust against outliers. poisson is for counts: the \
         most likely parameters, also where counts are few",
    )
    .default("linear")
    .set(|options, value| options.loss = value.one_of(&RobustLoss::CHOICES)),
    Entry::new(
        "loss_scale",
        Kind::Double(Range::Positive),
        "Size of a residual from which a robust loss counts it less, in units of y, or with {sigma} of sigma",
    )
    .default("1")
    .needs(
        |options: &FitOptions| !matches!(options.loss, RobustLoss::Linear | RobustLoss::Poisson),
        "a robust loss: {loss} soft_l1, huber, cauchy or arctan",
    )
    .set(|options, value| options.loss_scale = value.number()),
];

const SEARCH: &[Entry<FitOptions>] = &[
    Entry::new(
        "method",
        Kind::Name(|| vec![("trf", "Trust region, which takes bounds"), ("lm", "Levenberg–Marquardt, without bounds")]),
        "How the minimum is searched",
    )
    .default("trf")
    .set(|options, value| options.solve.method = value.one_of(&Method::ALL)),
    Entry::new(
        "global",
        Kind::Name(|| {
            vec![
                ("none", "Only for parameters without a start"),
                ("multistart", "Many searches, from the best of many draws"),
                ("cmaes", "An evolution strategy"),
            ]
        }),
        "Search for the start all over the bounds, on up to a thousand rows, even if {p0} is given",
    )
    .default("none")
    .set(|options, value| options.solve.global = value.one_of(&Global::ALL)),
    Entry::new(
        "recovery",
        Kind::Switch,
        "Search again from other starts if a search gets stuck or the model is not finite at the start",
    )
    .default("true")
    .set(|options, value| options.solve.recovers = value.flag()),
    Entry::new(
        "max_evaluations",
        Kind::EXACT,
        "Evaluations of the model over all rows, at most; 0 means 500 for each free parameter, and 500 more",
    )
    .default("0")
    .set(|options, value| options.solve.evaluations = value.whole()),
    Entry::new("seed", Kind::EXACT, "Seed of the starts that are tried for parameters without one")
        .default("0")
        .set(|options, value| options.solve.seed = value.number() as u64),
];

const ANSWER: &[Entry<FitOptions>] = &[
    Entry::new("level", Kind::Double(Range::Probability), "Probability of intervals and bands")
        .default("0.95")
        .set(|options, value| options.solve.level = value.number()),
    Entry::new(
        "profile",
        Kind::Flag,
        "Also compute intervals from the profile of the cost: they are right where the model bends, and take some fits for each parameter",
    )
    .default("false")
    .set(|options, value| options.profile = value.flag()),
    Entry::new(
        "bootstrap",
        Kind::EXACT,
        "Also compute intervals from so many fits of data that are drawn again, such as 1000; 0 means none",
    )
    .default("0")
    .set(|options, value| options.bootstrap = value.whole()),
    Entry::new(
        "resample",
        Kind::Name(|| vec![("residuals", "Rows keep their places"), ("rows", "Errors may differ in size")]),
        "What is drawn again",
    )
    .default("residuals")
    .needs(|options: &FitOptions| options.bootstrap > 0, "{bootstrap}")
    .set(|options, value| options.resample = value.one_of(&Resampling::ALL)),
    Entry::new(
        "sample",
        Kind::EXACT,
        "Also draw so many times from the posterior of the parameters, such as 10000, with a flat prior within {bounds}; 0 means none",
    )
    .default("0")
    .set(|options, value| options.sample = value.whole()),
    Entry::new(
        "derive",
        Kind::Fields { names: None, has_numbers: false, example: ["fwhm", "2.3548*sigma"] },
        "Values that are computed from parameters, with their standard errors",
    )
    .set(|options, value| options.derive = formulas(value)),
];

/// Formulas by name.
fn formulas(value: &Value) -> Vec<(String, String)> {
    let one = |(name, formula): &(String, Value)| (name.trim().to_owned(), formula.text().trim().to_owned());
    value.fields().iter().map(one).collect()
}

impl FitOptions {
    /// The model with its ties, over columns called `names`. `model` is a formula, or a named model over the first column that is not observed.
    pub fn formula(&self, model: &str, names: &[&str]) -> Result<Formula> {
        let model = model.trim();
        let others = [self.y.as_deref(), self.sigma.as_deref()].map(|text| text.map(str::trim));
        let first = names.iter().find(|name| !others.contains(&Some(**name)) && !others.contains(&Some(&quoted(name))));
        let text = match first {
            // A column alone has no parameters, so a name that is both means the model.
            Some(first) if is_name(model) && (!names.contains(&model) || is_named(model)) => named(model, first)?,
            _ => model.to_owned(),
        };
        let mut formula = Formula::parse(&text, names).map_err(|error| explained(error, names))?;
        check_columns(&formula, names)?;
        for (name, text) in &self.ties {
            formula = formula.tied(name, text)?;
        }
        Ok(formula)
    }

    /// The observed values: those of the option y, or the last column that the model does not use and whose name is none of standard errors.
    pub fn target(&self, names: &[&str], formula: &Formula) -> Result<String> {
        if let Some(y) = &self.y {
            let y = ColumnFormula::parse("y", y, names)?;
            return Ok(y.column().unwrap_or(y.text()).to_owned());
        }
        let sigma = self.sigma(names)?;
        let is_used = |name: &str| {
            formula.columns().iter().any(|known| known == name)
                || formula.level_columns().contains(&name)
                || sigma.as_ref().is_some_and(|sigma| sigma.column() == Some(name))
        };
        let unused: Vec<&str> = names.iter().copied().filter(|name| !is_used(name)).collect();
        let values = unused.iter().rfind(|name| !looks_like_errors(name));
        values.or(unused.last()).map(|name| (*name).to_owned()).ok_or_else(|| {
            Error::usage("y: the model uses every column: expected the option y with the column of the observed values")
        })
    }

    /// What to know if y was chosen and a column looks like its standard errors.
    pub fn target_note(&self, names: &[&str], formula: &Formula, target: &str) -> Option<String> {
        let is_chosen = self.y.is_none() && self.sigma.is_none();
        let is_free = |name: &&&str| **name != target && !formula.columns().iter().any(|known| known == **name);
        let errors = error_column(names.iter().filter(is_free).copied(), target).filter(|_| is_chosen)?;
        Some(format!(
            "y is \"{target}\"; \"{errors}\" looks like its standard deviations: --sigma \"{errors}\" weights the rows by them"
        ))
    }

    /// The standard deviations of the observed values.
    pub fn sigma(&self, names: &[&str]) -> Result<Option<ColumnFormula>> {
        self.sigma.as_deref().map(|text| ColumnFormula::parse("sigma", text, names)).transpose()
    }

    /// The standard deviations of the column of the model.
    pub fn sigma_x(&self, names: &[&str]) -> Result<Option<ColumnFormula>> {
        self.sigma_x.as_deref().map(|text| ColumnFormula::parse("sigma-x", text, names)).transpose()
    }

    /// The condition on rows.
    pub fn condition(&self, names: &[&str]) -> Result<Option<ColumnFormula>> {
        self.condition.as_deref().map(|text| ColumnFormula::parse("where", text, names)).transpose()
    }

    /// Adds to a solved fit what the options want besides: intervals by profiles and by fits of drawn data, draws of the posterior, derived values.
    ///
    /// With standard deviations of the column of the model, the fit is first solved again with them.
    pub fn add_figures(&self, problem: &Problem<'_>, fit: &mut Fit, sigma_x: Option<&[f64]>) -> Result<()> {
        if let Some(sigma_x) = sigma_x {
            let inexact = with_errors_in_x(problem, fit, sigma_x)?;
            *fit = solve_inexact(&inexact, fit, &self.solve)?;
            return self.add_figures(&inexact, fit, None);
        }
        if self.profile {
            add_profiles(problem, fit, &self.solve)?;
        }
        if self.bootstrap > 0 {
            add_bootstrap(problem, fit, (self.bootstrap, self.resample), &self.solve)?;
        }
        if self.sample > 0 {
            add_posterior(problem, fit, self.sample, &self.solve)?;
        }
        add_derived(problem, fit, &self.derive)
    }

    /// How many fits are searched. With a robust loss each is solved on its own: the errors of a batch are those of least squares.
    pub fn for_many(&self, problem: &Problem<'_>) -> SolveOptions {
        let default = 500 * (problem.formula().parameters().len() as u64 + 1);
        let is_batched = matches!(self.loss, RobustLoss::Linear | RobustLoss::Poisson) || self.solve.evaluations > 0;
        let evaluations = if is_batched { self.solve.evaluations } else { default as usize };
        SolveOptions { evaluations, ..self.solve.clone() }
    }

    /// The problem with its loss, starts, bounds and fixed parameters.
    pub fn completed<'a>(&self, problem: Problem<'a>) -> Result<Problem<'a>> {
        check_derived(problem.formula(), &self.derive)?;
        let mut problem = problem.loss(self.loss, self.loss_scale)?;
        if self.solve.method == Method::TrustRegion {
            problem = problem.usual_bounds();
        }
        for (name, [low, high]) in &self.bounds {
            problem = problem.bounds(name, *low, *high)?;
        }
        if let Some((name, _)) = self.p0.iter().find(|(name, _)| self.fix.iter().any(|(other, _)| other == name)) {
            return Err(Error::usage(format!("p0: {name} is fixed: expected p0 or fix for it, not both")));
        }
        for (name, value) in &self.p0 {
            problem = problem.start(name, *value)?;
        }
        for (name, value) in &self.fix {
            problem = problem.fix(name, *value)?;
        }
        Ok(problem)
    }
}

/// Errors if the formula uses no column; perhaps a parameter is a mistyped one.
fn check_columns(formula: &Formula, names: &[&str]) -> Result<()> {
    if !formula.columns().is_empty() {
        return Ok(());
    }
    let like = |name: &String| names.iter().find(|column| column.eq_ignore_ascii_case(name));
    let near = formula.parameters().iter().find_map(like);
    let near = near.map_or(String::new(), |column| format!("; did you mean \"{column}\"?"));
    let columns = listed(names);
    Err(Error::usage(format!("model: it uses no column: expected at least one of {columns}{near}")))
}

/// An error of the formula with the columns of the table.
fn explained(error: Error, names: &[&str]) -> Error {
    let message = error.to_string();
    if message.starts_with("model: ") {
        return error;
    }
    let odd = names.iter().find(|name| quoted(name) != **name);
    let odd = odd.map_or(String::new(), |name| format!("; \"{name}\" is written {} in a formula", quoted(name)));
    Error::usage(format!("model: {message}; columns are {}{odd}", listed(names)))
}
