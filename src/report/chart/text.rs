//! A chart as text. Lines and dots are drawn in Braille characters, which have 2 x 4 dots each. Of several series the first line, or else
//! the first series, is drawn like that; each other has a character of its own.

use super::scale::Scale;
use super::{Chart, Series, Style};
use crate::report::text::{left, printable, right, width};

/// Characters of the area between the axes.
const COLUMNS: usize = 48;
const LINES: usize = 16;
/// For series after the first; again from the start if there are more.
const LETTERS: [char; 10] = ['o', '+', 'x', '*', '#', '@', '%', '=', '&', '$'];

const REFERENCE: char = '·';
const MARK: char = '┊';
const BAND: char = '░';
/// Shown in legends for what is drawn in Braille.
const BRAILLE_SAMPLE: char = '⠶';

/// Layers of a character, from the front: a letter of a series, Braille dots, and what fills the rest.
#[derive(Clone, Copy, Default)]
struct Character {
    letter: Option<char>,
    dots: u8,
    behind: Option<char>,
}

/// The area between the axes.
struct Canvas {
    cells: Vec<[Character; COLUMNS]>,
    x: Scale,
    y: Scale,
}

/// How a series is drawn.
#[derive(Clone, Copy, PartialEq)]
enum Pen {
    Braille,
    Letter(char),
    Behind(char),
}

impl Chart {
    /// Lines of text for a terminal, about 60 columns wide, without control codes.
    pub fn text(&self) -> String {
        draw(self)
    }
}

fn draw(chart: &Chart) -> String {
    let title = printable(&chart.title);
    let Some([x, y]) = chart.scales() else { return format!("  {title}: no values to draw") };
    let lines = if chart.y.names.is_empty() { LINES } else { chart.y.names.len() };
    let mut canvas = Canvas { cells: vec![[Character::default(); COLUMNS]; lines], x, y };
    for band in &chart.bands {
        let pairs = band.points.windows(2).filter(|pair| !chart.has_pole(pair[0][0], pair[1][0]));
        pairs.for_each(|pair| canvas.fill([pair[0], pair[1]]));
    }
    for mark in chart.marks.iter().filter(|mark| chart.x.holds(mark.x)) {
        canvas.upright(mark.x);
    }
    let pens = pens(chart);
    for (series, pen) in chart.series.iter().zip(&pens) {
        for run in chart.runs(&series.points) {
            canvas.run(run, series.style, *pen);
        }
    }
    let mut out = vec![format!("  {title}"), String::new()];
    out.extend(canvas.framed(chart));
    out.extend(legend(chart, &pens));
    let lines: Vec<&str> = out.iter().map(|line| line.trim_end()).collect();
    lines.join("\n")
}

fn pens(chart: &Chart) -> Vec<Pen> {
    let is_named = !chart.y.names.is_empty();
    let is_line = |series: &&Series| matches!(series.style, Style::Line | Style::Dashed | Style::DashDot);
    let place = |expected: &dyn Fn(&&Series) -> bool| chart.series.iter().position(|series| expected(&series));
    let first = place(&is_line).or_else(|| place(&|series| series.style != Style::Reference));
    let mut letters = LETTERS.iter().cycle().copied();
    let pen = |(at, series): (usize, &Series)| match series.style {
        Style::Reference => Pen::Behind(REFERENCE),
        // A row's name says what it is.
        Style::Bar | Style::Column if is_named => Pen::Letter('─'),
        Style::Dots if is_named => Pen::Letter('·'),
        Style::Points | Style::Rings if is_named => Pen::Letter('o'),
        _ if Some(at) == first => Pen::Braille,
        _ => Pen::Letter(letters.next().unwrap_or('o')),
    };
    chart.series.iter().enumerate().map(pen).collect()
}

impl Canvas {
    /// The dot of a place, from the left and from the top; outside of the area there is none.
    fn dot(&self, x: f64, y: f64) -> Option<[usize; 2]> {
        let [columns, lines] = [2 * COLUMNS, 4 * self.cells.len()];
        let is_inside = [x, y].iter().all(|share| (-1e-9..=1.0 + 1e-9).contains(share));
        let at = |share: f64, dots: usize| (share * (dots - 1) as f64).round() as usize;
        is_inside.then(|| [at(x, columns), at(1.0 - y, lines)])
    }

    fn run(&mut self, run: &[[f64; 2]], style: Style, pen: Pen) {
        let places: Vec<[f64; 2]> = run.iter().map(|[x, y]| [self.x.share(*x), self.y.share(*y)]).collect();
        let is_line = !matches!(style, Style::Dots | Style::Points | Style::Rings);
        for place in &places {
            self.paint(*place, pen);
        }
        for pair in places.windows(2).filter(|_| is_line) {
            let [[x0, y0], [x1, y1]] = [pair[0], pair[1]];
            let [wide, high] = [(x1 - x0) * 2.0 * COLUMNS as f64, (y1 - y0) * 4.0 * self.cells.len() as f64];
            let steps = wide.abs().max(high.abs()).ceil().max(1.0);
            for step in 1..steps as usize {
                let share = step as f64 / steps;
                self.paint([x0 + share * (x1 - x0), y0 + share * (y1 - y0)], pen);
            }
        }
    }

    fn paint(&mut self, [x, y]: [f64; 2], pen: Pen) {
        let Some([x, y]) = self.dot(x, y) else { return };
        let cell = &mut self.cells[y / 4][x / 2];
        match pen {
            Pen::Braille => cell.dots |= braille(x % 2, y % 4),
            Pen::Letter(letter) => cell.letter = Some(letter),
            Pen::Behind(letter) => cell.behind = Some(letter),
        }
    }

    fn upright(&mut self, x: f64) {
        let Some([x, _]) = self.dot(self.x.share(x), 0.5) else { return };
        self.cells.iter_mut().for_each(|line| line[x / 2].behind = Some(MARK));
    }

    /// Fills the characters whose middle lies between the edges of a band, from one of its points to the next.
    fn fill(&mut self, [from, to]: [[f64; 3]; 2]) {
        let lines = self.cells.len();
        let [x0, x1] = [self.x.share(from[0]), self.x.share(to[0])];
        for column in 0..COLUMNS {
            let part = ((column as f64 + 0.5) / COLUMNS as f64 - x0) / (x1 - x0);
            if !(0.0..=1.0).contains(&part) {
                continue;
            }
            let [low, high] = [1, 2].map(|at| {
                let [a, b] = [self.y.share(from[at]), self.y.share(to[at])];
                a + part * (b - a)
            });
            for (line, cells) in self.cells.iter_mut().enumerate() {
                if (low..=high).contains(&(1.0 - (line as f64 + 0.5) / lines as f64)) {
                    cells[column].behind = Some(BAND);
                }
            }
        }
    }

    /// The area with its axes, ticks and labels.
    fn framed(&self, chart: &Chart) -> Vec<String> {
        let labels = self.y.ticks.iter().map(|tick| (self.dot(0.0, self.y.share(tick.value)), printable(&tick.label)));
        let labels: Vec<(usize, String)> = labels.filter_map(|(dot, label)| Some((dot?[1] / 4, label))).collect();
        let margin = labels.iter().map(|(_, label)| width(label)).max().unwrap_or(0);
        let mut out = Vec::new();
        if !chart.y.label.is_empty() {
            out.push(format!("  {} {}", " ".repeat(margin), printable(&chart.y.label)));
        }
        for (line, cells) in self.cells.iter().enumerate() {
            let label = labels.iter().find(|(at, _)| *at == line).map(|(_, label)| label.as_str());
            let axis = if label.is_some() { '┤' } else { '│' };
            let cells: String = cells.iter().map(Character::shown).collect();
            out.push(format!("  {} {axis}{cells}", right(label.unwrap_or(""), margin)));
        }
        let [axis, labels] = self.below();
        let indent = " ".repeat(margin + 3);
        out.push(format!("{indent}└{axis}"));
        out.push(format!("{indent}{labels}"));
        if !chart.x.label.is_empty() {
            let label = printable(&chart.x.label);
            out.push(format!("{indent}{}", right(&label, (COLUMNS + 1 + width(&label)) / 2)));
        }
        out
    }

    /// The horizontal axis and the labels under it, each centred under its tick unless it would touch the one before.
    fn below(&self) -> [String; 2] {
        let mut axis = ['─'; COLUMNS];
        let mut labels = String::new();
        for tick in &self.x.ticks {
            let Some([x, _]) = self.dot(self.x.share(tick.value), 0.5) else { continue };
            axis[x / 2] = '┬';
            let label = printable(&tick.label);
            // The corner is one column before the area.
            let start = (x / 2 + 1).saturating_sub(width(&label) / 2);
            if labels.is_empty() || start > width(&labels) {
                labels = left(&labels, start) + &label;
            }
        }
        [axis.iter().collect(), labels]
    }
}

impl Character {
    fn shown(&self) -> char {
        match *self {
            Self { letter: Some(letter), .. } => letter,
            Self { dots, .. } if dots != 0 => char::from_u32(0x2800 + u32::from(dots)).unwrap_or('*'),
            Self { behind, .. } => behind.unwrap_or(' '),
        }
    }
}

/// The bit of a dot in a Braille character (Unicode 2800 to 28FF), from the left and from the top.
fn braille(x: usize, y: usize) -> u8 {
    [[0x01, 0x02, 0x04, 0x40], [0x08, 0x10, 0x20, 0x80]][x][y]
}

fn legend(chart: &Chart, pens: &[Pen]) -> Option<String> {
    let pen = |expected: &Series| {
        let at = chart.series.iter().position(|series| std::ptr::eq(series, expected))?;
        Some(match pens[at] {
            Pen::Braille => BRAILLE_SAMPLE,
            Pen::Letter(letter) | Pen::Behind(letter) => letter,
        })
    };
    let series = chart.legend().into_iter().filter_map(|series| Some((pen(series)?, &series.name)));
    let bands = chart.bands.iter().map(|band| (BAND, &band.name));
    let marks = chart.marks.iter().map(|mark| (MARK, &mark.name));
    let named = series.chain(bands).chain(marks).filter(|(_, name)| !name.is_empty());
    let entries: Vec<String> = named.map(|(letter, name)| format!("{letter} {}", printable(name))).collect();
    (!entries.is_empty()).then(|| format!("\n  {}", entries.join("   ")))
}

#[cfg(test)]
mod tests {
    use super::super::{Axis, Band, Mark};
    use super::*;

    fn chart() -> Chart {
        Chart::new("t", Axis::linear("x").within(0.0, 1.0), Axis::linear("y").within(0.0, 1.0))
    }

    fn lines(chart: &Chart) -> Vec<String> {
        chart.text().lines().map(str::to_owned).collect()
    }

    #[test]
    fn points_lie_where_they_should() {
        let lines = lines(&chart().series(Series::dots("s", vec![[0.0, 0.0], [1.0, 1.0], [1.0, 0.0], [2.0, 0.5]])));
        assert_eq!([&*lines[0], &*lines[1], &*lines[2]], ["  t", "", "      y"]);
        assert!(lines[3].starts_with("  1.0 ┤") && lines[3].ends_with('⠈'), "{}", lines[3]);
        assert!(lines[18].starts_with("    0 ┤⡀") && lines[18].ends_with('⢀'), "{}", lines[18]);
        assert!(lines[4..18].iter().all(|line| !line.contains(|c| ('\u{2801}'..'\u{2900}').contains(&c))), "{lines:?}");
        assert_eq!(lines[19], "      └┬────────┬─────────┬────────┬─────────┬────────┬");
        assert_eq!(lines[20], "       0       0.2       0.4      0.6       0.8      1.0");
        assert_eq!(lines[21].trim(), "x");
        assert_eq!(lines.len(), 22, "one series needs no legend");
    }

    #[test]
    fn lines_are_drawn_between_points_and_broken_by_gaps() {
        let middle = |points| lines(&chart().series(Series::line("s", points)))[10].clone();
        let whole = middle(vec![[0.0, 0.55], [1.0, 0.55]]);
        assert_eq!(whole.chars().filter(|c| ('\u{2801}'..'\u{2900}').contains(c)).count(), COLUMNS, "{whole}");
        let broken = middle(vec![[0.0, 0.55], [0.4, 0.55], [0.5, f64::NAN], [0.6, 0.55], [1.0, 0.55]]);
        assert!(broken.contains("⠉⠁    ") && broken.contains("    ⠈⠉"), "{broken}");
    }

    #[test]
    fn layers_are_told_apart() {
        let chart = chart()
            .band(Band::new("band", [0.0, 0.49, 0.53, 1.0].map(|x| [x, 0.4, 0.6]).to_vec()))
            .mark(Mark::pole(0.5, "pole"))
            .series(Series::dots("data", vec![[0.25, 0.5]]))
            .series(Series::line("fit", vec![[0.0, 0.5], [0.45, 0.5], [0.55, 0.5], [1.0, 0.5]]))
            .series(Series::new("ideal", Style::Reference, vec![[0.0, 0.0], [0.4, 0.4], [0.6, 0.6], [1.0, 1.0]]));
        let lines = lines(&chart);
        assert_eq!(lines.last().unwrap(), "  o data   ⠶ fit   · ideal   ░ band   ┊ pole");
        assert!(lines[11].contains("⠉o⠉") && lines[11].contains("⠉░░┊░⠉"), "data, fit, band, pole: {}", lines[11]);
        assert!(lines[10].contains('░') && lines[5].contains('·') && lines[5].contains('┊'), "{lines:?}");
    }

    #[test]
    fn rows_have_names() {
        let axis = Axis::names(["first", "東京"]);
        let chart = Chart::new("t", Axis::linear(""), axis)
            .series(Series::new("", Style::Bar, vec![[1.0, 0.0], [2.0, 0.0]]))
            .series(Series::new("", Style::Points, vec![[1.5, 0.0]]))
            .series(Series::dots("", vec![[1.0, 1.0]]));
        let lines = lines(&chart);
        assert!(lines[2].starts_with("  first ┤") && lines[2].contains("──o──"), "{lines:?}");
        assert!(lines[3].starts_with("   東京 ┤") && lines[3].contains('·'), "{lines:?}");
    }

    #[test]
    fn names_from_a_file_cannot_steer_the_terminal() {
        let evil = "\u{1b}[31m\n";
        let chart = Chart::new(evil, Axis::linear(evil), Axis::names([evil]));
        let chart = chart.series(Series::dots(evil, vec![[0.0, 0.0]])).mark(Mark::new(0.0, evil));
        assert!(!chart.text().contains('\u{1b}') && chart.text().lines().count() == 8, "{:?}", chart.text());
    }
}
