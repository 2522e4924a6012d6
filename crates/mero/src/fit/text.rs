//! The result of `mero fit` for people.

use super::compared::Comparison;
use crate::show::fitted::{cautions, derived_table, parameter_table, posterior_table, stop_text};
use meromorph::fit::{FTest, Fit, FitRows, Formula};
use meromorph::report::{counted, figure};

/// The fit for people.
pub(super) fn text(fit: &Fit, formula: &Formula, target: &str, rows: &FitRows<'_>, source: &str) -> String {
    let without = |count: usize, why: &str| {
        if count > 0 { format!(", {} left out{why}", counted(count, "row")) } else { String::new() }
    };
    let dropped = without(rows.dropped, "") + &without(rows.excluded, " by --where");
    let mut text = format!("{target} = {}\n{} of {source}{dropped}\n\n", formula.text(), counted(fit.rows, "row"));
    text += &parameter_table(fit, formula).text();
    let statistics = &fit.statistics;
    let shown =
        |name: &str, value: f64| if value.is_finite() { format!("{name} {}   ", figure(value)) } else { String::new() };
    let rms = if rows.sigma.is_some() { "weighted rms residual" } else { "rms residual" };
    for more in [derived_table(fit), posterior_table(fit)].into_iter().flatten() {
        text += &format!("\n\n{}", more.text());
    }
    text += &format!(
        "\n\n{}{}{} of freedom   {}",
        shown("R²", statistics.r_squared),
        shown(rms, statistics.rmse),
        counted(fit.dof, "degree"),
        shown("AIC", statistics.aic)
    );
    text.truncate(text.trim_end().len());
    text += &format!(
        "\n{}{}",
        shown("χ²", statistics.reduced_chi_square * fit.dof as f64),
        shown("reduced χ²", statistics.reduced_chi_square)
    );
    text.truncate(text.trim_end().len());
    text.push('\n');
    text += &format!("{}\n", stop_text(fit));
    for caution in cautions(fit) {
        text += &format!("{caution}\n");
    }
    let correlation = fit.correlation();
    let pairs = (0..fit.free.len()).flat_map(|i| (0..i).map(move |j| (j, i)));
    let strong: Vec<String> = pairs
        .filter(|&(i, j)| correlation[i][j].abs() > 0.95)
        .map(|(i, j)| format!("{} and {} {:.3}", fit.free[i], fit.free[j], correlation[i][j]))
        .collect();
    if !strong.is_empty() {
        text += &format!("strongly correlated: {}\n", strong.join(", "));
    }
    text
}

/// What a comparison with another model says.
pub(super) fn tested(test: &Comparison) -> String {
    let test = match test {
        Comparison::Nested(test) => test,
        Comparison::Apart { aic_difference } => {
            let change = if *aic_difference < 0.0 { "falls" } else { "rises" };
            return format!(
                "against the other model, which is no special case of this one, so that there is no F test: AIC {change} by {}\n",
                figure(aic_difference.abs())
            );
        }
    };
    let FTest { f, dof: [more, dof], p, aic_difference } = test;
    let verdict = if *p < 0.05 { "they are needed" } else { "they are not shown to be needed" };
    format!(
        "against the smaller model: F({more}, {dof}) = {}, p = {}: {} more, {verdict}; AIC {} by {}\n",
        figure(*f),
        figure(*p),
        counted(*more as usize, "parameter"),
        if *aic_difference < 0.0 { "falls" } else { "rises" },
        figure(aic_difference.abs())
    )
}
