//! The rows: what is claimed, both forms, and what was measured.

use meromorph::contrast::Storage;
use meromorph::device::Plan;
use meromorph::{Device, Result};
use meromorph_benchmark::{Benchmark, Ratio, WarmUp};

use super::composed::{ALL, Saving};
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
/// Windows between two reports.
const REPORT: usize = 8;

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
const HALVES: Phases = Phases::Kernel(Storage::Halves);
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

    fn reading(&self) -> Result<Vec<Row>> {
        let replay = self.replayed(self.setting(KERNEL))?;
        let read = |times: usize| -> Result<()> { (0..times).try_for_each(|_| replay.window.gradient().map(drop)) };
        let every = |windows: usize, reads: usize| -> Result<()> {
            for _ in 0..REPORT / windows {
                replay.plan.run(windows)?;
                read(reads)?;
            }
            Ok(())
        };
        let once = || every(REPORT, 1);
        let row = |claim, slow: &str, ratio| Row {
            claim,
            forms: [slow.into(), format!("1 read every {REPORT} windows")],
            timed: Some(ratio),
            note: String::new(),
        };
        Ok(vec![
            row("metrics batching: 3-5 %", "3 reads every 8 windows", self.ratio(|| every(REPORT, 3), once)?),
            row("metrics batching: 3-5 %", "1 read per window", self.ratio(|| every(1, 1), once)?),
            row("metrics batching: 3-5 %", "3 reads per window", self.ratio(|| every(1, 3), once)?),
        ])
    }

    fn readbacks(&self) -> Result<Vec<Row>> {
        let replay = self.replayed(self.setting(KERNEL))?;
        let reads = || self.device.counters().readbacks;
        let before = reads();
        replay.plan.run(REPORT)?;
        replay.window.gradient()?;
        let fast = reads() - before;
        let before = reads();
        for _ in 0..REPORT {
            replay.plan.run(1)?;
            replay.window.step_on_host()?;
            replay.window.gradient()?;
        }
        let slow = reads() - before;
        let forms = [format!("{slow} readbacks in {REPORT} windows"), format!("{fast} readback in {REPORT} windows")];
        let (stable, later) = self.bytes_in_use(&replay)?;
        Ok(vec![
            Row { claim: "10-15 waits become 1", forms, timed: None, note: "counted, not timed".into() },
            Row {
                claim: "memory stays the same",
                forms: [format!("{} bytes after 10 windows", stable[0]), format!("{} bytes after {later}", stable[1])],
                timed: None,
                note: String::new(),
            },
        ])
    }

    /// Bytes in use after 10 windows and after many more, as many as there is patience for.
    fn bytes_in_use(&self, replay: &Replay) -> Result<([u64; 2], usize)> {
        let bytes = |windows: usize| -> Result<u64> {
            replay.plan.run(windows)?;
            replay.window.wait()?;
            Ok(self.device.counters().live_bytes)
        };
        let more = if self.size == SIZES[0] { LATER - 10 } else { 10 };
        Ok(([bytes(10)?, bytes(more)?], 10 + more))
    }

    fn update(&self) -> Result<Vec<Row>> {
        let replay = self.replayed(self.setting(KERNEL))?;
        let (step, ()) = self.device.capture(|| replay.window.record_step())?;
        let on_device = || -> Result<()> {
            step.run(1)?;
            replay.window.wait().map(drop)
        };
        let on_host = || -> Result<()> {
            replay.window.step_on_host()?;
            replay.window.wait().map(drop)
        };
        let row = |what: &str, ratio| Row {
            claim: "rotor update: 2-3 % of the update",
            forms: [format!("{what}, in loops on the host"), format!("{what}, on the device")],
            timed: Some(ratio),
            note: String::new(),
        };
        let alone = row("update alone", self.ratio(on_host, on_device)?);
        let whole = self.ratio(
            || {
                replay.plan.run(1)?;
                on_host()
            },
            || {
                replay.plan.run(1)?;
                replay.window.wait().map(drop)
            },
        )?;
        Ok(vec![alone, row("whole window", whole)])
    }

    fn savings(&self) -> Result<Vec<Row>> {
        let claims: [(&'static str, &'static [Saving], &str); 5] = [
            ("fused cost and distance: 2-3 %", &[Saving::SharedForm], "one quadratic form per step, not two"),
            ("softmax and mix: 1-2 %", &[Saving::OneSoftmax], "softmax in one launch, not four"),
            ("sums in place: < 1 %", &[Saving::SumsInPlace], "running sums in place, not copied back"),
            ("rotor caching: 2-3 %", &[Saving::RotatedKeys], "keys rotated once per window, not per step"),
            ("(ours)", &[Saving::Constants], "costs and free phase once per window, not per step"),
        ];
        let slow = self.replayed(self.setting(NONE))?;
        let each = claims.into_iter().map(|(claim, savings, what)| {
            let fast = self.replayed(self.setting(Phases::Composed(savings)))?;
            let ratio = self.ratio_of([&slow, &fast])?;
            Ok(Row {
                claim,
                forms: ["composed of ops".into(), what.into()],
                timed: Some(ratio),
                note: moved(&slow, &fast),
            })
        });
        each.collect()
    }

    fn cleanup(&self) -> Result<Vec<Row>> {
        const EVERY: usize = 10;
        let (mut freed, mut kept) = (self.replayed(self.setting(KERNEL))?, self.replayed(self.setting(KERNEL))?);
        // Both record the window again, so that only the memory differs.
        let once = |replay: &mut Replay, frees: bool| -> Result<()> {
            replay.plan = self.device.capture(|| replay.window.record())?.0;
            if frees {
                self.device.trim();
            }
            replay.plan.run(EVERY)?;
            replay.window.wait().map(drop)
        };
        let ratio = self.ratio(|| once(&mut freed, true), || once(&mut kept, false))?;
        Ok(vec![Row {
            claim: "adaptive cleanup: 1-2 %",
            forms: [format!("memory freed and allocated again every {EVERY} windows"), "kept".into()],
            timed: Some(ratio),
            note: String::new(),
        }])
    }

    fn implemented(&self) -> Result<Vec<Row>> {
        let [slow, fast] = [NONE, Phases::Composed(ALL)].map(|phases| self.replayed(self.setting(phases)));
        let (slow, fast) = (slow?, fast?);
        let ratio = self.ratio(
            || {
                slow.plan.run(1)?;
                slow.window.step_on_host()?;
                (0..3).try_for_each(|_| slow.window.gradient().map(drop))
            },
            || {
                fast.plan.run(1)?;
                fast.window.gradient().map(drop)
            },
        )?;
        Ok(vec![Row {
            claim: "all that is implemented: 10-15 %",
            forms: ["composed, update on the host, 3 reads".into(), "composed, all savings, 1 read".into()],
            timed: Some(ratio),
            note: moved(&slow, &fast),
        }])
    }

    /// A window whose ops run one by one.
    fn eager(&self, size: Size, phases: Phases) -> Result<Window> {
        let window = Window::new(self.device, Setting::new(size, phases))?;
        window.is_eager.set(true);
        Ok(window)
    }

    fn replay(&self) -> Result<Vec<Row>> {
        const TOGETHER: usize = 16;
        let forms = [(NONE, "composed"), (Phases::Composed(ALL), "composed, all savings"), (KERNEL, "one launch")];
        let mut rows = Vec::new();
        for (phases, name) in forms {
            let eager = self.eager(self.size, phases)?;
            let replay = self.replayed(self.setting(phases))?;
            let ratio = self.ratio(
                || {
                    eager.record()?;
                    eager.wait().map(drop)
                },
                || {
                    replay.plan.run(1)?;
                    replay.window.wait().map(drop)
                },
            )?;
            rows.push(Row {
                claim: "graphs: 15-25 %",
                forms: [format!("{name}: op by op"), format!("{name}: replayed")],
                timed: Some(ratio),
                note: format!("{} launches", replay.launches()),
            });
        }
        let replay = self.replayed(self.setting(KERNEL))?;
        let ratio = self.ratio(
            || {
                for _ in 0..TOGETHER {
                    replay.plan.run(1)?;
                    replay.window.wait()?;
                }
                Ok(())
            },
            || {
                replay.plan.run(TOGETHER)?;
                replay.window.wait().map(drop)
            },
        )?;
        rows.push(Row {
            claim: "graphs: 15-25 %",
            forms: ["replayed, waited for each".into(), format!("replayed, {TOGETHER} windows together")],
            timed: Some(ratio),
            note: String::new(),
        });
        Ok(rows)
    }

    /// On the device that plans and runs nothing, all time is the host's.
    fn host_time(&self) -> Result<Vec<Row>> {
        let dry = Device::dry();
        let on = Rows { device: &dry, ..*self };
        let eager = on.eager(self.size, NONE)?;
        let mut rows = Vec::new();
        for (phases, name) in [(NONE, "replayed"), (KERNEL, "replayed, one launch for the phases")] {
            let replay = on.replayed(on.setting(phases))?;
            let started = now_ms();
            const TIMES: usize = 100;
            for _ in 0..TIMES {
                replay.plan.run(1)?;
            }
            let times = TIMES as f64;
            let each = 1e3 * (now_ms() - started) / times;
            let ratio = on.ratio(|| eager.record(), || (0..TIMES).try_for_each(|_| replay.plan.run(1)))?;
            rows.push(Row {
                claim: "100 times less host time per launch",
                forms: ["op by op".into(), name.into()],
                timed: Some(Timed {
                    ratio: ratio.ratio.map(|ratio| ratio * times),
                    ms: [ratio.ms[0], ratio.ms[1] / times],
                }),
                note: format!("{each:.1} µs per replayed window, {} launches; on the dry device", replay.launches()),
            });
        }
        Ok(rows)
    }

    fn batch_sizes(&self) -> Result<Vec<Row>> {
        let mut rows = Vec::new();
        for count in [1, 2, 4, 8, 16, 32, 64, 128] {
            let size = Size { rows: count, ..self.size };
            let eager = self.eager(size, KERNEL)?;
            let replay = self.replayed(Setting::new(size, KERNEL))?;
            let ratio = self.ratio(
                || {
                    eager.record()?;
                    eager.wait().map(drop)
                },
                || {
                    replay.plan.run(1)?;
                    replay.window.wait().map(drop)
                },
            )?;
            rows.push(Row {
                claim: "helps only from 16 rows on",
                forms: [format!("{count} rows: op by op"), format!("{count} rows: replayed")],
                timed: Some(ratio),
                note: String::new(),
            });
        }
        Ok(rows)
    }

    fn everything(&self) -> Result<Vec<Row>> {
        let eager = self.eager(self.size, NONE)?;
        let replay = self.replayed(self.setting(KERNEL))?;
        let ratio = self.ratio(
            || {
                eager.record()?;
                eager.step_on_host()?;
                (0..3).try_for_each(|_| eager.gradient().map(drop))
            },
            || {
                replay.plan.run(1)?;
                replay.window.gradient().map(drop)
            },
        )?;
        Ok(vec![Row {
            claim: "total potential: 25-35 %",
            forms: ["composed, op by op, update on the host, 3 reads".into(), "one launch, replayed, 1 read".into()],
            timed: Some(ratio),
            note: format!("apart by {:.1e} after the same windows", self.apart()?),
        }])
    }

    /// The largest difference of the parameters of both forms after the same windows, relative above 1.
    fn apart(&self) -> Result<f32> {
        let windows = if self.size == SIZES[2] { 2 } else { 20 };
        let [a, b] = [Phases::Composed(ALL), KERNEL].map(|phases| -> Result<Vec<f32>> {
            let replay = self.replayed(self.setting(phases))?;
            replay.plan.run(windows)?;
            replay.window.wait()
        });
        Ok(a?.iter().zip(&b?).map(|(a, b)| (a - b).abs() / b.abs().max(1.0)).fold(0.0, f32::max))
    }

    fn rotated_keys(&self) -> Result<Vec<Row>> {
        let each = self.replayed(self.setting(KERNEL))?;
        let before = self.replayed(Setting { is_mapped_before: true, ..self.setting(KERNEL) })?;
        Ok(vec![Row {
            claim: "rotor caching: 2-3 %",
            forms: ["keys rotated in each window".into(), "rotated before, for angles that do not change".into()],
            timed: Some(self.ratio_of([&each, &before])?),
            note: String::new(),
        }])
    }

    fn sparse(&self) -> Result<Vec<Row>> {
        let shares = [0.05, 0.25, 1.0].into_iter().map(|share| {
            let candidates = ((self.size.keys as f64 * share) as usize).max(1);
            let all = self.replayed(Setting { candidates, ..self.setting(KERNEL) })?;
            let filled = self.replayed(Setting { candidates, filled: candidates, ..self.setting(KERNEL) })?;
            Ok(Row {
                claim: "sparse memory: 1-2 %",
                forms: [format!("{share} filled: all slots"), format!("{share} filled: those that are filled")],
                timed: Some(self.ratio_of([&all, &filled])?),
                note: String::new(),
            })
        });
        shares.collect()
    }

    fn fused(&self) -> Result<Vec<Row>> {
        let rows = [(NONE, 1, "fused retrieval: 5-10 %"), (Phases::Composed(ALL), 64, "(ours) one launch per window")];
        let rows = rows.into_iter().map(|(phases, steps, claim)| {
            let composed = self.replayed(Setting { steps, ..self.setting(phases) })?;
            let kernel = self.replayed(Setting { steps, ..self.setting(KERNEL) })?;
            let steps = if steps == 1 { "1 step".to_owned() } else { format!("{steps} steps") };
            Ok(Row {
                claim,
                forms: [format!("{steps}: composed"), format!("{steps}: in one launch")],
                timed: Some(self.ratio_of([&composed, &kernel])?),
                note: moved(&composed, &kernel),
            })
        });
        rows.collect()
    }

    /// To compare with other engines: a window as it is, waited for.
    fn speed(&self) -> Result<Vec<Row>> {
        let [first, second] = [0, 1].map(|_| self.replayed(self.setting(KERNEL)));
        let forms = ["one launch, waited for".into(), "the same".into()];
        let timed = Some(self.ratio_of([&first?, &second?])?);
        Ok(vec![Row { claim: "(none: how much ratios vary)", forms, timed, note: String::new() }])
    }

    fn halves(&self) -> Result<Vec<Row>> {
        let [floats, halves] = [KERNEL, HALVES].map(|phases| self.replayed(self.setting(phases)));
        let ratio = self.ratio_of([&floats?, &halves?])?;
        let mut errors = Vec::new();
        for nudge in [1e-1_f32, 1e-2, 1e-3, 1e-4] {
            let [a, b] = [KERNEL, HALVES].map(|phases| -> Result<Vec<f32>> {
                let replay = self.replayed(Setting { nudge, ..self.setting(phases) })?;
                replay.plan.run(1)?;
                replay.window.gradient()
            });
            let (a, b) = (a?, b?);
            let norm = |values: &mut dyn Iterator<Item = f32>| values.map(|x| x * x).sum::<f32>().sqrt();
            let apart = norm(&mut a.iter().zip(&b).map(|(a, b)| a - b)) / norm(&mut a.iter().copied());
            errors.push(format!("{nudge:e}: {apart:.1e}"));
        }
        Ok(vec![Row {
            claim: "mixed precision: 20-30 %",
            forms: ["states in 32 bits".into(), "states in packed halves".into()],
            timed: Some(ratio),
            note: format!("gradients apart by, per nudge, {}", errors.join(", ")),
        }])
    }
}

/// Windows after which memory is looked at again.
const LATER: usize = 10_000;

/// Bytes that the launches of both read and write.
fn moved(slow: &Replay, fast: &Replay) -> String {
    let mib = |replay: &Replay| replay.bytes() as f64 / f64::from(1 << 20);
    format!("{:.2} MiB in {} launches, {:.2} in {}", mib(slow), slow.launches(), mib(fast), fast.launches())
}
