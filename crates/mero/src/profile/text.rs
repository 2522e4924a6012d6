//! The tables of `mero profile`, for a terminal and for the page.

use super::findings::Findings;
use crate::options::sizes::Loading;
use crate::show::labels::place;
use meromorph::device::{Code, Cost, Tag};
use meromorph::profile::{Bottleneck, Group, Grouping, LaunchProfile, Leak, MemoryProfile, Part, StepProfile};
use meromorph::report::{Cell, Table, bytes, count, counted, duration, facts, scaled_count};

/// Names of the tags of memory, in the order of [`Tag::ALL`].
pub(super) const NAMES: [&str; Tag::ALL.len()] =
    ["parameters", "gradients", "optimizer", "activations", "data", "workspace"];
/// Sizes of a launch in the table of a terminal.
const MOST_SIZES: usize = 3;
/// Launches in the table of a terminal, the longest.
const MOST_LAUNCHES: usize = 20;

/// From this overhead on, the times of short launches are mostly those of their timestamps.
pub(super) const MOST_OVERHEAD: f64 = 0.05;
/// What that means.
pub(super) const COSTLY: &str = "Measuring is expensive here: the times of short launches include that of a timestamp each. Larger batches show more.";

/// What it means that a launch is faster than the roofline.
pub(super) const ABOVE_ALL: &str =
    "More than 100 % of the roofline: the data came from caches that a copy of the same size does not fit into.";

/// Everything as text.
pub(super) fn report(findings: &Findings<'_>) -> String {
    let profile = &findings.profile;
    let facts: Vec<(&str, String)> = overview(findings);
    let mut parts = vec![meromorph::report::facts(&facts)];
    if profile.overhead > MOST_OVERHEAD {
        parts.push(format!("  {COSTLY}"));
    }
    parts.push(launches(findings, MOST_LAUNCHES).text());
    let left = profile.launches.len().saturating_sub(MOST_LAUNCHES);
    if profile.launches.iter().any(|one| one.roofline_share(&findings.ceilings) > 1.0) {
        parts.push(format!("  {ABOVE_ALL}"));
    }
    if left > 0 {
        let ms: f64 = longest(profile).iter().skip(MOST_LAUNCHES).map(|(_, one)| one.ms).sum();
        let share = percent(ms / profile.step_ms);
        let others = if left == 1 { "1 other launch takes".to_owned() } else { format!("{left} other launches take") };
        parts.push(format!("  {others} {share}; --json and --report have all"));
    }
    if !findings.parts.is_empty() {
        parts.push(self::parts(findings).text());
        parts.push(format!("  {ESTIMATED}"));
    }
    parts.extend(groupings(profile).map(|(by, what)| grouped(profile, by, what).text()));
    parts.push(speedups(profile));
    parts.push(bottleneck_table(findings).map_or_else(|| format!("  {NO_BOTTLENECK}"), |table| table.text()));
    if let Some(memory) = &findings.memory {
        parts.push(memory_table(memory).text());
        parts.push(facts_of(memory));
    }
    parts.join("\n\n")
}

/// The groupings and what their groups are, without those that have a group for each launch and say nothing new.
pub(super) fn groupings(profile: &StepProfile) -> impl Iterator<Item = (Grouping, &'static str)> {
    let all = [
        (Grouping::Kernel, "kernel"),
        (Grouping::Layer, "layer"),
        (Grouping::Op, "op"),
        (Grouping::Direction, "direction"),
    ];
    // One more group is the time between launches.
    all.into_iter().filter(|(by, _)| *by == Grouping::Kernel || profile.grouped(*by).len() <= profile.launches.len())
}

/// The step in a few lines.
pub(super) fn overview(findings: &Findings<'_>) -> Vec<(&'static str, String)> {
    let Findings { trainer, profile, ceilings, .. } = findings;
    let (info, cost) = (trainer.device().info(), profile.cost());
    let launched = trainer.step_summary().launches.len();
    let launches = format!("{launched} launch{}", if launched == 1 { "" } else { "es" });
    let copies = trainer.step_summary().copies.len();
    let copied = match copies {
        0 => String::new(),
        1 => ", 1 copy".to_owned(),
        _ => format!(", {copies} copies"),
    };
    let [cached, large] = ceilings.bandwidths().map(rate_text);
    let rate = cost.flops as f64 / profile.step_ms / 1e6;
    let mut facts = vec![
        ("device", place(info.device, &info.name, info.threads)),
        (
            "step",
            format!("{}, {}, {launches}{copied}", trainer.step_kind().name(), counted(trainer.settings().batch, "row")),
        ),
        (
            "time",
            format!(
                "{} measured, {} without measuring; in pairs of windows {:+.1} %",
                time(profile.step_ms),
                time(profile.plain_ms),
                100.0 * profile.overhead
            ),
        ),
        (
            "explained",
            format!(
                "{} of the time is in launches; {} of the windows are measured, which costs {}",
                percent(profile.explained()),
                percent(profile.sampled),
                percent(profile.price().max(0.0))
            ),
        ),
        (
            "work",
            format!(
                "{} flops, {} moved, {} GFLOP/s",
                scaled_count(cost.flops as f64),
                bytes(cost.bytes),
                rate_text(rate)
            ),
        ),
        (
            "ceilings",
            format!(
                "{} GFLOP/s (matmul of {}), {large} GB/s (copy of {}), {cached} GB/s (best copy)",
                rate_text(ceilings.gflops),
                ceilings.matmul_size,
                bytes(ceilings.copies.last().map_or(0, |rate| rate.bytes)),
            ),
        ),
    ];
    if let Some(Loading { read_ms, encode_ms }) = findings.loading {
        let epochs = (read_ms + encode_ms) / (profile.plain_ms * trainer.steps_per_epoch() as f64);
        let text = format!("read in {}, encoded in {}: as long as {epochs:.1} epochs", time(read_ms), time(encode_ms));
        facts.insert(1, ("table", text));
    }
    facts
}

/// How the parts of a fused launch are known.
pub(super) const ESTIMATED: &str = "Estimated: a clock sees a fused launch as a whole; its time is divided by the measured shares of the recorded step.";

/// What the fused launch does inside.
pub(super) fn parts(findings: &Findings<'_>) -> Table {
    let row = |part: &Part| {
        let flops = scaled_count(part.cost.flops as f64);
        [part.layer.clone(), part.op.clone(), part.direction.to_owned(), time(part.ms), percent(part.share), flops]
    };
    let header = ["inside the fused launch", "op", "direction", "time, estimated", "of the step", "flops"];
    Table::new(header).rows(findings.parts.iter().map(row))
}

/// That there is none.
pub(super) const NO_BOTTLENECK: &str = "No bottleneck: no kernel takes more than a tenth of a step.";

/// What holds a run up and what to do, if there is something.
pub(super) fn bottleneck_table(findings: &Findings<'_>) -> Option<Table> {
    let all = findings.bottlenecks();
    let row = |one: &Bottleneck| [one.name.clone(), percent(one.share), bar(one.share), one.advice.clone()];
    let table = Table::new(["bottleneck", "of the time", "", "what to do"]);
    (!all.is_empty()).then(|| table.rows(all.iter().map(row)))
}

/// A bar of up to 20 characters.
fn bar(share: f64) -> String {
    "█".repeat((20.0 * share.clamp(0.0, 1.0)).round() as usize)
}

/// The first sizes of a launch: `rows 256, inputs 64`.
fn sizes(one: &LaunchProfile, most: usize) -> String {
    let sizes = one.launch.code.iter().flat_map(Code::sizes).take(most);
    sizes.map(|(name, size)| format!("{name} {size}")).collect::<Vec<_>>().join(", ")
}

/// The launches with the most time, with their places in the step.
fn longest(profile: &StepProfile) -> Vec<(usize, &LaunchProfile)> {
    let mut all: Vec<(usize, &LaunchProfile)> = profile.launches.iter().enumerate().collect();
    all.sort_by(|(_, a), (_, b)| b.ms.total_cmp(&a.ms));
    all
}

/// The launches, the longest first, at most so many.
pub(super) fn launches(findings: &Findings<'_>, most: usize) -> Table {
    let Findings { profile, ceilings, .. } = findings;
    let header =
        ["#", "kernel", "part of", "time", "of the step", "GFLOP/s", "GB/s", "of the roofline", "bound by", "sizes"];
    let row = |(at, one): (usize, &LaunchProfile)| {
        let Cost { flops, bytes } = one.launch.cost;
        let rate = |amount: u64, rate: f64| if amount == 0 { "–".to_owned() } else { rate_text(rate) };
        let bound = if one.is_arithmetic(ceilings) { "arithmetic" } else { "traffic" };
        [
            (at + 1).to_string(),
            one.launch.kernel.to_owned(),
            one.launch.label.to_string(),
            time(one.ms),
            percent(one.ms / profile.step_ms),
            rate(flops, one.gflops()),
            rate(bytes, one.gbytes_s()),
            percent(one.roofline_share(ceilings)),
            bound.to_owned(),
            sizes(one, if most == usize::MAX { most } else { MOST_SIZES }),
        ]
        .map(Cell::from)
    };
    Table::new(header).rows(longest(profile).into_iter().take(most).map(row))
}

/// The groups of a grouping.
pub(super) fn grouped(profile: &StepProfile, by: Grouping, what: &str) -> Table {
    let row = |group: &Group| {
        let launches = if group.launches == 0 { "–".to_owned() } else { count(group.launches as u64) };
        let rate =
            if group.cost.flops == 0 { "–".to_owned() } else { rate_text(group.cost.flops as f64 / group.ms / 1e6) };
        let flops = if group.cost.flops == 0 { "–".to_owned() } else { scaled_count(group.cost.flops as f64) };
        [group.name.clone(), launches, time(group.ms), percent(group.share), bar(group.share), flops, rate]
    };
    Table::new([what, "launches", "time", "of the step", "", "flops", "GFLOP/s"])
        .rows(profile.grouped(by).iter().map(row))
}

/// What a faster kernel would do to the step.
pub(super) fn speedups(profile: &StepProfile) -> String {
    let groups = profile.grouped(Grouping::Kernel);
    let [first, ..] = &groups[..] else { return String::new() };
    let [twice, free] = [2.0, f64::INFINITY].map(|speedup| rate_text(StepProfile::amdahl(first.share, speedup)));
    format!(
        "  If {} were twice as fast, a step would be {twice} times as fast; if it took no time, {free} times.",
        first.name
    )
}

/// The bytes of each tag.
pub(super) fn memory_table(memory: &MemoryProfile) -> Table {
    let (live, peak) = (memory.live(), memory.peak());
    let marks = memory.marks();
    let grown = marks.first().zip(marks.last()).and_then(|(first, last)| memory.delta(&first.name, &last.name).ok());
    let row = |(tag, name): (&Tag, &str)| {
        let grown = grown.map_or(0, |grown| grown.of(*tag));
        [name.to_owned(), size(live.of(*tag)), size(peak.of(*tag)), change(grown)]
    };
    let total = [
        "all".to_owned(),
        size(live.total()),
        size(memory.peak_bytes()),
        change(grown.map_or(0, |grown| grown.total())),
    ];
    Table::new(["memory", "in use", "at most", "over the marked steps"])
        .rows(Tag::ALL.iter().zip(NAMES).map(row).chain([total]))
}

/// The leaks, or that there are none.
fn facts_of(memory: &MemoryProfile) -> String {
    let leaks = memory.leaks();
    let marks = memory.marks().len();
    if leaks.is_empty() {
        return facts(&[("leaks", format!("none over {marks} marks"))]);
    }
    let line = |leak: &Leak| {
        let (name, size, marks) = (NAMES[leak.tag() as usize], bytes(leak.bytes()), leak.marks());
        match leak {
            Leak::Buffer { .. } => ("leak", format!("a buffer ({name}, {size}) is kept over {marks} marks")),
            Leak::Growth { .. } => ("leak", format!("{name} grow by {size} over {marks} marks")),
        }
    };
    facts(&leaks.iter().map(line).collect::<Vec<_>>())
}

/// The leaks as sentences, for the page.
pub(super) fn leaks(memory: &MemoryProfile) -> String {
    facts_of(memory)
}

fn size(value: i64) -> String {
    bytes(value.unsigned_abs())
}

fn change(value: i64) -> String {
    match value {
        0 => "–".to_owned(),
        1.. => format!("+{}", size(value)),
        _ => format!("−{}", size(value)),
    }
}

/// `4.20 ms`, `163 µs`.
pub(super) fn time(ms: f64) -> String {
    if ms >= 1.0 { duration(ms / 1e3) } else { format!("{} µs", rate_text(1e3 * ms.max(0.0))) }
}

/// Three digits, and none that say nothing: `138`, `38.7`, `0.72`.
fn rate_text(value: f64) -> String {
    let digits = if value >= 100.0 { 0 } else { 1 + usize::from(value < 10.0) };
    format!("{value:.digits$}")
}

pub(super) fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}
