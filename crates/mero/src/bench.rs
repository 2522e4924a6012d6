//! `mero bench`: the speed of a training step, a matrix product, masked arithmetic and reading a table, as medians over windows after a warm-up.

mod claims;
mod geometry;
mod library;
mod predict;
mod read;
mod scm;

use clap::Subcommand;
use pollster::block_on;
use serde_json::json;

use super::args::{Hardware, choose_geometry};
use super::console::{say, say_json};
use super::flags::{Flags, Step};
use super::progress::Progress;
use super::report::place;
use super::{Answer, Failure};
use meromorph::autograd::Var;
use meromorph::device::Passes;
use meromorph::internal::host;
use meromorph::internal::kernels::cast;
use meromorph::internal::kernels::halves::Half;
use meromorph::loss::{Loss, PairLoss, Target};
use meromorph::nn::{Layer, Spec};
use meromorph::report::{duration, facts, figure, scaled_count};
use meromorph::run::{Norm, TrainOptions};
use meromorph::train::{Data, Examples, Trainer, TrainerConfig};
use meromorph::{Device, Error, Result, ops};
use meromorph_benchmark::{Benchmark, WarmUp};

#[derive(clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// A training step of a perceptron with 5 inputs and 1 output
    Mlp(Mlp),
    /// Predictions of a perceptron with 5 inputs and 1 output: of many rows in one call, and of one row
    Predict(predict::Args),
    /// c = a · b of square matrices, compared with a direct call of the gemm library
    Matmul(Matmul),
    /// Masked arithmetic compared with a copy and a plain division: 1 in 100 numbers is ⊥, 1 in 100 divisors is 0
    Scm(scm::Args),
    /// Ways to split a batch of the fused training step on a GPU
    Geometry(geometry::Args),
    /// What is said of training: memory, precision, limits, compression. Takes some minutes
    Claims(claims::Args),
    /// Reading a table from the bytes of its file
    Read(read::Args),
}

#[derive(clap::Args)]
struct Mlp {
    #[command(flatten)]
    flags: Flags<Step>,
    /// Steps per window
    #[arg(long, default_value_t = 500, value_name = "N")]
    steps: usize,
    /// Train this many residual blocks of layer norm, linear layer and activation instead, as wide as the first hidden layer
    #[arg(long, default_value_t = 0, value_name = "N")]
    deep: usize,
    /// Use the implicit residual and the decoded error instead of the chordal residual and the sign
    #[arg(long)]
    decoded: bool,
    #[command(flatten)]
    common: Common,
}

#[derive(clap::Args)]
struct Matmul {
    /// Rows and columns
    #[arg(long, default_value_t = 1024, value_name = "N")]
    size: usize,
    /// Numbers of the factors; the library is always measured in f32
    #[arg(long, default_value = "f32", value_name = "TYPE", value_parser = ["f32", "f16", "bf16"])]
    precision: String,
    #[command(flatten)]
    common: Common,
}

#[derive(clap::Args)]
struct Common {
    /// Windows measured; the result is their median
    #[arg(long, default_value_t = 9, value_name = "N")]
    windows: usize,
    #[command(flatten)]
    hardware: Hardware,
    /// Print only JSON, one object
    #[arg(long)]
    json: bool,
}

/// More steps, or windows of them, than anyone can wait for.
const MOST_WINDOWS: usize = 1_000_000;
/// More blocks than a model that is of use.
const MOST_BLOCKS: usize = 10_000;

pub(super) fn run(args: &Args) -> Answer {
    let sizes = match &args.what {
        What::Mlp(mlp) => [1, mlp.steps, mlp.common.windows],
        What::Predict(predict) => [predict.rows, 1, predict.common.windows],
        What::Matmul(matmul) => [matmul.size, 1, matmul.common.windows],
        What::Scm(scm) => [scm.n, 1, scm.common.windows],
        What::Read(read) => [1, 1, read.windows],
        What::Claims(_) | What::Geometry(_) => [1; 3],
    };
    if sizes.contains(&0) {
        return Err(Failure::usage("steps, rows, size, n and windows must be at least 1"));
    }
    for (name, count) in [("steps", sizes[1]), ("windows", sizes[2])] {
        if count > MOST_WINDOWS {
            return Err(Failure::usage(format!("{name}: got {count}, expected at most {MOST_WINDOWS}")));
        }
    }
    match &args.what {
        What::Mlp(args) => mlp(args),
        What::Predict(args) => predict::run(args),
        What::Matmul(args) => matmul(args),
        What::Scm(args) => scm::run(args),
        What::Read(args) => read::run(args),
        What::Claims(args) => claims::run(args),
        What::Geometry(args) => geometry::run(args),
    }
}

/// Bytes per number of an operand: operands and results are on the device, and copies of them on the host.
const BYTES_EACH: u64 = 32;

/// Errors if there are more numbers than one buffer, or the memory, can hold.
fn check_size(numbers: usize) -> Answer {
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

/// Steps per epoch: enough that the upload of an epoch is negligible.
const STEPS_PER_EPOCH: usize = 64;

fn mlp(args: &Mlp) -> Answer {
    let options = args.flags.apply(TrainOptions::default())?;
    let is_linear = options.head.is_none();
    if args.decoded && is_linear {
        return Err(Failure::usage("--decoded has no effect without a head with poles; set --head to rational"));
    }
    if options.loss.as_ref().is_some_and(|loss| !is_linear || loss.target() == Target::Classes) {
        return Err(Failure::usage("--loss: expected a loss of numbers, with a linear head"));
    }
    let plain = TrainerConfig::default();
    let batch = options.batch.unwrap_or(plain.batch);
    let rows = batch.saturating_mul(STEPS_PER_EPOCH);
    check_size(rows.saturating_mul(5))?;
    let device = args.common.hardware.open()?;
    let (x, y) = (random(&device, rows * 5, 1)?, random(&device, rows, 2)?);
    let optimizer = options.optimizer.clone().unwrap_or(plain.optimizer);
    let loss = options.loss.clone().unwrap_or_else(|| if is_linear { Loss::mse() } else { pair_loss(args.decoded) });
    let config = TrainerConfig { loss, optimizer, batch, ..TrainerConfig::default() };
    let y = if is_linear { y } else { y.iter().flat_map(|y| [*y, 1.0]).collect() };
    let spec = if args.deep > 0 { deep(&options, args.deep)? } else { options.spec(5, 1) };
    let data = Data { inputs: 5, targets: y.len() / rows, train: Examples { x, y }, ..Data::default() };
    let mut trainer = Trainer::new(&device, spec, config, data)?;
    choose_geometry(&mut trainer, &args.common.hardware)?;
    let flops = trainer.step_summary().cost.flops as f64;
    let kind = trainer.step_kind().name();
    let times = windows(args.common.windows, || {
        trainer.advance(args.steps)?;
        block_on(trainer.batch_losses()).map(drop)
    })?;
    let per_step = |ms: f64| ms * 1e3 / args.steps as f64;
    let [best, median, worst] = times.map(per_step);
    let (info, samples) = (device.info(), batch as f64 / median * 1e6);
    if args.common.json {
        say_json(&json!({
            "event": "report", "bench": "mlp", "us_per_step": median, "us_per_step_best": best, "us_per_step_worst": worst,
            "steps_per_s": 1e6 / median, "samples_per_s": samples, "gflops": flops / median / 1e3, "batch": batch,
            "hidden": options.hidden(), "deep": args.deep, "steps": args.steps, "windows": args.common.windows, "step": kind,
            "device": info.device, "name": info.name, "threads": info.threads, "head": args.flags.text("head").unwrap_or("linear"),
            "decoded": args.decoded,
        }));
        return Ok(());
    }
    say(&facts(&[
        ("us_per_step", format!("{} (from {} to {})", figure(median), figure(best), figure(worst))),
        ("speed", format!("{} steps/s, {} rows/s", figure(1e6 / median), scaled_count(samples))),
        ("work", format!("{} GFLOP/s", figure(flops / median / 1e3))),
        ("step", format!("{kind} on {}", place(info.device, &info.name, info.threads))),
    ]));
    Ok(())
}

/// A deep model whose blocks are x + activation(linear(layer norm(x))).
fn deep(options: &TrainOptions, blocks: usize) -> Answer<Spec> {
    if options.head.is_some() {
        return Err(Failure::usage("--deep takes a linear head"));
    }
    if blocks > MOST_BLOCKS {
        return Err(Failure::usage(format!("deep: got {blocks}, expected at most {MOST_BLOCKS}")));
    }
    let width = options.hidden().first().copied().unwrap_or(64);
    let plain = TrainOptions { hidden: Some(vec![width]), ..options.clone() }.spec(5, 1);
    let [first, activation, last] = <[Layer; 3]>::try_from(plain.layers).expect("a perceptron with one hidden layer");
    let inner = TrainOptions { hidden: Some(vec![width]), ..options.clone() }.spec(width, 1).layers[0].clone();
    let block = Layer::Residual { layers: vec![Norm::layer(Norm::Layer), inner, activation.clone()] };
    let layers = [first, activation].into_iter().chain(std::iter::repeat_n(block, blocks)).chain([last]).collect();
    Ok(Spec { inputs: 5, layers })
}

fn pair_loss(is_decoded: bool) -> Loss {
    let decoded = PairLoss { implicit: 1.0, decoded: 1.0, ..PairLoss::none() };
    Loss::Pairs(if is_decoded { decoded } else { PairLoss::default() })
}

fn matmul(args: &Matmul) -> Answer {
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
fn product_times(device: &Device, a: &Var, b: &Var, args: &Matmul) -> Result<[f64; 3]> {
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

/// Time of windows after a warm-up, in milliseconds: best, median, worst.
fn windows(count: usize, window: impl FnMut() -> Result<()>) -> Result<[f64; 3]> {
    let benchmark = Benchmark::new("window").iterations(count).warm_up(WarmUp::Runs(2));
    let progress = Progress::of(count as u64, "measuring");
    let found = benchmark.follow(move |windows| progress.set(windows as u64)).run(window)?;
    Ok([found.min_ms, found.median_ms(), found.max_ms])
}

fn random(device: &Device, count: usize, stream: u32) -> Result<Vec<f32>> {
    block_on(ops::normal(device, [count], 0, stream)?.to_f32())
}
