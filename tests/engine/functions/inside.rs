//! Functions inside ops: gradients of the program's own, and loops.

use std::rc::Rc;

use super::{config, data, traced, trainer};
use crate::devices::devices;
use crate::noise::noise;
use meromorph::autograd::{Op, Var, apply};
use meromorph::graph::Graph;
use meromorph::internal::json::{Json, Record};
use meromorph::model::{Initial, Model, Network};
use meromorph::nn::{Activation, Spec};
use meromorph::optim::Optimizer;
use meromorph::tensor::Tensor;
use meromorph::train::{Checkpoint, Flow, Trainer, TrainerConfig};
use meromorph::{Device, Result, ops};
use pollster::block_on;

type Rule = fn(&[Var], &Var, &Var) -> Result<Vec<Option<Var>>>;

/// x a, cubed, with this gradient.
fn cube(rule: Rule) -> Network {
    Network::function(3, [("a", Initial::constant([3, 1], 0.5))], move |p, x| {
        let z = ops::matmul(x, &p["a"]);
        ops::custom("cube", &[&z], |z| &(&z[0] * &z[0]) * &z[0], rule)
    })
}

/// Runs that go on from a checkpoint of `network` by the file alone and by the program, and one that was not interrupted: their parameters.
fn resumed(device: &Device, network: &dyn Fn() -> Network) -> Result<[Vec<f32>; 3]> {
    let mut run = trainer(device, network())?;
    block_on(run.run(&mut |_| Flow::Stop))?;
    let file = block_on(run.checkpoint())?.save(None)?;
    let mut alone = Trainer::resume(device, data(), Checkpoint::load(&file, "run")?.0)?;
    let mut again = block_on(Trainer::resume_with(device, network(), data(), Checkpoint::load(&file, "run")?.0))?;
    let mut whole = trainer(device, network())?;
    for trainer in [&mut alone, &mut again, &mut whole] {
        block_on(trainer.run(&mut |_| Flow::Continue))?;
    }
    Ok([block_on(alone.parameters())?, block_on(again.parameters())?, block_on(whole.parameters())?])
}

/// The errors of a spec after a change of its text.
fn said(spec: &Spec, from: &str, to: &str) -> String {
    let text = spec.to_json().to_string();
    assert!(text.contains(from), "{from} is not in {text}");
    let spec = Json::parse(&text.replacen(from, to, 1)).and_then(|json| Spec::from_json(&json));
    spec.and_then(|spec| spec.outputs()).expect_err(to).to_string()
}

#[test]
fn an_own_gradient_is_in_the_file() -> Result<()> {
    let halved: Rule = |_, value, gradient| Ok(vec![Some(&(gradient * value) * 0.5)]);
    for device in devices(&[1, 2]) {
        let [alone, again, whole] = resumed(&device, &|| cube(halved))?;
        assert_eq!(alone, whole, "{}", device.info().device);
        assert_eq!(again, whole);
        // The gradient of a cube would have led elsewhere.
        let true_slope: Rule = |z, _, gradient| Ok(vec![Some(&(gradient * &(&z[0] * &z[0])) * 3.0)]);
        assert_ne!(resumed(&device, &|| cube(true_slope))?[2], whole);
    }
    let spec = block_on(cube(halved).traced(&Device::cpu(1)))?;
    let shorter = said(&spec, "\"gradients\":[true]", "\"gradients\":[true,true]");
    assert_eq!(shorter, "model: layers.0: node 5 (custom): got 2 gradients, expected 1, one for each input");
    let none = said(&spec, "\"gradients\":[true]", "\"gradients\":[false]");
    assert_eq!(
        none,
        "model: layers.0: node 5 (custom): got gradients of other shapes than the inputs, expected the same"
    );
    Ok(())
}

#[test]
fn an_own_gradient_uses_values_from_outside() -> Result<()> {
    // The gradient by the second input is that of a product with `slope`, a parameter; the first input has none.
    let network = || {
        let parameters = [("a", Initial::constant([3, 1], 0.5)), ("slope", Initial::constant([1, 1], 2.0))];
        Network::function(3, parameters, |p, x| {
            let slope = p["slope"].clone();
            let (z, shift) = (ops::matmul(x, &p["a"]), ops::mul(&p["slope"], &p["slope"]));
            let sum = |v: &[Var]| &v[0] + &v[1];
            let rule = move |_: &[Var], _: &Var, gradient: &Var| Ok(vec![None, Some(gradient * &slope)]);
            &ops::custom("scaled", &[&shift, &z], sum, rule) + &p["slope"]
        })
    };
    let device = Device::cpu(1);
    let [alone, again, whole] = resumed(&device, &network)?;
    assert_eq!((&alone, &again), (&whole, &whole));
    // One step of gradient descent from a = 1/2: z + slope² + slope against y, by twice the residual, times the slope for a; only the term on the right
    // goes into the slope.
    let settings = TrainerConfig { optimizer: Optimizer::sgd(0.0)?, lr: 0.1, batch: 200, epochs: 1, ..config() };
    let start = network().initialise(1)?;
    let layout = network().layout().clone();
    for network in [network(), block_on(network().traced(&device))?.into()] {
        let mut trainer = Trainer::with_parameters(&device, network, settings.clone(), data(), &start)?;
        trainer.advance(1)?;
        let (x, y) = (data().train.x, data().train.y);
        let mut expected = [0.5, 0.5, 0.5, 2.0_f64];
        for (x, y) in x.chunks_exact(3).zip(&y) {
            let residual = x.iter().map(|x| 0.5 * f64::from(*x)).sum::<f64>() + 6.0 - f64::from(*y);
            for (a, x) in expected.iter_mut().zip(x) {
                *a -= 0.1 * 2.0 * residual / 200.0 * 2.0 * f64::from(*x);
            }
            expected[3] -= 0.1 * 2.0 * residual / 200.0;
        }
        let flat = block_on(trainer.parameters())?;
        let got = layout.parameters.iter().flat_map(|one| layout.slice(one, &flat));
        for (got, expected) in got.zip(expected) {
            assert!((f64::from(*got) - expected).abs() < 1e-5, "{got} {expected}");
        }
    }
    Ok(())
}

/// An op that says nothing about how it is stored.
pub(super) struct Passed;

impl Op for Passed {
    fn name(&self) -> &'static str {
        "passed"
    }

    fn forward(&self, inputs: &[&Tensor]) -> Tensor {
        inputs[0].clone()
    }
}

#[test]
fn an_own_gradient_of_ops_that_no_file_holds_stays_in_the_program() -> Result<()> {
    let passed: Rule = |_, _, gradient| Ok(vec![Some(apply(Rc::new(Passed), &[gradient]))]);
    // Nor a random draw, a host's number of rows, or a gradient that is not what it should be.
    let drawn: Rule = |_, _, gradient| {
        let noise = ops::uniform(gradient.value().device(), gradient.shape().clone(), 1, 2)?;
        Ok(vec![Some(gradient * &Var::constant(noise))])
    };
    let mean: Rule = |_, _, gradient| Ok(vec![Some(gradient * (1.0 / gradient.shape().sizes()[0] as f32))]);
    for rule in [drawn, mean] {
        let spec = block_on(cube(rule).traced(&Device::cpu(1)))?;
        assert!(!spec.to_json().to_string().contains("bodies"));
        assert_eq!(spec.outputs()?, 1);
    }
    let device = Device::cpu(1);
    let mut run = trainer(&device, cube(passed))?;
    block_on(run.run(&mut |_| Flow::Stop))?;
    let file = block_on(run.checkpoint())?.save(None)?;
    let saved = Model::load(&file, "cube")?;
    assert_eq!(block_on(saved.outputs(&device, &[1.0, 0.0, 0.0]))?.len(), 1);
    let error = Trainer::resume(&device, data(), Checkpoint::load(&file, "run")?.0).err().expect("no gradient");
    assert_eq!(
        error.to_string(),
        "grad: cube: its gradient is in the program that made the model, not in its file: expected to be trained by that program"
    );
    let mut again = block_on(Trainer::resume_with(&device, cube(passed), data(), Checkpoint::load(&file, "run")?.0))?;
    for trainer in [&mut again, &mut run] {
        block_on(trainer.run(&mut |_| Flow::Continue))?;
    }
    assert_eq!(block_on(again.parameters())?, block_on(run.parameters())?);
    Ok(())
}

#[test]
fn a_value_from_outside_is_learnt_however_else_it_is_used() -> Result<()> {
    // `b` as it is, and as a tensor, which is not trained; in either order.
    for is_first in [true, false] {
        let network = || {
            Network::function(
                3,
                [("a", Initial::constant([3, 1], 0.5)), ("b", Initial::constant([1, 1], 0.7))],
                move |p, x| {
                    ops::repeat(2, &ops::matmul(x, &p["a"]), |state| {
                        let still = Var::constant(p["b"].value().clone());
                        let sum = |first: &Var, second: &Var| &(state * first) + second;
                        Ok(if is_first { sum(&still, &p["b"]) } else { sum(&p["b"], &still) })
                    })
                },
            )
        };
        let device = Device::cpu(1);
        let [alone, again, whole] = resumed(&device, &network)?;
        assert_eq!((&alone, &again), (&whole, &whole), "{is_first}");
        assert_ne!(whole[network().layout().parameters[1].offset], 0.7);
    }
    Ok(())
}

/// A recurrent unit over the three inputs as a sequence: h ← tanh(h U + x_t w), then a root of its last state by Newton's iteration.
fn recurrent() -> Network {
    let parameters = [("u", [4, 4]), ("w", [1, 4]), ("out", [4, 1])];
    Network::function(3, parameters.map(|(name, shape)| (name, Initial::normal(shape, 0.5))), |p, x| {
        let rows = x.shape().sizes()[0];
        let sequence = ops::reshape(&ops::permute(x, &[1, 0]), [3, rows, 1]);
        let start = &ops::matmul(&ops::reshape(&ops::sum(x, 1..2), [rows, 1]), &p["w"]) * 0.0;
        let states = ops::block("unit", x, || {
            ops::scan(&start, &[&sequence], |state, element| {
                let inner = ops::block("product", x, || ops::matmul(state, &p["u"]));
                Ok(ops::tanh(&(&inner + &ops::matmul(&element[0], &p["w"]))))
            })
        })?;
        let mean = ops::reshape(&ops::mean(&states, 0..1), [rows, 4]);
        let square = &(&mean * &mean) + 1.0;
        let root = ops::repeat(4, &square, |r| Ok(ops::fused(&[r, &square], |v| 0.5 * (v[0] + v[1] / v[0]))))?;
        Ok::<_, meromorph::Error>(ops::matmul(&(&root * &mean), &p["out"]))
    })
}

#[test]
fn loops_are_saved_as_one_node_and_trained_on() -> Result<()> {
    let graph = traced(&recurrent())?;
    let lines = graph.lines()?;
    let at = lines.iter().position(|line| line.contains("scan(")).expect("one node");
    assert_eq!(
        lines[at..at + 6],
        [
            "v5 = scan(v4, v1, steps=3)   [3, rows, 4]   unit",
            "    v5.0 = matmul(v5.in0, u, transposed=[false, false])",
            "    v5.1 = matmul(v5.in1, w, transposed=[false, false])",
            "    v5.2 = v5.0 + v5.1",
            "    v5.3 = tanh(v5.2)",
            "    returns v5.3",
        ],
        "{}",
        lines.join("\n")
    );
    assert_eq!(Graph::from_json(&Json::parse(&graph.to_json().to_string())?)?, graph);
    assert_eq!(graph.nodes.iter().filter(|node| !node.bodies.is_empty()).count(), 2);
    for device in devices(&[1, 2]) {
        let [alone, again, whole] = resumed(&device, &recurrent)?;
        assert_eq!((&alone, &again), (&whole, &whole), "{}", device.info().device);
        let mut run = trainer(&device, recurrent())?;
        block_on(run.run(&mut |_| Flow::Continue))?;
        let x = noise(3 * 3000, 9);
        let model = Model::load(&block_on(run.model(None))?.save()?, "recurrent")?;
        assert_eq!(model.format, 5);
        assert_eq!(block_on(model.outputs(&device, &x))?, block_on(run.predict(&x))?);
        // The blocks of a loop are computed again by name, from the file as well.
        let bytes = |network: Network, names: &[&str]| {
            let recompute_layers = names.iter().map(|name| (*name).to_owned()).collect();
            let settings = TrainerConfig { recompute_layers, ..config() };
            let start = recurrent().initialise(3)?;
            let trainer = Trainer::with_parameters(&device, network, settings, data(), &start)?;
            let summary = trainer.step_summary();
            Ok::<_, meromorph::Error>((summary.transient_bytes, summary.recomputed.0))
        };
        for name in ["unit", "unit.product"] {
            let [program, file] = [recurrent(), Network::from(model.spec.clone())].map(|one| bytes(one, &[name]));
            let (program, file) = (program?, file?);
            assert!(program == file && (program.1 > 0 || name != "unit"), "{name}: {program:?} {file:?}");
        }
    }
    Ok(())
}

#[test]
fn gradients_of_any_order_flow_through_loops() -> Result<()> {
    for device in devices(&[1]) {
        let numbers = |values: &[f32]| Tensor::from_f32(&device, [values.len()], values).map(Var::leaf);
        let (x, w) = (numbers(&[1.0, -2.0])?, numbers(&[0.5, 3.0])?);
        // x w³: 3 x w² by w, 6 x w by w twice.
        let y = ops::repeat(3, &x, |state| Ok(state * &w))?;
        let first = ops::grad(&y, &[&w])?[0].clone().expect("a gradient");
        let second = ops::grad(&first, &[&w])?[0].clone().expect("a gradient");
        assert_eq!(block_on(y.value().to_f32())?, [0.125, -54.0]);
        assert_eq!(block_on(first.value().to_f32())?, [0.75, -54.0]);
        assert_eq!(block_on(second.value().to_f32())?, [3.0, -36.0]);
        // s ← s e: the states are x e0, x e0 e1; the sum of both by e1 is x e0.
        let elements = Var::leaf(Tensor::from_f32(&device, [2, 2], &[2.0, 3.0, 5.0, 7.0])?);
        let states = ops::scan(&x, &[&elements], |state, element| Ok(state * &element[0]))?;
        assert_eq!(states.shape().sizes(), [2, 2]);
        assert_eq!(block_on(states.value().to_f32())?, [2.0, -6.0, 10.0, -42.0]);
        let by_elements = ops::grad(&states, &[&elements])?[0].clone().expect("a gradient");
        assert_eq!(block_on(by_elements.value().to_f32())?, [6.0, -16.0, 2.0, -6.0]);
    }
    Ok(())
}

#[test]
fn derivatives_are_part_of_a_function() -> Result<()> {
    // A potential of layers and a norm; the output is minus its slope by the first input.
    let force = || {
        let parameters = [("w", vec![8, 3]), ("a", vec![8]), ("v", vec![8, 8]), ("b", vec![8]), ("u", vec![8, 1])];
        Network::function(3, parameters.map(|(name, shape)| (name, Initial::normal(shape, 0.5))), |p, x| {
            let x = &x.tracked();
            let h = ops::layer(x, &p["w"], Some(&p["a"]), Some(Activation::tanh().curve()));
            let h = ops::layer(&ops::layer_norm(&h, 1e-2), &p["v"], Some(&p["b"]), Some(Activation::silu().curve()));
            let potential = ops::matmul(&ops::softmax(&h), &p["u"]);
            let slope = ops::grad(&potential, &[x])?[0].clone().expect("a gradient");
            Ok::<_, meromorph::Error>(ops::neg(&ops::slice(&slope, 1, 0..1)))
        })
    };
    let x = noise(3 * 500, 9);
    for device in devices(&[1]) {
        let mut program = trainer(&device, force())?;
        let mut file = trainer(&device, block_on(force().traced(&device))?)?;
        assert_eq!(block_on(program.parameters())?, block_on(file.parameters())?);
        for steps in [0, 5] {
            program.advance(steps)?;
            file.advance(steps)?;
            let (expected, got) = (block_on(program.predict(&x))?, block_on(file.predict(&x))?);
            let largest = expected.iter().fold(0.0_f32, |most, value| most.max(value.abs()));
            let apart = expected.iter().zip(&got).fold(0.0_f32, |most, (a, b)| most.max((a - b).abs()));
            assert!(largest > 1e-2 && apart <= 2e-5 * largest, "{}: {apart} {largest}", device.info().device);
        }
    }
    Ok(())
}

#[test]
fn a_loop_that_makes_no_sense_is_an_error() -> Result<()> {
    let device = Device::cpu(1);
    let numbers = |sizes: &[usize]| {
        Tensor::from_f32(&device, sizes.to_vec(), &vec![1.0; sizes.iter().product()]).map(Var::constant)
    };
    let x = numbers(&[2])?;
    let refused = |result: Result<Var>, expected: &str| assert_eq!(result.err().expect(expected).to_string(), expected);
    refused(ops::repeat(0, &x, |x| Ok(x.clone())), "repeat: got 0 steps, expected 1 to 16384");
    let wider = "repeat: a step must return a state like the one it takes: got [2, 2] of F32, expected [2] of F32";
    refused(ops::repeat(2, &x, |x| Ok(ops::stack(&[x, x]))), wider);
    refused(ops::scan(&x, &[], |x, _| Ok(x.clone())), "scan: got no sequence with a first axis, expected one of steps");
    let [three, two] = [numbers(&[3, 2])?, numbers(&[2, 2])?];
    let unequal = "scan: got a sequence [2, 2], expected 3 along the first axis";
    refused(ops::scan(&x, &[&three, &two], |x, _| Ok(x.clone())), unequal);

    // Of a file.
    let spec = block_on(recurrent().traced(&device))?;
    for (from, to, expected) in [
        ("\"steps\":3", "\"steps\":2", "node 5 (scan): got a sequence [3, 1, 1], expected 2 along the first axis"),
        ("\"steps\":4", "\"steps\":0", "node 10 (repeat): got 0 steps, expected 1 to 16384"),
        (
            "\"captured\":1",
            "\"captured\":9",
            "node 10 (repeat): the functions inside it use more values than it has inputs",
        ),
        ("\"captured\":2", "\"captured\":1", "node 5 (scan): got a sequence [4, 4], expected 3 along the first axis"),
        ("\"arguments\":4", "\"arguments\":5", "node 5 (scan): got 4 arguments of the function inside it, expected 5"),
        (
            "\"outputs\":[7]",
            "\"outputs\":[70]",
            "node 5 (scan): the function inside it returns a value that it does not have",
        ),
        ("\"outputs\":[7]", "\"outputs\":[7,7]", "node 5 (scan): a step returns 2 values, expected one"),
        (
            "\"inputs\":[0,2]",
            "\"inputs\":[0,7]",
            "node 5 (scan): the function inside it: node 0 (matmul): an input is not a value before it",
        ),
        ("\"steps\":4", "\"steps\":100000", "got 400038 ops, expected at most 65536"),
    ] {
        let got = said(&spec, from, to);
        assert_eq!(got, format!("model: layers.0: {expected}"), "{from} → {to}");
    }

    // Loops within loops count as often as their ops are applied, and steps are a plain number.
    let nested = Network::function(3, [("a", Initial::constant([3, 1], 0.5))], |p, x| {
        ops::repeat(300, &ops::matmul(x, &p["a"]), |state| ops::repeat(300, state, |state| Ok(ops::tanh(state))))
    });
    let error = block_on(nested.traced(&device)).expect_err("too many").to_string();
    assert_eq!(error, "save: model: layers.0: got 270601 ops, expected at most 65536");
    let by_rows = said(&spec, "\"steps\":3", "\"steps\":{\"rows\":1}");
    assert!(by_rows.starts_with("model: layers.0: scan: steps: "), "{by_rows}");
    let along = Network::function(3, [("a", Initial::constant([3, 1], 0.5))], |p, x| {
        let start = ops::matmul(&ops::slice(x, 0, 0..1), &p["a"]);
        let rows = ops::matmul(x, &p["a"]);
        let sums = ops::scan(&ops::reshape(&start, [1]), &[&rows], |sum, row| Ok(sum + &row[0]))?;
        Ok::<_, meromorph::Error>(sums)
    });
    let error = block_on(along.traced(&device)).expect_err("rows").to_string();
    assert!(
        error.starts_with("save: how many steps \"scan\" has of the function depends on the number of rows"),
        "{error}"
    );
    let inside = said(
        &spec,
        "\"attributes\":{\"order\":[1,0]}",
        "\"attributes\":{\"order\":[1,0]},\"bodies\":[{\"arguments\":1,\"captured\":0,\"nodes\":[],\"outputs\":[99]}]",
    );
    assert_eq!(inside, "model: layers.0: node 0 (permute): got a function inside it, expected none");

    // A gradient through a loop within a function that is saved.
    let inner = Network::function(3, [("w", Initial::constant([1, 3], 0.5))], |p, x| {
        let leaf = Var::leaf(x.value().clone());
        let y = ops::repeat(2, &leaf, |state| Ok(state * &p["w"]))?;
        Ok::<_, meromorph::Error>(ops::grad(&y, &[&leaf])?[0].clone().expect("a gradient"))
    });
    let error = block_on(inner.traced(&device)).expect_err("a gradient");
    assert_eq!(
        error.to_string(),
        "save: a function takes a gradient through ops::repeat, which no file holds: write its steps as ops"
    );
    Ok(())
}
