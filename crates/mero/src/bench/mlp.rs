//! `mero bench mlp`: a training step of a perceptron with 5 inputs and 1 output.

use pollster::block_on;
use serde_json::json;

use super::measuring::{Common, check_size, random, windows};
use crate::options::flags::{Flags, Step};
use crate::options::hardware::choose_geometry;
use crate::show::labels::place;
use crate::terminal::console::{say, say_json};
use crate::{Answer, Failure};
use meromorph::loss::{Loss, PairLoss, TargetForm};
use meromorph::nn::{Layer, LayerNorm, Residual, Spec};
use meromorph::report::{facts, figure, scaled_count};
use meromorph::run::TrainOptions;
use meromorph::train::{Data, Examples, Trainer, TrainerConfig};

#[derive(clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    flags: Flags<Step>,
    /// Steps per window
    #[arg(long, default_value_t = 500, value_name = "N")]
    pub(super) steps: usize,
    /// Train this many residual blocks of layer norm, linear layer and activation instead, as wide as the first hidden layer
    #[arg(long, default_value_t = 0, value_name = "N")]
    deep: usize,
    /// Use the implicit residual and the decoded error instead of the chordal residual and the sign
    #[arg(long)]
    decoded: bool,
    #[command(flatten)]
    pub(super) common: Common,
}

/// Steps per epoch: enough that the upload of an epoch is negligible.
const STEPS_PER_EPOCH: usize = 64;

pub(super) fn run(args: &Args) -> Answer {
    let options = args.flags.checked(TrainOptions::default())?;
    let is_linear = options.head.is_none();
    if args.decoded && is_linear {
        return Err(Failure::usage("--decoded has no effect without a head with poles; set --head to rational"));
    }
    let takes_numbers = |loss: &Loss| matches!(loss.target().form, TargetForm::Scaled | TargetForm::AsItIs);
    if options.loss.as_ref().is_some_and(|loss| !is_linear || !takes_numbers(loss)) {
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

/// More blocks than a model that is of use.
const MOST_BLOCKS: usize = 10_000;

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
    let block =
        Layer::Residual(Residual { layers: vec![LayerNorm { epsilon: 1e-5 }.into(), inner, activation.clone()] });
    let layers = [first, activation].into_iter().chain(std::iter::repeat_n(block, blocks)).chain([last]).collect();
    Ok(Spec { inputs: 5, layers })
}

fn pair_loss(is_decoded: bool) -> Loss {
    let decoded = PairLoss { implicit: 1.0, decoded: 1.0, ..PairLoss::none() };
    Loss::Pairs(if is_decoded { decoded } else { PairLoss::default() })
}
