//! Steps as trace events (JSON) for chrome://tracing and Perfetto: a track with each step and, within it, its layers, a track with the launches, each with
//! the stack of what it is part of, and the memory of the plan in use over time.

use super::step::{Grouping, StepProfile};
use crate::device::Code;
use crate::json::Writer;

/// Steps in a trace, at most.
const MOST_STEPS: usize = 100;
/// The numbers of the tracks.
const LAYERS: f64 = 1.0;
const LAUNCHES: f64 = 2.0;

/// The first steps of a profile as a trace on `device`: the text of a JSON file.
pub fn trace(profile: &StepProfile, device: &str) -> String {
    let mut out = Writer::default();
    out.object("");
    out.text("displayTimeUnit", "ms");
    out.list("traceEvents");
    named(&mut out, "process_name", LAYERS, &format!("mero on {device}"));
    named(&mut out, "thread_name", LAYERS, "layers");
    named(&mut out, "thread_name", LAUNCHES, "launches");
    let commands = profile.launches.len();
    for (at, spans) in profile.timings.spans.chunks_exact(commands.max(1)).take(MOST_STEPS).enumerate() {
        step(&mut out, profile, at, spans);
        memory(&mut out, profile, spans);
    }
    out.end(']');
    stacks(&mut out, profile);
    out.end('}');
    out.finish()
}

/// The name of the process or of a track.
fn named(out: &mut Writer, what: &str, track: f64, name: &str) {
    out.object("");
    about(out, "M", what, track);
    out.text("name", name);
    end(out);
}

/// The events of one step.
fn step(out: &mut Writer, profile: &StepProfile, at: usize, spans: &[[f64; 2]]) {
    let whole = [spans[0][0], spans[spans.len() - 1][1]];
    event(out, LAYERS, "step", &format!("step {}", at + 1), whole);
    end(out);
    let mut rest = 0;
    // Launches in a row that belong to the same layer and direction are one event.
    let part = |at: usize| {
        let launch = &profile.launches[at].launch;
        (Grouping::Layer.name(launch), Grouping::Direction.name(launch))
    };
    while rest < spans.len() {
        let (layer, direction) = part(rest);
        let mut next = rest + 1;
        while next < spans.len() && part(next) == (layer, direction) {
            next += 1;
        }
        event(out, LAYERS, direction, layer, [spans[rest][0], spans[next - 1][1]]);
        out.text("direction", direction);
        out.number("launches", (next - rest) as f64);
        end(out);
        rest = next;
    }
    for (at, (one, span)) in profile.launches.iter().zip(spans).enumerate() {
        let launch = &one.launch;
        event(out, LAUNCHES, Grouping::Direction.name(launch), launch.kernel, *span);
        out.text("layer", &launch.label.layer);
        out.text("op", launch.label.op);
        out.number("flops", launch.cost.flops as f64);
        out.number("bytes", launch.cost.bytes as f64);
        for (name, size) in launch.code.iter().flat_map(Code::sizes) {
            out.number(name, f64::from(size));
        }
        out.end('}');
        out.text("sf", &frame(at, STACK.len() - 1));
        out.end('}');
    }
}

/// The memory in use while each launch runs.
fn memory(out: &mut Writer, profile: &StepProfile, spans: &[[f64; 2]]) {
    for (one, [start, _]) in profile.launches.iter().zip(spans) {
        out.object("");
        out.number("ts", (start * 1e6).round() / 1e3);
        about(out, "C", "memory in bytes", LAUNCHES);
        out.number("persistent", profile.persistent_bytes as f64);
        out.number("results of the step", one.launch.live_bytes as f64);
        end(out);
    }
}

/// What a launch is part of, from the outermost.
const STACK: [&str; 4] = ["step", "direction", "layer", "op"];

/// The name of a frame of the stack of a launch.
fn frame(launch: usize, depth: usize) -> String {
    format!("{launch}.{}", STACK[depth])
}

/// The stacks of the launches: each frame names the one around it.
fn stacks(out: &mut Writer, profile: &StepProfile) {
    out.object("stackFrames");
    for (at, one) in profile.launches.iter().enumerate() {
        let launch = &one.launch;
        let names = ["step", Grouping::Direction.name(launch), Grouping::Layer.name(launch), Grouping::Op.name(launch)];
        for (depth, name) in names.into_iter().enumerate() {
            out.object(&frame(at, depth));
            out.text("category", STACK[depth]);
            out.text("name", name);
            if depth > 0 {
                out.text("parent", &frame(at, depth - 1));
            }
            out.end('}');
        }
    }
    out.end('}');
}

/// Begins a complete event and what is said about it; times are in microseconds.
fn event(out: &mut Writer, track: f64, category: &str, name: &str, [start, end]: [f64; 2]) {
    // Both ends are rounded, so that what follows each other or lies within another still does.
    let [start, end] = [start, end].map(|ms| (ms * 1e6).round());
    out.object("");
    out.text("cat", category);
    out.number("ts", start / 1e3);
    out.number("dur", (end - start) / 1e3);
    about(out, "X", name, track);
}

/// The fields of every event; the last has what is said about it.
fn about(out: &mut Writer, kind: &str, name: &str, track: f64) {
    out.text("ph", kind);
    out.text("name", name);
    out.number("pid", 1.0);
    out.number("tid", track);
    out.object("args");
}

/// Ends what is said about an event, and the event.
fn end(out: &mut Writer) {
    out.end('}');
    out.end('}');
}
