//! Mean and standard deviation of the numbers of some rows, in f64 and two passes, so that an offset of 1e4 loses no digits.

/// Statistics of a column's numbers. The deviation is that of the population: sqrt(sum (x - mean)^2 / n).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Measure {
    pub(crate) mean: f64,
    pub(crate) deviation: f64,
    pub(crate) min: f64,
    pub(crate) max: f64,
}

impl Measure {
    /// Over `values` at `rows`, ignoring missing ones (NaN); `None` if there are none.
    pub(crate) fn of(values: &[f64], rows: &[u32]) -> Option<Self> {
        let present = || rows.iter().map(|&row| values[row as usize]).filter(|value| !value.is_nan());
        let (mut count, mut sum, mut min, mut max) = (0_u32, 0.0, f64::INFINITY, f64::NEG_INFINITY);
        for value in present() {
            count += 1;
            sum += value;
            min = value.min(min);
            max = value.max(max);
        }
        if count == 0 {
            return None;
        }
        let n = f64::from(count);
        // A mean rounded outside the range of the values would give a constant column a deviation.
        let mean = sum / n;
        let mean = if mean < min { min } else { mean.min(max) };
        let (mut drift, mut squares) = (0.0, 0.0);
        for value in present() {
            drift += value - mean;
            squares += (value - mean) * (value - mean);
        }
        let variance = (squares - drift * drift / n) / n;
        Some(Self { mean, deviation: variance.max(0.0).sqrt(), min, max })
    }

    /// Median and 1.4826 times the median distance from it, which is the deviation of normal numbers (Huber 1981): robust against
    /// values near a pole. Over finite values only; if most of them are equal, their plain statistics.
    pub(crate) fn robust(values: &[f64], rows: &[u32]) -> Option<Self> {
        let finite: Vec<u32> = rows.iter().copied().filter(|&row| values[row as usize].is_finite()).collect();
        let plain = Self::of(values, &finite)?;
        let mean = median(finite.iter().map(|&row| values[row as usize]).collect())?;
        let deviation = 1.4826 * median(finite.iter().map(|&row| (values[row as usize] - mean).abs()).collect())?;
        Some(if deviation > 0.0 { Self { mean, deviation, ..plain } } else { plain })
    }

    /// The divisor of centred values: the deviation, or 1 if it is only rounding error of a constant.
    pub(crate) fn scale(&self) -> f64 {
        let largest = self.min.abs().max(self.max.abs());
        let is_constant = self.min == self.max || self.deviation <= 1e-12 * largest;
        if is_constant { 1.0 } else { self.deviation }
    }

    /// Whether the numbers are small enough that the sum of their squares is finite.
    pub(crate) fn is_finite(&self) -> bool {
        self.mean.is_finite() && self.deviation.is_finite()
    }
}

/// The median, the larger of two; `None` of no numbers. Selects byte by byte, from the highest: the standard library's selection would add
/// 3 KB to the browser build.
pub fn median(numbers: Vec<f64>) -> Option<f64> {
    const SIGN: u64 = 1 << 63;
    let mut below = numbers.len() / 2;
    // Keys are ordered like the numbers.
    let key = |bits: u64| if bits < SIGN { bits | SIGN } else { !bits };
    let mut keys: Vec<u64> = numbers.into_iter().map(|number| key(number.to_bits())).collect();
    for shift in (0..64).step_by(8).rev() {
        let byte = |key: &u64| (key >> shift) as usize & 0xff;
        let mut counts = [0; 0x100];
        for key in &keys {
            counts[byte(key)] += 1;
        }
        let mut middle = 0;
        while middle < 0xff && below >= counts[middle] {
            below -= counts[middle];
            middle += 1;
        }
        keys.retain(|key| byte(key) == middle);
    }
    keys.first().map(|&key| f64::from_bits(if key < SIGN { !key } else { key ^ SIGN }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measure(values: &[f64]) -> Measure {
        let rows: Vec<u32> = (0..values.len() as u32).collect();
        Measure::of(values, &rows).unwrap()
    }

    #[test]
    fn known_values() {
        let got = measure(&[1.0, f64::NAN, 2.0, 3.0, 4.0]);
        assert_eq!(got, Measure { mean: 2.5, deviation: 1.25_f64.sqrt(), min: 1.0, max: 4.0 });
        assert_eq!(Measure::of(&[1.0, 5.0, 9.0], &[2, 0]).unwrap().mean, 5.0);
        assert_eq!(Measure::of(&[f64::NAN], &[0]), None);
        assert!(!measure(&[1e308, -1e308]).is_finite());
    }

    #[test]
    fn the_robust_measure_ignores_values_near_a_pole() {
        let values: Vec<f64> = (-50..=50).map(|i| 1.0 / f64::from(i)).collect();
        let rows: Vec<u32> = (0..101).collect();
        let got = Measure::robust(&values, &rows).unwrap();
        assert_eq!((got.min, got.max), (-1.0, 1.0));
        assert!(got.mean.abs() < 0.03 && (0.03..0.09).contains(&got.deviation), "{got:?}");
        assert_eq!(Measure::robust(&[2.0, 2.0, 2.0, 5.0], &[0, 1, 2, 3]).unwrap().mean, 2.75);
        assert_eq!(Measure::robust(&[f64::INFINITY], &[0]), None);
    }

    /// Float32 sums, as in the reference implementation, have an error of 7.4 in the mean here.
    #[test]
    fn an_offset_loses_no_digits() {
        let values: Vec<f64> = (0..100_000).map(|i| 1e4 + f64::from(i % 2) * 2.0 - 1.0).collect();
        let got = measure(&values);
        assert!((got.mean - 1e4).abs() < 1e-9 && (got.deviation - 1.0).abs() < 1e-12, "{got:?}");
    }

    #[test]
    fn a_constant_is_not_stretched() {
        let cases = [
            (vec![0.1; 1000], 1.0),
            (vec![1e9, 1e9 + 1e-6], 1.0),
            (vec![0.0, 0.0], 1.0),
            (vec![7.0], 1.0),
            (vec![1e-13, 3e-13], 1e-13),
            (vec![1.0, 3.0], 1.0),
            (vec![10.0, 30.0], 10.0),
        ];
        for (values, expected) in cases {
            let scale = measure(&values).scale();
            assert!((scale - expected).abs() <= 1e-12 * expected, "{:?}: {scale}", &values[..1]);
        }
    }
}
