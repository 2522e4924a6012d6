//! Methods of other programs: the tables of a seed for training and prediction, and the measures of their predictions, the same as for
//! every method here.

use super::description::{Role, Size};
use super::report::{MethodReport, Trace, Trial};
use super::request::{ExternalMethod, Request};
use super::subject::{Curve, MethodResult, Notation, Subject};
use meromorph::error::{Error, Result};
use meromorph::train::Examples;

/// A table of a seed.
#[derive(Clone, Debug, PartialEq)]
pub struct Predictions {
    /// `train`, `validation` or `predict`; the last holds the inputs to predict.
    pub name: &'static str,
    /// Names of the columns.
    pub columns: Vec<&'static str>,
    /// [rows, columns], row-major.
    pub values: Vec<f32>,
}

impl<D, P> Subject<D, P> {
    /// The tables for a method of another program.
    pub(super) fn sheets(&self, mode: Size, seed: u64) -> Vec<Predictions> {
        let &Notation { inputs, targets, validation, .. } = &self.notation;
        let data = (self.draw)(mode, seed);
        let both: Vec<&'static str> = [inputs, targets].concat();
        let learnt = |name, examples: &Examples| {
            let rows = examples.x.chunks_exact(inputs.len()).zip(examples.y.chunks_exact(targets.len()));
            let values = rows.flat_map(|(x, y)| x.iter().chain(y).copied()).collect();
            Predictions { name, columns: both.clone(), values }
        };
        let mut sheets = vec![learnt("train", (self.train)(&data))];
        sheets.extend(validation.map(|examples| learnt("validation", examples(&data))));
        sheets.push(Predictions { name: "predict", columns: inputs.into(), values: (self.probes)(&data).concat() });
        sheets
    }

    /// Errors if a name is invalid or used twice, or the number of predictions differs from the number of seeds.
    pub(super) fn check_elsewhere(&self, request: &Request) -> Result<()> {
        let own = self.methods.iter().map(|method| method.name.to_owned());
        let mut taken: Vec<String> = own.collect();
        for ExternalMethod { name, predictions } in &request.elsewhere {
            let is_plain = name.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c));
            if !(1..=20).contains(&name.len()) || !is_plain {
                return Err(Error::new(format!(
                    "experiment: \"{name}\" names no method; expected 1 to 20 letters, digits, \"-\", \"_\" or \".\""
                )));
            }
            if taken.contains(name) {
                return Err(Error::new(format!("experiment: there is a method \"{name}\" already; name it otherwise")));
            }
            let (got, expected) = (predictions.len(), request.seeds.len());
            if got != expected {
                return Err(Error::new(format!(
                    "experiment: {name} has predictions for {got} seeds, expected {expected}"
                )));
            }
            taken.push(name.clone());
        }
        Ok(())
    }

    /// The reports of all external methods on every seed.
    pub(super) fn judged(&self, request: &Request) -> Result<Vec<MethodReport>> {
        let blank = |method: &ExternalMethod| MethodReport {
            name: method.name.clone(),
            about: "fitted and run by another program".into(),
            role: Role::Elsewhere,
            parameters: None,
            trials: Vec::new(),
            traces: Vec::new(),
        };
        let mut reports: Vec<MethodReport> = request.elsewhere.iter().map(blank).collect();
        let seeds = if reports.is_empty() { &[] } else { &request.seeds[..] };
        for (at, &seed) in seeds.iter().enumerate() {
            let data = (self.draw)(request.mode, seed);
            for (method, report) in request.elsewhere.iter().zip(&mut reports) {
                let about = |what: &str| Error::new(format!("experiment: {}, seed {seed}: {what}", method.name));
                let found = self.answers(&data, &method.predictions[at]).map_err(|error| about(&error.to_string()))?;
                let MethodResult { values, curves, more } = (self.measure)(&data, &found);
                let traces = curves.into_iter().map(|Curve { chart, points }| Trace { seed, chart, points });
                report.traces.extend(traces);
                report.trials.push(Trial { more, ..Trial::of(seed, values) });
            }
        }
        Ok(reports)
    }

    /// Splits the rows of a method's predictions into one prediction per probe. Errors if the number of rows is wrong.
    fn answers(&self, data: &D, values: &[f32]) -> Result<Vec<P>> {
        let &Notation { inputs, predictions, read, .. } = &self.notation;
        let counts: Vec<usize> = (self.probes)(data).iter().map(|x| x.len() / inputs.len()).collect();
        let (got, expected) = (values.len() / predictions.len(), counts.iter().sum::<usize>());
        if values.len() != expected * predictions.len() {
            return Err(Error::new(format!("{got} predictions, expected {expected}, one for each row of predict")));
        }
        let mut rest = values;
        let mut answer = |count: usize| {
            let (own, others) = rest.split_at(count * predictions.len());
            rest = others;
            read(own)
        };
        counts.into_iter().map(&mut answer).collect()
    }
}
