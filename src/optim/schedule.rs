//! How the learning rate changes over training.

use crate::error::{Error, Result};
use crate::host::{self, number};
use crate::record;

/// A schedule: a linear warm-up over steps, then a shape over epochs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Schedule {
    /// Steps over which the rate rises linearly from 1/n of its value.
    pub warmup_steps: u64,
    /// The shape after the warm-up.
    pub shape: ScheduleShape,
}

record! { Schedule { warmup_steps, shape } }

/// Factor of the base rate. `OneCycle`, `Restarts` and `Stable` change it at every update, the others from epoch to epoch: their last epoch, number E - 1 of
/// E, is the last step of the fall, and a run of one epoch keeps its rate.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum ScheduleShape {
    /// 1 throughout.
    Constant,
    /// Times `factor` every `every` epochs.
    Step {
        /// Epochs between drops.
        every: usize,
        /// Factor of a drop.
        factor: f64,
    },
    /// (1 + cos(π e / E)) / 2 over E epochs (Loshchilov and Hutter 2017), down to `floor`.
    Cosine {
        /// Smallest factor.
        floor: f64,
    },
    /// Times `factor` after `patience` epochs without improvement.
    Plateau {
        /// Epochs without improvement before a drop.
        patience: usize,
        /// Factor of a drop.
        factor: f64,
    },
    /// Times `factor` every epoch.
    Exponential {
        /// Factor of an epoch.
        factor: f64,
    },
    /// (1 - e / E)^power over E epochs, down to `floor`.
    Polynomial {
        /// 1 for a straight line.
        power: f64,
        /// Smallest factor.
        floor: f64,
    },
    /// Half a cosine up over the first `rise` of the updates, then one down (Smith and Topin 2018).
    OneCycle {
        /// Share of the updates over which the rate rises.
        rise: f64,
        /// Factor at the start.
        first: f64,
        /// Factor at the end.
        last: f64,
    },
    /// Half a cosine down over `period` epochs, again and again, each `growth` times as long as the one before (Loshchilov and Hutter 2017).
    Restarts {
        /// Epochs of the first cosine.
        period: usize,
        /// By how much each is longer than the one before: 1 or more.
        growth: f64,
        /// Smallest factor.
        floor: f64,
    },
    /// 1, and over the last `decay` of the updates 1 - √x down to 0 (Hägele et al. 2024): with a warm-up, the schedule warm-up–stable–decay.
    Stable {
        /// Share of the updates over which the rate falls.
        decay: f64,
    },
}

record! { enum ScheduleShape {
    Constant, Step { every, factor }, Cosine { floor }, Plateau { patience, factor }, Exponential { factor }, Polynomial { power, floor },
    OneCycle { rise, first, last }, Restarts { period, growth, floor }, Stable { decay }
} }

/// An update of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moment {
    /// Number of the update, from 0.
    pub update: u64,
    /// Updates of an epoch.
    pub updates: u64,
    /// Epochs of the run.
    pub epochs: usize,
    /// Plateaus so far.
    pub drops: u32,
}

impl Schedule {
    /// The base rate throughout.
    pub const CONSTANT: Self = Self { warmup_steps: 0, shape: ScheduleShape::Constant };
    /// A half cosine, which would reach zero after the last epoch.
    pub const COSINE: Self = Self { warmup_steps: 0, shape: ScheduleShape::Cosine { floor: 0.0 } };

    /// Errors if a number of the shape is outside of its range, so that no rate is negative or not a number.
    pub fn check(&self) -> Result<()> {
        let share = |name, value: f64| (name, value, (0.0..=1.0).contains(&value), "a number from 0 to 1");
        let above = |name, value: f64, least: f64, text| (name, value, value.is_finite() && value >= least, text);
        let factor = |value| above("factor", value, 0.0, "a finite number of at least 0");
        let all = match self.shape {
            ScheduleShape::Constant => vec![],
            ScheduleShape::Step { factor: f, .. }
            | ScheduleShape::Plateau { factor: f, .. }
            | ScheduleShape::Exponential { factor: f } => vec![factor(f)],
            ScheduleShape::Cosine { floor } => vec![share("floor", floor)],
            ScheduleShape::Polynomial { power, floor } => {
                vec![above("power", power, 0.0, "a finite number of at least 0"), share("floor", floor)]
            }
            ScheduleShape::OneCycle { rise, first, last } => {
                vec![share("rise", rise), share("first", first), share("last", last)]
            }
            ScheduleShape::Restarts { growth, floor, .. } => {
                vec![above("growth", growth, 1.0, "a finite number of at least 1"), share("floor", floor)]
            }
            ScheduleShape::Stable { decay } => vec![share("decay", decay)],
        };
        match all.into_iter().find(|(_, _, is_fine, _)| !is_fine) {
            None => Ok(()),
            Some((name, got, _, expected)) => {
                Err(Error::usage(format!("schedule: {name}: got {}, expected {expected}", number(got))))
            }
        }
    }

    /// The factor of an update.
    pub fn factor(&self, at: Moment) -> f64 {
        let (epoch, epochs) = (at.update / at.updates.max(1), at.epochs.max(1) as f64);
        let share = epoch as f64 / epochs;
        let last = (at.updates as f64 * epochs - 1.0).max(1.0);
        let shape = match self.shape {
            ScheduleShape::Constant => 1.0,
            ScheduleShape::Step { every, factor } => host::pow(factor, (epoch / every.max(1) as u64) as f64),
            ScheduleShape::Cosine { floor } => between(1.0, floor, share),
            ScheduleShape::Plateau { factor, .. } => host::pow(factor, f64::from(at.drops)),
            ScheduleShape::Exponential { factor } => host::pow(factor, epoch as f64),
            ScheduleShape::Polynomial { power, floor } => {
                floor + (1.0 - floor) * host::pow((1.0 - share).max(0.0), power)
            }
            ScheduleShape::OneCycle { rise, first, last: end } => {
                let (update, top) = (at.update as f64, rise * (last + 1.0) - 1.0);
                // A rise of less than one update counts as no rise.
                if update <= top && top > 0.0 {
                    between(first, 1.0, update / top)
                } else {
                    between(1.0, end, (update - top) / (last - top))
                }
            }
            ScheduleShape::Restarts { period, growth, floor } => {
                let mut length = period.max(1) as f64;
                let mut since = at.update as f64 / at.updates.max(1) as f64;
                while since >= length {
                    since -= length;
                    length *= growth.max(1.0);
                }
                between(1.0, floor, since / length)
            }
            ScheduleShape::Stable { decay } => {
                let gone = (at.update as f64 / (last + 1.0) - (1.0 - decay)) / decay.max(f64::MIN_POSITIVE);
                if gone > 0.0 { 1.0 - gone.min(1.0).sqrt() } else { 1.0 }
            }
        };
        let warmup = self.warmup_steps;
        shape * if at.update < warmup { (at.update + 1) as f64 / warmup as f64 } else { 1.0 }
    }
}

/// Half a cosine from one factor to another; `share` is how much of it is over.
fn between(from: f64, to: f64, share: f64) -> f64 {
    to + (from - to) * 0.5 * (1.0 + host::cos(std::f64::consts::PI * share.clamp(0.0, 1.0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The factor of an update of 100, in ten epochs.
    fn factor(shape: ScheduleShape, update: u64) -> f64 {
        Schedule { warmup_steps: 0, shape }.factor(Moment { update, updates: 10, epochs: 10, drops: 0 })
    }

    #[test]
    fn factors_follow_their_formulas() {
        let near = |got: f64, wanted: f64| assert!((got - wanted).abs() < 1e-12, "got {got}, wanted {wanted}");
        let cosine = Schedule::COSINE.shape;
        near(factor(cosine, 0), 1.0);
        near(factor(cosine, 50), 0.5);
        near(factor(cosine, 59), 0.5);
        let step = Schedule { warmup_steps: 4, shape: ScheduleShape::Step { every: 10, factor: 0.1 } };
        let at = |update| Moment { update, updates: 4, epochs: 50, drops: 2 };
        near(step.factor(at(0)), 0.25);
        near(step.factor(at(100)), 0.01);
        let plateau = Schedule { warmup_steps: 0, shape: ScheduleShape::Plateau { patience: 3, factor: 0.5 } };
        near(plateau.factor(at(9)), 0.25);
        near(factor(ScheduleShape::Exponential { factor: 0.5 }, 39), 0.125);
        near(factor(ScheduleShape::Polynomial { power: 2.0, floor: 0.0 }, 75), 0.09);
        near(factor(ScheduleShape::Polynomial { power: 1.0, floor: 0.1 }, 50), 0.55);
    }

    /// Figures of torch 2.15: OneCycleLR(max_lr=1, total_steps=100) and CosineAnnealingWarmRestarts(T_0=2, T_mult=2) at update / 10.
    #[test]
    fn shapes_that_change_at_every_update_are_those_of_torch() {
        let cycle = ScheduleShape::OneCycle { rise: 0.3, first: 0.04, last: 4e-6 };
        let restarts = ScheduleShape::Restarts { period: 2, growth: 2.0, floor: 0.0 };
        for (shape, known) in [(cycle, CYCLE), (restarts, RESTARTS)] {
            for (update, wanted) in known {
                let got = factor(shape, update);
                assert!((got - wanted).abs() < 1e-9, "{shape:?} at {update}: got {got}, wanted {wanted}");
            }
        }
    }

    const CYCLE: [(u64, f64); 7] = [
        (0, 0.040000000000000036),
        (7, 0.17152216387689723),
        (29, 1.0),
        (30, 0.9994965352845243),
        (31, 0.9979871550490316),
        (64, 0.500002),
        (99, 4e-06),
    ];
    const RESTARTS: [(u64, f64); 7] = [
        (0, 1.0),
        (7, 0.7269952498697734),
        (19, 0.00615582970243117),
        (20, 1.0),
        (33, 0.7612492823579746),
        (59, 0.001541333133436018),
        (60, 1.0),
    ];

    #[test]
    fn a_stable_rate_falls_to_zero_at_the_end() {
        let stable = ScheduleShape::Stable { decay: 0.2 };
        assert_eq!([0, 50, 80].map(|update| factor(stable, update)), [1.0; 3]);
        assert!((factor(stable, 85) - 0.5).abs() < 1e-12);
        assert!(factor(stable, 99) < 0.03 && factor(stable, 99) > 0.0);
        // A run that goes on after its last update.
        let cycle = ScheduleShape::OneCycle { rise: 0.3, first: 0.04, last: 1e-3 };
        let polynomial = ScheduleShape::Polynomial { power: 0.5, floor: 0.0 };
        for shape in [stable, cycle, polynomial, Schedule::COSINE.shape] {
            assert!((0.0..=1.0).contains(&factor(shape, 1_000)), "{shape:?}");
        }
    }

    #[test]
    fn every_rate_is_a_number_however_few_updates_there_are() {
        let cycle = |rise| ScheduleShape::OneCycle { rise, first: 0.04, last: 4e-6 };
        let shapes = [cycle(0.0), cycle(0.1), cycle(0.5), cycle(1.0), ScheduleShape::Stable { decay: 0.0 }];
        for shape in shapes {
            let schedule = Schedule { warmup_steps: 2, shape };
            schedule.check().expect("in range");
            for (updates, epochs) in [(1, 1), (2, 1), (1, 4), (10, 1)] {
                for update in 0..updates * epochs as u64 {
                    let factor = schedule.factor(Moment { update, updates, epochs, drops: 0 });
                    assert!((0.0..=1.0).contains(&factor), "{shape:?}, {update} of {updates} in {epochs}: {factor}");
                }
            }
        }
    }

    #[test]
    fn numbers_out_of_range_are_refused() {
        let message = |shape| Schedule { warmup_steps: 0, shape }.check().expect_err("out of range").to_string();
        assert_eq!(
            message(ScheduleShape::Cosine { floor: -1.0 }),
            "schedule: floor: got -1, expected a number from 0 to 1"
        );
        assert_eq!(
            message(ScheduleShape::Exponential { factor: -1.0 }),
            "schedule: factor: got -1, expected a finite number of at least 0"
        );
        assert_eq!(
            message(ScheduleShape::Restarts { period: 2, growth: f64::NAN, floor: 0.0 }),
            "schedule: growth: got NaN, expected a finite number of at least 1"
        );
    }
}
