//! Weak signs and trackers.

use meromorph_meadow::Scm;
use meromorph_meadow::orientation::{Band, Tracker, Trackers, weak_sign};

use crate::{BOTTOM, Cases, assert_near, complex, real};

#[test]
fn p11_weak_signs_have_modulus_one_and_keep_the_unit_circle() {
    let mut cases = Cases(11);
    for _ in 0..1000 {
        let size = 10f64.powf(cases.within(12.0));
        let (x, turn) = (cases.within(1.0).signum() * size, cases.within(4.0));
        assert_eq!(weak_sign(real(x)), real(x.signum()));
        let unit = complex(turn.cos(), turn.sin());
        assert_near(weak_sign(unit), unit, "unit point");
        assert_near(weak_sign(unit * real(size)), unit, "scaled unit point");
    }
    assert_eq!(weak_sign(BOTTOM), BOTTOM);
    assert_eq!(weak_sign(real(-0.0)), Scm::ZERO);
    assert_eq!(weak_sign(complex(0.0, 0.0)), Scm::ZERO);
}

#[test]
fn p12_noise_in_the_band_does_not_change_a_sign() {
    let mut cases = Cases(12);
    for _ in 0..200 {
        let anchor = cases.within(1.0).signum() * (1e-3 + cases.unit());
        let mut tracker = Tracker::new(Band::new(1e-6, 0.5).unwrap());
        let sign = tracker.update(real(anchor));
        for _ in 0..50 {
            assert_eq!(tracker.update(real(cases.within(5e-7))), sign);
        }
        assert_eq!(tracker.update(BOTTOM), BOTTOM);
        assert_eq!(tracker.last(), Some(sign));
        assert_eq!(tracker.update(real(-anchor)), -sign);
        tracker.reset();
        assert_eq!(tracker.update(real(1e-6)), Scm::ZERO, "the edge belongs to the band");
        assert_eq!(Tracker::new(Band::new(0.0, 0.0).unwrap()).update(real(-5e-324)), real(-1.0));
        assert_eq!(tracker.update(real(5e-7)), Scm::ZERO);
        assert_eq!(tracker.last(), None);
    }
}

#[test]
fn p12_trackers_behave_like_single_trackers() {
    let (count, band, mut cases) = (70, Band::new(1e-6, 0.5).unwrap(), Cases(13));
    let mut many = Trackers::new(band, count);
    let mut each = vec![Tracker::new(band); count];
    for round in 0..20 {
        let values: Vec<f64> =
            (0..count).map(|_| cases.within(1.0).signum() * 10f64.powf(-6.0 + cases.within(1.0))).collect();
        let values: Vec<f64> = values.iter().map(|&x| if cases.unit() < 0.1 { f64::NAN } else { x }).collect();
        let given: Vec<bool> = (0..count).map(|_| cases.unit() < 0.1).collect();
        let mut bottom = bits(&given);
        let mut signs = vec![9.0; count];
        many.update(&values, &mut bottom, &mut signs);
        for at in 0..count {
            let value = if given[at] { BOTTOM } else { Scm::from_ieee(values[at]) };
            let expected = each[at].update(value);
            let got = if bottom[at / 32] >> (at % 32) & 1 == 1 { BOTTOM } else { real(signs[at]) };
            assert_eq!(got, expected, "round {round}, element {at}");
            assert!(!got.is_bottom() || signs[at] == 0.0);
        }
        assert_eq!(bottom[2] >> 6, 0, "bits behind the last element stay 0");
    }
    many.reset();
    assert_eq!(many, Trackers::new(band, count));
    let mut small = Trackers::new(Band::default(), 2);
    let mut signs = [0f32; 2];
    small.update(&[-1.0, 1e-10], &mut [0], &mut signs);
    assert_eq!(signs, [-1.0, 0.0]);
}

#[test]
fn p12_invalid_bands_and_signs_are_errors() {
    let message = |result: meromorph::Result<Band>| result.unwrap_err().to_string();
    let expected = "weak sign: epsilon: got -1, expected a finite number of at least 0";
    assert_eq!(message(Band::new(-1.0, 0.0)), expected);
    let expected = "weak sign: hysteresis: got NaN, expected a finite number of at least 0";
    assert_eq!(message(Band::new(0.0, f64::NAN)), expected);
    let message = |sign| Tracker::from_sign(Band::default(), sign).unwrap_err().to_string();
    assert_eq!(message(real(0.5)), "weak sign: last sign: got 0.5, expected a number of modulus 1");
    assert_eq!(message(BOTTOM), "weak sign: last sign: got ⊥, expected a number of modulus 1");
    let mut known = Tracker::from_sign(Band::default(), complex(0.0, -1.0)).unwrap();
    assert_eq!(known.update(Scm::ZERO), complex(0.0, -1.0));
}

fn bits(flags: &[bool]) -> Vec<u32> {
    let word = |chunk: &[bool]| chunk.iter().enumerate().fold(0, |word, (at, &flag)| word | u32::from(flag) << at);
    flags.chunks(32).map(word).collect()
}
