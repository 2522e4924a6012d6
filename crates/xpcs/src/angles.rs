//! Ranges of angles, in degrees and modulo 360: -10..10 holds 355, and 170..-170 holds 180.

use meromorph::error::{Error, Result};
use meromorph::internal::host::{number, parse_number};

/// An angle that is given alone means those this close to it, in degrees.
const NEAR: f64 = 0.5;

/// Angles from one to another, both included.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AngleRange {
    low: f64,
    /// From `low` to less than `low` + 360, or to more for every angle.
    high: f64,
}

impl AngleRange {
    /// The range from `low` up to `high`; if that is below `low`, beyond the full turn. Errors if one is not finite.
    pub fn new(low: f64, high: f64) -> Result<Self> {
        if !(low.is_finite() && high.is_finite()) {
            let [low, high] = [low, high].map(number);
            return Err(Error::usage(format!("angles: got {low} to {high}, expected finite numbers of degrees")));
        }
        Ok(Self { low, high: if high < low { low + (high - low).rem_euclid(360.0) } else { high } })
    }

    /// Whether it holds an angle.
    pub fn contains(&self, angle: f64) -> bool {
        (angle - self.low).rem_euclid(360.0) <= self.high - self.low || angle == self.high
    }

    /// The places of the angles that are in any of some ranges. Errors if there are none.
    pub fn places(ranges: &[Self], phi: &[f64]) -> Result<Vec<usize>> {
        let is_in = |at: &usize| ranges.iter().any(|range| range.contains(phi[*at]));
        let places: Vec<usize> = (0..phi.len()).filter(is_in).collect();
        if places.is_empty() {
            let all = |texts: Vec<String>| texts.join(", ");
            let got = all(phi.iter().map(|angle| number(*angle).to_string()).collect());
            let expected = all(ranges.iter().map(|one| format!("{}..{}", number(one.low), number(one.high))).collect());
            return Err(Error::new(format!("angles: none of {got} is within {expected}")));
        }
        Ok(places)
    }
}

/// Reads angles and ranges such as `0, 45, 80..100`; an angle alone means those within half a degree.
pub fn parse_angles(text: &str) -> Result<Vec<AngleRange>> {
    let wrong = |part: &str| {
        let message = format!("angles: got \"{part}\", expected degrees such as 45, or a range such as -10..10");
        Error::usage(message)
    };
    let one = |part: &str| {
        let part = part.trim();
        let ends = part.split_once("..").map(|(low, high)| [low, high]);
        let ends = ends.map_or_else(
            || parse_number(part).map(|angle| [angle - NEAR, angle + NEAR]),
            |[low, high]| parse_number(low.trim()).zip(parse_number(high.trim())).map(|(low, high)| [low, high]),
        );
        let [low, high] = ends.ok_or_else(|| wrong(part))?;
        AngleRange::new(low, high)
    };
    text.split(',').map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_modulo_a_full_turn() {
        let phi = [-179.0, -90.0, 0.0, 9.5, 90.0, 172.0, 190.0, 355.0];
        let places = |text: &str| AngleRange::places(&parse_angles(text).unwrap(), &phi);
        assert_eq!(places("-10..10, 170..190").unwrap(), [0, 2, 3, 5, 6, 7]);
        assert_eq!(places("170..-170").unwrap(), [0, 5, 6]);
        assert_eq!(places("90, 270").unwrap(), [1, 4]);
        assert_eq!(places("0..360").unwrap().len(), 8);
        assert_eq!(
            places("20..30").unwrap_err().to_string(),
            "angles: none of -179, -90, 0, 9.5, 90, 172, 190, 355 is within 20..30"
        );
        let wrong = "angles: got \"x\", expected degrees such as 45, or a range such as -10..10";
        assert_eq!(parse_angles("1,x").unwrap_err().to_string(), wrong);
    }
}
