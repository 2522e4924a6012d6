//! Whether model, loss, configuration and rows fit each other.

use super::config::curriculum::Curriculum;
use super::config::{StepKind, TrainerConfig};
use super::data::Data;
use crate::error::{Error, Result};
use crate::host::number;
use crate::loss::{Loss, TargetForm};
use crate::model::Network;
use crate::nn::{Head, Registry, Spec};

/// Errors if one of them is wrong by itself, or the model does not fit the rows, the loss or the configuration.
pub(crate) fn check(network: &Network, settings: &TrainerConfig, data: &Data) -> Result<()> {
    network.check()?;
    settings.check()?;
    data.check()?;
    let each = network.spec().map(Spec::each_output).transpose()?;
    let (inputs, got) = (network.inputs(), data.inputs);
    if inputs != got {
        return Err(Error::new(format!("train: the model takes {inputs} inputs, the rows have {got}")));
    }
    for (name, part) in [("training", &data.train), ("validation", &data.validation), ("test", &data.test)] {
        network.check_rows(&part.x).map_err(|error| error.within(&format!("train: {name} rows")))?;
    }
    check_network(network, settings)?;
    let (Some(spec), Some(each), false) = (network.spec(), each, network.has_own_loss()) else {
        return Ok(());
    };
    let [outputs] = each[..] else {
        let (name, got) = (settings.loss.text(), each.len());
        return Err(Error::new(format!(
            "train: loss \"{name}\" needs one output: got {got}, expected 1, or a loss of the model's own (with_loss)"
        )));
    };
    let is_classes = settings.loss.target().form == TargetForm::Class;
    if !is_classes && spec.head().is_some() != matches!(settings.loss, Loss::Pairs(_)) {
        return Err(Error::new(
            "train: a projective head and a loss of pairs go together; the run has only one of them",
        ));
    }
    if let Some(head) = spec.head().filter(|_| !is_classes) {
        check_bottoms(head, data, settings.allows_unreachable)?;
    }
    check_outputs(outputs, settings, data)
}

/// Errors if the configuration asks for what a function model or a closure loss does not have.
fn check_network(network: &Network, settings: &TrainerConfig) -> Result<()> {
    let is_function = network.spec().is_none();
    let kind = if is_function { "a function model" } else { "a closure loss" };
    let wrong = |is_wrong: bool, what: &str, expected: &str| {
        let message = || Error::new(format!("train: {what}: got {kind}, expected {expected}"));
        if is_wrong { Err(message()) } else { Ok(()) }
    };
    let (is_own, spec) = (is_function || network.has_own_loss(), "a Spec with a built-in loss");
    let is_pairs = is_function && !network.has_own_loss() && matches!(settings.loss, Loss::Pairs(_));
    let is_fused = settings.step == Some(StepKind::Fused);
    if network.has_own_loss() && is_fused {
        return Err(Error::new(format!(
            "train: the fused step does not take the model: got a closure loss, expected {spec}, or the recorded step"
        )));
    }
    if let Some(source) = network.source() {
        let name = source.name();
        let refused = [
            ("the fused step", is_fused),
            ("a curriculum", settings.curriculum != Curriculum::default()),
            ("gradient policies", settings.policies != Registry::default()),
            ("class weights", !settings.class_weights.is_empty()),
            ("members", settings.members > 1),
        ];
        if let Some((what, _)) = refused.iter().find(|(_, is_set)| *is_set) {
            return Err(Error::new(format!(
                "train: source \"{name}\": got {what}, which needs the model's own gradients"
            )));
        }
    }
    wrong(is_pairs, "a loss of pairs needs a projective head", "a Spec that ends in one")?;
    wrong(is_own && settings.curriculum != Curriculum::default(), "a curriculum changes the loss of pairs", spec)?;
    wrong(is_function && settings.coverage.is_some(), "a coverage goal needs a projective head", "a Spec")?;
    wrong(is_function && settings.policies != Registry::default(), "gradient policies belong to layers", "a Spec")?;
    wrong(network.has_own_loss() && !settings.class_weights.is_empty(), "class weights apply to cross-entropy", spec)
}

/// Errors if a model of so many outputs per row does not fit the targets and a built-in loss or formula.
pub(crate) fn check_outputs(outputs: usize, settings: &TrainerConfig, data: &Data) -> Result<()> {
    if settings.loss.target().form == TargetForm::Class {
        return check_classes(settings, settings.loss.values(outputs), data);
    }
    if !settings.class_weights.is_empty() {
        return Err(Error::new(
            "train: class weights belong to a loss of class indices, such as cross-entropy; this one has no classes to weight",
        ));
    }
    let expected = settings.loss.outputs(data.targets);
    if outputs == expected {
        return check_values(&settings.loss, data);
    }
    let targets = data.targets;
    let why = if expected == targets {
        String::new()
    } else {
        format!(", for which loss \"{}\" needs {expected} outputs", settings.loss.text())
    };
    Err(Error::new(format!("train: the model gives {outputs} outputs, the rows have {targets} targets{why}")))
}

/// Errors if a target is not what the loss takes.
fn check_values(loss: &Loss, data: &Data) -> Result<()> {
    for (name, part) in [("training", &data.train), ("validation", &data.validation), ("test", &data.test)] {
        let place = |row: usize, target: Option<usize>| {
            let target = target.map(|at| format!(", target {}", at + 1));
            format!("{name} row {}{}", row + 1, target.unwrap_or_default())
        };
        loss.target().check(loss.text(), &part.y, data.targets, &place).map_err(|error| error.within("train"))?;
    }
    Ok(())
}

/// Errors if there are ⊥ targets but the head's denominators cannot come near 0.
fn check_bottoms(head: &Head, data: &Data, allows_unreachable: bool) -> Result<()> {
    let width = 2 * head.outputs;
    let is_bottom = |pairs: &[f32]| pairs.len() == width && pairs[head.outputs..].contains(&0.0);
    let bottoms = data.train.y.chunks(width).filter(|pairs| is_bottom(pairs)).count();
    if bottoms == 0 || head.can_say_bottom() || allows_unreachable {
        return Ok(());
    }
    let [floor, tau] = [head.floor.unwrap_or(0.0) + head.anchor, head.decoding.tau_infer].map(number);
    Err(Error::new(format!(
        "train: {bottoms} training rows are ⊥, but the model's denominators stay above {floor}, so that |Q| < {tau} never holds"
    )))
}

/// Errors if a target is not one of the classes, or they have not a weight each.
fn check_classes(settings: &TrainerConfig, classes: usize, data: &Data) -> Result<()> {
    let (name, weights) = (settings.loss.text(), &settings.class_weights);
    if data.targets != 1 {
        return Err(Error::new(format!("train: {name} takes one class index per row, not {}", data.targets)));
    }
    if !weights.is_empty() && weights.len() != classes {
        return Err(Error::new(format!("train: {} class weights for {classes} classes", weights.len())));
    }
    let is_class = |y: f32| y >= 0.0 && y.fract() == 0.0 && (y as usize) < classes;
    let all = [&data.train, &data.validation, &data.test];
    match all.iter().flat_map(|part| &part.y).find(|&&y| !is_class(y)) {
        Some(y) => {
            let (y, last) = (number(*y), classes - 1);
            Err(Error::new(format!("train: {y} is not a class index; the model has classes 0 to {last}")))
        }
        None => Ok(()),
    }
}
