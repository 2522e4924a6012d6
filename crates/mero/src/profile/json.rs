//! The report of `mero profile` as JSON.

use serde_json::{Map, Value, json};

use super::charts::flops_by_op;
use super::findings::Findings;
use super::text::NAMES;
use meromorph::device::{Code, Tag};
use meromorph::profile::{Bottleneck, Group, Grouping, LaunchProfile, Leak, MemoryProfile, Part, TagBytes};

/// One object.
pub(super) fn report(findings: &Findings<'_>) -> Value {
    let Findings { trainer, profile, ceilings, memory, .. } = findings;
    let (info, cost) = (trainer.device().info(), profile.cost());
    let launch = |(at, one): (usize, &LaunchProfile)| {
        let label = &one.launch.label;
        json!({
            "at": at, "kernel": one.launch.kernel, "layer": &*label.layer, "op": label.op, "is_backward": label.is_backward,
            "ms": one.ms, "share": one.ms / profile.step_ms, "flops": one.launch.cost.flops, "bytes": one.launch.cost.bytes,
            "gflops": one.gflops(), "gbytes_s": one.gbytes_s(), "roofline_share": one.roofline_share(ceilings),
            "is_arithmetic": one.is_arithmetic(ceilings), "sizes": sizes(one), "live_bytes": one.launch.live_bytes,
        })
    };
    let part = |part: &Part| {
        json!({
            "layer": part.layer, "op": part.op, "direction": part.direction, "ms": part.ms, "share": part.share,
            "recorded_ms": part.recorded_ms, "flops": part.cost.flops,
        })
    };
    let parts: Vec<Value> = findings.parts.iter().map(part).collect();
    let bottleneck = |one: &Bottleneck| json!({ "name": one.name, "share": one.share, "advice": one.advice });
    let bottlenecks: Vec<Value> = findings.bottlenecks().iter().map(bottleneck).collect();
    let by_op: Map<String, Value> = flops_by_op(findings).into_iter().map(|(op, flops)| (op, flops.into())).collect();
    let loading = findings.loading.map(|one| json!({ "read_ms": one.read_ms, "encode_ms": one.encode_ms }));
    let launches: Vec<Value> = profile.launches.iter().enumerate().map(launch).collect();
    let groups = |by| profile.grouped(by).iter().map(group).collect::<Vec<_>>();
    let copies: Vec<Value> =
        ceilings.copies.iter().map(|rate| json!({ "bytes": rate.bytes, "gbytes_s": rate.gbytes_s })).collect();
    json!({
        "event": "report", "step": trainer.step_kind().name(), "batch": trainer.settings().batch,
        "parameters": trainer.parameter_count(), "steps": profile.steps,
        "step_ms": profile.step_ms, "plain_step_ms": profile.plain_ms, "overhead": profile.overhead,
        "explained": profile.explained(), "between_launches_ms": profile.between_ms, "flops": cost.flops, "bytes": cost.bytes,
        "gflops": cost.flops as f64 / profile.step_ms / 1e6, "launches": launches,
        "by_kernel": groups(Grouping::Kernel), "by_layer": groups(Grouping::Layer), "by_op": groups(Grouping::Op),
        "by_direction": groups(Grouping::Direction),
        "ceilings": { "gflops": ceilings.gflops, "matmul_size": ceilings.matmul_size, "copies": copies },
        "memory": memory.as_ref().map(remembered), "inside_fused": parts, "bottlenecks": bottlenecks, "flops_by_op": by_op,
        "loading": loading, "sampled": profile.sampled, "price": profile.price(), "persistent_bytes": profile.persistent_bytes,
        "device": info.device, "name": info.name, "threads": info.threads,
    })
}

/// The sizes of a launch by name.
fn sizes(one: &LaunchProfile) -> Value {
    let sizes = one.launch.code.iter().flat_map(Code::sizes);
    Value::Object(sizes.map(|(name, size)| (name.to_owned(), size.into())).collect())
}

fn group(group: &Group) -> Value {
    json!({
        "name": group.name, "launches": group.launches, "ms": group.ms, "share": group.share, "flops": group.cost.flops,
        "bytes": group.cost.bytes,
    })
}

fn remembered(memory: &MemoryProfile) -> Value {
    let marks: Vec<Value> = memory
        .marks()
        .iter()
        .map(|mark| {
            json!({
                "name": mark.name, "bytes": mark.live.total(), "peak_bytes": mark.peak, "blocks": mark.blocks, "tags": tags(mark.live),
            })
        })
        .collect();
    let leaks: Vec<Value> = memory
        .leaks()
        .iter()
        .map(|leak| {
            let kind = if matches!(leak, Leak::Buffer { .. }) { "buffer" } else { "growth" };
            json!({ "kind": kind, "tag": NAMES[leak.tag() as usize], "bytes": leak.bytes(), "marks": leak.marks() })
        })
        .collect();
    json!({ "marks": marks, "peak_bytes": memory.peak_bytes(), "peak_tags": tags(memory.peak()), "leaks": leaks })
}

/// An object with the bytes of each tag.
fn tags(bytes: TagBytes) -> Value {
    let fields = Tag::ALL.iter().zip(NAMES).map(|(tag, name)| (name.to_owned(), bytes.of(*tag).into()));
    Value::Object(fields.collect::<Map<_, _>>())
}
