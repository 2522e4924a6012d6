//! The parameters that a run starts from.

use super::config::TrainerConfig;
use super::data::Data;
use crate::error::Result;
use crate::model::Network;
use crate::nn::{Layer, Linear, Spec};

/// The initial parameters of the seed of each model. If predictions are e^p, the last bias predicts the mean target: Adam moves a weight by at most the learning
/// rate per step, so that rates of hundreds would be out of reach from 0.
pub(crate) fn first_parameters(network: &Network, settings: &TrainerConfig, data: &Data) -> Result<Vec<f32>> {
    let each = (0..settings.members).map(|member| of_seed(settings.seed_of(member), network, settings, data));
    Ok(each.collect::<Result<Vec<_>>>()?.concat())
}

fn of_seed(seed: u64, network: &Network, settings: &TrainerConfig, data: &Data) -> Result<Vec<f32>> {
    let mut parameters = network.initialise(seed)?;
    let link = settings.loss.link();
    let starts_at_mean = link.starts_at_mean && !network.has_own_loss();
    let last = network.spec().and_then(|spec: &Spec| spec.layers.last());
    let (true, Some(Layer::Linear(Linear { outputs, bias: true, .. }))) = (starts_at_mean, last) else {
        return Ok(parameters);
    };
    let place = network.layout().parameters.last().map_or(0, |bias| bias.offset);
    if *outputs == data.targets {
        for (output, bias) in parameters[place..place + outputs].iter_mut().enumerate() {
            let own = data.train.y.iter().skip(output).step_by(data.targets);
            let (sum, count) = own.fold((0.0, 0.0), |(sum, count), y| (sum + f64::from(*y), count + 1.0));
            let mean: f64 = sum / count;
            *bias = if mean > 0.0 && mean.is_finite() { (link.inverse)(&[mean])[0] } else { *bias };
        }
    }
    Ok(parameters)
}
