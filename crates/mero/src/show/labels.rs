//! A device, a model and its poles in a few words.

use meromorph::nn::{Decoding, Layer, Spec, Threshold};
use meromorph::report::{counted, figure};
use meromorph::run::Blend;
use meromorph::table::Target;

/// `cpu (AMD EPYC, 2 threads)`.
pub(crate) fn place(device: &str, name: &str, threads: usize) -> String {
    format!("{device} ({name}, {})", counted(threads, "thread"))
}

/// `5 → 64 → 64 → 1, silu`; of several models that were trained at once, `4 models of …`.
pub(crate) fn models_of(members: usize, spec: &Spec) -> String {
    if members == 1 { shape_of(spec) } else { format!("{members} models of {}", shape_of(spec)) }
}

fn shape_of(spec: &Spec) -> String {
    let mut widths = vec![spec.inputs.to_string()];
    let mut between = Vec::new();
    for layer in &spec.layers {
        let kind = layer.as_kind();
        let word = match layer {
            Layer::Linear(linear) => {
                widths.push(linear.outputs.to_string());
                continue;
            }
            Layer::Function(graph) => {
                let columns: Vec<String> = graph.outputs.iter().map(|one| one.columns.to_string()).collect();
                widths.push(columns.join(" and "));
                kind.text()
            }
            _ => kind.text(),
        };
        if !between.contains(&word) {
            between.push(word);
        }
    }
    [vec![widths.join(" → ")], between].concat().join(", ")
}

/// `31 % of a linear model, chosen on the validation rows`.
pub(crate) fn blended(blend: Blend) -> String {
    let sharp =
        if blend.sharpness == 1.0 { String::new() } else { format!("; logits times {}", figure(blend.sharpness)) };
    format!("{:.0} % of a linear model, chosen on the validation rows{sharp}", 100.0 * blend.linear)
}

/// Where a model with poles returns no value, in units of the target if the threshold determines that.
pub(crate) fn limits(decoding: &Decoding, target: &Target) -> String {
    let (infer, Target::Regression { mean, scale, .. }) = (decoding.tau_infer, target) else { return String::new() };
    if decoding.threshold == Threshold::Denominator {
        return format!("no value where |Q| < {infer}");
    }
    let [infer, train] = decoding.limits().map(|limit| figure(scale / f64::from(limit)));
    let gap = if decoding.tau_train.is_some() { format!(", marked beyond {train}") } else { String::new() };
    format!("no value farther than {infer} from {}{gap}", figure(*mean))
}
