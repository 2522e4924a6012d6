//! `mero bench equilibrium`: equilibrium propagation against a feed-forward network of the same sizes and activation trained by
//! backpropagation, fold by fold in turns: the rows that each predicts right, and the time of each.

use pollster::block_on;
use serde_json::json;

use crate::contrast::rows::Source;
use crate::options::hardware::Hardware;
use crate::terminal::console::{say, say_json};
use crate::terminal::progress::Progress;
use crate::{Answer, Failure};
use meromorph::contrast::{Equilibrium, Labelled};
use meromorph::internal::host;
use meromorph::loss::Loss;
use meromorph::model::Network;
use meromorph::nn::{Activation, Spec};
use meromorph::optim::Optimizer;
use meromorph::report::{counted, facts, figure};
use meromorph::train::{Data, Examples, Flow, Keep, Trainer, TrainerConfig};
use meromorph::{Device, Result};

#[derive(clap::Args)]
pub(super) struct Args {
    /// Sizes of the layers
    #[arg(long, default_value = "512,512", value_name = "SIZES", value_delimiter = ',')]
    hidden: Vec<usize>,
    /// Parts of the rows, each of which is predicted by a network of the others
    #[arg(long, default_value_t = 5, value_name = "K")]
    folds: usize,
    /// Passes over the rows
    #[arg(long, default_value_t = 15, value_name = "N")]
    epochs: usize,
    /// Rows of a step
    #[arg(long, default_value_t = 100, value_name = "N")]
    batch: usize,
    /// Learning rate
    #[arg(long, default_value_t = 1e-3, value_name = "X")]
    lr: f64,
    /// Sweeps of the free phase
    #[arg(long, value_name = "N")]
    free_steps: Option<usize>,
    /// Sweeps of each nudged phase
    #[arg(long, value_name = "N")]
    nudged_steps: Option<usize>,
    /// b
    #[arg(long, value_name = "X")]
    nudge: Option<f64>,
    /// Print only JSON, one object per line
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    source: Source,
    #[command(flatten)]
    hardware: Hardware,
}

/// What a network does with the held rows of a fold.
struct Fold {
    right: Vec<bool>,
    seconds: f64,
}

pub(super) fn run(args: &Args) -> Answer {
    let device = args.hardware.open()?;
    let (rows, _) = args.source.rows()?.read("bench equilibrium", &device)?;
    rows.check()?;
    if args.folds < 2 || args.folds > rows.classes.len() {
        let (got, most) = (args.folds, rows.classes.len());
        return Err(Failure::usage(format!("--folds: got {got}, expected 2 to {most}, the number of rows")));
    }
    let settling = args.settling(&rows);
    let progress = Progress::of(2 * args.folds as u64, "training");
    let mut found: [Vec<Fold>; 2] = Default::default();
    for (fold, parts) in rows.folds(args.folds, 0).into_iter().enumerate() {
        let parts = parts.map(|part| rows.subset(&part));
        let layers = Spec::mlp(rows.inputs, &args.hidden, rows.names.len(), Activation::tanh());
        for (at, network) in [settling.clone().network()?, Network::from(layers)].into_iter().enumerate() {
            found[at].push(args.train(&device, network, &parts)?);
            progress.step();
        }
        if args.json {
            let each = found.each_ref().map(|folds| folds.last().map(|fold| (right(fold), fold.seconds)));
            say_json(
                &json!({ "event": "fold", "fold": fold, "held": parts[1].classes.len(), "equilibrium": each[0], "backpropagation": each[1] }),
            );
        }
    }
    drop(progress);
    report(args, &rows, &found);
    Ok(())
}

impl Args {
    fn settling(&self, rows: &Labelled) -> Equilibrium {
        let usual = Equilibrium::new(rows.inputs, &self.hidden[..], rows.names.len());
        Equilibrium {
            free_steps: self.free_steps.unwrap_or(usual.free_steps),
            nudged_steps: self.nudged_steps.unwrap_or(usual.nudged_steps),
            nudge: self.nudge.unwrap_or(usual.nudge),
            ..usual
        }
    }

    fn train(&self, device: &Device, network: Network, [learned, held]: &[Labelled; 2]) -> Result<Fold> {
        let scaled = scaled(learned, [learned, held]);
        let [train, test] = scaled;
        let data = Data { inputs: learned.inputs, targets: 1, train, ..Data::default() };
        let config = TrainerConfig {
            loss: Loss::cross_entropy(0.0),
            optimizer: Optimizer::adam(0.0),
            epochs: self.epochs,
            batch: self.batch,
            lr: self.lr,
            patience: 0,
            keep: Keep::Last,
            ..TrainerConfig::default()
        };
        let mut trainer = Trainer::new(device, network, config, data)?;
        let started = host::now_ms();
        block_on(trainer.run(&mut |_| Flow::Continue))?;
        let seconds = (host::now_ms() - started) / 1e3;
        let outputs = block_on(trainer.predict(&test.x))?;
        let classes = learned.names.len();
        let best = |row: &[f32]| (0..classes).max_by(|&a, &b| row[a].total_cmp(&row[b])).unwrap_or(0) as f32;
        let right = outputs.chunks_exact(classes).zip(&test.y).map(|(row, class)| best(row) == *class).collect();
        Ok(Fold { right, seconds })
    }
}

/// Rows less the mean of each column of the first part, over the standard deviation of all its numbers.
fn scaled(of: &Labelled, parts: [&Labelled; 2]) -> [Examples; 2] {
    let (n, count) = (of.inputs, of.classes.len() as f64);
    let mut means = vec![0.0_f64; n];
    for row in of.x.chunks_exact(n) {
        means.iter_mut().zip(row).for_each(|(mean, x)| *mean += f64::from(*x) / count);
    }
    let squares: f64 = of.x.iter().zip(means.iter().cycle()).map(|(x, mean)| (f64::from(*x) - mean).powi(2)).sum();
    let scale = (squares / of.x.len() as f64).sqrt().recip();
    let scale = if scale.is_finite() { scale } else { 1.0 };
    parts.map(|part| Examples {
        x: part.x.iter().zip(means.iter().cycle()).map(|(x, mean)| ((f64::from(*x) - mean) * scale) as f32).collect(),
        y: part.classes.iter().map(|&class| class as f32).collect(),
    })
}

fn right(fold: &Fold) -> usize {
    fold.right.iter().filter(|right| **right).count()
}

fn report(args: &Args, rows: &Labelled, [equilibrium, backpropagated]: &[Vec<Fold>; 2]) {
    let all = rows.classes.len() as f64;
    let [ours, theirs] = [equilibrium, backpropagated].map(|folds| folds.iter().map(right).sum::<usize>() as f64 / all);
    let pairs = equilibrium.iter().zip(backpropagated).flat_map(|(a, b)| a.right.iter().zip(&b.right));
    // Rows that only one of them predicts right decide how sure the difference is.
    let apart = pairs.filter(|(a, b)| a != b).count() as f64;
    let error = (apart.sqrt() / all).max(f64::MIN_POSITIVE);
    let mut ratios: Vec<f64> = equilibrium.iter().zip(backpropagated).map(|(a, b)| a.seconds / b.seconds).collect();
    ratios.sort_by(f64::total_cmp);
    let [least, ratio, most] = [ratios[0], ratios[ratios.len() / 2], ratios[ratios.len() - 1]];
    let seconds = |folds: &[Fold]| folds.iter().map(|fold| fold.seconds).sum::<f64>();
    let seconds = [seconds(equilibrium), seconds(backpropagated)];
    if args.json {
        return say_json(&json!({
            "event": "done", "hidden": args.hidden, "rows": rows.classes.len(), "folds": args.folds, "epochs": args.epochs,
            "equilibrium": { "accuracy": ours, "seconds": seconds[0] }, "backpropagation": { "accuracy": theirs, "seconds": seconds[1] },
            "points_apart": 100.0 * (ours - theirs), "standard_error": 100.0 * error, "time_ratio": [least, ratio, most],
        }));
    }
    let line = |accuracy: f64, seconds: f64| format!("{:.2} % right, {} s", 100.0 * accuracy, figure(seconds));
    say(&facts(&[
        ("rows", format!("{} in {}", counted(rows.classes.len(), "row"), counted(args.folds, "fold"))),
        ("equilibrium propagation", line(ours, seconds[0])),
        ("backpropagation", line(theirs, seconds[1])),
        ("apart", format!("{:+.2} points, standard error {:.2}", 100.0 * (ours - theirs), 100.0 * error)),
        ("time", format!("{ratio:.2} times as long ({least:.2} to {most:.2})")),
    ]));
}
