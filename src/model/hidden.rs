//! The first layers of a model, whose outputs are vectors that describe a row.

use super::trained::Model;
use crate::error::{Error, Result};
use crate::nn::{Layout, Spec};

impl Model {
    /// The model up to the outputs of a layer, from 0, and the number of that layer; by default the last one before the layer that makes the outputs. It has
    /// no preparation of a table.
    ///
    /// Errors if there is no such layer, and for several models in one, whose layers have nothing in common.
    pub fn up_to(&self, layer: Option<usize>) -> Result<(Self, usize)> {
        let body = self.spec.body();
        if self.members() > 1 {
            let count = self.members();
            return Err(Error::usage(format!("hidden layer: got {count} models in one, expected one")));
        }
        // The last layer makes the outputs.
        let most = body.len().saturating_sub(2);
        if body.len() < 2 || layer.is_some_and(|layer| layer > most) {
            let got = layer.map_or_else(|| "none".to_owned(), |layer| format!("layer {layer}"));
            let expected = match body.len() {
                0 | 1 => "a model of several layers: this one has a single layer".to_owned(),
                _ => format!("0 to {most}, the layers before the one that makes the outputs"),
            };
            return Err(Error::usage(format!("hidden layer: got {got}, expected {expected}")));
        }
        let layer = layer.unwrap_or(most);
        let spec = Spec { inputs: self.spec.inputs, layers: body[..=layer].to_vec() };
        spec.outputs()?;
        // Parameters lie in the order of their layers.
        let parameters = self.parameters[..Layout::of(&spec).total].to_vec();
        Ok((Self::new(spec, self.loss.clone(), parameters, None), layer))
    }
}

#[cfg(test)]
mod tests {
    use pollster::block_on;

    use super::*;
    use crate::device::Device;
    use crate::loss::Loss;
    use crate::nn::Activation;

    /// y = 10 relu(2 x + 1): the hidden layers give 2 x + 1 and its positive part.
    #[test]
    fn layers_give_what_is_computed_by_hand() {
        let spec = Spec::mlp(1, &[1], 1, Activation::parse("relu").unwrap());
        let layout = Layout::of(&spec);
        let mut parameters = vec![0.0; layout.total];
        for (parameter, value) in layout.parameters.iter().zip([2.0, 1.0, 10.0, 0.0]) {
            parameters[parameter.offset] = value;
        }
        let model = Model::new(spec, Loss::mse(), parameters, None);
        let device = Device::cpu(1);
        let outputs = |model: &Model| block_on(model.outputs(&device, &[3.0, -2.0])).unwrap();
        let (last, layer) = model.up_to(None).unwrap();
        assert_eq!((outputs(&model), outputs(&last), layer), (vec![70.0, 0.0], vec![7.0, 0.0], 1));
        assert_eq!(outputs(&model.up_to(Some(0)).unwrap().0), [7.0, -3.0]);
        let refused = model.up_to(Some(2)).unwrap_err().to_string();
        assert_eq!(
            refused,
            "hidden layer: got layer 2, expected 0 to 1, the layers before the one that makes the outputs"
        );
        assert!(last.up_to(None).is_ok() && last.up_to(None).unwrap().0.up_to(None).is_err());
    }
}
