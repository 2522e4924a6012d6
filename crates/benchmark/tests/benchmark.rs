//! Statistics of a benchmark with a clock that the tests set. No test asserts the speed of real code.

use std::cell::Cell;
use std::rc::Rc;

use meromorph::internal::math::splitmix::{STEP, mixed};
use meromorph::{Error, Result};
use meromorph_benchmark::{Benchmark, Measurement, Ratio, Report, Severity, Verdict, WarmUp, Work};

/// A clock that code advances by the time that it claims to take.
#[derive(Clone, Default)]
struct Clock(Rc<Cell<f64>>);

impl Clock {
    fn advance(&self, ms: f64) {
        self.0.set(self.0.get() + ms);
    }

    fn of(&self, benchmark: Benchmark) -> Benchmark {
        let clock = self.clone();
        benchmark.clock(move || clock.0.get())
    }
}

/// A measurement of code that takes these times, one after the other.
fn measured(benchmark: Benchmark, times: &[f64]) -> Result<Measurement> {
    let clock = Clock::default();
    let mut times = times.iter();
    clock.of(benchmark).run(|| {
        clock.advance(*times.next().expect("a time for each run"));
        Ok(())
    })
}

fn plain(count: usize) -> Benchmark {
    Benchmark::new("copy").iterations(count).warm_up(WarmUp::Runs(0))
}

/// Times around 1 ms; the twelve terms make them nearly normal with a deviation of 0.1.
fn noisy(count: usize, seed: u64) -> Vec<f64> {
    let start = mixed(seed.wrapping_add(1));
    let unit = |at: u64| (mixed(start.wrapping_add(STEP.wrapping_mul(at))) >> 11) as f64 / (1_u64 << 53) as f64;
    let sum = |at: u64| (0..12).map(|term| unit(12 * at + term)).sum::<f64>();
    (0..count as u64).map(|at| 1.0 + 0.1 * (sum(at) - 6.0)).collect()
}

fn assert_near(got: f64, expected: f64) {
    assert!((got - expected).abs() < 1e-9, "{got}, expected {expected}");
}

#[test]
fn figures_are_those_computed_by_hand() {
    let found = measured(plain(5), &[4.0, 1.0, 10.0, 3.0, 2.0]).unwrap();
    assert_near(found.mean_ms, 4.0);
    assert_near(found.std_ms.unwrap(), 12.5_f64.sqrt());
    assert_near(found.variation().unwrap(), 12.5_f64.sqrt() / 4.0);
    assert_near(found.median_ms(), 3.0);
    assert_near(found.mad_ms, 1.0);
    assert_eq!((found.min_ms, found.max_ms), (1.0, 10.0));
    found.percentiles_ms.iter().zip([3.0, 7.6, 8.8, 9.76]).for_each(|(got, expected)| assert_near(*got, expected));
    // Student's t with 4 degrees of freedom, from SciPy 1.17, `scipy.stats.t.ppf(0.975, 4)`.
    let reach = 2.776_445_105_197_793 * (12.5_f64 / 5.0).sqrt();
    let [low, high] = found.interval_ms.unwrap();
    assert_near(low, 4.0 - reach);
    assert_near(high, 4.0 + reach);
    assert_eq!(found.samples_ms.iter().map(|sample| sample.round()).collect::<Vec<_>>(), [4.0, 1.0, 10.0, 3.0, 2.0]);
}

#[test]
fn an_interval_shrinks_with_the_root_of_the_number_of_samples() {
    let width = |count: usize, level: f64| {
        let [low, high] = measured(plain(count).level(level), &noisy(count, 1)).unwrap().interval_ms.unwrap();
        high - low
    };
    for count in [400, 1000, 4000] {
        let ratio = width(count, 0.95) / width(4 * count, 0.95);
        assert!((ratio - 2.0).abs() < 0.15, "{count} samples: {ratio}, expected about 2");
    }
    // The quantiles of the normal distribution.
    let ratio = width(100_000, 0.99) / width(100_000, 0.95);
    assert!((ratio - 2.575_829 / 1.959_964).abs() < 1e-3, "{ratio}");
}

#[test]
fn an_interval_holds_as_often_as_its_level_says() {
    let holds = |seed: u64| {
        let [low, high] = measured(plain(8), &noisy(8, seed)).unwrap().interval_ms.unwrap();
        (low..=high).contains(&1.0)
    };
    let share = (0..4000).filter(|seed| holds(*seed)).count() as f64 / 4000.0;
    assert!((share - 0.95).abs() < 0.015, "{share}, expected about 0.95");
}

#[test]
fn a_warm_up_is_left_out() {
    let times = [9.0, 8.0, 7.0, 5.0, 5.0, 5.0, 5.0, 5.0, 5.0, 5.0];
    let benchmark = |warm_up| Benchmark::new("copy").iterations(2).warm_up(warm_up);
    let left_out = |warm_up| measured(benchmark(warm_up), &times).unwrap().warm_up;
    assert_eq!(left_out(WarmUp::Runs(4)), 4);
    assert_eq!(left_out(WarmUp::Stable { variation: 0.01, at_most: 100 }), 8);
    assert_eq!(left_out(WarmUp::Stable { variation: 0.01, at_most: 6 }), 6);
    assert_eq!(left_out(WarmUp::Stable { variation: 1.0, at_most: 100 }), 5);
}

#[test]
fn laps_are_samples() {
    let clock = Clock::default();
    let mut laps = clock.of(Benchmark::new("copy").warm_up(WarmUp::Runs(1)).repeat(2)).start();
    for ms in [100.0, 4.0, 6.0] {
        clock.advance(ms);
        assert_eq!(laps.lap(), ms);
    }
    let found = laps.end().unwrap();
    assert_eq!((found.samples_ms, found.warm_up, found.repeat), (vec![2.0, 3.0], 1, 2));
}

#[test]
fn a_sample_is_the_mean_of_repeated_runs() {
    let found = measured(plain(2).repeat(3), &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap();
    assert_eq!(found.samples_ms, [2.0, 5.0]);
}

#[test]
fn rates_follow_from_the_median_and_the_work() {
    let work = Work { elements: 1000, bytes: 8000, flops: 0 };
    let found = measured(plain(3).work(work), &[2.0, 2.0, 50.0]).unwrap();
    assert_near(found.elements_per_s().unwrap(), 5e5);
    assert_near(found.gb_per_s().unwrap(), 0.004);
    assert_eq!(found.gflop_per_s(), None);
}

#[test]
fn errors_say_what_is_wrong() {
    let refused = |benchmark: Benchmark, times: &[f64]| measured(benchmark, times).unwrap_err().to_string();
    assert_eq!(refused(plain(0), &[]), "benchmark: copy: iterations: got 0, expected at least 1");
    assert_eq!(refused(plain(1).level(1.0), &[]), "benchmark: copy: level: got 1, expected between 0 and 1");
    assert_eq!(refused(plain(1).repeat(0), &[]), "benchmark: copy: repeat: got 0, expected at least 1");
    assert!(refused(plain(2), &[0.0, 1.0]).starts_with("benchmark: copy: times: got 0 ms to 1 ms, expected"));
    let early = Benchmark::new("copy").start().end().unwrap_err().to_string();
    assert_eq!(early, "benchmark: copy: got no samples after 0 of warm-up, expected at least 1");
    let failed = Benchmark::new("copy").run(|| Err::<(), _>(Error::device("no device"))).unwrap_err();
    assert_eq!(failed.to_string(), "no device");
}

/// Two closures that take these times, and the order of their runs.
fn compared(count: usize, times: [Vec<f64>; 2]) -> (Ratio, String) {
    let clock = Clock::default();
    let order = Cell::new(String::new());
    let [mut a, mut b] = times.map(Vec::into_iter);
    let side = |name: char, times: &mut std::vec::IntoIter<f64>| {
        clock.advance(times.next().expect("a time for each run"));
        order.set(order.take() + &name.to_string());
        Ok(())
    };
    let benchmark = clock.of(Benchmark::new("copy").iterations(count).warm_up(WarmUp::Runs(2)));
    let (_, ratio) = benchmark.compare(|| side('a', &mut a), || side('b', &mut b)).unwrap();
    (ratio, order.take())
}

#[test]
fn two_closures_run_in_turns() {
    let (_, order) = compared(3, [vec![1.0; 5], vec![1.0; 5]]);
    assert_eq!(order, "abbaabbaab");
}

#[test]
fn equal_closures_have_a_ratio_of_1_and_slower_ones_do_not() {
    let contains = |seed: u64| {
        let (ratio, _) = compared(60, [noisy(62, 2 * seed), noisy(62, 2 * seed + 1)]);
        assert_eq!(ratio.verdict(), Verdict::Unchanged, "{ratio:?}");
        ratio.low <= 1.0 && 1.0 <= ratio.high
    };
    let share = (0..100).filter(|seed| contains(*seed)).count();
    assert!(share >= 88, "{share} of 100 intervals contain 1, expected about 95");

    // A machine that gets slower for both changes nothing.
    let drift = |times: Vec<f64>, factor: f64| {
        times.iter().zip(0..).map(|(time, at)| factor * time * (1.0 + 0.05 * f64::from(at))).collect::<Vec<f64>>()
    };
    let (ratio, _) = compared(60, [drift(noisy(62, 1), 1.0), drift(noisy(62, 2), 1.5)]);
    assert!((ratio.median - 1.5).abs() < 0.1 && ratio.low < 1.5 && 1.5 < ratio.high, "{ratio:?}");
    assert_eq!(ratio.verdict(), Verdict::Slower(Severity::High));
}

fn report(factor: f64, seed: u64) -> Report {
    let times: Vec<f64> = noisy(100, seed).iter().map(|time| factor * time).collect();
    let machine = "a test".to_owned();
    Report { machine, measurements: vec![measured(plain(100), &times).unwrap()] }
}

#[test]
fn a_regression_is_an_interval_above_the_limit() {
    let baseline = Report::parse(&report(1.0, 1).to_json()).unwrap();
    for (factor, expected) in [
        (0.8, Verdict::Faster),
        (1.0, Verdict::Unchanged),
        (1.1, Verdict::Unchanged),
        (1.2, Verdict::Slower(Severity::Medium)),
        (1.5, Verdict::Slower(Severity::High)),
        (2.5, Verdict::Slower(Severity::Critical)),
    ] {
        let changes = report(factor, 2).against(&baseline).unwrap();
        assert_eq!((changes.len(), changes[0].verdict), (1, expected), "{changes:?}");
        let Ratio { median, low, high, .. } = changes[0].ratio;
        assert!((median / factor - 1.0).abs() < 0.05 && low <= median && median <= high, "{changes:?}");
    }
    assert_eq!(report(1.2, 2).against(&baseline).unwrap(), report(1.2, 2).against(&baseline).unwrap());
}

#[test]
fn only_equal_work_on_one_machine_is_compared() {
    let baseline = report(1.0, 1);
    let refused = |report: &Report| report.against(&baseline).unwrap_err().to_string();
    let mut other = report(1.0, 1);
    other.measurements[0].name = "copi".into();
    assert_eq!(refused(&other), "benchmark: baseline: \"copy\" was not measured; did you mean \"copi\"?");
    let mut other = report(1.0, 1);
    other.measurements[0].work.bytes = 1;
    assert!(refused(&other).starts_with("benchmark: baseline: \"copy\": work: got "));
    let other = Report { machine: "another".into(), ..report(1.0, 1) };
    assert_eq!(refused(&other), "benchmark: baseline: machine: got \"a test\", expected \"another\"");
}

#[test]
fn reports_are_json_csv_and_markdown() {
    let mut report = report(1.0, 1);
    let work = Work { elements: 1000, ..Work::default() };
    let named = Benchmark::new("a, \"b\"").iterations(1).warm_up(WarmUp::Runs(0)).work(work);
    report.measurements.push(measured(named, &[2.0]).unwrap());
    let json = report.to_json();
    assert_eq!(Report::parse(&json).unwrap(), report);
    assert!(json.contains("\"std_ms\":null") && json.contains("\"elements_per_s\":500000"), "{json}");
    let error = Report::parse("{\"machine\": \"x\", \"measurements\": [{}]}").unwrap_err().to_string();
    assert_eq!(error, "benchmark: report: measurements: no field \"name\"");

    let csv = report.to_csv();
    let lines: Vec<&str> = csv.lines().collect();
    assert!(lines[0].starts_with("name,samples,mean_ms,low_ms,high_ms,std_ms,median_ms,"), "{csv}");
    assert_eq!(lines[2], "\"a, \"\"b\"\"\",1,2,,,,2,0,2,2,2,2,2,500000,,");

    let markdown = report.to_markdown();
    let last = markdown.lines().last().unwrap();
    assert_eq!(last, "| a, \"b\" | 2.000 | 2.000 | – | – | 2.000 | 500000 | – | – |");
}
