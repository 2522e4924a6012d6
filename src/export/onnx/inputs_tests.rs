//! The inputs of a model as a written ONNX file computes them: its first nodes are read back and evaluated.

use std::collections::HashMap;

use super::*;
use crate::export::write_onnx;
use crate::loss::Loss;
use crate::nn::{Activation, Layout, Spec};
use crate::table::{Feature, Preparation, Target};

/// A number of mean 3 and deviation 2 with bins 0 to 2, 2 to 4 and 4 to 8, and one without bins.
fn model() -> Model {
    let number = |name: &str, mean, scale, bins| {
        let name = name.to_owned();
        Feature::Numeric(NumberFeature { name, mean, scale, bins, ..NumberFeature::default() })
    };
    let bins = Bins { edges: vec![0.0, 2.0, 4.0, 8.0], means: vec![0.5, 0.25, 0.125], scales: vec![0.5, 0.25, 0.5] };
    let features = vec![number("a", 3.0, 2.0, bins), number("b", 0.0, 1.0, Bins::default())];
    let target = Target::Regression { name: "y".into(), mean: 0.0, scale: 1.0, min: 0.0, max: 1.0 };
    let spec = Spec::mlp(5, &[], 1, Activation::identity());
    let parameters = vec![0.0; Layout::of(&spec).total];
    Model::new(spec, Loss::mse(), parameters, Some(Preparation::new(features, target)))
}

#[test]
fn bins_are_empty_below_and_full_above() {
    let file = write_onnx(&model()).unwrap();
    // a, from it (a - 3) / 2 and the three bins, which are ((0 to 1) - mean) / deviation; b stays as it is.
    let cases = [
        (-5.0, [-4.0, -1.0, -1.0, -0.25]),
        (0.0, [-1.5, -1.0, -1.0, -0.25]),
        (3.0, [0.0, 1.0, 1.0, -0.25]),
        (6.0, [1.5, 1.0, 3.0, 0.75]),
        (100.0, [48.5, 1.0, 3.0, 1.75]),
    ];
    for (a, expected) in cases {
        for b in [-7.0, 7.0] {
            let got = given_to_the_layers(&file, &[(a - 3.0) / 2.0, b]);
            assert_eq!(got, [&expected[..], &[b]].concat(), "a = {a}");
        }
    }
}

/// What the first layer takes, for one row of the graph's input.
fn given_to_the_layers(file: &[u8], row: &[f32]) -> Vec<f32> {
    let graph = fields(file, 7)[0];
    let constants: HashMap<&[u8], &[u8]> =
        fields(graph, 5).into_iter().map(|tensor| (fields(tensor, 8)[0], fields(tensor, 9)[0])).collect();
    let mut values = HashMap::from([(INPUT.as_bytes(), row.to_vec())]);
    for node in fields(graph, 1) {
        let [inputs, outputs, operator] = [1, 2, 4].map(|field| fields(node, field));
        let x = &values[inputs[0]];
        let combine: fn(f32, f32) -> f32 = match operator[0] {
            b"Gemm" => return x.clone(),
            b"Mul" => |x, c| x * c,
            b"Add" => |x, c| x + c,
            b"Max" => f32::max,
            b"Min" => f32::min,
            b"Sub" => |x, c| x - c,
            b"Div" => |x, c| x / c,
            b"Gather" => {
                let places = constants[inputs[1]].chunks_exact(8).map(|place| x[usize::from(place[0])]);
                values.insert(outputs[0], places.collect());
                continue;
            }
            other => panic!("{} is no node of bins", String::from_utf8_lossy(other)),
        };
        let constant = constants[inputs[1]].as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes));
        let y = x.iter().zip(constant).map(|(x, c)| combine(*x, c)).collect();
        values.insert(outputs[0], y);
    }
    panic!("the graph has no layer");
}

/// The texts and messages in a field of a protocol-buffer message.
fn fields(mut message: &[u8], expected: u64) -> Vec<&[u8]> {
    let mut found = Vec::new();
    while !message.is_empty() {
        let key = varint(&mut message);
        let length = match key & 7 {
            0 => {
                varint(&mut message);
                continue;
            }
            2 => varint(&mut message) as usize,
            5 => 4,
            other => panic!("wire type {other} is not written"),
        };
        let (value, rest) = message.split_at(length);
        if key >> 3 == expected {
            found.push(value);
        }
        message = rest;
    }
    found
}

/// Seven bits per byte, lowest first.
fn varint(rest: &mut &[u8]) -> u64 {
    let (mut value, mut shift) = (0, 0);
    loop {
        let byte = rest[0];
        *rest = &rest[1..];
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return value;
        }
        shift += 7;
    }
}

#[test]
fn links_with_large_constants_are_exported() {
    let spec = Spec::mlp(1, &[], 99, Activation::identity());
    let loss = Loss::parse("ordinal").unwrap();
    let model = Model::new(spec, loss, vec![0.1; 256], None);
    assert_eq!(write_onnx(&model).map(|bytes| bytes.is_empty()), Ok(false));
}
