//! The layers of a spec as nodes: those of the ops that they apply in prediction.

use super::graph::{Graph, Name, Setting};
use super::pass::Pass;
use super::{head, inputs, rational};
use crate::autograd::Var;
use crate::device::Device;
use crate::error::Result;
use crate::graph::{self, Input};
use crate::loss::pairs;
use crate::model::Model;
use crate::nn::{self, Layer, Layout, MaskedNorm, RationalLayer, Residual};
use crate::tensor::Form;

/// The outputs of the graph: the last layer's output, or the six fields of strict decoding.
pub(super) fn outputs(graph: &mut Graph, model: &Model) -> Result<Vec<Name>> {
    let (layout, head) = (Layout::of(&model.spec), model.spec.head());
    let inputs = inputs::of(graph, model);
    let (mut each, mut width): (Vec<Vec<Name>>, _) = (Vec::new(), 0);
    let widths = model.spec.each_output()?;
    for (at, flat) in model.each_member().enumerate() {
        let prefix = if model.members() > 1 { format!("members.{at}.") } else { String::new() };
        let mut pass = Pass::new(graph, &layout, (prefix, flat), model.spec.inputs);
        if let [Layer::Function(function)] = &model.spec.layers[..] {
            each.push(pass.function(function, inputs.clone())?);
            continue;
        }
        let z = pass.layers(model.spec.body(), inputs[0].clone())?;
        width = pass.width;
        each.push(match head {
            Some(head) => head::pairs(&mut pass, head, &z).to_vec(),
            None => vec![z],
        });
    }
    let mut pass = Pass::new(graph, &layout, (String::new(), &[]), width);
    let Some(head) = head else {
        let output = |(at, width): (usize, &usize)| {
            pass.mean(model, each.iter().map(|outputs| outputs[at].clone()).collect(), *width)
        };
        let mut outputs: Vec<Name> = widths.iter().enumerate().map(output).collect::<Result<_>>()?;
        if outputs.len() > 1 {
            return Ok(outputs);
        }
        let (z, width) = (outputs.swap_remove(0), widths[0]);
        let exported = model.loss.link().exported.iter();
        return exported.map(|(_, function)| pass.output(*function, width, &z)).collect();
    };
    let [p, q] = if let [pair] = &each[..] {
        [pair[0].clone(), pair[1].clone()]
    } else {
        let z = pass.mean(model, each.concat(), 2 * head.outputs)?;
        [[0, head.outputs], [head.outputs, 2 * head.outputs]].map(|[first, end]| pass.graph.columns(&z, first, end))
    };
    Ok(head::decode(pass.graph, &head.decoding, &p, &q).to_vec())
}

impl Pass<'_> {
    /// The outputs [batch, width] whose predictions are the mean of those of each model, of which `parts` are the columns.
    fn mean(&mut self, model: &Model, mut parts: Vec<Name>, width: usize) -> Result<Name> {
        let (members, mean) = (model.members(), model.loss.mean(model.spec.head().is_some()));
        if members == 1 {
            return Ok(parts.swap_remove(0));
        }
        let all = self.graph.node("Concat", &parts.iter().collect::<Vec<_>>(), &[Setting::Int("axis", 1)]);
        let function = |_: &[Var], inputs: &[Var]| Ok(vec![mean(&pairs::parts(&inputs[0], members))]);
        let tracing = graph::trace(&Device::dry(), Input::plain(members * width), Vec::new(), &function)?;
        Ok(self.function(&tracing.graph_at_once()?, vec![all])?.swap_remove(0))
    }

    /// What the model's loss makes of its outputs `z` [batch, width].
    fn output(&mut self, function: Option<fn(&Var) -> Var>, width: usize, z: &Name) -> Result<Name> {
        let Some(function) = function else { return Ok(z.clone()) };
        let run = |_: &[Var], inputs: &[Var]| Ok(vec![function(&inputs[0])]);
        let tracing = graph::trace(&Device::dry(), Input::plain(width), Vec::new(), &run)?;
        Ok(self.function(&tracing.graph_at_once()?, vec![z.clone()])?.swap_remove(0))
    }

    fn layers(&mut self, layers: &[Layer], x: Name) -> Result<Name> {
        layers.iter().try_fold(x, |x, layer| self.layer(layer, x))
    }

    /// A layer whose values may be ⊥ has nodes of its own, as masks do; any other one is the nodes of its ops.
    fn layer(&mut self, layer: &Layer, x: Name) -> Result<Name> {
        match layer {
            Layer::Residual(Residual { layers }) => {
                let inner = self.layers(layers, x.clone())?;
                Ok(self.graph.op("Add", &[&x, &inner]))
            }
            Layer::Rational(layer) => Ok(self.rational(layer, &x)),
            Layer::MaskedNorm(MaskedNorm { epsilon, .. }) => Ok(self.norm(*epsilon, &x)),
            Layer::MaskedSoftmax(_) => Ok(self.softmax(&x)),
            Layer::Function(graph) => {
                let inputs = inputs::split(self.graph, &graph.inputs, &x);
                Ok(self.function(graph, inputs)?.swap_remove(0))
            }
            plain => {
                let graph = nn::traced(plain.as_kind(), self.width)?;
                Ok(self.function(&graph, vec![x])?.swap_remove(0))
            }
        }
    }

    /// The outputs of a function of these inputs, as nodes of its ops.
    fn function(&mut self, function: &graph::Graph, inputs: Vec<Name>) -> Result<Vec<Name>> {
        // What works on each value alone leaves the mask as it is.
        if !function.is_pointwise() {
            self.mask = self.rows();
        }
        self.width = function.outputs[0].columns;
        let function = function.unrolled(nn::curve_of)?;
        let forms = function.forms(1, nn::curve_of)?;
        let mut values = inputs;
        for _ in &function.parameters {
            values.push(self.next());
        }
        for constant in &function.constants {
            values.push(self.graph.tensor(constant));
        }
        for node in &function.nodes {
            let names: Vec<Name> = node.inputs.iter().map(|&value| values[value].clone()).collect();
            let forms: Vec<Form> = node.inputs.iter().map(|&value| forms[value].clone()).collect();
            let value = (graph::op_record(&node.op)?.onnx)(&node.attributes, self.graph, &names, &forms)?;
            values.push(value);
        }
        Ok(function.outputs.iter().map(|one| values[one.output].clone()).collect())
    }

    /// A rational layer's values; its poles are added to the mask.
    fn rational(&mut self, layer: &RationalLayer, x: &Name) -> Name {
        let (parameter, values) = self.values();
        let (channels, name) = (parameter.shape.sizes()[1], self.name_of(parameter));
        let rows = values.chunks_exact(channels).enumerate();
        let weights: Vec<Name> =
            rows.map(|(k, row)| self.graph.floats(&format!("{name}.{k}"), &[channels], row)).collect();
        let [y, poles] = rational::layer(self.graph, layer, &weights, x);
        if !layer.is_safe {
            self.join(poles);
        }
        y
    }

    /// Columns standardised by the running statistics of training.
    fn norm(&mut self, epsilon: f32, x: &Name) -> Name {
        let [(mean, means), (variance, variances), (_, seen)] = [(); 3].map(|()| self.values());
        let spreads: Vec<f32> = variances.iter().map(|variance| variance + epsilon).collect();
        let has_none = |(spread, seen): (&f32, &f32)| f32::from(u8::from(*spread <= 0.0 || *seen <= 0.0));
        let nowhere: Vec<f32> = spreads.iter().zip(seen).map(has_none).collect();
        let roots: Vec<f32> =
            spreads.iter().zip(&nowhere).map(|(s, none)| if *none > 0.0 { 1.0 } else { s.sqrt() }).collect();
        let [mean, variance] = [mean, variance].map(|parameter| self.name_of(parameter));
        let graph = &mut *self.graph;
        let sizes = &[means.len()];
        let [mean, root, nowhere] = [
            graph.floats(&mean, sizes, means),
            graph.floats(&format!("{variance}.root"), sizes, &roots),
            graph.floats(&format!("{variance}.none"), sizes, &nowhere),
        ];
        let centred = graph.op("Sub", &[x, &mean]);
        let y = graph.op("Div", &[&centred, &root]);
        let (fits, none) = (graph.is_finite(&y), graph.number(0.0));
        let (is_none, unfit) = (graph.op("Greater", &[&nowhere, &none]), graph.op("Not", &[&fits]));
        let bottom = graph.op("Or", &[&unfit, &is_none]);
        self.join(bottom);
        self.filled(0.0, &y)
    }

    /// Softmax of each row; in a row with a ⊥, 1 for the largest remaining value and 0 for the others.
    fn softmax(&mut self, x: &Name) -> Name {
        let fits = self.graph.is_finite(x);
        let bottom = self.graph.op("Not", &[&fits]);
        self.join(bottom);
        // Below every logit, but finite.
        let left = self.filled(-3.0e38, x);
        let graph = &mut *self.graph;
        let plain = graph.node("Softmax", &[&left], &[Setting::Int("axis", 1)]);
        let best = graph.node("ArgMax", &[&left], &[Setting::Int("axis", 1), Setting::Int("keepdims", 0)]);
        let (shape, first, second) = (graph.op("Shape", &[x]), graph.list(&[1]), graph.list(&[2]));
        let columns = graph.op("Slice", &[&shape, &first, &second]);
        let choice = graph.floats(&format!("{left}_choice"), &[2], &[0.0, 1.0]);
        let only = graph.op("OneHot", &[&best, &columns, &choice]);
        let rows = self.rows().expect("a mask was joined");
        self.mask = Some(rows.clone());
        self.graph.op("Where", &[&rows, &only, &plain])
    }

    /// `x`, with `value` where it is ⊥.
    fn filled(&mut self, value: f32, x: &Name) -> Name {
        let Some(mask) = &self.mask else { return x.clone() };
        let value = self.graph.number(value);
        self.graph.op("Where", &[mask, &value, x])
    }
}
