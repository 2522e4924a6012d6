//! `mero bench scm`: masked arithmetic and sums, compared with a copy and a plain division of the same numbers.

use pollster::block_on;
use serde_json::json;

use super::measuring::{Common, check_size, random, windows};
use crate::show::labels::place;
use crate::terminal::console::{say, say_json};
use crate::{Answer, Failure};
use meromorph::autograd::Var;
use meromorph::nn::RationalLayer;
use meromorph::program::expr;
use meromorph::report::{facts, figure};
use meromorph::scm::policy::Policy;
use meromorph::scm::{self, BottomRule, Masked};
use meromorph::tensor::Tensor;
use meromorph::{Device, Result, ops};

#[derive(clap::Args)]
pub(super) struct Args {
    /// Count of numbers
    #[arg(long, default_value_t = 10_000_000, value_name = "N")]
    pub(super) n: usize,
    /// Run only this case
    #[arg(long, value_name = "CASE", value_parser = CASES.iter().map(|case| case.0).collect::<Vec<_>>())]
    only: Option<String>,
    #[command(flatten)]
    pub(super) common: Common,
}

struct Numbers {
    x: Masked,
    y: Masked,
    plain: [Var; 2],
}

type Case = (&'static str, fn(&Numbers) -> Var);

/// Each case makes one launch, and a sum two.
const CASES: &[Case] = &[
    ("copy", |v| ops::fused(&[&v.plain[0]], |v| v[0])),
    ("plain_div", |v| ops::div(&v.plain[0], &v.plain[1])),
    ("scm_div", |v| scm::div(&v.x, &v.y).value().clone()),
    ("scm_mul", |v| scm::mul(&v.x, &v.y).value().clone()),
    ("scm_log", |v| scm::log(&v.x).value().clone()),
    ("scm_exp", |v| scm::exp(&v.x).value().clone()),
    ("sum", |v| ops::sum(&v.plain[0], 0..1)),
    ("scm_sum", |v| scm::sum(&v.x, 0..1, BottomRule::Drop).value().clone()),
    ("chain4", |v| scm::fused(&[&v.x, &v.y], |v| expr::ratio(v[0] * v[1] + v[0], v[1]) - v[0]).value().clone()),
];

pub(super) fn run(args: &Args) -> Answer {
    if args.n >= 1 << 31 {
        return Err(Failure::usage(format!("n is {}, expected below {}", args.n, 1_u32 << 31)));
    }
    check_size(args.n)?;
    let device = args.common.hardware.open()?;
    let numbers = numbers(&device, args.n)?;
    let mut lines = Vec::new();
    let is_wanted = |case: &str| args.only.as_ref().is_none_or(|only| only == case);
    for (case, make) in CASES.iter().filter(|(case, _)| is_wanted(case)) {
        let [best, ms, _] = times(&device, args.common.windows, || make(&numbers))?;
        let rate = args.n as f64 / ms / 1e3;
        if args.common.json {
            say_json(&json!({ "bench": "scm", "case": case, "n": args.n, "ms": ms, "ms_best": best, "melem_s": rate }));
        }
        lines.push((*case, format!("{} ms (best {}), {} million/s", figure(ms), figure(best), figure(rate))));
    }
    let (n, ms) = (args.n.min(RATIONAL), rational(&device, args)?);
    if args.common.json {
        say_json(
            &json!({ "bench": "scm", "case": "rational_3_2_fwd_bwd", "n": n, "ms": ms, "melem_s": n as f64 / ms / 1e3 }),
        );
    }
    lines.push(("rational_3_2_fwd_bwd", format!("{} ms, {} million/s", figure(ms), figure(n as f64 / ms / 1e3))));
    if !args.common.json {
        let info = device.info();
        lines.push(("on", place(info.device, &info.name, info.threads)));
        say(&facts(&lines));
    }
    Ok(())
}

/// Maximum count of numbers for the rational layer.
const RATIONAL: usize = 1_000_000;

/// Time in milliseconds of a cubic over a quadratic, forward and backward, with gradients of x and the coefficients.
fn rational(device: &Device, args: &Args) -> Result<f64> {
    let n = args.n.min(RATIONAL);
    let x = Var::leaf(ops::normal(device, [n], 0, 6)?);
    let w = Var::leaf(Tensor::from_f32(device, [7, 1], &[0.1, 1.0, -0.2, 0.05, 1.0, 0.1, 0.3])?);
    let form = RationalLayer::new(3, 2).form();
    let (plan, first) = device.capture(|| {
        let y = scm::rational(&Masked::from(&x), &w, &form, Policy::Project);
        let gradients = ops::grad(y.value(), &[&x, &w])?;
        Ok((y, gradients))
    })?;
    let mut first = first.0.value().value().view().clone();
    first.words = 1;
    let [_, median, _] = windows(args.common.windows, || {
        plan.run(1)?;
        block_on(device.read(&first)).map(drop)
    })?;
    Ok(median)
}

/// Normally distributed numbers with masks; some divisors are 0.
fn numbers(device: &Device, n: usize) -> Result<Numbers> {
    let share = |stream| block_on(ops::uniform(device, [n], 0, stream)?.to_f32());
    let rare = |stream| share(stream).map(|draws| draws.into_iter().map(|u| u < 0.01).collect::<Vec<bool>>());
    let (x, mut y) = (random(device, n, 1)?, random(device, n, 2)?);
    y.iter_mut().zip(rare(3)?).filter(|(_, is_zero)| *is_zero).for_each(|(y, _)| *y = 0.0);
    let plain = [Tensor::from_f32(device, [n], &x)?, Tensor::from_f32(device, [n], &y)?].map(Var::constant);
    let masked = |values: &[f32], stream| Masked::with_mask(device, [n], values, &scm::pack(&rare(stream)?));
    Ok(Numbers { x: masked(&x, 4)?, y: masked(&y, 5)?, plain })
}

/// Time in milliseconds of one launch and the read of its first word: best, median, worst.
fn times(device: &Device, count: usize, make: impl Fn() -> Var) -> Result<[f64; 3]> {
    let (plan, out) = device.capture(|| Ok(make()))?;
    let mut first = out.value().view().clone();
    first.words = 1;
    windows(count, || {
        plan.run(1)?;
        block_on(device.read(&first)).map(drop)
    })
}
