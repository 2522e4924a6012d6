//! The page of `mero profile --report`: where the time goes first, then each launch against the roofline, then the tables.

use super::charts::{shares, work};
use super::findings::Findings;
use super::text::{
    ABOVE_ALL, COSTLY, ESTIMATED, MOST_OVERHEAD, NO_BOTTLENECK, bottleneck_table, grouped, groupings, launches, leaks,
    memory_table, overview, parts, percent, speedups, time,
};
use crate::terminal::shell::command;
use meromorph::profile::{Ceilings, Grouping, LaunchProfile, StepProfile};
use meromorph::report::{Axis, Chart, Page, Series, Style};

/// Layers and kernels in a chart, at most.
const MOST_BARS: usize = 24;

/// The page.
pub(super) fn page(findings: &Findings<'_>) -> Page {
    let Findings { profile, ceilings, memory, .. } = findings;
    let mut page = Page::new("Where a training step spends its time");
    page.kind("Profile");
    page.lead(&lead(profile));
    page.charts([shares(findings), work(findings), layers(profile), roofline(profile, ceilings)]);
    page.section("Bottlenecks");
    match bottleneck_table(findings) {
        Some(table) => page.table(&table),
        None => page.paragraph(NO_BOTTLENECK),
    }
    page.section("Step");
    let facts = overview(findings);
    page.facts(facts.iter().map(|(name, text)| (*name, text.as_str())));
    if profile.overhead > MOST_OVERHEAD {
        page.note(COSTLY);
    }
    page.paragraph(speedups(profile).trim());
    if !findings.parts.is_empty() {
        page.section("Inside the fused launch");
        page.table(&parts(findings));
        page.note(ESTIMATED);
    }
    page.section("Groups");
    for (by, what) in groupings(profile) {
        page.heading(&format!("By {what}"));
        page.table(&grouped(profile, by, what));
    }
    page.section("Launches");
    page.table(&launches(findings, usize::MAX));
    page.note(
        "A launch cannot be faster than the slower of its arithmetic and its traffic, at the rates of the ceilings; \"of the roofline\" is that time \
         over its own. Traffic counts each buffer once, and a copy of the same size gives its rate.",
    );
    if profile.launches.iter().any(|one| one.roofline_share(ceilings) > 1.0) {
        page.note(ABOVE_ALL);
    }
    if let Some(memory) = memory {
        page.section("Memory");
        page.table(&memory_table(memory));
        page.paragraph(leaks(memory).trim());
    }
    page.section("Command");
    page.code(&command());
    page
}

fn lead(profile: &StepProfile) -> String {
    let groups = profile.grouped(Grouping::Kernel);
    let first = groups
        .first()
        .map_or_else(String::new, |group| format!(" The kernel {} takes {} of it.", group.name, percent(group.share)));
    format!("A step takes {}.{first}", time(profile.step_ms))
}

/// The time of each layer in order, one colour per direction.
fn layers(profile: &StepProfile) -> Chart {
    let (mut names, mut directions): (Vec<&str>, Vec<&str>) = (Vec::new(), Vec::new());
    for LaunchProfile { launch, .. } in &profile.launches {
        for (list, name) in
            [(&mut names, Grouping::Layer.name(launch)), (&mut directions, Grouping::Direction.name(launch))]
        {
            if !list.contains(&name) {
                list.push(name);
            }
        }
    }
    names.truncate(MOST_BARS);
    let (unit, scale) = if profile.step_ms < 1.0 { ("microseconds", 1e3) } else { ("milliseconds", 1.0) };
    let mut ends = vec![0.0; names.len()];
    let axis = Axis::names(names.iter().copied());
    let mut chart = Chart::new("Time by layer", Axis::linear(format!("{unit} in a step")), axis);
    for direction in directions {
        let mut points = Vec::new();
        for (at, name) in names.iter().enumerate() {
            let is_here = |one: &&LaunchProfile| {
                Grouping::Layer.name(&one.launch) == *name && Grouping::Direction.name(&one.launch) == direction
            };
            let length: f64 = profile.launches.iter().filter(is_here).map(|one| scale * one.ms).sum();
            if length > 0.0 {
                let (start, row) = (ends[at], at as f64);
                ends[at] += length;
                points.extend([[start, row], [ends[at], row], [f64::NAN, row]]);
            }
        }
        chart = chart.series(Series::new(direction, Style::Column, points));
    }
    chart
}

/// Each launch by its arithmetic per byte and its rate, below what the device can do.
fn roofline(profile: &StepProfile, ceilings: &Ceilings) -> Chart {
    let has_place = |one: &&LaunchProfile| one.ms > 0.0 && one.launch.cost.flops > 0 && one.launch.cost.bytes > 0;
    let place = |one: &LaunchProfile| [one.gflops() / one.gbytes_s(), one.gflops()];
    let placed: Vec<&LaunchProfile> = profile.launches.iter().filter(has_place).collect();
    let [fastest, largest] = ceilings.bandwidths();
    let edges = placed.iter().map(|one| place(one)[0]).chain([ceilings.gflops / largest]);
    let [low, high] = edges.fold([f64::INFINITY, 0.0], |[low, high], x: f64| [low.min(x), high.max(x)]);
    let roof = |rate: f64| {
        let ends = [low / 2.0, ceilings.gflops / rate, high * 2.0];
        ends.into_iter().map(|x| [x, ceilings.gflops.min(rate * x)]).collect()
    };
    let mut chart = Chart::new("Roofline", Axis::log("flops per byte"), Axis::log("GFLOP/s"))
        .series(Series::new("large copies and matmul", Style::Line, roof(largest)).color(7))
        .series(Series::new("fastest copy", Style::Dashed, roof(fastest)).color(7));
    for (at, group) in profile.grouped(Grouping::Kernel).iter().filter(|group| group.launches > 0).enumerate() {
        let own: Vec<[f64; 2]> =
            placed.iter().filter(|one| one.launch.kernel == group.name).map(|one| place(one)).collect();
        if own.is_empty() {
            continue;
        }
        chart = chart.series(Series::new(group.name.as_str(), Style::Points, own).color(at + usize::from(at >= 7)));
    }
    chart.note("Each point is a launch. Below a line is room; between the lines, its data come from caches.")
}
