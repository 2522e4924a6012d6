//! From values to places on an axis, and the ticks: once for every renderer.

use super::axis::Axis;
use crate::report::number::{count, power, scientific, with_minus};
use crate::report::text::short;

/// Ticks of the horizontal and of the vertical axis, at most.
const MOST: [usize; 2] = [6, 6];
/// Room between the data and the frame, as a share of the range.
const ROOM: f64 = 0.04;
/// Columns of a name on an axis.
const NAME: usize = 24;

/// An axis over its data.
#[derive(Clone, Debug)]
pub(super) struct Scale {
    /// In units of the axis: logarithms of values if it is logarithmic.
    low: f64,
    high: f64,
    is_log: bool,
    pub(super) ticks: Vec<Tick>,
}

/// A value with its label.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tick {
    pub value: f64,
    pub label: String,
}

impl Scale {
    /// A horizontal axis over values that it holds; absent without values.
    pub(super) fn across(axis: &Axis, values: impl Iterator<Item = f64>, has_room: bool) -> Option<Self> {
        let room = if has_room { ROOM } else { 0.0 };
        if axis.names.is_empty() { Self::of(axis, values, room, MOST[0]) } else { Some(Self::named(axis, false)) }
    }

    /// A vertical one; names run from the top.
    pub(super) fn up(axis: &Axis, values: impl Iterator<Item = f64>) -> Option<Self> {
        if axis.names.is_empty() { Self::of(axis, values, ROOM, MOST[1]) } else { Some(Self::named(axis, true)) }
    }

    fn named(axis: &Axis, is_down: bool) -> Self {
        let (first, last) = (-0.5, axis.names.len() as f64 - 0.5);
        let [low, high] = if is_down { [last, first] } else { [first, last] };
        let tick = |(at, name): (usize, &String)| Tick { value: at as f64, label: short(name, NAME) };
        Self { low, high, is_log: false, ticks: axis.names.iter().enumerate().map(tick).collect() }
    }

    fn of(axis: &Axis, values: impl Iterator<Item = f64>, room: f64, most: usize) -> Option<Self> {
        let is_log = axis.is_log;
        let [low, high] = match axis.range {
            Some(range) => range.map(|end| if is_log { end.log10() } else { end }),
            None => widened(values.map(|value| if is_log { value.log10() } else { value }), is_log, room)?,
        };
        let bare = Self { low, high, is_log, ticks: Vec::new() };
        // In a range of few floats a round value may lie outside; a power of ten below the smallest number is 0.
        let is_inside = |tick: &Tick| (-1e-6..=1.0 + 1e-6).contains(&bare.share(tick.value));
        let ticks = ticks([low, high], is_log, most).into_iter().filter(is_inside).collect();
        Some(Self { ticks, ..bare })
    }

    /// Where a value lies: 0 at the low end, 1 at the high end, beyond them outside. Far outside is as far as ten ranges.
    pub(super) fn share(&self, value: f64) -> f64 {
        let value = if self.is_log { value.log10() } else { value };
        // Halves, because the difference of two large numbers may be infinite.
        let share = (value / 2.0 - self.low / 2.0) / (self.high / 2.0 - self.low / 2.0);
        share.clamp(-10.0, 11.0)
    }
}

/// The range of the values with room around it. A single value gets a range of its own size.
fn widened(values: impl Iterator<Item = f64>, is_log: bool, room: f64) -> Option<[f64; 2]> {
    let [low, high] = values.fold([f64::INFINITY, f64::NEG_INFINITY], |[a, b], v| [a.min(v), b.max(v)]);
    if low > high {
        return None;
    }
    if low == high {
        let half = if is_log || low == 0.0 { 0.5 } else { low.abs() / 2.0 };
        return Some([low - half, high + half].map(within_numbers));
    }
    let room = room * (high - low).min(f64::MAX);
    Some([low - room, high + room].map(within_numbers))
}

fn within_numbers(value: f64) -> f64 {
    value.clamp(f64::MIN, f64::MAX)
}

/// Round values inside the range: powers of ten on a logarithmic axis of more than one and a half decades, else multiples of 1, 2 or 5
/// times a power of ten.
fn ticks([low, high]: [f64; 2], is_log: bool, most: usize) -> Vec<Tick> {
    if is_log && high - low >= 1.5 {
        return decades([low, high], most);
    }
    let [low, high] = if is_log { [low, high].map(|end| 10_f64.powf(end)) } else { [low, high] };
    let size = 10_f64.powf((high / most as f64 - low / most as f64).log10().floor());
    let ends = |step: f64| [(low / step - 1e-9).ceil(), (high / step + 1e-9).floor()];
    let is_sparse = |step: &f64| ends(*step)[1] - ends(*step)[0] < most as f64;
    let Some(step) = [1.0, 2.0, 5.0, 10.0].map(|step| step * size).into_iter().find(is_sparse) else {
        return Vec::new();
    };
    let [first, last] = ends(step);
    let all = (0..most).map(|at| first + at as f64).take_while(|at| *at <= last).map(|at| at * step);
    let values: Vec<f64> = all.map(|tick| if tick.abs() < 1e-9 * step { 0.0 } else { tick }).collect();
    let mut ticks: Vec<Tick> = values.iter().map(|&value| Tick { value, label: label(value, step, &values) }).collect();
    // A range of few floats has fewer round values than steps.
    ticks.dedup_by(|a, b| a.label == b.label);
    ticks
}

fn decades([low, high]: [f64; 2], most: usize) -> Vec<Tick> {
    let ends = |step: f64| [(low / step - 1e-9).ceil(), (high / step + 1e-9).floor()];
    // Fewer than 640 decades hold every number.
    let step = (1..640).map(f64::from).find(|step| ends(*step)[1] - ends(*step)[0] < most as f64).unwrap_or(640.0);
    let [first, last] = ends(step);
    let all = (0..most).map(|at| first + at as f64).take_while(|at| *at <= last).map(|at| at * step);
    let exponents: Vec<i32> = all.map(|exponent| exponent as i32).collect();
    let is_plain = exponents.iter().all(|exponent| (-3..=4).contains(exponent));
    let tick = |&exponent: &i32| {
        let label = match exponent {
            0 => "1".into(),
            1 => "10".into(),
            2..=4 if is_plain => count(10_u64.pow(exponent.unsigned_abs())),
            -3..=-1 if is_plain => format!("{:.*}", exponent.unsigned_abs() as usize, 10_f64.powi(exponent)),
            _ => power(exponent),
        };
        Tick { value: 10_f64.powi(exponent), label }
    };
    exponents.iter().map(tick).collect()
}

/// A tick with as many digits as tell it from the next; all ticks of an axis are written in the same way.
fn label(value: f64, step: f64, all: &[f64]) -> String {
    let size = all.iter().fold(0.0_f64, |size, value| size.max(value.abs()));
    let decade = |value: f64| value.log10().floor() as i32;
    // A step of 0.1 may be a little less.
    let finest = decade(step * (1.0 + 1e-9));
    if value == 0.0 {
        return "0".into();
    }
    if (1e-3..1e6).contains(&size) {
        let text = format!("{:.*}", (-finest).clamp(0, 15) as usize, value.abs());
        let (whole, decimals) = text.split_once('.').unwrap_or((&text, ""));
        let whole = whole.parse().map_or_else(|_| whole.to_owned(), count);
        let sign = if value < 0.0 { "−" } else { "" };
        let point = if decimals.is_empty() { "" } else { "." };
        return with_minus(&format!("{sign}{whole}{point}{decimals}"));
    }
    scientific(value, (decade(value.abs() * (1.0 + 1e-9)) - finest).clamp(0, 15) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(axis: &Axis, values: &[f64]) -> String {
        let scale = Scale::up(axis, values.iter().copied()).expect("a scale");
        assert!(scale.ticks.iter().all(|tick| (-1e-6..=1.0 + 1e-6).contains(&scale.share(tick.value))), "{scale:?}");
        scale.ticks.iter().map(|tick| tick.label.as_str()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn ticks_are_round_and_inside() {
        let cases: [(&[f64], &str); 9] = [
            (&[0.0, 1.0], "0 0.2 0.4 0.6 0.8 1.0"),
            (&[-6.897, 9.24], "−5 0 5"),
            (&[-3.0, 12_000.0], "0 5,000 10,000"),
            (&[0.0, 3e-6], "0 1·10⁻⁶ 2·10⁻⁶ 3·10⁻⁶"),
            (&[1e9, 1e9 + 4.0], "1.000000000·10⁹ 1.000000001·10⁹ 1.000000002·10⁹ 1.000000003·10⁹ 1.000000004·10⁹"),
            (&[3.0, 3.0], "2 3 4"),
            (&[0.0], "−0.4 −0.2 0 0.2 0.4"),
            (&[-1.7e308, 1.7e308], "−1·10³⁰⁸ 0 1·10³⁰⁸"),
            (&[1.0, 1.0 + f64::EPSILON], ""),
        ];
        for (values, expected) in cases {
            assert_eq!(labels(&Axis::linear("v"), values), expected, "{values:?}");
        }
    }

    #[test]
    fn logarithmic_axes_have_powers_of_ten() {
        let cases: [(&[f64], &str); 6] = [
            (&[1e-3, 1.0], "0.001 0.01 0.1 1"),
            (&[1e-9, 1.0], "10⁻⁸ 10⁻⁶ 10⁻⁴ 10⁻² 1"),
            (&[1.0, 1e4], "1 10 100 1,000 10,000"),
            (&[0.5, 4.0], "1 2 3 4"),
            (&[7.0], "5 10 15 20"),
            (&[5e-324, 1e308], "10⁻²²⁴ 10⁻¹¹² 1 10¹¹² 10²²⁴"),
        ];
        for (values, expected) in cases {
            assert_eq!(labels(&Axis::log("v"), values), expected, "{values:?}");
        }
    }

    #[test]
    fn fixed_ends_hold_unless_they_are_no_range() {
        assert_eq!(labels(&Axis::linear("v").within(0.0, 10.0), &[1e9]), "0 2 4 6 8 10");
        for [low, high] in [[1.0, 1.0], [2.0, 1.0], [f64::NAN, 1.0], [0.0, f64::INFINITY]] {
            assert_eq!(Axis::linear("v").within(low, high), Axis::linear("v"));
        }
        assert_eq!(Axis::log("v").within(0.0, 1.0), Axis::log("v"));
        assert!(Scale::up(&Axis::linear("v"), [].into_iter()).is_none());
    }

    #[test]
    fn names_run_from_the_top_or_from_the_left() {
        let axis = Axis::names(["a", "b"]);
        assert_eq!(labels(&axis, &[]), "a b");
        let [up, across] =
            [Scale::up(&axis, [].into_iter()), Scale::across(&axis, [].into_iter(), true)].map(Option::unwrap);
        assert_eq!([up.share(0.0), up.share(1.0)], [0.75, 0.25]);
        assert_eq!([across.share(0.0), across.share(1.0)], [0.25, 0.75]);
    }
}
