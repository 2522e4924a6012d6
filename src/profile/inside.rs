//! What a fused launch does inside. A clock sees such a launch as a whole, so its time is divided among the launches of the recorded step, which computes the
//! same from the model's own ops, by the times that these take. That is an estimate: fusing does not make all of them faster by the same factor.

use super::step::{Grouping, StepProfile};
use crate::device::Cost;

/// A part of a fused launch.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// The layer of the model, or another part of a step.
    pub layer: String,
    /// The op that recorded it.
    pub op: String,
    /// Forward or backward.
    pub direction: &'static str,
    /// Its estimated time in a fused step.
    pub ms: f64,
    /// The share of the fused step.
    pub share: f64,
    /// Its measured time in a recorded step.
    pub recorded_ms: f64,
    /// Its arithmetic and traffic in a recorded step.
    pub cost: Cost,
}

/// The parts of what both steps of a model compute, longest first, by the shares of the `recorded` step: all but the update and the choice of a batch, which
/// are launches of their own. Empty if the fused step has no launch for the whole model.
pub fn inside(fused: &StepProfile, recorded: &StepProfile) -> Vec<Part> {
    let fused_ms: f64 = fused.launches.iter().filter(|one| &*one.launch.label.layer == FUSED).map(|one| one.ms).sum();
    let mut parts: Vec<Part> = Vec::new();
    if fused_ms <= 0.0 {
        return parts;
    }
    for one in &recorded.launches {
        let name = |by: Grouping| by.name(&one.launch);
        let (layer, op) = (name(Grouping::Layer), name(Grouping::Op));
        if OUTSIDE.contains(&layer) {
            continue;
        }
        let direction = if one.launch.label.is_backward { "backward" } else { "forward" };
        let is_same = |part: &Part| part.layer == layer && part.op == op && part.direction == direction;
        let at = parts.iter().position(is_same).unwrap_or_else(|| {
            let (layer, op, cost) = (layer.to_owned(), op.to_owned(), Cost::default());
            parts.push(Part { layer, op, direction, ms: 0.0, share: 0.0, recorded_ms: 0.0, cost });
            parts.len() - 1
        });
        parts[at].recorded_ms += one.ms;
        parts[at].cost = parts[at].cost + one.launch.cost;
    }
    let all: f64 = parts.iter().map(|part| part.recorded_ms).sum();
    for part in &mut parts {
        part.ms = if all > 0.0 { fused_ms * part.recorded_ms / all } else { 0.0 };
        part.share = part.ms / fused.step_ms;
    }
    // By insertion, as groups.
    for end in 1..parts.len() {
        for at in (0..end).rev() {
            if parts[at].ms < parts[at + 1].ms {
                parts.swap(at, at + 1);
            }
        }
    }
    parts
}

/// The part of a step that the fused launch is.
const FUSED: &str = "model";
/// Parts of the recorded step that are launches of their own in the fused step, too.
const OUTSIDE: [&str; 2] = ["update", "batch"];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::{Label, Launch, Timings};

    fn profile(launches: &[(&str, &'static str, bool, f64)]) -> StepProfile {
        let launch = |(place, (layer, op, is_backward, _)): (usize, &(&str, &'static str, bool, f64))| Launch {
            kernel: "k",
            code: None,
            label: Label { op, is_backward: *is_backward, ..Label::part(layer) },
            cost: Cost { flops: 10, bytes: 0 },
            place,
            live_bytes: 0,
        };
        let (mut spans, mut end) = (Vec::new(), 0.0);
        for (_, _, _, ms) in launches {
            spans.push([end, end + ms]);
            end += ms;
        }
        let timings = Timings { commands: launches.len(), spans, wall: [0.0, end] };
        StepProfile::from_timings(launches.iter().enumerate().map(launch).collect(), timings, [end, 0.0])
    }

    #[test]
    fn a_fused_launch_is_divided_by_the_times_of_the_recorded_step() {
        let fused = profile(&[("model", "mlp", false, 8.0), ("update", "optimise", false, 2.0)]);
        let recorded = profile(&[
            ("batch", "gather", false, 5.0),
            ("layers.0", "linear", false, 4.0),
            ("layers.0", "linear", false, 2.0),
            ("layers.0", "linear", true, 10.0),
            ("update", "optimise", false, 7.0),
        ]);
        // 6 of 16 ms forward, 10 of 16 backward: 3 and 5 of the 8 ms, of a step of 10.
        let parts = inside(&fused, &recorded);
        let got: Vec<(&str, f64, f64, u64)> =
            parts.iter().map(|part| (part.direction, part.ms, part.share, part.cost.flops)).collect();
        assert_eq!(got, [("backward", 5.0, 0.5, 10), ("forward", 3.0, 0.3, 20)]);
        assert_eq!(inside(&recorded, &recorded), [], "no launch for the whole model");
    }
}
