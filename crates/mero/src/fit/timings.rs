//! Where the time of a fit goes: passes over the rows, seconds of each part, memory over time, and the share of what the memory of this machine can move.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use pollster::block_on;

use super::running::{CPU, Running};
use crate::Answer;
use crate::options::hardware::Hardware;
use meromorph::Result;
use meromorph::files::RowSource;
use meromorph::internal::host::{self, number};
use meromorph::internal::json::Json;
use meromorph::profile::Ceilings;
use meromorph::report::{binary, count, counted, duration, scaled_count};

/// The times of a fit.
pub(crate) struct Timings {
    started: Instant,
    meter: Arc<Meter>,
    memory: Option<Memory>,
    /// Of this process.
    passes: usize,
    rows: usize,
    /// Bytes of the numbers that a pass takes in.
    pass_bytes: u64,
    /// Seconds in which a table was read.
    table: f64,
    /// Seconds before the first search, but for those of the table: in `mero xpcs` starts are looked for.
    before: f64,
    sums: f64,
    search: f64,
    errors: f64,
    threads: u64,
    is_wanted: bool,
    has_ceilings: bool,
}

/// Time of all threads in which a source handed over rows, and the bytes of their numbers.
#[derive(Default)]
struct Meter {
    nanoseconds: AtomicU64,
    bytes: AtomicU64,
}

impl Timings {
    /// The times of a fit that begins now; memory is watched if the options say so.
    pub(crate) fn new(running: &Running, is_wanted: bool) -> Self {
        Self {
            started: Instant::now(),
            meter: Arc::default(),
            memory: is_wanted.then(Memory::watched),
            passes: 0,
            rows: 0,
            pass_bytes: 0,
            table: 0.0,
            before: 0.0,
            sums: 0.0,
            search: 0.0,
            errors: 0.0,
            threads: running.thread_count(),
            is_wanted,
            has_ceilings: running.has_ceilings,
        }
    }

    /// What was done until now was to read a table.
    pub(crate) fn table_is_read(&mut self) {
        self.table = self.started.elapsed().as_secs_f64();
    }

    /// A source whose reading is measured.
    pub(crate) fn metered<S>(&self, source: S) -> Metered<S> {
        Metered { source, meter: self.meter.clone() }
    }

    /// A search over so many rows and columns has ended: its passes, and the seconds of their sums, of all of it, and after the last pass.
    pub(crate) fn add(&mut self, (rows, columns): (usize, usize), passes: usize, [sums, whole, after]: [f64; 3]) {
        if self.rows == 0 {
            self.before = self.started.elapsed().as_secs_f64() - whole - self.table;
        }
        self.passes += passes;
        self.rows = rows;
        self.pass_bytes = 8 * rows as u64 * columns as u64;
        self.sums += sums;
        self.search += (whole - sums - after).max(0.0);
        self.errors += after;
    }

    /// The times as JSON and as text, if the options say so.
    pub(crate) fn ended(mut self) -> Answer<Option<(Json, String)>> {
        if !self.is_wanted {
            return Ok(None);
        }
        let total = self.started.elapsed().as_secs_f64();
        let samples = self.memory.take().map(Memory::ended).unwrap_or_default();
        // What the machine can do is measured after, with memory of its own.
        let peak = host::peak_bytes();
        let mut most = 0.0;
        if self.has_ceilings {
            let ceilings = block_on(Ceilings::measure(&Hardware::of(CPU, self.threads as usize).open_timed()?))?;
            most = ceilings.copies.last().map_or(0.0, |copy| copy.gbytes_s);
        }
        let read = self.meter.nanoseconds.load(Ordering::Relaxed) as f64 / 1e9 / self.threads.max(1) as f64;
        let per_second = |amount: f64| if self.sums > 0.0 { amount / self.sums } else { 0.0 };
        let rows_s = per_second(self.passes as f64 * self.rows as f64);
        let gbytes_s = per_second(self.passes as f64 * self.pass_bytes as f64) / 1e9;
        let share = if most > 0.0 { gbytes_s / most } else { 0.0 };
        let parts = [
            ("table", self.table),
            ("before_the_search", self.before),
            ("reading", read),
            ("sums", self.sums),
            ("search", self.search),
            ("standard_errors", self.errors),
            ("total", total),
        ];
        let real = |value: f64| Json::Number(number(value).to_string());
        let whole = |value: u64| Json::Number(value.to_string());
        let sample = |&(at, bytes): &(f64, u64)| Json::List(vec![real(at), whole(bytes)]);
        let json = Json::fields([
            ("passes", whole(self.passes as u64)),
            ("rows", whole(self.rows as u64)),
            ("rows_per_second", real(rows_s)),
            ("pass_bytes", whole(self.pass_bytes)),
            ("bytes_read", whole(self.meter.bytes.load(Ordering::Relaxed))),
            ("seconds", Json::Fields(parts.map(|(name, value)| (name.to_owned(), real(value))).to_vec())),
            ("gbytes_per_second", real(gbytes_s)),
            ("copy_gbytes_per_second", real(most)),
            ("share_of_copy", real(share)),
            ("peak_bytes", whole(peak)),
            ("resident", Json::List(samples.iter().map(sample).collect())),
        ]);
        let mut text = format!(
            "timings: {} over {} rows, {} rows a second\n",
            match self.passes {
                1 => "1 pass".to_owned(),
                passes => format!("{passes} passes"),
            },
            count(self.rows as u64),
            scaled_count(rows_s)
        );
        let shown = parts.iter().filter(|(name, value)| *value > 0.0 && *name != "total");
        let shown: Vec<String> =
            shown.map(|(name, value)| format!("{} {}", name.replace('_', " "), duration(*value))).collect();
        text += &format!("{}   total {}\n", shown.join("   "), duration(total));
        text += &format!(
            "the sums take in {gbytes_s:.2} GB/s, {:.1} % of the {most:.1} GB/s of copies in memory: {}\n",
            100.0 * share,
            if share < 0.5 { "arithmetic takes their time" } else { "memory takes their time" }
        );
        let first = samples.first().map_or(0, |(_, bytes)| *bytes);
        let taken = counted(samples.len(), "sample");
        text += &format!("memory {} at the start, {} at most ({taken} in the report)", binary(first), binary(peak));
        Ok(Some((json, text)))
    }
}

/// A source whose reading is measured.
pub(crate) struct Metered<S> {
    source: S,
    meter: Arc<Meter>,
}

impl<S: std::ops::Deref<Target: RowSource> + Sync> RowSource for Metered<S> {
    fn rows(&self) -> usize {
        self.source.rows()
    }

    fn columns(&self) -> &[String] {
        self.source.columns()
    }

    fn read(&self, range: Range<usize>, places: &[usize], into: &mut [&mut [f64]]) -> Result<()> {
        let started = Instant::now();
        let bytes = 8 * range.len() as u64 * places.len() as u64;
        let answer = self.source.read(range, places, into);
        self.meter.nanoseconds.fetch_add(started.elapsed().as_nanos() as u64, Ordering::Relaxed);
        self.meter.bytes.fetch_add(bytes, Ordering::Relaxed);
        answer
    }

    fn fingerprint(&self) -> Result<String> {
        self.source.fingerprint()
    }
}

/// The memory of the process, looked at now and then by a thread of its own.
struct Memory {
    is_ended: Arc<AtomicBool>,
    samples: Arc<Mutex<Vec<(f64, u64)>>>,
    thread: JoinHandle<()>,
}

/// Time between two looks.
const APART: Duration = Duration::from_millis(20);
/// Samples that are kept, at most: beyond them every second one is dropped, and the next ones are twice as far apart.
const MOST_SAMPLES: usize = 128;

impl Memory {
    fn watched() -> Self {
        let (is_ended, samples) = (Arc::new(AtomicBool::new(false)), Arc::new(Mutex::new(Vec::new())));
        let (ended, taken, started) = (is_ended.clone(), samples.clone(), Instant::now());
        let thread = std::thread::spawn(move || {
            let (mut apart, mut next) = (APART, Duration::ZERO);
            while !ended.load(Ordering::Relaxed) {
                if started.elapsed() >= next {
                    let mut taken = taken.lock().expect("no thread panicked");
                    taken.push((started.elapsed().as_secs_f64(), host::resident_bytes()));
                    if taken.len() >= MOST_SAMPLES {
                        let mut at = 0;
                        taken.retain(|_| {
                            at += 1;
                            at % 2 == 1
                        });
                        apart *= 2;
                    }
                    next = started.elapsed() + apart;
                }
                std::thread::sleep(APART);
            }
        });
        Self { is_ended, samples, thread }
    }

    /// Seconds and bytes of each look.
    fn ended(self) -> Vec<(f64, u64)> {
        self.is_ended.store(true, Ordering::Relaxed);
        // A thread that panicked has no more samples.
        let _ = self.thread.join();
        std::mem::take(&mut *self.samples.lock().expect("no thread panicked"))
    }
}
