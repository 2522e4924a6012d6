//! Groups of parameters with rates of their own, and where in the parameters they hold.

use super::config::TrainerConfig;
use super::config::gradients::{Clip, is_meant};
use crate::error::{Error, Result, hint, listed};
use crate::kernels::fold::LINE;
use crate::kernels::optimise::{FROZEN, Rule};
use crate::nn::{Init, Layout, Parameter};
use crate::optim::{Motion, Optimizer};

/// A table of rates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Rates {
    /// Times the learning rate.
    pub factor: f64,
    /// The weight decay, if it is not the optimiser's.
    pub decay: Option<f64>,
    /// Whether they are those of the matrices that an optimiser of matrices takes.
    pub is_matrix: bool,
}

impl Rates {
    /// Of parameters in no group.
    pub(crate) const PLAIN: Self = Self { factor: 1.0, decay: None, is_matrix: false };
}

/// The rates of a table, and where in the parameters they hold.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Groups {
    /// The tables.
    pub tables: Vec<Rates>,
    /// Words of lines at the end of an epoch's upload; empty if all parameters have the same rates.
    pub lines: Vec<u32>,
    /// For each parameter, whether it is frozen.
    pub frozen: Vec<bool>,
    /// For each parameter, whether it is a matrix that an optimiser of matrices takes.
    pub matrices: Vec<bool>,
}

impl Groups {
    /// The groups of a layout's parameters. Errors if a name is no parameter's, or if nothing is left to train.
    pub(crate) fn of(layout: &Layout, settings: &TrainerConfig) -> Result<Self> {
        let config = &settings.gradients;
        for name in config.groups.iter().flat_map(|group| &group.parameters) {
            if !layout.parameters.iter().any(|parameter| is_meant(name, parameter)) {
                let names: Vec<&str> = layout.parameters.iter().map(|parameter| parameter.name.as_str()).collect();
                let near = hint(name, names.iter().copied());
                return Err(Error::usage(format!(
                    "train: \"{name}\" names no parameter: expected one of {}, or a part of it such as \"layers.0\" or \"bias\"{near}",
                    listed(&names)
                )));
            }
        }
        let matrices = matrices(layout, settings)?;
        let mut groups = Self { tables: vec![Rates::PLAIN], lines: Vec::new(), frozen: Vec::new(), matrices };
        let mut chosen = Vec::new();
        for (at, parameter) in layout.parameters.iter().enumerate() {
            let group = config.groups.iter().find(|group| group.has(parameter));
            let is_frozen = group.is_some_and(|group| group.is_frozen);
            let undecayed = (!config.decays_vectors && parameter.shape.rank() < 2).then_some(0.0);
            let own = Rates {
                factor: group.map_or(1.0, |group| group.rate),
                decay: group.and_then(|group| group.weight_decay).or(undecayed),
                is_matrix: groups.matrices[at],
            };
            let table = groups.tables.iter().position(|known| *known == own).unwrap_or_else(|| {
                groups.tables.push(own);
                groups.tables.len() - 1
            });
            groups.frozen.push(is_frozen);
            // A step sets running statistics itself.
            chosen.push(if is_frozen || parameter.is_statistic { FROZEN } else { table as u32 });
        }
        if !groups.frozen.is_empty() && groups.frozen.iter().all(|is_frozen| *is_frozen) {
            return Err(Error::usage("train: every parameter is frozen: expected at least one to train"));
        }
        let is_by_tensor =
            matches!(config.clip, Some(Clip::Tensor { .. })) || settings.optimizer.motion() == Motion::ByTensor;
        if is_by_tensor || chosen.iter().any(|table| *table != 0) {
            for (at, (parameter, table)) in layout.parameters.iter().zip(chosen).enumerate() {
                let end = layout.parameters.get(at + 1).map_or(layout.total, |next| next.offset) / LINE;
                let first = parameter.offset / LINE;
                (first..end).for_each(|_| groups.lines.extend([table, first as u32, end as u32]));
            }
        }
        Ok(groups)
    }

    /// Whether parameters differ in their rates or limits.
    pub(crate) fn is_grouped(&self) -> bool {
        !self.lines.is_empty()
    }

    /// The optimiser of a table.
    pub(crate) fn optimizer(&self, table: usize, optimizer: &Optimizer) -> Optimizer {
        match self.tables[table].decay {
            Some(decay) => optimizer.clone().with_weight_decay(decay as f32),
            None => optimizer.clone(),
        }
    }

    /// For each parameter, whether it learns from its gradient.
    pub(crate) fn learning<'g>(&'g self, layout: &'g Layout) -> impl Iterator<Item = (usize, &'g Parameter)> {
        let learns = |(at, parameter): &(usize, &Parameter)| !self.frozen[*at] && !parameter.is_statistic;
        layout.parameters.iter().enumerate().filter(learns)
    }

    /// The update rule of a run.
    pub(crate) fn rule(&self, settings: &TrainerConfig) -> Rule {
        Rule { bounds: settings.bounds(), is_grouped: self.is_grouped(), ..settings.rule() }
    }
}

/// For each parameter, whether an optimiser of hidden matrices takes it: weight matrices, without the last, which is the output layer's, and without those
/// of one row or column. Errors if the optimiser would do so and there are none.
fn matrices(layout: &Layout, settings: &TrainerConfig) -> Result<Vec<bool>> {
    if !settings.optimizer.tensor_motion().is_some_and(|motion| motion.is_of_matrices) {
        return Ok(vec![false; layout.parameters.len()]);
    }
    // The coefficients of rational activations have two axes as well.
    let is_weight = |parameter: &Parameter| {
        parameter.shape.rank() == 2 && !parameter.is_statistic && !matches!(parameter.init, Init::Identity { .. })
    };
    let last = layout.parameters.iter().rposition(is_weight).unwrap_or_default();
    let is_matrix = |(at, parameter): (usize, &Parameter)| {
        at < last && is_weight(parameter) && parameter.shape.sizes().iter().all(|&size| size > 1)
    };
    let chosen: Vec<bool> = layout.parameters.iter().enumerate().map(is_matrix).collect();
    if !chosen.contains(&true) {
        let names: Vec<&str> = layout.parameters.iter().map(|parameter| parameter.name.as_str()).collect();
        return Err(Error::usage(format!(
            "train: {}: got a model without hidden weight matrices ({}), expected at least one of two rows and two columns before the output layer's; use adamw",
            settings.optimizer.name(),
            listed(&names)
        )));
    }
    Ok(chosen)
}
