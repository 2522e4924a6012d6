//! Experiments with a published result: four domains in which a quantity has poles or has no value. The methods of ZeroProofML, the
//! baselines and this engine's own methods get the same data, order and number of steps. A domain is data drawn from a seed, a table
//! of methods and measures; `run` trains all methods on all seeds and returns a report.

mod classify;
mod description;
pub mod dose;
mod elsewhere;
mod harness;
pub mod ik;
pub mod lj;
mod net;
mod page;
mod random;
mod report;
mod request;
pub mod rf;
mod statistics;
mod subject;
pub mod terms;
mod training;

pub use classify::{Confusion, OperatingPoints, Operation, Threshold, auroc, average_precision, log_space, sweep};
pub use description::{Axes, Chart, Direction, Gathering, Metric, Remark, Role, Size};
pub use elsewhere::Predictions;
pub use harness::Follow;
pub use page::page;
pub use random::{Purpose, Stream};
pub use report::{Comparison, ExperimentReport, MethodReport, Trace, Trial, Verdict};
pub use request::{ExternalMethod, Request};
pub use statistics::{Estimate, mean, quantile};

use meromorph::device::Device;
use meromorph::error::Result;

/// A domain by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Domain {
    /// Censored dose-response curves.
    Dose,
    /// Peaks of sharp resonators.
    Rf,
    /// An arm near its singular poses.
    Ik,
    /// The Lennard-Jones potential.
    Lj,
}

impl Domain {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Dose => "dose",
            Self::Rf => "rf",
            Self::Ik => "ik",
            Self::Lj => "lj",
        }
    }
}

/// Errors if the domain does not have a requested method, or there are no seeds or epochs.
pub fn check(domain: Domain, request: &Request) -> Result<()> {
    match domain {
        Domain::Dose => dose::subject().check(request),
        Domain::Rf => rf::subject().check(request),
        Domain::Ik => ik::subject().check(request),
        Domain::Lj => lj::subject().check(request),
    }
}

/// The number of trainings that a request makes: its methods, or all, for each seed.
pub fn trainings(domain: Domain, request: &Request) -> usize {
    let methods = match domain {
        Domain::Dose => dose::subject().chosen(&request.methods).len(),
        Domain::Rf => rf::subject().chosen(&request.methods).len(),
        Domain::Ik => ik::subject().chosen(&request.methods).len(),
        Domain::Lj => lj::subject().chosen(&request.methods).len(),
    };
    methods * request.seeds.len()
}

/// The tables of a seed for methods of other programs.
pub fn sheets(domain: Domain, mode: Size, seed: u64) -> Vec<Predictions> {
    match domain {
        Domain::Dose => dose::subject().sheets(mode, seed),
        Domain::Rf => rf::subject().sheets(mode, seed),
        Domain::Ik => ik::subject().sheets(mode, seed),
        Domain::Lj => lj::subject().sheets(mode, seed),
    }
}

/// The names of the prediction columns.
pub fn prediction_columns(domain: Domain) -> &'static [&'static str] {
    match domain {
        Domain::Dose => dose::subject().notation.predictions,
        Domain::Rf => rf::subject().notation.predictions,
        Domain::Ik => ik::subject().notation.predictions,
        Domain::Lj => lj::subject().notation.predictions,
    }
}

/// Runs the methods of a domain on every seed. `follow` is called after each method.
pub async fn run(domain: Domain, request: &Request, device: &Device, follow: Follow<'_>) -> Result<ExperimentReport> {
    match domain {
        Domain::Dose => harness::run(dose::subject(), request, device, follow).await,
        Domain::Rf => harness::run(rf::subject(), request, device, follow).await,
        Domain::Ik => harness::run(ik::subject(), request, device, follow).await,
        Domain::Lj => harness::run(lj::subject(), request, device, follow).await,
    }
}
