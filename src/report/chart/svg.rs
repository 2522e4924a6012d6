//! A chart as inline SVG. Colours, widths and dashes are classes of the page's style sheet, so a picture follows its light and dark.

use super::scale::Scale;
use super::{Band, Chart, Mark, Series, Style};
use crate::report::html::{element, escaped};
use crate::report::text::{short, width};

/// Width of a picture in its own units. Text is 11 units high, so it stays legible when the picture is as narrow as a phone.
const WIDTH: f64 = 400.0;
/// Height of the area of a chart of numbers, and of one name.
const HEIGHT: f64 = 216.0;
const ROW: f64 = 22.0;
/// Width of a letter, rounded up for the fonts that systems have.
const LETTER: f64 = 6.3;
/// The same in a name, which may have many wide letters.
const NAME_LETTER: f64 = 7.0;
/// Colours in the style sheet.
const COLORS: usize = 14;
/// Columns of the name of a mark.
const MARK: usize = 18;

/// The rectangle between the axes, and the scales.
struct Area {
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
    x: Scale,
    y: Scale,
}

impl Area {
    fn new(chart: &Chart) -> Option<Self> {
        let [x, y] = chart.scales()?;
        let widest = y.ticks.iter().map(|tick| width(&tick.label)).max().unwrap_or(0);
        let label = if chart.y.label.is_empty() { 0.0 } else { 16.0 };
        let letter = if chart.y.names.is_empty() { LETTER } else { NAME_LETTER };
        let left = label + letter * widest as f64 + 8.0;
        let top = if chart.marks.iter().any(|mark| !mark.name.is_empty()) { 20.0 } else { 8.0 };
        let height = if chart.y.names.is_empty() { HEIGHT } else { ROW * chart.y.names.len() as f64 };
        Some(Self { left, right: WIDTH - 14.0, top, bottom: top + height, x, y })
    }

    fn x(&self, value: f64) -> f64 {
        self.left + self.x.share(value) * (self.right - self.left)
    }

    fn y(&self, value: f64) -> f64 {
        self.bottom - self.y.share(value) * (self.bottom - self.top)
    }

    /// `12.3 45.6`.
    fn at(&self, [x, y]: [f64; 2]) -> String {
        format!("{:.1} {:.1}", self.x(x), self.y(y))
    }
}

impl Chart {
    /// An `svg` element for a [`crate::report::Page`], whose style sheet has the colours; empty without points.
    pub fn svg(&self) -> String {
        picture(self)
    }

    /// A `figure` element: title, picture, legend, note.
    pub fn html(&self) -> String {
        figure(self)
    }
}

/// The picture in a figure, with its title, its legend and its note.
fn figure(chart: &Chart) -> String {
    let picture = picture(chart);
    let picture = if picture.is_empty() { element("p class=\"note\"", "No values to draw.") } else { picture };
    let (title, note) = (element("figcaption", &chart.title), element("p class=\"note\"", &chart.note));
    format!("<figure>{title}{picture}{}{note}</figure>", legend(chart))
}

/// The picture alone.
fn picture(chart: &Chart) -> String {
    let Some(area) = Area::new(chart) else { return String::new() };
    let height = area.bottom + if chart.x.label.is_empty() { 20.0 } else { 34.0 };
    let title = escaped(&chart.title);
    let mut out = format!(
        "<svg class=\"chart\" viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-label=\"{title}\"><title>{title}</title>\
         <desc>{}</desc>",
        escaped(&description(chart, &area))
    );
    axes(&mut out, chart, &area);
    let Area { left, right, top, bottom, .. } = area;
    let (wide, high) = (right - left, bottom - top);
    // An inner picture cuts off what lies outside of it.
    out += &format!(
        "<svg x=\"{left:.1}\" y=\"{top}\" width=\"{wide:.1}\" height=\"{high}\" viewBox=\"{left:.1} {top} {wide:.1} {high}\">"
    );
    chart.bands.iter().for_each(|band| out += &filled(chart, band, &area));
    chart.marks.iter().filter(|mark| chart.x.holds(mark.x)).for_each(|mark| {
        out += &format!("<path class=\"mark\" d=\"M{:.1} {top}V{bottom}\"/>", area.x(mark.x));
    });
    // What the chart is about lies in front.
    let (front, others): (Vec<&Series>, Vec<&Series>) =
        chart.series.iter().partition(|series| series.style == Style::Line);
    others.into_iter().chain(front).for_each(|series| out += &drawn(chart, series, &area));
    out + "</svg></svg>"
}

/// What the picture shows, for those who cannot see it.
fn description(chart: &Chart, area: &Area) -> String {
    let axis = |label: &str, scale: &Scale| {
        let ends = scale.ticks.first().zip(scale.ticks.last());
        let ends = ends.map_or_else(String::new, |(low, high)| format!(" from {} to {}", low.label, high.label));
        format!("{label}{ends}")
    };
    let list = |names: Vec<&str>, before: &str| {
        let names: Vec<&str> = names.into_iter().filter(|name| !name.is_empty()).collect();
        if names.is_empty() { String::new() } else { format!("; {before}{}", names.join(", ")) }
    };
    let series = chart.legend().iter().map(|series| series.name.as_str()).collect();
    let marks = chart.marks.iter().map(|mark| mark.name.as_str()).collect();
    let (x, y) = (axis(&chart.x.label, &area.x), axis(&chart.y.label, &area.y));
    format!("{} over {}{}{}", y.trim_start(), x.trim_start(), list(series, ""), list(marks, "marked: "))
}

fn axes(out: &mut String, chart: &Chart, area: &Area) {
    let &Area { left, right, top, bottom, .. } = area;
    let name = if chart.y.names.is_empty() { "" } else { " class=\"name\"" };
    for tick in &area.y.ticks {
        let (at, label) = (area.y(tick.value), escaped(&tick.label));
        if chart.y.names.is_empty() {
            *out += &format!("<path class=\"grid\" d=\"M{left:.1} {at:.1}H{right}\"/>");
        }
        let (x, y) = (left - 6.0, at + 4.0);
        *out += &format!("<text{name} x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"end\">{label}</text>");
    }
    // A label that would touch the one before is left out.
    let mut free = 0.0;
    for tick in &area.x.ticks {
        let (at, label, y) = (area.x(tick.value), escaped(&tick.label), bottom + 14.0);
        *out += &format!("<path class=\"grid\" d=\"M{at:.1} {top}V{bottom}\"/>");
        let half = LETTER * width(&tick.label) as f64 / 2.0;
        if at - half > free {
            *out += &format!("<text x=\"{at:.1}\" y=\"{y}\" text-anchor=\"middle\">{label}</text>");
            free = at + half;
        }
    }
    let (x, y) = (escaped(&chart.x.label), escaped(&chart.y.label));
    let [across, up] = [f64::midpoint(left, right), f64::midpoint(top, bottom)];
    if !x.is_empty() {
        let below = bottom + 29.0;
        *out += &format!("<text class=\"name\" x=\"{across:.1}\" y=\"{below}\" text-anchor=\"middle\">{x}</text>");
    }
    if !y.is_empty() {
        let turned = format!("transform=\"translate(11 {up}) rotate(-90)\"");
        *out += &format!("<text class=\"name\" {turned} text-anchor=\"middle\">{y}</text>");
    }
    chart.marks.iter().for_each(|mark| *out += &mark_name(chart, mark, area));
}

fn mark_name(chart: &Chart, mark: &Mark, area: &Area) -> String {
    let is_inside = chart.x.holds(mark.x) && (0.0..=1.0).contains(&area.x.share(mark.x));
    if mark.name.is_empty() || !is_inside {
        return String::new();
    }
    let (name, y) = (short(&mark.name, MARK), area.top - 6.0);
    let half = LETTER * width(&name) as f64 / 2.0;
    let x = area.x(mark.x).clamp(half, (WIDTH - half).max(half));
    format!("<text x=\"{x:.1}\" y=\"{y}\" text-anchor=\"middle\">{}</text>", escaped(&name))
}

fn filled(chart: &Chart, band: &Band, area: &Area) -> String {
    let edge = |at: usize| band.points.iter().map(move |point| [point[0], point[at]]);
    let (low, high): (Vec<[f64; 2]>, Vec<[f64; 2]>) = (edge(1).collect(), edge(2).collect());
    let is_whole = |at: &usize| [low[*at], high[*at]].iter().all(|[x, y]| chart.x.holds(*x) && chart.y.holds(*y));
    let is_joined = |a: &usize, b: &usize| is_whole(a) && is_whole(b) && !chart.has_pole(low[*a][0], low[*b][0]);
    let places: Vec<usize> = (0..low.len()).collect();
    let mut d = String::new();
    for run in places.chunk_by(is_joined).filter(|run| is_whole(&run[0])) {
        let around = run.iter().map(|at| high[*at]).chain(run.iter().rev().map(|at| low[*at]));
        d += &format!("M{}Z", around.map(|point| area.at(point)).collect::<Vec<_>>().join("L"));
    }
    format!("<path class=\"band c0\" d=\"{d}\"/>")
}

fn drawn(chart: &Chart, series: &Series, area: &Area) -> String {
    let (class, name) = (class(series), element("title", &series.name));
    let runs = chart.runs(&series.points);
    let points = || runs.iter().flat_map(|run| run.iter());
    match series.style {
        Style::Points | Style::Rings => {
            let circle = |[x, y]: &[f64; 2]| {
                let (x, y) = (area.x(*x), area.y(*y));
                format!("<circle class=\"{class}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\">{name}</circle>")
            };
            points().map(circle).collect()
        }
        Style::Dots => {
            // One dot for all points in one place: a large data set stays a small file.
            let mut places: Vec<[i32; 2]> =
                points().map(|[x, y]| [(2.0 * area.x(*x)) as i32, (2.0 * area.y(*y)) as i32]).collect();
            places.sort_unstable();
            places.dedup();
            let dot = |[x, y]: &[i32; 2]| format!("M{} {}h0", f64::from(*x) / 2.0, f64::from(*y) / 2.0);
            let d: String = places.iter().map(dot).collect();
            format!("<path class=\"{class}\" d=\"{d}\">{name}</path>")
        }
        Style::Line | Style::Dashed | Style::DashDot | Style::Reference | Style::Bar | Style::Column => {
            let d: String = runs.iter().map(|run| path(run, area)).collect();
            format!("<path class=\"{class}\" d=\"{d}\">{name}</path>")
        }
    }
}

/// A run of points, those in one place once. A single point is a line of no length, which round ends make a dot.
fn path(run: &[[f64; 2]], area: &Area) -> String {
    let mut places: Vec<String> = run.iter().map(|point| area.at(*point)).collect();
    places.dedup();
    if places.len() == 1 { format!("M{}h0", places[0]) } else { format!("M{}", places.join("L")) }
}

fn legend(chart: &Chart) -> String {
    let entry = |sample: String, name: &str| {
        let svg = format!("<svg class=\"sample\" viewBox=\"0 0 28 10\" aria-hidden=\"true\">{sample}</svg>");
        format!("<li>{svg}{}</li>", escaped(name))
    };
    let sample = |series: &Series| {
        let class = class(series);
        match series.style {
            Style::Points | Style::Rings => format!("<circle class=\"{class}\" cx=\"14\" cy=\"5\" r=\"4\"/>"),
            Style::Dots => format!("<path class=\"{class}\" d=\"M8 5h0M14 5h0M20 5h0\"/>"),
            _ => format!("<path class=\"{class}\" d=\"M1 5H27\"/>"),
        }
    };
    let series = chart.legend().into_iter().map(|series| entry(sample(series), &series.name));
    let bands = chart.bands.iter().filter(|band| !band.name.is_empty());
    let bands = bands.map(|band| entry("<path class=\"band c0\" d=\"M1 0H27V10H1Z\"/>".into(), &band.name));
    let entries: String = series.chain(bands).collect();
    if entries.is_empty() { entries } else { format!("<ul class=\"legend\">{entries}</ul>") }
}

/// The classes of a series: how it is drawn, and in which colour.
fn class(series: &Series) -> String {
    let style = match series.style {
        Style::Line => "line",
        Style::Dashed => "line dashed",
        Style::DashDot => "line dash-dot",
        Style::Reference => return "line reference".into(),
        Style::Dots => "dots",
        Style::Points => "point",
        Style::Rings => "ring",
        Style::Bar => "bar",
        Style::Column => "column",
    };
    format!("{style} c{}", series.color.unwrap_or(0) % COLORS)
}

#[cfg(test)]
mod tests {
    use super::super::Axis;
    use super::*;

    fn chart(series: Series) -> Chart {
        Chart::new("t", Axis::linear("x"), Axis::linear("y")).series(series)
    }

    /// The `d` of the first element with these classes.
    fn path_of<'a>(svg: &'a str, class: &str) -> &'a str {
        let rest = svg.split(&format!("class=\"{class}\" d=\"")).nth(1).expect("an element of this class");
        rest.split('"').next().expect("an end")
    }

    #[test]
    fn gaps_break_lines() {
        let points = vec![[0.0, 1.0], [1.0, f64::NAN], [2.0, 3.0], [3.0, 2.0]];
        let svg = chart(Series::line("s", points)).svg();
        let path = path_of(&svg, "line c0");
        assert_eq!((path.matches('M').count(), path.matches('L').count(), path.matches("h0").count()), (2, 1, 1));
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
    }

    #[test]
    fn gaps_and_poles_part_a_band() {
        let band = vec![[0.0, 0.0, 1.0], [1.0, 0.0, f64::INFINITY], [2.0, 0.0, 1.0], [3.0, 0.0, 1.0]];
        let chart = chart(Series::line("s", vec![[0.0, 0.5]])).band(Band::new("b", band));
        assert_eq!(path_of(&chart.svg(), "band c0").matches('M').count(), 2);
        assert_eq!(path_of(&chart.mark(Mark::pole(2.5, "")).svg(), "band c0").matches('M').count(), 3);
    }

    #[test]
    fn dots_in_one_place_are_drawn_once_and_huge_values_stay_small() {
        let svg = chart(Series::dots("s", vec![[0.0, 1.0], [0.0, 1.0], [1.0, 2.0]])).svg();
        assert_eq!(path_of(&svg, "dots c0").matches('M').count(), 2);
        let y = Axis::linear("y").within(0.0, 1.0);
        let chart = Chart::new("t", Axis::linear("x"), y).series(Series::line("s", vec![[0.0, -1e300], [1.0, 1e300]]));
        let svg = chart.svg();
        assert!(path_of(&svg, "line c0").len() < 30, "{svg}");
    }

    #[test]
    fn every_text_is_escaped() {
        let evil = "<b>&\"'";
        let y = Axis::names([evil]);
        let chart = Chart::new(evil, Axis::linear(evil), y).note(evil).series(Series::line(evil, vec![[0.0, 0.0]]));
        let chart = chart.band(Band::new(evil, vec![[0.0, 0.0, 1.0]])).mark(Mark::new(0.0, evil));
        let html = Chart { y: Axis { label: evil.into(), ..chart.y.clone() }, ..chart }.html();
        assert!(!html.contains(evil) && !html.contains("<b>"), "{html}");
        // Caption, label, title, six in the description, three at the axes, mark, tooltip, two in the legend, note.
        assert_eq!(html.matches("&lt;b&gt;&amp;&quot;&#39;").count(), 17, "{html}");
    }

    #[test]
    fn one_series_needs_no_legend() {
        let one = chart(Series::line("a", vec![[0.0, 0.0]]));
        assert!(!one.html().contains("legend"));
        let two = one.series(Series::dots("b", vec![[1.0, 1.0]])).series(Series::line("b", vec![[2.0, 1.0]]));
        let html = two.html();
        assert_eq!((html.matches("<li>").count(), html.matches("class=\"line c2\"").count()), (2, 1));
        assert!(html.contains("<desc>y from 0 to 1.0 over x from 0 to 2.0; a, b</desc>"), "{html}");
    }
}
