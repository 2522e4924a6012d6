//! A model and a table for the tests of importance and partial dependence.

use crate::files::Table;
use crate::loss::Loss;
use crate::model::Model;
use crate::nn::{Activation, Layout, Spec};
use crate::table::{Feature, NumberFeature, Preparation, Target};

/// y = w · (a, b, c), without noise.
pub(crate) fn linear(weights: [f32; 3]) -> Model {
    let number = |name: &str| {
        let name = name.to_owned();
        Feature::Numeric(NumberFeature { name, scale: 1.0, min: -10.0, max: 10.0, ..NumberFeature::default() })
    };
    let target = Target::Regression { name: "y".into(), mean: 0.0, scale: 1.0, min: -10.0, max: 10.0 };
    let preparation = Preparation::new(["a", "b", "c"].map(number).to_vec(), target);
    let spec = Spec::mlp(3, &[], 1, Activation::identity());
    let layout = Layout::of(&spec);
    let mut parameters = vec![0.0; layout.total];
    parameters[layout.parameters[0].offset..][..3].copy_from_slice(&weights);
    Model::new(spec, Loss::mse(), parameters, Some(preparation))
}

/// y = 3 a - b over a, b and c that do not depend on each other and have variance 1 each.
pub(crate) fn judged(rows: usize) -> Table {
    let mut state = 1_u64;
    let mut draw = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((state >> 11) as f64 / (1_u64 << 53) as f64 - 0.5) * 12_f64.sqrt()
    };
    let row = |_| {
        let [a, b, c] = [draw(), draw(), draw()];
        [a, b, c, 3.0 * a - b]
    };
    let values: Vec<f64> = (0..rows).flat_map(row).collect();
    Table::from_matrix("t", &["a", "b", "c", "y"].map(String::from), &values).expect("a table")
}
