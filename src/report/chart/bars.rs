//! A chart of one bar for each named value.

use super::{Axis, Chart, Series, Style};

/// One bar for each named value, from the top, on a logarithmic axis; values that are not positive have none.
pub fn bars(title: impl Into<String>, label: impl Into<String>, values: &[(String, f64)]) -> Chart {
    let sizes = || values.iter().map(|(_, value)| *value).filter(|value| value.is_finite() && *value > 0.0);
    // Bars of equal values still have a length.
    let low = sizes().fold(f64::INFINITY, f64::min) / 3.0;
    let bar = |(at, (_, value)): (usize, &(String, f64))| [[low, at as f64], [*value, at as f64], [f64::NAN; 2]];
    let names = Axis::names(values.iter().map(|(name, _)| name.clone()));
    let points = values.iter().enumerate().flat_map(bar).collect();
    Chart::new(title, Axis::log(label), names).series(Series::new("", Style::Column, points))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_has_its_bar_and_what_is_not_positive_has_none() {
        let chart = bars("Sizes", "size", &[("a".into(), 1e-3), ("b".into(), 0.0), ("c".into(), 1.0)]);
        let text = chart.text();
        let line =
            |name: &str| text.lines().find(|line| line.trim_start().starts_with(name)).expect("a row of its own");
        assert!(line("c").len() > line("a").len() && line("a").len() > line("b").trim_end().len(), "{text}");
        assert!(chart.svg().contains("class=\"column c0\""), "{}", chart.svg());
    }
}
