//! How the learning rate changes over training: a warm-up, then a shape. The shapes, one file each; to add one: a file with a record of its numbers that
//! implements `ShapeKind` and `NamedShape`, and its word in the list here.

mod constant;
mod kind;

pub use kind::{Moment, NamedShape, ShapeKind};

use crate::error::Result;
use crate::record;
use constant::Constant;

/// A schedule: a linear warm-up over steps, then a shape over epochs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Schedule {
    /// Steps over which the rate rises linearly from 1/n of its value.
    pub warmup_steps: u64,
    /// The shape after the warm-up.
    pub shape: ScheduleShape,
}

record! { Schedule { warmup_steps, shape } }

/// A shape as an option names it: its name, its description in one line, and the shape in a run of so many epochs.
pub type Named = (&'static str, &'static str, fn(usize) -> ScheduleShape);

macro_rules! shapes {
    ($($(#[$doc:meta])* $name:ident($file:ident);)+) => {
        $(mod $file;
        pub use $file::$name;)+

        /// Factor of the base rate. `OneCycle`, `Restarts`, `InverseRoot` and `Stable` change it at every update, the others from epoch to epoch: their last epoch,
        /// number E - 1 of E, is the last step of the fall, and a run of one epoch keeps its rate.
        #[derive(Clone, Copy, Debug, PartialEq)]
        #[non_exhaustive]
        pub enum ScheduleShape {
            /// 1 throughout.
            Constant,
            $($(#[$doc])* $name($name),)+
        }

        record! { enum ScheduleShape { Constant, $($name(_)),+ } }

        /// Every shape that an option can name.
        pub static SHAPES: &[Named] = &[
            (Constant::NAME, Constant::DOC, |_| ScheduleShape::Constant),
            $(($name::NAME, $name::DOC, |epochs| ScheduleShape::$name($name::standard(epochs))),)+
        ];

        impl ScheduleShape {
            /// Everything about it.
            pub fn as_kind(&self) -> &dyn ShapeKind {
                match self {
                    Self::Constant => &Constant,
                    $(Self::$name(record) => record,)+
                }
            }
        }
    };
}

shapes! {
    /// Half a cosine.
    Cosine(cosine);
    /// Drops at fixed epochs.
    Step(step);
    /// Drops when the validation rows get no better.
    Plateau(plateau);
    /// The same share less after each epoch.
    Exponential(exponential);
    /// A power of the share of epochs that is left.
    Polynomial(polynomial);
    /// Up and down once.
    OneCycle(one_cycle);
    /// Cosines again and again.
    Restarts(restarts);
    /// One over the root of the epochs.
    InverseRoot(inverse_root);
    /// 1, and down at the end.
    Stable(stable);
}

impl Schedule {
    /// The base rate throughout.
    pub const CONSTANT: Self = Self { warmup_steps: 0, shape: ScheduleShape::Constant };
    /// A half cosine, which would reach zero after the last epoch.
    pub const COSINE: Self = Self { warmup_steps: 0, shape: ScheduleShape::Cosine(Cosine { floor: 0.0 }) };

    /// Errors if a number of the shape is outside of its range, so that no rate is negative or not a number.
    pub fn check(&self) -> Result<()> {
        self.shape.as_kind().check()
    }

    /// The factor of an update.
    pub fn factor(&self, at: Moment) -> f64 {
        let (shape, warmup) = (self.shape.as_kind().factor(&at), self.warmup_steps);
        shape * if at.update < warmup { (at.update + 1) as f64 / warmup as f64 } else { 1.0 }
    }
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
        let near = |got: f64, expected: f64| assert!((got - expected).abs() < 1e-12, "got {got}, expected {expected}");
        let cosine = Schedule::COSINE.shape;
        near(factor(cosine, 0), 1.0);
        near(factor(cosine, 50), 0.5);
        near(factor(cosine, 59), 0.5);
        let step = Schedule { warmup_steps: 4, shape: ScheduleShape::Step(Step { every: 10, factor: 0.1 }) };
        let at = |update| Moment { update, updates: 4, epochs: 50, drops: 2 };
        near(step.factor(at(0)), 0.25);
        near(step.factor(at(100)), 0.01);
        let plateau = Schedule { warmup_steps: 0, shape: ScheduleShape::Plateau(Plateau { patience: 3, factor: 0.5 }) };
        near(plateau.factor(at(9)), 0.25);
        near(factor(ScheduleShape::Exponential(Exponential { factor: 0.5 }), 39), 0.125);
        near(factor(ScheduleShape::Polynomial(Polynomial { power: 2.0, floor: 0.0 }), 75), 0.09);
        near(factor(ScheduleShape::Polynomial(Polynomial { power: 1.0, floor: 0.1 }), 50), 0.55);
    }

    /// Figures of torch 2.15: OneCycleLR(max_lr=1, total_steps=100) and CosineAnnealingWarmRestarts(T_0=2, T_mult=2) at update / 10.
    #[test]
    fn shapes_that_change_at_every_update_are_those_of_torch() {
        let cycle = ScheduleShape::OneCycle(OneCycle { rise: 0.3, first: 0.04, last: 4e-6 });
        let restarts = ScheduleShape::Restarts(Restarts { period: 2, growth: 2.0, floor: 0.0 });
        for (shape, known) in [(cycle, CYCLE), (restarts, RESTARTS)] {
            for (update, expected) in known {
                let got = factor(shape, update);
                assert!((got - expected).abs() < 1e-9, "{shape:?} at {update}: got {got}, expected {expected}");
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
        let stable = ScheduleShape::Stable(Stable { decay: 0.2 });
        assert_eq!([0, 50, 80].map(|update| factor(stable, update)), [1.0; 3]);
        assert!((factor(stable, 85) - 0.5).abs() < 1e-12);
        assert!(factor(stable, 99) < 0.03 && factor(stable, 99) > 0.0);
        // A run that goes on after its last update.
        let cycle = ScheduleShape::OneCycle(OneCycle { rise: 0.3, first: 0.04, last: 1e-3 });
        let polynomial = ScheduleShape::Polynomial(Polynomial { power: 0.5, floor: 0.0 });
        for shape in [stable, cycle, polynomial, Schedule::COSINE.shape] {
            assert!((0.0..=1.0).contains(&factor(shape, 1_000)), "{shape:?}");
        }
    }

    #[test]
    fn every_rate_is_a_number_however_few_updates_there_are() {
        let cycle = |rise| ScheduleShape::OneCycle(OneCycle { rise, first: 0.04, last: 4e-6 });
        let shapes = [cycle(0.0), cycle(0.1), cycle(0.5), cycle(1.0), ScheduleShape::Stable(Stable { decay: 0.0 })];
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
            message(ScheduleShape::Cosine(Cosine { floor: -1.0 })),
            "schedule: floor: got -1, expected a number from 0 to 1"
        );
        assert_eq!(
            message(ScheduleShape::Exponential(Exponential { factor: -1.0 })),
            "schedule: factor: got -1, expected a finite number of at least 0"
        );
        assert_eq!(
            message(ScheduleShape::Restarts(Restarts { period: 2, growth: f64::NAN, floor: 0.0 })),
            "schedule: growth: got NaN, expected a finite number of at least 1"
        );
    }
}
