//! The ring of keys, and that slots without a row do not take part.

use super::super::oracle::{Bank, Geometry, Retrieval, Rotor};

fn rows(from: usize, to: usize) -> (Vec<f64>, Vec<f64>) {
    let keys = (from..to).flat_map(|row| [row as f64, -(row as f64)]).collect();
    (keys, (from..to).map(|row| 10.0 * row as f64).collect())
}

fn append(bank: &mut Bank, from: usize, to: usize) {
    let (keys, states) = rows(from, to);
    bank.append(&keys, &states);
}

#[test]
fn rows_wrap_and_overwrite_the_oldest() {
    let mut bank = Bank::new(4, 2, 1);
    append(&mut bank, 1, 4);
    assert_eq!((bank.pointer, bank.filled), (3, 3));
    append(&mut bank, 4, 6);
    assert_eq!((bank.pointer, bank.filled), (1, 4));
    assert_eq!(bank.states, [50.0, 20.0, 30.0, 40.0]);
    assert_eq!(bank.keys, [5.0, -5.0, 2.0, -2.0, 3.0, -3.0, 4.0, -4.0]);
}

#[test]
fn of_more_rows_than_slots_the_last_remain() {
    let mut bank = Bank::new(4, 2, 1);
    append(&mut bank, 0, 11);
    let mut kept = bank.states.clone();
    kept.sort_by(f64::total_cmp);
    assert_eq!(kept, [70.0, 80.0, 90.0, 100.0]);
    // Row 10 went to slot 10 mod 4.
    assert_eq!((bank.states[2], bank.pointer, bank.filled), (100.0, 3, 4));
}

#[test]
fn slots_without_a_row_take_no_part() {
    let weights = |capacity| {
        let mut bank = Bank::new(capacity, 2, 1);
        append(&mut bank, 1, 4);
        let (keys, states) = bank.valid();
        let (keys, states) = (keys.to_vec(), states.to_vec());
        let retrieval = Retrieval { n: 2, d: 1, beta: 1.0, r: 1.0, eps: 1e-8, keys, states, rotor: Rotor::new(2, 1) };
        retrieval.weights(&retrieval.costs(&Geometry::identity(&retrieval.rotor), &[0.0, 0.0]))
    };
    assert_eq!(weights(3), weights(9));
    assert_eq!(weights(9).len(), 3);
}
