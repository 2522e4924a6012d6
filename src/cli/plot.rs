//! Pictures in text: predicted against actual numbers in Braille dots, and a table of classes taken for each other.

use super::text::{count, figure, grid, short};
use crate::io::Preparation;
use crate::kernels::strict;
use crate::nn::Spec;
use crate::train::largest;

/// Cells of the scatter plot, each of 2 x 4 dots: about as wide as high.
const COLUMNS: usize = 44;
const LINES: usize = 16;
/// A table of more classes does not fit a terminal: the commonest errors are listed instead.
const MOST_CLASSES: usize = 12;
/// Errors listed.
const MOST_ERRORS: usize = 10;

/// What a model said of some rows beside what was true, for pictures.
pub(super) enum PlotData {
    /// Actual and predicted numbers.
    Numbers(Vec<[f64; 2]>),
    /// Rows by actual and predicted class.
    Classes {
        /// Names of the classes.
        names: Vec<String>,
        /// counts[actual][predicted].
        counts: Vec<Vec<u64>>,
    },
}

impl PlotData {
    pub(super) fn of(spec: &Spec, preparation: &Preparation, z: &[f32], y: &[f32]) -> Self {
        if let Some(head) = spec.head() {
            // One output: a row of z is (P, Q), one of y is (y, 1) or a pole.
            let pair = |(z, y): (&[f32], &[f32])| {
                let (value, _) = strict::decode(&head.decoding, z[0], z[1])?;
                (y[1] != 0.0).then(|| [preparation.decode_target(y[0]), preparation.decode_target(value)])
            };
            return Self::Numbers(z.chunks_exact(2).zip(y.chunks_exact(2)).filter_map(pair).collect());
        }
        let names = preparation.target.levels().to_vec();
        if names.is_empty() {
            let pair = |(&z, &y): (&f32, &f32)| [preparation.decode_target(y), preparation.decode_target(z)];
            return Self::Numbers(z.iter().zip(y).map(pair).collect());
        }
        let classes = names.len();
        let mut counts = vec![vec![0; classes]; classes];
        let targets = y.len() * classes / z.len().max(1);
        for (z, y) in z.chunks_exact(classes).zip(y.chunks_exact(targets.max(1))) {
            let actual = if targets > 1 { largest(y) } else { y[0] as usize };
            counts[actual][largest(z)] += 1;
        }
        Self::Classes { names, counts }
    }
}

/// The picture, below a line that says what it shows.
pub(super) fn draw(picture: &PlotData, rows: &str) -> String {
    match picture {
        PlotData::Numbers(pairs) => scatter(pairs, rows),
        PlotData::Classes { names, counts } if names.len() <= MOST_CLASSES => confusion(names, counts, rows),
        PlotData::Classes { names, counts } => errors(names, counts, rows),
    }
}

fn scatter(pairs: &[[f64; 2]], rows: &str) -> String {
    let [low, high] = range(pairs);
    let dots = [2 * COLUMNS, 4 * LINES];
    let place = |value: f64, dots: usize| ((value - low) / (high - low) * (dots - 1) as f64).round() as usize;
    let mut cells = vec![[0_u8; COLUMNS]; LINES];
    for [actual, predicted] in pairs {
        let (x, y) = (place(*actual, dots[0]), place(*predicted, dots[1]));
        cells[LINES - 1 - y / 4][x / 2] |= braille(x % 2, 3 - y % 4);
    }
    let labels = [figure(high), figure(low)];
    let width = labels.iter().map(|label| label.chars().count()).max().unwrap_or(0);
    let mut lines = vec![format!("\n  {:>width$}  predicted (up) against actual (right), {rows}", "")];
    for (line, row) in cells.iter().enumerate() {
        let label = if line == 0 {
            &labels[0]
        } else if line == LINES - 1 {
            &labels[1]
        } else {
            ""
        };
        let row: String = row.iter().enumerate().map(|(column, dots)| cell(*dots, column, line)).collect();
        lines.push(format!("  {label:>width$} │{row}│"));
    }
    lines.push(format!("  {:>width$} └{}┘", "", "─".repeat(COLUMNS)));
    let gap = COLUMNS.saturating_sub(labels[0].chars().count() + labels[1].chars().count());
    lines.push(format!("  {:>width$}  {}{:gap$}{}", "", labels[1], "", labels[0]));
    lines.join("\n")
}

/// Dots where there are rows; else a trace of the diagonal, where every row of a perfect model lies.
fn cell(dots: u8, column: usize, line: usize) -> char {
    let is_diagonal = (LINES - 1 - line) == column * LINES / COLUMNS;
    match dots {
        0 if is_diagonal => '·',
        0 => ' ',
        dots => char::from_u32(0x2800 + u32::from(dots)).unwrap_or('*'),
    }
}

/// The bit of a dot in a Braille cell (Unicode 2800 to 28FF), from the left and from the top.
fn braille(x: usize, y: usize) -> u8 {
    [[0x01, 0x02, 0x04, 0x40], [0x08, 0x10, 0x20, 0x80]][x][y]
}

/// The smallest and the largest of all numbers, apart from each other.
fn range(pairs: &[[f64; 2]]) -> [f64; 2] {
    let all = || pairs.iter().flatten().copied();
    let (low, high) = (all().fold(f64::INFINITY, f64::min), all().fold(f64::NEG_INFINITY, f64::max));
    if high > low { [low, high] } else { [low - 0.5, low + 0.5] }
}

fn confusion(names: &[String], counts: &[Vec<u64>], rows: &str) -> String {
    let names: Vec<String> = names.iter().map(|name| short(name, 12)).collect();
    let head: Vec<&str> = ["actual"].into_iter().chain(names.iter().map(String::as_str)).chain(["right"]).collect();
    let row = |(actual, row): (usize, &Vec<u64>)| {
        let of = row.iter().sum::<u64>();
        let share = if of == 0 { "–".into() } else { format!("{:.1} %", 100.0 * row[actual] as f64 / of as f64) };
        let cells = row.iter().map(|&rows| if rows == 0 { "·".into() } else { count(rows) });
        [names[actual].clone()].into_iter().chain(cells).chain([share]).collect()
    };
    let table = grid(&head, &counts.iter().enumerate().map(row).collect::<Vec<_>>());
    format!("\n  predicted (right) against actual (down), {rows}\n{table}")
}

fn errors(names: &[String], counts: &[Vec<u64>], rows: &str) -> String {
    let mut all = Vec::new();
    for (actual, row) in counts.iter().enumerate() {
        all.extend(row.iter().enumerate().filter(|(p, n)| *p != actual && **n > 0).map(|(p, n)| (*n, actual, p)));
    }
    all.sort_by(|a, b| b.cmp(a));
    let line = |(n, actual, predicted): &(u64, usize, usize)| {
        vec![short(&names[*actual], 24), short(&names[*predicted], 24), count(*n)]
    };
    let lines: Vec<_> = all.iter().take(MOST_ERRORS).map(line).collect();
    format!("\n  the commonest errors, {rows}\n{}", grid(&["actual", "predicted", "rows"], &lines))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::Target;

    #[test]
    fn points_lie_where_they_should() {
        let text = scatter(&[[0.0, 0.0], [1.0, 1.0], [1.0, 0.0]], "3 rows");
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[1].trim(), "predicted (up) against actual (right), 3 rows");
        assert!(lines[2].starts_with("  1.000 │") && lines[2].ends_with("⠈│"), "{}", lines[2]);
        assert!(lines[17].starts_with("      0 │⡀") && lines[17].ends_with("⢀│"), "{}", lines[17]);
        assert!(lines[19].starts_with("         0") && lines[19].ends_with("1.000"), "{}", lines[19]);
    }

    #[test]
    fn constant_numbers_can_be_drawn() {
        assert_eq!(range(&[[3.0, 3.0]]), [2.5, 3.5]);
        assert!(scatter(&[[3.0, 3.0]], "a row").contains('⠈') || scatter(&[[3.0, 3.0]], "a row").lines().count() == 20);
    }

    #[test]
    fn classes_are_counted_whether_told_by_index_or_each_against_the_rest() {
        let names = ["a", "b", "c"].map(String::from).to_vec();
        let target = Target::Classification { name: "y".into(), levels: names, counts: vec![1, 1, 1] };
        let preparation = Preparation { features: Vec::new(), target };
        let z = [2.0, -1.0, 0.0, -3.0, -1.0, -2.0];
        let spec = Spec::mlp(1, &[], 3, crate::nn::Activation::identity());
        for y in [&[0.0, 2.0][..], &[1.0, 0.0, 0.0, 0.0, 0.0, 1.0]] {
            let PlotData::Classes { counts, .. } = PlotData::of(&spec, &preparation, &z, y) else { panic!("classes") };
            assert_eq!(counts, [[1, 0, 0], [0, 0, 0], [0, 1, 0]]);
        }
    }

    #[test]
    fn classes_taken_for_each_other() {
        let names: Vec<String> = ["a", "b"].map(String::from).into();
        let table = confusion(&names, &[vec![8, 2], vec![0, 0]], "10 rows");
        assert!(table.ends_with("  actual  a  b   right\n  a       8  2  80.0 %\n  b       ·  ·       –"), "{table}");
        let list = errors(&names, &[vec![8, 2], vec![3, 0]], "13 rows");
        assert!(list.ends_with("  b       a             3\n  a       b             2"), "{list}");
    }
}
