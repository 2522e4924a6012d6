//! An experiment's report as a page: the verdict, the claim and the main charts first, then every comparison, figure and method.

use super::description::{Direction, Metric, Role};
use super::report::{Comparison, ExperimentReport, FEW, MethodReport, Verdict};
use super::statistics::{Estimate, mean};
use meromorph::report::{Axis, Cell, Chart, Page, Series, Style, Table, Tone, count, counted, typeset};

/// The HTML file.
pub fn page(report: &ExperimentReport) -> String {
    let mut page = Page::new(report.title);
    page.kind(&format!("Experiment {}", report.name));
    page.lead(&verdict(report));
    page.statement("The published claim", report.claim, &scope(report));
    let headlines: Vec<Chart> = headline_metrics(report).map(|metric| rows(report, metric)).collect();
    let curves: Vec<Chart> = (0..report.charts.len()).map(|at| curves(report, at)).collect();
    let is_drawn = |chart: &&Chart| !chart.is_empty();
    page.charts(curves.iter().filter(is_drawn).take(1).chain(headlines.iter().filter(is_drawn).take(1)).cloned());
    page.section("The task");
    page.paragraph(report.about);
    comparisons(&mut page, report);
    page.section("Every headline metric");
    page.note(
        "One row per method: the mean (large), its 95 % interval (bar) and each seed (dots). Oracles are left out.",
    );
    page.charts(headlines.into_iter().filter(|chart| !chart.is_empty()));
    if curves.iter().skip(1).any(|chart| !chart.is_empty()) {
        page.section("More curves");
        page.charts(curves.into_iter().skip(1).filter(|chart| !chart.is_empty()));
    }
    page.section("All metrics");
    page.table(&figures(report));
    page.note(
        "Mean over seeds, and below it the 95 % bootstrap interval of the mean (2000 resamples). ↓ smaller is better, ↑ larger is better.",
    );
    page.section("Methods");
    page.table(&methods(report));
    page.section("Reproduce");
    reproduce(&mut page, report);
    page.html()
}

/// Whether the claim holds, in one or two sentences.
fn verdict(report: &ExperimentReport) -> String {
    let (claimed, best) = (report.claimed(), report.comparisons());
    let seeds = counted(report.seeds.len(), "seed");
    if report.seeds.len() < FEW && !(claimed.is_empty() && best.is_empty()) {
        return format!(
            "{seeds} cannot decide the claim: {FEW} are the fewest that can. The charts show where it points."
        );
    }
    let outcome = match tally(&claimed) {
        [better, ..] if better == claimed.len() => "The claim holds",
        [0, 0, _] => "The claim is undecided",
        [0, ..] => "The claim fails",
        _ => "The claim holds in part",
    };
    let claim = tallied(report.published, report.rival.0, &claimed, "its ", "metric");
    let claim = claim.map(|sentence| format!("{outcome}: {sentence}"));
    let best = tallied("The best projective method", "the best baseline", &best, "", "headline metric");
    let sentences: Vec<String> = [claim, best].into_iter().flatten().collect();
    if sentences.is_empty() { report.about.to_owned() } else { sentences.join(" ") }
}

/// `A is better than B in 4 of its 6 metrics, worse in 1, undecided in 1.` Absent without comparisons.
fn tallied(one: &str, other: &str, all: &[Comparison<'_>], whose: &str, metric: &str) -> Option<String> {
    let words = [format!("better than {other}"), format!("worse than {other}"), format!("not separated from {other}")];
    let found: Vec<(usize, usize)> = tally(all).into_iter().enumerate().filter(|(_, count)| *count > 0).collect();
    let (&(first, count), others) = found.split_first()?;
    let metrics = counted(all.len(), metric);
    let others = others.iter().map(|(at, count)| format!(", {} in {count}", ["better", "worse", "undecided"][*at]));
    Some(format!("{one} is {} in {count} of {whose}{metrics}{}.", words[first], others.collect::<String>()))
}

/// How many comparisons end better, worse and undecided.
fn tally(all: &[Comparison<'_>]) -> [usize; 3] {
    [Verdict::Direction, Verdict::Worse, Verdict::Open]
        .map(|verdict| all.iter().filter(|comparison| comparison.verdict() == verdict).count())
}

/// How much was run.
fn scope(report: &ExperimentReport) -> String {
    let sizes = report.sizes.iter().map(|(name, size)| format!("{} {name}", count(*size as u64)));
    let [epochs, batch] = report.epochs_and_batch;
    format!(
        "Tested here with {} of {}; {} of Adam in batches of {batch}; the same rows in the same order for every method.",
        counted(report.seeds.len(), "seed"),
        sizes.collect::<Vec<_>>().join(", "),
        counted(epochs, "epoch")
    )
}

/// Every comparison, and the domain's own remarks.
fn comparisons(page: &mut Page, report: &ExperimentReport) {
    let (best, elsewhere) = (report.comparisons(), report.elsewhere());
    if best.is_empty() && elsewhere.is_empty() {
        return;
    }
    page.section("Comparisons");
    let (published, rival, ours) = (report.published, report.rival.0, report.ours);
    compared(page, &format!("As claimed: {published} against {rival}"), &report.claimed(), [published, rival]);
    compared(page, &format!("Meromorph's own: {ours} against {published}"), &report.reproduced(), [ours, published]);
    for pair in elsewhere.chunk_by(|a, b| (a.ours.0, a.theirs.0) == (b.ours.0, b.theirs.0)) {
        let [one, other] = [pair[0].ours.0, pair[0].theirs.0];
        compared(page, &format!("External method: {one} against {other}"), pair, [one, other]);
    }
    compared(page, "The best projective method against the best baseline", &best, ["best projective", "best baseline"]);
    page.note(&format!(
        "Differences are paired by seed, with the 95 % bootstrap interval below. A result is decided if the interval lies on one side of 0 \
         and there are at least {FEW} seeds. The best method is chosen by its mean, for each metric."
    ));
    page.facts(report.remarks.iter().map(|remark| (&*remark.what, &*remark.answer)));
}

/// A table of comparisons. A method that the header does not name is named below its mean.
fn compared(page: &mut Page, heading: &str, all: &[Comparison<'_>], header: [&str; 2]) {
    if all.is_empty() {
        return;
    }
    let row = |comparison: &Comparison<'_>| {
        let Comparison { metric, ours, theirs, difference } = comparison;
        let (word, tone) = match comparison.verdict() {
            Verdict::Direction => ("better", Tone::Good),
            Verdict::Worse => ("worse", Tone::Bad),
            Verdict::Open => ("undecided", Tone::Open),
        };
        let cell = |(name, mean): (&str, f64)| {
            Cell::from(typeset(mean)).detail(if header.contains(&name) { "" } else { name })
        };
        let range = format!("{} to {}", signed(difference.low), signed(difference.high));
        let difference = Cell::from(signed(difference.mean)).detail(range);
        [labelled(metric).into(), Cell::from(word).tone(tone), cell(*ours), cell(*theirs), difference]
    };
    let [one, other] = header;
    page.heading(heading);
    page.table(&Table::new(["metric", "result", one, other, "difference"]).rows(all.iter().map(row)));
}

fn headline_metrics(report: &ExperimentReport) -> impl Iterator<Item = &Metric> {
    report.metrics.iter().filter(|metric| metric.is_headline)
}

/// A metric: a row per method that learns. The rounding errors of oracles would crowd all others together.
fn rows(report: &ExperimentReport, metric: &Metric) -> Chart {
    let place = report.metrics.iter().position(|known| known.key == metric.key).unwrap_or(0);
    let learners = report.methods.iter().enumerate().filter(|(_, method)| method.role != Role::Oracle);
    let known = |(at, method)| Some((at, method, report.estimate(method, metric.key)?));
    let shown: Vec<(usize, &MethodReport, Estimate)> = learners.clone().filter_map(known).collect();
    let values =
        |method: &MethodReport| method.trials.iter().filter_map(|trial| trial.values[place]).collect::<Vec<_>>();
    let all: Vec<f64> = shown.iter().flat_map(|(_, method, _)| values(method)).collect();
    let (low, high) = all.iter().fold((f64::INFINITY, 0.0_f64), |(low, high), v| (low.min(*v), high.max(*v)));
    let x = match metric.better {
        Direction::Less => "← better",
        Direction::More => "better →",
        Direction::Neither => "",
    };
    let x = if low > 0.0 && high / low > 100.0 { Axis::log(x) } else { Axis::linear(x) };
    let names = Axis::names(shown.iter().map(|(_, method, _)| method.name.as_str()));
    let note = if shown.len() < learners.count() { "Methods without a row have no value of this metric." } else { "" };
    let mut chart = Chart::new(metric.label, x, names).note(note);
    for (row, (at, method, Estimate { mean, low, high, .. })) in shown.into_iter().enumerate() {
        let y = row as f64;
        let mark = if method.role == Role::Projective { Style::Points } else { Style::Rings };
        let series = |style, values: &[f64]| Series::new("", style, values.iter().map(|v| [*v, y]).collect()).color(at);
        chart = chart.series(series(Style::Bar, &[low, high])).series(series(Style::Dots, &values(method)));
        chart = chart.series(series(mark, &[mean]));
    }
    chart
}

/// A chart of the domain: a curve per method that has one.
fn curves(report: &ExperimentReport, at: usize) -> Chart {
    let plan = &report.charts[at];
    let axis = |label, is_log: bool| if is_log { Axis::log(label) } else { Axis::linear(label) };
    let chart = Chart::new(plan.title, axis(plan.x, plan.shape.is_log_x), axis(plan.y, plan.shape.is_log_y));
    let curve = |(number, method): (usize, &MethodReport)| {
        let style = match method.role {
            Role::Oracle => Style::Reference,
            Role::Informed | Role::Baseline => Style::Dashed,
            Role::Projective => Style::Line,
            Role::Elsewhere => Style::DashDot,
        };
        let points = report.curve(method, at)?;
        let has_value = points.iter().any(|point| point[1].is_finite());
        has_value.then(|| Series::new(&method.name, style, points).color(number))
    };
    let curves = report.methods.iter().enumerate().filter_map(curve);
    curves.fold(chart.note(plan.note), Chart::series)
}

/// Every metric of every method.
fn figures(report: &ExperimentReport) -> Table {
    let header = [String::new()].into_iter().chain(report.metrics.iter().map(labelled));
    let row = |method: &MethodReport| {
        let cell = |metric: &Metric| match report.estimate(method, metric.key) {
            None => Cell::from("–"),
            Some(Estimate { mean, count: 1, .. }) => typeset(mean).into(),
            Some(Estimate { mean, low, high, .. }) => {
                Cell::from(typeset(mean)).detail(format!("{} – {}", typeset(low), typeset(high)))
            }
        };
        [Cell::from(&*method.name)].into_iter().chain(report.metrics.iter().map(cell)).collect::<Vec<_>>()
    };
    Table::new(header).rows(report.methods.iter().map(row))
}

fn methods(report: &ExperimentReport) -> Table {
    let row = |method: &MethodReport| {
        let role = match method.role {
            Role::Oracle => "oracle",
            Role::Informed => "informed",
            Role::Baseline => "baseline",
            Role::Projective => "projective",
            Role::Elsewhere => "elsewhere",
        };
        let times: Vec<f64> = method.trials.iter().filter_map(|trial| trial.seconds).collect();
        let parameters = method.parameters.map_or("–".into(), |parameters| count(parameters as u64));
        let seconds = if times.is_empty() { "–".into() } else { typeset(mean(&times)) };
        [method.name.clone(), role.into(), parameters, seconds, method.about.clone()]
    };
    Table::new(["", "role", "parameters", "s per seed", "what it is"]).rows(report.methods.iter().map(row))
}

fn reproduce(page: &mut Page, report: &ExperimentReport) {
    let [epochs, batch] = report.epochs_and_batch;
    let elsewhere = report.methods.iter().filter(|method| method.role == Role::Elsewhere);
    let seeds: Vec<String> = report.seeds.iter().map(u64::to_string).collect();
    page.code(&format!(
        "mero experiment {} --mode {} --epochs {epochs} --seed {} --seeds {}{}{}",
        report.name,
        report.mode,
        report.seeds.first().copied().unwrap_or(0),
        report.seeds.len(),
        if report.asked.is_empty() { String::new() } else { format!(" --methods {}", report.asked.join(",")) },
        elsewhere.map(|method| format!(" --predictions {}=DIR", method.name)).collect::<String>()
    ));
    page.note(&format!(
        "Seeds {}; batch {batch}; Adam at {}; f32 on {}; meromorph {}.",
        seeds.join(", "),
        report.lr,
        report.device,
        env!("CARGO_PKG_VERSION")
    ));
}

/// A metric with the direction that is better.
fn labelled(metric: &Metric) -> String {
    let direction = match metric.better {
        Direction::Less => " ↓",
        Direction::More => " ↑",
        Direction::Neither => "",
    };
    format!("{}{direction}", metric.label)
}

fn signed(value: f64) -> String {
    let sign = if value > 0.0 { "+" } else { "" };
    format!("{sign}{}", typeset(value))
}
