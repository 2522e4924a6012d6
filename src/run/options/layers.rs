//! The options of the model.

use super::defaults::HIDDEN;
use super::names::{RATIONAL, activations, heads, norms};
use super::{TrainOptions, option};
use crate::nn::{Activation, Head, Norm, RationalLayer};
use crate::options::{Entry, Kind, Range, Value};
use crate::table::Task;

pub(crate) const MODEL: &[Entry<TrainOptions>] = &[
    option(
        "hidden",
        Kind::Wholes { length: None },
        "Widths of the hidden layers; none makes a linear model. The default network is blended with a linear model, one whose layers are named is not",
    )
        .aliases(&["hidden_layers"])
        .default_from(|| HIDDEN.map(|width| width.to_string()).join(","))
        .set(|o, v| o.hidden = Some(v.items().iter().map(Value::whole).collect())),
    option(
        "activation",
        Kind::Formula(activations),
        "Function between layers: a name, or a formula of x such as \"x*tanh(softplus(x))\"",
    )
    .default("silu")
    .try_set(|o, v| {
        match RATIONAL.iter().position(|(name, _)| *name == v.text()) {
            Some(at) => o.rational = Some(RationalLayer { is_safe: at == 0, ..RationalLayer::safe(3, 2) }),
            None => o.activation = Some(Activation::parse(v.text())?),
        }
        Ok(())
    }),
    option("norm", Kind::Name(norms), "Normalise the values between layers to mean 0 and variance 1")
        .default("none")
        .set(|o, v| o.norm = Norm::named(v.text())),
    option("dropout", Kind::Number(Range::Share), "Share of the hidden values set to zero while training")
        .default("0")
        .set(|o, v| o.dropout = v.number() as f32),
    option(
        "head",
        Kind::Name(heads),
        "How the last hidden layer becomes the prediction; all but linear can have poles and report ⊥ \
         (no value)",
    )
    .default("linear")
    .set(|o, v| {
        o.head = match v.text() {
            "rational" => Some(Head::rational(1)),
            "projective" => Some(Head::linear(1)),
            "angular" => Some(Head::angular(1)),
            _ => None,
        };
        o.choice.has_poles = o.head.is_some();
        // A model with poles predicts a number.
        o.choice.task = o.choice.task.or(o.head.map(|_| Task::Regression));
    }),
];
