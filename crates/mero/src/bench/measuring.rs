//! What the measurements share: options, bounds of sizes, windows of time, random numbers.

use pollster::block_on;

use crate::options::hardware::Hardware;
use crate::terminal::progress::Progress;
use crate::{Answer, Failure};
use meromorph::internal::host;
use meromorph::{Device, Result, ops};
use meromorph_benchmark::{Benchmark, WarmUp};

#[derive(clap::Args)]
pub(super) struct Common {
    /// Windows measured; the result is their median
    #[arg(long, default_value_t = 9, value_name = "N")]
    pub(super) windows: usize,
    /// Print only JSON, one object
    #[arg(long)]
    pub(super) json: bool,
    #[command(flatten)]
    pub(super) hardware: Hardware,
}

/// Bytes per number of an operand: operands and results are on the device, and copies of them on the host.
const BYTES_EACH: u64 = 32;

/// Errors if there are more numbers than one buffer, or the memory, can hold.
pub(super) fn check_size(numbers: usize) -> Answer {
    let most = u32::MAX;
    if numbers > most as usize {
        return Err(Failure::usage(format!("sizes: got {numbers} numbers, expected at most {most}")));
    }
    let (needed, most) = (BYTES_EACH * numbers as u64, host::memory_bytes());
    if needed > most {
        let [needed, most] = [needed, most].map(host::gib);
        return Err(Failure::usage(format!(
            "sizes: {numbers} numbers take about {needed}, this process may use {most}; choose smaller sizes"
        )));
    }
    Ok(())
}

/// Time of windows after a warm-up, in milliseconds: best, median, worst.
pub(super) fn windows(count: usize, window: impl FnMut() -> Result<()>) -> Result<[f64; 3]> {
    let benchmark = Benchmark::new("window").iterations(count).warm_up(WarmUp::Runs(2));
    let progress = Progress::of(count as u64, "measuring");
    let found = benchmark.follow(move |windows| progress.set(windows as u64)).run(window)?;
    Ok([found.min_ms, found.median_ms(), found.max_ms])
}

pub(super) fn random(device: &Device, count: usize, stream: u32) -> Result<Vec<f32>> {
    block_on(ops::normal(device, [count], 0, stream)?.to_f32())
}
