//! `mero bench matmul`: a product of square matrices, compared with a direct call of the gemm library.

use pollster::block_on;
use serde_json::json;

use super::library;
use super::measuring::{Common, check_size, windows};
use crate::Answer;
use crate::show::labels::place;
use crate::terminal::console::{say, say_json};
use meromorph::autograd::Var;
use meromorph::device::Passes;
use meromorph::internal::host;
use meromorph::internal::kernels::cast;
use meromorph::internal::kernels::halves::Half;
use meromorph::report::{duration, facts, figure};
use meromorph::{Device, Error, Result, ops};

#[derive(clap::Args)]
pub(super) struct Args {
    /// Rows and columns
    #[arg(long, default_value_t = 1024, value_name = "N")]
    pub(super) size: usize,
    /// Numbers of the factors; the library is always measured in f32
    #[arg(long, default_value = "f32", value_name = "TYPE", value_parser = ["f32", "f16", "bf16"])]
    precision: String,
    #[command(flatten)]
    pub(super) common: Common,
}

pub(super) fn run(args: &Args) -> Answer {
    let n = args.size;
    check_size(n.saturating_mul(n))?;
    let device = args.common.hardware.open_timed()?;
    let matrix = |stream| ops::normal(&device, [n, n], 0, stream).map(Var::constant);
    let (a, b) = (matrix(1)?, matrix(2)?);
    let ours = product_times(&device, &a, &b, args)?;
    let [left, right] = [block_on(a.value().to_f32())?, block_on(b.value().to_f32())?];
    let mut product = vec![0.0; n * n];
    let threads = match args.common.hardware.threads {
        0 => host::threads(),
        threads => threads,
    };
    let library = windows(args.common.windows, || {
        library::product(n, n, n, (&left, [n, 1]), (&right, [n, 1]), &mut product, threads);
        Ok(())
    })?;
    let [_, ours, _] = ours;
    let [_, library, _] = library;
    let rate = |ms: f64| 2.0 * (n as f64).powi(3) / ms / 1e6;
    let info = device.info();
    if args.common.json {
        say_json(&json!({
            "event": "report", "bench": "matmul", "size": n, "precision": args.precision, "ms": ours, "gflops": rate(ours), "library_ms": library,
            "library_gflops": rate(library), "ratio": library / ours, "device": info.device, "name": info.name,
            "threads": info.threads,
        }));
        return Ok(());
    }
    let line = |ms: f64| format!("{} GFLOP/s, {}", figure(rate(ms)), duration(ms / 1e3));
    say(&facts(&[
        ("here", format!("{} on {}", line(ours), place(info.device, &info.name, info.threads))),
        ("gemm", format!("{} on {}", line(library), place("cpu", &host::processor(), threads))),
        ("ratio", figure(library / ours)),
    ]));
    Ok(())
}

/// Time of a product alone, in milliseconds: best, median, worst. In halves, launches before it round the factors.
fn product_times(device: &Device, a: &Var, b: &Var, args: &Args) -> Result<[f64; 3]> {
    let half = match args.precision.as_str() {
        "f16" => Half::F16,
        "bf16" => Half::Bf16,
        _ => {
            let (plan, c) = device.capture(|| Ok(ops::matmul(a, b)))?;
            let mut corner = c.value().view().clone();
            corner.words = 1;
            return windows(args.common.windows, || {
                plan.run(1)?;
                block_on(device.read(&corner)).map(drop)
            });
        }
    };
    let passes = Passes { halves: Some(cast::stored(half, |_| true)), ..Passes::default() };
    let work = || {
        let [a, b] = [a, b].map(|factor| ops::fused(&[factor], |v| v[0] * 0.5));
        Ok(ops::matmul(&a, &b))
    };
    let (plan, _kept) = device.capture_with(&passes, work)?;
    let at = plan.summary().launches.iter().position(|launch| launch.kernel == "matmul");
    let at = at.ok_or_else(|| Error::internal("bench: the plan has no product"))?;
    let mut times = Vec::new();
    for _ in 0..args.common.windows + 2 {
        times.extend(block_on(plan.run_timed(1))?.means().get(at).copied());
    }
    // The first ones warm up.
    let mut times = times.split_off(2.min(times.len() - 1));
    times.sort_by(f64::total_cmp);
    Ok([times[0], times[times.len() / 2], times[times.len() - 1]])
}
