//! What a device can do at best, measured: the arithmetic of a large matrix product, and the traffic of copies of several sizes. A launch takes at
//! least as long as the slower of its arithmetic and its traffic at these rates (Williams et al. 2009, the roofline).

use crate::autograd::Var;
use crate::device::{Cost, Device};
use crate::error::Result;
use crate::{host, ops};

/// Rates of a device.
#[derive(Clone, Debug, PartialEq)]
pub struct Ceilings {
    /// 10⁹ floating-point operations per second of the fastest matrix product.
    pub gflops: f64,
    /// Its rows and columns.
    pub matmul_size: usize,
    /// Copies by size, the smallest first. Small ones stay in caches, and on a GPU they wait for their launch.
    pub copies: Vec<CopyRate>,
}

/// The rate of a copy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CopyRate {
    /// Bytes read and written.
    pub bytes: u64,
    /// 10⁹ bytes per second.
    pub gbytes_s: f64,
}

/// Bytes of the smallest copy, and how many times as large each next one is.
const SMALLEST_COPY: u64 = 64 << 10;
const COPY_STEP: u64 = 4;
const COPIES: u32 = 6;
/// Batches of runs of each measurement; the fastest counts. A batch takes so long that a clock which is rounded to 0.1 ms, as in browsers, shows its
/// time within a few percent.
const BATCHES: usize = 5;
const BATCH_MS: f64 = 5.0;
const MOST_RUNS: usize = 1024;
/// Sizes of matrix products, while the one before takes less than a while. Small ones stay in the caches of a CPU, large ones fill a GPU.
const MATMUL_SIZES: [usize; 6] = [128, 256, 512, 1024, 2048, 4096];
const WHILE_MS: f64 = 10.0;

impl Ceilings {
    /// Measures a device that can time its plans.
    pub async fn measure(device: &Device) -> Result<Self> {
        let mut copies = Vec::new();
        for step in 0..COPIES {
            let bytes = SMALLEST_COPY * COPY_STEP.pow(step);
            let x = Var::constant(ops::normal(device, [bytes as usize / 8], 0, 1)?);
            let ms = fastest(device, &|| ops::fused(&[&x], |v| v[0] + 1.0)).await?;
            copies.push(CopyRate { bytes, gbytes_s: bytes as f64 / ms / 1e6 });
        }
        let (mut gflops, mut matmul_size) = (0.0, 0);
        for size in MATMUL_SIZES {
            let matrix = |stream| ops::normal(device, [size, size], 0, stream).map(Var::constant);
            let (a, b) = (matrix(1)?, matrix(2)?);
            let ms = fastest(device, &|| ops::matmul(&a, &b)).await?;
            let rate = 2.0 * (size as f64).powi(3) / ms / 1e6;
            if rate > gflops {
                (gflops, matmul_size) = (rate, size);
            }
            if ms > WHILE_MS {
                break;
            }
        }
        Ok(Self { gflops, matmul_size, copies })
    }

    /// 10⁹ bytes per second of a copy of so many bytes: in between, its time follows the line between the nearest two.
    pub fn gbytes_s(&self, bytes: u64) -> f64 {
        let bytes = bytes as f64;
        let ms = |rate: &CopyRate| rate.bytes as f64 / rate.gbytes_s / 1e6;
        let above = self.copies.iter().position(|rate| rate.bytes as f64 >= bytes);
        match (above, &self.copies[..]) {
            (_, []) => f64::INFINITY,
            (Some(0), [first, ..]) => first.gbytes_s,
            (None, [.., last]) => last.gbytes_s,
            (Some(at), rates) => {
                let [low, high] = [&rates[at - 1], &rates[at]];
                let share = (bytes - low.bytes as f64) / (high.bytes - low.bytes) as f64;
                bytes / (ms(low) + share * (ms(high) - ms(low))) / 1e6
            }
        }
    }

    /// The largest rate of any copy, and that of the largest copy.
    pub fn bandwidths(&self) -> [f64; 2] {
        let largest = self.copies.iter().map(|rate| rate.gbytes_s).fold(0.0, f64::max);
        [largest, self.copies.last().map_or(0.0, |rate| rate.gbytes_s)]
    }

    /// Milliseconds that arithmetic and traffic take at these rates, each on its own.
    pub fn least_ms(&self, cost: Cost) -> [f64; 2] {
        [cost.flops as f64 / self.gflops / 1e6, cost.bytes as f64 / self.gbytes_s(cost.bytes) / 1e6]
    }
}

/// The time of an op with one launch: the mean of the fastest of some batches. Single runs may be shorter than what the clock shows.
async fn fastest(device: &Device, op: &dyn Fn() -> Var) -> Result<f64> {
    let (plan, _result) = device.capture(|| Ok(op()))?;
    plan.run(1)?;
    let (mut runs, mut batches, mut least_ms) = (1, 0, f64::INFINITY);
    while batches < BATCHES {
        host::breathe().await;
        let timings = plan.start_timed(runs)?.await?;
        let ms: f64 = timings.spans.iter().map(|[start, end]| end - start).sum();
        if ms < BATCH_MS && runs < MOST_RUNS {
            runs *= 4;
        } else {
            batches += 1;
            least_ms = least_ms.min(ms / runs as f64);
        }
    }
    Ok(least_ms.max(1e-6))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_lies_between_those_of_the_nearest_sizes() {
        let rate = |bytes, gbytes_s| CopyRate { bytes, gbytes_s };
        let ceilings = Ceilings { gflops: 100.0, matmul_size: 8, copies: vec![rate(1000, 10.0), rate(3000, 5.0)] };
        assert_eq!([1, 1000, 3000, 9000].map(|bytes| ceilings.gbytes_s(bytes)), [10.0, 10.0, 5.0, 5.0]);
        // 0.1 and 0.6 µs: 2000 bytes take 0.35 µs.
        assert!((ceilings.gbytes_s(2000) - 2000.0 / 350.0).abs() < 1e-9);
        assert_eq!(ceilings.bandwidths(), [10.0, 5.0]);
        let [flops, bytes] = ceilings.least_ms(Cost { flops: 1_000_000, bytes: 1000 });
        assert!((flops - 0.01).abs() < 1e-12 && (bytes - 1e-4).abs() < 1e-12);
    }
}
