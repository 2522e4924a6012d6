//! `mero predict`: a model and a table to a column of predictions.

use std::path::{Path, PathBuf};

use pollster::block_on;

use super::args::{Hardware, Heading, read};
use super::{Answer, console};
use crate::export::validate_bundle;
use crate::io::csv::{self, Values};
use crate::io::{Cells, Table};
use crate::train::{Model, Prediction};
use crate::{Result, host};

#[derive(clap::Args)]
pub(super) struct Args {
    /// A model file, or a folder that `mero export --bundle` made
    model: PathBuf,
    /// CSV, TSV, NPY or NPZ file; - reads standard input
    file: PathBuf,
    /// Where the CSV goes; standard output if not given
    #[arg(short, long, value_name = "CSV")]
    out: Option<PathBuf>,
    /// Copy the columns of the table before the prediction
    #[arg(long)]
    with_inputs: bool,
    #[command(flatten)]
    heading: Heading,
    #[command(flatten)]
    hardware: Hardware,
}

pub(super) fn run(args: &Args) -> Answer {
    args.hardware.check()?;
    if let Some(out) = &args.out {
        host::check_writable(out)?;
    }
    let model = load(&args.model)?;
    model.preparation()?;
    let table = read(&args.file, args.heading.header())?;
    let device = args.hardware.open()?;
    let predictions = block_on(model.predict(&device, &table))?;
    let copied = if args.with_inputs { Some(&table) } else { None };
    let text = written(copied, &predictions);
    match &args.out {
        Some(out) => host::write_whole(out, &text)?,
        None => console::say(String::from_utf8_lossy(&text).trim_end()),
    }
    Ok(())
}

/// A model from its file, or from a bundle that holds together.
pub(super) fn load(path: &Path) -> Result<Model> {
    if host::is_folder(path) {
        return Ok(validate_bundle(path, None)?.model);
    }
    Model::load(&host::read(path)?, &path.display().to_string())
}

/// The columns of the table, if wanted, then `prediction`, and for classes its `probability`; of a model with poles `value` (empty
/// where there is none), `bottom`, `gap` and `fault`.
fn written(table: Option<&Table>, predictions: &[Prediction]) -> Vec<u8> {
    let texts: Vec<Option<Vec<&str>>> =
        table.map_or(&[][..], Table::columns).iter().map(|column| texts(&column.cells)).collect();
    let (mut numbers, mut names, mut probabilities) = (Vec::new(), Vec::new(), Vec::new());
    let mut flags = [const { Vec::new() }; 3];
    for prediction in predictions {
        match prediction {
            Prediction::Number(value) => numbers.push(*value),
            Prediction::Decoded { value, is_gap, is_fault } => {
                numbers.push(value.unwrap_or(f64::NAN));
                for (flags, is_set) in flags.iter_mut().zip([value.is_none(), *is_gap, *is_fault]) {
                    flags.push(f32::from(u8::from(is_set)));
                }
            }
            Prediction::Class { name, probability } => {
                names.push(name.as_str());
                probabilities.push(*probability as f32);
            }
        }
    }
    let mut columns: Vec<(&str, Values<'_>)> = Vec::new();
    for (column, texts) in table.map_or(&[][..], Table::columns).iter().zip(&texts) {
        columns.push((
            &column.name,
            match (&column.cells, texts) {
                (Cells::Numeric(values), _) => Values::F64(values),
                (_, texts) => Values::Text(texts.as_deref().unwrap_or_default()),
            },
        ));
    }
    if !flags[0].is_empty() {
        columns.push(("value", Values::F64(&numbers)));
        let named = ["bottom", "gap", "fault"].into_iter().zip(&flags);
        columns.extend(named.map(|(name, flags)| (name, Values::F32(flags))));
    } else if names.is_empty() {
        columns.push(("prediction", Values::F64(&numbers)));
    } else {
        columns.push(("prediction", Values::Text(&names)));
        columns.push(("probability", Values::F32(&probabilities)));
    }
    csv::write(&columns)
}

/// The cells of a column of texts, empty where missing.
fn texts(cells: &Cells) -> Option<Vec<&str>> {
    let Cells::Categorical { codes, levels } = cells else { return None };
    Some(codes.iter().map(|&code| levels.get(code as usize).map_or("", String::as_str)).collect())
}
