//! Sorts by numbers. One function for all sorts of this module and of `train`: each use of the standard library's generic sort would add
//! some 6 KB to the browser build.

/// The places of `keys` in ascending order; equal ones stay in their order. Sorts byte by byte, from the lowest.
pub(crate) fn ascending(keys: &[u64]) -> Vec<u32> {
    let mut order: Vec<u32> = (0..keys.len() as u32).collect();
    let mut next = vec![0; keys.len()];
    let differing = keys.iter().fold(0, |all, key| all | (key ^ keys[0]));
    for shift in (0..64).step_by(8).filter(|shift| differing >> shift & 0xff != 0) {
        let byte = |at: u32| (keys[at as usize] >> shift) as usize & 0xff;
        let mut starts = [0; 0x101];
        for &at in &order {
            starts[byte(at) + 1] += 1;
        }
        for digit in 0..0x100 {
            starts[digit + 1] += starts[digit];
        }
        for &at in &order {
            let start = &mut starts[byte(at)];
            next[*start] = at;
            *start += 1;
        }
        std::mem::swap(&mut order, &mut next);
    }
    order
}

/// A key in the order of numbers: -0 is below 0, NaN above all.
pub(crate) fn key(number: f64) -> u64 {
    const SIGN: u64 = 1 << 63;
    let bits = if number.is_nan() { f64::NAN.to_bits() } else { number.to_bits() };
    if bits < SIGN { bits | SIGN } else { !bits }
}

/// The places of numbers in ascending order.
pub(crate) fn ascending_numbers(numbers: &[f64]) -> Vec<u32> {
    ascending(&numbers.iter().map(|number| key(*number)).collect::<Vec<_>>())
}

/// The index of the largest value; the first of equal ones.
pub fn largest<T: PartialOrd>(values: &[T]) -> usize {
    let mut best = 0;
    for (at, value) in values.iter().enumerate() {
        if *value > values[best] {
            best = at;
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_sorted_and_equal_ones_keep_their_order() {
        assert!(ascending(&[]).is_empty());
        let mut state = 1_u64;
        let mut next = |most: u64| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 20) % most
        };
        for most in [3, 300, 1 << 40] {
            let keys: Vec<u64> = (0..500).map(|_| next(most)).collect();
            let mut expected: Vec<u32> = (0..500).collect();
            expected.sort_by_key(|&at| keys[at as usize]);
            assert_eq!(ascending(&keys), expected);
        }
    }

    #[test]
    fn numbers_are_sorted_by_size() {
        let numbers = [3.0, f64::NAN, -0.0, 0.0, -1e300, f64::INFINITY, f64::NEG_INFINITY, 1e-310, -f64::NAN];
        assert_eq!(ascending_numbers(&numbers), [6, 4, 2, 3, 7, 0, 5, 1, 8]);
    }
}
