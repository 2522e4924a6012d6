//! `mero predict`: predicts the rows of a table and writes CSV.

mod args;
mod columns;
mod curve;
mod notes;

use std::path::Path;

use pollster::block_on;

use crate::options::contents::PREDICTIONS;
use crate::options::outputs::{check_outs, write_out};
use crate::options::reading::{New, check_header, read_for};
use crate::saved::{Saved, load_any};
use crate::terminal::console;
use crate::terminal::progress::Progress;
use crate::{Answer, Failure};
pub(super) use args::Args;
use columns::{Columns, beside};
use meromorph::files::{Table, TableBytes, csv};
use meromorph::internal::host;
use meromorph::model::{Follow, Model, PredictOptions, Prediction};
use meromorph::run::Predicting;
use meromorph::scm::strict::{self, Range};
use meromorph::table::{Note, Target};
use meromorph::train::Precision;
use meromorph::{Device, Error, Result};
use notes::{note_texts, summary};

pub(super) fn run(args: &Args) -> Answer {
    args.hardware.check()?;
    let predicting = args.predicting()?;
    let out = args.out.as_deref().filter(|out| *out != Path::new("-"));
    if let Some(out) = out {
        check_csv(out)?;
        let inputs = [("model", args.model.as_path()), ("table", &args.file)];
        check_outs(&[("predictions", Some(out), Some(&PREDICTIONS))], &inputs, args.force.force)?;
    }
    let model = match load_any(&args.model)? {
        Saved::Model(model) => *model,
        Saved::Fit(fit) => {
            args.check_fit()?;
            return curve::run(args, &fit, predicting.interval, out);
        }
    };
    args.check(&model, &predicting)?;
    let New { table, format, bytes } = read_for(&model, &args.file, &args.reading, "predict")?;
    check_header(&table, format.header, model.preparation()?.names())?;
    let device = args.hardware.open()?;
    let progress = Progress::of(table.rows() as u64, "predicting");
    let (predictions, notes) = args.predict(&model, &device, (&table, &predicting), &progress)?;
    let names: Vec<&str> = model.preparation()?.names().collect();
    check_memory(&table, bytes.as_ref().filter(|_| args.with_inputs))?;
    let mut columns = Columns::of(&model, &predictions);
    args.fill(&mut columns, (&model, &device), (&table, &predicting), &predictions)?;
    let bottom = if args.valid.is_empty() { "no value: at a pole" } else { "no value: at a pole, or not valid" };
    columns.notes = note_texts(&notes, &names, &predictions, bottom);
    let text = if args.with_inputs {
        beside(&columns.values(), &table, bytes.as_ref())?
    } else {
        csv::write(&columns.values())
    };
    progress.finish();
    if predicting.precision == Precision::F16 && device.info().runs_cpu_path() {
        console::complain("mero predict: precision: the cpu predicts in f32, not in f16");
    }
    match out {
        Some(out) => write_out(out, &PREDICTIONS, &text, args.force.force)?,
        None => console::say_data(&text),
    }
    if let Some(summary) = summary(&notes, &names, table.rows()) {
        console::complain(&format!("mero predict: {summary}"));
    }
    Ok(())
}

/// Errors if the columns and their text do not fit in memory. The text of the inputs is written anew, and grows by doubling.
fn check_memory(table: &Table, bytes: Option<&TableBytes>) -> Answer {
    const BYTES_OF_ROW: u64 = 160;
    let inputs = bytes.map_or(0, |read| 3 * read.bytes.len() as u64);
    let rows = table.rows() as u64;
    let said = host::has_room(rows * BYTES_OF_ROW + inputs, || format!("the text of {rows} predictions"));
    said.map_err(|what| Error::new(format!("{}: {what}; use fewer rows", table.source())).into())
}

/// Refuses the name of an array: predictions have columns of text and would lose them.
fn check_csv(out: &Path) -> Answer {
    let ending = out.extension().unwrap_or_default().to_ascii_lowercase();
    if ["npy", "npz", "parquet", "xlsx"].iter().any(|other| ending == *other) {
        let (out, csv) = (out.display(), out.with_extension("csv"));
        let csv = csv.display();
        return Err(Failure::usage(format!(
            "{out}: predictions are written as CSV only: expected a name such as {csv}"
        )));
    }
    Ok(())
}

/// Each row's position relative to the measuring range: ⊥ by a pole is on the side of its numerator's sign, ⊥ by a fault is within.
async fn ranges(
    model: &Model,
    device: &Device,
    table: &Table,
    options: &PredictOptions<'_>,
) -> Result<Vec<&'static str>> {
    let x = model.preparation()?.encode_noting(table, &table.every_row(), options.unknown)?.x;
    let decoded = model.decoded_where(device, &x, options.factors).await?;
    let numerators: Vec<f32> = model.outputs(device, &x).await?.into_iter().step_by(2).collect();
    let name = |range: &Range| match range {
        Range::Below => "below",
        Range::Within => "within",
        Range::Above => "above",
    };
    Ok(strict::ranges(&decoded, &numerators, None)?.iter().map(name).collect())
}

impl Args {
    fn predict(
        &self,
        model: &Model,
        device: &Device,
        (table, predicting): (&Table, &Predicting),
        progress: &Progress,
    ) -> Result<(Vec<Prediction>, Vec<Note>)> {
        let follow = |done: usize, all: usize| progress.reach(done, all);
        let factors = self.factors(table)?;
        let options = PredictOptions { factors: &factors, follow: Some(Follow(&follow)), ..predicting.options() };
        block_on(model.predict_noting(device, table, options))
    }

    /// Fills the columns that were requested besides the prediction.
    fn fill(
        &self,
        columns: &mut Columns<'_>,
        (model, device): (&Model, &Device),
        (table, predicting): (&Table, &Predicting),
        predictions: &[Prediction],
    ) -> Result<()> {
        if self.range {
            let factors = self.factors(table)?;
            let options =
                PredictOptions { factors: &factors, unknown: predicting.unknown, ..PredictOptions::default() };
            let ranges = block_on(ranges(model, device, table, &options))?;
            let given = |(range, prediction): (&'static str, &Prediction)| match prediction {
                Prediction::None => "",
                _ => range,
            };
            columns.ranges = ranges.into_iter().zip(predictions).map(given).collect();
        }
        // The shares are the prediction.
        let is_share = matches!(model.preparation()?.target, Target::Shares { .. });
        if self.proba || is_share {
            columns.probabilities = block_on(model.probabilities(device, table, predicting.unknown))?;
            columns.classes = model.preparation()?.target.levels().iter().map(|name| format!("p({name})")).collect();
        }
        if let Some(level) = predicting.interval {
            let intervals = block_on(model.intervals(device, table, (level, predicting.unknown)))?;
            let given = intervals.into_iter().map(|interval| interval.unwrap_or([f64::NAN; 2]));
            (columns.lower, columns.upper) = given.map(|[lower, upper]| (lower, upper)).unzip();
        }
        Ok(())
    }
}
