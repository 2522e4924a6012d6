//! Fits a net: Adam over shuffled batches, one replayed plan per step, the same loop for every method of every domain, so that
//! methods differ in nothing but the net. The order of epoch e comes from one stream per seed, hence is the same for all methods.

use super::net::{Batch, Net};
use super::random::{Purpose, Stream};
use crate::autograd::Var;
use crate::device::{Buffer, Command, Device, Plan, View};
use crate::error::{Error, Result};
use crate::kernels::{batch, optimise};
use crate::nn::Layout;
use crate::ops;
use crate::optim::{Optimizer, Schedule};
use crate::tensor::{DType, Tensor};
use crate::train::Examples;

/// Words behind the gradients: loss, weight, padding to the binding alignment.
const TAIL: usize = 64;
/// Words of the optimiser's table per step.
const ROW_WORDS: usize = 4;
/// Rows predicted at a time.
const CHUNK: usize = 8192;

/// How a net is fitted.
#[derive(Clone, Debug)]
pub(super) struct Lesson {
    /// Passes over the rows.
    pub epochs: usize,
    /// Rows per step.
    pub batch: usize,
    /// Adam's learning rate.
    pub lr: f64,
    /// How it changes.
    pub schedule: Schedule,
    /// Seed of weights and order.
    pub seed: u64,
}

/// Rows to learn from.
pub(super) struct Rows<'a> {
    /// Inputs and targets, row-major.
    pub examples: &'a Examples,
    /// Values per row that go in.
    pub inputs: usize,
    /// Values per row that the loss is told.
    pub targets: usize,
}

/// How bad outputs are, each row-major; smaller is better.
pub(super) type Score<'a> = Box<dyn Fn(&[Vec<f32>]) -> f64 + 'a>;

/// Chooses the epoch whose weights are kept: rows to predict after each epoch, and a score of their outputs.
pub(super) struct Selection<'a> {
    /// [rows, inputs].
    pub x: &'a [f32],
    /// Of the net's outputs.
    pub score: Score<'a>,
}

/// A net that was fitted.
pub(super) struct Fitted {
    /// Mean loss of each epoch.
    pub losses: Vec<f64>,
    /// Steps taken.
    pub steps: usize,
    /// The epoch the weights are from, from 0; the last without a selection.
    pub epoch: usize,
    predictor: Predictor,
}

impl Fitted {
    /// Outputs for inputs, each row-major.
    pub(super) async fn predict(&self, x: &[f32]) -> Result<Vec<Vec<f32>>> {
        self.predictor.run(x).await
    }
}

/// Fits `net` to `rows`.
pub(super) async fn fit(
    device: &Device,
    net: &Net,
    rows: &Rows<'_>,
    lesson: &Lesson,
    selection: Option<&Selection<'_>>,
) -> Result<Fitted> {
    let count = rows.examples.rows(rows.targets);
    let batch = lesson.batch.min(count);
    let steps = count.div_ceil(batch);
    let state = State::new(device, net, lesson.seed, count, steps)?;
    let plan = state.step(device, net, rows, [count, batch, steps])?;
    let predictor = Predictor::new(device, net, rows.inputs, &state.parameters)?;
    let mut stream = Stream::new(lesson.seed, Purpose::Order);
    let (mut losses, mut best) = (Vec::new(), (f64::INFINITY, lesson.epochs - 1));
    for epoch in 0..lesson.epochs {
        let words = epoch_words(lesson, epoch, steps, &stream.permutation(count));
        device.write(&state.order, 0, &words)?;
        plan.run(steps)?;
        losses.push(state.mean_loss(device, [count, batch, steps]).await?);
        if let Some(selection) = selection {
            let score = (selection.score)(&predictor.run(selection.x).await?);
            if score < best.0 {
                best = (score, epoch);
                device.record(Command::Copy { from: state.parameters.view(), to: state.best.view() });
                device.flush()?;
            }
        }
    }
    if best.0 < f64::INFINITY {
        device.record(Command::Copy { from: state.best.view(), to: state.parameters.view() });
        device.flush()?;
    }
    Ok(Fitted { losses, steps: steps * lesson.epochs, epoch: best.1, predictor })
}

/// The table of an epoch's steps, then the order of its rows.
fn epoch_words(lesson: &Lesson, epoch: usize, steps: usize, order: &[u32]) -> Vec<u32> {
    let adam = Optimizer::adam(0.0);
    let mut words = Vec::with_capacity(ROW_WORDS * steps + order.len());
    for step in 0..steps {
        let done = (epoch * steps + step) as u64;
        let lr = lesson.lr * lesson.schedule.factor(done, epoch, lesson.epochs, 0);
        words.extend(adam.row(lr, done + 1).map(f32::to_bits));
    }
    words.extend(order);
    words
}

/// What a run keeps on the device.
struct State {
    layout: Layout,
    parameters: Buffer,
    moments: Buffer,
    control: Buffer,
    order: Buffer,
    report: Buffer,
    partials: Buffer,
    best: Buffer,
}

impl State {
    fn new(device: &Device, net: &Net, seed: u64, rows: usize, steps: usize) -> Result<Self> {
        let (layout, start) = (net.layout(), net.start(seed));
        let zeros = |count: usize| device.upload(&vec![0; count]);
        Ok(Self {
            parameters: device.upload(bytemuck::cast_slice(&start))?,
            moments: zeros(2 * layout.total)?,
            control: zeros(4)?,
            order: device.buffer(ROW_WORDS * steps + rows),
            report: zeros(steps)?,
            partials: zeros(layout.total + TAIL)?,
            best: device.upload(bytemuck::cast_slice(&start))?,
            layout,
        })
    }

    /// One step: the next batch, the loss and its gradients, the update.
    fn step(&self, device: &Device, net: &Net, rows: &Rows<'_>, sizes: [usize; 3]) -> Result<Plan> {
        let x = device.upload(bytemuck::cast_slice(&rows.examples.x))?;
        let y = device.upload(bytemuck::cast_slice(&rows.examples.y))?;
        let [count, batch, steps] = sizes.map(|size| size as u32);
        let (inputs, targets) = (rows.inputs as u32, rows.targets as u32);
        let params = batch::Params { rows: count, batch, steps, inputs, targets };
        let record = || {
            let floats = |columns| Tensor::empty(device, [sizes[1], columns], DType::F32);
            let next = [floats(rows.inputs), floats(rows.targets), floats(1)];
            let [x_view, y_view, weight] = next.each_ref().map(|tensor| tensor.view().clone());
            let out = batch::Outputs { control: self.control.view(), x: x_view, y: y_view, weight };
            device.record(Command::Dispatch(batch::dispatch(params, x.view(), y.view(), self.order.view(), out)));
            let [x, y, weight] = next.map(Var::constant);
            let leaves = self.layout.leaves(device, &self.parameters);
            let loss = (net.loss)(&net.forward(&leaves, &x), &Batch { x, y, weight });
            self.gradients(device, &loss, &leaves)?;
            self.update(device, sizes[2]);
            Ok(())
        };
        Ok(device.capture(record)?.0)
    }

    /// Writes the gradients, the loss and a weight of 1: the loss is a mean already.
    fn gradients(&self, device: &Device, loss: &Var, leaves: &[Var]) -> Result<()> {
        let gradients = ops::grad(loss, &leaves.iter().collect::<Vec<_>>())?;
        for (parameter, gradient) in self.layout.parameters.iter().zip(gradients) {
            let gradient = gradient
                .ok_or_else(|| Error::new(format!("experiment: the loss does not depend on {}", parameter.name)))?;
            self.put(&gradient, parameter.offset);
        }
        self.put(loss, self.layout.total);
        let one = ops::reshape(&Var::constant(Tensor::scalar(device, 1.0)), [1]);
        self.put(&one, self.layout.total + 1);
        Ok(())
    }

    fn put(&self, from: &Var, offset: usize) {
        let words = from.value().view().words;
        from.value().copy_into(&View { buffer: self.partials.clone(), offset, words });
    }

    fn update(&self, device: &Device, steps: usize) {
        let adam = Optimizer::adam(0.0);
        let inputs = [self.order.view(), self.partials.view()];
        let outputs = [&self.parameters, &self.moments, &self.control, &self.report].map(Buffer::view);
        let sizes = optimise::Sizes { total: self.layout.total, parts: 1, steps, group: 1 };
        device.record(Command::Dispatch(optimise::dispatch(device.info(), &adam.rule(), sizes, inputs, outputs)));
    }

    /// The steps' losses, each weighted by its rows.
    async fn mean_loss(&self, device: &Device, [count, batch, steps]: [usize; 3]) -> Result<f64> {
        let report: Vec<f32> = bytemuck::cast_vec(device.read(&self.report.view()).await?);
        let weighted = |(step, loss): (usize, &f32)| f64::from(*loss) * (count - step * batch).min(batch) as f64;
        Ok(report[..steps].iter().enumerate().map(weighted).sum::<f64>() / count as f64)
    }
}

/// A net's forward pass over a fixed number of rows, recorded once.
struct Predictor {
    device: Device,
    plan: Plan,
    x: Buffer,
    inputs: usize,
    outputs: Vec<Var>,
}

impl Predictor {
    fn new(device: &Device, net: &Net, inputs: usize, parameters: &Buffer) -> Result<Self> {
        let x = device.upload(&vec![0; CHUNK * inputs])?;
        let leaves: Vec<Var> = net.layout().leaves(device, parameters).iter().map(Var::detach).collect();
        let (plan, outputs) = device.capture(|| {
            let x = Var::constant(Tensor::over(device, x.view(), [CHUNK, inputs]));
            Ok(net.forward(&leaves, &x))
        })?;
        Ok(Self { device: device.clone(), plan, x, inputs, outputs })
    }

    async fn run(&self, x: &[f32]) -> Result<Vec<Vec<f32>>> {
        let mut all = vec![Vec::new(); self.outputs.len()];
        for part in x.chunks(CHUNK * self.inputs) {
            let rows = part.len() / self.inputs;
            self.device.write(&self.x, 0, bytemuck::cast_slice(part))?;
            self.plan.run(1)?;
            for (all, output) in all.iter_mut().zip(&self.outputs) {
                let values = output.value().to_f32().await?;
                all.extend(&values[..rows * output.shape().sizes()[1]]);
            }
        }
        Ok(all)
    }
}
