//! `mero contrast --hidden`: a classifier of layers that settle, trained by equilibrium propagation. Its model file is one like any other.

use std::path::Path;

use pollster::block_on;
use serde_json::json;

use super::{Args, Start};
use crate::options::outputs::keep_elsewhere;
use crate::session::replace::check_model;
use crate::session::say_warnings;
use crate::terminal::console::{say, say_json};
use crate::{Answer, Failure, profile};
use meromorph::Error;
use meromorph::contrast::Equilibrium;
use meromorph::internal::host;
use meromorph::loss::Loss;
use meromorph::nn::{Activation, Spec};
use meromorph::optim::Optimizer;
use meromorph::report::{count, counted, facts, figure};
use meromorph::run::SplitTable;
use meromorph::table::{Choice, Fractions, Target, Task};
use meromorph::train::{Keep, Stop, Trainer, TrainerConfig};

pub(super) fn run(args: &Args, mut start: Start) -> Answer {
    let options = start.origin.options.clone();
    let (table, target, features) = start.rows.table("contrast")?;
    let choice = Choice { target, features, task: Some(Task::Classification), ..Choice::default() };
    let settings = TrainerConfig {
        loss: Loss::cross_entropy(0.0),
        optimizer: Optimizer::adam(0.0),
        epochs: options.epochs,
        batch: options.batch,
        lr: options.rate(),
        patience: 0,
        keep: Keep::Last,
        seed: options.seed,
        ..TrainerConfig::default()
    };
    let split = SplitTable::new(&table, &choice, Fractions { validation: 0.0, test: options.test }, options.seed)?;
    // The layers replace this model once the inputs are known.
    let run = split.run(&table, Spec::mlp(1, &[], 1, Activation::tanh()), settings)?;
    let out = start.out.clone();
    if !args.profile {
        check_model(&out, Some(&run.preparation), args.force)?;
    }
    if !args.json {
        say_warnings("contrast", &run.warnings);
    }
    let Target::Classification { levels, .. } = &run.preparation.target else {
        return Err(Failure::usage("--hidden: expected classes"));
    };
    let settling =
        Equilibrium { nudge: options.nudge, ..Equilibrium::new(run.data.inputs, &options.hidden[..], levels.len()) };
    let device = args.open()?;
    let [kept, held] = [&run.split.train, &run.split.test].map(Vec::len);
    let inputs = run.data.inputs;
    let sizes = ([kept, held], inputs, levels.len());
    let mut trainer = match start.old.take() {
        None => Trainer::new(&device, settling.network()?, run.settings.clone(), run.data)?,
        Some((checkpoint, name)) => {
            if run.data.fingerprint() != checkpoint.fingerprint || checkpoint.other_part(&run.data).is_some() {
                return Err(Start::other_rows(&name, args));
            }
            block_on(Trainer::resume_with(&device, settling.network()?, run.data, checkpoint))?
        }
    };
    if args.profile {
        return profile::show(&mut trainer, args.json);
    }
    let watch = start.watch(args, &device, &trainer, sizes)?;
    let checkpoints = start.checkpoints(args);
    let (origin, preparation) = (&start.origin, &run.preparation);
    let bytes = |trainer: &Trainer| origin.put(block_on(trainer.checkpoint())?).save(Some(preparation.clone()));
    let (outcome, seconds) = watch.drive(&mut trainer, &checkpoints, &bytes)?;
    match outcome.stop {
        Stop::Diverged => {
            return Err(Error::new("contrast: the loss is not finite any more: use a smaller lr").into());
        }
        Stop::Requested => return Err(checkpoints.interrupted(&outcome, bytes(&trainer), args.json, "")),
        Stop::Epochs | Stop::Patience | Stop::Coverage => {}
    }
    let (_, test) = block_on(trainer.metrics(1.0))?;
    let model = block_on(trainer.model(Some(run.preparation.clone())))?;
    let bytes = model.save()?;
    let is_free = check_model(&out, Some(&run.preparation), args.force);
    if let Err(error) = is_free.and_then(|()| host::write_whole(&out, &bytes)) {
        return Err(match keep_elsewhere(&out, &bytes) {
            Some(kept) => {
                let kept = kept.display();
                Error::new(format!("{error}; it is in {kept} instead")).with_kind(error.kind()).into()
            }
            None => checkpoints.lost("the model", &error).into(),
        });
    }
    checkpoints.remove()?;
    let epochs = outcome.epochs;
    if args.json {
        say_json(&json!({
            "event": "done", "model": out, "hidden": options.hidden, "classes": levels, "inputs": inputs, "epochs": epochs,
            "seconds": seconds, "rows": { "train": kept, "test": held }, "test": test, "warnings": run.warnings,
        }));
    } else {
        say(&text(&out, (kept, held), (epochs, seconds), (test.accuracy, model.parameter_count())));
    }
    Ok(())
}

fn text(
    out: &Path,
    (kept, held): (usize, usize),
    (epochs, seconds): (usize, f64),
    (accuracy, parameters): (Option<f64>, usize),
) -> String {
    let mut lines = vec![
        ("learned", format!("{} in {}, {} s", counted(kept, "row"), counted(epochs, "epoch"), figure(seconds))),
        ("parameters", count(parameters as u64)),
    ];
    if let Some(accuracy) = accuracy.filter(|_| held > 0) {
        lines.push(("accuracy", format!("{accuracy:.3} of {} that it has not seen", counted(held, "row"))));
    }
    lines.push(("model", out.display().to_string()));
    facts(&lines)
}
