//! Two kinds of picture as inline SVG: curves over two axes, and one row per method with its mean, interval and seeds.
//! Colours and fonts are classes of the page, so a picture follows its light and dark.

use super::harness::Axes;
use super::statistics::Estimate;

/// Width of a picture, in its own units; texts are 11 of them high, so a picture on a narrow phone stays legible.
const WIDTH: f64 = 400.0;
/// Height of a picture of curves.
const HEIGHT: f64 = 260.0;
/// Room left, right, above and below the plane.
const MARGINS: [f64; 4] = [46.0, 12.0, 10.0, 34.0];
/// Height of a row.
const ROW: f64 = 22.0;

/// A line in a picture: its class and its points; points that are not finite leave gaps.
pub(super) struct Line {
    pub class: String,
    pub points: Vec<[f64; 2]>,
}

/// A row in a picture: its name, class, interval and single values.
pub(super) struct Row {
    pub name: String,
    pub class: String,
    pub estimate: Estimate,
    pub values: Vec<f64>,
}

/// An axis: values to places.
struct Axis {
    low: f64,
    high: f64,
    is_log: bool,
    from: f64,
    to: f64,
}

impl Axis {
    fn over(values: impl Iterator<Item = f64>, is_log: bool, [from, to]: [f64; 2]) -> Option<Self> {
        let scaled = |value: f64| if is_log { value.log10() } else { value };
        let known = values.map(scaled).filter(|value| value.is_finite());
        let (low, high) = known.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(v), b.max(v)));
        if low > high {
            return None;
        }
        let (low, high) = if low == high { (low - 0.5, high + 0.5) } else { (low, high) };
        Some(Self { low, high, is_log, from, to })
    }

    fn place(&self, value: f64) -> Option<f64> {
        let value = if self.is_log { value.log10() } else { value };
        let share = (value - self.low) / (self.high - self.low);
        share.is_finite().then_some(self.from + share * (self.to - self.from))
    }

    /// Widens it by a share of itself on both sides, so that nothing lies on the frame.
    fn padded(mut self, share: f64) -> Self {
        let room = share * (self.high - self.low);
        self.low -= room;
        self.high += room;
        self
    }

    /// Round values inside, at most `most`, in their own units.
    fn ticks(&self, most: usize) -> Vec<f64> {
        let span = self.high - self.low;
        if self.is_log && span >= 1.5 {
            let step = (span / most as f64).ceil().max(1.0);
            let first = (self.low / step).ceil();
            let exponents = (0..=most).map(|at| (first + at as f64) * step).filter(|e| *e <= self.high + 1e-9);
            return exponents.map(|exponent| 10_f64.powf(exponent)).collect();
        }
        let [low, high] = [self.low, self.high].map(|end| if self.is_log { 10_f64.powf(end) } else { end });
        let rough = (high - low) / most as f64;
        let power = 10_f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].map(|step| step * power).into_iter().find(|step| *step >= rough);
        let step = step.unwrap_or(10.0 * power);
        let first = (low / step).ceil();
        let all = (0..=2 * most).map(|at| (first + at as f64) * step);
        all.filter(|tick| *tick <= high + 1e-9 * step)
            .map(|tick| if tick.abs() < 1e-9 * step { 0.0 } else { tick })
            .collect()
    }
}

/// Curves over two axes with ticks and names.
pub(super) fn curves(title: &str, [x_name, y_name]: [&str; 2], shape: Axes, lines: &[Line]) -> String {
    let [left, right, top, bottom] = MARGINS;
    let points = || lines.iter().flat_map(|line| &line.points);
    let x = Axis::over(points().map(|p| p[0]), shape.is_log_x, [left, WIDTH - right]);
    let y = Axis::over(points().map(|p| p[1]), shape.is_log_y, [HEIGHT - bottom, top]);
    let (Some(x), Some(y)) = (x, y) else { return String::new() };
    let y = y.padded(0.04);
    let mut svg = open(title, HEIGHT);
    for tick in y.ticks(5) {
        let Some(at) = y.place(tick) else { continue };
        svg += &format!("<path class=\"grid\" d=\"M{left} {at:.1}H{}\"/>", WIDTH - right);
        svg += &format!("<text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>", left - 5.0, at + 3.5, label(tick));
    }
    for tick in x.ticks(6) {
        let Some(at) = x.place(tick) else { continue };
        svg += &format!("<path class=\"grid\" d=\"M{at:.1} {top}V{}\"/>", HEIGHT - bottom);
        svg += &format!(
            "<text x=\"{at:.1}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
            HEIGHT - bottom + 14.0,
            label(tick)
        );
    }
    let middle = f64::midpoint(left, WIDTH - right);
    svg += &format!(
        "<text class=\"axis\" x=\"{middle}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
        HEIGHT - 4.0,
        escaped(x_name)
    );
    let middle = f64::midpoint(top, HEIGHT - bottom);
    svg += &format!(
        "<text class=\"axis\" transform=\"translate(10 {middle}) rotate(-90)\" text-anchor=\"middle\">{}</text>",
        escaped(y_name)
    );
    for line in lines {
        svg += &format!("<path class=\"line {}\" d=\"{}\"/>", line.class, path(&line.points, &x, &y));
    }
    svg + "</svg>"
}

fn path(points: &[[f64; 2]], x: &Axis, y: &Axis) -> String {
    let mut out = String::new();
    let mut is_down = false;
    for [a, b] in points {
        let (Some(a), Some(b)) = (x.place(*a), y.place(*b)) else {
            is_down = false;
            continue;
        };
        out += &format!("{}{a:.1} {b:.1}", if is_down { 'L' } else { 'M' });
        is_down = true;
    }
    out
}

/// One row per method: its seeds as small dots, its interval as a bar, its mean as a large dot. The axis is logarithmic where
/// all values are above 0 and span more than two decades.
pub(super) fn rows(title: &str, rows: &[Row]) -> String {
    let (left, right) = (104.0, 14.0);
    let height = ROW * rows.len() as f64 + 24.0;
    let values = || rows.iter().flat_map(|row| row.values.iter().copied().chain([row.estimate.low, row.estimate.high]));
    let (low, high) = values().fold((f64::INFINITY, 0.0_f64), |(a, b), v| (a.min(v), b.max(v)));
    let is_log = low > 0.0 && high / low > 100.0;
    let Some(axis) = Axis::over(values(), is_log, [left, WIDTH - right]) else { return String::new() };
    let axis = axis.padded(0.03);
    let mut svg = open(title, height);
    for tick in axis.ticks(5) {
        let Some(at) = axis.place(tick) else { continue };
        svg += &format!("<path class=\"grid\" d=\"M{at:.1} 2V{}\"/>", height - 20.0);
        svg += &format!("<text x=\"{at:.1}\" y=\"{}\" text-anchor=\"middle\">{}</text>", height - 7.0, label(tick));
    }
    for (number, row) in rows.iter().enumerate() {
        let y = ROW * (number as f64 + 0.5) + 2.0;
        svg += &format!(
            "<text class=\"name\" x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            left - 8.0,
            y + 4.0,
            escaped(&row.name)
        );
        let at = |value: f64| axis.place(value).unwrap_or(left);
        let Estimate { mean, low, high, .. } = row.estimate;
        for value in &row.values {
            svg += &format!("<circle class=\"dot {}\" cx=\"{:.1}\" cy=\"{y:.1}\" r=\"2\"/>", row.class, at(*value));
        }
        svg += &format!("<path class=\"bar {}\" d=\"M{:.1} {y:.1}H{:.1}\"/>", row.class, at(low), at(high));
        svg += &format!("<circle class=\"mean {}\" cx=\"{:.1}\" cy=\"{y:.1}\" r=\"4\"/>", row.class, at(mean));
    }
    svg + "</svg>"
}

fn open(title: &str, height: f64) -> String {
    let title = escaped(title);
    format!(
        "<svg viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-label=\"{title}\" xmlns=\"http://www.w3.org/2000/svg\">"
    )
}

/// A tick's value: plain where that is short, else a power of ten.
fn label(value: f64) -> String {
    let size = value.abs();
    if value == 0.0 {
        return "0".into();
    }
    if !(1e-3..1e5).contains(&size) {
        let exponent = size.log10().floor();
        let lead = value / 10_f64.powf(exponent);
        let power = format!("10<tspan dy=\"-4\" font-size=\"8\">{exponent}</tspan>");
        return if (lead - 1.0).abs() < 1e-9 { power } else { format!("{}·{power}", trimmed(lead)) };
    }
    trimmed(value)
}

/// Up to four decimals without trailing zeros.
fn trimmed(value: f64) -> String {
    let text = format!("{value:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Text as HTML.
pub(super) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_inside() {
        let axis = |low, high, is_log| Axis { low, high, is_log, from: 0.0, to: 1.0 };
        assert_eq!(axis(0.0, 1.0, false).ticks(5), [0.0, 0.2, 0.4, 0.6000000000000001, 0.8, 1.0]);
        assert_eq!(axis(-3.0, 0.0, true).ticks(5), [0.001, 0.01, 0.1, 1.0]);
        assert_eq!(
            [label(0.2), label(1e-6), label(2e6), label(0.0)].concat(),
            "0.210<tspan dy=\"-4\" font-size=\"8\">-6</tspan>2·10<tspan dy=\"-4\" font-size=\"8\">6</tspan>0"
        );
    }

    #[test]
    fn values_that_are_not_finite_leave_gaps() {
        let line = Line { class: "s0".into(), points: vec![[0.0, 1.0], [1.0, f64::NAN], [2.0, 3.0], [3.0, 2.0]] };
        let svg = curves("t", ["x", "y"], Axes::PLAIN, &[line]);
        let path = svg.split("class=\"line s0\" d=\"").nth(1).unwrap().split('"').next().unwrap();
        assert_eq!((path.matches('M').count(), path.matches('L').count()), (2, 1));
        assert!(!svg.contains("NaN"));
    }
}
