//! A perceptron and a linear model as one perceptron: x = silu(x) - silu(-x), so that two more values of every hidden layer carry an
//! output of the linear model to the last layer, which adds the two.

use super::Blend;
use super::linear::Linear;
use crate::nn::{Activation, Layer, Layout, Parameter, Spec};

/// More outputs would make the hidden layers twice as wide.
const MOST_OUTPUTS: usize = 32;

/// The two values that carry an output: it and its negative.
const PAIR: [(usize, f64); 2] = [(0, 1.0), (1, -1.0)];

/// The blend of both as a model; `None` unless the network is a perceptron of silu with hidden layers and few outputs.
pub(super) fn joined(spec: &Spec, parameters: &[f32], linear: &Linear, blend: Blend) -> Option<(Spec, Vec<f32>)> {
    let outputs = spec.outputs().ok().filter(|outputs| *outputs <= MOST_OUTPUTS)?;
    let hidden: Vec<usize> = hidden(spec)?.into_iter().map(|width| width + 2 * outputs).collect();
    let wider = Spec::mlp(spec.inputs, &hidden, outputs, Activation::silu());
    let [from, to] = [spec, &wider].map(Layout::of);
    let [share, rest] = [blend.linear, 1.0 - blend.linear].map(|part| part * blend.sharpness);
    let mut all = vec![0.0; to.total];
    for (at, (old, new)) in from.parameters.chunks_exact(2).zip(to.parameters.chunks_exact(2)).enumerate() {
        let scale = if at == hidden.len() { rest } else { 1.0 };
        for (old, new) in old.iter().zip(new) {
            copy(from.slice(old, parameters), columns(old), scale, &mut all[new.offset..], columns(new));
        }
        let (row, column) = (old[1].shape.len(), columns(&old[0]));
        let mut layer = Wider { all: &mut all, weight: &new[0], bias: &new[1], row, column };
        for output in 0..outputs {
            match at {
                0 => layer.take(output, linear),
                _ if at < hidden.len() => layer.carry(output),
                _ => layer.add(output, share),
            }
        }
    }
    Some((wider, all))
}

/// A layer with more rows and columns than its network has.
struct Wider<'a> {
    all: &'a mut [f32],
    weight: &'a Parameter,
    bias: &'a Parameter,
    /// The first of the new rows.
    row: usize,
    /// The first of the new columns.
    column: usize,
}

impl Wider<'_> {
    /// In the first layer: the output of the linear model, and its negative.
    fn take(&mut self, output: usize, linear: &Linear) {
        let (weights, free) = linear.of_output(output);
        for (place, sign) in PAIR {
            let row = self.row + 2 * output + place;
            linear.inputs.iter().zip(weights).for_each(|(input, weight)| self.put(row, *input, sign * weight));
            self.all[self.bias.offset + row] = (sign * free) as f32;
        }
    }

    /// Between: x = silu(x) - silu(-x), and its negative.
    fn carry(&mut self, output: usize) {
        for (row, sign) in PAIR {
            for (column, of) in PAIR {
                self.put(self.row + 2 * output + row, self.column + 2 * output + column, sign * of);
            }
        }
    }

    /// In the last layer: a share of it.
    fn add(&mut self, output: usize, share: f64) {
        for (column, sign) in PAIR {
            self.put(output, self.column + 2 * output + column, sign * share);
        }
    }

    fn put(&mut self, row: usize, column: usize, value: f64) {
        self.all[self.weight.offset + row * columns(self.weight) + column] = value as f32;
    }
}

/// The widths of the hidden layers of a perceptron of silu; `None` of another model, and without any.
fn hidden(spec: &Spec) -> Option<Vec<usize>> {
    let widths: Vec<usize> = spec
        .layers
        .iter()
        .filter_map(|layer| if let Layer::Linear(linear) = layer { Some(linear.outputs) } else { None })
        .collect();
    let (outputs, hidden) = widths.split_last()?;
    let is_one = Spec::mlp(spec.inputs, hidden, *outputs, Activation::silu()) == *spec;
    (is_one && !hidden.is_empty()).then(|| hidden.to_vec())
}

/// Values of a row of a weight; a bias has one per row.
fn columns(parameter: &Parameter) -> usize {
    parameter.shape.sizes().get(1).copied().unwrap_or(1)
}

/// Writes rows to the beginning of wider ones.
fn copy(from: &[f32], columns: usize, scale: f64, to: &mut [f32], width: usize) {
    for (from, to) in from.chunks_exact(columns).zip(to.chunks_mut(width)) {
        to.iter_mut().zip(from).for_each(|(to, from)| *to = (scale * f64::from(*from)) as f32);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::Device;
    use crate::loss::Loss;
    use crate::model::Model;
    use crate::nn::initialise;
    use pollster::block_on;

    fn assert_near(got: f64, expected: f64, within: f64) {
        assert!((got - expected).abs() <= within, "got {got}, expected {expected}");
    }

    #[test]
    fn a_blend_is_one_perceptron() {
        let device = Device::cpu(1);
        let spec = Spec::mlp(3, &[5, 4], 2, Activation::silu());
        let parameters = initialise(&Layout::of(&spec), 7);
        let linear = Linear { width: 3, inputs: vec![0, 2], weights: vec![1.0, -2.0, 0.5, 0.25, 3.0, -1.0] };
        let blend = Blend { linear: 0.25, sharpness: 1.5 };
        let (wider, all) = joined(&spec, &parameters, &linear, blend).unwrap();
        assert_eq!(wider, Spec::mlp(3, &[9, 8], 2, Activation::silu()));
        let x = [0.5, -1.0, 2.0, -30.0, 4.0, 1000.0, 0.0, 0.0, 0.0];
        let outputs = |spec: &Spec, parameters: &[f32]| {
            let model = Model::new(spec.clone(), Loss::cross_entropy(0.0), parameters.to_vec(), None);
            block_on(model.outputs(&device, &x)).unwrap()
        };
        let (network, got) = (outputs(&spec, &parameters), outputs(&wider, &all));
        // (1, -2) · (0.5, 2) + 0.5 = -3 and (0.25, 3) · (0.5, 2) - 1 = 5.125 for the first row.
        let lines = [-3.0, 5.125, -2029.5, 2991.5, 0.5, -1.0];
        for ((got, network), line) in got.iter().zip(&network).zip(lines) {
            let expected = 1.5 * (0.75 * f64::from(*network) + 0.25 * line);
            assert_near(f64::from(*got), expected, 1e-6 * expected.abs().max(1.0));
        }
        let others = [
            Spec::mlp(3, &[], 2, Activation::silu()),
            Spec::mlp(3, &[5], 2, Activation::relu()),
            Spec::mlp(3, &[5], 33, Activation::silu()),
        ];
        for spec in others {
            let parameters = vec![0.0; Layout::of(&spec).total];
            assert!(joined(&spec, &parameters, &linear, blend).is_none());
        }
    }
}
