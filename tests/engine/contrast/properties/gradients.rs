//! Statistics: one pair by hand, and their contrast against central differences of the free loss.

use super::super::oracle::{
    Batch, Energy, Error, Geometry, Nudge, Relaxed, Retrieval, Rotor, Statistics, central, pool, relative_error,
    scatter,
};
use super::{near, problem};

const ERRORS: [Error; 2] = [Error::Squared, Error::CrossEntropy];

#[test]
fn statistics_of_one_pair_are_those_worked_by_hand() {
    let (keys, states) = (vec![3.0, 4.0], vec![1.0]);
    let retrieval = Retrieval { n: 2, d: 1, beta: 5.0, r: 2.0, eps: 0.0, keys, states, rotor: Rotor::new(2, 1) };
    let energy = Energy::new(retrieval, Error::Squared);
    let geometry = Geometry { metric: vec![1.0, 4.0], theta: vec![0.0] };
    let batch = Batch { queries: vec![0.0, 0.0], targets: vec![0.5] };
    let half = Relaxed { weights: vec![0.5], y: vec![0.75] };
    let got = Statistics::of(&energy, &geometry, &batch, &[half]);
    // kap = w R / spd with spd = sqrt(9 + 64).
    let kap = 73.0_f64.sqrt().recip();
    near(&got.metric, &[4.5 * kap, 8.0 * kap], 1e-15);
    near(&got.angles, &[3.0 * 12.0 * kap], 1e-14);
    near(&got.keys, &[3.0 * kap, 16.0 * kap], 1e-14);
    near(&got.queries, &[-3.0 * kap, -16.0 * kap], 1e-14);
    near(&got.values, &[0.5 * 0.25], 1e-15);
    near(&[got.sharpness, got.r], &[0.5 * 0.5_f64.ln(), 0.5 * 73.0_f64.sqrt()], 1e-14);
}

#[test]
fn a_contrast_is_the_gradient_of_the_free_loss() {
    for error in ERRORS {
        // An odd number of coordinates, and a slot that is not live.
        let (energy, geometry, batch) = problem(Rotor::new(5, 3), 4, [3, 12], error);
        let got = energy.contrast(&geometry, &batch, Nudge::Symmetric(1e-4));
        let check = |name: &str, got: &[f64], at: &[f64], loss: &dyn Fn(&[f64]) -> f64| {
            let error = relative_error(got, &central(at, 1e-5, loss));
            assert!(error < 1e-6, "{name}: relative error {error:e}");
        };
        let with = |change: &dyn Fn(&mut Retrieval)| {
            let mut changed = energy.clone();
            change(&mut changed.retrieval);
            changed.loss(&geometry, &batch)
        };
        let of = |geometry: Geometry| energy.loss(&geometry, &batch);
        check("metric", &got.metric, &geometry.metric, &|x| of(Geometry { metric: x.to_vec(), ..geometry.clone() }));
        assert_eq!(got.angles[3], 0.0);
        check("angles", &got.angles, &geometry.theta, &|x| of(Geometry { theta: x.to_vec(), ..geometry.clone() }));
        let own: Vec<f64> = got.queries.iter().map(|part| part / 3.0).collect();
        let queries = |x: &[f64]| energy.loss(&geometry, &Batch { queries: x.to_vec(), ..batch.clone() });
        check("queries", &own, &batch.queries, &queries);
        let retrieval = &energy.retrieval;
        check("keys", &got.keys, &retrieval.keys, &|x| with(&|retrieval| retrieval.keys = x.to_vec()));
        check("values", &got.values, &retrieval.states, &|x| with(&|retrieval| retrieval.states = x.to_vec()));
        check("tau", &[got.sharpness], &[0.5], &|tau| with(&|retrieval| retrieval.beta = tau[0].recip()));
        check("R", &[got.r], &[retrieval.r], &|r| with(&|retrieval| retrieval.r = r[0]));
    }
}

#[test]
fn the_error_falls_with_the_nudge_and_with_its_square() {
    for error in ERRORS {
        let (energy, geometry, batch) = problem(Rotor::new(8, 8), 8, [8, 64], error);
        let metric = |x: &[f64]| energy.loss(&Geometry { metric: x.to_vec(), ..geometry.clone() }, &batch);
        let theta = |x: &[f64]| energy.loss(&Geometry { theta: x.to_vec(), ..geometry.clone() }, &batch);
        let exact = [central(&geometry.metric, 1e-5, metric), central(&geometry.theta, 1e-5, theta)];
        let errors = |nudge: &dyn Fn(f64) -> Nudge| {
            [1e-1, 1e-2, 1e-3].map(|b| {
                let got = energy.contrast(&geometry, &batch, nudge(b));
                [relative_error(&got.metric, &exact[0]), relative_error(&got.angles, &exact[1])]
            })
        };
        for (order, nudge) in [(1, Nudge::OneSided as fn(f64) -> Nudge), (2, Nudge::Symmetric)] {
            let errors = errors(&nudge);
            let rate = |at: usize, part: usize| (errors[at][part] / errors[at + 1][part]).log10();
            for (at, part) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                let rate = rate(at, part);
                assert!((rate - f64::from(order)).abs() < 0.1, "{error:?}, order {order}: {rate} from {errors:?}");
            }
        }
    }
}

#[test]
fn an_embedding_gets_the_gradient_of_the_loss_through_its_mean() {
    let (energy, geometry, batch) = problem(Rotor::new(4, 4), 3, [2, 10], Error::CrossEntropy);
    let (ids, mask) = (vec![vec![0, 1, 1], vec![2, 0, 3]], vec![vec![1.0, 1.0, 1.0], vec![1.0, 0.0, 0.0]]);
    let embedding = [&batch.queries[..], &batch.queries[..]].concat();
    let fed = |embedding: &[f64]| Batch { queries: pool(embedding, 4, &ids, &mask), ..batch.clone() };
    let exact = central(&embedding, 1e-5, |embedding| energy.loss(&geometry, &fed(embedding)));
    let gradient = energy.contrast(&geometry, &fed(&embedding), Nudge::Symmetric(1e-4));
    let mut moved = embedding.clone();
    scatter(&mut moved, &ids, &mask, &gradient.queries, 1.0);
    let step: Vec<f64> = embedding.iter().zip(&moved).map(|(before, after)| before - after).collect();
    assert!(relative_error(&step, &exact) < 1e-6, "{step:?} for {exact:?}");
    // The last token is masked.
    assert_eq!(step[12..], [0.0; 4]);
}
