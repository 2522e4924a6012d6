//! Derivatives by central differences, and how far two vectors are apart.

/// (f(x + h e_i) - f(x - h e_i)) / 2h for every i.
pub(crate) fn central(x: &[f64], h: f64, f: impl Fn(&[f64]) -> f64) -> Vec<f64> {
    let moved = |i: usize, by: f64| {
        let mut x = x.to_vec();
        x[i] += by;
        f(&x)
    };
    (0..x.len()).map(|i| (moved(i, h) - moved(i, -h)) / (2.0 * h)).collect()
}

/// |got - expected| / |expected|.
pub(crate) fn relative_error(got: &[f64], expected: &[f64]) -> f64 {
    assert_eq!(got.len(), expected.len());
    let norm = |values: &mut dyn Iterator<Item = f64>| values.map(|value| value * value).sum::<f64>().sqrt();
    norm(&mut got.iter().zip(expected).map(|(got, expected)| got - expected)) / norm(&mut expected.iter().copied())
}
