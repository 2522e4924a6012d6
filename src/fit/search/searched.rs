//! Where a fit was searched: on the CPU, or on a device before.

/// Where and in which precision the minimum was searched. The last digits are always found in double precision on the CPU.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Searched {
    /// The device that searched.
    pub device: String,
    /// Whether it searched in single precision.
    pub is_single: bool,
    /// Why in this precision.
    pub reason: String,
    /// Evaluations of the model over all rows on that device, which those of the fit do not count.
    pub evaluations: usize,
}

impl Default for Searched {
    fn default() -> Self {
        let reason = "the cpu searches in double precision".to_owned();
        Self { device: "cpu".to_owned(), is_single: false, reason, evaluations: 0 }
    }
}

impl Searched {
    /// The precision of the search, and of the last digits if it is another.
    pub fn precision(&self) -> &'static str {
        if self.is_single { "f32, then f64" } else { "f64" }
    }
}

/// What a search on a device led to.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Approach {
    pub searched: Searched,
    /// Where it ended; `None` if it did not take place.
    pub x: Option<Vec<f64>>,
}
