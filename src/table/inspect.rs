//! Looks for what is probably a mistake in the chosen columns and rows of a table: identifiers, constants, copies, columns that reveal the
//! target, outliers, a skewed target. Nothing is changed; each finding is a [`Warning`]. Time: a sort per column of numbers.

use super::choose::ColumnRoles;
use super::compact;
use super::feature::Role;
use super::levels::count_levels;
use super::target::{Quantity, Task};
use super::texts;
use super::totals::totals;
use crate::files::moment::orders;
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

/// A class needs so many rows on average.
const FEW_PER_CLASS: usize = 5;

/// What a person should know about the columns of a run before it starts.
pub fn inspect(table: &Table, roles: &ColumnRoles) -> Vec<Warning> {
    let mut found = Findings { table, roles, rows: &roles.rows, warnings: Vec::new() };
    if roles.rows.len() < FEWEST_ROWS {
        return found.warnings;
    }
    let target = found.keys(roles.target);
    let mut rows: Vec<u64> = target.iter().map(|key| mixed(key.wrapping_add(STEP))).collect();
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
    if let Some(at) = roles.time
        && let Some((message, cell)) = compact::dates(&found.numbers(at))
    {
        found.warn(at, message, vec![cell]);
    }
    found.inspect_copies(&sums);
    found.inspect_rows(&rows, bits);
    found.inspect_skewness();
    found.inspect_classes();
    found.warnings.extend(totals(table));
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
            return levels.len() >= rows && self.roles.features.len() > 1 && orders(levels).is_empty();
        }
        self.roles.features.len() > 1 && self.numbers_rows(at)
    }

    /// Whether a column of numbers has different whole ones close together.
    fn numbers_rows(&self, at: usize) -> bool {
        let (rows, numbers) = (self.rows.len(), self.numbers(at));
        let (least, most) = extremes(&numbers);
        let range = most - least;
        if numbers.len() < rows || range > 1.1 * rows as f64 {
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
        if numbers.len() >= FEWEST_ROWS
            && let Some((message, cell)) = compact::dates(&numbers)
        {
            self.warn(at, message, vec![cell]);
        }
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
            let keys = self.keys(copy);
            let is_constant = keys.windows(2).all(|pair| pair[0] == pair[1]);
            // Codes of texts depend on all texts of a column.
            let same_texts = match (&self.column(first).cells, &self.column(copy).cells) {
                (Cells::Categorical { levels: a, .. }, Cells::Categorical { levels: b, .. }) => a == b,
                (Cells::Numeric(_), Cells::Numeric(_)) => true,
                _ => false,
            };
            if !is_constant && same_texts && keys == self.keys(first) {
                let first = &self.column(first).name;
                let message = format!("has the same cells as column \"{first}\"; name one under ignore");
                self.warn(copy, message, Vec::new());
            }
        }
    }

    /// Warns of equal rows, unless cells with so few binary digits agree by chance.
    fn inspect_rows(&mut self, sums: &[u64], bits: u32) {
        let order = ascending(sums);
        let same =
            |pair: &&[u32]| sums[pair[0] as usize] == sums[pair[1] as usize] && self.are_copies(pair[0], pair[1]);
        let copies = order.windows(2).filter(same).count();
        if copies > 0 && bits > 2 * sums.len().ilog2() {
            let of = sums.len();
            let message = format!("{copies} of {of} rows are copies of another, so the same row may train and test");
            self.warnings.push(Warning { column: String::new(), message, cells: Vec::new() });
        }
    }

    /// Whether two of the rows have the same cells, in every column that is used.
    fn are_copies(&self, one: u32, other: u32) -> bool {
        let [one, other] = [one, other].map(|at| self.rows[at as usize] as usize);
        let mut used = self.roles.features.iter().map(|(at, _)| *at).chain([self.roles.target]);
        used.all(|at| self.column(at).cells.key(one) == self.column(at).cells.key(other))
    }

    /// Warns of classes with so few rows each that they are more like the names of the rows, and of a target that numbers the rows.
    fn inspect_classes(&mut self) {
        let (at, rows) = (self.roles.target, self.rows.len());
        if self.roles.task == Task::Regression {
            if self.roles.quantity == Quantity::Measure && is_id(&self.column(at).name) && self.numbers_rows(at) {
                let message = "has another whole number in every row, like the number of a row; if it is one, choose another target";
                self.warn(at, message.into(), Vec::new());
            }
            return;
        }
        let classes = count_levels(self.column(at), self.rows);
        if classes > 2 && rows < FEW_PER_CLASS * classes {
            let each = number((10.0 * rows as f64 / classes as f64).round() / 10.0);
            let message = format!(
                "has {classes} classes in {rows} rows, {each} of each on average, which is too few to learn them; if they are numbers or names of rows, choose another target"
            );
            self.warn(at, message, Vec::new());
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

/// Whether a column has a name that numbers of rows usually have.
fn is_id(name: &str) -> bool {
    const NAMES: [&str; 7] = ["id", "index", "row", "key", "number", "nr", "no"];
    let name = name.to_ascii_lowercase();
    name.rsplit(['_', ' ', '-', '.']).next().is_some_and(|last| NAMES.contains(&last))
}

fn extremes(values: &[f64]) -> (f64, f64) {
    values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), value| (least.min(*value), most.max(*value)))
}

/// Whether y is a multiple of x and a constant, up to rounding: by the line through the extremes of x.
fn is_line(x: &[f64], y: &[f64]) -> bool {
    let place = |expected: f64| x.iter().position(|value| *value == expected).unwrap_or(0);
    let (least, most) = extremes(x);
    let (a, b) = (place(least), place(most));
    let slope = (y[b] - y[a]) / (x[b] - x[a]);
    let (low, high) = extremes(y);
    let allowed = 1e-9 * (high - low);
    slope != 0.0 && x.iter().zip(y).all(|(x, value)| (y[a] + slope * (x - least) - value).abs() <= allowed)
}

#[cfg(test)]
#[path = "inspect_tests.rs"]
mod tests;
