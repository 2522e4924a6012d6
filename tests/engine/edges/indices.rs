//! Numbers of indices are checked where an op is recorded; an index out of range takes NaN, and what would go to its place is left out.

use super::{gradient, index, is_same, leaf, panic_of, read};
use crate::devices::devices;
use meromorph::ops;

const NAN: f32 = f32::NAN;

fn assert_same(got: &[f32], expected: &[f32], what: &str) {
    let is_right = got.len() == expected.len() && got.iter().zip(expected).all(|(&a, &b)| is_same(a, b));
    assert!(is_right, "{what}: {got:?}, expected {expected:?}");
}

#[test]
fn an_index_out_of_range_takes_nan_and_adds_nothing() {
    for device in devices(&[1, 2]) {
        let name = device.info().device;
        let x = leaf(&device, &[3, 2], &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
        let rows = ops::take_rows(&x, &index(&device, &[2, 3, 0, u32::MAX]));
        assert_same(&read(&rows), &[4.0, 5.0, NAN, NAN, 0.0, 1.0, NAN, NAN], name);
        assert_same(&gradient(&rows, &x), &[1.0, 1.0, 0.0, 0.0, 1.0, 1.0], name);
        let picked = ops::pick(&x, &index(&device, &[1, 2, 0]));
        assert_same(&read(&picked), &[1.0, NAN, 4.0], name);
        assert_same(&gradient(&picked, &x), &[0.0, 1.0, 0.0, 0.0, 1.0, 0.0], name);
        let added = ops::add_rows(&x, &index(&device, &[1, 2, 1]), 2);
        assert_same(&read(&added), &[0.0, 0.0, 4.0, 6.0], name);
        let v = leaf(&device, &[3], &[7.0, 8.0, 9.0]);
        let placed = ops::place(&v, &index(&device, &[0, 2, 1]), 2);
        assert_same(&read(&placed), &[7.0, 0.0, 0.0, 0.0, 0.0, 9.0], name);
    }
}

#[test]
fn the_number_of_indices_and_the_shape_are_checked() {
    for device in devices(&[1]) {
        let x = leaf(&device, &[5, 3], &[1.0; 15]);
        let v = leaf(&device, &[4], &[1.0; 4]);
        let three = index(&device, &[0, 1, 2]);
        let seven = index(&device, &[0, 1, 0, 1, 0, 1, 0]);
        let message = |work: &dyn Fn() -> meromorph::autograd::Var| panic_of(|| drop(work()));
        let short = "got 3 indices for 5 rows, expected one for each row";
        let long = "got 7 indices for 5 rows, expected one for each row";
        assert_eq!(message(&|| ops::pick(&x, &three)), format!("pick: {short}"));
        assert_eq!(message(&|| ops::pick(&x, &seven)), format!("pick: {long}"));
        assert_eq!(message(&|| ops::add_rows(&x, &three, 2)), format!("add_rows: {short}"));
        assert_eq!(message(&|| ops::add_rows(&x, &seven, 2)), format!("add_rows: {long}"));
        let expected = "place: got 3 indices for 4 rows, expected one for each row";
        assert_eq!(message(&|| ops::place(&v, &three, 2)), expected);
        assert_eq!(message(&|| ops::place(&x, &three, 2)), "place: got [5, 3], expected a vector");
        assert_eq!(message(&|| ops::add_rows(&v, &three, 2)), "add_rows: got [4], expected a matrix");
        assert_eq!(message(&|| ops::take_rows(&v, &three)), "take_rows: got [4], expected a matrix");
        // None at all is a number of rows like any other.
        let none = ops::take_rows(&x, &index(&device, &[]));
        assert_eq!((none.shape().sizes(), read(&none)), (&[0, 3][..], Vec::new()));
        assert_eq!(gradient(&none, &x), [0.0; 15]);
    }
}

/// Sums of many rows have the same bits on one thread, on two, and in every run.
#[test]
fn rows_are_added_in_their_order() {
    let values = crate::noise::noise(700 * 33, 5);
    let places: Vec<u32> = (0..700_u32).map(|at| at * at % 91).collect();
    let mut expected = vec![0.0_f32; 91 * 33];
    for (row, &place) in places.iter().enumerate() {
        (0..33).for_each(|column| expected[place as usize * 33 + column] += values[row * 33 + column]);
    }
    for device in devices(&[1, 2, 5]) {
        for _ in 0..2 {
            let x = leaf(&device, &[700, 33], &values);
            let sums = read(&ops::add_rows(&x, &index(&device, &places), 91));
            assert!(sums == expected, "{}", device.info().device);
        }
    }
}
