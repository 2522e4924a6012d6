//! Losses: values and gradients against the formulas of torch in f64, runs whose answer is known, from arrays and from tables.

#[path = "../../../../tests/engine/devices.rs"]
mod devices;
#[path = "../command/folder.rs"]
mod folder;
mod gaussian;
mod kl;
#[path = "../../../../tests/engine/noise.rs"]
mod noise;
mod ordinal;
mod poisson;
mod tweedie;

use folder::Folder;
use meromorph::autograd::Var;
use meromorph::loss::{Compared, Loss, sums};
use meromorph::tensor::Tensor;
use meromorph::{Device, ops};
use pollster::block_on;

/// A loss over some rows: its weighted sum and the gradient of that with respect to the outputs.
struct Graded {
    sum: f64,
    weight: f64,
    gradient: Vec<f64>,
}

impl Graded {
    /// Outputs `z` and targets `y` of `rows.len()` rows with these weights.
    fn of(device: &Device, loss: &Loss, (z, y): (&[f32], &[f32]), rows: &[f32]) -> Self {
        let var = |values: &[f32], height: usize| {
            let tensor = Tensor::from_f32(device, [height, values.len() / height], values);
            Var::leaf(tensor.expect("a tensor"))
        };
        let (z, y, weights) = (var(z, rows.len()), var(y, rows.len()), var(rows, rows.len()));
        let classes = var(&vec![1.0; loss.values(z.shape().sizes()[1])], 1);
        let (sum, weight) = sums(loss, &Compared { z: &z, y: &y, rows: &weights, classes: &classes }, &|_| {
            unreachable!("only pairs have a threshold")
        });
        let gradient = ops::grad(&sum, &[&z]).expect("a gradient").remove(0).expect("it depends on the outputs");
        let read = |x: &Var| block_on(x.value().to_f32()).expect("values").into_iter().map(f64::from).collect();
        let [sum, weight, gradient]: [Vec<f64>; 3] = [&sum, &weight, &gradient].map(read);
        Self { sum: sum[0], weight: weight[0], gradient }
    }

    /// Panics if a value is not near the expected one.
    #[track_caller]
    fn check(&self, sum: f64, weight: f64, gradient: &[f64], tolerance: f64) {
        let got = [&[self.sum, self.weight], &self.gradient[..]].concat();
        let expected = [&[sum, weight], gradient].concat();
        assert_eq!(got.len(), expected.len());
        let is_near = |(got, expected): (&f64, &f64)| (got - expected).abs() <= tolerance * (1.0 + expected.abs());
        assert!(got.iter().zip(&expected).all(is_near), "got {got:?}\nexpected {expected:?}");
    }
}

/// A column of a CSV file with a header.
fn cells(text: &str, name: &str) -> Vec<String> {
    let header = text.lines().next().expect("a header");
    let at = header.split(',').position(|column| column == name).unwrap_or_else(|| panic!("no {name} in {header}"));
    text.lines().skip(1).map(|line| line.split(',').nth(at).expect("a cell").to_owned()).collect()
}

fn column(text: &str, name: &str) -> Vec<f64> {
    cells(text, name).iter().map(|cell| cell.parse().unwrap_or_else(|_| panic!("{name}: {cell}"))).collect()
}

/// The metrics of `mero eval` as JSON.
fn judged(folder: &Folder, line: &str) -> serde_json::Value {
    let said = folder.told(&format!("{line} --json"));
    serde_json::from_str::<serde_json::Value>(&said).expect("JSON")["test"].clone()
}

/// Panics unless each command fails with this message and code.
fn refused(folder: &Folder, cases: &[(&str, &str, i32)]) {
    let mut failures = Vec::new();
    for (line, expected, code) in cases {
        let (got, said) = folder.refused(line);
        // "…" ends the start of a message whose rest is a list of names.
        let is_said = match expected.strip_suffix('…') {
            Some(start) => said.starts_with(&format!("mero: {start}")),
            None => said == format!("mero: {expected}"),
        };
        if got != Some(*code) || !is_said {
            failures.push(format!("{line}\n  {got:?} {said}\n  expected {code} {expected}"));
        }
    }
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
}
