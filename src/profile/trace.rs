//! Steps as trace events (JSON) for chrome://tracing and Perfetto: a track with each step and, within it, its layers, and a track with the launches.

use serde_json::{Value, json};

use super::step::{Grouping, StepProfile};

/// Steps in a trace, at most.
const MOST_STEPS: usize = 100;
/// The numbers of the tracks.
const LAYERS: u32 = 1;
const LAUNCHES: u32 = 2;

/// The first steps of a profile as a trace on `device`.
pub fn trace(profile: &StepProfile, device: &str) -> Value {
    let named = |what: &str, tid: u32, name: &str| json!({ "ph": "M", "name": what, "pid": 1, "tid": tid, "args": { "name": name } });
    let mut events = vec![
        named("process_name", LAYERS, &format!("mero on {device}")),
        named("thread_name", LAYERS, "layers"),
        named("thread_name", LAUNCHES, "launches"),
    ];
    let commands = profile.launches.len();
    for (at, spans) in profile.timings.spans.chunks_exact(commands.max(1)).take(MOST_STEPS).enumerate() {
        step(&mut events, profile, at, spans);
    }
    json!({ "traceEvents": events, "displayTimeUnit": "ms" })
}

/// The events of one step.
fn step(events: &mut Vec<Value>, profile: &StepProfile, at: usize, spans: &[[f64; 2]]) {
    let [(first, last)] = [(spans[0][0], spans[spans.len() - 1][1])];
    events.push(event(LAYERS, "step", &format!("step {}", at + 1), [first, last], json!({})));
    let mut rest = 0;
    // Launches in a row that belong to the same layer and direction are one event.
    let part = |at: usize| {
        let launch = &profile.launches[at].launch;
        (Grouping::Layer.name(launch), Grouping::Direction.name(launch))
    };
    while rest < spans.len() {
        let same = (rest..spans.len()).take_while(|at| part(*at) == part(rest)).count();
        let (layer, direction) = part(rest);
        let span = [spans[rest][0], spans[rest + same - 1][1]];
        events.push(event(LAYERS, direction, layer, span, json!({ "direction": direction, "launches": same })));
        rest += same;
    }
    for (one, span) in profile.launches.iter().zip(spans) {
        let label = &one.launch.label;
        let about = json!({
            "layer": &*label.layer, "op": label.op, "flops": one.launch.cost.flops, "bytes": one.launch.cost.bytes,
        });
        events.push(event(LAUNCHES, Grouping::Direction.name(&one.launch), one.launch.kernel, *span, about));
    }
}

/// A complete event; times are in microseconds.
fn event(track: u32, category: &str, name: &str, [start, end]: [f64; 2], about: Value) -> Value {
    // Both ends are rounded, so that what follows each other or lies within another still does.
    let [start, end] = [start, end].map(|ms| (ms * 1e6).round());
    json!({
        "ph": "X", "name": name, "cat": category, "pid": 1, "tid": track, "ts": start / 1e3, "dur": (end - start) / 1e3, "args": about,
    })
}
