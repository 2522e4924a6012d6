//! The end of a run: its model with a record of how it was trained and how well it did, and the errors that prediction intervals come from.

use super::blend::{Blend, blended};
use super::folds::{Fold, residuals};
use super::origin::Origin;
use super::provenance::Provenance;
use crate::error::Result;
use crate::files::Warning;
use crate::judge::{Calibration, Metrics, Residuals};
use crate::loss::Loss;
use crate::math::largest;
use crate::model::Model;
use crate::table::{Preparation, Target};
use crate::train::{Data, Outcome, Trainer};

/// What a run was about, besides its trainer.
#[derive(Clone, Copy, Debug)]
pub struct About<'a> {
    /// The name of the table; only its last part is recorded.
    pub source: &'a str,
    /// How the table was read and split.
    pub origin: &'a Origin,
    /// How rows became inputs.
    pub preparation: &'a Preparation,
    /// Rows that were left out because of missing cells.
    pub dropped: usize,
    /// The folds of a cross-validation before the run.
    pub folds: &'a [Fold],
}

/// A model that was judged on the rows that its weights were not fitted to.
#[derive(Clone, Debug)]
pub struct Judged {
    /// The model with its record, and with the models of the folds if its intervals need them.
    pub model: Model,
    /// The blend with a linear model that it is.
    pub blend: Option<Blend>,
    /// Outputs for the validation rows.
    pub validation_outputs: Vec<f32>,
    /// Outputs for the test rows.
    pub test_outputs: Vec<f32>,
    /// Metrics of the validation rows; absent without rows.
    pub validation: Option<Metrics>,
    /// Metrics of the test rows; absent without rows.
    pub test: Option<Metrics>,
    /// Metrics of the test rows without the inputs.
    pub baseline: Option<Metrics>,
    /// What a person should know about the model.
    pub warnings: Vec<Warning>,
}

impl Judged {
    /// Judges the model of a run that has ended. Errors for an optimiser of the program's own, which the record of the run cannot name, and if the device
    /// fails.
    pub async fn of(trainer: &Trainer, outcome: &Outcome, about: About<'_>) -> Result<Self> {
        let (data, settings) = (trainer.data(), trainer.settings());
        settings.optimizer.check_stored().map_err(|error| error.within("judge"))?;
        let (model, blend) = blended(trainer, Some(about.preparation.clone())).await?;
        let validation_outputs = model.outputs(trainer.device(), &data.validation.x).await?;
        let test_outputs = model.outputs(trainer.device(), &data.test.x).await?;
        let target = &about.preparation.target;
        let figures = |z: &[f32], y: &[f32]| Metrics::of(&model.spec, &model.loss, z, y, target.scale());
        let validation = figures(&validation_outputs, &data.validation.y);
        let test = figures(&test_outputs, &data.test.y);
        let baseline = Metrics::baseline(target, &settings.loss, &data.test.y);
        let provenance = Provenance {
            source: file_name(about.source),
            origin: recorded(about.origin),
            settings: settings.clone(),
            rows: [&data.train, &data.validation, &data.test].map(|part| part.rows(data.targets)),
            dropped: about.dropped,
            epochs: outcome.epochs,
            best_epoch: outcome.best_epoch.map(|epoch| epoch + 1),
            blend,
            validation,
            test,
            baseline,
            folds: about.folds.iter().filter_map(|fold| fold.metrics).collect(),
            residuals: calibration(&model, data, [&validation_outputs, &test_outputs], about.folds)?,
        };
        let parts = [("test", &*test_outputs, &data.test), ("validation", &*validation_outputs, &data.validation)];
        let judged = parts.into_iter().find(|(_, outputs, _)| !outputs.is_empty());
        let warnings =
            judged.map(|(part, z, rows)| never_found(target, &settings.loss, (z, &rows.y), part)).unwrap_or_default();
        let folds = about.folds.iter().filter(|fold| fold.residuals.is_some()).map(|fold| fold.model.clone());
        let model = model.with_provenance(&provenance).with_folds(&folds.collect::<Vec<_>>())?;
        Ok(Self { model, blend, validation_outputs, test_outputs, validation, test, baseline, warnings })
    }
}

/// Fewer rows of a class say nothing about whether it is ever found.
const FEWEST_ROWS: usize = 5;

/// The rare classes none of whose rows the model finds, from its outputs and the targets of these rows.
fn never_found(target: &Target, loss: &Loss, (z, y): (&[f32], &[f32]), part: &str) -> Vec<Warning> {
    let Target::Classification { name, levels, .. } = target else { return Vec::new() };
    let (link, width) = (loss.link(), loss.outputs(levels.len()));
    let rows = z.len() / width;
    let mut counts = vec![[0_usize; 2]; levels.len()];
    for (row, outputs) in z.chunks_exact(width).enumerate() {
        // A loss per class has a target for each of them.
        let own = if y.len() == rows { y[row] as usize } else { largest(&y[row * levels.len()..][..levels.len()]) };
        counts[own][0] += 1;
        counts[own][1] += usize::from((link.class)(outputs) == own);
    }
    // Only of a rare class: of a common one, a model that has learnt nothing yet may find none.
    let is_rare = |own: usize| own >= FEWEST_ROWS && own * levels.len() < rows;
    let never = levels.iter().zip(counts).filter(|(_, [own, found])| is_rare(*own) && *found == 0);
    never
        .map(|(level, [own, _])| {
            let message = format!(
                "of {own} {part} rows that are \"{level}\" the model finds none; class_weights balanced makes rare classes count more, and proba shows their probabilities"
            );
            Warning { column: name.clone(), message, cells: Vec::new() }
        })
        .collect()
}

/// The errors that prediction intervals come from: those of the folds, else of the test rows, else of the validation rows.
fn calibration(model: &Model, data: &Data, outputs: [&[f32]; 2], folds: &[Fold]) -> Result<Option<Residuals>> {
    let of_folds: Option<Vec<_>> = folds.iter().map(|fold| fold.residuals.clone()).collect();
    if let Some(groups) = of_folds.filter(|groups| !groups.is_empty()) {
        return Ok(Some(Residuals { calibration: Calibration::Folds, groups }));
    }
    let [validation, test] = outputs;
    let parts = [(Calibration::Test, test, &data.test), (Calibration::Validation, validation, &data.validation)];
    for (calibration, z, part) in parts {
        if let Some(group) = residuals(model, z, part)? {
            return Ok(Some(Residuals { calibration, groups: vec![group] }));
        }
    }
    Ok(None)
}

/// Where the rows come from, without the folders of files.
fn recorded(origin: &Origin) -> Origin {
    let mut origin = origin.clone();
    for file in [&mut origin.validation_file, &mut origin.test_file] {
        *file = file.as_deref().map(file_name);
    }
    origin
}

/// The last part of a path, or the whole of what ends in no name.
fn file_name(path: &str) -> String {
    let mut parts = path.split(['/', std::path::MAIN_SEPARATOR]).filter(|part| !part.is_empty() && *part != ".");
    parts.next_back().filter(|part| *part != "..").unwrap_or(path).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::ResidualGroup;
    use crate::loss::Loss;
    use crate::nn::{Activation, Spec};
    use crate::train::Examples;

    /// y = 2 x in standardised units, for a target of scale 10.
    fn doubled() -> Model {
        let spec = Spec::mlp(1, &[], 1, Activation::identity());
        let target = Target::Regression { name: "y".into(), mean: 5.0, scale: 10.0, min: 0.0, max: 9.0 };
        let preparation = Preparation::new(Vec::new(), target);
        Model::new(spec, Loss::mse(), vec![2.0, 0.0], Some(preparation))
    }

    #[test]
    fn errors_come_from_the_folds_else_the_test_rows_else_the_validation_rows() {
        let rows = |y: &[f32]| Examples { x: vec![0.0; y.len()], y: y.to_vec() };
        let data = |test: &[f32]| Data {
            inputs: 1,
            targets: 1,
            validation: rows(&[1.0]),
            test: rows(test),
            ..Data::default()
        };
        let model = doubled();
        let sizes = |found: Residuals| {
            (found.calibration, found.groups.iter().map(|group| group.sizes.clone()).collect::<Vec<_>>())
        };
        // |z - y| · 10 for z = 3 and y = 1, and for z = 2 and y = 2.5.
        let found = calibration(&model, &data(&[2.5]), [&[3.0], &[2.0]], &[]).unwrap().unwrap();
        assert_eq!(sizes(found), (Calibration::Test, vec![vec![5.0]]));
        let found = calibration(&model, &data(&[]), [&[3.0], &[]], &[]).unwrap().unwrap();
        assert_eq!(sizes(found), (Calibration::Validation, vec![vec![20.0]]));
        let group = ResidualGroup::of(&[-1.5]);
        let fold = Fold {
            model: model.clone(),
            outcome: Outcome { stop: crate::train::Stop::Epochs, epochs: 1, steps: 1, best_epoch: None },
            rows: [1, 1, 1],
            metrics: None,
            baseline: None,
            residuals: Some(group),
        };
        let found = calibration(&model, &data(&[2.5]), [&[3.0], &[2.0]], &[fold]).unwrap().unwrap();
        assert_eq!(sizes(found), (Calibration::Folds, vec![vec![1.5]]));
    }

    #[test]
    fn a_class_that_is_never_found_is_named() {
        let levels = ["no", "rare", "yes"].map(String::from).to_vec();
        let target = Target::Classification { name: "k".into(), levels, counts: vec![9, 5, 6] };
        // 20 rows: 9 of no, 5 of rare, 6 of yes; the model says no, and yes for the last six.
        let y: Vec<f32> = [vec![0.0; 9], vec![1.0; 5], vec![2.0; 6]].concat();
        let z: Vec<f32> = (0..20).flat_map(|row| if row < 14 { [1.0, 0.5, 0.0] } else { [0.0, 0.5, 1.0] }).collect();
        let said = never_found(&target, &Loss::cross_entropy(0.0), (&z, &y), "test");
        assert_eq!(said.len(), 1);
        assert!(
            said[0].to_string().starts_with("column \"k\": of 5 test rows that are \"rare\" the model finds none;")
        );
        let one_hot: Vec<f32> =
            y.iter().flat_map(|own| [0.0, 1.0, 2.0].map(|class| f32::from(u8::from(class == *own)))).collect();
        assert_eq!(never_found(&target, &Loss::cross_entropy(0.0), (&z, &one_hot), "test"), said);
        // It says rare for a row of another class: that finds none either.
        let wrong: Vec<f32> = [&[0.0, 1.0, 0.0][..], &z[3..]].concat();
        assert_eq!(never_found(&target, &Loss::cross_entropy(0.0), (&wrong, &y), "test"), said);
        // One row fewer says nothing, and one that is found is enough.
        let found: Vec<f32> = [&z[..27], &[0.0, 1.0, 0.0], &z[30..]].concat();
        assert_eq!(never_found(&target, &Loss::cross_entropy(0.0), (&found, &y), "test"), []);
        let rest: Vec<f32> = [&z[..39], &z[42..]].concat();
        assert_eq!(
            never_found(&target, &Loss::cross_entropy(0.0), (&rest, &[&y[..13], &y[14..]].concat()), "test"),
            []
        );
    }

    #[test]
    fn only_the_name_of_a_file_is_recorded() {
        for (path, name) in [("a/b/wine.csv", "wine.csv"), ("wine.csv", "wine.csv"), ("-", "-"), ("a/..", "a/..")] {
            assert_eq!(file_name(path), name);
        }
    }
}
