//! What a chart shows over its axes, as data: series, bands and vertical marks.

/// Points (x, y) with a name for the legend.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    pub(super) name: String,
    pub(super) points: Vec<[f64; 2]>,
    pub(super) style: Style,
    pub(super) color: Option<usize>,
}

/// How a series is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// A solid line: what the chart is about.
    Line,
    /// A thinner dashed line: what it is compared with.
    Dashed,
    /// A thinner line of dashes and dots: a second kind of comparison.
    DashDot,
    /// A thin dotted line without a colour of its own: the truth, an ideal.
    Reference,
    /// Small dots, one per point: data.
    Dots,
    /// Large dots: results.
    Points,
    /// Large open dots: results to compare with.
    Rings,
    /// A broad, pale line: an interval.
    Bar,
    /// A line as broad as a row of names: a share or a size.
    Column,
}

/// A filled range of y over x, such as a confidence band.
#[derive(Clone, Debug, PartialEq)]
pub struct Band {
    pub(super) name: String,
    pub(super) points: Vec<[f64; 3]>,
}

/// A vertical line at a place of the x axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Mark {
    pub(super) name: String,
    pub(super) x: f64,
    pub(super) is_pole: bool,
}

impl Series {
    /// A series in any style.
    pub fn new(name: impl Into<String>, style: Style, points: Vec<[f64; 2]>) -> Self {
        Self { name: name.into(), points, style, color: None }
    }

    /// A solid line.
    pub fn line(name: impl Into<String>, points: Vec<[f64; 2]>) -> Self {
        Self::new(name, Style::Line, points)
    }

    /// A small dot per point.
    pub fn dots(name: impl Into<String>, points: Vec<[f64; 2]>) -> Self {
        Self::new(name, Style::Dots, points)
    }

    /// With a colour of the page's fourteen, so that something has the same colour in several charts.
    #[must_use]
    pub fn color(mut self, color: usize) -> Self {
        self.color = Some(color);
        self
    }
}

impl Band {
    /// From (x, low, high) in the order of x.
    pub fn new(name: impl Into<String>, points: Vec<[f64; 3]>) -> Self {
        Self { name: name.into(), points }
    }
}

impl Mark {
    /// A place.
    pub fn new(x: f64, name: impl Into<String>) -> Self {
        Self { name: name.into(), x, is_pole: false }
    }

    /// A place where a function has no value; no line or band is drawn across it.
    pub fn pole(x: f64, name: impl Into<String>) -> Self {
        Self { is_pole: true, ..Self::new(x, name) }
    }
}
