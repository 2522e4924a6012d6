//! Targets as pairs (Yn, Yd), which can represent ⊥: y is (y, 1), ⊥ is (1, 0), or (±1, 0) if it has a direction.

use crate::error::{Error, Result};

/// The kind of a target, where a number alone is not enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Label {
    /// A number.
    Finite,
    /// ⊥ without a direction.
    Bottom,
    /// Below the measurable range.
    CensoredBelow,
    /// Above the measurable range.
    CensoredAbove,
    /// Outside the domain of the formula.
    DomainInvalid,
    /// Unknown: the row must not be used for training.
    Missing,
    /// The measurement failed.
    Fault,
}

impl Label {
    /// All labels with their names, in the order of their integer codes.
    pub const ALL: [(&'static str, Self); 7] = [
        ("finite", Self::Finite),
        ("bottom", Self::Bottom),
        ("censored_below", Self::CensoredBelow),
        ("censored_above", Self::CensoredAbove),
        ("domain_invalid", Self::DomainInvalid),
        ("missing", Self::Missing),
        ("fault", Self::Fault),
    ];

    /// The label of a code, 0 to 6. Errors for other codes.
    pub fn of_code(code: u8) -> Result<Self> {
        let found = Self::ALL.get(usize::from(code));
        found
            .map(|(_, label)| *label)
            .ok_or_else(|| Error::new(format!("lift: {code} is not a label; there are 0 to 6")))
    }
}

/// Lifts numbers, [rows, outputs] to [rows, 2 · outputs] with the numerators first: y is (y, 1), ±∞ is (±1, 0). NaN is (1, 0) with
/// `takes_nan`, otherwise an error, because it may be a mistake.
pub fn lift(y: &[f32], outputs: usize, takes_nan: bool) -> Result<Vec<f32>> {
    if let Some(at) = y.iter().position(|y| y.is_nan()).filter(|_| !takes_nan) {
        let (row, output) = (at / outputs.max(1), at % outputs.max(1));
        return Err(Error::new(format!(
            "lift: target {output} of row {row} is NaN; leave the row out, label it, or say that NaN means ⊥"
        )));
    }
    let pair = |y: f32| match y {
        y if y.is_nan() => [1.0, 0.0],
        y if y.is_infinite() => [y.signum(), 0.0],
        y => [y, 1.0],
    };
    Ok(joined(y.iter().map(|y| pair(*y)), y.len(), outputs))
}

/// Lifts numbers with a label each, shapes as in [`lift`]. Errors if the lengths differ, a target labelled `Finite` is not finite, or a
/// label is `Missing`: no loss can skip one target of a row, so leave out the row.
pub fn lift_labels(y: &[f32], labels: &[Label], outputs: usize) -> Result<Vec<f32>> {
    if y.len() != labels.len() {
        return Err(Error::new(format!(
            "lift: {} targets and {} labels; expected one for each",
            y.len(),
            labels.len()
        )));
    }
    let pair = |(at, (y, label)): (usize, (&f32, &Label))| match label {
        Label::Finite if y.is_finite() => Ok([*y, 1.0]),
        Label::Finite => Err(Error::new(format!("lift: target {at} is {y} and labelled finite"))),
        Label::CensoredBelow => Ok([-1.0, 0.0]),
        Label::Bottom | Label::CensoredAbove | Label::DomainInvalid | Label::Fault => Ok([1.0, 0.0]),
        Label::Missing => Err(Error::new(format!("lift: target {at} is missing; leave its row out"))),
    };
    let pairs = y.iter().zip(labels).enumerate().map(pair).collect::<Result<Vec<_>>>()?;
    Ok(joined(pairs.into_iter(), y.len(), outputs))
}

/// Pairs as rows of numerators, then denominators.
fn joined(pairs: impl Iterator<Item = [f32; 2]>, count: usize, outputs: usize) -> Vec<f32> {
    let mut out = vec![0.0; 2 * count];
    for (at, [n, d]) in pairs.enumerate() {
        let (row, column) = (at / outputs, at % outputs);
        out[2 * row * outputs + column] = n;
        out[(2 * row + 1) * outputs + column] = d;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_become_pairs() {
        let lifted = lift(&[2.0, f32::INFINITY, -3.0, f32::NEG_INFINITY], 2, false).unwrap();
        assert_eq!(lifted, [2.0, 1.0, 1.0, 0.0, -3.0, -1.0, 1.0, 0.0]);
        assert_eq!(lift(&[f32::NAN], 1, true).unwrap(), [1.0, 0.0]);
    }

    #[test]
    fn labels_say_the_direction() {
        use Label::{Bottom, CensoredAbove, CensoredBelow, DomainInvalid, Fault, Finite};
        let labels = [Finite, Bottom, CensoredBelow, CensoredAbove, DomainInvalid, Fault];
        let lifted = lift_labels(&[5.0, 0.0, 0.0, 0.0, 0.0, 0.0], &labels, 1).unwrap();
        assert_eq!(lifted, [5.0, 1.0, 1.0, 0.0, -1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0]);
        assert_eq!(Label::of_code(3).unwrap(), CensoredAbove);
    }

    #[test]
    fn property_52_missing_targets_are_refused_for_no_loss_can_leave_them_out() {
        let labels = [Label::Finite, Label::Missing];
        let error = lift_labels(&[1.0, 0.0], &labels, 1).unwrap_err().to_string();
        assert_eq!(error, "lift: target 1 is missing; leave its row out");
        assert!(lift_labels(&[1.0], &labels[..1], 1).is_ok());
    }

    #[test]
    fn messages() {
        let said = |error: Error| error.to_string();
        let expected = "lift: target 1 of row 1 is NaN; leave the row out, label it, or say that NaN means ⊥";
        assert_eq!(said(lift(&[1.0, 2.0, 3.0, f32::NAN], 2, false).unwrap_err()), expected);
        let cases = [
            (vec![1.0], vec![], "lift: 1 targets and 0 labels; expected one for each"),
            (vec![f32::NAN], vec![Label::Finite], "lift: target 0 is NaN and labelled finite"),
        ];
        for (y, labels, expected) in cases {
            assert_eq!(said(lift_labels(&y, &labels, 1).unwrap_err()), expected);
        }
        assert_eq!(said(Label::of_code(7).unwrap_err()), "lift: 7 is not a label; there are 0 to 6");
    }
}
