//! Fits more rows than fit into memory: they are computed, or read, in each pass, and the memory stays the same.
//!
//! `cargo run --release --example larger_than_memory -- 1000000000`
#![allow(clippy::print_stdout, reason = "an example shows what it computes")]

use meromorph::files::ranges::Generated;
use meromorph::fit::{Formula, Problem, SolveOptions, Strategy, solve};
use meromorph::internal::host::{now_ms, peak_bytes};

/// Bits that look random, from the number of a row (Steele, Lea and Flood 2014).
fn mixed(row: u64) -> u64 {
    let mut bits = row.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits ^ (bits >> 27)
}

fn main() -> meromorph::Result<()> {
    let rows: usize = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(1_000_000);
    // In place of this, `files::open_rows("data.npy", Format::default())` reads a file.
    let source = Generated::new(rows, &["t", "y"], |row, into| {
        let t = 5.0 * row as f64 / rows as f64;
        let noise = (mixed(row as u64) >> 11) as f64 / (1_u64 << 53) as f64 - 0.5;
        into.copy_from_slice(&[t, 3.0 * (-1.2 * t).exp() + 0.5 + 0.1 * noise]);
    })?;
    let formula = Formula::parse("a * exp(-b * t) + c", &["t", "y"])?;
    let problem = Problem::read(formula, &source, "y", None, false)?.strategy(Strategy::Streaming);
    let started = now_ms();
    let fit = solve(&problem, &SolveOptions::default())?;
    let seconds = (now_ms() - started) / 1e3;
    for parameter in &fit.parameters {
        println!("{} = {:.6} ± {:.1e}", parameter.name, parameter.value, parameter.stderr.unwrap_or(f64::NAN));
    }
    // One more pass computes the triangle for the covariance, and one the spread of y.
    let rate = (fit.evaluations + 2) as f64 * rows as f64 / seconds;
    let peak = peak_bytes() >> 20;
    println!(
        "{rows} rows, {} evaluations, {seconds:.2} s, {:.0} million rows a second, peak {peak} MiB",
        fit.evaluations,
        rate / 1e6
    );
    Ok(())
}
