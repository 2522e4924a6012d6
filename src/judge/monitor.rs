//! Counts of strictly decoded values over a stream: rates over all of them and over windows, in constant memory.

use serde::Serialize;

use crate::error::{Error, Result};
use crate::kernels::strict::Decoded;

/// Shares of decoded values.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Rates {
    /// Number of values.
    pub values: usize,
    /// Decoded to a number; 1 - `bottom`.
    pub given: f64,
    /// Decoded in the gap near a pole.
    pub gap: f64,
    /// ⊥.
    pub bottom: f64,
    /// ⊥ because something was not finite.
    pub fault: f64,
    /// ⊥ because the pair is too near a pole; some may also be a fault.
    pub semantic: f64,
}

/// The counts behind the rates.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    values: usize,
    gap: usize,
    bottom: usize,
    fault: usize,
    semantic: usize,
}

/// Rates of all values so far, and how the share of numbers changes between windows.
#[derive(Clone, Debug, Default)]
pub struct Monitor {
    counts: Counts,
    stretches: usize,
    last_given: Option<f64>,
    least_given: f64,
    largest_drift: f64,
}

/// The statistics of a monitor.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct MonitorState {
    /// Rates of all values.
    pub rates: Rates,
    /// Number of windows.
    pub stretches: usize,
    /// The smallest share of numbers in a window.
    pub least_given: f64,
    /// The largest change of that share between consecutive windows.
    pub largest_drift: f64,
}

impl Counts {
    fn of(decoded: &Decoded, range: std::ops::Range<usize>) -> Self {
        let mut counts = Self { values: range.len(), ..Self::default() };
        for at in range {
            let code = decoded.provenance[at];
            counts.bottom += usize::from(code != 0);
            counts.fault += usize::from(code & 1 != 0);
            counts.semantic += usize::from(code & 2 != 0);
            counts.gap += usize::from(decoded.gap[at]);
        }
        counts
    }

    fn add(&mut self, other: Self) {
        self.values += other.values;
        self.gap += other.gap;
        self.bottom += other.bottom;
        self.fault += other.fault;
        self.semantic += other.semantic;
    }

    fn rates(self) -> Result<Rates> {
        if self.values == 0 {
            return Err(Error::new("rates: there are no values, so there is no share of them"));
        }
        let share = |count: usize| count as f64 / self.values as f64;
        Ok(Rates {
            values: self.values,
            given: share(self.values - self.bottom),
            gap: share(self.gap),
            bottom: share(self.bottom),
            fault: share(self.fault),
            semantic: share(self.semantic),
        })
    }
}

impl Monitor {
    /// Adds decoded values in windows of `stretch`; the last one may be shorter. Returns the rates of these values alone.
    ///
    /// Errors if there are no values.
    pub fn watch(&mut self, decoded: &Decoded, stretch: usize) -> Result<Rates> {
        let total = decoded.value.len();
        let mut counts = Counts::default();
        for first in (0..total).step_by(stretch.max(1)) {
            let part = Counts::of(decoded, first..total.min(first + stretch.max(1)));
            self.follow(part.rates()?.given);
            counts.add(part);
        }
        let rates = counts.rates()?;
        self.counts.add(counts);
        Ok(rates)
    }

    /// The statistics so far. Errors before the first value.
    pub fn seen(&self) -> Result<MonitorState> {
        let rates = self.counts.rates()?;
        let Self { stretches, least_given, largest_drift, .. } = *self;
        Ok(MonitorState { rates, stretches, least_given, largest_drift })
    }

    fn follow(&mut self, given: f64) {
        self.least_given = if self.stretches == 0 { given } else { self.least_given.min(given) };
        if let Some(last) = self.last_given {
            self.largest_drift = self.largest_drift.max((given - last).abs());
        }
        self.last_given = Some(given);
        self.stretches += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(codes: &[u8], gaps: &[bool]) -> Decoded {
        Decoded { value: vec![0.0; codes.len()], provenance: codes.to_vec(), gap: gaps.to_vec() }
    }

    #[test]
    fn rates_are_shares_of_all_values() {
        let mut monitor = Monitor::default();
        let few = decoded(&[0, 1, 2, 3, 0, 0, 0, 0], &[true, false, false, false, false, true, false, false]);
        let rates = monitor.watch(&few, 4).unwrap();
        let expected = Rates { values: 8, given: 0.625, gap: 0.25, bottom: 0.375, fault: 0.25, semantic: 0.25 };
        assert_eq!(rates, expected);
        let seen = monitor.seen().unwrap();
        assert_eq!(seen, MonitorState { rates, stretches: 2, least_given: 0.25, largest_drift: 0.75 });
        monitor.watch(&decoded(&[2; 8], &[false; 8]), 8).unwrap();
        let seen = monitor.seen().unwrap();
        assert_eq!((seen.rates.given, seen.stretches, seen.least_given, seen.largest_drift), (0.3125, 3, 0.0, 1.0));
    }

    #[test]
    fn of_nothing_there_are_no_rates() {
        let expected = "rates: there are no values, so there is no share of them";
        let mut monitor = Monitor::default();
        assert_eq!(monitor.seen().unwrap_err().to_string(), expected);
        assert_eq!(monitor.watch(&Decoded::default(), 4).unwrap_err().to_string(), expected);
    }
}
