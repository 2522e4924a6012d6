//! `mero contrast --hidden`: a classifier of layers that settle, trained by equilibrium propagation. Its model file is one like any other.

use std::path::Path;

use pollster::block_on;
use serde_json::json;

use super::{Args, Watch};
use crate::options::outputs::{check_outs, keep_elsewhere};
use crate::session::replace::check_model;
use crate::session::say_warnings;
use crate::terminal::console::{say, say_json};
use crate::terminal::interrupt;
use crate::{Answer, Failure};
use meromorph::Error;
use meromorph::contrast::{ContrastOptions, Equilibrium};
use meromorph::internal::host;
use meromorph::loss::Loss;
use meromorph::nn::{Activation, Spec};
use meromorph::optim::Optimizer;
use meromorph::report::{count, counted, facts, figure};
use meromorph::run::SplitTable;
use meromorph::table::{Choice, Fractions, Target, Task};
use meromorph::train::{Keep, Stop, Trainer, TrainerConfig};

pub(super) fn run(args: &Args, options: &ContrastOptions) -> Answer {
    options.check()?;
    if args.map_out.is_some() {
        return Err(Failure::usage("--map-out: got layers, expected a memory, which has a map: leave out --hidden"));
    }
    let out = args.out_of("safetensors");
    check_outs(&[("model", Some(&*out), None)], &args.source.inputs(), args.force)?;
    interrupt::watch_until_work();
    let (table, target, features) = args.source.table("contrast")?;
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
    check_model(&out, Some(&run.preparation), args.force)?;
    if !args.json {
        say_warnings("contrast", &run.warnings);
    }
    let Target::Classification { levels, .. } = &run.preparation.target else {
        return Err(Failure::usage("--hidden: expected classes"));
    };
    let settling =
        Equilibrium { nudge: options.nudge, ..Equilibrium::new(run.data.inputs, &options.hidden[..], levels.len()) };
    let device = args.hardware.open()?;
    let mut trainer = Trainer::new(&device, settling.network()?, run.settings.clone(), run.data.clone())?;
    let mut watch = Watch::new(options.epochs, args.json);
    let outcome = block_on(trainer.run(&mut |event| watch.see(event)));
    let (seconds, epochs) = watch.end();
    if outcome?.stop == Stop::Diverged {
        return Err(Error::new("contrast: the loss is not finite any more: use a smaller lr").into());
    }
    let (_, test) = block_on(trainer.metrics(1.0))?;
    let model = block_on(trainer.model(Some(run.preparation.clone())))?;
    let bytes = model.save()?;
    let is_free = check_model(&out, Some(&run.preparation), args.force);
    if let Err(error) = is_free.and_then(|()| host::write_whole(&out, &bytes)) {
        let kept = keep_elsewhere(&out, &bytes).map(|kept| format!("it is in {} instead", kept.display()));
        let kept = kept.unwrap_or_else(|| "the model is lost".to_owned());
        return Err(Error::new(format!("{error}; {kept}")).with_kind(error.kind()).into());
    }
    let [kept, held] = [&run.split.train, &run.split.test].map(Vec::len);
    if args.json {
        say_json(&json!({
            "event": "done", "model": out, "hidden": options.hidden, "classes": levels, "inputs": run.data.inputs, "epochs": epochs,
            "seconds": seconds, "rows": { "train": kept, "test": held }, "test": test, "warnings": run.warnings,
        }));
    } else {
        say(&text(&out, (kept, held), (epochs, seconds), (test.accuracy, model.parameter_count())));
    }
    if interrupt::is_requested() {
        let (done, all) = (epochs, options.epochs);
        return Err(Failure::Interrupted(format!("stopped after {done} of {all} epochs; the model is written")));
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
