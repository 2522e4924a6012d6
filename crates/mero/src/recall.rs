//! `mero recall`: the nearest rows of a memory for each row of a table, or that nothing in memory is like it.

use std::path::{Path, PathBuf};

use crate::contrast::rows::coordinates;
use crate::contrast::through::Encoder;
use crate::options::contents::{NEIGHBOUR_COLUMNS, NEIGHBOURS};
use crate::options::hardware::Hardware;
use crate::options::outputs::{Force, check_outs, write_out};
use crate::options::reading::{Reading, read, say_notes};
use crate::saved::read_model;
use crate::terminal::console::{complain, say_data};
use crate::terminal::progress::Progress;
use crate::{Answer, Failure};
use meromorph::contrast::{Found, Memory};
use meromorph::files::{Table, csv};
use meromorph::report::{count, counted};

#[derive(clap::Args)]
pub(super) struct Args {
    /// File of a memory, written by `mero contrast`
    memory: PathBuf,
    /// Rows to look for: CSV, TSV, JSON lines, Parquet, XLSX, NPY or NPZ file, text also as .gz or .zst; - reads standard input
    file: PathBuf,
    /// How many of the nearest rows are given [default: 5, or as many as there are]
    #[arg(short, long, value_name = "K")]
    k: Option<usize>,
    /// The model that the memory was learned through
    #[arg(long, value_name = "MODEL")]
    through: Option<PathBuf>,
    /// Give no neighbours for a row beyond the reach of the memory: nothing there is like it
    #[arg(long)]
    reject: bool,
    /// CSV file to write; - or no file writes to standard output
    #[arg(short, long, value_name = "CSV", help_heading = "Output")]
    out: Option<PathBuf>,
    #[command(flatten)]
    force: Force,
    #[command(flatten)]
    reading: Reading,
}

/// Neighbours that are given if no number of them is.
const USUAL: usize = 5;

pub(super) fn run(args: &Args) -> Answer {
    let out = args.out.as_deref().filter(|out| *out != Path::new("-"));
    let mut inputs = vec![("memory", args.memory.as_path()), ("table", args.file.as_path())];
    inputs.extend(args.through.as_deref().map(|model| ("model of --through", model)));
    check_outs(&[("neighbours", out, Some(&NEIGHBOURS))], &inputs, args.force.force)?;
    let memory = Memory::load(&read_model(&args.memory)?, &args.memory.display().to_string())?;
    let k = args.k.unwrap_or_else(|| USUAL.min(memory.rows()));
    if k == 0 || k > memory.rows() {
        let rows = count(memory.rows() as u64);
        return Err(Failure::usage(format!("--k: got {k}, expected 1 to {rows}, the rows in memory")));
    }
    let encoder = args.encoder(&memory)?;
    let table = read(&args.file, &args.reading.format()?)?;
    say_notes("recall", &table);
    let x = match &encoder {
        Some(encoder) => encoder.encode(&Hardware::of("cpu", 0).open()?, &table)?.1,
        None => queries(&memory, &table)?,
    };
    let found = {
        let _progress = Progress::open("looking");
        memory.find(&x, k)?
    };
    let text = neighbours(&memory, &found, args.reject);
    match out {
        Some(out) => write_out(out, &NEIGHBOURS, &text, args.force.force)?,
        None => say_data(&text),
    }
    let strangers = found.iter().filter(|found| !found.is_known).count();
    if strangers > 0 {
        let (rows, all) = (counted(strangers, "row"), count(found.len() as u64));
        let them = if strangers == 1 { "it" } else { "them" };
        let then = if args.reject {
            format!(": no neighbours are given for {them}")
        } else {
            ", where known is false; --reject gives no neighbours there".to_owned()
        };
        complain(&format!("mero recall: nothing in memory is like {rows} of {all}{then}"));
    }
    Ok(())
}

impl Args {
    /// The model that makes the coordinates of a row, if one does. Errors if it is not given, or another one.
    fn encoder(&self, memory: &Memory) -> Answer<Option<Encoder>> {
        let name = self.memory.display();
        match (&memory.header.through, &self.through) {
            (None, None) => Ok(None),
            (Some(own), Some(model)) => Encoder::of_memory(model, own).map(Some),
            (Some(own), None) => Err(Failure::usage(format!(
                "{name}: it was learned through layer {} of a model: got no --through, expected the model with digest {}",
                own.layer, own.digest
            ))),
            (None, Some(model)) => Err(Failure::usage(format!(
                "--through: got {}, expected no model: {name} was learned from the columns themselves",
                model.display()
            ))),
        }
    }
}

/// The columns of the memory, by name; all columns for a memory without names.
fn queries(memory: &Memory, table: &Table) -> Answer<Vec<f32>> {
    let columns = &memory.header.columns;
    if columns.is_empty() {
        let (source, got, expected) = (table.source(), table.columns().len(), memory.inputs());
        if got != expected {
            return Err(Failure::usage(format!("{source}: got {got} columns, expected {expected}, as the memory has")));
        }
        return Ok(coordinates(table, &[], None)?.1);
    }
    let Some(missing) = columns.iter().find(|name| table.find(name).is_none()) else {
        return Ok(coordinates(table, columns, None)?.1);
    };
    let (source, got, expected) = (table.source(), table.columns().len(), columns.len());
    Err(Failure::usage(format!(
        "{source}: column \"{missing}\" is missing: got {got} columns, expected the {expected} that the memory was learned from"
    )))
}

/// A line per neighbour: number of the query from 0, rank from 1, number of the row in memory from 0, its class, distance, share of the weight, and
/// whether the query is within reach. Of a query that is left out, a line with the distance alone.
fn neighbours(memory: &Memory, found: &[Found], rejects: bool) -> Vec<u8> {
    let [mut queries, mut ranks, mut rows, mut weights] = [const { Vec::new() }; 4];
    let (mut classes, mut distances, mut known) = (Vec::new(), Vec::new(), Vec::new());
    for (query, found) in found.iter().enumerate() {
        let is_left_out = rejects && !found.is_known;
        let shown = if is_left_out { &found.neighbours[..1] } else { &found.neighbours };
        let number = |value: f64| if is_left_out { f64::NAN } else { value };
        for (at, (one, weight)) in shown.iter().zip(memory.weights(shown)).enumerate() {
            queries.push(query as f64);
            ranks.push(number((at + 1) as f64));
            rows.push(number(one.row as f64));
            classes.push(if is_left_out { "" } else { memory.name(one.class) });
            distances.push(one.distance);
            weights.push(number((weight * 1e4).round() / 1e4));
            known.push(if found.is_known { "true" } else { "false" });
        }
    }
    let numbers = csv::Values::F64;
    let [query, rank, row, weight] = [&queries, &ranks, &rows, &weights].map(|values| numbers(values));
    let (class, known) = (csv::Values::Text(&classes), csv::Values::Text(&known));
    let all = [query, rank, row, class, csv::Values::F32(&distances), weight, known];
    csv::write(&NEIGHBOUR_COLUMNS.into_iter().zip(all).collect::<Vec<_>>())
}
