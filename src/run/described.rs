//! What a model is and how it was trained, as JSON, for every face.

use serde_json::{Value, json};

use crate::error::Result;
use crate::model::Model;
use crate::table::{Feature, NumberFeature, Seen, Target};

/// The model's format, task, target, columns, layers and size, and how it was trained, if it says so. Errors if its record cannot be read.
pub fn described(model: &Model) -> Result<Value> {
    let preparation = model.preparation.as_ref();
    let provenance = model.provenance()?;
    let interval = provenance.as_ref().and_then(|provenance| provenance.residuals.as_ref());
    let interval = interval.map(|residuals| json!({ "calibration": residuals.calibration, "rows": residuals.rows() }));
    Ok(json!({
        "format": model.format, "engine": model.engine,
        "task": preparation.map(|preparation| preparation.target.task().name()), "target": preparation.map(|preparation| target(&preparation.target)),
        "columns": preparation.map(|preparation| preparation.features.iter().map(column).collect::<Vec<_>>()),
        "layers": model.spec.layers, "inputs": model.spec.inputs, "members": model.members(), "parameters": model.parameter_count(),
        "loss": model.loss.text(), "weights": model.storage, "labels": model.labels, "interval": interval,
        "training": provenance.map(|provenance| json!({
            "source": provenance.source, "rows": { "train": provenance.rows[0], "validation": provenance.rows[1], "test": provenance.rows[2] },
            "dropped": provenance.dropped, "epochs": provenance.epochs, "best_epoch": provenance.best_epoch, "blend": provenance.blend,
            "val": provenance.validation, "test": provenance.test, "baseline": provenance.baseline, "folds": provenance.folds,
            "settings": provenance.settings, "choice": provenance.origin.choice, "fractions": provenance.origin.fractions,
            "validation_file": provenance.origin.validation_file, "test_file": provenance.origin.test_file,
        })),
    }))
}

fn target(target: &Target) -> Value {
    match target {
        Target::Regression { name, mean, min, max, .. } | Target::Counts { name, mean, min, max } => {
            json!({ "name": name, "mean": mean, "min": min, "max": max })
        }
        Target::Shares { name, columns, means } => json!({ "name": name, "classes": columns, "means": means }),
        Target::Classification { name, levels, counts } => json!({ "name": name, "classes": levels, "counts": counts }),
    }
}

fn column(feature: &Feature) -> Value {
    let name = feature.name();
    match feature.seen() {
        Seen::Numbers(NumberFeature { mean, min, max, impute, .. }) => {
            json!({ "name": name, "kind": "number", "mean": mean, "min": min, "max": max, "missing": impute })
        }
        Seen::Times(date) => {
            let [from, to] = date.range();
            let filled = date.elapsed.impute.map(|days| date.text(days));
            json!({ "name": name, "kind": "date", "from": from, "to": to, "missing": filled })
        }
        Seen::Levels { levels, counts, missing, .. } => {
            let filled = missing.map(|level| levels.get(level as usize).map_or("own level", String::as_str));
            json!({ "name": name, "kind": "category", "levels": levels, "counts": counts, "missing": filled })
        }
        Seen::Texts { example, what, missing } => {
            json!({ "name": name, "kind": "category", "encoding": what, "example": example, "missing": missing })
        }
    }
}
