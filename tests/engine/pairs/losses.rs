//! Pair losses compared with their formulas.

use meromorph::autograd::Var;
use meromorph::loss::{PairLoss, pairs};
use meromorph::{Device, ops};

use super::{column, near, numbers};

/// P, Q, Yn and Yd of some rows, each with weight 1.
struct Rows([Var; 5]);

impl Rows {
    fn new(p: &[f32], q: &[f32], yn: &[f32], yd: &[f32]) -> Self {
        let device = Device::cpu(1);
        let ones = vec![1.0; p.len()];
        Self([p, q, yn, yd, &ones].map(|values| column(&device, values)))
    }

    fn pairs(&self) -> pairs::Pairs<'_> {
        let [p, q, yn, yd, rows] = &self.0;
        pairs::Pairs { p, q, yn, yd, rows }
    }

    fn tau(&self, tau: f32) -> Var {
        ops::constant(&self.0[0], tau)
    }

    /// Gradients of a loss with respect to P and Q.
    fn gradients(&self, loss: &Var) -> [Vec<f32>; 2] {
        let [p, q, ..] = &self.0;
        let found = ops::grad(loss, &[p, q]).unwrap();
        [0, 1].map(|at| numbers(found[at].as_ref().unwrap()))
    }
}

/// The example of the original's golden values.
fn golden() -> Rows {
    Rows::new(&[0.7, -0.2], &[0.3, 0.8], &[0.1, -0.5], &[1.2, -1.1])
}

#[test]
fn property_42_the_implicit_loss_is_its_formula() {
    let rows = golden();
    let loss = pairs::implicit(&rows.pairs(), 1e-9, false);
    near(&numbers(&loss), &[2.684_061_485_717_456], 1e-5);
    let [dp, dq] = rows.gradients(&loss);
    near(&dp, &[6.972_888_660_814_137, -0.838_216_719_150_353], 1e-5);
    near(&dq, &[-16.270_073_421_005_804, -0.209_554_179_006_647_36], 1e-5);
    let detached = pairs::implicit(&rows.pairs(), 1e-9, true);
    let [dp, dq] = rows.gradients(&detached);
    near(&dp, &[7.226_765_745_525_905, -0.869_454_358_911_965_2], 1e-5);
    near(&dq, &[-0.602_230_478_793_825_5, 0.395_206_526_778_166], 1e-5);
}

#[test]
fn property_42_the_implicit_loss_is_finite_at_zero_pairs_and_scale_invariant() {
    let nothing = Rows::new(&[0.0], &[0.0], &[0.0], &[0.0]);
    let loss = pairs::implicit(&nothing.pairs(), 1e-9, false);
    assert_eq!(numbers(&loss), [0.0]);
    assert_eq!(nothing.gradients(&loss), [[0.0], [0.0]]);
    let scaled = Rows::new(&[7.0, -2.0], &[3.0, 8.0], &[0.1, -0.5], &[1.2, -1.1]);
    near(&numbers(&pairs::implicit(&scaled.pairs(), 1e-9, false)), &[2.684_061_485_717_456], 1e-5);
}

#[test]
fn property_43_the_sign_loss_depends_on_orientation() {
    let rows = Rows::new(&[0.25, -0.4], &[0.9, 0.2], &[-0.15, 0.6], &[1.1, -0.7]);
    near(&numbers(&pairs::sign(&rows.pairs(), 1e-9, f32::MAX)), &[1.001_557_490_520_928], 1e-5);
    let flipped = Rows::new(&[-0.25, 0.4], &[-0.9, -0.2], &[0.15, -0.6], &[-1.1, 0.7]);
    near(&numbers(&pairs::sign(&flipped.pairs(), 1e-9, f32::MAX)), &[1.001_557_490_520_928], 1e-5);
    let same = Rows::new(&[1.0], &[0.0], &[1.0], &[0.0]);
    assert!(numbers(&pairs::sign(&same.pairs(), 1e-9, 1e-3))[0] < 1e-4);
    let opposite = Rows::new(&[1.0], &[0.0], &[-1.0], &[0.0]);
    near(&numbers(&pairs::sign(&opposite.pairs(), 1e-9, 1e-3)), &[1.999_999_999], 1e-6);
    // Finite targets count only if `sign_within` includes them.
    assert_eq!(numbers(&pairs::sign(&rows.pairs(), 1e-9, 1e-3)), [0.0]);
    let huge = Rows::new(&[1e30], &[1e30], &[1.0], &[1.0]);
    let loss = pairs::sign(&huge.pairs(), 1e-9, f32::MAX);
    assert!(numbers(&loss)[0].abs() < 1e-6 && huge.gradients(&loss).concat().iter().all(|g| g.is_finite()));
}

#[test]
fn property_44_the_margin_uses_only_finite_targets() {
    let rows = Rows::new(&[1.0, 1.0], &[1e-5, 1e-3], &[1.0, 1.0], &[1.0, 0.0]);
    near(&numbers(&pairs::margin(&rows.pairs(), &rows.tau(1e-4))), &[4.05e-9], 1e-5);
}

#[test]
fn separation_has_separate_means() {
    let rows = Rows::new(&[1.0; 4], &[0.005, 0.03, 0.04, 0.2], &[1.0; 4], &[0.0, 0.0, 1.0, 1.0]);
    let [bottom, finite] = pairs::separation(&rows.pairs(), 1e-2, 5e-2);
    near(&[numbers(&bottom), numbers(&finite)].concat(), &[2.0e-4, 5.0e-5], 1e-5);
}

#[test]
fn property_45_coverage_has_gradients() {
    let rows = Rows::new(&[1.0; 4], &[0.005, 0.03, 0.04, 0.2], &[1.0; 4], &[1.0; 4]);
    let loss = PairLoss { coverage: 1.0, tau: [0.025; 2], ..PairLoss::none() };
    let total = pairs::total(&loss, &rows.pairs(), &rows.tau(0.025));
    near(&numbers(&total), &[0.096_218_347_246_087_73], 1e-4);
    let dq = ops::grad(&total, &[&rows.0[1]]).unwrap();
    let dq = numbers(dq[0].as_ref().unwrap());
    assert!(dq[..3].iter().all(|dq| *dq < 0.0), "larger denominators cover more: {dq:?}");
}

#[test]
fn property_46_the_total_is_the_weighted_sum() {
    let rows = Rows::new(&[0.7, -0.2, 0.5], &[0.3, 0.8, 0.01], &[0.1, -0.5, 1.0], &[1.0, 1.0, 0.0]);
    let loss = PairLoss {
        implicit: 0.5,
        chordal: 0.25,
        decoded: 0.75,
        margin: 2.0,
        sign: 1.5,
        bottom: 3.0,
        finite: 4.0,
        coverage: 0.5,
        tau: [0.1; 2],
        ..PairLoss::none()
    };
    let (given, tau) = (rows.pairs(), rows.tau(0.1));
    let [bottom, finite] = pairs::separation(&given, loss.tau_bottom, loss.tau_finite);
    let missing = numbers(&pairs::missing_coverage(&given, &tau, loss.temperature, loss.target_coverage))[0];
    let terms = [
        (0.5, pairs::implicit(&given, 1e-9, false)),
        (0.25, pairs::chordal(&given, 1e-9)),
        (0.75, pairs::decoded(&given, &tau)),
        (2.0, pairs::margin(&given, &tau)),
        (1.5, pairs::sign(&given, 1e-9, 1e-3)),
        (3.0, bottom),
        (4.0, finite),
    ];
    let sum: f32 = terms.iter().map(|(weight, term)| weight * numbers(term)[0]).sum::<f32>() + 0.5 * missing * missing;
    near(&numbers(&pairs::total(&loss, &given, &tau)), &[f64::from(sum)], 1e-5);
}

#[test]
fn property_47_scale_collapse_lowers_the_implicit_loss_but_not_the_decoded_error() {
    let (p, q, y) = ([0.7, -0.2], [0.3, 0.8], [1.5, -0.9]);
    let shrunk = |values: [f32; 2]| values.map(|value| value * 1e-8);
    let whole = Rows::new(&p, &q, &y, &[1.0; 2]);
    let small = Rows::new(&shrunk(p), &shrunk(q), &y, &[1.0; 2]);
    let implicit = |rows: &Rows| numbers(&pairs::implicit(&rows.pairs(), 1e-9, false))[0];
    let decoded = |rows: &Rows| numbers(&pairs::decoded(&rows.pairs(), &rows.tau(1e-4)))[0];
    assert!(implicit(&small) < implicit(&whole) && decoded(&small) > decoded(&whole));
    assert!(decoded(&small) + 0.1 * implicit(&small) > decoded(&whole) + 0.1 * implicit(&whole));
}
