//! How a kernel that takes a whole batch splits it among workgroups. What is fastest depends on the GPU and its driver.

use std::fmt;

use crate::error::{Error, Result};

/// The split of a batch on a GPU. Its text is `16x64`, or `8x128-held`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize)]
pub struct Geometry {
    /// Rows of a workgroup: 4, 8, 16, 32 or 64.
    pub rows: u32,
    /// Invocations of a workgroup: 32, 64, 128 or 256.
    pub lanes: u32,
    /// Whether a workgroup keeps its intermediate results and a copy of the parameters in its own memory, where they fit.
    pub is_held: bool,
}

/// How the geometries of a device are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Geometries {
    /// One for every batch.
    Fixed(Geometry),
    /// The fastest of a few, once the training (`Trainer::choose_geometry`) has measured them or has read what was measured before. Until then, the default.
    Measured,
}

/// What ends the text of a geometry whose data are held.
const HELD: &str = "-held";

impl Geometry {
    /// What is used where nothing was measured: no GPU that was tried is slow with it.
    pub const DEFAULT: Self = Self { rows: 16, lanes: 64, is_held: false };

    /// From its text.
    pub fn parse(text: &str) -> Result<Self> {
        let sizes = text.strip_suffix(HELD).unwrap_or(text);
        let known = |size: &str, all: &[u32]| size.parse().ok().filter(|size| all.contains(size));
        let found = sizes.split_once('x').and_then(|(rows, lanes)| {
            let (rows, lanes) = (known(rows, &[4, 8, 16, 32, 64])?, known(lanes, &[32, 64, 128, 256])?);
            Some(Self { rows, lanes, is_held: text.ends_with(HELD) })
        });
        found.ok_or_else(|| {
            Error::usage(format!(
                "geometry: got \"{text}\", expected measured, default, or rows (4, 8, 16, 32, 64) and invocations (32, 64, 128, 256) of a workgroup, such as 8x128-held"
            ))
        })
    }
}

/// Batches from this many rows on have a geometry of their own.
pub const MANY_ROWS: usize = 1024;

/// The geometries of an open device: for batches of few rows, and of many.
#[derive(Clone, Copy)]
pub(super) struct Chosen([Option<Geometry>; 2]);

impl From<Geometries> for Chosen {
    fn from(how: Geometries) -> Self {
        match how {
            Geometries::Fixed(geometry) => Self([Some(geometry); 2]),
            Geometries::Measured => Self([None; 2]),
        }
    }
}

impl Chosen {
    pub(super) fn of(self, rows: usize) -> Option<Geometry> {
        self.0[usize::from(rows >= MANY_ROWS)]
    }

    pub(super) fn with(mut self, rows: usize, geometry: Option<Geometry>) -> Self {
        self.0[usize::from(rows >= MANY_ROWS)] = geometry;
        self
    }
}

impl fmt::Display for Geometry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { rows, lanes, is_held } = self;
        write!(f, "{rows}x{lanes}{}", if *is_held { HELD } else { "" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_read_back() {
        for text in ["16x64", "4x256", "8x128-held"] {
            assert_eq!(Geometry::parse(text).expect(text).to_string(), text);
        }
        for text in ["", "16", "16x", "5x64", "16x48", "16x64-", "16x64-held-held", "x64"] {
            let error = Geometry::parse(text).expect_err(text).to_string();
            assert!(error.starts_with("geometry: got \"") && error.contains("expected"), "{error}");
        }
    }
}
