//! Models by name: `gaussian(x)` is short for its formula, and `gaussian(x) + line(x)` for a sum whose parameters have names of their own.

use super::integral::NAME as CUMINT;
use super::quoted::quoted;
use super::words::{arguments, word};
use crate::error::{Error, Result, hint, unknown_name};
use crate::program::functions::functions;

/// A model with a name.
pub struct NamedModel {
    /// Its name.
    pub name: &'static str,
    /// What it describes.
    pub summary: &'static str,
    /// Its formula over x.
    pub formula: &'static str,
    /// Its parameters, in the order in which they are shown.
    pub parameters: &'static [&'static str],
    /// Those that are widths or scales: a negative value has no meaning, or the same as the positive one.
    pub positive: &'static [&'static str],
}

/// Every named model.
pub static MODELS: &[NamedModel] = &[
    NamedModel {
        name: "line",
        summary: "a straight line",
        formula: "offset + slope*x",
        parameters: &["offset", "slope"],
        positive: &[],
    },
    NamedModel {
        name: "exponential",
        summary: "decay to 0, or growth where rate is negative",
        formula: "amplitude*exp(-rate*x)",
        parameters: &["amplitude", "rate"],
        positive: &[],
    },
    NamedModel {
        name: "stretched",
        summary: "stretched exponential (Kohlrausch)",
        formula: "amplitude*exp(-(x/tau)^beta)",
        parameters: &["amplitude", "tau", "beta"],
        positive: &["tau", "beta"],
    },
    NamedModel {
        name: "gaussian",
        summary: "a peak: height, place, standard deviation",
        formula: "height*exp(-0.5*((x-center)/sigma)^2)",
        parameters: &["height", "center", "sigma"],
        positive: &["sigma"],
    },
    NamedModel {
        name: "lorentz",
        summary: "a peak: height, place, half width at half maximum",
        formula: "height/(1+((x-center)/gamma)^2)",
        parameters: &["height", "center", "gamma"],
        positive: &["gamma"],
    },
    NamedModel {
        name: "voigt",
        summary: "a peak: area, place, widths of its Gaussian and its Lorentzian",
        formula: "area*voigt(x-center, sigma, gamma)",
        parameters: &["area", "center", "sigma", "gamma"],
        positive: &["sigma", "gamma"],
    },
    NamedModel {
        name: "logistic",
        summary: "a step from 0 to height",
        formula: "height/(1+exp(-rate*(x-center)))",
        parameters: &["height", "rate", "center"],
        positive: &[],
    },
    NamedModel {
        name: "power",
        summary: "power law",
        formula: "factor*x^exponent",
        parameters: &["factor", "exponent"],
        positive: &[],
    },
    NamedModel {
        name: "michaelis",
        summary: "saturation (Michaelis and Menten)",
        formula: "vmax*x/(km+x)",
        parameters: &["vmax", "km"],
        positive: &["km"],
    },
    NamedModel {
        name: "dose",
        summary: "dose and response with four parameters: response at dose 0 and at large doses, dose of the half, steepness",
        formula: "high+(low-high)/(1+(x/ec50)^hill)",
        parameters: &["low", "high", "ec50", "hill"],
        // Steepness above 0 makes low the response at dose 0.
        positive: &["ec50", "hill"],
    },
    NamedModel {
        name: "oscillation",
        summary: "damped oscillation",
        formula: "amplitude*exp(-damping*x)*cos(frequency*x+phase)",
        parameters: &["amplitude", "damping", "frequency", "phase"],
        positive: &[],
    },
];

/// Whether a model has this name.
pub fn is_named(name: &str) -> bool {
    MODELS.iter().any(|model| model.name == name)
}

/// A call of a named model in a formula.
struct Call<'a> {
    name: &'a str,
    /// Bytes of the formula that it takes.
    range: std::ops::Range<usize>,
    formula: String,
    parameters: Vec<&'a str>,
    positive: &'a [&'a str],
}

/// The formula with every named model of one argument replaced by its own formula: `gaussian(x)`, `polynomial(x, 3)`. If several calls have a
/// parameter of the same name, the parameters of these calls are numbered: `center1`, `center2`. The second part lists the positive parameters.
/// Errors if a parameter has the name of a column.
pub(crate) fn expanded(text: &str, columns: &[&str]) -> Result<(String, Vec<String>)> {
    let calls = calls(text)?;
    let (mut out, mut positive) = (String::new(), Vec::new());
    let mut done = 0;
    for (at, call) in calls.iter().enumerate() {
        let is_alike = |other: &&Call<'_>| other.parameters.iter().any(|name| call.parameters.contains(name));
        let number = 1 + calls[..at].iter().filter(is_alike).count();
        let is_shared = calls.iter().filter(is_alike).count() > 1;
        let renamed = |word: &str| {
            let is_parameter = is_shared && call.parameters.contains(&word);
            if is_parameter { format!("{word}{number}") } else { word.to_owned() }
        };
        check_names(call, &renamed, columns)?;
        out += &text[done..call.range.start];
        out += &format!("({})", over_words(&call.formula, renamed));
        positive.extend(call.positive.iter().map(|name| renamed(name)));
        done = call.range.end;
    }
    Ok((out + &text[done..], positive))
}

/// Errors if a parameter of a named model has the name of a column, which would take its place.
fn check_names(call: &Call<'_>, renamed: &impl Fn(&str) -> String, columns: &[&str]) -> Result<()> {
    let is_column = |name: &str| columns.contains(&renamed(name).as_str());
    let Some(taken) = call.parameters.iter().find(|name| is_column(name)) else { return Ok(()) };
    let model = call.name;
    let other = |word: &str| {
        let is_taken = call.parameters.contains(&word) && is_column(word);
        if is_taken { format!("{model}_{word}") } else { renamed(word) }
    };
    let (taken, written) = (renamed(taken), over_words(&call.formula, other));
    Err(Error::usage(format!(
        "model: {model} has a parameter \"{taken}\", and the table a column of that name: rename the column, or write the model out with another name, such as {written}"
    )))
}

/// The error for a named model with more arguments than its column.
fn too_many(model: &NamedModel, arguments: &[&str]) -> Error {
    let NamedModel { name, formula, parameters, .. } = model;
    let names = parameters.join(", ");
    let own = |word: &str| match parameters.iter().position(|parameter| *parameter == word) {
        Some(at) => arguments[1 + at].to_owned(),
        None if word == "x" => arguments[0].to_owned(),
        None => word.to_owned(),
    };
    let is_whole = arguments.len() == 1 + parameters.len();
    let other =
        if is_whole { format!("; with names of your own write {}", over_words(formula, own)) } else { String::new() };
    let got = arguments.len();
    Error::usage(format!(
        "model: {name} takes one argument: got {got}, expected {name}(x), whose parameters are {names}{other}"
    ))
}

/// The calls of named models, in the order of the text.
fn calls(text: &str) -> Result<Vec<Call<'static>>> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(range) = word(text, at) {
        at = range.end;
        let name = &text[range.clone()];
        let open = at + (text[at..].len() - text[at..].trim_start().len());
        let Some(inside) = text[open..].starts_with('(').then(|| arguments(&text[open + 1..])).flatten() else {
            continue;
        };
        let (arguments, length) = inside;
        let whole = range.start..open + 1 + length;
        let is_function = functions(&[]).contains(&(name, arguments.len()));
        let model = MODELS.iter().find(|model| model.name == name).filter(|_| !is_function);
        let call = match (name, &arguments[..]) {
            ("polynomial", [x, degree]) => {
                let (formula, names) = polynomial(x, degree)?;
                Some(("polynomial", formula, names, &[][..]))
            }
            ("polynomial", _) => return Err(Error::usage(DEGREE.to_owned())),
            (_, [x]) => model.map(|model| {
                let over = |word: &str| if word == "x" { format!("({x})") } else { word.to_owned() };
                (model.name, over_words(model.formula, over), model.parameters.to_vec(), model.positive)
            }),
            _ => match model {
                Some(model) => return Err(too_many(model, &arguments)),
                None => None,
            },
        };
        let is_unknown = call.is_none() && !functions(&[]).iter().any(|(known, _)| *known == name) && name != CUMINT;
        let near = if is_unknown { hint(name, MODELS.iter().map(|model| model.name)) } else { String::new() };
        if !near.is_empty() {
            return Err(Error::usage(format!("model: unknown function or model \"{name}\"{near}")));
        }
        if let Some((name, formula, parameters, positive)) = call {
            at = whole.end;
            found.push(Call { name, range: whole, formula, parameters, positive });
        }
    }
    Ok(found)
}

/// Names of the coefficients of polynomials.
const COEFFICIENTS: [&str; 10] = ["c0", "c1", "c2", "c3", "c4", "c5", "c6", "c7", "c8", "c9"];

const DEGREE: &str = "model: polynomial: expected a degree from 1 to 9, as in polynomial(x, 3)";

fn polynomial(x: &str, degree: &str) -> Result<(String, Vec<&'static str>)> {
    let degree: Option<usize> = degree.trim().parse().ok().filter(|degree| (1..COEFFICIENTS.len()).contains(degree));
    let Some(degree) = degree else {
        return Err(Error::usage(DEGREE.to_owned()));
    };
    // Horner's scheme.
    let mut formula = COEFFICIENTS[degree].to_owned();
    for name in COEFFICIENTS[..degree].iter().rev() {
        formula = format!("{name}+({x})*({formula})");
    }
    Ok((formula, COEFFICIENTS[..=degree].to_vec()))
}

/// The formula of a model that is given by its name alone, over a column; an error for another name.
pub fn named(name: &str, column: &str) -> Result<String> {
    if is_named(name) {
        return Ok(format!("{name}({})", quoted(column)));
    }
    let names: Vec<&str> = MODELS.iter().map(|model| model.name).collect();
    Err(unknown_name("model", name, &names, ", or a formula"))
}

/// A text with each of its words replaced.
fn over_words(text: &str, replaced: impl Fn(&str) -> String) -> String {
    let (mut out, mut done) = (String::new(), 0);
    while let Some(range) = word(text, done) {
        out += &text[done..range.start];
        out += &replaced(&text[range.clone()]);
        done = range.end;
    }
    out + &text[done..]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fit::Formula;
    use crate::program::functions::functions;

    #[test]
    fn named_models_become_their_formulas() {
        let cases = [
            ("line(t)", "(offset + slope*(t))"),
            ("a*x", "a*x"),
            ("2 * michaelis( s ) + b", "2 * (vmax*(s)/(km+(s))) + b"),
            ("polynomial(x, 2)", "(c0+(x)*(c1+(x)*(c2)))"),
            ("exponential(x) + exponential(x)", "(amplitude1*exp(-rate1*(x))) + (amplitude2*exp(-rate2*(x)))"),
            ("voigt(x, s, g)", "voigt(x, s, g)"),
            ("line(x)²·gaussian", "(offset + slope*(x))²·gaussian"),
            ("gaussian", "gaussian"),
            ("1e3*line(x)", "1e3*(offset + slope*(x))"),
        ];
        for (text, expected) in cases {
            assert_eq!(expanded(text, &["x"]).unwrap().0, expected, "{text}");
        }
        let (_, positive) = expanded("gaussian(x) + gaussian(x) + michaelis(x)", &["x"]).unwrap();
        assert_eq!(positive, ["sigma1", "sigma2", "km"]);
        let wrong = expanded("polynomial(x, n)", &["x"]).map(|_| ()).unwrap_err();
        assert_eq!(wrong.to_string(), "model: polynomial: expected a degree from 1 to 9, as in polynomial(x, 3)");
    }

    #[test]
    fn what_a_named_model_cannot_be_is_explained() {
        let error = |text: &str, columns: &[&str]| expanded(text, columns).map(|_| ()).unwrap_err().to_string();
        assert_eq!(
            error("gaussian(x)", &["x", "sigma"]),
            "model: gaussian has a parameter \"sigma\", and the table a column of that name: rename the column, or write the model out with \
             another name, such as height*exp(-0.5*(((x)-center)/gaussian_sigma)^2)"
        );
        // Numbered parameters are other names.
        assert!(expanded("gaussian(x) + gaussian(x)", &["x", "sigma"]).is_ok());
        assert!(expanded("gaussian(x) + gaussian(x)", &["x", "sigma2"]).is_err());
        assert_eq!(
            error("gaussian(x,h,c,s)", &["x"]),
            "model: gaussian takes one argument: got 4, expected gaussian(x), whose parameters are height, center, sigma; with names of your \
             own write h*exp(-0.5*((x-c)/s)^2)"
        );
        assert!(error("2*line(x, a)", &["x"]).ends_with("line(x), whose parameters are offset, slope"));
        assert!(error("polynomial(x)", &["x"]).ends_with("as in polynomial(x, 3)"));
    }

    #[test]
    fn every_model_has_the_parameters_that_it_lists() {
        for model in MODELS {
            let formula = Formula::parse(&format!("{}(t)", model.name), &["t"]).unwrap();
            let mut parameters = formula.parameters().to_vec();
            let mut listed: Vec<&str> = model.parameters.to_vec();
            parameters.sort();
            listed.sort_unstable();
            assert_eq!(parameters, listed, "{}", model.name);
            assert_eq!(formula.columns(), ["t"], "{}", model.name);
            let is_function = functions(&[]).contains(&(model.name, 1));
            assert!(!is_function, "{} of one argument is a function", model.name);
        }
    }
}
