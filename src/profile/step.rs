//! The time of a training step by launch: measured steps and plain ones take turns, so that what measuring costs is known as well.

use super::ceilings::Ceilings;
use crate::device::{Cost, Label, Launch, Timings};
use crate::error::{Error, Result};
use crate::host;
use crate::train::Trainer;

/// Where the time of a step goes.
#[derive(Clone, Debug)]
pub struct StepProfile {
    /// Milliseconds of a step in which every launch is measured: the median over windows. All other times are from the window with this median.
    pub step_ms: f64,
    /// The same without measuring, from windows in between.
    pub plain_ms: f64,
    /// How much longer a measured window takes than the plain one next to it: the median over pairs, in which the load of the machine is nearly the
    /// same. 0.01 is one percent.
    pub overhead: f64,
    /// The share of all windows that were measured: fewer, where measuring takes long, so that a profile costs at most a twentieth of its time.
    pub sampled: f64,
    /// Steps in a window.
    pub steps: usize,
    /// The launches and copies of a step, in order.
    pub launches: Vec<LaunchProfile>,
    /// Milliseconds of a step in which no launch runs: the host prepares an epoch, or the device waits for a submit.
    pub between_ms: f64,
    /// Bytes of the buffers that outlive a step.
    pub persistent_bytes: u64,
    /// The measured steps of that window.
    pub timings: Timings,
}

/// The time of a launch.
#[derive(Clone, Debug)]
pub struct LaunchProfile {
    /// The launch.
    pub launch: Launch,
    /// Its time in milliseconds, as a mean over the steps.
    pub ms: f64,
}

/// By what launches are added up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grouping {
    /// The kernel.
    Kernel,
    /// The layer of the model, or another part of a step.
    Layer,
    /// The op that recorded it.
    Op,
    /// Forward, backward, or neither.
    Direction,
}

/// Launches with something in common.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// What they have in common.
    pub name: String,
    /// How many they are.
    pub launches: usize,
    /// Their time in a step.
    pub ms: f64,
    /// The share of the step.
    pub share: f64,
    /// Their arithmetic and traffic in a step.
    pub cost: Cost,
}

/// The name of the time in which no launch runs.
const BETWEEN: &str = "between launches";
/// Length of a window, if it is not given as steps: much longer than waiting for a GPU once.
const WINDOW_MS: f64 = 200.0;
/// Steps in a window, at most.
const MOST_STEPS: usize = 2000;
/// Steps before anything is measured.
const WARM_UP: usize = 4;
/// What measuring may cost of all windows, and plain windows after a pair at most.
const MOST_PRICE: f64 = 0.05;
const MOST_REST: usize = 18;
/// No window is shorter, even if the clock is too coarse to see it.
const LEAST_MS: f64 = 1e-6;

impl StepProfile {
    /// Trains for twice as many windows, every other one measured, of `steps` each; without `steps`, of about a fifth of a second.
    ///
    /// Errors if the device cannot measure launches, if there is nothing to measure, or if a step fails.
    pub async fn of(trainer: &mut Trainer, steps: Option<usize>, windows: usize) -> Result<Self> {
        Self::of_while(trainer, steps, windows, &|| true).await
    }

    /// The same while `goes_on` is true, which is queried after each window. Once it is false, the result is an error.
    pub async fn of_while(
        trainer: &mut Trainer,
        steps: Option<usize>,
        windows: usize,
        goes_on: &dyn Fn() -> bool,
    ) -> Result<Self> {
        if windows == 0 || steps == Some(0) {
            return Err(Error::usage("profile: got 0 steps or windows, expected at least 1 of each"));
        }
        window(trainer, WARM_UP, true).await?;
        let steps = match steps {
            Some(steps) => steps,
            None => steps_of_window(trainer).await?,
        };
        let (mut measured, mut plains, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
        let (mut rests, mut rest) = (0, 0);
        for pair in 0..windows {
            // By turns in front, so that neither always has the warmer device.
            for turn in 0..2 + rest {
                if turn == 1 - pair % 2 {
                    measured.push(window(trainer, steps, true).await?);
                } else {
                    let ms = window(trainer, steps, false).await?.wall_ms().max(LEAST_MS);
                    // What follows a pair only makes measuring rarer.
                    if turn < 2 { plains.push(ms) } else { rests += 1 }
                }
                if !goes_on() {
                    return Err(Error::usage("profile: stopped before its end"));
                }
            }
            ratios.push(measured[pair].wall_ms() / plains[pair]);
            rest = rest_of(median(&ratios) - 1.0);
        }
        let walls: Vec<f64> = measured.iter().map(Timings::wall_ms).collect();
        let (timings, plain_ms) = (measured.swap_remove(median_at(&walls)), median(&plains) / steps as f64);
        let found = Self::from_timings(in_order(trainer), timings, [plain_ms, median(&ratios) - 1.0]);
        let persistent_bytes = trainer.step_summary().persistent_bytes;
        Ok(Self { sampled: windows as f64 / (2 * windows + rests) as f64, persistent_bytes, ..found })
    }

    /// From the commands of a plan in order and their timings; the time of a plain run, and how much longer measured ones take.
    pub fn from_timings(launches: Vec<Launch>, timings: Timings, [plain_ms, overhead]: [f64; 2]) -> Self {
        let steps = timings.runs();
        let step_ms = timings.wall_ms().max(LEAST_MS) / steps.max(1) as f64;
        let (mut between_ms, mut measured) = (step_ms, Vec::with_capacity(launches.len()));
        for (launch, ms) in launches.into_iter().zip(timings.means()) {
            between_ms -= ms;
            measured.push(LaunchProfile { launch, ms });
        }
        let (sampled, persistent_bytes) = (1.0, 0);
        Self { step_ms, plain_ms, overhead, sampled, steps, launches: measured, between_ms, persistent_bytes, timings }
    }

    /// The share of a step's time in which launches run.
    pub fn explained(&self) -> f64 {
        1.0 - self.between_ms / self.step_ms
    }

    /// How much longer all windows took because some were measured: 0.01 is one percent.
    pub fn price(&self) -> f64 {
        self.sampled * self.overhead
    }

    /// The arithmetic and traffic of a step.
    pub fn cost(&self) -> Cost {
        self.launches.iter().fold(Cost::default(), |sum, one| sum + one.launch.cost)
    }

    /// How many times as fast the step is if a share of it becomes `speedup` times as fast (Amdahl 1967).
    pub fn amdahl(share: f64, speedup: f64) -> f64 {
        1.0 / (1.0 - share + share / speedup)
    }

    /// The groups, longest first, then the time between launches. Their shares add up to 1.
    pub fn grouped(&self, by: Grouping) -> Vec<Group> {
        let mut groups: Vec<Group> = Vec::new();
        for LaunchProfile { launch, ms } in &self.launches {
            let name = by.name(launch);
            let at = groups.iter().position(|group| group.name == name).unwrap_or_else(|| {
                groups.push(Group { name: name.to_owned(), launches: 0, ms: 0.0, share: 0.0, cost: Cost::default() });
                groups.len() - 1
            });
            let group = &mut groups[at];
            group.launches += 1;
            group.ms += ms;
            group.cost = group.cost + launch.cost;
        }
        // By insertion: there are few, and another sort would be 4 KB of WebAssembly.
        for end in 1..groups.len() {
            for at in (0..end).rev() {
                if groups[at].ms < groups[at + 1].ms {
                    groups.swap(at, at + 1);
                }
            }
        }
        let (name, ms) = (BETWEEN.to_owned(), self.between_ms);
        groups.push(Group { name, launches: 0, ms, share: 0.0, cost: Cost::default() });
        for group in &mut groups {
            group.share = group.ms / self.step_ms;
        }
        groups
    }
}

impl StepProfile {
    /// The rates of the device, raised by launches of the step that were faster: a device can do what it did. Where one moved its bytes faster than a copy
    /// of its size, because they were in caches, the rates of all copies are raised by that factor.
    pub fn raised(&self, ceilings: &Ceilings) -> Ceilings {
        let seen = || self.launches.iter().filter(|one| one.ms > 0.0);
        let gflops = seen().map(LaunchProfile::gflops).fold(ceilings.gflops, f64::max);
        let excess = seen().map(|one| ceilings.least_ms(one.launch.cost)[1] / one.ms).fold(1.0, f64::max);
        let mut raised = Ceilings { gflops, ..ceilings.clone() };
        for rate in &mut raised.copies {
            rate.gbytes_s *= excess;
        }
        raised
    }
}

impl LaunchProfile {
    /// 10⁹ floating-point operations per second.
    pub fn gflops(&self) -> f64 {
        if self.ms > 0.0 { self.launch.cost.flops as f64 / self.ms / 1e6 } else { 0.0 }
    }

    /// 10⁹ bytes per second, each buffer counted once.
    pub fn gbytes_s(&self) -> f64 {
        if self.ms > 0.0 { self.launch.cost.bytes as f64 / self.ms / 1e6 } else { 0.0 }
    }

    /// The least time at the device's rates over the time taken: 1 is as fast as the device can be.
    pub fn roofline_share(&self, ceilings: &Ceilings) -> f64 {
        let [arithmetic, traffic] = ceilings.least_ms(self.launch.cost);
        // A clock may be too coarse to see a launch.
        if self.ms > 0.0 { arithmetic.max(traffic) / self.ms } else { 0.0 }
    }

    /// Whether its arithmetic takes longer than its traffic, at the device's rates.
    pub fn is_arithmetic(&self, ceilings: &Ceilings) -> bool {
        let [arithmetic, traffic] = ceilings.least_ms(self.launch.cost);
        arithmetic > traffic
    }
}

impl Grouping {
    /// The name of a launch's group.
    pub fn name(self, launch: &Launch) -> &str {
        let Launch { kernel, label, .. } = launch;
        let or = |name: &'static str, other| if name.is_empty() { other } else { name };
        match self {
            Self::Kernel => kernel,
            Self::Layer if label.layer.is_empty() => "other",
            Self::Layer => &label.layer,
            Self::Op => or(label.op, kernel),
            Self::Direction => direction(label),
        }
    }
}

/// Which part of a step a launch belongs to. The fused step has one launch for both passes of the whole model.
fn direction(label: &Label) -> &'static str {
    match (&*label.layer, label.is_backward) {
        ("batch", _) => "batch",
        ("model", _) => "forward and backward",
        ("update", _) => "update",
        (_, true) => "backward",
        (_, false) => "forward",
    }
}

/// The launches and copies of a trainer's step, in the order in which they run.
fn in_order(trainer: &Trainer) -> Vec<Launch> {
    let summary = trainer.step_summary();
    let count = summary.launches.len() + summary.copies.len();
    let mut all = Vec::with_capacity(count);
    for place in 0..count {
        let mut both = summary.launches.iter().chain(&summary.copies);
        all.extend(both.find(|one| one.place == place).cloned());
    }
    all
}

/// So many plain windows follow a pair of a measured and a plain one that measuring, which takes `overhead` longer, costs at most [`MOST_PRICE`].
fn rest_of(overhead: f64) -> usize {
    ((overhead / MOST_PRICE - 2.0).ceil().max(0.0) as usize).min(MOST_REST)
}

/// The place of the middle value of at least one; of the upper one of two. Without a sort, which would be 4 KB of WebAssembly for a few values.
fn median_at(values: &[f64]) -> usize {
    let is_before = |(a, x): (usize, &f64), (b, y): (usize, &f64)| x.total_cmp(y).then(a.cmp(&b)).is_lt();
    let rank = |one| values.iter().enumerate().filter(|other| is_before(*other, one)).count();
    values.iter().enumerate().position(|one| rank(one) == values.len() / 2).unwrap_or(0)
}

fn median(values: &[f64]) -> f64 {
    values[median_at(values)]
}

/// How many steps take about as long as a window. Browsers wait up to 0.1 s for a GPU and have coarse clocks, so steps are added to a few until these
/// more take a good part of a window.
async fn steps_of_window(trainer: &mut Trainer) -> Result<usize> {
    window(trainer, WARM_UP, false).await?;
    let few_ms = window(trainer, WARM_UP, false).await?.wall_ms();
    let mut more = if few_ms > 4.0 * WINDOW_MS { 0 } else { WARM_UP };
    while more > 0 {
        let ms = window(trainer, WARM_UP + more, false).await?.wall_ms() - few_ms;
        if ms >= WINDOW_MS / 4.0 || more >= MOST_STEPS {
            return Ok(((more as f64 * WINDOW_MS / ms.max(LEAST_MS)) as usize).clamp(WARM_UP, MOST_STEPS));
        }
        more *= 4;
    }
    Ok(WARM_UP)
}

/// Runs steps, which are measured or only timed as a whole.
async fn window(trainer: &mut Trainer, steps: usize, is_measured: bool) -> Result<Timings> {
    host::breathe().await;
    if is_measured {
        return trainer.advance_timed(steps).await;
    }
    let start = host::now_ms();
    trainer.advance(steps)?;
    trainer.batch_losses().await?;
    Ok(Timings { wall: [start, host::now_ms()], ..Timings::default() })
}

#[cfg(test)]
mod tests {
    use super::super::ceilings::CopyRate;
    use super::*;

    #[test]
    fn amdahl_has_its_limits() {
        assert_eq!([StepProfile::amdahl(0.0, 9.0), StepProfile::amdahl(1.0, 9.0)], [1.0, 9.0]);
        assert_eq!(StepProfile::amdahl(0.75, f64::INFINITY), 4.0);
    }

    #[test]
    fn windows_are_measured_more_rarely_where_that_is_expensive() {
        // 10 % in every other window are 5 % of all; 30 % in one of six.
        assert_eq!([-0.02, 0.05, 0.1, 0.3, 9.0].map(rest_of), [0, 0, 0, 4, MOST_REST]);
    }

    #[test]
    fn the_costs_of_groups_are_the_sums_of_their_launches() {
        let launch = |place: usize, kernel: &'static str, flops: u64, bytes: u64| Launch {
            kernel,
            code: None,
            label: Label::default(),
            cost: Cost { flops, bytes },
            place,
            live_bytes: 0,
        };
        let launches = vec![launch(0, "map", 1, 10), launch(1, "matmul", 2, 20), launch(2, "map", 4, 40)];
        // Two of the ten milliseconds lie between launches.
        let spans = vec![[0.0, 1.0], [1.0, 6.0], [7.0, 9.0]];
        let timings = Timings { commands: 3, spans, wall: [0.0, 10.0] };
        let profile = StepProfile::from_timings(launches, timings, [10.0, 0.0]);
        // The last launch is the fastest: 4 flop and 40 bytes in 2 ms. The copy takes twice as long for its 40 bytes.
        let slow = CopyRate { bytes: 40, gbytes_s: 1e-5 };
        let raised = profile.raised(&Ceilings { gflops: 1e-7, matmul_size: 8, copies: vec![slow] });
        assert!((raised.gflops / 2e-6 - 1.0).abs() < 1e-9 && (raised.copies[0].gbytes_s / 2e-5 - 1.0).abs() < 1e-9);
        let shares: Vec<f64> = profile.launches.iter().map(|one| one.roofline_share(&raised)).collect();
        assert!((shares[2] - 1.0).abs() < 1e-9 && shares.iter().all(|share| *share <= 1.0 + 1e-9), "{shares:?}");
        let fast = Ceilings { gflops: 1.0, matmul_size: 8, copies: vec![CopyRate { bytes: 40, gbytes_s: 1.0 }] };
        assert_eq!(profile.raised(&fast), fast);
        let group = |name: &str, launches, ms, flops, bytes| Group {
            name: name.into(),
            launches,
            ms,
            share: ms / 10.0,
            cost: Cost { flops, bytes },
        };
        let expected = [group("matmul", 1, 5.0, 2, 20), group("map", 2, 3.0, 5, 50), group(BETWEEN, 0, 2.0, 0, 0)];
        assert_eq!(profile.grouped(Grouping::Kernel), expected);
        assert_eq!(profile.cost(), Cost { flops: 7, bytes: 70 });
    }
}
