//! Cases of the perceptron's kernels, and their oracle: the formulas in f64, one row at a time. The formulas here are examples; every
//! built-in activation and loss, and every form of head, has its own cases, which are also built here.

use super::fused::Fused;
use super::goals::{Function, Goal, Pointwise, grade, slope};
use super::model::Mlp;
use super::params::Layer;
use super::scratch::Precision;
use crate::device::{Bound, Case, Execution, Expected, Geometry, Info, Tiles};
use crate::kernels::evidence::{Numbers, case, device, within, words};
use crate::kernels::mlp_forward::dispatch as forward;
use crate::kernels::mlp_step::dispatch as step;
use crate::kernels::oracle::wide;

/// A model, a batch and a goal.
pub(crate) struct Example {
    pub sizes: &'static [u32],
    pub activation: Function,
    pub goal: Goal,
    pub batch: usize,
}

/// Awkward sizes.
const SIZES: [&[u32]; 6] =
    [&[5, 64, 64, 64, 1], &[3, 7, 2], &[1, 1], &[30, 128, 10], &[2, 9, 17, 3, 5, 4], &[128, 5, 128]];

/// Models of awkward sizes; a batch fits one part, so every device splits it alike.
fn examples() -> Vec<Example> {
    let functions = [Function::silu(), Function::tanh(), Function::relu()];
    let goals = [
        Goal::Pointwise(Pointwise::squares()),
        Goal::Pointwise(Pointwise::held()),
        Goal::CrossEntropy(0.0),
        Goal::CrossEntropy(0.2),
    ];
    (0..12)
        .map(|at| {
            let (sizes, goal) = (SIZES[at % SIZES.len()], goals[(at + at / 6) % goals.len()].clone());
            // Cross-entropy needs several classes: it takes the model with ten outputs.
            let is_single = goal.is_class() && sizes[sizes.len() - 1] == 1;
            let sizes = if is_single { SIZES[3] } else { sizes };
            Example { sizes, activation: functions[at % functions.len()].clone(), goal, batch: 5 + at }
        })
        .collect()
}

/// Cases of `mlp_step` with an activation.
pub fn step_of_activation(function: Function, at: usize) -> Vec<Case> {
    let goal = Goal::Pointwise(Pointwise::squares());
    let example = Example { sizes: SIZES[[0, 1, 3, 4][at % 4]], activation: function, goal, batch: 7 + at };
    vec![step_case(&example, Tiles::ManySmall)]
}

/// Cases of `mlp_forward` with an activation, in f32 and with packed halves.
pub fn forward_of_activation(function: Function, at: usize) -> Vec<Case> {
    let goal = Goal::Pointwise(Pointwise::squares());
    let example = Example { sizes: SIZES[[0, 1, 3, 4][at % 4]], activation: function, goal, batch: 7 + at };
    vec![forward_case(&example, Tiles::ManySmall), half_case(&example, false)]
}

/// Cases of `mlp_step` with a pointwise loss; a batch fits one part.
pub fn step_of_loss(loss: Pointwise, at: usize) -> Vec<Case> {
    let goal = Goal::Pointwise(loss);
    vec![step_case(
        &Example { sizes: SIZES[at % SIZES.len()], activation: Function::tanh(), goal, batch: 9 + at % 8 },
        Tiles::ManySmall,
    )]
}

/// Cases of `mlp_step`. Drivers take seconds to compile coarse tiles, so only a few examples use them.
pub fn of_step() -> Vec<Case> {
    let coarse = examples().into_iter().step_by(4).map(|example| step_case(&example, Tiles::FewLarge));
    // Eight parts of 72 rows on every device: more samples than a panel takes at a time.
    let sizes: &[u32] = &[5, 64, 37, 1];
    let goal = Goal::Pointwise(Pointwise::squares());
    let long = Example { sizes, activation: Function::silu(), goal, batch: 576 };
    let panels = for_panels().chain([long]).map(|example| step_case(&example, Tiles::PerInvocation));
    let plain = examples().into_iter().map(|example| step_case(&example, Tiles::ManySmall)).chain(coarse).chain(panels);
    let plain = plain.chain(geometries()).chain([on_cpu(step_case(&beyond_gpus(), Tiles::ManySmall))]);
    plain.collect()
}

/// Workgroup memory that every GPU and browser has.
pub(crate) const LEAST_WORKGROUP_BYTES: u32 = 16 << 10;

/// Every split of the batch that a search may try, with two parts. Models that are held fit the least workgroup memory.
fn geometries() -> impl Iterator<Item = Case> {
    let texts = ["4x32", "4x64-held", "8x64", "8x128-held", "16x128", "16x64-held", "32x128", "4x256-held"];
    texts.into_iter().zip(examples()).map(|(text, example)| {
        let geometry = Geometry::parse(text).expect("a geometry");
        let sizes = if geometry.is_held && example.goal.is_class() { &[5, 32, 16, 3] } else { &[5, 32, 16, 1][..] };
        let sizes = if geometry.is_held { sizes } else { example.sizes };
        let example = Example { sizes, batch: 2 * geometry.rows as usize, ..example };
        let info = Info { workgroup_bytes: LEAST_WORKGROUP_BYTES, ..device(Tiles::ManySmall) };
        let name = format!("{} {geometry}", name(&example, Tiles::ManySmall));
        step_on(&info, geometry, &example, name)
    })
}

/// Cases of `mlp_forward`.
pub fn of_forward() -> Vec<Case> {
    let coarse = examples().into_iter().step_by(5).map(|example| forward_case(&example, Tiles::FewLarge));
    let panels = for_panels().map(|example| forward_case(&example, Tiles::PerInvocation));
    let plain =
        examples().into_iter().map(|example| forward_case(&example, Tiles::ManySmall)).chain(coarse).chain(panels);
    let halves =
        examples().into_iter().step_by(2).flat_map(|example| [false, true].map(|is_type| half_case(&example, is_type)));
    plain.chain(halves).chain([on_cpu(forward_case(&beyond_gpus(), Tiles::ManySmall))]).collect()
}

fn on_cpu(case: Case) -> Case {
    Case { name: case.name + " cpu", ..case }
}

/// Wider than devices other than the CPU are given.
fn beyond_gpus() -> Example {
    let goal = Goal::Pointwise(Pointwise::squares());
    Example { sizes: &[5, 260, 133, 3], activation: Function::silu(), goal, batch: 70 }
}

/// The examples that panels support.
fn for_panels() -> impl Iterator<Item = Example> {
    examples().into_iter().filter(|example| example.sizes.iter().all(|&size| size <= 64)).step_by(3)
}

/// The absolute part covers sums that cancel: their error follows the size of the summands.
pub(crate) const STEP_BOUND: Bound = within(2e-5, 2e-5);

pub(crate) fn model(example: &Example) -> (Mlp, Vec<Layer>, usize) {
    let mut total = 0;
    let mut place = |count: u32| {
        let at = total;
        total += count.next_multiple_of(64);
        at
    };
    let layer = |pair: &[u32]| Layer {
        inputs: pair[0],
        outputs: pair[1],
        weight: place(pair[0] * pair[1]),
        bias: place(pair[1]),
    };
    let layers: Vec<Layer> = example.sizes.windows(2).map(layer).collect();
    let mlp =
        Mlp::new(example.activation.curve.clone(), layers.clone(), total as usize).expect("a case fits the kernels");
    (mlp, layers, total as usize)
}

pub(crate) fn parameters(layers: &[Layer], total: usize, numbers: &mut Numbers) -> Vec<f32> {
    let mut flat = vec![0.0; total];
    for layer in layers {
        let scale = 1.0 / (layer.inputs as f32).sqrt();
        for (at, count) in [(layer.weight, layer.inputs * layer.outputs), (layer.bias, layer.outputs)] {
            let values = numbers.floats(count as usize);
            flat[at as usize..(at + count) as usize]
                .iter_mut()
                .zip(values)
                .for_each(|(slot, value)| *slot = scale * value);
        }
    }
    flat
}

fn name(example: &Example, tiles: Tiles) -> String {
    let tiles = format!("{tiles:?}").to_lowercase();
    format!(
        "{:?} {} {} batch {} {tiles}",
        example.sizes,
        example.activation.curve.text,
        example.goal.name(),
        example.batch
    )
}

fn step_case(example: &Example, tiles: Tiles) -> Case {
    step_on(&device(tiles), Geometry::DEFAULT, example, name(example, tiles))
}

fn step_on(info: &Info, geometry: Geometry, example: &Example, name: String) -> Case {
    let mut numbers = Numbers::new(71);
    let (mlp, layers, total) = model(example);
    let (inputs, outputs) = (example.sizes[0] as usize, example.sizes[example.sizes.len() - 1] as usize);
    let is_class = example.goal.is_class();
    let targets = if is_class { 1 } else { outputs };
    // The second and last batch lacks three rows.
    let (rows, steps, cursor) = (2 * example.batch - 3.min(example.batch - 1), 2_u32, 1_u32);
    let x = numbers.floats(rows * inputs);
    let y: Vec<f32> = if is_class {
        numbers.indices(rows, outputs as u32).iter().map(|&class| class as f32).collect()
    } else {
        numbers
            .floats(rows * targets)
            .iter()
            .map(|v| if example.goal.takes_probabilities() { 0.5 + 0.5 * v } else { *v })
            .collect()
    };
    let flat = parameters(&layers, total, &mut numbers);
    let weights: Vec<f32> = (0..outputs).map(|class| 0.5 + 0.25 * class as f32).collect();
    let permutation: Vec<u32> = (0..rows as u32).rev().collect();
    let order = [vec![0; 4 * steps as usize], permutation.clone()].concat();
    let fused = mlp.training(info, geometry, [rows, example.batch], steps as usize, targets);
    let mut partials = Vec::new();
    for part in permutation[example.batch..].chunks(example.batch.div_ceil(fused.parts())) {
        let mut oracle = Oracle::new(example, &layers, &flat);
        for &row in part {
            let row = row as usize;
            oracle.learn(&x[row * inputs..][..inputs], &y[row * targets..][..targets], &weights);
        }
        partials.extend(oracle.gradient);
        partials.extend([oracle.loss, oracle.weight]);
        partials.resize(partials.len().next_multiple_of(total + 64), 0.0);
    }
    let cpu = Info { execution: Execution::CpuPath, ..info.clone() };
    let scratch = fused.scratch_words(info).max(fused.scratch_words(&cpu));
    let control = Expected::Words(vec![8, cursor, 9, cursor]);
    let expected = vec![control, Expected::Floats(partials), Expected::Anything(scratch)];
    let given = vec![words(&x), words(&y), order, words(&flat), words(&weights)];
    let mut made = case(name, STEP_BOUND, given, expected, |given, out| {
        let [x, y, order, flat, weights] = [0, 1, 2, 3, 4].map(|at: usize| given[at].clone());
        step(&fused, example.goal.goal(), [x, y, order, flat, weights], [0, 1, 2].map(|at: usize| out[at].clone()))
    });
    made.outputs[0] = vec![8, cursor, 0, 0];
    // The kernel does not write the padding between tensors.
    made.outputs[1].fill(0);
    made
}

fn forward_case(example: &Example, tiles: Tiles) -> Case {
    predicting(example, name(example, tiles), &device(tiles), Precision::F32, within(1e-5, 1e-5))
}

/// Activations of half precision: the device's f16 type, or packed. Relative rounding error 2^-11 each, on some devices up to 2^-10.
fn half_case(example: &Example, is_type: bool) -> Case {
    let [features, kept] = if is_type { ["f16"; 2] } else { ["", "packed"] };
    let info = Info { features: vec![features.to_owned()], ..device(Tiles::ManySmall) };
    predicting(example, name(example, Tiles::ManySmall) + " " + kept, &info, Precision::F16, within(2e-3, 4e-3))
}

fn predicting(example: &Example, name: String, info: &Info, precision: Precision, bound: Bound) -> Case {
    let mut numbers = Numbers::new(72);
    let (mlp, layers, total) = model(example);
    let inputs = example.sizes[0] as usize;
    let rows = 9 * example.batch;
    let x = numbers.floats(rows * inputs);
    let flat = parameters(&layers, total, &mut numbers);
    let mut oracle = Oracle::new(example, &layers, &flat);
    let expected = x.chunks_exact(inputs).flat_map(|x| oracle.predict(x)).collect();
    let fused: Fused = mlp.predicting(info, rows, precision);
    let scratch = Expected::Anything(fused.scratch_words(info));
    let expected = vec![Expected::Floats(expected), scratch];
    case(name, bound, vec![words(&x), words(&flat)], expected, |given, out| {
        forward(&fused, [given[0].clone(), given[1].clone()], [out[0].clone(), out[1].clone()])
    })
}

/// A perceptron in f64, and the gradient sums of the rows so far.
pub(crate) struct Oracle<'a> {
    example: &'a Example,
    layers: &'a [Layer],
    pub flat: Vec<f64>,
    /// Inputs of each layer, then the outputs of the last.
    values: Vec<Vec<f64>>,
    /// Derivatives of the activations.
    slopes: Vec<Vec<f64>>,
    pub gradient: Vec<f64>,
    pub loss: f64,
    pub weight: f64,
}

impl<'a> Oracle<'a> {
    pub(crate) fn new(example: &'a Example, layers: &'a [Layer], flat: &[f32]) -> Self {
        let gradient = vec![0.0; flat.len()];
        Self {
            example,
            layers,
            flat: wide(flat),
            values: Vec::new(),
            slopes: Vec::new(),
            gradient,
            loss: 0.0,
            weight: 0.0,
        }
    }

    pub(crate) fn predict(&mut self, x: &[f32]) -> Vec<f64> {
        self.values = vec![wide(x)];
        self.slopes.clear();
        for (at, layer) in self.layers.iter().enumerate() {
            let a = &self.values[at];
            let row = |o: usize| &self.flat[layer.weight as usize + o * a.len()..][..a.len()];
            let sum =
                |o: usize| row(o).iter().zip(a).map(|(w, a)| w * a).sum::<f64>() + self.flat[layer.bias as usize + o];
            let z: Vec<f64> = (0..layer.outputs as usize).map(sum).collect();
            let is_last = at + 1 == self.layers.len();
            let f = if is_last { Function::identity().oracle } else { self.example.activation.oracle };
            self.values.push(z.iter().map(|&z| f(z)).collect());
            self.slopes.push(z.iter().map(|&z| slope(&f, z)).collect());
        }
        self.values[self.layers.len()].clone()
    }

    fn learn(&mut self, x: &[f32], y: &[f32], weights: &[f32]) {
        let z = self.predict(x);
        let (loss, weight, d) = grade(&self.example.goal, &z, &wide(y), &wide(weights));
        self.loss += loss;
        self.weight += weight;
        self.walk_back(d);
    }

    /// Adds the gradients of the last predicted row; `d` is the gradient by its z.
    pub(crate) fn walk_back(&mut self, mut d: Vec<f64>) {
        for at in (0..self.layers.len()).rev() {
            let (layer, a) = (&self.layers[at], &self.values[at]);
            let mut below = vec![0.0; a.len()];
            for (o, d) in d.iter().enumerate() {
                self.gradient[layer.bias as usize + o] += d;
                for (i, a) in a.iter().enumerate() {
                    let w = layer.weight as usize + o * below.len() + i;
                    self.gradient[w] += d * a;
                    below[i] += d * self.flat[w];
                }
            }
            if at > 0 {
                d = below.iter().zip(&self.slopes[at - 1]).map(|(d, slope)| d * slope).collect();
            }
        }
    }
}
