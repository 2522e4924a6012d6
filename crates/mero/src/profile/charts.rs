//! The charts of the page of `mero profile`: shares of the whole step, arithmetic by op.

use super::findings::Findings;
use meromorph::profile::{Grouping, LIMIT, StepProfile};
use meromorph::report::{Axis, Chart, Mark, Series, Style};

/// Bars of a chart, at most; the shortest are added up.
const MOST_BARS: usize = 12;

/// The whole step by op, or by the parts of the fused launch, with the limit of a bottleneck.
pub(super) fn shares(findings: &Findings<'_>) -> Chart {
    let percent = |share: f64| 100.0 * share;
    let mut bars = Vec::new();
    if findings.parts.is_empty() {
        bars.extend(findings.profile.grouped(Grouping::Op).into_iter().map(|group| (group.name, percent(group.share))));
    } else {
        for part in &findings.parts {
            let way = if part.direction == "backward" { "←" } else { "→" };
            bars.push((format!("{} {} {way}", part.layer, part.op), percent(part.share)));
        }
        bars.extend(outside(&findings.profile).map(|(name, share)| (name, percent(share))));
    }
    let chart = bar_chart("The whole step", "% of a step", bars);
    let chart = chart.mark(Mark::new(percent(LIMIT), "bottlenecks are longer"));
    if findings.parts.is_empty() { chart } else { chart.note(super::text::ESTIMATED) }
}

/// What of a fused step is not in the launch for the whole model.
fn outside(profile: &StepProfile) -> impl Iterator<Item = (String, f64)> {
    let groups = profile.grouped(Grouping::Layer).into_iter();
    groups.filter(|group| group.name != "model").map(|group| (group.name, group.share))
}

/// Arithmetic by op.
pub(super) fn work(findings: &Findings<'_>) -> Chart {
    let flops = flops_by_op(findings).into_iter().map(|(op, flops)| (op, flops as f64 / 1e6));
    bar_chart("Arithmetic by op", "MFLOP in a step", flops.collect())
}

/// The flops of each op, the most first: of a fused step, those that its recorded form counts and those of the other launches.
pub(super) fn flops_by_op(findings: &Findings<'_>) -> Vec<(String, u64)> {
    let mut all: Vec<(String, u64)> = Vec::new();
    let mut add = |op: &str, flops: u64| match all.iter_mut().find(|(name, _)| name == op) {
        Some((_, sum)) => *sum += flops,
        None => all.push((op.to_owned(), flops)),
    };
    for part in &findings.parts {
        add(&part.op, part.cost.flops);
    }
    for one in &findings.profile.launches {
        if findings.parts.is_empty() || &*one.launch.label.layer != "model" {
            add(Grouping::Op.name(&one.launch), one.launch.cost.flops);
        }
    }
    all.retain(|(_, flops)| *flops > 0);
    all.sort_by_key(|(_, flops)| std::cmp::Reverse(*flops));
    all
}

/// Bars from 0, one for each name.
fn bar_chart(title: &str, unit: &str, mut bars: Vec<(String, f64)>) -> Chart {
    bars.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    if bars.len() > MOST_BARS {
        let rest = bars.split_off(MOST_BARS - 1);
        bars.push((format!("{} others", rest.len()), rest.iter().map(|(_, value)| value).sum()));
    }
    let axis = Axis::names(bars.iter().map(|(name, _)| name.as_str()));
    let bar = |(row, (_, value)): (usize, &(String, f64))| {
        let row = row as f64;
        [[0.0, row], [value.max(0.0), row], [f64::NAN, row]]
    };
    let points = bars.iter().enumerate().flat_map(bar).collect();
    Chart::new(title, Axis::linear(unit), axis).series(Series::new(unit, Style::Column, points))
}
