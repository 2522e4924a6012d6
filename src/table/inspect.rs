//! Looks for what is probably a mistake in the chosen columns and rows of a table: identifiers, constants, copies, columns that reveal the
//! target, outliers, a skewed target. Nothing is changed; each finding is a [`Warning`]. Time: a sort per column of numbers.

use super::choose::ColumnRoles;
use super::feature::Role;
use super::target::{Quantity, Task};
use super::texts;
use crate::files::text::reading::Warning;
use crate::files::{Cells, Column, Table, number_text};
use crate::host::number;
use crate::math::order::{ascending, key};
use crate::math::splitmix::{STEP, mixed};
use std::borrow::Cow;

/// Fewer rows say too little.
const FEWEST_ROWS: usize = 20;
/// A value is an outlier this many interquartile ranges from the nearer quartile: of a bell curve there is none.
const FAR: f64 = 20.0;
/// A skewness from which a few rows dominate the loss; that of an exponential distribution is 2.
const SKEWED: f64 = 3.0;

/// What a person should know about the columns of a run before it starts.
pub fn inspect(table: &Table, roles: &ColumnRoles) -> Vec<Warning> {
    let mut found = Findings { table, roles, rows: &roles.rows, warnings: Vec::new() };
    if roles.rows.len() < FEWEST_ROWS {
        return found.warnings;
    }
    let target = found.keys(roles.target);
    let mut rows = target.clone();
    if roles.task == Task::Classification {
        found.warnings.extend(texts::of(found.column(roles.target), Role::Category));
    }
    let (mut sums, mut bits) = (Vec::new(), found.inspect_numbers(roles.target, &target));
    for &(at, role) in &roles.features {
        let keys = found.keys(at);
        sums.push(keys.iter().fold(0, |sum, key| mixed(sum ^ key.wrapping_add(STEP))));
        rows.iter_mut().zip(&keys).for_each(|(row, key)| *row = mixed(*row ^ key.wrapping_add(STEP)));
        found.warnings.extend(texts::of(found.column(at), role));
        bits += found.inspect_feature(at, role, &keys, &target);
    }
    found.inspect_copies(&sums);
    found.inspect_rows(&rows, bits);
    found.inspect_skewness();
    found.warnings
}

struct Findings<'a> {
    table: &'a Table,
    roles: &'a ColumnRoles,
    rows: &'a [u32],
    warnings: Vec<Warning>,
}

impl Findings<'_> {
    fn column(&self, at: usize) -> &Column {
        &self.table.columns()[at]
    }

    fn warn(&mut self, at: usize, message: String, cells: Vec<String>) {
        let column = self.column(at).name.clone();
        self.warnings.push(Warning { column, message, cells });
    }

    /// A number per row, equal for equal cells, in the order of the cells.
    fn keys(&self, at: usize) -> Vec<u64> {
        self.rows.iter().map(|&row| self.column(at).cells.key(row as usize)).collect()
    }

    /// The numbers of a column, without missing and infinite ones.
    fn numbers(&self, at: usize) -> Vec<f64> {
        match &self.column(at).cells {
            Cells::Numeric(values) => {
                let numbers = self.rows.iter().map(|row| values[*row as usize]);
                numbers.filter(|value| value.is_finite()).collect()
            }
            Cells::Categorical { .. } => Vec::new(),
        }
    }

    /// Inspects one feature; returns the binary digits of its number of different cells.
    fn inspect_feature(&mut self, at: usize, role: Role, keys: &[u64], target: &[u64]) -> u32 {
        if keys.iter().all(|key| *key == keys[0]) {
            let cell = self.column(at).cells.text(self.rows[0] as usize).map(Cow::into_owned);
            self.warn(at, "has the same cell in every row; name it under ignore".into(), cell.into_iter().collect());
            return 0;
        }
        if !matches!(role, Role::Date(_)) && self.is_identifier(at) {
            self.warn(
                at,
                "has another value in every row, like the number of a row; if it is one, name it under ignore".into(),
                Vec::new(),
            );
        } else if self.roles.features.len() > 1 && self.reveals(at, keys, target) {
            self.warn(
                at,
                "determines the target in every row; if it is not known beforehand, name it under ignore".into(),
                Vec::new(),
            );
        }
        self.inspect_numbers(at, keys)
    }

    /// Whether a column has different whole numbers close together, or different texts.
    fn is_identifier(&self, at: usize) -> bool {
        let rows = self.rows.len();
        if let Cells::Categorical { levels, .. } = &self.column(at).cells {
            return levels.len() >= rows && self.roles.features.len() > 1;
        }
        let numbers = self.numbers(at);
        let (least, most) = extremes(&numbers);
        let range = most - least;
        if numbers.len() < rows || range > 1.1 * rows as f64 || self.roles.features.len() < 2 {
            return false;
        }
        let mut seen = vec![false; range as usize + 1];
        let is_new = |value: &f64| {
            let place = value - least;
            place == place.trunc() && !std::mem::replace(&mut seen[place as usize], true)
        };
        numbers.iter().all(is_new)
    }

    /// Whether equal cells always have equal targets, with several rows for most of them, or the target is a multiple of the column and a constant.
    fn reveals(&self, at: usize, keys: &[u64], target: &[u64]) -> bool {
        let order = ascending(keys);
        let pairs = || order.windows(2).map(|pair| (pair[0] as usize, pair[1] as usize));
        let same = pairs().filter(|(a, b)| keys[*a] == keys[*b]).count();
        if 2 * same > keys.len() && pairs().all(|(a, b)| keys[a] != keys[b] || target[a] == target[b]) {
            return true;
        }
        let (x, y) = (self.numbers(at), self.numbers(self.roles.target));
        self.roles.task == Task::Regression && x.len() == keys.len() && y.len() == x.len() && is_line(&x, &y)
    }

    /// Warns of outliers; returns the binary digits of the number of different cells.
    fn inspect_numbers(&mut self, at: usize, keys: &[u64]) -> u32 {
        let order = ascending(keys);
        let different = 1 + order.windows(2).filter(|pair| keys[pair[0] as usize] != keys[pair[1] as usize]).count();
        let numbers = self.numbers(at);
        let sorted: Vec<f64> = ascending(&numbers.iter().map(|value| key(*value)).collect::<Vec<_>>())
            .into_iter()
            .map(|place| numbers[place as usize])
            .collect();
        if sorted.len() >= FEWEST_ROWS {
            let (low, high) = (sorted[sorted.len() / 4], sorted[sorted.len() - 1 - sorted.len() / 4]);
            let far = FAR * (high - low);
            let is_far = |value: &&f64| far > 0.0 && (**value < low - far || **value > high + far);
            let outliers: Vec<&f64> = sorted.iter().filter(is_far).collect();
            if let (Some(first), Some(last)) = (outliers.first(), outliers.last()) {
                let mut cells = vec![number_text(**first)];
                if outliers.len() > 1 {
                    cells.push(number_text(**last));
                }
                let half = format!("{} to {}", number(low), number(high));
                let message = format!(
                    "outliers: {} of {} values are far from the middle half, {half}",
                    outliers.len(),
                    sorted.len()
                );
                self.warn(at, message, cells);
            }
        }
        different.ilog2()
    }

    /// Warns of columns with the cells of an earlier one. `sums` has a number per feature, equal for equal cells.
    fn inspect_copies(&mut self, sums: &[u64]) {
        let order = ascending(sums);
        let features = &self.roles.features;
        for pair in order.windows(2).filter(|pair| sums[pair[0] as usize] == sums[pair[1] as usize]) {
            let [first, copy] = [pair[0], pair[1]].map(|place| features[place as usize].0);
            let is_constant = self.keys(copy).windows(2).all(|pair| pair[0] == pair[1]);
            // Codes of texts depend on all texts of a column.
            let same_texts = match (&self.column(first).cells, &self.column(copy).cells) {
                (Cells::Categorical { levels: a, .. }, Cells::Categorical { levels: b, .. }) => a == b,
                (Cells::Numeric(_), Cells::Numeric(_)) => true,
                _ => false,
            };
            if !is_constant && same_texts {
                let first = &self.column(first).name;
                let message = format!("has the same cells as column \"{first}\"; name one under ignore");
                self.warn(copy, message, Vec::new());
            }
        }
    }

    /// Warns of equal rows, unless cells with so few binary digits agree by chance.
    fn inspect_rows(&mut self, sums: &[u64], bits: u32) {
        let order = ascending(sums);
        let copies = order.windows(2).filter(|pair| sums[pair[0] as usize] == sums[pair[1] as usize]).count();
        if copies > 0 && bits > 2 * sums.len().ilog2() {
            let of = sums.len();
            let message = format!("{copies} of {of} rows are copies of another, so the same row may train and test");
            self.warnings.push(Warning { column: String::new(), message, cells: Vec::new() });
        }
    }

    fn inspect_skewness(&mut self) {
        let values = self.numbers(self.roles.target);
        // The logarithm of the rate of counts is what is learned.
        let is_measure = self.roles.quantity == Quantity::Measure;
        if self.roles.task != Task::Regression || !is_measure || values.is_empty() || extremes(&values).0 <= 0.0 {
            return;
        }
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let moment = |power: i32| values.iter().map(|value| (value - mean).powi(power)).sum::<f64>() / count;
        let (second, third) = (moment(2), moment(3));
        let skewness = third / (second * second.sqrt());
        if skewness > SKEWED {
            let message = format!(
                "is skewed (skewness {}) and positive; its logarithm may be easier to learn",
                number((10.0 * skewness).round() / 10.0)
            );
            self.warn(self.roles.target, message, Vec::new());
        }
    }
}

fn extremes(values: &[f64]) -> (f64, f64) {
    values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), value| (least.min(*value), most.max(*value)))
}

/// Whether y is a multiple of x and a constant, up to rounding: by the line through the extremes of x.
fn is_line(x: &[f64], y: &[f64]) -> bool {
    let place = |wanted: f64| x.iter().position(|value| *value == wanted).unwrap_or(0);
    let (least, most) = extremes(x);
    let (a, b) = (place(least), place(most));
    let slope = (y[b] - y[a]) / (x[b] - x[a]);
    let (low, high) = extremes(y);
    let allowed = 1e-9 * (high - low);
    slope != 0.0 && x.iter().zip(y).all(|(x, value)| (y[a] + slope * (x - least) - value).abs() <= allowed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::{Choice, choose};

    /// The warnings about a table with the target y, of 60 rows.
    fn warnings(columns: &[(&str, &dyn Fn(usize) -> f64)]) -> Vec<String> {
        let column =
            |(name, value): &(&str, &dyn Fn(usize) -> f64)| Column::numeric(name, (0..60).map(value).collect());
        warnings_of(columns.iter().map(column).collect())
    }

    fn warnings_of(columns: Vec<Column>) -> Vec<String> {
        let table = Table::new("t", columns).unwrap();
        let roles = choose(&table, &Choice { target: "y".into(), ..Choice::default() }).unwrap();
        inspect(&table, &roles).iter().map(ToString::to_string).collect()
    }

    fn noise(row: usize) -> f64 {
        (mixed(row as u64) >> 40) as f64 / 256.0
    }

    fn other(row: usize) -> f64 {
        noise(row + 1000)
    }

    #[test]
    fn ordinary_columns_give_no_warnings() {
        assert_eq!(warnings(&[("a", &noise), ("y", &other)]), [""; 0]);
        assert_eq!(
            warnings(&[("a", &|i| (i % 3) as f64), ("b", &|i| (i % 2) as f64), ("y", &|i| (i % 5) as f64 + 0.5)]),
            [""; 0]
        );
        assert_eq!(warnings(&[("a", &|i| i as f64), ("y", &|i| 2.0 * i as f64)]), [""; 0], "the only feature");
    }

    #[test]
    fn findings() {
        let a: (&str, &dyn Fn(usize) -> f64) = ("a", &noise);
        let y: (&str, &dyn Fn(usize) -> f64) = ("y", &other);
        let cases: [(&dyn Fn(usize) -> f64, &str); 6] = [
            (&|_| 3.0, "column \"b\": has the same cell in every row; name it under ignore: \"3\""),
            (
                &|i| ((i * 7) % 60) as f64 + 100.0,
                "column \"b\": has another value in every row, like the number of a row; if it is one, name it under ignore",
            ),
            (&noise, "column \"b\": has the same cells as column \"a\"; name one under ignore"),
            (
                &|i| 5.0 - other(i) / 3.0,
                "column \"b\": determines the target in every row; if it is not known beforehand, name it under ignore",
            ),
            (
                &|i| if i == 7 { 1e9 } else { (i % 10) as f64 },
                "column \"b\": outliers: 1 of 60 values are far from the middle half, 2 to 7: \"1000000000\"",
            ),
            (&|i| noise(i + 500), ""),
        ];
        for (b, wanted) in cases {
            assert_eq!(warnings(&[a, ("b", b), y]).join("\n"), wanted);
        }
        let classes = warnings(&[a, ("b", &|i| (i % 4) as f64), ("y", &|i| (i % 2) as f64)]);
        assert!(classes[0].starts_with("column \"b\": determines the target"), "{classes:?}");
        let twice: Vec<String> =
            warnings(&[("a", &|i| noise(i / 2)), ("b", &|i| other(i / 2)), ("y", &|i| noise(i / 2 + 99))]);
        assert_eq!(twice, ["30 of 60 rows are copies of another, so the same row may train and test"]);
        let skewed = warnings(&[a, ("y", &|i| if i == 9 { 5000.0 } else { 500.0 + noise(i) / 1000.0 })]);
        assert!(skewed.last().unwrap().ends_with("and positive; its logarithm may be easier to learn"), "{skewed:?}");
    }

    #[test]
    fn texts() {
        let texts = |name: &str, text: &dyn Fn(usize) -> String| {
            Column::categorical(name, &(0..60).map(text).collect::<Vec<_>>())
        };
        let rest =
            || [Column::numeric("a", (0..60).map(noise).collect()), Column::numeric("y", (0..60).map(other).collect())];
        let all = |first: Column| warnings_of([first].into_iter().chain(rest()).collect());
        assert_eq!(all(texts("day", &|i| format!("{}.5.2024", i % 31 + 1))), [""; 0]);
        let day = |i: usize| if i == 7 { "soon".into() } else { format!("2024-05-{:02}", i % 30 + 1) };
        assert_eq!(all(texts("day", &day)), ["column \"day\": holds dates; other texts count as missing: \"soon\""]);
        let open = all(texts("day", &|i| format!("{}/{}/2024", i % 12 + 1, i % 11 + 1)));
        assert!(open[0].starts_with("column \"day\": holds dates of which it is open"), "{open:?}");
        assert_eq!(all(texts("colour", &|i| ["red", "blue", "green"][i % 3].to_owned())), [""; 0]);
    }
}
