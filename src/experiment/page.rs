//! A report as one HTML page: no script, no other file, light or dark as the reader has it, legible on a phone.

use super::harness::{Direction, Metric, Role};
use super::report::{Comparison, ExperimentReport, MethodReport, Verdict};
use super::statistics::Estimate;
use super::svg::{self, Line, Row, escaped};

const STYLE: &str = include_str!("page.css");

/// The page.
pub fn page(report: &ExperimentReport) -> String {
    let title = escaped(report.title);
    let body = [
        format!("<header><p class=\"kind\">Experiment: {}</p><h1>{title}</h1>", report.name),
        format!("<p class=\"lead\">{}</p></header>", escaped(report.about)),
        claim(report),
        outcome(report),
        headlines(report),
        charts(report),
        figures(report),
        methods(report),
        setup(report),
    ];
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <title>{title} · meromorph</title><style>\n{STYLE}</style></head>\n<body><main>\n{}\n</main></body></html>\n",
        body.join("\n")
    )
}

fn claim(report: &ExperimentReport) -> String {
    let sizes: Vec<String> = report.sizes.iter().map(|(name, count)| format!("{} {name}", grouped(*count))).collect();
    let seeds = match report.seeds.len() {
        1 => "1 seed".to_owned(),
        count => format!("{count} seeds"),
    };
    let [epochs, batch] = report.epochs_and_batch;
    let epochs = if epochs == 1 { "1 epoch".to_owned() } else { format!("{epochs} epochs") };
    format!(
        "<section class=\"claim\"><h2>The claim under test</h2><p>{}</p><p class=\"small\">{seeds}, {}; {epochs} of Adam in \
         batches of {batch}, the same rows in the same order for every method.</p></section>",
        escaped(report.claim),
        sizes.join(", ")
    )
}

/// The comparison in words.
fn outcome(report: &ExperimentReport) -> String {
    let (comparisons, elsewhere) = (report.comparisons(), report.elsewhere());
    if comparisons.is_empty() && elsewhere.is_empty() {
        return String::new();
    }
    let list = |all: &[Comparison<'_>]| {
        let items: String = all.iter().map(|comparison| format!("<li>{}</li>", sentence(comparison))).collect();
        format!("<ul class=\"outcome\">{items}</ul>")
    };
    let headed = |head: &str, one: &str, other: &str, all: &[Comparison<'_>]| match all {
        [] => String::new(),
        all => format!("<h3>{head}: <i>{one}</i> against <i>{other}</i></h3>{}", list(all)),
    };
    let claimed = headed("As claimed", report.published, report.rival.0, &report.claimed());
    let own = headed("Meromorph's own", report.ours, report.published, &report.reproduced());
    let pairs = elsewhere.chunk_by(|a, b| (a.ours.0, a.theirs.0) == (b.ours.0, b.theirs.0));
    let outside: String = pairs.map(|all| headed("Run elsewhere", all[0].ours.0, all[0].theirs.0, all)).collect();
    let best = match &comparisons[..] {
        [] => String::new(),
        all => format!("<h3>The best projective method against the best baseline</h3>{}", list(all)),
    };
    let remarks: Vec<String> = report.remarks.iter().map(remark).collect();
    let remarks = if remarks.is_empty() { String::new() } else { format!("<dl>{}</dl>", remarks.concat()) };
    format!(
        "<section><h2>What came out</h2>{}{claimed}{own}{outside}{best}{remarks}\
         <p class=\"small\">The best is, figure by figure, the one with the best mean. Differences are paired by seed; \
         brackets hold the 95 % bootstrap interval. Fewer than five seeds decide nothing.</p></section>",
        summary(&comparisons)
    )
}

/// How often the projective methods won.
fn summary(comparisons: &[Comparison<'_>]) -> String {
    let count = |verdict| comparisons.iter().filter(|comparison| comparison.verdict() == verdict).count();
    let (better, worse, open) = (count(Verdict::Direction), count(Verdict::Worse), count(Verdict::Open));
    let all = comparisons.len();
    if all == 0 {
        return String::new();
    }
    if open == all {
        return format!("<p>None of the {all} headline figures is decided by these seeds.</p>");
    }
    format!(
        "<p>On {all} headline figures the best projective method is better than the best baseline {}, worse {}, and undecided {}.</p>",
        times(better),
        times(worse),
        times(open)
    )
}

fn times(count: usize) -> String {
    match count {
        0 => "never".into(),
        1 => "once".into(),
        2 => "twice".into(),
        count => format!("{count} times"),
    }
}

fn remark(remark: &super::harness::Remark) -> String {
    format!("<dt>{}</dt><dd>{}</dd>", escaped(&remark.what), escaped(&remark.answer))
}

fn sentence(comparison: &Comparison<'_>) -> String {
    let Comparison { metric, ours, theirs, difference } = comparison;
    let (mark, word) = match comparison.verdict() {
        Verdict::Direction => ("good", "better"),
        Verdict::Worse => ("bad", "worse"),
        Verdict::Open => ("open", "undecided"),
    };
    format!(
        "<span class=\"mark {mark}\">{word}</span> <b>{}</b>: <i>{}</i> {}, <i>{}</i> {}; difference {} [{}, {}]",
        escaped(metric.label),
        ours.0,
        figure(ours.1),
        theirs.0,
        figure(theirs.1),
        signed(difference.mean),
        signed(difference.low),
        signed(difference.high)
    )
}

/// A picture per headline metric: one row per method that learns. The oracles' rounding errors, in the table below, would
/// crowd all others together.
fn headlines(report: &ExperimentReport) -> String {
    let pictures = report.metrics.iter().filter(|metric| metric.is_headline).map(|metric| {
        let place = report.metrics.iter().position(|known| known.key == metric.key).unwrap_or(0);
        let row = |(at, method): (usize, &MethodReport)| {
            let values = method.trials.iter().filter_map(|trial| trial.values[place]).collect();
            let estimate = report.estimate(method, metric.key).filter(|_| method.role != Role::Oracle)?;
            Some(Row { name: method.name.clone(), class: class(at, method), estimate, values })
        };
        let rows: Vec<Row> = report.methods.iter().enumerate().filter_map(row).collect();
        let title = format!("{}{}", metric.label, direction(metric));
        let learners = report.methods.iter().filter(|method| method.role != Role::Oracle).count();
        let note = if rows.len() < learners { "Methods without a row have no such figure." } else { "" };
        figure_of(&title, note, &svg::rows(&title, &rows), "")
    });
    format!(
        "<section><h2>Method by method</h2><div class=\"pictures\">{}</div></section>",
        pictures.collect::<String>()
    )
}

fn charts(report: &ExperimentReport) -> String {
    let picture = |at: usize| {
        let chart = &report.charts[at];
        let drawn: Vec<(usize, &MethodReport, Vec<[f64; 2]>)> = report
            .methods
            .iter()
            .enumerate()
            .filter_map(|(number, method)| Some((number, method, report.curve(method, at)?)))
            .filter(|(_, _, points)| points.iter().any(|point| point[1].is_finite()))
            .collect();
        if drawn.is_empty() {
            return String::new();
        }
        let key = |(number, method, _): &(usize, &MethodReport, Vec<[f64; 2]>)| {
            format!("<li class=\"{}\">{}</li>", class(*number, method), method.name)
        };
        let legend = format!("<ul class=\"legend\">{}</ul>", drawn.iter().map(key).collect::<String>());
        let line = |(number, method, points): (usize, &MethodReport, Vec<[f64; 2]>)| Line {
            class: class(number, method),
            points,
        };
        let lines: Vec<Line> = drawn.into_iter().map(line).collect();
        figure_of(chart.title, chart.note, &svg::curves(chart.title, [chart.x, chart.y], chart.shape, &lines), &legend)
    };
    let pictures: String = (0..report.charts.len()).map(picture).collect();
    if pictures.is_empty() {
        return String::new();
    }
    format!("<section><h2>A closer look</h2><div class=\"pictures\">{pictures}</div></section>")
}

fn figure_of(title: &str, note: &str, picture: &str, legend: &str) -> String {
    let note = if note.is_empty() { String::new() } else { format!("<p class=\"small\">{}</p>", escaped(note)) };
    format!("<figure><figcaption>{}</figcaption>{picture}{legend}{note}</figure>", escaped(title))
}

/// Every metric of every method.
fn figures(report: &ExperimentReport) -> String {
    let head: String = report
        .metrics
        .iter()
        .map(|metric| format!("<th>{}{}</th>", escaped(metric.label), direction(metric)))
        .collect();
    let row = |method: &MethodReport| {
        let cells = report.metrics.iter().map(|metric| match report.estimate(method, metric.key) {
            Some(estimate) => format!("<td>{}</td>", interval(&estimate)),
            None => "<td>–</td>".to_owned(),
        });
        format!("<tr><th>{}</th>{}</tr>", method.name, cells.collect::<String>())
    };
    format!(
        "<section><h2>All figures</h2><div class=\"wide\"><table><thead><tr><th></th>{head}</tr></thead><tbody>{}</tbody></table>\
         </div><p class=\"small\">Mean over seeds, and the 95 % bootstrap interval of the mean (2000 resamples). ↓ smaller is \
         better, ↑ larger is better.</p></section>",
        report.methods.iter().map(row).collect::<String>()
    )
}

fn methods(report: &ExperimentReport) -> String {
    let row = |method: &MethodReport| {
        let role = match method.role {
            Role::Oracle => "oracle",
            Role::Informed => "informed",
            Role::Baseline => "baseline",
            Role::Projective => "projective",
            Role::Elsewhere => "elsewhere",
        };
        let times: Vec<f64> = method.trials.iter().filter_map(|trial| trial.seconds).collect();
        let known = |text: Option<String>| text.unwrap_or("–".into());
        let seconds = (!times.is_empty()).then(|| figure(super::statistics::mean(&times)));
        format!(
            "<tr><th>{}</th><td>{role}</td><td class=\"text\">{}</td><td>{}</td><td>{}</td></tr>",
            method.name,
            escaped(&method.about),
            known(method.parameters.map(grouped)),
            known(seconds)
        )
    };
    format!(
        "<section><h2>The methods</h2><div class=\"wide\"><table><thead><tr><th></th><th>role</th><th class=\"text\">what it is</th>\
         <th>parameters</th><th>s per seed</th></tr></thead><tbody>{}</tbody></table></div></section>",
        report.methods.iter().map(row).collect::<String>()
    )
}

fn setup(report: &ExperimentReport) -> String {
    let [epochs, batch] = report.epochs_and_batch;
    let elsewhere = report.methods.iter().filter(|method| method.role == Role::Elsewhere);
    let seeds: Vec<String> = report.seeds.iter().map(u64::to_string).collect();
    format!(
        "<footer><h2>Again</h2><p><code>mero experiment {} --mode {} --epochs {epochs} --seed {} --seeds {}{}{}</code></p>\
         <p class=\"small\">Seeds {}; batch {batch}; Adam at {}; f32 on {}; meromorph {}.</p></footer>",
        report.name,
        report.mode,
        report.seeds.first().copied().unwrap_or(0),
        report.seeds.len(),
        if report.asked.is_empty() { String::new() } else { format!(" --methods {}", report.asked.join(",")) },
        elsewhere.map(|method| format!(" --predictions {}=DIR", method.name)).collect::<String>(),
        seeds.join(", "),
        report.lr,
        escaped(&report.device),
        env!("CARGO_PKG_VERSION")
    )
}

/// The colour of a method by its place, and the weight of its role.
fn class(at: usize, method: &MethodReport) -> String {
    let role = match method.role {
        Role::Oracle => return "oracle".into(),
        Role::Informed | Role::Baseline => "baseline",
        Role::Projective => "projective",
        Role::Elsewhere => "elsewhere",
    };
    format!("c{} {role}", at % 14)
}

fn direction(metric: &Metric) -> &'static str {
    match metric.better {
        Direction::Less => " ↓",
        Direction::More => " ↑",
        Direction::Neither => "",
    }
}

fn interval(estimate: &Estimate) -> String {
    let Estimate { mean, low, high, count } = estimate;
    match count {
        1 => figure(*mean),
        _ => format!("{}<small>{} – {}</small>", figure(*mean), figure(*low), figure(*high)),
    }
}

fn signed(value: f64) -> String {
    let sign = if value > 0.0 { "+" } else { "" };
    format!("{sign}{}", figure(value))
}

/// Three significant digits.
fn figure(value: f64) -> String {
    let size = value.abs();
    let text = if value == 0.0 {
        "0".to_owned()
    } else if !(1e-3..1e5).contains(&size) {
        let exponent = size.log10().floor();
        format!("{:.2}·10<sup>{exponent}</sup>", value / 10_f64.powf(exponent))
    } else {
        format!("{value:.*}", (2 - size.log10().floor() as i32).max(0) as usize)
    };
    text.replace('-', "−")
}

fn grouped(value: usize) -> String {
    let digits = value.to_string();
    let parts: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().filter_map(|part| std::str::from_utf8(part).ok()).collect();
    parts.join(",")
}
