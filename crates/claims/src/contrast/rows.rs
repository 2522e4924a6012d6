//! The rows: what is claimed, both forms, and what was measured.

mod host;
mod phases;
mod replays;

use meromorph::contrast::Storage;
use meromorph::device::Plan;
use meromorph::{Device, Result};
use meromorph_benchmark::{Benchmark, Ratio, WarmUp};

use super::window::{Phases, Setting, Size, Window};
use meromorph::internal::host::now_ms;

/// The sizes that every row is measured at.
pub const SIZES: [Size; 3] = [
    Size { name: "small", rows: 8, keys: 256, width: 64 },
    Size { name: "middle", rows: 32, keys: 2048, width: 64 },
    Size { name: "large", rows: 32, keys: 16_384, width: 512 },
];

/// A row.
pub struct Row {
    /// What the guide says.
    pub claim: &'static str,
    /// The slow form and the fast one.
    pub forms: [String; 2],
    /// Absent where a count is the figure.
    pub timed: Option<Timed>,
    /// What else was counted.
    pub note: String,
}

/// Times of both forms.
#[derive(Clone, Copy)]
pub struct Timed {
    /// Time of the slow form over that of the fast one: the median, and where the true ratio is with a probability of 0.95.
    pub ratio: [f64; 3],
    /// Median times of the slow form and the fast one, in milliseconds.
    pub ms: [f64; 2],
}

/// What measures the rows of a size.
pub struct Rows<'r> {
    /// The device.
    pub device: &'r Device,
    /// The size.
    pub size: Size,
    /// Pairs of samples, fewer where a window takes long.
    pub samples: usize,
}

/// Samples of windows that take long.
const FEWEST: usize = 5;
/// What the samples of a side should take together, in milliseconds.
const PATIENCE_MS: f64 = 4_000.0;

/// A plan of a window, and its window.
struct Replay {
    window: Window,
    plan: Plan,
}

impl Replay {
    fn of(window: Window) -> Result<Self> {
        let (plan, ()) = window.device.capture(|| window.record())?;
        Ok(Self { window, plan })
    }

    fn bytes(&self) -> u64 {
        self.plan.summary().cost.bytes
    }

    fn launches(&self) -> usize {
        self.plan.summary().launches.len()
    }
}

const KERNEL: Phases = Phases::Kernel(Storage::Floats);
const NONE: Phases = Phases::Composed(&[]);

/// A measure of one row or a few.
type Measure<'r> = fn(&Rows<'r>) -> Result<Vec<Row>>;

impl<'r> Rows<'r> {
    /// Every measure with a name for the progress.
    pub fn measures() -> [(&'static str, Measure<'r>); 15] {
        [
            ("reading figures", Self::reading),
            ("counted readbacks", Self::readbacks),
            ("update", Self::update),
            ("composed windows", Self::savings),
            ("memory pool", Self::cleanup),
            ("all that is implemented", Self::implemented),
            ("replay", Self::replay),
            ("host time", Self::host_time),
            ("batch sizes", Self::batch_sizes),
            ("everything", Self::everything),
            ("rotated keys", Self::rotated_keys),
            ("part of the memory", Self::sparse),
            ("retrieval in one launch", Self::fused),
            ("halves", Self::halves),
            ("speed", Self::speed),
        ]
    }

    fn setting(&self, phases: Phases) -> Setting {
        Setting::new(self.size, phases)
    }

    fn replayed(&self, setting: Setting) -> Result<Replay> {
        Replay::of(Window::new(self.device, setting)?)
    }

    /// Times of the slow form over those of the fast one.
    fn ratio(&self, mut slow: impl FnMut() -> Result<()>, mut fast: impl FnMut() -> Result<()>) -> Result<Timed> {
        let started = now_ms();
        slow()?;
        fast()?;
        let each = (now_ms() - started).max(1e-3);
        let samples = ((PATIENCE_MS / each) as usize).clamp(FEWEST.min(self.samples), self.samples);
        let warm_up = if samples == self.samples { 2 } else { 0 };
        let benchmark = Benchmark::new("window").iterations(samples).warm_up(WarmUp::Runs(warm_up));
        let ([fast, slow], Ratio { median, low, high, .. }) = benchmark.compare(&mut fast, &mut slow)?;
        Ok(Timed { ratio: [median, low, high], ms: [slow.median_ms(), fast.median_ms()] })
    }

    /// The same of plans, each waited for.
    fn ratio_of(&self, [slow, fast]: [&Replay; 2]) -> Result<Timed> {
        let once = |replay: &Replay| -> Result<()> {
            replay.plan.run(1)?;
            replay.window.wait().map(drop)
        };
        self.ratio(|| once(slow), || once(fast))
    }
}

/// Bytes that the launches of both read and write.
fn moved(slow: &Replay, fast: &Replay) -> String {
    let mib = |replay: &Replay| replay.bytes() as f64 / f64::from(1 << 20);
    format!("{:.2} MiB in {} launches, {:.2} in {}", mib(slow), slow.launches(), mib(fast), fast.launches())
}
