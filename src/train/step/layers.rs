//! Names of layers, of their kinds and of ops, by which options choose launches.

use crate::device::{Device, Label};
use crate::error::{Error, Result, hint, listed};
use crate::model::Network;
use crate::nn::Layer;
use crate::nn::kind::LayerKind;

/// Ops of plain layers: products, and pointwise functions between them.
pub(crate) const OPS: [&str; 3] = ["layer", "matmul", "map"];
/// Other ops that may be named.
const OTHER_OPS: [&str; 3] = ["layer_norm", "rational", "masked"];

/// The kind of a block of a function.
const BLOCK: &str = "block";

/// The layers of a model, and the blocks of functions: the path, the path that its launches are labelled with, the kind.
pub(crate) struct Layers(Vec<(String, String, &'static str)>);

impl Layers {
    pub(crate) fn of(network: &Network, device: &Device) -> Self {
        let mut all = Self(Vec::new());
        match network.spec().map(|spec| &spec.layers[..]) {
            // A model that is one function has the names that its author gave.
            None => all.add_blocks("", network.blocks(device)),
            Some([Layer::Function(graph)]) => {
                all.0.push(("layers.0".into(), String::new(), graph.kind()));
                all.add_blocks("", graph.blocks());
            }
            Some(layers) => all.add(&layers.iter().map(Layer::as_kind).collect::<Vec<_>>(), "layers"),
        }
        all
    }

    fn add(&mut self, layers: &[&dyn LayerKind], path: &str) {
        for (at, layer) in layers.iter().enumerate() {
            let own = format!("{path}.{at}");
            // An activation after a linear layer is a part of its launch.
            let is_joined = layer.activation().is_some()
                && at.checked_sub(1).is_some_and(|before| layers[before].takes_activation());
            let place = if is_joined { format!("{path}.{}", at - 1) } else { own.clone() };
            self.0.push((own.clone(), place, layer.kind()));
            self.add(&layer.inner(), &format!("{own}.layers"));
            self.add_blocks(&format!("{own}."), layer.blocks());
        }
    }

    /// Blocks within a layer, and those around them, each once.
    fn add_blocks(&mut self, before: &str, names: Vec<String>) {
        for name in names {
            let ends = name.match_indices('.').map(|(at, _)| at).chain([name.len()]);
            for path in ends.map(|end| format!("{before}{}", &name[..end])) {
                if !self.0.iter().any(|(own, ..)| *own == path) {
                    self.0.push((path.clone(), path, BLOCK));
                }
            }
        }
    }

    /// The kind of the layer at a path.
    pub(crate) fn kind(&self, path: &str) -> Option<&'static str> {
        self.0.iter().find(|(own, ..)| own == path).map(|(_, _, kind)| *kind)
    }

    /// Names as labels have them. Errors if one is no layer, no kind of a layer and no op.
    pub(crate) fn named(&self, names: &[String], option: &str) -> Result<Vec<String>> {
        let one = |name: &String| {
            if let Some((_, place, _)) = self.0.iter().find(|(path, ..)| path == name) {
                return Ok(place.clone());
            }
            let kinds = self.0.iter().map(|(_, _, kind)| *kind);
            let paths = self.0.iter().map(|(path, ..)| path.as_str());
            let mut known: Vec<&str> = paths.chain(kinds).chain(OPS).chain(OTHER_OPS).collect();
            known.sort_unstable();
            known.dedup();
            if known.contains(&name.as_str()) {
                return Ok(name.clone());
            }
            let near = hint(name, known.iter().copied());
            Err(Error::usage(format!("train: {option}: got \"{name}\", expected one of {}{near}", listed(&known))))
        };
        names.iter().map(one).collect()
    }

    /// Whether the names choose the launches with this label.
    pub(crate) fn has(&self, names: &[String], label: &Label) -> bool {
        // A model that is one function has no path; its blocks have their own.
        let is_of_function = || label.layer.is_empty() || self.kind(&label.layer) == Some(BLOCK);
        let is_within = |path: &str| {
            let rest = label.layer.strip_prefix(path);
            if path.is_empty() {
                is_of_function()
            } else {
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
            }
        };
        let is_of_kind = |name: &str| self.0.iter().any(|(_, place, kind)| name == *kind && is_within(place));
        names.iter().any(|name| name == label.op || is_within(name) || is_of_kind(name))
    }
}
