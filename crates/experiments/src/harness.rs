//! The loop over seeds and methods, in which every method gets the same rows, the same order and the same number of steps.

use std::rc::Rc;

use super::net::Net;
use super::report::{ExperimentReport, MethodReport, Trial};
use super::request::Request;
use super::subject::{Kind, Method, Subject};
use super::training::trial;
use meromorph::device::Device;
use meromorph::error::{Error, Result, hint};
use meromorph::internal::host;

/// A callback after each method and seed: seed, method, seconds.
pub type Follow<'a> = &'a mut dyn FnMut(u64, &str, f64);

/// Runs every requested method on every seed.
pub(super) async fn run<D: 'static, P: 'static>(
    subject: Subject<D, P>,
    request: &Request,
    device: &Device,
    follow: Follow<'_>,
) -> Result<ExperimentReport> {
    subject.check(request)?;
    // First, so that wrong predictions are an error before anything is trained.
    let elsewhere = subject.judged(request)?;
    let facts = subject.facts;
    let mut config = (subject.config)(request.mode);
    config.epochs = request.epochs.unwrap_or(config.epochs);
    let chosen = subject.chosen(&request.methods);
    let mut methods: Vec<MethodReport> = chosen.iter().map(|method| described(method)).collect();
    for &seed in &request.seeds {
        let data = Rc::new((subject.draw)(request.mode, seed));
        config.seed = seed;
        for (method, report) in chosen.iter().zip(&mut methods) {
            let start = host::now_ms();
            let (trial, traces) = trial(&subject, method, &data, &config, device).await?;
            let seconds = (host::now_ms() - start) / 1e3;
            report.trials.push(Trial { seconds: Some(seconds), ..trial });
            report.traces.extend(traces);
            follow(seed, method.name, seconds);
        }
    }
    methods.extend(elsewhere);
    let remarks = (subject.remarks)(&methods);
    Ok(ExperimentReport::new(facts, request, &config, (subject.sizes)(request.mode), device.info(), methods, remarks))
}

impl<D, P> Subject<D, P> {
    /// Errors if a method is unknown, an external method has an invalid or used name, or there are no seeds or epochs.
    pub(super) fn check(&self, request: &Request) -> Result<()> {
        if request.seeds.is_empty() || request.epochs == Some(0) {
            return Err(Error::new("experiment: seeds and epochs must be at least 1"));
        }
        let known: Vec<&str> = self.methods.iter().map(|method| method.name).collect();
        let Some(name) = request.methods.iter().find(|name| !known.contains(&name.as_str())) else {
            return self.check_elsewhere(request);
        };
        Err(Error::new(format!(
            "experiment: {} has no method \"{name}\"; it has {}{}",
            self.facts.name,
            known.join(", "),
            hint(name, known.iter().copied())
        )))
    }

    /// The requested methods, in the order of the table.
    pub(super) fn chosen(&self, names: &[String]) -> Vec<&Method<P>> {
        let is_requested = |method: &&Method<P>| names.is_empty() || names.iter().any(|name| name == method.name);
        self.methods.iter().filter(is_requested).collect()
    }
}

fn described<P>(method: &Method<P>) -> MethodReport {
    let parameters = match &method.kind {
        Kind::Known(_) => 0,
        Kind::Learnt { nets, .. } => nets().iter().map(Net::parameters).sum(),
    };
    let (name, about, role) = (method.name.into(), method.about.into(), method.role);
    MethodReport { name, about, role, parameters: Some(parameters), trials: Vec::new(), traces: Vec::new() }
}
