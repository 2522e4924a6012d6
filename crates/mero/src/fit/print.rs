//! A fit as a table for other programs, or as code.

use meromorph::files::csv::{self, Values};
use meromorph::fit::{Fit, Fitted, Posterior, SavedFit};
use meromorph::program::source::Language;
use meromorph::{Error, Result};

/// What `mero fit --print` writes.
#[derive(Clone, Copy, clap::ValueEnum)]
pub(super) enum Form {
    /// Parameters with standard errors and intervals as CSV
    Table,
    /// Formula and parameters as LaTeX
    Latex,
    /// A function in Python
    Python,
    /// A function in Rust
    Rust,
}

/// The fit as text.
pub(super) fn printed(form: Form, fit: &Fit, saved: &SavedFit) -> Result<String> {
    match form {
        Form::Table => Ok(String::from_utf8_lossy(&table(fit)).into_owned()),
        Form::Latex => saved.latex(),
        Form::Python => saved.function(Language::Python),
        Form::Rust => saved.function(Language::Rust),
    }
    .map_err(|error: Error| error.within("print"))
}

/// Draws of the posterior as CSV.
pub(super) fn draws(free: &[String], posterior: &Posterior) -> Vec<u8> {
    let column = |at: usize| posterior.draws.iter().map(|draw| draw[at]).collect::<Vec<f64>>();
    let columns: Vec<Vec<f64>> = (0..free.len()).map(column).collect();
    let numbers: Vec<f64> = (1..=posterior.draws.len()).map(|draw| draw as f64).collect();
    let named = free.iter().zip(&columns).map(|(name, values)| (name.as_str(), Values::F64(values)));
    csv::write(&std::iter::once(("draw", Values::F64(&numbers))).chain(named).collect::<Vec<_>>())
}

fn table(fit: &Fit) -> Vec<u8> {
    let all: Vec<&Fitted> = fit.parameters.iter().chain(&fit.derived).collect();
    let names: Vec<String> = all.iter().map(|one| one.name.clone()).collect();
    let numbers = |pick: &dyn Fn(&Fitted) -> Option<f64>| -> Vec<f64> {
        all.iter().map(|one| pick(one).unwrap_or(f64::NAN)).collect()
    };
    let columns = [
        ("value", numbers(&|one| Some(one.value))),
        ("stderr", numbers(&|one| one.stderr)),
        ("lower", numbers(&|one| one.interval.map(|[low, _]| low))),
        ("upper", numbers(&|one| one.interval.map(|[_, high]| high))),
    ];
    let named = columns.iter().map(|(name, values)| (*name, Values::F64(values)));
    csv::write(&std::iter::once(("parameter", Values::Texts(&names))).chain(named).collect::<Vec<_>>())
}
