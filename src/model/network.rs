//! What a trainer trains: a `Spec`, or a function of named parameters over `Var`, and optionally a loss that is a closure over `Var`.

use std::cell::OnceCell;
use std::rc::Rc;

use super::closures::{Batch, Inputs, LossValue, Outputs, Parameters, total};
use super::initial::Initial;
use super::source::GradientSource;
use crate::autograd::Var;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::graph::{self, GraphParameter, Input, Tracing, check_rows, split};
use crate::kernels::mlp::Mlp;
use crate::nn::{Head, Init, Layer, Layout, Parameter, Pass, RunningStats, Spec, initialise, learn_each};
use crate::ops;
use crate::tensor::Tensor;

/// A model, and optionally its own loss.
///
/// ```
/// use meromorph::prelude::*;
///
/// let x: Vec<f32> = (0..64).map(|i| i as f32 / 32.0 - 1.0).collect();
/// let data = Data { inputs: 1, targets: 1, train: Examples { y: x.iter().map(|x| 3.0 * x).collect(), x }, ..Data::default() };
/// let line = Network::function(1, [("slope", Initial::zeros([1, 1]))], |p, x| ops::matmul(x, &p["slope"]))
///     .with_loss(|outputs, batch| batch.mean(&ops::abs(&(&outputs[0] - &batch.y))));
/// let config = TrainerConfig { epochs: 200, lr: 0.05, ..TrainerConfig::default() };
/// let trainer = Trainer::new(&Device::cpu(1), line, config, data)?;
/// assert_eq!(trainer.steps_per_epoch(), 1);
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone)]
pub struct Network {
    model: Definition,
    layout: Layout,
    /// The names of the parameters.
    names: Rc<[String]>,
    inputs: Rc<[Input]>,
    loss: Option<LossFunction>,
    source: Option<Rc<dyn GradientSource>>,
}

#[derive(Clone)]
enum Definition {
    Spec(Spec),
    /// Through a pointer, so that programs without functions have nothing of what is done with them.
    Function(Rc<dyn Defined>),
}

/// What is done with a model that is a function.
trait Defined {
    /// The parameters' shapes and first values.
    fn initial(&self) -> &[Initial];

    /// The outputs.
    fn call(&self, parameters: &Parameters, inputs: &Inputs) -> Result<Vec<Var>>;

    /// Traces it as it predicts, or as it trains.
    fn trace(&self, network: &Network, device: &Device, is_training: bool) -> Result<Tracing>;

    /// In the form of the fused kernels, if they take it.
    fn fused(&self, network: &Network, device: &Device) -> Option<Mlp>;
}

struct Function<F> {
    initial: Vec<Initial>,
    forward: F,
    /// In the form of the fused kernels, once that is known.
    fused: OnceCell<Option<Mlp>>,
}

impl<F: Fn(&Parameters, &Inputs) -> Result<Vec<Var>>> Defined for Function<F> {
    fn initial(&self) -> &[Initial] {
        &self.initial
    }

    fn call(&self, parameters: &Parameters, inputs: &Inputs) -> Result<Vec<Var>> {
        let outputs = (self.forward)(parameters, inputs)?;
        let rows = inputs.rows();
        let is_wrong = |output: &&Var| output.shape().rank() != 2 || output.shape().sizes()[0] != rows;
        match outputs.iter().find(is_wrong) {
            Some(output) => Err(Error::new(format!(
                "network: an output has the wrong shape: got {}, expected [{rows}, columns] for {rows} rows",
                output.shape()
            ))),
            None if outputs.is_empty() => Err(Error::new("network: got no output, expected at least one")),
            None => Ok(outputs),
        }
    }

    fn trace(&self, network: &Network, device: &Device, is_training: bool) -> Result<Tracing> {
        let parameter = |parameter: &Parameter| GraphParameter {
            name: parameter.name.clone(),
            shape: parameter.shape.sizes().to_vec(),
            init: parameter.init,
        };
        let parameters = network.layout.parameters.iter().map(parameter).collect();
        let function = |leaves: &[Var], inputs: &[Var]| {
            let inputs = Inputs::new(network.inputs.clone(), inputs.to_vec());
            self.call(&network.named(leaves, is_training), &inputs)
        };
        graph::trace(device, network.inputs.to_vec(), parameters, &function)
    }

    fn fused(&self, network: &Network, device: &Device) -> Option<Mlp> {
        let known = self.fused.get_or_init(|| {
            let [graph, training] =
                [false, true].map(|is_training| self.trace(network, device, is_training).ok()?.plain());
            let graph = graph.filter(|graph| training.as_ref() == Some(graph))?;
            let spec = Spec { inputs: network.inputs(), layers: vec![Layer::Function(graph)] };
            Mlp::of(&spec, &network.layout)
        });
        known.clone()
    }
}
type LossFunction = Rc<dyn Fn(&[Var], &Batch) -> Result<Var>>;

impl From<Spec> for Network {
    fn from(spec: Spec) -> Self {
        Self::new(Layout::of(&spec), spec.each_input(), Definition::Spec(spec))
    }
}

impl Network {
    fn new(layout: Layout, inputs: Vec<Input>, model: Definition) -> Self {
        let names = layout.parameters.iter().map(|parameter| parameter.name.clone()).collect();
        Self { model, layout, names, inputs: inputs.into(), loss: None, source: None }
    }

    /// A function of named parameters and of inputs [rows, inputs]. Each output is [rows, columns]; row r may depend on input row r only.
    ///
    /// `forward` returns a `Var`, several of them (`Vec<Var>`, `[Var; N]`), masked numbers (`Masked`, which have no prediction under ⊥), or a `Result` of
    /// these. It is called whenever ops are recorded,
    /// for any number of rows, to train and to predict; [`Parameters::is_training`] says which. One that takes derivatives by its inputs begins with
    /// `let x = &x.tracked();`. Files hold the function that predicts. Its errors, and wrong names and shapes, are errors of `Trainer::new`.
    pub fn function<O: Into<Outputs>>(
        inputs: usize,
        parameters: impl IntoIterator<Item = (impl Into<String>, Initial)>,
        forward: impl Fn(&Parameters, &Var) -> O + 'static,
    ) -> Self {
        Self::function_of(Input::plain(inputs), parameters, move |p, inputs| forward(p, &inputs.values()[0]))
    }

    /// The same for several inputs, each with a name, a shape and a kind: the columns of a row are those of the first one, then those of the next.
    ///
    /// ```
    /// use meromorph::prelude::*;
    ///
    /// // A word of 5, embedded in two numbers, and three measurements.
    /// let inputs = [Input::indices("word", [1], 5), Input::numbers("measured", [3])];
    /// let parameters = [("table", Initial::normal([5, 2], 0.5)), ("out", Initial::normal([5, 1], 0.5))];
    /// let model = Network::function_of(inputs, parameters, |p, inputs| {
    ///     let word = ops::take_rows(&p["table"], inputs["word"].value());
    ///     ops::matmul(&ops::concat(&[&word, &inputs["measured"]], 1), &p["out"])
    /// });
    /// assert_eq!(model.inputs(), 4);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn function_of<O: Into<Outputs>>(
        inputs: impl Into<Vec<Input>>,
        parameters: impl IntoIterator<Item = (impl Into<String>, Initial)>,
        forward: impl Fn(&Parameters, &Inputs) -> O + 'static,
    ) -> Self {
        let (names, initial): (Vec<String>, Vec<Initial>) =
            parameters.into_iter().map(|(name, initial)| (name.into(), initial)).unzip();
        let starts = names.into_iter().zip(&initial).map(|(name, one)| (name, one.shape.clone(), one.init));
        let layout = Layout::named(starts);
        let forward = move |parameters: &Parameters, inputs: &Inputs| forward(parameters, inputs).into().0;
        let function = Function { initial, forward, fused: OnceCell::new() };
        Self::new(layout, inputs.into(), Definition::Function(Rc::new(function)))
    }

    /// Replaces the loss of the configuration by a closure over the model's outputs and the batch. It returns the losses of the rows, [rows, columns], whose
    /// weighted mean is taken; or a mean of its own, of shape [1], with `batch.weight` as the rows' weights ([`Batch::mean`] takes such a mean); or a
    /// `Result` of these. It may contain derivatives of the outputs by the inputs, `ops::grad(&outputs[0], &[&batch.x])`, as for a differential
    /// equation, and the parameters, `batch.parameters`.
    pub fn with_loss<L: Into<LossValue>>(self, loss: impl Fn(&[Var], &Batch) -> L + 'static) -> Self {
        Self { loss: Some(Rc::new(move |outputs: &[Var], batch: &Batch| loss(outputs, batch).into().0)), ..self }
    }

    /// Takes the gradients of each step, or the whole update, from a source of the program's own.
    pub fn with_source(self, source: impl GradientSource + 'static) -> Self {
        Self { source: Some(Rc::new(source)), ..self }
    }

    /// The model as data: a function is traced into a graph of ops, as one layer.
    ///
    /// Errors for a function that reads a value, depends on the number of rows other than by the sizes of its values, or draws
    /// random numbers, and for one with an op that cannot be stored.
    pub async fn traced(&self, device: &Device) -> Result<Spec> {
        match &self.model {
            Definition::Spec(spec) => Ok(spec.clone()),
            Definition::Function(function) => {
                let graph = function.trace(self, device, false)?.graph().await?;
                let spec = Spec { inputs: self.inputs(), layers: vec![Layer::Function(graph)] };
                spec.each_output().map_err(|error| error.within("save"))?;
                Ok(spec)
            }
        }
    }

    /// The model in the form of the fused kernels, if they take it: a perceptron, as a `Spec` or as a function of `ops::layer`.
    pub(crate) fn fused(&self, device: &Device) -> Option<Mlp> {
        let mlp = match &self.model {
            Definition::Spec(spec) => Mlp::of(spec, &self.layout),
            Definition::Function(function) => function.fused(self, device),
        };
        mlp.filter(|mlp| mlp.fits(device.info()))
    }

    /// The names of the blocks of a model that is a function ([`ops::block`]).
    pub(crate) fn blocks(&self, device: &Device) -> Vec<String> {
        match &self.model {
            Definition::Spec(spec) => match &spec.layers[..] {
                [Layer::Function(graph)] => graph.blocks(),
                _ => Vec::new(),
            },
            Definition::Function(function) => {
                function.trace(self, device, true).map(|tracing| tracing.blocks()).unwrap_or_default()
            }
        }
    }

    /// The model as data; `None` for a function.
    pub fn spec(&self) -> Option<&Spec> {
        match &self.model {
            Definition::Spec(spec) => Some(spec),
            Definition::Function(_) => None,
        }
    }

    pub(crate) fn head_mut(&mut self) -> Option<&mut Head> {
        if let Definition::Spec(spec) = &mut self.model { spec.head_mut() } else { None }
    }

    /// Values per row of the inputs.
    pub fn inputs(&self) -> usize {
        graph::width(&self.inputs)
    }

    /// The inputs.
    pub(crate) fn each_input(&self) -> &Rc<[Input]> {
        &self.inputs
    }

    /// Errors if rows do not hold what the inputs take.
    pub(crate) fn check_rows(&self, x: &[f32]) -> Result<()> {
        check_rows(&self.inputs, x)
    }

    /// Where its parameters lie in the flat buffer.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The initial flat parameters of a seed, in the order of the layout. Errors as `Trainer::new` does for parameters that make no sense.
    pub fn initialise(&self, seed: u64) -> Result<Vec<f32>> {
        self.check()?;
        let Definition::Function(function) = &self.model else {
            let given = self.layout.parameters.iter().find(|parameter| parameter.init == Init::Given);
            return match given {
                Some(Parameter { name, .. }) => Err(Error::new(format!(
                    "network: the program that made the model gave the first values of \"{name}\", its file does not hold them: expected a start from given parameters (Trainer::with_parameters)"
                ))),
                None => Ok(initialise(&self.layout, seed)),
            };
        };
        let mut flat = vec![0.0; self.layout.total];
        for (at, (parameter, initial)) in self.layout.parameters.iter().zip(function.initial()).enumerate() {
            initial.fill(&mut flat[parameter.offset..parameter.offset + parameter.shape.len()], seed, at as u32);
        }
        Ok(flat)
    }

    pub(crate) fn has_own_loss(&self) -> bool {
        self.loss.is_some()
    }

    /// Where gradients come from, if not from the model's own ops.
    pub(crate) fn source(&self) -> Option<&dyn GradientSource> {
        self.source.as_deref()
    }

    /// The parameters by name.
    pub(crate) fn named(&self, values: &[Var], is_training: bool) -> Parameters {
        Parameters::new(self.names.clone(), values.to_vec(), is_training)
    }

    pub(crate) fn head(&self) -> Option<&Head> {
        self.spec().and_then(Spec::head)
    }

    /// The spec, or an error that names what needs one.
    pub(crate) fn required_spec(&self, what: &str) -> Result<&Spec> {
        self.spec().ok_or_else(|| Error::new(format!("{what}: the model must be a Spec: got a function")))
    }

    /// An error that names what needs a loss that a file can hold, if the loss is a closure.
    pub(crate) fn required_loss(&self, what: &str) -> Result<()> {
        if !self.has_own_loss() {
            return Ok(());
        }
        Err(Error::new(format!("{what}: the loss must be built-in or a formula: got a closure")))
    }

    /// Errors if a function has no inputs or two parameters of one name, or an initial value does not fit its shape.
    pub(crate) fn check(&self) -> Result<()> {
        let Definition::Function(function) = &self.model else { return Ok(()) };
        graph::check_inputs(&self.inputs).map_err(|error| error.within("network"))?;
        for (at, (parameter, initial)) in self.layout.parameters.iter().zip(function.initial()).enumerate() {
            let name = &parameter.name;
            if self.layout.parameters[..at].iter().any(|other| other.name == *name) {
                return Err(Error::new(format!("network: got two parameters \"{name}\", expected different names")));
            }
            initial.check().map_err(|error| error.within(&format!("network: parameter \"{name}\"")))?;
        }
        Ok(())
    }

    /// The outputs of a pass that trains, and the running statistics of its norms after it.
    pub(crate) fn learn(&self, leaves: &[Var], x: &Var, pass: &Pass) -> Result<(Vec<Var>, Vec<RunningStats>)> {
        match &self.model {
            Definition::Spec(spec) => learn_each(spec, leaves, x, pass),
            Definition::Function(function) => {
                Ok((function.call(&self.named(leaves, true), &self.split(x))?, Vec::new()))
            }
        }
    }

    /// The outputs of a pass that predicts.
    pub(crate) fn predict(&self, leaves: &[Var], x: &Var) -> Result<Vec<Var>> {
        match &self.model {
            Definition::Spec(spec) => Ok(learn_each(spec, leaves, x, &Pass::Predict)?.0),
            Definition::Function(function) => function.call(&self.named(leaves, false), &self.split(x)),
        }
    }

    fn split(&self, x: &Var) -> Inputs {
        Inputs::new(self.inputs.clone(), split(&self.inputs, x))
    }

    /// The loss closure's value as a weighted sum, and the sum of weights, each of shape [1]; `None` without a closure. A mean over one
    /// batch alone may have weight 1; means over several batches need the weights of their rows.
    pub(crate) fn own_loss(&self, outputs: &[Var], batch: &Batch, is_alone: bool) -> Option<Result<(Var, Var)>> {
        let loss = match (self.loss.as_ref()?)(outputs, batch) {
            Ok(loss) => loss,
            Err(error) => return Some(Err(error.within("train: the loss"))),
        };
        let rows = batch.weight.shape().sizes()[0];
        let loss = match *loss.shape().sizes() {
            [1] => loss,
            [count, _] if count == rows => batch.mean(&loss),
            _ => {
                return Some(Err(Error::new(format!(
                    "train: the loss has the wrong shape: got {}, expected the losses of the rows, [{rows}, columns], or their mean, [1]",
                    loss.shape()
                ))));
            }
        };
        if is_alone {
            let one = Tensor::scalar(loss.value().device(), 1.0).reshape([1]);
            return Some(Ok((loss, Var::constant(one))));
        }
        let weight = total(&batch.weight);
        Some(Ok((ops::mul(&loss, &weight), weight)))
    }
}
