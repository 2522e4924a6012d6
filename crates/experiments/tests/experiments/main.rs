//! Experiments: closed forms compared with golden values, properties of the generators, measures compared with known results, every
//! domain end to end, and errors.

mod elsewhere;
mod measures;
mod runs;
mod terms;

use meromorph_experiments::{Purpose, Size, Stream, dose, ik, lj, mean, rf};
use std::collections::HashSet;
use std::f64::consts::PI;

/// Asserts that two numbers agree within a relative error.
#[track_caller]
fn close(got: f64, expected: f64, within: f64) {
    assert!((got - expected).abs() <= within * expected.abs().max(1e-300), "got {got}, expected {expected}");
}

#[test]
fn closed_forms_have_their_golden_values() {
    for (c, expected) in [(1e-9, 0.9960347143808477), (1e-7, 0.5), (1e-5, 0.0039652856191522015)] {
        close(dose::hill(c, 1e-7, 1.2, [0.0, 1.0]), expected, 1e-14);
    }
    let responses = [
        ([1.0, 1.0, 10.0], [0.0, -10.0]),
        ([1.2, 1.0, 10.0], [-2.115384615384616, -0.5769230769230771]),
        ([0.5, 2.0, 200.0], [1.0666647703737415, -0.0014222196938316553]),
    ];
    for ([w, w0, q], expected) in responses {
        let got = rf::response(w, w0, q);
        assert!((got[0] - expected[0]).abs() < 1e-14 && (got[1] - expected[1]).abs() < 1e-14, "{got:?}");
    }
    let steps = [
        ([0.3, 0.8], [0.05, -0.02], [0.006746060402852472, -0.06507186919184518]),
        ([0.3, 0.0], [0.05, -0.02], [-0.01355282498974475, -0.006776412494872375]),
        ([0.3, 1e-3], [0.05, -0.02], [0.06994228605657327, -0.17379173755578847]),
    ];
    for (pose, e, expected) in steps {
        let got = ik::damped_least_squares(pose, e, 0.01);
        close(got[0], expected[0], 1e-9);
        close(got[1], expected[1], 1e-9);
    }
    let potentials = [
        (0.8, 42.94887185096741, -758.6739957332604),
        (1.0, 0.0, -24.0),
        (2_f64.powf(1.0 / 6.0), -1.0, 0.0),
        (2.0, -0.0615234375, 0.181640625),
    ];
    for (r, v, slope) in potentials {
        assert!((lj::potential(r) - v).abs() < 1e-12 * v.abs().max(1.0), "V({r}) = {}", lj::potential(r));
        assert!((lj::slope(r) - slope).abs() < 1e-12 * slope.abs().max(10.0), "dV/dr({r}) = {}", lj::slope(r));
    }
}

#[test]
fn the_peak_is_at_the_position_of_the_formula() {
    let [height, place] = rf::peak(1.0, 10.0);
    close(height, 10.012523486435178, 1e-14);
    close(place, 0.9974968671630001, 1e-14);
    assert_eq!(rf::peak(3.0, 0.5), [1.0, 0.0]);
    for (w0, q) in [(1.0, 10.0), (4.2, 350.0), (0.5, 2.0)] {
        let grid = rf::peak_grid(rf::Filter { w0, q }, 2048);
        let size = |w: f64| rf::response(w, w0, q).into_iter().map(|part| part * part).sum::<f64>().sqrt();
        let top = grid.iter().map(|&w| size(w)).fold(0.0, f64::max);
        assert!(top <= rf::peak(w0, q)[0] && top > 0.9999 * rf::peak(w0, q)[0], "{top} at Q = {q}");
        assert!(grid.is_sorted() && grid[0] >= 0.1 && *grid.last().unwrap() <= 10.0 + 1e-12);
    }
}

#[test]
fn buckets_include_their_upper_bound() {
    let cases =
        [(0.0, 0), (1e-5, 0), (-1e-5, 0), (1.0001e-5, 1), (1e-4, 1), (1e-3, 2), (1e-2, 3), (0.010001, 4), (1.0, 4)];
    for (determinant, expected) in cases {
        assert_eq!(ik::bucket(determinant), expected, "{determinant}");
    }
    let distances = [(0.2, 0), (0.5, 1), (0.79, 1), (0.8, 2), (1.2, 3), (2.0, 4), (9.0, 4)];
    for (r, expected) in distances {
        assert_eq!(lj::bucket(r), expected, "{r}");
    }
}

#[test]
fn random_numbers_have_their_moments_and_streams_do_not_overlap() {
    let mut stream = Stream::new(7, Purpose::Data);
    let normals: Vec<f64> = (0..100_000).map(|_| stream.normal()).collect();
    assert!(mean(&normals).abs() < 0.02);
    assert!((mean(&normals.iter().map(|x| x * x).collect::<Vec<_>>()) - 1.0).abs() < 0.02);
    assert!((mean(&normals.iter().map(|x| x.powi(4)).collect::<Vec<_>>()) - 3.0).abs() < 0.15);
    let uniforms: Vec<f64> = (0..100_000).map(|_| stream.uniform()).collect();
    assert!(uniforms.iter().all(|u| (0.0..1.0).contains(u)) && (mean(&uniforms) - 0.5).abs() < 0.005);
    let mut counts = [0; 3];
    (0..30_000).for_each(|_| counts[stream.choice(&[1.0, 2.0, 3.0])] += 1);
    assert!(
        counts.iter().zip([5000, 10_000, 15_000]).all(|(got, expected)| i32::abs(got - expected) < 400),
        "{counts:?}"
    );
    assert!((0..1000).all(|_| stream.below(7) < 7));
    let streams = [(7, Purpose::Data), (7, Purpose::Order), (8, Purpose::Data), (7, Purpose::Weights)];
    let drawn: Vec<u64> = streams
        .iter()
        .flat_map(|&(seed, purpose)| {
            let mut stream = Stream::new(seed, purpose);
            (0..1000).map(move |_| stream.bits()).collect::<Vec<_>>()
        })
        .collect();
    assert_eq!(drawn.iter().collect::<HashSet<_>>().len(), drawn.len());
    let mut order = Stream::new(3, Purpose::Order).permutation(100);
    assert_ne!(order, (0..100).collect::<Vec<u32>>());
    order.sort_unstable();
    assert!(order.into_iter().eq(0..100));
}

#[test]
fn dose_curves_have_their_documented_properties() {
    let data = dose::split(5, 6000);
    assert_eq!(data, dose::split(5, 6000), "the same seed");
    assert_ne!(data.x, dose::split(6, 6000).x, "another seed");
    let rows: Vec<&[f32]> = data.y.chunks_exact(dose::TARGETS).collect();
    let share = |class: f32| rows.iter().filter(|row| row[1] == class).count() as f64 / 6000.0;
    // A tenth of each class is flat and counts as above.
    for (class, expected) in [(0.0, 0.3), (1.0, 0.3), (2.0, 0.4)] {
        assert!((share(class) - expected).abs() < 0.025, "class {class}: {}", share(class));
    }
    for (row, x) in rows.iter().zip(data.x.chunks_exact(2 * dose::POINTS)) {
        let [value, class, clamped, yn, yd] = row[..] else { panic!("five targets") };
        match class as u8 {
            0 => assert!((-13.0..-10.19).contains(&value) && [clamped, yn, yd] == [-9.0, -1.0, 0.0]),
            1 => assert!((-8.81..-5.19).contains(&value) && [clamped, yn, yd] == [value, value, 1.0]),
            _ => assert!((-13.0..-0.99).contains(&value) && [clamped, yn, yd] == [-5.0, 1.0, 0.0]),
        }
        assert!((x[0] + 9.0).abs() < 1e-6 && (x[18] + 5.0).abs() < 1e-6);
        assert!(x.chunks_exact(2).all(|point| (-0.5..1.5).contains(&point[1])), "a response far from [0, 1]");
    }
    let first = rows.iter().position(|row| row[1] == 1.0).unwrap();
    let responses: Vec<f32> = data.x[first * 20..first * 20 + 20].iter().skip(1).step_by(2).copied().collect();
    assert!(responses[0] > responses[9] + 0.5, "a curve inside the window falls: {responses:?}");
}

#[test]
fn resonators_stay_in_their_ranges() {
    let data = rf::draw(Size::Contract, 3);
    assert_eq!([data.train.y.len(), data.validation.y.len(), data.test.y.len()], [32 * 16 * 2, 8 * 16 * 2, 8 * 16 * 2]);
    let within = |x: &[f32], highest: f64| {
        let [w, w0, q] = [0, 1, 2].map(|at| 10_f64.powf(f64::from(x[at])));
        (0.099..10.01).contains(&w) && (0.499..5.01).contains(&w0) && (1.999..highest * 1.001).contains(&q)
    };
    assert!(data.train.x.chunks_exact(3).all(|x| within(x, 30.0)));
    assert!(data.test.x.chunks_exact(3).all(|x| within(x, 500.0)));
    for (x, y) in data.test.x.chunks_exact(3).zip(data.test.y.chunks_exact(2)) {
        let [w, w0, q] = [0, 1, 2].map(|at| 10_f64.powf(f64::from(x[at])));
        let expected = rf::response(w, w0, q);
        let size = expected[0].hypot(expected[1]);
        assert!(
            (f64::from(y[0]) - expected[0]).abs() < 1e-3 * size && (f64::from(y[1]) - expected[1]).abs() < 1e-3 * size
        );
    }
    assert!(rf::draw(Size::Smoke, 1).filters.iter().any(|filter| filter.q > rf::QUALITIES[1]));
}

#[test]
fn poses_fill_every_bucket_and_split_by_bucket() {
    let samples = ik::samples(&mut Stream::new(1, Purpose::Data), 4000);
    let [exact, folded] = [samples[0][1], samples[1][1]];
    assert_eq!([exact, folded], [0.0, PI]);
    let near = samples[..1200].iter().filter(|sample| ik::determinant(sample[1]).abs() < 6e-3).count();
    assert_eq!(near, 1200, "six deviations");
    assert!(samples[1200..].iter().all(|sample| ik::determinant(sample[1]).abs() >= 2e-3));
    let at_pi = samples.iter().filter(|sample| sample[1] == PI).count() as f64 / 4000.0;
    assert!((at_pi - 0.075).abs() < 0.02, "half of those near π are cut to π: {at_pi}");
    let steps: Vec<f64> = samples.iter().map(|sample| sample[2]).collect();
    assert!((mean(&steps.iter().map(|dx| dx * dx).collect::<Vec<_>>()).sqrt() - 0.1).abs() < 0.01);
    let [train, test] = ik::stratified(&samples, 0.8);
    assert_eq!(train.len() + test.len(), 4000);
    for bucket in 0..ik::BUCKETS {
        let count =
            |part: &[[f64; 4]]| part.iter().filter(|sample| ik::bucket(ik::determinant(sample[1])) == bucket).count();
        let (train, test) = (count(&train), count(&test));
        assert!((train as f64 - 0.8 * (train + test) as f64).abs() <= 0.5, "bucket {bucket}: {train} and {test}");
    }
    let data = ik::draw(Size::Contract, 2);
    for part in [&data.train, &data.test] {
        for expected in 0..4 {
            let found = part.x.chunks_exact(4).any(|x| ik::bucket(ik::determinant(f64::from(x[1]))) == expected);
            // In f32 the error of π is 8.7e-8, so an exactly folded arm stays in the first bucket.
            assert!(found, "bucket {expected} is empty");
        }
    }
}

#[test]
fn training_distances_are_above_and_test_distances_below() {
    let data = lj::draw(Size::Smoke, 1);
    assert_eq!((data.train.y.len(), data.test.len()), (5000, 2000));
    assert!(data.train.x.chunks_exact(2).all(|x| x[0] <= 1.0 && x[0] >= 0.8 / 3.0 - 1e-6));
    let below = data.test.iter().filter(|r| (0.2..0.8).contains(*r)).count();
    assert_eq!(below, 1200);
    let decade = data.test[..1200].iter().filter(|r| **r < 0.4).count() as f64 / 1200.0;
    assert!((decade - 0.5).abs() < 0.05, "uniform in the logarithm: {decade}");
}
