//! `mero info`: what a model file is, for somebody who got it from a colleague.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::Answer;
use crate::saved::load;
use crate::show::columns::{column_table, listed, listed_as};
use crate::show::labels::{blended, limits, models_of};
use crate::show::metrics::metrics_table;
use crate::terminal::console::{say, say_json};
use meromorph::Result;
use meromorph::internal::host;
use meromorph::judge::{Calibration, Residuals};
use meromorph::model::Model;
use meromorph::nn::Layer;
use meromorph::report::{bytes, count, counted, facts, figure, short};
use meromorph::run::{Provenance, described, mean_and_spread};
use meromorph::table::Target;
use meromorph::train::StepKind;

/// Most lines of a function's graph that are shown.
const MOST_LINES: usize = 60;

#[derive(clap::Args)]
pub(super) struct Args {
    /// Model file, or a folder written by `mero export --bundle`
    model: PathBuf,
    /// Print only JSON, one object
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args) -> Answer {
    let model = load(&args.model)?;
    let provenance = model.provenance().map_err(|error| error.within(&args.model.display().to_string()))?;
    if args.json {
        say_json(&described_file(args, &model)?);
        return Ok(());
    }
    say(&facts(&identity(args, &model)));
    for lines in model.spec.layers.iter().filter_map(function) {
        say(&format!("\n{}", lines?.join("\n")));
    }
    if let Some(preparation) = &model.preparation {
        say(&format!("\n{}", column_table(preparation).text()));
    }
    match &provenance {
        Some(provenance) => say(&training(provenance)),
        None => say("\n  the file does not say how the model was trained"),
    }
    Ok(())
}

/// What the model is, and its file.
fn described_file(args: &Args, model: &Model) -> Answer<Value> {
    let mut all = json!({ "event": "info", "model": args.model, "bytes": host::file_bytes(&args.model) });
    if let (Value::Object(all), Value::Object(known)) = (&mut all, described(model)?) {
        all.extend(known);
    }
    Ok(all)
}

/// The ops of a layer that is a function, a line each.
fn function(layer: &Layer) -> Option<Result<Vec<String>>> {
    let Layer::Function(graph) = layer else { return None };
    Some(graph.lines().map(|mut lines| {
        let more = lines.len().saturating_sub(MOST_LINES);
        lines.truncate(MOST_LINES);
        lines.extend((more > 0).then(|| format!("… and {} more; --json has all", counted(more, "op"))));
        lines
    }))
}

fn identity(args: &Args, model: &Model) -> Vec<(&'static str, String)> {
    let size = host::file_bytes(&args.model).map_or_else(String::new, |size| format!(", {}", bytes(size)));
    let mut lines = vec![(
        "model",
        format!("{}: format {}, written by {}{size}", args.model.display(), model.format, model.engine),
    )];
    match model.preparation.as_ref().map(|preparation| &preparation.target) {
        Some(Target::Regression { name, min, max, .. }) => {
            lines.push((
                "predicts",
                format!("\"{name}\", a number; in training from {} to {}", figure(*min), figure(*max)),
            ));
        }
        Some(Target::Counts { name, min, max, .. }) => {
            let what = model.loss.target().what;
            lines.push((
                "predicts",
                format!("the mean of \"{name}\", {what}; in training from {} to {}", figure(*min), figure(*max)),
            ));
        }
        Some(Target::Shares { columns, means, .. }) => {
            let shares =
                columns.iter().zip(means).map(|(name, mean)| format!("{} ({})", short(name, 24), figure(*mean)));
            lines.push((
                "predicts",
                format!(
                    "the shares of {} classes, with their means: {}",
                    columns.len(),
                    shares.collect::<Vec<_>>().join(", ")
                ),
            ));
        }
        Some(Target::Classification { name, levels, counts }) => {
            let count = levels.len();
            lines.push(if model.loss.target().is_ordered {
                let classes = listed_as(&(0..count).collect::<Vec<_>>(), levels, counts);
                ("predicts", format!("\"{name}\", one of {count} classes in order: {classes}"))
            } else {
                ("predicts", format!("\"{name}\", one of {count} classes: {}", listed(levels, counts)))
            });
        }
        None => lines.push(("predicts", "from arrays: it has no column names".into())),
    }
    let parameters = counted(model.parameter_count(), "parameter");
    let layers = models_of(model.members(), &model.spec);
    lines.push(("layers", format!("{layers}; {parameters} as {}", model.storage.name())));
    if let Ok(work) = model.work() {
        let (flops, launches) = (counted(work.cost.flops as usize, "flop"), counted(work.launches.len(), "launch"));
        lines.push(("work", format!("{flops} for a row; {} for a batch", launches.replace("launchs", "launches"))));
    }
    if let (Some(head), Some(preparation)) = (model.spec.head(), &model.preparation) {
        lines.push(("poles", limits(&head.decoding, &preparation.target)));
    }
    lines.push(("loss", model.loss.text().to_owned()));
    lines
}

fn training(provenance: &Provenance) -> String {
    let Provenance { source, origin, settings, rows, dropped, epochs, best_epoch, blend, .. } = provenance;
    let [train, validation, test] = rows.map(|rows| count(rows as u64));
    let mut lines = vec![
        ("trained on", source.clone()),
        (
            "rows",
            format!(
                "{train} for training, {validation} for validation, {test} for testing, {} left out",
                count(*dropped as u64)
            ),
        ),
    ];
    let files = [("validation", &origin.validation_file), ("test", &origin.test_file)];
    lines.extend(files.into_iter().filter_map(|(part, file)| Some((part, format!("rows of {}", file.clone()?)))));
    let split = [("group", &origin.choice.group), ("time", &origin.choice.time)];
    lines.extend(
        split.into_iter().filter_map(|(by, column)| Some(("split by", format!("{by} \"{}\"", column.clone()?)))),
    );
    let kept = best_epoch.map_or_else(String::new, |epoch| match settings.members {
        1 => format!(", kept epoch {epoch}"),
        members => format!(", kept the best epoch of each of {members} models, the last of them {epoch}"),
    });
    lines.push(("epochs", format!("{epochs} of at most {}{kept}", settings.epochs)));
    lines.extend(blend.map(|blend| ("blend", blended(blend))));
    let step = settings.step.map_or("", StepKind::name);
    let step = if step.is_empty() { String::new() } else { format!(", {step} step") };
    let (name, lr, batch, seed) = (settings.optimizer.name(), settings.lr, settings.batch, settings.seed);
    lines.push(("settings", format!("{name}, learning rate {}, batch {batch}, seed {seed}{step}", figure(lr))));
    lines.extend(provenance.residuals.as_ref().map(|residuals| ("intervals", from_what(residuals))));
    let parts =
        [("validation", provenance.validation), ("test", provenance.test), ("without inputs", provenance.baseline)];
    let [mean, spread] = mean_and_spread(&provenance.folds);
    let is_folded = !provenance.folds.is_empty();
    let folds = [("mean of folds", is_folded.then_some(mean)), ("± spread", is_folded.then_some(spread))];
    format!("\n{}\n\n{}", facts(&lines), metrics_table(&[&parts[..], &folds].concat()))
}

/// What the intervals of predictions come from.
fn from_what(residuals: &Residuals) -> String {
    let rows = counted(residuals.rows(), "row");
    match residuals.calibration {
        Calibration::Test => format!("from the errors of {rows} for testing"),
        Calibration::Validation => format!("from the errors of {rows} for validation, which chose the best epoch"),
        Calibration::Folds => format!("from the errors of {rows}, each by the fold that held it out"),
    }
}
