//! A chart as data: axes, series, bands, vertical marks. `text.rs` draws it for a terminal, `svg.rs` for a page, both on the same scales.

mod axis;
mod bars;
mod scale;
mod series;
mod svg;
mod text;

pub use axis::Axis;
pub use bars::bars;
pub use series::{Band, Mark, Series, Style};

use scale::Scale;

/// Series over two axes. A point with a coordinate that is not finite, or not positive on a logarithmic axis, is a gap.
#[derive(Clone, Debug, PartialEq)]
pub struct Chart {
    title: String,
    note: String,
    x: Axis,
    y: Axis,
    bands: Vec<Band>,
    series: Vec<Series>,
    marks: Vec<Mark>,
}

impl Chart {
    /// Without content.
    pub fn new(title: impl Into<String>, x: Axis, y: Axis) -> Self {
        let (bands, series, marks) = (Vec::new(), Vec::new(), Vec::new());
        Self { title: title.into(), note: String::new(), x, y, bands, series, marks }
    }

    /// With a text below that says how to read it.
    #[must_use]
    pub fn note(mut self, text: impl Into<String>) -> Self {
        self.note = text.into();
        self
    }

    /// With one more series, in front of those before it. Its colour is its place among the series, unless set.
    #[must_use]
    pub fn series(mut self, series: Series) -> Self {
        let place = self.series.len();
        self.series.push(Series { color: series.color.or(Some(place)), ..series });
        self
    }

    /// With one more band, behind all series.
    #[must_use]
    pub fn band(mut self, band: Band) -> Self {
        self.bands.push(band);
        self
    }

    /// With one more vertical mark, behind all series.
    #[must_use]
    pub fn mark(mut self, mark: Mark) -> Self {
        self.marks.push(mark);
        self
    }

    /// Whether no series or band has a point that can be drawn.
    pub fn is_empty(&self) -> bool {
        self.scales().is_none()
    }

    /// The scales of both axes.
    fn scales(&self) -> Option<[Scale; 2]> {
        let places = || {
            let points = self.series.iter().flat_map(|series| &series.points).copied();
            let bands = self.bands.iter().flat_map(|band| &band.points);
            let both = points.chain(bands.flat_map(|&[x, low, high]| [[x, low], [x, high]]));
            both.filter(|[x, y]| self.x.holds(*x) && self.y.holds(*y))
        };
        let marks = self.marks.iter().map(|mark| mark.x).filter(|x| self.x.holds(*x));
        let has_places = places().next().is_some();
        let x = Scale::across(&self.x, places().map(|place| place[0]).chain(marks), self.is_dotted());
        let y = Scale::up(&self.y, places().map(|place| place[1]));
        has_places.then_some([x?, y?])
    }

    /// Whether some points would lie on the frame without room around them.
    fn is_dotted(&self) -> bool {
        self.series.iter().any(|series| matches!(series.style, Style::Dots | Style::Points | Style::Rings))
    }

    /// Runs of points without a gap in between; no run crosses a pole.
    fn runs<'a>(&'a self, points: &'a [[f64; 2]]) -> Vec<&'a [[f64; 2]]> {
        let is_point = |[x, y]: &[f64; 2]| self.x.holds(*x) && self.y.holds(*y);
        let runs = points.chunk_by(|a, b| is_point(a) && is_point(b) && !self.has_pole(a[0], b[0]));
        runs.filter(|run| is_point(&run[0])).collect()
    }

    /// Whether a pole lies between two places of the x axis.
    fn has_pole(&self, a: f64, b: f64) -> bool {
        let mut poles = self.marks.iter().filter(|mark| mark.is_pole);
        poles.any(|pole| (a.min(b)..=a.max(b)).contains(&pole.x))
    }

    /// The entries of the legend: none if the title says it all.
    fn legend(&self) -> Vec<&Series> {
        let mut named: Vec<&Series> = Vec::new();
        for series in self.series.iter().filter(|series| !series.name.is_empty()) {
            if named.iter().all(|known| known.name != series.name) {
                named.push(series);
            }
        }
        if named.len() + self.bands.len() > 1 { named } else { Vec::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(points: Vec<[f64; 2]>) -> Chart {
        Chart::new("t", Axis::linear("x"), Axis::log("y")).series(Series::line("s", points))
    }

    #[test]
    fn gaps_and_poles_break_a_line() {
        let points = [[0.0, 1.0], [1.0, f64::NAN], [2.0, 3.0], [3.0, 2.0], [4.0, 0.0], [5.0, 1.0], [6.0, 1.0]];
        let lengths = |chart: &Chart| chart.runs(&points).iter().map(|run| run.len()).collect::<Vec<_>>();
        assert_eq!(lengths(&chart(Vec::new())), [1, 2, 2]);
        assert_eq!(lengths(&chart(Vec::new()).mark(Mark::new(5.5, "stop"))), [1, 2, 2]);
        assert_eq!(lengths(&chart(Vec::new()).mark(Mark::pole(5.5, "pole"))), [1, 2, 1, 1]);
    }

    #[test]
    fn points_without_a_place_do_not_widen_a_range() {
        let [x, y] = chart(vec![[0.0, 1.0], [9.0, -1.0], [99.0, f64::INFINITY], [1.0, 10.0]]).scales().unwrap();
        assert_eq!((x.share(0.0), x.share(1.0)), (0.0, 1.0));
        assert!(y.share(10.0) < 1.0 && y.share(10.0) > 0.9);
    }

    #[test]
    fn nothing_to_draw_is_empty() {
        for points in [vec![], vec![[0.0, -1.0]], vec![[f64::NAN, 1.0]]] {
            let chart = chart(points).mark(Mark::new(0.0, "here"));
            assert!(chart.is_empty() && chart.svg().is_empty());
            assert!(chart.text().ends_with("no values to draw") && chart.html().contains("No values to draw"));
        }
    }
}
