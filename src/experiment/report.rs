//! What an experiment found: figures per method and seed, means with intervals, and a comparison in words. A report is data;
//! it is written as JSON, as a page and as a table by whoever asked for it.

use serde_json::{Map, Value, json};

use super::fit::Lesson;
use super::harness::{Chart, Description, Direction, Gathering, Metric, Remark, Request, Role};
use super::statistics::Estimate;
use crate::device::Info;

/// A finished experiment.
pub struct ExperimentReport {
    /// The domain's name.
    pub name: &'static str,
    /// Its title.
    pub title: &'static str,
    /// What it is.
    pub about: &'static str,
    /// The claim under test.
    pub claim: &'static str,
    /// How much was drawn and trained.
    pub mode: &'static str,
    /// Counts of what was drawn.
    pub sizes: Vec<(&'static str, usize)>,
    /// Passes over the training rows, and rows per step.
    pub epochs_and_batch: [usize; 2],
    /// Adam's learning rate.
    pub lr: f64,
    /// The seeds.
    pub seeds: Vec<u64>,
    /// The methods asked for by name; empty if all were.
    pub asked: Vec<String>,
    /// Where it ran.
    pub device: String,
    /// The method that the claim is made for.
    pub published: &'static str,
    /// The method of this engine's own that stands against it.
    pub ours: &'static str,
    /// The baseline that the claim names, and the metrics it is about.
    pub rival: (&'static str, &'static [&'static str]),
    /// What was measured.
    pub metrics: &'static [Metric],
    /// What is drawn.
    pub charts: &'static [Chart],
    /// The methods.
    pub methods: Vec<MethodReport>,
    /// The domain's own sentences.
    pub remarks: Vec<Remark>,
}

/// A method over all seeds.
pub struct MethodReport {
    /// Its name.
    pub name: String,
    /// What it is.
    pub about: String,
    /// What kind of competitor it is.
    pub role: Role,
    /// Number of parameter values it learns; not known of one run elsewhere.
    pub parameters: Option<usize>,
    /// One per seed.
    pub trials: Vec<Trial>,
    /// Its curves.
    pub traces: Vec<Trace>,
}

/// A method on a seed.
#[derive(Clone, Debug)]
pub struct Trial {
    /// The seed.
    pub seed: u64,
    /// Time to fit and to predict; not known of a method run elsewhere.
    pub seconds: Option<f64>,
    /// In the metrics' order; absent where a metric has no meaning.
    pub values: Vec<Option<f64>>,
    /// Mean loss of each epoch of each net.
    pub losses: Vec<Vec<f64>>,
    /// Steps of all nets.
    pub steps: usize,
    /// The epoch that each net's weights are from.
    pub kept_epochs: Vec<usize>,
    /// What else the domain tells.
    pub more: Value,
}

/// A curve in a chart.
#[derive(Clone, Debug)]
pub struct Trace {
    /// The seed it is from.
    pub seed: u64,
    /// The chart, by place.
    pub chart: usize,
    /// (x, y).
    pub points: Vec<[f64; 2]>,
}

/// A method against another, on one metric; of several, those with the best means.
pub struct Comparison<'a> {
    /// The metric.
    pub metric: Metric,
    /// The first and its mean.
    pub ours: (&'a str, f64),
    /// The other and its mean.
    pub theirs: (&'a str, f64),
    /// Ours minus theirs, by seed.
    pub difference: Estimate,
}

/// How a comparison ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The interval of the differences lies on the good side of 0.
    Direction,
    /// It lies on the bad side.
    Worse,
    /// It holds 0, or there are too few seeds.
    Open,
}

/// The fewest seeds that decide a comparison: two values have only three different resamples.
pub(super) const FEW: usize = 5;

impl ExperimentReport {
    pub(super) fn new(
        facts: &'static Description,
        request: &Request,
        lesson: &Lesson,
        sizes: Vec<(&'static str, usize)>,
        device: &Info,
        methods: Vec<MethodReport>,
        remarks: Vec<Remark>,
    ) -> Self {
        let Description { name, title, about, claim, published, ours, rival, metrics, charts } = *facts;
        let threads = if device.threads == 1 { "1 thread".to_owned() } else { format!("{} threads", device.threads) };
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
            epochs_and_batch: [lesson.epochs, lesson.batch],
            lr: lesson.lr,
            seeds: request.seeds.clone(),
            asked: request.methods.clone(),
            device: format!("{} ({}, {threads})", device.device, device.name),
            metrics,
            charts,
            methods,
            remarks,
        }
    }

    /// The best projective method against the best baseline on every headline metric that both have on the same seeds.
    pub fn comparisons(&self) -> Vec<Comparison<'_>> {
        let headlines = self.metrics.iter().filter(|metric| metric.is_headline && metric.better != Direction::Neither);
        let is_ours = |method: &MethodReport| method.role == Role::Projective;
        headlines.filter_map(|metric| self.compare(metric, is_ours, |method| method.role == Role::Baseline)).collect()
    }

    /// The method that the claim is made for against the baseline that it names.
    pub fn claimed(&self) -> Vec<Comparison<'_>> {
        let (rival, keys) = self.rival;
        let metrics = self.metrics.iter().filter(|metric| keys.contains(&metric.key));
        let is_published = |method: &MethodReport| method.name == self.published;
        metrics.filter_map(|metric| self.compare(metric, is_published, |method| method.name == rival)).collect()
    }

    /// This engine's own method against the one that the claim is made for, on every headline metric that both have.
    pub fn reproduced(&self) -> Vec<Comparison<'_>> {
        self.duel(self.ours, self.published)
    }

    /// The same, then the reproduction of the published method, each against every method run elsewhere.
    pub fn elsewhere(&self) -> Vec<Comparison<'_>> {
        let others = self.methods.iter().filter(|method| method.role == Role::Elsewhere);
        others.flat_map(|other| [self.ours, self.published].map(|one| self.duel(one, &other.name))).flatten().collect()
    }

    /// A method against another on every headline metric that both have.
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

    /// A method's mean and interval of a metric over the seeds that have it.
    pub fn estimate(&self, method: &MethodReport, key: &str) -> Option<Estimate> {
        let place = self.metrics.iter().position(|metric| metric.key == key)?;
        let values: Vec<f64> = method.trials.iter().filter_map(|trial| trial.values[place]).collect();
        Estimate::of(&values)
    }

    /// A method's curve in a chart, gathered as the chart says; absent if it has none.
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

    /// Everything, as one JSON object.
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
    /// With what was measured; a value that is not finite has no meaning.
    pub(super) fn of(seed: u64, values: Vec<Option<f64>>) -> Self {
        let values = values.into_iter().map(|value| value.filter(|value| value.is_finite())).collect();
        let (losses, kept_epochs) = (Vec::new(), Vec::new());
        Self { seed, seconds: None, values, losses, steps: 0, kept_epochs, more: Value::Null }
    }
}

impl MethodReport {
    /// Mean of a metric by its place's key; absent where no seed has it. The domain's tables name the keys.
    pub(super) fn mean_at(&self, place: usize) -> Option<f64> {
        let values: Vec<f64> = self.trials.iter().filter_map(|trial| trial.values[place]).collect();
        Estimate::of(&values).map(|found| found.mean)
    }
}

impl Comparison<'_> {
    /// How it ends.
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

    /// With the names that the two methods go by.
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
