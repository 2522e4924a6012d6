//! The results of an experiment as data: metrics per method and seed, means with intervals, comparisons. `to_json`, `page` and the
//! command line present them.

use serde_json::{Map, Value, json};

use super::description::{Chart, Description, Direction, Gathering, Metric, Remark, Role};
use super::request::Request;
use super::statistics::Estimate;
use meromorph::device::Info;
use meromorph::report::counted;
use meromorph::train::TrainerConfig;

/// A finished experiment.
pub struct ExperimentReport {
    /// Name of the domain.
    pub name: &'static str,
    /// Title of the domain.
    pub title: &'static str,
    /// The task.
    pub about: &'static str,
    /// The published claim.
    pub claim: &'static str,
    /// Name of the size of the run.
    pub mode: &'static str,
    /// Counts of generated data by name.
    pub sizes: Vec<(&'static str, usize)>,
    /// Epochs, and rows per step.
    pub epochs_and_batch: [usize; 2],
    /// Adam's learning rate.
    pub lr: f64,
    /// The seeds.
    pub seeds: Vec<u64>,
    /// Methods requested by name; empty if all were run.
    pub asked: Vec<String>,
    /// The device, with its name and threads.
    pub device: String,
    /// The method that the claim is about.
    pub published: &'static str,
    /// Meromorph's own method, compared with the published one.
    pub ours: &'static str,
    /// The baseline that the claim names, and the keys of the metrics that it names.
    pub rival: (&'static str, &'static [&'static str]),
    /// The metrics.
    pub metrics: &'static [Metric],
    /// The charts.
    pub charts: &'static [Chart],
    /// The methods.
    pub methods: Vec<MethodReport>,
    /// Remarks specific to the domain.
    pub remarks: Vec<Remark>,
}

/// The results of a method over all seeds.
pub struct MethodReport {
    /// Name of the method.
    pub name: String,
    /// One-line description.
    pub about: String,
    /// Its role in comparisons.
    pub role: Role,
    /// Number of trained parameters; unknown for external methods.
    pub parameters: Option<usize>,
    /// One per seed.
    pub trials: Vec<Trial>,
    /// Curves of the charts.
    pub traces: Vec<Trace>,
}

/// The results of a method on one seed.
#[derive(Clone, Debug)]
pub struct Trial {
    /// The seed.
    pub seed: u64,
    /// Time to train and predict; unknown for external methods.
    pub seconds: Option<f64>,
    /// Values in the order of the metrics; absent where a metric is undefined.
    pub values: Vec<Option<f64>>,
    /// Mean loss per epoch, for each network.
    pub losses: Vec<Vec<f64>>,
    /// Training steps, summed over the networks.
    pub steps: usize,
    /// The epoch whose weights were kept, for each network.
    pub kept_epochs: Vec<usize>,
    /// Further results specific to the domain.
    pub more: Value,
}

/// A curve in a chart.
#[derive(Clone, Debug)]
pub struct Trace {
    /// The seed.
    pub seed: u64,
    /// Index of the chart.
    pub chart: usize,
    /// (x, y).
    pub points: Vec<[f64; 2]>,
}

/// Two methods compared on one metric.
pub struct Comparison<'a> {
    /// The metric.
    pub metric: Metric,
    /// The first method and its mean.
    pub ours: (&'a str, f64),
    /// The second method and its mean.
    pub theirs: (&'a str, f64),
    /// First minus second, paired by seed.
    pub difference: Estimate,
}

/// The result of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Better: the whole interval of the differences is on the better side of 0.
    Direction,
    /// The whole interval is on the worse side of 0.
    Worse,
    /// The interval contains 0, or there are too few seeds.
    Open,
}

/// The fewest seeds that decide a comparison: two values have only three different resamples.
pub(super) const FEW: usize = 5;

impl ExperimentReport {
    pub(super) fn new(
        facts: &'static Description,
        request: &Request,
        config: &TrainerConfig,
        sizes: Vec<(&'static str, usize)>,
        device: &Info,
        methods: Vec<MethodReport>,
        remarks: Vec<Remark>,
    ) -> Self {
        let Description { name, title, about, claim, published, ours, rival, metrics, charts } = *facts;
        let threads = counted(device.threads, "thread");
        Self {
            name,
            title,
            about,
            claim,
            published,
            ours,
            rival,
            mode: request.mode.name(),
            sizes,
            epochs_and_batch: [config.epochs, config.batch],
            lr: config.lr,
            seeds: request.seeds.clone(),
            asked: request.methods.clone(),
            device: format!("{} ({}, {threads})", device.device, device.name),
            metrics,
            charts,
            methods,
            remarks,
        }
    }

    /// The best projective method against the best baseline, on every headline metric that both have.
    pub fn comparisons(&self) -> Vec<Comparison<'_>> {
        let headlines = self.metrics.iter().filter(|metric| metric.is_headline && metric.better != Direction::Neither);
        let is_ours = |method: &MethodReport| method.role == Role::Projective;
        headlines.filter_map(|metric| self.compare(metric, is_ours, |method| method.role == Role::Baseline)).collect()
    }

    /// The method that the claim is about against the baseline that it names, on the metrics that it names.
    pub fn claimed(&self) -> Vec<Comparison<'_>> {
        let (rival, keys) = self.rival;
        let metrics = self.metrics.iter().filter(|metric| keys.contains(&metric.key));
        let is_published = |method: &MethodReport| method.name == self.published;
        metrics.filter_map(|metric| self.compare(metric, is_published, |method| method.name == rival)).collect()
    }

    /// Meromorph's own method against the published one, on every headline metric that both have.
    pub fn reproduced(&self) -> Vec<Comparison<'_>> {
        self.duel(self.ours, self.published)
    }

    /// Meromorph's own method and the published one, each against every external method.
    pub fn elsewhere(&self) -> Vec<Comparison<'_>> {
        let others = self.methods.iter().filter(|method| method.role == Role::Elsewhere);
        others.flat_map(|other| [self.ours, self.published].map(|one| self.duel(one, &other.name))).flatten().collect()
    }

    /// One method against another, on every headline metric that both have.
    fn duel(&self, one: &str, other: &str) -> Vec<Comparison<'_>> {
        let headlines = self.metrics.iter().filter(|metric| metric.is_headline && metric.better != Direction::Neither);
        let duel = |metric| self.compare(metric, |method| method.name == one, |method| method.name == other);
        headlines.filter_map(duel).collect()
    }

    fn compare(
        &self,
        metric: &Metric,
        is_ours: impl Fn(&MethodReport) -> bool,
        is_rival: impl Fn(&MethodReport) -> bool,
    ) -> Option<Comparison<'_>> {
        let sign = if metric.better == Direction::More { -1.0 } else { 1.0 };
        let best = |is_one: &dyn Fn(&MethodReport) -> bool| {
            let all = self.methods.iter().filter(|method| is_one(method));
            let known = all.filter_map(|method| self.estimate(method, metric.key).map(|found| (method, found.mean)));
            known.min_by(|a, b| (sign * a.1).total_cmp(&(sign * b.1)))
        };
        let ((ours, our_mean), (theirs, their_mean)) = (best(&is_ours)?, best(&is_rival)?);
        let place = self.metrics.iter().position(|known| known.key == metric.key)?;
        let pairs = ours.trials.iter().zip(&theirs.trials);
        let pairs: Vec<(f64, f64)> =
            pairs.filter_map(|(ours, theirs)| Some((ours.values[place]?, theirs.values[place]?))).collect();
        let (a, b): (Vec<f64>, Vec<f64>) = pairs.into_iter().unzip();
        let difference = Estimate::of_differences(&a, &b)?;
        let (ours, theirs) = ((ours.name.as_str(), our_mean), (theirs.name.as_str(), their_mean));
        Some(Comparison { metric: *metric, ours, theirs, difference })
    }

    /// Mean and interval of a metric over the seeds on which it is defined.
    pub fn estimate(&self, method: &MethodReport, key: &str) -> Option<Estimate> {
        let place = self.metrics.iter().position(|metric| metric.key == key)?;
        let values: Vec<f64> = method.trials.iter().filter_map(|trial| trial.values[place]).collect();
        Estimate::of(&values)
    }

    /// The curve of a method in a chart, combined over seeds as the chart requests; absent if it has none.
    pub fn curve(&self, method: &MethodReport, chart: usize) -> Option<Vec<[f64; 2]>> {
        let traces: Vec<&Trace> = method.traces.iter().filter(|trace| trace.chart == chart).collect();
        let first = traces.first()?;
        if self.charts[chart].gathering == Gathering::First {
            return Some(first.points.clone());
        }
        let at = |place: usize| {
            let values: Vec<f64> = traces.iter().filter_map(|trace| trace.points.get(place)).map(|p| p[1]).collect();
            [first.points[place][0], super::statistics::mean(&values)]
        };
        Some((0..first.points.len()).map(at).collect())
    }

    /// The whole report as one JSON object.
    pub fn to_json(&self) -> Value {
        let [epochs, batch] = self.epochs_and_batch;
        let rival = |one: &Comparison<'_>| one.to_json(["projective", "baseline"]);
        json!({
            "schema": "meromorph.experiment",
            "schema_version": 1,
            "experiment": self.name,
            "version": env!("CARGO_PKG_VERSION"),
            "mode": self.mode,
            "sizes": self.sizes.iter().map(|(name, count)| ((*name).to_owned(), json!(count))).collect::<Map<_, _>>(),
            "epochs": epochs,
            "batch": batch,
            "lr": self.lr,
            "seeds": self.seeds,
            "device": self.device,
            "claim": self.claim,
            "metrics": self.metrics,
            "methods": self.methods.iter().map(|method| self.method_json(method)).collect::<Vec<_>>(),
            "claimed": self.claimed().iter().map(rival).collect::<Vec<_>>(),
            "reproduced": self.reproduced().iter().map(|one| one.to_json(["own", "published"])).collect::<Vec<_>>(),
            "elsewhere": self.elsewhere().iter().map(|one| one.to_json(["here", "elsewhere"])).collect::<Vec<_>>(),
            "comparisons": self.comparisons().iter().map(rival).collect::<Vec<_>>(),
            "remarks": self.remarks,
            "charts": (0..self.charts.len()).map(|chart| self.chart_json(chart)).collect::<Vec<_>>(),
        })
    }

    fn method_json(&self, method: &MethodReport) -> Value {
        let estimates =
            self.metrics.iter().map(|metric| (metric.key.to_owned(), json!(self.estimate(method, metric.key))));
        let trial = |trial: &Trial| {
            let values =
                self.metrics.iter().zip(&trial.values).map(|(metric, value)| (metric.key.to_owned(), json!(value)));
            let Trial { seed, seconds, losses, steps, kept_epochs, more, .. } = trial;
            json!({
                "seed": seed, "values": values.collect::<Map<_, _>>(), "seconds": seconds, "losses": losses,
                "steps": steps, "kept_epochs": kept_epochs, "more": more,
            })
        };
        json!({
            "name": method.name,
            "about": method.about,
            "role": method.role,
            "parameters": method.parameters,
            "estimates": estimates.collect::<Map<_, _>>(),
            "seeds": method.trials.iter().map(trial).collect::<Vec<_>>(),
        })
    }

    fn chart_json(&self, chart: usize) -> Value {
        let named = |method: &MethodReport| Some((method.name.clone(), json!(self.curve(method, chart)?)));
        let curves: Map<_, _> = self.methods.iter().filter_map(named).collect();
        json!({ "chart": self.charts[chart], "curves": curves })
    }
}

impl Trial {
    /// A trial with metric values only; values that are not finite become absent.
    pub(super) fn of(seed: u64, values: Vec<Option<f64>>) -> Self {
        let values = values.into_iter().map(|value| value.filter(|value| value.is_finite())).collect();
        let (losses, kept_epochs) = (Vec::new(), Vec::new());
        Self { seed, seconds: None, values, losses, steps: 0, kept_epochs, more: Value::Null }
    }
}

impl MethodReport {
    /// Mean of the metric with this index; absent if it is undefined on every seed.
    pub(super) fn mean_at(&self, place: usize) -> Option<f64> {
        let values: Vec<f64> = self.trials.iter().filter_map(|trial| trial.values[place]).collect();
        Estimate::of(&values).map(|found| found.mean)
    }
}

impl Comparison<'_> {
    /// The result.
    pub fn verdict(&self) -> Verdict {
        let Estimate { low, high, count, .. } = self.difference;
        let (low, high) = if self.metric.better == Direction::More { (-high, -low) } else { (low, high) };
        match (low, high) {
            _ if count < FEW => Verdict::Open,
            (_, high) if high < 0.0 => Verdict::Direction,
            (low, _) if low > 0.0 => Verdict::Worse,
            _ => Verdict::Open,
        }
    }

    /// As JSON, with the given keys for the two methods.
    fn to_json(&self, [one, other]: [&str; 2]) -> Value {
        let verdict = match self.verdict() {
            Verdict::Direction => "better",
            Verdict::Worse => "worse",
            Verdict::Open => "open",
        };
        json!({
            "metric": self.metric.key, one: self.ours.0, format!("{one}_mean"): self.ours.1,
            other: self.theirs.0, format!("{other}_mean"): self.theirs.1, "difference": self.difference, "verdict": verdict,
        })
    }
}
