//! `mero predict`: predicts the rows of a table and writes CSV.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use pollster::block_on;

use super::args::{Hardware, Heading, check_header, check_out, read, read_model};
use super::{Answer, Failure, console};
use crate::export::validate_bundle;
use crate::io::csv::{self, Values};
use crate::io::{Cells, Table};
use crate::scm::strict::{self, Range};
use crate::train::{Factor, Model, Precision, PredictOptions, Prediction};
use crate::{Device, Result, host};

#[derive(clap::Args)]
pub(super) struct Args {
    /// Model file, or a folder written by `mero export --bundle`
    model: PathBuf,
    /// CSV, TSV, NPY or NPZ file; - reads standard input
    file: PathBuf,
    /// CSV file to write; - or no file writes to standard output
    #[arg(short, long, value_name = "CSV")]
    out: Option<PathBuf>,
    /// Copy the columns of the table before the prediction
    #[arg(long)]
    with_inputs: bool,
    /// Return no value where |COLUMN| is below TAU; for models with poles, up to four times
    #[arg(long, value_name = "COLUMN:TAU")]
    valid: Vec<Validity>,
    /// Add a column with each row's position: below, within or above the measuring range (⊥ by a pole is below or above)
    #[arg(long)]
    range: bool,
    /// Type of activations on a GPU; f16 halves their memory, for plain perceptrons
    #[arg(long, default_value = "f32", value_parser = precision(), value_name = "TYPE")]
    precision: Precision,
    #[command(flatten)]
    heading: Heading,
    #[command(flatten)]
    hardware: Hardware,
}

pub(super) fn run(args: &Args) -> Answer {
    args.hardware.check()?;
    let out = args.out.as_deref().filter(|out| *out != Path::new("-"));
    if let Some(out) = out {
        check_out(out, &[("model", &args.model), ("table", &args.file)])?;
    }
    let model = load(&args.model)?;
    model.preparation()?;
    if model.spec.head().is_none() {
        let unused = [("valid", !args.valid.is_empty()), ("range", args.range)];
        if let Some((name, _)) = unused.into_iter().find(|(_, is_given)| *is_given) {
            return Err(Failure::usage(format!("{name}: the model has no poles; it gives every row a value")));
        }
    }
    let table = read(&args.file, args.heading.header())?;
    check_header(&table, args.heading.header(), model.preparation()?.names())?;
    let device = args.hardware.open()?;
    let factors: Vec<Factor> = args.valid.iter().map(|valid| valid.factor(&table)).collect::<Result<_>>()?;
    let predictions =
        block_on(model.predict_as(&device, &table, PredictOptions { factors: &factors, precision: args.precision }))?;
    let ranges = if args.range { block_on(ranges(&model, &device, &table, &factors))? } else { Vec::new() };
    let copied = if args.with_inputs { Some(&table) } else { None };
    let text = written(copied, &predictions, &ranges);
    match out {
        Some(out) => host::write_whole(out, &text)?,
        None => console::say_data(&text),
    }
    Ok(())
}

/// Loads a model from its file or from a valid bundle.
pub(super) fn load(path: &Path) -> Result<Model> {
    if host::is_folder(path) {
        return Ok(validate_bundle(path, None)?.model);
    }
    Model::load(&read_model(path)?, &path.display().to_string())
}

fn precision() -> impl TypedValueParser<Value = Precision> {
    let names = PossibleValuesParser::new(Precision::ALL.map(|(name, _)| name));
    names.map(|name| Precision::ALL.into_iter().find(|(known, _)| *known == name).expect("one of them").1)
}

/// A column that makes rows ⊥ where it is near 0.
#[derive(Clone, Debug)]
struct Validity {
    column: String,
    tau: f32,
}

impl FromStr for Validity {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let parts = text.rsplit_once(':').and_then(|(column, tau)| Some((column, tau.parse::<f32>().ok()?)));
        match parts {
            Some((column, tau)) if tau > 0.0 && tau.is_finite() => Ok(Self { column: column.to_owned(), tau }),
            _ => Err("wanted a column and a threshold above 0, like speed:0.1".into()),
        }
    }
}

impl Validity {
    fn factor(&self, table: &Table) -> Result<Factor> {
        let Self { column, tau } = self;
        let values = table.numbers(column).map_err(|error| error.within("valid"))?;
        Ok(Factor { values: values.iter().map(|value| *value as f32).collect(), tau: *tau })
    }
}

/// Each row's position relative to the measuring range: ⊥ by a pole is on the side of its numerator's sign, ⊥ by a fault is within.
async fn ranges(model: &Model, device: &Device, table: &Table, factors: &[Factor]) -> Result<Vec<&'static str>> {
    let x = model.preparation()?.encode(table, &table.every_row())?;
    let decoded = model.decoded_where(device, &x, factors).await?;
    let numerators: Vec<f32> = model.outputs(device, &x).await?.into_iter().step_by(2).collect();
    let name = |range: &Range| match range {
        Range::Below => "below",
        Range::Within => "within",
        Range::Above => "above",
    };
    Ok(strict::ranges(&decoded, &numerators, None)?.iter().map(name).collect())
}

/// CSV with the columns of the table, if requested, then `prediction`, and for classes its `probability`; for a model with poles
/// `value` (empty at ⊥), `bottom`, `gap` and `fault`, and `range` if requested.
fn written(table: Option<&Table>, predictions: &[Prediction], ranges: &[&str]) -> Vec<u8> {
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
        if !ranges.is_empty() {
            columns.push(("range", Values::Text(ranges)));
        }
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
