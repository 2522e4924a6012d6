//! A curve fit: parameters with standard errors, one of them bounded, and a prediction band.
#![allow(clippy::print_stdout, reason = "an example shows what it computes")]

use meromorph::fit::{Formula, Problem, SavedFit, SolveOptions, report, solve};
use meromorph::prelude::*;

fn main() -> Result<()> {
    let x: Vec<f64> = (0..40).map(|at| f64::from(at) * 0.25).collect();
    // A decay with a small ripple in place of noise.
    let y: Vec<f64> = x.iter().map(|x| 3.0 * (-0.4 * x).exp() + 1.0 + 0.02 * (9.0 * x).sin()).collect();

    let formula = Formula::parse("a * exp(-b * x) + c", &["x"])?;
    let problem = Problem::new(formula, &[("x", &x)], &y)?.bounds("b", 0.0, 10.0)?;
    let fit = solve(&problem, &SolveOptions::default())?;
    for parameter in &fit.parameters {
        let stderr = parameter.stderr.unwrap_or(f64::NAN);
        println!("{} = {:.4} ± {stderr:.4}", parameter.name, parameter.value);
    }

    let saved = SavedFit::parse(&report(&problem, &fit, "y", 0.0).to_string(), "fit")?;
    let predicted = saved.predict(&[&[20.0]], 1, 0.95)?;
    println!("at x = 20: {:.4} ± {:.4}", predicted.values[0], predicted.prediction[0]);
    assert!((fit.value("b").unwrap_or(0.0) - 0.4).abs() < 0.01);
    Ok(())
}
