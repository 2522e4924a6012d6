//! How long each command of a plan takes, measured by the device itself. Nothing of this runs unless a caller requests it.

/// When the commands of a plan ran, in several runs of it.
#[derive(Clone, Debug, Default)]
pub struct Timings {
    /// Commands of one run, copies included.
    pub commands: usize,
    /// Beginning and end of each command in milliseconds since the first, run by run. They do not overlap: a command that runs at the same time as
    /// the one before counts from that one's end.
    pub spans: Vec<[f64; 2]>,
    /// When the first submit began and when the device was done, in milliseconds of the host's clock.
    pub wall: [f64; 2],
}

impl Timings {
    /// From beginnings and ends in any unit and from any origin.
    pub(super) fn new(commands: usize, wall: [f64; 2], mut spans: Vec<[f64; 2]>) -> Self {
        let origin = spans.first().map_or(0.0, |[start, _]| *start);
        let mut last = 0.0_f64;
        for [start, end] in &mut spans {
            *start = (*start - origin).max(last);
            *end = (*end - origin).max(*start);
            last = *end;
        }
        Self { commands, spans, wall }
    }

    /// Milliseconds from the first submit until the device was done.
    pub fn wall_ms(&self) -> f64 {
        self.wall[1] - self.wall[0]
    }

    /// Runs of the plan.
    pub fn runs(&self) -> usize {
        self.spans.len() / self.commands.max(1)
    }

    /// Milliseconds that each command took, as a mean over the runs.
    pub fn means(&self) -> Vec<f64> {
        let mut sums = vec![0.0; self.commands];
        for run in self.spans.chunks(self.commands.max(1)) {
            sums.iter_mut().zip(run).for_each(|(sum, [start, end])| *sum += end - start);
        }
        sums.iter().map(|sum| sum / self.runs().max(1) as f64).collect()
    }

    /// With the timings of later runs of the same plan. The time in between is part of `wall`, but not of the spans.
    pub fn extend(&mut self, later: &Self) {
        let end = self.spans.last().map_or(0.0, |[_, end]| *end);
        self.spans.extend(later.spans.iter().map(|span| span.map(|time| end + time)));
        self.wall = [if self.commands == 0 { later.wall[0] } else { self.wall[0] }, later.wall[1]];
        self.commands = later.commands;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_follow_each_other_from_zero() {
        let mut timings = Timings::new(2, [1.0, 10.0], vec![[5.0, 6.0], [5.5, 7.0], [7.5, 7.25], [8.0, 10.0]]);
        assert_eq!(timings.spans, [[0.0, 1.0], [1.0, 2.0], [2.5, 2.5], [3.0, 5.0]]);
        assert_eq!((timings.runs(), timings.means()), (2, vec![0.5, 1.5]));
        timings.extend(&Timings::new(2, [11.0, 12.0], vec![[1.0, 2.0], [2.0, 4.0]]));
        assert_eq!((timings.runs(), timings.spans[5], timings.wall_ms()), (3, [6.0, 8.0], 11.0));
        assert_eq!(Timings::default().means(), Vec::<f64>::new());
    }
}
