//! The options of a curve fit in every face. To add one: a field of [`FitOptions`] and an entry here; flag, help, the JavaScript reader, TypeScript
//! types and the tables in the documents follow.

use super::{Formula, Global, Method, Problem, RobustLoss, SolveOptions, is_named, named};
use crate::error::{Error, Result, listed};
use crate::options::{Entry, Group, Kind, Range, Table, Value};
use crate::program::parse::is_name;

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
    /// Column of standard deviations of the observed values.
    pub sigma: Option<String>,
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
            absolute_sigma: false,
            drops_missing: false,
            loss: RobustLoss::default(),
            loss_scale: 1.0,
            profile: false,
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
    .set(|options, value| {
        let tie = |(name, formula): &(String, Value)| (name.trim().to_owned(), formula.text().trim().to_owned());
        options.ties = value.fields().iter().map(tie).collect();
    }),
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
        Kind::Text("the name of a column"),
        "Column of standard deviations of the observed values: rows are weighted by 1 / sigma²",
    )
    .set(|options, value| options.sigma = Some(value.text().to_owned())),
    Entry::new(
        "absolute_sigma",
        Kind::Flag,
        "Take {sigma} as it is; else standard errors are scaled so that the residuals agree with them",
    )
    .default("false")
    .needs(|options: &FitOptions| options.sigma.is_some(), "{sigma}")
    .set(|options, value| options.absolute_sigma = value.flag()),
    Entry::new(
        "missing",
        Kind::Name(|| vec![("error", "An error"), ("drop", "Such rows are left out")]),
        "What happens to rows with a missing cell in a column that is used",
    )
    .default("error")
    .set(|options, value| options.drops_missing = value.text() == "drop"),
    Entry::new(
        "loss",
        Kind::Name(|| RobustLoss::ALL.map(|(name, loss)| (name, loss.summary())).to_vec()),
        "Loss of a residual r, with z = (r / {loss_scale})²; all but linear are robust against outliers",
    )
    .default("linear")
    .set(|options, value| options.loss = value.one_of(&RobustLoss::ALL)),
    Entry::new(
        "loss_scale",
        Kind::Double(Range::Positive),
        "Size of a residual from which a robust loss counts it less, in units of y, or with {sigma} of sigma",
    )
    .default("1")
    .needs(
        |options: &FitOptions| options.loss != RobustLoss::Linear,
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
];

impl FitOptions {
    /// The model with its ties, over columns called `names`. `model` is a formula, or a named model over the first column that is not observed.
    pub fn formula(&self, model: &str, names: &[&str]) -> Result<Formula> {
        let model = model.trim();
        let others = [self.y.as_deref(), self.sigma.as_deref()];
        let first = names.iter().find(|name| !others.contains(&Some(**name)));
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

    /// The observed values: those of the option y, or the last column that the model does not use.
    pub fn target(&self, names: &[&str], formula: &Formula) -> Result<String> {
        if let Some(y) = &self.y {
            return Ok(y.clone());
        }
        let is_used = |name: &str| {
            formula.columns().iter().any(|known| known == name)
                || formula.level_columns().contains(&name)
                || self.sigma.as_deref() == Some(name)
        };
        let error = || {
            Error::usage("y: the model uses every column: expected the option y with the column of the observed values")
        };
        names.iter().rfind(|name| !is_used(name)).map(|name| (*name).to_owned()).ok_or_else(error)
    }

    /// The problem with its loss, starts, bounds and fixed parameters.
    pub fn completed<'a>(&self, problem: Problem<'a>) -> Result<Problem<'a>> {
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
    let is_word = |name: &&&str| !is_name(name) || name.contains('-');
    let odd = names.iter().find(is_word).map_or(String::new(), |name| {
        format!("; to use \"{name}\", rename it: names in a formula have only letters, digits and _")
    });
    Error::usage(format!("model: {message}; columns are {}{odd}", listed(names)))
}
