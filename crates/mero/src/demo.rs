//! `mero demo`: trains on a generated data set with a known answer, in the same way as on a table from a file.
//! x of 5 columns N(0, 1), y = 2 x0 + 0.5 x1 - 1.5 x2 + 0.8 x3 - 0.3 x4 + 0.1 e with e N(0, 1); the best possible R² is 0.9986.

use pollster::block_on;

use crate::options::flags::{Flags, Model, prepare};
use crate::options::hardware::{Hardware, choose_geometry};
use crate::options::outputs::{Output, check_outs};
use crate::session::replace::check_replaced;
use crate::session::{Judging, Session};
use crate::{Answer, Failure};
use meromorph::files::Table;
use meromorph::internal::host;
use meromorph::report::counted;
use meromorph::run::{Origin, TrainOptions};
use meromorph::table::Choice;
use meromorph::train::Trainer;
use meromorph::{Device, Result, ops};

#[derive(clap::Args)]
pub(super) struct Args {
    /// Rows to generate
    #[arg(long, default_value_t = 10_000, value_name = "N")]
    rows: usize,
    #[command(flatten)]
    flags: Flags<Model>,
    #[command(flatten)]
    hardware: Hardware,
    #[command(flatten)]
    output: Output,
}

pub(super) fn run(args: &Args) -> Answer {
    let choice = Choice { target: "y".into(), ..Choice::default() };
    let options = args.flags.checked(TrainOptions { choice, ..TrainOptions::default() })?;
    args.hardware.check()?;
    if args.rows < 3 {
        return Err(Failure::usage(format!("rows is {}; a split in three needs at least 3", args.rows)));
    }
    // Drawn numbers, columns and encoded rows.
    let bytes = 24 * (WEIGHTS.len() as u128 + 1) * args.rows as u128;
    if bytes > u128::from(host::memory_bytes()) {
        let (needed, most) = (bytes >> 30, host::memory_bytes() >> 30);
        let rows = counted(args.rows, "row");
        return Err(Failure::usage(format!(
            "{rows} take about {needed} GiB; there are at most {most} GiB; choose a smaller --rows"
        )));
    }
    check_outs(&[("model", args.output.out.as_deref(), None)], &[], args.output.force)?;
    let table = linear(args.rows)?;
    let source = table.source().to_owned();
    let mut run = prepare(&options, &table)?;
    drop(table);
    check_replaced(&run, args.output.out.as_deref(), None, args.output.force)?;
    let data = std::mem::take(&mut run.data);
    let device = args.hardware.open()?;
    let mut trainer = Trainer::new(&device, run.spec.clone(), run.settings.clone(), data)?;
    choose_geometry(&mut trainer, &args.hardware)?;
    let origin = Origin { choice: options.choice, ..Origin::default() };
    let (is_json, out, is_forced) = (args.output.json, args.output.out.clone(), args.output.force);
    let judging = Judging::default();
    Session { device, run, origin, source, is_json, out, checkpoints: None, judging, tensorboard: None, is_forced }
        .run(&mut trainer)
}

/// Weights of the inputs.
const WEIGHTS: [f64; 5] = [2.0, 0.5, -1.5, 0.8, -0.3];
/// Standard deviation of the noise.
const NOISE: f64 = 0.1;

/// The rows, from the engine's generator; identical on every machine.
fn linear(rows: usize) -> Result<Table> {
    let cpu = Device::cpu(1);
    let drawn = |count: usize, stream| block_on(ops::normal(&cpu, [count], 0, stream)?.to_f32());
    let (x, noise) = (drawn(rows * WEIGHTS.len(), 0)?, drawn(rows, 1)?);
    let row = |(x, noise): (&[f32], &f32)| {
        let inputs: Vec<f64> = x.iter().copied().map(f64::from).collect();
        let y = inputs.iter().zip(WEIGHTS).map(|(x, w)| x * w).sum::<f64>() + NOISE * f64::from(*noise);
        [inputs, vec![y]].concat()
    };
    let values: Vec<f64> = x.chunks_exact(WEIGHTS.len()).zip(&noise).flat_map(row).collect();
    let names = ["x0", "x1", "x2", "x3", "x4", "y"].map(String::from);
    Table::from_matrix("2 x0 + 0.5 x1 - 1.5 x2 + 0.8 x3 - 0.3 x4 + noise", &names, &values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rows_are_what_they_are_said_to_be() {
        let table = linear(20_000).unwrap();
        let y = table.numbers("y").unwrap();
        let inputs: Vec<&[f64]> = (0..5).map(|j| table.numbers(&format!("x{j}")).unwrap()).collect();
        let clean = |row: usize| inputs.iter().zip(WEIGHTS).map(|(x, w)| x[row] * w).sum::<f64>();
        let mean = |of: &dyn Fn(usize) -> f64| (0..y.len()).map(of).sum::<f64>() / y.len() as f64;
        let noise = mean(&|row| (y[row] - clean(row)).powi(2));
        assert!((noise - NOISE * NOISE).abs() < 5e-4, "{noise}");
        let variance: f64 = WEIGHTS.iter().map(|w| w * w).sum();
        assert!((mean(&|row| clean(row).powi(2)) - variance).abs() < 0.2);
        assert!(mean(&|row| inputs[0][row] * inputs[1][row]).abs() < 0.03);
    }
}
