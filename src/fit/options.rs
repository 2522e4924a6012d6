//! The options of a curve fit in every face. To add one: a field of [`FitOptions`] and an entry here; flag, help, the JavaScript reader, TypeScript
//! types and the tables in the documents follow.

use super::{Background, Global, Method, Resampling, RobustLoss, SolveOptions};
use crate::options::{Entry, Group, Kind, Range, Table, Value};

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
